"""The journal: what an event costs until it is safe, beside plain files."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Protocol

from bench.report import Column, Figures, Table
from firmware.clock import Clock
from firmware.findings import Event, Verdict
from firmware.journal.folder import Storage
from firmware.journal.record import Start
from firmware.journal.writer import Journal

EVENTS = 500
BATCH = 10
"""Records of one commit, as a unit has at 10 Hz."""

START = Start("sled-7", "0.1.0")
CLOSE_S = 60.0
SECTOR = 512

KEPT_NOTE = (
    "A commit begins when the one before is acknowledged, and each fdatasync is counted: a keeper "
    "that has made fewer than one a commit is no row but a fault (SQLite's are its own). The "
    "keepers commit in turn, one after the other, so that a disk whose syncs are now fast and now "
    "slow is so for each; medians of commits. Rows of one and of ten records a commit promise "
    "different things: compare within one. The faster the disk syncs, the more the work before it "
    "counts. Syncs and bytes are the program's, "
    "counted at its door to the disk, without what begins a file. Device bytes are what "
    "/proc/diskstats says was written to that disk meanwhile, by whomever. The journal is sealed "
    "(SHA-256 and Ed25519) in each commit, checked by CRC and indexed."
)
KEPT_COLUMNS = (
    Column("what", "what"),
    Column("ms", "ms a commit", ".2f"),
    Column("per_s", "records/s", ",.0f"),
    Column("ratio", "of fdatasync", ".2f"),
    Column("syncs", "syncs a commit", ".2f"),
    Column("bytes", "bytes a record", ",.0f"),
    Column("device", "device bytes a record", ",.0f"),
)


class Counted(Storage):
    """The real disk, with the calls and bytes counted."""

    def __init__(self) -> None:
        self.syncs = 0
        self.bytes = 0

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        self.bytes += len(content)
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        self.syncs += 1
        super().sync(descriptor)


class _Keeper(Protocol):
    """Who keeps records: opened in a folder, then a commit of some, waited for."""

    syncs: int
    bytes: int

    def commit(self, numbers: range) -> None: ...

    def close(self) -> None: ...


class _Lines:
    """A file of JSON lines, appended to and synced."""

    def __init__(self, where: Path) -> None:
        self.syncs = self.bytes = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = os.open(where / "events.jsonl", flags, 0o640)

    def commit(self, numbers: range) -> None:
        text = "".join(f"{_object(number)}\n" for number in numbers)
        self.bytes += os.write(self._descriptor, text.encode())
        os.fdatasync(self._descriptor)
        self.syncs += 1

    def close(self) -> None:
        os.close(self._descriptor)


class _Sqlite:
    """A table with a write-ahead log that is synced at each commit. Its syncs are its own."""

    def __init__(self, where: Path) -> None:
        self.syncs = self.bytes = 0
        self._known = sqlite3.connect(where / "events.db", isolation_level=None)
        self._known.execute("PRAGMA journal_mode=WAL")
        self._known.execute("PRAGMA synchronous=FULL")
        self._known.execute("CREATE TABLE event (at_s REAL, told TEXT)")

    def commit(self, numbers: range) -> None:
        self._known.execute("BEGIN")
        for number in numbers:
            text = _object(number)
            self.bytes += len(text)
            self._known.execute("INSERT INTO event VALUES (?, ?)", (number / 10, text))
        self._known.execute("COMMIT")

    def close(self) -> None:
        self._known.close()


class _Ours:
    """The journal, with an urgent record at the end of each commit."""

    def __init__(self, where: Path) -> None:
        self._storage = Counted()
        self._journal = Journal(where / "journal", START, Clock(), storage=self._storage)
        self._journal.open()

    @property
    def syncs(self) -> int:
        return self._storage.syncs

    @property
    def bytes(self) -> int:
        return self._storage.bytes

    def commit(self, numbers: range) -> None:
        put = 0
        for number in numbers:
            put = self._journal.put(_event(number), number / 10, urgent=number == numbers[-1])
        assert self._journal.flush(CLOSE_S)
        assert self._journal.acknowledged.sequence == put

    def close(self) -> None:
        assert self._journal.close(1e6, timeout_s=CLOSE_S)


PEERS: dict[str, Callable[[Path], _Keeper]] = {
    "append + fdatasync of JSON lines": _Lines,
    "SQLite, WAL, synchronous=FULL": _Sqlite,
    "the journal": _Ours,
}


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Durable records: ours beside appended JSON lines and SQLite."""
    table = Table("journal", "A durable record", KEPT_COLUMNS, note=KEPT_NOTE)
    count = max(50, round(EVENTS * share))
    for batch in (1, BATCH):
        say(f"journal: {batch} a commit")
        rows = _in_turn(count, batch)
        first = rows["append + fdatasync of JSON lines"]["per_s"]
        for name, row in rows.items():
            what = f"{name}, {batch} a commit"
            table.rows.append({"what": what, "ratio": row["per_s"] / first, **row})
    return table


