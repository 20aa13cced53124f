"""`sledwarden replay`: the same judging core over a recording, as fast as it goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from firmware import monitor
from firmware.config.reading import load as load_config
from firmware.config.schema import Config
from firmware.findings import Alert, Finding
from firmware.gps.fixes import EpochReport
from firmware.journal import reader
from firmware.journal.stored import Identity
from firmware.monitor import Monitor
from firmware.readings import Reading
from host_tools.commands.verify import OwnersKey, opener
from host_tools.journals.copy import JournalCopy
from host_tools.journals.judged import Comparison, Redated, open_journal
from host_tools.replay import replaying
from host_tools.replay.lines import fix_line, print_summary, shower, with_progress
from host_tools.replay.recordings import (
    Kind,
    Recording,
    Wishes,
    as_wished,
    open_recording,
    recognise,
)
from host_tools.replay.replaying import Summary, Told
from host_tools.terminal import echo

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

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


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} must be a day such as 2026-01-17.") from None


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
        date | None,
        typer.Option(
            parser=_day,
            metavar="YYYY-MM-DD",
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
    identity: OwnersKey = None,
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
        floor,
    )
    kind = recognise(file)
    owner = opener(identity)
    ride = _open_ride(file, kind, wishes, owner)
    if fixes:
        _print_fixes(ride, json)
        return
    if ride.recording is not None:
        ride.recording.refuse_without_speed()
    dates = Redated(file if kind is Kind.JOURNAL else None, owner)
    if not _judge(ride, dates, json, findings, alerts, journal):
        raise typer.Exit(1)


@dataclass(slots=True)
class Ride:
    """What is judged: readings, the monitor for them, and for a journal what it holds."""

    path: Path
    kind: Kind
    config: Config
    core: Monitor
    stream: Callable[[], Iterator[tuple[float, Reading | None]]]
    epochs: Callable[[], Iterator[EpochReport]]
    recording: Recording | None = None
    comparison: Comparison | None = None

    def length_s(self) -> float:
        """How long it is, as far as that is known; 0.0 where it is not."""
        return 0.0 if self.recording is None else self.recording.last_s


def _open_ride(path: Path, kind: Kind, wishes: Wishes, owner: Identity | None) -> Ride:
    if kind is Kind.JOURNAL:
        return _open_journal(path, wishes, owner)
    recording = open_recording(path, kind, wishes)
    return Ride(
        path,
        kind,
        recording.config,
        replaying.build(recording.config),
        lambda: replaying.stream(recording),
        recording.epochs,
        recording,
    )


def _open_journal(path: Path, wishes: Wishes, owner: Identity | None) -> Ride:
    """A boot's journal; where it is judged otherwise than it was, there is nothing to compare."""
    boots = reader.boots(path)
    if len(boots) > 1:
        echo(
            f"{path}: holds {len(boots)} boots: {boots[-1].name}, the newest, is judged. "
            f"Name another, like {boots[0]}",
            err=True,
        )
    held = open_journal(path, owner)
    if wishes == Wishes():
        core = monitor.build(held.config, held.laws)
        stream, comparison = held.readings, held.comparison
        return Ride(
            path, Kind.JOURNAL, held.config, core, stream, held.epochs, comparison=comparison
        )
    config = held.config
    if wishes.config is not None:
        config = load_config(wishes.config)
    config = as_wished(config, wishes)
    laws = held.laws if not wishes.law else replaying.laws_of(config)
    return Ride(
        path,
        Kind.JOURNAL,
        config,
        monitor.build(config, laws),
        lambda: held.readings_again(wishes.modes, wishes.zones),
        held.epochs,
    )


def _print_fixes(ride: Ride, json: bool) -> None:
    epochs = 0
    for report in ride.epochs():
        epochs += 1
        if json:
            sys.stdout.buffer.write(_encode(replaying.fix_object(report)) + b"\n")
        else:
            echo(fix_line(report))
    if not epochs:
        _warn_of_no_fix(ride.path)


def _warn_of_no_fix(path: Path) -> None:
    echo(f"{path}: the receiver never had a valid fix.", err=True)


def _judge(
    ride: Ride, dates: Redated, json: bool, findings: bool, alerts: bool, folder: Path | None
) -> bool:
    """Judges and prints; false where a journal does not replay as it was written."""
    summary = Summary()
    wanted = Finding if findings else Alert if alerts else None
    show = _show_json if json else shower(ride.config)
    copy = None
    if folder is not None:
        copy = JournalCopy(folder, ride.config, ride.core, f"replayed: {ride.path.name}")
    with copy or nullcontext():
        for at_s, reading, told in replaying.judge(
            with_progress(ride.stream(), ride.path.name, ride.length_s), ride.core
        ):
            if reading is not None:
                summary.take_reading(at_s, reading)
            for one in told:
                summary.take_told(one)
                if ride.comparison is not None:
                    ride.comparison.judge(one)
                if wanted is not None and isinstance(one.record, wanted):
                    show(dates.dated(one))
            if copy is not None:
                copy.keep(at_s, reading, told)
    if not summary.fixes:
        _warn_of_no_fix(ride.path)
    if dates.count:
        echo(
            f"{ride.path}: {dates.count} lines are from before any date was known: dated by the "
            f"anchor that came later ({dates.source}).",
            err=True,
        )
    if wanted is None and json:
        sys.stdout.buffer.write(_encode(replaying.summary_object(summary)) + b"\n")
    elif wanted is None:
        print_summary(f"{ride.path.name} ({ride.kind})", summary)
    return ride.comparison is None or _tell_comparison(ride, ride.comparison, json)


def _tell_comparison(ride: Ride, comparison: Comparison, json: bool) -> bool:
    comparison.finish()
    if comparison.lost:
        echo(
            f"{ride.path}: {comparison.lost} records were lost when it was written: a difference "
            "may come of that.",
            err=True,
        )
    if comparison.difference:
        echo(f"{ride.path}: does not replay: {comparison.difference}.", err=True)
        return False
    echo(f"replays record for record: {comparison.records} findings, alerts and events", err=json)
    return True


def _show_json(told: Told) -> None:
    sys.stdout.buffer.write(_encode(replaying.told_object(told)) + b"\n")
