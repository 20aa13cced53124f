"""A journal read once into what a page, an export and a person want to know of it.

All of it is the journal's: readings, findings, alerts, events, and what held. What held is that of
the judging core, led through the journal's readings again, where the journal does not tell it or a
person wants that; where the core then finds something else than the unit did the ride says so.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import TypeVar
from zoneinfo import ZoneInfo

from firmware.alerts.table import OVER, TABLE
from firmware.circles import Circle
from firmware.findings import Alert, Anchor, Event, Finding, Verdict
from firmware.journal.record import Start
from firmware.journal.redating import Anchors, Dated
from firmware.law.packs import Clause
from firmware.readings import Feature
from firmware.situation.standing import MPH_OF

WARNINGS = frozenset(row.name for row in TABLE if row.verdicts == OVER)
"""The alerts that tell of an exceedance, and not of one that is near or can't be seen."""

JUMP_M = 5000.0
"""Two fixes further apart were not joined by a ride; the same measure as the replay's."""

HOLE_S = 10.0
"""Fixes further apart in time than this are not joined by a line."""

_PLACE_S = 10.0
"""A finding later than this after the last fix has no place."""

Told = TypeVar("Told", Finding, Alert)


@dataclass(slots=True)
class Track:
    """The fixes, a column each: NaN where there is no value.

    `margin` is a `findings.Margin`, `clause` counts in the leg's `citations`.
    """

    at_s: array[float] = field(default_factory=lambda: array("d"))
    lat_deg: array[float] = field(default_factory=lambda: array("d"))
    lon_deg: array[float] = field(default_factory=lambda: array("d"))
    error_m: array[float] = field(default_factory=lambda: array("d"))
    speed_mph: array[float] = field(default_factory=lambda: array("d"))
    error_mph: array[float] = field(default_factory=lambda: array("d"))
    track_deg: array[float] = field(default_factory=lambda: array("d"))
    limit_mph: array[float] = field(default_factory=lambda: array("d"))
    margin: array[int] = field(default_factory=lambda: array("b"))
    clause: array[int] = field(default_factory=lambda: array("h"))

    def __len__(self) -> int:
        return len(self.at_s)

    def before(self, at_s: float) -> int | None:
        """The last fix at or before an instant; None where it is too long ago to tell a place."""
        number = bisect_right(self.at_s, at_s) - 1
        if number < 0 or at_s - self.at_s[number] > _PLACE_S:
            return None
        return number


@dataclass(frozen=True, slots=True)
class Stood:
    """A verdict that was found: when, what, and where."""

    leg: Leg
    at_s: float
    finding: Finding
    fix: int | None

    @property
    def utc(self) -> datetime | None:
        return self.leg.utc(self.at_s)


@dataclass(frozen=True, slots=True)
class Exceedance:
    """An event from its start to its end, with the worst finding in it.

    `warned_s` is how long after its start the rider was told; below 0 where a warning of the same
    clause stood already, absent where none was raised.
    """

    leg: Leg
    event: Event
    finding: Finding | None
    fix: int | None
    end_s: float
    warned_s: float | None
    acknowledged_s: float | None

    @property
    def duration_s(self) -> float:
        return self.end_s - self.event.start_s

    @property
    def is_open(self) -> bool:
        """Whether the journal ended before it did."""
        return self.event.end_s is None

    @property
    def is_violation(self) -> bool:
        return self.event.verdict is Verdict.VIOLATION


