"""Where low-speed vehicles may be driven: nowhere but on the highways that a law lets them on.

Wis. Stat. 346.94(22) and 349.26, as 2009 Act 311 made them. Each part of the permission is a clause
of its own, and `authorized`, 346.94(22)(c), is what follows from all: what none of them allows is
barred. What the map does not tell of a road is unknown, never allowed. Accused is only who surely
is on a road that is barred; between two roads of which one is not, nobody can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.maps.calm import Calm, everywhere
from firmware.maps.roads import CROSSING_M, AtCrossing, OnRoad, Roads, posted_mph
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Engine, Feature, Fix, Missing
from firmware.rules.base import (
    MOVING_MPH,
    ROUNDING,
    NoMemory,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
    uncharted,
)
from firmware.units import mph

TOPIC, CROSSING, PART = "road", "crossing", "road-part"
POSTED = "mph posted"
"""The unit of a road's own limit, which is no limit on the vehicle's speed."""

ROAD_MPH, CONNECTING_MPH, CROSSED_MPH = 35.0, 25.0, 35.0
"""346.94(22)(a) and 349.26(2); (b)1.; (b)2.: at this limit it is still allowed."""

COURSE_MPH = 3.0
"""Below this a course says little about the road."""

_ROADS = ("road",)

KEEPERS = ("municipality", "county")
TRUNK = ("state_trunk", "connecting")
BARRED = ("expressway", "freeway", "controlled_access")
CLASSES = ("local", *TRUNK, *BARRED)


class Say(Enum):
    """What a part says of a road."""

    NOTHING = auto()
    KEPT = auto()
    LIFTED = auto()
    UNKNOWN = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a part says of one road, why, and by which posted limit."""

    say: Say
    why: str
    value: float | None = None
    limit: float | None = None


class RoadNetwork:
    """Judges 346.94(22)(a) to (c) and 349.26(1m) and (2)."""

    channels = frozenset({Channel.FIX, Channel.SURROUNDINGS, Channel.ENGINE})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules
        self._charted: tuple[Nearby, Roads] | None = None

    def begin(self) -> NoMemory:
        return NoMemory()

    def judge(self, memory: NoMemory, now: Snapshot, clause: Clause) -> tuple[NoMemory, Finding]:
        return memory, self._finding(now, clause)

    def ground(self, memory: NoMemory, now: Snapshot, clause: Clause) -> Calm | None:
        return everywhere(now.nearby) if isinstance(now.nearby, Missing) else None

    def ridden(self, memory: NoMemory, passed: Passed) -> NoMemory:
        return memory

    def _finding(self, now: Snapshot, clause: Clause) -> Finding:
        is_crossing = clause.road in ("signals", "barred")
        topic = CROSSING if is_crossing else TOPIC if clause.road == "authorized" else PART
        exempt = lifted(clause, now, topic)
        if exempt is not None:
            return exempt
        if isinstance(now.nearby, Missing):
            why = f"nothing known of the roads ({now.nearby})"
            return cannot_tell(clause, why, topic, now.nearby)
        if isinstance(now.fix, Missing):
            return cannot_tell(clause, f"place not known ({now.fix})", topic)
        speed_mph = mph(now.fix.speed_mps)
        is_off = isinstance(now.engine, Engine) and not now.engine.is_running
        if is_off and speed_mph < MOVING_MPH:
            return does_not_apply(clause, "parked with the engine off", topic)
        roads = self._roads(now.nearby)
        if is_crossing:
            return self._at_crossing(now.fix, now.nearby, roads, clause)
        here = (now.fix.lat_deg, now.fix.lon_deg)
        found = _along(roads, now.fix) or roads.near(here, now.fix.error_m)
        if not found:
            if roads.is_covered(here):
                return does_not_apply(clause, "on no road of the map", topic)
            return cannot_tell(clause, "no road map here", topic, uncharted(now.nearby, _ROADS))
        return _on_roads(clause, found, now.fix.error_m, topic)

    def _roads(self, nearby: Nearby) -> Roads:
        """The roads of the surroundings; the same ones are put on the map once."""
        if self._charted is None or self._charted[0] is not nearby:
            self._charted = (nearby, Roads(nearby.surroundings))
        return self._charted[1]

    def _at_crossing(self, fix: Fix, nearby: Nearby, roads: Roads, clause: Clause) -> Finding:
        here = (fix.lat_deg, fix.lon_deg)
        braking_m = fix.speed_mps**2 / (2 * self.choices.brake_mps2)
        reach_m = braking_m + fix.speed_mps * self.choices.reaction_s + CROSSING_M
        is_moving = mph(fix.speed_mps) >= MOVING_MPH
        driven = [_class(one.feature) for one in _along(roads, fix)]
        ahead: Finding | None = None
        unclear: Finding | None = None
        for one in roads.crossings(here, fix.track_deg, max(reach_m, CROSSING_M + fix.error_m)):
            answer = _of_crossing(clause, one.feature)
            if answer.say is Say.NOTHING:
                continue
            kind = _class(one.feature)
            is_along = bool(kind) and kind in driven and not _is_crossed(one, roads, fix)
            if is_along and set(driven) == {kind}:
                continue  # on that highway itself, which other paragraphs allow or bar
            if one.distance_m <= CROSSING_M + fix.error_m:
                is_in = one.distance_m + fix.error_m <= CROSSING_M
                is_sure = is_moving and is_in and not is_along
                return _said(clause, answer, CROSSING, is_sure=is_sure)
            if answer.say is Say.BROKEN and _is_ahead(one, fix):
                ahead = ahead or _approaching(clause, answer)
            elif answer.say is Say.UNKNOWN and _is_ahead(one, fix):
                unclear = unclear or cannot_tell(clause, answer.why, CROSSING)
        found = ahead or unclear
        if found is not None:
            return found
        if not roads.is_covered(here):
            return cannot_tell(clause, "no road map here", CROSSING, uncharted(nearby, _ROADS))
        return does_not_apply(clause, "no such crossing here", CROSSING)


