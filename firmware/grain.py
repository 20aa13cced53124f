"""The digits with which the unit judges and keeps: no finer than any sensor, and the same for both.

A thread wakes up some tenths of a millisecond late, and a chip's last digits are noise. Kept, they
are most of what a journal would store: they can't be compressed. They go before a reading is
judged, so a replay of the journal judges the very same numbers.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

from firmware.readings import Missing, Reading

INSTANT_S = 1e-4
PLACE_DIGITS = 7
"""Of degrees: 11 mm."""
DIGITS = 4
"""Of everything else, in the units of the readings: 0.1 mm/s, 0.1 mV, 0.0001 lux."""

_PLACES = frozenset({"lat_deg", "lon_deg"})
_FLOATS: dict[type, tuple[str, ...]] = {}


def instant_s(mono_s: float) -> float:
    """The instant at which something is judged: never before it."""
    return math.ceil(mono_s * 1e4 - 1e-3) / 1e4


def grained(reading: Reading) -> Reading:
    """The reading to the digits that are judged and kept; features of a map stay as they are."""
    value = reading.value
    mono_s = math.floor(reading.mono_s * 1e4 + 1e-3) / 1e4
    if isinstance(value, Missing):
        return replace(reading, mono_s=mono_s)
    kind = type(value)
    names = _FLOATS.get(kind)
    if names is None:
        names = tuple(one.name for one in fields(kind) if "float" in str(one.type))
        _FLOATS[kind] = names
    changed: dict[str, Any] = {}
    for name in names:
        number = getattr(value, name)
        if type(number) is float:
            digits = PLACE_DIGITS if name in _PLACES else DIGITS
            if (rounded := round(number, digits)) != number:
                changed[name] = rounded
    if changed:
        value = replace(value, **changed)
    return replace(reading, mono_s=mono_s, value=value)
