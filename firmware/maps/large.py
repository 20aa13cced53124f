"""The large shapes of a pack, read as far as a place needs them.

Of a lake of a million corners no more is read than what lies near (`runs`). Packs of layout 2
have it cut into pieces instead, each whole as far as `PIECE_REACH_M` about its tile. One that has
neither, as where an editor drew it anew, is read whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing
from typing import Any, Final

from firmware.maps.degrees import Box, about, on_globe
from firmware.maps.geopackage import Parts, Shape, decode
from firmware.maps.runs import (
    FIRST_THINNING_DEG,
    MOST_THINNING_DEG,
    Beyond,
    Line,
    lines_near,
    numbers_of,
    rings_near,
    thinned,
)

LARGE_BYTES: Final = 8192
LARGE_DEG: Final = 90.0
"""A geometry larger or wider than this is read as far as the place needs it."""

PIECE_REACH_M: Final = 2500.0
"""How far about its tile a piece of layout 2 is whole."""

RUNS: Final = "rtree_features_runs"
"""The table of runs. It is an R*Tree, and as such no table of its own to GDAL."""

PIECES: Final = "pieces"

_MOST_WIDE_DEG: Final = 60.0  # nearer to a pole a flat map of degrees holds no more
_IN_BOX = "maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?"
_IS_RING = f"SELECT is_ring FROM {RUNS} WHERE run = ?"
_NEAR = f"SELECT run, geom FROM {RUNS} WHERE {_IN_BOX} AND run BETWEEN ? AND ?"
_BEYOND = f"SELECT run, first_lat, last_lat FROM {RUNS} WHERE {_IN_BOX} AND run BETWEEN ? AND ?"
_WHOLE = "SELECT geom FROM features WHERE fid = ?"
_PIECE = """
    SELECT geom FROM pieces
    WHERE fid = ? AND minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ? ORDER BY piece LIMIT 1
"""
_HAS_PIECES = "SELECT 1 FROM pieces WHERE fid = ? LIMIT 1"


class LargeShapes:
    """Reads the large shapes of a pack that is open.

    What is not as a pack has it raises ValueError, what can't be read sqlite3.DatabaseError.
    """

    def __init__(self, connection: sqlite3.Connection, tables: set[str]) -> None:
        self._ask = connection.execute
        self._has_runs = RUNS in tables
        self._has_pieces = PIECES in tables

    def near(
        self, fid: int, lat_deg: float, lon_deg: float, radius_m: float, most_corners: int | None
    ) -> tuple[Shape, Parts] | None:
        """The shape of a feature, true within the radius of a place; None where it is not near.

        Where it has more than so many corners there, those are left out that change it least.
        """
        if self._has_runs:
            first, last = numbers_of(fid)
            row = self._ask(_IS_RING, (first,)).fetchone()
            if row is not None:
                return self._by_runs(
                    (first, last), row[0] == 1, lat_deg, lon_deg, radius_m, most_corners
                )
        if self._has_pieces and radius_m < PIECE_REACH_M:
            piece = self._ask(_PIECE, (fid, lon_deg, lon_deg, lat_deg, lat_deg)).fetchone()
            if piece is not None:
                return _decoded(piece[0])
            if self._ask(_HAS_PIECES, (fid,)).fetchone() is not None:
                return None
        return _decoded(self._ask(_WHOLE, (fid,)).fetchone()[0])

    def _by_runs(
        self,
        numbers: tuple[int, int],
        is_ring: bool,
        lat_deg: float,
        lon_deg: float,
        radius_m: float,
        most_corners: int | None,
    ) -> tuple[Shape, Parts] | None:
        if lon_deg == 180.0:  # on the date line it counts what lies to the east of it
            lon_deg = -180.0
        box = about(lat_deg, lon_deg, radius_m, _MOST_WIDE_DEG)
        shape: Shape = "line"
        runs: dict[int, Line] = {}
        points: list[Line] = []
        corners, thinning_deg = 0, 0.0
        with closing(self._rows(_NEAR, box, numbers)) as rows:
            for number, blob in rows:
                shape, parts = _decoded(blob)
                if shape == "point":
                    points += parts
                    continue
                line = parts[0]
                if thinning_deg:
                    line = thinned(line, thinning_deg)
                runs[number] = line
                corners += len(line)
                while most_corners and corners > most_corners and thinning_deg < MOST_THINNING_DEG:
                    thinning_deg = max(FIRST_THINNING_DEG, 2.0 * thinning_deg)
                    runs = {one: thinned(line, thinning_deg) for one, line in runs.items()}
                    corners = sum(map(len, runs.values()))
        if is_ring:
            east = Box(lon_deg, lat_deg, 180.0, lat_deg)
            with closing(self._rows(_BEYOND, east, numbers)) as rows:
                beyond = [_beyond(first, last) for run, first, last in rows if run not in runs]
            rings = rings_near(runs, beyond, lon_deg, lat_deg, box)
            return ("polygon", rings) if rings else None
        if shape == "point":
            return ("point", tuple(points)) if points else None
        lines = lines_near(runs)
        return ("line", lines) if lines else None

    def _rows(
        self, question: str, box: Box, numbers: tuple[int, int]
    ) -> Generator[tuple[Any, ...], None, None]:
        for west, south, east, north in on_globe(box):
            yield from self._ask(question, (west, east, south, north, *numbers))


def _decoded(blob: object) -> tuple[Shape, Parts]:
    if not isinstance(blob, bytes):
        raise ValueError("not a GeoPackage geometry")
    return decode(blob)


def _beyond(first: object, last: object) -> Beyond:
    if not isinstance(first, float) or not isinstance(last, float):
        raise ValueError("a run of an outline without its ends")
    return Beyond(first, last)
