"""A real `sledwardend` process for tests: started, listened to over its feed, ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from firmware.feed.client import FeedClient
from firmware.state import State

PATIENCE_S = 60.0


class Daemon:
    """A daemon with a journal and a feed of its own; a context that ends it whatever happens."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        journal: Path | None = None,
        feed: Path | None = None,
    ) -> None:
        self.journal = journal or folder / "journal"
        self._sockets = tempfile.TemporaryDirectory(prefix="sledwarden-test-")
        self.feed_path = feed or Path(self._sockets.name) / "feed.sock"
        self.log_path = folder / "daemon.log"
        self._log = self.log_path.open("a")
        command = [sys.executable, "-m", "firmware.daemon", *arguments]
        command += ["--journal", str(self.journal), "--feed", str(self.feed_path)]
        self.process = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        self.feed = FeedClient(self.feed_path)

    def wait_for(self, wanted: Callable[[State], bool]) -> State:
        """The first state that is as wanted; fails after `PATIENCE_S`, or when the daemon ends."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            for message in self.feed.poll(0.1):
                if isinstance(message, State) and wanted(message):
                    return message
            if self.process.poll() is not None:
                break
        raise AssertionError(
            f"no such state; exit {self.process.poll()}, last {self.feed.state}, "
            f"trouble {self.feed.trouble}, log:\n{self.log}"
        )

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it by a signal and returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def wait(self, timeout_s: float) -> int:
        """Waits until it ends by itself; returns its exit code."""
        return self.process.wait(timeout_s)

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

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
        self.feed.close()
        self._log.close()
        self._sockets.cleanup()
