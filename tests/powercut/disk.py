"""A disk with a volatile cache, as a memory card is one, over the network block device protocol.

A write is answered at once; it lasts only once a FLUSH follows it, or where it asks for itself
(FUA). What happened, in which order, is kept, so that one run gives any number of power cuts.
"""

from __future__ import annotations

import random
import socket
import struct
import threading
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
"""What a disk writes whole or not at all."""

SUPERBLOCK = range(1024, 2048)
"""ext4 asks for one exception: two sectors that every card with pages of 4 KiB writes together.
Torn apart they are the file system's loss, whatever wrote on it."""

_GREETING, _REQUEST_MAGIC, _REPLY_MAGIC = 0x49484156454F5054, 0x25609513, 0x67446698
_OPTION_REPLY_MAGIC = 0x0003E889045565A9
_READ, _WRITE, _DISCONNECT, _FLUSH = 0, 1, 2, 3
_OFFERS = 1 | 4 | 8  # it has flags; it takes FLUSH; it takes FUA
_ABORT, _INFO, _GO = 2, 6, 7
_ACK, _INFO_REPLY, _UNSUPPORTED = 1, 3, 0x80000001


class Write(NamedTuple):
    """Bytes that were written; `lasts` where the write itself asked for it."""

    offset: int
    content: bytes
    lasts: bool


class Flush(NamedTuple):
    """All that was written before lasts."""


class Promise(NamedTuple):
    """The writer has said that everything up to this number is safe."""

    number: int


Happening = Write | Flush | Promise


class VolatileDisk:
    """The disk, and all that happened to it."""

    def __init__(self, content: bytes) -> None:
        self.first = content
        self.timeline: list[Happening] = []
        self._now = bytearray(content)
        self._guard = threading.Lock()

    def promise(self, number: int) -> None:
        """Notes a promise at this place of the timeline."""
        with self._guard:
            self.timeline.append(Promise(number))

    def serve(self, path: Path) -> socket.socket:
        """Listens on a Unix socket until the socket is closed; one client at a time."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        threading.Thread(target=self._listen, args=(listener,), daemon=True).start()
        return listener

    def _listen(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # closed: the run is over
                return
            with client:
                try:
                    if self._agree(client):
                        self._answer(client)
                except (EOFError, ConnectionError):
                    continue

    def _agree(self, client: socket.socket) -> bool:
        """The handshake ("fixed newstyle" in the protocol's text); false where the client left."""
        client.sendall(struct.pack(">8sQH", b"NBDMAGIC", _GREETING, 3))
        _received(client, 4)
        while True:
            _, option, length = struct.unpack(">QII", _received(client, 16))
            _received(client, length)
            if option in (_INFO, _GO):
                about = struct.pack(">HQH", 0, len(self._now), _OFFERS)
                self._reply(client, option, _INFO_REPLY, about)
                self._reply(client, option, _ACK)
                if option == _GO:
                    return True
            elif option == _ABORT:
                self._reply(client, option, _ACK)
                return False
            else:
                self._reply(client, option, _UNSUPPORTED)

    def _reply(self, client: socket.socket, option: int, kind: int, about: bytes = b"") -> None:
        head = struct.pack(">QIII", _OPTION_REPLY_MAGIC, option, kind, len(about))
        client.sendall(head + about)

    def _answer(self, client: socket.socket) -> None:
        while True:
            magic, flags, kind, handle, offset, length = struct.unpack(
                ">IHHQQI", _received(client, 28)
            )
            assert magic == _REQUEST_MAGIC
            content = _received(client, length) if kind == _WRITE else b""
            answer = b""
            with self._guard:
                if kind == _READ:
                    answer = bytes(self._now[offset : offset + length])
                elif kind == _WRITE:
                    self._now[offset : offset + length] = content
                    self.timeline.append(Write(offset, content, bool(flags & 1)))
                elif kind == _FLUSH:
                    self.timeline.append(Flush())
                elif kind == _DISCONNECT:
                    return
            client.sendall(struct.pack(">IIQ", _REPLY_MAGIC, 0, handle) + answer)


def _received(client: socket.socket, length: int) -> bytes:
    content = bytearray()
    while len(content) < length:
        piece = client.recv(length - len(content))
        if not piece:
            raise EOFError
        content += piece
    return bytes(content)


class Cut(NamedTuple):
    """What a power cut left: the disk, and the last number that had been promised."""

    content: bytes
    promised: int


def cut_at(
    first: bytes, timeline: list[Happening], at: int, chance: random.Random, kept: float
) -> Cut:
    """The disk after a power cut right before happening number `at`.

    All before the last flush is there. Of what came after it each sector is there with the chance
    `kept`, each on its own: so writes are lost, torn and out of order.
    """
    flushes = (index for index in range(at - 1, -1, -1) if isinstance(timeline[index], Flush))
    last_flush = next(flushes, -1)
    content, promised = bytearray(first), 0
    for index, happening in enumerate(timeline[:at]):
        match happening:
            case Promise(number):
                promised = number
            case Write(offset, written, lasts):
                if index < last_flush or lasts:
                    content[offset : offset + len(written)] = written
                    continue
                is_kept = False
                for start in range(0, len(written), SECTOR):
                    if offset + start not in SUPERBLOCK or offset + start == SUPERBLOCK.start:
                        is_kept = chance.random() < kept
                    if is_kept:
                        piece = written[start : start + SECTOR]
                        content[offset + start : offset + start + len(piece)] = piece
    return Cut(bytes(content), promised)
