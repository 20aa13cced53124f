"""Geometry on its way into a zone pack: checked, repaired, cut at the date line.

What is good is done by the thousand; what is not is looked at one by one, by the reader that the
unit has, so that its fault has the same words everywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from firmware.maps.geopackage import SRS_ID, decode
from firmware.maps.large import LARGE_BYTES
from host_tools.packs.rows import Box
from host_tools.packs.tangles import FEW_CORNERS, untangled, why_not_checked

DIGITS: Final = 7
"""Decimals of a degree that a pack keeps: 1 cm."""

_BARE: Final = b"GP\0\x01" + struct.pack("<i", SRS_ID)
_TAKEN: Final = np.array([0, 1, 3, 4, 5, 6])  # GEOS: point, line, polygon and their multiples
NO_SHAPE: Final = "has no geometry: expected a point, a line or a polygon"
_NO_MAP: Final = "expected points, lines or polygons in degrees"


@dataclass(frozen=True, slots=True)
class Shape:
    """A geometry as a pack holds it, its box, and what was repaired in it, if anything was."""

    blob: bytes
    box: Box
    repaired: str = ""


def shapes_of(wkbs: Sequence[bytes | None]) -> list[Shape | str]:
    """The geometries of a batch; a word instead of one tells why it can't be packed."""
    found: list[Shape | str] = [NO_SHAPE] * len(wkbs)
    there = [index for index, wkb in enumerate(wkbs) if wkb]
    raw = np.array([wkbs[index] for index in there], dtype=object)
    geoms = shapely.from_wkb(raw, on_invalid="ignore")
    rounded = shapely.transform(geoms, _rounded)
    bounds = shapely.bounds(rounded)
    for place in np.flatnonzero(shapely.get_num_coordinates(rounded) > FEW_CORNERS).tolist():
        tangle = why_not_checked(rounded[place])
        if tangle:
            found[there[place]], rounded[place] = f"{tangle}; {_NO_MAP}", None
    with np.errstate(invalid="ignore"):
        is_good = (
            np.isin(shapely.get_type_id(rounded), _TAKEN)
            & shapely.is_valid(rounded)
            & (bounds[:, 0] >= -180.0)
            & (bounds[:, 2] <= 180.0)
            & (bounds[:, 1] >= -90.0)
            & (bounds[:, 3] <= 90.0)
            & (bounds[:, 2] - bounds[:, 0] <= 180.0)
        )
    blobs = shapely.to_wkb(rounded, output_dimension=2, byte_order=1, flavor="iso")
    for place, index in enumerate(there):
        if is_good[place]:
            box: Box = tuple(bounds[place].tolist())
            found[index] = Shape(_blob(blobs[place], box), box)
        elif found[index] is NO_SHAPE:
            try:
                found[index] = _mended(raw[place])
            except ValueError as error:
                found[index] = str(error)
    return found


def box_shape(box: Box) -> Shape:
    """A box of degrees as a polygon."""
    return Shape(_BARE + _wkb(shapely.box(*box)), box)


def _mended(wkb: bytes) -> Shape:
    """One geometry that is not good as it is; raises ValueError where it can't be made so."""
    try:
        decode(_BARE + wkb)
    except ValueError as error:
        raise ValueError(f"{error}; {_NO_MAP}") from error
    geom = shapely.from_wkb(wkb)
    said = []
    if _crosses_date_line(geom):
        geom = _cut_at_date_line(geom)
        said.append("cut at the date line")
    geom = shapely.transform(shapely.force_2d(geom), _rounded)
    if not shapely.is_valid(geom):
        said.append(str(shapely.is_valid_reason(geom)))
        try:
            mended = _flat(untangled(geom), geom)
        except ValueError as error:
            raise ValueError(f"{error}; {_NO_MAP}") from error
        if mended is None:
            raise ValueError(f"encloses nothing ({said[-1]}); {_NO_MAP}")
        geom = shapely.transform(mended, _rounded)
        if not shapely.is_valid(geom):  # rounding made corners meet
            geom = _on_grid(mended)
        if not shapely.is_valid(geom):
            raise ValueError(f"can't be repaired ({said[-1]}); {_NO_MAP}")
    box: Box = tuple(shapely.bounds(geom).tolist())
    return Shape(_blob(_wkb(geom), box), box, "; ".join(said))


