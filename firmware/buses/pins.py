"""The door to the header's pins: the only import of gpiozero, every pin named by its BCM number.

An input tells its raw edges from the library's own thread, stamped by the unit's clock there and
then; what they mean is for `contacts.py` to say. An output is set at once, or plays a rhythm. A
wire that breaks later is counted and never raises: a warning light must not stop the warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from gpiozero import GPIOZeroError, InputDevice, OutputDevice
from gpiozero.exc import GPIOPinInUse, PinInvalidPin

from firmware.buses.rhythms import Player, Rhythm
from firmware.clock import Clock
from firmware.errors import BusError, SledwardenError

_log = logging.getLogger(__name__)

Edge = Callable[[bool, float], None]
"""Told the level after an edge and its `mono_s`, on the library's thread: stamp, queue, return."""


class InputPin:
    """An input and its raw edges, until it is closed."""

    def __init__(self, device: InputDevice, edge: Edge, clock: Clock) -> None:
        self._device = device
        self._edge = edge
        self._clock = clock
        self._pin = device.pin
        self._pin.edges = "both"
        self._pin.bounce = None  # the filter is ours: the library's loses the edge after a bounce
        self._pin.when_changed = self._changed  # kept weakly there, so this object must live on

    @property
    def is_high(self) -> bool:
        """The level of the wire now."""
        return bool(self._pin.state)

    def close(self) -> None:
        """Gives the pin back; no edge is told after it. Safe to call twice."""
        if not self._device.closed:
            self._pin.when_changed = None
            self._device.close()

    def _changed(self, _ticks: float, state: int) -> None:
        self._edge(bool(state), self._clock.mono_s())


class OutputPin:
    """An output, low at first; `failures` counts the settings that the wire did not take."""

    def __init__(
        self, number: int, device: OutputDevice, player: Player, faults: tuple[type[Exception], ...]
    ) -> None:
        self.number = number
        self.failures = 0
        self._device = device
        self._player = player
        self._faults = faults

    @property
    def is_high(self) -> bool:
        """The level that was set last."""
        return not self._device.closed and bool(self._device.pin.state)

    def steady(self, is_high: bool) -> None:
        """Sets the level now and ends any rhythm."""
        self._player.steady(self, is_high)

    def play(self, rhythm: Rhythm) -> None:
        """Goes high now and follows the rhythm from here."""
        self._player.play(self, rhythm)

    def put(self, is_high: bool) -> None:
        """Sets the level; used by the player, which holds its lock."""
        try:
            self._device.value = is_high
        except self._faults as error:
            self.failures += 1
            if self.failures == 1:
                _log.warning("pin %d: can't be set: %s", self.number, error)

    def close(self) -> None:
        """Leaves the pin low and gives it back. Safe to call twice."""
        if not self._device.closed:
            self.steady(False)
            self._device.close()


@dataclass(frozen=True, slots=True)
class _Factory:
    """Where pins come from, and what of it may be raised by a broken wire."""

    maker: Any  # gpiozero.Factory; the library has no types
    faults: tuple[type[Exception], ...]
    is_own: bool


class Pins:
    """All the pins of the unit; each belongs to one part only."""

    def __init__(self, clock: Clock, factory: Any = None) -> None:  # a gpiozero.Factory, untyped
        """Takes the Pi's own pins (lgpio) unless a factory is handed in, and no earlier than the
        first pin is asked for."""
        self.clock = clock
        faults = (GPIOZeroError, OSError)
        self._factory = None if factory is None else _Factory(factory, faults, is_own=False)
        self._owners: dict[int, str] = {}
        self._open: list[InputPin | OutputPin] = []
        self._player = Player(clock)

    def input(
        self, number: int, part: str, edge: Edge, pull: Literal["up", "down"] = "up"
    ) -> InputPin:
        """An input for a part, like "[tether]", and whom to tell of its edges."""
        factory = self._claim(number, part)
        device = self._make(
            number,
            part,
            factory,
            lambda: InputDevice(number, pull_up=pull == "up", pin_factory=factory.maker),
        )
        pin = InputPin(device, edge, self.clock)
        self._open.append(pin)
        return pin

    def output(self, number: int, part: str) -> OutputPin:
        """An output for a part, like "[leds] red"; low until it is told otherwise."""
        factory = self._claim(number, part)
        device = self._make(
            number, part, factory, lambda: OutputDevice(number, pin_factory=factory.maker)
        )
        self._player.start()
        pin = OutputPin(number, device, self._player, factory.faults)
        self._open.append(pin)
        return pin

    def close(self) -> None:
        """Leaves every output low and gives all pins back. Safe to call twice."""
        self._player.stop()
        for pin in self._open:
            pin.close()
        self._open.clear()
        self._owners.clear()
        if self._factory is not None and self._factory.is_own:
            self._factory.maker.close()
            self._factory = None

    def _claim(self, number: int, part: str) -> _Factory:
        holder = self._owners.get(number)
        if holder is not None:
            raise SledwardenError(
                part, f"pin {number}: is taken by {holder}.", "Give one of them another pin."
            )
        if self._factory is None:
            self._factory = _pi_factory(part)
        return self._factory

    def _make(
        self,
        number: int,
        part: str,
        factory: _Factory,
        make: Callable[[], Any],  # a gpiozero device, untyped
    ) -> Any:
        try:
            device = make()
        except PinInvalidPin:
            raise SledwardenError(
                part, f"pin {number}: must be a BCM number of the header, 0 to 27."
            ) from None
        except GPIOPinInUse as error:
            raise BusError(part, f"pin {number}: is in use: {error}.", "Free it first.") from error
        except factory.faults as error:
            raise BusError(
                part,
                f"pin {number}: can't be had: {error}.",
                "Look for another program or a dtoverlay that holds it (`gpioinfo` names it).",
            ) from error
        self._owners[number] = part
        return device


def _pi_factory(part: str) -> _Factory:
    try:
        from gpiozero.pins import lgpio as library  # noqa: PLC0415  # absent where there is no Pi
    except ImportError as error:
        raise BusError(
            part, f"this machine has no pins: {error}.", "On a Pi install sledwarden[unit]."
        ) from error
    faults = (GPIOZeroError, OSError, library.lgpio.error)
    try:
        return _Factory(library.LGPIOFactory(), faults, is_own=True)
    except faults as error:
        raise BusError(
            part,
            f"this machine's pins can't be opened: {error}.",
            "It must be a Pi with /dev/gpiochip0, the unit's user in the group gpio.",
        ) from error
