"""The journal's records: what each looks like as JSON, and back to the very same dataclass.

One topic carries one type of record, so that a plot of a topic in any MCAP tool is a plot of one
thing: `/reading/fix`, `/reading/light.head`, `/finding`, `/alert`. Every message begins with
`at_s`, the monotonic instant at which the unit judged it; a key is absent where there is no value,
and in a reading where the value is the usual one. Numbers read back to the same float, so a replay
is identical: those of a fix and the instants have as many decimals as they are judged to, so that
records are of one length, for that compresses best; the others the shortest form. A number that is
not finite is refused: JSON has no word for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import msgspec

from firmware.findings import (
    Alert,
    Anchor,
    Event,
    Finding,
    Notice,
    Pull,
    Standing,
    Unwatched,
    Verdict,
)
from firmware.journal import around
from firmware.journal.texts import instant, value_text
from firmware.readings import VALUE_TYPES, Channel, Feature, Fix, Missing, Reading, Surroundings

FORMAT = 1
"""The version of the journal's layout, named in every start record and every seal."""

REVISION = 1
"""What has changed within that layout; named in every start record. 0 wrote each key of a reading,
and its times to the nanosecond."""

GOES_ON = "full, an hour old, or the date was set"
"""Why a segment is closed within a boot, which goes on in the next one."""

LAW_FOLDER = "law/"
CONFIG_TOML = "config.toml"
CONFIG_JSON = "config.json"
"""What a segment carries whole: its law packs, the configuration as it was given and as it is in
force."""

POSITION = "/position"
SEAL = "/seal"


@dataclass(frozen=True, slots=True)
class Start:
    """A segment begins: which unit wrote it, with what software, law and configuration.

    The daemon gives the fields up to `note`; the journal fills in the rest. `packs` holds the
    SHA-256 of each zone pack by its name, `attachments` that of each file attached to this
    segment. `previous` is the digest of the last seal of the segment before, empty in the first
    of a folder. `key` is the fingerprint of the key that seals. `consents` are the zones whose
    owner consents to the ride.
    """

    unit: str
    software: str
    vehicle: str = ""
    laws: tuple[str, ...] = ()
    packs: dict[str, str] = field(default_factory=dict)
    clock_speed: float = 1.0
    note: str = ""
    boot: int = 0
    boot_id: str = ""
    segment: int = 0
    key: str = ""
    previous: str = ""
    attachments: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT
    revision: int = 0
    consents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Records that were given to the journal and are not in it: how many, why, from and to."""

    lost: int
    why: str
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The unit found this segment torn at a later start, and closed it.

    `kept` bytes were whole; `dropped` bytes after them were not, and `dropped_sha256` names them.
    `unsealed` bytes of the kept ones had no seal until this one. `by_boot` is the boot that did
    it. `note` says what was seen.
    """

    kept: int
    dropped: int
    unsealed: int
    records: int
    by_boot: int
    note: str
    dropped_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Close:
    """A segment ends in good order, and why: the unit stopped, or the segment was full."""

    why: str
    records: int
    lost: int

    @property
    def is_last(self) -> bool:
        """Whether the boot ended with it, and did not go on in another segment."""
        return self.why != GOES_ON


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to the unit itself, in words: how the boot before ended, that the configuration
    or the key changed, who downloaded. `kind` is one word, `detail` what else there is to say."""

    kind: str
    what: str
    by: str = ""
    detail: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Heard:
    """Bytes as a receiver sent them, from the 20 s before and after an event.

    `octets` has one letter for each byte, the letter of that number (ISO 8859-1); `mono_s` is when
    the first of them came.
    """

    source: str
    mono_s: float
    octets: str


@dataclass(frozen=True, slots=True)
class Again:
    """Sensors that say what they said before: which, and when each was seen so.

    It stands for a reading of each, with the value, the source and the freshness of the last one
    of its channel in the same segment; the reader gives these (`recall.Recall`).
    """

    channels: tuple[Channel, ...]
    mono_s: tuple[float, ...]


Record = (
    Reading
    | Again
    | Finding
    | Alert
    | Event
    | Start
    | Gap
    | Finished
    | Close
    | Anchor
    | Pull
    | Notice
    | Standing
    | Note
    | Heard
)


class RecordError(ValueError):
    """A record that can't be written, or bytes that are no record: which, and why."""


