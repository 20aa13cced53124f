"""Which findings have changed, and what follows although none has."""

from __future__ import annotations

from dataclasses import replace

from firmware.alerts.events import Events
from firmware.alerts.following import Alerts
from firmware.duties import CLOCK, JOURNAL, Duties
from firmware.findings import Finding, Verdict
from firmware.readings import Missing, Why

SPEED = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "after dark", 40.0, 55.0, "mph", 0.5, "speed")
OVER = replace(SPEED, verdict=Verdict.VIOLATION, value=60.0)


def settled(*findings: Finding) -> Duties:
    duties = Duties()
    for finding in findings:
        duties.take(finding)
    duties.settle()
    return duties


def test_the_same_finding_again_is_no_change() -> None:
    duties = settled(SPEED)
    duties.take(SPEED)
    assert (duties.changed, duties.has_turned) == ([], False)


def test_another_speed_has_changed_and_not_turned() -> None:
    duties = settled(SPEED)
    faster = replace(SPEED, value=41.0)
    duties.take(faster)
    assert (duties.changed, duties.has_turned) == ([faster], False)
    assert duties.all == duties.findings == {SPEED.clause: faster}


def test_a_new_verdict_topic_or_part_has_turned() -> None:
    for other in (
        OVER,
        replace(SPEED, topic="zone"),
        replace(SPEED, is_fitted=False),
        replace(SPEED, clause="350.10(1)(g)"),
    ):
        duties = settled(SPEED)
        duties.take(other)
        assert duties.has_turned


def test_the_watching_light_goes_out_where_speed_is_not_known_and_comes_back() -> None:
    duties = Duties()
    assert not duties.is_watching
    duties.take(SPEED)
    assert duties.is_watching
    duties.take(Finding(SPEED.clause, Verdict.UNKNOWN, "speed not known", topic="speed"))
    assert not duties.is_watching
    duties.take(SPEED)
    assert duties.is_watching


def test_a_journal_that_is_lost_turns_and_is_no_finding_of_the_law() -> None:
    duties = settled(SPEED)
    duties.take_journal(Missing(Why.STARTING))
    assert duties.all[JOURNAL].verdict is Verdict.COMPLIANT
    duties.settle()
    duties.take_journal(Missing(Why.NO_ANSWER, "the card is full"))
    assert duties.has_turned
    assert (duties.all[JOURNAL].verdict, duties.all[JOURNAL].why) == (
        Verdict.UNKNOWN,
        "the card is full",
    )
    assert list(duties.findings) == [SPEED.clause]


def test_two_clocks_a_minute_apart_are_no_conflict_and_a_second_more_is() -> None:
    duties = settled(SPEED)
    duties.take_clocks(-60.0)
    assert duties.all[CLOCK].verdict is Verdict.COMPLIANT
    duties.take_clocks(-61.0)
    clock = duties.all[CLOCK]
    assert (clock.verdict, clock.why) == (
        Verdict.UNSURE,
        "the battery clock is 61 s behind the satellites",
    )


def test_an_alert_goes_by_the_value_of_now_where_no_verdict_has_turned() -> None:
    alerts, findings = Alerts(), {SPEED.clause: OVER}
    (raised,) = alerts.follow(findings, 0.0)
    assert raised.name == "over-speed"
    findings[SPEED.clause] = replace(OVER, value=72.0)  # over 130 %: it sounds after 3 s, not 6
    assert alerts.follow(findings, 1.0, has_turned=False) == []
    assert alerts.due_s(1.0) == 4.0


def test_an_event_goes_on_where_no_verdict_has_turned() -> None:
    events, findings = Events(), {SPEED.clause: OVER}
    (begun,) = events.follow(findings, 0.0)
    findings[SPEED.clause] = replace(OVER, value=63.0)
    assert events.follow(findings, 4.0, has_turned=False) == []
    (sure,) = events.follow(findings, 5.0, has_turned=False)
    assert sure == replace(begun, peak=63.0, is_sure=True)
