"""Advice on stopping within the head lamp's reach: once, never again at once, and never more."""

from __future__ import annotations

import msgspec
import pytest
from judging import DAY, NO_FIX, NOT_KNOWN, clause_of, configured, fix_of, seen

from firmware.findings import Finding, Verdict
from firmware.rules.advisory import TOPIC, Stopping, Told
from firmware.rules.base import NEVER

CLAUSE = msgspec.structs.replace(
    clause_of("350.10(1)(gm)"), citation="350.10(1)(a)", coverage="INFORM", kind="advisory",
    limit=None, reach_ft=200.0,
)  # fmt: skip
RULE = Stopping(configured())


def ride(*moments: tuple[float, float], rule: Stopping = RULE) -> list[tuple[float, Verdict]]:
    """The changes of verdict for (seconds, mph) as they come; each due instant is judged too."""
    memory: Told = rule.begin()
    changes: list[tuple[float, Verdict]] = []
    fix = fix_of(0.0)

    def look(at_s: float) -> None:
        nonlocal memory
        memory, finding = rule.judge(memory, seen(at_s=at_s, fix=fix), CLAUSE)
        if not changes or changes[-1][1] is not finding.verdict:
            changes.append((at_s, finding.verdict))

    for at_s, speed_mph in moments:
        while memory.due_s <= at_s:
            look(memory.due_s)
        fix = fix_of(speed_mph)
        look(at_s)
    while memory.due_s != NEVER:
        look(memory.due_s)
    return changes


def now(speed_mph: float, **changes: object) -> Finding:
    finding = RULE.judge(RULE.begin(), seen(**{"fix": fix_of(speed_mph)} | changes), CLAUSE)[1]
    assert finding.topic == TOPIC
    return finding


@pytest.mark.parametrize(
    ("speed_mph", "verdict"),
    [
        (0.0, Verdict.COMPLIANT),
        # v 1.5 + v2 / 6.56 = 60.96 m: v = 15.68 m/s, 35.08 mph; its error is the rider's.
        (35.0, Verdict.COMPLIANT),
        (35.5, Verdict.COMPLIANT),
        (35.7, Verdict.APPROACHING),
        (120.0, Verdict.APPROACHING),
    ],
)
def test_it_is_advice_past_the_speed_that_stops_within_200_ft(
    speed_mph: float, verdict: Verdict
) -> None:
    assert now(speed_mph).verdict is verdict


def test_the_figures_are_the_way_to_stop_and_the_lamp_s_reach_in_feet() -> None:
    finding = now(55.0)
    # 24.587 m/s: 36.88 m to react and 92.15 m to brake.
    assert finding.value == pytest.approx(423.3, abs=0.2)
    assert (finding.limit, finding.unit) == (200.0, "ft")


def test_it_is_said_once_for_ten_seconds_and_no_more_while_the_speed_stays() -> None:
    assert ride((0.0, 30.0), (10.0, 50.0), (400.0, 50.0), (2000.0, 60.0)) == [
        (0.0, Verdict.COMPLIANT),
        (10.0, Verdict.APPROACHING),
        (20.0, Verdict.COMPLIANT),
    ]


def test_after_a_slower_stretch_it_is_said_again_but_not_within_five_minutes() -> None:
    assert ride((0.0, 50.0), (30.0, 30.0), (60.0, 50.0), (299.0, 30.0), (299.9, 50.0)) == [
        (0.0, Verdict.APPROACHING),
        (10.0, Verdict.COMPLIANT),
    ]
    assert ride((0.0, 50.0), (30.0, 30.0), (300.0, 50.0)) == [
        (0.0, Verdict.APPROACHING),
        (10.0, Verdict.COMPLIANT),
        (300.0, Verdict.APPROACHING),
        (310.0, Verdict.COMPLIANT),
    ]


def test_slowing_down_ends_it_at_once() -> None:
    assert ride((0.0, 50.0), (4.0, 30.0)) == [
        (0.0, Verdict.APPROACHING),
        (4.0, Verdict.COMPLIANT),
    ]


def test_the_config_may_keep_it_silent() -> None:
    silent = Stopping(configured("[rules]\nadvice_shown_s = 0\n"))
    assert ride((0.0, 50.0), (30.0, 60.0), rule=silent) == [(0.0, Verdict.COMPLIANT)]


def test_by_day_it_is_not_asked_and_without_a_fix_or_date_it_is_not_known() -> None:
    assert now(60.0, dark=DAY).why == "daylight"
    assert now(60.0, dark=NOT_KNOWN).verdict is Verdict.UNKNOWN
    assert now(60.0, fix=NO_FIX).verdict is Verdict.UNKNOWN
