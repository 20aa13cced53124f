"""A download: what is new on a unit goes into the archive, whatever happens to the cable meanwhile.

Nothing is asked of a person here, and nothing is shown: that is the command's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from firmware.journal.ledger import Ledger
from host_tools.journals.archive import Archive, ArchiveError, Part, Wanted
from host_tools.port.contact import Contact, Onlooker
from host_tools.port.messages import Identity, Index
from host_tools.port.sled import RefusedError, Sled

LEDGER = "/journal/ledger.jsonl"
TRIES = 2
"""How often a segment is fetched anew whose digest is wrong at its end."""


class Watcher(Onlooker):
    """Who looks on at a download; this one does not, and lets everything happen."""

    def planned(self, wanted: list[Wanted], here: int) -> None:
        """These are to be fetched, and so many segments are here already."""

    def began(self, wanted: Wanted, size: int) -> None:
        """A segment begins, with so many bytes that are here already."""

    def came(self, count: int) -> None:
        """So many bytes came; fewer than none when what was here is thrown away."""


@dataclass(slots=True)
class Result:
    """What a download brought."""

    identity: Identity
    folder: Path
    segments: int = 0
    bytes: int = 0
    here: int = 0
    growing: list[str] = field(default_factory=list)
    torn: int = 0
    """Pieces of damaged segments that came beside them."""


@dataclass(slots=True)
class Download:
    """One run: the unit, and where what is new of it goes."""

    contact: Contact
    into: Path
    watcher: Watcher = field(default_factory=Watcher)
    on_open: Callable[[Sled, Identity], None] | None = None
    """Called once the port is open, before anything is fetched."""
    _bytes: int = 0

    def run(self) -> Result:
        """Fetches all that is new; raises LostError, RefusedError or ArchiveError, with what came
        until then kept, and the unit's own data untouched."""
        try:
            sled = self.contact.opened()
            if self.on_open is not None:
                self.on_open(sled, self.contact.identity)
            with Archive(self.into, self.contact.identity, self._now()) as archive:
                return self._fetch_all(archive)
        finally:
            self.contact.leave()

    def _fetch_all(self, archive: Archive) -> Result:
        index = self.contact.patiently(lambda sled: self._index(sled, archive))
        told = self._ledger(archive, index)
        wanted = archive.compare(index, told)
        shown = sum(len(boot.segments) for boot in index.boots)
        result = Result(self.contact.identity, archive.folder, here=shown - len(wanted))
        torn = archive.torn(index)
        self.watcher.planned([*wanted, *torn], result.here)
        for one in wanted:
            self._fetch(archive, one)
            result.segments += 1
            if not one.segment.closed:
                result.growing.append(one.name)
        for one in torn:
            self._fetch(archive, one)
            result.torn += 1
        archive.touch()
        result.bytes = self._bytes
        return result

    def _index(self, sled: Sled, archive: Archive) -> Index:
        index = sled.index()
        if (index.unit, index.public_key) != (
            self.contact.identity.unit,
            self.contact.identity.key.hex(),
        ):
            raise RefusedError(
                str(self.contact.way), "its index is of another unit or key than it says."
            )
        # An index need not know all digests at once. The newest one stands for those before it:
        # each segment's seals name the digest of the segment before.
        shown = {f"{boot.name}/{one.name}": one for boot in index.boots for one in boot.segments}
        for name, seen in sorted(archive.known.segments.items(), reverse=True):
            one = shown.get(name)
            if seen.closed and one is not None and one.closed and one.bytes == seen.bytes:
                if not one.sha256:
                    digest = sled.sha256(f"/journal/{name}", seen.bytes)
                    archive.check_digest(name, seen, digest)
                break
        return index

    def _ledger(self, archive: Archive, index: Index) -> Ledger | None:
        """Fetches what is new of the ledger; None for a unit that keeps none."""
        size = 0 if index.ledger is None else index.ledger.bytes
        archive.check_ledger(
            size, lambda count: self.contact.patiently(lambda sled: sled.sha256(LEDGER, count))
        )
        if index.ledger is None:
            return None
        known = archive.known.ledger
        content = archive.ledger_file()
        if known is None or len(content) != known.bytes:
            content = b""
        if len(content) < size:
            begin = len(content)
            content += self.contact.patiently(lambda sled: b"".join(sled.read(LEDGER, begin, size)))
        return archive.keep_ledger(content)

    def _fetch(self, archive: Archive, wanted: Wanted) -> None:
        """Fetches one segment, however often the cable is pulled."""
        if wanted.seen is not None:
            archive.check_seen(wanted, self._digest(wanted, wanted.seen.bytes))
        with archive.begin(wanted) as part:
            self.watcher.began(wanted, part.size)
            for _ in range(TRIES):
                self._check_begun(part)
                while not part.is_complete:
                    self.contact.patiently(lambda sled: self._read(sled, part))
                digest = wanted.segment.sha256 or self._digest(wanted, part.size)
                if part.digest == digest:
                    archive.finish(part, is_closed=wanted.segment.closed)
                    return
                self.watcher.came(-part.size)
                part.restart()
        raise ArchiveError(
            str(part.path),
            f"{wanted.name} does not have the SHA-256 that the unit says, {TRIES} times over.",
            "Look at the cable, then try again; if it stays so, the unit's card is failing.",
        )

    def _check_begun(self, part: Part) -> None:
        """What is here already must be how the unit's own file begins."""
        wanted, seen = part.wanted, part.wanted.seen
        is_safe = seen is not None and part.size == seen.bytes and part.digest == seen.sha256
        if part.size and not is_safe and self._digest(wanted, part.size) != part.digest:
            self.watcher.came(-part.size)
            part.restart()

    def _digest(self, wanted: Wanted, count: int) -> str:
        return self.contact.patiently(lambda sled: sled.sha256(wanted.remote, count))

    def _read(self, sled: Sled, part: Part) -> None:
        for piece in sled.read(part.wanted.remote, part.size, part.wanted.segment.bytes):
            part.add(piece)
            self.watcher.came(len(piece))
            self._bytes += len(piece)
        if not part.is_complete:
            raise RefusedError(
                str(self.contact.way),
                f"{part.wanted.name} has become shorter than the unit's index says.",
                "Try again: the unit may just have been started.",
            )

    def _now(self) -> datetime:
        return self.contact.clock.system_utc()
