"""One way to ask what is near, in a process of its own.

`python -m bench.zones_side KIND PACK POINTS [cold]`:

unit      the unit's way: what lies near is handed over as it rides, and asked in memory
pack      the pack itself, asked anew at each point
strtree   the peer: every footprint in memory, in shapely's STRtree
duckdb    the peer: DuckDB's spatial extension with its R-tree, where it is installed
bare      the process alone

Prints its figures as one JSON object. POINTS is a file of tracks: a list of lists of lat, lon.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from bench.report import Figures, quantile
from firmware.grain import on_grain
from firmware.journal.record import encode
from firmware.maps.packs import ENOUGH, Pack, again_m, surroundings
from firmware.maps.plane import Plane
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Reading, Surroundings

NEAR_M: Final = 45.72
"""150 ft."""

AHEAD_M: Final = 126.0
"""The way to brake from 55 mph to 10 mph, with the time to react."""

Place = tuple[float, float]
KIND: Final = frozenset({"dwelling"})


def unit(path: Path, tracks: list[list[Place]]) -> Figures:
    """As the unit does: the judging thread asks `Nearby`; the zones' thread reads."""
    asked, ahead, read, ready, sizes, counts, reach = [], [], [], [], [], [], []
    began, begun = time.perf_counter(), time.thread_time()
    pack = Pack(path)
    opened_s = time.perf_counter() - began
    first_s = first_cpu_s = 0.0
    hits = 0
    for track in tracks:
        around: Surroundings | None = None
        for number, place in enumerate(track):
            if around is None or _apart_m(around, place) > again_m(around):
                t0 = time.thread_time()
                around = on_grain(surroundings([pack], *place, at_most=ENOUGH))
                t1 = time.thread_time()
                nearby = Nearby(around).make_ready()
                t2 = time.thread_time()
                read.append(t1 - t0)
                ready.append(t2 - t1)
                counts.append(len(around.features))
                reach.append(around.radius_m)
                sizes.append(len(encode(Reading(Channel.SURROUNDINGS, around, 1.0, "zones"), 1.0)))
            t0 = time.thread_time()
            near = nearby.nearest(KIND, place, within_m=NEAR_M)
            asked.append(time.thread_time() - t0)
            first_s = first_s or time.perf_counter() - began
            first_cpu_s = first_cpu_s or time.thread_time() - begun
            hits += near is not None
            there = _onward(track, number)
            t0 = time.thread_time()
            nearby.nearest(KIND, place, there, within_m=NEAR_M)
            ahead.append(time.thread_time() - t0)
    return {
        "open_ms": opened_s * 1e3,
        "first_ms": first_s * 1e3,
        "first_cpu_ms": first_cpu_s * 1e3,
        "hits": hits,
        **_times("asked", asked),
        **_times("ahead", ahead),
        **_times("read", read, 1e3),
        **_times("ready", ready, 1e3),
        "features_most": max(counts),
        "reach_least_m": min(reach),
        "reading_kb": max(sizes) / 1e3,
        "readings": len(read),
    }


def pack(path: Path, tracks: list[list[Place]]) -> Figures:
    began = time.perf_counter()
    opened = Pack(path)
    opened_s = time.perf_counter() - began

    def near(place: Place) -> bool:
        around = surroundings([opened], *place, NEAR_M)
        return Nearby(around).nearest(KIND, place, within_m=NEAR_M) is not None

    def ahead(place: Place, there: Place) -> bool:
        middle = ((place[0] + there[0]) / 2, (place[1] + there[1]) / 2)
        around = surroundings([opened], *middle, NEAR_M + AHEAD_M / 2)
        return Nearby(around).nearest(KIND, place, there, within_m=NEAR_M) is not None

    return _asked(tracks, near, ahead, opened_s, began)


def strtree(path: Path, tracks: list[list[Place]]) -> Figures:
    import numpy as np  # noqa: PLC0415 -- a side has in memory what it needs alone
    import shapely  # noqa: PLC0415

    began = time.perf_counter()
    with _rows(path) as rows:
        geoms = shapely.from_wkb(np.array([blob[8:] for (blob,) in rows], dtype=object))
    flat = shapely.transform(geoms, lambda at: at * _scale())
    tree = shapely.STRtree(flat)
    opened_s = time.perf_counter() - began
    east, north = _scale()

    def near(place: Place) -> bool:
        point = shapely.Point(place[1] * east, place[0] * north)
        return len(tree.query(point, predicate="dwithin", distance=NEAR_M)) > 0

    def ahead(place: Place, there: Place) -> bool:
        way = shapely.LineString([(lon * east, lat * north) for lat, lon in (place, there)])
        return len(tree.query(way, predicate="dwithin", distance=NEAR_M)) > 0

    return _asked(tracks, near, ahead, opened_s, began)


