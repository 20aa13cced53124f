from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from glass_reading import dots, holes, reads
from glass_scenes import DAY, NIGHT, NO_FIX, RIDE, SCENES, SLOW_DOWN, alert, framed
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from firmware.alerts.table import TABLE
from firmware.dash import faces, figures, letters
from firmware.dash.screen import draw, draw_no_unit, shown_mph
from firmware.findings import Finding, LightCue, Verdict
from firmware.state import State

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(
    ("speed_mph", "limit_mph", "shown"),
    [
        (55.0, 55.0, 55),
        (55.01, 55.0, 56),
        (55.4, 55.0, 56),
        (56.4, 55.0, 56),
        (54.6, 55.0, 55),
        (54.4, 55.0, 54),
        (10.2, 10.0, 11),
        (10.4, 10.4, 10),
        (10.6, 10.5, 11),
        (0.4, None, 0),
        (0.5, None, 1),
        (112.0, 55.0, 112),
        (57.0, math.nan, 57),
        (None, 55.0, None),
        (math.nan, 55.0, None),
        (math.inf, None, None),
        (-3.0, None, None),
        (1000.0, None, None),
    ],
)
def test_the_shown_speed_is_rounded_so(
    speed_mph: float | None, limit_mph: float | None, shown: int | None
) -> None:
    assert shown_mph(speed_mph, limit_mph) == shown


@given(st.floats(0, 199), st.floats(1, 199))
def test_the_figure_is_above_the_limit_exactly_when_the_speed_is(
    speed_mph: float, limit_mph: float
) -> None:
    shown = shown_mph(speed_mph, limit_mph)
    assert shown is not None
    assert (shown > limit_mph) == (speed_mph > limit_mph)
    assert abs(shown - speed_mph) <= 1.0


def test_the_speed_and_the_limit_stand_side_by_side() -> None:
    picture = draw(None, RIDE)
    assert reads(picture, "47")
    assert reads(picture, "55")
    assert reads(picture, "LIMIT")
    assert reads(picture, "18:42")


def test_no_limit_is_no_sign() -> None:
    picture = draw(None, DAY)
    assert reads(picture, "47")
    assert reads(picture, "MPH")
    assert not reads(picture, "LIMIT")
    assert not reads(picture, "55")


def test_a_speed_just_over_the_limit_is_not_shown_as_the_limit() -> None:
    picture = draw(None, replace(RIDE, speed_mph=55.3))
    assert reads(picture, "56")


def test_no_fix_shows_two_dashes_and_the_reason_and_no_figure() -> None:
    no_clock = replace(NO_FIX, local_time="")
    picture = draw(None, no_clock)
    assert reads(picture, "NO FIX")
    assert not [figure for figure in ("0", "00", "55") if reads(picture, figure)]
    assert reads(draw(None, replace(no_clock, speed_mph=0.0)), "0")


@pytest.mark.parametrize(
    ("gps", "reason"),
    [
        ("no fix", "NO FIX"),
        ("stale: last heard at 12.0 s", "NO FIX"),
        ("no answer: /dev/ttyAMA0", "NO GPS"),
        ("not fitted", "NO GPS"),
        ("starting", "STARTING"),
        ("", "NO FIX"),
    ],
)
@pytest.mark.parametrize("words", ["", "SPEED NOT\nWATCHED"])
def test_the_reason_for_no_speed_is_a_riders(gps: str, reason: str, words: str) -> None:
    picture = draw(alert(words) if words else None, replace(NO_FIX, gps=gps))
    assert reads(picture, reason)


