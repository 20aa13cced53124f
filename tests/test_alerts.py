"""The alert table is whole and fits the glass; the alerts climb, fall silent and end by it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from firmware.alerts.following import LADDER, Alerts
from firmware.alerts.table import BLIND, NEAR, OVER, TABLE, THINGS, Row
from firmware.findings import Alert, Cues, Finding, HapticCue, LightCue, ToneCue, Verdict
from firmware.law import packs as law
from firmware.maps.packs import KINDS
from firmware.rules import (
    advisory,
    curfew,
    road_network,
    road_speed,
    speed_limit,
    stop,
    tether,
    zone_entry,
    zone_speed,
)

CLAUSE = "350.10(1)(gm)"
TOPICS = {speed_limit.TOPIC, zone_speed.TOPIC, tether.TOPIC, "head-lamp", "tail-lamp"}
TOPICS |= {road_network.TOPIC, road_network.CROSSING, road_speed.TOPIC, curfew.TOPIC}
APPROACHED = (speed_limit.TOPIC, zone_speed.TOPIC, zone_speed.AHEAD, road_network.CROSSING)
APPROACHED += (road_speed.TOPIC, curfew.TOPIC, advisory.TOPIC, stop.AHEAD)
ACCUSED = (zone_entry.TOPIC, stop.TOPIC)
"""What is told with the other zones where it can't be watched."""
IN_TIME = (zone_speed.AHEAD, road_network.CROSSING, stop.AHEAD)
"""What lies ahead, told before it is reached: it comes before what is not watched."""

ROWS = {row.name: row for row in TABLE}


def speed(mph: float, limit: float = 55.0, clause: str = CLAUSE, topic: str = "speed") -> Finding:
    if mph <= limit - 3:
        verdict = Verdict.COMPLIANT
    elif mph <= limit:
        verdict = Verdict.APPROACHING
    else:
        verdict = Verdict.UNSURE if mph <= limit + 0.5 else Verdict.VIOLATION
    return Finding(clause, verdict, "after dark", mph, limit, "mph", 0.5, topic)


def lamp(verdict: Verdict, which: str = "head") -> Finding:
    why = f"{which} lamp out: 2 lux, needs 50"
    return Finding(f"lamp-{which}", verdict, why, 2.0, 50.0, "lux", 1.0, f"{which}-lamp")


class Ride:
    """Feeds findings to the alerts, firing what is due in between, as a monitor does."""

    def __init__(self) -> None:
        self.alerts = Alerts()
        self.findings: dict[str, Finding] = {}
        self.changes: list[tuple[float, str, str]] = []
        self.tones: list[tuple[float, ToneCue]] = [(0.0, ToneCue.OFF)]
        self.at_s = 0.0

    def _follow(self, at_s: float) -> None:
        assert at_s >= self.at_s
        self.at_s = at_s
        for alert in self.alerts.follow(self.findings, at_s):
            self.changes.append((at_s, alert.name, alert.state))
        self._listen()

    def _listen(self) -> None:
        tone = self.alerts.cues(self.at_s, is_watching=True).tone
        if tone is not self.tones[-1][1]:
            self.tones.append((self.at_s, tone))

    def until(self, at_s: float) -> Ride:
        while (due_s := self.alerts.due_s(self.at_s)) <= at_s:
            assert due_s > self.at_s
            self._follow(due_s)
        return self

    def put(self, at_s: float, *findings: Finding) -> Ride:
        self.until(at_s)
        self.findings |= {one.clause: one for one in findings}
        self._follow(at_s)
        return self

    def press(self, at_s: float) -> list[Alert]:
        self.until(at_s)
        self.at_s = at_s
        pressed = self.alerts.acknowledge()
        self.changes += [(at_s, one.name, one.state) for one in pressed]
        self._listen()
        return pressed

    def cues(self, at_s: float) -> Cues:
        return self.until(at_s).alerts.cues(at_s, is_watching=True)

    @property
    def sounds(self) -> list[tuple[float, float]]:
        """From when to when a tone came."""
        edges = [at_s for at_s, _ in self.tones[1:]] + [math.inf]
        return list(zip(edges[::2], edges[1::2], strict=False))


