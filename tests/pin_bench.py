"""An output on a mock pin, its rhythms turned by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.outputs.base import Output

PIN = 12


class StoppedClock(ManualClock):
    """A clock on which a thread waits until it is told: the test turns the rhythms."""

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        return event.wait(30.0)


class PinBench:
    """The output, its pin, and how long that was on."""

    def __init__(self, make: Callable[[FakePins, int], Output]) -> None:
        self.pins = FakePins(StoppedClock())
        self.output = make(self.pins, PIN)

    @property
    def is_on(self) -> bool:
        return self.pins.level(PIN)

    def run(self, seconds: float, step_s: float = 0.005) -> float:
        """Lets time pass; for how much of it the pin was on."""
        on_s = 0.0
        for _ in range(round(seconds / step_s)):
            self.pins._player.turn(self.pins.clock.mono_s())
            on_s += step_s * self.is_on
            self.pins.clock.sleep(step_s)
        return on_s

    def close(self) -> None:
        """Stops it, twice, which leaves the pin off."""
        self.output.stop()
        self.output.stop()
        assert not self.is_on
        self.pins.close()
