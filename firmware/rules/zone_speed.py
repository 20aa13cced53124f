"""Speed near things on the map: within a distance of dwellings, shanties, people.

The edge is honest: a position with its error is *surely* inside, *maybe* inside, or clear. Maybe
warns and is `unsure`; only surely accuses. The stretch between two fixes is tested and not the
points alone, so that a zone crossed between them is caught. Ahead, the warning comes so early
that a sled which brakes as 350.09(4) asks is at the limit at the edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from firmware.config import Config
from firmware.findings import Finding, Verdict
from firmware.law import Clause
from firmware.maps.plane import Plane
from firmware.maps.zones import Near, Nearby
from firmware.readings import Channel, Fix, Missing, Why
from firmware.rules.base import (
    NEVER,
    Snapshot,
    cannot_tell,
    does_not_apply,
    in_unit_of,
    is_surely_within_window,
    is_within_window,
    judge_speed,
    lifted,
)
from firmware.units import MPS_PER_KMH, MPS_PER_MPH, ft

TOPIC = "zone"
AHEAD = "zone-ahead"

MAX_STRETCH_S = 5.0
"""Two fixes further apart in time than this are two points, not a stretch that was ridden."""

NEEDED_M = 600.0
"""How far about the sled the map must be whole: the look-ahead at 120 mph, 518 m, and a zone."""

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LastPlace:
    """Where the last judged fix was, and when."""

    place: Place | None = None
    at_s: float = 0.0
    speed_mps: float = 0.0
    due_s: float = NEVER


class ZoneSpeed:
    """Judges a clause such as 350.10(1)(g) and (i)."""

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules

    def begin(self) -> LastPlace:
        return LastPlace()

    def judge(self, memory: LastPlace, now: Snapshot, clause: Clause) -> tuple[LastPlace, Finding]:
        if isinstance(now.fix, Missing):
            return LastPlace(), self._without_fix(now, clause, now.fix)
        here = (now.fix.lat_deg, now.fix.lon_deg)
        before = memory if now.fix_at_s - memory.at_s <= MAX_STRETCH_S else LastPlace()
        finding = self._finding(now, now.fix, here, before, clause)
        # The way there from before the hours of the clause was none of its business.
        applies = clause.when != "clock" or is_within_window(now, clause) is True
        place = here if applies else None
        return LastPlace(place, now.fix_at_s, now.fix.speed_mps), finding

    def _without_fix(self, now: Snapshot, clause: Clause, fix: Missing) -> Finding:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        if clause.when == "clock" and is_within_window(now, clause) is False:
            return does_not_apply(clause, "outside its hours", TOPIC)
        if isinstance(now.nearby, Missing) and now.nearby.why is Why.NOT_FITTED:
            return self._not_charted(now.nearby, clause)
        return cannot_tell(clause, f"place and speed not known ({fix})", TOPIC)

    def _not_charted(self, nearby: Missing, clause: Clause) -> Finding:
        return cannot_tell(clause, f"nothing known of what is near ({nearby})", TOPIC, nearby)

    def _finding(
        self, now: Snapshot, fix: Fix, here: Place, before: LastPlace, clause: Clause
    ) -> Finding:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        if clause.when == "clock":
            within = is_within_window(now, clause)
            if within is None:
                return cannot_tell(clause, "the time of day is not known", TOPIC)
            if not within:
                return does_not_apply(clause, "outside its hours", TOPIC)
        found = self._in_zone(now, fix, here, None, fix.speed_mps, clause)
        if before.place is not None and (found is None or found.verdict is not Verdict.VIOLATION):
            # Somewhere on the way here it was no slower than the slower of its two ends.
            slower_mps = min(before.speed_mps, fix.speed_mps)
            passed = self._in_zone(now, fix, here, before.place, slower_mps, clause)
            if passed is not None and (found is None or passed.verdict is Verdict.VIOLATION):
                found = passed
        return found or self._blind(now, here, clause) or self._ahead(now, fix, here, clause)

    def _in_zone(
        self,
        now: Snapshot,
        fix: Fix,
        here: Place,
        came_from: Place | None,
        speed_mps: float,
        clause: Clause,
    ) -> Finding | None:
        """The finding at a place, or on the way to it, and None where that is in no zone."""
        near, sure = self._nearest_zone(now, fix, here, came_from, clause)
        if near is None:
            return None
        assert clause.limit is not None  # law.py refuses a speed clause without one
        value, error = in_unit_of(clause.limit, speed_mps, fix.error_mps)
        sure = sure and is_surely_within_window(now, clause)
        why = f"{near.feature.kind} {ft(near.distance_m):.0f} ft away"
        if not sure:
            why += f", give or take {ft(fix.error_m):.0f} ft"
        return judge_speed(clause, value, error, why, self.choices, sure, TOPIC)

    def _maps(self, now: Snapshot, *, with_marks: bool = True) -> list[Nearby]:
        maps = [] if isinstance(now.nearby, Missing) else [now.nearby]
        return [*maps, now.marks] if with_marks and now.marks is not None else maps

    def _nearest_zone(
        self, now: Snapshot, fix: Fix, here: Place, came_from: Place | None, clause: Clause
    ) -> tuple[Near | None, bool]:
        """The nearest thing whose zone may hold the sled, and whether it surely does."""
        best: Near | None = None
        sure: Near | None = None
        for rule in clause.near:
            reach_m = rule.reach_m
            for chart in self._maps(now):
                near = chart.nearest(rule.kinds, here, came_from, reach_m + fix.error_m)
                if near is None:
                    continue
                if best is None or near.distance_m < best.distance_m:
                    best = near
                if sure is None and near.distance_m + fix.error_m <= reach_m:
                    sure = near
        if best is None:
            return None, False
        on_it, surely_on_it = self._on(now, fix, here, clause)
        if not on_it:
            return None, False
        return (sure, True) if surely_on_it and sure is not None else (best, False)

    def _on(self, now: Snapshot, fix: Fix, here: Place, clause: Clause) -> tuple[bool, bool]:
        """Whether the sled may be on what the clause speaks of (`on = "water"`), and surely is."""
        if not clause.on:
            return True, True
        for chart in self._maps(now, with_marks=False):
            under = chart.nearest({clause.on}, here, within_m=fix.error_m)
            if under is not None:
                return True, under.depth_m >= fix.error_m
        is_charted = not isinstance(now.nearby, Missing) and now.nearby.is_covered(*here)
        return not is_charted, False  # where no map tells, what the rider marked may count

    def _blind(self, now: Snapshot, here: Place, clause: Clause) -> Finding | None:
        """The `unknown` finding where no map tells what is near, and None where one does."""
        if isinstance(now.nearby, Missing):
            return self._not_charted(now.nearby, clause)
        if not now.nearby.is_covered(*here):
            return cannot_tell(clause, "no zone data here", TOPIC)
        if not now.nearby.reaches(*here, NEEDED_M):
            return cannot_tell(clause, "what is near here is still being looked up", TOPIC)
        return None

    def _ahead(self, now: Snapshot, fix: Fix, here: Place, clause: Clause) -> Finding:
        """`approaching` while the way to brake before an edge ahead has begun."""
        assert clause.limit is not None  # law.py refuses a speed clause without one
        limit_mps = clause.limit.value * (
            MPS_PER_MPH if clause.limit.unit == "mph" else MPS_PER_KMH
        )
        clear = does_not_apply(clause, f"no {' or '.join(clause.near[0].kinds)} near", TOPIC)
        if fix.track_deg is None or fix.speed_mps <= limit_mps:
            return clear
        braking_m = (fix.speed_mps**2 - limit_mps**2) / (2 * self.choices.brake_mps2)
        reach_m = braking_m + fix.speed_mps * self.choices.reaction_s
        course = math.radians(fix.track_deg)
        there = Plane(*here).place(reach_m * math.sin(course), reach_m * math.cos(course))
        best: Near | None = None
        for rule in clause.near:
            for chart in self._maps(now):
                near = chart.nearest(rule.kinds, here, there, rule.reach_m)
                if near is None:
                    continue
                if clause.on and not self._leads_onto(now, here, there, clause):
                    continue
                if best is None or near.distance_m < best.distance_m:
                    best = near
        if best is None:
            return clear
        value, error = in_unit_of(clause.limit, fix.speed_mps, fix.error_mps)
        return Finding(
            clause.citation,
            Verdict.APPROACHING,
            f"{best.feature.kind} ahead: be at {clause.limit.value:g} {clause.limit.unit} "
            f"within {ft(reach_m):.0f} ft",
            value,
            clause.limit.value,
            clause.limit.unit,
            error,
            AHEAD,
        )

    def _leads_onto(self, now: Snapshot, here: Place, there: Place, clause: Clause) -> bool:
        return any(
            chart.nearest({clause.on}, here, there, 0.0) is not None
            for chart in self._maps(now, with_marks=False)
        )
