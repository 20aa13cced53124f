"""GeoJSON (RFC 7946): the track as lines of like standing, findings and events as points.

A line has its dates in `coordTimes` and its speeds in `speeds_mph`, one for each corner. What has
no place has a null geometry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from host_tools.exports.rows import STANDING, Line, Row, lines, marks, place
from host_tools.journals.ride import Ride
from host_tools.replay.replaying import iso

_encode = msgspec.json.Encoder().encode


def write(ride: Ride, path: Path) -> None:
    """Writes one FeatureCollection, a feature a line."""
    with path.open("wb") as file:
        name = _encode(f"{ride.unit}, sledwarden")
        file.write(b'{"type":"FeatureCollection","name":%b,"features":[' % name)
        before = b"\n"
        for one in _features(ride):
            file.write(before + _encode(one))
            before = b",\n"
        file.write(b"\n]}\n")


def _features(ride: Ride) -> Iterator[dict[str, Any]]:
    for leg in ride.legs:
        yield from (_track(line) for line in lines(leg))
    yield from (_mark(row) for row in marks(ride))


def _track(line: Line) -> dict[str, Any]:
    leg, track = line.leg, line.leg.track
    numbers = line.numbers()
    begun = leg.dated(track.at_s[line.begin])
    corners = [[round(track.lon_deg[n], 7), round(track.lat_deg[n], 7)] for n in numbers]
    dates = [utc for n in numbers if (utc := leg.utc(track.at_s[n])) is not None]
    return {
        "type": "Feature",
        "properties": {
            "record": "track",
            "standing": STANDING[line.margin],
            "clause": line.clause or None,
            "boot": leg.start.boot,
            "top_mph": round(line.top_mph, 2),
            "from": iso(dates[0]) if dates else None,
            "to": iso(dates[-1]) if dates else None,
            "is_redated": begun.is_redated if begun is not None else None,
            "coordTimes": [iso(utc) for utc in dates],
            "speeds_mph": [round(track.speed_mph[n], 2) for n in numbers],
        },
        "geometry": {"type": "LineString", "coordinates": corners}
        if len(corners) > 1
        else {"type": "Point", "coordinates": corners[0]},
    }


def _mark(row: Row) -> dict[str, Any]:
    at = place(row)
    apart = ("lat", "lon", "speed_mph", "speed_error_mph", "track_deg", "limit_mph", "standing")
    values = {one.name: getattr(row, one.name) for one in fields(row) if one.name not in apart}
    return {
        "type": "Feature",
        "properties": {
            name: iso(value) if isinstance(value, datetime) else value
            for name, value in values.items()
        },
        "geometry": None
        if at is None
        else {"type": "Point", "coordinates": [round(one, 7) for one in at]},
    }