def duckdb(path: Path, tracks: list[list[Place]]) -> Figures:
    import duckdb as peer  # noqa: PLC0415 -- see above
    import duckdb_extension_spatial  # noqa: PLC0415 -- where it is not installed, no row
    import pyarrow  # noqa: PLC0415

    (extension,) = Path(duckdb_extension_spatial.__file__).parent.rglob("*.duckdb_extension")
    began = time.perf_counter()
    with peer.connect(config={"allow_unsigned_extensions": True}) as db, _rows(path) as rows:
        db.execute(f"LOAD '{extension}'; CREATE TABLE raw (g BLOB)")
        while some := rows.fetchmany(100_000):
            held = pyarrow.table({"g": pyarrow.array([blob[8:] for (blob,) in some], "binary")})
            db.register("held", held)
            db.execute("INSERT INTO raw SELECT g FROM held")
        db.execute("CREATE TABLE b AS SELECT ST_GeomFromWKB(g) AS g FROM raw; DROP TABLE raw")
        db.execute("CREATE INDEX i ON b USING RTREE (g)")
        opened_s = time.perf_counter() - began
        east, north = NEAR_M / _scale()

        def near(place: Place) -> bool:
            lat, lon = place
            box = f"{lon - east}, {lat - north}, {lon + east}, {lat + north}"
            ask = f"SELECT 1 FROM b WHERE ST_Intersects(g, ST_MakeEnvelope({box})) LIMIT 1"
            return bool(db.execute(ask).fetchall())

        return _asked([track[::10] for track in tracks], near, None, opened_s, began)


@contextmanager
def _rows(path: Path) -> Iterator[sqlite3.Cursor]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as file:
        yield file.execute("SELECT geom FROM features WHERE kind = 'dwelling'")


def _scale() -> Any:
    """Metres of a degree east and north, at the middle of the state: near enough for a peer."""
    import numpy as np  # noqa: PLC0415 -- see above

    return np.array([111_195.0 * math.cos(math.radians(44.8)), 111_195.0])


def _asked(
    tracks: list[list[Place]],
    near: Callable[[Place], bool],
    ahead: Callable[[Place, Place], bool] | None,
    opened_s: float,
    began: float,
) -> Figures:
    asked, onward, hits, first_s = [], [], 0, 0.0
    for track in tracks:
        for number, place in enumerate(track):
            t0 = time.thread_time()
            hits += near(place)
            asked.append(time.thread_time() - t0)
            first_s = first_s or time.perf_counter() - began
            if ahead is not None:
                there = _onward(track, number)
                t0 = time.thread_time()
                ahead(place, there)
                onward.append(time.thread_time() - t0)
    found: Figures = {"open_ms": opened_s * 1e3, "first_ms": first_s * 1e3, "hits": hits}
    return found | _times("asked", asked) | (_times("ahead", onward) if onward else {})


def _times(name: str, took_s: list[float], scale: float = 1e6) -> Figures:
    """The middle, the 99th of a hundred and the longest, in us unless told."""
    ordered = sorted(took_s)
    shares = {"p50": 0.5, "p99": 0.99}
    found = {f"{name}_{key}": quantile(ordered, share) * scale for key, share in shares.items()}
    return found | {f"{name}_max": ordered[-1] * scale}


def _apart_m(around: Surroundings, place: Place) -> float:
    return math.hypot(*Plane(around.lat_deg, around.lon_deg).xy(*place))


def _onward(track: list[Place], number: int) -> Place:
    """Where the way to brake ends, straight on."""
    (lat, lon), (lat2, lon2) = track[0], track[-1]
    share = AHEAD_M / 10.0 / (len(track) - 1)
    return track[number][0] + (lat2 - lat) * share, track[number][1] + (lon2 - lon) * share


def main() -> None:
    kind, path, points = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    tracks = [[(lat, lon) for lat, lon in track] for track in json.loads(points.read_text())]
    if len(sys.argv) > 4:  # cold: the pages of the pack are no longer in memory
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
    before_mb = _rss_mb()
    cpu_s = time.process_time()
    figures: Figures = {} if kind == "bare" else SIDES[kind](path, tracks)
    figures["cpu_s"] = time.process_time() - cpu_s
    figures["rss_mb"] = _rss_mb()
    figures["above_mb"] = figures["rss_mb"] - before_mb
    figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps(figures))


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


SIDES: Final = {"unit": unit, "pack": pack, "strtree": strtree, "duckdb": duckdb}

if __name__ == "__main__":
    main()