@dataclass(frozen=True, slots=True)
class NotWatched:
    """A duty that was not watched: which, why, how long in all, and how often."""

    clause: str
    why: str
    is_fitted: bool
    seconds: float
    times: int


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch of the boot that is not in the journal, and why.

    `is_of_records` tells records that were given up from a segment that is missing.
    """

    from_s: float
    to_s: float
    what: str
    is_of_records: bool = False


@dataclass(slots=True)
class Leg:
    """One boot of the unit: from its start to its stop or to the power cut.

    `offset_s` is where it begins on the ride's own axis, on which boots follow one another.
    `strips` holds the changes of each state, `unknowns` for each clause those of why it can't be
    watched, empty while it is. `anchors` say whose date it was, and date what came before them.
    `circles` are the privacy circles of its configuration.
    `is_judged_again` says that what held is not the journal's word but that of the judging core.
    """

    start: Start
    time_zone: ZoneInfo
    clauses: dict[str, Clause]
    from_s: float = math.inf
    to_s: float = -math.inf
    offset_s: float = 0.0
    track: Track = field(default_factory=Track)
    citations: list[str] = field(default_factory=list)
    findings: list[tuple[float, Finding]] = field(default_factory=list)
    alerts: list[tuple[float, Alert]] = field(default_factory=list)
    events: dict[tuple[str, float], Event] = field(default_factory=dict)
    strips: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    unknowns: dict[str, list[tuple[float, str, bool]]] = field(default_factory=dict)
    features: dict[tuple[str, str], Feature] = field(default_factory=dict)
    anchors: list[Anchor] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    ended: str = ""
    difference: str = ""
    is_judged_again: bool = False
    notes: list[str] = field(default_factory=list)
    circles: tuple[Circle, ...] = ()
    _stretched: tuple[int, list[tuple[int, int]]] | None = None
    _dates: tuple[int, Anchors] | None = None

    @property
    def length_s(self) -> float:
        return max(0.0, self.to_s - self.from_s)

    def ride_s(self, at_s: float) -> float:
        """The place of an instant on the ride's axis."""
        return self.offset_s + at_s - self.from_s

    def utc(self, at_s: float) -> datetime | None:
        """The date of an instant; what came before the first date is dated back from it."""
        dated = self.dated(at_s)
        return None if dated is None else dated.utc

    def dated(self, at_s: float) -> Dated | None:
        """The date of an instant with its clock and its error; None where no clock told one."""
        return self.dates.at(at_s)

    def redated(self) -> str:
        """What was dated afterwards, in a sentence; empty where nothing was."""
        first = self.dated(self.from_s)
        if first is None or not first.is_redated:
            return ""
        whose = {"gps": "satellites", "rtc": "battery clock"}[first.source]
        length_s = min(self.dates.known_from_s, self.to_s) - self.from_s
        had = "had no date when it was recorded"
        rtc = next((one for one in self.anchors if one.source == "rtc" and one.utc), None)
        if rtc is not None and rtc.utc is not None and first.source == "gps":
            off_s = (rtc.utc - first.utc).total_seconds() - (rtc.mono_s - self.from_s)
            side = "ahead" if off_s > 0 else "behind"
            had = f"had the battery clock's date at best, {abs(off_s):.0f} s {side}"
        return (
            f"Boot {self.start.boot}: its first {length_s:.1f} s {had}. They are dated here by the "
            f"first date of the {whose}, to {first.error_s:.1f} s; the records stay as they are."
        )

    @property
    def dates(self) -> Anchors:
        """The dates of this boot, by its anchors."""
        if self._dates is None or self._dates[0] != len(self.anchors):
            self._dates = len(self.anchors), Anchors(self.anchors)
        return self._dates[1]

    def local(self, at_s: float) -> datetime | None:
        """Local civil time of an instant."""
        utc = self.utc(at_s)
        return None if utc is None else utc.astimezone(self.time_zone)

    def stretches(self) -> list[tuple[int, int]]:
        """The fixes that a line may join, from and up to: no hole in time, no jump in place."""
        if self._stretched is None or self._stretched[0] != len(self.track):
            self._stretched = len(self.track), list(self._stretches())
        return self._stretched[1]

    def _stretches(self) -> Iterator[tuple[int, int]]:
        track = self.track
        begin = 0
        for number in range(1, len(track)):
            if (
                track.at_s[number] - track.at_s[number - 1] > HOLE_S
                or step_m(track, number) > JUMP_M
            ):
                yield begin, number
                begin = number
        if len(track):
            yield begin, len(track)

    def stood(self) -> list[Stood]:
        """Every change of a verdict."""
        return [Stood(self, at_s, one, self.track.before(at_s)) for at_s, one in self.findings]

    def exceedances(self) -> list[Exceedance]:
        """Every exceedance, in order of its start."""
        return [self._exceedance(one) for one in sorted(self.events.values(), key=_begin)]

    def _exceedance(self, event: Event) -> Exceedance:
        end_s = self.to_s if event.end_s is None else event.end_s
        within = [
            (at_s, one)
            for at_s, one in _between(self.findings, event.start_s, end_s)
            if one.clause == event.clause and one.verdict.is_over
        ]
        worst = next((one for one in within if one[1].verdict is Verdict.VIOLATION), None)
        chosen = worst or (within[0] if within else None)
        told = [
            (at_s, one)
            for at_s, one in _between(self.alerts, event.start_s, end_s)
            if one.clause == event.clause
        ]
        raised = self._stood_since(event)
        if raised is None:
            warned = ((at_s, one) for at_s, one in told if one.name in WARNINGS)
            raised = next((at_s for at_s, one in warned if one.state == "raised"), None)
        pressed = next((at_s for at_s, one in told if one.state == "acknowledged"), None)
        return Exceedance(
            self,
            event,
            None if chosen is None else chosen[1],
            self._peak_fix(event, end_s),
            end_s,
            None if raised is None else raised - event.start_s,
            None if pressed is None else pressed - event.start_s,
        )

    def _stood_since(self, event: Event) -> float | None:
        """Since when a warning of this clause stood as it began; None where none did."""
        since: dict[str, float] = {}
        for at_s, one in _between(self.alerts, self.from_s, event.start_s):
            if one.clause != event.clause or one.name not in WARNINGS:
                continue
            if one.state == "raised":
                since[one.name] = at_s
            elif one.state == "cleared":
                since.pop(one.name, None)
        return min(since.values(), default=None)

    def _peak_fix(self, event: Event, end_s: float) -> int | None:
        """The fix at an exceedance's fastest, or at its start where it is not one of speed."""
        track = self.track
        begin, end = bisect_right(track.at_s, event.start_s) - 1, bisect_right(track.at_s, end_s)
        if event.unit in MPH_OF and 0 <= begin < end:
            return max(range(begin, end), key=lambda number: track.speed_mph[number])
        return track.before(event.start_s)

    def not_watched(self) -> list[NotWatched]:
        """What could not be watched, longest first."""
        found: list[NotWatched] = []
        for clause, changes in self.unknowns.items():
            sums: dict[tuple[str, bool], tuple[float, int]] = {}
            ends = [at_s for at_s, _, _ in changes[1:]]
            for (at_s, why, is_fitted), end_s in zip(changes, [*ends, self.to_s], strict=True):
                if why:
                    seconds, times = sums.get((why, is_fitted), (0.0, 0))
                    sums[why, is_fitted] = seconds + end_s - at_s, times + 1
            found += [NotWatched(clause, *key, *value) for key, value in sums.items()]
        return sorted(found, key=lambda one: -one.seconds)

    def unwatched_s(self, clause: str) -> float:
        """How long a duty was not watched in all."""
        return sum(one.seconds for one in self.not_watched() if one.clause == clause)


