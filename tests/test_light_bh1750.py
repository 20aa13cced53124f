"""The BH1750, on the fake bus: lux with its error, and every state that is not a number."""

from __future__ import annotations

import pytest
from light_bench import LightBench

from firmware.buses.chips_fake import Bh1750Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.errors import SledwardenError
from firmware.readings import Channel, Light, Missing, Value, Why
from firmware.sources.light_bh1750 import Bh1750


class Bench(LightBench[Bh1750Model, Bh1750]):
    """A sensor that looks at so much light."""

    def __init__(self, lux: float) -> None:
        super().__init__(
            lambda clock: Bh1750Model(clock, lux),
            Bh1750,
            0x23,
            Channel.LIGHT_HEAD,
            settling_reads=5,
        )


def lux_of(value: Value) -> float:
    assert isinstance(value, Light), value
    return value.lux


def test_lux_comes_with_its_error_stamp_and_source() -> None:
    bench = Bench(850.0)
    first = bench.sensor.read(bench.clock.mono_s())
    assert first.value == Missing(Why.STARTING, "the first conversion has not ended")
    bench.clock.advance(0.25)
    reading = bench.sensor.read(bench.clock.mono_s())
    assert reading.channel is Channel.LIGHT_HEAD
    assert reading.source == "bh1750@i2c-1:0x23"
    assert reading.mono_s == 100.25
    assert isinstance(reading.value, Light)
    assert reading.value.lux == pytest.approx(850.0, abs=0.5)
    assert reading.value.error_lux == pytest.approx(0.2 * 850 + 2.5, abs=0.1)
    assert reading.value.red_share is None


def test_a_dead_chip_is_seen_within_two_seconds() -> None:
    reading = Bench(850.0).sensor.read(100.0)
    assert reading.fresh_s is not None
    assert 4 * Bh1750.period_s < reading.fresh_s
    assert reading.fresh_s + Bh1750.period_s <= 2.0


def test_the_slowest_chip_of_the_data_sheet_is_never_read_before_its_conversion_ends() -> None:
    bench = Bench(850.0)
    bench.model.conversion_s = 0.180
    assert all(lux_of(value) == pytest.approx(850, abs=0.5) for value in bench.run(20)[1:])


def test_a_chip_that_stops_answering_is_no_answer_and_comes_back_by_itself() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.fake.fault(0x23, "nack")
    value = bench.next()
    assert value == Missing(
        Why.NO_ANSWER,
        "light.head (bh1750) at 0x23 on i2c-1: does not answer (errno 121)."
        " Check its power, its wires and its address.",
    )
    bench.model.power_cut()
    bench.fake.fault(0x23, "clear")
    assert [type(value) for value in bench.run(2)] == [Missing, Light]


def test_single_failures_lose_no_reading_and_are_counted() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.fake.fail_next(0x23, [0, 121, 0, 5, 0])
    assert all(lux_of(value) == pytest.approx(850, abs=0.5) for value in bench.run(3))
    assert bench.sensor.chip.failures == 2


def test_field_case_of_a_chip_that_fails_now_and_then_reads_on() -> None:
    # geeekpi/upsplus #130: good, failed, good, failed, failed, good.
    bench = Bench(0x190 / 1.2)
    bench.run(3)
    bench.fake.fail_next(0x23, [0, 121, 0, 121, 121, 0])
    values = bench.run(6)
    assert [type(value) for value in values] == [Light, Light, Missing, Missing, Light, Light]
    assert bench.sensor.chip.failures == 3


def test_field_case_of_a_chip_that_is_late_after_start_is_no_answer_until_its_first_value() -> None:
    # kplindegaard/smbus2 #36: errno 6 for half a second, then fine.
    bench = Bench(0x190 / 1.2)
    bench.fake.fail_next(0x23, [6, 6, 6, 6])
    first, second, third, fourth = bench.run(4)
    assert isinstance(first, Missing)
    assert first.why is Why.NO_ANSWER
    assert isinstance(second, Missing)
    assert isinstance(third, Missing)
    assert third.why is Why.STARTING
    assert lux_of(fourth) == pytest.approx(0x190 / 1.2)


def test_a_full_count_is_saturated_and_not_a_number() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.fake.fault(0x23, "saturate")
    assert bench.next() == Missing(
        Why.SATURATED, "count 65535: too much light, or the wire reads ones"
    )
    bench.fake.fault(0x23, "clear")
    assert lux_of(bench.next()) == pytest.approx(850, abs=0.5)


