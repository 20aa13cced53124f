"""`sledwarden replay`: the same judging core over a recording, as fast as it goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from firmware.clock import Clock
from firmware.findings import Alert, Finding, Verdict
from firmware.fixes import EpochReport
from firmware.readings import Reading
from firmware.units import ft, mph
from host_tools import replaying
from host_tools.recordings import Recording, Wishes, open_recording, recognise
from host_tools.replaying import Summary, Told

app = typer.Typer(rich_markup_mode="rich")

COLOURS = {
    Verdict.COMPLIANT: "green",
    Verdict.APPROACHING: "yellow",
    Verdict.UNSURE: "yellow",
    Verdict.VIOLATION: "bold red",
    Verdict.UNKNOWN: "magenta",
    Verdict.EXEMPT: "cyan",
}

_encode = msgspec.json.Encoder().encode


class Vehicle(StrEnum):
    """The kinds of vehicle that a law may bind."""

    SNOWMOBILE = "snowmobile"
    LOW_SPEED_VEHICLE = "low_speed_vehicle"
    MOTOR_VEHICLE = "motor_vehicle"


class Mode(StrEnum):
    """The modes that lift or demand a clause."""

    RACE = "race"
    MAKER_TEST = "maker_test"
    FAMILY_LAND = "family_land"


@app.command()
def replay(
    file: Annotated[
        Path, typer.Argument(help="A raw NMEA log, a .drive, a journal (.mcap or folder), a GPX.")
    ],
    law: Annotated[
        list[str] | None, typer.Option(help="Judge by this law instead of the recording's.")
    ] = None,
    zones: Annotated[list[Path] | None, typer.Option(help="A zone pack; may be repeated.")] = None,
    config: Annotated[Path | None, typer.Option(help="A sledwarden.toml.")] = None,
    vehicle: Annotated[Vehicle | None, typer.Option(help="The kind of vehicle.")] = None,
    mode: Annotated[
        list[Mode] | None, typer.Option(help="A mode that is on from the start.")
    ] = None,
    floor: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Believe no date below this one; without it the recording's dates are believed.",
        ),
    ] = None,
    fixes: Annotated[bool, typer.Option("--fixes", help="Print each valid epoch.")] = False,
    findings: Annotated[
        bool, typer.Option("--findings", help="Print each change of a verdict.")
    ] = False,
    alerts: Annotated[
        bool, typer.Option("--alerts", help="Print each change of an alert.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    journal: Annotated[
        Path | None,
        typer.Option(help="Write the journal that the unit would have written into this folder."),
    ] = None,
) -> None:
    """Judges a recorded or scripted ride again, as fast as it goes.

    For example: [bold]sledwarden replay ride.log --law wi --findings[/bold]

    Without --fixes, --findings or --alerts it prints a summary. A journal is judged anew from its
    readings and compared, record for record, with the findings and alerts that it holds.
    """
    if fixes + findings + alerts > 1:
        raise typer.BadParameter("must be one of --fixes, --findings and --alerts, not several.")
    if journal is not None and fixes:
        raise typer.BadParameter("--journal is for what is judged: leave out --fixes.")
    wishes = Wishes(
        tuple(law or ()),
        tuple(zones or ()),
        config,
        None if vehicle is None else str(vehicle),
        tuple(str(one) for one in mode or ()),
        _day(floor),
    )
    kind = recognise(file)
    recording = open_recording(file, kind, wishes)
    if fixes:
        _print_fixes(recording, json)
    else:
        _judge(recording, json, findings, alerts)


def _day(floor: datetime | None) -> date | None:
    return None if floor is None else floor.date()


def _print_fixes(recording: Recording, json: bool) -> None:
    epochs = 0
    for report in recording.epochs():
        epochs += 1
        if json:
            sys.stdout.buffer.write(_encode(replaying.fix_object(report)) + b"\n")
        else:
            typer.echo(_fix_line(report))
    if not epochs:
        _warn_of_no_fix(recording)


def _warn_of_no_fix(recording: Recording) -> None:
    typer.echo(f"{recording.path}: the receiver never had a valid fix.", err=True)


def _fix_line(report: EpochReport) -> str:
    when = "no date" if report.utc is None else replaying.iso(report.utc)
    speed = "  --.-" if report.speed_mps is None else f"{mph(report.speed_mps):6.1f}"
    track = "   --" if report.track_deg is None else f"{report.track_deg:5.0f}"
    derived = " derived" if report.derived else ""
    return (
        f"{when:24}  {report.lat_deg:11.6f} {report.lon_deg:12.6f}  {speed} mph  {track} deg  "
        f"{report.mode}D  +-{ft(report.error_m):.0f} ft{derived}"
    )


def _judge(recording: Recording, json: bool, findings: bool, alerts: bool) -> None:
    core = replaying.build(recording.config)
    summary = Summary()
    wanted = Finding if findings else Alert if alerts else None
    show = _show_json if json else _shower(recording)
    stream = _with_progress(replaying.stream(recording), recording)
    for at_s, reading, told in replaying.judge(stream, core):
        if reading is not None:
            summary.take_reading(at_s, reading)
        for one in told:
            summary.take_told(one)
            if wanted is not None and isinstance(one.record, wanted):
                show(one)
    if not summary.fixes:
        _warn_of_no_fix(recording)
    if wanted is None and json:
        sys.stdout.buffer.write(_encode(replaying.summary_object(summary)) + b"\n")
    elif wanted is None:
        _print_summary(recording, summary)


def _show_json(told: Told) -> None:
    sys.stdout.buffer.write(_encode(replaying.told_object(told)) + b"\n")


def _shower(recording: Recording) -> Callable[[Told], None]:
    """Prints a line that a person reads: local time, what, how it stands, and why."""
    zone = ZoneInfo(recording.config.unit.time_zone)
    console = Console(highlight=False, soft_wrap=True)

    def show(told: Told) -> None:
        if told.utc is None:
            when = f"{told.at_s:.1f} s"
        else:
            when = f"{told.utc.astimezone(zone):%Y-%m-%d %H:%M:%S}"
        line = Text(f"{when:>19}  ")
        match told.record:
            case Finding() as finding:
                line.append(f"{finding.clause:14} ")
                line.append(f"{finding.verdict:11} ", COLOURS[finding.verdict])
                line.append(f"{_figures(finding):22} {finding.why}")
            case Alert() as alert:
                colour = {"raised": "bold red", "acknowledged": "yellow"}.get(alert.state, "green")
                line.append(f"{alert.name:22} ")
                line.append(f"{alert.state:13} ", colour)
                line.append(f"{alert.clause:14} {alert.words.replace(chr(10), ' / ')}")
            case _:
                return
        console.print(line)

    return show


def _figures(finding: Finding) -> str:
    if finding.value is None or finding.limit is None:
        return ""
    return f"{finding.value:.1f} of {finding.limit:g} {finding.unit}"


def _print_summary(recording: Recording, summary: Summary) -> None:
    console = Console(highlight=False)
    miles = mph(summary.distance_m) / 3600.0
    minutes, seconds = divmod(round(summary.duration_s), 60)
    console.print(
        f"{recording.path.name} ({recording.kind}): {minutes} min {seconds:02} s, "
        f"{miles:.1f} mi, {summary.fixes} fixes, up to {summary.top_mph:.1f} mph",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("clause")
    table.add_column("at the end")
    table.add_column("changes of verdict")
    for clause, counts in summary.findings.items():
        last = summary.last[clause]
        changes = ", ".join(f"{verdict} {number}" for verdict, number in counts.items())
        table.add_row(clause, Text(str(last), COLOURS[last]), changes)
    console.print(table)
    raised = ", ".join(f"{name} {number}" for name, number in summary.alerts.items())
    console.print(f"alerts: {raised or 'none'}", soft_wrap=True)


def _with_progress(
    stream: Iterable[tuple[float, Reading]], recording: Recording
) -> Iterator[tuple[float, Reading]]:
    """Shows how far a long replay has come, where a person looks on; after its first second."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from stream
        return
    clock = Clock()
    due_s = clock.mono_s() + 1.0
    bar = Progress(TextColumn(recording.path.name), BarColumn(), console=console, transient=True)
    task = bar.add_task("", total=None)
    try:
        for number, entry in enumerate(stream):
            if number % 500 == 0 and clock.mono_s() >= due_s:
                bar.start()
                bar.update(task, completed=entry[0], total=recording.last_s or None)
                due_s = clock.mono_s() + 0.1
            yield entry
    finally:
        bar.stop()
