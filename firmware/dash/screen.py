"""Draws the glass: what a rider in a helmet reads in under a second, in 128 by 64 dots.

`draw` is pure: the same alert and state give the same picture, for the panel, the terminal, the
page and a test. It judges nothing; what it does not know it shows as not known.

From the top: while nothing is raised, a row of small signs (receiver, lamps, tether, modes,
journal), the speed as large as it goes with the limit that applies beside it, and at the bottom
what is not watched. An alert takes the top of the glass in inverse, and the speed and the limit go
below it. One that is acknowledged, or that no light goes with, is a line at the bottom.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from PIL import Image, ImageDraw

from firmware.dash import faces, key_code, letters
from firmware.dash.faces import Box
from firmware.findings import Alert, LightCue
from firmware.state import State

SIZE = (128, 64)
WIDTH, HEIGHT = SIZE
ROW = letters.HEIGHT + 2
"""The height of a line of small letters with a dot above and below."""

_NEARLY_FULL = "nearly full"
_TROUBLE = ("not kept", "lost")  # what the journal says of itself when the rider must know
_REASONS = {"no answer": "NO GPS", "not fitted": "NO GPS", "starting": "STARTING"}
_DUTIES = {
    "speed": "SPEED",
    "zone": "ZONES",
    "zone-ahead": "ZONES",
    "head-lamp": "HEAD",
    "tail-lamp": "TAIL",
}
_NEAR_FT = 1000.0  # a house that is farther away is no news
_MODE_WORDS = {"race": "RACE", "maker_test": "TEST", "family_land": "LAND"}
_WORTH = (
    ("; outside its place", "OFF"),
    ("; its place is not known", "OFF"),
    ("self-declared", "SELF"),
    ("not named", "SIGN"),
)

_HEAD_LAMP = ("..###...", ".####.##", "#####...", "#####.##", "#####...", ".####.##", "..###...")
_TAIL_LAMP = ("....####", "#...####", ".#..####", "....####", ".#..####", "#...####", "....####")
_HEAD_DARK = ("..###", ".#..#", "#...#", "#...#", "#...#", ".#..#", "..###")
_TAIL_DARK = ("####", "#..#", "#..#", "#..#", "#..#", "#..#", "####")
_CORD_IN = (".....###", ".##..###", "#..#.###", "#..#####", "#..#.###", ".##..###", ".....###")
_CORD_OUT = (".....###", ".##..#.#", "#..#.#.#", "#..#.#.#", "#..#.#.#", ".##..#.#", ".....###")
_CROSS = (".....", "#...#", ".#.#.", "..#..", ".#.#.", "#...#", ".....")


def draw(alert: Alert | None, state: State) -> Image.Image:
    """The glass for the alert that wins it and the state: mode "1", 128 x 64, lit dots are 1."""
    image = Image.new("1", SIZE, 0)
    if alert is not None and alert.state == "raised" and alert.light is not LightCue.OFF:
        _draw_words(image, alert.words, state, is_alert=True)
    elif state.prompt:
        _draw_words(image, state.prompt, state, is_alert=False)
    elif state.is_key_shown and state.key:
        _draw_key(image, state)
    else:
        _draw_calm(image, alert, state)
    return image


def shows_key(state: State) -> bool:
    """Whether the glass shows the unit's key now: a warning and a question come before it."""
    alert = state.alert
    is_loud = alert is not None and alert.state == "raised" and alert.light is not LightCue.OFF
    return state.is_key_shown and state.key != "" and not state.prompt and not is_loud


def draw_no_unit() -> Image.Image:
    """The whole glass when the unit is not heard: nothing on it may look alive."""
    image = Image.new("1", SIZE, 0)
    ImageDraw.Draw(image).rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=1)
    faces.lettering(image, ("NO", "UNIT"), Box(4, 3, WIDTH - 4, HEIGHT - 3), 1)
    return image


