"""The `sledwarden` command itself: its list, its faults, its exit codes."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import __version__
from host_tools.cli import PARTS

ROOT = Path(__file__).parent.parent
LOG = ROOT / "tests" / "data" / "nmea" / "rgm3800.log"
RUN = [sys.executable, "-c", "from host_tools.cli import main; main()"]


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **environment},
        check=False,
    )


def test_without_arguments_it_lists_its_commands() -> None:
    told = run()
    assert told.returncode == 2
    for name, part in PARTS.items():
        assert name in told.stdout
        assert part.line in told.stdout


def test_the_list_comes_without_importing_a_command() -> None:
    code = (
        "import sys; from host_tools.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'pynmea2', 'ephem', 'msgspec', 'mcap', 'pyogrio', 'PIL', 'cryptography'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stderr.strip() == "[]"


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"sledwarden {__version__}\n"


@pytest.mark.parametrize("arguments", [("fly",), ("replay",), ("replay", LOG, "--speed", "3")])
def test_wrong_use_is_told_on_stderr_with_exit_2(arguments: tuple[str | Path, ...]) -> None:
    told = run(*arguments)
    assert (told.returncode, told.stdout) == (2, "")
    assert "Error" in told.stderr


def test_a_fault_is_one_message_on_stderr_with_exit_1() -> None:
    told = run("replay", "no-such.log")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == (
        "no-such.log: can't be read: No such file or directory. replay reads a raw NMEA log, "
        "a .drive, a journal (.mcap, or its boot's folder) or a GPX.\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("race", "token", "Derby\udcff", "--place", "45.9,-89.5", "--radius", "500",
         "--from", "2026-01-17T17:00", "--to", "2026-01-17T23:00"),
        ("inspect", "--by", "Derby\udcff", "--lamps", "tests/drives/live.drive"),
    ],
)  # fmt: skip
def test_a_byte_that_is_no_text_is_one_sentence_and_nothing_is_kept(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    kept = ("-o", str(tmp_path / "kept.html")), ("--key", str(tmp_path / "o.key"))
    told = run(*arguments, *kept[arguments[0] == "race"])
    assert told.returncode == 2
    assert told.stderr.endswith(
        "sledwarden: Derby\\udcff: has a byte that is no text in UTF-8. Type it again.\n"
    )
    assert "Traceback" not in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback() -> None:
    told = run("replay", "no-such.log", DEBUG="1")
    assert told.returncode == 1
    assert "Traceback" in told.stderr


def test_a_reader_that_goes_away_ends_it_in_silence() -> None:
    log = ROOT / "tests" / "data" / "nmea" / "dotmorten_tahoe_dusk.log"
    with subprocess.Popen(
        [*RUN, "replay", str(log), "--fixes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"t":')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_ctrl_c_ends_it_with_130() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unit:  # one that never answers
        unit.bind(("127.0.0.1", 0))
        unit.settimeout(60)
        wait = [*RUN, "download", "--udp", f"127.0.0.1:{unit.getsockname()[1]}", "--wait", "600"]
        with subprocess.Popen(
            wait, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        ) as process:
            unit.recv(2048)  # so it is at its work
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, b"")
    assert b"Traceback" not in errors


@pytest.mark.parametrize(
    "arguments", [("law",), ("law", "--json"), ("--help",), ("--version",), ("replay", LOG)]
)
def test_an_output_that_can_t_be_written_is_one_sentence(arguments: tuple[str | Path, ...]) -> None:
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [*RUN, *map(str, arguments)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            cwd=ROOT,
            check=False,
        )
    assert told.returncode == 1
    assert told.stderr == "sledwarden: its output can't be written: No space left on device.\n"


@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_closed_output_is_no_traceback(closed: str) -> None:
    line = f'exec "$@" {closed}>&-'
    told = subprocess.run(
        ["bash", "-c", line, "-", *RUN, "law"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    if closed == "1":
        assert told.returncode == 1
        assert told.stderr == (
            "sledwarden: its output is closed: a terminal, a file or a pipe was expected.\n"
        )
    else:
        assert (told.returncode, told.stderr) == (0, "")
        assert "346.94" in told.stdout or "350.10" in told.stdout


@pytest.mark.parametrize("arguments", [("law", "--coverage", "FOO"), ("download",)])
def test_a_command_line_that_says_too_little_is_exit_2(arguments: tuple[str, ...]) -> None:
    told = run(*arguments)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("--")


@pytest.mark.parametrize("name", list(PARTS))
def test_the_help_of_each_command_has_a_worked_example(name: str) -> None:
    pytest.importorskip(PARTS[name].module, reason="this command is not built yet")
    told = run(name, "--help")
    assert told.returncode == 0
    words = re.sub(r"\s+", " ", told.stdout)
    if f"Usage: sledwarden {name} [OPTIONS] COMMAND" in words:
        return  # its own commands have their examples
    assert f"sledwarden {name} " in words.split("For example:", 1)[1]
