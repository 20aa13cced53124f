"""350.10(1)(c): which sign a sled comes to, along which way in, and from how far off."""

from __future__ import annotations

from dataclasses import replace

import pytest
from judging import HOME, east_of, fix_of, map_of, point, seen
from test_stop import CLAUSE, RULE, SLOWLY, STANDS, STOP, ride, way

from firmware.findings import Finding, Verdict
from firmware.readings import Feature
from firmware.rules.stop import Approach

OVER = Verdict.VIOLATION


def stop_at(feet: float, name: str) -> Feature:
    """A stop sign so many feet east of home for whoever comes from the west."""
    return replace(way("stop", (feet - 300.0, 0.0), (feet, 0.0)), id=name)


def along(
    steps: list[tuple[float, float]], *signs: Feature, error_ft: float = 5.0
) -> tuple[Approach, list[Finding]]:
    """What is remembered, and the findings, a second apart, at (feet east, mph) among signs."""
    memory, findings, chart = RULE.begin(), [], map_of(*signs)
    for number, (feet, speed_mph) in enumerate(steps):
        track_deg = 90.0 if speed_mph else None
        fix = fix_of(speed_mph, east_of(feet), error_ft=error_ft, track_deg=track_deg)
        now = seen(at_s=100.0 + number, fix=fix, nearby=chart)
        memory, finding = RULE.judge(memory, now, CLAUSE)
        findings.append(finding)
    return memory, findings


@pytest.mark.parametrize("nearer_first", [True, False])
def test_of_two_signs_ahead_the_nearer_one_is_told(nearer_first: bool) -> None:
    signs = [stop_at(0.0, "near"), stop_at(60.0, "far")]
    _, found = along([(-50.0, 30.0)], *(signs if nearer_first else reversed(signs)))
    assert found[0].verdict is Verdict.APPROACHING
    assert found[0].away_ft == pytest.approx(50.0, abs=0.5)


@pytest.mark.parametrize("nearer_first", [True, False])
def test_a_sign_that_was_passed_comes_before_one_that_lies_nearer_ahead(
    nearer_first: bool,
) -> None:
    # From 44 ft before the first to 44 ft past it, where the second is 6 ft ahead.
    signs = [stop_at(0.0, "first"), stop_at(50.0, "second")]
    _, found = along(
        [(-132.0, 60.0), (-44.0, 60.0), (44.0, 60.0)],
        *(signs if nearer_first else reversed(signs)),
    )
    assert [one.verdict for one in found[1:]] == [Verdict.APPROACHING, OVER]


def test_who_stood_at_a_sign_has_not_stood_at_the_next_one() -> None:
    both = (stop_at(0.0, "first"), stop_at(30.0, "second"))
    memory, found = along([*STANDS, (6.0, 8.0)], *both)
    assert found[-2].why == "stood before the stop sign"
    # Time alone passes: the first sign lies behind, the second is 24 ft ahead.
    fix = fix_of(8.0, east_of(6.0), error_ft=5.0, track_deg=90.0)
    now = seen(at_s=105.2, fix_at_s=105.0, fix=fix, nearby=map_of(*both))
    _, later = RULE.judge(memory, now, CLAUSE)
    assert (later.verdict, later.why) == (
        Verdict.APPROACHING,
        "stop sign ahead: stand within 24 ft",
    )


def test_a_stand_before_one_sign_is_none_before_another() -> None:
    """A sled that creeps, and turns from the way to one sign to the way to the other."""
    west = replace(STOP, id="for the west")
    south = replace(way("stop", (0.0, -300.0), (0.0, 0.0)), id="for the south")
    memory, chart, told = RULE.begin(), map_of(west, south), []
    for number, track_deg in enumerate((90.0, 90.0, 0.0, 0.0)):
        fix = fix_of(0.5, east_of(-8.0, -8.0), error_ft=5.0, track_deg=track_deg)
        now = seen(at_s=100.0 + number, fix=fix, nearby=chart)
        memory, finding = RULE.judge(memory, now, CLAUSE)
        told.append(finding.why)
    assert told == ["stop sign ahead", "stood before the stop sign"] * 2


def test_time_alone_does_not_end_the_warning_at_a_sign_passed_by_less_than_the_error() -> None:
    memory, found = along([*SLOWLY, (-10.0, 8.0), (3.0, 8.0)], STOP)
    assert (found[-1].verdict, found[-1].away_ft) == (Verdict.APPROACHING, 0.0)
    fix = fix_of(8.0, east_of(3.0), error_ft=5.0, track_deg=90.0)
    now = seen(at_s=104.2, fix_at_s=104.0, fix=fix, nearby=map_of(STOP))
    assert RULE.judge(memory, now, CLAUSE)[1] == found[-1]