def shown_mph(speed_mph: float | None, limit_mph: float | None) -> int | None:
    """The speed as a whole number: above the limit on the glass exactly when it is above it.

    Rounded to the nearest, half up; but 55.2 over a limit of 55 is 56, and 10.4 under one of 10.4
    is 10. None where there is no speed that a glass can show.
    """
    if speed_mph is None or not math.isfinite(speed_mph) or not 0.0 <= speed_mph < 1000.0:
        return None
    nearest = math.floor(speed_mph + 0.5)
    if limit_mph is None or not math.isfinite(limit_mph):
        return nearest
    if speed_mph > limit_mph:
        return max(nearest, math.floor(limit_mph) + 1)
    return min(nearest, math.floor(limit_mph))


# -- the two layouts


def _draw_calm(image: Image.Image, alert: Alert | None, state: State) -> None:
    _draw_signs(image, state)
    strips: list[tuple[str, bool]] = [(text, True) for text in _not_watched(state, 3)]
    said = " ".join(alert.words.split()) if alert is not None else ""
    if alert is not None and alert.state != "cleared" and "NOT WATCHED" not in said:
        strips.insert(0, (said, False))
    if not strips and state.zone and state.zone_ft is not None and state.zone_ft < _NEAR_FT:
        strips.append((f"{state.zone} {state.zone_ft:.0f} FT", False))
    bottom = _draw_strips(image, strips)
    _draw_speed(image, state, Box(0, ROW + 2, WIDTH, bottom - 1))


def _draw_words(image: Image.Image, words: str, state: State, *, is_alert: bool) -> None:
    strips = [(text, True) for text in _not_watched(state, 1)]
    if state.modes:  # a mode shows all the time, whatever else is told
        strips = [(_modes_strip(state, strips), False)]
    if not is_alert and words.rstrip().endswith("?"):
        strips.insert(0, ("HOLD BUTTON = YES", False))
    bottom = _draw_strips(image, strips)
    lines = _lines(words)
    top = Box(0, 0, WIDTH, 22 if len(lines) == 1 else 34 if strips else 40)
    if is_alert:
        ImageDraw.Draw(image).rectangle((0, 0, WIDTH - 1, top.bottom - 1), fill=1)
    else:
        ImageDraw.Draw(image).rectangle((0, 0, WIDTH - 1, top.bottom - 1), outline=1)
    margin = 2 if is_alert else 4
    inner = Box(margin, margin, WIDTH - margin, top.bottom - margin)
    faces.lettering(image, lines, inner, 0 if is_alert else 1)
    _draw_speed(image, state, Box(0, top.bottom + 2, WIDTH, bottom - 1))


def _draw_key(image: Image.Image, state: State) -> None:
    """The key, and below its fingerprint what may not be hidden: a mode, and that one is blind."""
    room = key_code.draw(image, state.key, state.key_print)
    lines = [_mode_pill(state)] if state.modes else []
    if state.not_watched or not state.is_watching:
        lines.append("UNWATCHED")
    for at, line in enumerate(reversed(lines)):
        letters.write(image, room.left, room.bottom - (at + 1) * ROW + 1, line)


# -- the speed and its limit


def _draw_speed(image: Image.Image, state: State, box: Box) -> None:
    shown = shown_mph(state.speed_mph, state.limit_mph)
    limit = shown_mph(state.limit_mph, None)
    right = box.right
    if limit is not None:
        is_over = shown is not None and shown > limit
        right = _draw_limit(image, limit, box, is_over=is_over) - 4
    elif shown is not None:
        right -= letters.width("MPH") + 2
        letters.write(image, right + 2, box.bottom - letters.HEIGHT, "MPH")
    room = Box(box.left, box.top, right, box.bottom)
    if shown is None:
        _draw_no_speed(image, _reason(state), room)
        return
    faces.number(image, shown, room, 1)


