"""No riding in a window of the clock: a curfew, told some minutes ahead.

To ride is to move: a sled that stands keeps it. `on` binds it to what a law speaks of, as trails;
a sled that may be off it is never accused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.maps.roads import Roads
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Fix, Missing
from firmware.rules.base import (
    MOVING_MPH,
    NEVER,
    Snapshot,
    cannot_tell,
    does_not_apply,
    is_surely_within_window,
    is_within_window,
    lifted,
    uncharted,
)
from firmware.units import mph

TOPIC = "curfew"

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Ahead:
    """When the curfew must be told of ahead."""

    due_s: float = NEVER


class Curfew:
    """Judges a clause that forbids riding from one hour to another."""

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS})

    def __init__(self, config: Config) -> None:
        self._ahead_s = config.rules.curfew_ahead_min * 60.0
        self._charted: tuple[Nearby, Roads] | None = None

    def begin(self) -> Ahead:
        return Ahead()

    def judge(self, memory: Ahead, now: Snapshot, clause: Clause) -> tuple[Ahead, Finding]:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return Ahead(), exempt
        within = is_within_window(now, clause)
        if within is None:
            return Ahead(), cannot_tell(clause, "the time of day is not known", TOPIC)
        left_s = _until(now, clause.from_time)
        tells_in_s = left_s - self._ahead_s
        due = Ahead(now.at_s + tells_in_s if tells_in_s > 0.0 else NEVER)
        if not within and tells_in_s > 0.0:
            return due, does_not_apply(clause, "outside its hours", TOPIC)
        return due, self._finding(now, clause, within)

    def _finding(self, now: Snapshot, clause: Clause, within: bool) -> Finding:
        if isinstance(now.fix, Missing):
            return cannot_tell(clause, f"not known whether the sled moves ({now.fix})", TOPIC)
        speed_mph, error_mph = mph(now.fix.speed_mps), mph(now.fix.error_mps)
        if speed_mph < MOVING_MPH:
            return does_not_apply(clause, "not moving", TOPIC)
        on_it, surely = self._on(now, now.fix, clause)
        if on_it is None:
            near = now.nearby
            part = near if isinstance(near, Missing) else uncharted(near, (clause.on,))
            return cannot_tell(clause, f"no {clause.on} map here", TOPIC, part)
        if not on_it:
            return does_not_apply(clause, f"on no {clause.on} of the map", TOPIC)
        assert clause.from_time is not None  # law.py refuses a curfew without hours
        assert clause.to_time is not None
        if not within:
            why = f"no riding from {clause.from_time:%H:%M} on"
            return Finding(clause.citation, Verdict.APPROACHING, why, topic=TOPIC)
        sure = surely and is_surely_within_window(now, clause) and clause.accuses
        sure = sure and speed_mph - error_mph >= MOVING_MPH
        why = f"no riding until {clause.to_time:%H:%M}"
        verdict = Verdict.VIOLATION if sure else Verdict.UNSURE
        return Finding(clause.citation, verdict, why, topic=TOPIC)

    def _on(self, now: Snapshot, fix: Fix, clause: Clause) -> tuple[bool | None, bool]:
        """Whether the sled may be on what the curfew is for (None where no map tells), and whether
        it surely is."""
        if not clause.on:
            return True, True
        if isinstance(now.nearby, Missing):
            return None, False
        if self._charted is None or self._charted[0] is not now.nearby:
            self._charted = (now.nearby, Roads(now.nearby.surroundings, (clause.on,)))
        roads = self._charted[1]
        here = (fix.lat_deg, fix.lon_deg)
        found = roads.near(here, fix.error_m)
        if found:
            return True, any(one.is_sure(fix.error_m) for one in found)
        return (False, False) if roads.is_covered(here) else (None, False)


def _until(now: Snapshot, at: time | None) -> float:
    """Seconds until the clock shows that time of day next; a change of daylight saving apart."""
    assert now.local is not None  # asked once the time of day is known
    assert at is not None  # law.py refuses a curfew without hours
    local = now.local
    at_s = local.hour * 3600.0 + local.minute * 60.0 + local.second + local.microsecond / 1e6
    return (at.hour * 3600.0 + at.minute * 60.0 + at.second - at_s) % DAY_S
