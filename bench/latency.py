"""From the end of a sentence to the red pin: the unit, and the loop that anyone would write."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.line import ENVIRONMENT, ROOT, Line, wait_ready
from bench.report import Column, Figures, Table, quantile

SIDES = {
    "unit": "sledwarden",
    "kept": "sledwarden with journal and feed",
    "naive": "naive: readline + pynmea2",
}
WARM_UP = 0.02
"""This share at the beginning of each run is not counted."""

SETTLE_S = 0.3

NOTE = (
    "A writer's process stamps monotonic_ns just before it writes the end of an RMC to a "
    "pseudo-terminal; the red mock pin stamps its change. Speeds of 60 and 40 mph in turn after "
    "dark, so that every RMC turns the light: the alert table with clear_s = 0 and, in the unit, "
    "the gate of acceleration open. With the journal every turn is an event of its own, sealed "
    "and synced at once: more than a ride has. The naive loop judges with the same monitor "
    "and sets the same lights, with no thread, queue, gate, timer or journal. Runs alternate; the "
    "first 2 % of each is dropped. ratio: of p50, to sledwarden's."
)

COLUMNS = (
    Column("input", "input"),
    Column("side", "program"),
    Column("samples", "samples", ",d"),
    Column("p50_us", "p50 us", ",.0f"),
    Column("p90_us", "p90 us", ",.0f"),
    Column("p99_us", "p99 us", ",.0f"),
    Column("max_us", "max us", ",.0f"),
    Column("ratio", "ratio", ".2f"),
    Column("cpu_percent", "CPU % of a core", ".2f"),
    Column("missed", "missed", ",d"),
)


@dataclass(slots=True)
class _Tally:
    latencies_us: list[float] = field(default_factory=list)
    medians_us: list[float] = field(default_factory=list)
    cpu_percents: list[float] = field(default_factory=list)
    missed: int = 0


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Runs all sides in turn; `share` of 10,000 sentences and of 1,000 epochs."""
    table = Table("latency", "End of a sentence to the pin", COLUMNS, note=NOTE)
    plans = (
        ("RMC at 100 Hz", "rmc", round(10_000 * share), 4),
        ("6 sentences at 10 Hz, 115,200 baud", "paced", round(1_000 * share), 2),
    )
    for name, mode, count, blocks in plans:
        # At 100 turns a second the journal would be measured, not the unit.
        tallies = {side: _Tally() for side in SIDES if mode == "paced" or side != "kept"}
        block = max(50, round(count / blocks / 2.0 / (1.0 - WARM_UP)) * 2)  # even: it ends dark
        for number in range(max(1, round(count / block))):
            for side, tally in tallies.items():
                say(f"latency: {name}, {SIDES[side]}, block {number + 1}")
                _run(side, mode, block, tally)
        table.rows += _rows(name, tallies)
    return table


def _run(side: str, mode: str, count: int, tally: _Tally) -> None:
    """One block of one side."""
    with (
        tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as folder,
        Line(mode, count) as line,
    ):
        out = Path(folder) / "account.json"
        command = [sys.executable, "-m", "bench.side", side, line.port, str(out), folder]
        with subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE
        ) as process:
            try:
                wait_ready(process)
                line.begin()
                stamps_ns = line.wait()
                _settle(process)
            finally:
                process.send_signal(signal.SIGTERM)
        account = json.loads(out.read_text())
    _count(stamps_ns, account, tally)


def _settle(process: subprocess.Popen[bytes]) -> None:
    """Lets the last sentence be judged."""
    try:
        process.wait(SETTLE_S)
    except subprocess.TimeoutExpired:
        return
    raise ChildProcessError(f"{process.args!r} ended by itself")


def _count(stamps_ns: list[int], account: Figures, tally: _Tally) -> None:
    """Joins the changes of the pin to the sentences, in order: 60 mph lights it, 40 darkens it.

    A light that was held up for so long that its flash went dark by itself is darkened by no
    sentence: that one is missed.
    """
    changes = deque(account["changes"])
    took_us: list[float] = []
    first = round(len(stamps_ns) * WARM_UP)
    for number, stamp_ns in enumerate(stamps_ns):
        if not changes or changes[0][1] is not (number % 2 == 0):
            tally.missed += 1
            continue
        changed_ns, _ = changes.popleft()
        if number >= first:
            took_us.append((changed_ns - stamp_ns) / 1e3)
    if not took_us or min(took_us) < 0.0:
        raise AssertionError("the changes of the pin don't fit the sentences")
    tally.cpu_percents.append(100.0 * account["cpu_s"] / account["wall_s"])
    tally.latencies_us += took_us
    tally.medians_us.append(median(took_us))


def _rows(name: str, tallies: dict[str, _Tally]) -> list[Figures]:
    rows: list[Figures] = []
    ours_us = median(tallies["unit"].latencies_us)
    for side, tally in tallies.items():
        ordered = sorted(tally.latencies_us)
        p50_us = quantile(ordered, 0.5)
        row: Figures = {"input": name, "side": SIDES[side], "samples": len(ordered)}
        row |= {"p50_us": p50_us, "p90_us": quantile(ordered, 0.9)}
        row |= {"p99_us": quantile(ordered, 0.99), "max_us": ordered[-1]}
        row |= {"p50_us_of_blocks": tally.medians_us, "ratio": p50_us / ours_us}
        row |= {"cpu_percent": median(tally.cpu_percents), "missed": tally.missed}
        rows.append(row)
    return rows
