"""350.10(1)(c): a sled stands before a stop sign; a yield sign is told in time."""

from __future__ import annotations

import math
from dataclasses import replace

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
)

from firmware.findings import Finding, Verdict
from firmware.law.places import Season, Signs
from firmware.readings import Feature, Missing, Why
from firmware.rules.stop import StopSign

CLAUSE = msgspec.structs.replace(
    clause_of("350.10(1)(c)"), kind="stop", signs=Signs(("stop",), ("yield",), 30.0)
)
RULE = StopSign(configured())


def way(kind: str, *feet: tuple[float, float]) -> Feature:
    """A sign with its way in through places so many feet east and north of home."""
    line = tuple((lon, lat) for lat, lon in (east_of(*one) for one in feet))
    return Feature(kind, "trail-13", "", "line", (line,))


STOP = way("stop", (-300.0, 0.0), (-100.0, 0.0), (0.0, 0.0))
"""A stop sign at home for whoever comes from the west."""


def ride(
    *steps: tuple[float, float],
    sign: Feature = STOP,
    track_deg: float = 90.0,
    north_ft: float = 0.0,
    every_s: float = 1.0,
    rule: StopSign = RULE,
) -> list[Finding]:
    """The findings along (feet east of the sign, mph), a second apart; courses end at rest."""
    memory, findings = rule.begin(), []
    for number, (feet, speed_mph) in enumerate(steps):
        fix = fix_of(
            speed_mph,
            east_of(feet, north_ft),
            error_ft=5.0,
            track_deg=track_deg if speed_mph else None,
        )
        now = seen(at_s=100.0 + number * every_s, fix=fix, nearby=map_of(sign))
        memory, finding = rule.judge(memory, now, CLAUSE)
        findings.append(finding)
    return findings


SLOWLY = [(-60.0, 10.0), (-45.0, 10.0), (-30.0, 8.0)]
STANDS = [*SLOWLY, (-15.0, 0.0), (-15.0, 0.0)]


def test_who_stands_before_the_sign_has_obeyed_it() -> None:
    found = ride(*STANDS, (-6.0, 8.0), (6.0, 9.0), (20.0, 10.0))
    assert [one.verdict for one in found][-4:] == [Verdict.COMPLIANT] * 4
    assert found[-4].why == "stood before the stop sign"
    assert found[-1].why == "no sign ahead"


@pytest.mark.parametrize(
    ("slowest_mph", "verdict"),
    [
        (0.9, Verdict.UNSURE),
        (1.5, Verdict.UNSURE),
        (1.6, Verdict.VIOLATION),
        (8.0, Verdict.VIOLATION),
    ],
)
def test_who_rolls_through_has_not(slowest_mph: float, verdict: Verdict) -> None:
    # 1 mph is motion, and 0.5 mph is the error
    found = ride(*SLOWLY, (-15.0, slowest_mph), (-4.0, 8.0), (6.0, 9.0), (20.0, 10.0))
    assert [one.verdict for one in found[-3:]] == [Verdict.APPROACHING, verdict, verdict]
    assert (found[-2].value, found[-2].limit) == (pytest.approx(slowest_mph), None)
    assert found[-2].why.startswith(f"stop sign passed at {slowest_mph:.0f} mph")
    assert found[-2].topic == "sign"


def test_a_stop_must_last_as_long_as_the_config_says() -> None:
    rolls = [*SLOWLY, (-15.0, 0.0), (-10.0, 5.0), (6.0, 9.0)]
    assert ride(*rolls)[-1].verdict is Verdict.UNSURE  # one fix at rest is no second
    any_stop = StopSign(configured("[rules]\nstop_s = 0"))
    assert ride(*rolls, rule=any_stop)[-1].verdict is Verdict.COMPLIANT


def test_where_a_stop_of_no_length_is_one_who_never_stands_has_still_made_none() -> None:
    any_stop = StopSign(configured("[rules]\nstop_s = 0"))
    found = ride(*SLOWLY, (-10.0, 5.0), (6.0, 9.0), rule=any_stop)
    assert [one.verdict for one in found[-2:]] == [Verdict.APPROACHING, Verdict.VIOLATION]


def test_a_stop_past_the_sign_by_less_than_the_error_is_one_before_it() -> None:
    late = [*SLOWLY, (-10.0, 8.0), (4.0, 0.0), (4.0, 0.0), (12.0, 9.0)]
    assert ride(*late)[-1].verdict is Verdict.COMPLIANT
    later = [*SLOWLY, (-10.0, 8.0), (6.0, 0.0), (6.0, 0.0), (12.0, 9.0)]
    assert ride(*later)[-1].verdict is Verdict.VIOLATION


def test_a_stop_far_before_the_sign_is_none_at_it() -> None:
    far = [(-130.0, 0.0), (-130.0, 0.0), (-110.0, 10.0), *SLOWLY, (-10.0, 8.0), (6.0, 8.0)]
    assert ride(*far)[-1].verdict is Verdict.VIOLATION


