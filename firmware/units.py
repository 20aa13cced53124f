"""Conversions between the sensors' units and the law's; exact by definition, never rounded."""

from __future__ import annotations

MPS_PER_MPH = 0.44704  # international mile, 1959: 1609.344 m / 3600 s
MPS_PER_KNOT = 1852.0 / 3600.0  # international nautical mile, 1929
MPS_PER_KMH = 1.0 / 3.6
M_PER_FT = 0.3048  # international foot, 1959


def mph(speed_mps: float) -> float:
    """Miles an hour of a speed in metres a second."""
    return speed_mps / MPS_PER_MPH


def mps(speed_mph: float) -> float:
    """Metres a second of a speed in miles an hour."""
    return speed_mph * MPS_PER_MPH


def mps_of_knots(speed_knots: float) -> float:
    """Metres a second of a speed in knots, the unit of RMC."""
    return speed_knots * MPS_PER_KNOT


def ft(distance_m: float) -> float:
    """Feet of a distance in metres."""
    return distance_m / M_PER_FT


def metres(distance_ft: float) -> float:
    """Metres of a distance in feet."""
    return distance_ft * M_PER_FT
