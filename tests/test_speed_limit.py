"""350.10(1)(gm) and its kind: every verdict, and each edge to a tenth of a mile an hour."""

from __future__ import annotations

from datetime import time

import msgspec
import pytest
from judging import (
    DAY,
    DIM,
    NIGHT,
    NO_FIX,
    NOT_KNOWN,
    clause_of,
    configured,
    fix_of,
    local_of,
    seen,
)

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause, Limit
from firmware.readings import Missing, Why
from firmware.rules.base import Dark, Snapshot
from firmware.rules.speed_limit import SpeedLimit
from firmware.units import mps, mps_of_knots

NIGHT_SPEED = clause_of("350.10(1)(gm)")
RULE = SpeedLimit(configured())


def judge(now: Snapshot, clause: Clause = NIGHT_SPEED) -> Finding:
    memory, finding = RULE.judge(RULE.begin(), now, clause)
    assert memory == RULE.begin()
    assert finding.clause == clause.citation
    assert finding.topic == "speed"
    return finding


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (0.0, Verdict.COMPLIANT),
        (51.9, Verdict.COMPLIANT),
        (52.0, Verdict.APPROACHING),
        (54.9, Verdict.APPROACHING),
        (55.0, Verdict.APPROACHING),
        (55.1, Verdict.UNSURE),
        (55.5, Verdict.UNSURE),
        (55.6, Verdict.VIOLATION),
        (120.0, Verdict.VIOLATION),
    ],
)
def test_night_speed_is_judged_by_55_mph_and_its_error(speed_mph: float, verdict: Verdict) -> None:
    finding = judge(seen(fix=fix_of(speed_mph)))
    assert finding.verdict is verdict
    assert finding.value == pytest.approx(speed_mph, abs=1e-9)
    assert (finding.limit, finding.unit, finding.error) == (55.0, "mph", pytest.approx(0.5))
    assert finding.why == "after dark"


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (55.0, Verdict.APPROACHING),
        (55.1, Verdict.UNSURE),
        (57.0, Verdict.UNSURE),
        (57.1, Verdict.VIOLATION),
    ],
)
def test_a_speed_derived_from_positions_accuses_past_2_mph_only(
    speed_mph: float, verdict: Verdict
) -> None:
    finding = judge(seen(fix=fix_of(speed_mph, error_mph=2.0)))
    assert (finding.verdict, finding.error) == (verdict, pytest.approx(2.0))


@pytest.mark.parametrize("limit_mph", range(1, 121))
def test_a_limit_is_not_passed_at_its_very_figure_whatever_the_figure(limit_mph: int) -> None:
    clause = msgspec.structs.replace(NIGHT_SPEED, limit=Limit(float(limit_mph)))
    assert judge(seen(fix=fix_of(float(limit_mph))), clause).verdict is Verdict.APPROACHING
    assert judge(seen(fix=fix_of(limit_mph + 0.5)), clause).verdict is Verdict.UNSURE
    assert judge(seen(fix=fix_of(limit_mph + 0.501)), clause).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("knots", "verdict"),
    [  # osmandapp/OsmAnd#7430 and commaai/openpilot#33030: compared before it is rounded
        (47.79, Verdict.APPROACHING),  # 54.996 mph
        (47.80, Verdict.UNSURE),  # 55.007 mph
        (48.0, Verdict.UNSURE),  # 55.24 mph
        (48.3, Verdict.VIOLATION),  # 55.58 mph
    ],
)
def test_a_speed_in_knots_is_compared_before_it_is_rounded(knots: float, verdict: Verdict) -> None:
    fix = fix_of(mps_of_knots(knots) / mps(1.0))
    finding = judge(seen(fix=fix))
    assert (finding.verdict, finding.limit) == (verdict, 55.0)


def test_by_day_nothing_is_asked_and_no_limit_is_told() -> None:
    for fix in (fix_of(90.0), NO_FIX):
        finding = judge(seen(fix=fix, dark=DAY))
        assert finding.verdict is Verdict.COMPLIANT
        assert (finding.value, finding.limit, finding.why) == (None, None, "daylight")


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (50.0, Verdict.COMPLIANT),
        (53.0, Verdict.APPROACHING),
        (55.1, Verdict.UNSURE),
        (90.0, Verdict.UNSURE),
    ],
)
def test_too_little_natural_light_warns_and_never_accuses(
    speed_mph: float, verdict: Verdict
) -> None:
    finding = judge(seen(fix=fix_of(speed_mph), dark=DIM))
    assert (finding.verdict, finding.why) == (verdict, "too little natural light")


def test_little_light_without_a_date_still_warns() -> None:
    finding = judge(seen(fix=fix_of(90.0), dark=Dark(None, True)))
    assert finding.verdict is Verdict.UNSURE


def test_enough_light_does_not_excuse_a_sun_that_is_down() -> None:
    finding = judge(seen(fix=fix_of(90.0), dark=Dark(True, False)))
    assert finding.verdict is Verdict.VIOLATION


def test_enough_light_without_a_date_is_no_daylight() -> None:
    dark = Dark(None, False, "no date yet: not known whether it is dark")
    finding = judge(seen(fix=fix_of(90.0), dark=dark))
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, dark.why)


def test_not_knowing_whether_it_is_dark_is_unknown() -> None:
    finding = judge(seen(dark=NOT_KNOWN))
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.why == "no GPS fix yet: not known whether it is dark"


