"""The ledger: signed lines that only grow, and what each way of changing them shows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware.journal import ledger
from firmware.journal.folder import Storage
from firmware.journal.ledger import BootLine, KeyLine, Ledger, Writer
from firmware.journal.seal import Key


def _boot(number: int) -> BootLine:
    return BootLine(
        unit="",
        boot=number,
        boot_id=f"{number:032x}",
        segment=1,
        software="0.1.0",
        digest="ab" * 32,
    )


def _written(path: Path, key: Key, count: int = 3) -> bytes:
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    for number in range(1, count + 1):
        writer.add(_boot(number), key)
    writer.close()
    return path.read_bytes()


@pytest.fixture
def key() -> Key:
    return Key.make()


@pytest.fixture
def content(tmp_path: Path, key: Key) -> bytes:
    return _written(tmp_path / "ledger.jsonl", key)


def test_lines_are_chained_signed_and_read_back(content: bytes, key: Key) -> None:
    found = ledger.check(content, key.public)
    assert (found.count, found.unit, found.keys, found.torn, found.fault) == (
        3, "sled-7", [key.public], 0, None,
    )  # fmt: skip
    assert [line.boot for line in found.boots()] == [1, 2, 3]
    first, second, _, _ = content.split(b"\n")
    assert found.lines[1].previous == hashlib.sha256(first).hexdigest()
    assert found.lines[0].previous == ""
    assert second.startswith(b'{"kind":"boot","format":1,"count":2,"previous":"')


def test_it_goes_on_where_it_was(tmp_path: Path, content: bytes, key: Key) -> None:
    writer = Writer(tmp_path / "ledger.jsonl", "sled-7", Storage())
    writer.open()
    assert writer.add(_boot(4), key).count == 4
    writer.close()
    assert (tmp_path / "ledger.jsonl").read_bytes().startswith(content)
    assert ledger.read(tmp_path / "ledger.jsonl").count == 4


def _lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def _drop(content: bytes) -> bytes:
    first, _, third = _lines(content)
    return first + third


def _swap(content: bytes) -> bytes:
    first, second, third = _lines(content)
    return first + third + second


def _double(content: bytes) -> bytes:
    first, second, third = _lines(content)
    return first + second + second + third


def _edit(content: bytes) -> bytes:
    return content.replace(b'"boot":2', b'"boot":7')


def _blank(content: bytes) -> bytes:
    return content.replace(b'"count":2', b'"count": 2')


def _zero(content: bytes) -> bytes:
    first, second, third = _lines(content)
    return first + bytes(len(second) - 1) + b"\n" + third


@pytest.mark.parametrize(
    ("attack", "what"),
    [
        (_drop, "a line does not follow from the one before it"),
        (_swap, "a line does not follow from the one before it"),
        (_double, "a line does not follow from the one before it"),
        (_edit, "a line's signature is false"),
        (_blank, "a line was changed"),
        (_zero, "a line was changed"),
    ],
)
def test_a_ledger_that_was_changed_is_told(
    content: bytes, attack: Callable[[bytes], bytes], what: str
) -> None:
    found = ledger.check(attack(content))
    assert found.fault is not None
    assert found.fault.what == what


def test_every_flipped_bit_is_told(content: bytes, key: Key) -> None:
    for at in range(0, len(content) - 1, 7):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[at] ^= 1 << bit
            found = ledger.check(bytes(flipped), key.public)
            assert found.fault is not None or found.count < 3


@pytest.mark.parametrize("left", [0, 1, 100])
def test_a_line_that_a_power_cut_tore_is_cut_away(
    tmp_path: Path, content: bytes, key: Key, left: int
) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = len(b"".join(_lines(content)[:2]))
    path.write_bytes(content[: whole + left])
    found = ledger.read(path)
    assert (found.count, found.torn, found.fault) == (2, left, None)
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    writer.add(_boot(3), key)
    writer.close()
    assert path.read_bytes().startswith(content[:whole])
    assert ledger.read(path).count == 3


def test_a_sector_of_zeros_at_the_end_is_a_power_cut(content: bytes) -> None:
    found = ledger.check(content + bytes(300))
    assert (found.count, found.torn, found.fault) == (3, 300, None)


def test_a_key_is_replaced_by_a_line_of_the_old_one(tmp_path: Path, key: Key) -> None:
    path, new = tmp_path / "ledger.jsonl", Key.make()
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    writer.add(_boot(1), key)
    writer.add(KeyLine(unit="", new_key=new.public, by="daemon"), key)
    writer.add(_boot(2), new)
    writer.close()
    for trusted in (key.public, new.public):
        found = ledger.check(path.read_bytes(), trusted)
        assert (found.count, found.keys, found.fault) == (3, [key.public, new.public], None)


def test_another_key_is_told(content: bytes) -> None:
    found = ledger.check(content, Key.make().public)
    assert found.fault is not None
    assert found.fault.what.startswith("was signed with another key, ")


def test_a_forged_past_is_not_vouched_for_by_naming_the_true_key(tmp_path: Path, key: Key) -> None:
    forger, path = Key.make(), tmp_path / "ledger.jsonl"
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    writer.add(_boot(1), forger)
    writer.add(KeyLine(unit="", new_key=key.public, by="daemon"), forger)
    writer.close()
    assert ledger.check(path.read_bytes(), key.public).fault is not None


def test_a_line_of_the_old_key_after_the_new_one_is_told(tmp_path: Path, key: Key) -> None:
    path, new = tmp_path / "ledger.jsonl", Key.make()
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    writer.add(KeyLine(unit="", new_key=new.public, by="daemon"), key)
    writer.add(_boot(1), key)
    writer.close()
    found = ledger.check(path.read_bytes())
    assert found.fault is not None
    assert found.fault.what.startswith("a line was signed with another key, ")


def test_a_ledger_without_an_end_is_put_aside_unread(tmp_path: Path) -> None:
    """As a broken file system shows one: a hundred gigabytes, of which nothing is on the card."""
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"{")
    os.truncate(path, 100 << 30)
    assert ledger.newest_key(path) == ""
    with pytest.raises(OSError, match="is longer than any ledger"):
        ledger.read(path)
    own = Writer(path, "sled-7", Storage())
    own.open()
    own.close()
    assert path.stat().st_size == 0
    assert path.with_name("ledger.jsonl.1.bad").stat().st_size == 100 << 30


def test_a_ledger_with_a_fault_is_put_aside_not_lost(
    tmp_path: Path, content: bytes, key: Key
) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(_edit(content))
    writer = Writer(path, "sled-7", Storage())
    writer.open()
    writer.add(_boot(9), key)
    writer.close()
    assert (tmp_path / "ledger.jsonl.1.bad").read_bytes() == _edit(content)
    assert ledger.read(path).count == 1


@pytest.mark.parametrize("octets", [b"", b"\n", b"{}\n", b"\xff" * 100, b"[" * 5000 + b"\n", b"0"])
def test_any_bytes_are_read_without_a_fault_of_ours(octets: bytes) -> None:
    found = ledger.check(octets)
    assert found.count == 0
    assert isinstance(found, Ledger)
