"""The three lights: watching (steady), amber (*look*) and red (*now*)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.buses.rhythms import Rhythm
from firmware.findings import Cues, LightCue

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import OutputPin, Pins

FLASH = Rhythm(0.125, 0.125)
"""4 Hz: seen at a glance, and far from a steady light to a colour-blind rider."""

_FLASHING = (LightCue.AMBER_FLASH, LightCue.RED_FLASH)


class Leds:
    """Shows the light cue and whether the unit watches; each light may be left out."""

    def __init__(
        self, pins: Pins, watching: int | None, amber: int | None, red: int | None
    ) -> None:
        self.name = "leds"
        self._watching = _output(pins, watching, "watching")
        self._amber = _output(pins, amber, "amber")
        self._red = _output(pins, red, "red")
        self._shown = Cues()

    def show(self, cues: Cues) -> None:
        """Shows what has changed; the pins are set when it returns."""
        before, self._shown = self._shown, cues
        if cues.light is not before.light:
            is_amber = cues.light in (LightCue.AMBER, LightCue.AMBER_FLASH)
            is_red = cues.light in (LightCue.RED, LightCue.RED_FLASH)
            is_flashing = cues.light in _FLASHING
            _set(self._red, is_red, is_flashing)
            _set(self._amber, is_amber, is_flashing)
        if cues.is_watching != before.is_watching:
            _set(self._watching, cues.is_watching, is_flashing=False)

    def stop(self) -> None:
        """Leaves all three dark."""
        self.show(Cues())


def _output(pins: Pins, number: int | None, light: str) -> OutputPin | None:
    return None if number is None else pins.output(number, f"[leds] {light}")


def _set(pin: OutputPin | None, is_on: bool, is_flashing: bool) -> None:
    if pin is None:
        return
    if is_on and is_flashing:
        pin.play(FLASH)
    else:
        pin.steady(is_on)
