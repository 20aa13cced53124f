"""Spoilt zone packs and maps, and what the commands say of them: a sentence, never a traceback.

`python -m tests.fuzz_packs SECONDS [FIRST_SEED]` goes on for so long and tells each seed that gave
anything else; a seed gives the same file each time. `tests/test_spoilt_packs.py` runs a few.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import shapely
from typer.testing import CliRunner

from firmware.errors import SledwardenError
from host_tools.cli import app
from host_tools.packs import build as packs

HOSTILE = (
    "'; DROP TABLE features; --", '"', "\0", "\x1b[2J", "x" * 70_000, "", " ", "🏚", "%s%n", "NULL",
    "../../etc/passwd", "{}", "[1]", '{"of": ["a"]}', '{"of": "dwelling", "x": NaN}', "2026-02-30",
    "struck", "possible", "coverage", "territory", "\ud7ff",
)  # fmt: skip
VALUES: tuple[object, ...] = (
    None, 0, -1, 1 << 62, 1.5, float("inf"), b"", b"GP", b"\0" * 61, *HOSTILE,
)  # fmt: skip
NUMBERS = (float("nan"), float("inf"), -float("inf"), 1e308, 180.0, -180.0, 90.0, 91.0, 1e-320)
COLUMNS = ("geom", "kind", "id", "name", "source", "licence", "dated", "confidence", "attributes")
TABLES = (
    "features", "gpkg_contents", "gpkg_geometry_columns", "gpkg_spatial_ref_sys",
    "gpkg_extensions", "rtree_features_geom", "rtree_features_geom_node",
    "rtree_features_geom_parent", "rtree_features_runs", "rtree_features_runs_node",
    "rtree_features_runs_rowid",
)  # fmt: skip
PLACES = ((44.0, -88.0), (44.05, -88.0), (90.0, 0.0), (0.0, 180.0))
CHILD_S = 600.0


def pack_in(folder: Path) -> Path:
    """A pack with a lake of many corners, houses, a coverage, a sign and what is struck."""
    lake = shapely.Point(-88.0, 44.0).buffer(0.05, quad_segs=300)
    lake -= shapely.Point(-88.0, 44.0).buffer(0.01)
    shapes = [
        ("water", lake), ("coverage", shapely.box(-89.0, 43.0, -87.0, 45.0)), ("dwelling", None),
        ("stop", shapely.Point(-88.0, 44.0)),
        ("trail", shapely.LineString([(-88, 44), (-88.1, 44)])),
    ]  # fmt: skip
    shapes += [("dwelling", shapely.box(-88 + n / 1e3, 44, -88 + n / 1e3 + 1e-4, 44.0001))
               for n in range(60)]  # fmt: skip
    rows = [
        packs.row(
            "map", n, None if shape is None else shapely.to_wkb(shape),
            {"kind": kind, "id": f"i{n}", "dated": "2026", "attributes": {"of": "dwelling"},
             "confidence": "struck" if shape is None else "possible"},
        )
        for n, (kind, shape) in enumerate(shapes)
    ]  # fmt: skip
    out = folder / "whole.gpkg"
    packs.write(rows, out)
    return out


def spoil(whole: bytes, path: Path, seed: int) -> None:
    """Writes the pack to a path with something wrong with it."""
    chance = random.Random(seed)
    path.write_bytes(whole)
    chance.choice((_flip, _flip, _pages, _cut, _values, _values, _blobs, _blobs, _schema))(
        path, chance
    )


def spoilt_map(seed: int) -> str:
    """GeoJSON with something wrong with it."""
    chance = random.Random(seed)
    ring = [[-88.0, 44.0], [-87.9, 44.0], [-87.9, 44.1], [-88.0, 44.0]]
    words: list[object] = [None, 1, [], {}, "x", [[]], [[[]]], [[[], []]], *HOSTILE, 1e308, True]
    shapes: list[object] = [
        {"type": "Polygon", "coordinates": [ring, ring[:3], [], [ring[0]] * 4]},
        {"type": "MultiPolygon", "coordinates": [[ring], []]},
        {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [0, 0]}]},
        {"type": "LineString", "coordinates": [[-88, 44], [1e308, -1e308], [999, 91]]},
        {"type": "Point", "coordinates": []},
    ]  # fmt: skip
    features: list[object] = []
    for number in range(6):
        told = {"kind": "water", "id": str(number), "dated": "2026"}
        told |= {chance.choice(COLUMNS): chance.choice(words)}  # type: ignore[dict-item]  # on purpose
        shape = chance.choice((*shapes, *words))
        features.append({"type": "Feature", "properties": told, "geometry": shape})
    text = json.dumps({"type": "FeatureCollection", "features": features})
    for _ in range(chance.choice((0, 0, 1, 5))):
        at = chance.randrange(len(text))
        new = chance.choice(("NaN", "1e999", "Infinity", "]", "{", '"', "\\ud800", "\0", "9" * 400))
        text = text[:at] + new + text[at + chance.randrange(3) :]
    return text


def complaints(path: Path, whole: Path) -> Iterator[str]:
    """What the commands say of a file that is not a sentence: what was called, and what it said."""
    out = path.with_name("out.gpkg")
    if path.suffix == ".geojson":
        yield from _complaints([("build", path, "--skip-broken", "-o", out)])
        out.unlink(missing_ok=True)
        return
    calls = [
        ("build", path, "-o", out), ("build", path, "--skip-broken", "--kind", "water", "-o", out),
        ("build", path, "--bounds=-89,43,-87,45", "--coverage", path, "-o", out),
        ("info", path, "--json"), ("info", path), ("diff", path, whole, "--list"),
        ("diff", whole, path, "--json"), *(("at", path, "--", *place) for place in PLACES),
        ("at", whole, "--with", path, "--json", "--", *PLACES[0]),
    ]  # fmt: skip
    yield from _complaints(calls)
    out.unlink(missing_ok=True)


def _complaints(calls: Iterable[tuple[object, ...]]) -> Iterator[str]:
    for words in calls:
        result = CliRunner().invoke(app, ["zones", *map(str, words)])
        said = result.exception
        is_told = isinstance(said, SystemExit | SledwardenError)
        if said is not None and not is_told:
            yield f"{words[0]} {' '.join(map(str, words[2:4]))}: {type(said).__name__}: {said}"


def _flip(path: Path, chance: random.Random) -> None:
    octets = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 30, 300))):
        octets[chance.randrange(100, len(octets))] ^= 1 << chance.randrange(8)
    path.write_bytes(octets)


def _pages(path: Path, chance: random.Random) -> None:
    octets = bytearray(path.read_bytes())
    count = len(octets) // 4096
    for _ in range(chance.choice((1, 4))):
        at, other = chance.randrange(1, count) * 4096, chance.randrange(1, count) * 4096
        made = (bytes(4096), octets[other : other + 4096], chance.randbytes(4096))
        octets[at : at + 4096] = chance.choice(made)
    path.write_bytes(octets)


def _cut(path: Path, chance: random.Random) -> None:
    octets = bytearray(path.read_bytes())
    octets = octets[: chance.choice((0, 10, 100, chance.randrange(len(octets))))]
    if len(octets) > 32 and chance.random() < 0.5:  # the head says that so much is all
        octets[28:32] = (len(octets) // 4096).to_bytes(4, "big")
    path.write_bytes(octets)


def _values(path: Path, chance: random.Random) -> None:
    def change(file: sqlite3.Connection) -> None:
        for _ in range(chance.choice((1, 5))):
            table = chance.choice(("features", "features", "rtree_features_runs", "gpkg_contents",
                                   "gpkg_geometry_columns", "gpkg_spatial_ref_sys"))  # fmt: skip
            names = [row[1] for row in file.execute(f"SELECT * FROM pragma_table_info('{table}')")]
            value = chance.choice((*VALUES, *NUMBERS))
            where = chance.choice(("", " WHERE rowid = 1", " WHERE rowid % 7 = 0"))
            file.execute(f"UPDATE {table} SET {chance.choice(names)} = ?{where}", (value,))

    by_sql(path, change)


def _blobs(path: Path, chance: random.Random) -> None:
    def change(file: sqlite3.Connection) -> None:
        table, key = chance.choice((("features", "fid"), ("rtree_features_runs", "run")))
        rows = file.execute(f"SELECT {key}, geom FROM {table} WHERE geom NOT NULL").fetchall()
        for number, blob in chance.sample(rows, min(3, len(rows))):
            octets = bytearray(blob)
            for _ in range(chance.choice((1, 6))):
                at = chance.randrange(len(octets))
                made = (
                    struct.pack("<d", chance.choice(NUMBERS)), struct.pack("<I", 0),
                    struct.pack("<I", chance.choice((1, 2, 3, 7, 0xFFFFFFFF, 1 << 30))),
                    chance.randbytes(3),
                )  # fmt: skip
                new = chance.choice(made)
                octets[at : at + len(new)] = new
            if chance.random() < 0.3:
                octets = octets[: chance.randrange(len(octets))]
            if chance.random() < 0.2:  # a polygon of no rings, or of a ring of no corners
                octets = bytearray(
                    octets[:13] + chance.choice((b"", bytes(4), b"\1\0\0\0" + bytes(4)))
                )
            file.execute(f"UPDATE {table} SET geom = ? WHERE {key} = ?", (bytes(octets), number))

    by_sql(path, change)


def _schema(path: Path, chance: random.Random) -> None:
    table, column = chance.choice(TABLES), chance.choice(COLUMNS)
    statements = (
        f"DROP TABLE {table}", f"DELETE FROM {table}", "DROP INDEX features_kind_id",
        f"ALTER TABLE features RENAME COLUMN {column} TO other",
        "ALTER TABLE features RENAME TO other; CREATE VIEW features AS SELECT * FROM other",
        f"INSERT INTO {table} SELECT * FROM {table}", "PRAGMA user_version = 1",
        "CREATE TABLE pieces (fid, minx, miny, maxx, maxy, geom, piece)", "CREATE TABLE pieces (x)",
        f"UPDATE gpkg_geometry_columns SET table_name = '{chance.choice(TABLES)}'",
        "UPDATE features SET id = 'i1'; ", "PRAGMA application_id = 5",
        "DROP TABLE features; CREATE TABLE features (fid, geom, kind, id, name, source, licence, "
        "dated, confidence); INSERT INTO features VALUES ('a', 1, 2, 3, 4, 5, 6, 7, 8)",
    )  # fmt: skip
    by_sql(path, lambda file: file.executescript(chance.choice(statements)) and None)


def by_sql(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Changes a pack as an editor would that keeps no index true."""
    with closing(sqlite3.connect(path)) as file:
        for name in ("ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"):
            file.create_function(name, 1, lambda _: 44.0)
        file.create_function("ST_IsEmpty", 1, lambda _: 0)
        file.execute("PRAGMA writable_schema = ON")
        for trigger in file.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall():
            file.execute(f"DROP TRIGGER {trigger[0]}")
        try:
            with file:
                change(file)
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            pass  # what SQLite does not take can't be in a file that it made


