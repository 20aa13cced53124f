"""What the browser is told: one state of the unit as the words and dots of one frame.

Pure, like the glass: the same state gives the same frame. It judges nothing and says no place: the
page may be read by whoever reaches it, and where a person rides is theirs.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec

from firmware.dash import screen
from firmware.findings import Alert, LightCue, Verdict
from firmware.law.packs import AUTO, Clause, load_live
from firmware.state import State

CODE_WORDS = "PAGE CODE"
"""How the prompt begins that holds a pairing code; the code itself is for the glass alone."""

HIDDEN_CODE = f"{CODE_WORDS}\nON THE GLASS"

LEVELS = {
    LightCue.OFF: "calm",
    LightCue.AMBER: "look",
    LightCue.AMBER_FLASH: "look",
    LightCue.RED: "now",
    LightCue.RED_FLASH: "now",
}

Frame = dict[str, Any]

_GOOD, _BAD, _UNKNOWN, _PLAIN = "good", "bad", "unknown", "plain"
_MARKS = {
    "lit": _GOOD, "in": _GOOD,
    "out": _BAD, "open": _BAD, "short": _BAD,
    "unknown": _UNKNOWN,
}  # fmt: skip
_WORDS = {"open": "wire broken", "short": "wire shorted", "in": "attached", "out": "out"}
_SOURCES = {"gps": "by GPS", "rtc": "by battery clock"}
_SPEEDS = ("speed", "zone", "road-speed")
"""The topics of limits on speed."""
_MODES = {"race": "Race", "maker_test": "Maker's test", "family_land": "Family land"}
_ZONES = {"dwelling": "Dwelling", "shanty": "Fishing shanty", "person": "Person on the ice"}


def frame_of(state: State) -> Frame:
    """The frame of a unit that is heard."""
    if state.prompt.startswith(CODE_WORDS):
        state = replace(state, prompt=HIDDEN_CODE)
    speed = screen.shown_mph(state.speed_mph, state.limit_mph)
    limit = screen.shown_mph(state.limit_mph, None)
    is_over = speed is not None and limit is not None and speed > limit
    return {
        "life": "live",
        "glass": _dots(screen.draw(state.alert, state).tobytes()),
        "speed": speed,
        "speed_why": _speed_why(state, speed),
        "limit": limit,
        "limit_why": _limit_why(state),
        "limit_clause": state.limit_clause,
        "is_over": is_over,
        "is_dark": state.is_dark,
        "is_watching": state.is_watching,
        "level": LEVELS[state.cues.light],
        "is_flashing": state.cues.light in (LightCue.AMBER_FLASH, LightCue.RED_FLASH),
        "alerts": [_alert(one) for one in state.alerts],
        "signs": _signs(state),
        "not_watched": [_not_watched(line) for line in state.not_watched],
        "modes": _modes(state),
        "prompt": state.prompt,
        "is_by_dwelling": state.zone == "dwelling" and state.zone_id != "",
        "clock": state.local_time,
    }


def _modes(state: State) -> list[str]:
    """Each mode that is on, with who says so; then the zone that is ridden in by consent."""
    words = state.mode_words or ("",) * len(state.modes)
    named = ((_MODES.get(mode, mode), said) for mode, said in zip(state.modes, words, strict=False))
    lines = [f"{name}: {said}" if said else name for name, said in named]
    whys = (one.why for one in state.findings if one.verdict is Verdict.EXEMPT)
    return [*lines, *dict.fromkeys(_sentence(why) for why in whys if ": consent for " in why)]


def dead_frame(trouble: str) -> Frame:
    """The frame while the unit is not heard: its glass, why, and nothing that looks alive."""
    picture = screen.draw_no_unit().tobytes()
    return {"life": "no-unit", "glass": _dots(picture), "trouble": trouble}


def encode(frame: Frame) -> bytes:
    """The frame as JSON; everything that is sent apart from its age."""
    return msgspec.json.encode(frame)


@cache
def clauses() -> Mapping[str, Clause]:
    """What each citation that is judged says in plain words, of all laws that are installed."""
    return {one.citation: one for law in load_live(AUTO) for one in law.clause}


def _dots(rows: bytes) -> str:
    """The glass's dots: 16 bytes a row, the leftmost dot in the highest bit."""
    return base64.b64encode(rows).decode("ascii")


