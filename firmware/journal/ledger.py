"""The ledger: one signed line for each boot, each stored segment, each deletion and each new key.

It only grows. Each line names the digest of the line before it and is signed, so a line that was
changed, left out or moved shows, and so does a segment that is gone without a line that says why.
It says nothing of where the sled was, so it can be checked without opening what is encrypted.
docs/journal.md says it so that a stranger can write a verifier.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from firmware.journal.folder import Storage
from firmware.journal.seal import Key, fingerprint, is_signature

DOMAIN = b"sledwarden ledger 1\n"
FORMAT = 1
MOST_LINE_BYTES = 4096
MOST_BYTES = 64 << 20
"""Seven years without a pause; more than this a unit with little memory must not read at once."""

_SIGNED = re.compile(rb'(\{.*,"signature":")([0-9a-f]{128})("\})')

_Hex32 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}\\Z")]

Whose = Literal["quota", "owner"]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What each line begins with. `previous` is the SHA-256 of the line before, without its line
    feed, and empty in the first. `time_ns` is the best UTC then known, as a segment's log time."""

    format: int = FORMAT
    count: int = 0
    previous: str = ""
    unit: str
    public_key: _Hex32 = ""
    time_ns: str = "0"


class BootLine(Head, frozen=True, kw_only=True, tag_field="kind", tag="boot"):
    """A boot's first segment stands in the folder. `digest` is that of its first seal."""

    boot: int
    boot_id: str
    segment: int
    software: str
    digest: str
    note: str = ""
    signature: str = ""


class SegmentLine(Head, frozen=True, kw_only=True, tag_field="kind", tag="segment"):
    """A closed segment is stored. `raw` is what was sealed, `stored` the file that holds it now.

    `verdict` is what its seals prove of it; `digest` is that of its last seal.
    """

    boot: int
    boot_id: str
    segment: int
    verdict: str
    seals: int
    records: int
    events: int
    from_ns: str
    to_ns: str
    digest: str
    raw_bytes: int
    raw_sha256: str
    stored: str
    stored_bytes: int
    stored_sha256: str
    signature: str = ""


class TombstoneLine(Head, frozen=True, kw_only=True, tag_field="kind", tag="tombstone"):
    """A stored segment was deleted: for room (`quota`) or by its `owner`. `line` is the count of
    the line that told of it."""

    boot: int
    boot_id: str
    segment: int
    line: int
    digest: str
    stored_sha256: str
    why: Whose
    by: str = ""
    signature: str = ""


class KeyLine(Head, frozen=True, kw_only=True, tag_field="kind", tag="key"):
    """The unit's key is replaced; this line is the last that the old one signs."""

    new_key: _Hex32
    by: str = ""
    signature: str = ""


Line = BootLine | SegmentLine | TombstoneLine | KeyLine

_DECODER = msgspec.json.Decoder(Line)
_encode = msgspec.json.Encoder().encode


def line_digest(octets: bytes) -> str:
    """What the next line names of this one, which has no line feed here."""
    return hashlib.sha256(octets).hexdigest()


def signed(line: Line, key: Key) -> bytes:
    """The line as it stands in the file, without its line feed."""
    line = msgspec.structs.replace(line, public_key=key.public, signature="")
    text = _encode(line)
    signature = key.sign_bytes(DOMAIN + text)
    return _encode(msgspec.structs.replace(line, signature=signature))


def parse(octets: bytes) -> Line | None:
    """A line from its bytes; None unless they are exactly what a line writes, with a signature."""
    if len(octets) > MOST_LINE_BYTES or not _SIGNED.fullmatch(octets):
        return None
    try:
        line = _DECODER.decode(octets)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
        return None
    return line if _encode(line) == octets else None


def is_signed(octets: bytes, public_key: str) -> bool:
    """Whether the line, which `parse` has read, was signed with this key."""
    found = _SIGNED.fullmatch(octets)
    assert found is not None
    return is_signature(found[2].decode(), DOMAIN + found[1] + found[3], public_key)


@dataclass(slots=True)
class Fault:
    """What is wrong with a ledger: the offset of the line, and in words what."""

    offset: int
    what: str


@dataclass(slots=True)
class Ledger:
    """The good lines of a ledger, from its first on, and what ended them.

    `end` is the byte after the last good line. `torn` is what stands after it that a power cut
    explains: a line without its end. `fault` is what a power cut does not explain.
    `keys` are those that signed, the first one first.
    """

    lines: list[Line] = field(default_factory=list)
    end: int = 0
    head: str = ""
    keys: list[str] = field(default_factory=list)
    torn: int = 0
    fault: Fault | None = None

    @property
    def count(self) -> int:
        return len(self.lines)

    @property
    def unit(self) -> str:
        return self.lines[0].unit if self.lines else ""

    @property
    def key(self) -> str:
        """The key that signs the next line."""
        return self.keys[-1] if self.keys else ""

    def take(self, line: Line, octets: bytes) -> None:
        """Takes a line that follows from those before it."""
        self.lines.append(line)
        self.end += len(octets) + 1
        self.head = line_digest(octets)
        if not self.keys:
            self.keys.append(line.public_key)
        if isinstance(line, KeyLine):
            self.keys.append(line.new_key)

    def segments(self) -> dict[tuple[int, int], SegmentLine]:
        """The newest line of each stored segment by its boot and its number."""
        told = (line for line in self.lines if isinstance(line, SegmentLine))
        return {(line.boot, line.segment): line for line in told}

    def tombstones(self) -> dict[tuple[int, int], TombstoneLine]:
        """The line of each deletion by boot and number."""
        told = (line for line in self.lines if isinstance(line, TombstoneLine))
        return {(line.boot, line.segment): line for line in told}

    def boots(self) -> list[BootLine]:
        return [line for line in self.lines if isinstance(line, BootLine)]