@dataclass
class _Spent:
    """What the commits of one keeper took: each one's time, and the bytes of its disk."""

    keeper: _Keeper
    seconds: list[float] = field(default_factory=list)
    device: int = 0
    syncs: int = 0
    bytes: int = 0

    def commit(self, numbers: range, where: Path) -> None:
        """One commit, which is over when all its records are safe."""
        syncs, octets, device = self.keeper.syncs, self.keeper.bytes, device_bytes(where)
        begin_s = time.perf_counter()
        self.keeper.commit(numbers)
        self.seconds.append(time.perf_counter() - begin_s)
        after = device_bytes(where)
        self.device += 0 if device is None or after is None else after - device
        self.syncs += self.keeper.syncs - syncs
        self.bytes += self.keeper.bytes - octets

    def row(self, batch: int) -> Figures:
        commits = len(self.seconds)
        records, took_s = commits * batch, median(self.seconds)
        row: Figures = {
            "ms": took_s * 1000.0,
            "per_s": batch / took_s,
            "bytes": self.bytes / records,
            "device": self.device / records,
        }
        if not isinstance(self.keeper, _Sqlite):
            assert self.syncs >= commits, f"{self.syncs} syncs in {commits} commits"
            row["syncs"] = self.syncs / commits
        return row


def _in_turn(commits: int, batch: int) -> dict[str, Figures]:
    """So many commits of each keeper, in a new folder of its own on this checkout's disk."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as where:
        folders = {name: Path(where) / str(number) for number, name in enumerate(PEERS)}
        spent = {}
        for name, path in folders.items():
            path.mkdir()
            spent[name] = _Spent(PEERS[name](path))
            spent[name].keeper.commit(range(batch))  # the first makes the files
        for first in range(batch, (commits + 1) * batch, batch):
            for name, one in spent.items():
                one.commit(range(first, first + batch), folders[name])
        rows = {name: one.row(batch) for name, one in spent.items()}
        for one in spent.values():
            one.keeper.close()
    return rows


def _event(number: int) -> Event:
    return Event("350.10(1)(gm)", Verdict.VIOLATION, number / 10, 61.5, 55.0, "mph", True)


def _object(number: int) -> str:
    return json.dumps(
        {"at_s": number / 10, "clause": "350.10(1)(gm)", "verdict": "violation", "peak": 61.5,
         "limit": 55.0, "unit": "mph", "is_sure": True, "start_s": number / 10}
    )  # fmt: skip


def device_bytes(where: Path) -> int | None:
    """What was written to the disk of a folder since the start; None where nobody says."""
    device = os.stat(where).st_dev
    wanted = [str(os.major(device)), str(os.minor(device))]
    try:
        lines = Path("/proc/diskstats").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    fields = next((one for one in map(str.split, lines) if one[:2] == wanted), None)
    return None if fields is None else int(fields[9]) * SECTOR
