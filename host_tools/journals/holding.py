"""A journal held against its ledger: what should be here, what was deleted, what is not as told."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path

from firmware.errors import JournalError
from firmware.journal import ledger, stored
from firmware.journal.folder import LEDGER, Place, boot_name
from firmware.journal.ledger import BootLine, Ledger, SegmentLine
from firmware.journal.proof import Reason, SegmentReport, Verdict
from firmware.journal.seal import fingerprint

BY_LEDGER = "is encrypted: by its line in the ledger"


class Holding:
    """What a ledger tells of the segments of a folder; answers what the seals' check asks."""

    def __init__(self, told: Ledger) -> None:
        self.ledger = told
        self._lines = told.segments()
        self._graves = told.tombstones()
        self._deleted = {grave.digest for grave in self._graves.values()}

    def keys(self) -> Collection[str]:
        """Those that the trusted key vouches for; none where the ledger itself is not good."""
        return () if self.ledger.fault is not None else self.ledger.keys

    def fault(self, place: Place, octets: bytes) -> str:
        """How a file's bytes differ from those that the ledger knows."""
        line = self._line(place)
        if line is None:
            return ""
        is_raw = stored.form_of(place.path) == stored.RAW
        size, digest = (
            (line.raw_bytes, line.raw_sha256) if is_raw else (line.stored_bytes, line.stored_sha256)
        )
        if len(octets) == size and hashlib.sha256(octets).hexdigest() == digest:
            return ""
        return f"is not the file that the ledger tells of in line {line.count}"

    def about(self, place: Place) -> SegmentReport | None:
        """What the ledger's line says of a segment that is not opened here."""
        line = self._line(place)
        if line is None or stored.form_of(place.path) != stored.LOCKED:
            return None
        told = folder_of(line)
        if place.boot_name not in ("", told):
            reason = Reason(place.name, 0, f"was sealed in boot {told}")
            return SegmentReport(place.name, Verdict.TAMPERED, line.records, 0, 0, (reason,))
        good = Verdict(line.verdict)
        what = f"{BY_LEDGER}, {line.count}: {line.verdict}"
        reasons = () if good is Verdict.WHOLE else (Reason(place.name, 0, what),)
        return SegmentReport(
            place.name, good, line.records, int(line.from_ns), int(line.to_ns), reasons
        )

    def tells_of(self, place: Place) -> bool:
        """Whether the segment has its line."""
        return self._line(place) is not None

    def end_of(self, place: Place) -> str:
        line = self._line(place)
        return "" if line is None else line.digest

    def is_deleted(self, digest: str) -> bool:
        return digest in self._deleted

    def _line(self, place: Place) -> SegmentLine | None:
        return self._lines.get((place.boot, place.segment))

    def missing(self, places: Iterable[Place]) -> list[SegmentReport]:
        """What the ledger tells of and what is not here: segments, whole boots, or lines."""
        here = {(place.boot, place.segment): place for place in places}
        gone = [
            _not_here(line.stored, f"line {line.count} of the ledger tells of it")
            for at, line in self._lines.items()
            if at not in here and at not in self._graves
        ]
        known = {boot for boot, _ in (*here, *self._lines, *self._graves)}
        gone += [
            _not_here(
                f"{folder_of(line)}/{line.segment:06d}{stored.RAW}",
                f"line {line.count} of the ledger tells of its boot",
            )
            for line in self.ledger.boots()
            if line.boot not in known
        ]
        return gone

    def untold(self, place: Place) -> str:
        """Why a stored segment that no line tells of is more than the ledger, or nothing."""
        if self._line(place) is not None or stored.form_of(place.path) == stored.RAW:
            return ""
        return "is stored, and no line of the ledger tells of it: the ledger was cut or rolled back"

    def of_ledger(self) -> list[SegmentReport]:
        """The ledger's own fault as a line among the segments', where it has one."""
        fault = self.ledger.fault
        if fault is None:
            return []
        reason = Reason(LEDGER, fault.offset, fault.what)
        return [SegmentReport(LEDGER, Verdict.TAMPERED, 0, 0, 0, (reason,))]


def hold(folder: Path, public_key: str) -> Holding | None:
    """The ledger of a journal's folder, checked; None where there is none. Raises OSError."""
    path = folder / LEDGER
    return Holding(ledger.read(path, public_key)) if path.is_file() else None


def beside(place: Place, held: Holding | None) -> str:
    """How another form of a segment beside it differs from what the ledger tells of it, or from
    the sealed bytes where no line tells of it yet; or nothing."""
    raw = stored.raw_path(place.path)
    for form in stored.FORMS:
        path = raw.with_name(raw.name[: -len(stored.RAW)] + form)
        if not place.boot_name or path == place.path or not path.is_file():
            continue
        try:
            octets = stored.file_bytes(path)
            if held is not None and held.tells_of(place):
                fault = held.fault(place._replace(path=path), octets)
            elif form == stored.LOCKED:
                continue  # what it holds is told by the line that comes
            else:
                is_same = stored.sealed_bytes(octets, path) == stored.read(place.path)
                fault = "" if is_same else "holds other bytes"
        except (OSError, JournalError):
            fault = "can't be read"
        if fault:
            return f"{path.name} beside it {fault}"
    return ""


def as_downloaded(where: Path, size: int, digest: str) -> list[SegmentReport]:
    """What is wrong with a ledger of which an earlier download saw so many bytes with this SHA-256:
    a line among the segments', or none."""
    try:
        content = (where / LEDGER).read_bytes()
    except OSError:
        content = b""
    if len(content) < size:
        what = f"has {len(content)} bytes, and had {size} when it was downloaded"
        verdict = Verdict.INCOMPLETE
    elif hashlib.sha256(content[:size]).hexdigest() != digest:
        what, verdict = "does not begin as it did when it was downloaded", Verdict.TAMPERED
    else:
        return []
    return [SegmentReport(LEDGER, verdict, 0, 0, 0, (Reason(LEDGER, 0, what),))]


def folder_of(line: BootLine | SegmentLine) -> str:
    """The name of the folder of a line's boot."""
    return boot_name(line.boot, line.boot_id)


def keys_words(told: Ledger) -> str:
    """Which keys the ledger tells of, where it is more than one."""
    return ", then ".join(fingerprint(key) for key in told.keys) if len(told.keys) > 1 else ""


def _not_here(name: str, why: str) -> SegmentReport:
    reason = Reason(name, 0, f"is not here, and {why}")
    return SegmentReport(name, Verdict.INCOMPLETE, 0, 0, 0, (reason,))