def read(path: Path, public_key: str = "") -> Ledger:
    """The ledger of a file, an empty one where there is none; raises OSError."""
    try:
        return check(_content(path), public_key)
    except FileNotFoundError:
        return Ledger()


def _content(path: Path) -> bytes:
    """A ledger's bytes; raises OSError, EFBIG for a file that is longer than any ledger."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, "is longer than any ledger", str(path))
    return content


def digest_of(path: Path, boot: int, number: int) -> str:
    """The digest of the last seal of a stored segment by its newest line, which is not checked:
    only who goes on from it asks. Empty where no line tells of it; raises OSError."""
    try:
        content = _content(path)
    except FileNotFoundError:
        return ""
    for octets in reversed(content.split(b"\n")):
        line = parse(octets)
        if isinstance(line, SegmentLine) and (line.boot, line.segment) == (boot, number):
            return line.digest
    return ""


def newest_key(path: Path) -> str:
    """The key in the newest line, which is not checked; empty where there is none."""
    try:
        content = _content(path)
    except OSError:
        return ""
    lines = (parse(octets) for octets in reversed(content.split(b"\n")))
    newest = next((line for line in lines if line is not None), None)
    return "" if newest is None else newest.public_key


def check(content: bytes, public_key: str = "") -> Ledger:
    """What stands in a ledger; never raises on any bytes.

    `public_key` must have signed one of the lines: those before it are vouched for by the digest
    that it signed, and those after it by the lines that name the next key. Without it the first
    line's key is trusted.
    """
    found = Ledger()
    trusted = ""
    while found.end < len(content):
        stop = content.find(b"\n", found.end, found.end + MOST_LINE_BYTES + 1)
        octets = content[found.end : stop if stop >= 0 else len(content)]
        if stop < 0 or (octets.count(0) and not _is_line_after(content, stop)):
            rest = content[found.end :]
            if len(rest) > MOST_LINE_BYTES and rest.strip(b"\0"):
                found.fault = Fault(found.end, "goes on with bytes that are no line")
            else:
                found.torn = len(rest)
            break
        line = parse(octets)
        what = _fault(line, octets, found)
        if what or line is None:
            found.fault = Fault(found.end, what)
            break
        found.take(line, octets)
        trusted = trusted or line.public_key
    if public_key and found.lines and all(one.public_key != public_key for one in found.lines):
        found.fault = Fault(0, f"was signed with another key, {fingerprint(trusted)}")
    return found


def _is_line_after(content: bytes, stop: int) -> bool:
    """Whether a line that can be read comes after this line feed: then no power cut tore it."""
    rest = content[stop + 1 :]
    return any(parse(octets) is not None for octets in rest.split(b"\n"))


def _fault(line: Line | None, octets: bytes, before: Ledger) -> str:
    """What is wrong with a line in its place, or nothing."""
    if line is None:
        return "a line was changed"
    if before.key and line.public_key != before.key:
        return f"a line was signed with another key, {fingerprint(line.public_key)}"
    if not is_signed(octets, line.public_key):
        return "a line's signature is false"
    if line.format != FORMAT:
        return f"a line has format {line.format}, which is not known here"
    if line.count != before.count + 1 or line.previous != before.head:
        return "a line does not follow from the one before it"
    if before.unit and line.unit != before.unit:
        return f"a line is of another unit, {line.unit}"
    return ""


class Writer:
    """Appends to a folder's ledger: a line is whole and safe on the disk, or is not there.

    One thread has it. A line that a power cut left torn is cut away when it is opened.
    """

    def __init__(self, path: Path, unit: str, storage: Storage) -> None:
        self.path = path
        self._unit = unit
        self._storage = storage
        self.known = Ledger()
        self._descriptor = -1

    def open(self) -> None:
        """Reads what is there. Raises OSError.

        A ledger with a fault, or without an end, is left as it is, beside the new one, for whoever
        verifies.
        """
        self.close()
        try:
            self.known = read(self.path)
        except OSError as fault:
            if fault.errno != errno.EFBIG:
                raise
            self._put_aside()
        if self.known.fault is not None:
            self._put_aside()
        new = not self.path.exists()
        if new:
            self._descriptor = self._storage.create(self.path)
            self._storage.sync_folder(self.path.parent)
        else:
            self._descriptor = self._storage.reopen(self.path)

    def _put_aside(self) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.{number}.bad")).exists():
            number += 1
        self.path.rename(aside)
        self.known = Ledger()

    def add(self, line: Line, key: Key) -> Line:
        """Appends a line and syncs it; gives it back with its count. Raises OSError."""
        line = msgspec.structs.replace(
            line, count=self.known.count + 1, previous=self.known.head, unit=self._unit
        )
        octets = signed(line, key)
        os.ftruncate(self._descriptor, self.known.end)
        self._storage.write(self._descriptor, octets + b"\n", self.known.end)
        self._storage.sync(self._descriptor)
        line = _DECODER.decode(octets)
        self.known.take(line, octets)
        return line

    def close(self) -> None:
        """Lets the file go; safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