@pytest.mark.parametrize(
    ("before_ft", "after_ft", "error_ft", "slowest_mph", "verdict"),
    [
        (-10.0, 10.0, 5.0, 8.0, OVER),
        (-2.0, 10.0, 5.0, 8.0, OVER),
        # Past the sign at both, by less than the error at the first: it may have been slow before.
        (2.0, 10.0, 5.0, 0.9, Verdict.UNSURE),
        (0.5, 2.5, 1.0, 0.9, Verdict.UNSURE),
    ],
)
def test_what_was_slow_past_the_sign_alone_counts_for_nothing(
    before_ft: float, after_ft: float, error_ft: float, slowest_mph: float, verdict: Verdict
) -> None:
    """A sled that turns onto the way in just before the sign, or past it, and brakes past it."""
    chart, memory = map_of(STOP), RULE.begin()
    for at_s, feet, mph, track_deg in ((100.0, before_ft, 8.0, 0.0), (101.0, after_ft, 0.9, 90.0)):
        fix = fix_of(mph, east_of(feet), error_ft=error_ft, track_deg=track_deg)
        memory, finding = RULE.judge(memory, seen(at_s=at_s, fix=fix, nearby=chart), CLAUSE)
    assert (finding.verdict, finding.value) == (verdict, pytest.approx(slowest_mph))


@pytest.mark.parametrize(
    ("feet", "away_ft"), [(-1.0, 1.0), (0.0, 0.0), (1.0, None)], ids=["before", "at", "past"]
)
def test_who_first_appears_at_the_sign_is_told_of_it_and_past_it_is_not(
    feet: float, away_ft: float | None
) -> None:
    (found,) = ride((feet, 8.0))
    assert found.away_ft == (None if away_ft is None else pytest.approx(away_ft, abs=0.01))
    assert (found.why == "no sign ahead") is (away_ft is None)


@pytest.mark.parametrize(("every_s", "verdict"), [(2.5, OVER), (2.6, Verdict.COMPLIANT)])
def test_fixes_2_5_s_apart_leave_no_room_for_a_stop(every_s: float, verdict: Verdict) -> None:
    found = ride((-132.0, 60.0), (-44.0, 60.0), (44.0, 60.0), every_s=every_s)
    assert found[-1].verdict is verdict


@pytest.mark.parametrize(("feet", "verdict"), [(-103.3, Verdict.COMPLIANT), (-103.6, OVER)])
def test_a_stop_counts_from_30_m_and_the_error_before_the_sign(
    feet: float, verdict: Verdict
) -> None:
    # 30 m and 5 ft are 103.43 ft
    steps = [(feet, 0.0), (feet, 0.0), (-80.0, 15.0), *SLOWLY, (-10.0, 8.0), (6.0, 8.0)]
    assert ride(*steps)[-1].verdict is verdict


@pytest.mark.parametrize(
    ("track_deg", "is_ahead"), [(30.5, True), (29.5, False), (149.5, True), (150.5, False)]
)
def test_a_course_60_degrees_off_the_way_in_still_leads_to_the_sign(
    track_deg: float, is_ahead: bool
) -> None:
    (found,) = ride((-44.0, 30.0), track_deg=track_deg)
    assert (found.why != "no sign ahead") is is_ahead


@pytest.mark.parametrize(("track_deg", "is_ahead"), [(329.5, True), (330.5, False)])
def test_a_course_by_the_north_is_as_far_off_a_way_to_the_west(
    track_deg: float, is_ahead: bool
) -> None:
    (found,) = ride((44.0, 30.0), sign=way("stop", (300.0, 0.0), (0.0, 0.0)), track_deg=track_deg)
    assert (found.why != "no sign ahead") is is_ahead


@pytest.mark.parametrize(
    ("last_ft", "place", "track_deg", "off_deg"),
    [
        # The last leg of a way that else leads north: 5.5 m of it tell the course, 4.5 m do not.
        (18.0, (-10.0, 0.0), 90.0, 0.0),
        (14.8, (-14.8, -50.0), 0.0, 90.0),
    ],
)
def test_the_last_5_m_of_a_way_in_tell_where_it_leads(
    last_ft: float, place: tuple[float, float], track_deg: float, off_deg: float
) -> None:
    bend = way("stop", (-last_ft, -300.0), (-last_ft, 0.0), (0.0, 0.0))
    for course_deg, is_ahead in ((track_deg, True), (off_deg, False)):
        found = ride((place[0], 30.0), sign=bend, north_ft=place[1], track_deg=course_deg)
        assert (found[0].why != "no sign ahead") is is_ahead


def test_a_way_in_is_as_long_as_its_legs() -> None:
    # 100 ft, 116.6 ft of a leg aslant, and 50 ft of the first: at 45 mph 301 ft to stand.
    aslant = way("stop", (-300.0, 60.0), (-200.0, 60.0), (-100.0, 0.0), (0.0, 0.0))
    found = ride((-250.0, 45.0), sign=aslant, north_ft=60.0)
    assert found[0].away_ft == pytest.approx(266.6, abs=0.5)