def _along(roads: Roads, fix: Fix) -> list[OnRoad]:
    """The roads that the vehicle may be on and whose course it has; none without a course."""
    if fix.track_deg is None or mph(fix.speed_mps) < COURSE_MPH:
        return []
    found = roads.near((fix.lat_deg, fix.lon_deg), fix.error_m)
    return [one for one in found if one.runs_along(fix.track_deg)]


def _is_crossed(one: AtCrossing, roads: Roads, fix: Fix) -> bool:
    """Whether a highway of the crossing's class lies across the course there, and not along it."""
    at = roads.near(one.place, 0.0, CROSSING_M)
    return any(
        _class(road.feature) == _class(one.feature) and not road.runs_along(fix.track_deg or 0.0)
        for road in at
    )


def _on_roads(clause: Clause, found: list[OnRoad], error_m: float, topic: str) -> Finding:
    """The finding on the roads that the vehicle may be on."""
    answers = [_of_road(clause, one.feature) for one in found]
    broken = [one for one in answers if one.say is Say.BROKEN]
    if broken and len(broken) < len(answers):
        first, second = _name(found[0].feature), _name(found[1].feature)
        return cannot_tell(clause, f"between two roads: {first} or {second}", topic)
    if broken:
        is_sure = any(one.is_sure(error_m) for one in found)
        return _said(clause, broken[0], topic, is_sure=is_sure)
    unknown = [one for one in answers if one.say is Say.UNKNOWN]
    return _said(clause, (unknown or answers)[0], topic, is_sure=False)


def _said(clause: Clause, answer: Answer, topic: str, *, is_sure: bool) -> Finding:
    """The finding of an answer; a road that is broken and not sure is `unsure`."""
    if answer.say is Say.UNKNOWN:
        return cannot_tell(clause, answer.why, topic)
    verdict = Verdict.COMPLIANT
    if answer.say is Say.LIFTED:
        verdict = Verdict.EXEMPT
    elif answer.say is Say.BROKEN:
        verdict = Verdict.VIOLATION if is_sure and clause.accuses else Verdict.UNSURE
    unit = "" if answer.limit is None else POSTED
    return Finding(
        clause.citation, verdict, answer.why, answer.value, answer.limit, unit, topic=topic
    )


def _approaching(clause: Clause, answer: Answer) -> Finding:
    unit = "" if answer.limit is None else POSTED
    why = f"crossing ahead: {answer.why}"
    return Finding(
        clause.citation,
        Verdict.APPROACHING,
        why,
        answer.value,
        answer.limit,
        unit,
        topic=CROSSING,
    )


def _is_ahead(one: AtCrossing, fix: Fix) -> bool:
    """Whether the course leads over the crossing."""
    if one.ahead_m is None or one.aside_m is None or mph(fix.speed_mps) < COURSE_MPH:
        return False
    return one.ahead_m > 0.0 and one.aside_m <= CROSSING_M + fix.error_m


def _of_road(clause: Clause, road: Feature) -> Answer:
    match clause.road:
        case "jurisdiction":
            return _jurisdiction(road)
        case "connecting":
            return _connecting(road)
        case "prohibited":
            return _prohibited(road)
        case "allowed":
            return _allowed(road)
        case _:
            return _authorized(road)


def _jurisdiction(road: Feature) -> Answer:
    """346.94(22)(a): a limit of 35 mph or less, kept by a municipality or a county."""
    limit_mph, keeper = posted_mph(road), road.attributes.get("jurisdiction", "")
    ordinance = _ordinance(road)
    if ordinance is not None:
        return ordinance
    if limit_mph is not None and limit_mph > ROAD_MPH + ROUNDING:
        why = f"{_name(road)} is posted at {limit_mph:g}, over {ROAD_MPH:g} mph"
        return Answer(Say.BROKEN, why, limit_mph, ROAD_MPH)
    if keeper and keeper not in KEEPERS:
        return Answer(Say.BROKEN, f"{_name(road)} is not kept by a municipality or county")
    if limit_mph is None or not keeper:
        what = "limit" if limit_mph is None else "keeper"
        return Answer(Say.UNKNOWN, f"the {what} of {_name(road)} is not on the map")
    return Answer(Say.KEPT, f"{_name(road)} is kept by a {keeper}", limit_mph, ROAD_MPH)


