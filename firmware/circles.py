"""Privacy circles: places about which a copy of a journal says neither where, how fast nor when.

The journal itself stays whole: it is evidence, and its rider's. What leaves it for other eyes, an
export or a report, hides what lies inside and says that it did.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_M, MOST_M = 50.0, 5000.0

_M_PER_DEG = 111_195.0  # on a sphere of 6,371 km
_TEXT = re.compile(r"(-?\d{1,2}(?:\.\d+)?) (-?\d{1,3}(?:\.\d+)?) (\d{1,4}(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Circle:
    """A place in degrees and the metres about it in which nothing is told."""

    lat_deg: float
    lon_deg: float
    radius_m: float

    def covers(self, lat_deg: float, lon_deg: float) -> bool:
        """Whether a position lies inside; good to 1 % up to the largest radius."""
        north_m = (lat_deg - self.lat_deg) * _M_PER_DEG
        turn_deg = (lon_deg - self.lon_deg + 180.0) % 360.0 - 180.0
        east_m = turn_deg * _M_PER_DEG * math.cos(math.radians(self.lat_deg))
        return math.hypot(north_m, east_m) <= self.radius_m


def parse(text: str) -> Circle | None:
    """A circle from "LATITUDE LONGITUDE METRES"; None for anything else."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    lat_deg, lon_deg, radius_m = map(float, found.groups())
    if abs(lat_deg) > 90.0 or abs(lon_deg) > 180.0 or not LEAST_M <= radius_m <= MOST_M:
        return None
    return Circle(lat_deg, lon_deg, radius_m)


def circles(texts: Iterable[str]) -> tuple[Circle, ...]:
    """The circles of a configuration that was checked."""
    return tuple(one for one in map(parse, texts) if one is not None)
