"""A download: what is new on a unit goes into the archive, whatever happens to the cable meanwhile.

Nothing is asked of a person here, and nothing is shown: that is the command's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from firmware.clock import Clock
from firmware.port.hosts import HostKey
from host_tools.archive import Archive, ArchiveError, Part, Wanted
from host_tools.sled import LostError, RefusedError, Sled, Way
from host_tools.sled_messages import Identity, Index, Session

POLL_S = 0.5
RECONNECT_S = 0.2
TRIES = 2
"""How often a segment is fetched anew whose digest is wrong at its end."""


_T = TypeVar("_T")


class Watcher:
    """Who looks on; this one does not, and lets everything happen."""

    def opening(self, session: Session) -> None:
        """The port is shut; the glass may be asking for a hold."""

    def lost(self, fault: LostError, left_s: float) -> None:
        """The unit is gone; so long it is still waited for."""

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


@dataclass(slots=True)
class Download:
    """One run: the unit, where it goes, and how patient it is."""

    way: Way
    into: Path
    key: HostKey | None = None
    wait_s: float = 30.0
    """So long a pulled cable is waited for."""
    hold_s: float = 60.0
    """So long the rider's hold is waited for."""
    watcher: Watcher = field(default_factory=Watcher)
    on_open: Callable[[Sled, Identity], None] | None = None
    """Called once the port is open, before anything is fetched."""
    clock: Clock = field(default_factory=Clock)
    _sled: Sled | None = None
    _identity: Identity | None = None
    _bytes: int = 0

    def run(self) -> Result:
        """Fetches all that is new; raises LostError, RefusedError or ArchiveError, with what came
        until then kept, and the unit's own data untouched."""
        try:
            sled = self._opened()
            assert self._identity is not None  # of the sled that has just been opened
            if self.on_open is not None:
                self.on_open(sled, self._identity)
            with Archive(self.into, self._identity, self._now()) as archive:
                return self._fetch_all(archive)
        finally:
            self._leave()

    def _fetch_all(self, archive: Archive) -> Result:
        index = self._patiently(lambda sled: self._index(sled, archive))
        wanted = archive.compare(index)
        assert self._identity is not None  # as above
        shown = sum(len(boot.segments) for boot in index.boots)
        result = Result(self._identity, archive.folder, here=shown - len(wanted))
        self.watcher.planned(wanted, result.here)
        for one in wanted:
            self._fetch(archive, one)
            result.segments += 1
            if not one.segment.closed:
                result.growing.append(one.name)
        archive.touch()
        result.bytes = self._bytes
        return result

    def _index(self, sled: Sled, archive: Archive) -> Index:
        index = sled.index()
        assert self._identity is not None  # as above
        if (index.unit, index.public_key) != (self._identity.unit, self._identity.key.hex()):
            raise RefusedError(str(self.way), "its index is of another unit or key than it says.")
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

    def _fetch(self, archive: Archive, wanted: Wanted) -> None:
        """Fetches one segment, however often the cable is pulled."""
        if wanted.seen is not None:
            archive.check_seen(wanted, self._digest(wanted, wanted.seen.bytes))
        with archive.begin(wanted) as part:
            self.watcher.began(wanted, part.size)
            for _ in range(TRIES):
                self._check_begun(part)
                while not part.is_complete:
                    self._patiently(lambda sled: self._read(sled, part))
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
        return self._patiently(lambda sled: sled.sha256(wanted.remote, count))

    def _read(self, sled: Sled, part: Part) -> None:
        for piece in sled.read(part.wanted.remote, part.size, part.wanted.segment.bytes):
            part.add(piece)
            self.watcher.came(len(piece))
            self._bytes += len(piece)
        if not part.is_complete:
            raise RefusedError(
                str(self.way),
                f"{part.wanted.name} has become shorter than the unit's index says.",
                "Try again: the unit may just have been started.",
            )

    # The unit, through all that happens to the cable.

    def _patiently(self, work: Callable[[Sled], _T]) -> _T:
        """Does something with the unit; opens it anew, and does it again, when it was lost."""
        until_s: float | None = None
        while True:
            try:
                return work(self._sled or self._opened())
            except LostError as fault:
                self._leave()
                now_s = self.clock.mono_s()
                if until_s is None:
                    until_s = now_s + self.wait_s
                if now_s >= until_s:
                    raise
                self.watcher.lost(fault, until_s - now_s)
                self.clock.sleep(RECONNECT_S)

    def _opened(self) -> Sled:
        """The unit with its port open to us; the one that it was before, if there was one."""
        sled = Sled(self.way)
        self._sled = sled
        identity = sled.identity()
        known = self._identity
        if known is not None and (known.unit, known.key) != (identity.unit, identity.key):
            raise RefusedError(
                str(self.way),
                f"is now unit {identity.unit}: it was {known.unit} before the cable was pulled.",
                "Run it again for the other unit.",
            )
        self._identity = identity
        self._pass(sled, identity)
        return sled

    def _pass(self, sled: Sled, identity: Identity) -> None:
        """Gets the port opened: by this computer's key, or by the rider's hold."""
        session = sled.session()
        if session.open:
            return
        if self.key is not None and identity.key:
            with contextlib.suppress(RefusedError):  # not enrolled there: the button is left
                session = sled.prove(self.key, identity.key.hex())
        until_s = self.clock.mono_s() + self.hold_s
        while not session.open:
            self.watcher.opening(session)
            if self.clock.mono_s() >= until_s:
                raise RefusedError(str(self.way), session.why or "the port is shut.")
            session = sled.ask_to_open()
            if not session.open:
                self.clock.sleep(POLL_S)

    def _leave(self) -> None:
        if self._sled is not None:
            self._sled.close()
            self._sled = None

    def _now(self) -> datetime:
        return self.clock.system_utc()
