"""The rider's button on a mock pin: press, hold, bounce, and a finger that is there already."""

from __future__ import annotations

import threading

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import Clock, ManualClock
from firmware.readings import Channel, Press, Reading
from firmware.sources.buttons import RiderButton

DOWN, UP = False, True


class Bench:
    """A button whose thread the test turns; the unit has been up for a second."""

    def __init__(self, started: bool = UP) -> None:
        self.clock = ManualClock(10.0)
        self.pins = FakePins(self.clock)
        self.pins.drive(23, started)
        self.button = RiderButton(self.pins, 23, self.clock)
        self.posted: list[Reading] = []
        self.run(1.0)

    def run(self, seconds: float) -> list[Reading]:
        """Lets time pass, each step at its due instant; what was posted meanwhile."""
        count = len(self.posted)
        end_s = self.clock.mono_s() + seconds
        while (due_s := self.button.step(self.posted.append, self.clock.mono_s())) <= end_s:
            self.clock.advance(max(0.0, due_s - self.clock.mono_s()))
        self.clock.advance(end_s - self.clock.mono_s())
        return self.posted[count:]

    def set(self, level: bool, seconds: float) -> list[Reading]:
        self.pins.drive(23, level)
        return self.run(seconds)


def test_a_press_is_posted_when_the_button_is_let_go() -> None:
    bench = Bench()
    assert bench.set(DOWN, 0.4) == []
    let_go_s = bench.clock.mono_s()
    (reading,) = bench.set(UP, 0.1)
    assert reading == Reading(Channel.BUTTON, Press("press"), let_go_s, "button@gpio23")
    assert bench.run(5.0) == []
    bench.pins.close()


def test_a_hold_is_posted_the_moment_two_seconds_are_reached_and_once() -> None:
    bench = Bench()
    down_s = bench.clock.mono_s()
    assert bench.set(DOWN, 1.999) == []
    (reading,) = bench.run(0.002)
    assert reading == Reading(
        Channel.BUTTON, Press("hold"), pytest.approx(down_s + 2.0), "button@gpio23"
    )
    assert bench.run(10.0) == []
    assert bench.set(UP, 1.0) == []
    bench.pins.close()


def test_a_button_let_go_just_before_two_seconds_is_a_press() -> None:
    bench = Bench()
    bench.set(DOWN, 1.98)
    assert [reading.value for reading in bench.set(UP, 1.0)] == [Press("press")]
    bench.pins.close()


def test_a_bounce_across_two_seconds_is_still_one_hold() -> None:
    bench = Bench()
    bench.set(DOWN, 1.99)
    bench.set(UP, 0.02)
    assert [reading.value for reading in bench.set(DOWN, 1.0)] == [Press("hold")]
    assert bench.set(UP, 1.0) == []
    bench.pins.close()


def test_a_bouncing_press_is_one_press() -> None:
    # LuxuSam/PhysicalButton #97: one press acted two to four times.
    bench = Bench()
    for _ in range(4):
        bench.set(DOWN, 0.001)
        bench.set(UP, 0.002)
    bench.set(DOWN, 0.3)
    bench.set(UP, 0.001)
    bench.set(DOWN, 0.002)
    bench.set(UP, 0.1)
    assert [reading.value for reading in bench.posted] == [Press("press")]
    bench.pins.close()


def test_a_knock_shorter_than_fifty_milliseconds_is_no_press() -> None:
    bench = Bench()
    bench.set(DOWN, 0.040)
    assert bench.set(UP, 1.0) == []
    bench.pins.close()


def test_a_button_that_is_down_at_the_start_says_nothing_until_it_was_let_go() -> None:
    bench = Bench(started=DOWN)
    bench.run(5.0)
    bench.set(UP, 1.0)
    assert bench.posted == []
    bench.set(DOWN, 0.3)
    assert [reading.value for reading in bench.set(UP, 1.0)] == [Press("press")]
    bench.pins.close()


def test_a_thread_that_comes_late_still_tells_a_hold_from_a_press() -> None:
    bench = Bench()
    for seconds in (0.5, 3.0):
        bench.pins.drive(23, DOWN)
        bench.clock.advance(seconds)
        bench.pins.drive(23, UP)
        bench.clock.advance(1.0)
        bench.run(0.1)
    assert [reading.value for reading in bench.posted] == [Press("press"), Press("hold")]
    bench.pins.close()


def test_the_thread_posts_at_twenty_times_the_pace() -> None:
    clock = Clock(20.0, from_zero=True)
    pins = FakePins(clock)
    button = RiderButton(pins, 23, clock)
    started, posted = threading.Event(), threading.Event()
    values: list[Reading] = []

    def post(reading: Reading) -> None:
        values.append(reading)
        posted.set()

    button.start(post)
    for _ in range(200):  # until the first level has lasted
        if button.contact.settling.level is None:
            clock.wait(started, 0.5)
    pins.drive(23, DOWN)
    assert posted.wait(60.0)
    button.stop()
    assert [reading.value for reading in values] == [Press("hold")]
    pins.close()
