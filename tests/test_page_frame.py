"""What a frame of the live page says, and what it never holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from glass_scenes import NIGHT, NO_FIX, RIDE, SLOW_DOWN
from pages import STANDING

from firmware.dash import screen
from firmware.findings import Cues, Finding, LightCue, Verdict
from firmware.page import frame

OVER = replace(
    RIDE,
    speed_mph=61.2,
    alert=SLOW_DOWN,
    alerts=(SLOW_DOWN,),
    cues=Cues(LightCue.RED_FLASH, is_watching=True),
)


def test_a_frame_says_in_words_what_the_glass_shows() -> None:
    told = frame.frame_of(OVER)
    assert (told["speed"], told["limit"], told["is_over"]) == (61, 55, True)
    assert told["limit_why"] == "After dark, not faster than 55 mph."
    assert told["limit_clause"] == NIGHT
    assert (told["level"], told["is_flashing"]) == ("now", True)
    assert told["alerts"][0]["lines"] == ["SLOW DOWN", "LIMIT 55"]
    assert told["alerts"][0]["law"] == "Night speed"
    assert [(one["name"], one["word"], one["mark"]) for one in told["signs"]] == [
        ("Head lamp", "lit", "good"),
        ("Tail lamp", "lit", "good"),
        ("Tether", "attached", "good"),
        ("Engine", "running", "plain"),
        ("GPS", "fix, 9 satellites", "good"),
        ("Clock", "no date known", "unknown"),
        ("Journal", "3.2 GB free", "good"),
    ]


def test_the_dots_of_a_frame_are_the_glass() -> None:
    import base64

    dots = base64.b64decode(frame.frame_of(OVER)["glass"])
    assert dots == screen.draw(SLOW_DOWN, OVER).tobytes()
    dots = base64.b64decode(frame.dead_frame("gone")["glass"])
    assert dots == screen.draw_no_unit().tobytes()


def test_what_is_not_known_is_no_number_and_said_why() -> None:
    told = frame.frame_of(NO_FIX)
    assert (told["speed"], told["limit"], told["is_watching"]) == (None, None, False)
    assert told["speed_why"] == "Speed not known: no fix: the receiver says V"
    assert told["limit_why"] == "Limit not known"
    assert [one["duty"] for one in told["not_watched"]] == [
        "Night speed", "Near dwellings at night", "On the ice near people and shanties",
    ]  # fmt: skip


def test_a_zone_that_is_ridden_in_by_consent_is_said_and_lifts_no_speed_limit() -> None:
    entry = Finding("350.10(1)(f)", Verdict.EXEMPT, "private: consent for parcel-7", topic="entry")
    day = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "by day", topic="speed")
    told = frame.frame_of(replace(RIDE, limit_mph=None, limit_clause="", findings=(entry, day)))
    assert told["modes"] == ["Private: consent for parcel-7"]
    assert told["limit_why"] == "No speed limit applies now"
    race = Finding("350.10(1)(gm)", Verdict.EXEMPT, "race mode lifts it", topic="speed")
    told = frame.frame_of(replace(RIDE, limit_mph=None, limit_clause="", findings=(entry, race)))
    assert told["limit_why"] == "No speed limit: race mode lifts it"


def test_a_frame_holds_no_place() -> None:
    told = frame.encode(frame.frame_of(RIDE)).decode()
    assert str(RIDE.lat_deg) not in told
    assert str(RIDE.lon_deg) not in told


def test_a_dead_frame_holds_nothing_that_was_alive() -> None:
    assert frame.dead_frame("gone").keys() == {"life", "glass", "trouble"}


@pytest.mark.parametrize("code", ["0000", "4711"])
def test_a_code_on_the_glass_is_in_no_frame(code: str) -> None:
    with_code = frame.frame_of(replace(STANDING, prompt=f"{frame.CODE_WORDS} {code}"))
    assert with_code == frame.frame_of(replace(STANDING, prompt=frame.HIDDEN_CODE))
    assert code not in frame.encode(with_code).decode()