# The table.


def test_each_topic_that_a_rule_can_give_has_a_row_for_over_and_for_unknown() -> None:
    for topic in TOPICS:
        for verdict in (Verdict.UNSURE, Verdict.VIOLATION, Verdict.UNKNOWN):
            rows = [row for row in TABLE if row.topic == topic and verdict in row.verdicts]
            assert len(rows) == 1, (topic, verdict)


def test_each_topic_that_can_be_approached_has_a_row_for_it() -> None:
    for topic in APPROACHED:
        rows = [row for row in TABLE if row.topic == topic and Verdict.APPROACHING in row.verdicts]
        assert len(rows) == 1, topic


def test_each_row_is_for_a_topic_that_something_gives() -> None:
    assert {row.topic for row in TABLE} == TOPICS | {*APPROACHED, *ACCUSED, "journal", "law"}


def test_no_row_is_raised_by_what_is_kept_or_lifted() -> None:
    for row in TABLE:
        assert not row.verdicts & {Verdict.COMPLIANT, Verdict.EXEMPT}
        assert row.verdicts in (OVER, NEAR, BLIND)


def test_names_and_priorities_are_each_its_own() -> None:
    assert len(ROWS) == len({row.priority for row in TABLE}) == len(TABLE)


def test_what_is_over_wins_over_what_is_near_and_over_what_is_not_watched() -> None:
    over = min(row.priority for row in TABLE if row.verdicts == OVER)
    blind = [row.priority for row in TABLE if row.verdicts == BLIND]
    near = max(row.priority for row in TABLE if row.verdicts == NEAR and row.topic not in IN_TIME)
    assert over > max(blind)
    assert min(blind) > near
    assert ROWS["zone-ahead"].priority > max(blind)


def test_only_what_is_over_sounds_an_alarm_or_shows_red() -> None:
    for row in TABLE:
        if row.light in (LightCue.RED, LightCue.RED_FLASH) or row.tone is ToneCue.ALARM:
            assert row.verdicts == OVER
        if row.climbs:
            assert row.topic in ("speed", "zone", "road-speed")


def glass_of(row: Row, kind: str, limit: float) -> list[str]:
    """What the glass shows of a row, for a kind of zone and a limit."""
    why = f"{kind} ahead: be at 10 mph" if row.topic == zone_speed.AHEAD else f"{kind} 50 ft away"
    verdict = next(iter(row.verdicts))
    finding = Finding("x", verdict, why, limit + 9.6, limit, "mph", 0.5, row.topic)
    alerts = Alerts()
    alerts.follow({"x": finding}, 0.0)
    alerts.follow({"x": finding}, row.raise_s)
    (alert,) = [one for one in alerts.standing() if one.name == row.name]
    return alert.words.split("\n")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("limit", [10.0, 55.0, 100.0])
def test_the_words_fit_two_lines_of_16_letters_for_every_kind_of_zone(
    row: Row, limit: float
) -> None:
    for kind in KINDS:
        lines = glass_of(row, kind, limit)
        assert 1 <= len(lines) <= 2
        for line in lines:
            assert 0 < len(line) <= 16, line
            assert "_" not in line
            assert line == line.upper().strip()


def test_the_words_name_the_thing_and_the_limit() -> None:
    assert glass_of(ROWS["zone-speed"], "dwelling", 10.0) == ["SLOW TO 10", "DWELLING"]
    assert glass_of(ROWS["zone-ahead"], "shanty", 10.0) == ["SHANTY AHEAD", "SLOW TO 10"]
    assert glass_of(ROWS["over-speed"], "person", 55.0) == ["SLOW DOWN", "LIMIT 55"]
    assert glass_of(ROWS["zone-ahead"], "ski_slide_skate", 10.0) == ["SKI AREA AHEAD", "SLOW TO 10"]


