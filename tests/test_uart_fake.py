"""The place of the receiver's fake port: its own, and left by nobody for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firmware.buses.uart_fake import FakeReceiver

KILLED = """
import os, signal
from firmware.buses.uart_fake import FakeReceiver
made = FakeReceiver()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_unit_left_is_taken_away_by_the_next(temporary: Path) -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", KILLED],
            env={**os.environ, "TMPDIR": str(temporary)}, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL
    (left,) = temporary.iterdir()  # each took away what the one before it had left
    with FakeReceiver() as fresh:
        assert Path(fresh.port).parent != left
        assert list(temporary.iterdir()) == [Path(fresh.port).parent]
    assert list(temporary.iterdir()) == []


def test_a_port_that_is_in_use_stays_when_another_is_made(temporary: Path) -> None:
    with FakeReceiver() as first, FakeReceiver() as second:
        assert len(list(temporary.iterdir())) == 2
        first.unplug()
        with FakeReceiver():
            first.replug()
            assert Path(first.port).is_symlink()
            assert Path(second.port).is_symlink()
    assert list(temporary.iterdir()) == []


def test_a_folder_that_is_not_of_a_port_is_left_alone(temporary: Path) -> None:
    theirs = temporary / "sledwarden-gps-notes"
    theirs.mkdir()
    (theirs / "ride.txt").write_text("mine")
    with FakeReceiver():
        pass
    assert (theirs / "ride.txt").read_text() == "mine"


def test_a_port_that_is_closed_twice_is_no_fault(temporary: Path) -> None:
    made = FakeReceiver()
    made.close()
    made.close()
    assert list(temporary.iterdir()) == []
