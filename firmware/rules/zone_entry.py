"""Zones that are not entered: private land, closed trails, nurseries, ski areas, school grounds.

A position with its error is *surely* inside, *maybe* inside, or clear, as near a dwelling. A way
through may lift a zone (a trail, a marked crossing), and so may the owner's consent or a stop at
its edge. A visit is one advisory, from where the sled may be inside to where it surely has left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.law.places import Entry, Season
from firmware.maps.calm import Calm, everywhere
from firmware.maps.zones import NO_ZONE_DATA, Near, Nearby
from firmware.readings import Channel, Engine, Feature, Fix, Missing, Why
from firmware.rules.base import (
    NEVER,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
    uncharted,
)
from firmware.units import ft, metres

TOPIC = "entry"
BLIND = "zone"
"""What can't be watched is told with the other zones."""

MAX_STRETCH_S = 5.0
"""Two fixes further apart in time than this are two points, not a stretch that was ridden."""

STOP_NEAR_M = 15.0
"""So near its edge a stop is one before the zone."""

NEEDED_M = 200.0
"""How far about the sled the map must be whole."""

_EACH_YEAR = re.compile(r"\d\d-\d\d")
_ONCE = re.compile(r"\d{4}-\d\d-\d\d")

ZoneId = tuple[str, str]
Place = tuple[float, float]


class Visit(msgspec.Struct, frozen=True):
    """Where the last judged fix was; in which zones it may have been, and before which it stood.

    `stands_s` is since when the sled stands. On `calm` ground `said` goes on to be the finding, and
    so it does while the map is the same `blind` one.
    """

    place: Place | None = None
    at_s: float = 0.0
    inside: frozenset[ZoneId] = frozenset()
    opened: frozenset[ZoneId] = frozenset()
    stands_s: float | None = None
    calm: Calm | None = None
    said: Finding | None = None
    blind: Missing | None = None
    due_s: float = NEVER


