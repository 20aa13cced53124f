"""The date: the satellites' before the battery clock's, never the system's, carried on evenly."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from judging import CENTRAL, fix_of

from firmware.readings import Fix, RtcTime
from firmware.situation.timekeeper import Timekeeper

FLOOR = date(2026, 1, 1)
UTC_NOW = datetime(2026, 1, 16, 5, tzinfo=UTC)


def keeper() -> Timekeeper:
    return Timekeeper(FLOOR)


def dated(utc: datetime) -> Fix:
    return replace(fix_of(30.0), utc=utc)


def test_before_any_word_there_is_no_date() -> None:
    kept = keeper()
    assert (kept.utc(100.0), kept.error_s(100.0), kept.source) == (None, None, "none")


def test_a_fix_gives_the_date_and_half_a_second_of_error() -> None:
    kept = keeper()
    kept.take_fix(dated(UTC_NOW), 100.0)
    assert (kept.utc(100.0), kept.error_s(100.0), kept.source) == (UTC_NOW, 0.5, "gps")


def test_the_date_goes_on_with_the_monotonic_clock_and_its_error_grows() -> None:
    kept = keeper()
    kept.take_fix(dated(UTC_NOW), 100.0)
    assert kept.utc(86_500.0) == UTC_NOW + timedelta(days=1)
    assert kept.error_s(86_500.0) == pytest.approx(0.5 + 1.728)


def test_an_earlier_instant_has_its_own_date() -> None:
    kept = keeper()
    kept.take_fix(dated(UTC_NOW), 100.0)
    assert kept.utc(40.0) == UTC_NOW - timedelta(minutes=1)


def test_a_fix_without_a_date_leaves_the_date_as_it_is() -> None:
    kept = keeper()
    kept.take_fix(dated(UTC_NOW), 100.0)
    kept.take_fix(fix_of(30.0), 160.0)
    assert kept.utc(160.0) == UTC_NOW + timedelta(minutes=1)
    assert kept.source == "gps"


@pytest.mark.parametrize("year", [1, 1979, 2101, 9999])
def test_a_date_that_can_t_be_carried_on_is_no_date(year: int) -> None:
    one = keeper()
    far = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    one.take_fix(dated(far), 10.0)
    one.take_rtc(RtcTime(far, 1.0), 11.0)
    assert one.utc(1e6) is None
    one.take_fix(dated(datetime(2026, 1, 17, tzinfo=UTC)), 12.0)
    one.take_fix(dated(far), 13.0)
    assert one.utc(13.0) == datetime(2026, 1, 17, 0, 0, 1, tzinfo=UTC)


def test_the_battery_clock_gives_the_date_until_a_satellite_does() -> None:
    kept = keeper()
    kept.take_rtc(RtcTime(UTC_NOW, 60.0), 10.0)
    assert (kept.utc(10.0), kept.error_s(10.0), kept.source) == (UTC_NOW, 60.0, "rtc")
    right = UTC_NOW + timedelta(hours=3)
    kept.take_fix(dated(right), 20.0)
    assert (kept.utc(20.0), kept.source) == (right, "gps")
    kept.take_rtc(RtcTime(UTC_NOW, 60.0), 30.0)
    assert (kept.utc(20.0), kept.source) == (right, "gps")


@pytest.mark.parametrize(
    ("utc", "is_believed"),
    [
        (datetime(2000, 1, 1, tzinfo=UTC), False),
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), False),
        (datetime(2026, 1, 1, tzinfo=UTC), True),
        (datetime(2035, 12, 31, tzinfo=UTC), True),
        (datetime(2036, 1, 5, tzinfo=UTC), False),
        (datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC), False),
    ],
)
def test_the_battery_clock_is_believed_from_the_floor_to_ten_years_above(
    utc: datetime, is_believed: bool
) -> None:
    kept = keeper()
    kept.take_rtc(RtcTime(utc, 2.0), 10.0)
    assert kept.utc(10.0) == (utc if is_believed else None)


def test_a_step_of_the_satellites_date_moves_it_at_once() -> None:
    kept = keeper()
    for hours in (0, 1, -5):
        utc = UTC_NOW + timedelta(hours=hours)
        kept.take_fix(dated(utc), 100.0)
        assert kept.utc(100.0) == utc


# When civil time next comes to a time of day.

TURNS = (time(22, 30), time(7))


@pytest.mark.parametrize(
    ("utc", "left_s"),
    [
        ("2026-01-16T04:29:59", 1.0),  # 22:29:59
        ("2026-01-16T04:30:00", 8.5 * 3600.0),  # 22:30:00: the next is 07:00
        ("2026-01-16T12:59:59", 1.0),  # 06:59:59
        ("2026-01-16T13:00:00", 15.5 * 3600.0),
        ("2026-03-08T04:30:00", 7.5 * 3600.0),  # the night to summer time
        ("2026-11-01T03:30:00", 9.5 * 3600.0),  # the night to winter time
        ("2026-12-31T23:00:00", 5.5 * 3600.0),  # over the end of a year in UTC
    ],
)
def test_the_next_turn_of_civil_time_is_known_to_the_second(utc: str, left_s: float) -> None:
    kept = keeper()
    kept.take_fix(dated(datetime.fromisoformat(utc).replace(tzinfo=UTC)), 100.0)
    assert kept.next_turn_s(TURNS, CENTRAL, 100.0) == pytest.approx(100.0 + left_s)


def test_an_hour_that_is_told_twice_comes_twice() -> None:
    kept = keeper()
    kept.take_fix(dated(datetime(2026, 11, 1, 6, tzinfo=UTC)), 0.0)  # 01:00 CDT
    first_s = kept.next_turn_s([time(1, 30)], CENTRAL, 0.0)
    assert first_s == 1800.0
    assert kept.next_turn_s([time(1, 30)], CENTRAL, first_s) == 1800.0 + 3600.0


def test_without_a_date_or_without_times_of_day_there_is_no_turn() -> None:
    kept = keeper()
    assert kept.next_turn_s(TURNS, CENTRAL, 0.0) == math.inf
    kept.take_fix(dated(UTC_NOW), 0.0)
    assert kept.next_turn_s([], CENTRAL, 0.0) == math.inf