def _child(first: int, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="sledwarden-fuzz-") as name:
        folder = Path(name)
        whole = pack_in(folder)
        octets = whole.read_bytes()
        for seed in range(first, first + count):
            print(f"seed {seed}", flush=True)
            spoil(octets, folder / "spoilt.gpkg", seed)
            for complaint in complaints(folder / "spoilt.gpkg", whole):
                print(f"seed {seed}: {complaint}", flush=True)
            (folder / "spoilt.geojson").write_text(spoilt_map(seed), errors="surrogatepass")
            for complaint in complaints(folder / "spoilt.geojson", whole):
                print(f"seed {seed}: {complaint}", flush=True)


def main() -> None:
    until_s = time.monotonic() + float(sys.argv[1])
    seed, wrong = int(sys.argv[2]) if len(sys.argv) > 2 else 0, 0
    while time.monotonic() < until_s:
        command = [sys.executable, "-m", "tests.fuzz_packs", "--child", str(seed), "25"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=CHILD_S, check=False
            )
        except subprocess.TimeoutExpired as late:
            print(f"no end: {(late.stdout or b'')[-200:]!r}")
            wrong += 1
        else:
            told = [line for line in done.stdout.splitlines() if ": " in line]
            wrong += len(told)
            print("\n".join(told), end="\n" if told else "")
            if done.returncode:
                name = signal.Signals(-done.returncode).name if done.returncode < 0 else "error"
                print(f"{name} after {done.stdout.splitlines()[-1:]}: {done.stderr[-2000:]}")
                wrong += 1
        seed += 25
    print(f"{seed} seeds, {wrong} wrong")


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        _child(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
