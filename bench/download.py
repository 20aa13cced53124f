"""A journal taken from a unit: ours, the stock SMP client, ZMODEM; over a wire's pace and without.

The unit is the real `sledwarden-link` in a process of its own, on a pseudo-terminal. Between it and
the host's pseudo-terminal a third process carries the bytes, no faster than the baud rate allows in
each direction, and counts them. ZMODEM (`lrzsz`) sends the same file over the same wire.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from bench.line import ENVIRONMENT, ROOT, wait_ready
from bench.report import Column, Figures, Table
from firmware.journal import folder

PACES = (115_200, 921_600, 0)
"""Bits a second; 0 is as fast as it goes."""

SECONDS = 30.0
"""So long the wire takes for the bare bytes of the journal, where it is paced."""
LEAST_BYTES = 200_000
"""A segment's attachments and schemas alone are 60 kB."""

UNPACED_BYTES = 16 << 20

COLUMNS = (
    Column("pace", "baud"),
    Column("client", "client"),
    Column("mb", "MB", ".2f"),
    Column("mb_s", "MB/s", ".3f"),
    Column("useful", "useful / line bytes", ".3f"),
    Column("host_ms_mb", "host CPU ms/MB", ",.0f"),
    Column("unit_ms_mb", "unit CPU ms/MB", ",.0f"),
)

NOTE = (
    "Useful bytes are the file's; line bytes are those of the unit's direction, framing and the "
    "index included. ours: `sledwarden download`, packed. smpmgr: the file group, one request at a "
    "time. sz/rz: ZMODEM, 8 KiB blocks, until the last byte is there: rz often waits 30 s more. "
    "CPU is that of the whole process, its start included; so is the time."
)


def measure(share: float, tell: Callable[[str], None]) -> Table:
    """Each client at each pace; `share` of the bytes."""
    rows: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as made:
        place = Path(made)
        for baud in PACES:
            size = int(share * (baud / 10 * SECONDS if baud else UNPACED_BYTES))
            size = max(LEAST_BYTES, size)
            journal = place / f"journal-{baud}"
            tell(f"download: a journal of {size / 1e6:.1f} MB")
            _write(journal, size)
            for name, client in CLIENTS.items():
                if name == "sz/rz" and shutil.which("sz") is None:
                    continue
                tell(f"download: {name} at {baud or 'no'} baud")
                rows.append(
                    {"pace": f"{baud or 'unpaced'}", "client": name} | client(journal, baud)
                )
    return Table("download", "Download over a pseudo-terminal", COLUMNS, rows, NOTE)


