"""A curfew: no riding from one hour to another, told ahead, and never of a sled that stands."""

from __future__ import annotations

from datetime import time

import msgspec
import pytest
from judging import NO_FIX, clause_of, configured, east_of, fix_of, local_of, seen, square
from test_road_network import map_of
from test_roads import road

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.readings import Missing, Why
from firmware.rules.base import NEVER, Snapshot
from firmware.rules.curfew import TOPIC, Ahead, Curfew

RULE = Curfew(configured())
NIGHT = msgspec.structs.replace(
    clause_of("350.10(1)(g)"), citation="curfew", kind="curfew", limit=None, near=(),
    from_time=time(0), to_time=time(6),
)  # fmt: skip
ON_TRAILS = msgspec.structs.replace(NIGHT, on="trail")


def at(utc: str, speed_mph: float = 20.0, **changes: object) -> Snapshot:
    """A moment by its UTC; in winter the clock of Wisconsin shows six hours less."""
    return seen(**{"local": local_of(utc), "fix": fix_of(speed_mph)} | changes)


def judge(now: Snapshot, clause: Clause = NIGHT) -> tuple[Ahead, Finding]:
    memory, finding = RULE.judge(RULE.begin(), now, clause)
    assert (finding.clause, finding.topic) == ("curfew", TOPIC)
    return memory, finding


@pytest.mark.parametrize(
    ("utc", "verdict"),
    [
        ("2026-01-16T05:49:59.9", Verdict.COMPLIANT),  # 23:49:59.9
        ("2026-01-16T05:50:00", Verdict.APPROACHING),
        ("2026-01-16T05:59:59.9", Verdict.APPROACHING),
        ("2026-01-16T06:00:00", Verdict.VIOLATION),  # midnight
        ("2026-01-16T11:59:59.9", Verdict.VIOLATION),
        ("2026-01-16T12:00:00", Verdict.COMPLIANT),  # six
    ],
)
def test_riding_is_forbidden_from_the_first_instant_to_the_last(utc: str, verdict: Verdict) -> None:
    assert judge(at(utc))[1].verdict is verdict


def test_it_is_judged_again_when_it_must_be_told_ahead() -> None:
    memory, _ = judge(at("2026-01-16T05:30:00"))
    assert memory.due_s == pytest.approx(100.0 + 20 * 60.0)
    assert judge(at("2026-01-16T05:55:00"))[0].due_s == NEVER


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (0.0, Verdict.COMPLIANT),
        (0.9, Verdict.COMPLIANT),
        (1.4, Verdict.UNSURE),
        (1.6, Verdict.VIOLATION),
    ],
)
def test_a_sled_that_stands_keeps_it_and_one_that_may_stand_is_not_accused(
    speed_mph: float, verdict: Verdict
) -> None:
    assert judge(at("2026-01-16T07:00:00", speed_mph))[1].verdict is verdict


def test_a_clock_that_may_be_off_accuses_nobody_near_the_hour() -> None:
    just = at("2026-01-16T06:00:30", clock_error_s=60.0)
    assert judge(just)[1].verdict is Verdict.UNSURE
    later = at("2026-01-16T06:02:00", clock_error_s=60.0)
    assert judge(later)[1].verdict is Verdict.VIOLATION
    still = at("2026-01-16T11:58:30", clock_error_s=60.0)
    assert judge(still)[1].verdict is Verdict.VIOLATION
    perhaps_over = at("2026-01-16T11:59:30", clock_error_s=60.0)  # 05:59:30, or 06:00:30
    assert judge(perhaps_over)[1].verdict is Verdict.UNSURE


def test_a_clock_true_to_2_s_accuses_from_the_hour_on_and_a_worse_one_does_not() -> None:
    # A second past midnight: 2.0 s are what satellites may be off by, and are not held against it.
    assert judge(at("2026-01-16T06:00:01", clock_error_s=2.0))[1].verdict is Verdict.VIOLATION
    assert judge(at("2026-01-16T06:00:01", clock_error_s=2.1))[1].verdict is Verdict.UNSURE


