"""346.94(22) and 349.26: where a low-speed vehicle may be driven, part by part and road by road."""

from __future__ import annotations

import pytest
from judging import HOME, NO_FIX, configured, east_of, fix_of, point, seen, square
from test_roads import road

from firmware.findings import Finding, Verdict
from firmware.law import packs as law
from firmware.law.packs import Clause
from firmware.maps.zones import Nearby
from firmware.readings import Engine, Feature, Missing, Surroundings, Why
from firmware.rules import road_network
from firmware.rules.road_network import RoadNetwork

RULE = RoadNetwork(configured())
ACT = law.load("wi_act311")
PARTS = {
    "jurisdiction": "346.94(22)(a)",
    "connecting": "346.94(22)(b)1.",
    "signals": "346.94(22)(b)2.",
    "barred": "346.94(22)(b)3.",
    "authorized": "346.94(22)(c)",
    "prohibited": "349.26(1m)",
    "allowed": "349.26(2)",
}
TOWN = {"limit_mph": "35", "jurisdiction": "municipality", "class": "local"}
STATE = {"limit_mph": "55", "jurisdiction": "state", "class": "state_trunk"}
LINK = {"limit_mph": "25", "jurisdiction": "municipality", "class": "connecting"}

OK, OVER, MAY_BE, EXEMPT, UNKNOWN = (
    Verdict.COMPLIANT,
    Verdict.VIOLATION,
    Verdict.UNSURE,
    Verdict.EXEMPT,
    Verdict.UNKNOWN,
)


def clause_of(part: str) -> Clause:
    clause = ACT.find(PARTS[part])
    assert clause is not None
    assert (clause.kind, clause.road) == ("road_network", part)
    return clause


def map_of(*features: Feature, is_covered: bool = True) -> Nearby:
    cover = square("coverage", HOME, 20_000.0, "cover")
    cover.attributes["of"] = "road"
    return Nearby(Surroundings(*HOME, 2000.0, (*((cover,) if is_covered else ()), *features)))


def judge(part: str, *features: Feature, speed_mph: float = 20.0, **changes: object) -> Finding:
    """The finding at home, on the way east, known to 5 ft."""
    fix = fix_of(speed_mph, error_ft=5.0, track_deg=90.0)
    now = seen(**{"fix": fix, "nearby": map_of(*features)} | changes)
    memory, finding = RULE.judge(RULE.begin(), now, clause_of(part))
    assert memory == RULE.begin()
    assert finding.clause == PARTS[part]
    return finding


def on(part: str, **told: str) -> Verdict:
    return judge(part, road("Main Street", **told)).verdict


def test_the_figures_are_those_of_the_paragraphs() -> None:
    told = {
        part: [number.value for number in clause_of(part).numbers if number.unit == "mph"]
        for part in PARTS
    }
    assert told["jurisdiction"] == told["allowed"] == [road_network.ROAD_MPH]
    assert told["connecting"] == [road_network.CONNECTING_MPH]
    assert told["signals"] == [road_network.CROSSED_MPH]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, OK),
        ({"jurisdiction": "county"}, OK),
        ({"limit_mph": "25"}, OK),
        ({"limit_mph": "35.1"}, OVER),
        ({"limit_mph": "40"}, OVER),
        ({"limit_mph": "", "limit_kmh": "56"}, OK),  # 34.8 mph
        ({"limit_mph": "", "limit_kmh": "57"}, OVER),  # 35.4 mph
        ({"jurisdiction": "state"}, OVER),
        ({"jurisdiction": "other"}, OVER),
        ({"limit_mph": ""}, UNKNOWN),
        ({"jurisdiction": ""}, UNKNOWN),
        ({"limit_mph": "", "jurisdiction": "state"}, OVER),
        ({"limit_mph": "40", "jurisdiction": ""}, OVER),
        ({"jurisdiction": "state", "allowed_by": "Ord. 7"}, EXEMPT),
        ({"limit_mph": "40", "allowed_by": "Ord. 7"}, OVER),
        ({"limit_mph": "", "allowed_by": "Ord. 7"}, UNKNOWN),
    ],
)
def test_a_road_of_35_mph_or_less_that_a_municipality_or_county_keeps_is_allowed(
    changes: dict[str, str], verdict: Verdict
) -> None:
    assert on("jurisdiction", **TOWN | changes) is verdict
    # Nothing else bars or allows this road, and so the default says the same of it.
    assert on("authorized", **TOWN | changes) is verdict


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, OK),
        ({"limit_mph": "25.1"}, OVER),
        ({"limit_mph": "30"}, OVER),
        ({"limit_mph": "30", "allowed_by": "Ord. 7"}, EXEMPT),
        ({"limit_mph": "35", "allowed_by": "Ord. 7"}, EXEMPT),
        ({"limit_mph": "40", "allowed_by": "Ord. 7"}, OVER),
        ({"limit_mph": ""}, UNKNOWN),
    ],
)
def test_a_connecting_highway_is_allowed_to_25_mph_or_by_an_ordinance(
    changes: dict[str, str], verdict: Verdict
) -> None:
    assert on("connecting", **LINK | changes) is verdict
    assert on("authorized", **LINK | changes) is verdict


