"""Follows the unit's feed in a thread of its own, and hands each sight of it on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firmware.clock import Clock
from firmware.feed.client import STALE_S, FeedClient
from firmware.state import State

LOOK_S = 0.25
"""The longest that a change of the connection may go unseen."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The newest state with the instant at which the unit made it, or why there is none."""

    state: State | None
    made_s: float
    trouble: str = ""

    def is_alive(self, now_s: float) -> bool:
        """Whether this may still be shown as the unit's state."""
        return self.state is not None and now_s - self.made_s < STALE_S


NOTHING = Sight(None, 0.0, "not connected yet")


class Follower:
    """The thread; `tell` is called from it with each new sight."""

    def __init__(self, path: Path, clock: Clock, tell: Callable[[Sight], None]) -> None:
        self._client = FeedClient(path, clock=clock)
        self._clock = clock
        self._tell = tell
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Begins to follow, for ever."""
        self._thread.start()

    def stop(self) -> None:
        """Leaves the feed; safe to call twice."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        last = NOTHING
        while not self._ended.is_set():
            self._client.poll(LOOK_S)
            sight = self._sight(last)
            if sight is not last:
                self._tell(sight)
                last = sight
        self._client.close()

    def _sight(self, last: Sight) -> Sight:
        """What is known now; the last sight itself where nothing has changed."""
        client = self._client
        age_s = client.age_s
        if age_s is None or client.state is None:
            if last.state is None and last.trouble == client.trouble:
                return last
            return Sight(None, 0.0, client.trouble)
        if client.state is last.state:
            return last
        return Sight(client.state, self._clock.mono_s() - age_s)
