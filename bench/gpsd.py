"""From the end of a sentence to whoever asked for it: gpsd's JSON clients, and the unit's."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import TracebackType

import msgspec

from bench.daemons import Cost
from bench.line import ENVIRONMENT, ROOT, Line, wait_ready
from bench.report import Column, Figures, Table, quantile
from bench.sentences import FAST_MPH, SLOW_MPH
from firmware.feed.client import FeedClient
from firmware.state import State
from firmware.units import mps

EPOCHS = 800
BLOCKS = 2
LEAST_EPOCHS = 320
WARM_UP_EPOCHS = 20
"""Not counted at the beginning of each block: gpsd hunts for the kind of its receiver."""

SETTLE_S = 0.3
PATIENCE_S = 10.0
EPOCH_NS = 100_000_000
MIDDLE_MPH = (FAST_MPH + SLOW_MPH) / 2.0
WATCH = b'?WATCH={"enable":true,"json":true}\n'
ABSENT = "gpsd is not here: left out. apt-get install gpsd gpsd-clients"

PIN, FEED, GPSD = "sledwarden: red pin", "sledwarden: feed client", "gpsd: JSON client"

NOTE = (
    "Six sentences at 10 Hz, RMC first, 8 bytes at a time at 115,200 baud into a pseudo-terminal; "
    "60 and 40 mph in turn after dark. A writer's process stamps monotonic_ns just before it "
    "writes the end of an RMC; an epoch has come with the first change of the pin, of the state's "
    "speed or of TPV's. Both clients are a thread of the same other process, woken by select and "
    "decoding with msgspec: of gpsd over loopback TCP, of the unit over its Unix socket. The unit "
    "judges, turns the light and seals an event each epoch with its journal and feed; gpsd only "
    "parses. Runs alternate. missed: not within its epoch's 100 "
    "ms, and so in no quantile. ratio: of p50, to the red pin's."
)

COLUMNS = (
    Column("side", "from the end of RMC to"),
    Column("samples", "samples", ",d"),
    Column("p50_us", "p50 us", ",.0f"),
    Column("p90_us", "p90 us", ",.0f"),
    Column("p99_us", "p99 us", ",.0f"),
    Column("max_us", "max us", ",.0f"),
    Column("ratio", "ratio", ".2f"),
    Column("cpu_percent", "CPU % of a core", ".2f"),
    Column("missed", "missed", ",d"),
)

Change = tuple[int, bool]
"""When a speed or a light was seen to change (monotonic ns), and whether to the fast one."""


@dataclass(slots=True)
class _Tally:
    latencies_us: list[float] = field(default_factory=list)
    cpu_percents: list[float] = field(default_factory=list)
    missed: int = 0

    def count(self, stamps_ns: list[int], changes: list[Change]) -> None:
        """Joins each epoch to the first change within it that goes its way."""
        for number, stamp_ns in enumerate(stamps_ns[WARM_UP_EPOCHS:], WARM_UP_EPOCHS):
            came_ns = next(
                (
                    seen_ns
                    for seen_ns, is_fast in changes
                    if stamp_ns <= seen_ns < stamp_ns + EPOCH_NS and is_fast is (number % 2 == 0)
                ),
                None,
            )
            if came_ns is None:
                self.missed += 1
            else:
                self.latencies_us.append((came_ns - stamp_ns) / 1e3)


class _Listener:
    """A context: a client in a thread of its own, and the changes of speed that it hears."""

    def __init__(self, hear: Callable[[], list[bool]]) -> None:
        """`hear` waits a moment and returns whether each speed that came is the fast one."""
        self.changes: list[Change] = []
        self._hear = hear
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listener")

    def _run(self) -> None:
        was_fast: bool | None = None
        while not self._ended.is_set():
            for is_fast in self._hear():
                if is_fast is not was_fast:
                    self.changes.append((time.monotonic_ns(), is_fast))
                was_fast = is_fast

    def __enter__(self) -> _Listener:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Runs both in turn; `share` of 800 epochs of each, and no fewer than 320."""
    table = Table("gpsd", "End of a sentence to a program that listens", COLUMNS, note=NOTE)
    if find() is None:
        table.note = ABSENT
        return table
    tallies = {name: _Tally() for name in (PIN, FEED, GPSD)}
    block = round(max(LEAST_EPOCHS, EPOCHS * share) / BLOCKS / 2.0) * 2 + WARM_UP_EPOCHS
    for number in range(BLOCKS):
        say(f"gpsd: sledwarden, block {number + 1} of {BLOCKS}")
        _run_unit(block, tallies[PIN], tallies[FEED])
        say(f"gpsd: gpsd, block {number + 1} of {BLOCKS}")
        _run_gpsd(block, tallies[GPSD])
    table.rows += _rows(tallies)
    return table


