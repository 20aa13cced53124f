"""GPX tracks: points with a time become fixes; the only import of gpxpy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

import gpxpy
from gpxpy.gpx import GPX, GPXException, GPXTrackPoint

from firmware.config.schema import Gps
from firmware.errors import SledwardenError
from firmware.gps.dates import is_carried
from firmware.gps.epochs import distance_m
from firmware.gps.fixes import EpochReport
from firmware.readings import Channel, Fix, Reading
from firmware.units import mps

_LONGEST_S = 30.0
"""Points further apart say nothing of the speed between them."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a track: seconds since the first one, and what it says."""

    at_s: float
    report: EpochReport


def read_track(path: Path, gps: Gps) -> tuple[Point, ...]:
    """The points of all tracks that have a time, in order of time.

    A speed is that of the file (GPX 1.0, or an extension named `speed`, in m/s), else derived
    from two points. Raises SledwardenError for what is no GPX, or has no point with a time.
    """
    try:
        gpx = gpxpy.parse(path.read_text(encoding="utf-8-sig"))
    except (GPXException, UnicodeDecodeError) as fault:
        raise SledwardenError(str(path), f"is no GPX that can be read: {fault}.") from fault
    stamped = [(point, utc) for point in _points(gpx) if (utc := _utc(point)) is not None]
    if not stamped:
        raise SledwardenError(
            str(path),
            "has no track point with a time: speed can't be told.",
            "Export it again with its times.",
        )
    points: list[Point] = []
    for point, utc in stamped:
        last = points[-1].report if points else None
        if last is not None and last.utc is not None and utc <= last.utc:
            continue
        begin = points[0].report.utc if points else utc
        assert begin is not None  # set just above for every point
        at_s = (utc - begin).total_seconds()
        hdop = point.horizontal_dilution
        speed_mps, track_deg = _speed_mps(point), None
        is_derived = False
        if last is not None and 0.0 < at_s - points[-1].at_s <= _LONGEST_S:
            moved_m = distance_m(last.lat_deg, last.lon_deg, point.latitude, point.longitude)
            track_deg = _bearing_deg(last, point) if moved_m > 1.0 else None
            if speed_mps is None:
                speed_mps, is_derived = moved_m / (at_s - points[-1].at_s), True
        error_mph = gps.derived_error_mph if is_derived else gps.speed_error_mph
        report = EpochReport(
            sentence=0,
            lat_deg=point.latitude,
            lon_deg=point.longitude,
            error_m=gps.position_error_m if hdop is None else hdop * gps.hdop_m,
            mode=2 if point.elevation is None else 3,
            utc=utc,
            speed_mps=speed_mps,
            error_mps=None if speed_mps is None else mps(error_mph),
            track_deg=track_deg,
            derived=is_derived,
        )
        points.append(Point(at_s, report))
    if len(points) == 1 and len(stamped) > 1:
        raise SledwardenError(
            str(path),
            f"its {len(stamped)} times run backward or stand still: no point comes after the "
            "first, and speed can't be told.",
            "Export it again with its points in the order of the ride.",
        )
    return tuple(points)


def refuse_without_speed(path: Path, points: tuple[Point, ...]) -> None:
    """Raises SledwardenError with the reason where no point of a track has a speed to judge."""
    if any(point.report.speed_mps is not None for point in points):
        return
    nearest_s = min((after.at_s - before.at_s for before, after in pairwise(points)), default=None)
    why = (
        "it has a single point with a time"
        if nearest_s is None
        else (f"its points are {nearest_s:.0f} s apart and more, over {_LONGEST_S:.0f} s")
    )
    raise SledwardenError(
        str(path),
        f"{why}, and no speed of their own: none can be told.",
        "Record a point every second or so.",
    )


def of_track(points: tuple[Point, ...], source: str) -> Iterator[tuple[float, Reading]]:
    """The points as fixes; one without a speed can't be judged and is left out."""
    gaps_s = [after.at_s - before.at_s for before, after in pairwise(points)]
    fresh_s = max(2.0, 2.0 * median(gaps_s) if gaps_s else 2.0) + 0.5
    for point in points:
        one = point.report
        if one.speed_mps is None or one.error_mps is None:
            continue
        fix = Fix(
            one.lat_deg,
            one.lon_deg,
            one.error_m,
            one.speed_mps,
            one.error_mps,
            one.track_deg,
            one.utc,
            one.mode,
            one.derived,
        )
        yield point.at_s, Reading(Channel.FIX, fix, point.at_s, source, fresh_s)


def _points(gpx: GPX) -> Iterator[GPXTrackPoint]:
    for track in gpx.tracks:
        for segment in track.segments:
            yield from segment.points


def _utc(point: GPXTrackPoint) -> datetime | None:
    """The time of a point, in UTC where it says no zone; None without one that can be carried."""
    if point.time is None:
        return None
    try:
        utc = (point.time if point.time.tzinfo else point.time.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:  # the last hours of year 9999, west of Greenwich
        return None
    return utc if is_carried(utc.date()) else None


def _speed_mps(point: GPXTrackPoint) -> float | None:
    """The speed that the file itself says, wherever the maker of the device put it."""
    if point.speed is not None:
        return float(point.speed)
    for extension in point.extensions:
        for element in extension.iter():
            if str(element.tag).rpartition("}")[2] == "speed" and element.text:
                try:
                    speed_mps = float(element.text)
                except ValueError:
                    continue
                if math.isfinite(speed_mps) and speed_mps >= 0.0:
                    return speed_mps
    return None


def _bearing_deg(start: EpochReport, end: GPXTrackPoint) -> float:
    north = end.latitude - start.lat_deg
    east = (end.longitude - start.lon_deg) * math.cos(math.radians(start.lat_deg))
    return math.degrees(math.atan2(east, north)) % 360.0
