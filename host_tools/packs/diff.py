"""What has changed from one zone pack to another, feature by feature of one kind and id."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from firmware.errors import ZoneError
from firmware.maps.geopackage import REBUILD, decode
from firmware.maps.packs import Pack
from firmware.maps.plane import Plane
from firmware.units import ft

Change = Literal["added", "removed", "moved", "changed"]
CHANGES: Final[tuple[Change, ...]] = ("added", "removed", "moved", "changed")

_ALONE: Final = """
    SELECT one.kind, one.id, one.name, one.geom, NULL FROM {one}.features AS one
    WHERE NOT EXISTS (
        SELECT 1 FROM {other}.features AS other WHERE other.kind = one.kind AND other.id = one.id
    )
    ORDER BY one.fid
"""
_BOTH: Final = """
    SELECT new.kind, new.id, new.name, new.geom, old.geom
    FROM new.features AS new JOIN old.features AS old ON old.kind = new.kind AND old.id = new.id
    WHERE {differ} ORDER BY new.fid
"""
_WORDS: Final = " OR ".join(
    f"new.{column} IS NOT old.{column}"
    for column in ("name", "source", "licence", "dated", "confidence")
)
_ASK: Final[dict[Change, str]] = {
    "added": _ALONE.format(one="new", other="old"),
    "removed": _ALONE.format(one="old", other="new"),
    "moved": _BOTH.format(differ="new.geom IS NOT old.geom"),
    "changed": _BOTH.format(differ=f"new.geom IS old.geom AND ({_WORDS})"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One feature that is not the same; the place is the middle of its box, and `moved_ft` is how
    far that went. A shape that was drawn anew in its place moved by next to nothing."""

    change: Change
    kind: str
    id: str
    name: str
    lat: float | None = None
    lon: float | None = None
    moved_ft: float | None = None


def differences(old: Path, new: Path) -> Iterator[Difference]:
    """All that differs, one change after the other; raises ZoneError for a file that is no pack."""
    for path in (old, new):
        Pack(path).close()
    with closing(sqlite3.connect(":memory:", uri=True)) as both:
        try:
            for name, path in (("old", old), ("new", new)):
                uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
                both.execute(f"ATTACH ? AS {name}", (uri,))
            for change in CHANGES:
                for kind, ident, name, blob, before in both.execute(_ASK[change]):
                    if not isinstance(kind, str) or not isinstance(ident, str):
                        raise ValueError("a feature without kind and id in words")
                    named = name if isinstance(name, str) else ""
                    yield _difference(change, kind, ident, named, blob, before)
        except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError) as error:
            raise ZoneError(f"{old}, {new}", f"can't be compared ({error}).", REBUILD) from error


def _difference(
    change: Change, kind: str, ident: str, name: str, blob: object, before: object
) -> Difference:
    if blob is None:
        return Difference(change, kind, ident, name)
    lat, lon = _middle(blob)
    if change != "moved" or before is None:
        return Difference(change, kind, ident, name, lat, lon)
    x_m, y_m = Plane(lat, lon).xy(*_middle(before))
    return Difference(change, kind, ident, name, lat, lon, round(ft((x_m**2 + y_m**2) ** 0.5), 2))


def _middle(blob: object) -> tuple[float, float]:
    """Latitude and longitude of the middle of a geometry's box."""
    if not isinstance(blob, bytes):
        raise ValueError("not a GeoPackage geometry")
    _, parts = decode(blob)
    lons = [corner[0] for part in parts for corner in part]
    lats = [corner[1] for part in parts for corner in part]
    return round((min(lats) + max(lats)) / 2, 7), round((min(lons) + max(lons)) / 2, 7)
