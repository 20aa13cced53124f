"""The tether switch: whether the cap is on, from a contact that closes to ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Change, Contact
from firmware.clock import Clock
from firmware.readings import Channel, Tether, TetherState, Value
from firmware.sources.base import SettledContact

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

ContactWord = Literal["closed_when_in", "open_when_in"]

REPEAT_S = 1.0
FRESH_S = 2.5


def level_when(contact: ContactWord, is_in: bool) -> bool:
    """The level of the wire with the cap on or off: closed is low, by the pull-up."""
    return is_in == (contact == "open_when_in")


class TetherSwitch(SettledContact):
    """Posts the tether's state at each change and every second.

    `contact` says what the switch does while the cap is on. With `closed_when_in` a broken wire
    reads as a pulled cap; with `open_when_in` it reads as a cap that is on, and telling the two
    apart takes a supervised loop. A level must last 20 ms: a shorter drop-out is the trail's.
    """

    settle_s = 0.020

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, contact: ContactWord = "closed_when_in"
    ) -> None:
        super().__init__(
            "tether",
            Channel.TETHER,
            Contact(pins, pin, "[tether]", self.settle_s),
            clock,
            f"tether@gpio{pin}",
            repeat_s=REPEAT_S,
            fresh_s=FRESH_S,
        )
        self._word: ContactWord = contact

    def meaning(self, change: Change) -> tuple[Value, Value]:
        is_in = change.is_high == level_when(self._word, is_in=True)
        state = TetherState.IN if is_in else TetherState.OUT
        return Tether(state, change.bounces), Tether(state)
