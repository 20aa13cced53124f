"""The ADS1115, on the fake bus: each voltage of its own input, supplies, and supervised loops."""

from __future__ import annotations

import pytest

from firmware.buses.chips_fake import Ads1115Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.errors import SledwardenError
from firmware.readings import Channel, Missing, Supply, Tether, TetherState, Value, Why
from firmware.sources.adc_ads1115 import (
    Ads1115,
    Loop,
    SupplySense,
    TetherLoop,
    Wiring,
)

LOOP = Loop(2200.0, 1000.0, 3300.0)
WORDS: dict[TetherState, Wiring] = {
    TetherState.IN: "closed",
    TetherState.OUT: "opened",
    TetherState.OPEN: "open",
    TetherState.SHORT: "short",
}


class Bench:
    """A converter on a bus."""

    def __init__(self) -> None:
        self.clock = ManualClock(100.0)
        self.fake = FakeI2cBus(self.clock)
        self.model = Ads1115Model(self.clock)
        self.fake.attach(0x48, self.model)
        self.adc = Ads1115(I2cBus(1, self.fake), 0x48, self.clock)

    def volts(self, number: int) -> float:
        volts = self.adc.volts(number)
        assert not isinstance(volts, Missing), volts
        return volts


def test_each_input_is_measured_to_a_millivolt() -> None:
    bench = Bench()
    bench.model.volts = [0.0, 0.5, 1.234, 3.3]
    assert [bench.volts(number) for number in range(4)] == pytest.approx(
        [0.0, 0.5, 1.234, 3.3], abs=0.001
    )


def test_field_case_of_one_input_shown_as_another() -> None:
    # RobTillaart/ADS1X15 #58: request and result out of step.
    bench = Bench()
    bench.model.volts = [2.5, 0.0125, 0.0, 0.0]
    for _ in range(100):
        assert bench.volts(0) == pytest.approx(2.5, abs=0.001)
        assert bench.volts(1) == pytest.approx(0.0125, abs=0.001)


def test_field_case_of_the_multiplexer_that_stays_at_its_power_on_setting() -> None:
    # ori-platform/ori-runtime #500: every channel read the difference of the inputs 0 and 1.
    class Stuck(Ads1115Model):
        def write(self, payload: bytes) -> None:
            super().write(payload[:1])  # takes the pointer, and no configuration

    bench = Bench()
    bench.fake.attach(0x48, Stuck(bench.clock))
    assert bench.adc.volts(0) == Missing(Why.NOT_TRUSTED, "measured as 0x8583 says, not as 0x4383")


def test_a_chip_that_loses_its_supply_in_mid_conversion_is_no_number() -> None:
    bench = Bench()
    bench.model.volts = [2.0] * 4
    model = bench.model

    class Cut(ManualClock):
        def sleep(self, ride_s: float) -> None:
            super().sleep(ride_s)
            model.power_cut()

    bench.adc = Ads1115(I2cBus(1, bench.fake), 0x48, Cut(100.0))
    value = bench.adc.volts(0)
    assert isinstance(value, Missing)
    assert value.why is Why.NOT_TRUSTED


def test_a_slow_conversion_is_waited_for_and_one_without_end_is_no_number() -> None:
    bench = Bench()
    bench.model.volts = [1.0] * 4
    bench.model._RATES_HZ = (60.0,) * 8  # type: ignore[misc]  # one chip's own, half as fast
    assert bench.volts(0) == pytest.approx(1.0, abs=0.001)
    bench.model._RATES_HZ = (1.0,) * 8  # type: ignore[misc]  # never within three looks
    assert bench.adc.volts(0) == Missing(Why.NO_ANSWER, "its conversion does not end")


def test_a_wire_below_ground_is_zero_and_never_less() -> None:
    bench = Bench()
    bench.model.volts = [-0.2] * 4
    assert bench.volts(0) == 0.0


def test_more_than_the_range_is_saturated() -> None:
    bench = Bench()
    bench.model.supply_v = 5.0
    bench.model.volts = [4.8] * 4
    assert bench.adc.volts(0) == Missing(Why.SATURATED, "count 0x7FFF: beyond 4.096 V")


@pytest.mark.parametrize(("fault", "found"), [("ones", "0xFFFF"), ("zeros", "0x0000")])
def test_all_ones_and_all_zeros_are_no_number(fault: str, found: str) -> None:
    bench = Bench()
    bench.fake.fault(0x48, fault)
    assert bench.adc.volts(2) == Missing(
        Why.NOT_TRUSTED, f"measured as {found} says, not as 0x6383"
    )


