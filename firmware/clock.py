"""The one place that asks what time it is.

Every age, delay and order is monotonic seconds since the unit's boot (`mono_s`). The system's
own date is only ever a reading among others. A clock may run faster than the world's, so that a
simulated ride passes N times as fast while a ride second stays a ride second.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta


class Clock:
    """The clock of the machine, or one that runs `speed` times as fast from zero."""

    def __init__(self, speed: float = 1.0, *, from_zero: bool = False) -> None:
        """Starts at the kernel's seconds since boot, or at 0.0 with `from_zero` (a simulation)."""
        if not speed > 0:
            raise ValueError(f"speed = {speed}: must be above 0")
        self.speed = speed
        self._origin_s = time.monotonic() if from_zero else 0.0
        self._scaled = from_zero
        self._is_held = False
        self._stepped = timedelta(0)

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
        elapsed_s = time.monotonic() - self._origin_s
        return elapsed_s * self.speed if self._scaled else elapsed_s

    def real_s(self, ride_s: float) -> float:
        """How long the world takes for so many ride seconds: what a blocking call must wait."""
        return max(0.0, ride_s) / (self.speed if self._scaled else 1.0)

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        """Waits for the event, at most so many ride seconds; true when the event is set."""
        return event.wait(self.real_s(ride_s))

    def sleep(self, ride_s: float) -> None:
        """Sleeps for so many ride seconds."""
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
