"""The segment that is being written: each commit is whole and safe on the disk, or did not happen.

A commit is one write and one fdatasync. Where the disk refuses, nothing of it is remembered, and
the next try writes over what may be there. The ending is written after the closing seal is safe:
so a file that has an ending has all its seals.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from firmware.journal import segment
from firmware.journal.dating import ns
from firmware.journal.folder import Storage
from firmware.journal.recall import Recall
from firmware.journal.record import Start, encode, topic_of
from firmware.journal.seal import Chain, Key, Kind
from firmware.journal.segment import TOPIC_IDS, Ending, Message


class OpenSegment:
    """One growing file, its seals and what its ending will say."""

    def __init__(self, path: Path, start: Start, key: Key, storage: Storage) -> None:
        self.path = path
        self.start = start
        self.end = 0
        """How much of the file is safe on the disk."""
        self.recall = Recall()
        """What the file has told, as far as it is safe on the disk."""
        self._key = key
        self._storage = storage
        self._ending = Ending()
        self._chain = Chain(start.unit, start.boot, start.boot_id, start.segment, start.previous)
        self._since_seal = hashlib.sha256()
        self._descriptor = -1
        self._is_ragged = False

    @classmethod
    def begin(
        cls,
        path: Path,
        start: Start,
        attachments: Sequence[tuple[str, bytes]],
        at_s: float,
        log_time_ns: int,
        key: Key,
        storage: Storage,
    ) -> OpenSegment:
        """A new file with its attachments, start record and first seal, safe with its name.

        An OSError passes through, and the file that could not be begun is taken away.
        """
        one = cls(path, start, key, storage)
        one._descriptor = storage.create(path)
        try:
            opening = segment.opening(f"sledwarden {start.software}", attachments)
            found = segment.scan(opening)
            one._ending = found.ending
            publish_ns = ns(at_s)
            text = encode(start, at_s)
            first = Message(TOPIC_IDS[topic_of(start)], 0, log_time_ns, publish_ns, text)
            content = segment.declarations() + segment.packed([first])
            one._commit(opening, [content], publish_ns, "start")
            storage.sync_folder(path.parent)
        except OSError:
            one.abandon()
            with contextlib.suppress(OSError):  # a later start finishes what stays
                path.unlink(missing_ok=True)
            raise
        return one

    @property
    def digest(self) -> str:
        """The digest of the last seal."""
        return self._chain.digest.hex()

    @property
    def records(self) -> int:
        return self._ending.records

    @property
    def end_ns(self) -> int:
        """The latest log time in the file: no later one may be before it."""
        return self._ending.end_ns

    def commit(self, contents: Iterable[bytes], publish_ns: int, kind: Kind | None) -> None:
        """Adds chunks, and a seal of that kind after them; safe when it returns.

        An OSError passes through and leaves the segment as it was; ENOENT says that the file is
        no longer where it was.
        """
        self._commit(b"", contents, publish_ns, kind)
        try:
            there, ours = os.stat(self.path), os.fstat(self._descriptor)
            is_there = (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise FileNotFoundError(errno.ENOENT, "the folder has vanished", str(self.path))

    def _commit(
        self, opening: bytes, contents: Iterable[bytes], publish_ns: int, kind: Kind | None
    ) -> None:
        addition = bytearray(opening)
        taken = []
        for content in contents:
            chunk = segment.framed(content)
            taken.append((self.end + len(addition), chunk))
            addition += chunk.framed
        seal, covered = None, len(addition)
        since_seal = self._since_seal.copy()
        since_seal.update(addition)
        if kind is not None:
            seal = self._chain.next(
                self._key,
                kind,
                since_seal.digest(),
                end=self.end + covered,
                durable=self.end,
                log_time_ns=max([self._ending.end_ns, *(chunk.end_ns for _, chunk in taken)]),
                publish_time_ns=publish_ns,
            )
            chunk = segment.framed(segment.packed([seal.message()]))
            taken.append((self.end + covered, chunk))
            addition += chunk.framed
            since_seal = hashlib.sha256(chunk.framed)
        self._write(bytes(addition))
        for offset, chunk in taken:
            self._ending.take_chunk(offset, chunk)
        if seal is not None:
            self._chain.taken(seal)
        self._since_seal = since_seal
        self.end += len(addition)

    def _write(self, addition: bytes) -> None:
        """One write and one fdatasync, over whatever an earlier try may have left."""
        if self._is_ragged:
            os.ftruncate(self._descriptor, self.end)
        self._is_ragged = True
        self._storage.write(self._descriptor, addition, self.end)
        self._storage.sync(self._descriptor)
        self._is_ragged = False

    def finish(self) -> None:
        """Adds the ending, after a commit with a closing seal, and lets the file go."""
        try:
            self._write(self._ending.written(self.end))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Lets the file go as it is; the next start, or the next segment's, finishes it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
