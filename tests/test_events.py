"""Exceedances from start to end: one event each, sure once a violation was held for 5 s."""

from __future__ import annotations

import math

import pytest

from firmware.alerts.events import Events
from firmware.findings import Event, Finding, Verdict

CLAUSE = "350.10(1)(gm)"


def speed(mph: float, limit: float = 55.0, clause: str = CLAUSE) -> Finding:
    if mph <= limit:
        verdict = Verdict.COMPLIANT
    else:
        verdict = Verdict.UNSURE if mph <= limit + 0.5 else Verdict.VIOLATION
    return Finding(clause, verdict, "after dark", mph, limit, "mph", 0.5, "speed")


def follow(*moments: tuple[float, Finding]) -> list[tuple[float, Event]]:
    """All changes of events; what is due by time alone is fired as a monitor does."""
    events, changes = Events(), []
    findings: dict[str, Finding] = {}
    for at_s, finding in moments:
        while (due_s := events.due_s(0.0)) < at_s:
            changes += [(due_s, one) for one in events.follow(findings, due_s)]
        findings[finding.clause] = finding
        changes += [(at_s, one) for one in events.follow(findings, at_s)]
    return changes


def test_an_exceedance_is_one_start_and_one_end() -> None:
    # traccar/traccar#3851 and icecondor/api#3: a record for each sample over the limit
    series = [49.0, 51.0, 52.0, 51.0, 53.0, 49.0, 48.0]
    changes = follow(*[(float(n), speed(mph, 50.0)) for n, mph in enumerate(series)])
    assert [(at_s, one.end_s) for at_s, one in changes] == [(1.0, None), (5.0, 5.0)]
    end = changes[-1][1]
    assert end == Event(CLAUSE, Verdict.VIOLATION, 1.0, 53.0, 50.0, "mph", False, 5.0)


def test_the_start_is_told_with_its_first_figures() -> None:
    ((_, start),) = follow((3.0, speed(55.2)))
    assert start == Event(CLAUSE, Verdict.UNSURE, 3.0, 55.2, 55.0, "mph", False)


def test_a_single_fix_is_never_sure() -> None:
    changes = follow((0.0, speed(90.0)), (1.0, speed(50.0)))
    assert [one.is_sure for _, one in changes] == [False, False]


@pytest.mark.parametrize(("held_s", "is_sure"), [(4.99, False), (5.0, True), (60.0, True)])
def test_a_violation_is_sure_once_it_was_held_for_5_s(held_s: float, is_sure: bool) -> None:
    changes = follow((10.0, speed(60.0)), (10.0 + held_s, speed(60.0)), (99.0, speed(50.0)))
    at_s = [at_s for at_s, one in changes if one.is_sure and one.end_s is None]
    assert at_s == [15.0]  # by time alone, whenever the next fix comes
    short = follow((10.0, speed(60.0)), (10.0 + held_s, speed(50.0)))
    assert short[-1][1].is_sure is (held_s > 5.0)


def test_held_means_without_a_break() -> None:
    changes = follow((0.0, speed(60.0)), (4.0, speed(55.2)), (5.0, speed(60.0)), (9.9, speed(50.0)))
    assert [one.is_sure for _, one in changes] == [False, False]
    changes = follow(
        (0.0, speed(60.0)), (4.0, speed(55.2)), (5.0, speed(60.0)), (99.0, speed(60.0))
    )
    assert [(at_s, one.is_sure) for at_s, one in changes] == [(0.0, False), (10.0, True)]


def test_being_unsure_for_ever_is_never_sure() -> None:
    changes = follow((0.0, speed(55.2)), (1000.0, speed(55.2)), (1001.0, speed(50.0)))
    assert [(one.is_sure, one.verdict) for _, one in changes] == [(False, Verdict.UNSURE)] * 2


def ended(*moments: tuple[float, Finding]) -> list[tuple[object, ...]]:
    """Verdict, start, peak, sureness and end of the events that ended."""
    return [
        (one.verdict, one.start_s, one.peak, one.is_sure, one.end_s)
        for _, one in follow(*moments)
        if one.end_s is not None
    ]


def test_what_was_unsure_never_counts_as_a_violation() -> None:
    # 90 mph in too little light is unsure; 56 mph after dark is the violation, for 8 s
    dim = Finding(CLAUSE, Verdict.UNSURE, "too little light", 90.0, 55.0, "mph", 0.5, "speed")
    assert ended((0.0, dim), (300.0, speed(56.0)), (308.0, speed(50.0))) == [
        (Verdict.UNSURE, 0.0, 90.0, False, 300.0),
        (Verdict.VIOLATION, 300.0, 56.0, True, 308.0),
    ]


