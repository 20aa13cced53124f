"""A flat map of a few kilometres around a place, in metres.

The radii of curvature of WGS 84 at the place give the scale (Rapp, "Geometric Geodesy", part I,
section 3.5). Up to 2 km from it a distance is true to 0.05 % between 42 and 49 N; what shrinks the
truth is that the parallels shorten towards the pole. Edges are straight in degrees, as in
GeoPackage, and so on this map too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_RADIUS_M = 6378137.0  # WGS 84 (NGA.STND.0036)
_E2 = 0.0066943799901413165

Box = tuple[float, float, float, float]
"""Least x, least y, greatest x, greatest y."""


class Plane:
    """Metres east and north of a place."""

    def __init__(self, lat_deg: float, lon_deg: float) -> None:
        self._lat_deg = lat_deg
        self._lon_deg = lon_deg
        bend = 1.0 - _E2 * math.sin(math.radians(lat_deg)) ** 2
        across_m = _RADIUS_M / math.sqrt(bend)
        self._y_m = math.radians(across_m * (1.0 - _E2) / bend)
        self._x_m = math.radians(across_m * math.cos(math.radians(lat_deg)))

    def xy(self, lat_deg: float, lon_deg: float) -> tuple[float, float]:
        """A place on the map; the date line is no edge of it."""
        east_deg = lon_deg - self._lon_deg
        if not -180.0 <= east_deg <= 180.0:
            return self.x(lon_deg), self.y(lat_deg)
        return east_deg * self._x_m, (lat_deg - self._lat_deg) * self._y_m

    def x(self, lon_deg: float) -> float:
        """Metres east."""
        east_deg = lon_deg - self._lon_deg
        if east_deg > 180.0:
            east_deg -= 360.0
        elif east_deg < -180.0:
            east_deg += 360.0
        return east_deg * self._x_m

    def y(self, lat_deg: float) -> float:
        """Metres north."""
        return (lat_deg - self._lat_deg) * self._y_m

    def box(self, lons: Sequence[float], lats: Sequence[float]) -> Box:
        """The box of these corners on the map."""
        west, east = min(lons) - self._lon_deg, max(lons) - self._lon_deg
        least_y = (min(lats) - self._lat_deg) * self._y_m
        most_y = (max(lats) - self._lat_deg) * self._y_m
        if west >= -180.0 and east <= 180.0 and east - west < 180.0:
            return west * self._x_m, least_y, east * self._x_m, most_y
        xs = [self.x(lon) for lon in lons]  # near the date line, or over it
        return min(xs), least_y, max(xs), most_y

    def degrees(self, distance_m: float) -> tuple[float, float]:
        """So many metres in degrees of latitude and of longitude."""
        return distance_m / self._y_m, distance_m / self._x_m

    def place(self, x_m: float, y_m: float) -> tuple[float, float]:
        """The place (latitude, longitude) that lies so far east and north."""
        return self._lat_deg + y_m / self._y_m, self._lon_deg + x_m / self._x_m


def box_of(boxes: Sequence[Box]) -> Box:
    """The box that holds these."""
    least_x, least_y, most_x, most_y = zip(*boxes, strict=True)
    return (min(least_x), min(least_y), max(most_x), max(most_y))


def gap_between2(one: Box, other: Box) -> float:
    """Squared metres between two boxes, 0 where they meet."""
    dx = max(one[0] - other[2], other[0] - one[2], 0.0)
    dy = max(one[1] - other[3], other[1] - one[3], 0.0)
    return dx * dx + dy * dy
