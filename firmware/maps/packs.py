"""Zone packs: what they hold around a place, read from the file when it is asked for.

A pack is a GeoPackage with one table of features (docs/zones.md has its layout), read with SQLite
alone, through its R*Tree: three million buildings take no memory and open at once.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from firmware.errors import ZoneError
from firmware.maps.geopackage import REBUILD, SRS_ID, decode, refuse_unless_whole
from firmware.readings import Feature, Surroundings

KINDS: Final = (
    "dwelling",
    "water",
    "shanty",
    "person",
    "private",
    "closed",
    "nursery",
    "ski_slide_skate",
    "cemetery",
    "school",
    "church",
    "airport",
    "indian_land",
    "family_land",
    "race_course",
    "stop",
    "yield",
    "speed_sign",
    "trail",
    "road",
    "crossing",
    "coverage",
    "territory",
)
"""Every kind of feature that a pack may hold."""

COLUMNS: Final = ("geom", "kind", "id", "name", "source", "licence", "dated", "confidence")

ATTRIBUTES: Final = "attributes"
"""The column of what else is known of a feature, as one JSON object; a pack may lack it."""

_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # what a spoilt file raises when it is read
_M_PER_DEG_LAT = 110_574.0  # the least there is, at the equator: a box is never too small
_NEAR = """
    SELECT f.fid, f.geom, f.kind, f.id, f.name, {attributes}
    FROM rtree_features_geom AS r JOIN features AS f ON f.fid = r.id
    WHERE r.maxx >= ? AND r.minx <= ? AND r.maxy >= ? AND r.miny <= ?
    ORDER BY f.fid
"""


class Pack:
    """A zone pack, open for reading; it belongs to the thread that opened it."""

    def __init__(self, path: Path | str) -> None:
        """Opens in about a millisecond. Raises ZoneError for a file that is no whole zone pack."""
        self.path = Path(path)
        self.name = self.path.name
        self._digest: str | None = None
        refuse_unless_whole(self.path)
        # Immutable: no lock, no journal is looked for, nothing is written beside the pack. And no
        # mmap_size: its read-ahead makes a first look ten times slower and keeps more in memory.
        uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            self._connection = sqlite3.connect(uri, uri=True)
        except sqlite3.DatabaseError as error:
            raise ZoneError(str(self.path), f"can't be opened ({error}).", REBUILD) from error
        try:
            self._refuse_unless_ours()
        except _BROKEN as error:
            self.close()
            raise ZoneError(str(self.path), f"can't be read ({error}).", REBUILD) from error
        except ZoneError:
            self.close()
            raise

    @property
    def digest(self) -> str:
        """SHA-256 of the file in hex. Reads all of it at the first call: seconds for a state's
        pack on a card, so never on the way to a warning."""
        if self._digest is None:
            with self.path.open("rb") as file:
                self._digest = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digest

    def around(self, lat_deg: float, lon_deg: float, radius_m: float) -> list[Feature]:
        """Every feature whose box comes within the radius of a place, in the order of the pack.

        Raises ZoneError when the file can't be read on, or holds a geometry that is broken.
        """
        features = []
        try:
            for box in _boxes(lat_deg, lon_deg, radius_m):
                for found in self._connection.execute(self._near, box):
                    features.append(self._feature(*found))
        except _BROKEN as error:
            raise ZoneError(str(self.path), f"can't be read on ({error}).", REBUILD) from error
        return features

    def close(self) -> None:
        """Lets go of the file; safe to call twice."""
        self._connection.close()

    def _feature(
        self,
        fid: int,
        blob: object,
        kind: object,
        ident: object,
        name: object,
        attributes: object,
    ) -> Feature:
        where = f"{self.path}: feature {fid}"
        if not isinstance(kind, str) or not isinstance(ident, str):
            raise ZoneError(where, "has no kind and id in words.", REBUILD)
        if not isinstance(blob, bytes):
            raise ZoneError(where, "has no geometry.", REBUILD)
        try:
            shape, parts = decode(blob)
            told = attributes_of(attributes)
        except ValueError as error:
            raise ZoneError(where, f"{error}.", REBUILD) from error
        return Feature(kind, ident, name if isinstance(name, str) else "", shape, parts, told)

    def _refuse_unless_ours(self) -> None:
        ask = self._connection.execute
        tables = {row[0] for row in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {row[1] for row in ask("SELECT * FROM pragma_table_info('features')")}
        told = f"f.{ATTRIBUTES}" if ATTRIBUTES in columns else "NULL"
        self._near = _NEAR.format(attributes=told)
        if not tables.issuperset(
            {"features", "rtree_features_geom", "gpkg_geometry_columns"}
        ) or not columns.issuperset({"fid", *COLUMNS}):
            raise ZoneError(
                str(self.path),
                "is a GeoPackage, but not a zone pack: expected a table `features` with "
                f"{', '.join(COLUMNS)} and its R*Tree.",
                "Make a pack of it with `sledwarden zones build`.",
            )
        systems = ask("SELECT srs_id FROM gpkg_geometry_columns WHERE table_name = 'features'")
        if [row[0] for row in systems] != [SRS_ID]:
            raise ZoneError(
                str(self.path),
                "is not in degrees: expected WGS 84 (srs_id 4326).",
                "Build it anew from sources in WGS 84 with `sledwarden zones build`.",
            )


def attributes_of(text: object) -> dict[str, str]:
    """What a feature's JSON object says, its numbers as text; nothing where there is none.

    Raises ValueError that says what is wrong with it.
    """
    if text is None:
        return {}
    if not isinstance(text, str):
        raise ValueError("attributes that are no text")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("attributes that are no JSON") from error
    if not isinstance(told, dict):
        raise ValueError("attributes that are no JSON object")
    for name, value in told.items():
        is_number = type(value) in (int, float) and math.isfinite(value)
        if not is_number and not isinstance(value, str):
            raise ValueError(f"an attribute {name} that is neither a word nor a number")
    return {name: str(value) for name, value in told.items()}


def _boxes(lat_deg: float, lon_deg: float, radius_m: float) -> list[tuple[float, ...]]:
    """West, east, south, north of what to look through: two boxes where the date line is near."""
    high = radius_m / _M_PER_DEG_LAT
    south, north = lat_deg - high, lat_deg + high
    parallel = math.cos(math.radians(max(abs(south), abs(north))))
    wide = min(180.0, high / parallel) if parallel > 1e-6 and max(-south, north) < 90.0 else 180.0
    west, east = lon_deg - wide, lon_deg + wide
    if wide >= 180.0:
        return [(-180.0, 180.0, south, north)]
    if west < -180.0:
        return [(-180.0, east, south, north), (west + 360.0, 180.0, south, north)]
    if east > 180.0:
        return [(west, 180.0, south, north), (-180.0, east - 360.0, south, north)]
    return [(west, east, south, north)]


def surroundings(
    packs: Iterable[Pack], lat_deg: float, lon_deg: float, radius_m: float = 2000.0
) -> Surroundings:
    """What all packs say about a place; of two features of one kind and id the later pack's
    stays. Raises ZoneError when a pack fails."""
    merged: dict[tuple[str, str], Feature] = {}
    names = []
    for pack in packs:
        names.append(pack.name)
        for feature in pack.around(lat_deg, lon_deg, radius_m):
            merged[feature.kind, feature.id] = feature
    return Surroundings(lat_deg, lon_deg, radius_m, tuple(merged.values()), tuple(names))