@pytest.mark.parametrize("fault", ["eio", "nack", "hang", "busy"])
def test_a_chip_that_fails_is_no_answer_and_comes_back_by_itself(fault: str) -> None:
    bench = Bench()
    bench.model.volts = [1.0] * 4
    bench.fake.fault(0x48, fault)
    value = bench.adc.volts(0)
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER
    assert value.detail.startswith("adc (ads1115) at 0x48 on i2c-1: ")
    bench.fake.fault(0x48, "clear")
    assert bench.volts(0) == pytest.approx(1.0, abs=0.001)


def test_an_address_that_it_can_not_have_is_refused() -> None:
    clock = ManualClock()
    with pytest.raises(SledwardenError, match="must be 0x48 or 0x49 or 0x4A or 0x4B"):
        Ads1115(I2cBus(1, FakeI2cBus(clock)), 0x4C, clock)


# The supply of a lamp.


def supply(volts: float, open_v: float | None = None) -> Value:
    bench = Bench()
    sense = SupplySense(bench.adc, 1, Channel.SUPPLY_TAIL, 5.55, 8.0, open_v)
    bench.model.volts = [3.3, volts / 5.55, 3.3, 3.3]
    reading = sense.read(bench.clock.mono_s())
    assert (reading.channel, reading.source) == (Channel.SUPPLY_TAIL, "ads1115@i2c-1:0x48:1")
    assert reading.fresh_s is not None
    assert reading.fresh_s + sense.period_s <= 2.0
    return reading.value


@pytest.mark.parametrize(
    ("volts", "is_on", "is_open"),
    [(13.8, True, False), (8.1, True, False), (7.9, False, True), (1.8, False, True),
     (0.9, False, False), (0.0, False, False)],
)  # fmt: skip
def test_a_lamp_is_supplied_off_or_its_wire_is_open(
    volts: float, is_on: bool, is_open: bool
) -> None:
    value = supply(volts, open_v=1.0)
    assert value == Supply(is_on, pytest.approx(volts, abs=0.01), is_open)


def test_without_a_pull_up_a_broken_wire_reads_as_no_supply() -> None:
    assert supply(1.8) == Supply(False, pytest.approx(1.8, abs=0.01))


def test_a_supply_that_is_not_measured_is_not_off() -> None:
    bench = Bench()
    bench.fake.fault(0x48, "nack")
    value = SupplySense(bench.adc, 0, Channel.SUPPLY_HEAD, 5.55, 8.0).read(100.0).value
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER


# The supervised loop of the tether.


@pytest.mark.parametrize("state", list(TetherState))
@pytest.mark.parametrize("is_closed_when_in", [True, False])
@pytest.mark.parametrize("error", [0.95, 1.0, 1.05])
def test_attached_pulled_broken_and_shorted_are_told_apart(
    state: TetherState, is_closed_when_in: bool, error: float
) -> None:
    bench = Bench()
    switch = TetherLoop(bench.adc, 2, LOOP, is_closed_when_in)
    wiring = WORDS[state]
    if not is_closed_when_in:
        swapped: dict[Wiring, Wiring] = {"closed": "opened", "opened": "closed"}
        wiring = swapped.get(wiring, wiring)
    bench.model.volts[2] = LOOP.volts(wiring) * error
    assert switch.read(100.0).value == Missing(Why.STARTING)
    assert switch.read(100.1).value == Tether(state)


def test_resistors_five_percent_off_tell_the_same() -> None:
    low, middle, high = LOOP.edges_v()
    for series in (950.0, 1050.0):
        for across in (3135.0, 3465.0):
            made = Loop(2200.0, series, across)
            assert low < made.volts("closed") < middle < made.volts("opened") < high


def test_a_drop_out_seen_once_is_no_pull_and_a_pull_is_told_at_the_second_look() -> None:
    bench = Bench()
    switch = TetherLoop(bench.adc, 2, LOOP, is_closed_when_in=True)
    seen = []
    for wiring in ("closed", "closed", "opened", "closed", "opened", "opened", "short", "short"):
        bench.model.volts[2] = LOOP.volts(wiring)  # type: ignore[arg-type]  # four of its words
        value = switch.read(bench.clock.mono_s()).value
        seen.append(value.state if isinstance(value, Tether) else None)
    assert seen == [
        None,
        TetherState.IN,
        TetherState.IN,
        TetherState.IN,
        TetherState.IN,
        TetherState.OUT,
        TetherState.OUT,
        TetherState.SHORT,
    ]
    assert 2 * switch.period_s <= 0.2
