"""A thousand power cuts: nothing that the journal's writer has promised is ever lost.

SLEDWARDEN_POWER_CUTS tries another number of them.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from powercut import machine
from powercut.disk import SECTOR, Flush, Promise, VolatileDisk, Write, cut_at
from powercut.states import Run, Tally, processors, try_cuts

CUTS = int(os.environ.get("SLEDWARDEN_POWER_CUTS", "1000"))
WRITING = machine.ROOT / "tests" / "powercut" / "writing.py"

in_the_machine = pytest.mark.skipif(bool(machine.missing()), reason=machine.missing())


def _cut_again_and_again(kind: str, cuts: int, folder: Path, patience_s: float = 120.0) -> Tally:
    """Runs a kind of writer in the machine, and cuts its power at so many moments."""
    disk = VolatileDisk(machine.empty_disk(folder))
    printed = machine.run(disk, WRITING, ["1", "3", kind], folder)
    assert "the guest's program ended with 0" in printed, printed
    assert max(one.number for one in disk.timeline if isinstance(one, Promise)) > 500
    return try_cuts(Run(disk.first, disk.timeline, patience_s), cuts, 1, processors())


@in_the_machine
@pytest.mark.timeout(1800)
def test_no_power_cut_loses_what_was_promised(tmp_path: Path) -> None:
    tally = _cut_again_and_again("honest", CUTS, tmp_path)
    assert tally.faults == []
    assert set(tally.verdicts) == {"whole", "power-cut"}
    assert tally.kept + tally.deleted >= tally.promised > 0
    assert tally.kept > 0
    assert tally.deleted > 0
    assert {"deleted by quota", "deleted by owner"} < set(tally.steps)  # and some were cut in two


@in_the_machine
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["never-syncs", "syncs-first"])
def test_a_writer_that_promises_too_early_is_caught(kind: str, tmp_path: Path) -> None:
    tally = _cut_again_and_again(kind, 40, tmp_path, patience_s=2.0)
    assert len({fault.split(":")[0] for fault in tally.faults}) >= 4


BLANK = bytes(8 * SECTOR)
ONES, TWOS = b"\1" * SECTOR, b"\2" * SECTOR


def test_what_was_flushed_survives_every_cut() -> None:
    timeline = [Write(4 * SECTOR, ONES, False), Flush(), Promise(7)]
    cut = cut_at(BLANK, timeline, 3, random.Random(1), kept=0.0)
    assert cut.content == BLANK[: 4 * SECTOR] + ONES + BLANK[5 * SECTOR :]
    assert cut.promised == 7


def test_what_was_not_flushed_may_be_lost_or_torn() -> None:
    timeline = [Write(4 * SECTOR, ONES + TWOS, False), Promise(7)]
    left = {
        cut_at(BLANK, timeline, 2, random.Random(seed), kept=0.5).content[4 * SECTOR : 6 * SECTOR]
        for seed in range(40)
    }
    zeros = bytes(SECTOR)
    assert left == {zeros + zeros, ONES + zeros, zeros + TWOS, ONES + TWOS}


def test_a_write_that_asks_to_last_does_so_without_a_flush() -> None:
    timeline = [Write(4 * SECTOR, ONES, True)]
    cut = cut_at(BLANK, timeline, 1, random.Random(1), kept=0.0)
    assert cut.content[4 * SECTOR : 5 * SECTOR] == ONES


def test_a_cut_before_a_promise_owes_nothing_for_it() -> None:
    timeline = [Promise(3), Write(4 * SECTOR, ONES, False), Flush(), Promise(7)]
    assert cut_at(BLANK, timeline, 3, random.Random(1), kept=1.0).promised == 3


def test_a_superblock_is_never_torn() -> None:
    timeline = [Write(0, bytes(1024) + ONES + ONES, False)]
    for seed in range(20):
        cut = cut_at(BLANK, timeline, 1, random.Random(seed), kept=0.5)
        assert cut.content[2 * SECTOR : 4 * SECTOR] in (ONES + ONES, bytes(2 * SECTOR))
