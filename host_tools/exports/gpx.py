"""GPX 1.1: the track with speeds as Garmin's extension, findings and events as waypoints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from gpxpy.gpx import GPX, GPXTrack, GPXTrackPoint, GPXTrackSegment, GPXWaypoint

from firmware import __version__
from host_tools.exports.rows import clean, marks, title, words
from host_tools.journals.ride import Leg, Ride

_POINT = "http://www.garmin.com/xmlschemas/TrackPointExtension/v2"
_MPS_PER_MPH = 0.44704


def write(ride: Ride, path: Path) -> None:
    """Writes a track for each boot, with a segment for each stretch without a hole."""
    gpx = GPX()
    gpx.creator = f"sledwarden {__version__}"
    gpx.name = clean(ride.unit)
    gpx.nsmap["gpxtpx"] = _POINT
    for row in marks(ride):
        if row.lat is None or row.lon is None:
            continue
        gpx.waypoints.append(
            GPXWaypoint(
                round(row.lat, 7),
                round(row.lon, 7),
                time=row.t,
                name=title(row),
                description=words(row),
                type=row.record,
            )
        )
    gpx.tracks = [_track(leg, ride.unit) for leg in ride.legs]
    path.write_text(gpx.to_xml("1.1"), encoding="utf-8")


def _track(leg: Leg, unit: str) -> GPXTrack:
    one = GPXTrack(name=clean(f"{unit}, boot {leg.start.boot}"))
    one.description = leg.redated() or None
    track = leg.track
    for begin, end in leg.stretches():
        segment = GPXTrackSegment()
        for number in range(begin, end):
            point = GPXTrackPoint(
                round(track.lat_deg[number], 7),
                round(track.lon_deg[number], 7),
                time=leg.utc(track.at_s[number]),
            )
            extension = ET.Element(f"{{{_POINT}}}TrackPointExtension")
            speed = ET.SubElement(extension, f"{{{_POINT}}}speed")
            speed.text = f"{track.speed_mph[number] * _MPS_PER_MPH:.2f}"
            point.extensions.append(extension)
            segment.points.append(point)
        one.segments.append(segment)
    return one