def test_what_is_no_connecting_highway_is_not_judged_and_an_unknown_class_is_unknown() -> None:
    assert on("connecting", **TOWN) is OK
    assert on("connecting", **TOWN | {"class": ""}) is UNKNOWN
    assert on("connecting", **TOWN | {"class": "boulevard"}) is UNKNOWN
    assert on("authorized", **TOWN | {"class": ""}) is UNKNOWN


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({}, OK),
        ({"prohibited_by_municipality": "Ord. 3"}, OVER),
        ({"prohibited_by_county": "County ord. 9"}, OVER),
        # 349.26(1m): a county's does not apply within a municipality that has one under sub. (2).
        ({"prohibited_by_county": "County ord. 9", "municipal_ordinance": "Ord. 7"}, EXEMPT),
        ({"prohibited_by_county": "County ord. 9", "allowed_by": "Ord. 7"}, EXEMPT),
        ({"prohibited_by_municipality": "Ord. 3", "municipal_ordinance": "Ord. 7"}, OVER),
    ],
)
def test_an_ordinance_bars_a_road_but_a_county_s_not_in_a_municipality_with_its_own(
    told: dict[str, str], verdict: Verdict
) -> None:
    assert on("prohibited", **TOWN | told) is verdict
    barred = verdict is OVER
    assert (on("authorized", **TOWN | told) is OVER) is barred


@pytest.mark.parametrize(
    ("limit_mph", "verdict", "default"),
    [("35", OK, EXEMPT), ("35.1", OVER, OVER), ("55", OVER, OVER), ("", UNKNOWN, OVER)],
)
def test_an_ordinance_allows_any_road_to_35_mph_whoever_keeps_it(
    limit_mph: str, verdict: Verdict, default: Verdict
) -> None:
    told = STATE | {"limit_mph": limit_mph, "allowed_by": "Ord. 7"}
    assert on("allowed", **told) is verdict
    assert on("authorized", **told) is default
    assert on("allowed", **STATE) is OK


def test_nothing_is_allowed_by_default() -> None:
    assert on("authorized", **STATE) is OVER
    assert on("authorized") is UNKNOWN
    found = judge("authorized", road("Highway 51", **STATE))
    assert found.why == "Highway 51 is posted at 55, over 35 mph"
    assert (found.value, found.limit, found.unit) == (55.0, 35.0, "mph posted")
    assert found.topic == road_network.TOPIC


# Crossings


def crossing(feet: float, **told: str) -> Feature:
    feature = point("crossing", east_of(feet), "Elm Street")
    feature.attributes.update(told)
    return feature


SIGNALLED = {"class": "state_trunk", "limit_mph": "35", "signals": "yes"}


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (SIGNALLED, OK),
        (SIGNALLED | {"class": "connecting"}, OK),
        (SIGNALLED | {"limit_mph": "35.1"}, OVER),
        (SIGNALLED | {"signals": "no"}, OVER),
        (SIGNALLED | {"signals": ""}, UNKNOWN),
        (SIGNALLED | {"limit_mph": ""}, UNKNOWN),
        (SIGNALLED | {"limit_mph": "", "signals": "no"}, OVER),
        ({"class": "local", "signals": "no", "limit_mph": "55"}, OK),
        ({"class": "freeway", "signals": "no", "limit_mph": "65"}, OK),  # (b)3. bars that
        ({}, UNKNOWN),
    ],
)
def test_a_trunk_highway_is_crossed_at_35_mph_or_less_and_by_signals_only(
    told: dict[str, str], verdict: Verdict
) -> None:
    assert judge("signals", road("Elm", **TOWN), crossing(0.0, **told)).verdict is verdict


