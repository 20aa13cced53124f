"""Signs on a trail: a stop sign at which a sled must stand, a yield sign that is told in time.

A sign on the map is a line, the way in, that ends at the sign. A point is one too, but nobody knows
which way it faces: it warns, and accuses nobody. The sled must have stood before the sign, or past
it by less than the position's error. Who must yield to whom can't be seen: that is advice.

The land of a rider's family lifts the signs on it (350.10(2)). Where a map draws that land, it does
so there alone; without one it goes by the rider's word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import msgspec

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.law.places import Signs
from firmware.maps.calm import Calm, everywhere
from firmware.maps.plane import Plane
from firmware.maps.zones import NO_ZONE_DATA, Nearby
from firmware.quick import quick
from firmware.readings import Channel, Feature, Fix, Missing, Why
from firmware.rules.base import (
    MOVING_MPH,
    NEVER,
    ROUNDING,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
    uncharted,
)
from firmware.units import ft, metres, mph, mps

TOPIC = "sign"
AHEAD = "sign-ahead"
BLIND = "zone"
"""What can't be watched is told with the zones."""

MAX_STRETCH_S = 2.5
"""Fixes further apart than this leave room for a stop between them: it is unsure."""

STOP_WITHIN_M = 30.0
"""A stop so far before the sign is one at it: 100 ft, as behind two sleds that wait."""

TURNED_DEG = 60.0
"""A course further off the way in than this does not lead to the sign."""

TOLD_S = 6.0
"""So long a sign that was passed stays the finding."""

NEEDED_M = 300.0
"""How far about the sled the map must be whole: to stop from 80 mph takes 250 m."""

FAMILY_LAND = "family_land"
"""The mode, and the kind of zone on which it holds."""

_LEG_M = 5.0  # the last metres of a way in tell which way it leads

Place = tuple[float, float]


