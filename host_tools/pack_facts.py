"""What a zone pack holds, counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from firmware.errors import ZoneError
from firmware.maps.geopackage import REBUILD
from firmware.maps.packs import Pack

_COUNTS = "SELECT kind, count(*) FROM features GROUP BY kind ORDER BY kind"
_EXTENT = "SELECT min(minx), min(miny), max(maxx), max(maxy) FROM rtree_features_geom"
_DATES = "SELECT min(dated), max(dated), sum(dated IS NULL) FROM features"


@dataclass(frozen=True, slots=True)
class PackFacts:
    """The figures of one pack. `extent` is west, south, east, north in degrees, absent without
    features; `dated_from` and `dated_to` are absent where no feature has a date."""

    pack: str
    layout: str
    size_bytes: int
    sha256: str
    features: int
    kinds: dict[str, int]
    has_coverage: bool
    undated: int
    sources: list[str]
    licences: list[str]
    extent: tuple[float, float, float, float] | None = None
    dated_from: str | None = None
    dated_to: str | None = None


def facts(path: Path) -> PackFacts:
    """Counts all of a pack. Raises ZoneError for a file that is none."""
    with closing(Pack(path)) as pack:
        digest = pack.digest
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        try:
            return _facts(path, digest, file)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise ZoneError(str(path), f"can't be read on ({error}).", REBUILD) from error


def _facts(path: Path, digest: str, file: sqlite3.Connection) -> PackFacts:
    kinds = dict(file.execute(_COUNTS).fetchall())
    extent = file.execute(_EXTENT).fetchone()
    dated_from, dated_to, undated = file.execute(_DATES).fetchone()
    layout = file.execute(
        "SELECT description FROM gpkg_contents WHERE table_name = 'features'"
    ).fetchone()
    return PackFacts(
        pack=str(path),
        layout=layout[0].split(", of ")[0] if layout else "",
        size_bytes=path.stat().st_size,
        sha256=digest,
        features=sum(kinds.values()),
        kinds=kinds,
        has_coverage="coverage" in kinds,
        undated=undated or 0,
        sources=_distinct(file, "source"),
        licences=_distinct(file, "licence"),
        extent=None if extent[0] is None else extent,
        dated_from=dated_from,
        dated_to=dated_to,
    )


def _distinct(file: sqlite3.Connection, column: str) -> list[str]:
    ask = f"SELECT DISTINCT {column} FROM features WHERE {column} NOT NULL ORDER BY 1"
    return [row[0] for row in file.execute(ask)]
