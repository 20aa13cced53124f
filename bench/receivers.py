"""What is made of real receivers' recordings: beside an oracle, and at what cost a sentence.

Peers are a bare pynmea2 line loop and, for speed alone, gpsd's own decoder. The oracle is gpsd's
report of each recording, so that gpsd is not judged by it.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from statistics import median
from typing import Any

import pynmea2

from bench import naive
from bench.report import Column, Figures, Table, quantile
from firmware.gps.epochs import distance_m
from firmware.gps.fixes import EpochReport, FixTracker, paced
from firmware.units import MPS_PER_KNOT
from tests.test_recordings import (
    FOLDER,
    INDEX,
    NAMES,
    TRUSTING,
    good_sentences,
    nearest,
    oracle_rows,
    played,
)

WRONG_M = 100.0
"""A place so far off is another place: not found, and counted as wrong."""

SAME_TIME_S = 0.002
_Paced = list[tuple[float, bytes]]
"""Pieces of a recording, each with its seconds since the first."""

ROUNDS = 5

NOTE = (
    "Oracle rows with a place; found: a report of that time (of that sentence, where the row has "
    f"no time) within {WRONG_M:.0f} m; wrong: of that time, but farther off. Differences are of "
    "what was found; of speed where a sentence carries the oracle's and the program derived none. "
    "sledwarden: FixTracker's epochs, before its gates. pynmea2: `parse` of each line, places of "
    "valid RMC and of GGA with a fix, no GLL; dates and speed of RMC. refused: lines at "
    "which pynmea2 or a field of it raised. *: index.json says where this oracle is wrong or "
    "simulated; nothing is excused."
)

COLUMNS = (
    Column("file", "recording"),
    Column("rows", "oracle\nrows", ",d"),
    Column("ours_found", "ours\nfound", ".2%"),
    Column("naive_found", "pynmea2\nfound", ".2%"),
    Column("ours_wrong", "ours\nwrong", ",d"),
    Column("naive_wrong", "pynm.\nwrong", ",d"),
    Column("ours_p50_m", "ours\np50 m", ".2f"),
    Column("ours_max_m", "ours\nmax m", ".2f"),
    Column("naive_p50_m", "pynm.\np50 m", ".2f"),
    Column("naive_max_m", "pynm.\nmax m", ".2f"),
    Column("ours_p50_mps", "ours\np50 m/s", ".3f"),
    Column("ours_max_mps", "ours\nmax m/s", ".2f"),
    Column("naive_p50_mps", "pynm.\np50 m/s", ".3f"),
    Column("naive_max_mps", "pynm.\nmax m/s", ".2f"),
    Column("refused", "refused", ",d"),
)

COST_NOTE = (
    "CPU time of one core over all recordings; medians of rounds in turn. sledwarden: FixTracker: "
    "an epoch's bytes at a time to gated fixes. pynmea2: `parse` of each line and eleven fields "
    "of RMC and GGA. gpsdecode -j: its user and system time over the recordings in one stream, "
    "its JSON thrown away. A sentence's time is the wall's, of a line handed over by itself; that "
    "which ends an epoch pays for its fix and gates in sledwarden, and for nothing in pynmea2. "
    "ratio: of sentences a second, to sledwarden's (over 1 is faster)."
)

COST_COLUMNS = (
    Column("what", "program"),
    Column("sentences", "sentences", ",d"),
    Column("per_s", "sentences a second", ",.0f"),
    Column("ratio", "ratio", ".2f"),
    Column("p50_us", "p50 us", ".1f"),
    Column("p99_us", "p99 us", ".1f"),
    Column("max_us", "max us", ",.0f"),
)


@dataclass(slots=True)
class _Score:
    rows: int = 0
    found: int = 0
    wrong: int = 0
    apart_m: list[float] = field(default_factory=list)
    apart_mps: list[float] = field(default_factory=list)

    def add(self, other: _Score) -> None:
        self.rows += other.rows
        self.found += other.found
        self.wrong += other.wrong
        self.apart_m += other.apart_m
        self.apart_mps += other.apart_mps

    def figures(self, whose: str) -> Figures:
        row: Figures = {}
        if self.rows:
            row |= {f"{whose}_found": self.found / self.rows, f"{whose}_wrong": self.wrong}
        for unit, apart in (("m", self.apart_m), ("mps", self.apart_mps)):
            if apart:
                row |= {f"{whose}_p50_{unit}": median(apart), f"{whose}_max_{unit}": max(apart)}
        return row


def measure(_share: float, say: Callable[[str], None]) -> Table:
    """Every recording, quick or not: it takes seconds."""
    table = Table("receivers", "Real receivers' recordings, beside an oracle", COLUMNS, note=NOTE)
    all_ours, all_naive, all_refused = _Score(), _Score(), 0
    for name in NAMES:
        say(f"receivers: {name}")
        reports, refused = naive_reports((FOLDER / name).read_bytes())
        ours, theirs = _score(name, list(played(name)[0])), _score(name, reports)
        table.rows.append(
            _row(Path(name).stem + "*" * ("oracle_caveat" in INDEX[name]), ours, theirs)
        )
        table.rows[-1]["refused"] = refused
        all_ours.add(ours)
        all_naive.add(theirs)
        all_refused += refused
    table.rows.append(_row("all", all_ours, all_naive) | {"refused": all_refused})
    return table


def _row(title: str, ours: _Score, theirs: _Score) -> Figures:
    row: Figures = {"file": title, "rows": ours.rows}
    return row | ours.figures("ours") | theirs.figures("naive")


def _score(name: str, reports: list[EpochReport]) -> _Score:
    """Reports beside the oracle of a recording; in the order of their sentences."""
    by_second: dict[str, list[EpochReport]] = {}
    for report in reports:
        if report.utc is not None:
            by_second.setdefault(report.utc.strftime("%Y-%m-%dT%H:%M:%S"), []).append(report)
    carried_mps = {
        round(float(fields[place]) * MPS_PER_KNOT, 2)
        for _, fields in good_sentences((FOLDER / name).read_bytes())
        for kind, place in (("RMC", 7), ("VTG", 5))
        if fields[0][2:] == kind and len(fields) > place and fields[place]
    }
    score = _Score()
    for row in oracle_rows(name):
        if "lat" not in row:
            continue
        score.rows += 1
        candidates = reports
        if "time" in row:
            candidates = _of_time(by_second.get(row["time"][:19], []), row["time"])
        if candidates:
            _judge(score, nearest(candidates, row), row, carried_mps)
    return score


def _judge(
    score: _Score, report: EpochReport, row: dict[str, Any], carried_mps: set[float]
) -> None:
    apart_m = distance_m(report.lat_deg, report.lon_deg, row["lat"], row["lon"])
    if apart_m > WRONG_M:
        score.wrong += 1
        return
    score.found += 1
    score.apart_m.append(apart_m)
    if report.speed_mps is None or report.derived or "speed" not in row:
        return
    if round(row["speed"], 2) in carried_mps:
        score.apart_mps.append(abs(report.speed_mps - row["speed"]))


def _of_time(reports: list[EpochReport], time_text: str) -> list[EpochReport]:
    wanted = datetime.fromisoformat(time_text)
    return [
        report
        for report in reports
        if report.utc is not None and abs((report.utc - wanted).total_seconds()) < SAME_TIME_S
    ]


def naive_reports(octets: bytes) -> tuple[list[EpochReport], int]:
    """What a bare loop over the lines makes of a recording, and how many lines raised."""
    reports: list[EpochReport] = []
    refused = number = 0
    day: date | None = None
    for line in octets.split(b"\n"):
        number += line.count(b"$")
        text = line.strip()
        if not text:
            continue
        try:
            message = pynmea2.parse(text.decode("ascii"))
            report = _naive_report(message, number, day)
        except (pynmea2.ParseError, ValueError, TypeError, AttributeError):
            refused += 1
            continue
        if report is None:
            continue
        if report.speed_mps is not None and report.utc is not None:
            day = report.utc.date()
        elif reports and reports[-1].utc == report.utc is not None:
            report = replace(report, speed_mps=reports[-1].speed_mps)
        reports.append(report)
    return reports, refused


def _naive_report(
    message: Any,  # pynmea2 has no types
    number: int,
    day: date | None,
) -> EpochReport | None:
    utc: datetime | None = None
    speed_mps: float | None = None
    match message:
        case pynmea2.types.talker.RMC() if message.status == "A":
            utc = message.datetime
            if message.spd_over_grnd is not None:
                speed_mps = message.spd_over_grnd * MPS_PER_KNOT
        case pynmea2.types.talker.GGA() if message.gps_qual:
            if day is not None and message.timestamp is not None:
                utc = datetime.combine(day, message.timestamp)
        case _:
            return None
    return EpochReport(
        number, message.latitude, message.longitude, 0.0, 3, utc=utc, speed_mps=speed_mps
    )


def measure_cost(share: float, say: Callable[[str], None]) -> Table:
    """Sentences a second and a sentence's time, of each program in turn."""
    table = Table(
        "parsing", "What a sentence of these recordings costs", COST_COLUMNS, note=COST_NOTE
    )
    files = [(FOLDER / name).read_bytes() for name in NAMES]
    chunks = [paced(octets) for octets in files]
    lines = [
        [(at_s, line) for at_s, octets in one for line in octets.splitlines(keepends=True)]
        for one in chunks
    ]
    count = sum(octets.count(b"$") for octets in files)
    jobs: dict[str, Callable[[], float]] = {
        "sledwarden: FixTracker": lambda: _cpu_s(lambda: _feed_all(chunks)),
        "pynmea2": lambda: _cpu_s(lambda: _parse_all(lines)),
    }
    program = shutil.which("gpsdecode")
    if program is None:
        table.note += " gpsdecode is not here: left out. apt-get install gpsd-clients"
    else:
        jobs["gpsdecode -j"] = lambda: _decode_s(program, b"\n".join(files))
    took_s: dict[str, list[float]] = {name: [] for name in jobs}
    rounds = max(1, round(ROUNDS * share))
    for number in range(rounds):
        for name, job in jobs.items():
            say(f"parsing: {name}, round {number + 1} of {rounds}")
            took_s[name].append(job())
    singles = {"sledwarden: FixTracker": _single_ours, "pynmea2": _single_naive}
    ours_s = median(took_s["sledwarden: FixTracker"])
    for name, each_s in took_s.items():
        row: Figures = {"what": name, "sentences": count, "rounds_s": each_s}
        row |= {"per_s": count / median(each_s), "ratio": ours_s / median(each_s)}
        if name in singles:
            say(f"parsing: {name}, line by line")
            ordered = sorted(singles[name](lines))
            row |= {"p50_us": median(ordered), "p99_us": quantile(ordered, 0.99)}
            row["max_us"] = ordered[-1]
        table.rows.append(row)
    return table


def _cpu_s(run: Callable[[], None]) -> float:
    begin_s = time.process_time()
    run()
    return time.process_time() - begin_s


def _feed_all(files: list[_Paced]) -> None:
    for chunks in files:
        track = FixTracker(TRUSTING)
        for at_s, octets in chunks:
            track.feed(octets, at_s)


def _parse_all(files: list[_Paced]) -> None:
    for lines in files:
        naive.parse_all(line.strip() for _, line in lines)


def _decode_s(program: str, octets: bytes) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "-j"], input=octets, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _single_ours(files: list[_Paced]) -> list[float]:
    took_us: list[float] = []
    for lines in files:
        track = FixTracker(TRUSTING)
        for at_s, line in lines:
            begin_ns = time.perf_counter_ns()
            track.feed(line, at_s)
            took_us.append((time.perf_counter_ns() - begin_ns) / 1e3)
    return took_us


def _single_naive(files: list[_Paced]) -> list[float]:
    took_us: list[float] = []
    for lines in files:
        for _, line in lines:
            begin_ns = time.perf_counter_ns()
            naive.parse_all((line.strip(),))
            took_us.append((time.perf_counter_ns() - begin_ns) / 1e3)
    return took_us