def _write(journal: Path, size: int) -> None:
    """A journal with one closed segment of about so many bytes, of a plausible ride."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.download", "write", str(journal), str(size)],
        cwd=ROOT, env=ENVIRONMENT, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise ChildProcessError("the journal could not be written")


def _segment(journal: Path) -> Path:
    return folder.segments(journal)[0].path


@dataclass(slots=True)
class Spent:
    """What a process used: CPU seconds, from /proc."""

    pid: int

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Wire:
    """Two pseudo-terminals and who carries between them; a context."""

    def __init__(self, baud: int) -> None:
        self._unit, self.unit_port = _pty()
        self._host, self.host_port = _pty()
        self._carrier = subprocess.Popen(
            [sys.executable, "-m", "bench.download", "carry", str(self._unit), str(self._host),
             str(baud)],
            cwd=ROOT, env=ENVIRONMENT, pass_fds=[self._unit, self._host],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        wait_ready(self._carrier)

    def carried(self) -> int:
        """Ends it; how many bytes came from the unit."""
        assert self._carrier.stdin is not None
        assert self._carrier.stdout is not None
        self._carrier.stdin.close()
        return int(self._carrier.stdout.read())

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._carrier.poll() is None:
            self._carrier.kill()
        self._carrier.wait()
        if self._carrier.stdout is not None:
            self._carrier.stdout.close()
        for end in (self._unit, self._host):
            os.close(end)


def _pty() -> tuple[int, str]:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    name = os.ttyname(theirs)
    _KEPT_OPEN.append(theirs)  # else the line hangs up between two that open it
    return ours, name


_KEPT_OPEN: list[int] = []


@contextmanager
def _unit(journal: Path, port: str, baud: int) -> Iterator[int]:
    """A link that serves the journal at a port, open to anyone; its process id."""
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as made:
        feed = Path(made) / "feed.sock"
        command = [sys.executable, "-m", "bench.download", "unit", str(feed), str(journal), port,
                   str(baud or 921_600)]  # fmt: skip
        link = subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stdin=subprocess.PIPE
        )
        try:
            wait_ready(link)
            yield link.pid
        finally:
            link.kill()
            link.wait()
            for pipe in (link.stdin, link.stdout):
                if pipe is not None:
                    pipe.close()


def _timed(command: list[str], **how: object) -> tuple[float, float]:
    """Wall and CPU seconds of a process that must end well."""
    before = os.times()
    begun_s = time.monotonic()
    subprocess.run(command, check=True, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300, **how)  # type: ignore[call-overload]  # fmt: skip
    wall_s, after = time.monotonic() - begun_s, os.times()
    spent = after.children_user + after.children_system
    return wall_s, spent - before.children_user - before.children_system


def _smp(journal: Path, baud: int, client: Callable[[str, Path], list[str]], got: str) -> Figures:
    path = _segment(journal)
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as made, Wire(baud) as wire:
        with _unit(journal, wire.unit_port, baud) as pid:
            begun_s = Spent(pid).cpu_s()
            wall_s, host_s = _timed(client(wire.host_port, Path(made)))
            unit_s = Spent(pid).cpu_s() - begun_s
        carried = wire.carried()
        (fetched,) = Path(made).glob(got)
        return _figures(path, fetched, wall_s, carried, host_s, unit_s)


def _figures(
    sent: Path, got: Path, wall_s: float, carried: int, host_s: float, unit_s: float | None
) -> Figures:
    if hashlib.sha256(sent.read_bytes()).digest() != hashlib.sha256(got.read_bytes()).digest():
        raise ValueError(f"{got} is not what was sent")
    size = sent.stat().st_size
    figures: Figures = {
        "mb": size / 1e6,
        "mb_s": size / 1e6 / wall_s,
        "useful": size / carried,
        "host_ms_mb": host_s * 1e3 / (size / 1e6),
    }
    if unit_s is not None:
        figures["unit_ms_mb"] = unit_s * 1e3 / (size / 1e6)
    return figures


def _ours(journal: Path, baud: int) -> Figures:
    def client(port: str, into: Path) -> list[str]:
        return [sys.executable, "-m", "host_tools.cli", "download", "--port", port, "--into",
                str(into), "--baud", str(baud or 921_600), "--key", str(into / "key")]  # fmt: skip

    return _smp(journal, baud, client, "*/*/*.mcap")


def _stock(journal: Path, baud: int) -> Figures:
    path = _segment(journal)

    def client(port: str, into: Path) -> list[str]:
        remote = f"/journal/{path.parent.name}/{path.name}"
        return [sys.executable, "-m", "smpmgr", "--port", port, "--timeout", "10", "--baudrate",
                str(baud or 921_600), "file", "download", remote, str(into / "got")]  # fmt: skip

    return _smp(journal, baud, client, "got")


def _zmodem(journal: Path, baud: int) -> Figures:
    path = _segment(journal)
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as made, Wire(baud) as wire:
        unit = os.open(wire.unit_port, os.O_RDWR | os.O_NOCTTY)
        host = os.open(wire.host_port, os.O_RDWR | os.O_NOCTTY)
        before, begun_s = os.times(), time.monotonic()
        receiver = subprocess.Popen(
            ["rz", "--binary", "--overwrite", "--quiet"], stdin=host, stdout=host, cwd=made,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        subprocess.run(
            ["sz", "--binary", "--try-8k", "--quiet", str(path)], stdin=unit, stdout=unit,
            stderr=subprocess.DEVNULL, check=True, timeout=300,
        )  # fmt: skip
        got = Path(made) / path.name
        while got.stat().st_size < path.stat().st_size:
            time.sleep(0.001)
        wall_s = time.monotonic() - begun_s
        receiver.terminate()  # often it waits 30 s more for a farewell that it has missed
        receiver.wait()
        after = os.times()
        for end in (unit, host):
            os.close(end)
        spent = after.children_user + after.children_system
        cpu_s = spent - before.children_user - before.children_system
        return _figures(path, got, wall_s, wire.carried(), cpu_s, None)


CLIENTS: dict[str, Callable[[Path, int], Figures]] = {
    "ours": _ours,
    "smpmgr": _stock,
    "sz/rz": _zmodem,
}


# What runs in processes of its own.


def _carry(unit: int, host: int, baud: int) -> None:
    """Carries bytes both ways at a baud rate until stdin ends; says how many came from the unit."""
    for end in (unit, host):
        os.set_blocking(end, False)
    per_s = baud / 10 if baud else float("inf")
    waiting = {unit: bytearray(), host: bytearray()}  # what came from this end
    due_s = {unit: 0.0, host: 0.0}
    carried = 0
    print("ready", flush=True)
    while True:
        now_s = time.monotonic()
        reads = [end for end, held in waiting.items() if len(held) < 4096]
        writes = [
            unit + host - end for end, held in waiting.items() if held and due_s[end] <= now_s
        ]
        later_s = [due_s[end] - now_s for end, held in waiting.items() if held]
        pause_s = max(0.0, min([0.1, *(one for one in later_s if one > 0)]))
        can_read, can_write, _ = select.select([*reads, 0], writes, [], pause_s)
        if 0 in can_read:
            break
        for end in can_read:
            try:
                waiting[end] += os.read(end, 4096)
            except BlockingIOError:
                continue
        for end in can_write:
            source = unit + host - end
            piece = waiting[source][: 4096 if not baud else max(1, int(per_s * 0.005))]
            try:
                sent = os.write(end, piece)
            except BlockingIOError:
                continue
            del waiting[source][:sent]
            carried += sent if source == unit else 0
            due_s[source] = max(due_s[source], now_s - 0.02) + sent / per_s
    print(carried, flush=True)


def _serve(feed_path: Path, journal: Path, port: str, baud: int) -> None:
    """A unit that stands, and its port, opened as --open does."""
    from firmware.clock import Clock  # noqa: PLC0415  # the other processes need none of it
    from firmware.link.main import Link, Plan  # noqa: PLC0415  # as above
    from firmware.outputs.feed import Feed  # noqa: PLC0415  # as above
    from firmware.state import State  # noqa: PLC0415  # as above

    clock = Clock()
    feed = Feed(feed_path, lambda _reading: None, clock)
    feed.start()

    def stand() -> None:
        while True:
            feed.push(State(at_s=clock.mono_s(), is_standing=True))
            time.sleep(0.2)

    threading.Thread(target=stand, daemon=True).start()
    link = Link(Plan("bench", feed_path, journal, port, baud, None, None, False), clock)
    link.door.open_for_a_desk()
    threading.Thread(target=link.run, daemon=True).start()
    while link.door.state is None:
        time.sleep(0.01)
    print("ready", flush=True)
    sys.stdin.read()


def _write_journal(path: Path, size: int) -> None:
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415  # as above
    from random import Random  # noqa: PLC0415  # as above

    from firmware.clock import Clock  # noqa: PLC0415  # as above
    from firmware.findings import Finding, Verdict  # noqa: PLC0415  # as above
    from firmware.journal import writer  # noqa: PLC0415  # as above
    from firmware.journal.record import Start  # noqa: PLC0415  # as above
    from firmware.law.packs import path_of  # noqa: PLC0415  # as above
    from firmware.readings import Channel, Fix, Light, Reading  # noqa: PLC0415  # as above

    writer.ROLL_BYTES = 1 << 30  # one segment, whatever its size
    writer.ROLL_S = 1e9
    start = Start("bench", "bench", "snowmobile", ("wi",))
    law = path_of("wi").read_bytes()
    journal = writer.Journal(
        path, start, Clock(), attachments=[("law/wi.toml", law)], is_patient=True
    )
    journal.open()
    chance, at_s, utc = Random(1), 100.0, datetime(2026, 1, 17, 22, tzinfo=UTC)
    lat, lon, speed = 45.0, -90.0, 15.0
    written, number = 60_000, 0
    while written < size:
        number += 1
        at_s += 0.1
        utc += timedelta(seconds=0.1)
        speed = min(30.0, max(5.0, speed + chance.gauss(0, 0.2)))
        lat, lon = lat + speed * 7e-7, lon + chance.gauss(0, 3e-6)
        fix = Fix(lat, lon, 2.5 + chance.random(), speed, 0.25, 12.3 + chance.random(), utc)
        journal.put(Reading(Channel.FIX, fix, at_s - 0.02, "gps@/dev/serial0", 2.5), at_s, utc)
        written += 530  # a fix and its copy for maps, as they stand in a file
        if number % 2:
            light = Light(round(800 + chance.gauss(0, 20), 1), 3.0)
            lamp = Reading(Channel.LIGHT_HEAD, light, at_s, "bh1750@i2c-1:0x23", 1.0)
            journal.put(lamp, at_s, utc)
            written += 190
        if number % 50 == 0:
            finding = Finding(
                "350.10(1)(gm)", Verdict.COMPLIANT, "by day", speed * 2.2, None, "mph"
            )
            journal.put(finding, at_s, utc)
    if not journal.close(at_s, "bench", 120.0):
        raise OSError("the journal could not be closed")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["carry", unit_end, host_end, pace]:
            _carry(int(unit_end), int(host_end), int(pace))
        case ["unit", feed_socket, kept, at, pace]:
            _serve(Path(feed_socket), Path(kept), at, int(pace))
        case ["write", where, count]:
            _write_journal(Path(where), int(count))