def test_sunlit_snow_is_measured_in_the_shortest_time_and_back_again() -> None:
    bench = Bench(60_000.0)
    values = bench.run(4)
    assert isinstance(values[1], Missing)
    assert values[1].why is Why.SATURATED
    assert [lux_of(value) for value in values[2:]] == pytest.approx([60_000.0] * 2, abs=1)
    bench.model.lux = 850.0
    assert [lux_of(value) for value in bench.run(3)] == pytest.approx([850.0] * 3, abs=1)
    assert bench.model._time == 69


def test_more_than_the_shortest_time_can_count_is_saturated() -> None:
    assert lux_of(Bench(121_000.0).run(4)[-1]) == pytest.approx(121_000, abs=1)
    assert isinstance(Bench(122_000.0).run(4)[-1], Missing)


def test_what_the_range_before_has_left_is_never_read_as_of_this_one() -> None:
    bench = Bench(60_000.0)
    bench.model.conversion_s = 0.180
    bench.run(2)  # saturated, and set to the shortest time
    bench.clock.advance(0.05)
    assert bench.sensor.read(bench.clock.mono_s()).value == Missing(
        Why.STARTING, "the first conversion has not ended"
    )


def test_a_count_that_stands_still_even_when_reset_is_frozen() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.model.is_frozen = True
    values = bench.run(20)
    first = next(n for n, value in enumerate(values) if isinstance(value, Missing))
    assert first <= 7  # within two seconds
    assert values[first] == Missing(
        Why.NOT_TRUSTED, "its count stands still at 1020, even when reset"
    )
    assert all(isinstance(value, Missing) for value in values[first:])
    bench.model.is_frozen = False
    assert lux_of(bench.run(3)[-1]) == pytest.approx(850.0, abs=0.5)


def test_a_light_that_really_stands_still_is_no_frozen_chip() -> None:
    bench = Bench(850.0)
    bench.run(1)
    assert all(isinstance(value, Light) for value in bench.run(100))


def test_a_wire_that_reads_all_ones_is_no_number() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.fake.fault(0x23, "ones")
    assert all(isinstance(value, Missing) for value in bench.run(5))


def test_a_chip_that_lost_its_mode_never_says_zero() -> None:
    # arendst/Tasmota #8429: 0 lux for ever after the mode was lost.
    bench = Bench(20_000.0)
    bench.run(3)
    bench.model.power_cut()
    values = bench.run(4)
    assert values[0] == Missing(
        Why.NOT_TRUSTED, "exactly 0: believed when seen again in a new mode"
    )
    assert [lux_of(value) for value in values[1:]] == pytest.approx([20_000.0] * 3)


def test_a_chip_that_loses_its_mode_in_the_dark_sees_the_lamp_come_on() -> None:
    bench = Bench(0.0)
    bench.run(4)
    bench.model.power_cut()
    bench.run(3)
    bench.model.lux = 850.0
    assert lux_of(bench.run(2)[-1]) == pytest.approx(850, abs=0.5)


def test_true_darkness_is_zero_from_the_second_look_on() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.model.lux = 0.0
    first, *rest = bench.run(5)
    assert isinstance(first, Missing)
    assert rest == [Light(0.0, 2.5)] * 4


def test_a_false_zero_between_good_values_is_not_passed_on() -> None:
    # Starmbi/hp_BH1750 #2: read before the conversion had ended.
    bench = Bench(310.0)
    bench.run(3)
    bench.fake.fault(0x23, "zeros")
    value = bench.next()
    assert isinstance(value, Missing)
    assert value.why is Why.NOT_TRUSTED
    bench.fake.fault(0x23, "clear")
    assert lux_of(bench.next()) == pytest.approx(310, abs=0.5)


def test_a_hung_bus_costs_one_second_a_read_and_no_exception() -> None:
    bench = Bench(850.0)
    bench.run(3)
    bench.fake.fault(0x23, "hang")
    before_s = bench.clock.mono_s()
    value = bench.next()
    assert isinstance(value, Missing)
    assert "held low" in value.detail
    assert bench.clock.mono_s() - before_s == pytest.approx(1.25)


def test_an_address_that_a_bh1750_can_not_have_is_refused() -> None:
    clock = ManualClock()
    with pytest.raises(SledwardenError) as caught:
        Bh1750(I2cBus(1, FakeI2cBus(clock)), 0x24, Channel.LIGHT_HEAD, clock)
    assert str(caught.value) == (
        "light.head (bh1750): address 0x24: must be 0x23 or 0x5C. See the part's label."
    )
