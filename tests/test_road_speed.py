"""Speed by the posted limit of a road, in mph and km/h, along roads and trails."""

from __future__ import annotations

from datetime import time

import msgspec
import pytest
from judging import HOME, NO_FIX, clause_of, configured, east_of, fix_of, local_of, seen, square
from test_road_network import map_of
from test_roads import road

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause, Limit, Near
from firmware.readings import Feature, Missing, Why
from firmware.rules.road_speed import TOPIC, RoadSpeed

RULE = RoadSpeed(configured())
POSTED = msgspec.structs.replace(
    clause_of("350.10(1)(gm)"), citation="posted", kind="road_speed", when="always", limit=None,
    limit_from="posted",
)  # fmt: skip
SLOW = msgspec.structs.replace(
    POSTED, citation="slow", limit=Limit(20.0, "km/h"), limit_from="", posted_up_to=50.0
)
FAST = msgspec.structs.replace(
    POSTED, citation="fast", limit=Limit(50.0, "km/h"), limit_from="", posted_over=50.0
)
TRAIL = msgspec.structs.replace(
    POSTED, citation="trail", limit=Limit(50.0, "km/h"), limit_from="",
    near=(Near(("trail",), within_m=10.0),),
)  # fmt: skip


def judge(clause: Clause, speed_mph: float, *features: Feature, **changes: object) -> Finding:
    """The finding at home on the way east, known to 5 ft."""
    fix = fix_of(speed_mph, error_ft=5.0, track_deg=90.0)
    now = seen(**{"fix": fix, "nearby": map_of(*features)} | changes)
    finding = RULE.judge(RULE.begin(), now, clause)[1]
    assert (finding.clause, finding.topic) == (clause.citation, TOPIC)
    return finding


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (33.9, Verdict.COMPLIANT),
        (34.0, Verdict.APPROACHING),
        (35.0, Verdict.APPROACHING),
        (35.4, Verdict.UNSURE),
        (35.6, Verdict.VIOLATION),
    ],
)
def test_a_road_s_own_limit_is_the_limit(speed_mph: float, verdict: Verdict) -> None:
    finding = judge(POSTED, speed_mph, road("Elm Street", limit_mph="35"))
    assert (finding.verdict, finding.limit, finding.unit) == (verdict, 35.0, "mph")
    assert finding.why == "along Elm Street"


def test_a_limit_posted_in_km_h_is_judged_in_km_h() -> None:
    finding = judge(POSTED, 30.0, road("rue", limit_kmh="50"))
    assert (finding.limit, finding.unit) == (50.0, "km/h")
    assert finding.value == pytest.approx(48.28, abs=0.01)


@pytest.mark.parametrize(
    ("posted_kmh", "slow", "fast"),
    [("50", 20.0, None), ("50.1", None, 50.0), ("80", None, 50.0), ("40", 20.0, None)],
)
def test_a_law_sets_a_limit_by_the_road_s_own(
    posted_kmh: str, slow: float | None, fast: float | None
) -> None:
    street = road("rue", limit_kmh=posted_kmh)
    assert judge(SLOW, 10.0, street).limit == slow
    assert judge(FAST, 10.0, street).limit == fast


def test_a_trail_reaches_as_far_as_the_law_says() -> None:
    trail = road("t", kind="trail")
    near = fix_of(35.0, east_of(0.0, 20.0), error_ft=5.0, track_deg=90.0)
    assert judge(TRAIL, 35.0, trail, fix=near).verdict is Verdict.VIOLATION
    edge = fix_of(35.0, east_of(0.0, 30.0), error_ft=5.0, track_deg=90.0)  # 10 m are 32.8 ft
    assert judge(TRAIL, 35.0, trail, fix=edge).verdict is Verdict.UNSURE
    away = fix_of(35.0, east_of(0.0, 40.0), error_ft=5.0, track_deg=90.0)
    assert judge(TRAIL, 35.0, trail, fix=away).verdict is Verdict.UNKNOWN  # roads are known alone


def test_between_two_roads_of_other_limits_nobody_can_tell() -> None:
    roads = (road("Highway 51", limit_mph="55"), road("Frontage Road", 24.0, limit_mph="25"))
    finding = judge(POSTED, 50.0, *roads)
    assert (finding.verdict, finding.why) == (
        Verdict.UNKNOWN,
        "between two limits: Highway 51 or Frontage Road",
    )
    same = (road("Highway 51", limit_mph="25"), road("Frontage Road", 24.0, limit_mph="25"))
    assert judge(POSTED, 50.0, *same).verdict is Verdict.VIOLATION
    crossed = road("Elm", is_north=True, limit_mph="25")
    assert judge(POSTED, 50.0, road("Highway 51", limit_mph="55"), crossed).limit == 55.0


