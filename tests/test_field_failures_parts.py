"""How the parts of other such products failed in the field, and what ours do with the same input.

The kinds light, adc, i2c, gpio, rtc and clock; a case about a chip that we do not carry is applied
to ours of its kind. The other kinds are in `test_field_failures.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from field_failures import Case, cases_of
from judging import WI, configured, fix_of

from firmware.buses.chips_fake import (
    Ads1115Model,
    Bh1750Model,
    Ds3231Model,
    Tcs34725Model,
    Tsl2591Model,
    Veml7700Model,
)
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.findings import Finding
from firmware.monitor import Monitor, build
from firmware.readings import (
    Channel,
    Engine,
    Light,
    Missing,
    Reading,
    RtcTime,
    Tether,
    TetherState,
    Value,
    Why,
)
from firmware.sources.adc_ads1115 import Ads1115
from firmware.sources.base import Poller
from firmware.sources.light_bh1750 import Bh1750
from firmware.sources.light_tcs34725 import Tcs34725
from firmware.sources.light_tsl2591 import FULL, Tsl2591, light_of
from firmware.sources.light_veml7700 import Veml7700
from firmware.sources.rtc_ds3231 import Ds3231
from firmware.sources.tether import TetherSwitch

KINDS = ("light", "adc", "i2c", "gpio", "rtc", "clock")
HEAD = "350.09(2)(b)"
NIGHT = datetime(2026, 1, 16, 5, tzinfo=UTC)  # 23:00 in Wisconsin
NOON = datetime(2026, 1, 16, 18, tzinfo=UTC)

DRIVES: dict[str, Callable[[Case], None]] = {}


def drives(*ids: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Names the cases that a function drives."""

    def keep(drive: Callable[[Case], None]) -> Callable[[Case], None]:
        DRIVES.update(dict.fromkeys(ids, drive))
        return drive

    return keep


@pytest.mark.parametrize("case", cases_of(KINDS), ids=str)
def test_what_failed_in_the_field_does_not_fail_here(case: Case) -> None:
    DRIVES[case.id](case)


def test_every_case_of_these_kinds_has_its_drive() -> None:
    assert {one.id for one in cases_of(KINDS)} == set(DRIVES)


# What a case is driven through -----------------------------------------------------------------


class Bench:
    """One chip on a fake bus, read at its own period."""

    def __init__(self, model: Callable[[ManualClock], Any], chip: Any, address: int) -> None:
        self.clock = ManualClock(100.0)
        self.fake = FakeI2cBus(self.clock)
        self.model = model(self.clock)
        self.fake.attach(address, self.model)
        self.sensor = chip(I2cBus(1, self.fake), address, Channel.LIGHT_HEAD, self.clock)

    def next(self) -> Reading:
        self.clock.advance(self.sensor.period_s)
        reading: Reading = self.sensor.read(self.clock.mono_s())
        return reading

    def run(self, count: int) -> list[Value]:
        return [self.next().value for _ in range(count)]


class Ride:
    """A sled that rides at 30 mph with all lamps lit, and the changes of its head lamp's clause."""

    def __init__(self, utc: datetime = NIGHT) -> None:
        self.monitor: Monitor = build(
            configured("[clock]\nfloor = 2026-01-01\n"), [WI], frozenset(Channel)
        )
        self.utc = utc
        self.found: list[Finding] = []
        for channel, value in (
            (Channel.ENGINE, Engine(True)),
            (Channel.LIGHT_HEAD, Light(310.0, 1.0)),
            (Channel.LIGHT_TAIL, Light(300.0, 1.0, 0.9)),
            (Channel.FIX, replace(fix_of(30.0), utc=utc)),
        ):
            self.say(100.0, channel, value)

    def say(
        self, at_s: float, channel: Channel, value: Value, fresh_s: float | None = None
    ) -> None:
        self.hear(Reading(channel, value, at_s, "test", fresh_s), at_s)

    def hear(self, reading: Reading, at_s: float) -> None:
        outcome = self.monitor.step(reading, at_s)
        self.found += [one for _, one in outcome.findings if one.clause == HEAD]

    @property
    def lamp_failures(self) -> list[Finding]:
        return [one for one in self.found if one.verdict.is_over]


def lux_of(value: Value) -> float:
    assert isinstance(value, Light), value
    return value.lux