def test_without_a_date_or_a_fix_it_is_not_known() -> None:
    assert judge(at("2026-01-16T07:00:00", local=None))[1].verdict is Verdict.UNKNOWN
    assert judge(at("2026-01-16T07:00:00", fix=NO_FIX))[1].verdict is Verdict.UNKNOWN
    assert judge(at("2026-01-16T20:00:00", fix=NO_FIX))[1].verdict is Verdict.COMPLIANT


def test_one_for_trails_asks_nothing_off_them_and_accuses_on_them_only() -> None:
    trail = road("t", kind="trail", width_m="6")
    cover = square("coverage", east_of(0.0), 9000.0)
    cover.attributes["of"] = "trail"
    chart = map_of(trail, cover)
    night = "2026-01-16T07:00:00"
    verdicts = [
        judge(
            at(night, fix=fix_of(20.0, east_of(0.0, feet), error_ft=5.0), nearby=chart), ON_TRAILS
        )
        for feet in (0.0, 9.0, 20.0)
    ]
    assert [finding.verdict for _, finding in verdicts] == [
        Verdict.VIOLATION,
        Verdict.UNSURE,
        Verdict.COMPLIANT,
    ]
    unmapped = judge(at(night, nearby=map_of()), ON_TRAILS)[1]
    assert unmapped.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("utc", "left_s"),
    [
        ("2026-01-16T05:30:00", 3600.0 + 45.0 - 600.0),  # 23:30:00, an hour and 45 s before
        ("2026-01-16T05:29:58.5", 3601.5 + 45.0 - 600.0),
        ("2026-01-16T13:30:45", 17 * 3600.0 - 600.0),  # 07:30:45
    ],
)
def test_the_hours_minutes_and_seconds_until_it_are_counted(utc: str, left_s: float) -> None:
    odd = msgspec.structs.replace(NIGHT, from_time=time(0, 30, 45))
    memory, finding = RULE.judge(RULE.begin(), at(utc), odd)
    assert memory.due_s == pytest.approx(100.0 + left_s)
    assert finding.why == "outside its hours"


def test_hours_are_counted_to_an_hour_that_is_not_midnight() -> None:
    late = msgspec.structs.replace(NIGHT, from_time=time(22), to_time=time(6))
    memory, _ = RULE.judge(RULE.begin(), at("2026-01-16T02:00:00"), late)  # 20:00
    assert memory.due_s == pytest.approx(100.0 + 2 * 3600.0 - 600.0)


def test_in_the_last_second_before_it_must_be_told_it_is_still_due() -> None:
    assert judge(at("2026-01-16T05:49:59.500"))[0].due_s == pytest.approx(100.5)


def test_a_curfew_that_only_advises_accuses_nobody() -> None:
    advice = msgspec.structs.replace(NIGHT, accuses=False)
    assert judge(at("2026-01-16T07:00:00"), advice)[1].verdict is Verdict.UNSURE


def test_one_trail_that_the_sled_is_surely_on_is_enough_beside_another() -> None:
    # The second is 14 ft off: 4 ft from its edge, within the 5 ft that the place may be off.
    trails = [road("t", kind="trail", width_m="6"), road("u", 14.0, kind="trail", width_m="6")]
    cover = square("coverage", east_of(0.0), 9000.0)
    cover.attributes["of"] = "trail"
    fix = fix_of(20.0, east_of(0.0), error_ft=5.0)
    now = at("2026-01-16T07:00:00", fix=fix, nearby=map_of(*trails, cover))
    assert judge(now, ON_TRAILS)[1].verdict is Verdict.VIOLATION


def test_at_the_very_instant_it_must_be_told_nothing_more_is_due() -> None:
    assert judge(at("2026-01-16T05:50:00"))[0].due_s == NEVER


def test_a_sled_at_exactly_a_mile_an_hour_moves() -> None:
    assert judge(at("2026-01-16T07:00:00", 1.0))[1].verdict is Verdict.UNSURE


def test_a_trail_map_that_is_not_fitted_is_told_apart_from_one_that_fails() -> None:
    for nearby, is_fitted in (
        (Missing(Why.NOT_FITTED), False),
        (Missing(Why.NO_ANSWER), True),
        (map_of(road("Elm")), False),  # no pack knows of trails
    ):
        finding = judge(at("2026-01-16T07:00:00", nearby=nearby), ON_TRAILS)[1]
        assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, "no trail map here")
        assert finding.is_fitted is is_fitted
