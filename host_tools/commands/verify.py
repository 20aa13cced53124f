"""`sledwarden verify`: whether a journal is what its unit sealed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from firmware.journal.folder import Place
from firmware.journal.proof import GOOD, Verdict
from firmware.journal.stored import Identity
from host_tools.journals import verifying
from host_tools.journals.paths import Source, find
from host_tools.journals.verifying import GivenKey, Proof, date_of, load_key, proof_object
from host_tools.progress import shown
from host_tools.terminal import Console, echo, one_line

COLOURS = {
    Verdict.WHOLE: "green",
    Verdict.POWER_CUT: "yellow",
    Verdict.INCOMPLETE: "bold yellow",
    Verdict.UNREADABLE: "magenta",
    Verdict.TAMPERED: "bold red",
}

app = typer.Typer(add_completion=False)

OwnersKey = Annotated[
    Path | None,
    typer.Option(
        "--identity", metavar="FILE", help="The owner's secret age key, for encrypted segments."
    ),
]
"""The option that opens what is encrypted to its owner, of each command that reads a journal."""


@app.command()
def verify(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Segments, boots, journal folders or an archive."),
    ],
    key: Annotated[
        Path | None,
        typer.Option(help="The unit's public key: 64 hex digits, PEM, or an archive's unit.json."),
    ] = None,
    identity: OwnersKey = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each journal.")] = False,
) -> None:
    """Tells whether a journal is what its unit sealed: changed, cut, or with a piece missing.

    For example: [bold]sledwarden verify demo-ride/journal[/bold]

    The verdict is whole, power-cut, incomplete, tampered or unreadable; whole and power-cut are
    exit code 0. Without --key it trusts the key first seen for the unit in the archive, else the
    journal's own, and says which.
    """
    given = None if key is None else load_key(key)
    proofs = list(proved(find(paths), given, opener(identity)))
    for number, proof in enumerate(proofs):
        if json:
            typer.echo(msgspec.json.encode(proof_object(proof)).decode())
        else:
            if number:
                echo()
            _tell(proof)
    if verifying.worst(proofs) not in GOOD:
        raise typer.Exit(1)


def opener(path: Path | None) -> Identity | None:
    """What opens encrypted segments, from the file that the option names."""
    return None if path is None else Identity.load(path)


def proved(
    sources: list[Source], given: GivenKey | None, identity: Identity | None = None
) -> Iterator[Proof]:
    """Each journal's proof, with progress over all their bytes."""
    total = sum(place.path.stat().st_size for source in sources for place in source.places)
    done = 0

    def counted(source: Source) -> Iterator[tuple[float, Place]]:
        nonlocal done
        for place in source.places:
            yield done, place
            done += place.path.stat().st_size

    for source in sources:
        places = shown(counted(source), "verifying", total)
        yield verifying.verify(source, given, places, identity)


def say_unproven(proofs: list[Proof]) -> None:
    """Says beside what was made of a journal that the journal is not what its unit sealed."""
    for proof in proofs:
        if proof.report.verdict not in GOOD:
            echo(
                f"{proof.where}: {proof.report.verdict}: {verifying.sentence(proof)} "
                "What can still be read of it was taken; sledwarden verify says where it breaks.",
                err=True,
            )


def _span(begin: datetime | None, end: datetime | None) -> tuple[str, str]:
    """From and to, the day said once; short, for a terminal has 80 columns."""
    if begin is None or end is None:
        return "no date", ""
    is_same_day = begin.date() == end.date()
    return f"{begin:%Y-%m-%d %H:%M}", f"{end:%H:%M}" if is_same_day else f"{end:%Y-%m-%d %H:%M}"


def _tell(proof: Proof) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120  # a pipe has no edge at which names must be cut
    report = proof.report
    title = one_line(str(proof.where))
    table = Table(box=None, padding=(0, 1, 0, 0), title=title, title_justify="left")
    for column in ("segment", "verdict", "records", "from, UTC", "to"):
        table.add_column(
            column, justify="right" if column == "records" else "left", overflow="fold"
        )
    for one in report.segments:
        words = ("", "")
        later = proof.redated.get(one.name)
        if later is not None:
            begin, end = _span(later.begin, later.end)
            words = f"~ {begin}", end
        elif one.records:
            words = _span(date_of(one.from_ns), date_of(one.to_ns))
        verdict = Text(str(one.verdict), COLOURS[one.verdict])
        table.add_row(one_line(one.name), verdict, f"{one.records:,}", *words)
    console.print(table, soft_wrap=True)
    for why in report.reasons:
        said = one_line(f"  {why.segment}, byte {why.offset:,}: {why.what}")
        console.print(said, soft_wrap=True)
    verdict = Text(str(report.verdict), COLOURS[report.verdict])
    sentence = one_line(f": {verifying.sentence(proof)}")
    console.print(verdict, sentence, sep="", soft_wrap=True)
    for line in (verifying.key_words(proof), *proof.notes, verifying.redated_words(proof)):
        if line:
            console.print(one_line(line), soft_wrap=True)