def _speed_why(state: State, speed: int | None) -> str:
    if speed is None:
        why = "starting" if state.gps in ("", "fix") else state.gps
        return f"Speed not known: {why}"
    if state.speed_error_mph is None:
        return ""
    return f"Known to {state.speed_error_mph:.1f} mph"


def _limit_why(state: State) -> str:
    if state.limit_mph is None:
        lifted = [
            one.why
            for one in state.findings
            if one.verdict is Verdict.EXEMPT and one.topic in _SPEEDS
        ]
        if lifted:
            return f"No speed limit: {lifted[0]}"
        return "No speed limit applies now" if state.is_watching else "Limit not known"
    clause = clauses().get(state.limit_clause)
    if clause is not None:
        return clause.plain
    whys = (one.why for one in state.findings if one.clause == state.limit_clause)
    return _sentence(next(whys, ""))


def _alert(alert: Alert) -> Frame:
    clause = clauses().get(alert.clause)
    return {
        "name": f"{alert.name} {alert.clause}",
        "lines": [" ".join(line.split()) for line in alert.words.split("\n")],
        "why": _sentence(alert.why),
        "law": "" if clause is None else clause.title,
        "clause": alert.clause,
        "level": LEVELS[alert.light],
        "is_acknowledged": alert.state == "acknowledged",
        "is_blind": alert.name.endswith("-not-watched"),
    }


def _not_watched(line: str) -> Frame:
    """A line of `State.not_watched`: its clause, a colon and why."""
    citation, _, why = line.partition(": ")
    clause = clauses().get(citation)
    title = citation if clause is None else clause.title
    return {"duty": title, "clause": "" if clause is None else citation, "why": _sentence(why)}


def _signs(state: State) -> list[Frame]:
    signs = [
        _sign("head", "Head lamp", state.head_lamp),
        _sign("tail", "Tail lamp", state.tail_lamp),
        _sign("tether", "Tether", state.tether),
        _sign("engine", "Engine", state.engine),
        _gps(state),
        _clock(state),
        _journal(state),
    ]
    if state.zone and state.zone_ft is not None:
        name = _ZONES.get(state.zone, state.zone.replace("_", " ").capitalize())
        signs.append(_said("zone", name, f"{state.zone_ft:,.0f} ft away", _PLAIN))
    if state.marks:
        signs.append(_said("marks", "Your marks", _marked(state), _PLAIN))
    return signs


def _marked(state: State) -> str:
    """How many of each kind, and when the first of them ends; never where they are."""
    kinds = [one.kind for one in state.marks]
    people, shanties = kinds.count("person"), kinds.count("shanty")
    counted = [f"{people} {'person' if people == 1 else 'people'}"] * bool(people)
    counted += [f"{shanties} {'shanty' if shanties == 1 else 'shanties'}"] * bool(shanties)
    left_min = math.ceil(min(one.left_s for one in state.marks) / 60.0)
    left = f"{left_min} min" if left_min < 120 else f"{left_min // 60} h"
    return f"{' and '.join(counted)}, the first ends in {left}"


def _said(kind: str, name: str, word: str, mark: str) -> Frame:
    return {"kind": kind, "name": name, "word": word, "mark": mark}


def _sign(kind: str, name: str, word: str) -> Frame:
    return _said(kind, name, _WORDS.get(word, word), _MARKS.get(word, _PLAIN))


def _gps(state: State) -> Frame:
    if state.lat_deg is None:
        why = state.gps.partition(":")[0]  # the rest is said beside the speed
        return _said("gps", "GPS", why or "starting", _UNKNOWN)
    count = state.satellites
    return _said("gps", "GPS", "fix" if count is None else f"fix, {count} satellites", _GOOD)


def _clock(state: State) -> Frame:
    if state.utc is None:
        return _said("clock", "Clock", "no date known", _UNKNOWN)
    source = _SOURCES.get(state.utc_source, f"by {state.utc_source}")
    return _said("clock", "Clock", f"{state.local_time} {source}".strip(), _GOOD)


def _journal(state: State) -> Frame:
    journal = state.journal or "unknown"
    is_bad = "not kept" in journal or "lost" in journal
    mark = _BAD if is_bad else _GOOD if "free" in journal else _UNKNOWN
    return _said("journal", "Journal", re.sub(r"^(\d+) MB", _room, journal), mark)


def _room(match: re.Match[str]) -> str:
    megabytes = int(match[1])
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else match[0]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
