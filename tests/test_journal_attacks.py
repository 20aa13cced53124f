"""Attacks on a journal: with the ledger at hand every one is told; by the seals alone most are.

SLEDWARDEN_ATTACKS tries another number of places for each (200 by hand), and `python
tests/test_journal_attacks.py` prints the table of docs/journal.md; tests/flipping.py flips each
single bit.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from flipping import by_ledger, by_seals, flips, small, smallest
from journal_attacks import ATTACKS, Victims, tried

from firmware.journal import folder, segment, stored
from firmware.journal.folder import Place
from firmware.journal.proof import GOOD, Verdict
from firmware.journal.seal import Key
from host_tools.journals.holding import Holding
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

TRIES = int(os.environ.get("SLEDWARDEN_ATTACKS", "3"))
EVERY_BIT = 1499

UNSEEN = {
    "a tail is cut off at any byte",
    "a tail is cut off right after a seal",
    "the newest segment is cut off right after a seal",
    "a segment is taken away",
    "a boot is taken away",
    "the newest segments are taken away",
}
"""What the seals alone do not always tell: an end as a power cut leaves it, or one that is gone."""


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Victims:
    return Victims.make(tmp_path_factory.mktemp("victims"))


@pytest.mark.parametrize("words", ATTACKS)
def test_an_attack_is_told(words: str, victims: Victims, tmp_path: Path) -> None:
    told, by_seals = tried(words, victims, tmp_path, TRIES, seed=1)
    assert len(told) == TRIES
    assert not set(told) & set(GOOD), told
    if words not in UNSEEN:
        assert not set(by_seals) & set(GOOD), by_seals


@pytest.mark.parametrize("name", ["packed", "plain", "locked", "foreign"])
def test_a_victim_is_whole_before_the_attack(name: str, victims: Victims) -> None:
    (source,) = find([getattr(victims, name)])
    report = verify(source).report
    assert (report.verdict, report.reasons) == (Verdict.WHOLE, ())


def test_a_lone_file_cut_right_after_a_seal_is_the_one_attack_that_nothing_in_it_tells(
    victims: Victims, tmp_path: Path
) -> None:
    """It is what a power cut leaves there. The segment after it, and the ledger, tell."""
    whole = stored.read(folder.segments(victims.plain)[-1].path)
    lone = tmp_path / "000002.mcap"
    *before, _ = segment.scan(whole).seals
    assert len(before) >= 2
    for stamp in before:
        lone.write_bytes(whole[: stamp.end])
        (source,) = find([lone])
        assert verify(source).report.verdict is Verdict.POWER_CUT


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Place, Holding]:
    """A short closed segment: sealed, stored beside it, and the ledger that tells of both."""
    return small(tmp_path_factory.mktemp("small") / "journal")


def test_each_flipped_bit_of_a_closed_segment_is_told_by_its_seals(
    short: tuple[Place, Place, Holding],
) -> None:
    raw = short[0].path.read_bytes()
    assert by_seals(raw) == "whole"
    bits = range(EVERY_BIT // 2, len(raw) * 8, EVERY_BIT)
    assert flips(raw, by_seals, bits) == {"tampered": len(bits)}


def test_a_flipped_bit_in_any_byte_of_the_smallest_segment_is_told_by_its_seals() -> None:
    least = smallest(Key.make())
    assert by_seals(least) == "whole"
    assert len(least) < 4096
    bits = [at * 8 + at % 8 for at in range(len(least))]
    assert flips(least, by_seals, bits) == {"tampered": len(bits)}


@pytest.mark.parametrize(("form", "every"), [("sealed", EVERY_BIT // 10), ("stored", 20)])
def test_each_flipped_bit_of_a_closed_segment_is_told_by_the_ledger(
    form: str, every: int, short: tuple[Place, Place, Holding]
) -> None:
    raw, kept, held = short
    place = raw if form == "sealed" else kept
    octets, judge = place.path.read_bytes(), partial(by_ledger, place, held)
    assert judge(octets) == "as told"
    bits = range(0, len(octets) * 8, every)
    assert flips(octets, judge, bits) == {"tampered": len(bits)}


def _row(words: str, where: Path, tries: int) -> str:
    with tempfile.TemporaryDirectory(dir=where) as work:
        names = ("packed", "plain", "locked", "foreign")
        victims = Victims(*(where / name for name in names))
        told, by_seals = (Counter(one) for one in tried(words, victims, Path(work), tries, seed=2))
    said = [
        ", ".join(f"{verdict} {count}" for verdict, count in one.most_common()) or "-"
        for one in (told, by_seals)
    ]
    return f"| {words} | {tries} | {said[0]} | {said[1]} |"


def main() -> None:
    """Prints the table, with `SLEDWARDEN_ATTACKS` places for each attack."""
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder_name, ProcessPoolExecutor() as pool:
        where = Path(folder_name)
        Victims.make(where)
        print("| attack | tries | with the ledger at hand | by the seals alone |")
        print("| --- | --- | --- | --- |")
        for row in [pool.submit(_row, words, where, TRIES) for words in ATTACKS]:
            print(row.result(), flush=True)
    print(f"{time.monotonic() - begun_s:.0f} s")


if __name__ == "__main__":
    main()
