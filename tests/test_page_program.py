"""The page as a program: where it serves, what it refuses, and what it imports."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pages import PageProcess, Stream, frame_when

from firmware.page.door import why_not
from firmware.page.main import main


def test_an_address_of_another_machine_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "192.0.2.1", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "192.0.2.1:0: is no address of this machine. Give one with --host, like 127.0.0.1 for "
        "this machine alone or 0.0.0.0 for all its networks.\n"
    )


def test_a_host_that_is_none_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "no such host", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "no such host:0: there is no such host: an address of this machine was expected. Give "
        "one with --host, like 127.0.0.1.\n"
    )


def test_a_privileged_port_is_one_sentence() -> None:
    assert why_not(OSError(errno.EACCES, "Permission denied")) == (
        "this user may not listen there: a port from 1024 was expected.",
        "Give one with --port.",
    )


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_wrong_use(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"--port={port}"])
    assert ended.value.code == 2
    assert f"{port}: must be a whole number from 0 to 65535" in capsys.readouterr().err


def test_the_configuration_says_where_and_the_options_win(tmp_path: Path) -> None:
    config = tmp_path / "sledwarden.toml"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config.write_text(
        f'[unit]\nid = "sled-7"\n[feed]\npath = "{tmp_path}/f.sock"\n[page]\nport = {port}\n'
    )
    command = [sys.executable, "-m", "firmware.page.main", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"sledwarden-page: http://127.0.0.1:{port}/\n"
        process.terminate()
    with PageProcess(tmp_path / "g.sock", "--config", str(config)) as page, Stream(page) as stream:
        assert next(stream.events())[1]["unit"] == "sled-7"
        away = f"{tmp_path}/g.sock: No such file or directory"
        frame_when(stream, lambda told: told["trouble"] == away)


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "sledwarden-page --feed /run/sledwarden/feed.sock --port 8350" in capsys.readouterr().out


def test_the_program_imports_nothing_that_senses_or_judges() -> None:
    code = "import sys, firmware.page.main; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    strangers = ("firmware.rules", "firmware.sources", "firmware.buses", "firmware.monitor",
                 "firmware.journal", "firmware.outputs", "gpiozero", "smbus2", "serial", "mcap",
                 "cryptography")  # fmt: skip
    assert [one for one in loaded if one.startswith(strangers)] == []
