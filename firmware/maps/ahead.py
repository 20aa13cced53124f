"""Where a sled is going, and how far along its way the edge of a zone lies.

The way is the arc that the last turn of the course tells, up to a quarter turn and straight on from
there. An edge is a distance from a feature; it grows along the way by the spread of the course.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from firmware.maps.outlines import Outline
from firmware.maps.plane import Box
from firmware.maps.zones import Nearby
from firmware.readings import Feature

LEAST_STEP_M = 2.0
"""A way that runs along an edge is not looked at more finely; what is found is never too far."""

_QUARTER = math.pi / 2.0
_PARTS = 8
_BULGE_M = 4.0  # a way of 200 m in eight parts that turns 90 degrees in 80 m bulges 1.6 m out
_STRAIGHT = 1e-5  # radians a metre: less than 0.4 m off a straight line in 300 m


@dataclass(frozen=True, slots=True)
class Way:
    """From a place (latitude, longitude) on a course in degrees, turning by `turn` degrees a metre,
    to the right where it is positive."""

    place: tuple[float, float]
    course_deg: float
    turn: float = 0.0

    def offset(self, along_m: float) -> tuple[float, float]:
        """Metres east and north of the place after so many metres."""
        course, turn = math.radians(self.course_deg), math.radians(self.turn)
        if abs(turn) < _STRAIGHT:
            return along_m * math.sin(course), along_m * math.cos(course)
        arc_m = min(along_m, _QUARTER / abs(turn))
        end = course + turn * arc_m
        east_m = (math.cos(course) - math.cos(end)) / turn
        north_m = (math.sin(end) - math.sin(course)) / turn
        rest_m = along_m - arc_m
        return east_m + rest_m * math.sin(end), north_m + rest_m * math.cos(end)


@dataclass(frozen=True, slots=True)
class Edge:
    """The first edge along a way: the feature, and how far ahead the edge is, never too far."""

    feature: Feature
    along_m: float


def first_edge(
    chart: Nearby,
    kinds: Collection[str],
    way: Way,
    reach_m: float,
    within_m: float,
    spread: float,
) -> Edge | None:
    """The first place on the next `reach_m` of the way that is within so many metres of a feature.

    `spread` is how many metres the way may be off to a side for each metre along it.
    """
    most_m = within_m + reach_m * (1.0 + spread)
    if chart.nearest(kinds, way.place, within_m=most_m) is None:
        return None
    x, y = chart.xy(way.place)
    best: Edge | None = None
    for outline in chart.outlines_by(
        _box(way, (x, y), reach_m), kinds, within_m + reach_m * spread
    ):
        least_m = reach_m if best is None else best.along_m
        along_m = _first(outline, way, (x, y), least_m, within_m, spread)
        if along_m is not None:
            best = Edge(outline.feature, along_m)
    return best


def _box(way: Way, start: tuple[float, float], reach_m: float) -> Box:
    """A box on the map that holds the way."""
    offsets = [way.offset(reach_m * part / _PARTS) for part in range(_PARTS + 1)]
    xs, ys = [start[0] + east for east, _ in offsets], [start[1] + north for _, north in offsets]
    return min(xs) - _BULGE_M, min(ys) - _BULGE_M, max(xs) + _BULGE_M, max(ys) + _BULGE_M


def _first(
    outline: Outline,
    way: Way,
    start: tuple[float, float],
    reach_m: float,
    within_m: float,
    spread: float,
) -> float | None:
    """How far along a feature's edge is met, by steps that can't jump over it."""
    along_m = surely_m = 0.0
    while along_m < reach_m:
        east_m, north_m = way.offset(along_m)
        # Anything further than the rest of the way is as good as no distance.
        far_m = within_m + (reach_m - along_m) * (1.0 + spread) + along_m * spread + LEAST_STEP_M
        away_m = outline.distance_m(start[0] + east_m, start[1] + north_m, far_m)
        gap_m = away_m - within_m - along_m * spread
        if gap_m <= 0.0:
            return surely_m
        if away_m > far_m:
            return None
        surely_m = along_m + gap_m / (1.0 + spread)
        along_m = max(surely_m, along_m + LEAST_STEP_M)
    return None
