"""`sledwarden verify` and the readers on damaged segments: the true verdict, and never a traceback.

What a power cut leaves is no accusation, and whatever bytes a file has, a person gets an answer.
"""

from __future__ import annotations

import hashlib
import random
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journal_samples import START, torn, written
from typer.testing import CliRunner

from firmware.findings import Anchor
from firmware.journal import folder, seal, segment
from firmware.journal.keeper import Keeper
from firmware.journal.redating import Anchors
from firmware.journal.seal import Key, Seal
from host_tools.cli import app

RUNNER = CliRunner()
SECTOR = 512
SEED = 20260117
CHUNK, INDEX = 6, 7
HEX = "0" * 64


def _told(path: Path) -> dict[str, Any]:
    done = RUNNER.invoke(app, ["verify", "--json", str(path)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    told: dict[str, Any] = msgspec.json.decode(done.stdout)
    return told


def _segments(journal: Path) -> list[Path]:
    return sorted(journal.glob("*/*.mcap"))


def _chunks(content: bytes) -> list[tuple[int, int]]:
    """Where each chunk begins and ends, without its indexes."""
    found, at = [], 8
    while at + 9 <= len(content):
        opcode, length = struct.unpack_from("<BQ", content, at)
        if opcode == CHUNK:
            found.append((at, at + 9 + length))
        at += 9 + length
    return found


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """One boot that a power cut ended, twelve seconds in; its second chunk is its first seal."""
    torn(tmp_path / "journal", 120)
    return tmp_path / "journal"


def test_a_tail_of_zeros_inside_a_chunk_is_a_power_cut(cut: Path) -> None:
    """The file has its length, and the sectors that were not synced are zeros."""
    (path,) = _segments(cut)
    content = path.read_bytes()
    start, end = _chunks(content)[-1]
    at = (start // SECTOR + 1) * SECTOR
    assert at < end
    path.write_bytes(content[:at] + bytes(len(content) - at))
    assert _told(cut)["verdict"] == "power-cut"


@pytest.mark.parametrize("place", [1, 30, 47])
def test_a_cut_inside_the_first_seals_index_is_a_power_cut_and_has_that_seal(
    cut: Path, place: int
) -> None:
    (path,) = _segments(cut)
    content = path.read_bytes()
    _, end = _chunks(content)[1]
    assert content[end] == INDEX  # and 31 bytes: its head of 9, 6, and one entry of 16
    path.write_bytes(content[: min(end + place, end + 30)])
    told = _told(cut)
    assert told["verdict"] == "power-cut"
    assert [one["what"] for one in told["reasons"]] == [
        "a message index is cut or changed, after seal 1"
    ]
    assert told["segments"][0]["records"] == 1  # the start record


def test_a_cut_inside_the_closing_seals_index_is_a_power_cut(tmp_path: Path) -> None:
    written(tmp_path / "journal", 30)
    (path,) = _segments(tmp_path / "journal")
    content = path.read_bytes()
    _, end = _chunks(content)[-1]
    path.write_bytes(content[: end + 10])
    told = _told(tmp_path / "journal")
    assert told["verdict"] == "power-cut"
    assert told["segments"][0]["records"] == 32  # the ride, start and close
    path.write_bytes(content[: end + 10] + b"x")
    assert _told(tmp_path / "journal")["verdict"] == "tampered"


def test_damage_of_the_first_commit_alone_is_no_tampering(cut: Path) -> None:
    """The first seal says that nothing was safe on the disk yet when it was made."""
    (path,) = _segments(cut)
    content = path.read_bytes()
    first, second = _chunks(content)[:2]
    head = bytearray(content[: second[1] + 31])
    at = (first[0] // SECTOR + 2) * SECTOR
    head[at : at + SECTOR] = bytes(SECTOR)
    path.write_bytes(head)
    assert _told(cut)["verdict"] == "unreadable"
    path.write_bytes(head + content[len(head) :])  # a later seal has that place as durable
    assert _told(cut)["verdict"] == "tampered"


def test_a_segment_after_one_that_cannot_be_read_says_so_and_misses_none(tmp_path: Path) -> None:
    for _ in range(2):
        written(tmp_path / "journal", 30)
    first, _ = _segments(tmp_path / "journal")
    content = bytearray(first.read_bytes())
    content[_chunks(content)[0][0] + 500] ^= 1
    first.write_bytes(content)
    told = _told(tmp_path / "journal")
    assert [one["verdict"] for one in told["segments"]] == ["tampered", "whole"]
    assert told["verdict"] == "tampered"
    assert [one["what"] for one in told["reasons"]][1:] == [
        "the segment before it, 000001.mcap, tells no end to hold it against"
    ]


def test_a_changed_segment_makes_no_other_one_tampered(tmp_path: Path) -> None:
    """Wherever a byte of it is changed, also behind some of its seals."""
    for _ in range(3):
        written(tmp_path / "journal", 120)
    segments = _segments(tmp_path / "journal")
    content = segments[1].read_bytes()
    first, *_, last = (stamp.offset for stamp in segment.scan(content).seals)
    for at in (20, first - 1, first + 60, (first + last) // 2, last - 1, last + 60):
        bad = bytearray(content)
        bad[at] ^= 1
        segments[1].write_bytes(bad)
        told = _told(tmp_path / "journal")
        assert [one["verdict"] for one in told["segments"]] == ["whole", "tampered", "whole"], at
        assert told["verdict"] == "tampered"
        assert told["reasons"][-1]["what"] == (
            "the segment before it, 000001.mcap, tells no end to hold it against"
        )


def test_a_segment_of_a_changed_one_s_place_is_held_against_the_ledger(tmp_path: Path) -> None:
    """The ledger tells how the changed one ended: so what follows it is surely the next."""
    path = tmp_path / "journal"
    for _ in range(3):
        written(path, 120)
    raws = {place.path: place.path.read_bytes() for place in folder.segments(path)}
    keeper = Keeper(path, START.unit)
    keeper.begin(Key.load(path.with_name("journal.key")))
    assert keeper.wait(30.0)
    assert keeper.stop(30.0)
    for raw, octets in raws.items():
        raw.write_bytes(octets)
        raw.with_name(f"{raw.name}.zst").unlink()
    assert _told(path)["verdict"] == "whole"
    _, second, _ = raws
    bad = bytearray(raws[second])
    bad[len(bad) // 2] ^= 1
    second.write_bytes(bad)
    told = _told(path)
    assert [one["verdict"] for one in told["segments"]] == ["whole", "tampered", "whole"]
    assert [one["segment"] for one in told["reasons"]] == [told["segments"][1]["name"]] * 2


def test_a_segment_that_is_gone_beside_one_that_can_be_read_is_still_missed(
    tmp_path: Path,
) -> None:
    for _ in range(3):
        written(tmp_path / "journal", 30)
    _segments(tmp_path / "journal")[1].unlink()
    told = _told(tmp_path / "journal")
    assert [one["verdict"] for one in told["segments"]] == ["whole", "incomplete"]


COMMANDS = (
    ("verify", "--json"),
    ("report",),
    ("export", "--to", "csv"),
    ("replay", "--json"),
)


def test_no_cut_and_no_zeros_give_any_command_a_traceback(cut: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    (path,) = _segments(cut)
    whole = path.read_bytes()
    for number in range(24):
        at = chance.randrange(len(whole))
        begin = at // SECTOR * SECTOR
        end = min(begin + SECTOR * chance.randrange(1, 5), len(whole))
        content = (
            whole[:at],
            whole[:begin] + bytes(len(whole) - begin),
            whole[:begin] + bytes(end - begin) + whole[end:],
            whole[:at] + bytes(len(whole) - at),
        )[number % 4]
        path.write_bytes(content)
        for command, *flags in COMMANDS:
            words = [command, str(cut), *flags]
            if command in ("export", "report"):
                words += ["--out", str(tmp_path / f"{number}.{command}")]
            done = RUNNER.invoke(app, words)
            fault = done.exception
            is_told = fault is None or type(fault).__name__ in ("SystemExit", "JournalError")
            assert is_told, (number, at, words, repr(fault))


def test_a_chunk_without_content_at_the_very_end_is_read_as_what_it_is() -> None:
    head = segment.opening("sledwarden 0.1.0", ())
    assert segment.scan(head + segment.framed(b"").framed).why != ""


@pytest.mark.parametrize(
    "text",
    [
        b'"boot":1' + b"0" * 30,
        b'"boot":-1',
        b'"log_time_ns":"+1"',
        b'"log_time_ns":"01"',
        '"log_time_ns":"٣"'.encode(),
        b'"log_time_ns":"' + b"9" * 5000 + b'"',
        b'"previous":"x"',
        b'"x":' + b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_a_seal_with_a_value_that_no_seal_has_is_none(text: bytes) -> None:
    good = seal.Seal(1, "start", "sled-7", 1, "x", 1, 1, 8, 0, HEX, "", "1", "1", HEX, "0" * 128)
    encoded = msgspec.json.encode(good)
    assert seal.parse(encoded) == good
    key = text.partition(b":")[0]
    old = {b'"boot"': b'"boot":1', b'"log_time_ns"': b'"log_time_ns":"1"',
           b'"previous"': b'"previous":""', b'"x"': b'"boot":1'}[key]  # fmt: skip
    assert seal.parse(encoded.replace(old, text if key != b'"x"' else old + b"," + text)) is None


def test_an_instant_beyond_every_calendar_has_no_date() -> None:
    anchor = Anchor("gps", 0.0, datetime(9999, 12, 31, tzinfo=UTC), 0.1, 1.0)
    assert Anchors([anchor]).at(1e6) is None
    assert Anchors([anchor]).at(1e18) is None


def test_a_segment_that_is_sealed_with_another_profile_is_tampered(tmp_path: Path) -> None:
    written(tmp_path / "journal", 30)
    (path,) = _segments(tmp_path / "journal")
    content = bytearray(path.read_bytes())
    path.write_bytes(_sealed_anew(content.replace(b"sledwarden", b"snowwarden", 1), content))
    told = _told(tmp_path / "journal")
    assert told["verdict"] == "tampered"
    assert told["reasons"][0]["what"] == "is sealed, but its profile is not sledwarden"


def test_a_sealed_chunk_that_its_own_maker_broke_gives_no_traceback(tmp_path: Path) -> None:
    """A closing seal over a chunk whose content is no row of records: by somebody's own key.

    What a good seal covers needs no more than that: it is what that key sealed.
    """
    written(tmp_path / "journal", 30)
    (path,) = _segments(tmp_path / "journal")
    content = bytearray(path.read_bytes())
    start, _ = _chunks(content)[-2]
    content[start + 49 + 1 : start + 49 + 9] = struct.pack("<Q", 2**40)
    path.write_bytes(_sealed_anew(content, path.read_bytes()))
    assert _told(tmp_path / "journal")["verdict"] == "whole"


def _sealed_anew(content: bytearray, old: bytes) -> bytes:
    """The content with each seal of the old bytes made again over it, by a key of somebody."""
    key, digest, sealed = Key.make(), bytes(32), 0
    for stamp in segment.scan(old).seals:
        one = seal.parse(stamp.message.text)
        assert one is not None
        stretch = hashlib.sha256(content[sealed : stamp.offset]).digest()
        digest = hashlib.sha256(digest + stretch).digest()
        one = key.sign(
            msgspec.structs.replace(one, digest=digest.hex(), public_key=key.public, signature="")
        )
        content[stamp.offset : stamp.end] = _framed(one)
        sealed = stamp.offset
    return bytes(content)


def _framed(one: Seal) -> bytes:
    return bytes(segment.framed(segment.packed([one.message()])).framed)
