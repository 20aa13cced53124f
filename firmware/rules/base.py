"""What a rule is: a pure judge of one kind of clause, with its memory passed in and out."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Literal, Protocol, runtime_checkable
from zoneinfo import ZoneInfo

import msgspec

from firmware.config.choices import Rules
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause, Limit
from firmware.maps.calm import Calm
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Engine, Fix, Light, Missing, Supply, Tether, Why
from firmware.units import MPS_PER_KMH, MPS_PER_MPH, mph

MOVING_MPH = 1.0
"""At rest the fixes are clamped to 0 mph, so that anything from here on is motion."""

ROUNDING = 1e-9
"""Of a speed in the unit of its limit: metres a second of 45 mph are 45.00000000000001 mph."""

CLOCK_SLACK_S = 2.0
"""A date from the satellites is true to half a second: only a clock that may be further off than
this keeps a rule from accusing near an hour or near dusk."""

NEVER = math.inf

# Names of our own, because Python 3.11 takes twenty times as long to find a member of an enum.
_COMPLIANT, _APPROACHING = Verdict.COMPLIANT, Verdict.APPROACHING
_UNSURE, _VIOLATION = Verdict.UNSURE, Verdict.VIOLATION

LOOK_BACK_S = 1.5
"""So far back a rule looks at fixes that it was not asked about."""


@dataclass(frozen=True, slots=True)
class Dark:
    """Whether it is dark, by the sun and by the light; None where that can't be told.

    The sun may accuse. Too little natural light warns only, for how little is "insufficient" is
    for a court to say. `is_sure` is false where the error of the date reaches into the day.
    """

    by_sun: bool | None
    by_light: bool | None
    why: str = ""
    is_sure: bool = True

    @property
    def is_dark(self) -> bool | None:
        """True by either limb; False by the sun alone; None when the sun's place or date lack."""
        if self.by_sun or self.by_light:
            return True
        return self.by_sun

    @property
    def may_accuse(self) -> bool:
        return self.by_sun is True and self.is_sure


_NOT_FITTED = Missing(Why.NOT_FITTED)


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose law holds: its jurisdiction, absent where that is not known and `why` says so.

    `time_zone` is the civil time there, absent where its outline does not tell.
    """

    jurisdiction: str = ""
    name: str = ""
    why: str = ""
    time_zone: ZoneInfo | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """All that a rule may know at the instant `at_s`; each value is itself or a `Missing`.

    `head_seen_s` and `tail_seen_s` are up to when light and supply of that lamp are both told.
    `modes` are on; `lifts` are those of them that lift something here and now, each with who says
    so. Absent, all of them do. `dark` is by the dusk and dawn of one law, `darks` by those of each
    law, by their minutes after sunset. `whose` law holds is absent where the laws that are named
    hold everywhere.
    """

    at_s: float
    fix: Fix | Missing
    fix_at_s: float
    head: Light | Missing
    tail: Light | Missing
    head_supply: Supply | Missing
    tail_supply: Supply | Missing
    head_seen_s: float
    tail_seen_s: float
    tether: Tether | Missing
    engine: Engine | Missing
    nearby: Nearby | Missing
    marks: Nearby | None
    dark: Dark
    local: datetime | None
    modes: frozenset[str]
    clock_error_s: float = 0.0
    lifts: Mapping[str, str] | None = None
    ambient: Light | Missing = _NOT_FITTED
    darks: Mapping[int, Dark] = {}
    whose: Whose | None = None

    def dark_by(self, clause: Clause) -> Dark:
        """Whether it is dark by the dusk and dawn of this clause."""
        return self.darks.get(clause.sun_offset_min, self.dark)

    @property
    def is_moving(self) -> bool | None:
        """Whether the sled moves; None without a fix."""
        if isinstance(self.fix, Missing):
            return None
        return mph(self.fix.speed_mps) >= MOVING_MPH


class Memory(Protocol):
    """What a rule carries from one judgement to the next; frozen.

    At `due_s` the clause must be judged again even when nothing new is read.
    """

    @property
    def due_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class NoMemory:
    """The memory of a rule that needs none."""

    due_s: float = NEVER


MOTION: Literal["motion"] = "motion"
"""Of a fix only whether the sled moves: a rule that looks at no more is not judged at each one."""


class Rule(Protocol):
    """A kind of clause: which channels it looks at, and the judge itself."""

    @property
    def channels(self) -> frozenset[Channel | Literal["motion"]]: ...

    def begin(self) -> Any:  # each rule knows its own memory's type
        """The memory before the first judgement."""

    def judge(self, memory: Any, now: Snapshot, clause: Clause) -> tuple[Any, Finding]:
        """The new memory and the finding; pure."""


Passed = Sequence[tuple[float, Fix]]
"""Fixes that a rule was not asked about, each with its instant, oldest first."""


@runtime_checkable
class Resting(Protocol):
    """A rule that need not judge each fix: on some ground its finding goes on to hold.

    It may say so where the finding depends on nothing but

    - the place, the speed and their errors, within the ground;
    - the map, or why there is none, which the ground names;
    - what else its `channels` say, the modes and the marks, darkness by the clause's own dusk and
      dawn, and the day and hours of civil time by its own window and season.

    Where any of the others changes it is judged again, and so it is as soon as a fix is not on the
    ground or is missing: `firmware.watch` sees to it. A clause that a mode may lift never rests
    while a mode is on.
    """

    def ground(self, memory: Any, now: Snapshot, clause: Clause) -> Calm | None:
        """Where the finding that has just been judged goes on to be the very same, None where the
        next fix must be judged."""

    def ridden(self, memory: Any, passed: Passed) -> Any:
        """The memory after fixes on that ground, as judging each of them would have left it: of
        those of the last `LOOK_BACK_S` and the one before, at least one. Pure."""


def does_not_apply(clause: Clause, why: str, topic: str = "") -> Finding:
    """The finding on a clause that asks nothing here and now: compliant, without a limit."""
    return _without_figures(clause.citation, Verdict.COMPLIANT, why, topic)


def cannot_tell(clause: Clause, why: str, topic: str, part: object = None) -> Finding:
    """The finding on a clause that can't be watched; `part` is the value that it lacks, if any."""
    is_fitted = not (isinstance(part, Missing) and part.why is Why.NOT_FITTED)
    return _without_figures(clause.citation, Verdict.UNKNOWN, why, topic, is_fitted)