def _draw_limit(image: Image.Image, limit: int, box: Box, *, is_over: bool) -> int:
    """The limit as its road sign, inverse once it is passed; returns the sign's left edge."""
    is_tall = box.height >= 30
    width = 38 if is_tall else 30
    height = min(box.height, 44)
    top = box.top + (box.height - height) // 2
    sign = Box(box.right - width, top, box.right, top + height)
    pen = ImageDraw.Draw(image)
    edge = (sign.left, sign.top, sign.right - 1, sign.bottom - 1)
    pen.rounded_rectangle(edge, radius=3, outline=1, fill=1 if is_over else 0)
    ink = 0 if is_over else 1
    margin = 3 if height >= 18 else 2
    inner = Box(sign.left + 3, sign.top + margin, sign.right - 3, sign.bottom - margin)
    if is_tall:
        caption = "LIMIT"
        x = sign.left + (width - letters.width(caption)) // 2
        letters.write(image, x, sign.top + 3, caption, ink)
        inner = Box(inner.left, inner.top + letters.HEIGHT + 2, inner.right, inner.bottom)
    faces.number(image, limit, inner, ink)
    return sign.left


def _draw_no_speed(image: Image.Image, reason: str, room: Box) -> None:
    """Two dashes, and under or beside them why."""
    pen = ImageDraw.Draw(image)
    if room.height >= 30:
        middle = (room.left + room.right) // 2
        y = room.top + room.height // 4
        for left in (middle - 27, middle + 5):
            pen.rectangle((left, y - 2, left + 21, y + 2), fill=1)
        words = Box(room.left, room.top + room.height // 2, room.right, room.bottom)
        faces.lettering(image, (reason,), words, 1)
        return
    y = room.top + room.height // 2
    for left in (room.left + 2, room.left + 14):
        pen.rectangle((left, y - 1, left + 8, y + 1), fill=1)
    faces.lettering(image, (reason,), Box(room.left + 30, room.top, room.right, room.bottom), 1)


def _reason(state: State) -> str:
    """Why there is no speed, in two words of a rider's."""
    return _REASONS.get(state.gps.partition(":")[0], "NO FIX")


# -- the row of small signs


def _draw_signs(image: Image.Image, state: State) -> None:
    x = _draw_bars(image, state) + 4
    for word, having, lacking in (
        (state.head_lamp, _HEAD_LAMP, _HEAD_DARK),
        (state.tail_lamp, _TAIL_LAMP, _TAIL_DARK),
        (state.tether, _CORD_IN, _CORD_OUT),
    ):
        if word == "not fitted":
            continue
        x = letters.stamp(image, x, 1, having if word in ("lit", "in") else lacking)
        if word in ("out", "open", "short"):
            x = letters.stamp(image, x + 2, 1, _CROSS)
        elif word not in ("lit", "in", "not needed"):
            x = letters.write(image, x + 2, 1, "?")
        x += 4
    right = WIDTH
    for pill in _pills(state):
        right -= letters.width(pill) + 4
        ImageDraw.Draw(image).rectangle(
            (right, 0, right + letters.width(pill) + 3, ROW - 1), fill=1
        )
        letters.write(image, right + 2, 1, pill, 0)
        right -= 2
    clock = re.search(r"\b\d\d:\d\d\b", state.local_time)
    if clock is not None and right - letters.width(clock[0]) > x:
        letters.write(image, right - letters.width(clock[0]), 1, clock[0])


def _draw_bars(image: Image.Image, state: State) -> int:
    """The receiver: up to four bars by the satellites it uses; a cross without a fix."""
    if state.lat_deg is None:
        letters.stamp(image, 0, 7, ("##.##",))
        return letters.stamp(image, 6, 1, _CROSS)
    bars = 4 if state.satellites is None else max(1, min(4, (state.satellites - 2) // 2))
    for bar in range(4):
        tall = 1 + 2 * bar if bar < bars else 1
        ImageDraw.Draw(image).rectangle((3 * bar, 8 - tall, 3 * bar + 1, 7), fill=1)
    return 11


def _pills(state: State) -> list[str]:
    pills = ["LOG"] if any(word in state.journal for word in _TROUBLE) else []
    if _NEARLY_FULL in state.journal:
        pills.append("CARD")
    if state.modes:
        pills.append(_mode_pill(state))
    return pills


def _mode_pill(state: State) -> str:
    """The mode that is on, and of a race what it is worth: OFF lifts nothing here, SELF is the
    rider's own word, SIGN a key that is not named; a proven one stands alone."""
    name = state.modes[0]
    word = _MODE_WORDS.get(name, letters.plain(name)[:4])
    if len(state.modes) > 1:
        return f"{word}+"
    if name != "race" or not state.mode_words:
        return word
    worth = next((short for known, short in _WORTH if known in state.mode_words[0]), "")
    return f"{word} {worth}".rstrip()


def _modes_strip(state: State, blind: Sequence[tuple[str, bool]]) -> str:
    """The line at the bottom while the signs are hidden: the modes, and that something is not
    watched where it is so."""
    pill = _mode_pill(state)
    if not blind:
        return pill
    topics = dict.fromkeys(_heads(state.not_watched))
    return f"{pill.split(' ')[0]}, NOT WATCHED {len(topics) or ''}".rstrip()


# -- the lines at the bottom


def _not_watched(state: State, most: int) -> list[str]:
    """What is not watched, on as many lines of small letters as it takes, at most `most`."""
    topics = {one.clause: one.topic for one in state.findings}
    duties = (topics.get(clause, clause) for clause in _heads(state.not_watched))
    names = list(dict.fromkeys(_DUTIES.get(one, letters.plain(one)) for one in duties))
    if not names:
        return [] if state.is_watching else ["NOT WATCHING"]
    lines: list[str] = []
    left_out = 0
    for shape in [("NOT WATCHED ",), *(("NOT WATCHED", *[""] * rows) for rows in range(1, most))]:
        lines, left_out = _pack(names, shape)
        if not left_out:
            return lines
    lines[-1] += f" +{left_out}"
    return lines


def _heads(lines: Iterable[str]) -> Iterator[str]:
    """What stands before the colon of each line, where anything does."""
    return (head for head in (line.partition(": ")[0].strip() for line in lines) if head)


def _pack(names: Sequence[str], shape: Sequence[str]) -> tuple[list[str], int]:
    """Fills lines that begin so with names; returns them and how many names found no place."""
    lines = list(shape)
    at = 0 if shape[0].endswith(" ") else 1
    for done, name in enumerate(names):
        left = len(names) - done - 1
        while at < len(lines):
            comma = ", " if lines[at] != shape[at] else ""
            mark = f" +{left}" if left and at == len(lines) - 1 else ""
            if letters.width(lines[at] + comma + name + mark) <= WIDTH - 2:
                lines[at] += comma + name
                break
            at += 1
        else:
            return lines, left + 1
    return lines, 0


def _draw_strips(image: Image.Image, strips: Sequence[tuple[str, bool]]) -> int:
    """Lines of small letters at the bottom, inverse or framed above; returns their top edge."""
    top = HEIGHT - ROW * len(strips)
    for at, (text, is_inverse) in enumerate(strips):
        y = top + at * ROW
        if is_inverse:
            ImageDraw.Draw(image).rectangle((0, y, WIDTH - 1, y + ROW - 1), fill=1)
        x = max(2, (WIDTH - letters.width(text)) // 2)
        letters.write(image, x, y + 1, text, 0 if is_inverse else 1)
    return top


def _lines(words: str) -> tuple[str, ...]:
    """The words in one or two lines, broken where both come out largest."""
    lines = [" ".join(line.split()) for line in words.upper().split("\n") if line.strip()]
    if len(lines) == 1 and len(lines[0]) > 9 and " " in lines[0]:
        spaces = [at for at, letter in enumerate(lines[0]) if letter == " "]
        at = min(spaces, key=lambda one: abs(2 * one - len(lines[0])))
        lines = [lines[0][:at], lines[0][at + 1 :]]
    return tuple(lines[:2]) or ("?",)
