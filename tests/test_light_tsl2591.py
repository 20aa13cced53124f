"""The TSL2591, on the fake bus: lux at three gains, and every state that is not a number."""

from __future__ import annotations

import pytest
from light_bench import LightBench

from firmware.buses.chips_fake import Tcs34725Model, Tsl2591Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.errors import SledwardenError
from firmware.readings import Channel, Light, Missing, Why
from firmware.sources.light_tcs34725 import Tcs34725
from firmware.sources.light_tsl2591 import DIM_COUNTS, FULL, GAINS, Tsl2591, light_of


class Bench(LightBench[Tsl2591Model, Tsl2591]):
    """A sensor that looks at so much light."""

    def __init__(self, lux: float, chip_id: int = 0x50) -> None:
        super().__init__(
            lambda clock: Tsl2591Model(clock, lux, chip_id=chip_id),
            Tsl2591,
            0x29,
            Channel.LIGHT_HEAD,
            settling_reads=5,
        )


@pytest.mark.parametrize("lux", [0.2, 3.0, 320.0, 850.0, 5_000.0, 80_000.0])
def test_the_lux_at_every_gain_are_those_of_the_lamp(lux: float) -> None:
    light = Bench(lux).light()
    assert light.lux == pytest.approx(lux, rel=0.01, abs=0.02)
    assert light.lux * 0.4 < light.error_lux < light.lux * 0.4 + 13.0


def test_the_gains_reach_into_each_other() -> None:
    """A count that is too small for one gain is well below full scale at the next."""
    for low, high in ((GAINS[0], GAINS[1]), (GAINS[1], GAINS[2])):
        assert DIM_COUNTS * high / low < 0.5 * FULL


def test_a_reading_says_its_source_and_how_long_it_is_fresh() -> None:
    reading = Bench(120.0).sensor.read(100.0)
    assert reading.source == "tsl2591@i2c-1:0x29"
    assert reading.fresh_s is not None
    assert reading.fresh_s + Tsl2591.period_s <= 2.0
    assert reading.value == Missing(Why.STARTING, "the first conversion has not ended")


@pytest.mark.parametrize(("broad", "infrared"), [(3, 4), (0, 0), (0, 5), (4, 4)])
def test_darkness_is_zero_and_never_less_and_never_divides(broad: int, infrared: int) -> None:
    # Adafruit_CircuitPython_TSL2591 #33 gave -3.5 lux, Adafruit_TSL2591_Library #45 infinity.
    light = light_of(broad, infrared, 428.0)
    assert isinstance(light, Light)
    assert light.lux == 0.0
    assert 0.0 < light.error_lux < 1.0


def test_more_infrared_than_all_light_is_not_trusted() -> None:
    assert light_of(500, 900, 1.0) == Missing(
        Why.NOT_TRUSTED, "sees more infrared (900) than all (500)"
    )


def test_a_lamp_that_comes_on_and_goes_out_is_followed_through_the_gains() -> None:
    bench = Bench(0.0)
    assert bench.light().lux == 0.0
    for lux in (850.0, 40_000.0, 2.0, 80_000.0, 0.0):
        bench.model.lux = lux
        assert bench.light().lux == pytest.approx(lux, rel=0.01, abs=0.02)


def test_a_count_at_full_scale_is_saturated_and_not_the_last_value() -> None:
    # arendst/Tasmota #8968: an overflow became a reading of -1.
    bench = Bench(850.0)
    bench.light()
    bench.fake.fault(0x29, "saturate")
    assert bench.run(3)[-1] == Missing(Why.SATURATED, "a count of 36863 or more: too much light")
    bench.fake.fault(0x29, "clear")
    assert bench.light().lux == pytest.approx(850, rel=0.01)


