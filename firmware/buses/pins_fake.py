"""Pins without a Pi: gpiozero's own mock pins, driven and watched by whoever plays the world."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, Literal

from gpiozero.pins.mock import MockFactory, MockPin

from firmware.buses.pins import Edge, InputPin, Pins
from firmware.clock import Clock

Watcher = Callable[[bool, float], None]
"""Told an output's new level and its `mono_s`, in the thread that set it."""


class WatchedPin(MockPin):  # type: ignore[misc]  # gpiozero has no types
    """A mock pin that tells its changes, and whose wire can break."""

    watcher: Callable[[bool], None] | None = None
    is_broken = False

    def _set_state(self, value: float) -> None:
        if self.is_broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super()._set_state(value)

    def _change_state(self, value: bool) -> bool:
        has_changed = bool(super()._change_state(value))
        if has_changed and self.watcher is not None and self._function == "output":
            self.watcher(bool(value))
        return has_changed


class FakePins(Pins):
    """The unit's pins on a factory of its own: nothing is left in the process when it is closed.

    Give it to the sources and outputs instead of `Pins`; then `drive` what the world does to an
    input, and `level` or `watch` what the unit does with an output.
    """

    def __init__(self, clock: Clock) -> None:
        self._mock = MockFactory(revision="a02082", pin_class=WatchedPin)
        self._driven: dict[int, bool] = {}
        self._taken: set[int] = set()
        super().__init__(clock, self._mock)

    def input(
        self, number: int, part: str, edge: Edge, pull: Literal["up", "down"] = "up"
    ) -> InputPin:
        pin = super().input(number, part, edge, pull)
        if number in self._driven:  # the world's wire is stronger than the pull resistor
            self.drive(number, self._driven[number])
        return pin

    def drive(self, number: int, is_high: bool) -> None:
        """Sets the level of an input's wire, before or after a part opens it."""
        self._driven[number] = is_high
        pin = self._pin(number)
        if is_high:
            pin.drive_high()
        else:
            pin.drive_low()

    def occupy(self, number: int, is_taken: bool = True) -> None:
        """Lets another program hold a pin, or let it go: asking for it meanwhile fails."""
        (self._taken.add if is_taken else self._taken.discard)(number)

    def level(self, number: int) -> bool:
        """The level of a pin now."""
        return bool(self._pin(number).state)

    def watch(self, number: int, watcher: Watcher | None) -> None:
        """Tells every later change of an output; one watcher a pin."""
        self._pin(number).watcher = (
            None if watcher is None else lambda high: watcher(high, self.clock.mono_s())
        )

    def break_wire(self, number: int, is_broken: bool = True) -> None:
        """Makes every setting of an output fail with EIO, until it is mended."""
        self._pin(number).is_broken = is_broken

    def _make(self, number: int, part: str, factory: Any, make: Callable[[], Any]) -> Any:
        def refuse() -> None:
            raise OSError(errno.EBUSY, "GPIO busy")

        return super()._make(number, part, factory, refuse if number in self._taken else make)

    def close(self) -> None:
        super().close()
        self._mock.reset()

    def _pin(self, number: int) -> Any:  # a WatchedPin; the factory has no types
        return self._mock.pin(number)
