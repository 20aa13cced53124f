"""docs/feed.md keeps up with the feed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from glass_scenes import RIDE

from firmware.feed.client import STALE_S
from firmware.feed.messages import (
    ACTIONS,
    DEFAULT_PATH,
    MAX_ARGUMENT_LETTERS,
    MAX_COMMAND_BYTES,
    VERSION,
)
from firmware.findings import Alert, Cues, Finding, HapticCue, LightCue, ToneCue
from firmware.outputs import feed as server
from firmware.outputs.feed import Feed
from firmware.readings import Disk, Reading, Receiver
from firmware.state import PartSeen, State

PAGE = (Path(__file__).parent.parent / "docs" / "feed.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def _rows(heading: str) -> list[list[str]]:
    section = PAGE.split(heading, 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.M)
    assert table is not None
    return [
        [cell.strip() for cell in row.strip("|\n ").split("|")] for row in table[0].splitlines()[2:]
    ]


def _words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_page_names_every_key_of_the_state_and_no_other() -> None:
    named = [word for row in _rows("### The state") for word in _words(row[0])]
    assert sorted(named) == sorted(["age_s", *(one.name for one in fields(State))])


@pytest.mark.parametrize("part", [Alert, Cues, Finding, Receiver, Disk, PartSeen])
def test_the_page_names_every_key_of_what_a_state_holds(part: type) -> None:
    for one in fields(part):
        assert f"`{one.name}`" in PAGE


@pytest.mark.parametrize("cue", [*LightCue, *HapticCue, *ToneCue])
def test_the_page_names_every_cue(cue: str) -> None:
    assert f"`{cue}`" in PAGE


def test_the_page_names_every_command() -> None:
    assert [_words(row[0])[0] for row in _rows("## Commands")] == list(ACTIONS)


def test_the_page_gives_the_figures_of_the_code() -> None:
    assert f"version {VERSION};" in PAGE
    assert f"`{DEFAULT_PATH}`" in PAGE
    assert f"at most {MAX_COMMAND_BYTES} bytes" in PAGE
    assert f"at most {MAX_ARGUMENT_LETTERS} letters" in PAGE
    assert f"Up to {server.MAX_CLIENTS} clients" in PAGE
    assert f"More than {server.MAX_COMMANDS_PER_S} commands a second" in PAGE
    assert f"{server.MAX_BACKLOG_BYTES // 1024} kB" in PAGE
    assert (STALE_S, server.STUCK_S) == (2.0, 10.0)


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Reading]]:
    asked: list[Reading] = []
    served = Feed(tmp_path / "feed.sock", asked.append)
    served.start()
    served.push(RIDE)
    monkeypatch.chdir(tmp_path)
    yield asked
    served.stop()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # the example is short, not tidy
@pytest.mark.parametrize("example", EXAMPLES, ids=["by hand", "our client"])
def test_each_example_prints_the_speed_and_the_limit(
    example: str, feed: list[Reading], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(example, "docs/feed.md", "exec"), {})
    assert capsys.readouterr().out == "47.2 55.0\n"