# Light -----------------------------------------------------------------------------------------


@drives("B055")
def a_chip_that_stays_at_zero_by_day(case: Case) -> None:
    ride = Ride(NOON)
    bench = Bench(lambda clock: Bh1750Model(clock, 0.0), Bh1750, 0x23)
    bench.run(2)
    for _ in case.given["reads"]:
        bench.model._mode = None  # what it lost
        reading = bench.next()
        ride.hear(replace(reading, channel=Channel.LIGHT_AMBIENT), bench.clock.mono_s())
        ride.hear(reading, bench.clock.mono_s())
        assert bench.model._mode == 0x10  # set up again
    held = ride.monitor.held[Channel.LIGHT_AMBIENT].value
    assert held == Missing(Why.NOT_TRUSTED, "exactly 0 lux while the sun is up")
    assert ride.lamp_failures == []


@drives("B057")
def a_zero_now_and_then(case: Case) -> None:
    bench = Bench(lambda clock: Bh1750Model(clock, 310.0), Bh1750, 0x23)
    ride = Ride()
    bench.run(2)
    for lux in case.given["lux_series"] * 8:
        bench.model.lux = lux or 310
        bench.fake.fault(0x23, "clear" if lux else "zeros")
        ride.hear(bench.next(), bench.clock.mono_s())
    assert ride.lamp_failures == []


@drives("B059", "B061")
def darkness_of_two_diodes(case: Case) -> None:
    for gain in (1.0, 25.0, 428.0):
        light = light_of(case.given["ch0"], case.given["ch1"], gain)
        assert isinstance(light, Light)
        assert light.lux == 0.0
        assert 0.0 < light.error_lux < 100.0


@drives("B062")
def overflow_of_two_diodes(case: Case) -> None:
    assert case.given["ch0"] > FULL
    bench = Bench(lambda clock: Tsl2591Model(clock, 0.5), Tsl2591, 0x29)
    bench.run(5)  # at its highest gain
    bench.fake.fault(0x29, "saturate")
    ride = Ride()
    for _ in range(40):
        reading = bench.next()
        assert isinstance(reading.value, Missing)
        ride.hear(reading, bench.clock.mono_s())
    assert ride.lamp_failures == []


@drives("B063")
def full_scale_by_integration_time(case: Case) -> None:
    # Theirs has 5047, 37177 and 65535 at three times; ours 36863 at its shortest, 65535 above.
    assert [one["saturated"] for one in case.given["cases"]] == [True, True, False, True]
    bench = Bench(lambda clock: Tsl2591Model(clock, 1e6), Tsl2591, 0x29)
    for time_code, full in ((0, FULL), (3, 65_535)):
        bench.model.write(bytes([0xA1, time_code]))
        bench.model.write(b"\xa0\x03")
        bench.clock.advance(1.0)
        bench.model.write(b"\xb4")
        assert int.from_bytes(bench.model.read(2), "little") == full
    assert bench.run(4)[-1] == Missing(Why.SATURATED, "a count of 36863 or more: too much light")
    below = Bench(lambda clock: Tsl2591Model(clock, 80_000.0), Tsl2591, 0x29)
    assert lux_of(below.run(4)[-1]) == pytest.approx(80_000, rel=0.01)


@drives("B064")
def brighter_than_the_sun(case: Case) -> None:
    ride = Ride()
    for turn, lux in enumerate([310.0] * 8 + case.given["lux_series"][2:3] + [310.0] * 8):
        ride.say(101.0 + turn / 4, Channel.LIGHT_HEAD, Light(float(lux), 1.0), 1.75)
        assert ride.monitor.held[Channel.LIGHT_HEAD].value == Light(310.0, 1.0)
    assert ride.lamp_failures == []
    for turn, lux in enumerate(case.given["lux_series"] * 3):  # a lamp that is out stays out
        ride.say(110.0 + turn / 4, Channel.LIGHT_HEAD, Light(float(lux), 1.0), 1.75)
    assert ride.monitor.findings[HEAD].verdict.is_over


@drives("B067")
def the_last_value_while_saturated(case: Case) -> None:
    first, *rest = case.given["series_clear"]
    assert set(rest) == {1024 * (256 - case.given["ATIME"])}
    bench = Bench(lambda clock: Tcs34725Model(clock, 3000.0), Tcs34725, 0x29)
    assert lux_of(bench.run(3)[-1]) == pytest.approx(first, rel=0.01)
    bench.model.lux = 40_000.0
    bench.run(1)  # the conversion that was under way
    assert {value.why for value in bench.run(3) if isinstance(value, Missing)} == {Why.SATURATED}


