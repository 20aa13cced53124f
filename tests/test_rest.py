"""Rest on real recordings that stand still, and slow rides that must not be taken for it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from firmware.drives.ride import with_checksum
from firmware.gps.epochs import distance_m, paced
from firmware.gps.fixes import FixSettings, FixTracker
from firmware.gps.path import Path as Places
from firmware.readings import Fix
from firmware.units import mph, mps, mps_of_knots

DATA = Path(__file__).parent / "data"
SETTINGS = FixSettings(floor=date(2000, 1, 1), trust_dates=True)

STILL = {
    "rest/signalk_moored.log": (1201, 3.86),
    "rest/signalk_berthed.log": (142, 0.11),
    "nmea/aerorust_sat_info.log": (36, 0.92),
    "nmea/bu353s4.log": (25, 1.32),
    "nmea/et-332.log": (19, 0.27),
    "nmea/hemi.log": (21, 0.04),
    "nmea/neo-m8n.log": (23, 0.16),
    "nmea/nl551e.log": (14, 0.23),
    "nmea/rx210.log": (40, 0.79),
    "nmea/sirfstarv-nmea.log": (59, 0.21),
    "nmea/tr737A+.log": (7, 1.45),
    "nmea/ublox-8.log": (72, 0.28),
    "nmea/unicore-um621.log": (16, 2.79),
}
"""Recordings of receivers that stood still: how many fixes they give, and a speed in mph that they
say at least once, or more."""


def fixes_of(file: str) -> list[tuple[float, Fix]]:
    tracker = FixTracker(SETTINGS)
    return [
        (at_s, reading.value)
        for at_s, octets in paced((DATA / file).read_bytes())
        for reading in tracker.feed(octets, at_s)
        if isinstance(reading.value, Fix)
    ]


@pytest.mark.parametrize("file", STILL)
def test_a_receiver_that_stands_still_says_0_mph_from_its_second_fix_on(file: str) -> None:
    count, _ = STILL[file]
    fixes = [fix for _, fix in fixes_of(file)]
    assert len(fixes) == count
    assert {fix.speed_mps for fix in fixes[1:]} == {0.0}
    assert {fix.track_deg for fix in fixes[1:]} == {None}


@pytest.mark.parametrize("file", STILL)
def test_those_recordings_say_speeds_that_are_none(file: str) -> None:
    said: list[float] = []
    tracker = FixTracker(SETTINGS, lambda epoch: said.append(epoch.speed_mps or 0.0))
    tracker.feed((DATA / file).read_bytes(), 0.0)
    tracker.finish()
    assert mph(max(said)) >= STILL[file][1]


@pytest.mark.parametrize(
    ("file", "least"), [("nmea/google_mtv_f9k.nmea", 900), ("nmea/dotmorten_tahoe_dusk.log", 1700)]
)
def test_a_car_that_goes_where_it_says_is_never_at_rest(file: str, least: int) -> None:
    said: dict[datetime | None, float] = {}
    tracker = FixTracker(SETTINGS, lambda one: said.update({one.utc: one.speed_mps or 0.0}))
    tracker.feed((DATA / file).read_bytes(), 0.0)
    tracker.finish()
    fixes = fixes_of(file)
    gone = 0
    for at, (at_s, fix) in enumerate(fixes):
        then = next((one for s, one in reversed(fixes[:at]) if at_s - s >= 5.0), fix)
        net_m = distance_m(then.lat_deg, then.lon_deg, fix.lat_deg, fix.lon_deg)
        if said[fix.utc] >= mps(1.0) and net_m >= 12.0:  # 6 s of a 0.5 Hz receiver
            assert fix.speed_mps > 0.0
            gone += 1
    assert gone >= least


def ride(
    speeds_mph: Iterator[float] | list[float], *, noise_m: float = 0.0, seed: int = 1
) -> list[Fix]:
    """The fixes of a second each, going north, with a course and places that are off by so much.

    A receiver's own filter makes the error of its places wander and not jump: by a tenth a second.
    """
    draw = random.Random(seed)
    tracker = FixTracker(SETTINGS)
    north_m = off_north_m = off_east_m = 0.0
    fixes: list[Fix] = []
    for second, speed_mph in enumerate(speeds_mph):
        north_m += mps(speed_mph)
        off_north_m = 0.9 * off_north_m + draw.gauss(0.0, noise_m * math.sqrt(0.19))
        off_east_m = 0.9 * off_east_m + draw.gauss(0.0, noise_m * math.sqrt(0.19))
        knots = max(0.0, mps(speed_mph) / mps_of_knots(1.0) + draw.gauss(0.0, noise_m / 10.0))
        lat = 30.0 + (north_m + off_north_m) / 1853.25
        lon = 30.0 + off_east_m / 1853.25 / math.cos(math.radians(45.5))
        clock = f"{10 + second // 3600:02d}{second // 60 % 60:02d}{second % 60:02d}.00"
        body = f"GPRMC,{clock},A,45{lat:08.5f},N,087{lon:08.5f},W,{knots:.3f},0.0,150124,,,A"
        readings = tracker.feed(with_checksum(body), float(second))
        fixes += [one.value for one in readings if isinstance(one.value, Fix)]
    return fixes


@pytest.mark.parametrize(
    ("speed_mph", "seen_s"),
    # After 5 s at 2 mph, 0.89 m/s, the way of the last 5 s is 4.5 m: from 0.8 m/s on it counts.
    # At 5 mph, over 4 knots, it is seen with the first fix.
    [(2.0, 5), (2.5, 5), (3.0, 4), (4.0, 3), (5.0, 1)],
)
def test_a_start_at_walking_pace_is_seen_within_5_s_and_stays(
    speed_mph: float, seen_s: int
) -> None:
    fixes = ride([0.0] * 60 + [speed_mph] * 120)
    assert {fix.speed_mps for fix in fixes[1:60]} == {0.0}
    told = [mph(fix.speed_mps) for fix in fixes[60 + seen_s :]]
    assert told == pytest.approx([speed_mph] * len(told), abs=0.01)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("speed_mph", "noise_m"), [(2.0, 0.5), (2.5, 1.0), (3.0, 1.0), (4.0, 1.0)])
def test_a_walking_pace_is_seen_through_what_an_ordinary_receiver_is_off_by(
    speed_mph: float, noise_m: float, seed: int
) -> None:
    fixes = ride([0.0] * 60 + [speed_mph] * 120, noise_m=noise_m, seed=seed)
    assert {fix.speed_mps for fix in fixes[5:60]} == {0.0}
    moving = [mph(fix.speed_mps) for fix in fixes[70:]]
    assert sum(one >= 1.0 for one in moving) >= 0.9 * len(moving)


def test_a_stop_from_walking_pace_is_rest_within_5_s() -> None:
    fixes = ride([0.0] * 10 + [3.0] * 30 + [0.0] * 30)
    assert {fix.speed_mps for fix in fixes[45:]} == {0.0}


def test_a_way_without_courses_is_told_by_its_length_alone() -> None:
    path = Places()
    for second in range(6):
        path.add(float(second), 45.0 + second * 1e-5, -87.0, 1.1, None)
    way = path.way(5.0)
    assert way is not None
    assert way.miss_m is None
    assert way.net_m == pytest.approx(5.56, abs=0.01)  # 5e-5 degrees of 111,195 m
    assert way.said_m == pytest.approx(5.5)


def test_a_way_that_goes_elsewhere_than_its_courses_misses_by_both() -> None:
    path = Places()
    for second in range(6):
        path.add(float(second), 45.0 + second * 1e-5, -87.0, 1.0, 90.0)  # north, and says east
    way = path.way(5.0)
    assert way is not None
    assert way.miss_m == pytest.approx(math.hypot(5.56, 5.0), abs=0.01)