class ZoneEntry:
    """Judges a clause such as 350.10(1)(f): kept out, exempt by consent, unsure, a violation.

    The value is how many feet inside the sled is, less than nothing outside; the limit is 0.
    """

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS, Channel.ENGINE})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules
        self.consents = frozenset(config.zones.consents)

    def begin(self) -> Visit:
        return Visit()

    def judge(self, memory: Visit, now: Snapshot, clause: Clause) -> tuple[Visit, Finding]:
        assert clause.entry is not None  # law.py refuses a zone_entry clause without one
        fix, said = now.fix, memory.said
        if said is not None and isinstance(fix, Fix) and not self._may_idle(now, clause):
            calm = memory.calm
            if calm is None:
                if memory.blind is now.nearby:
                    return memory, said
            elif calm.holds(now.nearby, fix):
                here = (fix.lat_deg, fix.lon_deg)
                return Visit(here, now.fix_at_s, calm=calm, said=said), said
        idle = self._idle(now, clause)
        if idle is not None:
            return Visit(), idle
        if isinstance(fix, Missing):
            return Visit(), self._without_fix(now, clause, fix)
        if isinstance(now.nearby, Missing):
            why = f"nothing known of what is near ({now.nearby})"
            finding = cannot_tell(clause, why, BLIND, now.nearby)
            return Visit(said=finding, blind=now.nearby), finding
        before = memory if now.fix_at_s - memory.at_s <= MAX_STRETCH_S else Visit()
        zones = self._zones(now, fix, before, clause.entry)
        memory = self._remember(now, fix, before, zones, clause.entry)
        finding = self._finding(now, fix, memory, zones, clause)
        if not zones and clause.season is None:
            calm = self._calm(now.nearby, fix, clause.entry)
            if calm is not None:
                memory = msgspec.structs.replace(memory, calm=calm, said=finding)
        return memory, finding

    def ground(self, memory: Visit, now: Snapshot, clause: Clause) -> Calm | None:
        if isinstance(now.fix, Missing) or self._may_idle(now, clause):
            return None
        return memory.calm if memory.blind is None else everywhere(memory.blind)

    def ridden(self, memory: Visit, passed: Passed) -> Visit:
        if memory.calm is None:
            return memory  # without a map no place is remembered
        at_s, fix = passed[-1]
        return Visit((fix.lat_deg, fix.lon_deg), at_s, calm=memory.calm, said=memory.said)

    def _calm(self, chart: Nearby, fix: Fix, entry: Entry) -> Calm | None:
        """Ground without such a zone near, for fixes that are up to twice as inexact as this."""
        error_m = 2.0 * fix.error_m
        need_m = metres(entry.line_ft) + 2.0 * error_m + STOP_NEAR_M
        place = (fix.lat_deg, fix.lon_deg)
        return chart.calm(entry.kinds, entry.kinds, place, need_m, NEEDED_M, error_m, math.inf)

    def _may_idle(self, now: Snapshot, clause: Clause) -> bool:
        """Whether the clause may ask nothing just now: by a mode, its season or a parked sled."""
        engine = now.engine
        is_off = isinstance(engine, Engine) and not engine.is_running
        return is_off or clause.season is not None or bool(clause.lifted_by and now.modes)

    def _idle(self, now: Snapshot, clause: Clause) -> Finding | None:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        day = None if now.local is None else now.local.date()
        if clause.season is not None and day is not None and not clause.season.holds(day):
            return does_not_apply(clause, "outside its season", TOPIC)
        is_off = isinstance(now.engine, Engine) and not now.engine.is_running
        if is_off and now.is_moving is False:
            return does_not_apply(clause, "parked with the engine off", TOPIC)
        return None

    def _without_fix(self, now: Snapshot, clause: Clause, fix: Missing) -> Finding:
        nearby = now.nearby
        if isinstance(nearby, Missing) and nearby.why is Why.NOT_FITTED:
            return cannot_tell(clause, f"nothing known of what is near ({nearby})", BLIND, nearby)
        return cannot_tell(clause, f"place not known ({fix})", BLIND)

    def _zones(self, now: Snapshot, fix: Fix, before: Visit, entry: Entry) -> list[_In]:
        """The zones that the sled may be in, or came through since the last fix.

        A visit goes on until the sled is a second error away, and while it stands: a position that
        wanders at the edge is one visit and not twenty, for a sled that stands crosses none.
        """
        assert not isinstance(now.nearby, Missing)
        chart, here, line_m = now.nearby, (fix.lat_deg, fix.lon_deg), metres(entry.line_ft)
        far_m = fix.error_m * 2.0 if before.inside else fix.error_m
        if before.inside and not now.is_moving:
            far_m += STOP_NEAR_M
        near = chart.met(entry.kinds, here, before.place, line_m + far_m)
        if not near:
            return []
        at_here = {
            _id(one.feature): one for one in chart.met(entry.kinds, here, None, line_m + far_m)
        }
        found = []
        for one in near:
            ident = _id(one.feature)
            wide_m = 0.0 if one.feature.shape == "polygon" else line_m
            there = at_here.get(ident)
            if there is not None and there.distance_m > wide_m + far_m:
                there = None  # only its own width was looked for too
            if there is not None:
                depth_m = there.depth_m or wide_m - there.distance_m
            else:
                depth_m = _depth_on_the_way(chart, one, here, before.place, wide_m)
            is_maybe = depth_m >= -fix.error_m or (there is not None and ident in before.inside)
            if is_maybe and _is_closed(one.feature, now):
                found.append(_In(one.feature, depth_m, there is not None, ident in before.inside))
        return found

    def _remember(
        self, now: Snapshot, fix: Fix, before: Visit, zones: Iterable[_In], entry: Entry
    ) -> Visit:
        here = (fix.lat_deg, fix.lon_deg)
        inside = frozenset(_id(one.feature) for one in zones if one.is_here)
        stands_s = None
        if not now.is_moving:
            stands_s = now.fix_at_s if before.stands_s is None else before.stands_s
        opened: frozenset[ZoneId] = frozenset()
        if entry.after_stop:
            assert not isinstance(now.nearby, Missing)
            near = now.nearby.met(entry.kinds, here, None, STOP_NEAR_M + fix.error_m)
            opened = before.opened & frozenset(_id(one.feature) for one in near)
            if stands_s is not None and now.fix_at_s - stands_s >= self.choices.stop_s:
                edge = [one for one in near if one.depth_m <= fix.error_m]
                opened |= frozenset(_id(one.feature) for one in edge)
        return Visit(here, now.fix_at_s, inside, opened, stands_s)

    def _finding(
        self, now: Snapshot, fix: Fix, memory: Visit, zones: list[_In], clause: Clause
    ) -> Finding:
        assert clause.entry is not None
        assert not isinstance(now.nearby, Missing)
        entry, here = clause.entry, (fix.lat_deg, fix.lon_deg)
        if not zones:
            return self._outside(now, here, clause)
        kind = zones[0].feature.kind
        if entry.crossing:
            way = now.nearby.nearest(
                entry.crossing, here, None, fix.error_m + metres(entry.crossing_ft)
            )
            if way is not None:
                return does_not_apply(clause, f"{kind} crossed on a {way.feature.kind}", TOPIC)
        closed = [one for one in zones if _id(one.feature) not in memory.opened]
        if not closed:
            return does_not_apply(clause, f"{kind} entered after a stop", TOPIC)
        if entry.consent:
            refused = [one for one in closed if not self._has_consent(one.feature)]
            if not refused:
                names = ", ".join(one.feature.id for one in closed)
                return Finding(
                    clause.citation, Verdict.EXEMPT, f"{kind}: consent for {names}", topic=TOPIC
                )
            closed = refused
        return self._inside(now, fix, max(closed, key=lambda one: one.depth_m), clause)

    def _outside(self, now: Snapshot, here: Place, clause: Clause) -> Finding:
        assert clause.entry is not None
        assert not isinstance(now.nearby, Missing)
        kinds = clause.entry.kinds
        if not now.nearby.is_covered(*here, kinds):
            return cannot_tell(clause, NO_ZONE_DATA, BLIND, uncharted(now.nearby, kinds))
        if not now.nearby.reaches(*here, NEEDED_M):
            return cannot_tell(clause, "what is near here is still being looked up", BLIND)
        return does_not_apply(clause, f"in no {' or '.join(clause.entry.kinds)}", TOPIC)

    def _inside(self, now: Snapshot, fix: Fix, zone: _In, clause: Clause) -> Finding:
        feature = zone.feature
        # A line may be crossed on its own trail, and nobody knows how far the ground of a point is.
        is_ground = feature.shape == "polygon" or (feature.shape == "line" and zone.was_in)
        is_sure = zone.depth_m >= fix.error_m and is_ground and not feature.is_possible
        is_sure = is_sure and _is_surely_closed(feature, clause.season, now)
        named = f" {feature.name or feature.id}".rstrip()
        side = "inside" if zone.depth_m >= 0.0 else "outside"
        what = f"{'possible ' if feature.is_possible else ''}{feature.kind}"
        why = f"{what}{named}: {ft(abs(zone.depth_m)):.0f} ft {side}"
        if zone.depth_m < fix.error_m:
            why += f", give or take {ft(fix.error_m):.0f} ft"
        return Finding(
            clause.citation,
            Verdict.VIOLATION if is_sure else Verdict.UNSURE,
            why,
            ft(zone.depth_m),
            0.0,
            "ft",
            ft(fix.error_m),
            TOPIC,
            away_ft=ft(max(0.0, -zone.depth_m)),
        )

    def _has_consent(self, feature: Feature) -> bool:
        return feature.id in self.consents or f"{feature.kind}:{feature.id}" in self.consents


