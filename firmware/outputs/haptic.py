"""The motor in the handlebar, which a glove and a helmet do not hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.buses.rhythms import Rhythm
from firmware.findings import Cues, HapticCue

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

TAP = Rhythm(0.300, 0.300, times=1)
PULSES = Rhythm(0.400, 0.300)
"""A motor takes about 0.1 s to run up; shorter pulses drown in the track's own shaking."""


class Haptic:
    """Shakes by the haptic cue: one tap, or pulses until told otherwise."""

    def __init__(self, pins: Pins, pin: int) -> None:
        self.name = "haptic"
        self._pin = pins.output(pin, "[haptic]")
        self._shown = HapticCue.OFF

    def show(self, cues: Cues) -> None:
        """Shakes as has changed; the pin is set when it returns."""
        if cues.haptic is self._shown:
            return
        self._shown = cues.haptic
        match cues.haptic:
            case HapticCue.OFF:
                self._pin.steady(False)
            case HapticCue.TAP:
                self._pin.play(TAP)
            case HapticCue.PULSES:
                self._pin.play(PULSES)

    def stop(self) -> None:
        """Leaves it still."""
        self.show(Cues())