@quick
@dataclass(frozen=True, slots=True)
class Approach:
    """Where the last judged fix was, and how fast; what was done before the sign `sign`.

    `stands_s` is since when the sled stands there, `stood_s` how long it did at most, less than
    nothing where it did not (`stop_s` may be 0), `slowest_mps` how slow it was; `told` is what was
    found at a sign that was passed, until `due_s`. `has_land` says that a map drew the family's
    land while its mode was on. On `calm` ground `said` goes on to be the finding, and so it does
    while the map is the same `blind` one.
    """

    place: Place | None = None
    at_s: float = 0.0
    speed_mps: float = 0.0
    sign: str = ""
    stands_s: float | None = None
    stood_s: float = -math.inf
    slowest_mps: float = math.inf
    told: Finding | None = None
    due_s: float = NEVER
    has_land: bool = False
    calm: Calm | None = None
    said: Finding | None = None
    blind: Missing | None = None


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign as the sled comes to it: metres still to go (less than nothing past it), metres to the
    side of the way in, and what was to go at the fix before. `faces` says that its way in is known.
    """

    feature: Feature
    left_m: float
    aside_m: float
    before_m: float
    faces: bool

    @property
    def id(self) -> str:
        return f"{self.feature.kind}:{self.feature.id}"


class StopSign:
    """Judges a clause such as 350.10(1)(c)."""

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules

    def begin(self) -> Approach:
        return Approach()

    def judge(self, memory: Approach, now: Snapshot, clause: Clause) -> tuple[Approach, Finding]:
        if FAMILY_LAND not in clause.lifted_by or FAMILY_LAND not in now.modes:
            return self._judge(memory, now, clause)
        is_known = memory.has_land or _draws_land(now.nearby)
        if is_known and _is_off_land(now):
            left = (one for one in clause.lifted_by if one != FAMILY_LAND)
            clause = msgspec.structs.replace(clause, lifted_by=tuple(left))
        after, finding = self._judge(memory, now, clause)
        return (replace(after, has_land=True) if is_known else after), finding

    def _judge(self, memory: Approach, now: Snapshot, clause: Clause) -> tuple[Approach, Finding]:
        assert clause.signs is not None  # law.py refuses a stop clause without them
        after = _after_the_same(memory, now, clause)
        if after is not None and memory.said is not None:
            return after, memory.said
        idle = self._idle(now, clause)
        if idle is not None:
            return _after_idle(idle, now, clause), idle
        fix, chart = now.fix, now.nearby
        assert isinstance(fix, Fix)  # _idle
        assert isinstance(chart, Nearby)
        if memory.place is not None and now.fix_at_s == memory.at_s:  # time alone has passed
            return self._again(memory, now, clause)
        here = (fix.lat_deg, fix.lon_deg)
        before = memory if now.fix_at_s - memory.at_s <= MAX_STRETCH_S else Approach()
        told, until_s = memory.told, memory.due_s
        sign = self._sign(chart, fix, before, clause.signs)
        after = Approach(here, now.fix_at_s, fix.speed_mps)
        if sign is not None:
            after = _remember(before, after, sign, fix)
            is_stop = sign.feature.kind in clause.signs.stop
            if sign.left_m < -fix.error_m:
                if is_stop and (missed := self._passed(after, sign, now, clause)) is not None:
                    told, until_s = missed, now.at_s + TOLD_S
                after = Approach(here, now.fix_at_s, fix.speed_mps)
        if told is not None and now.at_s < until_s:
            return replace(after, told=told, due_s=until_s), told
        finding = self._here(now, chart, fix, after, sign, clause)
        if sign is None and not _may_idle(now, clause):
            calm = self._calm(chart, fix, clause.signs)
            if calm is not None:
                after = replace(after, calm=calm, said=finding)
        return after, finding

    def ground(self, memory: Approach, now: Snapshot, clause: Clause) -> Calm | None:
        if isinstance(now.fix, Missing) or _may_idle(now, clause):
            return None
        return memory.calm if memory.blind is None else everywhere(memory.blind)

    def ridden(self, memory: Approach, passed: Passed) -> Approach:
        if memory.calm is None:
            return memory  # without a map no place is remembered
        at_s, fix = passed[-1]
        here = (fix.lat_deg, fix.lon_deg)
        return Approach(here, at_s, fix.speed_mps, calm=memory.calm, said=memory.said)

    def _calm(self, chart: Nearby, fix: Fix, signs: Signs) -> Calm | None:
        """Ground on which no sign can be come to, with twice the error and a quarter more speed
        than now."""
        error_m, speed_mps = 2.0 * fix.error_m, 1.25 * fix.speed_mps + 2.0
        need_m = self._look_m(speed_mps, error_m, signs)
        kinds, place = (*signs.stop, *signs.give_way), (fix.lat_deg, fix.lon_deg)
        return chart.calm(kinds, kinds, place, need_m, NEEDED_M, error_m, speed_mps)

    def _look_m(self, speed_mps: float, error_m: float, signs: Signs) -> float:
        """How far off a sign is looked for."""
        reach_m = self._reach_m(speed_mps) + metres(signs.within_ft) + 2.0 * error_m
        return max(reach_m, STOP_WITHIN_M + 2.0 * error_m)

    def _idle(self, now: Snapshot, clause: Clause) -> Finding | None:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        day = None if now.local is None else now.local.date()
        if clause.season is not None and day is not None and not clause.season.holds(day):
            return does_not_apply(clause, "outside its season", TOPIC)
        nearby = now.nearby
        if isinstance(nearby, Missing) and (
            nearby.why is Why.NOT_FITTED or not isinstance(now.fix, Missing)
        ):
            return cannot_tell(clause, f"nothing known of what is near ({nearby})", BLIND, nearby)
        if isinstance(now.fix, Missing):
            return cannot_tell(clause, f"place not known ({now.fix})", BLIND)
        return None

    def _again(self, memory: Approach, now: Snapshot, clause: Clause) -> tuple[Approach, Finding]:
        if memory.told is not None and now.at_s < memory.due_s:
            return memory, memory.told
        assert isinstance(now.fix, Fix)
        assert isinstance(now.nearby, Nearby)
        assert clause.signs is not None
        memory = replace(memory, told=None, due_s=NEVER)
        sign = self._sign(now.nearby, now.fix, memory, clause.signs)
        return memory, self._here(now, now.nearby, now.fix, memory, sign, clause)

    def _sign(self, chart: Nearby, fix: Fix, before: Approach, signs: Signs) -> _Sign | None:
        """The sign whose way in the sled is on: the one it comes to first, or has just passed."""
        here = (fix.lat_deg, fix.lon_deg)
        reach_m = self._look_m(fix.speed_mps, fix.error_m, signs)
        best: _Sign | None = None
        for near in chart.met((*signs.stop, *signs.give_way), here, before.place, reach_m):
            for part in near.feature.parts:
                sign = _approached(near.feature, part, fix, before, metres(signs.within_ft))
                if sign is None:
                    continue
                is_nearer = best is None or abs(sign.left_m) < abs(best.left_m)
                if best is None or (sign.id == before.sign, is_nearer) > (
                    best.id == before.sign,
                    False,
                ):
                    best = sign
        return best

    def _reach_m(self, speed_mps: float) -> float:
        """How far it takes to stand."""
        braking_m = speed_mps**2 / (2 * self.choices.brake_mps2)
        return braking_m + speed_mps * self.choices.reaction_s

    def _passed(
        self, after: Approach, sign: _Sign, now: Snapshot, clause: Clause
    ) -> Finding | None:
        """The finding on a stop sign that lies behind, None where the sled has stood."""
        assert clause.signs is not None
        if after.stood_s >= self.choices.stop_s:
            return None
        fix = now.fix
        assert isinstance(fix, Fix)  # _idle
        slowest_mph, error_mph = mph(after.slowest_mps), mph(fix.error_mps)
        is_dated = clause.season is None or now.local is not None
        is_sure = (
            is_dated
            and sign.faces
            and not sign.feature.is_possible
            and slowest_mph > MOVING_MPH + error_mph + ROUNDING
            and sign.aside_m + fix.error_m <= metres(clause.signs.within_ft)
        )
        why = f"stop sign passed at {slowest_mph:.0f} mph"
        if not sign.faces:
            why += ", if it faces this way"
        elif not is_dated:
            why += ", if it is the season"
        elif not is_sure:
            why += f", give or take {error_mph:.1f} mph and {ft(fix.error_m):.0f} ft"
        return Finding(
            clause.citation,
            Verdict.VIOLATION if is_sure else Verdict.UNSURE,
            why,
            slowest_mph,
            unit="mph",
            error=error_mph,
            topic=TOPIC,
        )

    def _here(
        self,
        now: Snapshot,
        chart: Nearby,
        fix: Fix,
        after: Approach,
        sign: _Sign | None,
        clause: Clause,
    ) -> Finding:
        assert clause.signs is not None
        if sign is not None and sign.left_m >= -fix.error_m:
            left_m = max(0.0, sign.left_m)
            is_stop = sign.feature.kind in clause.signs.stop
            if is_stop and after.stood_s >= self.choices.stop_s:
                return does_not_apply(clause, "stood before the stop sign", TOPIC)
            if now.is_moving and left_m <= self._reach_m(fix.speed_mps) + fix.error_m:
                what = "stand" if is_stop else "be ready to yield"
                return Finding(
                    clause.citation,
                    Verdict.APPROACHING,
                    f"{sign.feature.kind} sign ahead: {what} within {ft(left_m):.0f} ft",
                    topic=AHEAD,
                    away_ft=ft(left_m),
                )
            return does_not_apply(clause, f"{sign.feature.kind} sign ahead", TOPIC)
        here = (fix.lat_deg, fix.lon_deg)
        kinds = (*clause.signs.stop, *clause.signs.give_way)
        if not chart.is_covered(*here, kinds):
            return cannot_tell(clause, NO_ZONE_DATA, BLIND, uncharted(chart, kinds))
        if not chart.reaches(*here, NEEDED_M):
            return cannot_tell(clause, "what is near here is still being looked up", BLIND)
        return does_not_apply(clause, "no sign ahead", TOPIC)


def _may_idle(now: Snapshot, clause: Clause) -> bool:
    """Whether the clause may ask nothing just now: by a mode or its season."""
    return clause.season is not None or bool(clause.lifted_by and now.modes)


def _draws_land(nearby: Nearby | Missing) -> bool:
    """Whether a map says where the family's land is: it draws it here, or knows all of it."""
    if isinstance(nearby, Missing):
        return False
    is_drawn = any(one.kind == FAMILY_LAND for one in nearby.surroundings.features)
    return is_drawn or nearby.promises((FAMILY_LAND,))


