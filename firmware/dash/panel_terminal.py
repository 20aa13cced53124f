"""The glass in a terminal: each dot of the panel by a character's half or eighth, and a line below.

With 128 columns two dots share a character (half blocks); a smaller terminal gets eight (Braille).
Where the output is no terminal, or one without these characters (its locale is ASCII), each change
of what the rider is told is one plain line.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from PIL import Image

from firmware.dash import key_code
from firmware.dash.base import Fitting, Panel
from firmware.dash.screen import shown_mph, shows_key
from firmware.findings import Cues, HapticCue, LightCue, ToneCue
from firmware.state import State

_HALVES = " ▀▄█"  # index: 1 for the upper dot, 2 for the lower
# The dots of a Braille character by their bit (Unicode block 2800): column by column.
_BRAILLE = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))

_HOME, _CLEAR, _TO_END, _BELOW = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_LAST_ROW = "\x1b[999;1H"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_GLASS, _PLAIN = "\x1b[97;40m", "\x1b[0m"
_COLOURS = {
    LightCue.OFF: "",
    LightCue.AMBER: "\x1b[30;43m",
    LightCue.AMBER_FLASH: "\x1b[5;30;43m",
    LightCue.RED: "\x1b[97;41m",
    LightCue.RED_FLASH: "\x1b[5;97;41m",
}


class Terminal:
    """Draws in place on a terminal, or writes a line a change to a pipe."""

    def __init__(self, out: TextIO | None = None, note: str = "") -> None:
        """`note` is a line that stays below the glass, where there is a terminal to keep it."""
        self._note = _printable(note)
        self._out = out if out is not None else sys.stdout
        self._is_tty = self._out.isatty() and _can_say(self._out, _HALVES + chr(0x28FF))
        self._size = (0, 0)
        self._last = ""
        self._told: tuple[object, ...] = ()

    @classmethod
    def fit(cls, fitting: Fitting) -> Panel:
        return cls(note=fitting.note)

    def show(self, picture: Image.Image, state: State | None, trouble: str) -> None:
        """Redraws where anything changed; raises OSError when nobody reads the output."""
        if not self._is_tty:
            self._write_line(state, trouble)
            return
        columns, rows = self._measure()
        if columns >= picture.width and rows >= picture.height // 2 + 3:
            drawn = half_blocks(picture)
        elif state is not None and shows_key(state):
            drawn = half_blocks(key_code.small(state.key))  # no telephone reads it in Braille
        else:
            drawn = braille(picture)
        lines = [f"{_GLASS}{line[:columns]}{_PLAIN}" for line in drawn[: max(1, rows - 3)]]
        lines += _caption(state, trouble, columns)
        if self._note:
            lines.append(self._note[:columns])
        text = "".join(f"{line}{_TO_END}\r\n" for line in lines[:-1]) + lines[-1] + _TO_END
        text = _sayable(self._out, text)
        begin = ""
        if self._size != (columns, rows):
            begin, self._size, self._last = _HIDE + _CLEAR, (columns, rows), ""
        if text != self._last:
            self._last = text
            self._out.write(begin + _HOME + text + _BELOW)
            self._out.flush()

    def stop(self) -> None:
        """Gives the cursor back below the glass."""
        if self._is_tty and self._size != (0, 0):
            self._size = (0, 0)
            self._out.write(f"{_PLAIN}{_SHOW}{_LAST_ROW}\r\n")
            self._out.flush()

    def _measure(self) -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(self._out.fileno())
        except OSError:
            return 80, 24
        return (columns, rows) if columns and rows else (80, 24)  # a bare serial line says 0 x 0

    def _write_line(self, state: State | None, trouble: str) -> None:
        told: tuple[object, ...] = (trouble,)
        if state is not None:
            alert = state.alert
            told = (
                None if alert is None else (alert.name, alert.state, alert.words),
                state.limit_mph,
                state.not_watched,
                state.modes,
                state.prompt,
                state.is_dark,
                shows_key(state),
            )
        if told != self._told:
            self._told = told
            words = (word.strip() for word in _words(state, trouble))
            self._out.write(_sayable(self._out, " | ".join(word for word in words if word)) + "\n")
            self._out.flush()


def _can_say(out: TextIO, text: str) -> bool:
    """Whether the output's encoding has these characters."""
    return _sayable(out, text) == text