def test_a_sign_passed_between_two_fixes_at_60_mph_is_caught() -> None:
    found = ride((-132.0, 60.0), (-44.0, 60.0), (44.0, 60.0), (132.0, 60.0))
    assert [one.verdict for one in found[1:]] == [
        Verdict.APPROACHING,
        Verdict.VIOLATION,
        Verdict.VIOLATION,
    ]
    assert found[2].why == "stop sign passed at 60 mph"


def test_fixes_that_leave_room_for_a_stop_between_them_accuse_nobody() -> None:
    found = ride((-132.0, 60.0), (-44.0, 60.0), (44.0, 60.0), every_s=3.0)
    assert found[-1].verdict is Verdict.COMPLIANT


def test_what_was_passed_is_told_for_6_s_and_then_over() -> None:
    memory, fixes = RULE.begin(), [(-44.0, 60.0), (44.0, 60.0)]
    for number, (feet, speed_mph) in enumerate(fixes):
        fix = fix_of(speed_mph, east_of(feet), error_ft=5.0, track_deg=90.0)
        now = seen(at_s=100.0 + number, fix=fix, nearby=map_of(STOP))
        memory, finding = RULE.judge(memory, now, CLAUSE)
    assert (finding.verdict, memory.due_s) == (Verdict.VIOLATION, 107.0)
    for at_s, verdict in ((106.9, Verdict.VIOLATION), (107.0, Verdict.COMPLIANT)):
        later = msgspec.structs.replace(now, at_s=at_s)
        after, finding = RULE.judge(memory, later, CLAUSE)
        assert finding.verdict is verdict
        assert after.due_s > at_s


def test_what_was_passed_is_told_for_6_s_through_every_fix_that_comes() -> None:
    found = ride((-44.0, 60.0), *((44.0 + 88.0 * n, 60.0) for n in range(8)))
    assert [one.verdict for one in found[1:7]] == [Verdict.VIOLATION] * 6
    assert [one.why for one in found[7:]] == ["no sign ahead"] * 2


@pytest.mark.parametrize("track_deg", [0.0, 180.0, 270.0])
def test_who_comes_from_elsewhere_has_another_sign(track_deg: float) -> None:
    found = ride((-44.0, 30.0), (0.0, 30.0), (44.0, 30.0), track_deg=track_deg)
    assert {one.why for one in found} == {"no sign ahead"}


def test_who_rides_beside_the_way_in_has_no_sign() -> None:
    found = ride((-44.0, 30.0), (44.0, 30.0), north_ft=36.0)
    assert {one.verdict for one in found} == {Verdict.COMPLIANT}
    unsure = ride((-44.0, 30.0), (44.0, 30.0), north_ft=34.0)  # maybe on it
    assert unsure[-1].verdict is Verdict.UNSURE


def test_a_sign_without_a_way_in_warns_and_accuses_nobody() -> None:
    sign = point("stop", HOME)
    found = ride((-44.0, 30.0), (44.0, 30.0), sign=sign)
    assert [one.verdict for one in found] == [Verdict.APPROACHING, Verdict.UNSURE]
    assert found[-1].why == "stop sign passed at 30 mph, if it faces this way"
    assert ride(*STANDS, (-6.0, 8.0), (6.0, 9.0), sign=sign)[-1].verdict is Verdict.COMPLIANT


@pytest.mark.parametrize(
    ("speed_mph", "feet"),
    [  # v^2 / (2 * 3.28 m/s2) + 1.5 s of v, and the 5 ft of the error, by hand
        (20.0, 89.0),
        (40.0, 253.2),
    ],
)
def test_the_warning_comes_where_braking_must_begin(speed_mph: float, feet: float) -> None:
    for off_ft, verdict in ((1.0, Verdict.COMPLIANT), (-1.0, Verdict.APPROACHING)):
        finding = ride((-feet - off_ft, speed_mph))[0]
        assert finding.verdict is verdict
    assert (finding.topic, finding.why) == (
        "sign-ahead",
        f"stop sign ahead: stand within {feet - 1.0:.0f} ft",
    )
    assert finding.away_ft == pytest.approx(feet - 1.0, abs=0.5)
    assert ride((-60.0, 0.0))[0].verdict is Verdict.COMPLIANT


def test_the_way_in_is_followed_round_its_bend() -> None:
    bend = way("stop", (0.0, -200.0), (-100.0, -200.0), (-100.0, 0.0), (0.0, 0.0))
    # 40 ft before the last corner: 140 ft to go along the way, 108 ft as the crow flies
    finding = ride((-100.0, 40.0), sign=bend, north_ft=-40.0, track_deg=40.0)[0]
    assert finding.away_ft == pytest.approx(140.0, abs=0.5)


def test_a_yield_sign_is_advice() -> None:
    sign = way("yield", (-300.0, 0.0), (0.0, 0.0))
    found = ride((-200.0, 20.0), (-60.0, 20.0), (-20.0, 20.0), (20.0, 20.0), sign=sign)
    assert [one.verdict for one in found] == [
        Verdict.COMPLIANT,
        Verdict.APPROACHING,
        Verdict.APPROACHING,
        Verdict.COMPLIANT,
    ]
    assert found[1].why == "yield sign ahead: be ready to yield within 60 ft"


