"""Whether the engine runs, from the level of an isolated tap; the engine is never driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Contact, ContactThread
from firmware.clock import Clock
from firmware.readings import Channel, Engine, Reading
from firmware.sources.base import Post

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

REPEAT_S = 1.0
FRESH_S = 2.5


class EngineSense:
    """Posts whether the engine runs, at each change and every second.

    `active` is the level while it runs: an opto-isolator pulls the wire low. A broken wire is at
    rest and reads as an engine that is off. A level must last 0.25 s, longer than the gaps of a
    ripple at idle.
    """

    settle_s = 0.250

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, active: Literal["low", "high"] = "low"
    ) -> None:
        self.name = "engine"
        self.source = f"engine@gpio{pin}"
        self.contact = Contact(
            pins, pin, "[engine]", self.settle_s, "up" if active == "low" else "down"
        )
        self._is_active_high = active == "high"
        self._thread = ContactThread(self.name, self.contact, clock)
        self._is_running: bool | None = None
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
            self._is_running = change.is_high == self._is_active_high
            self._post(post, self._is_running, change.since_s)
            self._repeat_s = now_s + REPEAT_S
        if self._is_running is not None and now_s >= self._repeat_s:
            self._post(post, self._is_running, now_s)
            self._repeat_s = now_s + REPEAT_S
        next_s = self.contact.next_s()
        return next_s if self._is_running is None else min(next_s, self._repeat_s)

    def _post(self, post: Post, is_running: bool, mono_s: float) -> None:
        post(Reading(Channel.ENGINE, Engine(is_running), mono_s, self.source, FRESH_S))
