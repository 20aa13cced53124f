"""Boxes of degrees about a place, over the date line and at the poles."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

M_PER_DEG_LAT: Final = 110_574.0
"""The least there is, at the equator: a box is never too small."""


class Box(NamedTuple):
    """Degrees; about a place that is near the date line its longitudes go on beyond 180."""

    west: float
    south: float
    east: float
    north: float


def about(lat_deg: float, lon_deg: float, radius_m: float, most_deg: float = 180.0) -> Box:
    """What reaches so many metres about a place, and no more than so many degrees to each side:
    near a pole the parallels are so short that it would be all around."""
    high = radius_m / M_PER_DEG_LAT
    south, north = lat_deg - high, lat_deg + high
    parallel = math.cos(math.radians(max(abs(south), abs(north))))
    is_off_poles = parallel > 1e-6 and max(-south, north) < 90.0
    wide = min(most_deg, high / parallel) if is_off_poles else most_deg
    return Box(lon_deg - wide, max(-90.0, south), lon_deg + wide, min(90.0, north))


def on_globe(box: Box) -> list[Box]:
    """The same between -180 and 180 degrees: two boxes where the date line lies in it."""
    west, south, east, north = box
    if east - west >= 360.0:
        return [Box(-180.0, south, 180.0, north)]
    if west < -180.0:
        return [Box(-180.0, south, east, north), Box(west + 360.0, south, 180.0, north)]
    if east > 180.0:
        return [Box(west, south, 180.0, north), Box(-180.0, south, east - 360.0, north)]
    return [box]
