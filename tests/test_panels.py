from __future__ import annotations

import errno
import fcntl
import io
import os
import pty
import select
import struct
import termios
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import pytest
from glass_reading import dots
from glass_scenes import NO_FIX, RIDE, SCENES, SLOW_DOWN, alert
from PIL import Image

from firmware.buses.chips_fake import Ssd1309Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.dash.base import Fitting
from firmware.dash.panel_png import Png
from firmware.dash.panel_ssd1309 import RETRY_S, Ssd1309
from firmware.dash.panel_terminal import Terminal, braille, half_blocks
from firmware.dash.screen import draw, draw_no_unit
from firmware.findings import Cues, HapticCue, LightCue, ToneCue
from firmware.parts import PARTS, load

ADDRESS = 0x3C
PICTURES = list(SCENES.values())


# -- the OLED


class Glass:
    """A panel on the fake bus, and the clock that paces it."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.wires = FakeI2cBus(self.clock)
        self.panel = Ssd1309(I2cBus(1, self.wires), ADDRESS, clock=self.clock)

    def attach(self) -> Ssd1309Model:
        chip = Ssd1309Model()
        self.wires.attach(ADDRESS, chip)
        return chip

    def show(self, picture: Image.Image) -> None:
        self.panel.show(picture, None, "")


@pytest.fixture
def glass() -> Glass:
    return Glass()


@pytest.mark.parametrize("name", SCENES)
def test_the_rider_sees_on_the_chip_what_was_drawn(name: str, glass: Glass) -> None:
    chip = glass.attach()
    glass.show(SCENES[name])
    assert chip.is_on
    assert chip.rows() == dots(SCENES[name]).astype(bool).tolist()


def test_one_dot_lands_where_it_belongs(glass: Glass) -> None:
    chip = glass.attach()
    picture = Image.new("1", (128, 64))
    picture.putpixel((3, 10), 1)
    picture.putpixel((127, 63), 1)
    glass.show(picture)
    lit = [(x, y) for y, row in enumerate(chip.rows()) for x, dot in enumerate(row) if dot]
    assert lit == [(3, 10), (127, 63)]


def test_a_missing_panel_is_one_line_in_the_log_and_is_tried_again(
    glass: Glass, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(50):
        glass.show(PICTURES[0])
        glass.clock.advance(0.5)
    assert [record.getMessage() for record in caplog.records] == [
        "dash (ssd1309) at 0x3C on i2c-1: does not answer (errno 121). Check its power, its wires"
        " and its address. It is tried again every 2 s."
    ]
    chip = glass.attach()
    glass.clock.advance(RETRY_S)
    glass.show(PICTURES[1])
    assert chip.rows() == dots(PICTURES[1]).astype(bool).tolist()
    assert caplog.records[-1].getMessage() == "the panel answers again"


def test_a_missing_panel_is_not_tried_more_often_than_said(glass: Glass) -> None:
    glass.show(PICTURES[0])
    tried = glass.wires.transfers
    for picture in PICTURES * 10:
        glass.show(picture)
    assert glass.wires.transfers == tried
    glass.clock.advance(RETRY_S)
    glass.show(PICTURES[0])
    assert glass.wires.transfers > tried


def test_a_panel_that_lost_its_power_is_set_up_again(
    glass: Glass, caplog: pytest.LogCaptureFixture
) -> None:
    glass.attach()
    glass.show(PICTURES[0])
    glass.wires.fault(ADDRESS, "nack")
    glass.show(PICTURES[1])
    assert len(caplog.records) == 1
    fresh = glass.attach()
    glass.wires.fault(ADDRESS, "clear")
    glass.clock.advance(RETRY_S)
    glass.show(PICTURES[1])
    assert fresh.is_on
    assert fresh.rows() == dots(PICTURES[1]).astype(bool).tolist()


def test_a_picture_cut_off_in_the_middle_is_sent_again_whole(glass: Glass) -> None:
    chip = glass.attach()
    glass.show(PICTURES[0])
    glass.wires.fail_next(ADDRESS, [0] * 10 + [errno.EIO] * 2)
    glass.show(PICTURES[1])
    assert chip.rows() != dots(PICTURES[1]).astype(bool).tolist()
    glass.clock.advance(RETRY_S)
    glass.show(PICTURES[1])
    assert chip.rows() == dots(PICTURES[1]).astype(bool).tolist()


def test_the_same_picture_is_not_sent_twice(glass: Glass) -> None:
    glass.attach()
    glass.show(PICTURES[0])
    sent = glass.wires.transfers
    glass.show(PICTURES[0].copy())
    assert glass.wires.transfers == sent


def test_a_panel_is_dark_when_the_program_ends(glass: Glass) -> None:
    chip = glass.attach()
    glass.show(PICTURES[0])
    glass.panel.stop()
    assert not chip.is_on
    assert not any(map(any, chip.rows()))
    glass.panel.stop()


def test_a_panel_that_is_gone_at_the_end_is_told_and_no_more(
    glass: Glass, caplog: pytest.LogCaptureFixture
) -> None:
    glass.attach()
    glass.show(PICTURES[0])
    glass.wires.fault(ADDRESS, "nack")
    glass.panel.stop()
    assert "the panel may still show its last picture" in caplog.text


# -- the terminal


class Screen:
    """A terminal of a given size, and all that was written to it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.master, self._slave = pty.openpty()
        self.resize(columns, rows)
        self.out: TextIO = os.fdopen(self._slave, "w", encoding="utf-8", closefd=False)
        self.panel = Terminal(self.out)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def take(self) -> str:
        return self.take_bytes().decode()

    def take_bytes(self) -> bytes:
        raw = b""
        while select.select([self.master], [], [], 0.05)[0]:
            raw += os.read(self.master, 65536)
        return raw

    def close(self) -> None:
        self.out.close()
        os.close(self._slave)
        os.close(self.master)