def test_a_way_in_ends_where_it_begins_and_turns_at_its_bends() -> None:
    # 60 ft before its first corner, and 60 ft straight on past a bend: 35 ft is beside it.
    (before,) = ride((-360.0, 55.0))
    bend = way("stop", (-100.0, -200.0), (-100.0, 0.0), (0.0, 0.0))
    (past,) = ride((-100.0, 40.0), sign=bend, north_ft=60.0, track_deg=45.0)
    assert [before.why, past.why] == ["no sign ahead"] * 2


def test_a_corner_that_stands_twice_ends_no_way_in() -> None:
    doubled = way("stop", (-300.0, 0.0), (-100.0, 0.0), (-100.0, 0.0), (0.0, 0.0))
    assert ride((-200.0, 40.0), sign=doubled)[0].away_ft == pytest.approx(200.0, abs=0.5)


def test_each_way_in_of_a_sign_with_several_is_one() -> None:
    other = way("stop", (0.0, 300.0), (0.0, 0.0))
    assert ride((-44.0, 30.0), sign=replace(STOP, parts=(*other.parts, *STOP.parts)))[0].why == (
        "stop sign ahead: stand within 44 ft"
    )


def test_past_the_end_of_a_slanting_way_the_side_is_measured_square_to_it() -> None:
    # To the south-east: 60 mph, from 44 ft before the sign to 44 ft past it.
    half = 0.5**0.5
    sign = way("stop", (-300.0 * half, 300.0 * half), (0.0, 0.0))
    memory, chart = RULE.begin(), map_of(sign)
    for number, feet in enumerate((-132.0, -44.0, 44.0)):
        place = east_of(feet * half, -feet * half)
        fix = fix_of(60.0, place, error_ft=5.0, track_deg=135.0)
        now = seen(at_s=100.0 + number, fix=fix, nearby=chart)
        memory, finding = RULE.judge(memory, now, CLAUSE)
    assert finding.verdict is OVER


@pytest.mark.parametrize(("error_ft", "feet"), [(5.0, 496.8), (40.0, 531.8)])
def test_a_sign_that_is_a_point_is_looked_for_from_as_far_as_one_with_a_way_in(
    error_ft: float, feet: float
) -> None:
    # 60 mph is 26.82 m/s: 109.67 m to brake and 40.23 m to react, 491.8 ft, and the error
    for off_ft, verdict in ((1.0, Verdict.COMPLIANT), (-1.0, Verdict.APPROACHING)):
        _, found = along([(-feet - off_ft, 60.0)], point("stop", HOME), error_ft=error_ft)
        assert found[0].verdict is verdict


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["north", "south"])
def test_a_sign_that_is_a_point_counts_within_30_ft_and_the_error_to_each_side(
    side: float,
) -> None:
    for aside_ft, is_ahead in ((34.5, True), (35.5, False)):
        (found,) = ride((-30.0, 30.0), sign=point("stop", HOME), north_ft=side * aside_ft)
        assert (found.why != "no sign ahead") is is_ahead


@pytest.mark.parametrize("track_deg", [0.0, 90.0, 270.0])
def test_a_way_in_without_length_is_a_point(track_deg: float) -> None:
    east_ft = {0.0: 0.0, 90.0: -44.0, 270.0: 44.0}[track_deg]
    north_ft = -44.0 if track_deg == 0.0 else 0.0
    dot = way("stop", (0.0, 0.0), (0.0, 0.0))
    (found,) = ride((east_ft, 30.0), sign=dot, north_ft=north_ft, track_deg=track_deg)
    assert found.verdict is Verdict.APPROACHING


def test_a_short_way_in_and_one_that_is_a_loop_lead_where_they_lead() -> None:
    short = way("stop", (-10.0, 0.0), (0.0, 0.0))
    loop = way("stop", (0.0, 0.0), (-10.0, 5.0), (-10.0, -5.0), (0.0, 0.0))
    for sign in (short, loop):
        for track_deg, is_ahead in ((90.0, True), (270.0, False)):
            (found,) = ride((-5.0, 30.0), sign=sign, track_deg=track_deg)
            assert (found.why != "no sign ahead") is is_ahead


def test_a_stop_100_ft_before_a_sign_that_is_a_point_is_one_at_it() -> None:
    _, found = along(
        [(-105.0, 5.0), (-100.0, 0.0), (-100.0, 0.0), (-60.0, 10.0), *SLOWLY[1:], (-10.0, 8.0),
         (6.0, 8.0)],
        point("stop", HOME),
    )  # fmt: skip
    assert [one.why for one in found[3:-1]] == ["stood before the stop sign"] * 4
    assert found[-1].why == "no sign ahead"


@pytest.mark.parametrize(
    ("radius_m", "verdict"), [(299.5, Verdict.UNKNOWN), (300.5, Verdict.COMPLIANT)]
)
def test_the_map_must_be_whole_for_300_m_about_the_sled(radius_m: float, verdict: Verdict) -> None:
    now = seen(fix=fix_of(20.0, track_deg=90.0), nearby=map_of(radius_m=radius_m))
    assert RULE.judge(RULE.begin(), now, CLAUSE)[1].verdict is verdict