@dataclass(frozen=True, slots=True)
class _In:
    """A zone that may hold the sled: how many metres inside its edge it is, less than nothing
    outside; whether here, or only on the way here; and whether it was there at the last fix."""

    feature: Feature
    depth_m: float
    is_here: bool
    was_in: bool


def _depth_on_the_way(
    chart: Nearby, near: Near, here: Place, there: Place | None, wide_m: float
) -> float:
    """How deep the way went into what it only passed through since the last fix."""
    if there is None or near.feature.shape != "polygon":
        return wide_m - near.distance_m
    depths_m = [-near.distance_m]
    for share in (0.25, 0.5, 0.75):
        place = (
            here[0] + share * (there[0] - here[0]),
            here[1] + share * math.remainder(there[1] - here[1], 360.0),
        )
        under = chart.met((near.feature.kind,), place)
        depths_m += [one.depth_m for one in under if one.feature is near.feature]
    return max(depths_m)


def _id(feature: Feature) -> ZoneId:
    return feature.kind, feature.id


def _is_surely_closed(feature: Feature, season: Season | None, now: Snapshot) -> bool:
    days = _days_of(feature)
    if season is None and days is None:
        return True
    return now.local is not None and days != ()


def _days_of(feature: Feature) -> tuple[()] | tuple[str, str] | None:
    """The days from and to which a zone is closed, its `closed_from` and `closed_to`: both as
    03-15, each year, or either as 2027-03-15. Empty where they are no days."""
    days = (feature.attributes.get("closed_from", ""), feature.attributes.get("closed_to", ""))
    if days == ("", ""):
        return None
    for form in (_EACH_YEAR, _ONCE):
        if all(form.fullmatch(day) or (not day and form is _ONCE) for day in days):
            return days
    return ()


def _is_closed(feature: Feature, now: Snapshot) -> bool:
    """Whether a zone is closed today by its own dates; where nobody can tell, it may be."""
    days = _days_of(feature)
    if not days or now.local is None:
        return True
    from_day, to_day = days
    if _EACH_YEAR.fullmatch(from_day):
        return Season(from_day, to_day).holds(now.local.date())
    today = now.local.date().isoformat()
    return (not from_day or from_day <= today) and (not to_day or today <= to_day)
