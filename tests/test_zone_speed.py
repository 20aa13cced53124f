"""350.10(1)(g) and (i): 10 mph near dwellings by the clock, near shanties and people on the ice."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
import pytest
from judging import (
    HOME,
    NO_FIX,
    clause_of,
    configured,
    east_of,
    fix_of,
    local_of,
    map_of,
    point,
    seen,
    square,
)

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause, Limit
from firmware.law.packs import Near as Reach
from firmware.maps.zones import Nearby
from firmware.readings import Feature, Missing, Surroundings, Why
from firmware.rules.base import Snapshot
from firmware.rules.zone_speed import LastPlace, ZoneSpeed
from firmware.units import ft, metres

DWELLINGS, ICE = clause_of("350.10(1)(g)"), clause_of("350.10(1)(i)")
RULE = ZoneSpeed(configured())
HOUSE = point("dwelling", HOME, "house")
SHANTY = point("shanty", HOME, "shanty")
LAKE = square("water", HOME, 5000.0, "lake")
NOT_FITTED = Missing(Why.NOT_FITTED)


def judge(now: Snapshot, clause: Clause = DWELLINGS, memory: LastPlace | None = None) -> Finding:
    _, finding = RULE.judge(RULE.begin() if memory is None else memory, now, clause)
    assert finding.clause == clause.citation
    return finding


def at(
    feet: float,
    speed_mph: float = 30.0,
    *features: Feature,
    clause: Clause = DWELLINGS,
    error_ft: float = 10.0,
    track_deg: float | None = None,
    **changes: object,
) -> Finding:
    """The finding at so many feet east of home."""
    things = features or ((HOUSE,) if clause is DWELLINGS else (SHANTY, LAKE))
    fix = fix_of(speed_mph, east_of(feet), error_ft=error_ft, track_deg=track_deg)
    return judge(seen(fix=fix, nearby=map_of(*things), **changes), clause)


# Surely inside, maybe inside, clear.


@pytest.mark.parametrize(
    ("feet", "verdict"),
    [
        (0.0, Verdict.VIOLATION),
        (139.9, Verdict.VIOLATION),  # with its 10 ft of error, within 150 ft
        (140.1, Verdict.UNSURE),
        (150.0, Verdict.UNSURE),
        (159.9, Verdict.UNSURE),
        (160.1, Verdict.COMPLIANT),
    ],
)
def test_the_edge_at_150_ft_counts_for_sure_only_past_the_error(
    feet: float, verdict: Verdict
) -> None:
    finding = at(feet)
    assert (finding.verdict, finding.limit is None) == (verdict, verdict is Verdict.COMPLIANT)


@pytest.mark.parametrize(
    ("feet", "verdict"),
    [
        (89.9, Verdict.VIOLATION),
        (90.1, Verdict.UNSURE),
        (109.9, Verdict.UNSURE),
        (110.1, Verdict.COMPLIANT),
    ],
)
@pytest.mark.parametrize("kind", ["shanty", "person"])
def test_the_edge_at_100_ft_on_the_ice_counts_for_sure_only_past_the_error(
    kind: str, feet: float, verdict: Verdict
) -> None:
    assert at(feet, 30.0, point(kind, HOME), LAKE, clause=ICE).verdict is verdict


@pytest.mark.parametrize("error_ft", [1.0, 32.8, 149.0])
def test_the_greater_the_error_the_sooner_it_warns_and_the_later_it_accuses(
    error_ft: float,
) -> None:
    for side, verdict in ((-0.5, Verdict.VIOLATION), (0.5, Verdict.UNSURE)):
        assert at(150.0 - error_ft + side, error_ft=error_ft).verdict is verdict
    for side, verdict in ((-0.5, Verdict.UNSURE), (0.5, Verdict.COMPLIANT)):
        assert at(150.0 + error_ft + side, error_ft=error_ft).verdict is verdict


def test_an_error_beyond_the_zone_itself_never_accuses() -> None:
    assert at(0.0, error_ft=151.0).verdict is Verdict.UNSURE


def test_the_distance_is_to_the_wall_and_not_to_the_middle() -> None:
    barn = square("dwelling", HOME, 60.0)
    assert at(199.0, 30.0, barn).verdict is Verdict.VIOLATION
    assert at(201.0, 30.0, barn).verdict is Verdict.UNSURE


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (8.9, Verdict.COMPLIANT),
        (9.0, Verdict.APPROACHING),
        (10.0, Verdict.APPROACHING),
        (10.1, Verdict.UNSURE),
        (10.5, Verdict.UNSURE),
        (10.6, Verdict.VIOLATION),
    ],
)
@pytest.mark.parametrize("clause", [DWELLINGS, ICE], ids=["dwelling", "ice"])
def test_inside_the_limit_is_10_mph_with_its_error(
    clause: Clause, speed_mph: float, verdict: Verdict
) -> None:
    finding = at(50.0, speed_mph, clause=clause)
    assert finding.verdict is verdict
    assert (finding.limit, finding.unit, finding.topic) == (10.0, "mph", "zone")
    assert finding.error == pytest.approx(0.5)
    assert finding.why.endswith(" 50 ft away")


def test_a_derived_speed_accuses_past_2_mph_only() -> None:
    for speed_mph, verdict in ((12.0, Verdict.UNSURE), (12.1, Verdict.VIOLATION)):
        fix = fix_of(speed_mph, HOME, error_mph=2.0)
        assert judge(seen(fix=fix, nearby=map_of(HOUSE))).verdict is verdict


def test_maybe_inside_says_how_far_off_it_may_be() -> None:
    assert at(145.0).why == "dwelling 145 ft away, give or take 10 ft"
    assert at(100.0).why == "dwelling 100 ft away"


def test_a_house_that_is_maybe_near_does_not_hide_one_that_surely_is() -> None:
    other = point("dwelling", east_of(10.0), "other")
    assert at(149.0, 30.0, HOUSE, other).verdict is Verdict.VIOLATION


# What is near is what the clause speaks of.


@pytest.mark.parametrize("kind", ["shanty", "person", "church", "trail", "coverage"])
def test_other_things_are_no_dwellings(kind: str) -> None:
    assert at(10.0, 30.0, point(kind, HOME)).verdict is Verdict.COMPLIANT


def test_a_dwelling_is_no_shanty() -> None:
    assert at(10.0, 30.0, HOUSE, LAKE, clause=ICE).verdict is Verdict.COMPLIANT


def test_a_shanty_on_the_land_asks_for_nothing() -> None:
    finding = at(10.0, 30.0, SHANTY, square("water", east_of(2000.0), 500.0), clause=ICE)
    assert finding.verdict is Verdict.COMPLIANT
    assert finding.limit is None


@pytest.mark.parametrize(
    ("shore_ft", "verdict"),
    [
        (60.1, Verdict.VIOLATION),  # 10.1 ft out on the ice
        (59.9, Verdict.UNSURE),
        (40.1, Verdict.UNSURE),  # 9.9 ft up the shore
        (39.9, Verdict.COMPLIANT),
    ],
)
def test_the_shore_too_counts_for_sure_only_past_the_error(
    shore_ft: float, verdict: Verdict
) -> None:
    finding = at(50.0, 30.0, SHANTY, square("water", HOME, shore_ft), clause=ICE)
    assert finding.verdict is verdict


def test_each_kind_may_reach_as_far_as_its_law_says() -> None:
    both = (Reach(("shanty",), 100.0), Reach(("person",), 300.0))
    clause = msgspec.structs.replace(ICE, near=both)
    assert at(200.0, 30.0, point("person", HOME), LAKE, clause=clause).limit == 10.0
    assert at(200.0, 30.0, SHANTY, LAKE, clause=clause).limit is None


def test_ice_is_judged_at_any_hour_and_without_a_date() -> None:
    for local in (local_of("2026-01-16T18:00:00"), None):
        assert at(50.0, clause=ICE, local=local).verdict is Verdict.VIOLATION


# By the clock.


@pytest.mark.parametrize(
    ("begins_utc", "ends_utc"),
    [
        pytest.param("2026-01-16T04:30:00", "2026-01-16T13:00:00", id="an ordinary night"),
        pytest.param("2026-03-08T04:30:00", "2026-03-08T12:00:00", id="the night to summer time"),
        pytest.param("2026-11-01T03:30:00", "2026-11-01T13:00:00", id="the night to winter time"),
        pytest.param("2026-07-16T03:30:00", "2026-07-16T12:00:00", id="a night in summer"),
    ],
)
def test_the_window_is_2230_to_0700_of_civil_time(begins_utc: str, ends_utc: str) -> None:
    for utc, seconds, verdict in (
        (begins_utc, -1, Verdict.COMPLIANT),  # 22:29:59
        (begins_utc, 0, Verdict.VIOLATION),  # 22:30:00
        (ends_utc, -1, Verdict.VIOLATION),  # 06:59:59
        (ends_utc, 0, Verdict.COMPLIANT),  # 07:00:00
    ):
        shown = local_of((datetime.fromisoformat(utc) + timedelta(seconds=seconds)).isoformat())
        finding = at(50.0, local=shown)
        assert finding.verdict is verdict, shown
        if verdict is Verdict.COMPLIANT:
            assert (finding.why, finding.limit) == ("outside its hours", None)


def test_both_hours_that_are_told_twice_in_autumn_lie_in_the_window() -> None:
    for utc in ("2026-11-01T06:30:00", "2026-11-01T07:30:00"):  # 01:30 CDT and 01:30 CST
        assert at(50.0, local=local_of(utc)).verdict is Verdict.VIOLATION


def test_the_window_goes_by_the_clock_and_not_by_the_sun() -> None:
    # 06:50 in July is broad daylight, 18:00 in January is dark
    assert at(50.0, local=local_of("2026-07-16T11:50:00")).verdict is Verdict.VIOLATION
    assert at(50.0, local=local_of("2026-01-17T00:00:00")).verdict is Verdict.COMPLIANT


def test_without_a_date_the_window_is_unknown() -> None:
    finding = at(50.0, local=None)
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, "the time of day is not known")


# A zone that is crossed between two fixes.


def cross(gap_s: float, clause: Clause = DWELLINGS) -> list[Finding]:
    """Three fixes: 300 ft west of the house, 300 ft east of it, and that one judged again."""
    chart = map_of(HOUSE, SHANTY, LAKE)
    before = seen(at_s=100.0, fix=fix_of(60.0, east_of(-300.0)), nearby=chart)
    after = seen(at_s=100.0 + gap_s, fix=fix_of(60.0, east_of(300.0)), nearby=chart)
    memory, first = RULE.judge(RULE.begin(), before, clause)
    memory, second = RULE.judge(memory, after, clause)
    later = msgspec.structs.replace(after, at_s=after.at_s + 0.1)
    _, again = RULE.judge(memory, later, clause)
    return [first, second, again]


@pytest.mark.parametrize("clause", [DWELLINGS, ICE], ids=["dwelling", "ice"])
def test_a_zone_crossed_between_two_fixes_is_caught_once(clause: Clause) -> None:
    first, second, again = cross(5.0, clause)
    assert first.verdict is Verdict.COMPLIANT
    assert second.verdict is Verdict.VIOLATION
    assert second.why.endswith(" 0 ft away")
    assert again.verdict is Verdict.COMPLIANT


def test_leaving_a_zone_slowly_and_then_going_faster_is_no_violation() -> None:
    chart = map_of(HOUSE)
    slow = seen(at_s=100.0, fix=fix_of(8.0, east_of(130.0)), nearby=chart)
    fast = seen(at_s=102.0, fix=fix_of(30.0, east_of(200.0)), nearby=chart)
    memory, inside = RULE.judge(RULE.begin(), slow, DWELLINGS)
    _, outside = RULE.judge(memory, fast, DWELLINGS)
    assert [inside.verdict, outside.verdict] == [Verdict.COMPLIANT] * 2
    assert (inside.value, outside.value) == (pytest.approx(8.0), pytest.approx(8.0))


def test_the_way_from_before_the_hours_of_the_clause_does_not_count() -> None:
    chart = map_of(HOUSE)
    early = local_of("2026-01-17T04:29:59")  # 22:29:59
    begun = local_of("2026-01-17T04:30:00")
    before = seen(at_s=100.0, fix=fix_of(30.0, east_of(100.0)), nearby=chart, local=early)
    after = seen(at_s=101.0, fix=fix_of(30.0, east_of(200.0)), nearby=chart, local=begun)
    memory, _ = RULE.judge(RULE.begin(), before, DWELLINGS)
    assert judge(after, memory=memory).verdict is Verdict.COMPLIANT


def test_a_clock_that_may_be_off_does_not_accuse_near_the_hour() -> None:
    at_2231 = local_of("2026-01-17T04:31:00")
    assert at(50.0, local=at_2231, clock_error_s=0.5).verdict is Verdict.VIOLATION
    assert at(50.0, local=at_2231, clock_error_s=59.0).verdict is Verdict.VIOLATION
    assert at(50.0, local=at_2231, clock_error_s=61.0).verdict is Verdict.UNSURE


def test_fixes_more_than_5_s_apart_are_two_points_and_no_way() -> None:
    assert [one.verdict for one in cross(5.1)] == [Verdict.COMPLIANT] * 3


def test_the_way_before_a_lost_fix_is_not_ridden_again() -> None:
    chart = map_of(HOUSE)
    memory, _ = RULE.judge(
        RULE.begin(), seen(at_s=100.0, fix=fix_of(60.0, east_of(-300.0)), nearby=chart), DWELLINGS
    )
    memory, lost = RULE.judge(memory, seen(at_s=101.0, fix=NO_FIX, nearby=chart), DWELLINGS)
    assert lost.verdict is Verdict.UNKNOWN
    found = judge(seen(at_s=102.0, fix=fix_of(60.0, east_of(300.0)), nearby=chart), memory=memory)
    assert found.verdict is Verdict.COMPLIANT


# Ahead.


def ahead(
    feet_to_edge: float,
    speed_mph: float = 55.0,
    *features: Feature,
    track_deg: float | None = 90.0,
    clause: Clause = DWELLINGS,
) -> Finding:
    """So many feet west of the zone's edge, on the way east."""
    reach_ft = ft(clause.near[0].reach_m)
    return at(-reach_ft - feet_to_edge, speed_mph, *features, track_deg=track_deg, clause=clause)


