"""A real ride for the benchmarks of sizes, with the noise of real sensors.

It is that of a car with a u-blox F9K, 27 minutes at 1 Hz (tests/data/nmea): laid through its own
places and speeds at 10 Hz, with the scatter that such a receiver has from one tenth of a second to
the next, and written in its own digits. Where it stood still is left out but for two seconds: a
parked unit takes less. It is gone again turned and elsewhere, so that no digits come twice. Sensors
have the noise of their chips, and threads wake as late as on a small computer.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firmware.config.schema import fix_settings
from firmware.drives.ride import with_checksum
from firmware.gps.fixes import FixTracker
from firmware.gps.nmea import Parser
from firmware.grain import on_grain
from firmware.maps.packs import ENOUGH, LEAST_M, again_m
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Feature,
    Fix,
    Light,
    Reading,
    RtcTime,
    Supply,
    Surroundings,
    Tether,
    TetherState,
    Value,
)
from firmware.sources.drive import every_sensor
from firmware.units import MPS_PER_KNOT

RECORDING = Path(__file__).parent.parent / "tests" / "data" / "nmea" / "google_mtv_f9k.nmea"
START = datetime(2027, 1, 15, 2, 0, tzinfo=UTC)
BEGIN_S = 20.0
"""Since the unit's start."""
RATE_HZ = 10.0
SEED = 7

LAG_S, JITTER_S = 0.062, 0.0015
"""From an epoch's time to its last byte, and how much that varies."""

M_PER_DEG = 111_195.0
HOME = (44.6, -89.5)
PARALLEL = math.cos(math.radians(HOME[0]))

COUNTS_PER_LUX = 1.2
VOLTS_A_STEP = 0.000125 * 11.0
"""An ADS1115 at its 4.096 V, behind a divider by eleven."""

LOT_M = math.sqrt(math.pi * LEAST_M**2 / ENOUGH)
"""The side of a house's lot in a town where as much lies near as is ever read."""


@dataclass(frozen=True, slots=True)
class Point:
    """What the recording says about one second."""

    lat_deg: float
    lon_deg: float
    knots: float
    track_deg: float


def recorded() -> list[Point]:
    """The places of the recording, one a second, with at most two seconds of each halt."""
    points: list[Point] = []
    still = 0
    for sentence in Parser().feed(RECORDING.read_bytes()):
        if sentence.kind != "RMC" or sentence.lat_deg is None or sentence.lon_deg is None:
            continue
        knots = (sentence.speed_mps or 0.0) / MPS_PER_KNOT
        still = still + 1 if knots < 0.5 else 0
        if still <= 2:
            track_deg = sentence.track_deg or 0.0
            points.append(Point(sentence.lat_deg, sentence.lon_deg, knots, track_deg))
    return points


def _turned(points: list[Point], turn_deg: float) -> list[Point]:
    """The same way in another direction and elsewhere."""
    first = points[0]
    shrink = math.cos(math.radians(first.lat_deg))
    along, across = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    made = []
    for one in points:
        north, east = one.lat_deg - first.lat_deg, (one.lon_deg - first.lon_deg) * shrink
        lat_deg = HOME[0] + turn_deg / 900.0 + north * along - east * across
        lon_deg = HOME[1] + turn_deg / 700.0 + (north * across + east * along) / PARALLEL
        made.append(Point(lat_deg, lon_deg, one.knots, (one.track_deg + turn_deg) % 360.0))
    return made


def _between(before: float, here: float, then: float, after: float, part: float) -> float:
    """A place on the Catmull-Rom spline through four."""
    slope = then - before
    bend = 2.0 * before - 5.0 * here + 4.0 * then - after
    turn = 3.0 * (here - then) + after - before
    return here + 0.5 * part * (slope + part * (bend + part * turn))


def epochs(duration_s: float) -> Iterator[tuple[float, bytes]]:
    """The sentences of each tenth of a second, and the seconds since the first."""
    chance = random.Random(SEED)
    points, number, turns = recorded(), 0, 0
    while True:
        way = _turned(points, 37.0 * turns)
        turns += 1
        for index in range(1, len(way) - 2):
            four = way[index - 1 : index + 3]
            here, then = four[1], four[2]
            bend_deg = math.remainder(then.track_deg - here.track_deg, 360.0)
            for tenth in range(10):
                at_s = number / RATE_HZ
                if at_s >= duration_s:
                    return
                part = tenth / 10.0
                lat_deg = _between(*(one.lat_deg for one in four), part)
                lon_deg = _between(*(one.lon_deg for one in four), part)
                knots = here.knots + (then.knots - here.knots) * part
                knots = abs(knots + chance.gauss(0.0, 0.04))
                track_deg = here.track_deg + bend_deg * part
                point = Point(
                    lat_deg + chance.gauss(0.0, 0.01) / M_PER_DEG,
                    lon_deg + chance.gauss(0.0, 0.01) / M_PER_DEG / PARALLEL,
                    knots,
                    (track_deg + chance.gauss(0.0, 2.0 / max(knots, 1.0))) % 360.0,
                )
                yield at_s, _sentences(START + timedelta(seconds=at_s), point, chance)
                number += 1


