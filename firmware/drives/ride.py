"""A synthetic receiver: the sentences that a GPS module sends while a sled rides as it is told.

It makes a scripted ride readable by hand. The sled moves along the shortest line on the WGS 84
ellipsoid, its speed changes at once or along a ramp, and each epoch is an RMC and a GGA (and a
GST where an error is given) with true checksums, like NMEA 0183 4.10 from a common module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from firmware.units import MPS_PER_KNOT

_SEMI_MAJOR_M = 6378137.0  # WGS 84
_ECCENTRICITY_2 = 0.00669437999014  # WGS 84, e squared
_STEP_M = 50.0  # a leg this short is straight to less than a millimetre


@dataclass(frozen=True, slots=True)
class Change:
    """What one `ride` line changes; absent means as before.

    `over_s` spreads a change of speed evenly over so many seconds. `state` is `fix` for a valid
    position, `void` for status V, `stop` for a receiver that falls silent.
    """

    lat_deg: float | None = None
    lon_deg: float | None = None
    heading_deg: float | None = None
    speed_mps: float | None = None
    over_s: float = 0.0
    rate_hz: float | None = None
    hdop: float | None = None
    gst_m: float | None = None
    state: str = "fix"


@dataclass(frozen=True, slots=True)
class Motion:
    """Where the sled is at an instant, and how it goes on from there."""

    at_s: float
    lat_deg: float
    lon_deg: float
    heading_deg: float
    speed_mps: float
    accel_mps2: float = 0.0
    ramp_end_s: float = -math.inf
    ramp_end_mps: float = 0.0

    def at(self, at_s: float) -> Motion:
        """The motion at a later instant."""
        motion = self
        if motion.at_s < motion.ramp_end_s <= at_s:
            motion = replace(
                motion._moved(motion.ramp_end_s),
                speed_mps=motion.ramp_end_mps,
                accel_mps2=0.0,
                ramp_end_s=-math.inf,
            )
        return motion._moved(at_s)

    def _moved(self, at_s: float) -> Motion:
        elapsed_s = at_s - self.at_s
        if elapsed_s <= 0:
            return self
        distance_m = self.speed_mps * elapsed_s + self.accel_mps2 * elapsed_s**2 / 2
        lat_deg, lon_deg, heading_deg = travel(
            self.lat_deg, self.lon_deg, self.heading_deg, distance_m
        )
        return replace(
            self,
            at_s=at_s,
            lat_deg=lat_deg,
            lon_deg=lon_deg,
            heading_deg=heading_deg,
            speed_mps=self.speed_mps + self.accel_mps2 * elapsed_s,
        )

    def changed(self, change: Change) -> Motion:
        """The motion from the same instant on, after a `ride` line."""
        motion = replace(
            self,
            lat_deg=self.lat_deg if change.lat_deg is None else change.lat_deg,
            lon_deg=self.lon_deg if change.lon_deg is None else change.lon_deg,
            heading_deg=self.heading_deg if change.heading_deg is None else change.heading_deg,
        )
        if change.speed_mps is None:
            return motion
        if not change.over_s:
            return replace(motion, speed_mps=change.speed_mps, accel_mps2=0.0, ramp_end_s=-math.inf)
        return replace(
            motion,
            accel_mps2=(change.speed_mps - motion.speed_mps) / change.over_s,
            ramp_end_s=motion.at_s + change.over_s,
            ramp_end_mps=change.speed_mps,
        )


def travel(
    lat_deg: float, lon_deg: float, heading_deg: float, distance_m: float
) -> tuple[float, float, float]:
    """Latitude, longitude and heading after so many metres along the shortest line.

    Within 1 cm of the exact geodesic for 100 km, away from the poles.
    """
    legs = max(1, math.ceil(abs(distance_m) / _STEP_M))
    leg_m = distance_m / legs
    for _ in range(legs):
        middle_lat_deg, _, middle_heading_deg = _leg(
            lat_deg,
            lon_deg,
            heading_deg,
            mean_lat_deg=lat_deg,
            mean_heading_deg=heading_deg,
            distance_m=leg_m / 2,
        )
        lat_deg, lon_deg, heading_deg = _leg(
            lat_deg,
            lon_deg,
            heading_deg,
            mean_lat_deg=middle_lat_deg,
            mean_heading_deg=middle_heading_deg,
            distance_m=leg_m,
        )
    return lat_deg, (lon_deg + 180.0) % 360.0 - 180.0, heading_deg % 360.0


def _leg(
    lat_deg: float,
    lon_deg: float,
    heading_deg: float,
    *,
    mean_lat_deg: float,
    mean_heading_deg: float,
    distance_m: float,
) -> tuple[float, float, float]:
    """One straight leg, by the ellipsoid's radii of curvature at the leg's own middle."""
    sin_lat = math.sin(math.radians(mean_lat_deg))
    cos_lat = math.cos(math.radians(mean_lat_deg))
    heading = math.radians(mean_heading_deg)
    root = math.sqrt(1.0 - _ECCENTRICITY_2 * sin_lat**2)
    prime_m = _SEMI_MAJOR_M / root
    meridian_m = _SEMI_MAJOR_M * (1.0 - _ECCENTRICITY_2) / root**3
    east_rad = distance_m * math.sin(heading) / (prime_m * cos_lat)
    north_rad = distance_m * math.cos(heading) / meridian_m
    return (
        lat_deg + math.degrees(north_rad),
        lon_deg + math.degrees(east_rad),
        heading_deg + math.degrees(east_rad * sin_lat),
    )


def with_checksum(body: str) -> bytes:
    """A sentence as it stands on the wire, from what is between `$` and `*`."""
    octets = body.encode("ascii")
    check = 0
    for octet in octets:
        check ^= octet
    return b"$%s*%02X\r\n" % (octets, check)


def epoch(
    motion: Motion, utc: datetime, hdop: float = 0.9, gst_m: float | None = None, void: bool = False
) -> bytes:
    """The sentences of one epoch.

    The speed is cut, not rounded, at the fourth decimal of a knot: 55 mph must not be sent as
    55.0001.
    """
    utc = utc.astimezone(UTC)
    clock = f"{utc:%H%M%S}.{utc.microsecond // 1000:03d}"
    if void:
        return with_checksum(f"GPRMC,{clock},V,,,,,,,{utc:%d%m%y},,,N") + with_checksum(
            f"GPGGA,{clock},,,,,0,00,99.9,,,,,,"
        )
    place = f"{_angle(motion.lat_deg, 2, 'NS')},{_angle(motion.lon_deg, 3, 'EW')}"
    knots = math.floor(motion.speed_mps / MPS_PER_KNOT * 1e4 + 1e-6) / 1e4
    track_deg = round(motion.heading_deg, 2) % 360.0
    sentences = with_checksum(
        f"GPRMC,{clock},A,{place},{knots:.4f},{track_deg:.2f},{utc:%d%m%y},,,A"
    ) + with_checksum(f"GPGGA,{clock},{place},1,12,{hdop:.1f},300.0,M,-33.0,M,,")
    if gst_m is None:
        return sentences
    # The radius of an error is the root of the sum of the squares of its two parts.
    part_m = gst_m / math.sqrt(2.0)
    return sentences + with_checksum(
        f"GPGST,{clock},{gst_m:.3f},{part_m:.3f},{part_m:.3f},0.0,{part_m:.3f},{part_m:.3f},5.000"
    )


def _angle(angle_deg: float, digits: int, hemispheres: str) -> str:
    """Degrees and minutes as NMEA writes them, to 2 mm."""
    micro_minutes = round(abs(angle_deg) * 60e6)
    degrees, rest = divmod(micro_minutes, 60_000_000)
    return f"{degrees:0{digits}d}{rest / 1e6:09.6f},{hemispheres[angle_deg < 0]}"


def sentences(
    changes: list[tuple[float, Change]], start: datetime, end_s: float
) -> Iterator[tuple[float, bytes]]:
    """What the receiver sends, epoch by epoch, from the first change to before `end_s`.

    The first change must hold a place; heading and speed are 0, the rate is 1 Hz and the HDOP
    0.9 until they are given. A change of rate begins a new beat at its own instant.
    """
    first_s, first = changes[0]
    if first.lat_deg is None or first.lon_deg is None:
        raise ValueError("the first ride line must have lat= and lon=")
    motion = Motion(first_s, first.lat_deg, first.lon_deg, 0.0, 0.0)
    rate_hz, hdop, gst_m = 1.0, 0.9, None
    beat_s, beats = first_s, 0
    for index, (at_s, change) in enumerate(changes):
        next_s = changes[index + 1][0] if index + 1 < len(changes) else end_s
        motion = motion.at(at_s).changed(change)
        if change.rate_hz is not None:
            rate_hz, beat_s, beats = change.rate_hz, at_s, 0
        hdop = hdop if change.hdop is None else change.hdop
        gst_m = gst_m if change.gst_m is None else change.gst_m
        due_s = round(beat_s + beats / rate_hz, 3)
        while due_s < next_s:
            if change.state != "stop":
                motion = motion.at(due_s)
                utc = start + timedelta(seconds=due_s)
                yield due_s, epoch(motion, utc, hdop, gst_m, change.state == "void")
            beats += 1
            due_s = round(beat_s + beats / rate_hz, 3)
