"""Builds zone packs: reads features from any vector file, and writes them as one GeoPackage.

docs/zones.md has the layout. The same features give the same bytes, from the same SQLite library,
whatever their order. Nothing is held in memory but a batch: what is read goes to a file beside the
pack, is sorted there by place, and comes back in order.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from firmware.errors import ZoneError
from firmware.files import refuse_to_replace
from firmware.maps.geopackage import APPLICATION_ID, SRS_ID
from firmware.maps.packs import COLUMNS, STRUCK
from firmware.maps.runs import RUN_BITS
from host_tools.packs.mapping import Form, Rules
from host_tools.packs.rows import Box, Origin, Row, words_of
from host_tools.packs.runs import is_large, runs_of
from host_tools.packs.schema import (
    AFTER,
    BEFORE,
    FEATURE,
    INDEXES,
    OUTLINE,
    RUN,
    RUNS,
    STAGE,
    VERSION,
)
from host_tools.packs.shapes import NO_SHAPE, Shape, box_shape, shapes_of
from host_tools.packs.sources import BATCH, Batch, batches

LAYOUT: Final = "sledwarden zone pack, layout 3"
TOLD: Final = 10
"""Faults that are told one by one; the rest are counted."""

_CACHE_KIB: Final = 65_536
_FORMS: Final[dict[int, Form]] = {1: "point", 2: "line", 3: "polygon"}
_BITS: Final = 20
_OWN: Final = frozenset({*COLUMNS, "attributes"} - {"geom"})

Advance = Callable[[int], object]
NO_ORIGIN: Final = Origin()


@dataclass(slots=True)
class Account:
    """What became of the features that were read. Of `faults` and `repairs` the first are told."""

    read: int = 0
    packed: int = 0
    passed_over: int = 0
    fault_count: int = 0
    repair_count: int = 0
    faults: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    converted: list[str] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)

    def fault(self, where: str, what: str) -> None:
        self.fault_count += 1
        if len(self.faults) < TOLD:
            self.faults.append(f"{where}: {what}.")

    def convert(self, file: str, system: str, off_m: float) -> None:
        line = f"{file}: was in {system}, converted to WGS 84, true to {off_m:.0f} m"
        if line not in self.converted:
            self.converted.append(line)

    def repair(self, where: str, what: str) -> None:
        self.repair_count += 1
        if len(self.repairs) < TOLD:
            self.repairs.append(f"{where}: {what}")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which features of the files are wanted, and as what.

    `is_lenient` leaves out what can't be packed; otherwise that refuses the whole.
    """

    origin: Origin = NO_ORIGIN
    mapping: Rules | None = None
    where: str | None = None
    bounds: Box | None = None
    is_lenient: bool = False


def read(path: Path, kind: str | None = None) -> list[Row]:
    """The features of a vector file; `kind` is for those that have no property `kind`.

    Raises ZoneError that tells every feature that can't be packed, and why.
    """
    account = Account()
    rows = list(rows_of(path, Asked(Origin(kind)), account))
    refuse_faults(account)
    return rows


def rows_of(
    path: Path,
    asked: Asked,
    account: Account,
    advance: Callable[[float | None, int], object] = lambda done, read: None,
) -> Iterator[Row]:
    """The rows of a file's features, batch by batch; what is wrong goes to the account.

    `advance` is told the share of the file that is done, where it is known, and the features.
    """
    columns = _OWN if asked.mapping is None else {*asked.mapping.columns, "id"}
    for batch in batches(path, columns, where=asked.where, bounds=asked.bounds):
        account.read += len(batch.wkbs)
        yield from _rows_of_batch(str(path), batch, asked, account)
        advance(batch.done, account.read)


def refuse_faults(account: Account) -> None:
    """Raises ZoneError that tells the first faults and counts the rest; none, none."""
    if account.fault_count == 0:
        return
    lines = list(account.faults)
    if account.fault_count > len(lines):
        path = lines[-1].split(": feature ")[0]
        lines.append(f"{path}: and {account.fault_count - len(lines)} more.")
    where, _, what = lines[0].partition(": ")
    raise ZoneError(
        where,
        "\n".join([what, *lines[1:]]),
        "Nothing was built: mend the file and build again, or leave them out with --skip-broken.",
    )


def row(file: str, index: int, wkb: bytes | None, told: dict[str, Any]) -> Row:
    """One feature from its geometry and its properties; `index` counts from 0.

    Raises ValueError that says what is wrong with it.
    """
    (shape,) = shapes_of([wkb])
    return _row(file, index + 1, told, shape, Origin())


def box_row(kind: str, ident: str, box: Box, origin: Origin) -> Row:
    """A feature that is a box of degrees."""
    told = {"kind": kind, "id": ident, "source": origin.source or "drawn as a box"}
    return _row(ident, 1, told, box_shape(box), origin)