def _angle(angle_deg: float, digits: int, hemispheres: str) -> str:
    degrees, rest = divmod(round(abs(angle_deg) * 60e5), 6_000_000)
    return f"{degrees:0{digits}d}{rest / 1e5:08.5f},{hemispheres[angle_deg < 0]}"


def _sentences(utc: datetime, point: Point, chance: random.Random) -> bytes:
    """Six of them, as a u-blox writes them: five decimals of a minute, three of a knot."""
    clock = f"{utc:%H%M%S}.{utc.microsecond // 10000:02d}"
    place = f"{_angle(point.lat_deg, 2, 'NS')},{_angle(point.lon_deg, 3, 'EW')}"
    knots, track = f"{point.knots:.3f}", f"{point.track_deg:.2f}"
    tide = math.sin(utc.timestamp() / 300.0)
    hdop = 0.76 + round(3.0 * tide) / 100.0
    cn0 = [30 + number + round(2.0 * tide + 2.0 * chance.random()) for number in range(8)]
    one = "13,02,44,063,{},05,62,257,{},07,18,311,{},09,23,121,{}".format(*cn0[:4])
    two = "13,13,71,021,{},15,41,203,{},18,09,167,{},20,55,087,{}".format(*cn0[4:])
    bodies = (
        f"GNRMC,{clock},A,{place},{knots},{track},{utc:%d%m%y},,,A,V",
        f"GNGGA,{clock},{place},1,12,{hdop:.2f},281.4,M,-33.0,M,,",
        "GNGSA,A,3,02,05,07,09,13,15,18,20,26,29,30,31,1.48,0.76,1.27,1",
        f"GPGSV,2,1,{one},1",
        f"GPGSV,2,2,{two},1",
        f"GNVTG,{track},T,,M,{knots},N,{point.knots * 1.852:.3f},K,A",
    )
    return b"".join(map(with_checksum, bodies))


def gps_alone(duration_s: float) -> Iterator[Reading]:
    """What a unit reads that has a receiver and nothing else."""
    chance = random.Random(SEED)
    track = FixTracker(fix_settings(every_sensor(), source="gps@/dev/ttyAMA0", trust_dates=True))
    for at_s, octets in epochs(duration_s):
        came_s = BEGIN_S + at_s + LAG_S + abs(chance.gauss(0.0, JITTER_S))
        yield from track.feed(octets, came_s)


def with_sensors(duration_s: float) -> Iterator[Reading]:
    """What a unit with every part reads, on a rough trail at night."""
    return _in_order(gps_alone(duration_s), *_sensors(duration_s))


def in_town(duration_s: float) -> Iterator[Reading]:
    """What a unit with a receiver and a zone pack reads, in a town that has no end."""
    near: Surroundings | None = None
    for reading in gps_alone(duration_s):
        yield reading
        fix = reading.value
        if not isinstance(fix, Fix):
            continue
        if near is None or _apart_m(near, fix) >= again_m(near):
            near = town_about(fix.lat_deg, fix.lon_deg)
            came_s = reading.mono_s + 0.03
            yield Reading(Channel.SURROUNDINGS, near, came_s, "zones:town.gpkg")


def town_about(lat_deg: float, lon_deg: float) -> Surroundings:
    """The houses within a kilometre, one on each lot and each its own; always the same."""
    row, column = _lot(lat_deg, lon_deg)
    reach = math.ceil(LEAST_M / LOT_M)
    houses = tuple(
        _house(row + up, column + aside)
        for up in range(-reach, reach + 1)
        for aside in range(-reach, reach + 1)
        if math.hypot(up, aside) * LOT_M <= LEAST_M
    )
    return on_grain(Surroundings(lat_deg, lon_deg, LEAST_M, houses, ("town.gpkg",), ("2026-11",)))


def _lot(lat_deg: float, lon_deg: float) -> tuple[int, int]:
    north_m = (lat_deg - HOME[0]) * M_PER_DEG
    east_m = (lon_deg - HOME[1]) * M_PER_DEG * PARALLEL
    return math.floor(north_m / LOT_M), math.floor(east_m / LOT_M)


