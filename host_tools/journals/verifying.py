"""What the seals of journals prove, by which key, and how that is said."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from firmware.errors import JournalError
from firmware.files import KEY_BYTES, whole
from firmware.journal import stored, succession
from firmware.journal.dating import STEP_NS
from firmware.journal.folder import Place, segment_name
from firmware.journal.proof import GOOD, RANK, Reason, SegmentReport, Verdict
from firmware.journal.record import FORMAT
from firmware.journal.seal import Key, fingerprint
from firmware.journal.stored import Identity
from firmware.journal.succession import Report
from host_tools.journals.archive import UNIT_JSON, UnitFile
from host_tools.journals.holding import Holding, as_downloaded, beside, hold, keys_words
from host_tools.journals.paths import Source, first_seal
from host_tools.journals.redated import Redated, redated
from host_tools.replay.replaying import iso

_UNDATED_NS = 365 * 86400 * 10**9
"""A segment without any date lies in the first days of 1970: seconds since boot, no date."""

_SPKI_ED25519 = bytes.fromhex("302a300506032b6570032100")  # RFC 8410, section 4
_SEAL_FORMAT = re.compile(rb'\{"format":(\d+),"kind":"')
_HEAD_BYTES = 256 * 1024


class Trust(StrEnum):
    """Why a key is trusted."""

    GIVEN = "given"
    ARCHIVE = "archive"
    JOURNAL = "journal"


@dataclass(frozen=True, slots=True)
class Proof:
    """What the seals of one journal prove, and whose word its key is.

    `redated` dates by name the segments that begin before the date was known, of those that hold.
    `keys` are those that the ledger tells of, the first one first; none without a ledger.
    """

    where: Path
    report: Report
    trust: Trust
    notes: tuple[str, ...] = ()
    redated: dict[str, Redated] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    @property
    def key_print(self) -> str:
        """The fingerprint of the key that was trusted; empty where there was none."""
        return fingerprint(self.report.public_key) if self.report.public_key else ""


@dataclass(frozen=True, slots=True)
class GivenKey:
    """A key that a person gave: the public key, or the one that belongs to a private key."""

    path: Path
    public: str
    of_private: str = ""

    def for_journal(self, source: Source) -> tuple[str, tuple[str, ...]]:
        """The public key to check with, and what is to be said about the file.

        A unit's private key file has the same 64 hex digits as a public one: where its public half
        is the one that sealed, that is the one meant.
        """
        firsts = (first_seal(place.path) for place in source.places)
        sealed_by = next((one.public_key for one in firsts if one is not None), "")
        if self.of_private and sealed_by == self.of_private:
            note = f"{self.path} holds the unit's private key: keep it to yourself."
            return self.of_private, (f"{note} Its public half was used.",)
        return self.public, ()


def load_key(path: Path) -> GivenKey:
    """A public key from a file: 64 hex digits, PEM, or a unit.json; raises JournalError."""
    wanted = "must be an Ed25519 public key: 64 hex digits, PEM, or an archive's unit.json."
    try:
        text = whole(path, "a public key", KEY_BYTES, JournalError).decode().strip()
    except OSError as fault:
        raise JournalError(str(path), f"can't be read: {fault.strerror}: {wanted}") from fault
    except UnicodeDecodeError as fault:
        raise JournalError(str(path), f"is no text: {wanted}") from fault
    if re.fullmatch("[0-9a-fA-F]{64}", text):
        # Key.load makes a key where there is no file, and there is one here.
        is_plain = text == text.lower()
        return GivenKey(path, text.lower(), Key.load(path).public if is_plain else "")
    body = re.fullmatch(
        "-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\\s]+)-----END PUBLIC KEY-----", text
    )
    if body is not None:
        try:
            octets = base64.b64decode("".join(body[1].split()), validate=True)
        except binascii.Error:
            octets = b""
        if octets.startswith(_SPKI_ED25519) and len(octets) == len(_SPKI_ED25519) + 32:
            return GivenKey(path, octets[len(_SPKI_ED25519) :].hex())
    if text.startswith("{"):
        known = _unit_file(path)
        if re.fullmatch("[0-9a-f]{64}", known.public_key):
            return GivenKey(path, known.public_key)
    raise JournalError(str(path), f"is no key: {wanted}")


def verify(
    source: Source,
    given: GivenKey | None = None,
    places: Iterable[Place] | None = None,
    identity: Identity | None = None,
) -> Proof:
    """What the seals of a journal prove, and its ledger. `places` are its own, through something
    that counts them; `identity` opens encrypted segments.

    Without a given key the one first seen in the archive is trusted, else the journal's own.
    """
    known = UnitFile("")
    at = source.where / UNIT_JSON
    if at.is_file():
        known = _unit_file(at)
    notes: tuple[str, ...] = ()
    if given is not None:
        key, notes = given.for_journal(source)
        trust = Trust.GIVEN
    elif known.public_key:
        key, trust = known.public_key, Trust.ARCHIVE
    else:
        key, trust = "", Trust.JOURNAL
    newer: dict[Path, SegmentReport] = {}
    wanted = source.places if places is None else places
    held = _held(source, key)
    key = key or (held.ledger.keys[0] if held is not None and held.ledger.keys else "")
    report = succession.check_places(
        _readable(wanted, newer, identity),
        key or None,
        told=held,
        identity=identity,
        is_all=source.is_all,
    )
    segments = _in_order(source, report.segments, newer)
    if source.is_all:
        segments += _not_here(source, known)
    segments = _in_two_forms(source, segments, held)
    if held is not None:
        segments = _by_ledger(source, segments, held)
        notes += _ledger_notes(held)
    elif source.is_all:
        segments = [_without_ledger(one) for one in segments]
    if source.is_all and known.ledger is not None:
        segments += as_downloaded(source.where, known.ledger.bytes, known.ledger.sha256)
    segments = [_as_seen(source, one, known) for one in segments]
    if known.unit and report.unit and known.unit != report.unit:
        what = f"is of unit {report.unit}: this part of the archive is of {known.unit}"
        segments[0] = segments[0].worse(Verdict.TAMPERED, what)
    verdict = max((one.verdict for one in segments), key=RANK.index)
    hold = {one.name for one in segments if one.verdict in GOOD}
    return Proof(
        source.where,
        replace(report, verdict=verdict, segments=tuple(segments)),
        trust,
        notes,
        redated(
            (
                place
                for place in source.places
                if _name(place) in hold
                and (identity is not None or stored.form_of(place.path) != stored.LOCKED)
            ),
            identity,
        ),
        () if held is None else tuple(held.ledger.keys),
    )


def worst(proofs: Iterable[Proof]) -> Verdict:
    """The worst verdict of several journals."""
    return max((one.report.verdict for one in proofs), key=RANK.index)


def newer_format(path: Path, identity: Identity | None = None) -> int | None:
    """The journal format of a segment that is newer than what this version reads; else None.

    Every seal must say so: where a single one does, somebody changed it.
    """
    try:
        first = _SEAL_FORMAT.search(stored.read_head(path, _HEAD_BYTES, identity))
        if first is None or int(first[1]) <= FORMAT:
            return None
        content = stored.read(path, identity)
    except (OSError, JournalError):
        return None
    least = min(int(one) for one in _SEAL_FORMAT.findall(content))
    return least if least > FORMAT else None


_TENTH_NS = 100_000_000


def date_of(log_time_ns: int) -> datetime | None:
    """A record's date; None where it was kept before any date was known.

    One that is kept down to a step is told to a tenth of a second.
    """
    if log_time_ns < _UNDATED_NS:
        return None
    if log_time_ns % STEP_NS == 0:
        log_time_ns = round((log_time_ns + STEP_NS // 2) / _TENTH_NS) * _TENTH_NS
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=log_time_ns // 1000)


def proof_object(proof: Proof) -> dict[str, Any]:
    """The contract's keys; what has no value has no key."""
    report = proof.report
    one: dict[str, Any] = {"verdict": str(report.verdict)}
    if report.unit:
        one["unit"] = report.unit
    if report.public_key:
        one["key"] = {"fingerprint": proof.key_print, "trusted": str(proof.trust)}
        if len(proof.keys) > 1:
            one["key"]["all"] = [fingerprint(key) for key in proof.keys]
    one["segments"] = [
        _segment_object(segment, proof.redated.get(segment.name)) for segment in report.segments
    ]
    one["reasons"] = [
        {"segment": why.segment, "offset": why.offset, "what": why.what} for why in report.reasons
    ]
    return one


