"""A GeoPackage as a file: whether it is one and whole, and what its geometry blobs say.

OGC 12-128r18 (GeoPackage 1.3). A blob (section 2.1.3) has a header of "GP", version, flags, srs_id
and an envelope, then ISO well-known binary (OGC 06-103r4 section 8.2). Points, line strings,
polygons and their multiples are read; heights and measures are passed over. Curves and collections
are refused, and no count in a blob is believed.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Final, Literal

from firmware.errors import ZoneError

APPLICATION_ID: Final = 0x47504B47  # "GPKG", at byte 68 of the file (table 1)
SRS_ID: Final = 4326  # WGS 84

REBUILD: Final = "Build it anew with `sledwarden zones build`, or copy it again."

Shape = Literal["point", "line", "polygon"]
Parts = tuple[tuple[tuple[float, float], ...], ...]

_ENVELOPE_BYTES = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}
_EMPTY, _EXTENDED = 0x10, 0x20  # bits of the flags
_COUNT = struct.Struct("<I")
_PLAIN = b"GP\0\x01" + struct.pack("<iBII", SRS_ID, 1, 3, 1)
"""How a blob without an envelope begins that is one polygon of one ring, all least byte first."""

_SHAPES: dict[int, Shape] = {1: "point", 2: "line", 3: "polygon"}
_FEWEST = {"point": 1, "line": 2, "polygon": 4}  # corners of a part; a ring repeats its first


def refuse_unless_whole(path: Path) -> None:
    """Raises ZoneError for what is no SQLite file, or one that was cut or left half written."""
    where = str(path)
    try:
        if not path.is_file():
            path.stat()  # raises, and so tells what is not there
            raise ZoneError(where, "is not a file: expected a zone pack (.gpkg).")
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError as error:
        raise ZoneError(where, "there is no such file: expected a zone pack (.gpkg).") from error
    except OSError as error:
        raise ZoneError(where, f"can't be read ({error.strerror}).") from error
    if size == 0:
        raise ZoneError(where, "is empty: expected a zone pack (.gpkg).", REBUILD)
    if len(head) < 100 or head[:16] != b"SQLite format 3\0":
        raise ZoneError(where, "is not a GeoPackage: expected a zone pack (.gpkg).", REBUILD)
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise ZoneError(where, "is a SQLite file, but not a GeoPackage.", REBUILD)
    # SQLite file format, section 1.3: page size at byte 16 (1 is 65,536), pages at byte 28.
    page_bytes = int.from_bytes(head[16:18], "big")
    whole = (65536 if page_bytes == 1 else page_bytes) * int.from_bytes(head[28:32], "big")
    if size < whole:
        raise ZoneError(where, f"is cut short: {size} of {whole} bytes are there.", REBUILD)
    for ending in ("-wal", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.exists() and beside.stat().st_size > 0:
            raise ZoneError(
                where,
                f"has changes that were not written into it (in {beside.name}).",
                "Close it in the other program, then copy it again.",
            )


def decode(blob: bytes) -> tuple[Shape, Parts]:
    """The shape and its parts in degrees as (longitude, latitude); see `readings.Feature`.

    Raises ValueError that says what is wrong: not a geometry, cut short, bytes left over, empty,
    a place outside the globe, a ring that does not close.
    """
    if blob.startswith(_PLAIN):
        corners = _plain_ring(blob)
        if corners is not None:
            return "polygon", (corners,)
    if len(blob) < 8 or blob[:2] != b"GP" or blob[2] != 0:
        raise ValueError("not a GeoPackage geometry")
    flags = blob[3]
    envelope_bytes = _ENVELOPE_BYTES.get(flags >> 1 & 0x07)
    if envelope_bytes is None or flags & _EXTENDED:
        raise ValueError("a geometry of an unknown form")
    if flags & _EMPTY:
        raise ValueError("an empty geometry")
    walk = _Walk(blob, 8 + envelope_bytes)
    shape, parts = walk.geometry()
    if walk.at != len(blob):
        raise ValueError(f"{len(blob) - walk.at} bytes left over after the geometry")
    if not parts:
        raise ValueError("an empty geometry")
    return shape, tuple(parts)


def _plain_ring(blob: bytes) -> tuple[tuple[float, float], ...] | None:
    """The corners of a polygon of one good ring, as nearly all are, in a third of the time; None
    where the walk must look closer, and tell what is wrong."""
    (count,) = _COUNT.unpack_from(blob, len(_PLAIN)) if len(blob) > len(_PLAIN) + 4 else (0,)
    at = len(_PLAIN) + 4
    if count < _FEWEST["polygon"] or len(blob) != at + 16 * count:
        return None
    numbers = struct.unpack_from(f"<{2 * count}d", blob, at)
    lons, lats = numbers[::2], numbers[1::2]
    if min(lons) < -180.0 or max(lons) > 180.0 or min(lats) < -90.0 or max(lats) > 90.0:
        return None
    if lons[0] != lons[-1] or lats[0] != lats[-1] or not math.isfinite(sum(numbers)):
        return None
    corners = list(zip(lons, lats, strict=True))
    corners[-1] = corners[0]  # the same, and not another that is equal: a town has thousands
    return tuple(corners)


class _Walk:
    """A place in the blob, moved on by each read; no read passes the end."""

    def __init__(self, blob: bytes, at: int) -> None:
        self._blob = blob
        self.at = at

    def geometry(self) -> tuple[Shape, list[tuple[tuple[float, float], ...]]]:
        order, code, width = self._header()
        if code in _SHAPES:
            shape = _SHAPES[code]
            return shape, self._single(shape, order, width)
        if code - 3 not in _SHAPES:
            raise ValueError(f"a geometry of type {code}; points, lines and polygons are read")
        shape = _SHAPES[code - 3]
        parts: list[tuple[tuple[float, float], ...]] = []
        for _ in range(self._count(order)):
            order, inner, width = self._header()
            if inner != code - 3:
                raise ValueError(f"a geometry of type {inner} inside one of type {code}")
            parts += self._single(shape, order, width)
        return shape, parts

    def _header(self) -> tuple[str, int, int]:
        """Byte order, type from 1 to 7 and numbers a corner (2 to 4) of the next geometry."""
        mark = self._take(1)[0]
        if mark > 1:
            raise ValueError(f"a byte order of {mark}")
        order = "<" if mark else ">"
        (code,) = struct.unpack(order + "I", self._take(4))
        if code & 0x80000000:  # GDAL's older way to say that there are heights
            return order, code & 0x7FFFFFFF, 3
        group, code = divmod(code, 1000)  # ISO: 1000 with heights, 2000 measures, 3000 both
        if group > 3:
            raise ValueError(f"a geometry of type {group * 1000 + code}")
        return order, code, (2, 3, 3, 4)[group]

    def _single(
        self, shape: Shape, order: str, width: int
    ) -> list[tuple[tuple[float, float], ...]]:
        if shape == "point":
            return [self._corners(shape, order, width, 1)]
        if shape == "line":
            return [self._corners(shape, order, width, self._count(order))]
        rings = range(self._count(order))
        return [self._corners(shape, order, width, self._count(order)) for _ in rings]

    def _corners(
        self, shape: Shape, order: str, width: int, count: int
    ) -> tuple[tuple[float, float], ...]:
        if count < _FEWEST[shape]:
            raise ValueError(f"a {shape} with a part of {count} corners")
        numbers = struct.unpack(f"{order}{count * width}d", self._take(8 * width * count))
        lons, lats = numbers[::width], numbers[1::width]
        if not math.isfinite(sum(lons) + sum(lats)):
            raise ValueError("a corner that is not a number")
        if max(lons) > 180.0 or min(lons) < -180.0 or max(lats) > 90.0 or min(lats) < -90.0:
            raise ValueError("a corner that is not on the globe in degrees")
        if shape == "polygon" and (lons[0] != lons[-1] or lats[0] != lats[-1]):
            raise ValueError("a ring that does not close")
        return tuple(zip(lons, lats, strict=True))

    def _count(self, order: str) -> int:
        """How many things follow; a count too large is found out where the first is missing."""
        (count,) = struct.unpack(order + "I", self._take(4))
        return int(count)

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._blob):
            raise ValueError("a geometry that is cut short")
        taken = self._blob[self.at : end]
        self.at = end
        return taken
