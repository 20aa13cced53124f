"""A large shape as far as a place needs it, put together from the runs of its outline.

A pack keeps the outline of a large shape once more, as runs of some hundred corners, each with
its box in an R*Tree (docs/zones.md). Nothing is cut: an edge of a run is an edge of the shape. What
lies within a box about a place is put together from the runs that reach into it. Where such a line
ends, which is outside of that box, it is led on away from the place and around; whether the place
itself is inside is told by the runs further east, of which only the ends are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from firmware.maps.degrees import Box

Corner = tuple[float, float]
"""Degrees: longitude, latitude."""

Line = tuple[Corner, ...]

RUN_BITS: Final = 24
"""A run's number is that of its feature and, in so many bits, its own, from 0 along the outline."""

FIRST_THINNING_DEG: Final = 1e-7
MOST_THINNING_DEG: Final = 1e-5
"""By so much, 1 m, an outline may be off at most where it has too many corners to be held."""

_TURN_DEG: Final = 360.0


class Beyond(NamedTuple):
    """A run that lies further east: the latitudes of its ends."""

    first_lat: float
    last_lat: float


def numbers_of(fid: int) -> tuple[int, int]:
    """The first number that a run of a feature may have, and the last."""
    return fid << RUN_BITS, (fid + 1 << RUN_BITS) - 1


def lines_near(runs: Mapping[int, Line]) -> tuple[Line, ...]:
    """The parts of a line that these runs of it are, joined where one goes on in the next."""
    return tuple(_joined(runs))


def rings_near(
    runs: Mapping[int, Line], beyond: Iterable[Beyond], lon: float, lat: float, box: Box
) -> tuple[Line, ...]:
    """Rings that enclose, by the even-odd rule, the same of the box as the shape does; none where
    the box lies outside of it.

    `runs` are those that reach into the box, by their numbers; `beyond` those of all others that
    the way east from the place, up to the date line, may meet.
    """
    is_flipped = sum(_is_met(one.first_lat, one.last_lat, lat) for one in beyond) % 2 == 1
    for line in runs.values():
        turn = _turn(line[0][0], lon)
        if turn:  # on the other side of the date line: where the way east does not come, or early
            is_flipped ^= _is_crossed_oddly([(x + turn, y) for x, y in line], lon, lat)
            is_flipped ^= turn < 0.0 and _is_met(line[0][1], line[-1][1], lat)
    frame = _frame(runs.values(), lon, box)
    rings = []
    for line in _joined(runs):
        if line[0] == line[-1]:
            rings.append(line)
            continue
        end, start = ((x + _turn(x, lon), y) for x, y in (line[-1], line[0]))
        around = _led_around(end, start, (lon, lat), frame)
        is_flipped ^= _is_crossed_oddly((end, *around, start), lon, lat)
        rings.append((*line, *map(_on_globe, around), line[0]))
    if is_flipped:
        corners = tuple(map(_on_globe, _corners(frame)))
        rings.append((*corners, corners[0]))
    return tuple(rings)


def thinned(line: Line, within_deg: float) -> Line:
    """The line without corners that lie so near to the one before; it is off by no more than that,
    and its ends stay."""
    kept = [line[0]]
    last_x, last_y = line[0]
    within2 = within_deg * within_deg
    for x, y in line[1:-1]:
        if (x - last_x) ** 2 + (y - last_y) ** 2 > within2:
            kept.append((x, y))
            last_x, last_y = x, y
    kept.append(line[-1])
    return tuple(kept)


def _joined(runs: Mapping[int, Line]) -> list[Line]:
    """The lines that runs make where one begins at another's end; a ring's begins where it ends."""
    chains: list[list[Line]] = []
    last = None
    for number in sorted(runs):
        line = runs[number]
        if number - 1 == last and chains[-1][-1][-1] == line[0]:
            chains[-1].append(line)
        else:
            chains.append([line])
        last = number
    begins: dict[Corner, list[int]] = {}
    for place, chain in enumerate(chains):
        begins.setdefault(chain[0][0], []).append(place)
    ends = {chain[-1][-1] for chain in chains}
    left = set(range(len(chains)))
    found = []
    # What nothing leads to comes first, so that no line is begun in its middle.
    for place in sorted(left, key=lambda one: (chains[one][0][0] in ends, one)):
        if place not in left:
            continue
        left.remove(place)
        chain = chains[place]
        while chain[0][0] != chain[-1][-1]:
            follow = [one for one in begins.get(chain[-1][-1], ()) if one in left]
            if not follow:
                break
            left.remove(follow[0])
            chain += chains[follow[0]]
        found.append((chain[0][0], *(corner for line in chain for corner in line[1:])))
    return found


