"""The disks that a power cut may have left, and what the journal on each must hold."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from firmware.clock import ManualClock
from firmware.errors import JournalError
from firmware.findings import Event, Finding, Verdict
from firmware.journal import folder, ledger, proof, reader, stored
from firmware.journal import keeper as keeping
from firmware.journal.record import Record, Start
from firmware.journal.writer import Journal
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify
from powercut.disk import Cut, Happening, Write, cut_at
from powercut.mounting import LoopDisk
from powercut.writing import keeper_of

KEPT = (0.0, 0.1, 0.5, 0.9, 1.0)
"""With which chance a sector that was not flushed is there all the same."""

MEMORY = Path("/dev/shm")
"""Where the disks lie that a cut left: a real disk would be told to sync each of them."""

NEXT_START = Finding("350.10(1)(gm)", Verdict.UNKNOWN, "the next start")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a writer: the disk that it began with, and what happened.

    `patience_s` is how long each next start may take before it counts as one that can't go on.
    """

    first: bytes
    timeline: list[Happening]
    patience_s: float = 120.0


@dataclass(slots=True)
class Tally:
    """What the cuts left: how many of each verdict, and what was wrong with which.

    `found` are the verdicts before the next start, `verdicts` those after it, and `steps` what a
    cut left half done of storing and deleting. `promised`, `kept` and `deleted` are records, over
    all cuts.
    """

    verdicts: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    promised: int = 0
    kept: int = 0
    deleted: int = 0

    def add(self, other: Tally) -> None:
        for ours, theirs in (
            (self.verdicts, other.verdicts),
            (self.found, other.found),
            (self.steps, other.steps),
        ):
            for what, count in theirs.items():
                ours[what] = ours.get(what, 0) + count
        self.faults += other.faults
        self.promised += other.promised
        self.kept += other.kept
        self.deleted += other.deleted


def try_cuts(run: Run, count: int, seed: int, processes: int) -> Tally:
    """Cuts the power at `count` random moments, and looks at what each left."""
    share = -(-count // processes)
    tally = Tally()
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="cuts", dir=memory) as place,
        ProcessPoolExecutor(processes) as pool,
    ):
        jobs = [
            pool.submit(_some_cuts, run, share, f"{seed}.{one}", Path(place) / f"cuts{one}")
            for one in range(processes)
        ]
        for job in jobs:
            tally.add(job.result())
    return tally


def _some_cuts(run: Run, count: int, seed: str, place: Path) -> Tally:
    chance = random.Random(seed)
    tally = Tally()
    stored.LEVEL = 3  # how well it packs is not tried here, and 17 takes a third of the time
    keeping._NICE = 0  # nor whether it stands back: on a busy machine it would for minutes
    writes = [at for at, one in enumerate(run.timeline) if isinstance(one, Write)]
    known: dict[str, list[Record]] = {}
    with LoopDisk(place, len(run.first)) as loop:
        for number in range(count):
            at = chance.randrange(writes[0], len(run.timeline)) + 1
            kept = chance.choice(KEPT)
            cut = cut_at(run.first, run.timeline, at, chance, kept)
            name = f"cut {seed}/{number} at {at}, {kept:.0%} kept"
            with loop.mounted(cut.content) as card:
                try:
                    _look(cut, card / "journal", name, tally, known, run.patience_s)
                except (JournalError, OSError) as fault:
                    tally.faults.append(f"{name}: {fault}")
    return tally