def test_who_has_stood_at_a_yield_sign_is_still_told_to_yield() -> None:
    sign = way("yield", (-300.0, 0.0), (0.0, 0.0))
    found = ride(*STANDS, (-12.0, 5.0), sign=sign)
    assert [one.verdict for one in found[-3:]] == [
        Verdict.COMPLIANT,
        Verdict.COMPLIANT,
        Verdict.APPROACHING,
    ]


def test_at_rest_before_the_sign_nothing_is_warned_of() -> None:
    assert ride((-3.0, 0.0))[0].why == "stop sign ahead"


def test_a_sign_that_is_possibly_there_accuses_nobody() -> None:
    maybe = replace(STOP, attributes={"confidence": "possible"})
    assert ride((-44.0, 60.0), (44.0, 60.0), sign=maybe)[-1].verdict is Verdict.UNSURE


def test_what_can_t_be_watched_is_unknown_not_compliant() -> None:
    for changes, why in (
        ({"fix": NO_FIX}, "place not known (no fix)"),
        ({"nearby": Missing(Why.NO_ANSWER)}, "nothing known of what is near (no answer)"),
        ({"nearby": map_of(is_covered=False)}, "no zone data here"),  # not fitted: no alert
        ({"nearby": map_of(radius_m=100.0)}, "what is near here is still being looked up"),
    ):
        finding = RULE.judge(RULE.begin(), seen(**changes), CLAUSE)[1]
        assert (finding.verdict, finding.why, finding.topic) == (Verdict.UNKNOWN, why, "zone")
    finding = RULE.judge(RULE.begin(), seen(fix=NO_FIX, nearby=Missing(Why.NOT_FITTED)), CLAUSE)[1]
    assert not finding.is_fitted


@pytest.mark.parametrize("course_deg", [0.0, 30.0, 120.0, 180.0, 250.0, 270.0, 330.0])
def test_a_sign_counts_for_whoever_comes_its_way_from_any_side(course_deg: float) -> None:
    east, north = math.sin(math.radians(course_deg)), math.cos(math.radians(course_deg))
    line = way("stop", *((feet * east, feet * north) for feet in (-300.0, -100.0, 0.0)))
    post = point("stop", HOME)  # whose side it stands for is not told
    for sign, side, worst in (
        (line, 1.0, Verdict.VIOLATION),
        (line, -1.0, Verdict.COMPLIANT),
        (post, 1.0, Verdict.UNSURE),
    ):
        memory, verdicts = RULE.begin(), []
        for number, feet in enumerate((-60.0, -45.0, -30.0, -15.0, 0.0, 15.0)):
            place = east_of(side * feet * east, side * feet * north)
            track_deg = course_deg if side > 0.0 else (course_deg + 180.0) % 360.0
            fix = fix_of(10.0, place, error_ft=5.0, track_deg=track_deg)
            now = seen(at_s=100.0 + number, fix=fix, nearby=map_of(sign))
            memory, finding = RULE.judge(memory, now, CLAUSE)
            verdicts.append(finding.verdict)
        assert verdicts[-1] is worst


def test_a_stop_with_a_season_is_asked_for_on_its_days_alone() -> None:
    for months, why in (
        (("04-01", "11-30"), "outside its season"),
        (("12-01", "03-31"), "no sign ahead"),
    ):
        clause = msgspec.structs.replace(CLAUSE, season=Season(*months))
        now = seen(nearby=map_of(), fix=fix_of(20.0, track_deg=90.0))  # on 15 January
        assert RULE.judge(RULE.begin(), now, clause)[1].why == why


def test_without_a_date_a_stop_with_a_season_is_asked_for_and_accuses_nobody() -> None:
    winter = msgspec.structs.replace(CLAUSE, season=Season("12-01", "03-31"))
    for clause, local, verdict in (
        (winter, None, Verdict.UNSURE),
        (winter, seen().local, Verdict.VIOLATION),
        (CLAUSE, None, Verdict.VIOLATION),
    ):
        memory = RULE.begin()
        for at_s, feet in ((100.0, -44.0), (101.0, 44.0)):
            fix = fix_of(60.0, east_of(feet), error_ft=5.0, track_deg=90.0)
            now = seen(at_s=at_s, fix=fix, nearby=map_of(STOP), local=local)
            memory, finding = RULE.judge(memory, now, clause)
        assert finding.verdict is verdict
        assert finding.why.endswith(", if it is the season") is (verdict is Verdict.UNSURE)


def test_a_season_ends_on_ground_without_a_sign_too() -> None:
    clause = msgspec.structs.replace(CLAUSE, season=Season("12-01", "01-15"))
    chart, memory, told = map_of(), RULE.begin(), []
    for at_s, day in ((100.0, "2026-01-16T05:59:59"), (101.0, "2026-01-16T06:00:00")):
        fix = fix_of(20.0, track_deg=90.0)
        now = seen(at_s=at_s, fix=fix, nearby=chart, local=local_of(day))  # and then midnight
        memory, finding = RULE.judge(memory, now, clause)
        told.append(finding.why)
    assert told == ["no sign ahead", "outside its season"]
