"""The tether switch: whether the cap is on, from a contact that closes to ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Contact, ContactThread
from firmware.clock import Clock
from firmware.readings import Channel, Reading, Tether, TetherState
from firmware.sources.base import Post

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

ContactWord = Literal["closed_when_in", "open_when_in"]

REPEAT_S = 1.0
FRESH_S = 2.5


def level_when(contact: ContactWord, is_in: bool) -> bool:
    """The level of the wire with the cap on or off: closed is low, by the pull-up."""
    return is_in == (contact == "open_when_in")


class TetherSwitch:
    """Posts the tether's state at each change and every second.

    `contact` says what the switch does while the cap is on. With `closed_when_in` a broken wire
    reads as a pulled cap; with `open_when_in` it reads as a cap that is on, and telling the two
    apart takes a supervised loop. A level must last 20 ms: a shorter drop-out is the trail's.
    """

    settle_s = 0.020

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, contact: ContactWord = "closed_when_in"
    ) -> None:
        self.name = "tether"
        self.source = f"tether@gpio{pin}"
        self.contact = Contact(pins, pin, "[tether]", self.settle_s)
        self._word: ContactWord = contact
        self._thread = ContactThread(self.name, self.contact, clock)
        self._state: TetherState | None = None
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
            is_in = change.is_high == level_when(self._word, is_in=True)
            self._state = TetherState.IN if is_in else TetherState.OUT
            self._post(post, Tether(self._state, change.bounces), change.since_s)
            self._repeat_s = now_s + REPEAT_S
        if self._state is not None and now_s >= self._repeat_s:
            self._post(post, Tether(self._state), now_s)
            self._repeat_s = now_s + REPEAT_S
        next_s = self.contact.next_s()
        return next_s if self._state is None else min(next_s, self._repeat_s)

    def _post(self, post: Post, tether: Tether, mono_s: float) -> None:
        post(Reading(Channel.TETHER, tether, mono_s, self.source, FRESH_S))
