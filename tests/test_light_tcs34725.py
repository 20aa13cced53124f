"""The TCS34725, on the fake bus: lux, the share of red, and every state that is not a number."""

from __future__ import annotations

import pytest
from light_bench import LightBench

from firmware.buses.chips_fake import Bh1750Model, Colour, Tcs34725Model
from firmware.readings import Channel, Light, Missing, Why
from firmware.sources.light_tcs34725 import Tcs34725


class Bench(LightBench[Tcs34725Model, Tcs34725]):
    """A sensor that looks at so much light."""

    def __init__(self, lux: float, colour: Colour = "red", chip_id: int = 0x44) -> None:
        super().__init__(
            lambda clock: Tcs34725Model(clock, lux, colour, chip_id),
            Tcs34725,
            0x29,
            Channel.LIGHT_TAIL,
            settling_reads=3,
        )


@pytest.mark.parametrize("chip_id", [0x44, 0x4D])
@pytest.mark.parametrize(("colour", "share"), [("red", 0.815), ("white", 0.333)])
def test_lux_and_the_share_of_red_are_those_of_the_lamp(
    colour: Colour, share: float, chip_id: int
) -> None:
    bench = Bench(120.0, colour, chip_id)
    light = bench.light()
    assert light.lux == pytest.approx(120.0, abs=1.0)
    assert light.red_share == pytest.approx(share, abs=0.01)
    assert light.error_lux == pytest.approx(0.36 * light.lux + 0.23, abs=0.1)


def test_a_reading_says_its_source_and_how_long_it_is_fresh() -> None:
    reading = Bench(120.0).sensor.read(100.0)
    assert reading.source == "tcs34725@i2c-1:0x29"
    assert reading.channel is Channel.LIGHT_TAIL
    assert reading.fresh_s is not None
    assert reading.fresh_s + Tcs34725.period_s <= 2.0
    assert reading.value == Missing(Why.STARTING, "the first conversion has not ended")


def test_a_light_too_weak_to_tell_has_no_share_of_red() -> None:
    light = Bench(0.2).light()
    assert light.red_share is None
    assert light.lux == pytest.approx(0.2, abs=0.1)


def test_a_dim_light_is_measured_at_sixteen_times_the_gain() -> None:
    bench = Bench(5.0)
    light = bench.light()
    assert light.red_share == pytest.approx(0.815, abs=0.01)
    assert light.lux == pytest.approx(5.0, abs=0.1)
    bench.model.lux = 20_000.0
    values = bench.run(4)
    assert [type(value) for value in values] == [Missing, Light, Light, Light]
    assert bench.light().lux == pytest.approx(20_000, rel=0.01)


def test_counts_that_stand_still_though_begun_anew_are_frozen() -> None:
    bench = Bench(120.0)
    bench.light()
    bench.model.is_frozen = True
    values = bench.run(20)
    first = next(n for n, value in enumerate(values) if isinstance(value, Missing))
    assert first <= 7  # within two seconds
    assert values[first] == Missing(Why.NOT_TRUSTED, "its counts stand still, even when begun anew")
    assert all(isinstance(value, Missing) for value in values[first:])
    bench.model.is_frozen = False
    assert bench.light().lux == pytest.approx(120, abs=1)


def test_a_light_that_really_stands_still_is_no_frozen_chip() -> None:
    bench = Bench(3_000.0)
    bench.light()
    assert all(isinstance(value, Light) for value in bench.run(100))


def test_darkness_is_zero_and_never_less() -> None:
    assert Bench(0.0).light() == Light(0.0, pytest.approx(0.23, abs=0.01), None)


def test_a_count_at_full_scale_is_saturated_and_not_the_last_value() -> None:
    # hideakitai/TCS34725 #1: the last value stood still in bright light.
    bench = Bench(3_000.0)
    bench.light()
    bench.model.lux = 40_000.0
    assert bench.run(3)[1:] == [Missing(Why.SATURATED, "a count of 65535: too much light")] * 2
    bench.model.lux = 3_000.0
    assert bench.light().lux == pytest.approx(3_000, rel=0.01)


def test_a_sensor_driven_past_its_range_by_a_fault_is_saturated() -> None:
    bench = Bench(120.0)
    bench.light()
    bench.fake.fault(0x29, "saturate")
    assert bench.run(2)[-1] == Missing(Why.SATURATED, "a count of 65535: too much light")


def test_full_scale_follows_the_cycles_as_the_data_sheet_says() -> None:
    bench = Bench(0.0)
    bench.model.write(b"\xa1\xf6")  # 10 cycles
    bench.model.write(b"\xa0\x03")
    bench.model.lux = 100_000.0
    bench.clock.advance(0.1)
    bench.model.write(b"\xb4")
    assert int.from_bytes(bench.model.read(2), "little") == 10_240


@pytest.mark.parametrize(("fault", "found"), [("ones", "0xFF"), ("zeros", "0x00")])
def test_all_ones_and_all_zeros_are_another_chips_answer(fault: str, found: str) -> None:
    bench = Bench(120.0)
    bench.light()
    bench.fake.fault(0x29, fault)
    expected = Missing(Why.NOT_TRUSTED, f"answers with ID {found}, not as a TCS34725")
    assert bench.run(3) == [expected] * 3
    bench.fake.fault(0x29, "clear")
    assert bench.light().lux == pytest.approx(120, abs=1)


def test_another_chip_at_the_address_is_not_written_to() -> None:
    bench = Bench(120.0)
    bench.fake.attach(0x29, other := Bh1750Model(bench.clock, 500.0))
    value = bench.next()
    assert isinstance(value, Missing)
    assert value.why is Why.NOT_TRUSTED
    bench.clock.advance(1.0)
    assert other.read(2) == b"\x00\x00"  # no mode was set on it


def test_a_chip_that_lost_its_supply_is_set_up_again_and_never_says_zero() -> None:
    bench = Bench(120.0)
    bench.light()
    bench.model.power_cut()
    values = bench.run(3)
    assert values[0] == Missing(Why.NOT_TRUSTED, "had lost its settings, and was set up again")
    assert [type(value) for value in values[1:]] == [Light, Light]


def test_a_conversion_that_has_not_ended_is_no_value() -> None:
    bench = Bench(120.0)
    bench.light()
    bench.sensor.chip.write(0xA0, b"\x00")  # off and on again: the settings are ours, AVALID is not
    bench.sensor.chip.write(0xA0, b"\x03")
    bench.clock.advance(0.05)
    assert bench.sensor.read(bench.clock.mono_s()).value == Missing(
        Why.STARTING, "the first conversion has not ended"
    )


@pytest.mark.parametrize("fault", ["eio", "nack", "hang", "busy"])
def test_a_chip_that_fails_is_no_answer_and_comes_back_by_itself(fault: str) -> None:
    bench = Bench(120.0)
    bench.light()
    bench.fake.fault(0x29, fault)
    value = bench.next()
    assert isinstance(value, Missing)
    assert value.why is Why.NO_ANSWER
    assert value.detail.startswith("light.tail (tcs34725) at 0x29 on i2c-1: ")
    bench.fake.fault(0x29, "clear")
    assert bench.light().lux == pytest.approx(120, abs=1)
    assert bench.sensor.chip.failures >= 1