def key_words(proof: Proof) -> str:
    """Which key was trusted and what that proves."""
    made = "one key made all of it"
    if len(proof.keys) > 1:
        made = f"{len(proof.keys)} keys made it, each vouched for by the one before"
    said = {
        Trust.GIVEN: "the one that you gave.",
        Trust.ARCHIVE: "the one first seen for this unit in the archive.",
        Trust.JOURNAL: f"the journal's own: {made}, but nothing here says whose.",
    }
    return f"Key {proof.key_print}, {said[proof.trust]}" if proof.key_print else "No key was found."


def sentence(proof: Proof) -> str:
    """What the verdict means, in one sentence."""
    report = proof.report
    unit = report.unit or "an unknown unit"
    number = len(report.segments)
    what = f"{number} segment{'s' * (number != 1)} of {unit}"
    records = sum(one.records for one in report.segments)
    match report.verdict:
        case Verdict.WHOLE:
            return f"{what}, {records:,} records: nothing was changed, nothing is missing."
        case Verdict.POWER_CUT:
            return (
                f"{what}, {records:,} records under a seal: nothing of them was changed. "
                "It ends as a power cut ends a journal."
            )
        case Verdict.INCOMPLETE:
            return f"{what}: nothing that is here was changed, but a part of it is missing."
        case Verdict.TAMPERED:
            return f"{what}: this is not what the unit sealed. Something was changed after it."
        case Verdict.UNREADABLE:
            return f"{what}: not all of it can be read, so nothing can be said of that."


