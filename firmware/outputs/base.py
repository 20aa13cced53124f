"""What an output is: something that shows what the alerts decided, and decides nothing."""

from __future__ import annotations

from typing import Protocol

from firmware.findings import Cues


class Output(Protocol):
    """A light, a buzzer, a haptic: told the cues at each change of them."""

    name: str

    def show(self, cues: Cues) -> None:
        """Shows the cues; returns within a millisecond and never raises for a broken wire."""

    def stop(self) -> None:
        """Leaves the device dark and silent; safe to call twice."""
