"""The DS3231, on the fake bus: its date in every form that the chip keeps, and when it has none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.buses.chips_fake import Ds3231Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.errors import BusError
from firmware.readings import Channel, Missing, RtcTime, Value, Why
from firmware.sources.rtc_ds3231 import Ds3231

EVENING = datetime(2026, 1, 17, 20, 15, 30, tzinfo=UTC)


class Bench:
    """A clock on a bus."""

    def __init__(self, utc: datetime | None = EVENING) -> None:
        self.clock = ManualClock(50.0)
        self.fake = FakeI2cBus(self.clock)
        self.model = Ds3231Model(self.clock, utc)
        self.fake.attach(0x68, self.model)
        self.rtc = Ds3231(I2cBus(1, self.fake), 0x68, Channel.RTC, self.clock)

    def value(self) -> Value:
        return self.rtc.read(self.clock.mono_s()).value

    def utc(self) -> datetime:
        value = self.value()
        assert isinstance(value, RtcTime), value
        return value.utc


def test_the_date_is_read_with_an_error_that_covers_a_year_of_drift() -> None:
    bench = Bench()
    reading = bench.rtc.read(50.0)
    assert isinstance(reading.value, RtcTime)
    assert reading.value.utc == EVENING
    assert reading.value.error_s == pytest.approx(111.7, abs=0.1)
    assert reading.source == "ds3231@i2c-1:0x68"
    assert reading.channel is Channel.RTC


def test_it_ticks() -> None:
    bench = Bench()
    bench.clock.advance(3600.0)
    assert bench.utc() == EVENING + timedelta(hours=1)


def test_a_clock_that_has_stopped_is_not_trusted() -> None:
    bench = Bench()
    bench.model.battery_dies()
    assert bench.value() == Missing(
        Why.NOT_TRUSTED,
        "the battery clock has stopped: set it (a GPS fix does) and change its battery",
    )


def test_setting_it_clears_the_stop_flag_and_shrinks_the_error() -> None:
    bench = Bench(None)
    assert isinstance(bench.value(), Missing)
    bench.rtc.write(EVENING)
    bench.clock.advance(86_400.0)
    value = bench.value()
    assert value == RtcTime(EVENING + timedelta(days=1), pytest.approx(1.3, abs=0.01))
    assert not bench.model.has_stopped


def test_setting_it_lets_the_oscillator_run_on_its_battery() -> None:
    bench = Bench()
    bench.rtc.chip.write(0x0E, b"\x9c")
    bench.rtc.write(EVENING)
    assert bench.rtc.chip.read(0x0E, 1) == b"\x1c"


def test_it_is_set_to_the_nearest_second_and_in_utc() -> None:
    bench = Bench()
    bench.rtc.write(datetime(2026, 1, 17, 14, 15, 30, 600_000, timezone(timedelta(hours=-6))))
    assert bench.utc() == EVENING + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("hours", "hour"),
    [
        (0x68, 20),  # zephyr #113994: 8 PM was read as 14
        (0x52, 0),
        (0x41, 1),
        (0x51, 11),
        (0x72, 12),
        (0x61, 13),
        (0x71, 23),
        (0x23, 23),
        (0x00, 0),
    ],
)
def test_hours_of_both_forms_are_read(hours: int, hour: int) -> None:
    bench = Bench()
    bench.rtc.chip.write(0x02, bytes([hours]))
    assert bench.utc().hour == hour
    assert bench.rtc.chip.read(0x02, 1) == bytes([hours])  # the model keeps the form too


def test_the_century_bit_counts_a_hundred_years() -> None:
    bench = Bench(datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC))
    bench.clock.advance(2.0)
    assert bench.utc() == datetime(2100, 1, 1, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("ones", "all its registers read 0xFF: look at its wires"),
        ("zeros", "its registers 00 00 00 00 00 00 00 are no date"),
    ],
)
def test_a_broken_wire_is_no_date(fault: str, detail: str) -> None:
    bench = Bench()
    bench.fake.fault(0x68, fault)
    assert bench.value() == Missing(Why.NOT_TRUSTED, detail)


@pytest.mark.parametrize(
    "registers",
    [
        "1f 15 20 06 17 01 26",
        "7a 15 20 06 17 01 26",
        "30 15 20 06 31 02 26",
        "30 15 53 06 17 01 26",
    ],
)
def test_registers_that_hold_no_date_are_not_trusted(registers: str) -> None:
    clock = ManualClock()

    class Broken(Ds3231Model):
        def read(self, count: int) -> bytes:
            return bytes.fromhex(registers) + bytes(count - 7)

    fake = FakeI2cBus(clock)
    fake.attach(0x68, Broken(clock))
    rtc = Ds3231(I2cBus(1, fake), 0x68, Channel.RTC, clock)
    assert rtc.read(0.0).value == Missing(Why.NOT_TRUSTED, f"its registers {registers} are no date")


def test_a_clock_that_the_kernel_holds_says_what_to_do() -> None:
    bench = Bench()
    bench.fake.fault(0x68, "busy")
    value = bench.value()
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER
    assert "is held by the kernel's own driver (errno 16)" in value.detail
    assert "i2c-rtc" in value.detail
    with pytest.raises(BusError):
        bench.rtc.write(EVENING)


@pytest.mark.parametrize(
    ("utc", "message"),
    [
        (datetime(2026, 1, 1), "2026-01-01 00:00:00: must say its time zone"),  # noqa: DTZ001  # the fault tried
        (datetime(1999, 1, 1, tzinfo=UTC), "1999-01-01 00:00:00+00:00: must be from 2000 to 2099"),
    ],
)
def test_a_date_that_it_can_not_keep_is_refused(utc: datetime, message: str) -> None:
    bench = Bench()
    with pytest.raises(ValueError) as caught:
        bench.rtc.write(utc)
    assert str(caught.value) == message
    assert bench.fake.transfers == 0


@given(
    st.datetimes(
        min_value=datetime(2000, 1, 1),  # noqa: DTZ001  # hypothesis adds the zone
        max_value=datetime(2099, 12, 31, 23, 59, 59),  # noqa: DTZ001  # hypothesis adds the zone
        timezones=st.just(UTC),
    )
)
def test_every_second_of_the_century_is_read_as_it_was_set(utc: datetime) -> None:
    bench = Bench()
    whole = utc.replace(microsecond=0)
    bench.rtc.write(whole)
    assert bench.utc() == whole


# It is set from the satellites, by its own bus's thread.


def test_an_offered_date_is_taken_at_the_next_turn_and_not_before() -> None:
    bench = Bench(None)
    transfers = bench.fake.transfers
    bench.rtc.offer(EVENING, bench.clock.mono_s())
    assert bench.fake.transfers == transfers
    bench.clock.advance(4.0)
    assert bench.utc() == EVENING + timedelta(seconds=4)
    assert not bench.model.has_stopped


def test_a_date_that_agrees_is_left_alone_for_a_day() -> None:
    bench = Bench(None)
    bench.rtc.write(EVENING)
    for hours in range(1, 24):
        bench.clock.advance(3600.0)
        transfers = bench.fake.transfers
        bench.rtc.offer(EVENING + timedelta(hours=hours), bench.clock.mono_s())
        bench.value()
        assert bench.fake.transfers == transfers + 3  # read only: date, memory, memory
    bench.clock.advance(3600.0)
    bench.rtc.offer(EVENING + timedelta(hours=24, seconds=1), bench.clock.mono_s())
    assert bench.utc() == EVENING + timedelta(hours=24, seconds=1)


def test_an_hour_between_it_and_the_satellites_is_put_right_at_once() -> None:
    bench = Bench()
    bench.rtc.offer(EVENING + timedelta(hours=1), bench.clock.mono_s())
    assert bench.utc() == EVENING + timedelta(hours=1)


def test_its_drift_is_what_it_gained_since_it_was_set() -> None:
    bench = Bench(None)
    bench.rtc.write(EVENING)
    bench.clock.advance(30 * 86_400.0)
    bench.model.utc += timedelta(seconds=9)  # 30 days at 3.5 ppm
    bench.rtc.offer(EVENING + timedelta(days=30), bench.clock.mono_s())
    value = bench.value()
    assert isinstance(value, RtcTime)
    assert value.utc == EVENING + timedelta(days=30)
    assert value.drift_ppm == pytest.approx(3.5, abs=0.3)
    assert value.error_s == pytest.approx(1.0, abs=0.01)


def test_a_drift_that_its_resolution_hides_is_not_told() -> None:
    bench = Bench(None)
    bench.rtc.write(EVENING)
    bench.clock.advance(3600.0)
    bench.rtc.offer(EVENING + timedelta(seconds=3605), bench.clock.mono_s())
    value = bench.value()
    assert isinstance(value, RtcTime)
    assert value.utc == EVENING + timedelta(seconds=3605)
    assert value.drift_ppm is None


def test_another_run_of_the_unit_knows_when_it_was_set() -> None:
    bench = Bench(None)
    bench.rtc.write(EVENING)
    bench.clock.advance(10 * 86_400.0)
    again = Ds3231(I2cBus(1, bench.fake), 0x68, Channel.RTC, bench.clock)
    value = again.read(bench.clock.mono_s()).value
    assert isinstance(value, RtcTime)
    assert value.error_s == pytest.approx(4.0, abs=0.1)
    bench.model.battery_dies()
    bench.model.has_stopped = False
    value = again.read(bench.clock.mono_s()).value
    assert isinstance(value, RtcTime)
    assert value.error_s == pytest.approx(111.7, abs=0.1)


def test_a_bus_that_fails_while_it_is_set_is_no_answer_and_it_is_set_later() -> None:
    bench = Bench(None)
    bench.rtc.offer(EVENING, bench.clock.mono_s())
    bench.fake.fail_next(0x68, [0, 5, 5])
    value = bench.value()
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER
    bench.rtc.offer(EVENING, bench.clock.mono_s())
    assert bench.utc() == EVENING
