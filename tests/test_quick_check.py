"""The quick way through a segment says what the long one says, on good bytes and on bad ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from journal_samples import torn, written

from firmware.journal import folder, proof, segment
from firmware.journal.proof import Verdict


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("quick") / "journal"
    written(path, 60)
    return folder.segments(path)[0].path.read_bytes()


def _long(content: bytes) -> proof.SegmentReport:
    return proof._check_scan("a", content, segment.scan(content), None, ())


def test_it_gives_the_same_ending_and_the_same_seals(content: bytes) -> None:
    quick, long = segment.scan(content, is_trusting=True), segment.scan(content)
    assert (quick.end, quick.why, quick.seals) == (long.end, long.why, long.seals)
    assert quick.ending.written(quick.end) == long.ending.written(long.end)
    assert (quick.ending.records, quick.ending.events) == (long.ending.records, long.ending.events)
    assert [span.end for span in quick.chunks] == [span.end for span in long.chunks]


def test_a_flipped_bit_anywhere_is_told_as_by_the_long_way(content: bytes) -> None:
    lots = random.Random(20261130)
    for at in lots.sample(range(len(content)), 400):
        changed = bytearray(content)
        changed[at] ^= 1 << lots.randrange(8)
        octets = bytes(changed)
        one = proof.check_segment("a", octets)
        assert one == _long(octets), at
        assert one.verdict is not Verdict.WHOLE


def test_a_cut_anywhere_is_told_as_by_the_long_way(content: bytes) -> None:
    lots = random.Random(1)
    for at in lots.sample(range(len(content)), 100):
        octets = content[:at]
        assert proof.check_segment("a", octets) == _long(octets), at


def test_a_finished_segment_takes_the_quick_way_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    torn(path, 60)
    written(path, 10)
    octets = folder.segments(path)[0].path.read_bytes()
    one = proof.check_segment("a", octets)
    assert (one, one.verdict) == (_long(octets), Verdict.POWER_CUT)


@pytest.mark.parametrize(
    "octets", [b"", b"\x00" * 100, segment.MAGIC, segment.MAGIC + b"\x06" * 99]
)
def test_any_bytes_pass_through_it(octets: bytes) -> None:
    assert segment.scan(octets, is_trusting=True).chunks == []


def test_what_no_seal_covers_counts_too_the_last_ones_own_chunk_and_the_ending(
    content: bytes,
) -> None:
    last = segment.scan(content).seals[-1]
    for at in (*range(last.offset, last.end, 3), *range(last.end, len(content), 499)):
        changed = bytearray(content)
        changed[at] ^= 1
        assert proof.check_segment("a", bytes(changed)).verdict is not Verdict.WHOLE, at
