"""The judging core over a recording, as fast as it goes, and what it all comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from firmware import monitor
from firmware.config.schema import Config
from firmware.findings import (
    Alert,
    Anchor,
    Event,
    Finding,
    Notice,
    Outcome,
    Pull,
    Standing,
    Verdict,
)
from firmware.gps.epochs import distance_m
from firmware.gps.fixes import EpochReport
from firmware.law import packs as law
from firmware.law.packs import Law
from firmware.maps.packs import Pack
from firmware.monitor import Monitor
from firmware.readings import Fix, Reading
from firmware.sources.drive import with_surroundings
from firmware.units import mph
from host_tools.replay.recordings import Recording

_JUMP_M = 5000.0
"""A step longer than this is a gap of the recording, not a way that was ridden."""


@dataclass(frozen=True, slots=True)
class Told:
    """A finding, an alert, an event or a note for the journal, with its date and its place."""

    at_s: float
    record: Finding | Alert | Event | Anchor | Pull | Notice | Standing
    utc: datetime | None
    lat_deg: float | None
    lon_deg: float | None


@dataclass(slots=True)
class Summary:
    """What a ride came to: its length, and how often each clause and each alert changed."""

    duration_s: float = 0.0
    distance_m: float = 0.0
    fixes: int = 0
    top_mph: float = 0.0
    findings: dict[str, Counter[str]] = field(default_factory=dict)
    alerts: Counter[str] = field(default_factory=Counter)
    last: dict[str, Verdict] = field(default_factory=dict)
    _place: tuple[float, float] | None = None

    def take_reading(self, at_s: float, reading: Reading) -> None:
        self.duration_s = max(self.duration_s, at_s)
        fix = reading.value
        if not isinstance(fix, Fix):
            return
        here = (fix.lat_deg, fix.lon_deg)
        if self._place is not None and fix.speed_mps > 0.0:
            step_m = distance_m(*self._place, *here)
            self.distance_m += step_m if step_m < _JUMP_M else 0.0
        self._place = here
        self.fixes += 1
        self.top_mph = max(self.top_mph, mph(fix.speed_mps))

    def take_told(self, told: Told) -> None:
        match told.record:
            case Finding(clause=clause, verdict=verdict):
                self.findings.setdefault(clause, Counter())[str(verdict)] += 1
                self.last[clause] = verdict
            case Alert(name=name, state="raised"):
                self.alerts[name] += 1
            case _:
                pass


def build(config: Config) -> Monitor:
    """The monitor for a configuration, under the laws that it names."""
    return monitor.build(config, laws_of(config))


def laws_of(config: Config) -> list[Law]:
    """The laws that a configuration names; raises LawError."""
    return list(law.load_all(config.unit.law))


def stream(recording: Recording) -> Iterator[tuple[float, Reading]]:
    """A recording's readings, with what its zone packs say about the places; raises ZoneError."""
    packs = [Pack(path) for path in recording.config.zones.packs]
    try:
        yield from with_surroundings(recording.readings(), packs)
    finally:
        for pack in packs:
            pack.close()


def judge(
    readings: Iterable[tuple[float, Reading | None]], core: Monitor
) -> Iterator[tuple[float, Reading | None, list[Told]]]:
    """Each instant with its reading and what came of it; timers come at their own instants.

    An entry without a reading lets time pass; a last one ends the events that are open.
    """
    last_s = 0.0
    for at_s, reading in readings:
        if core.next_due_s <= at_s:
            yield at_s, None, _told(core.advance(at_s), core)
        if reading is not None:
            yield at_s, reading, _told(core.step(reading, at_s), core)
        last_s = at_s
    yield last_s, None, _told(core.finish(last_s), core)


def _told(outcome: Outcome, core: Monitor) -> list[Told]:
    if not (outcome.findings or outcome.alerts or outcome.events or outcome.notes):
        return []  # as nearly always
    fix = core.fix
    lat_deg, lon_deg = (fix.lat_deg, fix.lon_deg) if isinstance(fix, Fix) else (None, None)
    records: list[tuple[float, Finding | Alert | Event | Anchor | Pull | Notice | Standing]] = [
        *outcome.findings,
        *outcome.alerts,
        *outcome.events,
        *outcome.notes,
    ]
    return [
        Told(at_s, record, core.timekeeper.utc(at_s), lat_deg, lon_deg)
        for at_s, record in sorted(records, key=lambda one: one[0])
    ]


# The contract's keys; what has no value has no key.


def fix_object(report: EpochReport) -> dict[str, Any]:
    """An epoch as `replay --fixes --json` prints it."""
    one = {
        "t": None if report.utc is None else iso(report.utc),
        "lat": report.lat_deg,
        "lon": report.lon_deg,
        "speed_mps": report.speed_mps,
        "track_deg": report.track_deg,
        "mode": report.mode,
        "error_m": report.error_m,
        "error_mps": report.error_mps,
        "derived": report.derived,
        "sentence": report.sentence or None,
    }
    return {key: value for key, value in one.items() if value is not None}


def told_object(told: Told) -> dict[str, Any]:
    """A finding or an alert as `replay --findings` and `--alerts` print it with `--json`."""
    one: dict[str, Any] = {"t": None if told.utc is None else iso(told.utc)}
    match told.record:
        case Finding() as finding:
            one |= {
                "clause": finding.clause,
                "verdict": str(finding.verdict),
                "value": finding.value,
                "limit": finding.limit,
                "unit": finding.unit or None,
                "error": finding.error,
                "why": finding.why,
                "lat": told.lat_deg,
                "lon": told.lon_deg,
            }
        case Alert() as alert:
            one |= {
                "alert": alert.name,
                "clause": alert.clause,
                "words": alert.words,
                "light": str(alert.light),
                "haptic": str(alert.haptic),
                "tone": str(alert.tone),
                "state": alert.state,
            }
        case _:
            raise TypeError(f"{type(told.record).__name__} is not told by replay")
    return {key: value for key, value in one.items() if value is not None}


def summary_object(summary: Summary) -> dict[str, Any]:
    """The summary as `replay --json` prints it."""
    return {
        "duration_s": round(summary.duration_s, 3),
        "distance_m": round(summary.distance_m, 1),
        "fixes": summary.fixes,
        "top_mph": round(summary.top_mph, 2),
        "findings": {clause: dict(counts) for clause, counts in summary.findings.items()},
        "alerts": dict(summary.alerts),
    }


def iso(utc: datetime) -> str:
    """ISO 8601 in UTC, to the nearest millisecond."""
    utc += timedelta(microseconds=500)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