def write(rows: Iterable[Row], out: Path, advance: Advance = lambda done: None) -> Counter[str]:
    """Writes a pack beside its place and then puts it there at once; an older one is replaced.

    `advance` is told how many features are packed, once all are read. Gives back how many there
    are of each kind. Raises ZoneError for two features of one kind and id, and for a place that
    can't be written or holds something that is no GeoPackage. What stops it half way leaves the
    older one as it was.
    """
    _refuse_to_replace_another(out)
    with _beside(out, "stage") as stage_path, _beside(out, "part") as part:
        try:
            with closing(sqlite3.connect(stage_path)) as stage:
                _stage(rows, stage)
                kinds = _write(stage, part, advance)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(out)
        except (OSError, sqlite3.OperationalError) as error:
            raise ZoneError(
                str(out), f"can't be written ({error}).", "Name another place."
            ) from error
    return kinds


def _rows_of_batch(file: str, batch: Batch, asked: Asked, account: Account) -> Iterator[Row]:
    wanted: list[tuple[int, dict[str, Any]]] = []
    for index, wkb in enumerate(batch.wkbs):
        told = batch.told(index)
        if asked.mapping is None:
            wanted.append((index, told))
            continue
        features = list(asked.mapping.features(told, _form(wkb)))
        account.passed_over += not features
        wanted += [(index, feature) for feature in features]
    places = sorted({index for index, _ in wanted})
    shapes = dict(zip(places, shapes_of([batch.wkbs[index] for index in places]), strict=True))
    note = ""
    if batch.was_in is not None:
        system, off_m = batch.was_in
        account.convert(file, system, off_m)
        note = f"from {system.split('(')[-1].rstrip(')')}"
    for index, told in wanted:
        number = batch.number + index
        try:
            row = _row(file, number, told, shapes[index], asked.origin, note)
        except ValueError as error:
            account.fault(f"{file}: feature {number}", str(error))
            continue
        shape = shapes[index]
        if isinstance(shape, Shape) and shape.repaired:
            account.repair(row.where, f"{row.words.kind} {row.words.id}: {shape.repaired}")
        account.packed += 1
        yield row


def _form(wkb: bytes | None) -> Form:
    """What a geometry is, from its well-known binary; points where there is none."""
    if not wkb or len(wkb) < 5:
        return "point"
    code = int.from_bytes(wkb[1:5], "little" if wkb[0] else "big") & 0xFFFF
    return _FORMS.get((code % 1000 - 1) % 3 + 1, "point")


def _row(
    file: str,
    number: int,
    told: dict[str, Any],
    shape: Shape | str,
    origin: Origin,
    note: str = "",
) -> Row:
    words = words_of(file, number, told, origin)
    if note:
        words = replace(words, source=f"{words.source} ({note})")
    if isinstance(shape, Shape):
        return Row(file, number, shape.blob, shape.box, words)
    if words.confidence != STRUCK or shape != NO_SHAPE:
        raise ValueError(shape)
    return Row(file, number, None, None, words)


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


@contextmanager
def _beside(out: Path, word: str) -> Iterator[Path]:
    """A file beside the pack, gone at the end; what a killed build left there goes as well."""
    ours = re.compile(rf"\.{re.escape(out.name)}\.(\d+)\.{word}")
    for one in out.parent.iterdir():
        left = ours.fullmatch(one.name)
        if left and (int(left[1]) == os.getpid() or not Path("/proc", left[1]).exists()):
            one.unlink(missing_ok=True)
    path = out.with_name(f".{out.name}.{os.getpid()}.{word}")
    try:
        yield path
    finally:
        if out.parent.is_dir():
            path.unlink(missing_ok=True)


def _stage(rows: Iterable[Row], stage: sqlite3.Connection) -> None:
    """Puts the rows into a file as they come, each with its place on a curve over the globe."""
    stage.executescript(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
        f"PRAGMA cache_size = -{_CACHE_KIB}; {STAGE[0]};"
    )
    held: list[Row] = []
    with stage:
        for row in rows:
            held.append(row)
            if len(held) >= BATCH:
                _put(held, stage)
                held = []
        _put(held, stage)


def _put(rows: list[Row], stage: sqlite3.Connection) -> None:
    keys = _along_curve([row.box or (0.0, 0.0, 0.0, 0.0) for row in rows])
    stage.executemany(
        STAGE[1],
        (
            (
                key,
                row.words.kind,
                row.words.id,
                row.file,
                row.number,
                row.words.has_own_id,
                row.blob,
                row.words.name,
                row.words.source,
                row.words.licence,
                row.words.dated,
                row.words.confidence,
                row.words.attributes,
                *(row.box or (None, None, None, None)),
            )
            for key, row in zip(keys, rows, strict=True)
        ),
    )


