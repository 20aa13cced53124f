"""The engine sense on a mock pin."""

from __future__ import annotations

from typing import Literal

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.readings import Channel, Engine, Reading
from firmware.sources.engine import EngineSense


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
