"""What a journal's folder holds, for who takes it away while the unit may still be writing.

A closed segment never changes, but it goes on in another form once it is stored: the same segment
under a longer name. Of one that grows only what was safe on the disk is told of: each
seal says how much that was when it was made (`durable`), and those bytes never change either. What
lies after them may still be cut, or be written over after the disk has refused a write.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path

from mcap.opcode import Opcode

from firmware.errors import JournalError
from firmware.journal import folder, ledger, seal, segment, stored
from firmware.journal.finish import has_good_ending
from firmware.journal.folder import LEDGER
from firmware.journal.seal import Seal

_FRAME = struct.Struct("<BQ")
_LARGEST_SEAL_BYTES = 4096
_BUFFER_BYTES = 1 << 16
_HEAD_BYTES = 1 << 18
"""Holds the attachments and the first seal."""
_BOOT = re.compile(r"\d{6,9}-[0-9a-f]{8}")
_TORN = re.compile(r"\d{6}\.torn")


@dataclass(frozen=True, slots=True)
class Listed:
    """One segment: the names of its boot's folder and of its file, and how much may be taken.

    `size_bytes` is all of a closed one, and what is durable of one that grows. `stamp` changes
    when the file does.
    """

    boot: str
    name: str
    path: Path
    size_bytes: int
    is_closed: bool
    stamp: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose journal it is: the public key that seals it, in hex, and its fingerprint."""

    public_key: str = ""
    fingerprint: str = ""


