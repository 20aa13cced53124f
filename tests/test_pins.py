"""The pins on gpiozero's mock factory: edges, outputs, rhythms, and the filter of a contact."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import threading
from itertools import pairwise

import gpiozero
import pytest

from firmware.buses.contacts import Change, Contact, Settling
from firmware.buses.pins import Pins
from firmware.buses.pins_fake import FakePins
from firmware.buses.rhythms import Player, Rhythm
from firmware.clock import Clock, ManualClock
from firmware.errors import BusError, SledwardenError


def ignore(_is_high: bool, _mono_s: float) -> None:
    """Takes an edge that the test does not look at."""


def played(level_ms: list[list[int]], settle_ms: float, end_ms: float) -> list[Change]:
    """What the filter makes of a level that changes at these instants, looked at when due."""
    filtered = Settling(settle_ms / 1000)
    changes = [filtered.edge(False, -10.0)]
    for at_ms, level in level_ms:
        changes.append(filtered.edge(bool(level), at_ms / 1000))
    changes.append(filtered.lapse(end_ms / 1000))
    return [change for change in changes if change is not None][1:]


def test_an_edge_is_stamped_by_the_clock_in_the_callback() -> None:
    clock = ManualClock(5.0)
    pins = FakePins(clock)
    edges: list[tuple[bool, float]] = []
    pin = pins.input(17, "[tether]", lambda high, at_s: edges.append((high, at_s)))
    assert pin.is_high  # by its pull-up
    pins.drive(17, False)
    clock.advance(0.5)
    pins.drive(17, True)
    assert edges == [(False, 5.0), (True, 5.5)]
    pin.close()
    pins.drive(17, False)
    assert len(edges) == 2
    pins.close()


def test_the_level_that_the_world_set_first_is_still_there_when_a_part_opens_the_pin() -> None:
    pins = FakePins(ManualClock())
    pins.drive(17, False)
    assert not pins.input(17, "[tether]", ignore, "up").is_high
    pins.close()


def test_an_output_is_low_until_it_is_told() -> None:
    pins = FakePins(ManualClock())
    pin = pins.output(22, "[leds] red")
    assert not pins.level(22)
    pin.steady(True)
    assert pins.level(22)
    assert pin.is_high
    pins.close()
    assert not pin.is_high


def test_a_pin_with_two_parts_is_refused_and_both_are_named() -> None:
    pins = FakePins(ManualClock())
    pins.input(17, "[tether]", ignore)
    with pytest.raises(SledwardenError) as caught:
        pins.output(17, "[buzzer]")
    assert str(caught.value) == (
        "[buzzer]: pin 17: is taken by [tether]. Give one of them another pin."
    )
    pins.close()


def test_a_pin_that_something_else_holds_is_one_sentence() -> None:
    pins = FakePins(ManualClock())
    other = gpiozero.LED(17, pin_factory=pins._mock)
    with pytest.raises(BusError) as caught:
        pins.output(17, "[buzzer]")
    assert str(caught.value).startswith("[buzzer]: pin 17: is in use: pin GPIO17 is already in use")
    other.close()
    pins.close()


def test_a_pin_that_the_header_does_not_have_is_one_sentence() -> None:
    pins = FakePins(ManualClock())
    with pytest.raises(SledwardenError) as caught:
        pins.output(99, "[buzzer]")
    assert str(caught.value) == "[buzzer]: pin 99: must be a BCM number of the header, 0 to 27."
    pins.close()


@pytest.mark.skipif(
    importlib.util.find_spec("lgpio") is not None, reason="lgpio is installed: this may be a Pi"
)
def test_a_machine_without_pins_is_one_sentence() -> None:
    with pytest.raises(BusError) as caught:
        Pins(ManualClock()).output(17, "[buzzer]")
    assert str(caught.value) == (
        "[buzzer]: this machine has no pins: No module named 'lgpio'."
        " On a Pi install sledwarden[unit]."
    )


def test_a_broken_wire_is_counted_and_never_raises() -> None:
    pins = FakePins(ManualClock())
    pin = pins.output(22, "[leds] red")
    pins.break_wire(22)
    pin.steady(True)
    pin.play(Rhythm(0.1, 0.1))
    assert pin.failures >= 2
    assert not pins.level(22)
    pins.break_wire(22, is_broken=False)
    pin.steady(True)
    assert pins.level(22)
    pins.close()


def test_closed_pins_can_be_opened_again_and_nothing_is_left_in_the_process() -> None:
    for _ in range(2):
        pins = FakePins(ManualClock())
        pins.output(22, "[leds] red").play(Rhythm(0.1, 0.1))
        pins.close()
        pins.close()
    assert gpiozero.Device.pin_factory is None
    assert not [one for one in threading.enumerate() if one.name == "rhythms"]


def test_a_unit_without_pins_does_not_import_gpiozero() -> None:
    code = (
        "import sys, firmware.sources.tether, firmware.sources.engine, firmware.sources.buttons,"
        " firmware.outputs.leds, firmware.outputs.buzzer, firmware.outputs.haptic;"
        " sys.exit('gpiozero' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_rhythm_is_on_and_off_in_its_time() -> None:
    flash = Rhythm(0.125, 0.125)
    assert [flash.is_on(age_s) for age_s in (0.0, 0.124, 0.125, 0.249, 0.25, 10.1)] == [
        True, True, False, False, True, True,
    ]  # fmt: skip  # one age, one answer
    assert flash.next_s(0.0) == 0.125
    assert flash.next_s(0.130) == 0.25
    twice = Rhythm(0.1, 0.2, times=2)
    assert [twice.is_on(age_s) for age_s in (0.05, 0.2, 0.35, 0.45, 0.65)] == [
        True, False, True, False, False,
    ]  # fmt: skip  # one age, one answer
    assert twice.next_s(0.35) == pytest.approx(0.4)
    assert twice.next_s(0.45) is None


def test_the_player_sets_each_output_at_its_own_instants() -> None:
    clock = ManualClock(7.0)
    changes: list[tuple[float, bool]] = []

    class Lamp:
        def put(self, is_high: bool) -> None:
            if not changes or changes[-1][1] != is_high:
                changes.append((round(clock.mono_s(), 6), is_high))

    player = Player(clock)
    player.stop()  # no thread of its own: the test turns it
    player.play(Lamp(), Rhythm(0.1, 0.3, times=2))
    due_s = player.turn(clock.mono_s())
    while due_s is not None:
        clock.advance(due_s - clock.mono_s())
        due_s = player.turn(clock.mono_s())
    assert changes == [(7.0, True), (7.1, False), (7.4, True), (7.5, False)]


def test_the_thread_flashes_at_the_pace_of_the_clock() -> None:
    clock = Clock(20.0, from_zero=True)
    pins = FakePins(clock)
    pin = pins.output(22, "[leds] red")
    seen: list[float] = []
    enough = threading.Event()

    def note(_is_high: bool, mono_s: float) -> None:
        seen.append(mono_s)
        if len(seen) >= 9:
            enough.set()

    pins.watch(22, note)
    pin.play(Rhythm(0.5, 0.5))
    assert enough.wait(10.0)
    pin.steady(False)
    assert not pins.level(22)
    count = len(seen)
    assert (seen[8] - seen[0]) == pytest.approx(4.0, abs=1.0)  # on a machine that is busy
    pins.close()
    assert len(seen) == count


def test_field_case_of_an_edge_after_a_short_pulse() -> None:
    # gpiozero #1039: the edge after a pulse shorter than the bounce time was lost.
    level_ms = [[0, 1], [100, 0], [5000, 1]]
    assert played(level_ms, 1000, 6000) == [Change(is_high=True, since_s=5.0, bounces=0)]


def test_field_case_of_presses_without_releases() -> None:
    # gpiozero #550.
    level_ms = [[0, 1], [3, 0], [5, 1], [6, 0], [9, 1], [400, 0], [402, 1], [404, 0]]
    assert played(level_ms, 20, 1000) == [
        Change(is_high=True, since_s=0.009, bounces=4),
        Change(is_high=False, since_s=0.404, bounces=2),
    ]


def test_field_case_of_a_dropout_of_ten_milliseconds() -> None:
    # gpiozero #559: a level that does not last is no event.
    level_ms = [[0, 1], [2000, 0], [2010, 1]]
    for settle_ms in (20, 50):
        assert [one.is_high for one in played(level_ms, settle_ms, 3000)] == [True]


def test_field_case_of_one_press_that_acted_four_times() -> None:
    # LuxuSam/PhysicalButton #97.
    level_ms = [
        [0, 1], [1, 0], [2, 1], [4, 0], [5, 1], [7, 0], [8, 1], [300, 0], [301, 1], [303, 0],
    ]  # fmt: skip  # the case as it was reported
    assert [one.is_high for one in played(level_ms, 20, 1000)] == [True, False]


def test_an_edge_that_was_never_told_is_found_by_looking() -> None:
    filtered = Settling(0.02)
    filtered.edge(False, 0.0)
    assert filtered.lapse(0.02) == Change(is_high=False, since_s=0.0, bounces=0)
    assert filtered.look(True, 5.0) is None
    assert filtered.look(True, 5.02) == Change(is_high=True, since_s=5.0, bounces=0)


def test_ten_thousand_noisy_pulls_are_each_seen_once_and_none_is_invented() -> None:
    dice = random.Random(20260117)
    clock = ManualClock()
    pins = FakePins(clock)
    contact = Contact(pins, 17, "[tether]", 0.020)
    changes: list[Change] = []

    def turn_to(level: bool) -> None:
        began_s = clock.mono_s()
        for _ in range(dice.randrange(4)):  # noise for up to 5 ms, in pairs of edges
            pins.drive(17, level)
            clock.advance(dice.uniform(0.0001, 0.0008))
            pins.drive(17, not level)
            clock.advance(dice.uniform(0.0001, 0.0004))
        pins.drive(17, level)
        assert clock.mono_s() - began_s < 0.005
        clock.advance(dice.uniform(0.0201, 0.3))
        if dice.random() < 0.5:  # a thread that is late sees both edges at once
            changes.extend(contact.step(clock.mono_s()))

    pins.drive(17, False)
    clock.advance(0.1)
    changes.extend(contact.step(clock.mono_s()))
    clock.advance(0.1)
    changes.extend(contact.step(clock.mono_s()))
    changes.clear()
    for _ in range(10_000):
        turn_to(True)
        turn_to(False)
    changes.extend(contact.step(clock.mono_s()))
    assert [one.is_high for one in changes] == [True, False] * 10_000
    assert all(before.since_s < after.since_s for before, after in pairwise(changes))
    assert contact.settling.dropouts == 0
    assert contact.settling.edges == sum(one.bounces + 1 for one in changes)
    pins.close()


def test_dropouts_are_counted_and_make_no_change() -> None:
    clock = ManualClock()
    pins = FakePins(clock)
    contact = Contact(pins, 17, "[tether]", 0.020)
    contact.step(0.0)
    clock.advance(0.1)
    assert len(contact.step(clock.mono_s())) == 1
    for _ in range(50):
        clock.advance(0.5)
        pins.drive(17, False)
        clock.advance(0.010)
        pins.drive(17, True)
        clock.advance(0.030)
        assert contact.step(clock.mono_s()) == []
    assert contact.settling.dropouts == 50
    assert contact.settling.edges == 100
    pins.close()