def test_full_scale_follows_the_time_as_the_data_sheet_says() -> None:
    bench = Bench(0.0)
    for time_code, full in ((0x00, 36_863), (0x01, 65_535), (0x05, 65_535)):
        bench.model.write(bytes([0xA0, 0x00, time_code | 0x30]))
        bench.model.write(b"\xa0\x03")
        bench.model.lux = 50_000.0
        bench.clock.advance(1.0)
        bench.model.write(b"\xb4")
        assert int.from_bytes(bench.model.read(2), "little") == full


def test_what_the_gain_before_has_left_is_never_read_as_of_this_one() -> None:
    bench = Bench(2.0)
    bench.run(2)  # dim: the next gain is set
    bench.clock.advance(0.05)
    assert bench.sensor.read(bench.clock.mono_s()).value == Missing(
        Why.STARTING, "the first conversion has not ended"
    )


def test_a_chip_that_lost_its_supply_is_set_up_again_and_never_says_zero() -> None:
    bench = Bench(850.0)
    bench.light()
    bench.model.power_cut()
    values = bench.run(3)
    assert values[0] == Missing(Why.NOT_TRUSTED, "had lost its settings, and was set up again")
    assert [type(value) for value in values[1:]] == [Light, Light]


@pytest.mark.parametrize(("fault", "found"), [("ones", "0xFF"), ("zeros", "0x00")])
def test_all_ones_and_all_zeros_are_another_chips_answer(fault: str, found: str) -> None:
    bench = Bench(850.0)
    bench.light()
    bench.fake.fault(0x29, fault)
    expected = Missing(Why.NOT_TRUSTED, f"answers with ID {found}, not as a TSL2591")
    assert bench.run(3) == [expected] * 3
    bench.fake.fault(0x29, "clear")
    assert bench.light().lux == pytest.approx(850, rel=0.01)


def test_a_tcs34725_at_its_address_is_named_and_not_written_to() -> None:
    bench = Bench(850.0)
    bench.fake.attach(0x29, other := Tcs34725Model(bench.clock, 500.0))
    assert bench.run(2)[-1] == Missing(
        Why.NOT_TRUSTED, "answers with ID 0x44, and so is a TCS34725"
    )
    assert other._registers[0] == 0x00


def test_it_can_not_share_a_bus_with_a_tcs34725() -> None:
    clock = ManualClock()
    bus = I2cBus(1, FakeI2cBus(clock))
    Tcs34725(bus, 0x29, Channel.LIGHT_TAIL, clock)
    with pytest.raises(SledwardenError) as caught:
        Tsl2591(bus, 0x29, Channel.LIGHT_HEAD, clock)
    assert str(caught.value) == (
        "light.head (tsl2591): address 0x29 on i2c-1: is taken by light.tail (tcs34725)."
        " Give one of them another address, or put it on another bus."
    )


def test_counts_that_stand_still_though_begun_anew_are_frozen() -> None:
    bench = Bench(850.0)
    bench.light()
    bench.model.is_frozen = True
    values = bench.run(20)
    first = next(n for n, value in enumerate(values) if isinstance(value, Missing))
    assert first <= 8
    assert values[first] == Missing(Why.NOT_TRUSTED, "its counts stand still, even when begun anew")
    assert all(isinstance(value, Missing) for value in values[first:])
    bench.model.is_frozen = False
    assert bench.light().lux == pytest.approx(850, rel=0.01)


def test_a_light_that_really_stands_still_is_no_frozen_chip() -> None:
    bench = Bench(850.0)
    bench.run(3)
    assert all(isinstance(value, Light) for value in bench.run(100))


@pytest.mark.parametrize("fault", ["eio", "nack", "hang", "busy"])
def test_a_chip_that_fails_is_no_answer_and_comes_back_by_itself(fault: str) -> None:
    bench = Bench(850.0)
    bench.light()
    bench.fake.fault(0x29, fault)
    value = bench.next()
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER
    bench.fake.fault(0x29, "clear")
    assert bench.light().lux == pytest.approx(850, rel=0.01)
