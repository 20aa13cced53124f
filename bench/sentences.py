"""What the receiver says in the benchmarks: rides as sentences, six an epoch, made beforehand.

Wisconsin, on the ice of a lake, in the night of 14 January 2027: all clauses of the night are in
force, and no dwelling or shanty is near.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from firmware.drives.ride import Change, Motion, epoch, sentences, travel, with_checksum
from firmware.units import MPS_PER_KNOT, mps

START = datetime(2027, 1, 15, 4, 0, tzinfo=UTC)  # 22:00 in Wisconsin
LAT_DEG, LON_DEG = 44.05, -88.43

SLOW_MPH, FAST_MPH = 40.0, 60.0
"""Kept and broken, so that each sentence of an alternating ride turns the red light."""

# GSA and two GSV, like a NEO-M9N with twelve satellites; constant, for nothing judges by them
# but GSA's mode and HDOP.
_SATELLITES = (
    with_checksum("GPGSA,A,3,02,05,07,09,13,15,18,20,26,29,30,31,1.6,0.9,1.3"),
    with_checksum("GPGSV,2,1,08,02,44,063,38,05,62,257,44,07,18,311,33,09,23,121,35"),
    with_checksum("GPGSV,2,2,08,13,71,021,46,15,41,203,41,18,09,167,27,20,55,087,43"),
)


def alternating(count: int, rate_hz: float) -> Iterator[list[bytes]]:
    """Epochs whose speed changes between 60 and 40 mph each time, 60 first; RMC comes first."""
    lat_deg, lon_deg, heading_deg = LAT_DEG, LON_DEG, 90.0
    step_m = mps((SLOW_MPH + FAST_MPH) / 2.0) / rate_hz
    for number in range(count):
        speed_mps = mps(SLOW_MPH if number % 2 else FAST_MPH)
        motion = Motion(0.0, lat_deg, lon_deg, heading_deg, speed_mps)
        octets = epoch(motion, START + timedelta(seconds=number / rate_hz))
        yield six(octets, speed_mps)
        lat_deg, lon_deg, heading_deg = travel(lat_deg, lon_deg, heading_deg, step_m)


def riding(duration_s: float, rate_hz: float) -> Iterator[tuple[float, list[bytes]]]:
    """A ride to and fro between 30 and 60 mph: each epoch with its instant and six sentences."""
    changes = [(0.0, Change(LAT_DEG, LON_DEG, 90.0, mps(45.0), rate_hz=rate_hz))]
    at_s, is_fast = 10.0, False
    while at_s < duration_s:
        is_fast = not is_fast
        turn_deg = 90.0 if (at_s // 600.0) % 2 == 0 else 270.0
        speed_mps = mps(60.0 if is_fast else 30.0)
        changes.append((at_s, Change(heading_deg=turn_deg, speed_mps=speed_mps, over_s=8.0)))
        at_s += 20.0
    for at_s, octets in sentences(changes, START, duration_s):
        yield at_s, six(octets, mps(45.0 + 15.0 * math.sin(at_s / 10.0)))


def six(rmc_gga: bytes, speed_mps: float) -> list[bytes]:
    """An epoch's six sentences: RMC, GGA, GSA, GSV, GSV, VTG."""
    rmc, gga = rmc_gga.splitlines(keepends=True)
    knots = speed_mps / MPS_PER_KNOT
    vtg = with_checksum(f"GPVTG,90.00,T,,M,{knots:.3f},N,{knots * 1.852:.3f},K,A")
    return [rmc, gga, *_SATELLITES, vtg]
