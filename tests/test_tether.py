"""The tether switch on a mock pin: changes, repeats, drop-outs, both kinds of contact."""

from __future__ import annotations

import threading

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import Clock, ManualClock
from firmware.errors import SledwardenError
from firmware.readings import Channel, Reading, Tether, TetherState
from firmware.sources.tether import ContactWord, TetherSwitch, level_when


class Bench:
    """A switch whose thread the test turns."""

    def __init__(self, contact: ContactWord = "closed_when_in") -> None:
        self.clock = ManualClock(10.0)
        self.pins = FakePins(self.clock)
        self.word: ContactWord = contact
        self.set(is_in=True)
        self.switch = TetherSwitch(self.pins, 17, self.clock, contact)
        self.posted: list[Reading] = []

    def set(self, is_in: bool) -> None:
        self.pins.drive(17, level_when(self.word, is_in))

    def run(self, seconds: float) -> list[Reading]:
        """Lets time pass, each step at its due instant; what was posted meanwhile."""
        count = len(self.posted)
        end_s = self.clock.mono_s() + seconds
        while True:
            due_s = self.switch.step(self.posted.append, self.clock.mono_s())
            if due_s > end_s:
                break
            self.clock.advance(max(0.0, due_s - self.clock.mono_s()))
        self.clock.advance(end_s - self.clock.mono_s())
        return self.posted[count:]


@pytest.mark.parametrize("contact", ["closed_when_in", "open_when_in"])
def test_a_pull_is_posted_once_it_has_lasted_with_the_instant_at_which_it_began(
    contact: ContactWord,
) -> None:
    bench = Bench(contact)
    first = bench.run(0.1)[0]
    assert first.value == Tether(TetherState.IN)
    bench.set(is_in=False)
    pulled_s = bench.clock.mono_s()
    assert bench.run(0.019) == []
    (reading,) = bench.run(0.002)
    assert reading == Reading(
        Channel.TETHER, Tether(TetherState.OUT), pulled_s, "tether@gpio17", 2.5
    )
    bench.pins.close()


def test_a_dropout_of_ten_milliseconds_is_no_pull() -> None:
    bench = Bench()
    bench.run(0.5)
    bench.set(is_in=False)
    bench.run(0.010)
    bench.set(is_in=True)
    assert {reading.value for reading in bench.run(3.0)} == {Tether(TetherState.IN)}
    assert bench.switch.contact.settling.dropouts == 1
    bench.pins.close()


def test_the_state_is_posted_every_second_and_lapses_after_two_and_a_half() -> None:
    bench = Bench()
    readings = bench.run(10.05)
    assert len(readings) == 11
    assert all(reading.fresh_s == 2.5 for reading in readings)
    assert [round(reading.mono_s, 3) for reading in readings[1:3]] == [11.02, 12.02]
    bench.pins.close()


def test_bounces_are_kept_with_the_change() -> None:
    bench = Bench()
    bench.run(0.5)
    for is_in in (False, True, False, True, False):
        bench.set(is_in)
        bench.run(0.001)
    assert bench.run(0.1)[0].value == Tether(TetherState.OUT, bounces=4)
    bench.pins.close()


def test_a_broken_wire_of_a_contact_that_is_closed_when_in_reads_as_pulled() -> None:
    bench = Bench()
    bench.run(0.5)
    bench.pins.drive(17, True)  # only the pull-up is left
    assert bench.run(0.1)[0].value == Tether(TetherState.OUT)
    bench.pins.close()


def test_nothing_is_posted_before_the_first_level_has_lasted() -> None:
    bench = Bench()
    assert bench.run(0.019) == []
    assert len(bench.run(0.002)) == 1
    bench.pins.close()


def test_a_pin_that_is_taken_is_one_sentence() -> None:
    pins = FakePins(ManualClock())
    pins.output(17, "[buzzer]")
    with pytest.raises(SledwardenError) as caught:
        TetherSwitch(pins, 17, pins.clock)
    assert str(caught.value) == (
        "[tether]: pin 17: is taken by [buzzer]. Give one of them another pin."
    )
    pins.close()


def test_the_thread_posts_pulls_twenty_times_as_fast_as_the_world() -> None:
    clock = Clock(20.0, from_zero=True)
    pins = FakePins(clock)
    pins.drive(17, level_when("closed_when_in", is_in=True))
    switch = TetherSwitch(pins, 17, clock)
    states: list[TetherState] = []
    changed = threading.Event()

    def post(reading: Reading) -> None:
        assert isinstance(reading.value, Tether)
        if not states or states[-1] is not reading.value.state:
            states.append(reading.value.state)
            changed.set()

    switch.start(post)
    for is_in in (True, False, True, False):
        changed.clear()
        pins.drive(17, level_when("closed_when_in", is_in))
        if len(states) == 0 or (states[-1] is TetherState.IN) != is_in:
            assert changed.wait(60.0)
    switch.stop()
    switch.stop()
    assert states == [TetherState.IN, TetherState.OUT, TetherState.IN, TetherState.OUT]
    pins.close()


def test_a_switch_that_was_never_started_gives_its_pin_back() -> None:
    pins = FakePins(ManualClock())
    switch = TetherSwitch(pins, 17, pins.clock)
    switch.stop()
    pins.close()