@pytest.mark.parametrize(
    ("speed_mph", "edge_m"),
    [
        # (v^2 - (9.5 mph)^2) / (2 * 3.28 m/s2) + 1.8 s of v, by hand: 133.66, 48.81 and 25.53 m;
        # more by the spread of 0.5 mph in v; from two errors of 10 ft before the zone.
        (55.0, 140.97),
        (30.0, 55.72),
        (20.0, 32.26),
    ],
)
@pytest.mark.parametrize("clause", [DWELLINGS, ICE], ids=["dwelling", "ice"])
def test_the_warning_comes_where_braking_must_begin(
    clause: Clause, speed_mph: float, edge_m: float
) -> None:
    feet = edge_m / metres(1.0)
    assert ahead(feet + 1.5, speed_mph, clause=clause).verdict is Verdict.COMPLIANT
    finding = ahead(feet - 1.5, speed_mph, clause=clause)
    assert (finding.verdict, finding.topic) == (Verdict.APPROACHING, "zone-ahead")
    assert finding.away_ft == pytest.approx((edge_m - 6.1) / 0.3048 / (1 + 0.5 / speed_mph), abs=2)
    assert (finding.limit, finding.unit) == (10.0, "mph")
    assert finding.value == pytest.approx(speed_mph)


def test_the_warning_says_what_lies_ahead_and_how_far_there_is_to_brake() -> None:
    # 380 ft to where it may be inside twice over, 1 % less for the spread
    assert ahead(400.0).why == "dwelling ahead: be at 10 mph within 377 ft"


