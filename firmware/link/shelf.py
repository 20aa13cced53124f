"""The files that the port gives out: `/journal/index.json`, and the segments and the ledger that
it names.

Nothing else has a path: a name is matched as a whole, and then opened without following a link.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import msgspec
from smp.file_management import FS_MGMT_ERR

from firmware import __version__
from firmware.clock import Clock
from firmware.journal.listing import Listed, Listing, Owner, open_plain
from firmware.link.frames import file_refusal
from firmware.port.messages import INDEX, INDEX_FORMAT

HASHING_S = 0.5
"""An index waits so long for digests that are not known yet; a host may ask for the rest."""

LEDGER = "/journal/ledger.jsonl"

_SEGMENT = re.compile(r"/journal/([0-9]{6,9}-[0-9a-f]{8})/([0-9]{6}\.mcap(?:\.zst(?:\.age)?)?)")
_TORN = re.compile(r"/journal/([0-9]{6,9}-[0-9a-f]{8})/([0-9]{6}\.torn)")
_FOLDER = re.compile(r"/(journal(/([0-9]{6,9}-[0-9a-f]{8}))?)?/?")
_PIECE_BYTES = 1 << 16
_MAX_READERS = 32


@dataclass(frozen=True, slots=True)
class Found:
    """A file as a client sees it: its length now, and where its bytes are."""

    length: int
    path: Path | None = None
    content: bytes = b""
    listed: Listed | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[BufferedReader | None]:
        """The file for reading; None for one that is made up here."""
        if self.path is None:
            yield None
            return
        try:
            file = open_plain(self.path)
        except OSError as fault:
            raise _gone(fault) from fault
        with file:
            yield file

    def read(self, offset: int, count: int) -> bytes:
        """The bytes from an offset on, no more than there are."""
        count = max(0, min(count, self.length - offset))
        with self.opened() as file:
            if file is None:
                return self.content[offset : offset + count]
            try:
                file.seek(offset)
                octets = file.read(count)
            except OSError as fault:
                words = f"the disk can't read it: {fault.strerror}."
                raise file_refusal(FS_MGMT_ERR.FILE_READ_FAILED, words) from fault
        if len(octets) < count:
            raise file_refusal(FS_MGMT_ERR.FILE_READ_FAILED, "the file was cut under our hands.")
        return octets


@dataclass(slots=True)
class Reader:
    """What one client was told, so that a file does not grow in the middle of a download."""

    name: str = ""
    length: int = 0
    index: bytes | None = None


class Shelf:
    """The journal's folder as the port shows it."""

    def __init__(self, folder: Path, unit: str, clock: Clock) -> None:
        self._listing = Listing(folder)
        self._unit = unit
        self._clock = clock
        self._readers: OrderedDict[str, Reader] = OrderedDict()
        self._digests: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._owner = Owner()

    @property
    def owner(self) -> Owner:
        """Whose journal this is; nobody's before its first seal."""
        if not self._owner.public_key:
            self._owner = self._listing.owner()
        return self._owner

    def find(self, name: str) -> Found:
        """The file of this name as it is now; raises a refusal where there is none."""
        if name == LEDGER:
            told = self._listing.ledger()
            if told is None:
                raise file_refusal(FS_MGMT_ERR.FILE_NOT_FOUND, "there is no ledger yet.")
            return Found(told.size_bytes, told.path, listed=told)
        piece = _TORN.fullmatch(name)
        match = piece or _SEGMENT.fullmatch(name)
        if match is None:
            if _FOLDER.fullmatch(name):
                raise file_refusal(FS_MGMT_ERR.FILE_IS_DIRECTORY, f"is a folder: ask for {INDEX}.")
            words = f"no such name: {INDEX} lists the files."
            raise file_refusal(FS_MGMT_ERR.FILE_INVALID_NAME, words)
        look = self._listing.one if piece is None else self._listing.torn
        listed = look(match[1], match[2])
        if listed is None:
            sealed = None if piece is not None else self._listing.sealed(match[1], match[2])
            if sealed is not None:
                return Found(len(sealed), content=sealed)
            raise file_refusal(
                FS_MGMT_ERR.FILE_NOT_FOUND, f"is not there: {INDEX} lists the files."
            )
        return Found(listed.size_bytes, listed.path, listed=listed)

    def look_up(self, who: str, name: str) -> Found:
        """A file for its length or its hash: the index as this client last read it."""
        if name != INDEX:
            return self.find(name)
        reader = self._reader(who)
        if reader.index is None:
            reader.index = self._index()
        return Found(len(reader.index), content=reader.index)

    def begin(self, who: str, name: str, offset: int) -> Found:
        """A file for reading at an offset, no longer than this client was told when it began.

        A client begins anew at offset 0, when it changes the file, or when it reads the index.
        """
        reader = self._reader(who)
        if name == INDEX:
            if offset == 0 or reader.index is None:
                reader.index, reader.name = self._index(), ""
            return Found(len(reader.index), content=reader.index)
        found = self.find(name)
        if offset == 0 or reader.name != name or reader.length > found.length:
            reader.name, reader.length = name, found.length
        return Found(reader.length, found.path, found.content, found.listed)

    def digest(self, found: Found, kind: str, offset: int, count: int) -> int | bytes:
        """The CRC-32 or SHA-256 of a stretch of a file."""
        is_whole = offset == 0 and count == found.length and found.listed is not None
        if kind == "sha256" and is_whole and found.listed is not None and found.listed.is_closed:
            return bytes.fromhex(self._sha256(found.listed))
        if found.path is None:
            octets = found.content[offset : offset + count]
            return zlib.crc32(octets) if kind == "crc32" else hashlib.sha256(octets).digest()
        sha256, crc32 = hashlib.sha256(), 0
        with found.opened() as file:
            assert file is not None  # it has a path
            file.seek(offset)
            while count > 0:
                piece = file.read(min(count, _PIECE_BYTES))
                if not piece:
                    break
                count -= len(piece)
                if kind == "crc32":
                    crc32 = zlib.crc32(piece, crc32)
                else:
                    sha256.update(piece)
        return crc32 if kind == "crc32" else sha256.digest()

    def _reader(self, who: str) -> Reader:
        reader = self._readers.setdefault(who, Reader())
        self._readers.move_to_end(who)
        while len(self._readers) > _MAX_READERS:
            self._readers.popitem(last=False)
        return reader

    def _sha256(self, listed: Listed) -> str:
        known = self._digests.get(listed.path)
        if known is not None and known[0] == listed.stamp:
            return known[1]
        with open_plain(listed.path) as file:
            digits = hashlib.file_digest(file, "sha256").hexdigest()
        self._digests[listed.path] = (listed.stamp, digits)
        return digits

    def _index(self) -> bytes:
        """What the journal holds now; of many new digests only the newest are there at once."""
        boots: dict[str, list[dict[str, object]]] = {}
        until_s = self._clock.mono_s() + HASHING_S
        listed = self._listing.all()
        for one in reversed(listed):
            entry: dict[str, object] = {
                "name": one.name,
                "bytes": one.size_bytes,
                "closed": one.is_closed,
            }
            known = self._digests.get(one.path)
            is_known = known is not None and known[0] == one.stamp
            if one.is_closed and (is_known or self._clock.mono_s() < until_s):
                with contextlib.suppress(OSError):  # it went meanwhile: without a digest
                    entry["sha256"] = self._sha256(one)
            torn = self._listing.torn(one.boot, f"{one.name[:6]}.torn")
            if torn is not None:
                entry["torn"] = torn.size_bytes
            boots.setdefault(one.boot, []).insert(0, entry)
        there = {one.path for one in listed}
        self._digests = {path: kept for path, kept in self._digests.items() if path in there}
        self._owner = self._listing.owner()  # anew: the journal may have another key
        told = self._listing.ledger()
        return msgspec.json.encode({
            "format": INDEX_FORMAT,
            "unit": self._unit,
            "software": f"sledwarden {__version__}",
            "public_key": self._owner.public_key,
            "fingerprint": self._owner.fingerprint,
            **({} if told is None else {"ledger": {"bytes": told.size_bytes}}),
            "boots": [
                {"name": name, "segments": segments}
                for name, segments in reversed(boots.items())
            ],
        })  # fmt: skip


def _gone(fault: OSError) -> Exception:
    if isinstance(fault, FileNotFoundError):
        return file_refusal(FS_MGMT_ERR.FILE_NOT_FOUND, "is not there any more.")
    return file_refusal(FS_MGMT_ERR.FILE_OPEN_FAILED, f"can't be opened: {fault.strerror}.")
