"""The truth table of a lamp: supply against light, with and without its own levels."""

from __future__ import annotations

import pytest

from firmware.lamps import Drift, LampState, Levels, state_of
from firmware.readings import Light, Missing, Supply, Why

ON, OFF, OPEN = Supply(True, 13.8), Supply(False, 0.0), Supply(False, 1.8, is_open=True)
NOT_SENSED = Missing(Why.NOT_FITTED)
BARE = Levels(50.0)
OWN = Levels(425.0, 850.0)
BEAMS = Levels(425.0, 850.0, 1600.0)


def tell(
    lux: float | None,
    supply: Supply | Missing = ON,
    levels: Levels = OWN,
    *,
    lamp: str = "head",
    red_share: float | None = None,
    from_lux: float | None = None,
) -> LampState:
    """The state of a lamp at `lux` (absent: not seen) that came there by a step, or slowly."""
    if lux is None:
        return state_of(lamp, Missing(Why.NO_ANSWER), supply, levels, Drift())
    drift = Drift(lux, lux if from_lux is None else from_lux)
    return state_of(lamp, Light(lux, 1.0, red_share), supply, levels, drift)


@pytest.mark.parametrize(
    ("lux", "supply", "levels", "state"),
    [
        # lux   supply       levels  state
        (850.0, ON,          OWN,    LampState.LIT),
        (850.0, NOT_SENSED,  OWN,    LampState.LIT),
        (850.0, OPEN,        OWN,    LampState.LIT),  # the tap's own wire is broken
        (850.0, OFF,         OWN,    LampState.UNSUPPLIED),
        (425.0, ON,          OWN,    LampState.LIT),
        (424.9, ON,          OWN,    LampState.DIM),
        (85.0,  ON,          OWN,    LampState.DIM),
        (84.9,  ON,          OWN,    LampState.OUT),
        (0.0,   ON,          OWN,    LampState.OUT),
        (0.0,   NOT_SENSED,  OWN,    LampState.OUT),
        (0.0,   OFF,         OWN,    LampState.OFF),
        (300.0, OFF,         OWN,    LampState.OFF),  # snow glitters, another lamp passes
        (0.0,   OPEN,        OWN,    LampState.WIRE_OPEN),
        (50.0,  ON,          BARE,   LampState.LIT),
        (49.9,  ON,          BARE,   LampState.OUT),
        (49.9,  OFF,         BARE,   LampState.OFF),
        (9e4,   ON,          BARE,   LampState.LIT),  # no level is known that it could pass
        (None,  ON,          OWN,    LampState.NOT_SEEN),
        (None,  NOT_SENSED,  OWN,    LampState.NOT_SEEN),
        (None,  OFF,         OWN,    LampState.OFF),
        (None,  OPEN,        OWN,    LampState.WIRE_OPEN),
    ],
)  # fmt: skip
def test_supply_and_light_together(
    lux: float | None, supply: Supply | Missing, levels: Levels, state: LampState
) -> None:
    assert tell(lux, supply, levels) is state


def test_high_and_low_beam_are_told_apart_where_both_were_measured() -> None:
    assert tell(850.0, levels=BEAMS) is LampState.LIT
    assert tell(1166.0, levels=BEAMS) is LampState.LIT
    assert tell(1167.0, levels=BEAMS) is LampState.HIGH
    assert tell(1600.0, levels=BEAMS) is LampState.HIGH
    assert tell(1600.0, levels=OWN) is LampState.LIT


def test_light_that_grew_slowly_past_its_level_is_thrown_back() -> None:
    assert tell(1200.0, from_lux=850.0) is LampState.COVERED
    assert tell(1200.0) is LampState.LIT  # at once: a brake light, a high beam
    assert tell(1180.0, from_lux=850.0) is LampState.LIT
    assert tell(2300.0, levels=BEAMS, from_lux=1600.0) is LampState.COVERED
    assert tell(1600.0, levels=BEAMS, from_lux=1500.0) is LampState.HIGH


def test_light_beyond_the_lamp_at_its_brightest_is_not_its_own() -> None:
    assert tell(3200.0, levels=BEAMS) is LampState.HIGH
    assert tell(3201.0, levels=BEAMS) is LampState.BLINDED
    assert tell(10_200.0, levels=OWN) is LampState.LIT
    assert tell(10_201.0, levels=OWN) is LampState.BLINDED


def test_a_tail_light_must_be_red_and_a_head_light_white() -> None:
    assert tell(850.0, lamp="tail", red_share=0.81) is LampState.LIT
    assert tell(850.0, lamp="tail", red_share=0.33) is LampState.NOT_RED
    assert tell(850.0, lamp="head", red_share=0.33) is LampState.LIT
    assert tell(850.0, lamp="head", red_share=0.81) is LampState.NOT_WHITE


def test_a_halogen_lamp_is_white_though_most_of_its_light_is_red() -> None:
    assert tell(850.0, lamp="head", red_share=0.62) is LampState.LIT
    assert tell(850.0, lamp="head", red_share=0.69) is LampState.NOT_WHITE
    assert tell(1.0, lamp="tail", red_share=0.33) is LampState.OUT  # dark comes before colour
    assert tell(20_000.0, lamp="tail", red_share=0.33) is LampState.BLINDED


def test_a_step_begins_a_new_drift_and_a_slow_change_goes_on_from_the_old() -> None:
    drift = Drift().after(850.0, 425.0)
    assert drift == Drift(850.0, 850.0)
    for lux in (1000.0, 1150.0, 1300.0):
        drift = drift.after(lux, 425.0)
    assert drift == Drift(1300.0, 850.0)
    assert drift.after(850.0, 425.0) == Drift(850.0, 850.0)
    assert Drift().after(0.0, 425.0).after(50.0, 425.0) == Drift(50.0, 0.0)
    assert Drift().after(0.0, 425.0).after(850.0, 425.0) == Drift(850.0, 850.0)
    assert drift.after(1600.0, 425.0) == Drift(1600.0, 850.0)
    assert drift.after(1700.0, 425.0) == Drift(1700.0, 1700.0)
