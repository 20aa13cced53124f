"""`sledwarden-link` as it is run, beside the real daemon, with the stock client as the judge.

The stock client is `smpmgr`, which we did not write and which knows nothing of us.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Daemon
from journal_samples import NOTE, START, journal_in, written
from port_rig import Rig

from firmware.config.reading import parse
from firmware.link.main import main
from host_tools.port.sled import RefusedError, Sled, Way

PATIENCE_S = 60.0
HOST = f"127.{os.getpid() % 200}.{os.getpid() // 200 % 250}.80"
"""A loopback address of this process's own: stock smpmgr always speaks to port 1337."""

PARKED = """# Name: A sled in the yard, and a rider who holds the button when he is asked
# Law: wi
# Start: 2026-01-15T03:46:00Z
# Floor: 2025-01-01
# Shows: the service port is opened by a person
0.0   engine off
0.0   ride lat=44.05 lon=-88.43 heading=90 speed=0
"""
PARKED += "".join(f"{at}.0   button hold\n" for at in range(4, 60, 4)) + "90.0  end\n"


def smpmgr(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The stock client."""
    command = [sys.executable, "-m", "smpmgr", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "300", "NO_COLOR": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment
    )


class LinkProgram:
    """`sledwarden-link` as a process; a context that ends it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._log_path = folder / "link.log"
        with self._log_path.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "firmware.link.main", *words], stdout=log, stderr=log
            )

    @property
    def log(self) -> str:
        return self._log_path.read_text()

    def wait_for(self, path: Path) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while not path.is_symlink():
            assert self.process.poll() is None, self.log
            assert time.monotonic() < until_s
            os.sched_yield()

    def __enter__(self) -> LinkProgram:
        return self

    def __exit__(self, *_fault: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Path]]:
    """A port that is open on a pseudo-terminal and UDP, of a journal of two boots."""
    folder = tmp_path_factory.mktemp("stock")
    written(folder / "journal", 60)
    written(folder / "journal", 300)
    with Rig(folder / "journal", (HOST, 1337)) as rig:
        rig.open()
        yield rig, folder


@pytest.mark.parametrize("way", ["serial", "udp"])
def test_the_stock_client_takes_the_index_and_every_segment_byte_for_byte(
    stock: tuple[Rig, Path], way: str, tmp_path: Path
) -> None:
    rig, folder = stock
    at = ["--port", rig.port.port] if way == "serial" else ["--ip", HOST]
    done = smpmgr(*at, "file", "download", "/journal/index.json", tmp_path / "index.json")
    assert done.returncode == 0, done.stdout + done.stderr
    index = json.loads((tmp_path / "index.json").read_text())
    names = [f"{boot['name']}/{one['name']}" for boot in index["boots"] for one in boot["segments"]]
    paths = sorted((folder / "journal").glob("*/*.mcap"))
    assert names == [f"{path.parent.name}/{path.name}" for path in paths]
    for path in paths:
        remote = f"/journal/{path.parent.name}/{path.name}"
        done = smpmgr(*at, "file", "download", remote, tmp_path / path.name)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_the_stock_client_s_other_words_are_answered(stock: tuple[Rig, Path]) -> None:
    rig, folder = stock
    at = ["--port", rig.port.port]
    assert "r='hello'" in smpmgr(*at, "os", "echo", "hello").stdout
    path = sorted((folder / "journal").glob("*/*.mcap"))[0]
    remote = f"/journal/{path.parent.name}/{path.name}"
    assert f"\n{path.stat().st_size}\n" in smpmgr(*at, "file", "read-size", remote).stdout
    told = smpmgr(*at, "file", "read-size", "/journal/../journal.key").stdout
    assert "FILE_INVALID_NAME" in told


