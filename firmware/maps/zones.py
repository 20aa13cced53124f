"""What is nearest: the distances to the features that lie around a place."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count

from firmware.maps.calm import Calm
from firmware.maps.outlines import Outline, Tree
from firmware.maps.plane import Box, Plane, gap_between2
from firmware.quick import quick
from firmware.readings import Feature, Surroundings

_LOOK_M = 150.0
"""So much further than asked it is looked, so that the next places need no look at all."""

_ROUNDING_M = 1e-6
_CALM_M = 15.0  # less ground than this is ridden over before it has paid

COVERAGE = "coverage"

NO_ZONE_DATA = "no zone data here"
"""Why a zone is not watched where no pack says that it knows the things that count there."""


@quick
@dataclass(frozen=True, slots=True)
class Near:
    """The nearest feature: metres to its nearest edge (0 inside it, or where the way crossed it),
    and how many metres inside the polygon the place is (0 outside)."""

    feature: Feature
    distance_m: float
    depth_m: float


class Nearby:
    """Answers what is nearest, within what one `Surroundings` holds; places are (lat, lon).

    Nothing is computed before it is asked for: each kind is put on the map at its first question.
    """

    def __init__(self, around: Surroundings) -> None:
        self.surroundings = around
        self._plane = Plane(around.lat_deg, around.lon_deg)
        self._by_kind: dict[str, list[tuple[int, Feature]]] = {}
        for order, feature in enumerate(around.features):
            self._by_kind.setdefault(feature.kind, []).append((order, feature))
            if feature.kind == COVERAGE:  # of dwellings, where it does not say of what
                for kind in feature.attributes.get("of", "dwelling").split():
                    covers = self._by_kind.setdefault(f"{COVERAGE} {kind}", [])
                    covers.append((order, feature))
        self._trees: dict[str, Tree] = {}
        # Where it was last looked: nothing of these kinds lies nearer to x, y than so many metres,
        # or so deep inside one of them it is. Within that nothing need be looked for again.
        self._clear: dict[frozenset[str], tuple[float, float, float]] = {}
        self._deep: dict[frozenset[str], tuple[float, float, float]] = {}

    def nearest(
        self,
        kinds: Collection[str],
        a: tuple[float, float],
        b: tuple[float, float] | None = None,
        within_m: float = math.inf,
        *,
        is_known: bool = False,
    ) -> Near | None:
        """The feature nearest to the place a, or to the way from a to b; None if there is none, or
        none within so many metres, which is quick to tell. `is_known` passes over what is only
        possibly of its kind.

        Of several that hold the place it is the one it is deepest in. What lies beyond the
        surroundings' radius is not known: ask `reaches` whether the answer is whole.
        """
        if self._by_kind.keys().isdisjoint(kinds):
            return None  # as for most kinds at most places
        start = self._plane.xy(*a)
        path = (*start, *(start if b is None else self._plane.xy(*b)))
        if is_known:
            return self._search(kinds, path, within_m, is_known=True)
        known = self._clear.get(kinds := frozenset(kinds))
        if known is not None:
            away_m = max(
                math.hypot(path[0] - known[0], path[1] - known[1]),
                math.hypot(path[2] - known[0], path[3] - known[1]),
            )
            if away_m + within_m < known[2]:
                return None
        best = self._search(kinds, path, within_m + _LOOK_M)
        if best is None or best.distance_m > 0.0:
            clear_m = within_m + _LOOK_M if best is None else best.distance_m
            self._clear[kinds] = (path[2], path[3], clear_m - _ROUNDING_M)
        return best if best is not None and best.distance_m <= within_m else None

    def is_in(
        self, kinds: Collection[str], place: tuple[float, float], error_m: float
    ) -> bool | None:
        """Whether a place that is known to so many metres is inside a feature: True where it surely
        is, False where it surely is not, None where it may be."""
        if self._by_kind.keys().isdisjoint(kinds):
            return False
        x, y = self._plane.xy(*place)
        known = self._deep.get(kinds := frozenset(kinds))
        if known is not None and error_m + math.hypot(x - known[0], y - known[1]) < known[2]:
            return True
        under = self.nearest(kinds, place, within_m=error_m)
        if under is None:
            return False
        if under.depth_m > 0.0:
            self._deep[kinds] = (x, y, under.depth_m - _ROUNDING_M)
        return True if under.depth_m >= error_m > 0.0 else None

    def outlines(
        self, kinds: Collection[str], place: tuple[float, float], within_m: float
    ) -> list[Outline]:
        """What may lie within so many metres of a place, by its box."""
        x, y = self._plane.xy(*place)
        return self.outlines_by((x, y, x, y), kinds, within_m)

    def outlines_by(self, box: Box, kinds: Collection[str], within_m: float) -> list[Outline]:
        """What may lie within so many metres of a box on this map, by its own box."""
        within2 = within_m * within_m
        found: list[Outline] = []
        left = [self._tree(kind) for kind in kinds if kind in self._by_kind]
        while left:
            for gap2, one in left.pop().gaps2(box):
                if gap2 > within2:
                    continue
                if isinstance(one, Tree):
                    left.append(one)
                else:
                    found.append(one)
        return found

    def xy(self, place: tuple[float, float]) -> tuple[float, float]:
        """A place on this map, in metres east and north of its middle."""
        return self._plane.xy(*place)

    def make_ready(self) -> Nearby:
        """Puts every kind's boxes on the map now, for who has the time: a town takes some
        milliseconds. An outline's edges wait until one is near: of most nobody ever asks."""
        for kind in self._by_kind:
            self._tree(kind)
        return self

    def _search(
        self,
        kinds: Collection[str],
        path: tuple[float, float, float, float],
        within_m: float,
        *,
        is_known: bool = False,
    ) -> Near | None:
        """The nearest feature, looked for from box to box, nearest first."""
        box = (
            min(path[0], path[2]),
            min(path[1], path[3]),
            max(path[0], path[2]),
            max(path[1], path[3]),
        )
        within2 = within_m * within_m
        turn = count()
        queue: list[tuple[float, int, Tree | Outline]] = []
        for tree in (self._tree(kind) for kind in kinds if kind in self._by_kind):
            gap2 = gap_between2(tree.box, box)
            if gap2 <= within2:
                queue.append((gap2, next(turn), tree))
        heapq.heapify(queue)
        best: tuple[float, float, int, Feature] | None = None
        while queue:
            least2, _, one = heapq.heappop(queue)
            if least2 > within2:
                break
            if isinstance(one, Tree):
                for gap2, below in one.gaps2(box):
                    if gap2 <= within2:
                        heapq.heappush(queue, (gap2, next(turn), below))
                continue
            if is_known and one.feature.is_possible:
                continue
            found = _measure(one, path, within2)
            if found[0] <= within2 and (best is None or found < best[:3]):
                best = (*found, one.feature)
                within2 = found[0]
        if best is None:
            return None
        return Near(best[3], math.sqrt(best[0]), -best[1])

    def met(
        self,
        kinds: Collection[str],
        a: tuple[float, float],
        b: tuple[float, float] | None = None,
        within_m: float = 0.0,
    ) -> list[Near]:
        """Every feature of these kinds within so many metres of a place or of the way to it from
        another, in the order of the packs; how deep it is in them goes by the place a."""
        if self.nearest(kinds, a, b, within_m) is None:
            return []
        start = self._plane.xy(*a)
        path = (*start, *(start if b is None else self._plane.xy(*b)))
        reach_m = within_m + math.hypot(path[2] - path[0], path[3] - path[1])
        found = []
        for outline in self.outlines(kinds, a, reach_m):
            apart2, high_m, order = _measure(outline, path, within_m * within_m)
            if apart2 <= within_m * within_m:
                found.append((order, Near(outline.feature, math.sqrt(apart2), -high_m)))
        return [near for _, near in sorted(found, key=lambda one: one[0])]

    def within(self, a: tuple[float, float], distance_m: float) -> list[Near]:
        """Every feature within a distance of a place, of all kinds, nearest and deepest first."""
        x, y = self._plane.xy(*a)
        limit2 = distance_m * distance_m
        found = []
        for order, feature in enumerate(self.surroundings.features):
            apart2, high_m, _ = _measure(Outline(feature, order, self._plane), (x, y, x, y), limit2)
            if apart2 <= limit2:
                found.append((apart2, high_m, order))
        features = self.surroundings.features
        return [Near(features[n], math.sqrt(away2), -high_m) for away2, high_m, n in sorted(found)]

    def is_covered(
        self, lat_deg: float, lon_deg: float, kinds: Collection[str] = ("dwelling",)
    ) -> bool:
        """Whether a pack says that it knows the things of these kinds, dwellings unless told, at a
        place: inside a `coverage` of each."""
        place = (lat_deg, lon_deg)
        return all(self.is_in((f"{COVERAGE} {kind}",), place, 0.0) is not False for kind in kinds)

    def calm(
        self,
        kinds: Collection[str],
        covers: Collection[str],
        place: tuple[float, float],
        need_m: float,
        margin_m: float,
        error_m: float,
        speed_mps: float,
    ) -> Calm | None:
        """The ground around a place on which the map goes on to say the same, None where there is
        hardly any: no thing of these kinds within `need_m`, these kinds covered or not as here, and
        the map whole within `margin_m`. It is for fixes of so much error and speed at most."""
        free_m = self.surroundings.radius_m - self._away_m(place) - margin_m
        if free_m < _CALM_M:
            return None
        free_m = min(free_m, self._free_m(frozenset(kinds), place, need_m) - need_m)
        for kind in covers:
            if free_m < _CALM_M:
                return None
            free_m = min(free_m, self._steady_m(frozenset((f"{COVERAGE} {kind}",)), place))
        if free_m < _CALM_M:
            return None
        up_deg, along_deg = self._plane.degrees(free_m * math.sqrt(0.5))
        return Calm(
            self,
            place[0] - up_deg,
            place[0] + up_deg,
            place[1] - along_deg,
            place[1] + along_deg,
            error_m,
            speed_mps,
        )

    def _free_m(self, kinds: frozenset[str], place: tuple[float, float], need_m: float) -> float:
        """Within so many metres of a place there is nothing of these kinds; never too many."""
        if not any(kind in self._by_kind for kind in kinds):
            return math.inf
        near = self.nearest(kinds, place, within_m=need_m + _LOOK_M)
        return need_m + _LOOK_M if near is None else near.distance_m

    def _steady_m(self, kinds: frozenset[str], place: tuple[float, float]) -> float:
        """Within so many metres of a place one is inside these, or outside, as one is here."""
        if not any(kind in self._by_kind for kind in kinds):
            return math.inf
        near = self.nearest(kinds, place)
        return math.inf if near is None else near.depth_m or near.distance_m

    def _away_m(self, place: tuple[float, float]) -> float:
        return math.hypot(*self._plane.xy(*place))

    def promises(self, kinds: Collection[str]) -> bool:
        """Whether any pack here says anywhere that it knows the things of each of these kinds."""
        return all(f"{COVERAGE} {kind}" in self._by_kind for kind in kinds)

    def reaches(self, lat_deg: float, lon_deg: float, margin_m: float) -> bool:
        """Whether everything within the margin of a place lies inside the surroundings."""
        away_m = math.hypot(*self._plane.xy(lat_deg, lon_deg))
        return away_m + margin_m <= self.surroundings.radius_m

    def _tree(self, kind: str) -> Tree:
        tree = self._trees.get(kind)
        if tree is None:
            outlines: Sequence[Outline] = [
                Outline(feature, order, self._plane) for order, feature in self._by_kind[kind]
            ]
            tree = self._trees[kind] = Tree.pack(outlines)
        return tree


def _measure(
    outline: Outline, path: tuple[float, float, float, float], within2: float
) -> tuple[float, float, int]:
    """Squared metres to an outline, metres deep as a negative, and its order: least is nearest."""
    if outline.holds(path[0], path[1]):
        place = (path[0], path[1], path[0], path[1])
        return 0.0, -math.sqrt(outline.edge_distance2(place)), outline.order
    return outline.edge_distance2(path, within2), 0.0, outline.order
