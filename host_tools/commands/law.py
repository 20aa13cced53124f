"""`sledwarden law`: what each paragraph asks, and how the unit covers it."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from firmware.config.faults import law_packs
from firmware.errors import SledwardenError, UsageError
from firmware.law.packs import AUTO, COVERAGES, MODES, VEHICLES, Clause, Law, load_all
from host_tools.inspection import checks
from host_tools.law_rows import as_object, drives_of, figures, judged, needs, zones
from host_tools.terminal import Console

NOT_JUDGED = {
    "MONITORED": "not while riding: `sledwarden inspect` measures it",
    "ZONE": "not by this version",
    "MODE": "by the modes that the rows which they lift or demand name",
    "INFORM": "not: no sensor sees it",
    "INSPECTED": "not while riding: `sledwarden inspect` asks for it",
    "OUT": "not: out of reach",
}
"""What is watched of a paragraph that no rule judges."""

app = typer.Typer(add_completion=False)


@app.command()
def law(
    citation: Annotated[
        str, typer.Argument(help="One paragraph, as the law cites it; all of them without.")
    ] = "",
    law: Annotated[
        list[str] | None,
        typer.Option("--law", help="A law's word, or a pack's path; `auto` for all that are here."),
    ] = None,
    coverage: Annotated[str, typer.Option(help=f"Only one kind: {', '.join(COVERAGES)}.")] = "",
    json: Annotated[bool, typer.Option("--json", help="An array, for other programs.")] = False,
) -> None:
    """Tells what each paragraph asks, and how it is covered.

    Without --law: Wisconsin's, `wi`, with the packs that go with it; one paragraph is looked for in
    every law that is here.

    For example: [bold]sledwarden law "350.10(1)(gm)"[/bold]
    """
    packs = load_all(law or ([AUTO] if citation else ["wi"]))
    wanted = coverage.upper()
    if wanted and wanted not in COVERAGES:
        raise UsageError("--coverage", f"{coverage}: must be one of {', '.join(COVERAGES)}.")
    chosen = [
        (pack, [one for one in pack.clause if wanted in ("", one.coverage)]) for pack in packs
    ]
    if citation:
        chosen = [
            (pack, [one for one in rows if one.citation == citation]) for pack, rows in chosen
        ]
        if not any(rows for _, rows in chosen):
            raise SledwardenError("law", *_not_found(citation, packs))
    if json:
        objects = [as_object(one) for _, rows in chosen for one in rows]
        typer.echo(msgspec.json.encode(objects).decode())
    elif citation:
        for pack, rows in chosen:
            for one in rows:
                _tell(pack, one)
    else:
        for pack, rows in chosen:
            _list(pack, rows)


def _not_found(citation: str, packs: tuple[Law, ...]) -> tuple[str, str]:
    """What is wrong with a citation, and which ones come near it."""
    known = [one.citation for pack in packs for one in pack.clause]
    begins = [one for one in known if one.startswith(citation)]
    near = begins[:8] or difflib.get_close_matches(citation, known, n=5, cutoff=0.5)
    titles = packs[0].title if len(packs) == 1 else "the laws that are here"
    advice = f"Near it: {', '.join(near)}." if near else "`sledwarden law` lists them all."
    return f"{citation}: is no paragraph of {titles}.", advice


def _list(pack: Law, clauses: list[Clause]) -> None:
    """A pack's paragraphs by coverage, the watched ones first, and what was not verified."""
    out = Console(markup=True)
    if not clauses:
        return
    counts = Counter(str(one.coverage) for one in clauses)
    told = ", ".join(f"{counts[one]} {one}" for one in COVERAGES if counts[one])
    title = f"{pack.title}: {told}; checked on {pack.checked_on}"
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in ("paragraph", "covered", "in a rider's words; how, limits, exempt"):
        table.add_column(column, no_wrap=column == "covered")
    for kind in COVERAGES:
        for one in clauses:
            if one.coverage == kind:
                live = "live" if one.kind else "shown" if one.notice else ""
                covered = f"{one.coverage}\n{live}".rstrip()
                table.add_row(escape(one.citation), covered, _in_short(one))
    out.print(table)
    for claim in pack.unverified:
        out.print(f"not verified: {claim.title}: {claim.said} ({claim.why})", markup=False)


def _in_short(clause: Clause) -> str:
    """What the table says of a paragraph: the rider's words, how it is covered, its figures, and
    whom it lets off."""
    lines = [escape(clause.plain), f"[dim]{escape(clause.how)}[/dim]"]
    for name, words in (("limits", figures(clause)), ("exempt", clause.exemptions)):
        if words:
            lines.append(f"[dim]{name}:[/dim] {escape('; '.join(words))}")
    return "\n".join(lines)


def _tell(pack: Law, clause: Clause) -> None:
    """One paragraph in full."""
    out = Console(markup=True)
    questions = _questions(pack, clause)
    out.print(f"[bold]{escape(f'{clause.citation}  {clause.title}')}[/bold]", highlight=False)
    table = Table.grid(padding=(0, 2))
    rows = [
        ("law", f"{pack.title}, checked on {pack.checked_on}"),
        ("rider", clause.plain),
        ("asks", clause.requirement),
        ("of", clause.applies_to.replace("_", " ")),
        ("covered", f"{clause.coverage}: {clause.how}"),
        ("judged", judged(clause) or _not_judged(clause, questions)),
        *(("figure", one) for one in figures(clause)),
        *(("exempt", one) for one in clause.exemptions),
        *(("inspection", one) for one in questions),
        ("in force", _in_force(clause)),
        ("shown", clause.notice.replace("\n", " / ")),
        ("needs", "; ".join(needs(clause))),
        ("zones", ", ".join(zones(clause))),
        ("proven by", _proof(clause)),
        ("text", _text(pack, clause)),
    ]
    for name, words in rows:
        if words:
            table.add_row(name, escape(words))
    out.print(table)


def _proof(clause: Clause) -> str:
    """The rides that prove a paragraph; what no ride can, the inspection does."""
    by_rides = ", ".join(drives_of(clause))
    if by_rides or clause.coverage not in ("MONITORED", "MODE"):
        return by_rides
    return "`sledwarden inspect`, and no ride"


def _not_judged(clause: Clause, questions: list[str]) -> str:
    if clause.coverage == "INSPECTED" and not questions:
        return "not while riding, and by no question of the inspection"
    return NOT_JUDGED[clause.coverage]


def _questions(pack: Law, clause: Clause) -> list[str]:
    """What the inspection asks of a paragraph."""
    if clause.applies_to not in VEHICLES or pack.id not in law_packs():
        return []
    asked = checks.load(clause.applies_to, [pack.id], MODES)
    return [one.ask for row, ours in asked.rows if row.citation == clause.citation for one in ours]


def _text(pack: Law, clause: Clause) -> str:
    """Where a paragraph's own words stand."""
    if "://" in clause.source:
        return clause.source
    _, _, line = clause.source.rpartition(":")
    read = f"line {line} of the text that was read for {pack.checked_on}"
    return f"{read}; as it stands today: {pack.text_at}" if pack.text_at else read


def _in_force(clause: Clause) -> str:
    words = []
    if clause.in_force_from is not None:
        words.append(f"from {clause.in_force_from}")
    if clause.in_force_to is not None:
        words.append(f"to {clause.in_force_to}")
    return " ".join(words)
