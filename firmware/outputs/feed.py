"""The unit's socket: pushes state and alerts to every client, takes the few commands there are.

Newline-delimited JSON over a Unix socket (docs/feed.md). The judging thread hands over a
reference and goes on; encoding and sending happen in the feed's own thread, and a client that
does not read costs neither the judging thread nor another client anything.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import selectors
import socket
import stat
import struct
import threading
from collections import deque
from pathlib import Path

from firmware import __version__
from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.feed.messages import (
    MAX_COMMAND_BYTES,
    VERSION,
    CommandError,
    Hello,
    LineCutter,
    Refused,
    Taken,
    decode_command,
    encode,
)
from firmware.findings import Alert
from firmware.readings import Channel, Reading, Request
from firmware.sources.base import Post
from firmware.state import State

MAX_CLIENTS = 16
STATE_GAP_S = 0.05
"""States closer together than this are merged, so that a fast receiver costs no more than 20 a
second; the first after a pause goes out at once, and so does every alert."""
STUCK_S = 10.0
"""A client that takes nothing of what waits for it for so long is dropped."""
MAX_BACKLOG_BYTES = 1 << 18
MAX_ALERTS_WAITING = 256
MAX_COMMANDS_PER_S = 20

_SEND_BUFFER_BYTES = 1 << 15  # small, or a slow reader would show the kernel's old states as new

_log = logging.getLogger(__name__)


class _Client:
    """One connection: what waits to be sent to it, and what came of its next line."""

    def __init__(self, link: socket.socket, now_s: float) -> None:
        link.setblocking(False)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        # struct ucred (unix(7)): who is at the other end, as the kernel knows it
        pid, uid, _ = struct.unpack(
            "3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        )
        self.who = f"uid {uid}, pid {pid}"
        self.link = link
        self.backlog = bytearray()
        self.given: tuple[State, float] | None = None
        self._cutter = LineCutter(MAX_COMMAND_BYTES)
        self._progress_s = now_s
        self._second_s = now_s
        self._commands = 0

    def queue(self, line: bytes, now_s: float) -> None:
        if not self.backlog:
            self._progress_s = now_s
        self.backlog += line

    def is_stuck(self, now_s: float) -> bool:
        """Whether it has taken nothing for too long, or too much waits for it."""
        waits_s = now_s - self._progress_s if self.backlog else 0.0
        return waits_s > STUCK_S or len(self.backlog) > MAX_BACKLOG_BYTES

    def send(self, now_s: float) -> None:
        """Sends what the kernel takes at once; raises OSError when the client is gone."""
        while self.backlog:
            try:
                sent = self.link.send(self.backlog)
            except BlockingIOError:
                return
            del self.backlog[:sent]
            self._progress_s = now_s

    def receive(self) -> list[bytes | None]:
        """The lines that came, None for one that was too long; raises EOFError at the end."""
        try:
            chunk = self.link.recv(MAX_COMMAND_BYTES)
        except BlockingIOError:
            return []
        if not chunk:
            raise EOFError
        return self._cutter.cut(chunk)

    def may_command(self, now_s: float) -> bool:
        """Counts a command; false when this client has sent too many within a second."""
        if now_s - self._second_s >= 1.0:
            self._second_s, self._commands = now_s, 0
        self._commands += 1
        return self._commands <= MAX_COMMANDS_PER_S


class Feed:
    """The server of `feed.sock`; `push` and `alert` are for the judging thread and never block."""

    name = "feed"

    def __init__(self, path: Path | str, post: Post, clock: Clock | None = None) -> None:
        """`clock` is the unit's, which stamps the requests; ages and waits are the world's."""
        self.path = Path(path)
        self._post = post
        self._ride = clock if clock is not None else Clock()
        self._world = Clock()
        self._latest: tuple[State, float] | None = None
        self._offered: tuple[State, float] | None = None
        self._offered_s = float("-inf")
        self._alerts: deque[Alert] = deque(maxlen=MAX_ALERTS_WAITING)
        self._is_woken = False
        self._ended = threading.Event()
        self._clients: list[_Client] = []
        self._thread: threading.Thread | None = None
        self._listener: socket.socket | None = None
        self._inode = 0
        self._accept_s = 0.0
        self._rope: socket.socket | None = None
        self._bell: socket.socket | None = None
        self._selector = selectors.DefaultSelector()

    def start(self) -> None:
        """Opens the socket (mode 0660) and starts the thread.

        Replaces a socket that nobody serves. Raises `SledwardenError` where another process
        serves it, or where it can't be made: the unit warns without a feed all the same.
        """
        self._listener = self._listen()
        rope, bell = socket.socketpair()
        rope.setblocking(False)
        bell.setblocking(False)
        self._selector.register(rope, selectors.EVENT_READ, lambda _mask: _empty(rope))
        self._rope, self._bell = rope, bell
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def push(self, state: State) -> None:
        """Makes this the state that clients see; an older one not yet sent is never sent."""
        self._latest = (state, self._world.mono_s())
        if self._clients:  # a newcomer is given the latest one anyway
            self._wake()

    def alert(self, alert: Alert) -> None:
        """Tells every client this change of an alert, in order and none left out.

        (Were the feed's own thread held up for 256 changes, the oldest would go.)
        """
        self._alerts.append(alert)
        self._wake()

    def stop(self) -> None:
        """Removes the socket, sends what can be sent at once, hangs up; safe to call twice.

        In this order, a client that lost us can tell an end in order by the missing socket.
        """
        if self._listener is not None:
            with contextlib.suppress(FileNotFoundError):
                if self.path.stat().st_ino == self._inode:
                    self.path.unlink()
        self._ended.set()
        self._wake()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for end in (self._bell, self._rope):
            if end is not None:
                end.close()
        self._selector.close()

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._clear_path()
            listener.bind(str(self.path))
            self.path.chmod(0o660)  # before listen: nobody can be in yet
            self._inode = self.path.stat().st_ino
            listener.listen(MAX_CLIENTS)
            listener.setblocking(False)
        except OSError as fault:
            listener.close()
            raise SledwardenError(
                str(self.path),
                f"can't serve the feed: {fault.strerror or fault}.",
                "Give a path of at most 100 letters in a folder that this user may write.",
            ) from fault
        except SledwardenError:
            listener.close()
            raise
        return listener

    def _clear_path(self) -> None:
        """Removes a socket that nobody serves; refuses one that is served, and any other file."""
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            raise SledwardenError(
                str(self.path),
                "is a file, not a socket: it is left alone.",
                "Move it away, or give another path.",
            )
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            try:
                probe.connect(str(self.path))
            except ConnectionRefusedError:
                self.path.unlink(missing_ok=True)
                return
            except BlockingIOError:
                server = "a process with a full queue"
            else:
                server = f"process {_peer_pid(probe)}"
        raise SledwardenError(
            str(self.path),
            f"{server} serves this feed already.",
            "Stop it first: one unit, one daemon.",
        )

    def _wake(self) -> None:
        if self._bell is not None and not self._is_woken:
            self._is_woken = True
            # BlockingIOError: the bell rings already; OSError: the feed is stopped
            with contextlib.suppress(OSError):
                self._bell.send(b"!")

    def _run(self) -> None:
        while not self._ended.is_set():
            for key, mask in self._selector.select(self._patience_s()):
                key.data(mask)
            self._is_woken = False  # before looking: what is handed over later rings again
            self._hand_out()
        self._is_woken = False
        self._offered_s = float("-inf")
        self._hand_out()
        for client in list(self._clients):
            self._drop(client)

    def _patience_s(self) -> float | None:
        """How long nothing can become due, for the selector."""
        if not self._clients:
            return 1.0 if self._accept_s else None
        if self._latest is not self._offered:
            return max(0.0, self._offered_s + STATE_GAP_S - self._world.mono_s())
        return 1.0

    def _hand_out(self) -> None:
        now_s = self._world.mono_s()
        while self._alerts:
            line = encode(self._alerts.popleft())
            for client in self._clients:
                client.queue(line, now_s)
        is_due = now_s >= self._offered_s + STATE_GAP_S
        if self._clients and is_due and self._latest is not self._offered:
            self._offered, self._offered_s = self._latest, now_s
        for client in list(self._clients):
            self._serve(client, now_s)
        if self._accept_s and now_s >= self._accept_s and self._listener is not None:
            self._accept_s = 0.0
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def _serve(self, client: _Client, now_s: float) -> None:
        """Sends what waits; the newest state only to a client that has taken all before it."""
        try:
            client.send(now_s)
            offered = self._offered
            if offered is not None and client.given is not offered and not client.backlog:
                client.given = offered
                state, pushed_s = offered
                client.queue(encode(state, max(0.0, now_s - pushed_s)), now_s)
                client.send(now_s)
        except OSError:
            self._drop(client)
            return
        if client.is_stuck(now_s):
            _log.warning("feed: a client (%s) does not read: dropped", client.who)
            self._drop(client)
            return
        # A client that does not read its answers is not asked for more questions.
        mask = selectors.EVENT_WRITE if client.backlog else selectors.EVENT_READ
        key = self._selector.get_key(client.link)
        if key.events != mask:
            self._selector.modify(client.link, mask, key.data)

    def _accept(self, _mask: int) -> None:
        assert self._listener is not None
        now_s = self._world.mono_s()
        try:
            link, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError as fault:
            if fault.errno == errno.ECONNABORTED:
                return
            # Out of descriptors or memory: ask again in a second instead of spinning.
            _log.warning("feed: can't take a client: %s", fault.strerror)
            self._selector.unregister(self._listener)
            self._accept_s = now_s + 1.0
            return
        if len(self._clients) >= MAX_CLIENTS:
            link.setblocking(False)
            with contextlib.closing(link), contextlib.suppress(OSError):
                link.send(_refused(f"{MAX_CLIENTS} clients are connected already: close one first"))
            return
        client = _Client(link, now_s)
        client.queue(encode(Hello(VERSION, __version__, os.getpid())), now_s)
        self._offered_s = float("-inf")  # a newcomer need not wait for the newest state
        self._clients.append(client)
        self._selector.register(
            link, selectors.EVENT_READ, lambda mask: self._listen_to(client, mask)
        )

    def _listen_to(self, client: _Client, mask: int) -> None:
        if not mask & selectors.EVENT_READ or client not in self._clients:
            return
        now_s = self._world.mono_s()
        try:
            lines = client.receive()
        except (EOFError, OSError):
            self._drop(client)
            return
        for line in lines:
            client.queue(self._answer(client, line, now_s), now_s)

    def _answer(self, client: _Client, line: bytes | None, now_s: float) -> bytes:
        if not client.may_command(now_s):
            return _refused(f"too many commands: at most {MAX_COMMANDS_PER_S} a second are taken")
        if line is None:
            return _refused(f"a line of more than {MAX_COMMAND_BYTES} bytes: it is not read")
        try:
            request = decode_command(line)
        except CommandError as refusal:
            return _refused(str(refusal))
        by = f"{request.by} ({client.who})" if request.by else client.who
        request = Request(request.action, request.argument, by)
        self._post(Reading(Channel.REQUEST, request, self._ride.mono_s(), self.name))
        return encode(Taken(request.action))

    def _drop(self, client: _Client) -> None:
        self._clients.remove(client)
        self._selector.unregister(client.link)
        client.link.close()


def _peer_pid(link: socket.socket) -> int:
    ucred = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", ucred)[0])


def _refused(what: str) -> bytes:
    return encode(Refused(what))


def _empty(rope: socket.socket) -> None:
    with contextlib.suppress(BlockingIOError):
        rope.recv(4096)
