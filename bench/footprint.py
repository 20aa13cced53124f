"""What the running daemon holds and uses at ten fixes a second, beside the naive loop."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.daemons import Cost, Daemon, has_fix
from bench.latency import SIDES
from bench.line import ENVIRONMENT, ROOT, Line, wait_ready
from bench.report import Column, Figures, Table

WINDOW_S = 30.0
SETTLE_S = 2.0
EPOCH_HZ = 10.0
START_S = 30.0

NOTE = (
    "10 Hz x 6 sentences at the pace of 115,200 baud. CPU and journal over {window:.0f} s after "
    "2 s of settling; a client reads the feed. --config: a receiver on a pseudo-terminal, no chip "
    "and no pin, for this machine has none. --simulate: every part fitted; the chips' models, the "
    "mock pins, the drive's thread and its receiver (RMC and GGA, whole epochs) are in it. "
    "The naive loop has mock pins and a monitor, and keeps nothing. fdatasync: counted by strace "
    "in a run of its own."
)

COLUMNS = (
    Column("what", "program"),
    Column("rss_mb", "RSS MB", ",.1f"),
    Column("peak_mb", "peak MB", ",.1f"),
    Column("cpu_percent", "CPU % of a core", ".2f"),
    Column("journal_mb_per_h", "journal MB an hour", ",.1f"),
    Column("syncs_per_min", "fdatasync a minute", ",.0f"),
)

DRIVE = """# Name: A ride of the benchmarks
# Law: wi
# Zones: {pack}
# Start: 2027-01-15T04:00:00Z
# Floor: 2026-01-01
# Shows: what it costs
0.0 tether in
0.0 engine on
0.0 lamp head supply=on light=850
0.0 lamp tail supply=on light=300 colour=red
0.0 ride lat=44.05 lon=-88.43 heading=90 speed=45 rate=10
{turns}
{end} end
"""

PACK = ROOT / "host_tools" / "demo" / "lake.gpkg"


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Runs each program for the window, one after the other."""
    window_s = max(5.0, WINDOW_S * share)
    table = Table("footprint", "Footprint", COLUMNS, note=NOTE.format(window=window_s))
    epochs = round((window_s + START_S) * EPOCH_HZ)
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name:
        folder = Path(name)
        with Line("stream", epochs) as line:
            say("footprint: sledwardend --config")
            line.begin()
            with Daemon.at(line.port, folder) as daemon:
                row = _watched(daemon, window_s)
        with Line("stream", epochs) as line:
            say("footprint: counting fdatasync")
            line.begin()
            row |= _syncs(line, folder, window_s)
        table.rows.append({"what": "sledwardend --config"} | row)
        say("footprint: sledwardend --simulate")
        with Daemon("--simulate", str(_drive(folder, window_s))) as daemon:
            row = _watched(daemon, window_s)
            table.rows.append({"what": "sledwardend --simulate, everything fitted"} | row)
        with Line("stream", epochs) as line:
            say("footprint: naive")
            table.rows.append({"what": SIDES["naive"]} | _naive(line, folder, window_s))
    return table


def _drive(folder: Path, window_s: float) -> Path:
    end_s = window_s + START_S
    turns = "\n".join(
        f"{at_s:.1f} ride speed={60 if number % 2 == 0 else 45} over=4"
        for number, at_s in enumerate(10.0 * turn for turn in range(1, int(end_s // 10.0)))
    )
    shutil.copy(PACK, folder)  # a drive names what lies beside it
    path = folder / "bench.drive"
    path.write_text(DRIVE.format(pack=PACK.name, turns=turns, end=end_s))
    return path


def _watched(daemon: Daemon, window_s: float) -> Figures:
    """The cost of a daemon over the window, its feed being read."""
    states = daemon.states()
    settled_s = next(came_s for came_s, state in states if has_fix(state)) + SETTLE_S
    next(came_s for came_s, _ in states if came_s >= settled_s)
    before, kept = Cost.of(daemon.process.pid), _size(daemon.journal)
    next(came_s for came_s, _ in states if came_s >= before.at_s + window_s)
    after, kept_after = Cost.of(daemon.process.pid), _size(daemon.journal)
    daemon.end()
    took_s = after.at_s - before.at_s
    return _figures(before, after) | {"journal_mb_per_h": (kept_after - kept) / took_s * 3600 / 1e6}


def _figures(before: Cost, after: Cost) -> Figures:
    return {
        "rss_mb": after.rss_mb,
        "peak_mb": after.peak_mb,
        "cpu_percent": 100.0 * (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s),
    }


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.mcap"))


def _syncs(line: Line, folder: Path, window_s: float) -> Figures:
    """How often the journal is synced, where strace can count it."""
    strace = shutil.which("strace")
    if strace is None:
        return {}
    counts = folder / "counts"
    with Daemon.at(line.port, folder) as daemon:
        daemon.wait_for(has_fix)
        pid = str(daemon.process.pid)
        command = [strace, "-f", "-c", "-e", "trace=fdatasync", "-o", str(counts), "-p", pid]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
            time.sleep(window_s)
            tracer.send_signal(signal.SIGINT)
        daemon.end()
    found = re.search(r"^ *\S+ +\S+ +\S+ +(\d+) .*fdatasync$", counts.read_text(), re.MULTILINE)
    return {"syncs_per_min": int(found[1]) * 60.0 / window_s} if found else {}


def _naive(line: Line, folder: Path, window_s: float) -> Figures:
    command = [sys.executable, "-m", "bench.side", "naive", line.port]
    command += [str(folder / "account.json"), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE) as process:
        try:
            wait_ready(process)
            line.begin()
            time.sleep(SETTLE_S)
            before = Cost.of(process.pid)
            time.sleep(window_s)
            after = Cost.of(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
    return _figures(before, after)
