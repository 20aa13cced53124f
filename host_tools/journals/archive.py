"""The archive of a desk: what was downloaded from each unit, and what was seen of it.

    DIR/UNIT/unit.json                   the key first seen, and the last head: every segment that
                                         was downloaded, with its length and digest
    DIR/UNIT/ledger.jsonl                the unit's ledger as it was then
    DIR/UNIT/BOOT/SEGMENT.mcap           a segment; of one that grew, what was safe then
    DIR/UNIT/BOOT/SEGMENT.mcap.zst       one that the unit had stored
    DIR/UNIT/BOOT/SEGMENT.torn           what of a damaged segment no power cut explains
    DIR/UNIT/BOOT/SEGMENT.mcap.part      one that is under way

A file is put in place whole or not at all. What a unit shows is held against what was seen of it:
with fewer or other segments, or another key, nothing is taken.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, structs

from firmware.errors import JournalError, SledwardenError
from firmware.files import put_whole, sync_folder
from firmware.journal import stored
from firmware.journal.folder import LEDGER, segment_name
from firmware.journal.ledger import Ledger
from firmware.journal.ledger import check as check_ledger
from firmware.journal.seal import fingerprint
from host_tools.port.messages import Identity, Index, Segment

UNIT_JSON = "unit.json"
FORMAT = 1
_PART = ".part"
_TORN = ".torn"
_PIECE_BYTES = 1 << 20


class ArchiveError(SledwardenError):
    """An archive that can't be used, or a unit that is not the one that it knows."""


class Seen(Struct, frozen=True):
    """A segment as it was last downloaded."""

    bytes: int
    sha256: str
    closed: bool = False


