"""Where the Sun stands, and whether it is hours of darkness, at a place and an instant.

Hours of darkness (Wis. Stat. 340.01(23), to which 350.01(8) points) run from half an hour after
sunset to half an hour before sunrise, so it is dark when the Sun has been down for the half hour
before and stays down for the half hour after. The question is put to the Sun's altitude, never to
a table of sunsets of a date: a date is local, a sunset in Wisconsin passes 00:00 UTC from March to
September, and near the poles there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import ephem

RISE_SET_DEG = -0.8333
"""Altitude of the Sun's centre at sunrise and sunset: 34' of refraction and 16' of radius, over a
level horizon (U.S. Naval Observatory, "Rise, Set, and Twilight Definitions")."""

_EPHEM_ZERO = datetime(1899, 12, 31, 12, tzinfo=UTC)  # ephem counts days from there
_SECOND = 1.0 / 86400.0
_STRIDE = 20.0 * _SECOND  # a Sun that peeps over the horizon for less than this is not seen
_SHARP = 0.01 * _SECOND
_PARALLAX_DEG = 0.00244  # seen from the ground the Sun stands lower than from the Earth's centre

# The bound on how fast the altitude changes, in degrees a day: the Earth turns 361 deg a day under
# the stars, and the Sun's own declination moves by at most 0.41 deg a day (with its parallax 0.43).
_TURN_DEG = 361.0
_DRIFT_DEG = 0.5


@dataclass(frozen=True, slots=True)
class Darkness:
    """Whether it is hours of darkness, and until when that surely stays so at the same place.

    `until_utc` is the next change, to 0.1 s: asked again at that instant, the answer is the other
    one. Where nothing changes for a day, as in a polar night, it is a day ahead.
    """

    is_dark: bool
    until_utc: datetime


def hours_of_darkness(
    lat_deg: float,
    lon_deg: float,
    utc: datetime,
    after_sunset_min: float = 30.0,
    before_sunrise_min: float = 30.0,
) -> Darkness:
    """Hours of darkness at a place, for any date of 1970 to 2100 and anywhere, poles included.

    The minutes are the statute's half hours; with zeros the answer is whether the Sun is down.
    Ask again at `until_utc`, and after 5 km, which shift a sunset by up to 15 s. It costs some
    70 us; the same question asked again, as a second rule does for the same fix, costs nothing.
    Raises ValueError for a date without a time zone or a place that is not a number.
    """
    return _hours_of_darkness(lat_deg, lon_deg, utc, after_sunset_min, before_sunrise_min)


def sun_altitude_deg(lat_deg: float, lon_deg: float, utc: datetime) -> float:
    """Altitude of the Sun's centre in degrees, without refraction; below 0 under the horizon."""
    return _altitude_above(lat_deg, lon_deg, 0.0)(_days(utc))


@lru_cache(maxsize=16)
def _hours_of_darkness(
    lat_deg: float, lon_deg: float, utc: datetime, after_min: float, before_min: float
) -> Darkness:
    sky = _Sky(lat_deg, lon_deg)
    now = _days(utc)
    after, before = after_min * 60.0 * _SECOND, before_min * 60.0 * _SECOND
    up = sky.first(True, now - after, now + before)
    if up is None:
        rise = sky.first(True, now + before, now + before + 1.0)
        return Darkness(True, _past(utc, now, now + 1.0 if rise is None else rise - before))
    tomorrow = now + 1.0
    while True:
        down = sky.first(False, up, tomorrow)
        if down is None or down + after > tomorrow:
            return Darkness(False, _past(utc, now, tomorrow))
        up = sky.first(True, down, down + after + before)
        if up is None:
            return Darkness(False, _past(utc, now, down + after))
        # A night shorter than both half hours together has no hours of darkness: try the next.


class _Sky:
    """The Sun over one place: when is it up, when down?"""

    def __init__(self, lat_deg: float, lon_deg: float) -> None:
        self._above_deg = _altitude_above(lat_deg, lon_deg, RISE_SET_DEG)
        self._fastest_deg = _TURN_DEG * abs(math.cos(math.radians(lat_deg))) + _DRIFT_DEG

    def first(self, is_up: bool, start: float, end: float) -> float | None:
        """The first instant from start to end at which the Sun is up (or down); else None.

        Strides as far as the Sun, at its fastest, can't have reached the horizon: so no sunset
        is missed, and none is looked for where there is none.
        """
        at = start
        gap_deg = self._above_deg(at)
        while (gap_deg > 0.0) is not is_up:
            if at >= end:
                return None
            before, at = at, min(end, at + max(_STRIDE, abs(gap_deg) / self._fastest_deg))
            gap_deg = self._above_deg(at)
            if (gap_deg > 0.0) is is_up:
                return self._between(is_up, before, at)
        return at

    def _between(self, is_up: bool, not_yet: float, already: float) -> float:
        while already - not_yet > _SHARP:
            middle = (not_yet + already) / 2.0
            if (self._above_deg(middle) > 0.0) is is_up:
                already = middle
            else:
                not_yet = middle
        return already


def _altitude_above(lat_deg: float, lon_deg: float, level_deg: float) -> Callable[[float], float]:
    """The Sun's altitude above a level, as a function of ephem's days."""
    if not (math.isfinite(lat_deg) and math.isfinite(lon_deg)):
        raise ValueError(f"{lat_deg}, {lon_deg}: is not a place in degrees")
    lat = math.radians(max(-90.0, min(90.0, lat_deg)))
    lon = math.radians(math.remainder(lon_deg, 360.0))
    sin_lat, cos_lat = math.sin(lat), math.cos(lat)

    def above_deg(at: float) -> float:
        day = math.floor(at)
        part = at - day
        dec, gha = _sun_at(day)
        next_dec, next_gha = _sun_at(day + 1)
        dec += part * (next_dec - dec)
        hour_angle = gha + part * (math.tau + math.remainder(next_gha - gha, math.tau)) + lon
        sine = sin_lat * math.sin(dec) + cos_lat * math.cos(dec) * math.cos(hour_angle)
        altitude_deg = math.degrees(math.asin(max(-1.0, min(1.0, sine))))
        return altitude_deg - _PARALLAX_DEG * math.sqrt(max(0.0, 1.0 - sine * sine)) - level_deg

    return above_deg


@lru_cache(maxsize=8)
def _sun_at(day: int) -> tuple[float, float]:
    """Declination and Greenwich hour angle of the Sun in radians, at one of ephem's noons.

    Between two noons both run so evenly that a straight line is true to 0.001 deg, 0.3 s of a
    sunset, and costs a twentieth of the theory of the Earth's orbit.
    """
    sun = ephem.Sun(ephem.Date(day))  # apparent place, of the date
    greenwich = ephem.Observer()
    greenwich.lon, greenwich.date = 0.0, day
    return float(sun.dec), float(greenwich.sidereal_time()) - float(sun.ra)


def _days(utc: datetime) -> float:
    if utc.tzinfo is None:
        raise ValueError(f"{utc}: has no time zone; a date is judged in UTC")
    return (utc - _EPHEM_ZERO) / timedelta(days=1)


def _past(utc: datetime, now: float, then: float) -> datetime:
    """The instant `then`, put 0.05 s late: asked again at it, the answer is surely the new one."""
    return utc + timedelta(days=then - now, seconds=0.05)
