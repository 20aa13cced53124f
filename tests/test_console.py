from __future__ import annotations

import os
import select
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from glass_scenes import RIDE, SLOW_DOWN, alert

from firmware.findings import HapticCue, LightCue, ToneCue
from firmware.outputs.console import MAX_WAITING, Console, line_of


class Pipe:
    """A pipe whose reader may be slow."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self._rest = ""

    def lines(self, count: int) -> list[str]:
        while self._rest.count("\n") < count:
            assert select.select([self.reader], [], [], 60.0)[0], self._rest
            self._rest += os.read(self.reader, 65536).decode()
        *lines, self._rest = self._rest.split("\n")
        return lines


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    one = Pipe()
    yield one
    for end in (one.reader, one.writer):
        try:
            os.close(end)
        except OSError:
            assert end == one.reader, "only the reader is closed by a test"


def test_each_change_is_one_plain_line(pipe: Pipe) -> None:
    console = Console(pipe.writer)
    console.alert(replace(SLOW_DOWN, why="57.4 mph in hours of darkness, limit 55"))
    console.push(replace(RIDE, utc=datetime(2026, 1, 10, 0, 42, 7, tzinfo=UTC)))
    console.alert(replace(SLOW_DOWN, state="acknowledged"))
    console.push(replace(RIDE, lat_deg=None, lon_deg=None))
    console.alert(replace(SLOW_DOWN, state="cleared"))
    console.stop()
    assert pipe.lines(3) == [
        "raised over-speed: SLOW DOWN LIMIT 55; 57.4 mph in hours of darkness, limit 55; "
        "[350.10(1)(gm)]; light red-flash, haptic pulses, tone alarm",
        "2026-01-10T00:42:07Z acknowledged over-speed: SLOW DOWN LIMIT 55; [350.10(1)(gm)]; "
        "at 43.07310, -89.40120",
        "100.0 s cleared over-speed: SLOW DOWN LIMIT 55; [350.10(1)(gm)]",
    ]


def test_cues_that_are_off_are_not_named() -> None:
    quiet = replace(
        SLOW_DOWN, light=LightCue.AMBER, haptic=HapticCue.OFF, tone=ToneCue.OFF, clause="journal"
    )
    assert line_of(quiet, None) == "raised over-speed: SLOW DOWN LIMIT 55; [journal]; light amber"


def test_a_reason_that_is_the_words_themselves_is_told_once() -> None:
    line = line_of(alert("NO ZONE DATA\nHERE", why="no zone data here"), None)
    assert line == (
        "raised over-speed: NO ZONE DATA HERE; [350.10(1)(gm)]; "
        "light red-flash, haptic pulses, tone alarm"
    )


def test_a_name_from_a_map_makes_no_second_line() -> None:
    line = line_of(alert("SLOW\x1b[2J", why="Joe's\nraised fake: ALL WELL"), None)
    assert line.isprintable()
    assert "\n" not in line


def test_a_pipe_that_nobody_empties_holds_up_nobody_and_the_gap_is_told(pipe: Pipe) -> None:
    console = Console(pipe.writer)
    told = alert("SLOW DOWN", why="x" * 2000)
    asked = MAX_WAITING + 200
    for _ in range(asked):
        console.alert(told)
    written = 0
    while written < MAX_WAITING:
        written += len(pipe.lines(1))
    console.alert(told)
    lines: list[str] = []
    while not any(one.startswith("(") for one in lines):
        lines += pipe.lines(1)
    gap = next(one for one in lines if one.startswith("("))
    left_out = int(gap[1:].split(" ")[0])
    assert gap == f"({left_out} lines left out: nobody read them)"
    assert 0 < left_out <= 200
    console.stop()


def test_a_reader_that_has_gone_is_no_fault(pipe: Pipe) -> None:
    console = Console(pipe.writer)
    os.close(pipe.reader)
    for _ in range(3):
        console.alert(SLOW_DOWN)
    console.stop()
    console.alert(SLOW_DOWN)
    console.stop()
