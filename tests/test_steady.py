"""What a sensor says again is judged once a second; what changes, at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.binding import steady_of
from firmware.config.reading import parse
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Missing,
    Reading,
    Receiver,
    Supply,
    Tether,
    TetherState,
    Value,
    Why,
)
from firmware.steady import Lines, Steady

LIT = Light(850.0, 170.0)
ERRS = Missing(Why.NO_ANSWER, "eio")


def _light(mono_s: float, value: Value = LIT, channel: Channel = Channel.LIGHT_HEAD) -> Reading:
    return Reading(channel, value, mono_s, "bh1750@i2c-1:0x23", 1.75)


def _judged(steady: Steady, *readings: Reading) -> list[tuple[float, Value]]:
    """What a unit judges of these that come when they are measured: by instant and value."""
    judged = []
    for reading in readings:
        said = steady.due(reading.mono_s) + steady.take(reading)
        judged += [(one.mono_s, one.value) for one in said]
    return judged


def test_the_same_light_is_judged_about_once_a_second_as_the_word_that_was_judged() -> None:
    flickers = [replace(LIT, lux=lux) for lux in (850.0, 861.0, 840.0, 870.0, 830.0, 899.0)]
    steady = Steady()
    told = _judged(
        steady, *(_light(10.0 + number / 4, light) for number, light in enumerate(flickers))
    )
    assert told == [(10.0, LIT), (10.5, LIT)]  # at 10.75: seen last at 10.5


def test_what_creeps_within_its_error_is_judged_as_it_is_after_ten_seconds() -> None:
    dimmer = replace(LIT, lux=800.0)
    steady = Steady()
    told = _judged(
        steady, _light(10.0), *(_light(10.25 + number / 4, dimmer) for number in range(44))
    )
    assert {value for mono_s, value in told if mono_s < 20.0} == {LIT}
    assert [value for mono_s, value in told if mono_s >= 20.0] == [dimmer]


@pytest.mark.parametrize(
    "now",
    [
        Light(0.0, 2.5),
        Light(790.0, 170.0),  # by more than a third of 170 lux
        Light(850.0, 170.0, 0.5),  # where the chip sees colour now
        ERRS,
    ],
)
def test_a_change_is_judged_at_once_after_when_the_old_word_was_last_seen(now: Value) -> None:
    steady = Steady()
    told = _judged(steady, _light(10.0), _light(10.25), _light(10.5, now))
    assert told == [(10.0, LIT), (10.2, LIT), (10.5, now)]


def test_a_light_that_goes_out_exactly_is_no_dim_one() -> None:
    steady = Steady()
    dim = Light(0.5, 2.5)
    told = _judged(steady, _light(10.0, dim), _light(10.25, Light(0.0, 2.5)))
    assert [value for _, value in told] == [dim, Light(0.0, 2.5)]


def test_a_lamp_that_fades_slowly_is_followed_to_a_part_of_its_error() -> None:
    steady = Steady()
    fading = [Light(850.0 - 10.0 * step, 170.0) for step in range(60)]
    told = _judged(steady, *(_light(10.0 + step / 4, one) for step, one in enumerate(fading)))
    seen = dict(told)
    last = 850.0
    for step, one in enumerate(fading):
        value = seen.get(10.0 + step / 4)
        last = value.lux if isinstance(value, Light) else last
        assert abs(one.lux - last) <= 170.0 / 3.0


def test_a_word_that_was_seen_is_judged_before_it_would_lapse_though_its_bus_hangs() -> None:
    steady = Steady()
    assert _judged(steady, _light(10.0), _light(10.25)) == [(10.0, LIT)]
    assert [one.mono_s for one in steady.due(10.5)] == []
    assert [one.mono_s for one in steady.due(11.35)] == [10.2]  # it lapses at 11.75
    assert steady.due(30.0) == ()


def test_a_word_that_lapses_soon_is_judged_sooner() -> None:
    steady = Steady()
    looks = [replace(_light(mono_s), fresh_s=1.0) for mono_s in (10.0, 10.4)]
    assert _judged(steady, *looks) == [(10.0, LIT)]
    assert [one.mono_s for one in steady.due(10.45)] == []
    assert [one.mono_s for one in steady.due(10.55)] == [10.4]  # it lapses at 11.0


def test_all_that_waits_is_judged_at_one_instant() -> None:
    steady = Steady()
    tail = _light(10.1, Light(300.0, 108.0, 0.81), Channel.LIGHT_TAIL)
    tether = Reading(Channel.TETHER, Tether(TetherState.IN), 10.2, "gpio17", 2.5)
    engine = Reading(Channel.ENGINE, Engine(True), 10.3, "gpio27", 2.5)
    supply = Reading(Channel.SUPPLY_HEAD, Supply(True, 13.8), 10.05, "ads1115", 1.75)
    first = (_light(10.0), supply, tail, tether, engine)
    _judged(steady, *first)
    again = [replace(one, mono_s=one.mono_s + 0.5) for one in first]
    assert [steady.take(one) for one in again] == [()] * 5
    assert sorted(one.channel for one in steady.due(11.1)) == sorted(one.channel for one in first)


def test_a_contact_a_fix_and_a_press_of_it_wait_for_nothing() -> None:
    steady = Steady()
    fix = Reading(Channel.FIX, Fix(44.0, -88.0, 2.0, 9.0, 0.2), 10.0, "gps", 2.5)
    assert [steady.take(fix) for _ in range(3)] == [(fix,)] * 3
    attached = Reading(Channel.TETHER, Tether(TetherState.IN), 10.0, "gpio17", 2.5)
    out = replace(attached, value=Tether(TetherState.OUT), mono_s=10.01)
    assert (steady.take(attached), steady.take(out)) == ((attached,), (out,))


def test_a_sensor_that_stays_missing_says_so_about_once_a_second() -> None:
    steady = Steady()
    told = _judged(steady, *(_light(10.0 + number / 4, ERRS) for number in range(9)))
    assert [mono_s for mono_s, _ in told] == [10.0, 10.5, 11.2]


def test_how_the_receiver_does_is_told_each_five_seconds_and_a_note_at_once() -> None:
    def says(mono_s: float, note: str = "") -> Reading:
        told = Receiver(10.0, 12, 0.8, int(mono_s * 60), note=note)
        return Reading(Channel.RECEIVER, told, mono_s, "gps")

    steady = Steady()
    told = _judged(steady, *(says(10.0 + number) for number in range(7)), says(17.0, "no sentence"))
    assert [mono_s for mono_s, _ in told] == [10.0, 14.0, 16.0, 17.0]


def test_another_source_is_another_word() -> None:
    steady = Steady()
    other = replace(_light(10.25), source="veml7700@i2c-1:0x10")
    assert _judged(steady, _light(10.0), other) == [(10.0, LIT), (10.25, LIT)]


def test_a_simulation_that_runs_faster_holds_nothing_back() -> None:
    steady = Steady(holds_back=False)
    looks = [_light(10.0 + number / 4) for number in range(9)]
    assert [mono_s for mono_s, _ in _judged(steady, *looks)] == [one.mono_s for one in looks]


def test_a_light_that_creeps_over_a_line_of_the_rules_is_judged_at_once() -> None:
    steady = Steady(lines={Channel.LIGHT_HEAD: Lines((425.0,))})
    above, below = Light(430.0, 86.0), Light(424.0, 85.0)  # by far less than a third of the error
    told = _judged(steady, _light(10.0, above), _light(10.25, above), _light(10.5, below))
    assert told == [(10.0, above), (10.2, above), (10.5, below)]


def test_a_light_that_is_surely_below_a_line_is_judged_at_once() -> None:
    steady = Steady(lines={Channel.LIGHT_HEAD: Lines(sure_lux=(425.0,))})
    maybe, surely = Light(355.0, 71.0), Light(353.0, 71.0)  # 426 and 424 with the error
    assert _judged(steady, _light(10.0, maybe), _light(10.25, surely))[-1] == (10.25, surely)


def test_a_light_that_turns_from_red_is_judged_at_once() -> None:
    steady = Steady(lines={Channel.LIGHT_TAIL: Lines(red=(0.5,))})
    red, white = Light(300.0, 60.0, 0.505), Light(300.0, 60.0, 0.495)
    looks = [_light(at_s, one, Channel.LIGHT_TAIL) for at_s, one in ((10.0, red), (10.25, white))]
    assert _judged(steady, *looks) == [(10.0, red), (10.25, white)]


def test_each_look_is_judged_until_a_change_has_lasted() -> None:
    steady = Steady(settle_s=1.0)
    out = Light(0.0, 2.5)
    looks = [_light(10.25 + number / 4, out) for number in range(7)]
    told = _judged(steady, _light(9.75), _light(10.0), *looks)
    assert [mono_s for mono_s, _ in told] == [9.75, 10.0, 10.25, 10.5, 10.75, 11.0, 11.25]


def test_a_shadow_on_the_sky_lets_no_lamp_be_judged_more_often() -> None:
    steady = Steady(settle_s=9.0)
    shadow = [_light(10.0, Light(lux, 5.0), Channel.LIGHT_AMBIENT) for lux in (90.0, 60.0)]
    assert len(_judged(steady, *shadow)) == 2
    assert _judged(steady, _light(10.1), _light(10.2)) == [(10.1, LIT)]


def test_the_noise_of_a_calibrated_lamp_that_burns_crosses_no_line() -> None:
    text = (
        '[unit]\nid = "sled-7"\n[light.head]\nchip = "bh1750"\naddress = 0x23\n'
        "on_lux = 850\nhigh_lux = 1600\n"
    )
    steady = steady_of(parse(text, "a sled"), holds_back=True)
    noise = (850.0, 838.0, 862.0, 847.0, 856.0)  # with their errors about 1,020, a line of its own
    looks = [_light(10.0 + n / 4, Light(lux, lux / 5)) for n, lux in enumerate(noise)]
    assert [steady.take(one) for one in looks] == [(looks[0],), (), (), (), ()]