@drives("B071")
def zero_after_a_power_cut(case: Case) -> None:
    bench = Bench(lambda clock: Veml7700Model(clock, 310.0), Veml7700, 0x10)
    ride = Ride()
    bench.run(4)
    bench.model.power_cut()
    bench.model.write(b"\x00")
    assert list(bench.model.read(2)) == case.given["config_readback"]
    readings = [bench.next() for _ in case.given["reads"]]
    for reading in readings:
        ride.hear(reading, reading.mono_s)
    assert readings[0].value == Missing(
        Why.NOT_TRUSTED, "had lost its settings, and was set up again"
    )
    assert [lux_of(reading.value) for reading in readings[1:]] == pytest.approx(
        [310.0] * 4, rel=0.01
    )
    assert ride.lamp_failures == []


# The converter ---------------------------------------------------------------------------------


@drives("B073")
def the_input_that_is_never_chosen(case: Case) -> None:
    class Stuck(Ads1115Model):
        def write(self, payload: bytes) -> None:
            super().write(payload[:1])

    clock = ManualClock()
    fake = FakeI2cBus(clock)
    fake.attach(0x48, model := Stuck(clock))
    model.write(b"\x01")
    assert list(model.read(2)) == case.given["config_readback"]
    value = Ads1115(I2cBus(1, fake), 0x48, clock).volts(0)
    assert isinstance(value, Missing)
    assert value.why is Why.NOT_TRUSTED


@drives("B075")
def one_input_copied_to_the_other(case: Case) -> None:
    clock = ManualClock()
    fake = FakeI2cBus(clock)
    fake.attach(0x48, model := Ads1115Model(clock))
    truth = [case.given["truth"][name] * 4.096 / 32768 for name in ("ch0", "ch1")]
    model.volts[:2] = truth
    adc = Ads1115(I2cBus(1, fake), 0x48, clock)
    for turn in range(200):
        number = turn * 7 % 3 % 2
        assert adc.volts(number) == pytest.approx(truth[number], abs=0.001)


# The bus ---------------------------------------------------------------------------------------


def _errnos(case: Case) -> list[int]:
    words = [one.split() for one in case.given["reads"]]
    return [0 if word[0] == "ok" else int(word[1]) for word in words]


@drives("B048")
def a_transfer_that_fails_now_and_then(case: Case) -> None:
    bench = Bench(lambda clock: Bh1750Model(clock, 0x190 / 1.2), Bh1750, 0x23)
    ride = Ride()
    bench.run(2)
    bench.fake.fail_next(0x23, _errnos(case))
    for _ in range(8):
        ride.hear(bench.next(), bench.clock.mono_s())
    assert ride.lamp_failures == []
    assert [str(one.verdict) for one in ride.found] == ["unknown", "compliant"]  # since its start
    assert bench.sensor.chip.failures == 3


@drives("B049")
def a_chip_that_is_late_after_start(case: Case) -> None:
    bench = Bench(lambda clock: Bh1750Model(clock, 0x190 / 1.2), Bh1750, 0x23)
    bench.fake.fail_next(0x23, [number for number in _errnos(case) if number] * 2)
    values = bench.run(6)
    assert all(isinstance(value, Missing) for value in values[:4])
    assert lux_of(values[-1]) == pytest.approx(0x190 / 1.2, abs=0.5)


@drives("B052")
def a_register_taken_for_a_length(case: Case) -> None:
    class Plain:
        def write(self, payload: bytes) -> None:
            """Takes the register."""

        def read(self, count: int) -> bytes:
            return bytes(case.given["device_returns"])[:count]

    fake = FakeI2cBus(ManualClock())
    fake.attach(0x29, Plain())
    assert list(I2cBus(1, fake).read(0x29, 0xB4, 2)) == case.given["device_returns"]
    for path in (Path(__file__).parent.parent / "firmware").rglob("*.py"):
        assert f"bus.{case.given['call']}(" not in path.read_text(encoding="utf-8"), path


# The pins --------------------------------------------------------------------------------------


