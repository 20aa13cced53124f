"""Seals: a signature over all the bytes of a segment up to here, and what a segment's seals prove.

A stretch is the bytes from the chunk of one seal up to the chunk of the next; the first begins at
byte 0. Each seal signs d = SHA-256(d of the seal before || SHA-256(stretch)). So an edit anywhere
breaks every seal after it. docs/journal.md says it so that a stranger can write a verifier.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import msgspec

from firmware.errors import JournalError
from firmware.files import put_whole
from firmware.journal import folder, record, segment, stored
from firmware.journal.segment import MAGIC, SEAL_ID, Message, Scan, Stamp
from firmware.journal.stored import Identity

if TYPE_CHECKING:  # 33 ms to import, so only the thread that seals or checks pays for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DOMAIN = b"sledwarden seal 1\n"
SECTOR_BYTES = 512

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""What every reader of JSON reads to the last digit."""

Kind = Literal["start", "event", "time", "close", "finish"]
LAST_KINDS = ("close", "finish")
_OF_SEGMENT = ("unit", "boot", "boot_id", "segment", "previous")

_encode = msgspec.json.Encoder().encode


class Seal(msgspec.Struct, frozen=True):
    """What a seal says; the order of the fields is the order in the message.

    `end`, in JSON `bytes`, is where its stretch ends and its own chunk begins. `durable` is how
    much of the file was safe on the disk when it was made: damage before that is no power cut.
    The two times are those of the seal's own MCAP message, as text because JavaScript rounds
    such integers.
    """

    format: _Number
    kind: Kind
    unit: str
    boot: _Number
    boot_id: str
    segment: _Number
    count: _Number
    end: _Number = msgspec.field(name="bytes")
    durable: _Number
    digest: str
    previous: str
    log_time_ns: str
    publish_time_ns: str
    public_key: str
    signature: str = ""

    def signed(self) -> bytes:
        """The bytes that are signed: the message with an empty signature, after a fixed line."""
        return DOMAIN + _encode(msgspec.structs.replace(self, signature=""))

    def message(self) -> Message:
        """The message of this seal, all of whose fields follow from it."""
        times = int(self.log_time_ns), int(self.publish_time_ns)
        return Message(SEAL_ID, self.count, *times, _encode(self))


_DECODER = msgspec.json.Decoder(Seal)
_TIME = re.compile("0|[1-9][0-9]{0,19}")
_DIGEST = re.compile("[0-9a-f]{64}")


def fingerprint(public_key: str) -> str:
    """Sixteen hex digits that stand for a public key, in groups of four to be read aloud."""
    digits = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:16]
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


