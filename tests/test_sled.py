"""How a unit is reached, over a network that loses, and units that answer what they should not."""

from __future__ import annotations

import os
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cbor2
import pytest

from firmware.link import frames
from firmware.link.frames import Request
from firmware.port.messages import INDEX, Command
from host_tools.port import sled
from host_tools.port.sled import LostError, RefusedError, Sled, Way

CONTENT = bytes(range(256)) * 320  # 10 blocks of 8 KiB
NAME = "/journal/000001-00000000/000001.mcap"
Answers = Callable[[Request, bytes], list[bytes]]


def packed(request: Request, content: bytes = CONTENT, **lies: Any) -> bytes:
    """A good answer, or one with lies in it."""
    offset = request.body["off"]
    octets = content[offset : offset + request.body["len"]]
    body = {"off": offset, "len": len(content), "raw": len(octets), "data": zlib.compress(octets)}
    return frames.answer(request, body | lies)


class FakeUnit:
    """A UDP port that answers as the test says; `asked` are the offsets, in their order."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((f"127.0.{os.getpid() % 250}.81", 0))
        self.asked: list[int] = []
        self.body: dict[str, Any] = {}
        self.answers: Answers = lambda request, _: [packed(request)]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def way(self) -> Way:
        host, port = self.socket.getsockname()
        return Way(host=host, udp=port)

    def _run(self) -> None:
        while True:
            message, address = self.socket.recvfrom(4096)
            if message == b"end":
                return
            request = frames.parse(message)
            if request.command != Command.PACKED:
                self.socket.sendto(frames.answer(request, self.body), address)
                continue
            self.asked.append(request.body["off"])
            for reply in self.answers(request, message):
                self.socket.sendto(reply, address)

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as teller:
            teller.sendto(b"end", self.socket.getsockname())
        self._thread.join()
        self.socket.close()


@pytest.fixture
def unit(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeUnit]:
    monkeypatch.setattr(sled, "DATAGRAM_S", 0.1)
    made = FakeUnit()
    yield made
    made.close()


@pytest.fixture
def opened(unit: FakeUnit) -> Iterator[Sled]:
    with Sled(unit.way) as made:
        made.block_bytes = 8192
        yield made


def read(opened: Sled, offset: int = 0, until: int | None = None) -> bytes:
    return b"".join(opened.read(NAME, offset, until))


@pytest.mark.parametrize("offset", [0, 1, 8192, 50_001, len(CONTENT)])
def test_a_file_is_read_from_any_byte_on(unit: FakeUnit, opened: Sled, offset: int) -> None:
    assert read(opened, offset) == CONTENT[offset:]
    assert read(opened, offset, len(CONTENT)) == CONTENT[offset:]


def test_blocks_that_are_lost_are_asked_again_and_one_that_comes_twice_is_passed_over(
    unit: FakeUnit, opened: Sled
) -> None:
    # Lost packets left holes in the logs of another ground station (mavlink/qgroundcontrol#2741)
    lost, seen = {2, 3, 7}, 0
    missed: list[int] = []

    def answers(request: Request, _: bytes) -> list[bytes]:
        nonlocal seen
        seen += 1
        if seen in lost:
            missed.append(request.body["off"])
            return []
        return [packed(request)] * (2 if seen == 5 else 1)

    unit.answers = answers
    assert read(opened) == CONTENT
    assert len(missed) == 3
    assert [unit.asked.count(offset) for offset in missed] == [2, 2, 2]
    assert len(set(unit.asked)) == len(unit.asked) - 3


def test_answers_in_another_order_make_the_same_file(unit: FakeUnit, opened: Sled) -> None:
    held: list[bytes] = []

    def answers(request: Request, _: bytes) -> list[bytes]:
        held.append(packed(request))
        if len(held) < 2 and request.body["off"] + request.body["len"] < len(CONTENT):
            return held.copy() if request.body["off"] == 0 else []
        replies = held[::-1]
        held.clear()
        return replies

    unit.answers = answers
    assert read(opened) == CONTENT


def test_answers_that_hold_less_than_was_asked_are_completed(unit: FakeUnit, opened: Sled) -> None:
    def answers(request: Request, _: bytes) -> list[bytes]:
        offset, count = request.body["off"], min(1000, request.body["len"])
        octets = CONTENT[offset : offset + count]
        return [packed(request, raw=len(octets), data=zlib.compress(octets))]

    unit.answers = answers
    assert read(opened) == CONTENT
    assert opened.block_bytes <= 1000 * 9 // 8


BOMB = zlib.compress(bytes(50_000_000))


@pytest.mark.parametrize(
    "lies",
    [
        {"off": 5},
        {"raw": 10},
        {"raw": 1 << 40},
        {"data": b"no zlib"},
        {"data": BOMB},
        {"data": BOMB, "raw": 50_000_000},
        {"raw": 0, "data": zlib.compress(b"")},
    ],
)
def test_a_unit_that_answers_something_else_is_given_up(
    unit: FakeUnit, opened: Sled, lies: dict[str, Any]
) -> None:
    unit.answers = lambda request, _: [packed(request, **lies)]
    with pytest.raises(LostError, match="nobody answers"):
        read(opened)


@pytest.mark.parametrize(
    "reply",
    [
        b"\xff",
        b"\x80",
        b"\xa0",
        cbor2.dumps({"off": -1, "len": 5, "raw": 0, "data": b""}),
        b"\xa1\x61d\xc5\x82\x1a\x3b\x9a\xca\x00\x03",  # 3 * 2 ** 1,000,000,000
        b"\xa1\x61d" + b"\x81" * 1000,
        b"\xa0\xa0",
    ],
)
def test_an_answer_that_makes_no_sense_is_told(unit: FakeUnit, opened: Sled, reply: bytes) -> None:
    def answers(request: Request, _: bytes) -> list[bytes]:
        head = bytearray(frames.answer(request, {})[:8])
        head[2:4] = len(reply).to_bytes(2, "big")
        return [bytes(head) + reply]

    unit.answers = answers
    with pytest.raises(RefusedError, match="it answered what makes no sense"):
        read(opened)


def test_noise_is_passed_over(unit: FakeUnit, opened: Sled) -> None:
    def answers(request: Request, _: bytes) -> list[bytes]:
        other = bytes([request.sequence ^ 128])  # else it would be an answer that makes no sense
        noise = b"\x00" * 6 + other + b"\x00", b"\xff" * 6 + other + b"\xff" * 200
        return [b"", b"x", *noise, packed(request)]

    unit.answers = answers
    assert read(opened) == CONTENT


@pytest.mark.parametrize(
    "body",
    [
        {"unit": "../../etc"},
        {"unit": ""},
        {"unit": "a/b"},
        {"unit": 5},
        {"unit": "x" * 33},
        {"unit": "sled-7\n"},
        {"unit": "sled-7\0"},
        {"unit": ".."},
        {"unit": "\x1b]0;sled-7\a"},
    ],
)
def test_a_unit_s_name_is_no_path(unit: FakeUnit, opened: Sled, body: dict[str, Any]) -> None:
    unit.body = body
    with pytest.raises(RefusedError, match="it answered what makes no sense"):
        opened.identity()


SEGMENT = '{"name": "000001.mcap", "bytes": 5, "closed": true}'


@pytest.mark.parametrize(
    ("index", "what"),
    [
        ("no json", "its index can't be read"),
        ('{"format": 1, "unit": "x"}', "its index can't be read"),
        ('{"format": 2, "unit": "x", "boots": []}', "its index has format 2"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "..", "segments": [{SEGMENT}]}}]}}',
         "its index can't be read"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "000001-00000000", "segments": '
         f'[{SEGMENT.replace("000001.mcap", "../x.mcap")}]}}]}}', "its index can't be read"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "000001-00000000", "segments": '
         f'[{SEGMENT.replace("5", "-5")}]}}]}}', "its index can't be read"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "000001-00000000", "segments": '
         f'[{SEGMENT.replace("5", "9" * 12)}]}}]}}', "its index can't be read"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "000001-00000000\\n", "segments": '
         f'[{SEGMENT}]}}]}}', "its index can't be read"),
        (f'{{"format": 1, "unit": "x", "boots": [{{"name": "000001-00000000", "segments": '
         f'[{SEGMENT.replace(".mcap", ".mcap" + chr(92) + "n")}]}}]}}', "its index can't be read"),
        ('{"format": 1, "unit": "x", "boots": [], "ledger": {"bytes": 999999999999}}',
         "its index can't be read"),
        ("[" * 50_000, "its index can't be read"),
    ],
)  # fmt: skip
def test_an_index_with_other_names_is_refused(
    unit: FakeUnit, opened: Sled, index: str, what: str
) -> None:
    def answers(request: Request, _: bytes) -> list[bytes]:
        assert request.body["name"] == INDEX
        return [packed(request, index.encode())]

    unit.answers = answers
    with pytest.raises(RefusedError, match=what):
        opened.index()


def test_an_index_without_an_end_is_given_up(
    unit: FakeUnit, opened: Sled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sled, "MOST_INDEX_BYTES", 200_000)

    def endless(request: Request, _: bytes) -> list[bytes]:
        return [packed(request, bytes(request.body["off"] + request.body["len"]), len=1 << 50)]

    unit.answers = endless
    with pytest.raises(RefusedError, match="its index has no end: at most 200,000 bytes are read"):
        opened.index()
    assert max(unit.asked) < 1_000_000


def test_a_refusal_without_words_gets_some(unit: FakeUnit, opened: Sled) -> None:
    for body, words in (({"rc": 8}, "it refused: ENOTSUP."),
                        ({"err": {"group": 8, "rc": 3}}, "file not found."),
                        ({"err": {"group": 64, "rc": 9}}, "SMP error 9 of group 64"),
                        ({"rc": 11, "rsn": "shut."}, "shut.")):  # fmt: skip
        unit.body = body
        with pytest.raises(RefusedError) as told:
            opened.identity()
        assert words in str(told.value)


def test_a_host_that_is_not_there_is_told() -> None:
    with pytest.raises(LostError):
        Sled(Way(host="no-such-host.invalid"))
