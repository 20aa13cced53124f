"""The desk's side of a ten-hour ride at 10 Hz: its journal verified, and its page made.

Verifying is held against bare SHA-256 of the same bytes, which no check of them can undercut.
"""

from __future__ import annotations

import hashlib
import math
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.report import Column, Figures, Table
from firmware import monitor
from firmware.law import packs as law
from firmware.readings import (
    Channel,
    Engine,
    Feature,
    Fix,
    Light,
    Reading,
    Surroundings,
    Tether,
    TetherState,
)
from firmware.sources.drive import every_sensor
from host_tools.journals import verifying
from host_tools.journals.copy import JournalCopy
from host_tools.journals.paths import find
from host_tools.journals.reading import read_ride
from host_tools.replay import replaying
from host_tools.report import page

HOURS = 10.0
HZ = 10.0
START = datetime(2026, 1, 17, 20, 0, tzinfo=UTC)
LAT, LON = 45.9, -89.7
_LOOP_DEG = 0.35


def readings(hours: float) -> Iterator[tuple[float, Reading]]:
    """A ride on a winding loop from an afternoon into the night, past dwellings and shanties."""
    yield 0.0, Reading(Channel.TETHER, Tether(TetherState.IN), 0.0, "tether")
    yield 0.0, Reading(Channel.ENGINE, Engine(True), 0.0, "engine")
    noise = 12345
    for number in range(int(hours * 3600 * HZ)):
        at_s = number / HZ
        noise = noise * 1103515245 + 12345 & 0x7FFFFFFF
        turn = at_s / 36000 * 4 * math.pi
        lat = LAT + _LOOP_DEG * math.sin(turn) + 0.004 * math.sin(at_s / 21)
        lon = (
            LON
            + 1.4 * _LOOP_DEG * math.cos(turn) * math.sin(turn / 3)
            + 0.004 * math.cos(at_s / 17)
        )
        mph = max(0.0, 42 + 14 * math.sin(at_s / 90) + 6 * math.sin(at_s / 7) + noise % 100 / 50)
        if number % 10 == 0:
            for channel in (Channel.LIGHT_HEAD, Channel.LIGHT_TAIL):
                yield (
                    at_s,
                    Reading(channel, Light(800.0 + noise % 50, 10.0, 0.8), at_s, "light", 3.0),
                )
        if number % int(30 * HZ) == 0:
            yield at_s, Reading(Channel.SURROUNDINGS, _around(lat, lon), at_s, "zones")
        fix = Fix(lat, lon, 3.0 + noise % 30 / 10, mph * 0.44704, 0.2235, turn % 360,
                  START + timedelta(seconds=at_s))  # fmt: skip
        yield at_s, Reading(Channel.FIX, fix, at_s, "gps", 2.0)


def _around(lat: float, lon: float) -> Surroundings:
    """A few houses on a grid about a place, so that the same one comes back the same."""
    features = []
    for north in range(-2, 3):
        for east in range(-2, 3):
            row, column = round(lat / 0.006) + north, round(lon / 0.008) + east
            y, x = row * 0.006, column * 0.008
            ring = ((x, y), (x + 2e-4, y), (x + 2e-4, y + 1e-4), (x, y + 1e-4), (x, y))
            kind = "dwelling" if (row + column) % 3 else "shanty"
            features.append(Feature(kind, f"{row}/{column}", f"House {row}", "polygon", (ring,)))
    box = 0.05
    cover = ((lon - box, lat - box), (lon + box, lat - box), (lon + box, lat + box),
             (lon - box, lat + box), (lon - box, lat - box))  # fmt: skip
    features.append(Feature("coverage", "all", "all", "polygon", (cover,)))
    return Surroundings(lat, lon, 2000.0, tuple(features), ("bench.gpkg",))


def write_journal(folder: Path, hours: float) -> None:
    """The ride's journal, as the unit would have written it."""
    config = every_sensor()
    core = monitor.build(config, [law.load("wi")])
    with JournalCopy(folder, config, core, "a benchmark") as copy:
        for at_s, reading, told in replaying.judge(readings(hours), core):
            copy.keep(at_s, reading, told)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """One ride of ten hours (`share` of it), each step once."""
    hours = HOURS * share
    rows: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name:
        folder = Path(name) / "journal"
        say(f"desk: writing a ride of {hours:g} h")
        write_journal(folder, hours)
        (source,) = find([folder])
        size = sum(place.path.stat().st_size for place in source.places)

        say("desk: SHA-256")
        begin_s = time.perf_counter()
        for place in source.places:
            hashlib.sha256(place.path.read_bytes()).digest()
        bare_s = time.perf_counter() - begin_s

        say("desk: verify")
        begin_s = time.perf_counter()
        proof = verifying.verify(source)
        took_s = time.perf_counter() - begin_s
        assert proof.report.verdict == "whole", proof.report.reasons
        records = sum(one.records for one in proof.report.segments)
        for step, seconds in (("bare SHA-256", bare_s), ("verify", took_s)):
            rows.append({"step": step, "s": seconds, "records_s": records / seconds,
                         "mb_s": size / seconds / 1e6})  # fmt: skip

        say("desk: read")
        begin_s = time.perf_counter()
        ride = read_ride([source])
        told_s = time.perf_counter() - begin_s
        assert not ride.legs[0].is_judged_again

        say("desk: read, judged again")
        begin_s = time.perf_counter()
        read_ride([source], judges_again=True)
        read_s = time.perf_counter() - begin_s
        begin_s = time.perf_counter()
        text = page.filled(ride, [proof])
        page_s = time.perf_counter() - begin_s
        rows += [
            {"step": "read the ride", "s": told_s, "records_s": records / told_s,
             "mb_s": size / told_s / 1e6},
            {"step": "read the ride, judged again", "s": read_s, "records_s": records / read_s,
             "mb_s": size / read_s / 1e6},
            {"step": "make the page", "s": page_s, "page_mb": len(text.encode()) / 1e6},
        ]  # fmt: skip
    top_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Table(
        "desk",
        f"{hours:g} h at {HZ:g} Hz on the desk: {ride.fixes:,} fixes, {records:,} records,"
        f" {size / 1e6:.0f} MB",
        [
            Column("step", "step"),
            Column("s", "s", ",.2f"),
            Column("records_s", "records/s", ",.0f"),
            Column("mb_s", "MB/s", ",.0f"),
            Column("page_mb", "page MB", ".2f"),
        ],
        rows,
        note=f"Memory at its most {top_mb:.0f} MB. Files were in the page cache.",
    )