def _turn(lon: float, at: float) -> float:
    """How far a longitude is moved to be on the same side of the date line as another."""
    if lon - at > 180.0:
        return -_TURN_DEG
    return _TURN_DEG if lon - at < -180.0 else 0.0


def _is_met(first_lat: float, last_lat: float, lat: float) -> bool:
    """Whether a line between these latitudes is met an odd number of times, wherever it runs."""
    return (first_lat > lat) is not (last_lat > lat)


def _is_crossed_oddly(line: Sequence[Corner], lon: float, lat: float) -> bool:
    """Whether the way east from a place crosses a line an odd number of times."""
    is_odd = False
    for (x1, y1), (x2, y2) in pairwise(line):
        if (y1 > lat) is not (y2 > lat) and lon < x1 + (x2 - x1) * (lat - y1) / (y2 - y1):
            is_odd = not is_odd
    return is_odd


def _frame(lines: Iterable[Line], lon: float, box: Box) -> Box:
    """A box that holds another, these lines, and as much again about the first."""
    wide, high = (box.east - box.west) / 2, (box.north - box.south) / 2
    west, south, east, north = box
    for line in lines:
        turn = _turn(line[0][0], lon)
        for place, y in line:
            x = place + turn
            if x < west:
                west = x
            elif x > east:
                east = x
            if y < south:
                south = y
            elif y > north:
                north = y
    return Box(west - wide, max(-90.0, south - high), east + wide, min(90.0, north + high))


def _led_around(end: Corner, start: Corner, middle: Corner, frame: Box) -> list[Corner]:
    """The corners of a way from one place to another that keeps away from the middle: straight out
    to the frame, along it, and straight in. Both lie outside of a box about the middle, which no
    way straight out of it meets again."""
    (out, out_x, out_y), (back, back_x, back_y) = (
        _outward(place, middle, frame) for place in (end, start)
    )
    corners = _corners(frame)
    if out > back:
        back += 4.0
    passed = [corners[side % 4] for side in range(1, 8) if out < side < back]
    return [(out_x, out_y), *passed, (back_x, back_y)]


def _outward(place: Corner, middle: Corner, frame: Box) -> tuple[float, float, float]:
    """Where the line from the middle through a place meets the frame: how far around, with the
    sides counted from the south-west corner by the east, and the place itself."""
    (x, y), (mid_x, mid_y) = place, middle
    along, up = x - mid_x, y - mid_y
    by_x = ((frame.east if along > 0 else frame.west) - mid_x) / along if along else None
    by_y = ((frame.north if up > 0 else frame.south) - mid_y) / up if up else None
    if by_x is not None and (by_y is None or by_x <= by_y):
        at_y = min(max(mid_y + up * by_x, frame.south), frame.north)
        share = (at_y - frame.south) / (frame.north - frame.south)
        return (1.0 + share, frame.east, at_y) if along > 0 else (4.0 - share, frame.west, at_y)
    at_x = mid_x if by_y is None else min(max(mid_x + along * by_y, frame.west), frame.east)
    share = (at_x - frame.west) / (frame.east - frame.west)
    return (3.0 - share, at_x, frame.north) if up > 0 else (share, at_x, frame.south)


def _corners(frame: Box) -> tuple[Corner, Corner, Corner, Corner]:
    """The frame's corners, from the south-west one by the east."""
    west, south, east, north = frame
    return (west, south), (east, south), (east, north), (west, north)


def _on_globe(place: Corner) -> Corner:
    x, y = place
    return (x - _TURN_DEG if x > 180.0 else x + _TURN_DEG if x < -180.0 else x, y)