def _connecting(road: Feature) -> Answer:
    """346.94(22)(b)1.: a connecting highway with a limit of 25 mph or less, or an ordinance."""
    kind, limit_mph = _class(road), posted_mph(road)
    if not kind:
        return Answer(Say.UNKNOWN, f"the class of {_name(road)} is not on the map")
    if kind != "connecting":
        return Answer(Say.NOTHING, "on no connecting highway")
    ordinance = _ordinance(road)
    if ordinance is not None:
        return ordinance
    if limit_mph is None:
        return Answer(Say.UNKNOWN, f"the limit of {_name(road)} is not on the map")
    why = f"connecting highway {_name(road)} is posted at {limit_mph:g}"
    say = Say.BROKEN if limit_mph > CONNECTING_MPH + ROUNDING else Say.KEPT
    return Answer(say, why, limit_mph, CONNECTING_MPH)


def _prohibited(road: Feature) -> Answer:
    """349.26(1m): an ordinance that prohibits; a county's does not hold in a municipality with its
    own under sub. (2)."""
    own = road.attributes.get("prohibited_by_municipality")
    if own:
        return Answer(Say.BROKEN, f"{_name(road)} is barred by {own}")
    county = road.attributes.get("prohibited_by_county")
    if not county:
        return Answer(Say.NOTHING, "no ordinance of the map bars it")
    municipal = road.attributes.get("municipal_ordinance") or road.attributes.get("allowed_by")
    if municipal:
        return Answer(Say.LIFTED, f"{municipal} holds here, and {county} does not")
    return Answer(Say.BROKEN, f"{_name(road)} is barred by {county}")


def _allowed(road: Feature) -> Answer:
    """349.26(2): an ordinance that allows, on a road with a limit of 35 mph or less."""
    ordinance, limit_mph = road.attributes.get("allowed_by"), posted_mph(road)
    if not ordinance:
        return Answer(Say.NOTHING, "no ordinance of the map allows it")
    if limit_mph is None:
        return Answer(Say.UNKNOWN, f"the limit of {_name(road)} is not on the map")
    if limit_mph > ROAD_MPH + ROUNDING:
        why = f"{ordinance} can't allow a road over {ROAD_MPH:g} mph"
        return Answer(Say.BROKEN, why, limit_mph, ROAD_MPH)
    return Answer(Say.KEPT, f"allowed by {ordinance}", limit_mph, ROAD_MPH)


def _authorized(road: Feature) -> Answer:
    """346.94(22)(c): on no highway but where the rest of the law lets it."""
    if _prohibited(road).say is Say.BROKEN:
        return _prohibited(road)
    ordinance = _ordinance(road)
    if ordinance is not None:
        return ordinance
    answers = [_jurisdiction(road), _connecting(road)]
    for say in (Say.BROKEN, Say.UNKNOWN):
        for answer in answers:
            if answer.say is say:
                return answer
    return answers[0]


def _of_crossing(clause: Clause, crossing: Feature) -> Answer:
    """346.94(22)(b)2. and 3.: what the highway that is crossed is, its limit, and its signals."""
    kind = _class(crossing)
    if not kind:
        return Answer(Say.UNKNOWN, "the class of the highway to cross is not on the map")
    if clause.road == "barred":
        if kind in BARRED:
            what = kind.replace("_", "-")
            return Answer(Say.BROKEN, f"{_name(crossing)} crosses a road of class {what}")
        return Answer(Say.NOTHING, "")
    if kind not in TRUNK:
        return Answer(Say.NOTHING, "")
    limit_mph, signals = posted_mph(crossing), crossing.attributes.get("signals", "")
    if limit_mph is not None and limit_mph > CROSSED_MPH + ROUNDING:
        why = f"{_name(crossing)} crosses a road posted at {limit_mph:g}"
        return Answer(Say.BROKEN, why, limit_mph, CROSSED_MPH)
    if signals == "no":
        return Answer(Say.BROKEN, f"{_name(crossing)} has no signals")
    if limit_mph is None or signals != "yes":
        what = "limit" if limit_mph is None else "signals"
        return Answer(Say.UNKNOWN, f"the {what} at {_name(crossing)} not on the map")
    return Answer(Say.KEPT, f"{_name(crossing)} has signals", limit_mph, CROSSED_MPH)


def _ordinance(road: Feature) -> Answer | None:
    """The answer where a valid ordinance under 349.26(2) allows a road, and None elsewhere."""
    answer = _allowed(road)
    if answer.say is not Say.KEPT:
        return None
    return Answer(Say.LIFTED, answer.why, answer.value, answer.limit)


def _class(feature: Feature) -> str:
    told = feature.attributes.get("class", "")
    return told if told in CLASSES else ""


def _name(feature: Feature) -> str:
    return feature.name or feature.id