def _is_off_land(now: Snapshot) -> bool:
    """Whether the sled surely is on none of the family's land that a map draws."""
    fix, chart = now.fix, now.nearby
    if isinstance(fix, Missing) or isinstance(chart, Missing):
        return False
    here = (fix.lat_deg, fix.lon_deg)
    if not chart.reaches(*here, fix.error_m):
        return False
    return chart.nearest((FAMILY_LAND,), here, None, fix.error_m) is None


def _after_the_same(memory: Approach, now: Snapshot, clause: Clause) -> Approach | None:
    """What is remembered where the finding goes on to be what was `said`, and None elsewhere."""
    fix, calm = now.fix, memory.calm
    if memory.said is None or isinstance(fix, Missing) or _may_idle(now, clause):
        return None
    if calm is None:
        return memory if memory.blind is now.nearby else None
    if not calm.holds(now.nearby, fix):
        return None
    here = (fix.lat_deg, fix.lon_deg)
    return Approach(here, now.fix_at_s, fix.speed_mps, calm=calm, said=memory.said)


def _after_idle(idle: Finding, now: Snapshot, clause: Clause) -> Approach:
    """What is remembered where nothing is asked or known: while there is no map, what was said."""
    is_asked = isinstance(now.fix, Fix) and not _may_idle(now, clause)
    if is_asked and isinstance(now.nearby, Missing):
        return Approach(said=idle, blind=now.nearby)
    return Approach()


