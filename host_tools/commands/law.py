"""`sledwarden law`: what each paragraph asks, and how the unit covers it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from firmware.errors import SledwardenError, UsageError
from firmware.law import COVERAGES, Clause, load

DRIVES = Path(__file__).parents[2] / "tests" / "drives"
"""The rides that prove the verdicts; they stand in a clone, not in an installed package."""

app = typer.Typer(add_completion=False)


@app.command()
def law(
    citation: Annotated[
        str, typer.Argument(help="One paragraph, as the law cites it; all of them without.")
    ] = "",
    law: Annotated[str, typer.Option("--law", help="A law's word, or a pack's path.")] = "wi",
    coverage: Annotated[str, typer.Option(help=f"Only one kind: {', '.join(COVERAGES)}.")] = "",
    json: Annotated[bool, typer.Option("--json", help="An array, for other programs.")] = False,
) -> None:
    """Tells what each paragraph asks, and how it is covered.

    For example: [bold]sledwarden law "350.10(1)(gm)"[/bold]
    """
    pack = load(law)
    wanted = coverage.upper()
    if wanted and wanted not in COVERAGES:
        raise UsageError("--coverage", f"{coverage}: must be one of {', '.join(COVERAGES)}.")
    clauses = [one for one in pack.clause if wanted in ("", one.coverage)]
    if citation:
        clauses = [one for one in clauses if one.citation == citation]
        if not clauses:
            known = ", ".join(one.citation for one in pack.clause)
            raise SledwardenError(
                "law", f"{citation}: is not in {pack.title}.", f"Its paragraphs here: {known}."
            )
    if json:
        typer.echo(msgspec.json.encode([as_object(one) for one in clauses]).decode())
    elif citation:
        _tell(clauses[0])
    else:
        _list(pack.title, clauses)


def as_object(clause: Clause) -> dict[str, Any]:
    """A paragraph with the keys of the contract."""
    return {
        "citation": clause.citation,
        "title": clause.title,
        "requirement": clause.requirement,
        "numbers": clause.numbers,
        "applies_to": clause.applies_to,
        "coverage": clause.coverage,
        "how": clause.how,
        "exemptions": clause.exemptions,
        "drives": drives_of(clause),
    }


def drives_of(clause: Clause) -> list[str]:
    """The drives that prove a paragraph: in which it is more than kept, or which speak of it."""
    tried = re.compile(
        rf"^\S+ +{re.escape(clause.citation)} (approaching|unsure|violation|exempt)", re.MULTILINE
    )
    named = re.compile(rf"^#.*{re.escape(clause.citation)}(?![\w(])", re.MULTILINE | re.IGNORECASE)
    proof = tried if clause.kind else named
    return [
        path.stem
        for path in sorted(DRIVES.glob("*.expect"))
        if proof.search(
            path.read_text(encoding="utf-8")
            + path.with_suffix(".drive").read_text(encoding="utf-8")
        )
    ]


def _list(title: str, clauses: list[Clause]) -> None:
    table = Table(title=title, title_justify="left")
    for column in ("paragraph", "covered", "in a rider's words"):
        table.add_column(column, no_wrap=column != "in a rider's words")
    for one in clauses:
        table.add_row(one.citation, one.coverage, one.plain)
    Console().print(table)


def _tell(clause: Clause) -> None:
    out = Console()
    out.print(f"[bold]{clause.citation}  {clause.title}[/bold]", highlight=False)
    table = Table.grid(padding=(0, 2))
    table.add_row("asks", clause.requirement)
    table.add_row("covered", f"{clause.coverage}: {clause.how}")
    for number in clause.numbers:
        note = "" if number.in_text else " (not in its text)"
        table.add_row("figure", f"{number.of} {number.op} {number.value} {number.unit}{note}")
    for exemption in clause.exemptions:
        table.add_row("exempt", exemption)
    drives = drives_of(clause)
    if drives:
        table.add_row("proven by", ", ".join(drives))
    out.print(table)
