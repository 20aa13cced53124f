from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from glass_scenes import RIDE, SLOW_DOWN
from PIL import Image

from firmware.clock import Clock, ManualClock
from firmware.dash.main import main, refresh
from firmware.dash.screen import draw, draw_no_unit
from firmware.feed.client import FeedClient
from firmware.outputs.feed import Feed
from firmware.state import State

WAIT_S = 60.0
COMMAND = [sys.executable, "-m", "firmware.dash.main"]


def nothing(_: object) -> None:
    """A judging thread that takes what is asked and does nothing."""


def until(is_so: Callable[[], bool]) -> None:
    deadline_s = Clock().mono_s() + WAIT_S
    while not is_so():
        assert Clock().mono_s() < deadline_s
        threading.Event().wait(0.02)


class Shown:
    """A panel that keeps what it is shown."""

    def __init__(self) -> None:
        self.pictures: list[Image.Image] = []
        self.troubles: list[str] = []

    @classmethod
    def fit(cls, _: object) -> Shown:
        return cls()

    def show(self, picture: Image.Image, state: State | None, trouble: str) -> None:
        self.pictures.append(picture)
        self.troubles.append(trouble)

    def stop(self) -> None:
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "feed.sock"


@pytest.fixture
def feed(path: Path) -> Iterator[Feed]:
    served = Feed(path, nothing)
    served.start()
    yield served
    served.stop()


class Dash:
    """The program as a process that draws into a file."""

    def __init__(self, path: Path, picture: Path) -> None:
        self.picture = picture
        self.process = subprocess.Popen(
            [*COMMAND, "--feed", str(path), "--panel", "png", "--png", str(picture)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def shows(self, expected: Image.Image) -> bool:
        if not self.picture.exists():
            return False
        with Image.open(self.picture) as kept:
            return kept.convert("1").resize((128, 64)).tobytes() == expected.tobytes()

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, said.decode()


@pytest.fixture
def dash(path: Path, tmp_path: Path) -> Iterator[Dash]:
    one = Dash(path, tmp_path / "glass.png")
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.communicate()


def test_the_glass_follows_the_unit_through_its_end_and_its_return(dash: Dash, path: Path) -> None:
    until(lambda: dash.shows(draw_no_unit()))
    told = replace(RIDE, speed_mph=57.4, alert=SLOW_DOWN, alerts=(SLOW_DOWN,))
    for state in (RIDE, told):
        feed = Feed(path, nothing)
        feed.start()

        def is_drawn(feed: Feed = feed, state: State = state) -> bool:
            feed.push(replace(state))
            return dash.shows(draw(state.alert, state))

        until(is_drawn)
        feed.stop()
        until(lambda: dash.shows(draw_no_unit()))
    assert dash.end(signal.SIGINT) == (0, "")


def test_a_unit_that_hangs_with_its_socket_open_is_no_unit_after_two_seconds(
    dash: Dash, feed: Feed
) -> None:
    pushed_s = 0.0

    def is_drawn() -> bool:
        nonlocal pushed_s
        pushed_s = Clock().mono_s()
        feed.push(replace(RIDE))
        return dash.shows(draw(None, RIDE))

    until(is_drawn)
    until(lambda: dash.shows(draw_no_unit()))
    assert 2.0 <= Clock().mono_s() - pushed_s < 5.0
    assert dash.end(signal.SIGTERM) == (0, "")


def test_what_is_two_seconds_old_is_not_drawn(feed: Feed, path: Path) -> None:
    clock = ManualClock()
    client, panel = FeedClient(path, clock=clock), Shown()
    refresh(client, panel)
    feed.push(RIDE)
    while not client.is_alive:
        client.poll(1.0)
    refresh(client, panel)
    clock.advance(1.5)
    refresh(client, panel)
    clock.advance(0.6)
    refresh(client, panel)
    assert [one.tobytes() for one in panel.pictures] == [
        draw_no_unit().tobytes(),
        draw(None, RIDE).tobytes(),
        draw(None, RIDE).tobytes(),
        draw_no_unit().tobytes(),
    ]
    assert panel.troubles[0] == "not connected yet"
    client.close()


def test_the_program_imports_nothing_that_senses_or_judges() -> None:
    listing = subprocess.run(
        [sys.executable, "-c", "import sys, firmware.dash.main; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=WAIT_S,
    ).stdout.split()
    parts = ("sources", "rules", "monitor", "journal", "alerts", "daemon", "law", "buses")
    assert not [
        name for name in listing if name.startswith(tuple(f"firmware.{one}" for one in parts))
    ]
    assert "firmware.dash.screen" in listing


def test_the_help_ends_in_a_worked_example() -> None:
    told = subprocess.run(
        [*COMMAND, "--help"], capture_output=True, text=True, check=True, timeout=WAIT_S
    ).stdout
    assert "sledwarden-dash --feed /run/sledwarden/feed.sock --panel terminal" in told
    for option in ("--config", "--feed", "--panel", "--png"):
        assert option in told


def test_a_wrong_configuration_is_told_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sledwarden.toml"
    path.write_text('[dash]\npanel = "ssd1309"\naddress = 0x99\n')
    assert main(["--config", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{path}: [dash] address" in told
    assert "must be an I2C address from 0x08 to 0x77." in told


def test_an_unknown_panel_in_the_configuration_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sledwarden.toml"
    shipped = Path(__file__).parent.parent / "hardware" / "sledwarden.toml"
    path.write_text(shipped.read_text().replace('panel = "ssd1309"', 'panel = "st7789"'))
    assert main(["--config", str(path)]) == 2
    told = capsys.readouterr().err
    assert "panel = st7789: must be one of png, ssd1309, terminal." in told.replace('"', "")


def test_a_reader_that_leaves_the_pipe_ends_the_program_without_a_word(path: Path) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "--feed", str(path)], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert os.read(reader, 100).startswith(b"no unit")
    os.close(reader)
    feed = Feed(path, nothing)
    feed.start()

    def has_ended() -> bool:
        feed.push(replace(RIDE))
        return process.poll() is not None

    until(has_ended)
    feed.stop()
    assert process.communicate()[1] == ""
    assert process.returncode == 0


def test_an_output_that_can_t_be_written_is_one_sentence(path: Path) -> None:
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [*COMMAND, "--feed", str(path)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
    assert told.returncode == 1
    assert told.stderr == (
        "sledwarden-dash: its output can't be written: No space left on device.\n"
    )


def test_a_closed_output_is_one_sentence(path: Path) -> None:
    told = subprocess.run(
        ["bash", "-c", 'exec "$@" >&-', "-", *COMMAND, "--feed", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr == (
        "sledwarden-dash: its output is closed: a terminal or a pipe was expected.\n"
    )