@pytest.mark.parametrize("kind", ["expressway", "freeway", "controlled_access"])
def test_an_expressway_a_freeway_and_a_controlled_access_highway_are_never_crossed(
    kind: str,
) -> None:
    told = {"class": kind, "limit_mph": "35", "signals": "yes"}
    assert judge("barred", crossing(0.0, **told)).verdict is OVER
    assert judge("barred", crossing(0.0, **SIGNALLED)).verdict is OK
    assert judge("barred", crossing(0.0)).verdict is UNKNOWN


def test_a_crossing_that_is_barred_is_told_before_it_is_reached() -> None:
    # 20 mph is 8.94 m/s: 12.2 m to brake, 13.4 m to react, 10 m to the middle: 35.6 m, 116.8 ft.
    bad = {"class": "freeway"}
    near = judge("barred", crossing(116.0, **bad))
    assert (near.verdict, near.topic) == (Verdict.APPROACHING, road_network.CROSSING)
    assert judge("barred", crossing(118.0, **bad)).verdict is OK
    assert judge("barred", crossing(-60.0, **bad)).verdict is OK
    good = crossing(100.0, **{"class": "local"})
    assert judge("barred", good).verdict is OK


def test_at_a_crossing_whose_edge_lies_within_the_error_nobody_is_accused() -> None:
    # 10 m to each side: with 5 ft of error surely in it up to 27.8 ft, maybe up to 37.8 ft.
    bad = {"class": "freeway"}
    verdicts = [judge("barred", crossing(feet, **bad)).verdict for feet in (-27.0, -29.0, -37.0)]
    assert verdicts == [OVER, MAY_BE, MAY_BE]
    assert judge("barred", crossing(-39.0, **bad)).verdict is OK
    assert judge("barred", crossing(0.0, **bad), speed_mph=0.0).verdict is MAY_BE


@pytest.mark.parametrize(
    "main",
    [LINK, STATE | {"limit_mph": "30", "allowed_by": "Ord. 7"}],
    ids=["a connecting highway at 25", "a trunk highway that an ordinance allows"],
)
def test_who_drives_along_a_highway_does_not_cross_it(main: dict[str, str]) -> None:
    """346.94(22)(b)1. and 349.26(2) let it be driven on: its own intersections do not bar it."""
    at = crossing(0.0, **{"class": main["class"], "limit_mph": main["limit_mph"], "signals": "no"})
    street = road("Oak", 0.0, is_north=True, **TOWN)
    for away in (0.0, -60.0, 60.0):  # in it, past it, before it
        here = fix_of(20.0, east_of(away), error_ft=5.0, track_deg=90.0)
        assert judge("signals", road("Main", **main), street, at, fix=here).verdict is OK
    over_it = fix_of(20.0, error_ft=5.0, track_deg=0.0)
    assert judge("signals", road("Main", **main), street, at, fix=over_it).verdict is OVER


def test_who_drives_along_one_connecting_highway_still_crosses_another() -> None:
    at = crossing(0.0, **{"class": "connecting", "limit_mph": "25", "signals": "no"})
    both = (road("Main", **LINK), road("Second", 0.0, is_north=True, **LINK))
    assert judge("signals", *both, at).verdict is OVER
    assert (
        judge("barred", road("Main", **LINK), crossing(0.0, **{"class": "freeway"})).verdict is OVER
    )


def test_between_a_highway_and_a_street_beside_it_nobody_is_accused_of_crossing_it() -> None:
    at = crossing(0.0, **{"class": "connecting", "limit_mph": "25", "signals": "no"})
    roads = (road("Main", **LINK), road("Frontage Road", 30.0, **TOWN))
    between = fix_of(20.0, east_of(0.0, 15.0), error_ft=5.0, track_deg=90.0)
    assert judge("signals", *roads, at, fix=between).verdict is MAY_BE
    nameless = (road("Elm", **TOWN | {"class": ""}), crossing(0.0))
    assert judge("signals", *nameless).verdict is UNKNOWN


# Where the vehicle is


def test_between_two_parallel_roads_of_which_one_is_barred_nobody_can_tell() -> None:
    roads = (road("Highway 51", 0.0, **STATE), road("Frontage Road", 40.0, **TOWN))
    between = fix_of(20.0, east_of(0.0, 20.0), error_ft=5.0, track_deg=90.0)
    found = judge("authorized", *roads, fix=between)
    assert (found.verdict, found.why) == (
        UNKNOWN,
        "between two roads: Highway 51 or Frontage Road",
    )
    assert judge("authorized", *roads, speed_mph=20.0).verdict is OVER
    beside = fix_of(20.0, east_of(0.0, 40.0), error_ft=5.0, track_deg=90.0)
    assert judge("authorized", *roads, fix=beside).verdict is OK


