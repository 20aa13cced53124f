"""A feed that is served, and clients of it: what the tests of both ends share."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.clock import Clock, ManualClock
from firmware.feed.client import FeedClient
from firmware.feed.messages import (
    Message,
)
from firmware.outputs.feed import Feed
from firmware.readings import Reading

WAIT_S = 60.0


class Posted:
    """The judging thread's queue, as far as the feed sees it."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self._came = threading.Condition()

    def __call__(self, reading: Reading) -> None:
        with self._came:
            self.readings.append(reading)
            self._came.notify_all()

    def wait_for(self, count: int) -> list[Reading]:
        with self._came:
            assert self._came.wait_for(lambda: len(self.readings) >= count, WAIT_S)
        return self.readings


class Raw:
    """A client that speaks the socket by hand."""

    def __init__(self, path: Path) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # first, while it blocks: with a timeout a Unix socket doesn't wait for a full queue
        self.link.connect(str(path))
        self.link.settimeout(WAIT_S)
        self._stream = self.link.makefile("rb")

    def line(self) -> dict[str, object]:
        """The next line; an empty dict at the end."""
        text = self._stream.readline()
        return json.loads(text) if text else {}

    def of(self, kind: str) -> dict[str, object]:
        """The next line of a class."""
        while (line := self.line()) and line["class"] != kind:
            pass
        return line

    def send(self, text: bytes) -> None:
        self.link.sendall(text)

    def close(self) -> None:
        self._stream.close()
        self.link.close()


@pytest.fixture
def posted() -> Posted:
    return Posted()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "feed.sock"


@pytest.fixture
def feed(path: Path, posted: Posted) -> Iterator[Feed]:
    served = Feed(path, posted, ManualClock(7.5))
    served.start()
    yield served
    served.stop()


@pytest.fixture
def raw(feed: Feed) -> Iterator[Raw]:
    client = Raw(feed.path)
    yield client
    client.close()


@pytest.fixture
def client(feed: Feed) -> Iterator[FeedClient]:
    heard = FeedClient(feed.path)
    yield heard
    heard.close()


def heard(client: FeedClient, kind: type, count: int = 1) -> list[Message]:
    """The messages up to the count-th of a kind."""
    messages: list[Message] = []
    deadline_s = Clock().mono_s() + WAIT_S
    while sum(isinstance(one, kind) for one in messages) < count:
        assert Clock().mono_s() < deadline_s, messages
        messages += client.poll(0.5)
    return messages