def test_an_alert_stands_in_inverse_across_the_glass_with_the_speed_below() -> None:
    picture = draw(SLOW_DOWN, replace(RIDE, speed_mph=57.4))
    assert reads(picture, "SLOW DOWN")
    assert reads(picture, "LIMIT 55")
    assert reads(picture, "57")
    assert reads(picture, "55")
    assert dots(picture)[0].all()
    assert dots(picture)[:40].mean() > 0.5


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("state", [RIDE, NO_FIX], ids=["fix", "no fix"])
def test_the_words_of_each_alert_can_be_read(row: object, state: State) -> None:
    words = row.words.format(
        value=57.4,
        limit=55.0,
        at="55 KM/H",
        thing="DWELLING",
        away="1700 FT",
        what="HEAD LAMP\nHAS NO SUPPLY",
        unmapped="NO ZONE DATA\nHERE",
    )  # type: ignore[attr-defined]  # a Row
    picture = draw(alert(words), state)
    for line in words.split("\n"):
        assert reads(picture, line) or all(reads(picture, word) for word in _halves(line))


def _halves(line: str) -> list[str]:
    head, _, tail = line.partition(" ")
    return [head, tail]


@pytest.mark.parametrize("words", ["WWWWWWWWWWWWWWWW\nMMMMMMMMMMMMMMMM", "W" * 16, "I", "-\n-"])
def test_sixteen_of_the_widest_letters_fit_with_a_margin(words: str) -> None:
    picture = draw(alert(words), RIDE)
    for line in words.split("\n"):
        assert reads(picture, line)
    block = dots(picture)[:22]
    assert block[:, 0].all()
    assert block[:, -1].all()


def test_an_alert_that_was_cleared_is_not_drawn() -> None:
    assert draw(alert("SLOW DOWN", "cleared"), RIDE) == draw(None, RIDE)


def test_an_acknowledged_alert_shrinks_to_a_line() -> None:
    picture = draw(alert("SLOW DOWN\nLIMIT 55", "acknowledged"), replace(RIDE, speed_mph=57.4))
    assert reads(picture, "SLOW DOWN LIMIT 55")
    assert reads(picture, "57")
    assert not dots(picture)[0].all()


def test_an_alert_without_a_light_takes_no_more_than_a_line() -> None:
    quiet = replace(alert("TRAIL CLOSED\nAHEAD"), light=LightCue.OFF)
    picture = draw(quiet, RIDE)
    assert reads(picture, "TRAIL CLOSED AHEAD")
    assert not dots(picture)[0].all()
    said_below = replace(alert("ZONES NOT\nWATCHED"), light=LightCue.OFF)
    assert draw(said_below, NO_FIX) == draw(None, NO_FIX)


def test_what_is_not_watched_is_named_in_inverse() -> None:
    picture = draw(None, NO_FIX)
    assert reads(picture, "NOT WATCHED")
    assert reads(picture, "SPEED, ZONES")
    assert dots(picture)[-1].all()


def test_all_duties_that_are_not_watched_are_named() -> None:
    lines = ("speed: a", "zone: b", "zone-ahead: b", "head-lamp: c", "tail-lamp: d", "tether: e")
    picture = draw(None, replace(NO_FIX, not_watched=lines))
    assert reads(picture, "SPEED, ZONES, HEAD, TAIL")
    assert reads(picture, "TETHER")


def test_what_finds_no_place_in_the_line_is_counted() -> None:
    lines = ("speed: a", "zone: b", "head-lamp: c", "tail-lamp: d")
    picture = draw(alert("SPEED NOT\nWATCHED"), replace(NO_FIX, not_watched=lines))
    assert reads(picture, "NOT WATCHED SPEED +3")


def test_an_alert_does_not_hide_what_is_not_watched() -> None:
    state = replace(
        RIDE,
        findings=(Finding("350.09(3)", Verdict.UNKNOWN, "no answer", topic="tail-lamp"),),
        not_watched=("350.09(3): no answer",),
    )
    assert reads(draw(SLOW_DOWN, state), "NOT WATCHED TAIL")


def test_a_unit_that_does_not_watch_says_so_though_it_names_nothing() -> None:
    assert reads(draw(None, State(0.0)), "NOT WATCHING")


