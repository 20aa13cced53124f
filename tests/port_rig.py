"""A unit's service port for tests: the real link, its cable, and a unit whose rider we are.

The unit is a feed with the real `Requests` behind it; what is played is the rider and the road.
"""

from __future__ import annotations

import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from firmware.buses.uart_fake import FakePort
from firmware.clock import Clock
from firmware.link.door import Client, Door
from firmware.link.main import Link, Plan
from firmware.link.server import Server
from firmware.link.ways import SerialWay
from firmware.outputs.feed import Feed
from firmware.readings import Missing, Press, Reading, Request, Why
from firmware.rider.requests import Requests
from firmware.state import PartSeen, State

PATIENCE_S = 60.0
LONGEST_STEP_S = 0.1
"""Twice what the link waits at the most before it looks at its clock again."""
NO_FIX = Missing(Why.NO_FIX)
UTC_NOW = datetime(2026, 1, 17, 22, 0, 5, 250_000, tzinfo=UTC)


class ShiftedClock(Clock):
    """The machine's clock, with a shift that a test may add to.

    It stands while this process does not get to run: on a busy machine a unit that is two seconds
    silent would else be one that is gone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shift_s = 0.0
        self._asked_s = super().mono_s()
        self._lost_s = 0.0
        self._turn = threading.Lock()

    def mono_s(self) -> float:
        with self._turn:
            now_s = super().mono_s()
            self._lost_s += max(0.0, now_s - self._asked_s - LONGEST_STEP_S)
            self._asked_s = now_s
            return now_s - self._lost_s + self.shift_s


class Rider:
    """A unit that stands, says so ten times a second, and has a button; a context."""

    def __init__(self, path: Path) -> None:
        self.is_standing = True
        self.speed_mph: float | None = None
        self.notes: list[str] = []
        self.asked: list[tuple[str, str]] = []
        self.utc_source = "none"
        self.parts: tuple[PartSeen, ...] = ()
        self.prompts: list[str] = []
        self._clock = Clock()
        self._requests = Requests()
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._feed = Feed(path, self._post)
        self._feed.start()
        self.push()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def push(self) -> None:
        """Says how the unit does now."""
        with self._guard:
            self._feed.push(
                State(
                    at_s=self._clock.mono_s(),
                    is_standing=self.is_standing,
                    speed_mph=self.speed_mph,
                    utc=UTC_NOW,
                    utc_source=self.utc_source,
                    parts=self.parts,
                    lat_deg=45.123456,
                    prompt=self._requests.prompt,
                    answered=self._requests.answered,
                    answered_s=self._requests.answered_s,
                )
            )

    def hold(self) -> None:
        """Holds the button for two seconds, now."""
        with self._guard:
            self._requests.take(Press("hold"), self._clock.mono_s(), NO_FIX, self.is_standing)
        self.push()

    def ride(self, speed_mph: float) -> None:
        """Rides off, or stops at 0."""
        self.is_standing, self.speed_mph = speed_mph < 1.0, speed_mph
        self.push()

    def fall_silent(self) -> None:
        """The daemon dies: the feed goes."""
        self._ended.set()
        self._thread.join()
        self._feed.stop()

    @property
    def prompt(self) -> str:
        return self._requests.prompt

    def _post(self, reading: Reading) -> None:
        value = reading.value
        assert isinstance(value, Request)
        with self._guard:
            self._requests.take(value, self._clock.mono_s(), NO_FIX, self.is_standing)
        self.asked.append((value.action, value.argument))
        if value.action == "note":
            self.notes.append(value.argument)
        elif value.action == "prompt":
            self.prompts.append(value.argument)
        self.push()

    def _run(self) -> None:
        while not self._ended.wait(0.1):
            self.push()


class Rig:
    """The link on a pseudo-terminal, and on UDP where asked, of a journal; a context."""

    def __init__(
        self, journal: Path, udp: tuple[str, int] | None = None, config: Path | None = None
    ) -> None:
        self._sockets = tempfile.TemporaryDirectory(prefix="sledwarden-test-")
        folder = Path(self._sockets.name)
        self.rider = Rider(folder / "feed.sock")
        self.clock = ShiftedClock()
        plan = Plan(
            "sled-7", folder / "feed.sock", journal, None, 115_200, udp, None, False, config
        )
        self.link = Link(plan, self.clock)
        self.port = FakePort(str(folder / "port"))
        self.is_plugged_again = True
        self.link.ways.append(
            SerialWay(self.server, self._plugged, 1_000_000, self.clock, retry_s=0.01)
        )
        self._thread = threading.Thread(target=self.link.run, daemon=True)
        self._thread.start()
        self.wait(lambda: self.door.state is not None)

    @property
    def door(self) -> Door:
        return self.link.door

    @property
    def server(self) -> Server:
        return self.link.server

    def open(self) -> None:
        """Has the rider asked, and holds the button."""
        self.ask()
        self.rider.hold()
        self.wait(lambda: self.door.left_s > 0)

    def ask(self) -> None:
        """Has the rider asked."""
        self.door.ask()
        self.wait(lambda: self.rider.prompt.endswith("?"))

    def refusal(self) -> str:
        """What a stranger is told now."""
        return self.door.refusal(Client("a stranger"))

    def wait(self, is_so: object) -> None:
        """Waits until something is so; fails after `PATIENCE_S`."""
        assert callable(is_so)
        clock, event = Clock(), threading.Event()
        until_s = clock.mono_s() + PATIENCE_S
        while not is_so():
            assert clock.mono_s() < until_s, "it never came to be so"
            event.wait(0.005)

    def _plugged(self) -> FakePort:
        if self.is_plugged_again:
            self.port.plug()
        return self.port

    def __enter__(self) -> Rig:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.link.stop()
        self._thread.join()
        self.rider.fall_silent()
        self.port.close()
        self._sockets.cleanup()
