"""Which roads a vehicle may be on: those within the error of its place that run along its course.

A road is a line along its middle with a width. One that the vehicle surely is on lies within half
of its width by more than the position's error; two that both may be it are told as two.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

from firmware.maps.outlines import Outline
from firmware.maps.plane import Plane
from firmware.readings import Feature, Surroundings
from firmware.units import MPS_PER_KMH, MPS_PER_MPH

WIDTH_M = 12.0
"""Of a road whose width the map does not tell: two lanes and their shoulders."""

CROSSING_M = 10.0
"""From the middle of an intersection to its edge."""

ALONG_DEG = 35.0
"""A course that differs from a road's by more than this crosses it, or turns off it."""

_LOOK_M = 250.0
_AGAIN_M = 100.0

_Segment = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class OnRoad:
    """A road near a place: metres to its middle, how far its own half reaches, and its course there
    in degrees from north, 0 to 180, for it runs both ways."""

    feature: Feature
    distance_m: float
    half_m: float
    course_deg: float

    def is_sure(self, error_m: float) -> bool:
        """Whether a place that is known to so many metres is surely on it."""
        return self.distance_m + error_m <= self.half_m

    def runs_along(self, track_deg: float) -> bool:
        """Whether a course is along the road, either way."""
        apart_deg = abs(track_deg - self.course_deg) % 180.0
        return min(apart_deg, 180.0 - apart_deg) <= ALONG_DEG


@dataclass(frozen=True, slots=True)
class AtCrossing:
    """A crossing near a place: where it is, metres to its middle, and of those how many lie ahead
    on a course (below 0 behind) and to its side; the two are absent without a course."""

    feature: Feature
    place: tuple[float, float]
    distance_m: float
    ahead_m: float | None = None
    aside_m: float | None = None


def posted_mph(feature: Feature) -> float | None:
    """The posted speed limit of a road or of the highway that a crossing crosses; None where the
    map does not tell it."""
    limit_mph = feature.number("limit_mph")
    if limit_mph is not None:
        return limit_mph
    limit_kmh = feature.number("limit_kmh")
    return None if limit_kmh is None else limit_kmh * MPS_PER_KMH / MPS_PER_MPH


class Roads:
    """The lines of some kinds in one `Surroundings`, put on the map once.

    Each question looks only at what lay within 250 m when it was last looked, 100 m ago at most.
    """

    def __init__(self, around: Surroundings, kinds: Collection[str] = ("road",)) -> None:
        self._plane = Plane(around.lat_deg, around.lon_deg)
        self._lines: list[tuple[Feature, list[_Segment]]] = []
        self._crossings: list[tuple[Feature, tuple[float, float], float, float]] = []
        self._kinds = frozenset(kinds)
        self._covers: list[tuple[frozenset[str], Outline]] = []
        for order, feature in enumerate(around.features):
            if feature.kind == "crossing":
                for part in feature.parts:
                    lon_deg, lat_deg = part[0]
                    place = (lat_deg, lon_deg)
                    self._crossings.append((feature, place, *self._plane.xy(*place)))
            elif feature.kind in kinds:
                self._lines.append((feature, self._segments(feature)))
            elif feature.kind == "coverage":
                told = feature.attributes.get("of", "dwelling").split()
                if any(kind in told for kind in kinds):
                    self._covers.append((frozenset(told), Outline(feature, order, self._plane)))
        self._looked: tuple[float, float] | None = None
        self._near: list[tuple[Feature, list[_Segment]]] = []

    def is_covered(self, place: tuple[float, float]) -> bool:
        """Whether packs say that they know all lines of every kind at a place."""
        x, y = self._plane.xy(*place)
        known: set[str] = set()
        for told, outline in self._covers:
            if not known >= told and outline.holds(x, y):
                known |= told
        return known >= self._kinds

    def near(
        self,
        place: tuple[float, float],
        error_m: float,
        half_m: float | Mapping[str, float] | None = None,
    ) -> list[OnRoad]:
        """The roads that a place may be on, nearest first; `half_m` is how far they reach to each
        side, all or each kind, where their own width is not what counts."""
        x, y = self._plane.xy(*place)
        found = []
        for feature, segments in self._about(x, y):
            reach_m = half_m.get(feature.kind) if isinstance(half_m, Mapping) else half_m
            if reach_m is None:
                reach_m = (feature.number("width_m") or WIDTH_M) / 2.0
            distance_m, course_deg = min(_apart(x, y, one) for one in segments)
            if distance_m <= reach_m + error_m:
                found.append(OnRoad(feature, distance_m, reach_m, course_deg))
        return sorted(found, key=lambda one: one.distance_m)

    def crossings(
        self, place: tuple[float, float], track_deg: float | None, within_m: float
    ) -> list[AtCrossing]:
        """The crossings within a distance, nearest first."""
        x, y = self._plane.xy(*place)
        found = []
        for feature, middle, x2, y2 in self._crossings:
            east_m, north_m = x2 - x, y2 - y
            distance_m = math.hypot(east_m, north_m)
            if distance_m > within_m:
                continue
            if track_deg is None:
                found.append(AtCrossing(feature, middle, distance_m))
                continue
            sine, cosine = math.sin(math.radians(track_deg)), math.cos(math.radians(track_deg))
            ahead_m = east_m * sine + north_m * cosine
            aside_m = abs(east_m * cosine - north_m * sine)
            found.append(AtCrossing(feature, middle, distance_m, ahead_m, aside_m))
        return sorted(found, key=lambda one: one.distance_m)

    def _segments(self, feature: Feature) -> list[_Segment]:
        segments = []
        for part in feature.parts:
            corners = [self._plane.xy(lat, lon) for lon, lat in part]
            if len(corners) == 1:
                corners *= 2
            segments += [(*p, *q) for p, q in pairwise(corners)]
        return segments

    def _about(self, x: float, y: float) -> list[tuple[Feature, list[_Segment]]]:
        looked = self._looked
        if looked is None or math.hypot(x - looked[0], y - looked[1]) > _AGAIN_M:
            self._looked = (x, y)
            self._near = []
            for feature, segments in self._lines:
                close = [one for one in segments if _apart(x, y, one)[0] <= _LOOK_M]
                if close:
                    self._near.append((feature, close))
        return self._near


def _apart(x: float, y: float, segment: _Segment) -> tuple[float, float]:
    """Metres from a place to a piece of road, and the piece's course, 0 to 180 degrees."""
    x1, y1, x2, y2 = segment
    along_x, along_y = x2 - x1, y2 - y1
    length2 = along_x * along_x + along_y * along_y
    part = 0.0
    if length2 > 0.0:
        part = max(0.0, min(1.0, ((x - x1) * along_x + (y - y1) * along_y) / length2))
    away_m = math.hypot(x1 + part * along_x - x, y1 + part * along_y - y)
    return away_m, math.degrees(math.atan2(along_x, along_y)) % 180.0
