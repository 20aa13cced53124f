"""The door to a program's own output: where that is full, closed or gone, one sentence and a code.

A number of the three standard files that is free would go to the next file that is opened: what is
said would then be written into a journal. So all three are taken before anything else is.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_found_closed = False


class OutputError(Exception):
    """What a program says can't be written; the fault is its cause."""


class _Noting(io.FileIO):
    """The standard output, which remembers that it failed where nobody was told."""

    fault: OSError | None = None

    def write(self, octets: Any) -> int:
        try:
            return super().write(octets)
        except OSError as fault:
            _Noting.fault = fault
            raise


def guarded(name: str, main: Callable[[], int]) -> int:
    """Runs a program; returns its exit code, or 1 where what it had to say could not be written.

    A reader that has gone, as `head` does, wants to hear nothing more. DEBUG=1 shows the traceback.
    """
    _take_all_three()
    try:
        try:
            return main()
        except SystemExit:  # argparse has said its help, or what was wrong
            _flush()
            if _Noting.fault is not None:  # and passes over what it could not say
                raise OutputError from _Noting.fault
            raise
        finally:
            _flush()
    except OutputError as fault:
        _silence()
        why = fault.__cause__
        if isinstance(why, BrokenPipeError):
            return 1
        if os.environ.get("DEBUG") == "1":
            raise
        if is_closed():
            what = "is closed: a terminal, a file or a pipe was expected"
        else:
            what = f"can't be written: {why.strerror if isinstance(why, OSError) else why}"
        sys.stderr.write(f"{name}: its output {what}.\n")
        return 1


def say(line: str) -> None:
    """Says a line at once, to a person or to a program that waits for it; raises OutputError."""
    try:
        sys.stdout.write(f"{line}\n")
    except OSError as fault:
        raise OutputError from fault
    _flush()


def is_closed() -> bool:
    """Whether the standard output was closed by who started this program."""
    return _found_closed


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as fault:
        raise OutputError from fault


def _silence() -> None:
    """What is still to be written must not fail a second time at the interpreter's exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _take_all_three() -> None:
    global _found_closed  # noqa: PLW0603  # there is one standard output
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one. Only for reading: what is written there fails.
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # open to the end
    _found_closed = sys.stdout is None
    raw = _Noting(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=None if sys.stdout is None else sys.stdout.encoding,
        errors="replace",
        line_buffering=raw.isatty(),
    )
