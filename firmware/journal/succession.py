"""What the seals of a whole journal prove: each segment's own, and that none is missing between.

Each seal names the digest of the last seal of the segment before it. What the folder alone can't
show, such as a segment that was lawfully deleted, a ledger tells (`Told`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from firmware.errors import JournalError
from firmware.journal import folder, stored
from firmware.journal.proof import RANK, Reason, SegmentReport, Verdict, check_segment
from firmware.journal.seal import Seal
from firmware.journal.stored import Identity


@dataclass(frozen=True, slots=True)
class Report:
    """What the seals of a file or a folder prove, and whose key they were made with."""

    verdict: Verdict
    unit: str
    public_key: str
    is_key_given: bool
    segments: tuple[SegmentReport, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return tuple(reason for one in self.segments for reason in one.reasons)


def check(path: Path, public_key: str | None = None) -> Report:
    """What the seals of a segment, of a boot or of a whole journal folder prove.

    `public_key` is 64 hex digits; without it the key in the first seal is trusted, which proves
    that one key made all, not whose. Raises JournalError where there is nothing to check.
    """
    places = folder.segments(path)
    if not places:
        raise JournalError(str(path), "holds no journal segment: must be a .mcap or their folder.")
    return check_places(places, public_key)


class Told(Protocol):
    """What a ledger tells of segments beside their seals."""

    def keys(self) -> Collection[str]:
        """The unit's keys, where the ledger says that it had several."""

    def fault(self, place: folder.Place, octets: bytes) -> str:
        """How a file's bytes differ from those that the ledger knows, or nothing."""

    def about(self, place: folder.Place) -> SegmentReport | None:
        """What the ledger knows of a segment that is encrypted."""

    def end_of(self, place: folder.Place) -> str:
        """The digest of that segment's last seal; empty where it is not known."""

    def is_deleted(self, digest: str) -> bool:
        """Whether the segment that ended with this digest was deleted, and told of."""


@dataclass(frozen=True, slots=True)
class _Before:
    """The segment that stands before another: where, and what its last seal says."""

    place: folder.Place
    unit: str
    digest: str


def check_places(
    places: Iterable[folder.Place],
    public_key: str | None = None,
    *,
    told: Told | None = None,
    identity: Identity | None = None,
    is_all: bool = False,
) -> Report:
    """What the seals of these segments of one journal prove; each is read once, in this order.

    `told` is what the ledger says, `identity` opens encrypted ones, and `is_all` says that nothing
    should be missing before the first.
    """
    reports: list[SegmentReport] = []
    key = public_key
    before: _Before | None = None
    unread: folder.Place | None = None
    for place in places:
        one = _checked(place, key, told, identity)
        reports.append(one)
        if one.seal is not None:
            key = key or one.seal.public_key
            reports[-1] = _in_row(one, place, one.seal, before, unread, told, is_all=is_all)
        ended = _end_of(one, place, told)
        if ended:
            before, unread = _Before(place, one.seal.unit if one.seal else "", ended), None
        else:
            unread = place
    first = next((one.seal for one in reports if one.seal is not None), None)
    return Report(
        verdict=max((one.verdict for one in reports), key=RANK.index, default=Verdict.UNREADABLE),
        unit=first.unit if first else "",
        public_key=key or "",
        is_key_given=public_key is not None,
        segments=tuple(reports),
    )


def _checked(
    place: folder.Place, key: str | None, told: Told | None, identity: Identity | None
) -> SegmentReport:
    """One segment by itself and by the ledger, without its place among the others."""
    fault = ""
    try:
        octets = stored.file_bytes(place.path)
        fault = "" if told is None else told.fault(place, octets)
        raw = stored.sealed_bytes(octets, place.path, identity)
    except (OSError, JournalError) as why:
        known = told.about(place) if told is not None and not fault else None
        what = f"can't be read: {why.strerror}" if isinstance(why, OSError) else why.what
        reason = Reason(place.name, 0, what)
        one = known or SegmentReport(place.name, Verdict.UNREADABLE, 0, 0, 0, (reason,))
    else:
        one = check_segment(place.name, raw, key, () if told is None else told.keys())
    return one.worse(Verdict.TAMPERED, fault) if fault else one


def _end_of(one: SegmentReport, place: folder.Place, told: Told | None) -> str:
    """The digest with which a segment ended: by the ledger, else by its last seal where nothing was
    changed in it; empty where it can't be known."""
    known = "" if told is None else told.end_of(place)
    is_changed = one.verdict in (Verdict.UNREADABLE, Verdict.TAMPERED)
    return known or ("" if one.seal is None or is_changed else one.seal.digest)


def _in_row(
    one: SegmentReport,
    place: folder.Place,
    seal: Seal,
    before: _Before | None,
    unread: folder.Place | None,
    told: Told | None,
    *,
    is_all: bool,
) -> SegmentReport:
    """The report with what is wrong about the segment's place after the one before it.

    `unread` stands between the two, or first, and does not tell how it ended.
    """
    if place.boot and (seal.boot, seal.segment) != (place.boot, place.segment):
        fault = f"was sealed as segment {seal.segment} of boot {seal.boot}"
        return one.worse(Verdict.TAMPERED, fault)
    home = folder.boot_name(seal.boot, seal.boot_id)
    if place.boot_name not in ("", home):
        return one.worse(Verdict.TAMPERED, f"was sealed in boot {home}")
    ended = before.digest if before is not None else ""
    is_deleted = told is not None and told.is_deleted(seal.previous)
    if seal.previous == ended or is_deleted or (before is None and not is_all):
        return one
    if before is not None and before.unit and before.unit != seal.unit:
        return one.worse(Verdict.TAMPERED, f"was sealed by another unit, {seal.unit}")
    if unread is not None:
        what = f"the segment before it, {unread.path.name}, tells no end to hold it against"
        return one.worse(Verdict.WHOLE, what)
    if before is None:
        return one.worse(Verdict.INCOMPLETE, "the segments before it are missing")
    if before.place.is_followed_by(place):
        return one.worse(Verdict.TAMPERED, "was not sealed after the segment before it")
    return one.worse(Verdict.INCOMPLETE, "a segment before it is missing")
