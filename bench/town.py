"""What a step costs in a town at night: 2,000 footprints within 2 km, every street a zone."""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pynmea2

from bench import sentences
from bench.report import Column, Table, quantile
from firmware import monitor
from firmware.law import packs as law
from firmware.maps.plane import Plane
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Feature, Fix, Reading, Surroundings
from firmware.sources.drive import every_sensor
from firmware.units import mps

HOME = (44.05, -88.45)
NIGHT = datetime(2026, 1, 16, 5, 0, tzinfo=UTC)  # 23:00 of civil time
FOOTPRINTS = 2000
RADIUS_M = 2000.0
RATE_HZ = 10.0
RIDE_S = 300.0

NOTE = (
    "CPU time of Monitor.step under all of Wisconsin's clauses, every part fitted, at 10 Hz. The "
    "town is 2,000 footprints of 4 to 8 corners along streets, all within 2 km; the sled rides "
    "through it, and past it. 'arrives' is the map's reading, once a kilometre, with the fix after "
    "it; the thread that reads the packs has made the map ready."
)

COLUMNS = (
    Column("what", "what"),
    Column("steps", "steps", ",d"),
    Column("p50", "p50 us", ",.0f"),
    Column("p99", "p99 us", ",.0f"),
    Column("most", "most us", ",.0f"),
    Column("ratio", "p50 of pynmea2.parse(RMC)", ".1f"),
)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Rides through the town at 9 and at 25 mph, past it, and far from it."""
    table = Table("town", "A judged step in a town of 2,000 footprints", COLUMNS, note=NOTE)
    peer_us = _peer_us()
    rides = {
        "9 mph through its streets": (9.0, 0.0),
        "25 mph through its streets": (25.0, 0.0),
        "55 mph past it, 300 ft off": (55.0, 1100.0),
        "55 mph, 1 mile off": (55.0, 2600.0),
    }
    town = Surroundings(*HOME, 6000.0, (*footprints(), _cover()))
    for name, (speed_mph, aside_m) in rides.items():
        say(f"town: {name}")
        arrival_us, steps_us = _ride(town, speed_mph, aside_m, RIDE_S * share)
        ordered = sorted(steps_us)
        table.rows.append(
            {
                "what": name,
                "steps": len(ordered),
                "p50": quantile(ordered, 0.5),
                "p99": quantile(ordered, 0.99),
                "most": ordered[-1],
                "ratio": quantile(ordered, 0.5) / peer_us,
            }
        )
        table.rows.append({"what": f"  arrives: {name}", "steps": 1, "most": arrival_us})
    return table


def footprints(seed: int = 8) -> tuple[Feature, ...]:
    """A town of streets 60 m apart with houses along them, within a kilometre of the middle."""
    chance = random.Random(seed)
    plane, made = Plane(*HOME), []
    while len(made) < FOOTPRINTS:
        x, y = chance.uniform(-1000, 1000), chance.uniform(-1000, 1000)
        street = round(y / 60.0) * 60.0
        y = street + chance.choice((-18.0, 18.0)) + chance.gauss(0.0, 2.0)
        corners, size_m = chance.randint(4, 8), chance.uniform(4.0, 9.0)
        ring = [
            plane.place(
                x + size_m * math.cos(turn * math.tau / corners),
                y + size_m * math.sin(turn * math.tau / corners),
            )
            for turn in range(corners)
        ]
        ring.append(ring[0])
        part = tuple((lon, lat) for lat, lon in ring)
        made.append(Feature("dwelling", str(len(made)), "", "polygon", (part,)))
    return tuple(made)


def _cover() -> Feature:
    plane = Plane(*HOME)
    corners = [plane.place(x * 9e3, y * 9e3) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    ring = tuple((lon, lat) for lat, lon in [*corners, corners[0]])
    return Feature("coverage", "all", "", "polygon", (ring,))


def _ride(
    town: Surroundings, speed_mph: float, aside_m: float, ride_s: float
) -> tuple[float, list[float]]:
    """Microseconds of taking the town in and of the fix after it, and of each step before."""
    core = monitor.build(every_sensor(), law.load_all(["wi"]), frozenset(Channel))
    ready = Nearby(town).make_ready()  # as the packs' own thread does
    core.chart = lambda _: ready
    core.step(Reading(Channel.SURROUNDINGS, town, 0.0, "bench"), 0.0)
    plane, steps_us = Plane(*HOME), []
    gc.collect()
    gc.freeze()
    for number in range(int(ride_s * RATE_HZ)):
        at_s = 1.0 + number / RATE_HZ
        east_m = mps(speed_mph) * number / RATE_HZ
        lap, along_m = divmod(east_m, 1800.0)  # to and fro along the streets
        along_m = along_m - 900.0 if lap % 2 == 0 else 900.0 - along_m
        lat_deg, lon_deg = plane.place(along_m, aside_m + 60.0 * lap * (aside_m == 0.0))
        course_deg = 90.0 if lap % 2 == 0 else 270.0
        utc = NIGHT + timedelta(seconds=at_s)
        fix = Fix(lat_deg, lon_deg, 3.0, mps(speed_mph), mps(0.5), course_deg, utc)
        reading = Reading(Channel.FIX, fix, at_s, "bench", 2.5)
        begin_ns = time.process_time_ns()
        core.step(reading, at_s)
        steps_us.append((time.process_time_ns() - begin_ns) / 1000.0)
    gc.unfreeze()
    # The same town comes again, as after a kilometre: taken in, and judged by at the next fix.
    past, ready = ready, Nearby(town).make_ready()
    gc.collect()
    last = Reading(Channel.FIX, fix, at_s + 0.1, "bench", 2.5)
    around = Reading(Channel.SURROUNDINGS, town, at_s + 0.05, "bench")
    begin_ns = time.process_time_ns()
    core.step(around, around.mono_s)
    core.step(last, last.mono_s)
    arrival_us = (time.process_time_ns() - begin_ns) / 1000.0
    del past  # kept by that thread, which takes it apart
    return arrival_us, steps_us[1:]


def _peer_us() -> float:
    rmc = [epoch[0].decode("ascii").strip() for _, epoch in sentences.riding(100.0, 10.0)]
    begin_s = time.process_time()
    for line in rmc:
        pynmea2.parse(line)
    return (time.process_time() - begin_s) / len(rmc) * 1e6