def _house(row: int, column: int) -> Feature:
    chance = random.Random(row * 1_000_003 + column)
    corners, turn = chance.choice((4, 4, 4, 6, 8)), chance.uniform(0.0, math.tau)
    middle = (row + chance.uniform(0.3, 0.7), column + chance.uniform(0.3, 0.7))
    ring = []
    for number in range(corners):
        angle, size_m = turn + number * math.tau / corners, chance.uniform(5.0, 9.0)
        north_m = middle[0] * LOT_M + size_m * math.sin(angle)
        east_m = middle[1] * LOT_M + size_m * math.cos(angle)
        place = HOME[1] + east_m / M_PER_DEG / PARALLEL, HOME[0] + north_m / M_PER_DEG
        ring.append(place)
    ident = f"way/{abs(hash((row, column))) % 10**9}"
    return Feature("dwelling", ident, "", "polygon", ((*ring, ring[0]),))


def _apart_m(near: Surroundings, fix: Fix) -> float:
    north_m = (fix.lat_deg - near.lat_deg) * M_PER_DEG
    return math.hypot(north_m, (fix.lon_deg - near.lon_deg) * M_PER_DEG * PARALLEL)


def _in_order(*streams: Iterator[Reading]) -> Iterator[Reading]:
    return heapq.merge(*streams, key=lambda one: one.mono_s)


def _beats(period_s: float, duration_s: float, seed: int) -> Iterator[float]:
    """The instants of a look, each a little late; a thread keeps its beat."""
    chance = random.Random(seed)
    due_s = BEGIN_S + chance.random() * period_s
    while due_s < BEGIN_S + duration_s:
        yield due_s + abs(chance.gauss(0.0, 0.0004))
        due_s += period_s


def _sensors(duration_s: float) -> list[Iterator[Reading]]:
    chance = random.Random(SEED + 1)

    def bh1750(lux: float, share: float) -> Callable[[float], Light]:
        def light(_: float) -> Light:
            count = max(1, round(chance.gauss(lux, lux * share) * COUNTS_PER_LUX))
            return Light(count / COUNTS_PER_LUX, (0.2 * count + 3.0) / COUNTS_PER_LUX)

        return light

    def tcs34725(_: float) -> Light:
        lux = chance.gauss(300.0, 6.0)
        return Light(lux, 0.36 * lux + 0.2, chance.gauss(0.815, 0.003))

    def supply(_: float) -> Supply:
        return Supply(True, round(round(chance.gauss(13.8, 0.06) / VOLTS_A_STEP) * VOLTS_A_STEP, 3))

    def rtc(at_s: float) -> RtcTime:
        utc = START + timedelta(seconds=at_s - BEGIN_S)
        return RtcTime(utc.replace(microsecond=0), 1.0)

    def looks(
        channel: Channel,
        source: str,
        value: Callable[[float], Value],
        period_s: float,
        fresh_s: float | None,
        lag_s: float = 0.0,
    ) -> Iterator[Reading]:
        seed = round(period_s * 100)  # the chips of one bus are read in turn, at one beat
        for due_s in _beats(period_s, duration_s, seed):
            yield Reading(channel, value(due_s), due_s + lag_s, source, fresh_s)

    head, sky = bh1750(850.0, 0.02), bh1750(1.6, 0.3)
    return [
        looks(Channel.LIGHT_HEAD, "bh1750@i2c-1:0x23", head, 0.25, 1.75),
        looks(Channel.LIGHT_TAIL, "tcs34725@i2c-1:0x29", tcs34725, 0.25, 1.75, 0.002),
        looks(Channel.LIGHT_AMBIENT, "bh1750@i2c-1:0x5c", sky, 0.25, 1.75, 0.004),
        looks(Channel.SUPPLY_HEAD, "ads1115@i2c-1:0x48:0", supply, 0.25, 1.75, 0.006),
        looks(Channel.SUPPLY_TAIL, "ads1115@i2c-1:0x48:1", supply, 0.25, 1.75, 0.015),
        looks(Channel.TETHER, "gpio17", lambda _: Tether(TetherState.IN), 1.0, 2.5, 0.3),
        looks(Channel.ENGINE, "gpio27", lambda _: Engine(True), 1.0, 2.5, 0.6),
        looks(Channel.RTC, "ds3231@i2c-1:0x68", rtc, 10.0, None),
        looks(Channel.JOURNAL, "journal", lambda at_s: Disk(28_000 - at_s / 100), 10.0, None, 0.4),
    ]
