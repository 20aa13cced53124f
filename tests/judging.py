"""What the tests of the rules share: a snapshot of the unit, and places measured in feet."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec

from firmware.config import reading
from firmware.config.schema import Config
from firmware.law import packs as law
from firmware.law.packs import Clause
from firmware.maps.packs import KINDS
from firmware.maps.plane import Plane
from firmware.maps.zones import Nearby
from firmware.readings import (
    Engine,
    Feature,
    Fix,
    Light,
    Missing,
    Surroundings,
    Tether,
    TetherState,
    Why,
)
from firmware.rules.base import Dark, Snapshot
from firmware.units import metres, mps

CENTRAL = ZoneInfo("America/Chicago")
HOME = (44.05, -88.45)
WI = law.load("wi")

NIGHT = Dark(by_sun=True, by_light=None)
DAY = Dark(by_sun=False, by_light=None)
DIM = Dark(by_sun=False, by_light=True)
NOT_KNOWN = Dark(None, None, "no GPS fix yet: not known whether it is dark")


def configured(text: str = "") -> Config:
    return reading.parse(f'[unit]\nid = "test"\n{text}', "test.toml")


def clause_of(citation: str) -> Clause:
    clause = WI.find(citation)
    assert clause is not None
    return clause


def fix_of(
    speed_mph: float,
    place: tuple[float, float] = HOME,
    *,
    error_mph: float = 0.5,
    error_ft: float = 10.0,
    track_deg: float | None = None,
) -> Fix:
    return Fix(
        *place,
        metres(error_ft),
        mps(speed_mph),
        mps(error_mph),
        track_deg,
        derived=error_mph == 2.0,
    )


def east_of(
    feet: float, north_ft: float = 0.0, home: tuple[float, float] = HOME
) -> tuple[float, float]:
    """The place so many feet east (and north) of another."""
    return Plane(*home).place(metres(feet), metres(north_ft))


def local_of(text: str) -> datetime:
    """An instant of Wisconsin's civil time, by its UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).astimezone(CENTRAL)


def point(kind: str, place: tuple[float, float], name: str = "it") -> Feature:
    return Feature(kind, name, "", "point", (((place[1], place[0]),),))


def square(kind: str, centre: tuple[float, float], half_ft: float, name: str = "it") -> Feature:
    """A square with its edges so many feet from its centre."""
    corners = []
    for east, north in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)):
        lat, lon = east_of(east * half_ft, north * half_ft, centre)
        corners.append((lon, lat))
    return Feature(kind, name, "", "polygon", (tuple(corners),))


def map_of(*features: Feature, is_covered: bool = True, radius_m: float = 2000.0) -> Nearby:
    whole = replace(square("coverage", HOME, 20_000.0, "cover"), attributes={"of": " ".join(KINDS)})
    cover = (whole,) if is_covered else ()
    return Nearby(Surroundings(*HOME, radius_m, (*cover, *features)))


AT_NIGHT = Snapshot(
    at_s=100.0,
    fix=fix_of(30.0),
    fix_at_s=100.0,
    head=Light(800.0, 10.0),
    tail=Light(800.0, 10.0),
    head_supply=Missing(Why.NOT_FITTED),
    tail_supply=Missing(Why.NOT_FITTED),
    head_seen_s=100.0,
    tail_seen_s=100.0,
    tether=Tether(TetherState.IN),
    engine=Engine(True),
    nearby=map_of(),
    marks=None,
    dark=NIGHT,
    local=local_of("2026-01-16T05:00:00"),  # 23:00
    modes=frozenset(),
)
"""A whole sled that rides at 30 mph at eleven of an ordinary night, with nothing near."""


def seen(**changes: object) -> Snapshot:
    """That snapshot with changes; `at_s` sets the fix's instant too unless `fix_at_s` is given."""
    if "at_s" in changes and "fix_at_s" not in changes:
        changes["fix_at_s"] = changes["at_s"]
    if "at_s" in changes:
        changes = {"head_seen_s": changes["at_s"], "tail_seen_s": changes["at_s"]} | changes
    return msgspec.structs.replace(AT_NIGHT, **changes)  # type: ignore[arg-type]  # names are Snapshot's own


NO_FIX = Missing(Why.NO_FIX)