def test_a_question_says_how_to_answer_and_a_notice_does_not() -> None:
    question = draw(None, replace(RIDE, prompt="OPEN PORT?"))
    assert reads(question, "OPEN")
    assert reads(question, "PORT?")
    assert reads(question, "HOLD BUTTON = YES")
    notice = draw(None, replace(RIDE, prompt="PERSON\nMARKED HERE"))
    assert reads(notice, "MARKED HERE")
    assert not reads(notice, "HOLD BUTTON = YES")


def test_an_alert_goes_before_a_prompt() -> None:
    assert draw(SLOW_DOWN, replace(RIDE, prompt="OPEN PORT?")) == draw(SLOW_DOWN, RIDE)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("self-declared by lane 3", "RACE SELF"),
        ("Derby, signed by an organizer who is not named here (a b c d)", "RACE SIGN"),
        ("Derby, proven by the organizer (a b c d)", "RACE"),
        ("Derby, proven by the organizer (a b c d); outside its place", "RACE OFF"),
    ],
)
def test_a_race_says_what_it_is_worth_and_stays_under_an_alert(words: str, shown: str) -> None:
    state = replace(RIDE, modes=("race",), mode_words=(words,))
    assert reads(draw(None, state), shown)
    assert reads(draw(SLOW_DOWN, state), shown)
    assert reads(draw(None, replace(state, prompt="HOLD TO ALLOW")), shown)
    blind = replace(state, not_watched=("350.10(1)(i): nothing known of what is near",))
    assert reads(draw(SLOW_DOWN, blind), "RACE, NOT WATCHED 1")


def test_modes_and_a_journal_that_is_not_kept_show_beside_all_other_trouble() -> None:
    state = replace(
        RIDE,
        head_lamp="out",
        tail_lamp="unknown",
        tether="open",
        modes=("maker_test", "race"),
        journal="not kept: no space left",
    )
    picture = draw(None, state)
    assert reads(picture, "TEST+")
    assert reads(picture, "LOG")
    row = dots(picture)[:9]
    assert not row[:, 70].any(), "the signs end before the modes begin"
    assert reads(draw(None, replace(RIDE, modes=("race",))), "RACE")
    assert not reads(draw(None, RIDE), "LOG")
    assert reads(draw(None, replace(RIDE, journal="3200 MB free, 4 records lost")), "LOG")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("head_lamp", ("lit", "out", "unknown", "not needed", "not fitted")),
        ("tail_lamp", ("lit", "out", "unknown", "not needed", "not fitted")),
        ("tether", ("in", "out", "unknown", "not fitted")),
    ],
)
def test_each_state_of_a_lamp_and_of_the_tether_looks_different(
    part: str, words: tuple[str, ...]
) -> None:
    pictures = {draw(None, replace(RIDE, **{part: word})).tobytes() for word in words}
    assert len(pictures) == len(words)


@pytest.mark.parametrize("word", ["open", "short"])
def test_a_tether_whose_wire_is_broken_is_crossed_out(word: str) -> None:
    assert draw(None, replace(RIDE, tether=word)) == draw(None, replace(RIDE, tether="out"))


def test_more_satellites_are_more_bars_and_no_place_is_a_cross() -> None:
    lit = [
        int(dots(draw(None, replace(RIDE, satellites=count)))[:9, :11].sum())
        for count in (3, 6, 8, 10)
    ]
    assert lit == sorted(set(lit))
    no_place = draw(None, replace(RIDE, lat_deg=None))
    assert no_place.crop((0, 0, 11, 9)) != draw(None, RIDE).crop((0, 0, 11, 9))


def test_a_near_house_is_told_and_a_far_one_is_not() -> None:
    near = replace(DAY, zone="dwelling", zone_ft=126.4)
    assert reads(draw(None, near), "DWELLING 126 FT")
    assert draw(None, replace(near, zone_ft=3000.0)) == draw(None, DAY)


def test_without_the_unit_nothing_on_the_glass_looks_alive() -> None:
    picture = draw_no_unit()
    assert reads(picture, "NO")
    assert reads(picture, "UNIT")
    ink = picture.getbbox()
    assert ink == (0, 0, 128, 64)


