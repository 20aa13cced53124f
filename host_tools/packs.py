"""Builds zone packs: reads features from any vector file, and writes them as one GeoPackage.

docs/zones.md has the layout. The same features give the same bytes, from the same SQLite library.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import pyogrio

from firmware.errors import ZoneError
from firmware.files import refuse_to_replace, refuse_unless_regular
from firmware.maps.geopackage import APPLICATION_ID, SRS_ID, decode
from firmware.maps.packs import COLUMNS, KINDS
from host_tools.pack_schema import AFTER, BEFORE, FEATURE, OUTLINE, VERSION

LAYOUT: Final = "sledwarden zone pack, layout 1"
_TOLD = 10  # faults of one file that are told; the rest are counted
_MOST_EXACT = 2**53  # whole numbers above this may have been rounded on the way
_DATED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Row:
    """One feature on its way into a pack; `blob` is its GeoPackage geometry.

    `where` tells the file and the feature's place in it, from 1. `box` is west, east, south, north.
    """

    where: str
    blob: bytes
    box: tuple[float, float, float, float]
    kind: str
    id: str
    name: str | None
    source: str
    licence: str | None
    dated: str | None
    confidence: str | None


def read(path: Path, kind: str | None = None) -> list[Row]:
    """The features of a vector file; `kind` is for those that have no property `kind`.

    Raises ZoneError that tells every feature that can't be packed, and why.
    """
    fields, blobs = _open(path)
    if len(blobs) == 0:
        raise ZoneError(str(path), "holds no features: expected at least one.")
    rows: list[Row] = []
    faults: list[str] = []
    for index, wkb in enumerate(blobs):
        told = {name: values[index] for name, values in fields.items()}
        try:
            rows.append(row(str(path), index, wkb, told, kind))
        except ValueError as error:
            faults.append(f"feature {index + 1}: {error}.")
    if faults:
        lines = faults[:_TOLD]
        if len(faults) > _TOLD:
            lines.append(f"and {len(faults) - _TOLD} more.")
        raise ZoneError(
            str(path),
            f"\n{path}: ".join(lines),
            "Nothing was built: mend the file and build again.",
        )
    return rows


def write(
    rows: Sequence[Row], out: Path, advance: Callable[[int], object] = lambda done: None
) -> None:
    """Writes a pack beside its place and then puts it there at once; an older one is replaced.

    `advance` is told how many features more are done. Raises ZoneError for two features of one
    kind and id, and for a place that can't be written or holds something that is no GeoPackage.
    """
    _refuse_twice(rows)
    _refuse_to_replace_another(out)
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)
        _write(rows, part, advance)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(out)
    except (OSError, sqlite3.OperationalError) as error:
        raise ZoneError(str(out), f"can't be written ({error}).", "Name another place.") from error
    finally:
        if out.parent.is_dir():
            part.unlink(missing_ok=True)


def _open(path: Path) -> tuple[dict[str, Any], Any]:
    """The columns that a pack keeps, and the geometries as well-known binary without heights."""
    if not path.exists():
        raise ZoneError(str(path), "there is no such file: expected GeoJSON or another vector map.")
    refuse_unless_regular(path, "GeoJSON or another vector map", ZoneError)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            meta, _, blobs, values = pyogrio.raw.read(path, force_2d=True, datetime_as_string=True)
    except pyogrio.errors.DataSourceError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise ZoneError(
            str(path),
            f"is no UTF-8: a word has the byte 0x{error.object[error.start]:02x}.",
            "Save it again in UTF-8.",
        ) from error
    except ValueError as error:  # GDAL takes 2026-02-30 for a date, which Python does not
        raise ZoneError(
            str(path),
            f"holds a date that is none: {error}.",
            "Look at `dated`: it must be a date like 2026-01-31, 2026-01 or 2026.",
        ) from error
    # GDAL only warns where it makes a number of a word: the id "a7" would become 0. A ring that
    # does not close is told later, with its feature.
    for warning in warned:
        if "Non closed ring" not in str(warning.message):
            raise _unreadable(path, warning.message)
    if blobs is None:
        raise ZoneError(str(path), "has no geometries: expected GeoJSON or another vector map.")
    if meta["crs"] not in (None, "EPSG:4326", "OGC:CRS84"):
        raise ZoneError(
            str(path),
            f"is in {meta['crs']}: expected degrees in WGS 84 (EPSG:4326).",
            "Convert it with `ogr2ogr -t_srs EPSG:4326`.",
        )
    named = zip(meta["fields"], values, strict=True)
    return {name: column for name, column in named if name in COLUMNS}, blobs


def _unreadable(path: Path, said: Warning | Exception | str) -> ZoneError:
    reason = str(said).split("; It might help")[0].rstrip(". ")
    return ZoneError(
        str(path), f"can't be read: {reason}.", "Expected GeoJSON or another vector map."
    )


def row(
    file: str, index: int, wkb: bytes | None, told: dict[str, Any], kind: str | None = None
) -> Row:
    """One feature of a file from its geometry and its properties; `kind` where it has none.

    Raises ValueError that says what is wrong with it.
    """
    words = {name: _word(name, value) for name, value in told.items()}
    kind = words.get("kind") or kind
    if kind is None:
        raise ValueError("has no property `kind`: give it one, or say --kind")
    if kind not in KINDS:
        raise ValueError(f"kind = {kind}: must be one of {', '.join(KINDS)}")
    blob, box = _blob(wkb)
    dated = words.get("dated")
    if dated is not None and not _is_date(dated):
        raise ValueError(f"dated = {dated}: must be a date like 2026-01-31, 2026-01 or 2026")
    confidence = words.get("confidence")
    if confidence == "struck":
        raise ValueError("confidence = struck: is kept for packs that take features away")
    name = Path(file).name
    return Row(
        where=f"{file}: feature {index + 1}",
        blob=blob,
        box=box,
        kind=kind,
        id=words.get("id") or f"{name.split('.')[0]}-{index + 1}",
        name=words.get("name"),
        source=words.get("source") or name,
        licence=words.get("licence"),
        dated=dated,
        confidence=confidence,
    )


def _word(name: str, value: Any) -> str | None:
    """A property as text; None where there is none. Whole numbers have no point."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} = {value}: must be a word or a number") from error
    if math.isnan(number):  # how pyogrio says that there is none
        return None
    if not number.is_integer():
        return str(number)
    if abs(number) >= _MOST_EXACT:
        raise ValueError(f"{name} = {number:.0f}: is too large a number; write it in quotes")
    return str(int(number))


