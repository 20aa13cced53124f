"""A serial line of the benchmarks: a pseudo-terminal with the writer's process at one end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tty
from array import array
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parent.parent

CACHE = tempfile.TemporaryDirectory(prefix="sledwarden-bench-cache-")
ENVIRONMENT = {
    **{key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPYCACHEPREFIX": CACHE.name,
}
"""Programs start as installed ones do, from compiled modules, whatever the shell says of that."""


class Line:
    """A context: `port` may be opened by anyone; the writer waits until it is told to begin."""

    def __init__(self, mode: str, count: int) -> None:
        """`count` is sentences for mode "rmc", epochs for "paced" and "stream" (bench.writer)."""
        self._folder = tempfile.TemporaryDirectory(prefix="sledwarden-bench-")
        self._stamps = Path(self._folder.name) / "stamps"
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        self.port = os.ttyname(self._theirs)
        self._writer = subprocess.Popen(
            [sys.executable, "-m", "bench.writer", str(self._ours), mode, str(count), self._stamps],
            cwd=ROOT,
            env=ENVIRONMENT,
            pass_fds=[self._ours],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        wait_ready(self._writer)

    def begin(self) -> None:
        """Lets the receiver speak."""
        assert self._writer.stdin is not None
        self._writer.stdin.write(b"\n")
        self._writer.stdin.flush()

    def wait(self) -> list[int]:
        """Waits for the last sentence; the instants (ns) at which each RMC ended."""
        if self._writer.wait() != 0:
            raise ChildProcessError(f"the writer ended with {self._writer.returncode}")
        stamps = array("q")
        stamps.frombytes(self._stamps.read_bytes())
        return stamps.tolist()

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer.poll() is None:
            self._writer.kill()
        self._writer.wait()
        for pipe in (self._writer.stdin, self._writer.stdout):
            if pipe is not None:
                pipe.close()
        os.close(self._ours)
        os.close(self._theirs)
        self._folder.cleanup()


def wait_ready(process: subprocess.Popen[bytes]) -> None:
    """Waits until a process of ours says "ready"."""
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise ChildProcessError(f"{process.args!r} ended before it was ready")
