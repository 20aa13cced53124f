"""The digits with which the unit judges and keeps: no finer than any sensor, and the same for both.

A thread wakes up some tenths of a millisecond late, and a chip's last digits are noise. Kept, they
are most of what a journal would store: they can't be compressed. They go before a reading is
judged, so a replay of the journal judges the very same numbers.

Nothing becomes surer by it: an error is rounded up, and a speed down, so that none is accused for
a digit that no receiver has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from firmware.readings import Feature, Missing, Reading, Surroundings

INSTANT_DIGITS = 3
"""Of seconds: a millisecond, in which a sled at 55 mph goes an inch."""

AT_ONCE_S = 0.002
"""What is judged so soon after it was measured was measured when it was judged."""

PLACE_DIGITS = 7
"""Of degrees: 11 mm."""

SPEED_DIGITS = 2
"""Of metres a second: a fiftieth of a mile an hour, and of a receiver's error a twentieth."""

TRACK_DIGITS = 1
LUX_FIGURES = 3
ERROR_FIGURES = 2
DIGITS = 4
"""Of everything else, in the units of the readings."""

Round = Callable[[float], float]

_SCALE = 10.0**INSTANT_DIGITS
_SLACK = 1e-6
"""Of a step: what is on it already must not be moved by the last bit of a float."""


def instant_s(mono_s: float) -> float:
    """The instant at which something is judged: never before it."""
    return math.ceil(mono_s * _SCALE - _SLACK) / _SCALE


def grained(reading: Reading, at_s: float) -> Reading:
    """The reading that is judged at an instant, to the digits that are judged and kept.

    What lies on a map is not changed here: its source has done it (`on_grain`), for its thread
    has the time.
    """
    value = reading.value
    mono_s = min(at_s, instant_s(reading.mono_s))
    if at_s - mono_s <= AT_ONCE_S:
        mono_s = at_s
    if isinstance(value, Missing):
        return replace(reading, mono_s=mono_s)
    kind = type(value)
    rounds = _ROUNDS.get(kind)
    if rounds is None:
        rounds = _ROUNDS[kind] = tuple(
            (one.name, _ROUND_OF.get(one.name, _rounding(DIGITS)))
            for one in fields(kind)
            if "float" in str(one.type) and kind is not Surroundings
        )
    changed: dict[str, Any] = {}
    for name, rounding in rounds:
        number = getattr(value, name)
        if type(number) is float and math.isfinite(number):
            rounded = rounding(number)
            if rounded != number:
                changed[name] = rounded
    if changed:
        value = replace(value, **changed)
    return replace(reading, mono_s=mono_s, value=value)


def on_grain(around: Surroundings) -> Surroundings:
    """What lies near with its places to `PLACE_DIGITS`: a map is surveyed no finer."""
    features = tuple(map(_on_grain, around.features))
    return replace(
        around,
        lat_deg=round(around.lat_deg, PLACE_DIGITS),
        lon_deg=round(around.lon_deg, PLACE_DIGITS),
        radius_m=math.floor(around.radius_m * 10.0) / 10.0,
        features=features,
    )


def _on_grain(feature: Feature) -> Feature:
    """The feature itself where it is so already, as all of a pack that was built for the unit: a
    town's thousands are not held twice."""
    for part in feature.parts:
        for lon, lat in part:
            if round(lon, PLACE_DIGITS) != lon or round(lat, PLACE_DIGITS) != lat:
                return replace(feature, parts=tuple(_corners(one) for one in feature.parts))
    return feature


def _corners(part: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    return tuple((round(lon, PLACE_DIGITS), round(lat, PLACE_DIGITS)) for lon, lat in part)


def _rounding(digits: int) -> Round:
    return lambda number: round(number, digits)


def _down(digits: int) -> Round:
    scale = 10.0**digits
    return lambda number: math.floor(number * scale + _SLACK) / scale


def _up(digits: int) -> Round:
    scale = 10.0**digits
    return lambda number: math.ceil(number * scale - _SLACK) / scale


def _track(track_deg: float) -> float:
    return round(track_deg, TRACK_DIGITS) % 360.0


def _lux(lux: float) -> float:
    return round(lux, _digits_of(lux, LUX_FIGURES))


def _error_lux(error_lux: float) -> float:
    digits = _digits_of(error_lux, ERROR_FIGURES)
    scale = 10.0**digits
    return round(math.ceil(error_lux * scale - _SLACK) / scale, digits)


def _digits_of(number: float, figures: int) -> int:
    """How many decimals leave so many figures of a number, and no more than the common four."""
    return min(DIGITS, figures - 1 - math.floor(math.log10(abs(number)))) if number else 0


_ROUND_OF: dict[str, Round] = {
    "lat_deg": _rounding(PLACE_DIGITS),
    "lon_deg": _rounding(PLACE_DIGITS),
    "error_m": _up(2),
    "speed_mps": _down(SPEED_DIGITS),
    "track_deg": _track,
    "lux": _lux,
    "error_lux": _error_lux,
    "red_share": _rounding(3),
    "volts": _rounding(2),
    "free_mb": _down(1),
}
_ROUNDS: dict[type, tuple[tuple[str, Round], ...]] = {}