def test_every_kind_of_zone_that_a_law_limits_keeps_its_own_word() -> None:
    for path in law.FOLDER.glob("*.toml"):
        for clause in law.load(path.stem).clause:
            for kind in (one for near in clause.near for one in near.kinds):
                word = THINGS.get(kind, kind.upper())
                assert glass_of(ROWS["zone-speed"], kind, 10.0)[1] == word


# Raised and cleared.


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_row_is_raised_by_its_own_verdicts_and_no_other(row: Row) -> None:
    for verdict in Verdict:
        alerts = Alerts()
        finding = Finding("x", verdict, "it is so", 60.0, 55.0, "mph", 0.5, row.topic)
        alerts_at = (0.0, row.raise_s) if row.raise_s else (0.0,)
        raised = [one.name for at_s in alerts_at for one in alerts.follow({"x": finding}, at_s)]
        assert (row.name in raised) is (verdict in row.verdicts)


def test_a_limit_in_km_h_says_so_on_the_glass_whatever_the_row() -> None:
    for row in TABLE:
        finding = Finding("x", next(iter(row.verdicts)), "it is so", 101.0, 100.0, "km/h", 1.0)
        alerts = Alerts((row,))
        for at_s in (0.0, row.raise_s):
            alerts.follow({"x": replace(finding, topic=row.topic)}, at_s)
        words = alerts.standing()[0].words
        assert ("100 KM/H" in words) is ("{at}" in row.words), row.name
        assert all(len(line) <= 16 for line in words.split("\n"))


def test_an_alert_carries_its_finding_and_its_row() -> None:
    (alert,) = Alerts().follow({CLAUSE: speed(60.0)}, 3.0)
    assert alert == Alert(
        "over-speed",
        "raised",
        CLAUSE,
        "SLOW DOWN\nLIMIT 55",
        LightCue.RED_FLASH,
        HapticCue.PULSES,
        ToneCue.ALARM,
        "after dark",
    )


def test_a_duty_whose_part_was_never_fitted_raises_nothing() -> None:
    finding = Finding("x", Verdict.UNKNOWN, "not fitted", topic="head-lamp", is_fitted=False)
    assert Alerts().follow({"x": finding}, 0.0) == []


def test_light_and_haptic_come_at_once_and_the_sound_does_not() -> None:
    ride = Ride().put(10.0, speed(60.0))
    assert ride.cues(10.0) == Cues(LightCue.RED_FLASH, HapticCue.PULSES, ToneCue.OFF, True)


def test_one_exceedance_is_one_alert_however_many_fixes() -> None:
    # traccar/traccar#3851: a message for each position while over the limit
    ride = Ride()
    for second, mph in enumerate([49.0, 51.0, 52.0, 51.0, 53.0, 49.0, 46.0]):
        ride.put(float(second), speed(mph, limit=50.0))
    over = [(at_s, state) for at_s, name, state in ride.until(20.0).changes if name == "over-speed"]
    assert over == [(1.0, "raised"), (6.5, "cleared")]


@pytest.mark.parametrize("period_s", [0.1, 0.5, 1.0])
def test_a_speed_that_wavers_about_the_limit_is_one_exceedance(period_s: float) -> None:
    ride = Ride()
    for step in range(20):
        ride.put(step * period_s, speed(55.6 if step % 2 == 0 else 54.9))
    ride.until(60.0)
    over = [(at_s, state) for at_s, name, state in ride.changes if name == "over-speed"]
    assert over == [(0.0, "raised"), (19 * period_s + 1.5, "cleared")]


def test_an_alert_clears_by_time_alone_1_5_s_after_its_cause() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(5.0, speed(40.0)).until(6.49)
    assert ride.changes == [(0.0, "over-speed", "raised")]
    ride.until(100.0)
    assert ride.changes[1:] == [(6.5, "over-speed", "cleared")]
    assert ride.cues(100.0) == Cues(is_watching=True)


