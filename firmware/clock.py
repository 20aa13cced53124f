"""The one place that asks what time it is.

Every age, delay and order is monotonic seconds since the unit's boot (`mono_s`). The system's
own date is only ever a reading among others. A clock may run faster than the world's, so that a
simulated ride passes N times as fast while a ride second stays a ride second.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

AHEAD_S = 0.3
"""So far, in ride seconds, a simulation's time runs on past the instant that somebody waits for."""

STANDS_S = 1.0
"""The longest, in real seconds, that it stands for one that does not come."""


class Clock:
    """The clock of the machine, or one that runs `speed` times as fast from zero.

    A simulation's time stands where a thread that waited for an instant has not come back to wait
    for the next one, and what it lost so is not caught up: on a machine that is too slow a ride
    passes slower, and nothing in it looks late that on a sled would not be.
    """

    def __init__(self, speed: float = 1.0, *, from_zero: bool = False) -> None:
        """Starts at the kernel's seconds since boot, or at 0.0 with `from_zero` (a simulation)."""
        if not speed > 0:
            raise ValueError(f"speed = {speed}: must be above 0")
        self.speed = speed
        self._origin_s = time.monotonic() if from_zero else 0.0
        self._scaled = from_zero
        self._is_held = False
        self._stepped = timedelta(0)
        self._guard = threading.Lock()
        self._due_s: dict[int, float] = {}  # by thread, the instant that it last waited for
        self._stands_for = (0, 0.0)
        self._stands_since = 0.0
        self._last_s = 0.0

    def hold(self) -> None:
        """Holds a simulation's time at 0.0 until `release`; waits still pass."""
        self._is_held = self._scaled

    def release(self) -> None:
        """Begins a simulation's time at 0.0, once everything stands ready for it."""
        if self._is_held:
            self._origin_s = time.monotonic()
            self._is_held = False

    def mono_s(self) -> float:
        """Monotonic ride seconds; never steps, never goes back."""
        if self._is_held:
            return 0.0
        if not self._scaled:
            return time.monotonic() - self._origin_s
        with self._guard:
            self._last_s = max(self._last_s, self._ride_s(time.monotonic()))
            return self._last_s

    def _ride_s(self, now: float) -> float:
        ride_s = (now - self._origin_s) * self.speed
        if not self._due_s:
            return ride_s
        slowest = min(self._due_s, key=self._due_s.__getitem__)
        granted_s = self._due_s[slowest] + AHEAD_S
        if ride_s <= granted_s:
            return ride_s
        if self._stands_for != (slowest, granted_s):
            self._stands_for, self._stands_since = (slowest, granted_s), now
        elif now - self._stands_since > STANDS_S:
            del self._due_s[slowest]  # it has ended, or does something else now
        self._origin_s = now - granted_s / self.speed
        return granted_s

    def _expect(self, ride_s: float) -> float:
        """Notes that this thread waits so long; the instant until which it does."""
        if not self._scaled or self._is_held:
            return 0.0  # while a simulation's time is held, waits still pass
        with self._guard:
            until_s = self._ride_s(time.monotonic()) + max(0.0, ride_s)
            self._due_s[threading.get_ident()] = until_s
        return until_s

    def real_s(self, ride_s: float) -> float:
        """How long the world takes for so many ride seconds: what a blocking call must wait."""
        return max(0.0, ride_s) / (self.speed if self._scaled else 1.0)

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        """Waits for the event, at most so many ride seconds; true when the event is set."""
        until_s = self._expect(ride_s)
        while not (is_set := event.wait(self.real_s(ride_s))):
            ride_s = until_s - self.mono_s()  # its time may have stood meanwhile
            if not self._scaled or ride_s <= 0.0:
                break
        return is_set

    def sleep(self, ride_s: float) -> None:
        """Sleeps for so many ride seconds."""
        until_s = self._expect(ride_s)
        time.sleep(self.real_s(ride_s))
        while self._scaled and (ride_s := until_s - self.mono_s()) > 0.0:
            time.sleep(self.real_s(ride_s))

    def system_utc(self) -> datetime:
        """The system's date, which may be wrong by decades on a Pi without a network."""
        return datetime.now(UTC) + self._stepped

    def step_utc(self, seconds: float) -> None:
        """Steps the system's date of a simulation, as a bad time server does."""
        self._stepped += timedelta(seconds=seconds)


class ManualClock(Clock):
    """A clock that a test moves by hand; the fake that belongs to `Clock`."""

    def __init__(self, mono_s: float = 0.0, utc: datetime | None = None) -> None:
        super().__init__()
        self._now_s = mono_s
        self._utc = utc if utc is not None else datetime(2026, 1, 1, tzinfo=UTC)

    def mono_s(self) -> float:
        return self._now_s

    def advance(self, ride_s: float) -> None:
        """Moves both times on; `step_utc` moves the date alone."""
        self._now_s += ride_s
        self._utc += timedelta(seconds=ride_s)

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        if not event.is_set():
            self.advance(ride_s)
        return event.is_set()

    def sleep(self, ride_s: float) -> None:
        self.advance(ride_s)

    def system_utc(self) -> datetime:
        return self._utc + self._stepped
