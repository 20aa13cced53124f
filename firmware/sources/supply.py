"""Whether a lamp's wire has its voltage, from the level of an isolated tap; it is never driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Contact, ContactThread
from firmware.clock import Clock
from firmware.readings import Channel, Reading, Supply
from firmware.sources.base import Post

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

REPEAT_S = 0.5
FRESH_S = 1.5


class SupplyTap:
    """Posts whether a lamp is supplied, at each change and every half second.

    `active` is the level while it is: an opto-isolator pulls the wire low. A broken wire is at
    rest and reads as a lamp without supply; telling the two apart takes the ADS1115. A level must
    last 0.1 s, longer than the gaps of alternating current from the lighting coil.
    """

    settle_s = 0.100

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, channel: Channel, active: Literal["low", "high"]
    ) -> None:
        self.name = str(channel)
        self.source = f"{channel}@gpio{pin}"
        pull: Literal["up", "down"] = "up" if active == "low" else "down"
        self.contact = Contact(pins, pin, f"[{channel}]", self.settle_s, pull)
        self._channel = channel
        self._is_active_high = active == "high"
        self._thread = ContactThread(self.name, self.contact, clock)
        self._is_on: bool | None = None
        self._repeat_s = 0.0

    def start(self, post: Post) -> None:
        """Begins; the first state comes once it has lasted."""
        self._thread.start(lambda now_s: self.step(post, now_s))

    def stop(self) -> None:
        """Ends the thread and gives the pin back."""
        self._thread.stop()

    def step(self, post: Post, now_s: float) -> float:
        """Posts what is due by now; the instant of the next step, an edge or none."""
        for change in self.contact.step(now_s):
            self._is_on = change.is_high == self._is_active_high
            self._post(post, self._is_on, change.since_s)
            self._repeat_s = now_s + REPEAT_S
        if self._is_on is not None and now_s >= self._repeat_s:
            self._post(post, self._is_on, now_s)
            self._repeat_s = now_s + REPEAT_S
        next_s = self.contact.next_s()
        return next_s if self._is_on is None else min(next_s, self._repeat_s)

    def _post(self, post: Post, is_on: bool, mono_s: float) -> None:
        post(Reading(self._channel, Supply(is_on), mono_s, self.source, FRESH_S))
