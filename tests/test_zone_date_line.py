"""Zones at the date line, from a pack: what is crossed between two fixes on its two sides."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import shapely
from judging import clause_of, configured, east_of, fix_of, map_of, seen
from packing import opened, pack_of, row

from firmware.findings import Verdict
from firmware.law.places import Entry
from firmware.maps.packs import KINDS, surroundings
from firmware.maps.zones import Nearby
from firmware.rules.base import Snapshot
from firmware.rules.zone_entry import ZoneEntry
from firmware.rules.zone_speed import ZoneSpeed

LINE = (44.05, 180.0)
LAND = msgspec.structs.replace(
    clause_of("350.10(1)(f)"), kind="zone_entry", entry=Entry(("private",))
)
DWELLINGS = clause_of("350.10(1)(g)")
ENTRY, SPEED = ZoneEntry(configured()), ZoneSpeed(configured())


def on_globe(place: tuple[float, float]) -> tuple[float, float]:
    lat, lon = place
    return lat, (lon + 180.0) % 360.0 - 180.0


def chart_of(folder: Path, kind: str, half_ft: float, middle_lon: float) -> Nearby:
    """A square over the line, as it is drawn by some: one ring, that a pack has cut there."""
    corners = [on_globe(east_of(x * half_ft, y * half_ft, LINE)) for x, y in
               ((-1, -1), (1, -1), (1, 1), (-1, 1))]  # fmt: skip
    shape = shapely.Polygon([(lon, lat) for lat, lon in corners])
    told = {"of": " ".join(KINDS)}
    everywhere = row("coverage", "all", shapely.box(-180, 40, 180, 50), attributes=told)
    path = pack_of(folder / "line.gpkg", row(kind, "it", shape), everywhere)
    with opened(path) as packs:
        return Nearby(surroundings(packs, LINE[0], middle_lon))


def fixes(chart: Nearby, half_ft: float, gap_s: float, way: int) -> tuple[Snapshot, Snapshot]:
    """Before and after the line, on a way to the east (1) or to the west (-1), at 60 mph."""
    return (
        seen(
            at_s=100.0, fix=fix_of(60.0, on_globe(east_of(-way * half_ft, 0, LINE))), nearby=chart
        ),
        seen(
            at_s=100.0 + gap_s,
            fix=fix_of(60.0, on_globe(east_of(way * half_ft, 0, LINE))),
            nearby=chart,
        ),
    )


@pytest.mark.parametrize("middle_lon", [180.0, -180.0, 179.995, -179.995])
@pytest.mark.parametrize("way", [1, -1], ids=["east", "west"])
@pytest.mark.parametrize(("half_ft", "verdict"), [(15.0, Verdict.VIOLATION), (9.0, Verdict.UNSURE)])
def test_land_over_the_line_is_crossed_as_anywhere(
    tmp_path: Path, half_ft: float, verdict: Verdict, way: int, middle_lon: float
) -> None:
    chart = chart_of(tmp_path, "private", half_ft, middle_lon)
    before, after = fixes(chart, 44.0, 1.0, way)  # 88 ft, the strip in the middle of them
    memory, first = ENTRY.judge(ENTRY.begin(), before, LAND)
    _, second = ENTRY.judge(memory, after, LAND)
    # Surely inside by 5 ft: the line itself, where the map is cut, is no edge of the land.
    assert [first.verdict, second.verdict] == [Verdict.COMPLIANT, verdict]


@pytest.mark.parametrize("way", [1, -1], ids=["east", "west"])
def test_a_house_on_the_line_is_passed_as_anywhere(tmp_path: Path, way: int) -> None:
    chart = chart_of(tmp_path, "dwelling", 15.0, 179.995)
    before, after = fixes(chart, 300.0, 5.0, way)
    memory, first = SPEED.judge(SPEED.begin(), before, DWELLINGS)
    _, second = SPEED.judge(memory, after, DWELLINGS)
    assert [first.verdict, second.verdict] == [Verdict.COMPLIANT, Verdict.VIOLATION]
    assert second.why.endswith(" 0 ft away")


def test_a_house_half_around_the_globe_is_not_passed(tmp_path: Path) -> None:
    chart = chart_of(tmp_path, "dwelling", 15.0, 0.0)
    assert chart.nearest(["dwelling"], (44.05, 0.0), within_m=2000.0) is None
    before, after = fixes(map_of(), 300.0, 5.0, 1)
    memory, _ = SPEED.judge(SPEED.begin(), before, DWELLINGS)
    assert SPEED.judge(memory, after, DWELLINGS)[1].verdict is not Verdict.VIOLATION
