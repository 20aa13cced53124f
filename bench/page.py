"""From the end of a sentence to the pixel: the unit, its feed, the page, and a real Chromium."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
import tty
from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.daemons import Daemon, is_night_judged
from bench.line import ENVIRONMENT, ROOT
from bench.report import Column, Figures, Table, quantile
from bench.sentences import LAT_DEG, LON_DEG, START, six
from firmware.drives.ride import Motion, epoch, travel
from firmware.units import mps

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

EPOCHS = 1_500
RATE_HZ = 10.0
LOW_MPH, HIGH_MPH = 31, 60
SETTLE_EPOCHS = 30
"""So many at the beginning are not counted: the date is not believed yet."""

NOTE = (
    "A pseudo-terminal is given an RMC and five sentences more ten times a second; the speed goes "
    "up and down by 1 mph each time, so that each sentence shows, and passes the night limit of 55 "
    "now and then. Stamped just before the RMC is written, and in headless Chromium (software "
    "drawing, 60 frames a second) in the task after the frame that shows it. A speed alone is "
    "pushed eleven times a second at most; a change of an alert at once."
)

COLUMNS = (
    Column("what", "what"),
    Column("samples", "samples", ",d"),
    Column("p50_ms", "p50 ms", ",.1f"),
    Column("p90_ms", "p90 ms", ",.1f"),
    Column("p99_ms", "p99 ms", ",.1f"),
    Column("max_ms", "max ms", ",.1f"),
    Column("missed", "never shown", ",d"),
)

# Both ends stamp the machine's clock: the browser's is timeOrigin and what has passed since.
WATCH = """
window.seen = [];
const channel = new MessageChannel();
let speed = "", level = "";
channel.port1.onmessage = () => {
  const now = performance.timeOrigin + performance.now();
  const shown = document.getElementById("speed").textContent;
  const loud = document.documentElement.dataset.level;
  if (shown !== speed) window.seen.push([now, "speed", shown]);
  if (loud !== level) window.seen.push([now, "level", loud]);
  speed = shown; level = loud;
};
new MutationObserver(() => requestAnimationFrame(() => channel.port2.postMessage(0)))
  .observe(document.documentElement, {attributes: true, childList: true, characterData: true,
    subtree: true});
"""


def measure(share: float, say: Callable[[str], None]) -> Table:
    """One ride; `share` of 1,500 epochs."""
    table = Table("page", "End of a sentence to the pixel", COLUMNS, note=NOTE)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only this subject needs it

    speeds = [*range(LOW_MPH, HIGH_MPH), *range(HIGH_MPH, LOW_MPH, -1)]
    count = max(2 * len(speeds), round(EPOCHS * share)) + SETTLE_EPOCHS
    plan = [speeds[number % len(speeds)] for number in range(count)]
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with (
        tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name,
        Daemon.at(os.ttyname(theirs), Path(name)) as daemon,
        _page(daemon.feed) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        window = browser.new_page(viewport={"width": 390, "height": 844})
        epochs = _epochs(plan)
        say("page: waits for the unit")
        _ride(ours, epochs, SETTLE_EPOCHS)
        daemon.wait_for(is_night_judged)
        window.goto(address)
        window.wait_for_selector("html[data-life='live']")
        window.evaluate(WATCH)
        say(f"page: {count} sentences")
        stamps = _ride(ours, epochs, count - SETTLE_EPOCHS)
        window.wait_for_timeout(500)
        seen = window.evaluate("window.seen")
        browser.close()
        daemon.end()
    os.close(ours)
    os.close(theirs)
    table.rows = _rows(stamps, seen)
    return table


@contextlib.contextmanager
def _page(feed: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "firmware.page.main", "--feed", str(feed), "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = re.search(r"http://\S+", process.stdout.readline())
        if said is None:
            raise ChildProcessError("the page did not start")
        try:
            yield said[0]
        finally:
            process.terminate()


def _epochs(plan: list[int]) -> Iterator[list[bytes]]:
    lat_deg, lon_deg, heading_deg = LAT_DEG, LON_DEG, 90.0
    for number, speed_mph in enumerate(plan):
        motion = Motion(0.0, lat_deg, lon_deg, heading_deg, mps(speed_mph))
        octets = epoch(motion, START + timedelta(seconds=number / RATE_HZ))
        yield six(octets, mps(speed_mph))
        step_m = mps(speed_mph) / RATE_HZ
        lat_deg, lon_deg, heading_deg = travel(lat_deg, lon_deg, heading_deg, step_m)


def _ride(line: int, epochs: Iterator[list[bytes]], count: int) -> list[tuple[float, int]]:
    """Writes so many epochs; when (ms since 1970) the end of each RMC went out, and its speed."""
    stamps: list[tuple[float, int]] = []
    begin_s = time.monotonic()
    for number in range(count):
        rmc, *others = next(epochs)
        time.sleep(max(0.0, begin_s + number / RATE_HZ - time.monotonic()))
        knots = float(rmc.split(b",")[7])
        stamps.append((time.time() * 1e3, round(knots * 1.150779)))
        os.write(line, rmc)
        os.write(line, b"".join(others))
    return stamps


def _rows(stamps: list[tuple[float, int]], seen: list[list[Any]]) -> list[Figures]:
    """Joins what was shown to the newest sentence that says it."""
    shown: dict[int, float] = {}
    for at_ms, what, text in seen:
        if what != "speed" or not text.isdecimal():
            continue
        newest = bisect_right(stamps, (at_ms, 999)) - 1
        for number in range(newest, max(-1, newest - 10), -1):
            if stamps[number][1] == int(text):
                shown.setdefault(number, at_ms - stamps[number][0])
                break
    warned: list[float] = []
    crossings = [at_ms for (_, before), (at_ms, speed) in pairwise(stamps) if before <= 55 < speed]
    for at_ms, what, text in seen:
        newest = bisect_right(crossings, at_ms) - 1
        if what == "level" and text == "now" and newest >= 0:
            warned.append(at_ms - crossings[newest])
    return [
        _row("a speed", list(shown.values()), len(stamps) - len(shown)),
        _row("a warning: over the limit", warned, len(crossings) - len(warned)),
    ]


def _row(what: str, took_ms: list[float], missed: int) -> Figures:
    row: Figures = {"what": what, "samples": len(took_ms), "missed": missed}
    if took_ms:
        ordered = sorted(took_ms)
        row |= {f"p{share}_ms": quantile(ordered, share / 100.0) for share in (50, 90, 99)}
        row["max_ms"] = ordered[-1]
    return row
