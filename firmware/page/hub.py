"""The screens that look: each is sent the newest frame and never an old one, and none can wait.

All of it runs in the server's one loop. A screen that does not read costs the room of one frame: it
gets the newest once it reads again, makes room for a newcomer when all places are taken, and is
hung up on after `STUCK_S`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from firmware.clock import Clock
from firmware.feed.client import STALE_S
from firmware.page.follower import NOTHING, Sight
from firmware.page.frame import dead_frame, encode, frame_of

MAX_SCREENS = 16
BEAT_S = 0.5
"""A screen hears of the page at least so often, so that it knows when it has lost it."""
STUCK_S = 10.0

Send = Callable[[bytes], Awaitable[None]]


@dataclass(slots=True, eq=False)
class Screen:
    """One stream: `hang_up` ends its connection at once, whatever waits in it."""

    hang_up: Callable[[], None]
    news: asyncio.Event = field(default_factory=asyncio.Event)
    sending_since_s: float | None = None
    is_gone: bool = False


class Hub:
    """Keeps the newest sight of the unit and who looks at it."""

    def __init__(self, clock: Clock) -> None:
        self.sight = NOTHING
        self._clock = clock
        self._screens: dict[Screen, None] = {}
        self._drawn: tuple[Sight, bool, bytes] | None = None
        self._is_closed = False

    def offer(self, sight: Sight) -> None:
        """Makes this the newest sight, for every screen."""
        self.sight = sight
        for screen in self._screens:
            screen.news.set()

    @property
    def is_alive(self) -> bool:
        """Whether the unit is heard."""
        return self.sight.is_alive(self._clock.mono_s())

    def close(self) -> None:
        """Ends every stream in order, for the end of the program."""
        self._is_closed = True
        for screen in list(self._screens):
            self.leave(screen)

    def join(self, hang_up: Callable[[], None]) -> Screen | None:
        """A place for a screen; None where all are taken by screens that read."""
        if self._is_closed:
            return None
        if len(self._screens) >= MAX_SCREENS and not self._make_room():
            return None
        screen = Screen(hang_up)
        self._screens[screen] = None
        return screen

    def leave(self, screen: Screen) -> None:
        """Gives its place to others at once, and ends its stream at the next turn."""
        self._screens.pop(screen, None)
        screen.is_gone = True
        screen.news.set()

    async def serve(self, screen: Screen, send: Send) -> None:
        """Sends frames until the screen leaves or does not read for `STUCK_S`."""
        try:
            while not screen.is_gone:
                screen.news.clear()
                line = self.line()
                screen.sending_since_s = self._clock.mono_s()
                async with asyncio.timeout(STUCK_S):
                    await send(line)
                screen.sending_since_s = None
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(screen.news.wait(), self._patience_s())
        except TimeoutError:
            screen.hang_up()
        finally:
            self._screens.pop(screen, None)

    def line(self) -> bytes:
        """The newest frame as an event, with its age and the instant of sending on our clock."""
        now_s = self._clock.mono_s()
        sight = self.sight
        is_alive = sight.is_alive(now_s)
        if self._drawn is None or self._drawn[0] is not sight or self._drawn[1] != is_alive:
            self._drawn = (sight, is_alive, _encoded(sight, is_alive))
        age_s = now_s - sight.made_s if is_alive else 0.0
        return b'data: {"age_s":%.3f,"sent_s":%.3f,%b\n\n' % (age_s, now_s, self._drawn[2][1:])

    def _patience_s(self) -> float:
        """Until the next beat, or until what is shown has become too old to be shown."""
        now_s = self._clock.mono_s()
        fresh_s = self.sight.made_s + STALE_S - now_s if self.sight.is_alive(now_s) else BEAT_S
        return min(BEAT_S, fresh_s + 0.001)

    def _make_room(self) -> bool:
        stuck = [one for one in self._screens if one.sending_since_s is not None]
        if not stuck:
            return False
        longest = min(stuck, key=lambda one: one.sending_since_s or 0.0)
        self.leave(longest)
        longest.hang_up()
        return True


def _encoded(sight: Sight, is_alive: bool) -> bytes:
    if sight.state is not None and is_alive:
        return encode(frame_of(sight.state))
    silent = f"the unit has said nothing for {STALE_S:.0f} s"
    return encode(dead_frame(sight.trouble if sight.state is None else silent))
