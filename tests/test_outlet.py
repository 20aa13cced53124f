"""A program whose output is full, closed or gone ends with a code and a sentence, or rides on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware.journal import reader
from firmware.journal.record import Close
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "hardware" / "sledwarden.toml"

DAEMON = ("firmware.daemon", "sledwardend")
PAGE = ("firmware.page.main", "sledwarden-page")
DASH = ("firmware.dash.main", "sledwarden-dash")
LINK = ("firmware.link.main", "sledwarden-link")

SAID = [
    *((program, ("--help",)) for program in (DAEMON, PAGE, DASH, LINK)),
    (DAEMON, ("--config", str(CONFIG), "--check")),
    (PAGE, ("--port", "0", "--feed", "/nowhere")),
]
IDS = [f"{program[1]} {arguments[0]}" for program, arguments in SAID]

DRIVE = """\
# Law: wi
# Start: 2026-01-17T23:30:00Z
0.0 engine on
0.0 ride lat=45.9 lon=-89.5 heading=90 speed=60
4.0 end
"""


def _run(module: str, arguments: tuple[str, ...], to: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            "bash",
            "-c",
            f'set -o pipefail; "$@" {to}',
            "-",
            sys.executable,
            "-m",
            module,
            *arguments,
        ],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the kernel has no /dev/full")
@pytest.mark.parametrize(("program", "arguments"), SAID, ids=IDS)
def test_a_full_output_is_one_sentence(
    program: tuple[str, str], arguments: tuple[str, ...]
) -> None:
    told = _run(program[0], arguments, ">/dev/full")
    assert (told.returncode, told.stderr) == (
        1, f"{program[1]}: its output can't be written: No space left on device.\n",
    )  # fmt: skip


@pytest.mark.parametrize(("program", "arguments"), SAID, ids=IDS)
def test_a_closed_output_is_one_sentence(
    program: tuple[str, str], arguments: tuple[str, ...]
) -> None:
    told = _run(program[0], arguments, ">&-")
    assert (told.returncode, told.stderr) == (
        1, f"{program[1]}: its output is closed: a terminal, a file or a pipe was expected.\n",
    )  # fmt: skip


@pytest.mark.parametrize(("program", "arguments"), SAID, ids=IDS)
def test_a_reader_that_has_gone_is_told_nothing_more(
    program: tuple[str, str], arguments: tuple[str, ...]
) -> None:
    told = _gone(program[0], arguments)
    assert (told.returncode, told.stderr) == (1, "")


def _gone(module: str, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    reader_end, writer_end = os.pipe()
    os.close(reader_end)
    try:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=writer_end,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            cwd=ROOT,
            check=False,
        )
    finally:
        os.close(writer_end)


@pytest.mark.parametrize("arguments", [("law",), ("--help",), ("law", "--json")], ids=" ".join)
def test_the_desk_s_tools_tell_nothing_more_to_a_reader_that_has_gone(
    arguments: tuple[str, ...],
) -> None:
    told = _gone("host_tools.cli", arguments)
    assert (told.returncode, told.stderr) == (1, "")


@pytest.mark.parametrize("to", [">/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_unit_that_nobody_hears_rides_on_and_keeps_its_journal_whole(
    to: str, tmp_path: Path
) -> None:
    # A closed number would go to the next file opened: alerts would be written into the journal.
    drive = tmp_path / "ride.drive"
    drive.write_text(DRIVE)
    told = _run(
        DAEMON[0],
        ("--simulate", str(drive), "--speed", "4", "--journal", str(tmp_path / "journal"),
         "--feed", str(tmp_path / "feed")),
        to,
    )  # fmt: skip
    assert told.returncode == 0
    assert "Traceback" not in told.stderr
    (source,) = find([tmp_path / "journal"])
    assert str(verify(source).report.verdict) == "whole"
    *_, (_, last) = reader.read(tmp_path / "journal")
    assert isinstance(last, Close)