def test_the_glass_asks_a_hold_answers_and_the_stock_client_is_let_in(tmp_path: Path) -> None:
    drive = tmp_path / "parked.drive"
    drive.write_text(PARKED)
    port = tmp_path / "port"
    with Daemon(tmp_path, "--simulate", str(drive)) as unit:
        unit.wait_for(lambda state: state.is_standing)
        words = ["--feed", str(unit.feed_path), "--journal", str(unit.journal), "--unit", "sled-7"]
        with LinkProgram(tmp_path, *words, "--pty", str(port)) as link:
            link.wait_for(port)
            asked = ["--port", str(port), "file", "download", "/journal/index.json"]
            done = smpmgr(*asked, tmp_path / "index.json")
            assert done.returncode != 0
            assert "EACCESSDENIED" in done.stdout + done.stderr
            assert not (tmp_path / "index.json").exists()
            unit.wait_for(lambda state: state.answered == "HOLD BUTTON TO\nOPEN PORT?")
            with Sled(Way(str(port))) as sled:
                until_s = time.monotonic() + PATIENCE_S
                while not sled.session().open:
                    assert time.monotonic() < until_s
            done = smpmgr(*asked, tmp_path / "index.json")
            assert done.returncode == 0, done.stdout + done.stderr
            assert json.loads((tmp_path / "index.json").read_text())["unit"] == "sled-7"

            unit.end()
            with Sled(Way(str(port))) as sled:
                until_s = time.monotonic() + PATIENCE_S
                while sled.session().open:
                    assert time.monotonic() < until_s
                with pytest.raises(RefusedError, match="the unit's daemon is not heard"):
                    sled.index()
            link.process.send_signal(signal.SIGTERM)
            assert link.process.wait(PATIENCE_S) == 0
        assert not port.is_symlink()


# A desk's --open.


def test_open_is_refused_to_a_real_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "journal")
    words = ["--feed", str(tmp_path / "feed"), "--journal", str(tmp_path / "journal"), "--open"]
    assert main([*words, "--pty", str(tmp_path / "port")]) == 1
    assert capsys.readouterr().err == (
        f"sledwarden-link: --open: {tmp_path}/journal is a real unit's: the port opens by the "
        "rider's button alone. Hold the button when the glass asks.\n"
    )


def test_open_opens_a_simulated_unit_s_port_while_it_stands(tmp_path: Path) -> None:
    from dataclasses import replace

    journal = journal_in(tmp_path / "journal", start=replace(START, note="simulated: x.drive"))
    journal.open()
    journal.put(NOTE, 100.0)
    assert journal.close(101.0, timeout_s=60.0)
    with Rig(tmp_path / "other") as rig:
        port = tmp_path / "port"
        words = ["--feed", str(rig.link._plan.feed), "--journal", str(tmp_path / "journal")]
        with LinkProgram(tmp_path, *words, "--pty", str(port), "--open") as link:
            link.wait_for(port)
            with Sled(Way(str(port))) as sled:
                until_s = time.monotonic() + PATIENCE_S
                while not sled.session().open:
                    assert time.monotonic() < until_s, link.log
                assert sled.session().how == "button"
                assert sled.index().unit == "unnamed"
                rig.rider.ride(20.0)
                while sled.session().open:
                    assert time.monotonic() < until_s, link.log
                rig.rider.ride(0.0)
                assert not sled.session().open


# Arguments.


def test_without_a_way_in_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "unit.toml"
    config.write_text('[unit]\nid = "sled-7"\n')
    assert main(["--config", str(config)]) == 2
    assert capsys.readouterr().err == (
        "sledwarden-link: no way in is named: set [link] serial or udp, or give --serial, --udp "
        "or --pty.\n"
    )


def test_without_a_unit_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--pty", "x"]) == 2
    assert "--config: is missing" in capsys.readouterr().err


@pytest.mark.parametrize("udp", ["1337", "host", "0.0.0.0:0", "0.0.0.0:70000", ":5"])
def test_an_address_without_a_port_is_wrong_use(
    udp: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--udp", udp])
    assert ended.value.code == 2
    assert "must be an address and a port" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(
    stock: tuple[Rig, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--feed", "feed", "--journal", str(tmp_path), "--udp", f"{HOST}:1337"]
    assert main(words) == 1
    assert f"{HOST} port 1337: can't be listened at: Address already in use." in (
        capsys.readouterr().err
    )


def test_a_pty_s_path_that_is_a_file_is_left_alone(tmp_path: Path, stock: tuple[Rig, Path]) -> None:
    rig, _ = stock
    kept = tmp_path / "kept"
    kept.write_text("mine")
    words = ["--feed", str(rig.link._plan.feed), "--journal", str(tmp_path), "--pty", str(kept)]
    with LinkProgram(tmp_path, *words) as link:
        until_s = time.monotonic() + PATIENCE_S
        while f"{kept}: can't be made: File exists." not in link.log:
            assert time.monotonic() < until_s, link.log
    assert kept.read_text() == "mine"


def test_the_link_and_the_receiver_never_share_a_line() -> None:
    with pytest.raises(Exception, match=r'\[link\] serial = "/dev/serial0": is the receiver'):
        parse('[unit]\nid = "a"\n[link]\nserial = "/dev/serial0"\n', "x")


def test_the_stock_client_is_installed() -> None:
    assert shutil.which("smpmgr", path=str(Path(sys.executable).parent)) is not None