@pytest.fixture
def wide() -> Iterator[Screen]:
    screen = Screen(130, 40)
    yield screen
    screen.close()


@pytest.fixture
def small() -> Iterator[Screen]:
    screen = Screen(80, 24)
    yield screen
    screen.close()


@pytest.mark.parametrize("name", SCENES)
def test_half_blocks_hold_every_dot(name: str) -> None:
    lines = half_blocks(SCENES[name])
    assert (len(lines), {len(line) for line in lines}) == (32, {128})
    upper = [[char in "▀█" for char in line] for line in lines]
    lower = [[char in "▄█" for char in line] for line in lines]
    rows = [row for pair in zip(upper, lower, strict=True) for row in pair]
    assert rows == dots(SCENES[name]).astype(bool).tolist()


@pytest.mark.parametrize("name", SCENES)
def test_braille_holds_every_dot(name: str) -> None:
    lines = braille(SCENES[name])
    assert (len(lines), {len(line) for line in lines}) == (16, {64})
    # Unicode numbers the dots 1-2-3 down the left, 4-5-6 down the right, then 7 and 8 below.
    bit = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 0): 3, (1, 1): 4, (1, 2): 5, (0, 3): 6, (1, 3): 7}
    rows = [
        [bool(ord(lines[y // 4][x // 2]) - 0x2800 >> bit[x % 2, y % 4] & 1) for x in range(128)]
        for y in range(64)
    ]
    assert rows == dots(SCENES[name]).astype(bool).tolist()


def test_a_wide_terminal_gets_half_blocks_in_place_and_its_cursor_back(wide: Screen) -> None:
    wide.panel.show(SCENES["glass-night"], RIDE, "")
    text = wide.take()
    assert text.startswith("\x1b[?25l\x1b[2J\x1b[H")
    for line in half_blocks(SCENES["glass-night"]):
        assert line in text
    wide.panel.show(SCENES["glass"], RIDE, "")
    text = wide.take()
    assert text.startswith("\x1b[H")
    assert "\x1b[2J" not in text
    wide.panel.stop()
    assert wide.take().count("\x1b[?25h") == 1
    wide.panel.stop()
    assert wide.take() == ""


def test_a_small_terminal_gets_braille_and_no_line_too_long(small: Screen) -> None:
    small.panel.show(SCENES["glass-no-fix"], NO_FIX, "")
    text = small.take()
    for line in braille(SCENES["glass-no-fix"]):
        assert line in text
    assert text.count("\n") <= 23


def test_a_terminal_that_changes_its_size_is_drawn_anew(wide: Screen) -> None:
    wide.panel.show(SCENES["glass"], RIDE, "")
    wide.take()
    wide.resize(70, 20)
    wide.panel.show(SCENES["glass"], RIDE, "")
    text = wide.take()
    assert "\x1b[2J" in text
    assert braille(SCENES["glass"])[0] in text


@pytest.mark.parametrize("columns", [1, 20, 63, 0])
def test_a_terminal_far_too_small_is_no_fault(columns: int) -> None:
    screen = Screen(columns, 3)
    screen.panel.show(SCENES["glass"], RIDE, "")
    screen.panel.stop()
    assert screen.take()
    screen.close()


def test_the_same_state_writes_nothing(wide: Screen) -> None:
    wide.panel.show(SCENES["glass"], RIDE, "")
    wide.take()
    wide.panel.show(SCENES["glass"], RIDE, "")
    assert wide.take() == ""


def test_the_caption_tells_time_place_cues_in_colour_and_the_reason(wide: Screen) -> None:
    told = replace(SLOW_DOWN, why="57.4 mph in hours of darkness, limit 55")
    state = replace(
        RIDE,
        alert=told,
        cues=Cues(LightCue.RED_FLASH, HapticCue.PULSES, ToneCue.ALARM, is_watching=True),
    )
    wide.panel.show(SCENES["glass"], state, "")
    text = wide.take()
    assert "100 s, no date  43.07310, -89.40120  47 mph, limit 55  dark" in text
    assert (
        "\x1b[5;97;41m light red-flash \x1b[0m haptic pulses tone alarm: "
        "SLOW DOWN LIMIT 55, 57.4 mph in hours of darkness, limit 55"
    ) in text


def test_a_note_stays_below_the_glass_and_moves_no_cursor(small: Screen) -> None:
    panel = Terminal(small.out, note="The page: http://127.0.0.1:8350/\x1b[2J")
    panel.show(SCENES["glass"], RIDE, "")
    assert "The page: http://127.0.0.1:8350/?[2J" in small.take()
    small.resize(80, 6)
    panel.show(SCENES["glass"], RIDE, "")
    text = small.take()
    assert "The page: " in text
    assert text.count("\n") <= 5


def test_a_name_from_a_map_moves_no_cursor(wide: Screen) -> None:
    state = replace(RIDE, alert=alert("SLOW\x1b[2JDOWN", why="bar\r\x07\x9b1J"), modes=("\x1bc",))
    wide.panel.show(SCENES["glass"], state, "")
    text = wide.take()
    assert "SLOW?[2JDOWN, bar???1J" in text
    assert "\x1bc" not in text
    assert text.count("\x1b[2J") == 1


def test_a_pipe_gets_one_line_a_change_and_none_for_a_new_speed() -> None:
    out = io.StringIO()
    panel = Terminal(out)
    panel.show(draw_no_unit(), None, "no such file")
    panel.show(draw_no_unit(), None, "no such file")
    for speed_mph in (50.0, 51.0, 52.0):
        state = replace(RIDE, speed_mph=speed_mph)
        panel.show(draw(None, state), state, "")
    told = replace(SLOW_DOWN, why="57.4 mph in hours of darkness")
    state = replace(RIDE, speed_mph=57.4, alert=told, cues=Cues(LightCue.RED_FLASH))
    panel.show(draw(told, state), state, "")
    panel.show(draw(None, NO_FIX), NO_FIX, "")
    panel.stop()
    place = "100 s, no date  43.07310, -89.40120"
    assert out.getvalue().splitlines() == [
        "no unit | no such file",
        f"{place}  50 mph, limit 55  dark | watching",
        f"{place}  57 mph, limit 55  dark | light red-flash"
        " | SLOW DOWN LIMIT 55, 57.4 mph in hours of darkness",
        "100 s, no date  no place  speed unknown  dark | light off | not watched: "
        "350.10(1)(gm): no fix; 350.10(1)(g): no fix; 350.10(1)(i): no fix",
    ]


def test_a_terminal_without_the_blocks_gets_plain_lines(wide: Screen) -> None:
    out: TextIO = os.fdopen(wide.out.fileno(), "w", encoding="ascii", closefd=False)
    panel = Terminal(out, note="H\u00fctte")
    named = replace(SLOW_DOWN, why="at H\u00fctte")
    panel.show(draw(named, RIDE), replace(RIDE, alert=named), "")
    panel.stop()
    text = wide.take()
    assert text.isascii()
    assert "\x1b" not in text
    assert text.strip().endswith("SLOW DOWN LIMIT 55, at H?tte")
    out.close()


def test_a_name_that_the_encoding_has_not_is_told_with_marks(wide: Screen) -> None:
    out: TextIO = os.fdopen(wide.out.fileno(), "w", encoding="cp437", closefd=False)
    panel = Terminal(out)  # cp437 has the half blocks and not the Braille: lines
    panel.show(draw_no_unit(), None, "\u0416")
    panel.stop()
    assert wide.take_bytes() == b"no unit | ?\r\n"
    out.close()


# -- the picture file


def test_a_picture_file_holds_four_dots_for_each(tmp_path: Path) -> None:
    panel = Png(tmp_path / "glass.png")
    for picture in PICTURES:
        panel.show(picture, None, "")
        with Image.open(tmp_path / "glass.png") as kept:
            assert kept.size == (512, 256)
            assert kept.convert("1").resize((128, 64)).tobytes() == picture.tobytes()
    panel.stop()
    assert [one.name for one in tmp_path.iterdir()] == ["glass.png"]


def test_a_folder_that_refuses_the_picture_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    panel = Png(tmp_path / "later" / "glass.png")
    panel.show(PICTURES[0], None, "")
    panel.show(PICTURES[1], None, "")
    path = tmp_path / "later" / "glass.png"
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: can't be written: No such file or directory"
    ]
    path.parent.mkdir()
    panel.show(PICTURES[1], None, "")
    assert path.exists()


# -- the parts list


@pytest.mark.parametrize("word", sorted(PARTS["panel"]))
def test_each_panel_of_the_parts_list_can_be_fitted(word: str, tmp_path: Path) -> None:
    panel = load("panel", word).fit(Fitting(bus=250, png=tmp_path / "glass.png"))
    panel.show(draw_no_unit(), None, "not there")
    panel.stop()
