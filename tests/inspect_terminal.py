"""`sledwarden inspect` as tests run it: without a terminal, and on a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from host_tools.cli import app

PATIENCE_S = 60.0


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *words: str) -> Done:
    """The command without a terminal, in a folder."""
    with contextlib.chdir(folder):
        done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["inspect", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


class Person:
    """The command on a pseudo-terminal, and the one who sits at it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._pid, self._line = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.environ |= {"COLUMNS": "160", "TERM": "xterm"}
            os.execv(sys.executable, [sys.executable, "-m", "host_tools.cli", "inspect", *words])
        self.said = ""
        self._read = 0

    def hear(self, wanted: str) -> str:
        """What is said up to and with a pattern that is new; fails where it does not come."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            found = re.search(wanted, self.said[self._read :])
            if found:
                heard = self.said[self._read : self._read + found.end()]
                self._read += found.end()
                return heard
            if select.select([self._line], [], [], 0.2)[0]:
                try:
                    octets = os.read(self._line, 65536)
                except OSError:  # the program has ended
                    break
                self.said += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", octets.decode())
        raise AssertionError(f"{wanted!r} did not come; was said:\n{self.said[-3000:]}")

    def type(self, text: str) -> None:
        os.write(self._line, text.encode() + b"\n")

    def press(self, octets: bytes) -> None:
        os.write(self._line, octets)

    def end(self) -> int:
        """Its exit code, once it has ended."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            if select.select([self._line], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self._line, 65536).decode()
                except OSError:
                    break
        _, status = os.waitpid(self._pid, 0)
        os.close(self._line)
        return os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._line)