def test_a_violation_ends_where_it_was_last_seen_once_it_is_in_doubt_for_5_s() -> None:
    assert ended((0.0, speed(60.0)), (6.0, speed(55.2)), (20.0, speed(50.0))) == [
        (Verdict.VIOLATION, 0.0, 60.0, True, 6.0),
        (Verdict.UNSURE, 6.0, 55.2, False, 20.0),
    ]


def test_a_violation_that_wavers_into_doubt_goes_on() -> None:
    wavers = [(0.0, 57.0), (2.0, 55.3), (4.0, 58.0), (8.0, 55.4), (9.0, 56.0), (10.0, 50.0)]
    assert ended(*[(at_s, speed(mph)) for at_s, mph in wavers]) == [
        (Verdict.VIOLATION, 0.0, 58.0, False, 10.0),
    ]


def test_doubt_at_the_end_of_a_violation_is_an_event_of_its_own() -> None:
    assert ended((0.0, speed(57.0)), (6.0, speed(55.3)), (8.0, speed(50.0))) == [
        (Verdict.VIOLATION, 0.0, 57.0, True, 6.0),
        (Verdict.UNSURE, 6.0, 55.3, False, 8.0),
    ]


@pytest.mark.parametrize("verdict", [Verdict.COMPLIANT, Verdict.APPROACHING, Verdict.UNKNOWN])
def test_any_verdict_that_is_not_over_ends_it(verdict: Verdict) -> None:
    changes = follow((0.0, speed(60.0)), (2.0, Finding(CLAUSE, verdict, "")))
    assert [one.end_s for _, one in changes] == [None, 2.0]


def test_a_mode_that_lifts_the_clause_ends_it() -> None:
    changes = follow((0.0, speed(60.0)), (2.0, Finding(CLAUSE, Verdict.EXEMPT, "race mode")))
    assert [one.end_s for _, one in changes] == [None, 2.0]


@pytest.mark.parametrize("unit", ["lux", "share of red"])
def test_the_worst_of_a_lamp_is_its_lowest(unit: str) -> None:
    events = Events()
    for at_s, value in enumerate([20.0, 3.0, 40.0]):
        lamp = Finding("lamp", Verdict.UNSURE, "out", value, 50.0, unit, topic="head-lamp")
        events.follow({"lamp": lamp}, float(at_s))
    (event,) = events.end(9.0)
    assert event.peak == 3.0


@pytest.mark.parametrize("unit", ["mph", "km/h"])
def test_the_worst_of_a_speed_is_its_highest(unit: str) -> None:
    events = Events()
    for at_s, value in enumerate([60.0, 70.0, 58.0]):
        fast = Finding("x", Verdict.UNSURE, "", value, 55.0, unit, topic="speed")
        events.follow({"x": fast}, float(at_s))
    (event,) = events.end(9.0)
    assert event.peak == 70.0


def test_a_duty_without_a_figure_has_an_event_without_a_peak() -> None:
    out = Finding("350.09(9)", Verdict.VIOLATION, "tether is out", topic="tether")
    changes = follow((0.0, out), (9.0, Finding("350.09(9)", Verdict.COMPLIANT, "tether attached")))
    assert [(at_s, one.peak, one.is_sure) for at_s, one in changes] == [
        (0.0, None, False),
        (5.0, None, True),
        (9.0, None, True),
    ]


def test_each_clause_has_an_event_of_its_own() -> None:
    events = Events()
    both = {"a": speed(60.0, clause="a"), "b": speed(60.0, clause="b")}
    assert [one.clause for one in events.follow(both, 0.0)] == ["a", "b"]
    only = {"a": speed(60.0, clause="a"), "b": speed(50.0, clause="b")}
    assert [(one.clause, one.end_s) for one in events.follow(only, 1.0)] == [("b", 1.0)]
    assert [(one.clause, one.end_s) for one in events.end(3.0)] == [("a", 3.0)]


def test_each_event_becomes_sure_at_its_own_instant() -> None:
    changes = follow(
        (0.0, speed(60.0, clause="a")),
        (2.0, speed(60.0, clause="b")),
        (20.0, speed(50.0, clause="a")),
    )
    assert [(at_s, one.clause) for at_s, one in changes if one.end_s is None and one.is_sure] == [
        (5.0, "a"),
        (7.0, "b"),
    ]


def test_power_off_ends_what_is_open_and_nothing_twice() -> None:
    events = Events()
    events.follow({CLAUSE: speed(60.0)}, 0.0)
    assert [one.end_s for one in events.end(7.0)] == [7.0]
    assert events.end(8.0) == []
    assert events.due_s(0.0) == math.inf
