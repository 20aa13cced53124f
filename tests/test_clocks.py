"""Clocks end to end: conflicts, steps of the system's date, the night's window in any zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from judging import WI, clause_of, configured, fix_of, seen

from firmware.clock import Clock
from firmware.drives.script_text import parse
from firmware.findings import Anchor, Event, Outcome, Pull, Verdict
from firmware.journal.redating import Anchors
from firmware.monitor import Monitor, build
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Reading,
    RtcTime,
    Tether,
    TetherState,
    Value,
)
from firmware.rules.base import is_within_window
from firmware.situation.timekeeper import Timekeeper
from firmware.sources.drive import config_of, readings

T0 = 1000.0
NIGHT = datetime(2026, 1, 16, 5, tzinfo=UTC)
FLOOR = "[clock]\nfloor = 2026-01-01\n"
WINDOW = clause_of("350.10(1)(g)")


class Story:
    """A monitor that is told readings, and all that it brings beside findings and alerts."""

    def __init__(self) -> None:
        self.monitor: Monitor = build(configured(FLOOR), [WI], frozenset(Channel))
        self.events: list[tuple[float, Event]] = []
        self.notes: list[tuple[float, Anchor | Pull]] = []

    def put(self, at_s: float, channel: Channel, value: Value) -> Story:
        return self._keep(self.monitor.step(Reading(channel, value, at_s, "test"), at_s))

    def fix(self, at_s: float, mph: float = 30.0) -> Story:
        utc = NIGHT + timedelta(seconds=at_s - T0)
        return self.put(at_s, Channel.FIX, replace(fix_of(mph), utc=utc))

    def rtc(self, at_s: float, ahead_s: float) -> Story:
        utc = NIGHT + timedelta(seconds=at_s - T0 + ahead_s)
        return self.put(at_s, Channel.RTC, RtcTime(utc, 2.0))

    def _keep(self, outcome: Outcome) -> Story:
        self.events += [(at_s, one) for at_s, one in outcome.events if one.clause == "clock"]
        self.notes += outcome.notes
        return self


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0, 61.0])
def test_a_battery_clock_over_a_minute_off_is_an_event_until_it_is_set(ahead_s: float) -> None:
    story = Story().rtc(T0, ahead_s).fix(T0 + 1.0).fix(T0 + 2.0)
    ((at_s, started),) = story.events
    assert (at_s, started.clause, started.verdict) == (T0 + 1.0, "clock", Verdict.UNSURE)
    assert (started.peak, started.limit, started.unit) == (abs(ahead_s), 60.0, "s")
    story.rtc(T0 + 10.0, 0.0)
    assert story.events[-1][1].end_s == T0 + 10.0
    assert "clock" not in story.monitor.findings


def test_a_battery_clock_a_minute_off_is_none() -> None:
    assert Story().rtc(T0, 60.0).fix(T0 + 1.0).rtc(T0 + 10.0, -60.0).events == []


def test_a_conflict_that_comes_up_in_mid_ride_is_told_with_its_worst() -> None:
    story = Story().fix(T0).rtc(T0 + 1.0, 0.0).rtc(T0 + 11.0, 100.0).rtc(T0 + 21.0, 500.0)
    story.rtc(T0 + 31.0, 0.0)
    assert [(at_s - T0, one.peak, one.end_s is None) for at_s, one in story.events] == [
        (11.0, 100.0, True),
        (31.0, 500.0, False),
    ]


def test_the_clock_is_noted_at_the_start_and_at_each_change() -> None:
    story = Story().put(T0, Channel.ENGINE, Engine(False)).rtc(T0 + 1.0, 30.0).fix(T0 + 60.0)
    sources = [(at_s - T0, one.source) for at_s, one in story.notes if isinstance(one, Anchor)]
    assert sources == [(0.0, "none"), (1.0, "rtc"), (60.0, "gps")]
    dated = Anchors(one for _, one in story.notes if isinstance(one, Anchor)).at(T0)
    assert dated is not None
    assert (dated.utc, dated.is_redated) == (NIGHT, True)


def test_a_pulled_tether_is_noted_with_its_speed_and_run_on_distance() -> None:
    story = Story().put(T0, Channel.ENGINE, Engine(True)).fix(T0, 30.0)
    story.put(T0 + 0.5, Channel.TETHER, Tether(TetherState.OUT))
    story.put(T0 + 1.0, Channel.ENGINE, Engine(False)).fix(T0 + 2.0, 10.0).fix(T0 + 3.0, 0.0)
    pulls = [one for _, one in story.notes if isinstance(one, Pull)]
    assert [one.ended for one in pulls] == ["", "stopped"]
    assert pulls[1].speed_mps == fix_of(30.0).speed_mps
    metres = 1.5 * fix_of(30.0).speed_mps + 1.0 * fix_of(10.0).speed_mps
    assert pulls[1].run_on_m == pytest.approx(metres, abs=0.01)


# The system's own date.


RIDE = """\
# Law: wi
# Start: 2026-01-17T23:30:00Z
0.0   engine on
0.0   lamp head supply=on light=850
0.0   lamp tail supply=on light=300 colour=red
0.0   ride lat=45.9 lon=-89.5 heading=90 speed=40
10.0  ride speed=60
20.0  lamp head light=2.5
STEP
40.0  lamp head light=850
45.0  ride speed=40
60.0  end
"""


def judged(step: str) -> list[tuple[float, object]]:
    drive = parse(RIDE.replace("STEP", step), Path("steps.drive"))
    config = config_of(drive)
    core = build(config, [WI])
    told: list[tuple[float, object]] = []
    for at_s, reading in readings(drive, config):
        outcome = core.step(reading, at_s)
        told += [*outcome.findings, *outcome.alerts, *outcome.events, *outcome.notes]
    return told


@pytest.mark.parametrize("step_s", ["+1767225600", "-1451606400", "+3600"])  # +56 y, -46 y, +1 h
def test_a_step_of_the_system_s_date_in_mid_ride_changes_nothing(step_s: str) -> None:
    assert judged(f"25.0  clock step {step_s}") == judged("# no step")


def test_the_unit_never_asks_for_the_system_s_date() -> None:
    """But for the clock itself, which offers it to the tools on a desk."""
    folder = Path(__file__).parent.parent / "firmware"
    asking = [
        path.name
        for path in sorted(folder.rglob("*.py"))
        if "system_utc" in path.read_text(encoding="utf-8")
    ]
    assert asking == ["clock.py"]


def test_a_clock_whose_date_is_stepped_counts_its_seconds_on() -> None:
    clock = Clock(1.0, from_zero=True)
    before_utc, before_s = clock.system_utc(), clock.mono_s()
    clock.step_utc(-46 * 365.25 * 86_400.0)
    assert clock.mono_s() - before_s < 60.0
    assert (before_utc - clock.system_utc()) > timedelta(days=45 * 365)


# The night's window, in civil time.


def minutes_of(day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """Each minute from noon to noon, by UTC."""
    start = datetime.combine(day, time(12), zone).astimezone(UTC)
    for minute in range(25 * 60):
        yield start + timedelta(minutes=minute)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        # The nights of the change: 8.5 hours of civil time are 7.5 or 9.5 of the sun's.
        ("America/Chicago", date(2026, 3, 7), 7.5),
        ("America/Chicago", date(2026, 10, 31), 9.5),
        ("America/Chicago", date(2026, 1, 16), 8.5),
        ("Europe/Helsinki", date(2026, 3, 28), 7.5),
        ("Europe/Helsinki", date(2026, 10, 24), 9.5),
        ("Australia/Lord_Howe", date(2026, 4, 4), 9.0),  # half an hour
        ("Australia/Lord_Howe", date(2026, 10, 3), 8.0),
        ("America/St_Johns", date(2026, 3, 7), 7.5),
        ("Asia/Kathmandu", date(2026, 3, 7), 8.5),
        ("America/Phoenix", date(2026, 3, 7), 8.5),
        ("Pacific/Chatham", date(2026, 4, 4), 9.5),
        ("America/Nuuk", date(2026, 3, 28), 7.5),  # changes at 22:00 of its own evening or later
    ],
)
def test_half_past_ten_to_seven_is_right_on_every_night_in_every_zone(
    zone: str, day: date, hours: float
) -> None:
    civil = ZoneInfo(zone)
    inside = [
        utc
        for utc in minutes_of(day, civil)
        if is_within_window(seen(local=utc.astimezone(civil)), WINDOW)
    ]
    assert len(inside) == hours * 60
    assert inside[0].astimezone(civil).time() == time(22, 30)
    assert inside[-1].astimezone(civil).time() == time(6, 59)


@pytest.mark.parametrize("zone", ["America/Chicago", "Australia/Lord_Howe", "Pacific/Chatham"])
@pytest.mark.parametrize("day", [date(2026, 3, 7), date(2026, 4, 4), date(2026, 10, 31)])
def test_the_turns_of_the_window_are_told_before_they_come(zone: str, day: date) -> None:
    """The timer that judges again is due at the very minute at which the window turns."""
    civil = ZoneInfo(zone)
    times = (time(22, 30), time(7))
    kept = Timekeeper(date(2026, 1, 1))
    start = next(minutes_of(day, civil))
    kept.take_fix(Fix(0.0, 0.0, 1.0, 0.0, 0.0, utc=start), 0.0)
    due_s = [kept.next_turn_s(times, civil, 0.0)]
    due_s.append(kept.next_turn_s(times, civil, due_s[0]))
    turns = [(start + timedelta(seconds=one)).astimezone(civil).time() for one in due_s]
    assert turns == list(times)
