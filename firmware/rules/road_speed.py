"""Speed on roads and trails by their posted limit: not over it, or not over what a law sets for it.

Michigan binds a sled beside a road to the road's limit; Ontario has 20 km/h along roads of 50 km/h
or less, and 50 km/h along faster ones and on trails. Where the roads that a sled may be on do not
agree, nobody can tell which limit holds.
"""

from __future__ import annotations

import msgspec

from firmware.config.schema import Config
from firmware.findings import Finding
from firmware.law.packs import Clause, Limit
from firmware.maps.calm import ANYWHERE, Calm, everywhere
from firmware.maps.roads import OnRoad, Roads, posted_mph
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Fix, Missing
from firmware.rules.base import (
    ROUNDING,
    NoMemory,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    in_unit_of,
    is_out_of_hours,
    is_surely_within_window,
    judge_speed,
    lifted,
    outside_hours,
    uncharted,
)
from firmware.units import MPS_PER_KMH, MPS_PER_MPH, mph

TOPIC = "road-speed"

COURSE_MPH = 3.0
"""Below this a course says little about the road."""


class RoadSpeed:
    """Judges a clause on speed along roads.

    `near` says along what, and how far to each side it reaches: without it, on roads, by their
    width. `limit_from = "posted"` is the road's own limit; `limit` with `posted_over` or
    `posted_up_to` holds along roads of such a posted limit, and without them along all.
    """

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules
        self._charted: dict[tuple[str, ...], tuple[Nearby, Roads]] = {}

    def begin(self) -> NoMemory:
        return NoMemory()

    def judge(self, memory: NoMemory, now: Snapshot, clause: Clause) -> tuple[NoMemory, Finding]:
        return memory, self._finding(now, clause)

    def ground(self, memory: NoMemory, now: Snapshot, clause: Clause) -> Calm | None:
        if is_out_of_hours(now, clause):
            return ANYWHERE
        return everywhere(now.nearby) if isinstance(now.nearby, Missing) else None

    def ridden(self, memory: NoMemory, passed: Passed) -> NoMemory:
        return memory

    def _finding(self, now: Snapshot, clause: Clause) -> Finding:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        outside = outside_hours(clause, now, TOPIC)
        if outside is not None:
            return outside
        if isinstance(now.nearby, Missing):
            why = f"nothing known of the roads ({now.nearby})"
            return cannot_tell(clause, why, TOPIC, now.nearby)
        if isinstance(now.fix, Missing):
            return cannot_tell(clause, f"place and speed not known ({now.fix})", TOPIC)
        return self._on_roads(now, now.fix, now.nearby, clause)

    def _on_roads(self, now: Snapshot, fix: Fix, nearby: Nearby, clause: Clause) -> Finding:
        kinds = tuple(kind for near in clause.near for kind in near.kinds) or ("road",)
        half_m: dict[str, float] = {}
        for near in clause.near:
            half_m |= {kind: max(near.reach_m, half_m.get(kind, 0.0)) for kind in near.kinds}
        roads = self._roads(nearby, kinds)
        here = (fix.lat_deg, fix.lon_deg)
        found = roads.near(here, fix.error_m, half_m)
        if fix.track_deg is not None and mph(fix.speed_mps) >= COURSE_MPH:
            along = [one for one in found if one.runs_along(fix.track_deg)]
            found = along or found
        if not found:
            if roads.is_covered(here):
                return does_not_apply(clause, f"along no {kinds[0]} of the map", TOPIC)
            missing = uncharted(nearby, kinds)
            return cannot_tell(clause, f"no {kinds[0]} map here", TOPIC, missing)
        limits = {_limit_on(clause, one) for one in found}
        if len(limits) > 1:
            names = " or ".join(one.feature.name or one.feature.id for one in found[:2])
            return cannot_tell(clause, f"between two limits: {names}", TOPIC)
        (limit,) = limits
        name = found[0].feature.name or found[0].feature.id
        if isinstance(limit, str):
            return cannot_tell(clause, f"the limit of {name} is not on the map", TOPIC)
        if limit is None:
            return does_not_apply(clause, f"not for {name}", TOPIC)
        is_sure = any(one.is_sure(fix.error_m) for one in found)
        is_sure = is_sure and is_surely_within_window(now, clause)
        value, error = in_unit_of(limit, fix.speed_mps, fix.error_mps)
        bound = msgspec.structs.replace(clause, limit=limit)
        return judge_speed(bound, value, error, f"along {name}", self.choices, is_sure, TOPIC)

    def _roads(self, nearby: Nearby, kinds: tuple[str, ...]) -> Roads:
        """The roads of the surroundings; the same ones are put on the map once."""
        charted = self._charted.get(kinds)
        if charted is None or charted[0] is not nearby:
            charted = self._charted[kinds] = (nearby, Roads(nearby.surroundings, kinds))
        return charted[1]


def _limit_on(clause: Clause, one: OnRoad) -> Limit | str | None:
    """The limit along a road: None where the clause is not for such a road, a word where the map
    does not tell."""
    posted = posted_mph(one.feature)
    if clause.limit_from == "posted":
        return "not told" if posted is None else _as_posted(one, posted)
    assert clause.limit is not None  # law.py refuses a speed clause without one
    if clause.posted_over is None and clause.posted_up_to is None:
        return clause.limit
    if posted is None:
        return "not told"
    unit_mph = 1.0 if clause.limit.unit == "mph" else MPS_PER_KMH / MPS_PER_MPH
    at = posted / unit_mph
    if clause.posted_over is not None and at <= clause.posted_over + ROUNDING:
        return None
    if clause.posted_up_to is not None and at > clause.posted_up_to + ROUNDING:
        return None
    return clause.limit


def _as_posted(one: OnRoad, posted: float) -> Limit:
    """The road's own limit in its own unit."""
    if one.feature.number("limit_mph") is not None:
        return Limit(posted)
    return Limit(one.feature.number("limit_kmh") or 0.0, "km/h")