def test_a_slow_sled_is_not_warned_of_what_lies_ahead() -> None:
    assert ahead(11.0, 10.0).verdict is Verdict.COMPLIANT
    assert ahead(11.0, 10.1).verdict is Verdict.APPROACHING


@pytest.mark.parametrize("track_deg", [None, 270.0, 0.0, 180.0])
def test_what_does_not_lie_on_the_way_is_not_ahead(track_deg: float | None) -> None:
    assert ahead(200.0, track_deg=track_deg).verdict is Verdict.COMPLIANT


def test_a_shanty_ahead_on_the_land_asks_for_nothing() -> None:
    away = square("water", east_of(3000.0), 100.0)
    assert ahead(200.0, 55.0, SHANTY, away, clause=ICE).verdict is Verdict.COMPLIANT


def test_a_shanty_ahead_is_warned_of_before_the_sled_is_on_the_ice() -> None:
    pond = square("water", HOME, 120.0)
    assert ahead(200.0, 55.0, SHANTY, pond, clause=ICE).verdict is Verdict.APPROACHING


def test_ahead_too_goes_by_the_clock() -> None:
    noon = local_of("2026-01-16T18:00:00")
    finding = at(-400.0, 55.0, track_deg=90.0, local=noon)
    assert finding.verdict is Verdict.COMPLIANT