def _on_grid(mended: BaseGeometry) -> BaseGeometry:
    """A shape on the grid of the decimals, mended anew for it. On a large one that takes minutes:
    there it keeps the corners that it has."""
    if shapely.get_num_coordinates(mended) > FEW_CORNERS:
        return mended
    snapped = _flat(shapely.set_precision(mended, 10.0**-DIGITS), mended)
    return shapely.transform(mended if snapped is None else snapped, _rounded)


def _flat(shape: BaseGeometry, like: BaseGeometry) -> BaseGeometry | None:
    """The parts of a shape that have the dimension of another; None where there are none."""
    wanted = shapely.get_dimensions(like)
    parts = [
        one
        for one in shapely.get_parts(shapely.get_parts(shape))
        if shapely.get_dimensions(one) == wanted and not shapely.is_empty(one)
    ]
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    made = {0: shapely.multipoints, 1: shapely.multilinestrings, 2: shapely.multipolygons}
    return made[wanted](parts)


def _crosses_date_line(geom: BaseGeometry) -> bool:
    west, _, east, _ = shapely.bounds(geom)
    if east - west <= 180.0:
        return False
    rings = (
        shapely.get_rings(shapely.get_parts(geom))
        if shapely.get_dimensions(geom) == 2
        else shapely.get_parts(geom)
    )
    return any(_steps(shapely.get_coordinates(ring)).any() for ring in rings)


def _steps(corners: Any) -> Any:
    """Where an outline takes the short way over the date line: +1 eastward, -1 westward.

    An edge from one side of the map to the other, both ends on the date line, goes all the way.
    """
    lons = corners[:, 0]
    step = np.diff(lons)
    is_edge = (np.abs(lons[1:]) == 180.0) & (np.abs(lons[:-1]) == 180.0)
    return np.where(is_edge, 0, (step < -180.0).astype(int) - (step > 180.0).astype(int))


def _cut_at_date_line(geom: BaseGeometry) -> BaseGeometry:
    """The same shape as RFC 7946 section 3.1.9 writes it: no edge goes over the date line."""
    parts = []
    for part in shapely.get_parts(geom):
        if shapely.get_dimensions(part) != 2:
            parts += _wrapped(shapely.linestrings(_unrolled(shapely.get_coordinates(part))))
            continue
        outer, *holes = [
            _unrolled(shapely.get_coordinates(ring)) for ring in shapely.get_rings(part)
        ]
        if abs(outer[-1, 0] - outer[0, 0]) > 180.0:
            raise ValueError(
                "goes around a pole: cut it at the date line, with corners at the pole"
            )
        middle = (outer[:, 0].min() + outer[:, 0].max()) / 2
        for hole in holes:
            hole[:, 0] += 360.0 * round((middle - hole[:, 0].mean()) / 360.0)
        parts += _wrapped(untangled(shapely.polygons(outer, holes=holes or None)))
    return shapely.union_all(parts)


def _unrolled(corners: Any) -> Any:
    """The corners of an outline with its longitudes going on beyond 180 degrees."""
    turns = np.concatenate([[0], np.cumsum(_steps(corners))])
    out = corners.copy()
    out[:, 0] += 360.0 * turns
    return out


def _wrapped(shape: BaseGeometry) -> list[BaseGeometry]:
    parts = []
    for turn in (-1, 0, 1):
        world = shapely.box(-180.0 + 360.0 * turn, -90.0, 180.0 + 360.0 * turn, 90.0)
        part = _flat(shapely.intersection(shape, world), shape)
        if part is not None:
            parts.append(shapely.transform(part, lambda at, turn=turn: at - [360.0 * turn, 0.0]))
    return parts


def _rounded(corners: Any) -> Any:
    return np.round(corners, DIGITS) + 0.0  # so that there is no -0.0


def _wkb(geom: BaseGeometry) -> bytes:
    return bytes(shapely.to_wkb(geom, output_dimension=2, byte_order=1, flavor="iso"))


def _blob(wkb: bytes, box: Box) -> bytes:
    """GeoPackage 1.3, section 2.1.3; the envelope only where the geometry is worth passing over."""
    if len(wkb) <= LARGE_BYTES:
        return _BARE + wkb
    west, south, east, north = box
    return b"GP\0\x03" + struct.pack("<i4d", SRS_ID, west, east, south, north) + wkb
