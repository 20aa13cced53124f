"""One plain line for each change of an alert: for systemd's journal, a pipe or a terminal."""

from __future__ import annotations

import contextlib
import os
import queue
import threading

from firmware.findings import Alert, HapticCue, ToneCue
from firmware.state import State

MAX_WAITING = 1000
"""Lines kept for a reader that is slow; more are counted and said as left out."""


class Console:
    """Writes the lines from a thread of its own: a pipe that nobody empties holds up no warning."""

    name = "console"

    def __init__(self, descriptor: int = 1) -> None:
        """Writes to standard output, or to another open descriptor.

        Not through `sys.stdout`: its lock, held by a write that waits, would hang the exit.
        """
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._left_out = 0
        self._state: State | None = None
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def push(self, state: State) -> None:
        """Keeps the state, for the time, the place and the speed of the next line."""
        self._state = state

    def alert(self, alert: Alert) -> None:
        """Says this change; never blocks."""
        try:
            if self._left_out:
                self._lines.put_nowait(f"({self._left_out} lines left out: nobody read them)")
                self._left_out = 0
            self._lines.put_nowait(line_of(alert, self._state))
        except queue.Full:
            self._left_out += 1

    def stop(self) -> None:
        """Writes what waits, for a second at most; safe to call twice."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            rest = line.encode() + b"\n"
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:  # the reader has gone
                return


def line_of(alert: Alert, state: State | None) -> str:
    """The line for a change: when, what, its reason and clause, how the rider is told, where."""
    words = " ".join(alert.words.split())
    parts = [f"{alert.state} {alert.name}: {words}"]
    if alert.why and alert.why.casefold() != words.casefold():
        parts.append(alert.why)
    parts.append(f"[{alert.clause}]")
    if alert.state == "raised":
        cues = [f"light {alert.light}"]
        if alert.haptic is not HapticCue.OFF:
            cues.append(f"haptic {alert.haptic}")
        if alert.tone is not ToneCue.OFF:
            cues.append(f"tone {alert.tone}")
        parts.append(", ".join(cues))
    when = ""
    if state is not None:
        when = f"{state.utc:%Y-%m-%dT%H:%M:%SZ} " if state.utc else f"{state.at_s:.1f} s "
        if state.lat_deg is not None and state.lon_deg is not None:
            parts.append(f"at {state.lat_deg:.5f}, {state.lon_deg:.5f}")
    line = when + "; ".join(parts)
    return "".join(letter if letter.isprintable() else "?" for letter in line)