def test_the_fastest_sled_is_warned_in_time_or_told_that_it_can_t_be() -> None:
    # 120 mph needs 533 m to brake and react; what is known reaches only so far
    fix = fix_of(120.0, east_of(-1850.0), track_deg=90.0)
    for radius_m in range(400, 800, 20):
        chart = Nearby(
            Surroundings(fix.lat_deg, fix.lon_deg, radius_m, (square("coverage", HOME, 9000.0),))
        )
        finding = judge(seen(fix=fix, nearby=chart))
        if finding.verdict is not Verdict.UNKNOWN:
            assert radius_m >= 533 + 46 + 6
            return


# What can't be told.


def test_a_place_without_zone_data_is_unknown_not_clear() -> None:
    fix = fix_of(30.0)
    finding = judge(seen(fix=fix, nearby=map_of(is_covered=False)))
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, "no zone data here")
    assert finding.is_fitted


def test_a_house_that_is_known_is_judged_even_outside_the_coverage() -> None:
    finding = judge(seen(fix=fix_of(30.0), nearby=map_of(HOUSE, is_covered=False)))
    assert finding.verdict is Verdict.VIOLATION


def test_a_map_that_ends_too_near_is_still_being_looked_up() -> None:
    finding = judge(seen(fix=fix_of(30.0), nearby=map_of(radius_m=100.0)))
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.why == "what is near here is still being looked up"


