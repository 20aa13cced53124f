"""How fast a ride is judged again, beside a bare pynmea2 loop over the same sentences."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec

from bench import naive, sentences
from bench.report import Column, Table
from bench.step import tracker
from firmware import monitor
from firmware.findings import Finding
from firmware.journal.reader import boots
from host_tools.journals.copy import JournalCopy
from host_tools.journals.judged import open_journal
from host_tools.replay import replaying
from host_tools.replay.recordings import Wishes, open_recording, recognise

LOG = Path(__file__).parent.parent / "host_tools" / "demo" / "tahoe_dusk.log"
ROUNDS = 7
HOUR_S = 3600.0
READ_BYTES = 4096

NOTE = (
    "CPU time of one core; medians of rounds in turn. The replay is what `sledwarden replay "
    "--findings --json` runs, into nothing: it opens the file, paces it, parses, gates, judges "
    "all clauses and encodes the findings. pynmea2 parses every sentence and reads eleven fields "
    "of RMC and GGA, each once, and judges nothing. ratio: of sentences a second, to pynmea2's "
    "(over 1 is faster). The journal holds readings, not sentences; its replay is compared record "
    "for record."
)

COLUMNS = (
    Column("input", "input"),
    Column("what", "program"),
    Column("cpu_s", "CPU s", ",.2f"),
    Column("ride_per_s", "ride s a second", ",.0f"),
    Column("sentences_per_s", "sentences a second", ",.0f"),
    Column("ratio", "ratio", ".2f"),
)

_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class _Job:
    name: str
    run: Callable[[], float]  # returns the ride's seconds, 0.0 where it knows none
    counts_sentences: bool = True
    took_s: list[float] = field(default_factory=list)
    ride_s: float = 0.0


def measure(share: float, say: Callable[[str], None]) -> Table:
    """The recording of the demo, then a made-up ride of an hour at 10 Hz, and its journal."""
    table = Table("replay", "Replay", COLUMNS, note=NOTE)
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name:
        hour = Path(name) / "hour.log"
        hour_s = HOUR_S * share
        say("replay: making a ride")
        epochs = (b"".join(six) for _, six in sentences.riding(hour_s, 10.0))
        hour.write_bytes(b"".join(epochs))
        say("replay: writing its journal")
        journal = Path(name) / "journal"
        _write_journal(hour, journal)
        (boot,) = boots(journal)
        rounds = max(3, round(ROUNDS * share))
        _measure(table, f"{LOG.name}", _jobs(LOG), LOG, rounds, say)
        jobs = [
            *_jobs(hour),
            _Job("sledwarden replay of the journal", lambda: _judge_journal(boot), False),
        ]
        _measure(table, f"10 Hz x 6 sentences, {hour_s / 60.0:.0f} min", jobs, hour, 3, say)
    return table


def _jobs(log: Path) -> list[_Job]:
    return [
        _Job("sledwarden replay", lambda: _judge(log)),
        _Job("FixTracker.feed alone", lambda: _feed(log)),
        _Job("bare pynmea2 loop", lambda: _peer(log)),
    ]


def _measure(
    table: Table, title: str, jobs: list[_Job], log: Path, rounds: int, say: Callable[[str], None]
) -> None:
    count = log.read_bytes().count(b"$")
    for number in range(rounds):
        for job in jobs:
            say(f"replay: {title}, {job.name}, round {number + 1} of {rounds}")
            begin_s = time.process_time()
            job.ride_s = job.run()
            job.took_s.append(time.process_time() - begin_s)
    peer_s = median(next(job for job in jobs if job.name.startswith("bare")).took_s)
    for job in jobs:
        cpu_s = median(job.took_s)
        row = {"input": title, "what": job.name, "cpu_s": cpu_s, "rounds_s": job.took_s}
        if job.ride_s:
            row["ride_per_s"] = job.ride_s / cpu_s
        if job.counts_sentences:
            row |= {"sentences_per_s": count / cpu_s, "ratio": peer_s / cpu_s}
        table.rows.append(row)


def _judge(log: Path) -> float:
    recording = open_recording(log, recognise(log), Wishes())
    core = replaying.build(recording.config)
    summary = replaying.Summary()
    for at_s, reading, told in replaying.judge(replaying.stream(recording), core):
        if reading is not None:
            summary.take_reading(at_s, reading)
        for one in told:
            summary.take_told(one)
            if isinstance(one.record, Finding):
                _encode(replaying.told_object(one))
    return summary.duration_s


def _judge_journal(boot: Path) -> float:
    held = open_journal(boot)
    core = monitor.build(held.config, held.laws)
    summary = replaying.Summary()
    for at_s, reading, told in replaying.judge(held.readings(), core):
        if reading is not None:
            summary.take_reading(at_s, reading)
        for one in told:
            summary.take_told(one)
            held.comparison.judge(one)
    held.comparison.finish()
    if held.comparison.difference:
        raise AssertionError(f"the journal does not replay: {held.comparison.difference}")
    return summary.duration_s


def _feed(log: Path) -> float:
    track = tracker()
    with log.open("rb") as file:
        while octets := file.read(READ_BYTES):
            track.feed(octets, 0.0)
    return 0.0


def _peer(log: Path) -> float:
    with log.open("rb") as file:
        naive.parse_all(line.strip() for line in file)
    return 0.0


def _write_journal(log: Path, folder: Path) -> None:
    recording = open_recording(log, recognise(log), Wishes())
    core = replaying.build(recording.config)
    with JournalCopy(folder, recording.config, core, "bench") as copy:
        for at_s, reading, told in replaying.judge(replaying.stream(recording), core):
            copy.keep(at_s, reading, told)
