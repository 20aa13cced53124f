"""What a source is: something with a thread of its own that posts readings and never judges."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from firmware.buses.contacts import Change, Contact, ContactThread
from firmware.clock import Clock
from firmware.readings import Channel, Reading, Value

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


class SettledContact:
    """A contact that is posted at each settled change, with its instant, and again while it lasts.

    A kind of contact says what a change means. The first state comes once it has lasted.
    """

    def __init__(
        self,
        name: str,
        channel: Channel,
        contact: Contact,
        clock: Clock,
        source: str,
        *,
        repeat_s: float,
        fresh_s: float,
    ) -> None:
        self.name = name
        self.source = source
        self.contact = contact
        self._channel = channel
        self._repeat_every_s = repeat_s
        self._fresh_s = fresh_s
        self._thread = ContactThread(name, contact, clock)
        self._lasting: Value | None = None
        self._repeat_s = 0.0

    def meaning(self, change: Change) -> tuple[Value, Value]:
        """What is posted at a change, and what is posted while it lasts."""
        raise NotImplementedError

    def start(self, post: Post) -> None:
        """Begins, in a thread of its own."""
        self._thread.start(lambda now_s: self.step(post, now_s))

    def stop(self) -> None:
        """Ends the thread and gives the pin back."""
        self._thread.stop()

    def step(self, post: Post, now_s: float) -> float:
        """Posts what is due by now; the instant of the next step, an edge or none."""
        for change in self.contact.step(now_s):
            value, self._lasting = self.meaning(change)
            self._post(post, value, change.since_s)
            self._repeat_s = now_s + self._repeat_every_s
        if self._lasting is not None and now_s >= self._repeat_s:
            self._post(post, self._lasting, now_s)
            self._repeat_s = now_s + self._repeat_every_s
        next_s = self.contact.next_s()
        return next_s if self._lasting is None else min(next_s, self._repeat_s)

    def _post(self, post: Post, value: Value, mono_s: float) -> None:
        post(Reading(self._channel, value, mono_s, self.source, self._fresh_s))


STILL_READS = 8
"""So many equal readings, 2 s of them, and a chip is asked whether it still converts."""


class FrozenCounts:
    """Finds counts that stand still because their chip no longer converts.

    A steady light may well give the same counts again. So the measurement is begun anew: counts
    that are valid even before a conversion can have ended are frozen. All zeros are darkness.
    """

    def __init__(self, begin_anew: Callable[[], None], is_valid: Callable[[], bool]) -> None:
        self._begin_anew = begin_anew
        self._is_valid = is_valid
        self._counts: tuple[int, ...] = ()
        self._still = 0

    def has_frozen(self, counts: tuple[int, ...]) -> bool:
        """Whether these counts, the newest, are no measurement; raises BusError."""
        self._still = self._still + 1 if counts == self._counts and any(counts) else 1
        self._counts = counts
        if self._still < STILL_READS:
            return False
        self._begin_anew()
        if self._is_valid():
            return True
        self._still = 0
        return False
