"""The rider's marks and reports as GeoJSON (RFC 7946), for the card, a friend, a map's maker."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from firmware.readings import Feature
from firmware.rider.marks import asked

log = logging.getLogger("sledwarden.marks")

Json = dict[str, Any]


def collection(features: list[Any]) -> Json:
    """A GeoJSON FeatureCollection."""
    return {"type": "FeatureCollection", "features": features}


def mark_feature(
    kind: str,
    ident: str,
    place: tuple[float, float],
    left_s: float,
    until: datetime | None = None,
    by: str = "",
) -> Json:
    """A mark at a place (latitude, longitude); it says until when it stands or, without a date, for
    how long."""
    properties: Json = {"kind": kind, "id": ident, "name": "marked by a rider"}
    if until is None:
        properties["left_s"] = round(left_s)
    else:
        properties["until"] = _said(until)
    if by:
        properties["by"] = by
    lat_deg, lon_deg = place
    corner = [round(lon_deg, 7), round(lat_deg, 7)]
    geometry = {"type": "Point", "coordinates": corner}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def report_feature(
    ident: str,
    why: str,
    found: Feature | None,
    packs: str,
    reported: datetime | None = None,
    by: str = "",
) -> Json:
    """A report with the shape of what it speaks of, where that was found."""
    properties: Json = {"id": ident, "reason": why}
    if found is not None:
        properties |= {"kind": found.kind, "id": found.id, "name": found.name}
    if packs:
        properties["packs"] = packs
    if reported is not None:
        properties["reported"] = _said(reported)
    if by:
        properties["by"] = by
    geometry = None if found is None else _geometry(found)
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def arguments_of(document: object) -> Iterator[str]:
    """What to ask a unit for, of each mark in a GeoJSON document; raises ValueError for what is no
    such document. What is no mark is passed over, and said in the log."""
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise ValueError("is no GeoJSON FeatureCollection")
    for number, feature in enumerate(features, 1):
        try:
            line = _argument(feature)
            asked(line)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:  # MarkError is one
            log.warning("mark %d is none: %s", number, fault)
            continue
        yield line


def _argument(feature: Json) -> str:
    properties = feature["properties"]
    lon_deg, lat_deg = feature["geometry"]["coordinates"][:2]
    line = f"{properties['kind']} {lat_deg} {lon_deg}"
    if properties.get("until"):
        line += f" until={properties['until']}"
    elif properties.get("left_s"):
        line += f" left={properties['left_s']}"
    return line + (f" id={properties['id']}" if properties.get("id") else "")


def _geometry(feature: Feature) -> Json:
    parts = [[list(corner) for corner in part] for part in feature.parts]
    if feature.shape == "point":
        corners = [part[0] for part in parts]
        return (
            {"type": "Point", "coordinates": corners[0]}
            if len(corners) == 1
            else {"type": "MultiPoint", "coordinates": corners}
        )
    if feature.shape == "line":
        return {"type": "MultiLineString", "coordinates": parts}
    return {"type": "Polygon", "coordinates": parts}


def _said(utc: datetime) -> str:
    return f"{utc.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
