"""Zone packs: what they hold around a place, read from the file when it is asked for.

A pack is a GeoPackage with one table of features (docs/zones.md has its layout), read with SQLite
alone, through its R*Tree: three million buildings take no memory and open at once.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from firmware.errors import ZoneError
from firmware.files import sha256_of
from firmware.maps.degrees import M_PER_DEG_LAT, about, on_globe
from firmware.maps.geopackage import REBUILD, SRS_ID, Parts, Shape, decode, refuse_unless_whole
from firmware.maps.large import LARGE_BYTES, LARGE_DEG, LargeShapes
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

STRUCK: Final = "struck"
"""The confidence of a feature that only takes away what an earlier pack has of its kind and id."""

POSSIBLE: Final = "possible"
"""The confidence of a feature that may be of its kind: it warns, and accuses nobody. Alone of the
confidences it reaches the rules, as an attribute."""

NEAR_M: Final = 2000.0
"""How far about the sled is looked, where there is not too much."""

LEAST_M: Final = 800.0
"""How far is always looked: the 600 m that rules need, and the way until the next look. Less would
ask for more in all, for what is near is then read too often; more, for more memory at once."""

NEEDED_M: Final = 600.0
"""How far about the sled the map must be whole: the way to brake from 120 mph, and a zone."""

AGAIN_M: Final = 1000.0
"""How far the sled goes until it is looked anew, where it was looked as far as `NEAR_M`."""

ENOUGH: Final = 1500
"""Features near: where there are more, less far is looked, and sooner again."""

MOST_CORNERS: Final = 8000
"""Corners that a large shape may have near: one with more, some metre or less apart, is thinned."""

OLD_DAYS: Final = 365
"""From this age on a pack says how old it is."""

ID_INDEX: Final = "features_kind_id"
"""The index by which a pack is asked for one kind and id."""

_NOTHING: Final[dict[str, str]] = {}
_POSSIBLE_ALONE: Final = {"confidence": POSSIBLE}
_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # what a spoilt file raises when it is read
_BOXES = """
    SELECT id, minx, maxx, miny, maxy FROM rtree_features_geom
    WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?
"""
# The length of a blob is told without reading it.
_FEATURE = """
    SELECT fid, CASE WHEN length(geom) <= {most} THEN geom ELSE length(geom) END, kind, id, name,
        confidence, {attributes}
    FROM features WHERE fid IN ({fids}) ORDER BY fid
