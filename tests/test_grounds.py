"""On which ground each rule rests: none where the next fix may change what it found."""

from __future__ import annotations

import math
from datetime import time
from typing import Any

import msgspec
import pytest
from judging import (
    DAY,
    DIM,
    HOME,
    NIGHT,
    NO_FIX,
    NOT_KNOWN,
    clause_of,
    configured,
    fix_of,
    local_of,
    map_of,
    point,
    seen,
    square,
)
from test_road_network import clause_of as act_of
from test_road_speed import POSTED

from firmware.law.packs import Clause
from firmware.law.places import Season
from firmware.maps.calm import ANYWHERE, Calm, everywhere
from firmware.maps.zones import Nearby
from firmware.readings import Engine, Missing, Surroundings, Why
from firmware.rules.advisory import Stopping
from firmware.rules.base import LOOK_BACK_S, is_out_of_hours
from firmware.rules.road_network import RoadNetwork
from firmware.rules.road_speed import RoadSpeed
from firmware.rules.speed_limit import SpeedLimit
from firmware.rules.stop import StopSign
from firmware.rules.zone_entry import ZoneEntry
from firmware.rules.zone_speed import ZoneSpeed

CONFIG = configured()
NO_MAP = Missing(Why.STARTING)
OPEN = map_of()
HOUSE = square("dwelling", HOME, 20.0)
NIGHTLY = msgspec.structs.replace(POSTED, when="clock", from_time=time(22), to_time=time(6))
NOON = local_of("2026-01-16T18:00:00")
STOP, ENTRY = clause_of("350.10(1)(c)"), clause_of("350.10(1)(f)")
HOUSES, ICE = clause_of("350.10(1)(g)"), clause_of("350.10(1)(i)")
WINTER = Season("12-01", "03-31")
MARKS = Nearby(Surroundings(*HOME, math.inf, ()))


def ground(rule: Any, clause: Clause, **changes: object) -> Calm | None:
    now = seen(**changes)
    memory, _ = rule.judge(rule.begin(), now, clause)
    found: Calm | None = rule.ground(memory, now, clause)
    return found


@pytest.mark.parametrize("clause", ["350.10(1)(gm)", "350.10(1)(a)"])
def test_by_day_a_clause_of_the_night_rests_wherever_the_sled_is(clause: str) -> None:
    told = clause_of(clause)
    rule = SpeedLimit(CONFIG) if told.kind == "speed_limit" else Stopping(CONFIG)
    assert told.when == "darkness"
    grounds = [ground(rule, told, dark=dark) for dark in (DAY, NIGHT, DIM, NOT_KNOWN)]
    assert grounds == [ANYWHERE, None, None, None]


def test_outside_its_hours_is_day_or_another_hour_and_nothing_that_is_not_known() -> None:
    always = msgspec.structs.replace(NIGHTLY, when="always")
    for local, is_out in ((NOON, True), (local_of("2026-01-16T05:00:00"), False), (None, False)):
        assert is_out_of_hours(seen(local=local), NIGHTLY) is is_out
        assert not is_out_of_hours(seen(local=local, dark=DAY), always)
    assert LOOK_BACK_S == 1.5  # as long as a turn is told by


def test_beside_roads_a_rule_rests_where_there_is_no_map_and_outside_its_hours() -> None:
    rule = RoadSpeed(CONFIG)
    assert ground(rule, POSTED, nearby=NO_MAP) == everywhere(NO_MAP)
    assert ground(rule, POSTED, nearby=OPEN) is None
    assert ground(rule, NIGHTLY, nearby=OPEN, local=NOON) == ANYWHERE
    roads, part = RoadNetwork(CONFIG), act_of("authorized")
    assert ground(roads, part, nearby=NO_MAP) == everywhere(NO_MAP)
    assert ground(roads, part, nearby=OPEN) is None


@pytest.mark.parametrize(
    ("rule", "clause", "thing"),
    [
        (StopSign(CONFIG), STOP, point("stop", HOME)),
        (ZoneEntry(CONFIG), ENTRY, square("private", HOME, 100.0)),
        (ZoneSpeed(CONFIG), HOUSES, HOUSE),
    ],
    ids=["stop", "entry", "speed"],
)
def test_by_a_map_a_rule_rests_on_calm_ground_alone(rule: Any, clause: Clause, thing: Any) -> None:
    calm = ground(rule, clause, nearby=OPEN)
    assert calm is not None
    assert calm.chart is OPEN
    assert math.isfinite(calm.north_deg)
    assert ground(rule, clause, nearby=map_of(thing)) is None
    assert ground(rule, clause, nearby=NO_MAP) == everywhere(NO_MAP)
    assert ground(rule, clause, fix=NO_FIX, nearby=OPEN) is None
    assert ground(rule, clause, fix=NO_FIX, nearby=NO_MAP) is None


@pytest.mark.parametrize(
    ("rule", "clause"),
    [(StopSign(CONFIG), STOP), (ZoneEntry(CONFIG), ENTRY)],
    ids=["stop", "entry"],
)
@pytest.mark.parametrize("nearby", [OPEN, NO_MAP], ids=["a map", "no map"])
def test_what_may_ask_nothing_just_now_does_not_rest(
    rule: Any, clause: Clause, nearby: object
) -> None:
    seasonal = msgspec.structs.replace(clause, season=WINTER)
    assert ground(rule, seasonal, nearby=nearby) is None
    lifted = msgspec.structs.replace(clause, lifted_by=("maker_test",))
    assert ground(rule, lifted, nearby=nearby, modes=frozenset({"maker_test"})) is None
    assert ground(rule, lifted, nearby=nearby, modes=frozenset({"race"})) is None
    assert ground(rule, lifted, nearby=nearby) is not None


def test_a_parked_sled_rests_at_no_zone_s_edge() -> None:
    rule, fix = ZoneEntry(CONFIG), fix_of(0.0)
    assert ground(rule, ENTRY, fix=fix, nearby=OPEN, engine=Engine(False)) is None
    assert ground(rule, ENTRY, fix=fix, nearby=OPEN, engine=Engine(True)) is not None


def test_a_limit_near_things_rests_out_of_its_hours_and_never_beside_a_rider_s_marks() -> None:
    rule = ZoneSpeed(CONFIG)
    assert ground(rule, HOUSES, nearby=map_of(HOUSE), local=NOON) == ANYWHERE
    lake = map_of(square("water", HOME, 5000.0))
    assert ground(rule, ICE, nearby=lake, marks=MARKS) is None
    assert ground(rule, ICE, nearby=lake) is not None
    houses = ground(rule, HOUSES, nearby=OPEN, marks=MARKS)  # no rider marks a house
    assert houses is not None
    assert houses.chart is OPEN
