"""The ways in: a serial line and a UDP port. Each hears requests and sends answers, never waits.

A client that stops in mid-frame, or reads no answer, costs the others nothing: its own line waits,
and what it left is forgotten.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol

from firmware.clock import Clock
from firmware.errors import BusError, SledwardenError
from firmware.link import frames
from firmware.link.handling import LONGEST_REPLY_BYTES, Way
from firmware.link.server import Server

DATAGRAM_BYTES = 1452
"""An Ethernet frame's 1,500 less the headers of IPv6 and UDP: nothing is cut up on its way."""

SHORTEST_REPLY_BYTES = 256
REPLY_S = 0.4
"""An answer takes a serial line for so long at most: a client waits two seconds for one."""

STUCK_S = 10.0
RETRY_S = 0.25
_FULL_OUTBOX_BYTES = 2 * LONGEST_REPLY_BYTES
_SERIAL_BYTES_PER_FRAMED = 0.73  # base64 in lines of 128

_log = logging.getLogger(__name__)


class Wire(Protocol):
    """A serial port: `buses.uart.Uart`, or the pseudo-terminal of a desk."""

    def fileno(self) -> int: ...
    def read(self, timeout_s: float) -> bytes: ...
    def write(self, octets: bytes) -> int: ...
    def close(self) -> None: ...


def reply_bytes(baud: int) -> int:
    """How long an answer may be on a line of so many bits a second."""
    fitting = int(baud / 10 * REPLY_S * _SERIAL_BYTES_PER_FRAMED)
    return max(SHORTEST_REPLY_BYTES, min(LONGEST_REPLY_BYTES, fitting))


class SerialWay:
    """A serial line with one client at a time; opened again for ever where it is lost."""

    def __init__(
        self,
        server: Server,
        open_wire: Callable[[], Wire],
        baud: int,
        clock: Clock,
        *,
        retry_s: float = RETRY_S,
    ) -> None:
        self._server = server
        self._open_wire = open_wire
        self._clock = clock
        self._way = Way("serial", reply_bytes(baud))
        self._wire: Wire | None = None
        self._pause_s = retry_s
        self._retry_s = 0.0
        self._told = ""
        self._forget()

    def _forget(self) -> None:
        self._cutter = frames.FrameCutter()
        self._inbox: deque[bytes] = deque()
        self._outbox = bytearray()
        self._moved_s = 0.0

    def descriptor(self) -> int | None:
        """What to wait for; None while there is no line."""
        now_s = self._clock.mono_s()
        if self._wire is None and now_s >= self._retry_s:
            self._retry_s = now_s + self._pause_s
            try:
                self._wire = self._open_wire()
                self._told = ""
            except BusError as fault:
                self._tell(fault)
        if self._wire is None:
            return None
        try:
            return self._wire.fileno()
        except BusError as fault:
            self._lose(fault)
            return None

    @property
    def wants_to_send(self) -> bool:
        return bool(self._outbox)

    @property
    def wants_to_hear(self) -> bool:
        """Requests that are not answered yet stay in the line: a client is not read ahead of."""
        return not self._inbox

    def serve(self, *, may_read: bool) -> None:
        """Takes what came, answers as much as there is room for, sends what the line takes."""
        wire = self._wire
        if wire is None:
            return
        try:
            if may_read and not self._inbox:
                self._inbox.extend(self._cutter.cut(wire.read(0.0)))
            while self._inbox and len(self._outbox) < _FULL_OUTBOX_BYTES:
                reply = self._server.answer(self._inbox.popleft(), self._way.name, self._way)
                if reply is not None:
                    self._queue(frames.framed(reply))
            self._send(wire)
        except BusError as fault:
            self._lose(fault)

    def close(self) -> None:
        """Leaves the line; safe to call twice."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _queue(self, octets: bytes) -> None:
        if not self._outbox:
            self._moved_s = self._clock.mono_s()
        self._outbox += octets

    def _send(self, wire: Wire) -> None:
        now_s = self._clock.mono_s()
        while self._outbox:
            sent = wire.write(bytes(self._outbox[: frames.MAX_LINE_BYTES]))
            if not sent:
                break
            del self._outbox[:sent]
            self._moved_s = now_s
        if self._outbox and now_s > self._moved_s + STUCK_S:
            _log.warning("serial: nobody reads the answers: they are dropped")
            self._forget()

    def _lose(self, fault: BusError) -> None:
        self.close()
        self._forget()
        self._server.forget(self._way.name)
        self._retry_s = self._clock.mono_s() + self._pause_s
        self._tell(fault)

    def _tell(self, fault: BusError) -> None:
        if str(fault) != self._told:  # once, not each second
            self._told = str(fault)
            _log.warning("%s", fault)


class UdpWay:
    """A UDP port; each address is a client of its own."""

    def __init__(self, server: Server, host: str, port: int) -> None:
        """Raises SledwardenError where the port can't be had."""
        self._server = server
        self._way = Way("udp", DATAGRAM_BYTES)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except (OSError, UnicodeError) as fault:
            self._socket.close()
            raise SledwardenError(
                f"{host} port {port}",
                f"can't be listened at: {getattr(fault, 'strerror', None) or fault}.",
                "Set [link] host and udp to an address of this machine and a free port.",
            ) from fault
        self._socket.setblocking(False)

    def descriptor(self) -> int | None:
        return self._socket.fileno()

    wants_to_send = False
    wants_to_hear = True

    def serve(self, *, may_read: bool) -> None:
        """Answers the datagrams that have come; one that can't be sent at once is dropped."""
        for _ in range(8 if may_read else 0):  # then the other ways have their turn
            try:
                message, address = self._socket.recvfrom(frames.MAX_MESSAGE_BYTES + 1)
            except BlockingIOError:
                return
            except OSError:  # an earlier answer could not be delivered (ICMP)
                continue
            who = f"udp {address[0]} port {address[1]}"
            reply = self._server.answer(message, who, self._way)
            if reply is not None:
                with contextlib.suppress(OSError):  # its sender asks again
                    self._socket.sendto(reply, address)

    def close(self) -> None:
        """Leaves the port; safe to call twice."""
        self._socket.close()
