"""The unit's key on the glass: asked for, drawn, and read back by a reader of codes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
import zxingcpp
from glass_reading import reads
from glass_scenes import DAY, SLOW_DOWN
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import NO_FIX, configured, fix_of
from PIL import Image, ImageFilter
from test_panels import Screen

from firmware.dash import key_code
from firmware.dash.panel_terminal import Terminal, half_blocks
from firmware.dash.screen import draw, shows_key
from firmware.monitor import build
from firmware.readings import Channel, Press, Reading, Request
from firmware.rider.requests import KEY_S, NEW_KEY, NEW_KEY_S, Requests
from firmware.state import State
from firmware.view import state_of

KEY = "9f3c" * 16
PRINT = "32af-865b-0ab8-702c"
SHOWN = replace(DAY, speed_mph=0.0, key=KEY, key_print=PRINT, is_key_shown=True)
AWAY = fix_of(0.0)


@pytest.fixture
def small() -> Iterator[Screen]:
    screen = Screen(80, 24)
    yield screen
    screen.close()


def seen(
    picture: Image.Image, times: int = 6, turned_deg: float = 0.0, blur: float = 0.0
) -> Image.Image:
    """What a lens sees: the lit dots on a dark dash, some turned and out of focus."""
    large = picture.convert("L").resize((picture.width * times, picture.height * times))
    dash = Image.new("L", (large.width + 200, large.height + 200), 10)
    dash.paste(large, (100, 100))
    turned = dash.rotate(turned_deg, Image.Resampling.BICUBIC, fillcolor=10)
    return turned.filter(ImageFilter.GaussianBlur(blur))


def read(picture: Image.Image) -> list[str]:
    return [one.text for one in zxingcpp.read_barcodes(picture)]


@pytest.mark.parametrize(("turned_deg", "blur"), [(0.0, 0.0), (7.0, 0.0), (-12.0, 3.0), (0.0, 5.0)])
def test_a_reader_reads_the_key_off_the_glass(turned_deg: float, blur: float) -> None:
    assert read(seen(draw(None, SHOWN), 6, turned_deg, blur)) == [KEY.upper()]


@settings(max_examples=25, deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_every_key_fits_and_is_read(octets: bytes) -> None:
    picture = draw(None, replace(SHOWN, key=octets.hex()))
    assert picture.size == (128, 64)
    assert read(seen(picture)) == [octets.hex().upper()]


def test_the_fingerprint_stands_beside_the_code() -> None:
    picture = draw(None, SHOWN)
    assert reads(picture, "32AF-865B")
    assert reads(picture, "0AB8-702C")


def test_what_may_not_be_hidden_stands_below_the_fingerprint() -> None:
    state = replace(SHOWN, modes=("race",), mode_words=("self-declared",), not_watched=("x: y",))
    picture = draw(None, state)
    assert reads(picture, "RACE SELF")
    assert reads(picture, "UNWATCHED")
    assert read(seen(picture)) == [KEY.upper()]


@pytest.mark.parametrize(
    "state",
    [
        replace(SHOWN, alert=SLOW_DOWN),
        replace(SHOWN, prompt="HOLD BUTTON TO OPEN PORT?"),
        replace(SHOWN, is_key_shown=False),
    ],
)
def test_a_warning_and_a_question_come_before_the_key(state: State) -> None:
    assert not shows_key(state)
    assert read(seen(draw(state.alert, state))) == []


def test_a_small_terminal_shows_the_code_alone_and_larger(small: Screen) -> None:
    small.panel.show(draw(None, SHOWN), SHOWN, "")
    lines = half_blocks(key_code.small(KEY))
    assert (len(lines), len(lines[0])) == (17, 33)
    told = small.take()
    assert all(line in told for line in lines)
    assert read(seen(key_code.small(KEY), 8)) == [KEY.upper()]


def test_a_pipe_is_told_the_key_in_digits() -> None:
    out = io.StringIO()
    Terminal(out).show(draw(None, SHOWN), SHOWN, "")
    assert f"key {PRINT} {KEY}" in out.getvalue()


# -- asking for it


def test_the_key_is_shown_for_a_minute_while_standing() -> None:
    requests = Requests()
    requests.take(Request("key"), 10.0, AWAY, True)
    assert requests.is_key_wanted
    assert requests.due_s(10.0) == 10.0 + KEY_S
    requests.pass_time(69.9)
    assert requests.is_key_wanted
    requests.pass_time(70.0)
    assert not requests.is_key_wanted


@pytest.mark.parametrize("argument", ["", NEW_KEY])
def test_the_key_is_refused_aloud_under_way(argument: str) -> None:
    requests = Requests()
    requests.take(Request("key", argument), 10.0, fix_of(30.0), False)
    assert not requests.is_key_wanted
    assert requests.prompt == "STOP FIRST\nTHEN SHOW KEY"


def test_a_new_key_is_shown_also_before_the_first_fix() -> None:
    requests = Requests()
    requests.take(Request("key", NEW_KEY), 1.0, NO_FIX, False)
    assert requests.is_key_wanted
    assert requests.due_s(1.0) == 1.0 + NEW_KEY_S


def test_a_press_takes_the_key_away_once_it_has_nothing_to_acknowledge() -> None:
    monitor = build(configured(), [], frozenset({Channel.REQUEST, Channel.BUTTON}))
    monitor.step(Reading(Channel.REQUEST, Request("key", NEW_KEY), 1.0, "daemon"), 1.0)
    monitor.requests.take(Press("press"), 2.0, NO_FIX, False)
    assert monitor.requests.is_key_wanted
    monitor.step(Reading(Channel.BUTTON, Press("press"), 3.0, "button"), 3.0)
    assert not monitor.requests.is_key_wanted


def test_the_state_tells_the_key_and_hides_it_once_the_sled_moves() -> None:
    monitor = build(configured(), [], frozenset({Channel.FIX, Channel.REQUEST}))
    monitor.step(Reading(Channel.REQUEST, Request("key", NEW_KEY), 1.0, "daemon"), 1.0)
    assert state_of(monitor, 1.0, KEY, PRINT).is_key_shown
    assert state_of(monitor, 1.0).prompt == "NO KEY YET"
    monitor.step(Reading(Channel.FIX, fix_of(20.0), 2.0, "gps", 2.5), 2.0)
    later = state_of(monitor, 2.0, KEY, PRINT)
    assert (later.is_key_shown, later.key, later.key_print) == (False, KEY, PRINT)