def test_a_limit_that_the_map_does_not_tell_is_unknown() -> None:
    for clause in (POSTED, SLOW, FAST):
        assert judge(clause, 50.0, road("Elm")).verdict is Verdict.UNKNOWN


def test_off_every_road_of_the_map_none_applies() -> None:
    finding = judge(POSTED, 50.0)
    assert (finding.verdict, finding.limit) == (Verdict.COMPLIANT, None)
    unmapped = judge(POSTED, 50.0, nearby=map_of(is_covered=False))
    assert (unmapped.verdict, unmapped.is_fitted) == (Verdict.UNKNOWN, False)


def test_without_a_fix_or_a_map_nothing_is_known() -> None:
    assert judge(POSTED, 50.0, fix=NO_FIX).verdict is Verdict.UNKNOWN
    finding = judge(POSTED, 50.0, nearby=Missing(Why.NOT_FITTED))
    assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, False)


def test_outside_its_hours_it_does_not_apply() -> None:
    from datetime import time

    hours = msgspec.structs.replace(
        POSTED, when="clock", from_time=time(8), to_time=time(20)
    )  # it is 23:00
    assert judge(hours, 50.0, road("Elm", limit_mph="35")).why == "outside its hours"
    assert judge(hours, 50.0, local=None).verdict is Verdict.UNKNOWN


# The course, the window and the reach.


@pytest.mark.parametrize(
    ("speed_mph", "track_deg", "limit"),
    [
        (3.5, 90.0, 35.0),  # along the first; its course says so
        (2.5, 90.0, None),  # too slow for a course that says much
        (30.0, None, None),  # no course at all
        (30.0, 45.0, None),  # along neither of them
    ],
)
def test_at_a_crossing_the_course_tells_the_road_from_3_mph_on(
    speed_mph: float, track_deg: float | None, limit: float | None
) -> None:
    roads = road("east", limit_mph="35"), road("north", limit_mph="55", is_north=True)
    fix = fix_of(speed_mph, error_ft=5.0, track_deg=track_deg)
    finding = judge(POSTED, speed_mph, *roads, fix=fix)
    assert finding.limit == limit
    assert (finding.verdict is Verdict.UNKNOWN) is (limit is None)


def test_across_a_road_its_limit_holds_still() -> None:
    fix = fix_of(60.0, error_ft=5.0, track_deg=0.0)
    assert judge(POSTED, 60.0, road("east", limit_mph="35"), fix=fix).verdict is Verdict.VIOLATION


def test_a_clock_that_may_be_off_accuses_nobody_near_the_hour() -> None:
    nightly = msgspec.structs.replace(POSTED, when="clock", from_time=time(0), to_time=time(6))
    street = road("Elm Street", limit_mph="35")
    for utc, verdict in (
        ("2026-01-16T06:00:30", Verdict.UNSURE),  # half a minute past midnight
        ("2026-01-16T06:02:00", Verdict.VIOLATION),
    ):
        found = judge(nightly, 60.0, street, local=local_of(utc), clock_error_s=60.0)
        assert found.verdict is verdict


def test_a_limit_for_faster_roads_in_miles_goes_by_the_road_s_own_miles() -> None:
    fast = msgspec.structs.replace(FAST, limit=Limit(20.0), posted_over=25.0)
    for posted, limit in (("30", 20.0), ("25", None)):
        assert judge(fast, 10.0, road("a", limit_mph=posted)).limit == limit


@pytest.mark.parametrize(
    ("kind", "told", "verdict"),
    [
        ("trail", "road", Verdict.VIOLATION),
        ("road", "road trail", Verdict.COMPLIANT),
        ("road", "road", Verdict.UNKNOWN),  # what trails there are, nobody says
    ],
)
def test_of_two_reaches_each_is_the_way_beside_its_own_kind(
    kind: str, told: str, verdict: Verdict
) -> None:
    clause = msgspec.structs.replace(
        TRAIL, near=(Near(("trail",), within_m=30.0), Near(("road",), within_m=10.0))
    )
    fix = fix_of(50.0, east_of(0.0, 65.0), error_ft=5.0)  # 20 m beside it
    cover = square("coverage", HOME, 20_000.0, "cover")
    cover.attributes["of"] = told
    nearby = map_of(road("t", kind=kind, limit_mph="30"), cover, is_covered=False)
    assert judge(clause, 50.0, nearby=nearby, fix=fix).verdict is verdict


def test_of_two_reaches_along_one_kind_the_longer_one_counts() -> None:
    clause = msgspec.structs.replace(
        TRAIL, near=(Near(("trail",), within_m=30.0), Near(("trail", "road"), within_m=10.0))
    )
    fix = fix_of(50.0, east_of(0.0, 65.0), error_ft=5.0)
    assert judge(clause, 50.0, road("t", kind="trail"), fix=fix).verdict is Verdict.VIOLATION
