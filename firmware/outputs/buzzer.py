"""The buzzer, one that sounds by itself while its pin is high."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.buses.rhythms import Rhythm
from firmware.findings import Cues, ToneCue

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

CHIRP = Rhythm(0.080, 0.080, times=2)
ALARM = Rhythm(0.250, 0.125)
"""Broken sound: the ear gets used to an even one, and an engine hides it."""


class Buzzer:
    """Sounds the tone cue: two short beeps once, or an alarm until told otherwise."""

    def __init__(self, pins: Pins, pin: int) -> None:
        self.name = "buzzer"
        self._pin = pins.output(pin, "[buzzer]")
        self._shown = ToneCue.OFF

    def show(self, cues: Cues) -> None:
        """Sounds what has changed; the pin is set when it returns."""
        if cues.tone is self._shown:
            return
        self._shown = cues.tone
        match cues.tone:
            case ToneCue.OFF:
                self._pin.steady(False)
            case ToneCue.CHIRP:
                self._pin.play(CHIRP)
            case ToneCue.ALARM:
                self._pin.play(ALARM)

    def stop(self) -> None:
        """Leaves it silent."""
        self.show(Cues())