@lru_cache(maxsize=256)
def _without_figures(
    citation: str, verdict: Verdict, why: str, topic: str, is_fitted: bool = True
) -> Finding:
    """The finding, made once: most clauses say the same of one fix after the other."""
    return Finding(citation, verdict, why, topic=topic, is_fitted=is_fitted)


def uncharted(chart: Nearby, kinds: Collection[str]) -> Missing | None:
    """The part that is missing where no pack ever promised to know things of these kinds."""
    return None if chart.promises(kinds) else Missing(Why.NOT_FITTED, "no pack knows of them")


def lifted(clause: Clause, now: Snapshot, topic: str) -> Finding | None:
    """The `exempt` finding while a mode lifts the clause, and None otherwise."""
    if not clause.lifted_by:
        return None
    lifts = dict.fromkeys(now.modes, "") if now.lifts is None else now.lifts
    for mode in clause.lifted_by:
        if mode in lifts:
            why = f"{mode} mode lifts it" + (f": {lifts[mode]}" if lifts[mode] else "")
            return Finding(clause.citation, Verdict.EXEMPT, why, topic=topic)
    return None


def is_within_window(now: Snapshot, clause: Clause) -> bool | None:
    """Whether local civil time lies in the clause's window; None where the time is not known.

    From the first instant of `from_time` up to, not with, the first of `to_time`. Each instant is
    compared by its own local time, so both nights of a change to or from daylight saving are right.
    """
    if now.local is None or clause.from_time is None or clause.to_time is None:
        return None
    return _is_within(now.local.time(), clause.from_time, clause.to_time)


def outside_hours(clause: Clause, now: Snapshot, topic: str) -> Finding | None:
    """The finding on a clause that goes by the clock and asks nothing now, or can't tell; None
    within its hours, and for a clause that has none."""
    if clause.when != "clock":
        return None
    within = is_within_window(now, clause)
    if within is None:
        return cannot_tell(clause, "the time of day is not known", topic)
    return None if within else does_not_apply(clause, "outside its hours", topic)


def is_out_of_hours(now: Snapshot, clause: Clause) -> bool:
    """Whether it is surely a time of day at which the clause asks nothing: day, or another hour."""
    if clause.when == "darkness":
        return now.dark_by(clause).is_dark is False
    return clause.when == "clock" and is_within_window(now, clause) is False


def is_surely_within_window(now: Snapshot, clause: Clause) -> bool:
    """Whether the clock's error leaves no doubt of it; true too where there is no window."""
    if now.local is None or clause.from_time is None or clause.to_time is None:
        return True
    if now.clock_error_s <= CLOCK_SLACK_S:
        return True
    zone, error = now.local.tzinfo, timedelta(seconds=now.clock_error_s)
    utc = now.local.astimezone(UTC)
    return all(
        _is_within(moment.astimezone(zone).time(), clause.from_time, clause.to_time)
        for moment in (utc - error, utc + error)
    )


def _is_within(at: time, from_time: time, to_time: time) -> bool:
    if from_time <= to_time:
        return from_time <= at < to_time
    return at >= from_time or at < to_time


def in_unit_of(limit: Limit, speed_mps: float, error_mps: float) -> tuple[float, float]:
    """The speed and its error in the unit of the limit; never rounded."""
    unit_mps = MPS_PER_MPH if limit.unit == "mph" else MPS_PER_KMH
    return speed_mps / unit_mps, error_mps / unit_mps


def judge_speed(
    clause: Clause,
    value: float,
    error: float,
    why: str,
    choices: Rules,
    may_accuse: bool,
    topic: str,
    away_ft: float | None = None,
) -> Finding:
    """The verdict on a speed whose limit applies; value and error in the limit's own unit."""
    assert clause.limit is not None  # law.py refuses a speed clause without one
    may_accuse = may_accuse and clause.accuses
    limit = clause.limit.value
    limit_mph = limit if clause.limit.unit == "mph" else limit * MPS_PER_KMH / MPS_PER_MPH
    margin_mph = choices.approach_mph if limit_mph >= 40 else choices.approach_low_mph
    over = value - limit
    if over > ROUNDING:
        sure = may_accuse and over > error + ROUNDING
        verdict = _VIOLATION if sure else _UNSURE
    elif over >= -margin_mph * limit / limit_mph - ROUNDING:
        verdict = _APPROACHING
    else:
        verdict = _COMPLIANT
    unit = clause.limit.unit
    return Finding(clause.citation, verdict, why, value, limit, unit, error, topic, away_ft=away_ft)
