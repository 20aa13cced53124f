"""The listening socket and the HTTP server behind it, with a bound on what a client can hold."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Generator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from firmware.errors import SledwardenError

MAX_CONNECTIONS = 64
HEAD_S = 5.0
"""A connection must have asked for something within so long, and again after each answer."""
UNREAD_MS = 10_000
"""The kernel itself hangs up on a client that takes nothing for so long (tcp(7))."""

_SEND_BUFFER_BYTES = 1 << 14  # small, or a slow screen would be sent what is long over
_END_S = 2.0


class Connection(H11Protocol):
    """uvicorn's own, with a place to hang up from, and with bounds."""

    _deadline: asyncio.TimerHandle | None = None

    # asyncio's own type is wider: a server of sockets is handed transports that are both ways
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        transport.set_write_buffer_limits(high=_SEND_BUFFER_BYTES)
        # Each request's scope carries its connection's own way to end it.
        self.app_state = {**self.app_state, "hang_up": transport.abort}
        self._deadline = self.loop.call_later(HEAD_S, self._hang_up_unasked)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _hang_up_unasked(self) -> None:
        if not self.headers:  # none was ever read
            self.transport.abort()


class Server(uvicorn.Server):
    """uvicorn's own, which leaves the signals to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def server_of(app: ASGIApp) -> Server:
    """The server of this application; it is started on a socket of `listen`."""
    settings: dict[str, Any] = {
        "http": Connection,
        "ws": "none",
        "lifespan": "off",
        "loop": "asyncio",
        "log_config": None,
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "date_header": False,
        "timeout_keep_alive": int(HEAD_S),
        "timeout_graceful_shutdown": int(_END_S),
        "h11_max_incomplete_event_size": 16 * 1024,
    }
    return Server(uvicorn.Config(app, **settings))


def listen(host: str, port: int) -> socket.socket:
    """The socket; raises `SledwardenError` where it can't be had, with what to do."""
    where = f"{host}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as fault:
        raise SledwardenError(
            where,
            "there is no such host: an address of this machine was expected.",
            "Give one with --host, like 127.0.0.1.",
        ) from fault
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # what is accepted takes both over from here
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listener.bind(address)
        listener.listen(MAX_CONNECTIONS)
        listener.setblocking(False)
    except OSError as fault:
        listener.close()
        raise SledwardenError(where, *why_not(fault)) from fault
    return listener


def why_not(fault: OSError) -> tuple[str, str]:
    """What is wrong with an address that can't be listened at, and what to do."""
    match fault.errno:
        case errno.EADDRINUSE:
            return (
                "another program listens there already: a free port was expected.",
                "Give one with --port.",
            )
        case errno.EACCES:
            return (
                "this user may not listen there: a port from 1024 was expected.",
                "Give one with --port.",
            )
        case errno.EADDRNOTAVAIL:
            return (
                "is no address of this machine.",
                "Give one with --host, like 127.0.0.1 for this machine alone or 0.0.0.0 for all "
                "its networks.",
            )
    return f"can't be listened at: {fault.strerror or fault}.", "Give another --host or --port."