class Listing:
    """Looks at a journal's folder again and again, and remembers what can't have changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[Path, Listed] = {}
        self._unpacked: tuple[tuple[int, ...], bytes] | None = None

    def all(self) -> list[Listed]:
        """Every segment that is there now, oldest first."""
        found = [self._look(place.path) for place in self._places()]
        there = [one for one in found if one is not None]
        self._known = {one.path: one for one in there}
        return there

    def one(self, boot: str, name: str) -> Listed | None:
        """The segment of these names; None where there is none, or the names are not a journal's.

        A link is not followed, wherever in the path it stands.
        """
        if not _BOOT.fullmatch(boot) or not stored.NAME.fullmatch(name):
            return None
        return self._look(self.root / boot / name)

    def sealed(self, boot: str, name: str) -> bytes | None:
        """A segment as it was sealed that was compressed meanwhile, for who had begun to take it;
        None where that is not so."""
        if not name.endswith(stored.RAW):
            return None
        now = self.one(boot, name.removesuffix(stored.RAW) + stored.PACKED)
        if now is None:
            return None
        if self._unpacked is None or self._unpacked[0] != now.stamp:
            try:
                with open_plain(now.path) as file:
                    content = stored.sealed_bytes(file.read(), now.path)
            except (OSError, JournalError):
                return None
            self._unpacked = (now.stamp, content)
        return self._unpacked[1]

    def torn(self, boot: str, name: str) -> Listed | None:
        """The piece of these names that was cut from a damaged segment; None where there is none.

        It is written once and in one piece, so it never changes.
        """
        if not _BOOT.fullmatch(boot) or not _TORN.fullmatch(name):
            return None
        path = self.root / boot / name
        try:
            with open_plain(path) as file:
                there = os.fstat(file.fileno())
        except OSError:
            return None
        stamp = (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)
        return Listed(boot, name, path, there.st_size, True, stamp)

    def ledger(self) -> Listed | None:
        """The ledger up to its last whole line; None where there is none."""
        path = self.root / LEDGER
        try:
            with open_plain(path) as file:
                there = os.fstat(file.fileno())
                file.seek(max(0, there.st_size - ledger.MOST_LINE_BYTES))
                rest = file.read(ledger.MOST_LINE_BYTES)
        except OSError:
            return None
        size = there.st_size - (len(rest) - 1 - rest.rfind(b"\n"))
        stamp = (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)
        return Listed("", LEDGER, path, size, False, stamp)

    def owner(self) -> Owner:
        """Whose journal this is, by the first seal of its newest segment; nobody's before it.

        Where that is encrypted, by the newest line of the ledger.
        """
        for place in reversed(self._places()):
            try:
                found = _first_seal(place.path)
            except OSError:
                continue
            public_key = found.public_key if found else ledger.newest_key(self.root / LEDGER)
            if public_key:
                return Owner(public_key, seal.fingerprint(public_key))
        return Owner()

    def _places(self) -> list[folder.Place]:
        boots = [boot for boot in folder.boots(self.root) if not boot.is_symlink()]
        return [place for boot in boots for place in folder.segments(boot)]

    def _look(self, path: Path) -> Listed | None:
        known = self._known.get(path)
        try:
            with open_plain(path) as file:
                there = os.fstat(file.fileno())
                stamp = (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)
                if known is not None and known.stamp == stamp:
                    return known
                is_closed = stored.form_of(path) != stored.RAW or has_good_ending(path)
                size = there.st_size if is_closed else _durable(file, there, known)
        except OSError:
            return None
        listed = Listed(path.parent.name, path.name, path, size, is_closed, stamp)
        self._known[path] = listed
        return listed


def open_plain(path: Path) -> BufferedReader:
    """A journal's file, for reading; raises OSError where a part of its path is a link, or where
    it is no plain file, and never waits for a device."""
    way = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    boot = os.open(path.parent, way | os.O_DIRECTORY)
    try:
        descriptor = os.open(path.name, way | os.O_NONBLOCK, dir_fd=boot)
    finally:
        os.close(boot)
    if not os.path.isfile(descriptor):
        os.close(descriptor)
        raise FileNotFoundError(f"{path} is no plain file")
    return BufferedReader(FileIO(descriptor), _BUFFER_BYTES)


def _first_seal(path: Path) -> Seal | None:
    """The first seal of a segment in any form but the encrypted one; raises OSError."""
    form = stored.form_of(path)
    if form == stored.LOCKED:
        return None
    with open_plain(path) as file:
        if form == stored.RAW:
            return next(_seals(file, len(segment.MAGIC)), None)
    found = segment.scan(stored.read_head(path, _HEAD_BYTES))
    return seal.parse(found.seals[0].message.text) if found.seals else None


def _durable(file: BufferedReader, there: os.stat_result, known: Listed | None) -> int:
    """How much of a growing file is safe; goes on from where it was, if the file is the same."""
    durable = 0
    if (
        known is not None
        and not known.is_closed
        and known.stamp[:2] == (there.st_dev, there.st_ino)
    ):
        durable = known.size_bytes if known.size_bytes <= there.st_size else 0
    for one in _seals(file, max(durable, len(segment.MAGIC))):
        durable = max(durable, min(one.durable, there.st_size))
    return durable


def _seals(file: BufferedReader, offset: int) -> Iterator[Seal]:
    """The seals from an offset on, at which a record must begin; ends where one is not whole."""
    file.seek(0)
    if file.read(len(segment.MAGIC)) != segment.MAGIC:
        return
    size = os.fstat(file.fileno()).st_size
    while True:
        file.seek(offset)
        head = file.read(_FRAME.size)
        if len(head) < _FRAME.size:
            return
        opcode, length = _FRAME.unpack(head)
        offset += _FRAME.size + length
        if opcode == Opcode.DATA_END or offset > size:
            return
        if opcode == Opcode.CHUNK and length <= _LARGEST_SEAL_BYTES:
            found = _seal_in(file.read(length))
            if found is not None:
                yield found


def _seal_in(chunk: bytes) -> Seal | None:
    content = chunk[segment.CHUNK_HEAD_BYTES :]
    try:
        messages = list(segment.unpacked(content))
    except struct.error:
        return None
    if len(messages) != 1 or messages[0].topic_id != segment.SEAL_ID:
        return None
    return seal.parse(messages[0].text)
