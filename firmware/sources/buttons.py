"""The rider's button: a press acknowledges, a hold of two seconds answers or marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Change, Contact, ContactThread
from firmware.clock import Clock
from firmware.readings import Channel, Press, Reading
from firmware.sources.base import Post

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

HOLD_S = 2.0


class RiderButton:
    """Posts a press when a button held for less than two seconds is let go, and a hold the moment
    two seconds are reached, once.

    The button closes to ground. A level must last 50 ms. How long it was down is measured from
    edge to edge. A button that is down when the unit starts says nothing until it was let go.
    """

    settle_s = 0.050

    def __init__(self, pins: Pins, pin: int, clock: Clock) -> None:
        self.name = "button"
        self.source = f"button@gpio{pin}"
        self.contact = Contact(pins, pin, "[button]", self.settle_s)
        self._thread = ContactThread(self.name, self.contact, clock)
        self._has_started = False
        self._down_s: float | None = None  # since when it is down, until its hold was posted

    def start(self, post: Post) -> None:
        """Begins to listen."""
        self._thread.start(lambda now_s: self.step(post, now_s))

    def stop(self) -> None:
        """Ends the thread and gives the pin back."""
        self._thread.stop()

    def step(self, post: Post, now_s: float) -> float:
        """Posts what is due by now; the instant of the next step, an edge or none."""
        for change in self.contact.step(now_s):
            self._turn(post, change)
        next_s = self.contact.next_s()
        if self._down_s is None:
            return next_s
        hold_s = self._down_s + HOLD_S
        if not self.contact.settling.is_settled:
            return next_s  # let go or bounced just now: which of them, the filter will say
        if now_s >= hold_s:
            self._post(post, "hold", hold_s)
            self._down_s = None
            return next_s
        return min(next_s, hold_s)

    def _turn(self, post: Post, change: Change) -> None:
        is_down = not change.is_high
        if is_down:
            self._down_s = change.since_s if self._has_started else None
        elif self._down_s is not None:
            is_hold = change.since_s >= self._down_s + HOLD_S
            at_s = self._down_s + HOLD_S if is_hold else change.since_s
            self._post(post, "hold" if is_hold else "press", at_s)
            self._down_s = None
        self._has_started = True

    def _post(self, post: Post, kind: Literal["press", "hold"], mono_s: float) -> None:
        post(Reading(Channel.BUTTON, Press(kind), mono_s, self.source))