def test_a_cause_that_is_over_for_long_and_comes_again_is_a_new_exceedance() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(5.0, speed(40.0)).put(6.6, speed(60.0))
    states = [state for _, name, state in ride.changes if name == "over-speed"]
    assert states == ["raised", "cleared", "raised"]


def test_what_is_not_watched_is_raised_and_cleared_at_once() -> None:
    blind = Finding(CLAUSE, Verdict.UNKNOWN, "no fix", topic="speed")
    ride = Ride().put(0.0, blind).put(4.0, speed(30.0))
    assert ride.changes == [
        (0.0, "speed-not-watched", "raised"),
        (4.0, "speed-not-watched", "cleared"),
    ]


def test_two_clauses_raise_an_alert_each() -> None:
    ride = Ride().put(
        0.0,
        speed(30.0, 10.0, "350.10(1)(g)", "zone"),
        speed(30.0, 10.0, "350.10(1)(i)", "zone"),
    )
    assert [name for _, name, _ in ride.changes] == ["zone-speed", "zone-speed"]
    ride.put(3.0, speed(5.0, 10.0, "350.10(1)(g)", "zone")).until(5.0)
    assert ride.changes[-1] == (4.5, "zone-speed", "cleared")
    assert [one.clause for one in ride.alerts.standing()] == ["350.10(1)(i)"]


def test_a_zone_ahead_gives_way_to_the_zone_itself() -> None:
    ahead = Finding("z", Verdict.APPROACHING, "dwelling ahead: be", 30.0, 10.0, topic="zone-ahead")
    ride = Ride().put(0.0, ahead).put(2.0, speed(30.0, 10.0, "z", "zone"))
    assert ride.changes == [
        (0.0, "zone-ahead", "raised"),
        (2.0, "zone-ahead", "cleared"),
        (2.0, "zone-speed", "raised"),
    ]


# The ladder.


def test_the_ladder_is_that_of_the_regulation() -> None:
    assert LADDER == ((1.3, 3.0), (1.2, 4.0), (1.1, 5.0), (1.0, 6.0))


@pytest.mark.parametrize(
    ("mph", "after_s"),
    [
        (55.1, 6.0),
        (60.5, 6.0),  # 110 % itself is not over 110 %
        (60.6, 5.0),
        (66.0, 5.0),
        (66.1, 4.0),
        (71.5, 4.0),
        (71.6, 3.0),
        (110.0, 3.0),
    ],
)
def test_the_sound_comes_after_6_5_4_or_3_s_and_lasts_5_s(mph: float, after_s: float) -> None:
    ride = Ride().put(10.0, speed(mph)).until(1000.0)
    assert ride.sounds == [(10.0 + after_s, 15.0 + after_s)]
    assert ride.tones[1][1] is ToneCue.ALARM


def test_a_steady_speed_told_ten_times_a_second_sounds_the_same() -> None:
    ride = Ride()
    for step in range(400):
        ride.put(10.0 + step / 10, speed(62.0))
    assert ride.sounds == [(15.0, 20.0)]


def test_the_sound_comes_again_for_each_higher_step_only() -> None:
    ride = Ride().put(0.0, speed(56.0)).put(20.0, speed(62.0)).put(40.0, speed(56.0))
    ride.put(60.0, speed(62.0)).put(80.0, speed(68.0)).put(100.0, speed(73.0)).until(200.0)
    assert ride.sounds == [(6.0, 11.0), (25.0, 30.0), (84.0, 89.0), (103.0, 108.0)]


def test_a_step_counts_from_when_it_was_reached() -> None:
    ride = Ride().put(0.0, speed(56.0)).put(20.0, speed(73.0)).until(100.0)
    assert ride.sounds == [(6.0, 11.0), (23.0, 28.0)]


