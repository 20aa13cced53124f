"""What the live page is shown in a browser: the windows and the scenes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from glass_scenes import NIGHT, NO_FIX, RIDE

from firmware.findings import Alert, Cues, HapticCue, LightCue, ToneCue
from firmware.state import State

CHROMIUM = "/usr/bin/chromium"

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

PHONE, DESK = (390, 844), (1280, 800)

SIZES = {"phone": PHONE, "desk": DESK, "small": (320, 568), "on its side": (844, 390)}


def alert(name: str, words: str, why: str, clause: str, light: LightCue) -> Alert:
    return Alert(name, "raised", clause, words, light, HapticCue.OFF, ToneCue.OFF, why)


OVER = alert("over-speed", "SLOW DOWN\nLIMIT 55", "after dark", NIGHT, LightCue.RED_FLASH)

LAMP = alert(
    "head-lamp-out", "HEAD LAMP OUT", "2 lux, needs 50", "350.09(2)(b)", LightCue.AMBER_FLASH
)

AHEAD = alert(
    "zone-ahead", "SHANTY AHEAD\nSLOW TO 10", "shanty 340 ft ahead", "350.10(1)(i)",
    LightCue.AMBER_FLASH,
)  # fmt: skip

BLIND = alert("speed-not-watched", "SPEED NOT\nWATCHED", "no fix", NIGHT, LightCue.AMBER)

CALM = replace(
    RIDE, utc=datetime(2026, 1, 15, 0, 42, tzinfo=UTC), utc_source="gps", speed_error_mph=0.5
)

DAY = replace(CALM, limit_mph=None, limit_clause="", is_dark=False, head_lamp="not needed")


def told(state: State, *alerts: Alert, **more: Any) -> State:
    cues = Cues(alerts[0].light, is_watching=state.is_watching)
    return replace(state, alert=alerts[0], alerts=alerts, cues=cues, **more)


SCENES = {
    "calm": CALM,
    "by day": DAY,
    "over the limit": told(CALM, OVER, LAMP, speed_mph=61.2, head_lamp="out"),
    "over, acknowledged": told(CALM, replace(OVER, state="acknowledged"), speed_mph=61.2),
    "a zone ahead": told(CALM, AHEAD, speed_mph=44.0, zone="shanty", zone_ft=340.0),
    "a zone ahead by day": told(DAY, AHEAD, speed_mph=44.0),
    "no fix": told(NO_FIX, BLIND),
    "racing": replace(DAY, speed_mph=104.0, modes=("race", "maker_test"), prompt="RACE\nMODE ON"),
}