def find() -> str | None:
    """Where gpsd is; Debian keeps it in a folder that is not on everyone's path."""
    return shutil.which("gpsd", path=os.environ.get("PATH", "") + ":/usr/sbin")


def _run_unit(count: int, pin: _Tally, feed: _Tally) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as folder,
        Line("paced", count) as line,
    ):
        out = Path(folder) / "account.json"
        command = [sys.executable, "-m", "bench.side", "kept", line.port, str(out), folder]
        with subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE
        ) as process:
            client = FeedClient(Path(folder) / "feed.sock")
            try:
                wait_ready(process)
                with _Listener(lambda: _hear_unit(client)) as listener:
                    line.begin()
                    stamps_ns = line.wait()
                    time.sleep(SETTLE_S)
            finally:
                client.close()
                process.send_signal(signal.SIGTERM)
        account = json.loads(out.read_text())
    pin.count(stamps_ns, [(at_ns, is_high) for at_ns, is_high in account["changes"]])
    pin.cpu_percents.append(100.0 * account["cpu_s"] / account["wall_s"])
    feed.count(stamps_ns, listener.changes)


def _hear_unit(client: FeedClient) -> list[bool]:
    return [
        message.speed_mph > MIDDLE_MPH
        for message in client.poll(0.1)
        if isinstance(message, State) and message.speed_mph is not None
    ]


def _run_gpsd(count: int, tally: _Tally) -> None:
    with Line("paced", count) as line, _serving(line.port) as (process, client):
        hear = _Hearer(client)
        with _Listener(hear) as listener:
            before = Cost.of(process.pid)
            line.begin()
            stamps_ns = line.wait()
            time.sleep(SETTLE_S)
            after = Cost.of(process.pid)
    tally.count(stamps_ns, listener.changes)
    tally.cpu_percents.append(100.0 * (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s))


@contextlib.contextmanager
def _serving(tty: str) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """A gpsd of our own at a terminal, with one client that watches."""
    program = find()
    assert program is not None
    Path(tty).chmod(0o666)  # gpsd gives up root before it opens the terminal again
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "-N", "-n", "-D", "0", "-s", "115200", "-S", str(port), tty]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            with _connected(process, port) as client:
                client.sendall(WATCH)
                yield process, client
        finally:
            process.terminate()


def _connected(process: subprocess.Popen[bytes], port: int) -> socket.socket:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s and process.poll() is None:
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port))
        time.sleep(0.01)
    raise ChildProcessError(f"{process.args!r} does not listen")


class _Hearer:
    """Cuts gpsd's lines and decodes them."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._rest = b""

    def __call__(self) -> list[bool]:
        """Whether each speed that came within a moment is the fast one."""
        ready, _, _ = select.select([self._client], [], [], 0.1)
        if not ready:
            return []
        *lines, self._rest = (self._rest + self._client.recv(1 << 16)).split(b"\n")
        reports = [msgspec.json.decode(line) for line in lines if line.strip()]
        return [
            report["speed"] > mps(MIDDLE_MPH)
            for report in reports
            if report["class"] == "TPV" and "speed" in report
        ]


def _rows(tallies: dict[str, _Tally]) -> list[Figures]:
    rows: list[Figures] = []
    ours_us = median(tallies[PIN].latencies_us)
    for name, tally in tallies.items():
        ordered = sorted(tally.latencies_us)
        p50_us = median(ordered)
        row: Figures = {"side": name, "samples": len(ordered), "p50_us": p50_us}
        row |= {"p90_us": quantile(ordered, 0.9), "p99_us": quantile(ordered, 0.99)}
        row |= {"max_us": ordered[-1]}
        row |= {"ratio": p50_us / ours_us, "missed": tally.missed}
        if tally.cpu_percents:
            row["cpu_percent"] = median(tally.cpu_percents)
        rows.append(row)
    return rows