class _At(msgspec.Struct):
    at_s: float


class _ReadingHead(msgspec.Struct):
    """A reading's own fields; the value is decoded by its channel. What was measured as it was
    judged has no `mono_s`; the channel, which the topic says, was written by revision 0."""

    at_s: float
    source: str
    mono_s: float | None = None
    channel: Channel | None = None
    fresh_s: float | None = None
    value: msgspec.Raw = msgspec.Raw()
    missing: Missing | None = None


class _EventHead(msgspec.Struct):
    """An event as it is written: its peak and its limit are absent where they are None."""

    clause: str
    verdict: Verdict
    start_s: float
    unit: str
    is_sure: bool
    peak: float | None = None
    limit: float | None = None
    end_s: float | None = None


_PLAIN: dict[str, type] = {
    "/finding": Finding,
    "/alert": Alert,
    "/event": Event,
    "/journal/start": Start,
    "/journal/gap": Gap,
    "/journal/finished": Finished,
    "/journal/close": Close,
    "/journal/anchor": Anchor,
    "/pull": Pull,
    "/notice": Notice,
    "/note": Note,
    "/heard": Heard,
    "/standing": Standing,
    "/again": Again,
}
_PLAIN_TOPICS = {kind: topic for topic, kind in _PLAIN.items()}
_READING_TOPICS = {channel: f"/reading/{channel}" for channel in Channel}
_CHANNELS = {topic: channel for channel, topic in _READING_TOPICS.items()}

_NEWER = (
    "/reading/supply.head",
    "/reading/supply.tail",
    "/journal/anchor",
    "/pull",
    "/standing",
    "/note",
    "/heard",
    "/notice",
    "/again",
)
"""Topics that came after the first ones: their ids follow, so that older journals read on."""

TOPICS: tuple[str, ...] = (
    SEAL,
    POSITION,
    *(topic for topic in (*_READING_TOPICS.values(), *_PLAIN) if topic not in _NEWER),
    *_NEWER,
)
"""Every topic, in the order of the channel and schema ids of a segment (the first has id 1)."""

_WRITTEN: dict[type, type] = {Surroundings: around.SurroundingsText}
"""How a value is written whose type says it in another way."""

_AT = msgspec.json.Decoder(_At)
_HEAD = msgspec.json.Decoder(_ReadingHead)
_EVENT = msgspec.json.Decoder(_EventHead)
_VALUES: dict[Channel, msgspec.json.Decoder[Any]] = {
    channel: msgspec.json.Decoder(_WRITTEN.get(kind, kind)) for channel, kind in VALUE_TYPES.items()
}
_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    topic: msgspec.json.Decoder(kind) for topic, kind in _PLAIN.items() if kind is not Event
}
_encode = msgspec.json.Encoder().encode

# Within a JSON string every quote has a backslash before it, so this can't match inside one.
_ABSENT = re.compile(rb',"\w+":null')


def topic_of(record: Record) -> str:
    """The topic of a record."""
    if type(record) is Reading:
        return _READING_TOPICS[record.channel]
    try:
        return _PLAIN_TOPICS[type(record)]
    except KeyError:
        raise RecordError(f"{type(record).__name__}: is not a journal record") from None