@dataclass(slots=True)
class Ride:
    """What one or more boots of one unit held; `troubles` say which of it could not be read."""

    unit: str
    legs: list[Leg]
    troubles: list[str] = field(default_factory=list)

    def lay_out(self) -> None:
        """Puts each boot on the ride's axis where the one before it ends."""
        offset_s = 0.0
        for leg in self.legs:
            leg.offset_s = offset_s
            offset_s += leg.length_s

    @property
    def length_s(self) -> float:
        return sum(leg.length_s for leg in self.legs)

    @property
    def fixes(self) -> int:
        return sum(len(leg.track) for leg in self.legs)

    @property
    def clauses(self) -> dict[str, Clause]:
        """The clauses of the laws that the journal carries, by citation."""
        return {name: one for leg in self.legs for name, one in leg.clauses.items()}

    @property
    def distance_m(self) -> float:
        """How far was ridden: holes and jumps are no ride."""
        return sum(
            step_m(leg.track, number)
            for leg in self.legs
            for begin, end in leg.stretches()
            for number in range(begin + 1, end)
            if leg.track.speed_mph[number] > 0.0
        )

    def exceedances(self) -> list[Exceedance]:
        return [one for leg in self.legs for one in leg.exceedances()]

    def stood(self) -> list[Stood]:
        return [one for leg in self.legs for one in leg.stood()]


def step_m(track: Track, number: int) -> float:
    """Metres from the fix before; on a small step the earth is flat, to 0.1 %."""
    lat_deg = track.lat_deg[number]
    east_deg = (track.lon_deg[number] - track.lon_deg[number - 1] + 540.0) % 360.0 - 180.0
    north_m = (lat_deg - track.lat_deg[number - 1]) * 111_200.0
    return math.hypot(north_m, east_deg * 111_200.0 * math.cos(math.radians(lat_deg)))


def _between(
    records: list[tuple[float, Told]], from_s: float, to_s: float
) -> Iterator[tuple[float, Told]]:
    """The records of this time; they stand in its order."""
    begin = bisect_left(records, from_s, key=itemgetter(0))
    end = bisect_right(records, to_s, key=itemgetter(0))
    return iter(records[begin:end])


def _begin(event: Event) -> tuple[float, str]:
    return event.start_s, event.clause