@pytest.mark.parametrize("why", list(Why))
def test_no_fix_is_unknown_not_compliant(why: Why) -> None:
    finding = judge(seen(fix=Missing(why)))
    assert finding.verdict is Verdict.UNKNOWN
    assert (finding.value, finding.limit) == (None, None)
    assert finding.why == f"speed not known ({why})"
    assert finding.is_fitted  # a unit without any receiver must warn too


def test_a_race_lifts_it_at_any_speed_and_without_a_fix() -> None:
    for fix in (fix_of(90.0), NO_FIX):
        finding = judge(seen(fix=fix, modes=frozenset({"race"})))
        assert (finding.verdict, finding.why) == (Verdict.EXEMPT, "race mode lifts it")


def test_another_mode_does_not_lift_it() -> None:
    finding = judge(seen(fix=fix_of(90.0), modes=frozenset({"maker_test", "family_land"})))
    assert finding.verdict is Verdict.VIOLATION


# The same rule under other laws.

ALWAYS = msgspec.structs.replace(NIGHT_SPEED, when="always", title="Speed on ice")
CURFEW = msgspec.structs.replace(
    NIGHT_SPEED, when="clock", from_time=time(22), to_time=time(6), title="Curfew"
)
METRIC = msgspec.structs.replace(ALWAYS, limit=Limit(50.0, "km/h"))


def test_a_limit_that_always_holds_may_accuse_by_day() -> None:
    finding = judge(seen(fix=fix_of(60.0), dark=DAY), ALWAYS)
    assert (finding.verdict, finding.why) == (Verdict.VIOLATION, "speed on ice")
    assert judge(seen(fix=fix_of(60.0), dark=DIM), ALWAYS).why == "speed on ice"


@pytest.mark.parametrize(
    ("utc", "verdict"),
    [
        ("2026-01-16T03:59:59", Verdict.COMPLIANT),  # 21:59:59
        ("2026-01-16T04:00:00", Verdict.VIOLATION),  # 22:00:00
        ("2026-01-16T11:59:59", Verdict.VIOLATION),  # 05:59:59
        ("2026-01-16T12:00:00", Verdict.COMPLIANT),  # 06:00:00
    ],
)
def test_a_window_of_the_clock_begins_and_ends_to_the_second(utc: str, verdict: Verdict) -> None:
    finding = judge(seen(fix=fix_of(60.0), local=local_of(utc), dark=DAY), CURFEW)
    assert finding.verdict is verdict
    assert finding.why == ("outside its hours" if verdict is Verdict.COMPLIANT else "curfew")


def test_a_window_of_one_day_does_not_reach_past_midnight() -> None:
    noon = msgspec.structs.replace(CURFEW, from_time=time(9), to_time=time(17))
    for utc, verdict in (
        ("2026-01-16T14:59:59", Verdict.COMPLIANT),
        ("2026-01-16T15:00:00", Verdict.VIOLATION),
        ("2026-01-16T22:59:59", Verdict.VIOLATION),
        ("2026-01-16T23:00:00", Verdict.COMPLIANT),
    ):
        finding = judge(seen(fix=fix_of(60.0), local=local_of(utc)), noon)
        assert finding.verdict is verdict, utc


def test_no_date_leaves_a_window_of_the_clock_unknown() -> None:
    finding = judge(seen(local=None), CURFEW)
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, "the time of day is not known")


def test_a_limit_in_kilometres_is_judged_and_told_in_kilometres() -> None:
    finding = judge(seen(fix=fix_of(50.0 / 1.609344)), METRIC)
    assert finding.verdict is Verdict.APPROACHING
    assert finding.value == pytest.approx(50.0)
    assert (finding.limit, finding.unit) == (50.0, "km/h")
    assert finding.error == pytest.approx(0.5 * 1.609344)
    assert judge(seen(fix=fix_of(52.0 / 1.609344)), METRIC).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("speed_kmh", "limit_kmh", "verdict"),
    [  # 50 km/h is 31 mph, a smaller limit: 1 mph below; 70 km/h is 43 mph: 3 mph below
        (48.3, 50.0, Verdict.COMPLIANT),
        (48.5, 50.0, Verdict.APPROACHING),
        (65.1, 70.0, Verdict.COMPLIANT),
        (65.3, 70.0, Verdict.APPROACHING),
    ],
)
def test_the_margins_are_miles_an_hour_whatever_the_unit_of_the_limit(
    speed_kmh: float, limit_kmh: float, verdict: Verdict
) -> None:
    clause = msgspec.structs.replace(METRIC, limit=Limit(limit_kmh, "km/h"))
    assert judge(seen(fix=fix_of(speed_kmh / 1.609344)), clause).verdict is verdict


@pytest.mark.parametrize(
    ("limit_mph", "margin_mph"), [(10.0, 1.0), (39.0, 1.0), (40.0, 3.0), (55.0, 3.0)]
)
def test_approaching_begins_3_mph_below_40_or_more_and_1_mph_below_less(
    limit_mph: float, margin_mph: float
) -> None:
    clause = msgspec.structs.replace(ALWAYS, limit=Limit(limit_mph))
    assert judge(seen(fix=fix_of(limit_mph - margin_mph)), clause).verdict is Verdict.APPROACHING
    below = fix_of(limit_mph - margin_mph - 0.1)
    assert judge(seen(fix=below), clause).verdict is Verdict.COMPLIANT


def test_the_margins_are_the_riders_to_choose() -> None:
    rule = SpeedLimit(configured("[rules]\napproach_mph = 0\n"))
    _, finding = rule.judge(rule.begin(), seen(fix=fix_of(54.9), dark=NIGHT), NIGHT_SPEED)
    assert finding.verdict is Verdict.COMPLIANT