def test_two_roads_that_are_both_barred_are_a_violation_all_the_same() -> None:
    # Surely on the one, by the other's edge: 12 m wide, 24.7 ft to each side with the error.
    roads = (road("Highway 51", 0.0, **STATE), road("Highway 17", 24.0, **STATE))
    found = judge("authorized", *roads)
    assert (found.verdict, found.why) == (OVER, "Highway 51 is posted at 55, over 35 mph")


def test_a_road_that_the_course_crosses_is_not_the_one_that_is_driven() -> None:
    crossed = road("Highway 51", 0.0, is_north=True, **STATE)
    assert judge("authorized", road("Elm", **TOWN), crossed).verdict is OK
    standing = fix_of(0.0, error_ft=5.0)
    assert judge("authorized", road("Elm", **TOWN), crossed, fix=standing).verdict is UNKNOWN


def test_a_place_whose_error_reaches_over_the_road_s_edge_accuses_nobody() -> None:
    # 12 m wide: 6 m, 19.7 ft, to each side.
    far = fix_of(20.0, error_ft=20.0, track_deg=90.0)
    assert judge("authorized", road("Highway 51", **STATE), fix=far).verdict is MAY_BE


def test_off_every_road_of_a_map_that_knows_them_all_nothing_is_asked() -> None:
    lot = fix_of(5.0, east_of(0.0, 300.0), error_ft=5.0, track_deg=90.0)
    found = judge("authorized", road("Highway 51", **STATE), fix=lot)
    assert (found.verdict, found.why) == (OK, "on no road of the map")
    unmapped = map_of(road("Highway 51", **STATE), is_covered=False)
    for part in ("authorized", "signals"):
        found = judge(part, fix=lot, nearby=unmapped)
        assert (found.verdict, found.why) == (UNKNOWN, "no road map here")
        assert not found.is_fitted  # no pack ever promised one: listed, and no alert stands for it
        elsewhere = square("coverage", east_of(0.0, 5000.0), 1000.0, "elsewhere")
        elsewhere.attributes["of"] = "road"
        found = judge(part, fix=lot, nearby=map_of(elsewhere, is_covered=False))
        assert (found.verdict, found.is_fitted) == (UNKNOWN, True)  # beside the map that it has


def test_without_a_fix_or_a_map_nothing_is_known() -> None:
    for part in PARTS:
        assert judge(part, fix=NO_FIX).verdict is UNKNOWN
        assert not judge(part, fix=NO_FIX, nearby=Missing(Why.NOT_FITTED)).is_fitted
        missing = judge(part, nearby=Missing(Why.NOT_FITTED))
        assert (missing.verdict, missing.is_fitted) == (UNKNOWN, False)


def test_parked_with_the_engine_off_it_is_not_driven() -> None:
    parked = fix_of(0.0, error_ft=5.0)
    bad = road("Highway 51", **STATE)
    assert judge("authorized", bad, fix=parked, engine=Engine(False)).verdict is OK
    assert judge("authorized", bad, fix=parked).verdict is OVER


def test_without_a_course_every_road_near_counts() -> None:
    roads = (road("Elm", **TOWN), road("Highway 51", 0.0, is_north=True, **STATE))
    no_course = fix_of(20.0, error_ft=5.0)
    assert judge("authorized", *roads, fix=no_course).verdict is UNKNOWN
    slow = fix_of(2.9, error_ft=5.0, track_deg=90.0)
    assert judge("authorized", *roads, fix=slow).verdict is UNKNOWN
    at_3_mph = fix_of(3.0, error_ft=5.0, track_deg=90.0)
    assert judge("authorized", *roads, fix=at_3_mph).verdict is OK


def test_a_crossing_within_the_error_counts_though_it_is_further_than_the_way_to_stop() -> None:
    # At 2 mph the way to stop and the crossing's half reach 11.5 m; with 20 ft of error, 16.1 m.
    bad = crossing(45.0, **{"class": "freeway"})
    creeping = fix_of(2.0, error_ft=20.0, track_deg=90.0)
    assert judge("barred", bad, fix=creeping).verdict is MAY_BE


def test_without_a_course_no_crossing_is_ahead() -> None:
    bad = crossing(60.0, **{"class": "freeway"})
    assert judge("barred", bad, fix=fix_of(20.0, error_ft=5.0)).verdict is OK
    unclear = crossing(60.0)
    assert judge("barred", unclear).verdict is UNKNOWN
    assert judge("barred", unclear, fix=fix_of(20.0, error_ft=5.0)).verdict is OK
