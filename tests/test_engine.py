"""The engine sense on a mock pin."""

from __future__ import annotations

import threading
from typing import Literal

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import Clock, ManualClock
from firmware.readings import Channel, Engine, Reading
from firmware.sources.engine import EnginePulses, EngineSense


class Bench:
    """An engine tap whose thread the test turns."""

    def __init__(self, active: Literal["low", "high"] = "low") -> None:
        self.clock = ManualClock(10.0)
        self.pins = FakePins(self.clock)
        self.sense = EngineSense(self.pins, 27, self.clock, active)
        self.posted: list[Reading] = []

    def run(self, seconds: float) -> list[Reading]:
        """Lets time pass, each step at its due instant; what was posted meanwhile."""
        count = len(self.posted)
        end_s = self.clock.mono_s() + seconds
        while (due_s := self.sense.step(self.posted.append, self.clock.mono_s())) <= end_s:
            self.clock.advance(max(0.0, due_s - self.clock.mono_s()))
        self.clock.advance(end_s - self.clock.mono_s())
        return self.posted[count:]


@pytest.mark.parametrize("active", ["low", "high"])
def test_the_level_in_the_config_is_the_running_one(active: Literal["low", "high"]) -> None:
    bench = Bench(active)
    assert bench.run(0.3)[0].value == Engine(is_running=False)  # by the pull resistor
    bench.pins.drive(27, active == "high")
    started_s = bench.clock.mono_s()
    (reading,) = bench.run(0.3)
    assert reading == Reading(
        Channel.ENGINE, Engine(is_running=True), started_s, "engine@gpio27", 2.5
    )
    bench.pins.close()


def test_the_gaps_of_a_ripple_do_not_stop_the_engine() -> None:
    bench = Bench()
    bench.pins.drive(27, False)
    bench.run(0.5)
    for _ in range(100):  # 20 Hz, open half of the time
        bench.pins.drive(27, True)
        bench.run(0.025)
        bench.pins.drive(27, False)
        bench.run(0.025)
    assert {reading.value for reading in bench.posted} == {Engine(is_running=True)}
    bench.pins.close()


def test_the_state_is_posted_every_second() -> None:
    bench = Bench()
    readings = bench.run(5.3)
    assert len(readings) == 6
    assert all(reading.fresh_s == 2.5 for reading in readings)
    bench.pins.close()


def test_a_broken_wire_reads_as_an_engine_that_is_off() -> None:
    bench = Bench()
    bench.pins.drive(27, False)
    bench.run(0.5)
    bench.pins.drive(27, True)  # only the pull-up is left
    assert bench.run(0.5)[0].value == Engine(is_running=False)
    bench.pins.close()


def test_the_thread_ends_and_gives_the_pin_back() -> None:
    bench = Bench()
    bench.sense.start(bench.posted.append)
    bench.sense.stop()
    bench.sense.stop()
    bench.pins.close()


# Pulses.


class Pulses:
    """A pulse sense whose thread the test turns; the engine gives so many pulses a second."""

    def __init__(self, active: Literal["low", "high"] = "low") -> None:
        self.clock = ManualClock(10.0)
        self.pins = FakePins(self.clock)
        self.is_high = active == "high"
        self.sense = EnginePulses(self.pins, 27, self.clock, active)
        self.posted: list[Reading] = []

    def pulse(self) -> None:
        self.pins.drive(27, self.is_high)
        self.pins.drive(27, not self.is_high)

    def run(self, seconds: float, rate_hz: float = 0.0) -> list[tuple[float, bool]]:
        """What was posted meanwhile, as (instant, running)."""
        count, begun_s = len(self.posted), self.clock.mono_s()
        pulses = [begun_s + (n + 1) / rate_hz for n in range(int(seconds * rate_hz))]
        while True:
            due_s = self.sense.step(self.posted.append, self.clock.mono_s())
            next_s = min([due_s, *pulses[:1]])
            if next_s > begun_s + seconds:
                break
            self.clock.advance(max(0.0, next_s - self.clock.mono_s()))
            if pulses and pulses[0] <= self.clock.mono_s():
                pulses.pop(0)
                self.pulse()
        self.clock.advance(begun_s + seconds - self.clock.mono_s())
        told = self.posted[count:]
        assert all(isinstance(one.value, Engine) for one in told)
        return [(one.mono_s, one.value.is_running) for one in told if isinstance(one.value, Engine)]


@pytest.mark.parametrize("active", ["low", "high"])
@pytest.mark.parametrize("rate_hz", [10.0, 20.0, 300.0])
def test_pulses_are_an_engine_that_runs_and_silence_one_that_is_off(
    active: Literal["low", "high"], rate_hz: float
) -> None:
    bench = Pulses(active)
    assert bench.run(1.0) == [(10.5, False)]
    running = bench.run(3.0, rate_hz)
    assert running[0] == (pytest.approx(11.0 + 3 / rate_hz, abs=1e-6), True)
    assert {is_running for _, is_running in running} == {True}
    stopped = bench.run(3.0)
    off_s = next(at_s for at_s, is_running in stopped if not is_running)
    assert 14.0 < off_s <= 14.5
    assert {is_running for at_s, is_running in stopped if at_s >= off_s} == {False}
    bench.pins.close()


def test_a_spike_or_two_are_no_engine() -> None:
    bench = Pulses()
    bench.run(1.0)
    bench.pulse()
    bench.pulse()
    assert {is_running for _, is_running in bench.run(5.0)} == {False}
    assert {is_running for _, is_running in bench.run(10.0, 1.0)} == {False}
    bench.pins.close()


def test_its_state_is_posted_every_second_and_lapses_after_two_and_a_half() -> None:
    bench = Pulses()
    told = bench.run(10.0, 20.0)
    assert 9 <= len(told) <= 11
    assert {one.fresh_s for one in bench.posted} == {2.5}
    assert {one.source for one in bench.posted} == {"engine@gpio27"}
    bench.pins.close()


def test_the_thread_hears_pulses() -> None:
    clock = Clock(20.0, from_zero=True)
    pins = FakePins(clock)
    sense = EnginePulses(pins, 27, clock)
    runs, stops = threading.Event(), threading.Event()

    def post(reading: Reading) -> None:
        (runs if reading.value == Engine(True) else stops).set()

    sense.start(post)
    assert stops.wait(60.0)
    for _ in range(3):
        pins.drive(27, False)
        pins.drive(27, True)
    assert runs.wait(60.0)
    sense.stop()
    sense.stop()
    pins.close()
