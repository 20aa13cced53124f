"""The date: the satellites' before the battery clock's, never the system's, carried on evenly."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from judging import fix_of

from firmware.readings import Fix, RtcTime
from firmware.timekeeper import Timekeeper

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
