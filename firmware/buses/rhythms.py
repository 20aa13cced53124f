"""On and off in time: one small thread for all the outputs that flash, pulse or beep."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from firmware.clock import Clock


@dataclass(frozen=True, slots=True)
class Rhythm:
    """So long on, so long off, in ride seconds; `times` over, or until told otherwise."""

    on_s: float
    off_s: float
    times: int | None = None

    def is_on(self, age_s: float) -> bool:
        """Whether it is on so many seconds after its start."""
        period_s = self.on_s + self.off_s
        if self.times is not None and age_s >= self.times * period_s - self.off_s:
            return False
        return age_s % period_s < self.on_s

    def next_s(self, age_s: float) -> float | None:
        """The age at which it changes next; absent when it has ended."""
        period_s = self.on_s + self.off_s
        begun_s = age_s // period_s * period_s
        at_s = begun_s + (self.on_s if age_s < begun_s + self.on_s else period_s)
        is_past = self.times is not None and at_s > self.times * period_s - self.off_s + _NUDGE_S
        return None if is_past else at_s


_NUDGE_S = 1e-6
"""Keeps a change that falls due now from being a rounding error away."""


class Settable(Protocol):
    """An output that the player sets."""

    def put(self, is_high: bool) -> None: ...


class Player:
    """Keeps the rhythms of many outputs, from `start` to `stop`.

    `steady` and `play` set the output in the caller's thread, before the player's hears of it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._playing: dict[Settable, tuple[Rhythm, float]] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread, unless it runs; before a warning is due, for it takes 0.8 ms."""
        if self._thread is None and not self._ended.is_set():
            self._thread = threading.Thread(target=self._run, name="rhythms", daemon=True)
            self._thread.start()

    def steady(self, output: Settable, is_high: bool) -> None:
        """Sets the output and ends its rhythm."""
        with self._lock:
            output.put(is_high)
            self._playing.pop(output, None)

    def play(self, output: Settable, rhythm: Rhythm) -> None:
        """Sets the output high and begins the rhythm."""
        with self._lock:
            output.put(True)
            self._playing[output] = (rhythm, self._clock.mono_s())
        self._changed.set()

    def turn(self, now_s: float) -> float | None:
        """Sets every playing output as it must be now; the instant of the next change."""
        due_s: list[float] = []
        with self._lock:
            for output, (rhythm, start_s) in list(self._playing.items()):
                age_s = now_s - start_s + _NUDGE_S
                output.put(rhythm.is_on(age_s))
                next_s = rhythm.next_s(age_s)
                if next_s is None:
                    del self._playing[output]
                else:
                    due_s.append(start_s + next_s)
        return min(due_s, default=None)

    def stop(self) -> None:
        """Ends the thread; outputs stay as they are. Safe to call twice."""
        with self._lock:
            self._ended.set()
            self._playing.clear()
        self._changed.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        while True:
            self._changed.clear()
            due_s = self.turn(self._clock.mono_s())
            if self._ended.is_set():
                return
            if due_s is None:
                self._changed.wait()
            else:
                self._clock.wait(self._changed, due_s - self._clock.mono_s())