def redated_words(proof: Proof) -> str:
    """What was dated afterwards and by what; empty where nothing was."""
    if not proof.redated:
        return ""
    number = len(proof.redated)
    what = "a segment" if number == 1 else f"{number} segments"
    error_s = max(one.error_s for one in proof.redated.values())
    return (
        f"~ Dated afterwards: {what} began before the date was known, or by the battery clock. The "
        f"unit's own later anchor dates them, to {error_s:.1f} s. The records stay as they are."
    )


def _readable(
    places: Iterable[Place], newer: dict[Path, SegmentReport], identity: Identity | None
) -> Iterator[Place]:
    """The places that this version can check; the newer ones are put aside with the reason."""
    for place in places:
        version = newer_format(place.path, identity)
        if version is None:
            yield place
            continue
        name = _name(place)
        what = f"is of journal format {version}: this sledwarden reads format {FORMAT}; update it"
        newer[place.path] = SegmentReport(
            name, Verdict.UNREADABLE, 0, 0, 0, (Reason(name, 0, what),)
        )


def _in_order(
    source: Source, checked: Iterable[SegmentReport], newer: dict[Path, SegmentReport]
) -> list[SegmentReport]:
    rest = iter(checked)
    return [newer[one.path] if one.path in newer else next(rest) for one in source.places]


def _held(source: Source, key: str) -> Holding | None:
    """The ledger beside the segments; None where there is none that can be read."""
    try:
        return hold(source.where, key) if source.where.is_dir() else None
    except OSError:
        return None


