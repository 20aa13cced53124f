"""Conversions that are exact by definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.units import (
    M_PER_FT,
    MPS_PER_KMH,
    MPS_PER_KNOT,
    MPS_PER_MPH,
    ft,
    metres,
    mph,
    mps,
    mps_of_knots,
)

FIGURES = st.floats(-1e6, 1e6)


def test_the_mile_the_foot_and_the_knot_are_those_of_1959_and_1929() -> None:
    assert MPS_PER_MPH == 1609.344 / 3600.0
    assert M_PER_FT == 1609.344 / 5280.0
    assert MPS_PER_KNOT == 1852.0 / 3600.0
    assert MPS_PER_KMH == 1000.0 / 3600.0


@pytest.mark.parametrize(
    ("speed_mps", "speed_mph"), [(0.0, 0.0), (0.44704, 1.0), (24.5872, 55.0), (4.4704, 10.0)]
)
def test_a_speed_in_miles_an_hour(speed_mps: float, speed_mph: float) -> None:
    assert mph(speed_mps) == pytest.approx(speed_mph, rel=1e-15)
    assert mps(speed_mph) == pytest.approx(speed_mps, rel=1e-15)


@pytest.mark.parametrize(
    ("knots", "speed_mph"),
    [(47.79, 54.99575), (47.80, 55.00726), (48.0, 55.23741), (1.0, 1.150779)],
)
def test_a_speed_in_knots_is_not_rounded_on_its_way(knots: float, speed_mph: float) -> None:
    assert mph(mps_of_knots(knots)) == pytest.approx(speed_mph, abs=5e-5)


def test_the_figures_of_the_law_in_metres() -> None:
    assert metres(150.0) == pytest.approx(45.72)
    assert metres(100.0) == pytest.approx(30.48)
    assert ft(60.96) == pytest.approx(200.0)


@given(FIGURES)
def test_there_and_back_is_where_it_began(figure: float) -> None:
    assert mph(mps(figure)) == pytest.approx(figure, rel=1e-12, abs=1e-12)
    assert ft(metres(figure)) == pytest.approx(figure, rel=1e-12, abs=1e-12)
