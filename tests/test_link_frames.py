"""SMP on the wire: what is whole is taken, what is torn, false or strange costs nothing."""

from __future__ import annotations

import struct

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from smp.error import MGMT_ERR
from smp.file_management import FileDownloadRequest
from smp.header import OP
from smp.os_management import EchoWriteRequest
from smp.packet import encode

from firmware.link import frames
from firmware.link.frames import (
    MAX_LINE_BYTES,
    MAX_MESSAGE_BYTES,
    FrameCutter,
    NoAnswer,
    Refusal,
    Refused,
    file_refusal,
    framed,
    parse,
    refuse,
)

ECHO = EchoWriteRequest(d="hello").BYTES
LONG = EchoWriteRequest(d="x" * 1000).BYTES


def lines_of(message: bytes) -> list[bytes]:
    return list(encode(message, line_length=128))


def message(
    body: bytes, *, op: int = 0, version: int = 1, group: int = 8, length: int = -1
) -> bytes:
    size = len(body) if length < 0 else length
    return struct.pack("!BBHHBB", op | version << 3, 0, size, group, 7, 0) + body


def refusal_of(octets: bytes) -> tuple[MGMT_ERR, str]:
    with pytest.raises(Refused) as told:
        parse(octets)
    return told.value.refusal.code, told.value.refusal.words


# The serial line.


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 4096])
def test_messages_come_out_whole_however_they_are_cut(size: int) -> None:
    stream = framed(ECHO) + framed(LONG) + framed(ECHO)
    cutter = FrameCutter()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [one for piece in pieces for one in cutter.cut(piece)] == [ECHO, LONG, ECHO]


def test_no_line_is_longer_than_smp_s_128() -> None:
    assert max(map(len, framed(LONG).splitlines(keepends=True))) <= 128


def test_a_console_s_words_before_a_frame_are_passed_over() -> None:
    cutter = FrameCutter()
    assert cutter.cut(b"login: " + framed(ECHO) + b"# \n" + framed(LONG)) == [ECHO, LONG]


def test_a_client_that_stops_in_mid_frame_is_forgotten_at_the_next_frame() -> None:
    cutter = FrameCutter()
    assert cutter.cut(b"".join(lines_of(LONG)[:3]) + b"\x04\x14AAAA") == []
    assert cutter.cut(b"\n" + framed(ECHO)) == [ECHO]


@pytest.mark.parametrize(
    "false",
    [
        lines_of(ECHO)[0].replace(b"A", b"B", 1),  # the length, in its first letter
        lines_of(ECHO)[0][:-3] + b"z=\n",  # the CRC
        b"\x06\x09\n",
        b"\x06\x09====\n",
        b"\x06\x09AAA\n",
        b"\x06\x09AAAA\n",  # no bytes, not even a CRC
        b"\x04\x14AAAA\n",  # goes on with what never began
        b"".join(lines_of(LONG)[:2] + lines_of(LONG)[3:]),  # a line is missing
        b"\x06\x09\xff\xfe\n",
        b"\n\n\n",
    ],
)
def test_a_false_frame_is_forgotten_and_the_next_one_taken(false: bytes) -> None:
    cutter = FrameCutter()
    assert cutter.cut(false) == []
    assert cutter.cut(framed(ECHO)) == [ECHO]


def test_a_line_without_an_end_is_not_kept() -> None:
    cutter = FrameCutter()
    for _ in range(100):
        assert cutter.cut(b"\x06\x09" + b"A" * MAX_LINE_BYTES) == []
    assert len(cutter._line) <= MAX_LINE_BYTES
    assert cutter.cut(b"\n" + framed(ECHO)) == [ECHO]


def test_a_frame_that_says_it_is_endless_is_not_kept() -> None:
    cutter = FrameCutter()
    begin = b"\x06\x09" + b"/////" + b"A" * 115 + b"\n"  # a length of 65,535
    assert cutter.cut(begin) == []
    for _ in range(50):
        assert cutter.cut(b"\x04\x14" + b"A" * 120 + b"\n") == []
    assert cutter._decoder is None
    assert cutter.cut(framed(ECHO)) == [ECHO]


@given(st.lists(st.binary(max_size=300) | st.sampled_from(lines_of(LONG)), max_size=20))
def test_no_bytes_break_the_line(pieces: list[bytes]) -> None:
    cutter = FrameCutter()
    for piece in pieces:
        cutter.cut(piece)
    cutter.cut(b"\n")
    assert cutter.cut(framed(ECHO)) == [ECHO]


