"""Attacks on a journal: with the ledger at hand every one is told; by the seals alone most are.

SLEDWARDEN_ATTACKS tries another number of places for each (200 by hand), SLEDWARDEN_FLIPS flips
every so manieth bit of a segment (1 by hand: each of them). `python tests/test_journal_attacks.py`
prints the table of docs/journal.md.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from journal_attacks import ATTACKS, Victims, tried
from journal_samples import START, written

from firmware.journal import folder, ledger, segment, stored
from firmware.journal.folder import LEDGER
from firmware.journal.keeper import Keeper
from firmware.journal.seal import Key, Verdict, check_segment
from host_tools.journals.holding import Holding
from host_tools.journals.paths import find
from host_tools.journals.verifying import GOOD, verify

TRIES = int(os.environ.get("SLEDWARDEN_ATTACKS", "3"))
EVERY_BIT = int(os.environ.get("SLEDWARDEN_FLIPS", "1499"))

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
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of one short closed segment, as it was sealed; its stored form lies beside it."""
    path = tmp_path_factory.mktemp("small") / "journal"
    written(path, 12)
    (place,) = folder.segments(path)
    raw = place.path.read_bytes()
    keeper = Keeper(path, START.unit)
    keeper.begin(Key.load(path.with_name("journal.key")))
    assert keeper.wait(10.0)
    assert keeper.stop(5.0)
    place.path.write_bytes(raw)
    return path


def untold_flips(raw: bytes, first: int, every: int) -> tuple[int, list[int]]:
    """How many bits of a closed segment were flipped, and which of them the seals did not tell."""
    tries, untold = 0, []
    for bit in range(first, len(raw) * 8, every):
        bad = bytearray(raw)
        bad[bit // 8] ^= 1 << bit % 8
        tries += 1
        if check_segment("s", bytes(bad)).verdict is not Verdict.TAMPERED:
            untold.append(bit)
    return tries, untold


def test_each_flipped_bit_of_a_closed_segment_is_told_by_its_seals(small: Path) -> None:
    (place,) = folder.segments(small)
    raw = place.path.read_bytes()
    assert check_segment("s", raw).verdict is Verdict.WHOLE
    tries, untold = untold_flips(raw, EVERY_BIT // 2, EVERY_BIT)
    assert tries >= len(raw) * 8 // EVERY_BIT
    assert untold == []


def untold_stored_flips(path: Path, first: int, every: int) -> tuple[int, list[int]]:
    """The same of a stored segment, whose digest the ledger knows."""
    (place,) = folder.segments(path)
    packed = place._replace(path=place.path.with_name(f"{place.path.name}.zst"))
    octets = packed.path.read_bytes()
    held = Holding(ledger.read(path / LEDGER))
    assert held.fault(packed, octets) == ""
    tries, untold = 0, []
    for bit in range(first, len(octets) * 8, every):
        bad = bytearray(octets)
        bad[bit // 8] ^= 1 << bit % 8
        tries += 1
        if not held.fault(packed, bytes(bad)):
            untold.append(bit)
    return tries, untold


def test_each_flipped_bit_of_a_stored_segment_is_told_by_the_ledger(small: Path) -> None:
    tries, untold = untold_stored_flips(small, 0, max(1, EVERY_BIT // 100))
    assert tries >= 4000
    assert untold == []


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