class UnitFile(Struct, frozen=True):
    """unit.json: who the unit is, since when it is known, and the last head."""

    unit: str
    format: int = FORMAT
    public_key: str = ""
    fingerprint: str = ""
    first_seen: str = ""
    last_download: str = ""
    segments: dict[str, Seen] = {}
    ledger: Seen | None = None

    @property
    def boots(self) -> list[str]:
        return sorted({name.partition("/")[0] for name in self.segments})

    @property
    def total_bytes(self) -> int:
        return sum(one.bytes for one in self.segments.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """A segment that is to be fetched: `name` is "BOOT/SEGMENT.mcap".

    `seen` is what is known of that file; `before` names what is known of the segment as it was
    before the unit stored it, under another name.
    """

    name: str
    segment: Segment
    seen: Seen | None = None
    before: str = ""

    @property
    def remote(self) -> str:
        return f"/journal/{self.name}"


class Archive:
    """One unit's part of an archive, locked while it is open."""

    def __init__(self, into: Path, identity: Identity, now: datetime) -> None:
        """Opens or makes `into/UNIT`; raises ArchiveError where that can't be.

        A unit whose key is not the one first seen is refused at `keep_ledger` or `compare`, unless
        its ledger shows that the old key vouches for the new one."""
        self.folder = into / identity.unit
        self._identity = identity
        self._now = now.isoformat(timespec="seconds")
        self._lock = -1
        self._stranger: ArchiveError | None = None
        with words(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise ArchiveError(
                str(self.folder), "another download is under way there.", "Let it end first."
            ) from None
        try:
            self.known = self._opened()
        except ArchiveError:
            self.close()
            raise

    def close(self) -> None:
        """Lets the folder go; safe to call twice."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def _opened(self) -> UnitFile:
        path = self.folder / UNIT_JSON
        known = read_unit(path) if path.exists() else UnitFile(self._identity.unit)
        key = self._identity.key.hex()
        if known.public_key and key != known.public_key:
            shown = fingerprint(key) if key else "none"
            self._stranger = ArchiveError(
                str(self.folder),
                f"unit {known.unit} shows the key {shown}: since {known.first_seen[:10]} its key "
                f"was {known.fingerprint}. Nothing was taken.",
                "It is another unit of that name, or its card was replaced: if that is so, "
                "download it --into another folder.",
            )
        if not known.public_key and key:
            known = structs.replace(
                known, public_key=key, fingerprint=fingerprint(key), first_seen=self._now
            )
        return known

    def compare(self, index: Index, told: Ledger | None = None) -> list[Wanted]:
        """What of a unit's index is new; raises ArchiveError where it shows less than was seen.

        What the ledger tells of as deleted is not missed. A segment that the unit has stored since
        is the same one under another name.
        """
        if self._stranger is not None:
            raise self._stranger
        shown = {f"{boot.name}/{one.name}": one for boot in index.boots for one in boot.segments}
        named = {segment_name(name): name for name in shown}
        deleted = _deleted(told)
        for name, seen in sorted(self.known.segments.items()):
            now = named.get(segment_name(name))
            if now is None and segment_name(name) in deleted:
                continue
            what = _less(shown.get(now or ""), seen) if now in (None, name) else _back(name, now)
            if what:
                raise self._rolled_back(f"{name} {what}")
        had_as = {segment_name(name): name for name in self.known.segments}
        wanted = []
        for name, segment in sorted(shown.items()):
            before = had_as.get(segment_name(name), name)
            had = self.known.segments.get(before)
            if before != name and had is not None:
                if not had.closed or not self._has(before, had):
                    wanted.append(Wanted(name, segment, before=before))
                continue
            is_here = had is not None and had.bytes == segment.bytes and self._has(name, had)
            if segment.bytes and not is_here:
                wanted.append(Wanted(name, segment, had))
            elif had is not None and segment.closed and not had.closed and is_here:
                self._keep(name, structs.replace(had, closed=True))
        return wanted

    def torn(self, index: Index) -> list[Wanted]:
        """The pieces of damaged segments that are not here; once kept, they never change."""
        told = (
            (f"{boot.name}/{one.name[:6]}{_TORN}", one)
            for boot in index.boots
            for one in boot.segments
        )
        return [
            Wanted(name, structs.replace(one, bytes=one.torn, closed=True, sha256=""))
            for name, one in told
            if one.torn and not self._has(name, Seen(one.torn, ""))
        ]

    def _has(self, name: str, seen: Seen) -> bool:
        try:
            return (self.folder / name).stat().st_size == seen.bytes
        except FileNotFoundError:
            return False

    def _rolled_back(self, what: str) -> ArchiveError:
        return ArchiveError(
            str(self.folder),
            f"unit {self.known.unit} shows less than on {self.known.last_download[:10]}: {what}. "
            "Nothing was taken.",
            "Its card holds an older copy, or its journal was changed: sledwarden verify "
            f"{self.folder} says what was downloaded then. To take it all the same, download "
            "--into another folder.",
        )

    def begin(self, wanted: Wanted) -> Part:
        """The part of a segment that is already here: an earlier try's, or what it was before."""
        path = self.folder / wanted.name
        part = path.with_name(path.name + _PART)
        with words(part):
            path.parent.mkdir(exist_ok=True)
            beside = part.with_name(f"{part.name}.new")
            _refuse_link(path.parent)
            for one in (part, beside):
                _take_away_unless_regular(one)
            had = wanted.seen
            if not part.exists() and had is not None and self._has(wanted.name, had):
                shutil.copyfile(path, beside)
                beside.rename(part)
            return Part(part, wanted)

    def finish(self, part: Part, *, is_closed: bool) -> None:
        """Puts a segment that is complete and right in its place, and remembers it."""
        path = self.folder / part.wanted.name
        if part.wanted.before:
            self._check_before(part, path)
        with words(path):
            part.file.flush()
            os.fsync(part.file.fileno())
            part.close()
            part.path.rename(path)
            sync_folder(path.parent)
        if path.suffix == _TORN:
            return  # under no seal: only segments are held against what was seen
        self._keep(part.wanted.name, Seen(part.size, part.digest, is_closed), part.wanted.before)
        if part.wanted.before:
            with words(path):
                (self.folder / part.wanted.before).unlink(missing_ok=True)

    def _check_before(self, part: Part, path: Path) -> None:
        """Raises ArchiveError where a stored segment does not begin as it did before it was."""
        seen = self.known.segments[part.wanted.before]
        if path.name.endswith(stored.LOCKED):
            return  # only its owner can tell
        with words(part.path):
            octets = part.path.read_bytes()
        try:
            raw = stored.sealed_bytes(octets, path)
        except JournalError as fault:
            raise ArchiveError(fault.where, fault.what, fault.advice) from fault
        if hashlib.sha256(raw[: seen.bytes]).hexdigest() != seen.sha256:
            part.path.unlink()
            raise self._rolled_back(f"{part.wanted.name} does not begin as it did")

    def ledger_file(self) -> bytes:
        """The ledger as it was last downloaded; empty where there is none."""
        with words(self.folder / LEDGER):
            try:
                return (self.folder / LEDGER).read_bytes()
            except FileNotFoundError:
                return b""

    def check_ledger(self, now_bytes: int, digest: Callable[[int], str]) -> None:
        """Raises ArchiveError where the unit's ledger is not the one that was seen, or less of it.

        `digest` asks the unit for the SHA-256 of its ledger's first bytes.
        """
        seen = self.known.ledger
        if seen is None:
            return
        if now_bytes < seen.bytes:
            raise self._rolled_back(f"its ledger has {now_bytes} bytes, and had {seen.bytes}")
        if digest(seen.bytes) != seen.sha256:
            raise self._rolled_back("its ledger does not begin as it did")

    def keep_ledger(self, content: bytes) -> Ledger:
        """Puts the unit's ledger in its place, and gives back what it tells.

        Raises ArchiveError where the unit has another key and its ledger does not vouch for it.
        """
        told = check_ledger(content, self.known.public_key)
        if self._stranger is not None:
            if told.fault is not None or told.key != self._identity.key.hex():
                raise self._stranger
            self._stranger = None
        path = self.folder / LEDGER
        with words(path):
            put_whole(path, content)
        seen = Seen(len(content), hashlib.sha256(content).hexdigest())
        self.known = structs.replace(self.known, ledger=seen)
        self._write()
        return told

    def check_digest(self, name: str, seen: Seen, digest: str) -> None:
        """Raises ArchiveError where the unit has another content in a segment than was seen."""
        if digest != seen.sha256:
            raise self._rolled_back(f"{name} has another SHA-256 than it had")

    def check_seen(self, wanted: Wanted, digest: str) -> None:
        """Raises ArchiveError where the unit's first bytes of a segment are not those seen."""
        if wanted.seen is not None and digest != wanted.seen.sha256:
            raise self._rolled_back(f"{wanted.name} does not begin as it did")

    def touch(self) -> None:
        """Writes unit.json: whose archive this is, and when a download was last complete."""
        self.known = structs.replace(self.known, last_download=self._now)
        self._write()

    def _keep(self, name: str, seen: Seen, before: str = "") -> None:
        segments = dict(sorted((self.known.segments | {name: seen}).items()))
        segments.pop(before, None)
        self.known = structs.replace(self.known, segments=segments, last_download=self._now)
        self._write()

    def _write(self) -> None:
        path = self.folder / UNIT_JSON
        with words(path):
            put_whole(path, msgspec.json.format(msgspec.json.encode(self.known), indent=1) + b"\n")


class Part:
    """The bytes of a segment that are here so far, and their digest; a context that closes it."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self.path = path
        self.wanted = wanted
        self._sha256 = hashlib.sha256()
        self.size = 0
        self.file: BinaryIO = path.open("a+b")
        self.file.seek(0)
        if os.fstat(self.file.fileno()).st_size > wanted.segment.bytes:
            self.restart()
        left = os.fstat(self.file.fileno()).st_size
        while left > 0 and (piece := self.file.read(min(left, _PIECE_BYTES))):
            self._sha256.update(piece)
            self.size += len(piece)
            left -= len(piece)

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of what is here."""
        return self._sha256.hexdigest()

    @property
    def is_complete(self) -> bool:
        return self.size >= self.wanted.segment.bytes

    def add(self, octets: bytes) -> None:
        """Takes the next bytes."""
        with words(self.path):
            self.file.write(octets)
            self.file.flush()  # a full disk is told here, and what is pulled out is not lost
        self._sha256.update(octets)
        self.size += len(octets)

    def restart(self) -> None:
        """Throws away what is here: it is not what the unit has."""
        with words(self.path):
            self.file.seek(0)
            self.file.truncate()
        self._sha256 = hashlib.sha256()
        self.size = 0

    def close(self) -> None:
        """Lets the file go, as it is; safe to call twice."""
        with words(self.path):
            self.file.close()

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()


def units(into: Path) -> list[tuple[Path, UnitFile]]:
    """The units of an archive, by name; raises ArchiveError where one can't be read."""
    with words(into):
        found = sorted(into.glob(f"*/{UNIT_JSON}")) if into.is_dir() else []
    return [(path.parent, read_unit(path)) for path in found]


def read_unit(path: Path) -> UnitFile:
    """What an archive knows of a unit; raises ArchiveError where the file is not one."""
    with words(path):
        octets = path.read_bytes()
    try:
        known = msgspec.json.decode(octets, type=UnitFile)
    except (ValueError, RecursionError) as fault:
        raise ArchiveError(
            str(path),
            f"can't be read: {fault}.",
            "Restore it from a copy; what was downloaded still stands beside it.",
        ) from fault
    if known.format > FORMAT:
        raise ArchiveError(
            str(path),
            f"has format {known.format}: this version reads {FORMAT}.",
            "Update this computer's sledwarden.",
        )
    return known


def plain(folder: Path, known: UnitFile) -> dict[str, Any]:
    """A unit as an object for JSON."""
    return {
        "unit": known.unit,
        "folder": str(folder),
        "fingerprint": known.fingerprint,
        "first_seen": known.first_seen,
        "last_download": known.last_download,
        "boots": len(known.boots),
        "segments": len(known.segments),
        "open_segments": sum(not one.closed for one in known.segments.values()),
        "bytes": known.total_bytes,
    }


_WORDS = {
    errno.ENOSPC: ("the disk is full.", "Make room, then run it again: it goes on where it was."),
    errno.EDQUOT: ("the quota is used up.", "Make room, then run it again: it goes on."),
    errno.EROFS: ("the disk is read-only.", "Give another folder with --into."),
    errno.EACCES: ("must not be written.", "Give another folder with --into."),
    errno.EPERM: ("must not be written.", "Give another folder with --into."),
}


@contextlib.contextmanager
def words(where: Path) -> Iterator[None]:
    """Turns what the disk says into one sentence."""
    try:
        yield
    except OSError as fault:
        what, advice = _WORDS.get(fault.errno or 0, (f"the disk says: {fault.strerror}.", ""))
        raise ArchiveError(str(where), what, advice) from fault


def _refuse_link(folder: Path) -> None:
    """Raises ArchiveError where a boot's folder is a link: a download stays in its archive."""
    if folder.is_symlink():
        raise ArchiveError(
            str(folder),
            "is a link: what is downloaded stays in its archive.",
            "Take it away, or put the folder itself there.",
        )


def _take_away_unless_regular(path: Path) -> None:
    """Takes away a link, a FIFO or the like where a file of ours is to be written."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()


def _less(shown: Segment | None, seen: Seen) -> str:
    """How a segment is less than it was, in words; empty where it is not."""
    if shown is None:
        return "is missing"
    if shown.bytes < seen.bytes:
        return f"has {shown.bytes} bytes, and had {seen.bytes}"
    if seen.closed and not shown.closed:
        return "is open again, and was closed"
    if seen.closed and shown.bytes != seen.bytes:
        return f"was closed with {seen.bytes} bytes, and has {shown.bytes}"
    if seen.closed and shown.sha256 and shown.sha256 != seen.sha256:
        return "has another SHA-256 than it had"
    return ""


def _back(name: str, now: str) -> str:
    """How a segment went back from how it was stored, in words; empty where it did not."""
    return "" if len(now) > len(name) else f"is {Path(now).name} again"


def _deleted(told: Ledger | None) -> set[str]:
    """The segments that a good ledger tells of as deleted, by the names they were sealed under."""
    if told is None or told.fault is not None:
        return set()
    lines, graves = told.segments(), told.tombstones()
    return {segment_name(lines[at].stored) for at in graves if at in lines}
