"""`sledwarden report`: a ride as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from host_tools.commands.verify import OwnersKey, opener, proved, say_unproven
from host_tools.journals.paths import find
from host_tools.journals.reading import read_shown, say_redated
from host_tools.journals.verifying import load_key
from host_tools.report import page
from host_tools.report.words import headline
from host_tools.saving import saved
from host_tools.terminal import echo

app = typer.Typer(add_completion=False)


@app.command()
def report(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Segments, boots, a journal's folder, an archive."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The page to write.")],
    key: Annotated[
        Path | None, typer.Option(help="The unit's public key, as for sledwarden verify.")
    ] = None,
    identity: OwnersKey = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
    judge_again: Annotated[
        bool,
        typer.Option(
            "--judge-again",
            help="Judge the ride again instead of taking what held from the journal.",
        ),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Also what lies inside the privacy circles.")
    ] = False,
) -> None:
    """Makes one page of a ride: map, speed against limit, findings with their clauses.

    For example: [bold]sledwarden report demo-ride/journal -o ride.html[/bold]

    The page opens in any browser without a network and prints to A4 or Letter. It says what
    sledwarden verify says of the journal, and what was not watched. What was recorded before the
    date was known is dated by the unit's own later word, and marked. Nothing is told of what lies
    inside the unit's privacy.circles; a page that leaves something out says that it is no evidence.
    """
    given = None if key is None else load_key(key)
    sources = find(paths)
    owner = opener(identity)
    ride = read_shown(sources, judges_again=judge_again, shows_all=everything, identity=owner)
    proofs = list(proved(sources, given, owner))
    with saved(out, is_forced=force) as beside:
        beside.write_text(page.filled(ride, proofs), encoding="utf-8")
    echo(f"{out}: {headline(ride, ride.exceedances())}")
    say_unproven(proofs)
    say_redated(ride)
