"""The truth table of a lamp: what its supply and the light at its sensor together say.

The levels are the lamp's own, measured on the sled at night (`on_lux`, and `high_lux` for its high
beam or brake light); without them only much is told from little. No clock and no law here: how
long a state must last, and what it is worth, is for `rules/lamp.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from firmware.readings import Light, Missing, Supply

OUT_SHARE = 0.1
"""Below this share of its level a lamp gives no light worth the name; above it, it is dim."""

COVERED_SHARE = 1.4
"""Snow on the glass throws light back into the housing: so much more than its level."""

SAME_SHARE = 1.2
"""Up to this much above a level the light is of that level."""

STEP_SHARE = 0.25
"""A change by more than this from one reading to the next is a switch or another lamp; snow packs
slowly."""

GLARE_SHARE = 2.0
"""More than this many times the lamp at its brightest is no light of its own."""

LEAST_OF_A_RED_LAMP = 0.68
"""The share of red that a TCS34725 sees of a red LED, at the least (its data sheet's optical
table). A halogen lamp, most of whose light is red, stays below it: about 0.6 by that table's three
colours and a light of 2,856 K, which was reckoned and not measured."""

UNKNOWN_HIGH = 6.0
"""How much brighter than its level a lamp may be whose high beam or brake light was not measured:
a brake light is ten times a tail light's power, and less than that at a sensor beside it."""


class LampState(StrEnum):
    """What a lamp is seen to be."""

    LIT = "lit"
    HIGH = "high beam"
    OUT = "out"
    DIM = "dim"
    OFF = "off"
    WIRE_OPEN = "wire open"
    UNSUPPLIED = "seen without supply"
    COVERED = "covered"
    BLINDED = "blinded"
    NOT_RED = "not red"
    NOT_WHITE = "not white"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Levels:
    """The light that means lit: from `least_lux` on; the lamp's own levels where calibrated."""

    least_lux: float
    on_lux: float | None = None
    high_lux: float | None = None
    least_red: float = 0.5

    @property
    def glare_lux(self) -> float | None:
        """From here on it is not the lamp's own light; absent where no level is known."""
        if self.on_lux is None:
            return None
        return GLARE_SHARE * (self.high_lux or self.on_lux * UNKNOWN_HIGH)

    @property
    def lines(self) -> tuple[float, ...]:
        """Where more or less light is another word: the lux of all lines of the truth table."""
        if self.on_lux is None or self.glare_lux is None:
            return (self.least_lux,)
        own = [self.on_lux] if self.high_lux is None else [self.on_lux, self.high_lux]
        lines = [self.least_lux, OUT_SHARE * self.on_lux, self.glare_lux]
        lines += [share * lux for lux in own for share in (SAME_SHARE, COVERED_SHARE)]
        if self.high_lux is not None:
            lines.append(math.sqrt(self.on_lux * self.high_lux))
        return tuple(lines)

    def red_limit(self, lamp: str) -> float:
        """The share of red that a tail lamp must have, and that no head lamp has."""
        return max(self.least_red, LEAST_OF_A_RED_LAMP) if lamp == "head" else self.least_red


@dataclass(frozen=True, slots=True)
class Drift:
    """How the light came to where it is: `from_lux` is where its slow change began."""

    lux: float | None = None
    from_lux: float = 0.0

    def after(self, lux: float, least_lux: float) -> Drift:
        """The drift with the next reading: a step begins a new one."""
        if self.lux is None or abs(lux - self.lux) > STEP_SHARE * max(self.lux, least_lux):
            return Drift(lux, lux)
        return Drift(lux, self.from_lux)


def state_of(
    lamp: str,
    light: Light | Missing,
    supply: Supply | Missing,
    levels: Levels,
    drift: Drift,
) -> LampState:
    """The state of a lamp ("head" or "tail"); a supply that is not sensed says nothing."""
    sensed = None if isinstance(supply, Missing) else supply
    if isinstance(light, Missing):
        if sensed is None or sensed.is_on:
            return LampState.NOT_SEEN
        return LampState.WIRE_OPEN if sensed.is_open else LampState.OFF
    if light.lux < levels.least_lux:
        if sensed is not None and not sensed.is_on:
            return LampState.WIRE_OPEN if sensed.is_open else LampState.OFF
        is_dim = levels.on_lux is not None and light.lux >= OUT_SHARE * levels.on_lux
        return LampState.DIM if is_dim else LampState.OUT
    if levels.glare_lux is not None and light.lux > levels.glare_lux:
        return LampState.BLINDED
    if sensed is not None and not sensed.is_on and not sensed.is_open:
        return LampState.UNSUPPLIED
    if light.red_share is not None:
        limit = levels.red_limit(lamp)
        if lamp == "tail" and light.red_share < limit:
            return LampState.NOT_RED
        if lamp == "head" and light.red_share > limit:
            return LampState.NOT_WHITE
    return _lit_state(light.lux, levels, drift)


def _lit_state(lux: float, levels: Levels, drift: Drift) -> LampState:
    """Which of its levels a lamp is lit at, or that something throws its light back."""
    if levels.on_lux is None:
        return LampState.LIT
    begun_at = levels.on_lux
    if levels.high_lux is not None and drift.from_lux > SAME_SHARE * levels.on_lux:
        begun_at = levels.high_lux
    if drift.from_lux <= SAME_SHARE * begun_at and lux > COVERED_SHARE * begun_at:
        return LampState.COVERED
    # Half-way between the two levels as the eye sees it: their ratio, not their difference.
    is_high = levels.high_lux is not None and lux * lux >= levels.on_lux * levels.high_lux
    return LampState.HIGH if is_high else LampState.LIT
