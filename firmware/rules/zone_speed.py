"""Speed near things on the map: within a distance of dwellings, shanties, people.

The edge is honest: a position with its error is *surely* inside, *maybe* inside, or clear. Maybe
warns and is `unsure`; only surely accuses. The stretch between two fixes is tested and not the
points alone, so that a zone crossed between them is caught. Ahead, the warning comes so early
that a sled which brakes as 350.09(4) asks is at the limit at the edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.maps.ahead import Edge, Way, first_edge
from firmware.maps.calm import ANYWHERE, Calm, everywhere
from firmware.maps.plane import Plane
from firmware.maps.zones import NO_ZONE_DATA, Near, Nearby
from firmware.readings import Channel, Fix, Missing, Why
from firmware.rules.base import (
    LOOK_BACK_S,
    NEVER,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    in_unit_of,
    is_surely_within_window,
    is_within_window,
    judge_speed,
    lifted,
    outside_hours,
)
from firmware.units import MPS_PER_KMH, MPS_PER_MPH, ft

TOPIC = "zone"
AHEAD = "zone-ahead"

MAX_STRETCH_S = 5.0
"""Two fixes further apart in time than this are two points, not a stretch that was ridden."""

NEEDED_M = 620.0
"""How far about the sled the map must be whole: the look-ahead at 120 mph, 535 m, and a zone."""

TURN_S = LOOK_BACK_S
"""A turn is told by the course of so long ago: longer than a receiver's noise, shorter than a
bend."""

LEAST_TURN_DEG_S = 1.0
"""A slower turn than this is noise of the course."""

LONGEST_PERIOD_S = 2.0
"""Up to so long after a fix the sled is taken to ride on as it did, until the next one comes."""

AHEAD_ERRORS = 2.0
"""The warning ahead counts on a position that is off by so many errors, for one sled in six is off
by more than one. Where the warning ends, a sled has not yet come to where it may be inside."""

KEPT_SHARE, KEPT_M, KEPT_ERRORS = 1.1, 2.0, 4.0
"""A warning that stands is dropped where the way to brake, so much longer, ends before the edge,
which is then so many errors out."""

LEFT_ERRORS = 3.0
"""A zone has been left where the sled is so many errors out: by real receivers' wander, with two of
them half an hour along an edge was up to 26 visits, with three it is one."""

TRIED_DEG = 1e-4
"""Some 10 m: so far from where there was no calm ground it is looked for again."""

MARKED = frozenset({"person", "shanty"})

Place = tuple[float, float]
Courses = tuple[tuple[float, float], ...]


class LastPlace(msgspec.Struct, frozen=True):
    """Where the last judged fix was, when, how fast, and on which courses it came there.

    `is_in` says that it may have been in a zone, `was_over` that it was too fast there, `is_warned`
    that an edge ahead was warned of. On `calm` ground `said` goes on to be the finding, and so it
    does while the map is the same `blind` one; `tried` is where no calm ground was.
    """

    place: Place | None = None
    at_s: float = 0.0
    speed_mps: float = 0.0
    due_s: float = NEVER
    is_in: bool = False
    was_over: bool = False
    is_warned: bool = False
    courses: Courses = ()
    calm: Calm | None = None
    said: Finding | None = None
    blind: Missing | None = None
    tried: Place | None = None


class ZoneSpeed:
    """Judges a clause such as 350.10(1)(g) and (i)."""

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules

    def begin(self) -> LastPlace:
        return LastPlace()

    def judge(self, memory: LastPlace, now: Snapshot, clause: Clause) -> tuple[LastPlace, Finding]:
        fix = now.fix
        if isinstance(fix, Missing):
            return LastPlace(), self._without_fix(now, clause, fix)
        here = (fix.lat_deg, fix.lon_deg)
        before = memory if now.fix_at_s - memory.at_s <= MAX_STRETCH_S else LastPlace()
        # The way there from before the hours of the clause was none of its business.
        idle = self._idle(now, clause)
        if idle is not None:
            return LastPlace(None, now.fix_at_s, fix.speed_mps), idle
        courses = _courses(before.courses, now.fix_at_s, fix)
        calm, said = before.calm, before.said
        if said is not None and (now.marks is None or not _marked(clause)):
            is_same = before.blind is now.nearby if calm is None else calm.holds(now.nearby, fix)
            if is_same:
                after = LastPlace(
                    here,
                    now.fix_at_s,
                    fix.speed_mps,
                    courses=courses,
                    calm=calm,
                    said=said,
                    blind=before.blind,
                )
                return after, said
        zone = self._zone(now, fix, here, before, clause)
        found = zone or self._blind(now, here, clause)
        edge, period_s = None, min(now.fix_at_s - before.at_s, LONGEST_PERIOD_S)
        if found is None:
            if period_s <= 0.0:  # the same fix, judged again: the next comes as the last did
                period_s = LONGEST_PERIOD_S
            edge = self._edge_ahead(now, fix, here, courses, before.is_warned, period_s, clause)
        due_s = NEVER if edge is None or edge.is_reached else edge.due_s
        is_warned = edge is not None and edge.is_reached
        if edge is not None and is_warned:
            found = self._warning(fix, edge, clause)
        after = LastPlace(
            here,
            now.fix_at_s,
            fix.speed_mps,
            due_s,
            zone is not None,
            zone is not None and zone.verdict.is_over,
            is_warned,
            courses,
        )
        finding = found or does_not_apply(clause, f"no {_listed(clause)} near", TOPIC)
        if zone is None and isinstance(now.nearby, Missing):
            after = msgspec.structs.replace(after, said=finding, blind=now.nearby)
        elif zone is None and edge is None and isinstance(now.nearby, Nearby):
            if _is_close(here, before.tried):
                return msgspec.structs.replace(after, tried=before.tried), finding
            calm = self._calm(now.nearby, fix, here, clause)
            if calm is None:
                return msgspec.structs.replace(after, tried=here), finding
            after = msgspec.structs.replace(after, calm=calm, said=finding)
        return after, finding

    def ground(self, memory: LastPlace, now: Snapshot, clause: Clause) -> Calm | None:
        if isinstance(now.fix, Missing):
            return None
        if memory.place is None:  # the clause asks nothing now, wherever it is
            return ANYWHERE
        if now.marks is not None and _marked(clause):
            return None
        return memory.calm if memory.blind is None else everywhere(memory.blind)

    def ridden(self, memory: LastPlace, passed: Passed) -> LastPlace:
        at_s, fix = passed[-1]
        if memory.place is None:
            return LastPlace(None, at_s, fix.speed_mps)
        courses, before_s = memory.courses, memory.at_s
        for then_s, then in passed:
            known = courses if then_s - before_s <= MAX_STRETCH_S else ()
            courses, before_s = _courses(known, then_s, then), then_s
        return msgspec.structs.replace(
            memory,
            place=(fix.lat_deg, fix.lon_deg),
            at_s=at_s,
            speed_mps=fix.speed_mps,
            courses=courses,
        )

    def _calm(self, chart: Nearby, fix: Fix, here: Place, clause: Clause) -> Calm | None:
        """Ground on which no zone can be in, or braked for, with twice the error and a quarter more
        speed than now."""
        error_m, speed_mps = 2.0 * fix.error_m, 1.25 * fix.speed_mps + 2.0
        looked_m = speed_mps**2 / (2 * self.choices.brake_mps2) + speed_mps * (
            self.choices.reaction_s + self.choices.delay_s + LONGEST_PERIOD_S
        )
        need_m = max(rule.reach_m for rule in clause.near) + KEPT_ERRORS * error_m + 1.25 * looked_m
        kinds = [kind for rule in clause.near for kind in rule.kinds]
        return chart.calm(kinds, ("dwelling",), here, need_m, NEEDED_M, error_m, speed_mps)

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

    def _idle(self, now: Snapshot, clause: Clause) -> Finding | None:
        """The finding while the clause asks nothing, or nobody can tell whether it does."""
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        outside = outside_hours(clause, now, TOPIC)
        if outside is not None:
            return outside
        if clause.season is not None:
            if now.local is None:
                return cannot_tell(clause, "the date is not known", TOPIC)
            if not clause.season.holds(now.local.date()):
                return does_not_apply(clause, "outside its season", TOPIC)
        return None

    def _zone(
        self, now: Snapshot, fix: Fix, here: Place, before: LastPlace, clause: Clause
    ) -> Finding | None:
        """The finding in a zone, or on the way through one, and None outside of all."""
        came_from = before.place
        if not before.is_in and self._is_clear(now, here, came_from, fix.error_m, clause):
            return None
        found = self._in_zone(now, fix, here, None, fix.speed_mps, clause)
        if came_from is not None and (found is None or found.verdict is not Verdict.VIOLATION):
            # Somewhere on the way here it was no slower than the slower of its two ends.
            slower_mps = min(before.speed_mps, fix.speed_mps)
            passed = self._in_zone(now, fix, here, came_from, slower_mps, clause)
            if passed is not None and (found is None or passed.verdict is Verdict.VIOLATION):
                found = passed
        return found or (self._at_edge(now, fix, here, before, clause) if before.is_in else None)

    def _is_clear(
        self, now: Snapshot, here: Place, came_from: Place | None, margin_m: float, clause: Clause
    ) -> bool:
        """Whether no zone can hold the place or the way to it: by far the most frequent answer."""
        return all(
            chart.nearest(rule.kinds, here, came_from, rule.reach_m + margin_m) is None
            for rule in clause.near
            for chart in self._maps(now)
        )

    def _at_edge(
        self, now: Snapshot, fix: Fix, here: Place, before: LastPlace, clause: Clause
    ) -> Finding | None:
        """The finding just outside of a zone that the sled was in: it has left once it is so
        many errors away, so that a position which wanders at the edge is one stay and not twenty.

        Whoever kept the limit may go faster at once; too fast, it is `unsure` until then.
        """
        near, _ = self._nearest_zone(now, fix, here, None, clause, LEFT_ERRORS * fix.error_m)
        if near is None:
            return None
        finding = self._judged(now, fix, fix.speed_mps, near, False, clause)
        return None if finding.verdict.is_over and not before.was_over else finding

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
        near, sure = self._nearest_zone(now, fix, here, came_from, clause, fix.error_m)
        return None if near is None else self._judged(now, fix, speed_mps, near, sure, clause)

    def _judged(
        self,
        now: Snapshot,
        fix: Fix,
        speed_mps: float,
        near: Near,
        sure: bool,
        clause: Clause,
    ) -> Finding:
        assert clause.limit is not None  # law.py refuses a speed clause without one
        value, error = in_unit_of(clause.limit, speed_mps, fix.error_mps)
        sure = sure and is_surely_within_window(now, clause)
        what = f"{'possible ' if near.feature.is_possible else ''}{near.feature.kind}"
        why = f"{what} {ft(near.distance_m):.0f} ft away"
        if not sure:
            why += f", give or take {ft(fix.error_m):.0f} ft"
        away_ft = ft(near.distance_m)
        return judge_speed(clause, value, error, why, self.choices, sure, TOPIC, away_ft)

    def _maps(self, now: Snapshot, *, with_marks: bool = True) -> list[Nearby]:
        maps = [] if isinstance(now.nearby, Missing) else [now.nearby]
        return [*maps, now.marks] if with_marks and now.marks is not None else maps

    def _nearest_zone(
        self,
        now: Snapshot,
        fix: Fix,
        here: Place,
        came_from: Place | None,
        clause: Clause,
        margin_m: float,
    ) -> tuple[Near | None, bool]:
        """The nearest thing whose zone may hold the sled, and whether it surely does."""
        best: Near | None = None
        sure: Near | None = None
        for rule in clause.near:
            reach_m = rule.reach_m
            for chart in self._maps(now):
                near = chart.nearest(rule.kinds, here, came_from, reach_m + margin_m)
                if near is None:
                    continue
                if best is None or near.distance_m < best.distance_m:
                    best = near
                if near.feature.is_possible:  # what is known to be one may lie further, and count
                    near = chart.nearest(
                        rule.kinds, here, came_from, reach_m - fix.error_m, is_known=True
                    )
                if near is not None and sure is None and near.distance_m + fix.error_m <= reach_m:
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
            under = chart.is_in((clause.on,), here, fix.error_m)
            if under is not False:
                return True, under is True
        is_charted = not isinstance(now.nearby, Missing) and now.nearby.is_covered(*here)
        return not is_charted, False  # where no map tells, what the rider marked may count

    def _blind(self, now: Snapshot, here: Place, clause: Clause) -> Finding | None:
        """The `unknown` finding where no map tells what is near, and None where one does."""
        if isinstance(now.nearby, Missing):
            return self._not_charted(now.nearby, clause)
        if not now.nearby.is_covered(*here):
            return cannot_tell(clause, NO_ZONE_DATA, TOPIC)
        if not now.nearby.reaches(*here, NEEDED_M):
            return cannot_tell(clause, "what is near here is still being looked up", TOPIC)
        return None

    def _edge_ahead(
        self,
        now: Snapshot,
        fix: Fix,
        here: Place,
        courses: Courses,
        is_warned: bool,
        period_s: float,
        clause: Clause,
    ) -> _Ahead | None:
        """The edge that lies on the way, as far as the sled gets until the next fix, if any.

        It lies outside of where the sled *may* be inside, so that who obeys is never told red; and
        the speed to be at there is the limit less the error, for the same reason. The fix is as old
        as the receiver is slow, which is counted in; the slope of the land is not known, and is
        not.
        """
        assert clause.limit is not None  # law.py refuses a speed clause without one
        limit_mps = clause.limit.value * (
            MPS_PER_MPH if clause.limit.unit == "mph" else MPS_PER_KMH
        )
        speed_mps = fix.speed_mps
        if fix.track_deg is None or speed_mps <= limit_mps:
            return None
        target_mps = max(limit_mps - fix.error_mps, 0.5 * limit_mps)
        braking_m = (speed_mps**2 - target_mps**2) / (2 * self.choices.brake_mps2)
        reach_m = braking_m + speed_mps * (self.choices.reaction_s + self.choices.delay_s)
        errors = AHEAD_ERRORS
        if is_warned:
            errors = KEPT_ERRORS
            reach_m = reach_m * KEPT_SHARE + KEPT_M
        looked_m = reach_m + speed_mps * period_s
        way = Way(here, fix.track_deg, _turn(courses) / speed_mps)
        spread = min(fix.error_mps / speed_mps, 0.2)
        first: Edge | None = None
        for rule in clause.near:
            within_m = rule.reach_m + errors * fix.error_m
            for chart in self._maps(now):
                edge = first_edge(chart, rule.kinds, way, looked_m, within_m, spread)
                if edge is not None and (first is None or edge.along_m < first.along_m):
                    first = edge
        if first is None or not self._leads_onto(now, way, looked_m, clause):
            return None
        since_s = max(0.0, now.at_s - now.fix_at_s)
        left_m = max(0.0, first.along_m - speed_mps * since_s)
        due_s = now.fix_at_s + (first.along_m - reach_m) / speed_mps
        return _Ahead(first, left_m, max(due_s, now.at_s + 0.001), left_m <= reach_m)

    def _warning(self, fix: Fix, ahead: _Ahead, clause: Clause) -> Finding:
        assert clause.limit is not None  # law.py refuses a speed clause without one
        value, error = in_unit_of(clause.limit, fix.speed_mps, fix.error_mps)
        limit, unit = clause.limit.value, clause.limit.unit
        away_ft = ft(ahead.left_m)
        return Finding(
            clause.citation,
            Verdict.APPROACHING,
            f"{ahead.edge.feature.kind} ahead: be at {limit:g} {unit} within {away_ft:.0f} ft",
            value,
            limit,
            unit,
            error,
            AHEAD,
            away_ft=away_ft,
        )

    def _leads_onto(self, now: Snapshot, way: Way, reach_m: float, clause: Clause) -> bool:
        if not clause.on:
            return True
        there = Plane(*way.place).place(*way.offset(reach_m))
        return any(
            chart.nearest({clause.on}, way.place, there, 0.0) is not None
            for chart in self._maps(now, with_marks=False)
        )


@dataclass(frozen=True, slots=True)
class _Ahead:
    """An edge on the way: how far it still is, and when the way to brake before it begins."""

    edge: Edge
    left_m: float
    due_s: float
    is_reached: bool


def _courses(known: Courses, at_s: float, fix: Fix) -> Courses:
    """The courses of the last moments, each with its instant, after a fix; none at rest."""
    if fix.track_deg is None:
        return ()
    if known and known[-1][0] == at_s:
        return known
    while len(known) > 1 and known[1][0] <= at_s - TURN_S:
        known = known[1:]
    return (*known, (at_s, fix.track_deg))


def _turn(courses: Courses) -> float:
    """Degrees a second that the course turns by a course or more, to the right where positive."""
    if courses[-1][0] - courses[0][0] < 0.5 * TURN_S:
        return 0.0
    (from_s, from_deg), (to_s, to_deg) = courses[0], courses[-1]
    turn = math.remainder(to_deg - from_deg, 360.0) / (to_s - from_s)
    return turn if abs(turn) >= LEAST_TURN_DEG_S else 0.0


def _is_close(here: Place, tried: Place | None) -> bool:
    """Whether calm ground was looked for in vain so near that there is hardly more of it here."""
    if tried is None:
        return False
    return abs(here[0] - tried[0]) < TRIED_DEG and abs(here[1] - tried[1]) < TRIED_DEG


def _marked(clause: Clause) -> bool:
    """Whether a clause speaks of what a rider may mark."""
    return any(kind in MARKED for rule in clause.near for kind in rule.kinds)


def _listed(clause: Clause) -> str:
    return " or ".join(clause.near[0].kinds)