def _along_curve(boxes: list[Box]) -> list[int]:
    """Where the middles of boxes lie along a Hilbert curve: what is near there is near here.

    After Warren, "Hacker's Delight" (2nd ed., section 16-2), a bit of both numbers at a time.
    """
    if not boxes:
        return []
    corners = np.array(boxes)
    side = 1 << _BITS
    x = np.clip(((corners[:, 0] + corners[:, 2]) / 2 + 180.0) / 360.0 * side, 0, side - 1)
    y = np.clip(((corners[:, 1] + corners[:, 3]) / 2 + 90.0) / 180.0 * side, 0, side - 1)
    x, y = x.astype(np.int64), y.astype(np.int64)
    key = np.zeros(len(boxes), dtype=np.int64)
    bit = side >> 1
    while bit:
        right, up = (x & bit) > 0, (y & bit) > 0
        key += bit * bit * ((3 * right) ^ up)
        flip = ~up & right
        x, y = np.where(flip, side - 1 - x, x), np.where(flip, side - 1 - y, y)
        x, y = np.where(~up, y, x), np.where(~up, x, y)
        bit >>= 1
    found: list[int] = key.tolist()
    return found


def _write(stage: sqlite3.Connection, part: Path, advance: Advance) -> Counter[str]:
    kinds: Counter[str] = Counter()
    dated = _dated(stage)
    extent = stage.execute("SELECT min(minx), min(miny), max(maxx), max(maxy) FROM staged")
    changed = f"{((dated or '1970') + '-01-01')[:10]}T00:00:00.000Z"  # not now: the same bytes
    with closing(sqlite3.connect(part)) as pack:
        pack.executescript(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            f"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -{_CACHE_KIB};"
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        )
        with pack:
            for statement in BEFORE:
                pack.execute(statement)
            contents = "INSERT INTO gpkg_contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            about = f"{LAYOUT}, of {dated or 'no date'}"
            pack.execute(
                contents,
                ("features", "features", "features", about, changed, *extent.fetchone(), SRS_ID),
            )
            large = _fill(pack, stage, kinds, advance)
            if large:
                for statement in RUNS:
                    pack.execute(statement)
                for fid in large:
                    _put_runs(pack, fid)
            try:
                for statement in INDEXES:
                    pack.execute(statement)
            except sqlite3.IntegrityError:
                _refuse_twice(stage)
                raise
            for statement in AFTER:
                pack.execute(statement)
    return kinds


def _dated(stage: sqlite3.Connection) -> str | None:
    """Since when the pack may be out of date: the oldest date of what it calls covered, or else the
    newest of anything in it."""
    asked = "SELECT min(dated) FROM staged WHERE kind = 'coverage'", "SELECT max(dated) FROM staged"
    dates: list[str | None] = [stage.execute(one).fetchone()[0] for one in asked]
    return dates[0] or dates[1]


def _fill(
    pack: sqlite3.Connection, stage: sqlite3.Connection, kinds: Counter[str], advance: Advance
) -> list[int]:
    """Writes the features in the order of their places; gives back the numbers of large ones."""
    large: list[int] = []
    fid = done = 0
    last: tuple[Any, ...] = ()
    reading = stage.execute(STAGE[2])
    while found := reading.fetchmany(BATCH):
        features, outlines = [], []
        for *row, has_own_id, west, south, east, north in found:
            # The same feature of two maps that overlap is one; only what has its own id can be so.
            if has_own_id and tuple(row) == last:
                continue
            last = tuple(row)
            fid += 1
            blob, kind = row[0], row[1]
            features.append((fid, *row))
            kinds[STRUCK if row[7] == STRUCK else kind] += 1
            if blob is not None:
                outlines.append((fid, west, east, south, north))
                if is_large(blob, (west, south, east, north)):
                    large.append(fid)
        pack.executemany(FEATURE, features)
        pack.executemany(OUTLINE, outlines)
        done += len(found)
        advance(done)
    return large


def _put_runs(pack: sqlite3.Connection, fid: int) -> None:
    (blob,) = pack.execute("SELECT geom FROM features WHERE fid = ?", (fid,)).fetchone()
    pack.executemany(
        RUN,
        (
            (
                fid << RUN_BITS | number,
                *(run.box[edge] for edge in (0, 2, 1, 3)),
                run.first_lat,
                run.last_lat,
                run.is_ring,
                run.blob,
            )
            for number, run in enumerate(runs_of(blob))
        ),
    )


def _refuse_twice(stage: sqlite3.Connection) -> None:
    """Raises ZoneError that names features which have one kind and id, and are not the same."""
    told = []
    for kind, ident in stage.execute(STAGE[3]):
        places = stage.execute(STAGE[4], (kind, ident)).fetchall()
        (one, first), (other, second) = places[0], places[-1]
        told.append(
            f"{other}: feature {second}: kind {kind}, id {ident} is there already: "
            f"{one}: feature {first}."
        )
    if told:
        where, _, what = told[0].partition(": ")
        raise ZoneError(
            where, "\n".join([what, *told[1:]]), "Give each feature of a kind an id of its own."
        )
