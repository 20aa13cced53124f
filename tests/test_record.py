"""The journal's records: each type there and back, exactly, and what is refused."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import MISSING, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.findings import (
    Alert,
    Anchor,
    Event,
    Finding,
    HapticCue,
    LightCue,
    Margin,
    Notice,
    Pull,
    Standing,
    ToneCue,
    Unwatched,
    Verdict,
)
from firmware.journal.record import (
    TOPICS,
    Again,
    Close,
    Finished,
    Gap,
    Heard,
    Note,
    Record,
    RecordError,
    Start,
    decode,
    encode,
    position,
    schema,
    schema_name,
    topic_of,
)
from firmware.readings import (
    VALUE_TYPES,
    Channel,
    Disk,
    Engine,
    Feature,
    Fix,
    Light,
    Missing,
    Press,
    Reading,
    Receiver,
    Request,
    RtcTime,
    Supply,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)

UTC_NOW = datetime(2026, 1, 17, 23, 59, 59, 123456, tzinfo=UTC)
FIX = Fix(45.123456789, -90.2, 3.1, 24.6, 0.22, 359.9, UTC_NOW, 2, True)
RING = ((-90.0, 45.0), (-90.0, 45.1), (-90.1, 45.1), (-90.0, 45.0))
VALUES: dict[Channel, Value] = {
    Channel.FIX: FIX,
    Channel.RECEIVER: Receiver(10.0, 9, 0.8, 12, 3, "a note"),
    Channel.LIGHT_HEAD: Light(850.5, 12.0),
    Channel.LIGHT_TAIL: Light(50.25, 1.0, 0.71),
    Channel.LIGHT_AMBIENT: Light(0.0, 0.1),
    Channel.SUPPLY_HEAD: Supply(True, 13.75),
    Channel.SUPPLY_TAIL: Supply(False, 1.8, is_open=True),
    Channel.TETHER: Tether(TetherState.OUT, 4),
    Channel.ENGINE: Engine(True),
    Channel.BUTTON: Press("hold"),
    Channel.RTC: RtcTime(UTC_NOW, 2.0),
    Channel.SURROUNDINGS: Surroundings(
        45.0,
        -90.0,
        2000.0,
        (
            Feature("dwelling", "w/1", 'say "null",x', "polygon", (RING, RING)),
            Feature("person", "p", "", "point", (((-90.0, 45.0),),)),
        ),
        ("lake.gpkg",),
    ),
    Channel.REQUEST: Request("mode", "race on", "button"),
    Channel.JOURNAL: Disk(1234.5, 2),
}
RECORDS: list[Record] = [
    *(Reading(channel, value, 10.125, "a@b", 2.5) for channel, value in VALUES.items()),
    *(Reading(channel, Missing(Why.STALE, "why"), 1.0, "a@b") for channel in VALUES),
    Finding("350.10(1)(gm)", Verdict.VIOLATION, "57 mph at night", 57.1, 55.0, "mph", 0.5, "speed"),
    Finding("350.09(2)(b)", Verdict.UNKNOWN, 'the "null" case,"limit":null'),
    Alert(
        "overspeed", "raised", "350.10(1)(gm)", "TOO FAST\n55 NIGHT", LightCue.RED_FLASH,
        HapticCue.PULSES, ToneCue.ALARM, "57 mph where 55 is the limit",
    ),
    Event("350.10(1)(gm)", Verdict.VIOLATION, 3.5, 61.2, 55.0, "mph", True, 12.75),
    Event("350.10(1)(gm)", Verdict.UNSURE, 3.5, None, None, "mph", False),
    Start(
        "sled-7", "0.1.0", "snowmobile", ("wi",), {"a.gpkg": "ab" * 32}, 20.0, "n", 7, "c" * 32, 2,
        "1234-5678", "d" * 64, {"wi.toml": "e" * 64},
    ),
    Gap(12, "disk full", 1.5, 9.25),
    Finished(1000, 24, 500, 42, 8, "a record is cut", "f" * 64),
    Close("stopped", 99, 1),
    Anchor("gps", 12.5, UTC_NOW, 0.5, 20.0, -3600.25, "a" * 32),
    Anchor("none", 0.0),
    Pull(12.5, True, 14.75, 20.5, 8.0, 61.25, "stopped"),
    Pull(12.5),
    Notice("350.101(1)(b)", "ALCOHOL: STAY\nUNDER 0.08", "shown", 6.0),
    Notice("350.101(1)(b)", "ALCOHOL: STAY\nUNDER 0.08", "skipped"),
    Standing(
        "350.10(1)(gm)", Margin.NEAR, "dark", "lit", "out", "in", "running", "good", "gps", 55.0,
        (Unwatched("350.10(1)(g)", "no zone data here"), Unwatched("350.09(9)", "none", False)),
    ),
    Note("configuration", "config.toml changed", "daemon", {"sha256": "ab" * 32}),
    Heard("/dev/ttyS0", 9.75, "$GPRMC,\r\n\x00\xff"),
    Again((Channel.LIGHT_HEAD, Channel.TETHER), (12.034, 11.9)),
    Standing("", Margin.FREE, "day", "not needed", "unknown", "in", "off", "none", "none"),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: topic_of(one).strip("/"))
def test_each_record_comes_back_as_the_very_same(record: Record) -> None:
    message = encode(record, 12.0625)
    assert decode(topic_of(record), message) == (12.0625, record)
    assert message.startswith(b'{"at_s":12.0625,')
    assert encode(decode(topic_of(record), message)[1], 12.0625) == message


def test_every_channel_and_every_topic_is_tried_here() -> None:
    assert set(VALUES) == set(VALUE_TYPES) == set(Channel)
    assert {topic_of(record) for record in RECORDS} | {"/seal", "/position"} == set(TOPICS)


def _bits(number: float) -> bytes:
    return struct.pack("<d", number)


@settings(max_examples=300, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
def test_numbers_come_back_to_the_bit(one: float, two: float, three: float | None) -> None:
    fix = Fix(one, two, one, two, one, three)
    at_s, back = decode("/reading/fix", encode(Reading(Channel.FIX, fix, two, "gps", three), one))
    assert isinstance(back, Reading)
    assert isinstance(back.value, Fix)
    assert _bits(at_s) == _bits(one)
    assert _bits(back.value.lat_deg) == _bits(one)
    assert _bits(back.mono_s) == _bits(two)
    assert back.value.track_deg == three
    assert back.fresh_s == three


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_text_and_any_date_come_back(one: str, two: str, utc: datetime) -> None:
    for record in (
        Finding(one, Verdict.UNSURE, two, unit=one),
        Reading(Channel.RTC, RtcTime(utc, 1.0), 1.0, two),
        Reading(Channel.REQUEST, Request(one, two), 1.0, one),
        Gap(1, one, 0.0, 0.0),
    ):
        try:
            message = encode(record, 1.0)
        except UnicodeEncodeError:  # hypothesis makes halves of surrogate pairs
            continue
        assert decode(topic_of(record), message)[1] == record


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("record", "where"),
    [
        (Reading(Channel.FIX, FIX, 1.0, "gps"), "value.lat_deg"),
        (Reading(Channel.FIX, FIX, 1.0, "gps"), "value.track_deg"),
        (Reading(Channel.FIX, FIX, 1.0, "gps"), "fresh_s"),
        (Finding("c", Verdict.COMPLIANT, "w"), "limit"),
    ],
)
def test_a_number_that_is_not_finite_is_refused(bad: float, record: Record, where: str) -> None:
    if where.startswith("value."):
        assert isinstance(record, Reading)
        record = replace(record, value=replace(FIX, **{where.removeprefix("value."): bad}))
    else:
        record = replace(record, **{where: bad})
    with pytest.raises(RecordError) as fault:
        encode(record, 1.0)
    assert str(fault.value) == f"{type(record).__name__}.{where} = {bad}: must be finite"


def test_a_corner_of_a_shape_that_is_not_finite_is_refused() -> None:
    feature = Feature("dwelling", "1", "", "point", (((math.nan, 45.0),),))
    around = Surroundings(45.0, -90.0, 2000.0, (feature,))
    with pytest.raises(RecordError, match="must be finite"):
        encode(Reading(Channel.SURROUNDINGS, around, 1.0, "zones"), 1.0)


def test_a_value_of_another_channel_is_refused() -> None:
    with pytest.raises(RecordError) as fault:
        encode(Reading(Channel.TETHER, Light(1.0, 1.0), 1.0, "x"), 1.0)
    assert str(fault.value) == "tether: the value is a Light: must be a Tether"


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("/reading/fix", b""),
        ("/reading/fix", b"{}"),
        ("/reading/fix", b'{"at_s":1,"channel":"tether","mono_s":1,"source":"x","value":{}}'),
        ("/reading/fix", b'{"at_s":1,"channel":"fix","mono_s":1,"source":"x"}'),
        ("/reading/fix", b'{"at_s":1,"channel":"fix","mono_s":1,"source":"x","value":{"a":1}}'),
        ("/finding", b'{"at_s":1,"clause":"x","verdict":"perhaps","why":""}'),
        ("/finding", b"\xff\xfe"),
        ("/nonsense", b'{"at_s":1}'),
    ],
)
def test_bytes_that_are_no_record_are_refused_in_words(topic: str, message: bytes) -> None:
    with pytest.raises(RecordError):
        decode(topic, message)


def test_a_key_that_a_later_version_adds_is_passed_over() -> None:
    message = b'{"at_s":1.5,"lost":3,"why":"x","from_s":1.0,"to_s":2.0,"colour":"red"}'
    assert decode("/journal/gap", message) == (1.5, Gap(3, "x", 1.0, 2.0))


def test_an_absent_value_has_no_key() -> None:
    reading = Reading(Channel.FIX, replace(FIX, track_deg=None, utc=None), 1.0, "gps")
    message = json.loads(encode(reading, 1.0))
    assert "fresh_s" not in message
    assert not {"track_deg", "utc"} & set(message["value"])


def test_a_date_of_another_zone_is_the_same_instant() -> None:
    there = UTC_NOW.astimezone(timezone(timedelta(hours=-6)))
    message = encode(Reading(Channel.RTC, RtcTime(there, 1.0), 1.0, "rtc"), 1.0)
    _, back = decode("/reading/rtc", message)
    assert isinstance(back, Reading)
    assert isinstance(back.value, RtcTime)
    assert back.value.utc == UTC_NOW


def test_each_schema_describes_what_is_written() -> None:
    """A small reading of JSON Schema, as much of it as ours use."""
    names = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}

    def fits(part: object, wanted: dict[str, object]) -> bool:
        kind = wanted["type"]
        if kind == "number":
            return isinstance(part, int | float)
        if not isinstance(part, names[str(kind)]):
            return False
        if isinstance(part, dict):
            known = wanted.get("properties", {})
            assert isinstance(known, dict)
            assert set(wanted.get("required", [])) <= set(part)  # type: ignore[call-overload]
            return all(key not in known or fits(one, known[key]) for key, one in part.items()) and (
                not known or set(part) <= set(known)
            )
        return "enum" not in wanted or part in wanted["enum"]  # type: ignore[operator]

    for record in RECORDS:
        topic = topic_of(record)
        assert fits(json.loads(encode(record, 1.0)), schema(topic)), topic
    assert fits(json.loads(position(FIX, 0)), schema("/position"))


def test_schemas_have_no_references_and_names_of_their_own() -> None:
    for topic in TOPICS:
        text = json.dumps(schema(topic))
        assert "$ref" not in text
        assert "anyOf" not in text
        assert schema(topic)["type"] == "object"
    assert len({schema_name(topic) for topic in TOPICS}) == len(TOPICS)
    assert schema_name("/position") == "foxglove.LocationFix"


def test_a_position_is_a_foxglove_location_fix() -> None:
    whole = json.loads(position(FIX, 5))
    assert whole["timestamp"] == {"sec": 1768694399, "nsec": 123456000}
    assert (whole["latitude"], whole["longitude"]) == (FIX.lat_deg, FIX.lon_deg)
    assert whole["position_covariance"][0] == FIX.error_m**2
    undated = json.loads(position(replace(FIX, utc=None), 1_500_000_000))
    assert undated["timestamp"] == {"sec": 1, "nsec": 500_000_000}


def test_only_the_event_has_values_that_must_be_given_and_may_be_none() -> None:
    kinds = {type(record) for record in RECORDS} | set(VALUE_TYPES.values()) | {Feature, Missing}
    found = {
        (kind.__name__, one.name)
        for kind in kinds
        for one in fields(kind)
        if one.default is MISSING and one.default_factory is MISSING and "None" in str(one.type)
    }
    assert found == {("Event", "peak"), ("Event", "limit")}


def test_the_document_names_every_topic_its_schema_and_its_keys_in_their_order() -> None:
    text = (Path(__file__).parents[1] / "docs" / "journal.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `/")]
    told = [(row[0].strip("| `"), row[1].strip("`")) for row in rows]
    assert told == [(topic, schema_name(topic)) for topic in TOPICS]
    same = {
        "/reading/light.tail", "/reading/light.ambient", "/reading/supply.tail", "/seal",
        "/position",
    }  # fmt: skip
    for row, topic in zip(rows, TOPICS, strict=True):
        properties = schema(topic)["properties"]
        if topic.startswith("/reading/"):
            properties = properties["value"]["properties"]
        keys = [key for key in properties if key != "at_s"]
        assert topic in same or [one for one in keys if f"`{one}`" not in row[2]] == [], topic
    for key in schema("/seal")["properties"]:
        assert f"`{key}`" in text
