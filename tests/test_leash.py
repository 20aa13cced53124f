"""The leash: a program ends with the one that started it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HOLDER = "import signal; from firmware import leash; leash.hold(); signal.pause()"


def test_a_closed_standard_input_is_sigterm() -> None:
    program = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE)
    assert program.stdin is not None
    program.stdin.write(b"words mean nothing\n")
    program.stdin.close()
    assert program.wait(60) == -signal.SIGTERM


@pytest.mark.parametrize("program", ["daemon", "page.main", "dash.main", "link.main"])
def test_each_program_tells_of_it_in_its_help(program: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", f"firmware.{program}", "--help"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert "--until-stdin-closes" in shown.stdout
