"""How a screen, a page or a tool hears the unit: the client side of `feed.sock`.

The feed is newline-delimited JSON (docs/feed.md). The client connects again for ever, keeps the
newest state, and knows how old it is: what it has not heard for `STALE_S` is not alive.
"""

from __future__ import annotations

import contextlib
import select
import socket
from pathlib import Path

from firmware.clock import Clock
from firmware.feed.messages import (
    DEFAULT_PATH,
    VERSION,
    Hello,
    LineCutter,
    Message,
    Refused,
    decode,
    encode_command,
)
from firmware.state import State

STALE_S = 2.0
"""After so many seconds without a state the unit counts as gone."""

_RETRY_S = 0.5
_MAX_LINE_BYTES = 1 << 20
_READ_BYTES = 1 << 16


class FeedClient:
    """A connection to the unit that is made again whenever it is lost; for one thread.

    `state` is the newest that was heard, `trouble` why nothing is heard now, in words.
    """

    def __init__(self, path: Path = DEFAULT_PATH, *, clock: Clock | None = None) -> None:
        """`clock` is the world's, never a ride's: a reader's two seconds are real ones."""
        self.path = path
        self.state: State | None = None
        self.hello: Hello | None = None
        self.trouble = "not connected yet"
        self._clock = clock if clock is not None else Clock()
        self._socket: socket.socket | None = None
        self._cutter = LineCutter(_MAX_LINE_BYTES)
        self._heard_s: float | None = None
        self._retry_s = -1.0

    @property
    def is_connected(self) -> bool:
        """Whether somebody is at the other end, be it one that says nothing."""
        return self._socket is not None

    @property
    def is_alive(self) -> bool:
        """Whether the unit judged within the last `STALE_S`, as far as it is heard here."""
        age_s = self.age_s
        return self._socket is not None and age_s is not None and age_s < STALE_S

    @property
    def age_s(self) -> float | None:
        """Seconds since the unit made the state that is kept here; None before the first."""
        return None if self._heard_s is None else self._clock.mono_s() - self._heard_s

    def poll(self, timeout_s: float) -> list[Message]:
        """What came within so many seconds, oldest first; connects first where need be.

        Returns as soon as something came, never raises for a unit that is away.
        """
        if self._socket is None and not self._connect():
            select.select([], [], [], min(timeout_s, _RETRY_S))
            return []
        assert self._socket is not None
        ready, _, _ = select.select([self._socket], [], [], timeout_s)
        return self._receive(self._socket) if ready else []

    def send(self, do: str, argument: str = "", by: str = "") -> bool:
        """Asks the unit for one of `ACTIONS`; false where there is nobody to take it."""
        if self._socket is None:
            return False
        try:
            self._socket.sendall(encode_command(do, argument, by))
        except OSError as fault:
            self._lose(f"{self.path}: {fault.strerror or fault}")
            return False
        return True

    def close(self) -> None:
        """Leaves the feed; safe to call twice."""
        self._lose("closed")

    def _connect(self) -> bool:
        now_s = self._clock.mono_s()
        if now_s < self._retry_s:
            return False
        self._retry_s = now_s + _RETRY_S
        unit = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        unit.setblocking(False)
        try:
            unit.connect(str(self.path))
        except OSError as fault:
            unit.close()
            self.trouble = f"{self.path}: {fault.strerror or fault}"
            return False
        self._socket = unit
        self.trouble = ""
        return True

    def _lose(self, trouble: str) -> None:
        if self._socket is not None:
            with contextlib.closing(self._socket):
                self._socket = None
        self.hello = None
        self._heard_s = None
        self._cutter = LineCutter(_MAX_LINE_BYTES)
        self.trouble = trouble

    def _receive(self, unit: socket.socket) -> list[Message]:
        chunks: list[bytes] = []
        try:
            while len(chunks) * _READ_BYTES <= _MAX_LINE_BYTES:
                chunks.append(unit.recv(_READ_BYTES))
                if not chunks[-1]:
                    break
        except BlockingIOError:
            pass  # all that had come is read
        except OSError as fault:
            self._lose(f"{self.path}: {fault.strerror or fault}")
            return []
        messages = self._take(self._cutter.cut(b"".join(chunks)))
        if chunks and not chunks[-1]:
            self._lose(self.trouble or f"{self.path}: the unit hung up")
        return messages

    def _take(self, lines: list[bytes | None]) -> list[Message]:
        messages: list[Message] = []
        for line in lines:
            try:
                message, age_s = decode(b"" if line is None else line)
            except ValueError as fault:
                self._lose(f"{self.path}: not a line of the feed: {fault}")
                return messages
            match message:
                case None:
                    continue
                case Hello() if message.feed == VERSION:
                    self.hello = message
                case Hello():
                    self._lose(
                        f"{self.path}: the unit speaks feed {message.feed}, this program "
                        f"{VERSION}. Update the older of the two."
                    )
                    return messages
                case State():
                    self.state = message
                    self._heard_s = self._clock.mono_s() - age_s
                case Refused() if self.hello is None:  # turned away at the door
                    self.trouble = message.what
                case _:
                    pass
            messages.append(message)
        return messages
