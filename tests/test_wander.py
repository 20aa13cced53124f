"""Half an hour at the edge of a zone with a real receiver's wander: one alert, not twenty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import fmean

import pytest
from judging import configured, square

from firmware import monitor
from firmware.gps.fixes import FixSettings, FixTracker
from firmware.law import packs as law
from firmware.maps.plane import Plane
from firmware.readings import Channel, Feature, Fix, Missing, Reading, Surroundings
from firmware.units import metres, mps

NMEA = Path(__file__).parent / "data" / "nmea"
HOME = (44.05, -88.45)
NIGHT = datetime(2026, 1, 16, 5, 0, tzinfo=UTC)  # 23:00 of civil time
HALF_HOUR_S = 1800.0
LAW = law.load("wi")

STANDS = {
    # file: the seconds of it at which its receiver stands still; how far it wanders meanwhile
    "dotmorten_tahoe_dusk.log": (0.0, 280.0),  # a handheld, 0.5 Hz: 6 m by 5 m
    "ublox-8.log": (0.0, 75.0),  # just switched on, 1 Hz: 13 m by 6 m
}


def recorded(name: str) -> list[Fix]:
    """The trusted fixes of a stand, as the real gates let them through."""
    tracker = FixTracker(FixSettings(floor=date(2000, 1, 1), trust_dates=True, source="test"))
    fixes, at_s = [], 0.0
    for line in (NMEA / name).read_bytes().splitlines(keepends=True):
        for reading in tracker.feed(line, at_s):
            if isinstance(reading.value, Fix):
                fixes.append((reading.value.utc, reading.value))
        at_s += 0.02
    begin = next(utc for utc, _ in fixes if utc is not None)
    first_s, last_s = STANDS[name]
    inside = [
        fix
        for utc, fix in fixes
        if utc is not None and first_s <= (utc - begin).total_seconds() <= last_s
    ]
    assert len(inside) > 60
    return inside[2:]  # until the first GGA its error is not told


def wander(name: str, period_s: float) -> Iterator[tuple[float, float, float, Fix]]:
    """The stand for half an hour, to its end and back again: the instant, metres east and north of
    its middle, and the fix."""
    fixes = recorded(name)
    middle = fmean(one.lat_deg for one in fixes), fmean(one.lon_deg for one in fixes)
    plane = Plane(*middle)
    there_and_back = [*fixes, *fixes[-2:0:-1]]
    for number in range(int(HALF_HOUR_S / period_s)):
        fix = there_and_back[number % len(there_and_back)]
        east_m, north_m = plane.xy(fix.lat_deg, fix.lon_deg)
        yield number * period_s, east_m, north_m, fix


def alerts(
    name: str, zone: Feature, edge_ft: float, ride_mph: float = 0.0, period_s: float = 1.0
) -> Counter[str]:
    """How often each alert is raised, standing so many feet east of home, or riding north there."""
    core = monitor.build(configured(), [LAW], frozenset({Channel.FIX, Channel.SURROUNDINGS}))
    cover = square("coverage", HOME, 60_000.0, "all")
    cover = replace(cover, attributes={"of": "dwelling private"})
    around = Surroundings(*HOME, 20_000.0, (zone, cover))
    core.step(Reading(Channel.SURROUNDINGS, around, 0.0, "test"), 0.0)
    plane, raised = Plane(*HOME), Counter[str]()
    for at_s, east_m, north_m, fix in wander(name, period_s):
        along_m = mps(ride_mph) * (at_s - HALF_HOUR_S / 2)
        lat_deg, lon_deg = plane.place(metres(edge_ft) + east_m, north_m + along_m)
        there = replace(fix, lat_deg=lat_deg, lon_deg=lon_deg, utc=NIGHT + timedelta(seconds=at_s))
        if ride_mph:
            there = replace(there, speed_mps=mps(ride_mph), track_deg=0.0)
        outcome = core.step(Reading(Channel.FIX, there, at_s, "test", 2.5), at_s)
        raised.update(one.name for _, one in outcome.alerts if one.state == "raised")
    assert not isinstance(core.fix, Missing)
    return raised


LAND = square("private", HOME, 300.0, "land")


@pytest.mark.parametrize("name", STANDS)
@pytest.mark.parametrize("off_ft", [-10.0, 0.0, 10.0, 20.0])
def test_a_stand_at_the_edge_of_private_land_is_one_alert_at_most(name: str, off_ft: float) -> None:
    raised = alerts(name, LAND, 300.0 + off_ft)
    assert raised["zone-entered"] <= 1
    if off_ft <= 0.0:
        assert raised["zone-entered"] == 1


@pytest.mark.parametrize("name", STANDS)
def test_a_stand_at_the_edge_of_a_house_s_zone_is_no_alert_at_all(name: str) -> None:
    for off_ft in (0.0, 10.0):
        raised = alerts(name, square("dwelling", HOME, 20.0), 170.0 + off_ft)
        assert raised["zone-speed"] == 0


@pytest.mark.parametrize("name", STANDS)
@pytest.mark.parametrize("off_ft", [0.0, 10.0, 20.0])
def test_a_ride_along_the_edge_of_a_zone_is_one_alert(name: str, off_ft: float) -> None:
    """9 miles at 18 mph beside a wall of as many, at the edge of its 150 ft."""
    plane = Plane(*HOME)
    corners = [plane.place(x, y) for x, y in ((-20, -9e3), (0, -9e3), (0, 9e3), (-20, 9e3))]
    ring = tuple((lon, lat) for lat, lon in [*corners, corners[0]])
    wall = Feature("dwelling", "wall", "", "polygon", (ring,))
    raised = alerts(name, wall, 150.0 + off_ft, 18.0)
    assert raised and set(raised.values()) == {1}  # warned ahead once, told red once
    if off_ft <= 10.0:
        assert raised["zone-speed"] == 1