def _switched(case: Case, until_s: float) -> list[tuple[float, TetherState]]:
    """The changes that a tether switch posts of these levels; 1 is attached."""
    clock = ManualClock(0.0)
    pins = FakePins(clock)
    levels = [(at / 1000.0, bool(level)) for at, level in case.given["level_ms"]]
    pins.drive(17, not levels[0][1])
    switch = TetherSwitch(pins, 17, clock, "open_when_in")
    posted: list[Reading] = []
    before_s = 1.0  # the level before the first of them has lasted
    levels = [(0.0, not levels[0][1]), *((at_s + before_s, level) for at_s, level in levels)]
    for at_s, level in [*levels, (until_s + before_s, None)]:
        while (due_s := switch.step(posted.append, clock.mono_s())) < at_s:
            clock.advance(max(0.0, due_s - clock.mono_s()))
        clock.advance(max(0.0, at_s - clock.mono_s()))
        if level is not None:
            pins.drive(17, level)
    switch.stop()
    pins.close()
    changes: list[tuple[float, TetherState]] = []
    for reading in posted:
        assert isinstance(reading.value, Tether)
        if not changes or changes[-1][1] is not reading.value.state:
            changes.append((round((reading.mono_s - before_s) * 1000), reading.value.state))
    return changes[1:]


@drives("B041")
def the_edge_after_a_short_pulse(case: Case) -> None:
    assert _switched(case, 6.0)[-1] == (5000, TetherState.IN)


@drives("B042")
def presses_and_releases_in_pairs(case: Case) -> None:
    assert _switched(case, 2.0) == [(9, TetherState.IN), (404, TetherState.OUT)]


@drives("B043")
def a_glitch_on_a_steady_level(case: Case) -> None:
    assert _switched(case, 5.0) == [(0, TetherState.IN)]


@drives("B045")
def no_filter_at_all(case: Case) -> None:
    assert _switched(case, 2.0) == [(8, TetherState.IN), (303, TetherState.OUT)]


# Clocks ----------------------------------------------------------------------------------------


@drives("B077")
def twelve_hours(case: Case) -> None:
    clock = ManualClock()
    fake = FakeI2cBus(clock)
    fake.attach(0x68, model := Ds3231Model(clock, NIGHT))
    model.write(bytes([0x02, case.given["reg_02"]]))
    value = Ds3231(I2cBus(1, fake), 0x68, Channel.RTC, clock).read(0.0).value
    assert isinstance(value, RtcTime)
    assert value.utc.hour == 20


@drives("B080")
def a_wall_clock_that_goes_back(case: Case) -> None:
    before, after = (datetime.fromisoformat(text) for text in case.given["wall"])
    clock = ManualClock(case.given["monotonic_s"][0], before)
    begun_s = clock.mono_s()
    clock.advance(1.0)
    clock.step_utc((after - clock.system_utc()).total_seconds())
    assert clock.mono_s() - begun_s == case.given["monotonic_s"][1] - begun_s == 1.0
    ride = Ride()
    ride.say(101.0, Channel.LIGHT_HEAD, Light(0.0, 1.0))
    ride.say(102.9, Channel.FIX, replace(fix_of(30.0), utc=NIGHT - timedelta(hours=1)))
    assert ride.lamp_failures == []
    ride.monitor.advance(103.3)
    assert ride.monitor.findings[HEAD].verdict.is_over


@drives("B081")
def a_timer_that_stops(case: Case) -> None:
    clock = ManualClock(0.0, datetime.fromisoformat(case.given["wall"][0]))
    walls = [datetime.fromisoformat(text) for text in case.given["wall"]]
    enough = threading.Event()

    class Check:
        channel = Channel.LIGHT_HEAD
        period_s = 1.0
        seen_s: list[float] = []  # noqa: RUF012  # one object only

        def read(self, at_s: float) -> Reading:
            self.seen_s.append(at_s)
            wall = walls[min(len(self.seen_s), len(walls) - 1)]
            clock.step_utc((wall - clock.system_utc()).total_seconds())
            if len(self.seen_s) >= 10:
                enough.set()
            return Reading(self.channel, Light(300.0, 1.0), at_s, "test")

    check = Check()
    poller = Poller("i2c-1", [check], clock)
    poller.start(lambda _: None)
    assert enough.wait(60.0)
    poller.stop()
    assert check.seen_s[:10] == [float(second) for second in range(10)]
