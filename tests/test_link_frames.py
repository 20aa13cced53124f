"""SMP on the wire: what is whole is taken, what is torn, false or strange costs nothing."""

from __future__ import annotations

import struct

import cbor2
import pytest
from hypothesis import given, settings
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

NOT_PLAIN = "is not plain CBOR: no tags, 4 deep at most, and nothing after it."

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
    assert code == MGMT_ERR.EINVAL
    assert words in (NOT_PLAIN, "is not CBOR.", "must be a CBOR map of names.")


@pytest.mark.parametrize(
    "tagged",
    [
        b"\xc5\x82\x1a\x3b\x9a\xca\x00\x03",  # 3 * 2 ** 1,000,000,000
        b"\xc4\x82\x1b\x7f\xff\xff\xff\xff\xff\xff\xff\x03",  # 3 * 10 ** (2 ** 63 - 1)
        b"\xd8\x1e\x82\x01\x00",  # 1 / 0
        b"\xd8\x64\x1b\x3f\xff\xff\xff\xff\xff\xff\xff",  # a day in 10 ** 16 years
        b"\xc1\xfb\x7e\x37\xe4\x3c\x88\x00\x75\x9c",  # and 1e300 s
        b"\xd8\x23\x67(a{1,9}){1,9}"[:9],  # a pattern
        b"\xd8\x24\x61(",  # a mail
        b"\xd8\x1c\x81\xd8\x1d\x00",  # a list that holds itself
        b"\xc2\x44\xff\xff\xff\xff",  # a long number
        b"\xd9\xd9\xf7\x01",  # "this is CBOR"
    ],
)
def test_a_tag_has_nothing_calculated(tagged: bytes) -> None:
    """With some versions of the decoder one datagram with the first of these ended the port."""
    assert refusal_of(message(b"\xa1\x61d" + tagged)) == (MGMT_ERR.EINVAL, NOT_PLAIN)


@pytest.mark.parametrize(
    "inner",
    [
        b"\x81\x81\x81\x81\x01",
        b"\xa1\x61a" * 4 + b"\x01",
        b"\x9f\x9f\x9f\x9f\x01\xff\xff\xff\xff",
        b"\x5f" * 1000,
        b"\x81" * 2000,
    ],
)
def test_more_than_four_deep_is_refused(inner: bytes) -> None:
    assert refusal_of(message(b"\xa1\x61d" + inner)) == (MGMT_ERR.EINVAL, NOT_PLAIN)


def test_what_follows_a_request_is_refused() -> None:
    assert refusal_of(message(b"\xa0\xa0")) == (MGMT_ERR.EINVAL, NOT_PLAIN)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"\xa1\x61d\x81\x81\x81\x01", {"d": [[[1]]]}),
        (b"\xbf\x61d\x9f\x01\x02\xff\xff", {"d": [1, 2]}),
        (b"\xa1\x61d\x5f\x42ab\x41c\xff", {"d": b"abc"}),
        (b"\xa1\x7f\x61d\x61e\xff\xfb\x3f\xe0\0\0\0\0\0\0", {"de": 0.5}),
        (b"\xa3\x61a\xf6\x61b\xf5\x61c\x3b" + b"\xff" * 8, {"a": None, "b": True, "c": -(2**64)}),
    ],
)
def test_every_form_of_plain_cbor_is_read(body: bytes, said: object) -> None:
    assert parse(message(body)).body == said


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.floats()
            | st.text(max_size=30) | st.binary(max_size=300),
            lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
        max_size=4,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_plain_is_all_that_has_no_tag_and_is_not_too_deep(body: dict[str, object]) -> None:
    octets = cbor2.dumps(body)
    assert frames.is_plain(octets) == (depth_of(body) <= frames.MOST_DEEP)
    assert not frames.is_plain(octets[:-1])
    assert not frames.is_plain(octets + b"\0")


def depth_of(value: object) -> int:
    inner = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


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
