"""346.94(22): of several roads and crossings the one that counts, and what is told of it."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from judging import east_of, fix_of, seen
from test_road_network import (
    LINK,
    MAY_BE,
    OK,
    OVER,
    RULE,
    SIGNALLED,
    STATE,
    TOWN,
    UNKNOWN,
    clause_of,
    crossing,
    judge,
    map_of,
)
from test_roads import road

from firmware.findings import Verdict
from firmware.readings import Engine, Feature, Missing, Why
from firmware.rules import road_network

FREEWAY = {"class": "freeway"}


def named(name: str, feet: float, **told: str) -> Feature:
    return replace(crossing(feet, **told), id=name)


@pytest.mark.parametrize(("kept_ft", "unknown_ft"), [(0.0, 20.0), (20.0, 0.0)])
def test_where_one_of_two_roads_may_be_barred_it_is_not_known(
    kept_ft: float, unknown_ft: float
) -> None:
    roads = (road("Elm", kept_ft, **TOWN), road("Oak", unknown_ft, **TOWN | {"limit_mph": ""}))
    found = judge("jurisdiction", *roads)
    assert (found.verdict, found.why) == (UNKNOWN, "the limit of Oak is not on the map")


def test_of_two_roads_that_are_allowed_the_nearer_one_is_told() -> None:
    ordinance = road("Highway 51", 20.0, **STATE | {"limit_mph": "35", "allowed_by": "Ord. 7"})
    found = judge("authorized", road("Elm", 0.0, **TOWN), ordinance)
    assert (found.verdict, found.why) == (OK, "Elm is kept by a municipality")


def test_what_the_map_does_not_tell_is_named() -> None:
    for told, why in (
        ({"limit_mph": ""}, "the limit of Elm is not on the map"),
        ({"jurisdiction": ""}, "the keeper of Elm is not on the map"),
    ):
        assert judge("jurisdiction", road("Elm", **TOWN | told)).why == why
    for told, why in (
        ({"limit_mph": ""}, "the limit at Elm Street not on the map"),
        ({"signals": ""}, "the signals at Elm Street not on the map"),
    ):
        assert judge("signals", crossing(0.0, **SIGNALLED | told)).why == why


def test_only_a_limit_has_a_unit() -> None:
    kept = judge("authorized", road("Elm", **TOWN))
    assert (kept.value, kept.limit, kept.unit) == (35.0, 35.0, "mph posted")
    keeper = judge("authorized", road("Elm", **TOWN | {"jurisdiction": "state"}))
    assert (keeper.verdict, keeper.value, keeper.limit, keeper.unit) == (OVER, None, None, "")


def test_a_road_is_named_as_it_is_called_and_else_by_its_number_on_the_map() -> None:
    named_road = replace(road("way/17", **STATE), name="Highway 51")
    assert judge("authorized", named_road).why.startswith("Highway 51 is posted")
    assert judge("authorized", road("way/17", **STATE)).why.startswith("way/17 is posted")


def test_a_part_that_only_advises_accuses_nobody() -> None:
    clause = msgspec.structs.replace(clause_of("authorized"), accuses=False)
    fix = fix_of(20.0, error_ft=5.0, track_deg=90.0)
    now = seen(fix=fix, nearby=map_of(road("Highway 51", **STATE)))
    assert RULE.judge(RULE.begin(), now, clause)[1].verdict is MAY_BE


def test_who_rolls_with_the_engine_off_or_unseen_drives() -> None:
    bad = road("Highway 51", **STATE)
    assert judge("authorized", bad, engine=Engine(False)).verdict is OVER
    parked = fix_of(0.0, error_ft=5.0)
    unseen = Missing(Why.NOT_FITTED)
    assert judge("authorized", bad, fix=parked, engine=unseen).verdict is OVER


# Crossings


def test_a_crossing_that_says_nothing_hides_none_beyond_it() -> None:
    found = judge(
        "barred", named("Oak", 45.0, **{"class": "local"}), named("I-41", 90.0, **FREEWAY)
    )
    assert (found.verdict, found.why) == (
        Verdict.APPROACHING,
        "crossing ahead: I-41 crosses a road of class freeway",
    )


def test_a_crossing_of_the_highway_that_is_driven_hides_none_beyond_it() -> None:
    own = named("Main", 20.0, **{"class": "connecting", "limit_mph": "25", "signals": "no"})
    other = named("Highway 51", 60.0, **SIGNALLED | {"signals": "no"})
    found = judge("signals", road("Main", **LINK), own, other)
    assert (found.verdict, found.why) == (
        Verdict.APPROACHING,
        "crossing ahead: Highway 51 has no signals",
    )


def test_of_two_crossings_ahead_the_nearer_one_is_told() -> None:
    bad = judge("barred", named("far", 90.0, **FREEWAY), named("near", 60.0, **FREEWAY))
    assert bad.why == "crossing ahead: near crosses a road of class freeway"
    unclear = SIGNALLED | {"signals": ""}
    found = judge("signals", named("far", 90.0, **unclear), named("near", 60.0, **unclear))
    assert found.why == "the signals at near not on the map"


def test_a_crossing_that_is_allowed_is_no_warning() -> None:
    found = judge("signals", crossing(60.0, **SIGNALLED))
    assert (found.verdict, found.topic) == (OK, road_network.CROSSING)


@pytest.mark.parametrize(
    ("aside_ft", "is_ahead"),
    # 10 m and 5 ft of error: 37.8 ft
    [(37.0, True), (-37.0, True), (39.0, False), (-39.0, False)],
)
def test_a_course_that_passes_beside_a_crossing_leads_over_none(
    aside_ft: float, is_ahead: bool
) -> None:
    fix = fix_of(20.0, east_of(0.0, aside_ft), error_ft=5.0, track_deg=90.0)
    found = judge("barred", crossing(90.0, **FREEWAY), fix=fix)
    assert (found.verdict is Verdict.APPROACHING) is is_ahead


@pytest.mark.parametrize(("speed_mph", "is_ahead"), [(2.9, False), (3.1, True)])
def test_below_3_mph_a_course_leads_over_no_crossing(speed_mph: float, is_ahead: bool) -> None:
    # At 3 mph it takes 2.3 m to stand: 12.3 m, 40 ft, before the middle of the crossing.
    fix = fix_of(speed_mph, error_ft=1.0, track_deg=90.0)
    found = judge("barred", crossing(36.0, **FREEWAY), fix=fix)
    assert (found.verdict is Verdict.APPROACHING) is is_ahead
    assert found.verdict is (Verdict.APPROACHING if is_ahead else OK)


def test_a_connecting_highway_tells_the_limit_that_bars_it() -> None:
    found = judge("authorized", road("Main", **LINK | {"limit_mph": "30"}))
    assert (found.verdict, found.value, found.limit) == (OVER, 30.0, 25.0)