def _look(
    cut: Cut,
    path: Path,
    name: str,
    tally: Tally,
    known: dict[str, list[Record]],
    patience_s: float,
) -> None:
    """Reads what is left as a card reader would; then starts the next boot on it, and reads all."""
    _judge(path, name, tally, tally.found)
    for step in _steps(path):
        tally.steps[step] = tally.steps.get(step, 0) + 1
    keeper = keeper_of(path)
    journal = Journal(path, Start("sled-7", "0.1.0"), ManualClock(0.0), keeper=keeper)
    journal.open()
    journal.put(NEXT_START, 0.0)
    is_safe = journal.flush(patience_s) and keeper.wait(patience_s)
    if not (journal.close(1.0, timeout_s=patience_s) and is_safe):
        tally.faults.append(f"{name}: the next start could not go on: {journal.health()}")
        return
    if keeper.trouble:
        tally.faults.append(f"{name}: the next start could not store: {keeper.trouble}")
    _judge(path, name, tally, tally.verdicts)
    runs = _runs(path, known)
    if not runs or runs[-1].records[-1:] != [NEXT_START]:
        tally.faults.append(f"{name}: what the next start wrote is not there")
    at = 0
    for run in runs:
        if run.is_deleted:
            at += run.own
            tally.deleted += run.own
            continue
        got = [_number(one) for one in run.records if one != NEXT_START]
        if got != list(range(at + 1, at + 1 + len(got))):
            tally.faults.append(f"{name}: {run.name}: begins after {at}, and has {got[:5]}...")
            return
        at += len(got)
        tally.kept += len(got)
    if at < cut.promised:
        tally.faults.append(f"{name}: {cut.promised - at} of {cut.promised} promised are lost")
    tally.promised += cut.promised


def _judge(path: Path, name: str, tally: Tally, verdicts: dict[str, int]) -> None:
    """Verifies the journal with its ledger: only a power cut may show, and a newest segment that
    has no seal yet."""
    if not folder.segments(path):
        verdicts["nothing yet"] = verdicts.get("nothing yet", 0) + 1
        return
    (source,) = find([path])
    report = verify(source).report
    verdicts[report.verdict] = verdicts.get(report.verdict, 0) + 1
    *before, newest = report.segments
    is_begun = newest.verdict is proof.Verdict.UNREADABLE and verdicts is tally.found
    wrong = [
        one for one in (before if is_begun else report.segments) if one.verdict not in proof.GOOD
    ]
    if wrong or report.verdict not in (*proof.GOOD, proof.Verdict.UNREADABLE):
        tally.faults.append(f"{name}: {report.verdict}: {report.reasons}")


def _steps(path: Path) -> list[str]:
    """In which steps of storing and of deleting a disk was cut, and what had been deleted."""
    files = {f"{one.parent.name}/{one.name}" for one in path.glob("*/*")}
    told = ledger.read(path / folder.LEDGER)
    lines, graves = told.segments(), told.tombstones()
    kept = {one for one in files if one.endswith(stored.PACKED)}
    both = {one for one in kept if one.removesuffix(stored.PACKED) + stored.RAW in files}
    named = {line.stored for line in lines.values()}
    steps = {
        "a stored form half written": any(one.endswith(".new") for one in files),
        "renamed, and not yet told": bool(both - named),
        "told, and the raw form still there": bool(both & named),
        "a tombstone, and its file still there": any(lines[at].stored in files for at in graves),
        "the ledger's last line torn": told.torn > 0,
    }
    steps |= {f"deleted by {grave.why}": True for grave in graves.values()}
    return [what for what, is_so in steps.items() if is_so]


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment that is there, with the records that a guest put; or one that was deleted, with
    how many it had by its line in the ledger."""

    name: str
    records: list[Record]
    own: int
    is_deleted: bool


def _runs(path: Path, known: dict[str, list[Record]]) -> list[_Segment]:
    """All segments in their order; `known` keeps what bytes hold that were read before."""
    told = ledger.read(path / folder.LEDGER)
    there = {(place.boot, place.segment): place for place in folder.segments(path)}
    lines = told.segments()
    gone = {at: lines[at] for at in told.tombstones() if at not in there}
    runs = []
    for at in sorted({*there, *gone}):
        if at in there:
            octets = there[at].path.read_bytes()
            digest = hashlib.sha256(octets).hexdigest()
            if digest not in known:
                read = (one for _, one in reader.read(there[at].path))
                known[digest] = [one for one in read if isinstance(one, Event | Finding)]
            runs.append(_Segment(there[at].name, known[digest], 0, is_deleted=False))
        else:
            # its start and its end; a boot's first tells how the boot before ended
            apart = 2 + (at[1] == 1 and at[0] > 1)
            runs.append(_Segment(lines[at].stored, [], lines[at].records - apart, is_deleted=True))
    return runs


def _number(one: Record) -> int:
    """The number that a guest's record carries."""
    number = one.peak if isinstance(one, Event) else one.value if isinstance(one, Finding) else 0
    return int(number or 0)


def processors() -> int:
    return len(os.sched_getaffinity(0))
