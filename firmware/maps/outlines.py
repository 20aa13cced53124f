"""Features on a flat map: their boxes, in a tree, and the distances to their edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from firmware.maps.plane import Box, Plane, box_of, gap_between2
from firmware.readings import Feature

_RUN = 16  # edges of an outline that share a box, and boxes that share one
_DATE_LINE_DEG = 180.0

_Edge = tuple[float, float, float, float]
_Place = tuple[float, float]

_NO_SEAM: frozenset[_Place] = frozenset()


class Outline:
    """A feature on the map: its boxes at once, its edges when they are first asked for."""

    __slots__ = ("_span", "box", "feature", "order")

    def __init__(self, feature: Feature, order: int, plane: Plane) -> None:
        self.feature = feature
        self.order = order
        parts = feature.parts
        if len(parts) == 1 and len(parts[0]) <= _RUN + 1:  # nearly all: a town has thousands
            self._span = _Span.run(parts[0], plane, _NO_SEAM)
        else:
            seam = _seam(feature) if feature.shape == "polygon" else _NO_SEAM
            spans = [_Span.line(part, plane, seam) for part in parts]
            while len(spans) > 1:
                spans = [
                    _Span.over(spans[at : at + _RUN], is_line=False)
                    for at in range(0, len(spans), _RUN)
                ]
            (self._span,) = spans
        self.box: Box = self._span.box

    def holds(self, x: float, y: float) -> bool:
        """Whether a place is inside: a polygon by the even-odd rule; nothing else has an inside."""
        if self.feature.shape != "polygon" or gap_between2(self.box, (x, y, x, y)) > 0.0:
            return False
        return self._span.is_crossed_oddly(x, y)

    def edge_distance2(self, path: _Edge, within2: float = math.inf) -> float:
        """Squared metres from a straight path to the nearest edge, 0 where they cross.

        An answer above `within2` says only that the truth is above it too. A path from a place to
        itself is that place.
        """
        if self._span.below is None:
            return _run_distance2(path, self._span.shore())
        return self._span.distance2(path, _box(path), within2)

    def distance_m(self, x: float, y: float, within_m: float = math.inf) -> float:
        """Metres from a place to the feature, 0 inside; above `within_m` the truth is too."""
        within2 = within_m * within_m
        if gap_between2(self.box, (x, y, x, y)) > within2:
            return math.inf
        if self.holds(x, y):
            return 0.0
        return math.sqrt(self.edge_distance2((x, y, x, y), within2))


class _Span:
    """Edges that follow each other in an outline, in one box; or several such, in theirs.

    Of a long shore nearly all is passed over by the boxes. `ends` are the heights of a line's two
    ends, by which it is told from the west of it whether it is crossed an odd number of times.
    """

    __slots__ = ("_corners", "_edges", "_plane", "_seam", "_shore", "below", "box", "ends")

    def __init__(self, box: Box, below: list[_Span] | None) -> None:
        self.box = box
        self.below = below
        self.ends: tuple[float, float] | None = None
        self._corners: Sequence[_Place] = ()
        self._plane: Plane | None = None
        self._seam = _NO_SEAM
        self._edges: list[_Edge] | None = None
        self._shore: list[_Edge] = []

    @classmethod
    def run(cls, corners: Sequence[_Place], plane: Plane, seam: frozenset[_Place]) -> _Span:
        """A few edges, of which none is made yet; `seam` are those that only close a cut."""
        lons, lats = zip(*corners, strict=True)
        span = cls(plane.box(lons, lats), None)
        span._corners, span._plane, span._seam = corners, plane, seam
        return span

    @classmethod
    def line(cls, corners: Sequence[_Place], plane: Plane, seam: frozenset[_Place]) -> _Span:
        """All edges of a line, in spans of spans."""
        spans = []
        for start in range(0, max(1, len(corners) - 1), _RUN):
            part = corners[start : start + _RUN + 1]
            span = cls.run(part, plane, seam)
            span.ends = plane.y(part[0][1]), plane.y(part[-1][1])
            spans.append(span)
        while len(spans) > 1:
            spans = [
                cls.over(spans[at : at + _RUN], is_line=True) for at in range(0, len(spans), _RUN)
            ]
        return spans[0]

    @classmethod
    def over(cls, below: list[_Span], *, is_line: bool) -> _Span:
        """Spans in a box of theirs."""
        span = cls(box_of([one.box for one in below]), below)
        first, last = below[0].ends, below[-1].ends
        if is_line and first is not None and last is not None:
            span.ends = first[0], last[1]
        return span

    def is_crossed_oddly(self, x: float, y: float) -> bool:
        """Whether the way east from a place crosses it an odd number of times."""
        is_odd = False
        if self.below is None:
            for x1, y1, x2, y2 in self.edges():
                if (y1 > y) is not (y2 > y) and x < x1 + (x2 - x1) * (y - y1) / (y2 - y1):
                    is_odd = not is_odd
            return is_odd
        for one in self.below:
            west, south, east, north = one.box
            if south <= y <= north and x <= east:
                if x < west and one.ends is not None:
                    is_odd ^= (one.ends[0] > y) is not (one.ends[1] > y)
                else:
                    is_odd ^= one.is_crossed_oddly(x, y)
        return is_odd

    def distance2(self, path: _Edge, box: Box, within2: float) -> float:
        """Squared metres to the nearest edge that counts as one; see `Outline.edge_distance2`."""
        if self.below is None:
            return _run_distance2(path, self.shore())
        gaps = [(gap_between2(one.box, box), at) for at, one in enumerate(self.below)]
        nearest2 = math.inf
        for gap2, at in sorted(gap for gap in gaps if gap[0] <= within2):
            if gap2 > nearest2:
                break
            nearest2 = min(nearest2, self.below[at].distance2(path, box, min(within2, nearest2)))
        return nearest2

    def edges(self) -> list[_Edge]:
        """The edges of a run."""
        if self._edges is None:
            self._make()
        assert self._edges is not None
        return self._edges

    def shore(self) -> list[_Edge]:
        """Those of its edges that are edges of the feature, and not of a cut."""
        if self._edges is None:
            self._make()
        return self._shore

    def _make(self) -> None:
        assert self._plane is not None
        corners = [self._plane.xy(lat, lon) for lon, lat in self._corners]
        self._edges = [(*p, *q) for p, q in pairwise(corners)] or [(*corners[0], *corners[0])]
        self._shore = self._edges
        if self._seam:
            self._shore = [
                edge
                for edge, (one, other) in zip(self._edges, pairwise(self._corners), strict=True)
                if _seam_key(one, other) not in self._seam
            ]


def _seam(feature: Feature) -> frozenset[_Place]:
    """Where the map's own edge cuts a feature in two: the edges along the date line that both
    halves have. They close the halves, and are no edges of the feature."""
    sides: dict[float, set[_Place]] = {180.0: set(), -180.0: set()}
    for part in feature.parts:
        for one, other in pairwise(part):
            if one[0] == other[0] and one[0] in sides:
                key = _seam_key(one, other)
                if key is not None:
                    sides[one[0]].add(key)
    return frozenset(sides[180.0] & sides[-180.0])


def _seam_key(one: _Place, other: _Place) -> _Place | None:
    """The latitudes of an edge along the date line, to 0.1 mm; None for any other."""
    if one[0] != other[0] or abs(one[0]) != _DATE_LINE_DEG:
        return None
    low, high = sorted((one[1], other[1]))
    return round(low, 9), round(high, 9)


class Tree:
    """Outlines packed by place into nested boxes (Leutenegger, Lopez, Edgington: STR, 1997)."""

    __slots__ = ("below", "box")

    _WIDTH = 8

    def __init__(self, below: Sequence[Tree | Outline]) -> None:
        self.below = below
        self.box: Box = box_of([one.box for one in below])

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


def _run_distance2(path: _Edge, edges: Sequence[_Edge]) -> float:
    if path[0] == path[2] and path[1] == path[3]:
        x, y = path[0], path[1]
        return min([_point_edge2(x, y, edge) for edge in edges], default=math.inf)
    return min([_edge_edge2(path, edge) for edge in edges], default=math.inf)


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
