"""Keeps what is closed: stores it compressed, tells the ledger, makes room, deletes when asked.

All of it happens in a thread of its own, of the lowest priority, that writes in small pieces: a
commit of the journal never waits for it. Each step can be cut anywhere:

    NAME.mcap.zst.new    written and synced, then renamed, and the folder synced
    ledger.jsonl         the line, synced; from here on the stored file counts
    NAME.mcap            deleted, and the folder synced

Deleting goes the other way round: the ledger's line first, then the file. A start goes on from
whatever it finds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware.errors import JournalError
from firmware.journal import folder, ledger, proof, stored
from firmware.journal.finish import has_good_ending
from firmware.journal.folder import LEDGER, Place, Storage
from firmware.journal.ledger import BootLine, SegmentLine, TombstoneLine, Whose
from firmware.journal.record import Start
from firmware.journal.seal import Key
from firmware.journal.stored import Owner

PIECE_BYTES = 64 * 1024
"""So much is written before it is synced: another file's sync waits for no more than that."""

ROOM_SHARE = 0.9
"""Of the quota: above it the oldest segments go."""

RETRY_S = 60.0

_NICE = 19


@dataclass(frozen=True, slots=True)
class _Begun:
    start: Start
    digest: str
    time_ns: int


@dataclass(frozen=True, slots=True)
class _Closed:
    path: Path
    time_ns: int


@dataclass(frozen=True, slots=True)
class _Forget:
    boot: int
    segment: int | None
    by: str
    time_ns: int


_Task = _Begun | _Closed | _Forget | None


