"""The outlines of large shapes as runs, which the unit reads instead (`firmware.maps.runs`)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from firmware.maps.geopackage import SRS_ID
from firmware.maps.large import LARGE_BYTES, LARGE_DEG
from firmware.maps.runs import RUN_BITS
from host_tools.packs.rows import Box

_EDGES: Final = 120  # two runs to a page of 4 kB
_LONG_DEG: Final = 1.0
_HEAD: Final = b"GP\0\x01" + struct.pack("<iB", SRS_ID, 1)
_AREA: Final = 2


@dataclass(frozen=True, slots=True)
class Run:
    """Some edges of an outline, one after the other, or some points of many; the box is theirs."""

    box: Box
    first_lat: float
    last_lat: float
    is_ring: bool
    blob: bytes


def is_large(blob: bytes, box: Box) -> bool:
    """Whether a geometry is read by its runs."""
    return len(blob) > LARGE_BYTES or box[2] - box[0] > LARGE_DEG


def runs_of(blob: bytes) -> Iterator[Run]:
    """The runs of a geometry, all edges in their order; raises ValueError where there would be more
    than can be numbered."""
    shape = shapely.from_wkb(blob[8 if blob[3] & 0x0E == 0 else 40 :])
    if shapely.get_num_coordinates(shape) >= 1 << (RUN_BITS - 1):
        raise ValueError(f"has more than {1 << (RUN_BITS - 1):,} corners")
    kind = int(shapely.get_dimensions(shape))
    if kind == 0:
        points = shapely.get_coordinates(shape)
        points = points[np.lexsort((points[:, 1], np.floor(points[:, 0] / 0.05)))]
        for start in range(0, len(points), _EDGES):
            yield _run(points[start : start + _EDGES], is_ring=False, is_point=True)
        return
    lines = shapely.get_parts(shape)
    if kind == _AREA:
        lines = shapely.get_rings(lines)
    corners, numbers = shapely.get_coordinates(lines, return_index=True)
    for line in np.split(corners, np.flatnonzero(np.diff(numbers)) + 1):
        for run in _cut(_stepped(line)):
            yield _run(run, is_ring=kind == _AREA)


def _stepped(line: Any) -> Any:
    """A line with corners on its edges where these are long, so that a run never is."""
    steps = np.ceil(np.abs(np.diff(line, axis=0)).max(axis=1) / _LONG_DEG).astype(int)
    if not (steps > 1).any():
        return line
    made = [
        np.linspace(begin, end, count, endpoint=False)
        for begin, end, count in zip(line[:-1], line[1:], np.maximum(steps, 1), strict=True)
    ]
    return np.concatenate([*made, line[-1:]])


def _cut(line: Any) -> Iterator[Any]:
    """So many edges at a time, and fewer where they go far; each begins where the last ended."""
    for start in range(0, len(line) - 1, _EDGES):
        waiting = [line[start : start + _EDGES + 1]]
        while waiting:
            run = waiting.pop()
            if len(run) > 2 and np.ptp(run, axis=0).max() > _LONG_DEG:
                middle = len(run) // 2
                waiting += [run[middle:], run[: middle + 1]]
            else:
                yield run


def _run(corners: Any, *, is_ring: bool, is_point: bool = False) -> Run:
    west, south = corners.min(axis=0).tolist()
    east, north = corners.max(axis=0).tolist()
    little = np.ascontiguousarray(corners, dtype="<f8")
    if is_point:
        wkb = bytes(shapely.to_wkb(shapely.multipoints(little), byte_order=1, flavor="iso"))[1:]
    else:
        wkb = struct.pack("<II", 2, len(corners)) + little.tobytes()
    first, last = float(corners[0, 1]), float(corners[-1, 1])
    return Run((west, south, east, north), first, last, is_ring, _HEAD + wkb)