@pytest.mark.parametrize("why", [Why.STARTING, Why.STALE, Why.NO_ANSWER])
def test_a_map_that_is_missing_is_unknown_not_clear(why: Why) -> None:
    finding = judge(seen(nearby=Missing(why)))
    assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, True)
    assert finding.why == f"nothing known of what is near ({why})"


def test_no_pack_at_all_is_told_apart_from_one_that_fails() -> None:
    for fix in (fix_of(30.0), NO_FIX):
        finding = judge(seen(fix=fix, nearby=NOT_FITTED))
        assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, False)


def test_no_fix_is_unknown_not_compliant() -> None:
    for clause in (DWELLINGS, ICE):
        finding = judge(seen(fix=NO_FIX, nearby=map_of(HOUSE)), clause)
        assert finding.verdict is Verdict.UNKNOWN
        assert finding.why == "place and speed not known (no fix)"


def test_outside_its_hours_no_fix_and_no_map_are_needed() -> None:
    noon = local_of("2026-01-16T18:00:00")
    for fix in (fix_of(30.0), NO_FIX):
        finding = judge(seen(fix=fix, nearby=Missing(Why.STALE), local=noon))
        assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "outside its hours")


# Modes and marks.


@pytest.mark.parametrize("mode", ["race", "maker_test", "family_land"])
def test_no_mode_lifts_the_limits_near_people(mode: str) -> None:
    for clause in (DWELLINGS, ICE):
        assert at(50.0, clause=clause, modes=frozenset({mode})).verdict is Verdict.VIOLATION


def test_a_law_that_a_mode_lifts_is_exempt_with_and_without_a_fix() -> None:
    clause = msgspec.structs.replace(DWELLINGS, lifted_by=("family_land",))
    for fix in (fix_of(30.0), NO_FIX):
        now = seen(fix=fix, nearby=map_of(HOUSE), modes=frozenset({"family_land"}))
        assert judge(now, clause).verdict is Verdict.EXEMPT


def test_the_riders_own_mark_counts_as_what_it_marks() -> None:
    marks = Nearby(Surroundings(*HOME, 2000.0, (point("person", HOME, "mark"),)))
    fix = fix_of(30.0, east_of(50.0))
    finding = judge(seen(fix=fix, nearby=map_of(LAKE), marks=marks), ICE)
    assert (finding.verdict, finding.why) == (Verdict.VIOLATION, "person 50 ft away")


@pytest.mark.parametrize(
    "nearby",
    [Missing(Why.NOT_FITTED), Missing(Why.NO_ANSWER), map_of(is_covered=False)],
    ids=["no pack", "a pack that fails", "no data here"],
)
def test_without_a_map_of_the_water_a_mark_warns_and_accuses_nobody(nearby: object) -> None:
    marks = Nearby(Surroundings(*HOME, 2000.0, (point("person", HOME, "mark"),)))
    fix = fix_of(30.0, east_of(50.0))
    assert judge(seen(fix=fix, nearby=nearby, marks=marks), ICE).verdict is Verdict.UNSURE


def test_a_mark_says_nothing_of_dwellings() -> None:
    marks = Nearby(Surroundings(*HOME, 2000.0, (point("person", HOME, "mark"),)))
    finding = judge(seen(fix=fix_of(30.0), nearby=map_of(LAKE), marks=marks))
    assert finding.verdict is Verdict.COMPLIANT


# Other laws.


def test_a_limit_in_kilometres_is_judged_in_kilometres() -> None:
    clause = msgspec.structs.replace(DWELLINGS, limit=Limit(30.0, "km/h"))
    finding = at(50.0, 20.0, HOUSE, clause=clause)
    assert (finding.verdict, finding.limit, finding.unit) == (Verdict.VIOLATION, 30.0, "km/h")
    assert finding.value == pytest.approx(32.18688)
    warned = at(-150.0 - 20.0, 25.0, HOUSE, track_deg=90.0, clause=clause)
    assert warned.verdict is Verdict.APPROACHING
    assert warned.why.startswith("dwelling ahead: be at 30 km/h within ")
