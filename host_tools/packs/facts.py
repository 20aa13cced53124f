"""What a zone pack holds, counted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from firmware.errors import ZoneError
from firmware.maps.geopackage import REBUILD
from firmware.maps.packs import OLD_DAYS, STRUCK, Pack, age_days

_COUNTS: Final = """
    SELECT ifnull(CAST(kind AS TEXT), ''), confidence IS ?, CAST(source AS TEXT),
        CAST(licence AS TEXT), count(*), min(CAST(dated AS TEXT)), max(CAST(dated AS TEXT)),
        sum(dated IS NULL)
    FROM features GROUP BY 1, 2, 3, 4
"""
_EXTENT: Final = "SELECT min(minx), min(miny), max(maxx), max(maxy) FROM rtree_features_geom"
_COVERED: Final = """
    SELECT CAST(f.id AS TEXT), CAST(f.name AS TEXT), CAST(f.dated AS TEXT),
        r.minx, r.miny, r.maxx, r.maxy
    FROM features AS f JOIN rtree_features_geom AS r ON r.id = f.fid
    WHERE f.kind = 'coverage' AND f.confidence IS NOT ? ORDER BY f.id
"""


@dataclass(frozen=True, slots=True)
class Covered:
    """One coverage: its box is west, south, east, north in degrees."""

    id: str
    name: str
    dated: str
    extent: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PackFacts:
    """The figures of one pack. `extent` is west, south, east, north in degrees, absent without
    features; `dated_from` and `dated_to` are absent where no feature has a date; `dated` is since
    when the pack may be out of date, and `age_days` how long ago that is."""

    pack: str
    layout: str
    size_bytes: int
    sha256: str
    features: int
    kinds: dict[str, int]
    struck: int
    has_coverage: bool
    coverage: list[Covered]
    undated: int
    sources: list[str]
    licences: list[str]
    extent: tuple[float, float, float, float] | None = None
    dated_from: str | None = None
    dated_to: str | None = None
    dated: str | None = None
    age_days: int | None = None

    @property
    def is_old(self) -> bool:
        return self.age_days is not None and self.age_days > OLD_DAYS


def facts(path: Path, today: date | None = None) -> PackFacts:
    """Counts all of a pack, and its age where it is told what day it is.

    Raises ZoneError for a file that is no pack.
    """
    with closing(Pack(path)) as pack:
        digest, dated = pack.digest, pack.dated
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        try:
            return _facts(path, digest, dated, today, file)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise ZoneError(str(path), f"can't be read on ({error}).", REBUILD) from error


def _facts(
    path: Path, digest: str, dated: str, today: date | None, file: sqlite3.Connection
) -> PackFacts:
    rows = file.execute(_COUNTS, (STRUCK,)).fetchall()
    kinds: Counter[str] = Counter()
    for kind, is_struck, _, _, count, *_ in rows:
        if not is_struck:
            kinds[kind] += count
    extent = file.execute(_EXTENT).fetchone()
    layout = file.execute(
        "SELECT description FROM gpkg_contents WHERE table_name = 'features'"
    ).fetchone()
    covered = [
        Covered(ident, name or "", when or "", tuple(round(edge, 4) for edge in box))
        for ident, name, when, *box in file.execute(_COVERED, (STRUCK,))
    ]
    return PackFacts(
        pack=str(path),
        layout=str(layout[0] or "").split(", of ")[0] if layout else "",
        size_bytes=path.stat().st_size,
        sha256=digest,
        features=sum(kinds.values()),
        kinds=dict(sorted(kinds.items())),
        struck=sum(row[4] for row in rows if row[1]),
        has_coverage="coverage" in kinds,
        coverage=covered,
        undated=sum(row[7] for row in rows),
        sources=sorted({row[2] for row in rows if row[2] is not None}),
        licences=sorted({row[3] for row in rows if row[3] is not None}),
        extent=None if extent[0] is None else extent,
        dated_from=min((row[5] for row in rows if row[5]), default=None),
        dated_to=max((row[6] for row in rows if row[6]), default=None),
        dated=dated or None,
        age_days=None if today is None else age_days(dated, today),
    )