# Messages.


def test_a_request_is_read() -> None:
    request = parse(FileDownloadRequest(off=5, name="/journal/index.json", sequence=9).BYTES)
    assert (request.op, request.version, request.group) == (OP.READ, 1, 8)
    assert (request.sequence, request.command) == (9, 0)
    assert request.body == {"off": 5, "name": "/journal/index.json"}


def test_a_request_without_a_body_is_an_empty_one() -> None:
    assert parse(message(b"")).body == {}


@pytest.mark.parametrize(
    "octets",
    [b"", b"\x00" * 7, message(b"\xa0", op=1), message(b"\xa0", op=3), message(b"\xa0", op=7)],
)
def test_what_is_no_request_is_not_answered(octets: bytes) -> None:
    with pytest.raises(NoAnswer):
        parse(octets)


@pytest.mark.parametrize("length", [0, 1, 4, 65535])
def test_a_false_length_is_refused(length: int) -> None:
    code, words = refusal_of(message(b"\xa1\x61a", length=length))
    assert (code, words) == (MGMT_ERR.EINVAL, f"says that {length} bytes follow, and 3 do.")


def test_a_version_to_come_is_refused() -> None:
    assert refusal_of(message(b"\xa0", version=2)) == (
        MGMT_ERR.UNSUPPORTED_TOO_NEW,
        "speaks SMP version 3: must be 1 or 2.",
    )


def test_a_request_that_is_too_long_is_refused() -> None:
    octets = message(cbor2.dumps({"d": "x" * MAX_MESSAGE_BYTES}))
    assert refusal_of(octets)[0] is MGMT_ERR.ENOMEM


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b"\xa1",
        b"\xa1\x61",
        b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",  # bytes that nobody could hold
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xbb\x00\x00\xff\xff\xff\xff\xff\xff",
        b"\x81" * 1900 + b"\x00",  # nested
        b"\xa1" * 900 + b"\x00",
        b"\xc1\xf9\x7e\x00",  # a date that is not a number
        b"\xc2\x58\xff",
        b"\xd8\x23\x61(",  # a pattern that is none
        b"\xd8\x1c\x81\xd8\x1d\x00",  # a list that holds itself
        b"\xd8\x1d\x05",
        b"\xa1\xa0\xa0",  # a map as a key
        b"\x61\xff",
    ],
)
def test_what_is_no_cbor_is_refused(body: bytes) -> None:
    code, words = refusal_of(message(body))
    assert code in (MGMT_ERR.EINVAL, MGMT_ERR.ENOMEM)
    assert words in ("is not CBOR.", "must be a CBOR map of names.")


@pytest.mark.parametrize("body", [b"\x80", b"\x01", b"\xf6", b"\xa1\x01\x02", b"\x63abc"])
def test_what_is_no_map_of_names_is_refused(body: bytes) -> None:
    assert refusal_of(message(body)) == (MGMT_ERR.EINVAL, "must be a CBOR map of names.")


@given(st.binary(max_size=200))
def test_no_body_breaks_it(body: bytes) -> None:
    try:
        parse(message(body))
    except Refused as refused:
        assert cbor2.loads(refuse(refused.request, refused.refusal)[8:])["rc"]


def test_a_refusal_has_words_or_its_group_s_code() -> None:
    request = parse(message(b"\xa0"))
    old = parse(message(b"\xa0", version=0))
    plain = Refusal(MGMT_ERR.ENOTSUP, "no.")
    own = file_refusal(3, "is not there.")  # type: ignore[arg-type]  # FILE_NOT_FOUND
    assert cbor2.loads(refuse(request, plain)[8:]) == {"rc": 8, "rsn": "no."}
    assert cbor2.loads(refuse(old, plain)[8:]) == {"rc": 8, "rsn": "no."}
    assert cbor2.loads(refuse(request, own)[8:]) == {"err": {"group": 8, "rc": 3}}
    assert cbor2.loads(refuse(old, own)[8:]) == {"rc": 5, "rsn": "is not there."}


def test_an_answer_has_the_sequence_and_version_of_its_request() -> None:
    request = parse(message(b"\xa0", op=2, version=0, group=64))
    assert frames.answer(request, {})[:8] == struct.pack("!BBHHBB", 3, 0, 1, 64, 7, 0)