def test_a_step_that_was_left_counts_anew_when_it_is_reached_again() -> None:
    ride = Ride().put(0.0, speed(62.0)).put(4.0, speed(56.0)).put(4.5, speed(62.0)).until(100.0)
    assert ride.sounds == [(6.0, 11.0)]  # over 100 % since 0 s, over 110 % since 4.5 s


def test_a_higher_step_that_comes_due_while_it_sounds_does_not_draw_it_out() -> None:
    for reached_s in (5.0, 6.0, 7.0, 8.0):  # due at 8 to 11 s; at 11 s the sound just ends
        ride = Ride().put(0.0, speed(56.0)).put(reached_s, speed(73.0)).until(100.0)
        assert ride.sounds == [(6.0, 11.0)]
    ride = Ride().put(0.0, speed(56.0)).put(8.1, speed(73.0)).until(100.0)
    assert ride.sounds == [(6.0, 11.0), (11.1, 16.1)]


@pytest.mark.parametrize("mph_a_second", [0.2, 1.0, 2.0, 5.0, 10.0])
def test_no_sound_lasts_longer_than_5_s_at_a_time(mph_a_second: float) -> None:
    ride = Ride()
    for step in range(600):
        ride.put(step / 10, speed(56.0 + mph_a_second * step / 10))
    ride.until(100.0)
    assert ride.sounds
    assert all(end - start <= 5.0 + 1e-9 for start, end in ride.sounds)


def test_a_new_exceedance_climbs_anew() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(20.0, speed(40.0)).put(30.0, speed(60.0)).until(99.0)
    assert ride.sounds == [(6.0, 11.0), (36.0, 41.0)]


def test_slowing_down_silences_at_once() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(8.0, speed(50.0)).until(50.0)
    assert ride.sounds == [(6.0, 8.0)]


def test_a_short_exceedance_makes_no_sound() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(5.9, speed(50.0)).until(50.0)
    assert ride.sounds == []


def test_a_pulled_tether_sounds_at_once_and_for_5_s() -> None:
    out = Finding("t", Verdict.VIOLATION, "tether is out", topic="tether")
    assert Ride().put(3.0, out).until(100.0).sounds == [(3.0, 8.0)]


def test_a_lamp_chirps_once_and_taps_once() -> None:
    ride = Ride().put(3.0, lamp(Verdict.UNSURE))
    assert ride.cues(3.0).haptic is HapticCue.TAP
    assert ride.cues(3.39).haptic is HapticCue.TAP
    assert ride.cues(3.4).haptic is HapticCue.OFF
    ride.put(65.0, lamp(Verdict.VIOLATION)).until(100.0)
    assert ride.sounds == [(3.0, 3.3)]


def test_a_tap_is_felt_though_a_quiet_alert_of_higher_priority_stands() -> None:
    ahead = Finding("z", Verdict.APPROACHING, "dwelling ahead: be", 30.0, 10.0, topic="zone-ahead")
    ride = Ride().put(0.0, ahead).put(10.0, lamp(Verdict.UNSURE))
    assert ride.cues(10.0).haptic is HapticCue.TAP
    assert ride.cues(10.4).haptic is HapticCue.OFF


def test_pulses_drown_a_tap() -> None:
    ride = Ride().put(0.0, speed(60.0)).put(10.0, lamp(Verdict.UNSURE))
    assert ride.cues(10.0).haptic is HapticCue.PULSES


# Acknowledged.


def test_a_press_silences_the_winner_and_leaves_its_light_steady() -> None:
    ride = Ride().put(0.0, speed(60.0))
    (alert,) = ride.press(7.0)
    assert (alert.name, alert.state) == ("over-speed", "acknowledged")
    assert ride.cues(7.0) == Cues(LightCue.RED, HapticCue.OFF, ToneCue.OFF, True)
    assert ride.until(100.0).sounds == [(6.0, 7.0)]


def test_an_acknowledged_alert_sounds_again_for_a_higher_step_only() -> None:
    ride = Ride().put(0.0, speed(57.0))
    ride.press(2.0)
    ride.until(30.0)
    assert ride.sounds == []
    ride.put(30.0, speed(61.0)).until(60.0)
    assert ride.sounds == [(35.0, 40.0)]