class Keeper:
    """Owns the ledger and the stored segments of one journal's folder."""

    def __init__(
        self,
        root: Path,
        unit: str,
        *,
        quota_bytes: int | None = None,
        owner_path: Path | None = None,
        storage: Storage | None = None,
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        """`on_notice` hears, from the keeper's thread, what a technician should know."""
        self._root = root
        self._unit = unit
        self._quota_bytes = quota_bytes
        self._owner_path = owner_path
        self._owner: Owner | None = None
        self._storage = storage or Storage()
        self._on_notice = on_notice
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._waiting: list[_Begun | _Closed | _Forget] = []
        self._idle = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._key: Key | None = None
        self._ledger = ledger.Writer(root / LEDGER, unit, self._storage)
        self._sizes: dict[Path, int] = {}
        self._live: Path | None = None
        self.kept_bytes = 0
        """How long all closed segments and the ledger are together."""
        self.trouble = ""
        """Why the last try to store did not go through; empty when all is well."""

    # From the journal's thread.

    def begin(self, key: Key, live: Path | None = None) -> None:
        """Starts the thread, or tells it of the key anew: the folder is locked and finished."""
        self._key = key
        self.kept_bytes = self._measured()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="journal-keeper", daemon=True)
            self._thread.start()

    def began(self, start: Start, digest: str, path: Path, time_ns: int) -> None:
        """A segment has begun, and its first seal is safe; the first of a boot is told of."""
        self._live = path
        self._put(_Begun(start, digest, time_ns))

    def closed(self, path: Path, time_ns: int) -> None:
        """A segment is closed and will not change any more."""
        if self._live == path:
            self._live = None
        self.kept_bytes = self._measured()
        self._put(_Closed(path, time_ns))

    def forget(self, boot: int, segment: int | None, by: str, time_ns: int) -> None:
        """The owner deletes a boot, or one segment of it; what still grows is not deleted."""
        self._put(_Forget(boot, segment, by, time_ns))

    def _put(self, task: _Begun | _Closed | _Forget) -> None:
        self._idle.clear()
        self._tasks.put(task)

    def wait(self, timeout_s: float) -> bool:
        """Waits until all is done that was asked for; false when the time (real s) is over."""
        return self._idle.wait(timeout_s)

    def rest(self) -> None:
        """Begins nothing more: what is closed from now on is for the next start."""
        self._ended.set()

    def stop(self, timeout_s: float = 0.2) -> bool:
        """Ends the thread after the step it is in; false when that takes longer (real s).

        The next start goes on from there.
        """
        self.rest()
        self._tasks.put(None)
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # From here on: the keeper's thread.

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # a kernel without it keeps the common priority
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        is_open = False
        while not self._ended.is_set():
            try:
                if not is_open:
                    self._open()
                    is_open = True
                while self._waiting and not self._ended.is_set():
                    self._do(self._waiting[0])
                    del self._waiting[0]
                self.trouble = ""
            except (OSError, JournalError, ImportError, MemoryError) as fault:
                is_open = is_open and not isinstance(fault, OSError)
                self._tell_trouble(str(fault) or type(fault).__name__)
            if not self._waiting and self._tasks.empty():
                self._idle.set()
            with contextlib.suppress(queue.Empty):
                task = self._tasks.get(timeout=RETRY_S if self.trouble else None)
                if task is not None:
                    self._waiting.append(task)
        self._ledger.close()

    def _tell_trouble(self, words: str) -> None:
        if words != self.trouble and self._on_notice is not None:
            self._on_notice(f"storing: {words}")
        self.trouble = words

    def _open(self) -> None:
        """Opens the ledger, and goes on from where a cut left what was stored and deleted."""
        if self._owner_path is not None:
            self._owner = Owner.load(self._owner_path)
        self._ledger.open()
        lines, graves = self._ledger.known.segments(), self._ledger.known.tombstones()
        for boot in folder.boots(self._root):
            for left in boot.glob("*.new"):
                left.unlink()
            for raw in boot.glob(f"*{stored.RAW}"):
                for form in (stored.PACKED, stored.LOCKED):
                    self._settle(raw, raw.with_name(raw.name[: -len(stored.RAW)] + form), lines)
        for place in folder.segments(self._root):
            if (place.boot, place.segment) in graves and place.path != self._live:
                self._unlink(place.path)
        waiting = {task.path for task in self._waiting if isinstance(task, _Closed)}
        for place in folder.segments(self._root):
            is_new = place.path not in waiting and place.path != self._live
            is_raw = stored.form_of(place.path) == stored.RAW
            if is_raw and is_new and has_good_ending(place.path):
                self._waiting.append(_Closed(place.path, 0))
        self.kept_bytes = self._measured()

    def _settle(self, raw: Path, kept: Path, lines: dict[tuple[int, int], SegmentLine]) -> None:
        """Of a segment in two forms the stored one stays if the ledger knows it, else the raw."""
        if not kept.exists():
            return
        told = f"{kept.parent.name}/{kept.name}"
        line = next((one for one in lines.values() if one.stored == told), None)
        is_good = line is not None and _sha256(kept) == line.stored_sha256
        self._unlink(raw if is_good else kept)

    def _do(self, task: _Begun | _Closed | _Forget) -> None:
        match task:
            case _Begun():
                self._tell_boot(task)
                self._make_room(task.time_ns)
            case _Closed():
                self._store(task)
                self._make_room(task.time_ns)
            case _Forget():
                self._forget(task)

    def _tell_boot(self, task: _Begun) -> None:
        assert self._key is not None
        start = task.start
        if any(line.boot_id == start.boot_id for line in self._ledger.known.boots()):
            return
        self._ledger.add(
            BootLine(
                unit=self._unit,
                time_ns=str(task.time_ns),
                boot=start.boot,
                boot_id=start.boot_id,
                segment=start.segment,
                software=start.software,
                digest=task.digest,
            ),
            self._key,
        )

    def _store(self, task: _Closed) -> None:
        """Puts a closed segment in its stored form, tells the ledger, and lets the raw one go."""
        assert self._key is not None
        try:
            raw = task.path.read_bytes()
        except FileNotFoundError:
            return  # deleted meanwhile, or stored before
        (place,) = folder.segments(task.path)
        report = proof.check_segment(place.name, raw)
        last = report.seal
        if last is None:
            self._tell_trouble(f"{place.name} has no seal: it stays as it is")
            return
        form, octets = stored.PACKED, stored.packed(raw)
        if stored.unpacked(octets, place.name) != raw:
            raise JournalError(place.name, "does not unpack to what it was: it stays as it is.")
        if self._owner is not None:
            form, octets = stored.LOCKED, self._owner.locked(octets)
        kept = task.path.with_name(task.path.name[: -len(stored.RAW)] + form)
        self._write(kept, octets)
        self._ledger.add(
            SegmentLine(
                unit=self._unit,
                time_ns=str(task.time_ns or report.to_ns),
                boot=last.boot,
                boot_id=last.boot_id,
                segment=last.segment,
                verdict=str(report.verdict),
                seals=last.count,
                records=report.records,
                events=report.events,
                from_ns=str(report.from_ns),
                to_ns=str(report.to_ns),
                digest=last.digest,
                raw_bytes=len(raw),
                raw_sha256=hashlib.sha256(raw).hexdigest(),
                stored=f"{kept.parent.name}/{kept.name}",
                stored_bytes=len(octets),
                stored_sha256=hashlib.sha256(octets).hexdigest(),
            ),
            self._key,
        )
        self._unlink(task.path)
        self.kept_bytes = self._measured()

    def _write(self, path: Path, octets: bytes) -> None:
        """A file that is whole under its name, or not there."""
        beside = path.with_name(f"{path.name}.new")
        beside.unlink(missing_ok=True)
        descriptor = self._storage.create(beside)
        try:
            try:
                for at in range(0, len(octets), PIECE_BYTES):
                    self._storage.write(descriptor, octets[at : at + PIECE_BYTES], at)
                    self._storage.sync(descriptor)
            finally:
                os.close(descriptor)
            beside.rename(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        self._storage.sync_folder(path.parent)

    def _unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._storage.sync_folder(path.parent)

    def _make_room(self, time_ns: int) -> None:
        """Deletes the oldest stored segments above the quota's share; those with events last."""
        if self._quota_bytes is None:
            return
        limit = int(self._quota_bytes * ROOM_SHARE)
        if self.kept_bytes <= limit:
            return
        for place, line in self._by_worth():
            if self.kept_bytes <= limit:
                break
            self._delete(place, line, "quota", "", time_ns)

    def _by_worth(self) -> list[tuple[Place, SegmentLine]]:
        """The stored segments, the least worth first: without events, then with; the old first."""
        lines = self._ledger.known.segments()
        there = (
            (place, lines[place.boot, place.segment])
            for place in folder.segments(self._root)
            if (place.boot, place.segment) in lines and stored.form_of(place.path) != stored.RAW
        )
        return sorted(there, key=lambda one: (one[1].events > 0, one[0].boot, one[0].segment))

    def _delete(self, place: Place, line: SegmentLine, why: Whose, by: str, time_ns: int) -> None:
        assert self._key is not None
        self._ledger.add(
            TombstoneLine(
                unit=self._unit,
                time_ns=str(time_ns),
                boot=line.boot,
                boot_id=line.boot_id,
                segment=line.segment,
                line=line.count,
                digest=line.digest,
                stored_sha256=line.stored_sha256,
                why=why,
                by=by,
            ),
            self._key,
        )
        self._unlink(place.path)
        place.path.with_name(f"{place.segment:06d}.torn").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it holds others
            place.path.parent.rmdir()
        self.kept_bytes = self._measured()

    def _forget(self, task: _Forget) -> None:
        """Deletes what the owner named; a closed segment that is not yet stored is stored first."""
        wanted = [
            place
            for place in folder.segments(self._root)
            if place.boot == task.boot and task.segment in (None, place.segment)
        ]
        for place in wanted:
            if place.path == self._live or not _is_closed(place):
                continue
            if stored.form_of(place.path) == stored.RAW:
                self._store(_Closed(place.path, task.time_ns))
        lines = self._ledger.known.segments()
        for place in self._of(wanted):
            line = lines.get((place.boot, place.segment))
            if line is not None and stored.form_of(place.path) != stored.RAW:
                self._delete(place, line, "owner", task.by, task.time_ns)

    def _of(self, wanted: Sequence[Place]) -> list[Place]:
        """The same segments as they are stored now."""
        numbers = {(place.boot, place.segment) for place in wanted}
        there = folder.segments(self._root)
        return [place for place in there if (place.boot, place.segment) in numbers]

    def _measured(self) -> int:
        """How long all segments but the growing one are, and the ledger."""
        total = 0
        paths = [place.path for place in folder.segments(self._root) if place.path != self._live]
        for path in (*paths, self._root / LEDGER):
            with contextlib.suppress(OSError):  # it went meanwhile
                total += path.stat().st_size
        return total


def _is_closed(place: Place) -> bool:
    return stored.form_of(place.path) != stored.RAW or has_good_ending(place.path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
