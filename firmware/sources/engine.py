"""Whether the engine runs, from an isolated tap's level or pulses; the engine is never driven."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Literal

from firmware.buses.contacts import Change, Contact
from firmware.clock import Clock
from firmware.readings import Channel, Engine, Reading, Value
from firmware.sources.base import Post, SettledContact

if TYPE_CHECKING:  # a unit without pins need not import gpiozero
    from firmware.buses.pins import Pins

REPEAT_S = 1.0
FRESH_S = 2.5


class EngineSense(SettledContact):
    """Posts whether the engine runs, at each change and every second.

    `active` is the level while it runs: an opto-isolator pulls the wire low. A broken wire is at
    rest and reads as an engine that is off. A level must last 0.25 s, longer than the gaps of a
    ripple at idle.
    """

    settle_s = 0.250

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, active: Literal["low", "high"] = "low"
    ) -> None:
        pull: Literal["up", "down"] = "up" if active == "low" else "down"
        super().__init__(
            "engine",
            Channel.ENGINE,
            Contact(pins, pin, "[engine]", self.settle_s, pull),
            clock,
            f"engine@gpio{pin}",
            repeat_s=REPEAT_S,
            fresh_s=FRESH_S,
        )
        self._is_active_high = active == "high"

    def meaning(self, change: Change) -> tuple[Value, Value]:
        engine = Engine(change.is_high == self._is_active_high)
        return engine, engine


class EnginePulses:
    """Posts whether the engine runs, from the pulses of its ignition or tachometer line.

    It runs while there were three pulses within the last half second: 360 a minute, below any
    idle, and more than a single spike of the ignition noise of another engine. It is off once they
    stay away for as long. A broken wire gives no pulse and reads as an engine that is off.
    """

    window_s = 0.5
    least = 3

    def __init__(
        self, pins: Pins, pin: int, clock: Clock, active: Literal["low", "high"] = "low"
    ) -> None:
        """`active` is the level of a pulse."""
        self.name = "engine"
        self.source = f"engine@gpio{pin}"
        self._is_active_high = active == "high"
        self._clock = clock
        self._pulses: deque[float] = deque(maxlen=self.least)
        self._pin = pins.input(pin, "[engine]", self._edge, "up" if active == "low" else "down")
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_running: bool | None = None
        self._begun_s = clock.mono_s()
        self._repeat_s = 0.0

    def start(self, post: Post) -> None:
        """Begins; the first state comes after half a second, or with the third pulse."""
        self._thread = threading.Thread(target=self._run, args=(post,), name="engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and gives the pin back; safe to call twice."""
        self._ended.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
        self._pin.close()

    def step(self, post: Post, now_s: float) -> float:
        """Posts what is due by now; the instant of the next step, a pulse or none."""
        pulses = list(self._pulses)  # the library's thread appends meanwhile
        is_running = len(pulses) == self.least and now_s - pulses[0] < self.window_s
        if self._is_running is None and not is_running and now_s < self._begun_s + self.window_s:
            return self._begun_s + self.window_s
        if is_running != self._is_running or now_s >= self._repeat_s:
            self._is_running = is_running
            self._repeat_s = now_s + REPEAT_S
            post(Reading(Channel.ENGINE, Engine(is_running), now_s, self.source, FRESH_S))
        if is_running:
            return min(self._repeat_s, pulses[0] + self.window_s)
        return self._repeat_s

    def _edge(self, is_high: bool, at_s: float) -> None:
        if is_high == self._is_active_high:
            self._pulses.append(at_s)
            if not self._is_running:
                self._woken.set()

    def _run(self, post: Post) -> None:
        while not self._ended.is_set():
            self._woken.clear()
            due_s = self.step(post, self._clock.mono_s())
            if not self._ended.is_set():
                self._clock.wait(self._woken, due_s - self._clock.mono_s())
