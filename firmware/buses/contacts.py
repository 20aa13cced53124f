"""A contact behind a pin: raw edges in, a level that lasted out, nothing lost or invented.

Contacts bounce for some milliseconds, and vibration opens them for as long. Libraries that drop
the edges after the first one lose the last one too, and then say the wrong thing for ever. Here
the final level is the truth: it counts once it has lasted `settle_s`, in both directions, and the
wire itself is looked at before it is believed.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from firmware.clock import Clock

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

LOOK_S = 0.25
"""How often the wire is looked at when no edge was told, for one that was lost."""


@dataclass(frozen=True, slots=True)
class Change:
    """A level that lasted: since when, and how many edges more than one it took."""

    is_high: bool
    since_s: float
    bounces: int


class Settling:
    """The filter by itself: edges with their stamps in, changes out; no thread, no clock.

    `level` is absent until the first level has lasted. `edges` counts all raw edges ever told,
    `dropouts` the bursts that ended where they had begun.
    """

    def __init__(self, settle_s: float) -> None:
        self.settle_s = settle_s
        self.level: bool | None = None
        self.edges = 0
        self.dropouts = 0
        self._raw: bool | None = None
        self._since_s = -math.inf
        self._burst = 0

    @property
    def is_settled(self) -> bool:
        """Whether the wire is at the level that counts."""
        return self._raw is not None and self._raw == self.level

    @property
    def due_s(self) -> float | None:
        """When the level that is there now will have lasted; absent when nothing is pending."""
        return self._since_s + self.settle_s if self._burst else None

    def edge(self, is_high: bool, at_s: float) -> Change | None:
        """Takes an edge; the change that was complete before it, if there was one."""
        change = self.lapse(at_s)
        self.edges += self._raw is not None
        self._burst += 1
        self._raw = is_high
        self._since_s = max(at_s, self._since_s)
        return change

    def look(self, is_high: bool, at_s: float) -> Change | None:
        """Takes the level of the wire, which is an edge when it is not what the edges said."""
        if is_high != self._raw:
            return self.edge(is_high, at_s)
        return self.lapse(at_s)

    def lapse(self, at_s: float) -> Change | None:
        """Lets time pass: the change, once the new level has lasted."""
        if not self._burst or self._raw is None or at_s < self._since_s + self.settle_s:
            return None
        bounces, self._burst = self._burst - 1, 0
        if self._raw == self.level:
            self.dropouts += 1
            return None
        self.level = self._raw
        return Change(self._raw, self._since_s, bounces)


class Contact:
    """A filtered input pin: `step` gives the changes that are complete at an instant."""

    def __init__(
        self,
        pins: Pins,
        number: int,
        part: str,
        settle_s: float,
        pull: Literal["up", "down"] = "up",
    ) -> None:
        self.settling = Settling(settle_s)
        self.woken = threading.Event()
        self._queue: deque[tuple[bool, float]] = deque()
        self._look_s = 0.0
        self._pin = pins.input(number, part, self._queued, pull)

    def step(self, now_s: float) -> list[Change]:
        """All changes that are complete by now, in order."""
        changes: list[Change | None] = []
        while self._queue:
            is_high, at_s = self._queue.popleft()
            changes.append(self.settling.edge(is_high, at_s))
        if now_s >= min(self._look_s, self.settling.due_s or now_s):
            is_high = self._pin.is_high
            if not self._queue:  # else an edge is under way: the next step takes it first
                changes.append(self.settling.look(is_high, now_s))
                self._look_s = now_s + LOOK_S
        return [change for change in changes if change is not None]

    def next_s(self) -> float:
        """The instant by which `step` must be called again, an edge or none."""
        due_s = self.settling.due_s
        return self._look_s if due_s is None else min(due_s, self._look_s)

    def close(self) -> None:
        """Gives the pin back; safe to call twice."""
        self._pin.close()

    def _queued(self, is_high: bool, at_s: float) -> None:
        self._queue.append((is_high, at_s))
        self.woken.set()


class ContactThread:
    """Calls `step(now_s)`, which gives its next instant, at each edge and whenever it is due."""

    def __init__(self, name: str, contact: Contact, clock: Clock) -> None:
        self._name = name
        self._contact = contact
        self._clock = clock
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, step: Callable[[float], float]) -> None:
        """Begins; once only."""
        self._thread = threading.Thread(
            target=self._run, args=(step,), name=self._name, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and gives the pin back. Safe to call twice, and before `start`."""
        self._ended.set()
        self._contact.woken.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
        self._contact.close()

    def _run(self, step: Callable[[float], float]) -> None:
        while not self._ended.is_set():
            self._contact.woken.clear()
            due_s = step(self._clock.mono_s())
            if not self._ended.is_set():
                self._clock.wait(self._contact.woken, due_s - self._clock.mono_s())