def encode(record: Record, at_s: float, before: Sequence[Feature] = ()) -> bytes:
    """The record as compact JSON that begins with its `at_s`; raises RecordError.

    A reading whose value is not of its channel's type is refused: it could not be read back.
    `before` is what the last surroundings in the same segment showed: of these only what is new
    is written.
    """
    if not math.isfinite(at_s):
        raise RecordError(f"at_s = {at_s}: must be finite")
    if type(record) is Reading:
        value = record.value
        if type(value) is Missing:
            word = b"missing"
        elif type(value) is VALUE_TYPES[record.channel]:
            word = b"value"
        else:
            wanted = VALUE_TYPES[record.channel].__name__
            raise RecordError(
                f"{record.channel}: the value is a {type(value).__name__}: must be a {wanted}"
            )
        own = b"" if record.mono_s == at_s else b'"mono_s":%b,' % instant(record.mono_s)
        message = b'{"at_s":%b,%b"source":%b,"fresh_s":%b,"%b":%b}' % (
            instant(at_s),
            own,
            _encode(record.source),
            _encode(record.fresh_s),
            word,
            value_text(value)
            if type(value) is not Surroundings
            else _encode(around.written(value, before)),
        )
    elif type(record) is Again:
        message = b'{"at_s":%b,"channels":%b,"mono_s":[%b]}' % (
            instant(at_s),
            _encode(record.channels),
            b",".join(map(instant, record.mono_s)),
        )
    else:
        message = b'{"at_s":%b,%b' % (instant(at_s), _encode(record)[1:])
    if b"null" in message:
        _refuse_unless_finite(record, type(record).__name__)
        message = _ABSENT.sub(b"", message)
    return message


def decode(topic: str, message: bytes, before: Sequence[Feature] = ()) -> tuple[float, Record]:
    """The instant and the record of a message of one of the topics that `encode` writes.

    `before` as for `encode`. Raises RecordError.
    """
    try:
        channel = _CHANNELS.get(topic)
        if channel is None:
            at_s = _AT.decode(message).at_s
            if topic == _PLAIN_TOPICS[Event]:
                return at_s, Event(**msgspec.structs.asdict(_EVENT.decode(message)))
            record: Record = _DECODERS[topic].decode(message)
            return at_s, record
        head = _HEAD.decode(message)
        if head.channel not in (channel, None):
            raise RecordError(f"{topic}: channel = {head.channel}: must be {channel}")
        value = head.missing if head.missing is not None else _VALUES[channel].decode(head.value)
        if type(value) is around.SurroundingsText:
            value = around.read(value, before)
        mono_s = head.at_s if head.mono_s is None else head.mono_s
        return head.at_s, Reading(channel, value, mono_s, head.source, head.fresh_s)
    except KeyError:
        raise RecordError(f"{topic}: is not a topic of the journal") from None
    except (ValueError, OverflowError, RecursionError) as fault:  # msgspec's own are ValueErrors
        raise RecordError(f"{topic}: {fault}") from fault