def test_an_acknowledged_alert_of_a_step_that_has_not_sounded_yet_stays_silent() -> None:
    ride = Ride().put(0.0, speed(73.0))
    ride.press(1.0)
    assert ride.until(100.0).sounds == []


def test_a_new_exceedance_after_an_acknowledged_one_warns_in_full() -> None:
    ride = Ride().put(0.0, speed(60.0))
    ride.press(1.0)
    ride.put(10.0, speed(40.0)).put(20.0, speed(60.0))
    assert ride.cues(20.0).haptic is HapticCue.PULSES
    assert ride.cues(20.0).light is LightCue.RED_FLASH
    assert ride.until(100.0).sounds == [(26.0, 31.0)]


def test_a_new_alert_has_the_glass_before_one_that_was_acknowledged() -> None:
    ride = Ride().put(0.0, speed(60.0))
    ride.press(1.0)
    ride.put(2.0, lamp(Verdict.UNSURE))
    assert [one.name for one in ride.alerts.standing()] == ["head-lamp-out", "over-speed"]
    ride.press(3.0)
    assert [one.name for one in ride.alerts.standing()] == ["over-speed", "head-lamp-out"]


def test_a_press_with_nothing_to_silence_does_nothing() -> None:
    ride = Ride()
    assert ride.press(1.0) == []
    ride.put(2.0, speed(60.0))
    assert len(ride.press(3.0)) == 1
    assert ride.press(4.0) == []


def test_each_press_silences_the_next_alert() -> None:
    ride = Ride().put(0.0, speed(60.0), lamp(Verdict.UNSURE))
    assert [one.name for one in ride.press(1.0)] == ["over-speed"]
    assert [one.name for one in ride.press(2.0)] == ["head-lamp-out"]


def test_the_winner_is_the_one_of_the_highest_priority_however_late_it_came() -> None:
    ride = Ride().put(0.0, lamp(Verdict.UNSURE)).put(1.0, speed(60.0))
    assert [one.name for one in ride.alerts.standing()] == ["over-speed", "head-lamp-out"]
    assert ride.cues(1.0).light is LightCue.RED_FLASH


def test_the_standing_alert_tells_the_latest_figures() -> None:
    ride = (
        Ride().put(0.0, replace(speed(60.0), why="one")).put(1.0, replace(speed(70.0), why="two"))
    )
    assert ride.alerts.standing()[0].why == "two"
    assert ride.alerts.standing()[0].state == "raised"
    ride.press(2.0)
    assert ride.alerts.standing()[0].state == "acknowledged"


def test_what_has_no_light_asks_for_no_answer_and_hides_nothing_that_was_answered() -> None:
    """A zone that is not watched, dark, stood before the red light of an exceedance once the rider
    had acknowledged that."""
    alerts = Alerts()
    dark = Finding("350.10(1)(g)", Verdict.UNKNOWN, "no zone data here", topic="zone")
    alerts.follow({CLAUSE: speed(60.0), dark.clause: dark}, 0.0)
    assert [one.name for one in alerts.acknowledge()] == ["over-speed"]
    assert alerts.acknowledge() == []
    assert alerts.standing()[0].name == "over-speed"
    assert alerts.cues(1.0, is_watching=True).light is LightCue.RED
    assert not alerts.is_loud


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("no zone data here", "NO ZONE DATA\nHERE"),
        ("place and speed not known (no fix)", "ZONES NOT\nWATCHED"),
    ],
)
def test_the_glass_says_where_no_map_has_the_place(why: str, words: str) -> None:
    alerts = Alerts()
    blind = Finding("350.10(1)(g)", Verdict.UNKNOWN, why, topic="zone")
    alerts.follow({blind.clause: blind}, 0.0)
    assert [one.words for one in alerts.standing()] == [words]
