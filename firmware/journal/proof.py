"""What the seals of one segment prove: whether its bytes are those that the unit wrote.

A power cut tears a segment only behind what was safe on the disk, and leaves a cut or sectors of
zeros. Whatever else differs was changed later, and is told with the byte where it shows.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from firmware.journal import record, segment
from firmware.journal.seal import LAST_KINDS, Seal, fingerprint, is_signed, later_seals, parse
from firmware.journal.segment import MAGIC, SEAL_ID, Scan, Stamp

SECTOR_BYTES = 512

_OF_SEGMENT = ("unit", "boot", "boot_id", "segment", "previous")


class Verdict(StrEnum):
    """What the seals of a segment or of a folder prove; the worst of its parts is a folder's."""

    WHOLE = "whole"
    POWER_CUT = "power-cut"
    INCOMPLETE = "incomplete"
    TAMPERED = "tampered"
    UNREADABLE = "unreadable"


RANK = (
    Verdict.WHOLE,
    Verdict.POWER_CUT,
    Verdict.INCOMPLETE,
    Verdict.UNREADABLE,
    Verdict.TAMPERED,
)
"""The verdicts from good to bad."""

GOOD = (Verdict.WHOLE, Verdict.POWER_CUT)
"""The verdicts that say: nothing was changed, nothing is missing that was safe."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a segment is not whole: which, the byte where it shows, and what shows."""

    segment: str
    offset: int
    what: str


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What one segment's seals prove. `records` counts those under a valid seal, `events` the
    events of the whole file; `from_ns` and `to_ns` are the times of its first and last message;
    `seal` is its last valid one."""

    name: str
    verdict: Verdict
    records: int
    from_ns: int
    to_ns: int
    reasons: tuple[Reason, ...] = ()
    seal: Seal | None = None
    events: int = 0

    def worse(self, verdict: Verdict, what: str, offset: int = 0) -> SegmentReport:
        """The report with another reason; its verdict is the worse of the two."""
        return replace(
            self,
            verdict=max(self.verdict, verdict, key=RANK.index),
            reasons=(*self.reasons, Reason(self.name, offset, what)),
        )


def check_segment(
    name: str, content: bytes, public_key: str | None = None, others: Collection[str] = ()
) -> SegmentReport:
    """What the seals of one segment prove; never raises on any bytes.

    Without a key the one in the first seal is trusted: that proves only that one key made all.
    `others` are keys that the given one vouches for.
    """
    quick = _check_scan(name, content, segment.scan(content, is_trusting=True), public_key, others)
    if quick.seal is not None and quick.seal.kind in LAST_KINDS and quick.verdict in GOOD:
        return quick  # all is under a good seal, but that seal's own chunk, which was read in full
    return _check_scan(name, content, segment.scan(content), public_key, others)


def sealed_scan(content: bytes) -> Scan:
    """What is whole in a segment whose seals hold: fast where its closing seal covers all of it."""
    quick = segment.scan(content, is_trusting=True)
    last = parse(quick.seals[-1].message.text) if quick.seals else None
    is_covered = last is not None and last.kind in LAST_KINDS
    return quick if is_covered else segment.scan(content)


def _check_scan(
    name: str, content: bytes, found: Scan, public_key: str | None, others: Collection[str]
) -> SegmentReport:
    stamps = found.seals + ([found.torn_seal] if found.torn_seal is not None else [])
    first = parse(stamps[0].message.text) if stamps else None
    if first is not None and first.public_key in others:
        public_key = first.public_key
    seals: list[Seal] = []
    digest = bytes(32)
    sealed = 0

    def report(verdict: Verdict, offset: int, what: str) -> SegmentReport:
        reasons = () if verdict is Verdict.WHOLE else (Reason(name, offset, what),)
        return SegmentReport(
            name,
            verdict,
            _records_before(content, found, seals[-1].end) if seals else 0,
            found.ending.start_ns,
            found.ending.end_ns,
            reasons,
            seals[-1] if seals else None,
            found.ending.events,
        )

    for stamp in stamps:
        seal = parse(stamp.message.text)
        if seal is None:
            return report(Verdict.TAMPERED, stamp.offset, "a seal was changed")
        key = public_key or (seals[0] if seals else seal).public_key
        digest = hashlib.sha256(
            digest + hashlib.sha256(content[sealed : stamp.offset]).digest()
        ).digest()
        fault = _fault(seal, stamp, seals, key, digest.hex())
        if not fault and found.header is not None and found.header.profile != segment.PROFILE:
            fault = f"is sealed, but its profile is not {segment.PROFILE}"
        if fault:
            return report(Verdict.TAMPERED, sealed, fault)
        seals.append(seal)
        sealed = stamp.offset

    key = public_key or (seals[0].public_key if seals else "")
    later = later_seals(content[found.end :], key)
    if not seals:
        is_safe = any(seal.durable > found.end for seal in later)
        if is_safe or (content.endswith(MAGIC) and len(content) > len(MAGIC)):
            return report(Verdict.TAMPERED, found.end, f"{found.why}, before its first seal")
        return report(Verdict.UNREADABLE, found.end, f"holds no whole seal: {found.why}")
    return report(*_verdict_of_end(content, found, seals, later))


def _fault(seal: Seal, stamp: Stamp, before: Sequence[Seal], key: str, digest: str) -> str:
    """What is wrong with a seal in its place, or nothing."""
    first = before[0] if before else seal
    if seal.public_key != key:
        return f"was sealed with another key, {fingerprint(seal.public_key)}"
    if not is_signed(seal, key):
        return "a seal's signature is false"
    if seal.digest != digest:
        return f"the bytes from here to {stamp.offset} are not those that were sealed"
    if seal.end != stamp.offset or seal.count != len(before) + 1:
        return "a seal stands in another place than it was made for"
    if seal.format != first.format or not _is_of(seal, first):
        return "a seal was made for another segment"
    if before and before[-1].kind in LAST_KINDS:
        return "goes on after its last seal"
    if seal.message() != stamp.message:
        return "a seal's times or number were changed"
    return ""


def _verdict_of_end(
    content: bytes, found: Scan, seals: Sequence[Seal], later: Sequence[Seal]
) -> tuple[Verdict, int, str]:
    """The verdict on a segment whose seals, as far as they are whole, are all good."""
    last = seals[-1]
    if last.kind not in LAST_KINDS:
        if any(seal.durable > found.end and _is_of(seal, last) for seal in later):
            return Verdict.TAMPERED, found.end, f"{found.why}, before a later seal"
        if found.has_ending or content.endswith(MAGIC):
            return Verdict.TAMPERED, found.end, f"{found.why}: ends without its closing seal"
        return Verdict.POWER_CUT, found.end, f"{found.why}, after seal {last.count}"
    if found.torn_seal is None and found.chunks[-1].end != found.seals[-1].end:
        return Verdict.TAMPERED, found.seals[-1].end, "goes on after its last seal"
    begin, ending = _ending(found)
    rest = content[begin:]
    if not _is_torn_or_same(rest, ending, begin):
        return Verdict.TAMPERED, found.end, "the file's ending is not what its chunks give"
    if last.kind == "finish":
        return Verdict.POWER_CUT, last.durable, "was torn here and finished at a later start"
    if rest != ending:
        return Verdict.POWER_CUT, found.end, "the file's ending was torn, after its closing seal"
    return Verdict.WHOLE, found.end, ""


def _is_of(seal: Seal, other: Seal) -> bool:
    """Whether two seals are of the same segment."""
    return all(getattr(seal, name) == getattr(other, name) for name in _OF_SEGMENT)


def _ending(found: Scan) -> tuple[int, bytes]:
    """What stands after the closing seal's chunk and from where: its index, if torn, and all else.

    Bytes that can't be an ending's, where its chunks have more schemas than MCAP counts.
    """
    index, end = b"", found.end
    if found.unindexed is not None:
        chunk = found.unindexed
        index = bytes(chunk.framed[chunk.chunk_length :])
        found.ending.take_chunk(found.end, chunk)
        end += len(chunk.framed)
    try:
        return end - len(index), index + found.ending.written(end)
    except struct.error:
        return end - len(index), b""


def _is_torn_or_same(rest: bytes, ending: bytes, offset: int) -> bool:
    """Whether the rest is the ending, or what a power cut leaves of it: cut, or sectors of zeros.

    The ending says nothing that the chunks do not: it is written after the closing seal is safe.
    """
    if len(rest) > len(ending):
        return False
    at = 0
    while at < len(rest):
        to = at + SECTOR_BYTES - (offset + at) % SECTOR_BYTES
        piece = rest[at:to]
        if piece != ending[at : at + len(piece)] and piece.count(0) != len(piece):
            return False
        at = to
    return True


def _records_before(content: bytes, found: Scan, offset: int) -> int:
    """How many records stand before an offset of a chunk."""
    if found.chunks and found.chunks[-1].start == offset:
        return found.ending.records
    apart = (SEAL_ID, segment.TOPIC_IDS[record.POSITION])
    spans = [span for span in found.chunks if span.start < offset]
    messages = (message for span in spans for message in segment.unpacked(span.content(content)))
    return sum(message.topic_id not in apart for message in messages)
