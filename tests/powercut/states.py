"""The disks that a power cut may have left, and what the journal on each must hold."""

from __future__ import annotations

import os
import random
import subprocess
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from firmware.clock import ManualClock
from firmware.findings import Finding, Verdict
from firmware.journal import folder, reader, seal
from firmware.journal.record import Start
from firmware.journal.writer import Journal
from host_tools.journal_paths import find
from host_tools.verifying import verify
from powercut.disk import Cut, Happening, Write, cut_at

KEPT = (0.0, 0.1, 0.5, 0.9, 1.0)
"""With which chance a sector that was not flushed is there all the same."""

NEXT_START = Finding("350.10(1)(gm)", Verdict.UNKNOWN, "the next start")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a writer: the disk that it began with, and what happened."""

    first: bytes
    timeline: list[Happening]


@dataclass(slots=True)
class Tally:
    """What the cuts left: how many of each verdict, and what was wrong with which."""

    verdicts: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    promised: int = 0
    kept: int = 0

    def add(self, other: Tally) -> None:
        for verdict, count in other.verdicts.items():
            self.verdicts[verdict] = self.verdicts.get(verdict, 0) + count
        self.faults += other.faults
        self.promised += other.promised
        self.kept += other.kept


def try_cuts(run: Run, count: int, seed: int, place: Path, processes: int) -> Tally:
    """Cuts the power at `count` random moments, and looks at what each left."""
    share = -(-count // processes)
    tally = Tally()
    with ProcessPoolExecutor(processes) as pool:
        jobs = [
            pool.submit(_some_cuts, run, share, f"{seed}.{one}", place / f"cuts{one}")
            for one in range(processes)
        ]
        for job in jobs:
            tally.add(job.result())
    return tally


def _some_cuts(run: Run, count: int, seed: str, place: Path) -> Tally:
    chance = random.Random(seed)
    tally = Tally()
    mounted = place / "card"
    mounted.mkdir(parents=True)
    writes = [at for at, one in enumerate(run.timeline) if isinstance(one, Write)]
    for number in range(count):
        at = chance.randrange(writes[0], len(run.timeline)) + 1
        kept = chance.choice(KEPT)
        cut = cut_at(run.first, run.timeline, at, chance, kept)
        image = place / "card.img"
        image.write_bytes(cut.content)
        subprocess.run(["mount", "-o", "loop", str(image), str(mounted)], check=True)
        try:
            _look(cut, mounted, f"cut {seed}/{number} at {at}, {kept:.0%} kept", tally)
        finally:
            subprocess.run(["umount", str(mounted)], check=True)
    return tally


def _look(cut: Cut, mounted: Path, name: str, tally: Tally) -> None:
    """Starts the next boot on what is left, and reads all of it."""
    path = mounted / "journal"
    journal = Journal(path, Start("sled-7", "0.1.0"), ManualClock(0.0))
    journal.open()
    journal.put(NEXT_START, 0.0)
    if not journal.close(1.0, timeout_s=20.0):
        tally.faults.append(f"{name}: the next start could not go on: {journal.health()}")
        return
    (source,) = find([path])
    report = verify(source).report  # with its ledger
    tally.verdicts[report.verdict] = tally.verdicts.get(report.verdict, 0) + 1
    if report.verdict not in (seal.Verdict.WHOLE, seal.Verdict.POWER_CUT):
        tally.faults.append(f"{name}: {report.verdict}: {report.reasons}")
    findings = [
        one
        for boot in folder.boots(path)
        if folder.segments(boot)
        for _, one in reader.read(boot)
        if isinstance(one, Finding)
    ]
    if findings[-1:] != [NEXT_START]:
        tally.faults.append(f"{name}: what the next start wrote is not there")
    got = [int(one.value or 0) for one in findings if one != NEXT_START]
    lost = sorted(set(range(1, cut.promised + 1)) - set(got))
    if lost:
        tally.faults.append(f"{name}: {len(lost)} of {cut.promised} promised are lost: {lost[:5]}")
    if got != sorted(set(got)):
        tally.faults.append(f"{name}: out of order or twice")
    tally.promised += cut.promised
    tally.kept += len(got)


def processors() -> int:
    return len(os.sched_getaffinity(0))
