"""A flat map of a few kilometres around a place, in metres, and distances on it.

The radii of curvature of WGS 84 at the place give the scale (Rapp, "Geometric Geodesy", part I,
section 3.5). Up to 2 km from it a distance is true to 0.05 % between 42 and 49 N; what shrinks the
truth is that the parallels shorten towards the pole. Edges are straight in degrees, as in
GeoPackage, and so on this map too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, pairwise

from firmware.readings import Feature

_RADIUS_M = 6378137.0  # WGS 84 (NGA.STND.0036)
_E2 = 0.0066943799901413165
_RUN = 16  # edges of an outline that share a box, so that a long shore is mostly passed over

Box = tuple[float, float, float, float]
"""Least x, least y, greatest x, greatest y."""

_Edge = tuple[float, float, float, float]


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


class Outline:
    """A feature on the map: its box at once, its edges when they are first asked for."""

    __slots__ = ("_plane", "_runs", "box", "feature", "order")

    def __init__(self, feature: Feature, order: int, plane: Plane) -> None:
        self.feature = feature
        self.order = order
        self._plane = plane
        self._runs: list[tuple[Box, list[_Edge]]] | None = None
        parts = feature.parts  # of one part nearly all: a town has thousands of these boxes
        corners = parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))
        lons, lats = zip(*corners, strict=True)
        self.box: Box = plane.box(lons, lats)

    def holds(self, x: float, y: float) -> bool:
        """Whether a place is inside: a polygon by the even-odd rule; nothing else has an inside."""
        if self.feature.shape != "polygon" or gap_between2(self.box, (x, y, x, y)) > 0.0:
            return False
        inside = False
        for box, edges in self._edges():
            if box[1] <= y <= box[3] and x <= box[2]:
                for x1, y1, x2, y2 in edges:
                    if (y1 > y) is not (y2 > y) and x < x1 + (x2 - x1) * (y - y1) / (y2 - y1):
                        inside = not inside
        return inside

    def edge_distance2(self, path: _Edge, within2: float = math.inf) -> float:
        """Squared metres from a straight path to the nearest edge, 0 where they cross.

        An answer above `within2` says only that the truth is above it too. A path from a place to
        itself is that place.
        """
        runs = self._edges()
        if len(runs) == 1:
            return _run_distance2(path, runs[0][1])
        box = _box(path)
        gaps = [(gap_between2(run_box, box), number) for number, (run_box, _) in enumerate(runs)]
        nearest2 = math.inf
        for gap2, number in sorted(gap for gap in gaps if gap[0] <= within2):
            if gap2 > nearest2:
                break
            nearest2 = min(nearest2, _run_distance2(path, runs[number][1]))
        return nearest2

    def distance_m(self, x: float, y: float, within_m: float = math.inf) -> float:
        """Metres from a place to the feature, 0 inside; above `within_m` the truth is too."""
        within2 = within_m * within_m
        if gap_between2(self.box, (x, y, x, y)) > within2:
            return math.inf
        if self.holds(x, y):
            return 0.0
        return math.sqrt(self.edge_distance2((x, y, x, y), within2))

    def _edges(self) -> list[tuple[Box, list[_Edge]]]:
        if self._runs is None:
            runs = []
            for part in self.feature.parts:
                corners = [self._plane.xy(lat, lon) for lon, lat in part]
                edges = [(*p, *q) for p, q in pairwise(corners)]
                if len(corners) == 1:
                    edges = [(*corners[0], *corners[0])]
                for start in range(0, len(edges), _RUN):
                    run = edges[start : start + _RUN]
                    runs.append((_box_of([_box(edge) for edge in run]), run))
            self._runs = runs
        return self._runs


class Tree:
    """Outlines packed by place into nested boxes (Leutenegger, Lopez, Edgington: STR, 1997)."""

    __slots__ = ("below", "box")

    _WIDTH = 8

    def __init__(self, below: Sequence[Tree | Outline]) -> None:
        self.below = below
        self.box: Box = _box_of([one.box for one in below])

    @classmethod
    def pack(cls, outlines: Sequence[Outline]) -> Tree:
        """A tree of at least one outline."""
        level: Sequence[Tree | Outline] = outlines
        while True:
            count = math.ceil(len(level) / cls._WIDTH)
            if count <= 1:
                return cls(level)
            column = cls._WIDTH * math.ceil(math.sqrt(count))
            eastward = sorted(level, key=lambda one: one.box[0] + one.box[2])
            packed = []
            for start in range(0, len(eastward), column):
                northward = sorted(
                    eastward[start : start + column], key=lambda one: one.box[1] + one.box[3]
                )
                packed += [
                    cls(northward[at : at + cls._WIDTH])
                    for at in range(0, len(northward), cls._WIDTH)
                ]
            level = packed

    def gaps2(self, box: Box) -> list[tuple[float, Tree | Outline]]:
        """What lies below, each with the least squared metres that it can be from a box."""
        least_x, least_y, most_x, most_y = box
        gaps = []
        for one in self.below:
            x1, y1, x2, y2 = one.box
            dx = x1 - most_x if x1 > most_x else (least_x - x2 if least_x > x2 else 0.0)
            dy = y1 - most_y if y1 > most_y else (least_y - y2 if least_y > y2 else 0.0)
            gaps.append((dx * dx + dy * dy, one))
        return gaps


def _box(edge: _Edge) -> Box:
    x1, y1, x2, y2 = edge
    return (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _box_of(boxes: Sequence[Box]) -> Box:
    least_x, least_y, most_x, most_y = zip(*boxes, strict=True)
    return (min(least_x), min(least_y), max(most_x), max(most_y))


def gap_between2(one: Box, other: Box) -> float:
    """Squared metres between two boxes, 0 where they meet."""
    dx = max(one[0] - other[2], other[0] - one[2], 0.0)
    dy = max(one[1] - other[3], other[1] - one[3], 0.0)
    return dx * dx + dy * dy


def _run_distance2(path: _Edge, edges: Sequence[_Edge]) -> float:
    if path[0] == path[2] and path[1] == path[3]:
        x, y = path[0], path[1]
        return min([_point_edge2(x, y, edge) for edge in edges])
    return min([_edge_edge2(path, edge) for edge in edges])


def _point_edge2(x: float, y: float, edge: _Edge) -> float:
    x1, y1, x2, y2 = edge
    along_x, along_y = x2 - x1, y2 - y1
    to_x, to_y = x - x1, y - y1
    length2 = along_x * along_x + along_y * along_y
    if length2 > 0.0:
        part = (to_x * along_x + to_y * along_y) / length2
        part = 0.0 if part < 0.0 else min(part, 1.0)
        to_x -= part * along_x
        to_y -= part * along_y
    return to_x * to_x + to_y * to_y


def _edge_edge2(one: _Edge, other: _Edge) -> float:
    if _crosses(one, other):
        return 0.0
    return min(
        _point_edge2(one[0], one[1], other),
        _point_edge2(one[2], one[3], other),
        _point_edge2(other[0], other[1], one),
        _point_edge2(other[2], other[3], one),
    )


def _crosses(one: _Edge, other: _Edge) -> bool:
    """Whether each edge has its ends on both sides of the other; edges that only touch don't."""
    return (
        _side(one, other[0], other[1]) * _side(one, other[2], other[3]) < 0.0
        and _side(other, one[0], one[1]) * _side(other, one[2], one[3]) < 0.0
    )


def _side(edge: _Edge, x: float, y: float) -> float:
    x1, y1, x2, y2 = edge
    return (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
