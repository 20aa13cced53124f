"""What a source is: something with a thread of its own that posts readings and never judges."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from firmware.clock import Clock
from firmware.readings import Channel, Reading

Post = Callable[[Reading], None]
"""Hands a reading to the judging thread; never blocks."""


class Source(Protocol):
    """A device, or a bus of devices, that runs from `start` to `stop`."""

    name: str

    def start(self, post: Post) -> None:
        """Begins to post readings, from a thread of the source's own."""

    def stop(self) -> None:
        """Ends the thread and frees the wire; safe to call twice."""


class Polled(Protocol):
    """A chip on a shared bus, read in turn by the bus's `Poller`."""

    channel: Channel
    period_s: float

    def read(self, at_s: float) -> Reading:
        """One reading, a `Missing` when the chip gives none; raises no bus error."""


class SettableClock(Protocol):
    """A battery clock, set by its bus's own thread to a date that it was offered."""

    def offer(self, utc: datetime, mono_s: float) -> None:
        """Says the date of a monotonic instant; never blocks, and need not be taken."""


HUNG_S = 0.5
"""A read that takes so long hangs on the bus: the kernel gives up after a second."""

PAUSES = 4.0
"""A chip that hung is let be for so many times as long, so that the others are read meanwhile."""


class Poller:
    """The thread of one bus: reads each of its chips at that chip's own period.

    A bus that locks up stops this thread alone; its readings then lapse, which is seen. A chip that
    hangs it takes a fifth of the time at most from the others.
    """

    def __init__(self, name: str, devices: Sequence[Polled], clock: Clock) -> None:
        self.name = name
        self._devices = list(devices)
        self._clock = clock
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, post: Post) -> None:
        self._thread = threading.Thread(target=self._run, args=(post,), name=self.name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _run(self, post: Post) -> None:
        due_s = {id(device): self._clock.mono_s() for device in self._devices}
        while not self._ended.is_set() and self._devices:
            device = min(self._devices, key=lambda one: due_s[id(one)])
            if self._clock.wait(self._ended, due_s[id(device)] - self._clock.mono_s()):
                return
            now_s = self._clock.mono_s()
            post(device.read(now_s))
            took_s = self._clock.mono_s() - now_s
            due_s[id(device)] = max(due_s[id(device)] + device.period_s, now_s)
            if took_s > HUNG_S:
                due_s[id(device)] = now_s + PAUSES * took_s
