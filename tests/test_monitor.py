"""The judging core: readings and time in, changes out; the same always gives the same."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from judging import HOME, configured, east_of, fix_of, point, square
from sled_rig import (
    DWELLINGS,
    EVERYTHING,
    GPS,
    HEAD,
    HOUSE,
    ICE,
    NIGHT,
    NIGHT_SPEED,
    NOON,
    OF_SIX,
    SIX,
    T0,
    TAIL,
    TETHER,
    Sled,
)

from firmware.binding import fitted_channels
from firmware.findings import Cues, HapticCue, LightCue, ToneCue, Verdict
from firmware.monitor import build
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Light,
    Missing,
    Press,
    Receiver,
    Request,
    RtcTime,
    Tether,
    TetherState,
    Why,
)


def test_the_first_reading_judges_every_clause_in_the_order_of_the_law() -> None:
    sled = Sled().put(T0, Channel.REQUEST, Request("note", "begins to watch"))
    assert [clause for _, clause, _ in sled.findings] == SIX
    verdicts = {clause: verdict for _, clause, verdict in sled.findings}
    assert verdicts.pop(TETHER) is Verdict.COMPLIANT  # no race
    assert set(verdicts.values()) == {Verdict.UNKNOWN}


def test_time_alone_too_begins_the_watch() -> None:
    sled = Sled().advance(T0)
    assert [(at_s, clause) for at_s, clause, _ in sled.findings] == [(T0, one) for one in SIX]


def test_before_anything_was_judged_nothing_is_watched() -> None:
    sled = Sled()
    assert not sled.monitor.is_watching
    assert sled.monitor.cues(T0) == Cues()


def test_a_whole_sled_keeps_all_six() -> None:
    sled = Sled().whole()
    assert {one.verdict for one in sled.monitor.findings.values()} == {Verdict.COMPLIANT}
    assert sled.monitor.is_watching
    assert sled.monitor.cues(T0) == Cues(is_watching=True)


def test_what_is_not_fitted_is_told_apart_and_raises_no_alert() -> None:
    sled = Sled(GPS).fix(T0)
    for clause in (HEAD, TAIL, DWELLINGS, ICE):
        assert sled.now(clause).verdict is Verdict.UNKNOWN
        assert not sled.now(clause).is_fitted
    assert sled.alerts == []


def test_a_config_says_what_is_fitted() -> None:
    assert fitted_channels(configured()) == GPS
    text = '[tether]\npin = 5\n[light.ambient]\nchip = "bh1750"\naddress = 0x5c\n'
    assert fitted_channels(configured(text)) == GPS | {Channel.TETHER, Channel.LIGHT_AMBIENT}


def test_clauses_of_another_vehicle_are_not_judged() -> None:
    config = configured('vehicle = "low_speed_vehicle"\n')
    assert build(config, [OF_SIX], EVERYTHING).advance(T0).findings == []


def test_only_changes_are_told() -> None:
    sled = Sled(GPS)
    for second in range(10):
        sled.fix(T0 + second)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]


def test_a_fix_lapses_at_its_own_instant_however_late_the_next_reading_comes() -> None:
    sled = Sled(GPS).fix(T0).put(T0 + 100.0, Channel.RECEIVER, Receiver())
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT), (2.5, Verdict.UNKNOWN)]
    assert sled.alert("speed-not-watched") == [(2.5, "raised")]
    assert sled.now(NIGHT_SPEED).why == "speed not known (stale: last heard at 1000.0 s)"
    assert not sled.monitor.is_watching


def test_a_missing_takes_effect_when_the_last_good_value_has_lapsed() -> None:
    sled = Sled(GPS).fix(T0).put(T0 + 1.0, Channel.FIX, Missing(Why.NO_FIX, "void"))
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]
    sled.advance(T0 + 2.4)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]
    sled.advance(T0 + 9.0)
    assert sled.of(NIGHT_SPEED)[1:] == [(2.5, Verdict.UNKNOWN)]
    assert sled.now(NIGHT_SPEED).why == "speed not known (no fix: void)"


def test_a_good_value_after_a_missing_lets_nothing_be_known_of_it() -> None:
    sled = Sled(GPS).fix(T0).put(T0 + 1.0, Channel.FIX, Missing(Why.NO_FIX))
    sled.fix(T0 + 2.0).fix(T0 + 4.0).advance(T0 + 6.0)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]
    sled.advance(T0 + 7.0)
    assert sled.now(NIGHT_SPEED).why.startswith("speed not known (stale")


def test_a_single_failed_read_says_nothing_about_a_lamp() -> None:
    sled = Sled().whole().put(T0, Channel.LIGHT_HEAD, Light(800.0, 10.0), 3.0)
    for second in range(1, 20):
        at_s = T0 + second
        value = Light(800.0, 10.0) if second % 3 else Missing(Why.NO_ANSWER)
        sled.put(at_s, Channel.LIGHT_HEAD, value, 3.0).fix(at_s, place=east_of(3000.0))
    assert [verdict for _, verdict in sled.of(HEAD)] == [Verdict.UNKNOWN, Verdict.COMPLIANT]


def test_a_value_without_an_end_lasts_until_the_next_word() -> None:
    sled = Sled().whole()
    sled.put(T0 + 1.0, Channel.REQUEST, Request("note"))
    sled.fix(T0 + 2.0, 0.0).put(T0 + 2.0, Channel.REQUEST, Request("mode", "race on"))
    sled.advance(T0 + 1e6)
    assert sled.now(TETHER).why == "tether attached"
    sled.put(T0 + 1e6, Channel.TETHER, Missing(Why.NO_ANSWER))
    assert sled.now(TETHER).verdict is Verdict.UNKNOWN


def test_a_part_that_was_taken_out_is_missing_at_once() -> None:
    sled = Sled(GPS).fix(T0).put(T0 + 1.0, Channel.FIX, Missing(Why.NOT_FITTED))
    assert sled.of(NIGHT_SPEED)[-1] == (1.0, Verdict.UNKNOWN)


def test_a_reading_that_comes_already_stale_is_not_judged() -> None:
    sled = Sled(GPS).fix(T0, 30.0)
    sled.fix(T0 + 20.0, 90.0, mono_s=T0 + 10.0)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT), (2.5, Verdict.UNKNOWN)]
    assert sled.events == []
    assert sled.now(NIGHT_SPEED).why == "speed not known (stale: came 10.0 s late)"


def test_a_stale_reading_does_not_take_the_place_of_a_good_one() -> None:
    sled = Sled(GPS).fix(T0, 30.0)
    sled.fix(T0 + 1.0, 90.0, mono_s=T0 - 10.0)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]
    sled.fix(T0 + 2.0, 30.0).advance(T0 + 4.4)
    assert sled.of(NIGHT_SPEED) == [(0.0, Verdict.COMPLIANT)]


def test_a_reading_that_comes_late_but_good_lapses_by_its_own_stamp() -> None:
    sled = Sled(GPS).fix(T0 + 2.0, mono_s=T0).advance(T0 + 9.0)
    assert sled.of(NIGHT_SPEED) == [(2.0, Verdict.COMPLIANT), (2.5, Verdict.UNKNOWN)]


@pytest.mark.parametrize("figure", ["lat_deg", "lon_deg", "error_m", "speed_mps", "error_mps"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_fix_with_a_figure_that_is_no_number_is_not_trusted(figure: str, value: float) -> None:
    sled = Sled(GPS)
    bad = replace(fix_of(90.0), utc=NIGHT, **{figure: value})
    sled.put(T0, Channel.FIX, bad, 2.5)
    assert sled.now(NIGHT_SPEED).verdict is Verdict.UNKNOWN
    assert isinstance(sled.monitor.fix, Missing)
    assert str(sled.monitor.fix) == "not trusted: a figure is no number"


def test_light_that_is_no_number_is_never_a_lit_lamp() -> None:
    sled = Sled().whole()
    sled.put(T0 + 1.0, Channel.LIGHT_HEAD, Light(math.nan, 1.0))
    assert sled.now(HEAD).verdict is Verdict.UNKNOWN
    assert sled.now(HEAD).why == "head lamp not seen (not trusted: a figure is no number)"


def test_a_lamp_is_out_at_its_own_instant() -> None:
    sled = Sled().whole().put(T0 + 1.0, Channel.LIGHT_HEAD, Light(1.0, 0.1))
    sled.fix(T0 + 1.0, place=east_of(3000.0), fresh_s=None)
    sled.advance(T0 + 500.0)
    assert sled.of(HEAD)[1:] == [
        (0.0, Verdict.COMPLIANT),
        (pytest.approx(3.26), Verdict.UNSURE),  # by time alone: the last look was at 1.0 s
        (pytest.approx(61.0), Verdict.VIOLATION),
    ]
    assert sled.alert("head-lamp-out") == [(pytest.approx(3.26), "raised")]
    assert [(at_s - T0, sure) for at_s, clause, sure, _ in sled.events if clause == HEAD] == [
        (pytest.approx(3.26), False),  # unsure begins
        (pytest.approx(61.0), False),  # and ends,
        (pytest.approx(61.0), False),  # where the violation begins
        (pytest.approx(66.0), True),
    ]


def test_an_alert_clears_and_an_event_is_sure_at_their_own_instants() -> None:
    sled = Sled(GPS).fix(T0, 70.0, fresh_s=None).advance(T0 + 50.0)
    sled.fix(T0 + 50.0, 40.0, fresh_s=None).put(T0 + 99.0, Channel.RECEIVER, Receiver())
    assert sled.alert("over-speed") == [(0.0, "raised"), (51.5, "cleared")]
    assert [(at_s - T0, sure, ended) for at_s, _, sure, ended in sled.events] == [
        (0.0, False, False),
        (5.0, True, False),
        (50.0, True, True),
    ]


def test_darkness_begins_at_its_own_instant_between_two_fixes() -> None:
    # half an hour after sunset of 15 January 2026 at home: 16:38 + 30 min by the almanac
    sled = Sled(GPS, datetime(2026, 1, 15, 22, 50, tzinfo=UTC))
    sled.fix(T0, 60.0, fresh_s=None).advance(T0 + 3600.0)
    (first, _), (then, verdict) = sled.of(NIGHT_SPEED)
    assert verdict is Verdict.VIOLATION
    begins = sled.utc_at_t0 + timedelta(seconds=then)
    assert abs(begins - datetime(2026, 1, 15, 23, 12, tzinfo=UTC)) < timedelta(minutes=6)
    again = Sled(GPS, datetime(2026, 1, 15, 22, 50, tzinfo=UTC))
    for second in range(3601):
        again.fix(T0 + second, 60.0)
    assert again.of(NIGHT_SPEED)[1][0] == pytest.approx(then, abs=1.0)
    assert first == 0.0


def test_too_little_light_counts_at_its_own_instant() -> None:
    sled = Sled(utc_at_t0=NOON).whole().fix(T0, 70.0, fresh_s=None).advance(T0 + 99.0)
    assert sled.of(NIGHT_SPEED)[-1] == (30.0, Verdict.UNSURE)
    assert sled.now(NIGHT_SPEED).why == "too little natural light"


def test_the_window_of_the_clock_opens_and_closes_between_two_fixes() -> None:
    sled = Sled(utc_at_t0=datetime(2026, 1, 16, 4, 20, tzinfo=UTC)).whole(T0, HOUSE)
    sled.fix(T0, 30.0, fresh_s=None).advance(T0 + 10 * 3600.0)
    changes = sled.of(DWELLINGS)[-2:]
    assert changes == [
        (pytest.approx(600.0, abs=0.01), Verdict.VIOLATION),  # 22:30:00
        (pytest.approx(600.0 + 8.5 * 3600.0, abs=0.01), Verdict.COMPLIANT),  # 07:00:00
    ]


def test_the_window_opens_on_a_sled_that_has_lost_its_fix() -> None:
    sled = Sled(utc_at_t0=datetime(2026, 1, 16, 4, 20, tzinfo=UTC)).whole(T0, HOUSE)
    sled.advance(T0 + 10 * 3600.0)
    assert sled.of(DWELLINGS)[-2:] == [
        (pytest.approx(600.0, abs=0.01), Verdict.UNKNOWN),
        (pytest.approx(600.0 + 8.5 * 3600.0, abs=0.01), Verdict.COMPLIANT),
    ]


@pytest.mark.parametrize(
    ("start", "opens_s", "lasts_s"),
    [
        pytest.param(datetime(2026, 3, 8, 4, tzinfo=UTC), 1800.0, 7.5 * 3600.0, id="to summer"),
        pytest.param(datetime(2026, 11, 1, 3, tzinfo=UTC), 1800.0, 9.5 * 3600.0, id="to winter"),
    ],
)
def test_the_window_is_an_hour_shorter_and_longer_when_the_clocks_change(
    start: datetime, opens_s: float, lasts_s: float
) -> None:
    sled = Sled(utc_at_t0=start).whole(T0, HOUSE)
    sled.fix(T0, 30.0, fresh_s=None).advance(T0 + 12 * 3600.0)
    assert sled.of(DWELLINGS)[-2:] == [
        (pytest.approx(opens_s, abs=0.01), Verdict.VIOLATION),
        (pytest.approx(opens_s + lasts_s, abs=0.01), Verdict.COMPLIANT),
    ]


def test_the_rtc_alone_tells_whether_the_window_is_open() -> None:
    sled = Sled().advance(T0)
    assert sled.now(DWELLINGS).verdict is Verdict.UNKNOWN
    sled.put(T0 + 1.0, Channel.RTC, RtcTime(NOON, 2.0))
    assert sled.of(DWELLINGS)[-1] == (1.0, Verdict.COMPLIANT)
    assert sled.now(DWELLINGS).why == "outside its hours"


def test_a_step_of_the_satellites_date_is_followed_at_once() -> None:
    sled = Sled(GPS).fix(T0, 70.0)
    sled.fix(T0 + 1.0, 70.0, utc=NOON).fix(T0 + 2.0, 70.0)
    assert [verdict for _, verdict in sled.of(NIGHT_SPEED)] == [
        Verdict.VIOLATION,
        Verdict.COMPLIANT,
        Verdict.VIOLATION,
    ]


def test_no_step_of_a_date_fires_skips_or_lengthens_a_delay() -> None:
    # m-lundberg/simple-pid#1 and joan2937/pigpio#133: delays by the wall's clock
    steady, stepped = Sled(), Sled()
    for sled in (steady, stepped):
        sled.whole().put(T0 + 1.0, Channel.LIGHT_HEAD, Light(1.0, 0.1))
        for second in range(2, 80):
            hours = 0 if sled is steady else (second % 5) / 10.0
            utc = NIGHT + timedelta(seconds=second, hours=hours)
            sled.fix(T0 + second, 60.0, east_of(3000.0), utc=utc)
        sled.advance(T0 + 81.0)
    assert steady.findings == stepped.findings
    assert steady.alerts == stepped.alerts
    assert steady.events == stepped.events


def test_a_battery_clock_that_steps_is_followed_until_the_first_fix() -> None:
    sled = Sled().advance(T0)
    sled.put(T0, Channel.RTC, RtcTime(NIGHT, 2.0))
    assert sled.monitor.local(T0) is not None
    sled.put(T0 + 1.0, Channel.RTC, RtcTime(NOON, 2.0))
    assert sled.monitor.timekeeper.utc(T0 + 1.0) == NOON
    sled.fix(T0 + 2.0).put(T0 + 3.0, Channel.RTC, RtcTime(NOON, 2.0))
    assert sled.monitor.timekeeper.utc(T0 + 3.0) == NIGHT + timedelta(seconds=3)


def race(at_s: float) -> Sled:
    sled = Sled().whole(at_s, HOUSE, square("water", HOME, 2000.0), point("person", HOME, "p"))
    sled.fix(at_s, 0.0, fresh_s=None)
    return sled.put(at_s, Channel.REQUEST, Request("mode", "race on"))


def test_a_race_lifts_the_night_limit_only_and_demands_the_tether() -> None:
    sled = race(T0).fix(T0 + 1.0, 70.0)
    assert {clause: sled.now(clause).verdict for clause in SIX} == {
        NIGHT_SPEED: Verdict.EXEMPT,
        DWELLINGS: Verdict.VIOLATION,
        ICE: Verdict.VIOLATION,
        HEAD: Verdict.COMPLIANT,
        TAIL: Verdict.COMPLIANT,
        TETHER: Verdict.COMPLIANT,
    }
    sled.put(T0 + 1.5, Channel.TETHER, Tether(TetherState.OUT))
    assert sled.of(TETHER)[-1] == (1.5, Verdict.VIOLATION)
    assert sled.alert("tether-out") == [(1.5, "raised")]


def test_a_pulled_tether_that_stops_the_engine_keeps_the_law() -> None:
    sled = race(T0).put(T0 + 1.0, Channel.ENGINE, Engine(False))
    sled.put(T0 + 1.1, Channel.TETHER, Tether(TetherState.OUT))
    assert sled.of(TETHER) == [(0.0, Verdict.COMPLIANT)]


@pytest.mark.parametrize(
    ("mph", "engine", "is_granted"),
    [(0.9, True, True), (1.0, False, False), (None, False, True), (None, True, False)],
)
def test_a_mode_is_set_only_on_a_sled_that_surely_stands(
    mph: float | None, engine: bool, is_granted: bool
) -> None:
    sled = Sled().put(T0, Channel.ENGINE, Engine(engine))
    if mph is not None:
        sled.fix(T0, mph)
    sled.put(T0, Channel.REQUEST, Request("mode", "race on"))
    assert ("race" in sled.monitor.requests.modes) is is_granted


def test_a_press_silences_and_is_told() -> None:
    sled = Sled(GPS).fix(T0, 70.0, fresh_s=None).put(T0 + 3.0, Channel.BUTTON, Press("press"))
    assert sled.alert("over-speed") == [(0.0, "raised"), (3.0, "acknowledged")]
    assert sled.monitor.cues(T0 + 3.0).light is LightCue.RED


def test_a_hold_marks_a_person_who_is_judged_at_once() -> None:
    sled = Sled().whole(T0, square("water", HOME, 2000.0)).fix(T0, 30.0, fresh_s=None)
    sled.put(T0 + 1.0, Channel.BUTTON, Press("hold"))
    assert sled.of(ICE)[-1] == (1.0, Verdict.VIOLATION)
    sled.advance(T0 + 700.0)
    assert sled.of(ICE)[-1] == (601.0, Verdict.COMPLIANT)


def test_a_test_shows_every_output_and_ends_by_itself() -> None:
    sled = race(T0).put(T0 + 1.0, Channel.REQUEST, Request("test"))
    everything = Cues(LightCue.RED_FLASH, HapticCue.PULSES, ToneCue.ALARM, True)
    assert sled.monitor.cues(T0 + 3.99) == everything
    assert sled.monitor.next_due_s <= T0 + 4.0
    assert sled.monitor.cues(T0 + 4.0) == Cues(is_watching=True)


def test_a_journal_that_is_not_kept_is_told_and_warnings_go_on() -> None:
    sled = Sled(GPS).fix(T0, 30.0)
    sled.put(T0 + 1.0, Channel.JOURNAL, Missing(Why.NO_ANSWER, "the card is read-only"))
    assert sled.alert("journal-not-kept") == [(1.0, "raised")]
    sled.fix(T0 + 2.0, 70.0)
    assert sled.alert("over-speed") == [(2.0, "raised")]
    sled.put(T0 + 3.0, Channel.JOURNAL, Disk(10.0))
    assert sled.alert("journal-not-kept")[-1] == (3.0, "cleared")


def test_power_off_ends_what_is_open() -> None:
    sled = Sled(GPS).fix(T0, 70.0, fresh_s=None)
    outcome = sled.monitor.finish(T0 + 7.0)
    assert [(at_s, one.is_sure, one.end_s) for at_s, one in outcome.events] == [
        (T0 + 5.0, True, None),
        (T0 + 7.0, True, T0 + 7.0),
    ]