def _in_two_forms(
    source: Source, segments: list[SegmentReport], held: Holding | None
) -> list[SegmentReport]:
    """The segments, held against another form that stands beside one of them."""
    by_name = {_name(place): place for place in source.places}
    faults = [
        beside(place, held) if (place := by_name.get(one.name)) is not None else ""
        for one in segments
    ]
    return [
        one.worse(Verdict.TAMPERED, fault) if fault else one
        for one, fault in zip(segments, faults, strict=True)
    ]


def _without_ledger(one: SegmentReport) -> SegmentReport:
    """A segment in a folder without a ledger: one that is stored must have a line."""
    if stored.form_of(Path(one.name)) == stored.RAW:
        return one
    what = "is stored, and the ledger that must tell of it is not here"
    return one.worse(Verdict.INCOMPLETE, what)


def _by_ledger(source: Source, segments: list[SegmentReport], held: Holding) -> list[SegmentReport]:
    """The segments with what the ledger misses of them, and what it has more than they are."""
    if source.is_all:
        by_name = {_name(place): place for place in source.places}
        untold = ((one, by_name.get(one.name)) for one in segments)
        segments = [
            one.worse(Verdict.INCOMPLETE, held.untold(place))
            if place is not None and held.untold(place)
            else one
            for one, place in untold
        ]
        named = {segment_name(one.name) for one in segments}
        segments += [
            one for one in held.missing(source.places) if segment_name(one.name) not in named
        ]
    return segments + held.of_ledger()


def _ledger_notes(held: Holding) -> tuple[str, ...]:
    told = held.ledger
    graves = len(told.tombstones())
    said = f"The ledger has {told.count} line{'s' * (told.count != 1)}"
    said += f", and tells of {graves} deleted segment{'s' * (graves != 1)}." if graves else "."
    keys = keys_words(told)
    return (said, f"The unit's key was replaced: {keys}.") if keys else (said,)


def _not_here(source: Source, known: UnitFile) -> list[SegmentReport]:
    """The segments that were downloaded once and are gone from the archive."""
    here = {place.sealed_name for place in source.places}
    what = "was downloaded before, and is not here"
    return [
        SegmentReport(name, Verdict.INCOMPLETE, 0, 0, 0, (Reason(name, 0, what),))
        for name in sorted(known.segments)
        if segment_name(name) not in here
    ]


def _as_seen(source: Source, one: SegmentReport, known: UnitFile) -> SegmentReport:
    """A segment held against what the archive saw of it: what was there then must be there now."""
    seen = known.segments.get(one.name)
    path = next((place.path for place in source.places if _name(place) == one.name), None)
    if seen is None or path is None or not seen.sha256 or one.verdict not in GOOD:
        return one
    with path.open("rb") as file:
        digest = hashlib.sha256()
        left = seen.bytes
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            digest.update(piece)
            left -= len(piece)
    if left or digest.hexdigest() != seen.sha256:
        return one.worse(Verdict.TAMPERED, "is not what was downloaded")
    return one


def _name(place: Place) -> str:
    """As the journal's own check names it."""
    return place.name


def _segment_object(one: SegmentReport, later: Redated | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": one.name,
        "verdict": str(one.verdict),
        "records": one.records,
    }
    for key, log_time_ns in (("from", one.from_ns), ("to", one.to_ns)):
        utc = date_of(log_time_ns)
        if utc is not None:
            told[key] = iso(utc)
    if later is not None:
        told["redated"] = {
            "from": iso(later.begin),
            "to": iso(later.end),
            "source": later.source,
            "error_s": round(later.error_s, 3),
        }
    return told


def _unit_file(path: Path) -> UnitFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=UnitFile)
    except OSError as fault:
        raise JournalError(str(path), f"can't be read: {fault.strerror}.") from fault
    except (ValueError, RecursionError) as fault:
        raise JournalError(
            str(path),
            f"is no unit.json: {fault}.",
            "Name the unit's boots instead of the archive to verify them by their own key.",
        ) from fault