def position(fix: Fix, log_time_ns: int) -> bytes:
    """A fix as `foxglove.LocationFix`, which map panels draw without being told how.

    The time is the fix's own where it has one. Altitude is not kept: its variance says so.
    """
    at_ns = int(fix.utc.timestamp() * 1e6) * 1000 if fix.utc is not None else log_time_ns
    variance_m2 = fix.error_m * fix.error_m
    return _encode(
        {
            "timestamp": {"sec": at_ns // 10**9, "nsec": at_ns % 10**9},
            "frame_id": "gps",
            "latitude": fix.lat_deg,
            "longitude": fix.lon_deg,
            "altitude": 0.0,
            "position_covariance": [variance_m2, 0, 0, 0, variance_m2, 0, 0, 0, 1e6],
            "position_covariance_type": 1,  # approximated
        }
    )


def _refuse_unless_finite(part: object, where: str) -> None:
    """Raises RecordError for the first NaN or infinity, which JSON would turn into null."""
    if isinstance(part, float):
        if not math.isfinite(part):
            raise RecordError(f"{where} = {part}: must be finite")
    elif isinstance(part, tuple):
        for item in part:
            _refuse_unless_finite(item, where)
    elif type(part) in _FIELDS:
        for name in _FIELDS[type(part)]:
            value = getattr(part, name)
            if type(value) not in _WITHOUT_FLOATS:
                _refuse_unless_finite(value, f"{where}.{name}")


_WITHOUT_FLOATS = frozenset({str, int, bool, type(None), datetime, dict})
_FIELDS = {
    kind: tuple(one.name for one in fields(kind))
    for kind in (Reading, Feature, Unwatched, *set(VALUE_TYPES.values()), *_PLAIN.values())
}


def schema_name(topic: str) -> str:
    """The name of a topic's schema: Foxglove's for a position, ours for the rest."""
    if topic == POSITION:
        return "foxglove.LocationFix"
    if topic in _CHANNELS:
        return f"sledwarden.Reading.{_CHANNELS[topic]}"
    return "sledwarden." + ("Seal" if topic == SEAL else _PLAIN[topic].__name__)


def schema(topic: str) -> dict[str, Any]:
    """The JSON Schema of a topic, without references, as MCAP tools want it."""
    if topic == POSITION:
        return _POSITION_SCHEMA
    if topic == SEAL:
        return _SEAL_SCHEMA
    number = {"type": "number"}
    at_s = {"at_s": {"type": "number", "description": "monotonic seconds since boot, as judged"}}
    if topic not in _CHANNELS:
        kind = _PLAIN[topic]
        plain = _schema_of(kind) | {"title": schema_name(topic)}
        if kind is Event:
            written = _schema_of(_EventHead)
            plain["required"] = written["required"]
        plain["properties"] = at_s | plain["properties"]
        plain["required"] = ["at_s", *plain.get("required", [])]
        return plain
    channel = _CHANNELS[topic]
    return {
        "title": schema_name(topic),
        "description": "A reading: a value, or the reason why there is none.",
        "type": "object",
        "properties": at_s
        | {
            "mono_s": number | {"description": "when it was measured, where that is not at_s"},
            "source": {"type": "string"},
            "fresh_s": number | {"description": "for how long it may be judged"},
            "value": _schema_of(_WRITTEN.get(VALUE_TYPES[channel], VALUE_TYPES[channel])),
            "missing": _schema_of(Missing),
        },
        "required": ["at_s", "source"],
    }


def _schema_of(kind: type) -> dict[str, Any]:
    (root,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    whole = _inlined(root, parts)
    assert isinstance(whole, dict)
    return whole


def _inlined(part: Any, parts: dict[str, Any]) -> Any:
    """Puts each referred part in its place; a nullable one is just optional, as we write it."""
    if isinstance(part, list):
        return [_inlined(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(parts[part["$ref"]], parts)
    if "anyOf" in part:
        some = [_inlined(one, parts) for one in part["anyOf"] if one != {"type": "null"}]
        return some[0] if len(some) == 1 else {"anyOf": some}
    kept = {key: _inlined(one, parts) for key, one in part.items() if (key, one) != _NO_DEFAULT}
    return kept | _enum_type(kept)


_NO_DEFAULT = ("default", None)


def _enum_type(part: dict[str, Any]) -> dict[str, str]:
    """The type of an enumeration's words, which msgspec leaves out and some tools want."""
    if "enum" not in part:
        return {}
    return {"type": "string" if isinstance(part["enum"][0], str) else "integer"}


_POSITION_SCHEMA: dict[str, Any] = {
    "title": "foxglove.LocationFix",
    "type": "object",
    "properties": {
        "timestamp": {
            "type": "object",
            "title": "time",
            "properties": {
                "sec": {"type": "integer", "minimum": 0},
                "nsec": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
            },
        },
        "frame_id": {"type": "string"},
        "latitude": {"type": "number"},
        "longitude": {"type": "number"},
        "altitude": {"type": "number"},
        "position_covariance": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 9,
            "maxItems": 9,
        },
        "position_covariance_type": {"type": "integer"},
    },
}

_SEAL_SCHEMA: dict[str, Any] = {
    "title": "sledwarden.Seal",
    "description": "An Ed25519 signature over all bytes of the file before this seal's chunk.",
    "type": "object",
    "properties": {
        "format": {"type": "integer"},
        "kind": {"type": "string", "enum": ["start", "event", "time", "close", "finish"]},
        "unit": {"type": "string"},
        "boot": {"type": "integer"},
        "boot_id": {"type": "string"},
        "segment": {"type": "integer"},
        "count": {"type": "integer"},
        "bytes": {"type": "integer"},
        "durable": {"type": "integer"},
        "digest": {"type": "string"},
        "previous": {"type": "string"},
        "log_time_ns": {"type": "string"},
        "publish_time_ns": {"type": "string"},
        "public_key": {"type": "string"},
        "signature": {"type": "string"},
    },
}
