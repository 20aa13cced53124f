"""How long `verify` takes for ten hours of the busiest ride."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import sentences, sizes
from bench.journal import CLOSE_S, START
from bench.report import Column, Figures, Table
from bench.step import tracker
from firmware.clock import Clock
from firmware.journal import folder, stored
from firmware.journal.folder import Storage
from firmware.journal.hearing import Hearing
from firmware.journal.keeper import Keeper
from firmware.journal.seal import Key
from firmware.journal.writer import Journal
from firmware.readings import Channel, Reading
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

HOURS = 10.0
NOTE = (
    "The ride breaks and keeps the limit of the night in turn, 20 s each, by Wisconsin's law: each "
    "change of an alert is sealed at once, as a unit does, and what the receiver said about each "
    "event is kept, which is then all that it said. One commit a second. Bare SHA-256 reads "
    "the same sealed files and digests them."
)
COLUMNS = (
    Column("what", "what"),
    Column("records", "records", ",.0f"),
    Column("seals", "seals", ",.0f"),
    Column("mb", "MB", ",.1f"),
    Column("s", "s", ".2f"),
    Column("ratio", "of SHA-256", ".1f"),
)


class Unsynced(Storage):
    """The real disk, without waiting for it: what is written is the same."""

    def sync(self, descriptor: int) -> None:
        """Waits for nothing."""


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Ten hours at 10 Hz: how long they are, and how long `verify` takes."""
    table = Table("verify", "A ride of ten hours at 10 Hz, judged", COLUMNS, note=NOTE)
    with tempfile.TemporaryDirectory() as where:
        path = Path(where) / "journal"
        say("verify: writing the ride")
        _ride(path, HOURS * share)
        rows = [_verified("as sealed", path, say)]
        say("verify: storing it")
        _store(path)
        rows.append(_verified("stored", path, say))
    table.rows += rows
    return table


def _ride(path: Path, hours: float) -> None:
    hearing = Hearing("gps@/dev/ttyAMA0")
    journal = Journal(path, START, Clock(), storage=Unsynced(), hearing=hearing)
    journal.open()
    at_s = last_s = 0.0
    readings = _heard(hearing, hours * 3600.0)
    for at_s, record, utc, is_urgent in sizes.judged(readings, frozenset(Channel)):
        if int(at_s) != int(last_s):
            assert journal.flush(CLOSE_S)
        journal.put(record, at_s, utc, urgent=is_urgent)
        last_s = at_s
    assert journal.close(at_s, timeout_s=CLOSE_S)


def _heard(hearing: Hearing, duration_s: float) -> Iterator[Reading]:
    track = tracker()
    for at_s, epoch in sentences.riding(duration_s, 10.0):
        octets = b"".join(epoch)
        hearing.hear(octets, at_s)
        yield from track.feed(octets, at_s)


def _store(path: Path) -> None:
    """Stores each closed segment, as the unit does beside the ride."""
    keeper = Keeper(path, START.unit)
    keeper.begin(Key.load(path.with_name("journal.key")))
    assert keeper.wait(3600.0)
    assert keeper.stop(CLOSE_S)
    assert not keeper.trouble, keeper.trouble


def _verified(what: str, path: Path, say: Callable[[str], None]) -> Figures:
    say(f"verify: {what}")
    files = [place.path for place in folder.segments(path)]
    size = sum(file.stat().st_size for file in files)
    begin_s = time.process_time()
    for file in files:
        hashlib.sha256(stored.read(file)).digest()
    bare_s = time.process_time() - begin_s
    begin_s = time.process_time()
    (source,) = find([path])
    report = verify(source).report
    took_s = time.process_time() - begin_s
    assert report.verdict == "whole", report.reasons
    return {
        "what": what,
        "records": sum(one.records for one in report.segments),
        "seals": sum(one.seal.count for one in report.segments if one.seal is not None),
        "mb": size / 1e6,
        "s": took_s,
        "ratio": took_s / bare_s,
    }