def _sayable(out: TextIO, text: str) -> str:
    """The text with `?` for what the output's encoding has not: a name may be in any script."""
    encoding = out.encoding or "utf-8"  # a text in memory has none
    return text.encode(encoding, "replace").decode(encoding)


def half_blocks(picture: Image.Image) -> list[str]:
    """The picture with two dots in each character, one above the other."""
    dots = _rows(picture)
    return [
        "".join(_HALVES[up + 2 * low] for up, low in zip(upper, lower, strict=True))
        for upper, lower in zip(dots[::2], dots[1::2], strict=True)
    ]


def braille(picture: Image.Image) -> list[str]:
    """The picture with eight dots in each character, two wide and four high."""
    dots = _rows(picture)
    lines = []
    for top in range(0, len(dots), 4):
        codes = [0x2800] * (len(dots[0]) // 2)
        for down in range(4):
            for x, dot in enumerate(dots[top + down]):
                if dot:
                    codes[x // 2] |= _BRAILLE[x % 2][down]
        lines.append("".join(map(chr, codes)))
    return lines


def _rows(picture: Image.Image) -> list[list[int]]:
    packed, stride = picture.tobytes(), (picture.width + 7) // 8
    return [
        [packed[y * stride + x // 8] >> 7 - x % 8 & 1 for x in range(picture.width)]
        for y in range(picture.height)
    ]


def _caption(state: State | None, trouble: str, columns: int) -> list[str]:
    """The two lines below: time, speed and place; then the cues and why, the light in colour."""
    if state is None:
        return [f"no unit: {trouble or 'nothing heard for 2 s'}"[:columns], ""]
    where, cues, why = _words(state, trouble)
    colour = _COLOURS[state.cues.light]
    told = f"{cues}{': ' if why else ''}{why}"[:columns]
    light, rest = told[: len(_light(state.cues))], told[len(_light(state.cues)) :]
    return [where[:columns], f"{colour}{light}{_PLAIN}{rest}"]


def _words(state: State | None, trouble: str) -> list[str]:
    """Where and how fast; the cues; and what the rider is told with its reason."""
    if state is None:
        return ["no unit", trouble or "nothing heard for 2 s"]
    speed = shown_mph(state.speed_mph, state.limit_mph)
    limit = "" if state.limit_mph is None else f", limit {state.limit_mph:.0f}"
    where = [
        state.utc.strftime("%Y-%m-%d %H:%M:%S UTC")
        if state.utc
        else f"{state.at_s:.0f} s, no date",
        "no place" if state.lat_deg is None else f"{state.lat_deg:.5f}, {state.lon_deg:.5f}",
        ("speed unknown" if speed is None else f"{speed} mph") + limit,
        {True: "dark", False: "day", None: ""}[state.is_dark],
        *(_mode(state)),
    ]
    cues = [_light(state.cues)]
    if state.cues.haptic is not HapticCue.OFF:
        cues.append(f"haptic {state.cues.haptic}")
    if state.cues.tone is not ToneCue.OFF:
        cues.append(f"tone {state.cues.tone}")
    why = ""
    if state.alert is not None:
        said = " ".join(state.alert.words.split())
        done = " (acknowledged)" if state.alert.state == "acknowledged" else ""
        reason = state.alert.why
        is_said = reason.casefold() == said.casefold()  # the glass's own words are the reason
        why = f"{said}{done}, {reason}" if reason and not is_said else said + done
    elif state.not_watched:
        why = "not watched: " + "; ".join(state.not_watched)
    if shows_key(state):
        why = f"key {state.key_print} {state.key}  {why}"
    return [_printable("  ".join(part for part in where if part)), " ".join(cues), _printable(why)]


def _mode(state: State) -> list[str]:
    """Each mode that is on, with who says so."""
    words = state.mode_words or ("",) * len(state.modes)
    named = zip(state.modes, words, strict=False)
    return [f"{mode} ({said})" if said else mode for mode, said in named]


def _printable(text: str) -> str:
    """The text without what would move a terminal's cursor: names come from maps and people."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _light(cues: Cues) -> str:
    if cues.light is LightCue.OFF:
        return "light off" if not cues.is_watching else "watching"
    return f" light {cues.light} "
