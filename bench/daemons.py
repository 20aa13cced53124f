"""The real `sledwardend` as a process of its own, and what the kernel says that it costs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from bench.line import ENVIRONMENT, ROOT
from firmware.feed.messages import LineCutter, decode
from firmware.state import State

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_KNOCK_S = 0.001
_PATIENCE_S = 30.0

CONFIG = """
[unit]
id = "bench"
[gps]
port = "{port}"
baud = 115200
rate_hz = 10.0
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process has used since its start, and holds now."""

    at_s: float
    cpu_s: float
    rss_mb: float
    peak_mb: float

    @classmethod
    def of(cls, pid: int) -> Cost:
        """Reads /proc (proc(5))."""
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )
        return cls(
            time.monotonic(),
            (int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
            int(status["VmRSS"].split()[0]) / 1024.0,
            int(status["VmHWM"].split()[0]) / 1024.0,
        )


class Daemon:
    """A daemon with a fresh journal and a feed; a context that ends it whatever happens."""

    def __init__(self, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sledwarden-bench-")
        self.journal = Path(self._folder.name) / "journal"
        self.feed = Path(self._folder.name) / "feed.sock"
        self._log = (Path(self._folder.name) / "log").open("w+")
        command = [sys.executable, "-m", "firmware.daemon", *arguments]
        command += ["--journal", str(self.journal), "--feed", str(self.feed)]
        self._client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.begun_s = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=self._log, stderr=self._log
        )

    @classmethod
    def at(cls, port: str, folder: Path) -> Daemon:
        """The unit at a port, with no chip and no pin."""
        path = folder / "sledwarden.toml"
        path.write_text(CONFIG.format(port=port))
        return cls("--config", str(path))

    def states(self) -> Iterator[tuple[float, State]]:
        """Each state with the instant at which it came here; knocks until the feed is there."""
        until_s = self.begun_s + _PATIENCE_S
        while True:
            try:
                self._client.connect(str(self.feed))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                self._fail_unless(time.monotonic() < until_s)
                time.sleep(_KNOCK_S)
        self._client.settimeout(_PATIENCE_S)
        cutter = LineCutter(1 << 20)
        while octets := self._client.recv(1 << 16):
            came_s = time.monotonic()
            for line in cutter.cut(octets):
                message, _ = decode(line or b"")
                if isinstance(message, State):
                    yield came_s, message
        self._fail_unless(False)

    def wait_for(self, wanted: Callable[[State], bool]) -> float:
        """The instant at which the first state that is as wanted came."""
        return next(came_s for came_s, state in self.states() if wanted(state))

    def _fail_unless(self, is_well: bool) -> None:
        if not is_well or self.process.poll() is not None:
            self._log.seek(0)
            raise ChildProcessError(f"the daemon is not heard: {self._log.read()}")

    def end(self) -> None:
        """Ends it in good order; safe to call twice."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(_PATIENCE_S)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._client.close()
        self._log.close()
        self._folder.cleanup()


def has_fix(state: State) -> bool:
    """Whether a fix has been judged."""
    return state.speed_mph is not None


def is_night_judged(state: State) -> bool:
    """Whether a fix with a date that is believed has been judged: the night limit stands."""
    return state.speed_mph is not None and state.limit_mph is not None
