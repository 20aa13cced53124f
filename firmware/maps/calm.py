"""Ground on which a map says the same wherever one is, so that nothing need be looked at anew."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from firmware.readings import Fix

_UNBOUNDED = (-math.inf, math.inf, -math.inf, math.inf, math.inf, math.inf)


class Calm(msgspec.Struct, frozen=True):
    """Ground on which a map says the same wherever one is; its sides in degrees. It holds for a
    fix that is no less exact and no faster than the one that it was made for; without a `chart`,
    on every map."""

    chart: object | None
    south_deg: float
    north_deg: float
    west_deg: float
    east_deg: float
    error_m: float
    speed_mps: float

    def holds(self, chart: object, fix: Fix) -> bool:
        """Whether a fix lies on it."""
        return (
            (chart is self.chart or self.chart is None)
            and self.south_deg <= fix.lat_deg <= self.north_deg
            and self.west_deg <= fix.lon_deg <= self.east_deg
            and fix.error_m <= self.error_m
            and fix.speed_mps <= self.speed_mps
        )


ANYWHERE = Calm(None, *_UNBOUNDED)
"""The ground of what no place, no speed and no map changes."""

_NOWHERE = msgspec.structs.replace(ANYWHERE, error_m=-math.inf)


def everywhere(chart: object) -> Calm:
    """All ground of one map, or of one reason why there is none."""
    return Calm(chart, *_UNBOUNDED)


def shared(grounds: Iterable[Calm]) -> Calm:
    """The ground that lies on each of these: what holds on it holds on all of them."""
    charts: list[object] = []
    south_deg, north_deg, west_deg, east_deg, error_m, speed_mps = _UNBOUNDED
    for one in grounds:
        if one.chart is not None and not any(chart is one.chart for chart in charts):
            charts.append(one.chart)
        south_deg, north_deg = max(south_deg, one.south_deg), min(north_deg, one.north_deg)
        west_deg, east_deg = max(west_deg, one.west_deg), min(east_deg, one.east_deg)
        error_m, speed_mps = min(error_m, one.error_m), min(speed_mps, one.speed_mps)
    if len(charts) > 1:
        return _NOWHERE
    chart = charts[0] if charts else None
    return Calm(chart, south_deg, north_deg, west_deg, east_deg, error_m, speed_mps)