class Key:
    """The unit's Ed25519 key: 64 hex digits in a file that only its owner can read."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()
        self.fingerprint = fingerprint(self.public)

    @classmethod
    def make(cls) -> Key:
        """A new key that is kept nowhere."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
            Ed25519PrivateKey,
        )

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Key:
        """The key of a file, which is made with mode 0600 where there is none.

        Raises OSError where the disk refuses, JournalError where the file holds no key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
            Ed25519PrivateKey,
        )

        try:
            text = path.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return cls._made_at(path)
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise JournalError(
                str(path),
                "is no key: must be 64 hex digits, the private half of an Ed25519 key.",
                "Restore it from a copy, or move it away to have a new one made.",
            )
        return cls(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text)))

    @classmethod
    def _made_at(cls, path: Path) -> Key:
        """Writes a new key beside its place and then into it, so that no cut leaves half a key."""
        key = cls.make()
        put_whole(path, key._private.private_bytes_raw().hex().encode() + b"\n", 0o600)
        return key

    def sign(self, seal: Seal) -> Seal:
        """The seal with its signature."""
        return msgspec.structs.replace(seal, signature=self.sign_bytes(seal.signed()))

    def sign_bytes(self, octets: bytes) -> str:
        """The signature of any bytes, in hex."""
        return self._private.sign(octets).hex()


@dataclass(slots=True)
class Chain:
    """The seals of one segment as it is written: where the last one was, and its digest."""

    unit: str
    boot: int
    boot_id: str
    segment: int
    previous: str
    count: int = 0
    digest: bytes = bytes(32)

    def next(
        self,
        key: Key,
        kind: Kind,
        stretch_digest: bytes,
        *,
        end: int,
        durable: int,
        log_time_ns: int,
        publish_time_ns: int,
    ) -> Seal:
        """The seal over a stretch that ends at `end`; changes nothing until it is `taken`."""
        digest = hashlib.sha256(self.digest + stretch_digest)
        return key.sign(
            Seal(
                format=record.FORMAT,
                kind=kind,
                unit=self.unit,
                boot=self.boot,
                boot_id=self.boot_id,
                segment=self.segment,
                count=self.count + 1,
                end=end,
                durable=durable,
                digest=digest.hexdigest(),
                previous=self.previous,
                log_time_ns=str(log_time_ns),
                publish_time_ns=str(publish_time_ns),
                public_key=key.public,
            )
        )

    def taken(self, seal: Seal) -> None:
        """Goes on from a seal that stands in the file."""
        self.count = seal.count
        self.digest = bytes.fromhex(seal.digest)


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


_PROVEN = (Verdict.WHOLE, Verdict.POWER_CUT)


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


def parse(text: bytes) -> Seal | None:
    """A seal from its message; None unless the bytes are exactly what the seal writes."""
    try:
        seal = _DECODER.decode(text)
        is_same = _encode(seal) == text
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError, RecursionError):
        return None
    are_times = all(_TIME.fullmatch(one) for one in (seal.log_time_ns, seal.publish_time_ns))
    if seal.previous and not _DIGEST.fullmatch(seal.previous):
        return None
    hexes = (seal.digest, 64), (seal.public_key, 64), (seal.signature, 128)
    are_hex = all(re.fullmatch(f"[0-9a-f]{{{size}}}", digits) for digits, size in hexes)
    return seal if is_same and are_hex and are_times else None


def is_signed(seal: Seal, public_key: str) -> bool:
    """Whether the seal was signed with this key."""
    if seal.public_key != public_key:
        return False
    return is_signature(seal.signature, seal.signed(), public_key)


def is_signature(signature: str, octets: bytes, public_key: str) -> bool:
    """Whether the signature, in hex, is this key's under these bytes; never raises."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # lazy, see above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
        Ed25519PublicKey,
    )

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), octets)
    except (InvalidSignature, ValueError):
        return False
    return True


def check_segment(
    name: str, content: bytes, public_key: str | None = None, others: Collection[str] = ()
) -> SegmentReport:
    """What the seals of one segment prove; never raises on any bytes.

    Without a key the one in the first seal is trusted: that proves only that one key made all.
    `others` are keys that the given one vouches for.
    """
    quick = _check_scan(name, content, segment.scan(content, is_trusting=True), public_key, others)
    if quick.seal is not None and quick.seal.kind in LAST_KINDS and quick.verdict in _PROVEN:
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


def later_seals(rest: bytes, public_key: str) -> list[Seal]:
    """The good seals in bytes that can't be read as records; any key's where none is given."""
    texts = re.findall(rb'\{"format":\d+,"kind":"[^{}]*","signature":"[0-9a-f]{128}"\}', rest)
    found = [seal for seal in map(parse, texts) if seal is not None]
    return [seal for seal in found if is_signed(seal, public_key or seal.public_key)]


def _records_before(content: bytes, found: Scan, offset: int) -> int:
    """How many records stand before an offset of a chunk."""
    if found.chunks and found.chunks[-1].start == offset:
        return found.ending.records
    apart = (SEAL_ID, segment.TOPIC_IDS[record.POSITION])
    spans = [span for span in found.chunks if span.start < offset]
    messages = (message for span in spans for message in segment.unpacked(span.content(content)))
    return sum(message.topic_id not in apart for message in messages)


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
            before, unread = _Before(place, one.seal.unit, one.seal.digest), None
        elif told is not None and told.end_of(place):
            before, unread = _Before(place, "", told.end_of(place)), None
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
    if unread is not None:
        what = f"the segment before it, {unread.path.name}, tells no end to hold it against"
        return one.worse(Verdict.WHOLE, what)
    if before is None:
        return one.worse(Verdict.INCOMPLETE, "the segments before it are missing")
    if before.unit and before.unit != seal.unit:
        return one.worse(Verdict.TAMPERED, f"was sealed by another unit, {seal.unit}")
    if before.place.is_followed_by(place):
        return one.worse(Verdict.TAMPERED, "was not sealed after the segment before it")
    return one.worse(Verdict.INCOMPLETE, "a segment before it is missing")