def _is_date(text: str) -> bool:
    if not _DATED.fullmatch(text):
        return False
    try:
        date.fromisoformat((text + "-01-01")[:10])
    except ValueError:
        return False
    return True


def _blob(wkb: bytes | None) -> tuple[bytes, tuple[float, float, float, float]]:
    """A geometry as a pack holds it, checked by the very reader that the unit has."""
    if not wkb:
        raise ValueError("has no geometry: expected a point, a line or a polygon")
    bare = b"GP\0\x01" + struct.pack("<i", SRS_ID)
    try:
        shape, parts = decode(bare + wkb)
    except ValueError as error:
        raise ValueError(f"{error}; expected points, lines or polygons in degrees") from error
    lons = [corner[0] for part in parts for corner in part]
    lats = [corner[1] for part in parts for corner in part]
    box = (min(lons), max(lons), min(lats), max(lats))
    if shape == "point" and len(parts) == 1:
        return bare + wkb, box
    return b"GP\0\x03" + struct.pack("<i4d", SRS_ID, *box) + wkb, box


def _refuse_twice(rows: Sequence[Row]) -> None:
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        other = first.setdefault((row.kind, row.id), row)
        if other is not row:
            raise ZoneError(
                row.where,
                f"kind {row.kind}, id {row.id} is there already: {other.where}.",
                "Give each feature of a kind an id of its own.",
            )


def _refuse_to_replace_another(out: Path) -> None:
    if out.is_dir():
        raise ZoneError(str(out), "is a folder: expected the name of a pack, like lake.gpkg.")
    if not out.parent.is_dir():
        raise ZoneError(str(out), f"there is no folder {out.parent}.", "Make it first.")
    refuse_to_replace(out, ZoneError)
    if out.exists() and out.stat().st_size > 0:
        with out.open("rb") as file:
            head = file.read(100)
        if head[68:72] != APPLICATION_ID.to_bytes(4, "big"):
            raise ZoneError(
                str(out),
                "is there already, and is no GeoPackage: it is not overwritten.",
                "Name another place with -o.",
            )


def _write(rows: Sequence[Row], part: Path, advance: Callable[[int], object]) -> None:
    newest = max((row.dated for row in rows if row.dated), default="1970")
    changed = f"{(newest + '-01-01')[:10]}T00:00:00.000Z"  # not now: same features, same bytes
    boxes = [row.box for row in rows]
    extent = (
        (
            min(box[0] for box in boxes),
            min(box[2] for box in boxes),
            max(box[1] for box in boxes),
            max(box[3] for box in boxes),
        )
        if boxes
        else (None, None, None, None)
    )
    with closing(sqlite3.connect(part)) as pack:
        pack.executescript(
            f"PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        )
        with pack:
            for statement in BEFORE:
                pack.execute(statement)
            pack.execute(
                "INSERT INTO gpkg_contents VALUES "
                "('features', 'features', 'features', ?, ?, ?, ?, ?, ?, ?)",
                (LAYOUT, changed, *extent, SRS_ID),
            )
            pack.executemany(FEATURE, _values(rows, advance))
            pack.executemany(OUTLINE, ((fid, *row.box) for fid, row in enumerate(rows, 1)))
            for statement in AFTER:
                pack.execute(statement)


def _values(rows: Sequence[Row], advance: Callable[[int], object]) -> Iterator[tuple[Any, ...]]:
    for fid, row in enumerate(rows, 1):
        yield (
            fid,
            row.blob,
            row.kind,
            row.id,
            row.name,
            row.source,
            row.licence,
            row.dated,
            row.confidence,
        )
        if fid % 1000 == 0:
            advance(1000)
