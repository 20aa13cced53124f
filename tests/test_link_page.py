"""docs/link.md keeps up with the service port."""

from __future__ import annotations

import re
from pathlib import Path

from firmware.clock import Clock
from firmware.feed.client import FeedClient
from firmware.link import door, frames, server, ways
from firmware.link.door import Door
from firmware.link.enrolled import Enrolled
from firmware.link.intake import MAX_STAGED, PACK_BYTES, RESERVE_BYTES
from firmware.link.server import Server
from firmware.link.shelf import HASHING_S, Shelf
from firmware.port.hosts import PROOF_DOMAIN
from firmware.port.messages import GROUP, INDEX, INDEX_FORMAT, PACKED_BYTES, Command

PAGE = (Path(__file__).parent.parent / "docs" / "link.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def _commands_of(heading: str) -> set[int]:
    return {int(number) for number in re.findall(r"^\| (\d+) ", _section(heading), re.M)}


def _served(tmp_path: Path) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    clock = Clock()
    hall = Door(FeedClient(tmp_path / "feed"), clock, Enrolled(tmp_path / "hosts"))
    made = Server(hall, Shelf(tmp_path, "sled-7", clock), "sled-7")
    return {key[:2] for key in made._open}, {key[:2] for key in made._shut}


def test_every_command_has_its_row_and_no_other_has(tmp_path: Path) -> None:
    for_all, locked = _served(tmp_path)
    groups = {
        0: "The OS group (0)",
        3: "The settings group (3)",
        8: "The file group (8)",
        GROUP: "Group 64",
    }
    told = {
        (group, command) for group, heading in groups.items() for command in _commands_of(heading)
    }
    assert told == for_all | locked
    assert _commands_of("Group 64") == set(map(int, Command))


def test_what_needs_an_opened_port_is_what_the_page_says(tmp_path: Path) -> None:
    for_all, locked = _served(tmp_path)
    assert "0 to 3 are for everybody. 4 to 9 need an opened port." in _section("Group 64")
    assert {command for group, command in for_all if group == GROUP} == {0, 1, 2, 3}
    assert {command for group, command in locked if group == GROUP} == set(range(4, 10))
    assert not {group for group, _ in for_all} & {3, 8}


def test_the_figures_of_the_page_are_those_of_the_program() -> None:
    for figure in (
        f"lines of at most {frames.LINE_BYTES} bytes",
        f"at most {ways.DATAGRAM_BYTES:,} bytes",
        f"the {RESERVE_BYTES // 1_000_000} MB",
        f"zone pack {PACK_BYTES // 1_000_000_000} GB",
        f"A request is {frames.MAX_MESSAGE_BYTES:,} bytes",
        f"{ways.REPLY_S} s at most, and is {ways.LONGEST_REPLY_BYTES >> 10} KiB",
        f"asks for {door.QUESTION_S:.0f} s",
        f"not put again for {door.QUIET_S:.0f} s more",
        f"A ride ({door.RIDES_MPH:.0f} mph)",
        door.OPEN_QUESTION,
        f"`len` ({PACKED_BYTES:,} at most)",
        repr(PROOF_DOMAIN.decode())[1:-1],
        f"the {len(PROOF_DOMAIN)} bytes",
        INDEX,
        f'"format": {INDEX_FORMAT}',
    ):
        assert figure in PAGE, figure
    assert door.WINDOW_S == 600
    assert "for ten minutes" in PAGE
    assert HASHING_S == 0.5
    assert "half a second" in PAGE
    assert server.BUFFERS == MAX_STAGED == 8
    assert "Eight files may wait" in PAGE
    assert "Eight may be under way" in PAGE
    assert door.NONCE_S == 60
    assert "for a minute" in PAGE
