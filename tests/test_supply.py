"""The supply of a lamp at a mock pin: changes, repeats, and what its own wire can't tell."""

from __future__ import annotations

from typing import Literal

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.readings import Channel, Reading, Supply
from firmware.sources.supply import SupplyTap


class Bench:
    """A tap whose thread the test turns."""

    def __init__(self, active: Literal["low", "high"] = "low") -> None:
        self.clock = ManualClock(10.0)
        self.pins = FakePins(self.clock)
        self.is_high = active == "high"
        self.pins.drive(5, self.is_high)
        self.tap = SupplyTap(self.pins, 5, self.clock, Channel.SUPPLY_HEAD, active)
        self.posted: list[Reading] = []

    def run(self, seconds: float) -> list[Reading]:
        count = len(self.posted)
        end_s = self.clock.mono_s() + seconds
        while (due_s := self.tap.step(self.posted.append, self.clock.mono_s())) <= end_s:
            self.clock.advance(max(0.0, due_s - self.clock.mono_s()))
        self.clock.advance(end_s - self.clock.mono_s())
        return self.posted[count:]


@pytest.mark.parametrize("active", ["low", "high"])
def test_a_supply_that_goes_is_posted_with_the_instant_at_which_it_went(
    active: Literal["low", "high"],
) -> None:
    bench = Bench(active)
    assert bench.run(0.2)[0].value == Supply(True)
    bench.pins.drive(5, not bench.is_high)
    gone_s = bench.clock.mono_s()
    (reading,) = bench.run(0.2)
    assert reading == Reading(Channel.SUPPLY_HEAD, Supply(False), gone_s, "supply.head@gpio5", 1.5)
    bench.pins.close()


def test_the_gaps_of_alternating_current_are_no_loss() -> None:
    bench = Bench()
    bench.run(0.5)
    for _ in range(20):
        bench.pins.drive(5, True)
        bench.run(0.010)
        bench.pins.drive(5, False)
        bench.run(0.010)
    assert {reading.value for reading in bench.posted} == {Supply(True)}
    bench.pins.close()


def test_the_state_is_posted_twice_a_second_and_what_is_dead_is_seen_within_2_s() -> None:
    bench = Bench()
    readings = bench.run(5.0)
    assert len(readings) == 10
    assert {reading.fresh_s for reading in readings} == {1.5}
    bench.tap.stop()
    bench.pins.close()
