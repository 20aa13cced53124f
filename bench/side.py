"""One program under measurement, in a process of its own, from its start to SIGTERM.

`python -m bench.side KIND PORT OUT FOLDER` says "ready" once it watches the port, and at SIGTERM
writes OUT: each change of the red pin (`time.monotonic_ns()`, level), and what it cost.

unit    the unit's own receiver thread, judging thread and lights
kept    the same with its journal and its feed in FOLDER
naive   the peer: pyserial's readline and pynmea2 in one loop, the same monitor, the same lights
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

import serial

from bench import naive
from firmware import monitor
from firmware.alerts.following import Alerts
from firmware.alerts.table import TABLE
from firmware.buses.pins_fake import FakePins
from firmware.clock import Clock
from firmware.config.schema import Config, Gps, Unit, fix_settings
from firmware.journal.record import Start
from firmware.journal.writer import Journal
from firmware.law.packs import load as load_law
from firmware.outputs.feed import Feed
from firmware.outputs.leds import Leds
from firmware.sources import gps
from firmware.unit import SELF_TEST_S
from firmware.unit import Unit as JudgingThread

BAUD: Final = 115_200
WATCHING, AMBER, RED = 23, 24, 25
WARM_UP_S = SELF_TEST_S + 0.3
ANY_ACCEL_MPS2 = 1e6

CONFIG = Config(unit=Unit(id="bench"), gps=Gps(baud=BAUD, rate_hz=10.0, max_accel_mps2=100.0))


class Side:
    """The parts that both sides have in common, and the account of what happened."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._changes: list[tuple[int, bool]] = []
        self._began = (0.0, 0.0)
        self.clock = Clock()
        self.pins = FakePins(self.clock)
        self.leds = Leds(self.pins, WATCHING, AMBER, RED)
        self.monitor = monitor.build(CONFIG, [load_law("wi")])
        self.monitor.alerts = Alerts(tuple(replace(row, clear_s=0.0) for row in TABLE))

    def begin(self) -> None:
        """From here on it is counted; tells whoever started us."""
        self.pins.watch(RED, self._see)
        self._began = (time.process_time(), time.monotonic())
        print("ready", flush=True)

    def _see(self, is_high: bool, mono_s: float) -> None:
        # A light that is held up for longer than its flash lasts goes dark and on by itself.
        if threading.current_thread().name != "rhythms":
            self._changes.append((round(mono_s * 1e9), is_high))

    def end(self) -> None:
        """Writes what happened."""
        cpu_s = time.process_time() - self._began[0]
        wall_s = time.monotonic() - self._began[1]
        usage = resource.getrusage(resource.RUSAGE_SELF)
        account = {
            "changes": self._changes,
            "cpu_s": cpu_s,
            "wall_s": wall_s,
            "rss_mb": usage.ru_maxrss / 1024.0,
        }
        self._out.write_text(json.dumps(account))


def run_naive(side: Side, port: str) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ended.set())
    with serial.Serial(port, BAUD, timeout=0.2) as line:
        side.begin()
        naive.loop(line, side.monitor, side.leds, ended.is_set)
    side.end()


def run_unit(side: Side, port: str, folder: Path | None) -> None:
    settings = replace(
        fix_settings(CONFIG, source="gps@bench", trust_dates=True), max_accel_mps2=ANY_ACCEL_MPS2
    )
    unit = JudgingThread(side.monitor, side.clock, outputs=[side.leds])
    journal, feed = None, None
    if folder is not None:
        start = Start(unit="bench", software="bench", vehicle="snowmobile", laws=("wi",))
        journal = Journal(folder / "journal", start, side.clock, on_change=unit.post_journal_health)
        journal.open()
        feed = Feed(folder / "feed.sock", unit.post, side.clock)
        feed.start()

    def end(_number: int, _frame: FrameType | None) -> None:
        side.end()
        unit.stop("over")

    signal.signal(signal.SIGTERM, end)
    # After the self-test, which holds the red light; a timer, for `run` keeps this thread.
    threading.Timer(WARM_UP_S, side.begin).start()
    unit.run([gps.Gps(port, BAUD, settings, side.clock)], journal=journal, feed=feed)


def main(kind: str, port: str, out: Path, folder: Path) -> None:
    side = Side(out)
    if kind == "naive":
        run_naive(side, port)
    else:
        run_unit(side, port, folder if kind == "kept" else None)
    side.pins.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