def _remember(before: Approach, after: Approach, sign: _Sign, fix: Fix) -> Approach:
    """What was done on the way to this sign, with this fix."""
    same = before.sign == sign.id
    slowest_mps = before.slowest_mps if same else math.inf
    if not same and before.place is not None and sign.before_m >= 0.0:
        slowest_mps = before.speed_mps
    stands_s, stood_s = None, before.stood_s if same else -math.inf
    if -fix.error_m <= sign.left_m <= STOP_WITHIN_M + fix.error_m:
        slowest_mps = min(slowest_mps, fix.speed_mps)
        if fix.speed_mps < mps(MOVING_MPH):
            stands_s = before.stands_s if same and before.stands_s is not None else after.at_s
            stood_s = max(stood_s, after.at_s - stands_s)
    if slowest_mps == math.inf and sign.left_m < 0.0:
        slowest_mps = min(fix.speed_mps, before.speed_mps)  # it was just past it at both
    return replace(after, sign=sign.id, stands_s=stands_s, stood_s=stood_s, slowest_mps=slowest_mps)


def _approached(
    feature: Feature,
    part: tuple[tuple[float, float], ...],
    fix: Fix,
    before: Approach,
    within_m: float,
) -> _Sign | None:
    """The sign at the end of a way in, if the sled is on that way, or came past it since the last
    fix."""
    plane = Plane(part[-1][1], part[-1][0])
    x, y = plane.xy(fix.lat_deg, fix.lon_deg)
    corners = [plane.xy(lat, lon) for lon, lat in part]
    faces = any(math.hypot(*one) > 0.0 for one in corners)
    if not faces:
        if fix.track_deg is None:
            return None if before.sign != f"{feature.kind}:{feature.id}" else _still(feature, x, y)
        corners = [_behind(fix.track_deg), (0.0, 0.0)]
    east, north = _heading(corners)
    if fix.track_deg is not None:
        off_deg = math.degrees(math.atan2(east, north)) - fix.track_deg
        if abs(math.remainder(off_deg, 360.0)) > TURNED_DEG:
            return None
    left_m, aside_m = _along(corners, x, y)
    if aside_m > within_m + fix.error_m:
        return None
    before_m = math.inf
    if before.place is not None:
        before_m = _along(corners, *plane.xy(*before.place))[0]
    if left_m < 0.0 and (before_m < -fix.error_m or before.place is None):
        return None  # it lay behind at the last fix already
    return _Sign(feature, left_m, aside_m, before_m, faces)


def _still(feature: Feature, x: float, y: float) -> _Sign:
    """A sign without a way in, at rest: as far as it is."""
    return _Sign(feature, math.hypot(x, y), 0.0, math.inf, False)


def _behind(track_deg: float) -> tuple[float, float]:
    course = math.radians(track_deg)
    return -NEEDED_M * math.sin(course), -NEEDED_M * math.cos(course)


def _heading(corners: list[tuple[float, float]]) -> tuple[float, float]:
    """The direction of the last metres of a way in, east and north, of length 1."""
    furthest = max(corners, key=lambda one: math.hypot(*one))
    x, y = next((one for one in reversed(corners) if math.hypot(*one) >= _LEG_M), furthest)
    length_m = math.hypot(x, y)
    return -x / length_m, -y / length_m


def _along(corners: list[tuple[float, float]], x: float, y: float) -> tuple[float, float]:
    """Metres to go along a way that ends at 0, 0, and metres to its side; past its end the way goes
    on straight, and what is to go is less than nothing."""
    east, north = _heading(corners)
    past_m = x * east + y * north
    best = (-past_m, abs(x * north - y * east)) if past_m > 0.0 else (0.0, math.hypot(x, y))
    after_m = 0.0
    for (x2, y2), (x1, y1) in zip(reversed(corners), reversed(corners[:-1]), strict=False):
        length_m = math.hypot(x2 - x1, y2 - y1)
        if length_m == 0.0:
            continue
        share = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length_m**2
        share = min(1.0, max(0.0, share))
        aside_m = math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1))
        if aside_m < best[1]:
            best = (after_m + (1.0 - share) * length_m, aside_m)
        after_m += length_m
    return best
