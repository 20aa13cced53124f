"""What an hour of a ride takes: as it is sealed, as it is stored, and of the device."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from bench import real_ride
from bench.journal import CLOSE_S, START, Counted, device_bytes
from bench.report import Column, Figures, Table
from firmware import monitor
from firmware.clock import Clock
from firmware.findings import Standing
from firmware.grain import grained, instant_s
from firmware.journal import folder, stored
from firmware.journal.record import Record
from firmware.journal.writer import Journal
from firmware.law.packs import load as load_law
from firmware.readings import Channel, Reading
from firmware.sources.drive import every_sensor
from firmware.steady import Steady

HOUR_S = 3600.0
BLOCK = 4096
LAW = Path(__file__).parent.parent / "firmware" / "laws" / "wi.toml"

NOTE = (
    "A real ride, laid through its places at 10 Hz (bench/real_ride.py says how), judged under "
    "Wisconsin's law and kept as a unit keeps it, with one commit a second of the ride and one at "
    "once for what is urgent. Written is what the program gives to its disk; blocks are those of "
    "4 kB that this touches, with each sync; device is what /proc/diskstats says of the disk "
    "meanwhile, by whomever, with the file system's own journal. The peers keep the same judged "
    "records as JSON, committed at the same instants, without seal, index or schema. In the town "
    "as much lies near as is ever read, everywhere; its map is read anew as often as a unit does."
)
COLUMNS = (
    Column("what", "what"),
    Column("records", "records/h", ",.0f"),
    Column("raw", "MB/h sealed", ".2f"),
    Column("stored", "MB/h stored", ".2f"),
    Column("commits", "commits/h", ",.0f"),
    Column("written", "MB/h written", ".1f"),
    Column("blocks", "MB/h in blocks", ".1f"),
    Column("device", "MB/h device", ".0f"),
    Column("pack_s", "s to pack", ".1f"),
)

ALONE = frozenset({Channel.FIX, Channel.RECEIVER, Channel.SURROUNDINGS, Channel.JOURNAL})

RIDES: dict[str, tuple[Callable[[float], Iterator[Reading]], frozenset[Channel]]] = {
    "the receiver alone": (real_ride.gps_alone, ALONE),
    "every sensor": (real_ride.with_sensors, frozenset(Channel)),
    "the receiver in a town": (real_ride.in_town, ALONE),
}

Kept = tuple[float, Record, datetime | None, bool]


class Blocks(Counted):
    """The real disk, with the blocks counted that each write touches."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = 0

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        self.blocks += -(-(offset + len(content)) // BLOCK) - offset // BLOCK
        super().write(descriptor, content, offset)


def judged(readings: Iterator[Reading], fitted: frozenset[Channel]) -> Iterator[Kept]:
    """What a unit hands to its journal: instant, record, date, and whether it is urgent."""
    core = monitor.build(every_sensor(), [load_law("wi")], fitted)
    steady, chance, at_s = Steady(), random.Random(real_ride.SEED), 0.0
    for reading in readings:  # as firmware.unit does
        late_s = 0.0002 + 0.0004 * chance.random()
        at_s = max(at_s, instant_s(reading.mono_s + late_s))
        for one in steady.due(at_s) + steady.take(reading):
            told = grained(one, at_s)
            outcome = core.step(told, at_s)
            utc = core.timekeeper.utc(at_s)
            yield at_s, told, utc, False
            for when_s, record in outcome.findings:
                yield when_s, record, utc, False
            for when_s, alert in outcome.alerts:
                yield when_s, alert, utc, True
            for when_s, event in outcome.events:
                yield when_s, event, utc, True
            for when_s, note in outcome.notes:
                yield when_s, note, utc, not isinstance(note, Standing)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """An hour of each ride, and of the first by the peers."""
    table = Table("sizes", "What an hour of a ride takes", COLUMNS, note=NOTE)
    hours = share
    for name, (ride, fitted) in RIDES.items():
        say(f"sizes: {name}")
        given = list(judged(ride(hours * HOUR_S), fitted))
        table.rows.append({"what": name, **_ours(given, hours)})
        if fitted is ALONE and ride is real_ride.gps_alone:
            for peer, keep in PEERS.items():
                say(f"sizes: {name}, {peer}")
                table.rows.append({"what": f"  {peer}", **_peer(keep, given, hours)})
    return table


def _commits(given: list[Kept]) -> Iterator[list[Kept]]:
    """What is committed at once: a second of the ride, or what an urgent record ends."""
    batch: list[Kept] = []
    for one in given:
        if batch and int(one[0]) != int(batch[-1][0]):
            yield batch
            batch = []
        batch.append(one)
        if one[3]:
            yield batch
            batch = []
    if batch:
        yield batch


def _ours(given: list[Kept], hours: float) -> Figures:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as where:
        path, disk = Path(where) / "journal", Blocks()
        before = device_bytes(Path(where))
        attached = [("law/wi.toml", LAW.read_bytes())]
        journal = Journal(path, START, Clock(), attachments=attached, storage=disk)
        journal.open()
        commits = 0
        for batch in _commits(given):
            for at_s, record, utc, is_urgent in batch:
                journal.put(record, at_s, utc, urgent=is_urgent)
            assert journal.flush(CLOSE_S)
            commits += 1
        assert journal.close(given[-1][0], timeout_s=CLOSE_S)
        after = device_bytes(Path(where))
        sealed = [one.path.read_bytes() for one in folder.segments(path)]
    begin_s = time.process_time()
    packed = [stored.packed(one) for one in sealed]
    took_s = time.process_time() - begin_s
    return {
        "records": len(given) / hours,
        "raw": sum(map(len, sealed)) / 1e6 / hours,
        "stored": sum(map(len, packed)) / 1e6 / hours,
        "commits": commits / hours,
        "written": disk.bytes / 1e6 / hours,
        "blocks": disk.blocks * BLOCK / 1e6 / hours,
        "device": _apart(before, after) / 1e6 / hours,
        "pack_s": took_s / hours,
    }


def _lines(where: Path, given: list[Kept]) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor, written = os.open(where / "ride.jsonl", flags, 0o640), 0
    for batch in _commits(given):
        text = "".join(f"{_text(record)}\n" for _, record, _, _ in batch)
        written += os.write(descriptor, text.encode())
        os.fdatasync(descriptor)
    os.close(descriptor)
    return written


def _sqlite(where: Path, given: list[Kept]) -> int:
    known, written = sqlite3.connect(where / "ride.db", isolation_level=None), 0
    known.execute("PRAGMA journal_mode=WAL")
    known.execute("PRAGMA synchronous=FULL")
    known.execute("CREATE TABLE record (at_s REAL, told TEXT)")
    for batch in _commits(given):
        known.execute("BEGIN")
        for at_s, record, _, _ in batch:
            text = _text(record)
            written += len(text)
            known.execute("INSERT INTO record VALUES (?, ?)", (at_s, text))
        known.execute("COMMIT")
    known.close()
    return written


PEERS = {"append + fdatasync of JSON lines": _lines, "SQLite, WAL, synchronous=FULL": _sqlite}


def _peer(keep: Callable[[Path, list[Kept]], int], given: list[Kept], hours: float) -> Figures:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as where:
        before = device_bytes(Path(where))
        written = keep(Path(where), given)
        after = device_bytes(Path(where))
        size = sum(one.stat().st_size for one in Path(where).iterdir())
    return {
        "records": len(given) / hours,
        "raw": size / 1e6 / hours,
        "commits": sum(1 for _ in _commits(given)) / hours,
        "written": written / 1e6 / hours,
        "device": _apart(before, after) / 1e6 / hours,
    }


def _apart(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def _text(record: Record) -> str:
    return json.dumps(msgspec.to_builtins(record), separators=(",", ":"))