@settings(max_examples=60, deadline=None)
@given(
    speed=st.none() | st.floats(),
    limit=st.none() | st.floats(),
    text=st.text(max_size=60),
    words=st.text(max_size=40),
    names=st.lists(st.text(max_size=30), max_size=9),
    satellites=st.none() | st.integers(-5, 90),
    acknowledged=st.booleans(),
)
def test_any_state_gives_the_same_picture_twice_and_never_a_crash(
    speed: float | None,
    limit: float | None,
    text: str,
    words: str,
    names: list[str],
    satellites: int | None,
    acknowledged: bool,
) -> None:
    state = replace(
        RIDE,
        speed_mph=speed,
        limit_mph=limit,
        prompt=text,
        gps=text,
        journal=text,
        head_lamp=text,
        local_time=text,
        zone=text,
        zone_ft=12.0,
        modes=tuple(names),
        not_watched=tuple(names),
        satellites=satellites,
    )
    for one in (None, alert(words, "acknowledged" if acknowledged else "raised")):
        picture = draw(one, state)
        assert (picture.mode, picture.size) == ("1", (128, 64))
        assert picture.tobytes() == draw(one, state).tobytes()


@pytest.mark.parametrize("digit", "0123456789")
def test_no_figure_closes_a_gap_at_any_size(digit: str) -> None:
    fitted = {
        figures.fit(count, width, height)
        for count in (2, 3)
        for width in range(14, 128, 3)
        for height in range(figures.SMALLEST[1], 54)
    }
    sizes = [size for size in fitted if size[0] >= figures.SMALLEST[0]]
    expected = {"0": 1, "4": 0, "6": 1, "8": 2, "9": 1}.get(digit, 0)
    assert {holes(figures.figure(digit, *size)) for size in sizes} == {expected}


def test_no_letter_of_an_alert_closes_a_gap_at_any_size() -> None:
    expected = dict.fromkeys("CEFGHIJKLMNSTUVWXYZ", 0) | dict.fromkeys("ADOPQR", 1) | {"B": 2}
    for size in range(13, 42, 2):
        for letter, count in expected.items():
            assert holes(_cropped(faces._stencil(size, letter))) == count, (letter, size)


def _cropped(stencil: tuple[Image.Image, faces.Box]) -> Image.Image:
    mask, box = stencil
    return mask.crop((box.left, box.top, box.right, box.bottom))


def test_three_figures_stay_as_tall_as_two() -> None:
    assert figures.fit(2, 90, 50)[1] == 50
    assert figures.fit(3, 90, 50)[1] == 50


def test_every_small_letter_is_seven_high_and_unlike_all_others() -> None:
    for letter, rows in letters.GLYPHS.items():
        assert len(rows) == letters.HEIGHT, letter
        assert len({len(row) for row in rows}) == 1, letter
        assert set("".join(rows)) <= {"#", "."}, letter
    assert len(set(letters.GLYPHS.values())) == len(letters.GLYPHS)


def test_small_letters_are_found_for_any_text() -> None:
    assert letters.plain("Åland café_à\x1b[2J") == "ALAND CAFE A??2J"
    assert letters.width("") == 0
    image = Image.new("1", (60, 7))
    assert letters.write(image, 0, 0, "TAIL") == letters.width("TAIL")


@pytest.mark.parametrize("name", SCENES)
def test_the_pictures_in_the_documents_are_what_the_glass_shows(name: str) -> None:
    with Image.open(DOCS / f"{name}.png") as kept:
        assert kept.size == framed(SCENES[name]).size
        differing = dots(kept.convert("1")) != dots(framed(SCENES[name]))
    # Another FreeType may round a curve another way; a changed layout is far more than that.
    assert differing.mean() < 0.02, "run python tests/glass_scenes.py and look at the pictures"


def test_the_night_limit_is_named_in_the_scene_that_the_readme_shows() -> None:
    assert RIDE.limit_clause == NIGHT
    assert reads(SCENES["glass"], "57")
