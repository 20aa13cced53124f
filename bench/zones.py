"""A state's zone pack: what it costs to build, to open and to ask, beside its peers.

Three million footprints, made up by `bench.footprints`; 20,000 points along 200 tracks of 100
points, 10 m apart, each from a building off in some direction; and 20 minutes to and fro through
the densest town, at 25 mph and three fixes a second.
"""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Final

from bench import footprints
from bench.line import ENVIRONMENT, ROOT
from bench.report import Column, Figures, Table
from firmware.maps.packs import Pack
from firmware.maps.plane import Plane

TRACKS: Final = 200
POINTS: Final = 100
STEP_M: Final = 10.0
SEED: Final = 150
TOWN_POINTS: Final = 3600
TOWN_STEP_M: Final = 11.2 / 3.0
TOWN_WIDE_M: Final = 1500.0
COVERED: Final = "-93.5,42,-86,47.8"

SIDES: Final = {
    "unit": "the unit: handed over, asked in memory",
    "pack": "the pack asked at each point",
    "strtree": "shapely's STRtree, all in memory",
    "duckdb": "DuckDB spatial, R-tree",
}

DENSEST: Final = "the same in the densest town, 3 Hz"

NOTE = (
    "{count:,} footprints in {mb:,.0f} MB, built from GeoJSON lines of {source_mb:,.0f} MB in "
    "{wall:,.0f} s ({cpu:,.0f} s of CPU) in at most {peak:,.0f} MB of memory. Near: the nearest "
    "dwelling within 150 ft, at {points:,} points; ahead: the same along the 126 m to brake from "
    "55 mph. Open and first answer: wall time, the middle of 5 processes; cold: the file's pages "
    "dropped before. The rest is CPU time. Above: memory over the process before it opened the "
    "pack. Handed over by the unit's thread of zones: {readings:,} readings of at most "
    "{features:,} features, {kb:,.0f} kB of journal, at least {reach:,.0f} m about the sled; read "
    "in {read:.1f} ms (p50) to {read_max:.0f}, put on the map in {ready:.1f} to {ready_max:.0f}. "
    "DuckDB: a tenth of the points, boxes."
)

COLUMNS = (
    Column("what", "what"),
    Column("open_ms", "open ms", ",.1f"),
    Column("first_ms", "first answer ms", ",.1f"),
    Column("first_cpu_ms", "its CPU", ",.1f"),
    Column("cold_ms", "cold", ",.1f"),
    Column("asked_p50", "near us p50", ",.1f"),
    Column("asked_p99", "p99", ",.0f"),
    Column("asked_max", "max", ",.0f"),
    Column("ahead_p50", "ahead us p50", ",.1f"),
    Column("ahead_p99", "p99", ",.0f"),
    Column("ahead_max", "max", ",.0f"),
    Column("above_mb", "above MB", ",.1f"),
    Column("hits", "hits", ",.0f"),
)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Makes the footprints, builds the pack, and asks each side in turn."""
    table = Table("zones", "A state's zones", COLUMNS)
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name:
        folder = Path(name)
        source, pack, points = (folder / one for one in ("wi.geojsonl", "wi.gpkg", "points.json"))
        count = max(10_000, round(footprints.COUNT * share))
        say(f"zones: making {count:,} footprints")
        # In a process of its own: what this one holds would count as a child's peak as well.
        make = [sys.executable, "-m", "bench.footprints", str(source), str(count)]
        subprocess.run(make, cwd=ROOT, env=ENVIRONMENT, check=True)
        say(f"zones: building a pack of {count:,} footprints")
        built = _build(source, pack)
        tracks = tracks_of(pack, TRACKS)
        points.write_text(json.dumps(tracks))
        town = folder / "town.json"
        town.write_text(json.dumps([through(densest(pack))]))
        few = folder / "few.json"
        few.write_text(json.dumps(tracks[:1]))
        unit: Figures = {}
        for kind, what in SIDES.items():
            say(f"zones: {what}")
            row = side(kind, pack, points)
            if not row:
                continue
            unit = unit or row
            if kind in ("unit", "pack"):
                warm = [row, *(side(kind, pack, few) for _ in range(4))]
                cold = [side(kind, pack, few, "cold") for _ in range(5)]
                for key in ("open_ms", "first_ms"):
                    row[key] = median(one[key] for one in warm)
                row["cold_ms"] = median(one["first_ms"] for one in cold)
            table.rows.append({"what": what} | row)
            if kind == "unit":
                say("zones: the unit, in the densest town")
                table.rows.append({"what": DENSEST} | side(kind, pack, town))
        table.note = NOTE.format(
            count=count, mb=pack.stat().st_size / 1e6, source_mb=source.stat().st_size / 1e6,
            points=TRACKS * POINTS, readings=unit["readings"], features=unit["features_most"],
            kb=unit["reading_kb"], reach=unit["reach_least_m"], read=unit["read_p50"],
            read_max=unit["read_max"], ready=unit["ready_p50"], ready_max=unit["ready_max"],
            **built,
        )  # fmt: skip
    return table


def tracks_of(path: Path, count: int) -> list[list[tuple[float, float]]]:
    """Ways that begin at a building of the pack and go straight off, the same for one pack."""
    chance = random.Random(SEED)
    pack = Pack(path)
    west, south = footprints.WEST, footprints.SOUTH
    east, north = footprints.EAST, footprints.NORTH
    tracks = []
    while len(tracks) < count:
        place = chance.uniform(south, north), chance.uniform(west, east)
        found = pack.near(*place, 3000.0)
        if not found:
            continue
        hit = chance.choice(found)
        ((first, *_), *_) = pack.features([hit], *place, 3000.0)[0].parts
        lon, lat = first
        if not (south < lat < north and west < lon < east):
            continue
        turn = chance.uniform(0.0, math.tau)
        up = STEP_M / 111_195.0 * math.cos(turn)
        along = STEP_M / 111_195.0 * math.sin(turn) / math.cos(math.radians(lat))
        tracks.append([(lat + up * at, lon + along * at) for at in range(POINTS)])
    pack.close()
    return tracks


def densest(path: Path) -> tuple[float, float]:
    """The middle of the square kilometre or so that has most buildings."""
    uri = f"file:{path}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        boxes = file.execute("SELECT miny, minx FROM rtree_features_geom")
        counts = Counter((round(lat / 0.01), round(lon / 0.014)) for lat, lon in boxes)
    (((up, along), _),) = counts.most_common(1)
    return up * 0.01, along * 0.014


def through(middle: tuple[float, float]) -> list[tuple[float, float]]:
    """A way to and fro through a town, that comes by most of its streets."""
    plane, places = Plane(*middle), []
    for number in range(TOWN_POINTS):
        at = number * TOWN_STEP_M / TOWN_WIDE_M
        places.append(plane.place(TOWN_WIDE_M * math.sin(at), TOWN_WIDE_M * math.sin(at * 1.7)))
    return places


def side(kind: str, pack: Path, points: Path, *more: str) -> Figures:
    """One side's figures, and none where what it needs is not installed."""
    command = [sys.executable, "-m", "bench.zones_side", kind, str(pack), str(points), *more]
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {}
    figures: Figures = json.loads(done.stdout)
    return figures


def _build(source: Path, pack: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "host_tools.cli", "zones", "build", str(source)]
    command += ["--map", "footprints", "--bounds", COVERED, "--coverage", "bounds", "-o", str(pack)]
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError(f"{' '.join(command)}: ended with {status}")
    return {
        "wall": time.monotonic() - began,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
    }
