"""Whether a lamp's wire has its voltage, from the level of an isolated tap; it is never driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Change, Contact
from firmware.clock import Clock
from firmware.readings import Channel, Supply, Value
from firmware.sources.base import SettledContact

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

REPEAT_S = 0.5
FRESH_S = 1.5


class SupplyTap(SettledContact):
    """Posts whether a lamp is supplied, at each change and every half second.

    `active` is the level while it is: an opto-isolator pulls the wire low. A broken wire is at
    rest and reads as a lamp without supply; telling the two apart takes the ADS1115. A level must
    last 0.1 s, longer than the gaps of alternating current from the lighting coil.
    """

    settle_s = 0.100

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, channel: Channel, active: Literal["low", "high"]
    ) -> None:
        pull: Literal["up", "down"] = "up" if active == "low" else "down"
        super().__init__(
            str(channel),
            channel,
            Contact(pins, pin, f"[{channel}]", self.settle_s, pull),
            clock,
            f"{channel}@gpio{pin}",
            repeat_s=REPEAT_S,
            fresh_s=FRESH_S,
        )
        self._is_active_high = active == "high"

    def meaning(self, change: Change) -> tuple[Value, Value]:
        supply = Supply(change.is_high == self._is_active_high)
        return supply, supply
