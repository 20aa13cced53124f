"""How tangled an outline is, found out before what takes for ever on a tangle is begun.

GEOS tells whether a shape is valid in a time that grows with the pairs of edges of which the boxes
meet, and mends it in one that grows with the square of its crossings or, the other way, of its
corners. Nothing stops it on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

MOST_PAIRS: Final = 20_000_000
"""Pairs of edges whose boxes meet: some 10 s to look at. A lake of a million corners has three."""

MOST_CROSSINGS: Final = 200_000
"""Mended in some 15 s."""

FEW_CORNERS: Final = 5000
"""So few make no more pairs than that, however they lie."""

_FEW_CROSSINGS: Final = 500  # of few enough corners: mended by the even-odd rule in a second
_FEW_TO_MEND: Final = 20_000
_AREA: Final = 2
_SAMPLED: Final = 400
_FEWEST: Final = 8
_AT_ONCE: Final = 500
_GOLDEN: Final = 0.6180339887498949


def why_not_checked(shape: BaseGeometry) -> str | None:
    """Why a shape is not even asked whether it is valid; None for nearly all."""
    is_small = shapely.get_num_coordinates(shape) <= FEW_CORNERS
    if is_small or shapely.get_dimensions(shape) != _AREA:
        return None  # a line may cross itself
    pairs = _pairs(*_edges(shape))
    if pairs <= MOST_PAIRS:
        return None
    return (
        f"is too tangled to be checked: some {pairs:,.0f} pairs of its edges may cross, and "
        f"{MOST_PAIRS:,} are looked at"
    )


def untangled(shape: BaseGeometry) -> BaseGeometry:
    """A valid shape of one that is not; raises ValueError for one that would take for ever.

    With few crossings what is enclosed twice is outside, by the even-odd rule. With many, or many
    corners, all that is enclosed is inside."""
    why_not = why_not_checked(shape)
    if why_not:
        raise ValueError(why_not)
    crossings = count_crossings(shape)
    if crossings > MOST_CROSSINGS:
        raise ValueError(
            f"crosses itself more than {MOST_CROSSINGS:,} times, which is not repaired"
        )
    is_small = shapely.get_num_coordinates(shape) <= _FEW_TO_MEND
    if is_small and crossings <= _FEW_CROSSINGS:
        return shapely.make_valid(shape)
    return shapely.make_valid(shape, method="structure")


def count_crossings(shape: BaseGeometry) -> int:
    """How often the outlines of a shape cross; some number above `MOST_CROSSINGS` where that is
    more."""
    begins, ends = _edges(shape)
    if not len(begins):
        return 0
    edges = shapely.linestrings(np.stack([begins, ends], axis=1))
    tree = shapely.STRtree(edges)
    found = 0
    for start in range(0, len(edges), _AT_ONCE):
        one, other = tree.query(edges[start : start + _AT_ONCE])
        one = one + start
        is_first = one < other
        one, other = one[is_first], other[is_first]
        found += int(_cross(begins[one], ends[one], begins[other], ends[other]).sum())
        if found > MOST_CROSSINGS:
            break
    return found


def _edges(shape: BaseGeometry) -> tuple[Any, Any]:
    """The ends of all edges of all outlines."""
    rings = shapely.get_rings(shapely.get_parts(shape))
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    is_edge = ring[1:] == ring[:-1]
    return corners[:-1][is_edge], corners[1:][is_edge]


def _pairs(begins: Any, ends: Any) -> float:
    """About how many pairs of edges have boxes that meet, by some of the edges."""
    low, high = np.minimum(begins, ends), np.maximum(begins, ends)
    met = done = 0
    for done, number in enumerate(_spread(len(low)), 1):
        met += int(
            (
                (low[:, 0] <= high[number, 0])
                & (high[:, 0] >= low[number, 0])
                & (low[:, 1] <= high[number, 1])
                & (high[:, 1] >= low[number, 1])
            ).sum()
        )
        if done >= _FEWEST and met / done * len(low) / 2 > 10 * MOST_PAIRS:
            break
    return met / max(done, 1) * len(low) / 2


def _spread(count: int) -> Iterator[int]:
    """Some of so many, by a step that has no rhythm in common with a shape's own, and the same
    each time."""
    for at in range(min(_SAMPLED, count)):
        yield int(at * count * _GOLDEN % count)


def _cross(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Whether each of these edges has its ends on both sides of the other."""
    return (_side(a, b, c) * _side(a, b, d) < 0.0) & (_side(c, d, a) * _side(c, d, b) < 0.0)


def _side(begin: Any, end: Any, place: Any) -> Any:
    along, to = end - begin, place - begin
    return np.sign(along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0])