"""
_AT_ONCE = 100  # features in one question
_MARKS = ",".join("?" * _AT_ONCE)
_CLAIM = "SELECT 1 FROM features WHERE kind = ? AND id = ? LIMIT 1"
_OF = re.compile(r"layout \d+, of (\d{4}(?:-\d{2}){0,2})")


class Hit(NamedTuple):
    """A feature that may be near: the metres to its box, never too many, and its number."""

    gap_m: float
    fid: int
    is_wide: bool


class Pack:
    """A zone pack, open for reading; it belongs to the thread that opened it."""

    def __init__(self, path: Path | str) -> None:
        """Opens in about a millisecond. Raises ZoneError for a file that is no whole zone pack."""
        self.path = Path(path)
        self.name = self.path.name
        self.dated = ""
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
            self._digest = sha256_of(self.path)
        return self._digest

    def around(self, lat_deg: float, lon_deg: float, radius_m: float) -> list[Feature]:
        """Every feature whose box comes within the radius of a place, in the order of the pack.

        Of a large one it is what lies near. Raises ZoneError when the file can't be read on, or
        holds a geometry that is broken.
        """
        return self.features(self.near(lat_deg, lon_deg, radius_m), lat_deg, lon_deg, radius_m)

    def near(self, lat_deg: float, lon_deg: float, radius_m: float) -> list[Hit]:
        """What may lie within the radius of a place; raises ZoneError when the file can't be
        read on."""
        found = []
        parallel = math.cos(math.radians(min(90.0, abs(lat_deg) + radius_m / M_PER_DEG_LAT)))
        try:
            for low in on_globe(about(lat_deg, lon_deg, radius_m)):
                box = low.west, low.east, low.south, low.north
                for fid, west, east, south, north in self._connection.execute(_BOXES, box):
                    up = max(south - lat_deg, lat_deg - north, 0.0)
                    along = max(west - lon_deg, lon_deg - east, 0.0)
                    if along > 180.0:
                        along = max(0.0, min(west - lon_deg + 360.0, lon_deg - east + 360.0))
                    gap_m = M_PER_DEG_LAT * math.hypot(up, along * parallel)
                    if gap_m <= radius_m:
                        found.append(Hit(gap_m, fid, east - west > LARGE_DEG))
        except _BROKEN as error:
            raise ZoneError(str(self.path), f"can't be read on ({error}).", REBUILD) from error
        return found

    def features(
        self,
        hits: Iterable[Hit],
        lat_deg: float,
        lon_deg: float,
        radius_m: float,
        most_corners: int | None = None,
    ) -> list[Feature]:
        """The features of these hits, in the order of the pack, as far as a place needs them:
        what is struck, and what is not near after all, is left out. A large one with more than so
        many corners near is thinned, by a metre at most. Raises ZoneError."""
        found = []
        try:
            is_wide = {hit.fid: hit.is_wide for hit in hits}
            for row in self._rows(sorted(is_wide)):
                fid, blob, kind, ident, name, confidence, attributes = row
                if confidence == STRUCK:
                    continue
                try:
                    if is_wide[fid] or isinstance(blob, int):
                        near = self._large.near(fid, lat_deg, lon_deg, radius_m, most_corners)
                        if near is None:
                            continue
                    elif isinstance(blob, bytes):
                        near = decode(blob)
                    else:
                        raise ValueError("has no geometry")
                    found.append(_feature(near, kind, ident, name, confidence, attributes))
                except ValueError as error:
                    where = f"{self.path}: feature {fid}"
                    raise ZoneError(where, f"{error}.", REBUILD) from error
        except _BROKEN as error:
            raise ZoneError(str(self.path), f"can't be read on ({error}).", REBUILD) from error
        return found

    def _rows(self, fids: list[int]) -> Iterator[tuple[Any, ...]]:
        """The rows of these numbers, a hundred at a time; raises ZoneError where one lacks."""
        for start in range(0, len(fids), _AT_ONCE):
            some = fids[start : start + _AT_ONCE]
            full = some + some[-1:] * (_AT_ONCE - len(some))  # one question, so one that is kept
            rows = self._connection.execute(self._ask, full).fetchall()
            if len(rows) < len(some):
                (fid, *_) = sorted(set(some) - {row[0] for row in rows})
                raise ZoneError(f"{self.path}: feature {fid}", "is not there.", REBUILD)
            yield from rows

    def claims(self, kind: str, ident: str) -> bool:
        """Whether the pack has a feature of this kind and id anywhere, or strikes it.

        False in a pack without that index, which another program made: only what lies near is
        known of it then. Raises ZoneError when the file can't be read on.
        """
        if not self._has_ids:
            return False
        try:
            return self._connection.execute(_CLAIM, (kind, ident)).fetchone() is not None
        except _BROKEN as error:
            raise ZoneError(str(self.path), f"can't be read on ({error}).", REBUILD) from error

    def close(self) -> None:
        """Lets go of the file; safe to call twice."""
        self._connection.close()

    def _refuse_unless_ours(self) -> None:
        ask = self._connection.execute
        tables = {row[0] for row in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {row[1] for row in ask("SELECT * FROM pragma_table_info('features')")}
        told = ATTRIBUTES if ATTRIBUTES in columns else "NULL"
        self._ask = _FEATURE.format(attributes=told, most=LARGE_BYTES, fids=_MARKS)
        self._large = LargeShapes(self._connection, tables)
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
        self._has_ids = bool(
            ask(
                "SELECT 1 FROM pragma_index_list('features') WHERE name = ?", (ID_INDEX,)
            ).fetchall()
        )
        told_of = ask("SELECT description FROM gpkg_contents WHERE table_name = 'features'")
        dated = _OF.search(str((told_of.fetchone() or ("",))[0]))
        self.dated = dated[1] if dated else ""


def _feature(
    near: tuple[Shape, Parts],
    kind: object,
    ident: object,
    name: object,
    confidence: object,
    attributes: object,
) -> Feature:
    """Raises ValueError that says what is wrong. What thousands of houses have alike is there once:
    two maps of a town are held, and a unit has little memory."""
    if not isinstance(kind, str) or not isinstance(ident, str):
        raise ValueError("has no kind and id in words")
    if attributes is None:
        told = _POSSIBLE_ALONE if confidence == POSSIBLE else _NOTHING
    else:
        told = attributes_of(attributes)
        if confidence == POSSIBLE:
            told["confidence"] = POSSIBLE
    return Feature(sys.intern(kind), ident, name if isinstance(name, str) else "", *near, told)


def age_days(dated: str, today: date) -> int | None:
    """How many days ago a date was, counted from its first day where only the month or the year
    is known; None where it is none."""
    try:
        return (today - date.fromisoformat((dated + "-01-01")[:10])).days
    except ValueError:
        return None


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


def surroundings(
    packs: Sequence[Pack],
    lat_deg: float,
    lon_deg: float,
    radius_m: float = NEAR_M,
    at_most: int | None = None,
) -> Surroundings:
    """What all packs say about a place. Of one kind and id the latest pack that names it counts,
    wherever it puts it. Raises ZoneError when a pack fails.

    Where more than `at_most` features lie within the radius, it shrinks to what they fill, and
    never below `LEAST_M`; the answer says how far it reaches. Large shapes are thinned then too,
    where one has more than `MOST_CORNERS` near.
    """
    near, radius_m = _hits(packs, lat_deg, lon_deg, radius_m, at_most)
    most_corners = None if at_most is None else MOST_CORNERS
    merged: dict[tuple[str, str], tuple[int, Feature]] = {}
    for number, (pack, found) in enumerate(zip(packs, near, strict=True)):
        hits = [hit for hit in found if hit.gap_m <= radius_m]
        for feature in pack.features(hits, lat_deg, lon_deg, radius_m, most_corners):
            merged[feature.kind, feature.id] = number, feature
    features = tuple(
        feature
        for key, (number, feature) in merged.items()
        if not any(later.claims(*key) for later in packs[number + 1 :])
    )
    names, dates = tuple(pack.name for pack in packs), tuple(pack.dated for pack in packs)
    return Surroundings(lat_deg, lon_deg, radius_m, features, names, dates)


def _hits(
    packs: Sequence[Pack], lat_deg: float, lon_deg: float, radius_m: float, at_most: int | None
) -> tuple[list[list[Hit]], float]:
    """What may be near, of each pack, and how far was looked."""
    if at_most is not None and radius_m > LEAST_M:
        near = [pack.near(lat_deg, lon_deg, LEAST_M) for pack in packs]
        if sum(map(len, near)) > at_most:  # a town: what lies further need not even be counted
            return near, LEAST_M
    near = [pack.near(lat_deg, lon_deg, radius_m) for pack in packs]
    if at_most is not None and sum(map(len, near)) > at_most:
        gaps = sorted(hit.gap_m for found in near for hit in found)
        radius_m = min(radius_m, max(gaps[at_most], LEAST_M))
    return near, radius_m


def again_m(around: Surroundings) -> float:
    """How far the sled may go from the middle before it is looked anew."""
    return AGAIN_M * (around.radius_m - NEEDED_M) / (NEAR_M - NEEDED_M)
