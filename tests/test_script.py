"""A drive as a timeline: logs and rides become octets, in the order of the world."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.drives import ride
from firmware.drives.script import Action, Drive, EngineRuns, Send
from firmware.drives.script_text import parse

START = "# Start: 2026-01-17T22:30:00Z\n"


def sentence(second: int) -> bytes:
    return ride.with_checksum(f"GPRMC,1200{second:02d},A,4554.0,N,08930.0,W,10.0,90.0,170126,,,A")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.log").write_bytes(b"".join(sentence(second) for second in range(0, 20, 2)))
    return tmp_path


def timeline(text: str, folder: Path = Path("/nowhere")) -> list[tuple[float, Action]]:
    return list(parse(text, folder / "one.drive").timeline())


def sent(text: str, folder: Path = Path("/nowhere")) -> list[tuple[float, bytes]]:
    return [
        (at_s, action.deed.octets)
        for at_s, action in timeline(text, folder)
        if isinstance(action.deed, Send)
    ]


def test_a_log_is_sent_at_the_pace_of_its_epochs(folder: Path) -> None:
    assert sent("5 play a.log\n", folder) == [
        (5.0 + second, sentence(second)) for second in range(0, 20, 2)
    ]


def test_a_part_of_a_log_begins_at_its_line(folder: Path) -> None:
    assert sent("100 play a.log from=4 to=10\n", folder) == [
        (100.0, sentence(4)),
        (102.0, sentence(6)),
        (104.0, sentence(8)),
    ]


def test_a_new_play_or_ride_or_the_end_ends_the_one_before(folder: Path) -> None:
    text = f"{START}0 play a.log\n3 ride lat=45 lon=-89\n5 play a.log\n8 end\n"
    assert [at_s for at_s, _ in sent(text, folder)] == [0.0, 2.0, 3.0, 4.0, 5.0, 7.0]


def test_a_ride_goes_on_to_the_end_and_not_beyond(folder: Path) -> None:
    text = f"{START}0 ride lat=45 lon=-89\n1.5 ride speed=5\n3 power cut\n"
    assert [at_s for at_s, _ in sent(text)] == [0.0, 1.0, 2.0]


def test_a_ride_that_stops_lets_other_things_go_on() -> None:
    text = f"{START}0 ride lat=45 lon=-89\n2 ride stop\n9 engine off\n"
    steps = timeline(text)
    assert [at_s for at_s, _ in steps] == [0.0, 1.0, 9.0]
    assert steps[-1][1] == Action(9.0, EngineRuns(False), 4)


def test_the_world_changes_before_the_receiver_speaks() -> None:
    text = f"{START}0 ride lat=45 lon=-89\n1 gps $X\n1 engine on\n1 gps $Y\n2 end\n"
    kinds = [(at_s, action.line, type(action.deed).__name__) for at_s, action in timeline(text)]
    assert kinds == [
        (0.0, 2, "Send"),
        (1.0, 4, "EngineRuns"),
        (1.0, 2, "Send"),
        (1.0, 3, "Send"),
        (1.0, 5, "Send"),
        (2.0, 6, "End"),
    ]


def test_the_timeline_is_in_order_and_the_same_each_time(folder: Path) -> None:
    text = (
        f"{START}0 play a.log\n1 ambient 3\n5 ride lat=45 lon=-89 rate=10\n6 button press\n"
        "7 ride speed=20 over=3\n9 end\n"
    )
    steps = timeline(text, folder)
    assert [at_s for at_s, _ in steps] == sorted(at_s for at_s, _ in steps)
    assert steps == timeline(text, folder)


def test_a_drive_of_nothing_has_an_empty_timeline() -> None:
    assert list(Drive(Path("none.drive")).timeline()) == []
