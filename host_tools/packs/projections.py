"""Maps in other reference systems, such as the metres of a state's agencies, as degrees of WGS 84.

PROJ knows how (through pyproj), and how true it is. A conversion that may be further off than
`MOST_OFF_M` is refused: it would move a house out of its zone. What needs a grid of shifts that is
not installed, as much of NAD27 does, is such a one. The network is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyproj
import shapely
from pyproj.enums import TransformDirection
from pyproj.exceptions import CRSError, ProjError

from firmware.errors import ZoneError
from host_tools.packs.rows import Box

MOST_OFF_M: Final = 5.0
"""A tenth of the 150 ft of a dwelling: NAD83 is within 4 m of WGS 84."""

_WGS84: Final = "EPSG:4326"
_EDGE_M: Final = 500.0
"""What is straight in metres bends in degrees: an edge of this length by 5 mm."""

_TAKEN: Final = (0, 1, 3, 4, 5, 6)  # GEOS: point, line, polygon and their multiples
_EXPECTED: Final = "expected degrees of WGS 84 (EPSG:4326), or what PROJ converts to them"
_ADVICE: Final = "Convert it with `ogr2ogr -t_srs EPSG:4326`."


@dataclass(frozen=True, slots=True)
class Projection:
    """A reference system that is not WGS 84, and how to get from it there."""

    path: Path
    name: str
    step: float
    way: Any

    def degrees(self, wkbs: Sequence[bytes | None]) -> list[bytes | None]:
        """The same geometries in degrees. What is none, or of a kind that is not taken, stays.

        Raises ZoneError where the conversion is not true enough at that place.
        """
        found = list(wkbs)
        there = [index for index, wkb in enumerate(found) if wkb]
        raw = np.array([found[index] for index in there], dtype=object)
        geoms = shapely.from_wkb(raw, on_invalid="ignore")
        is_taken = np.isin(shapely.get_type_id(geoms), _TAKEN)
        taken = np.flatnonzero(is_taken & ~shapely.is_empty(geoms))
        if not taken.size:
            return found
        bent = shapely.segmentize(geoms[taken], self.step) if self.step else geoms[taken]
        made = shapely.to_wkb(shapely.transform(bent, self._converted), flavor="iso")
        for place, wkb in zip(taken.tolist(), made, strict=True):
            found[there[place]] = bytes(wkb)
        self.off_m()
        return found

    def off_m(self) -> float:
        """How far off a place may be that was converted last; raises ZoneError for too far."""
        try:
            accuracy_m = float(self.way.get_last_used_operation().accuracy)
        except ProjError:  # nothing could be converted: each feature says so itself
            return 0.0
        if 0.0 <= accuracy_m <= MOST_OFF_M:
            return accuracy_m
        so_far = f"to {accuracy_m:.0f} m" if accuracy_m >= 0.0 else "to no known distance"
        raise ZoneError(
            str(self.path),
            f"is in {self.name}, which is converted {so_far} here: expected {MOST_OFF_M:.0f} m.",
            f"{_ADVICE[:-1]}, where PROJ has the grid for it.",
        )

    def box(self, bounds: Box) -> Box | None:
        """What holds a box of degrees in this system; None where that is not to be told."""
        try:
            edges = self.way.transform_bounds(*bounds, direction=TransformDirection.INVERSE)
        except ProjError:
            return None
        return tuple(edges) if np.isfinite(edges).all() and edges[0] <= edges[2] else None

    def reaching(self, wkbs: Sequence[bytes | None], bounds: Box) -> list[int]:
        """Which of these geometries in degrees reach into a box of them."""
        shapes = shapely.from_wkb(np.array(wkbs, dtype=object), on_invalid="ignore")
        found: list[int] = np.flatnonzero(shapely.intersects(shapes, shapely.box(*bounds))).tolist()
        return found

    def _converted(self, corners: Any) -> Any:
        return np.column_stack(self.way.transform(corners[:, 0], corners[:, 1], errcheck=False))


def projection_of(path: Path, system: str) -> Projection | None:
    """How to get to WGS 84 from what a file says that it is in; None where it is that.

    Raises ZoneError for a system that is not known, or from which no way leads there.
    """
    pyproj.network.set_network_enabled(active=False)  # type: ignore[attr-defined]  # no __all__
    try:
        crs = pyproj.CRS.from_user_input(system)
        if crs.is_compound:
            crs = crs.sub_crs_list[0]  # heights are left out
        crs = crs.to_2d()
        name = _name(crs)
        if crs.equals(pyproj.CRS(_WGS84), ignore_axis_order=True):
            return None
        way = pyproj.Transformer.from_crs(crs, _WGS84, always_xy=True, allow_ballpark=False)
    except (CRSError, ProjError) as error:
        short = system if len(system) < 40 else system.split('"')[1] if '"' in system else "another"
        raise ZoneError(str(path), f"is in {short}: {_EXPECTED}.", _ADVICE) from error
    step = 0.0
    if crs.is_projected:
        step = _EDGE_M / crs.axis_info[0].unit_conversion_factor
    return Projection(path, name, step, way)


def _name(crs: Any) -> str:
    """As people call it, and its number where it has one."""
    known = crs.to_authority(min_confidence=70)
    return f"{crs.name} ({':'.join(known)})" if known else str(crs.name)
