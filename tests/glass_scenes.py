"""Scenes for the glass's tests and the pictures of the documents, drawn from one set of states.

`python tests/glass_scenes.py` writes docs/glass*.png.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PIL import Image

from firmware.dash import screen
from firmware.findings import Alert, Cues, Finding, HapticCue, LightCue, ToneCue, Verdict
from firmware.state import State

NIGHT = "350.10(1)(gm)"

RIDE = State(
    at_s=100.0,
    is_watching=True,
    local_time="18:42",
    lat_deg=43.0731,
    lon_deg=-89.4012,
    speed_mph=47.2,
    limit_mph=55.0,
    limit_clause=NIGHT,
    is_dark=True,
    head_lamp="lit",
    tail_lamp="lit",
    tether="in",
    engine="running",
    gps="fix",
    satellites=9,
    journal="3200 MB free",
    cues=Cues(is_watching=True),
)

DAY = replace(RIDE, limit_mph=None, limit_clause="", is_dark=False, local_time="13:05")

NO_FIX = replace(
    RIDE,
    is_watching=False,
    lat_deg=None,
    lon_deg=None,
    speed_mph=None,
    limit_mph=None,
    gps="no fix: the receiver says V",
    cues=Cues(),
    findings=(
        Finding(NIGHT, Verdict.UNKNOWN, "no fix", topic="speed"),
        Finding("350.10(1)(g)", Verdict.UNKNOWN, "no fix", topic="zone"),
        Finding("350.10(1)(i)", Verdict.UNKNOWN, "no fix", topic="zone"),
    ),
    not_watched=(f"{NIGHT}: no fix", "350.10(1)(g): no fix", "350.10(1)(i): no fix"),
)


def alert(words: str, state: str = "raised", name: str = "over-speed", why: str = "") -> Alert:
    return Alert(
        name,
        state,  # type: ignore[arg-type]  # one of the three words
        NIGHT,
        words,
        LightCue.RED_FLASH,
        HapticCue.PULSES,
        ToneCue.ALARM,
        why,
    )


SLOW_DOWN = alert("SLOW DOWN\nLIMIT 55")

SCENES: dict[str, Image.Image] = {
    "glass": screen.draw(SLOW_DOWN, replace(RIDE, speed_mph=57.4)),
    "glass-night": screen.draw(None, RIDE),
    "glass-no-fix": screen.draw(None, NO_FIX),
    "glass-no-unit": screen.draw_no_unit(),
}


def framed(picture: Image.Image, scale: int = 4, margin: int = 6) -> Image.Image:
    """The picture as a document shows it: larger, with the dark edge that a panel has."""
    large = picture.resize((picture.width * scale, picture.height * scale))
    page = Image.new("1", (large.width + 2 * margin * scale, large.height + 2 * margin * scale))
    page.paste(large, (margin * scale, margin * scale))
    return page


if __name__ == "__main__":
    for name, picture in SCENES.items():
        framed(picture).save(Path(__file__).parent.parent / "docs" / f"{name}.png", optimize=True)
