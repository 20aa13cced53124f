"""Large shapes in packs: read by what is near of them, and measured as if read whole."""

from __future__ import annotations

import math
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import shapely
from packing import opened, pack_of, row
from pyproj import Geod
from shapely.geometry.base import BaseGeometry

from firmware.errors import ZoneError
from firmware.maps.large import LARGE_BYTES
from firmware.maps.outlines import Outline
from firmware.maps.packs import ENOUGH, MOST_CORNERS, Pack, surroundings
from firmware.maps.plane import Plane
from firmware.maps.zones import Near, Nearby
from firmware.readings import Feature
from host_tools.packs import build as packs
from host_tools.packs.shapes import shapes_of

WGS84 = Geod(ellps="WGS84")
HERE = (44.0, -88.0)


def shore(
    chance: random.Random,
    corners: int,
    radius_deg: float,
    lat: float,
    lon: float,
    ragged: float = 0.02,
) -> list[tuple[float, float]]:
    """A line that goes in and out, around a place."""
    turns = [math.tau * at / corners for at in range(corners)]
    away = [radius_deg * (1 + 0.3 * math.sin(7 * at) + chance.uniform(0, ragged)) for at in turns]
    return [
        (lon + out * math.cos(at), lat + out * math.sin(at))
        for at, out in zip(turns, away, strict=True)
    ]


def lake(
    corners: int, radius_deg: float, lat: float = HERE[0], lon: float = HERE[1]
) -> BaseGeometry:
    """A lake with three islands, and a pond on one of them; cut at the date line if it is there."""
    chance = random.Random(corners)
    water = shapely.Polygon(shore(chance, corners, radius_deg, lat, lon)).buffer(0.0)
    for number in range(3):
        middle = lat + 0.1 * radius_deg, lon + (number - 1) * 0.3 * radius_deg
        water -= shapely.Polygon(shore(chance, 60, radius_deg / 10, *middle)).buffer(0.0)
        if number == 1:
            water |= shapely.Polygon(shore(chance, 30, radius_deg / 40, *middle)).buffer(0.0)
    parts = []
    for turn in (-360.0, 0.0, 360.0):
        here = water & shapely.box(turn - 180, -90, turn + 180, 90)
        parts += [shapely.transform(one, lambda at, by=turn: at - [by, 0.0])
                  for one in shapely.get_parts(here) if not one.is_empty]  # fmt: skip
    return shapely.MultiPolygon(parts) if len(parts) > 1 else parts[0]


def whole(shape: BaseGeometry, plane: Plane) -> Outline:
    """All of a polygon, as a pack holds it, on a map."""
    (made,) = shapes_of([shapely.to_wkb(shape)])
    assert not isinstance(made, str)
    kept = shapely.from_wkb(made.blob[40:])
    rings = tuple(
        tuple((x, y) for x, y in shapely.get_coordinates(ring).tolist())
        for ring in shapely.get_rings(shapely.get_parts(kept))
    )
    return Outline(Feature("water", "w", "", "polygon", rings), 0, plane)


def nearest_of(pack: Pack, place: tuple[float, float]) -> Near | None:
    return Nearby(surroundings([pack], *place)).nearest(["water"], place)


def runs_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        (count,) = file.execute("SELECT count(*) FROM rtree_features_runs").fetchone()
    return int(count)


@pytest.mark.parametrize(
    ("corners", "radius_deg", "lat", "lon"),
    [
        (600, 0.02, 44.0, -88.0),
        (1500, 0.1, 44.0, -88.0),
        (1500, 0.1, -44.0, 179.98),
        (1500, 0.1, 70.0, -179.98),
        (1500, 2.5, 0.0, 0.0),
    ],
)
def test_inside_and_the_distance_to_the_edge_are_those_of_the_whole(
    tmp_path: Path, corners: int, radius_deg: float, lat: float, lon: float
) -> None:
    shape = lake(corners, radius_deg, lat, lon)
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", shape))
    chance = random.Random(5)
    insides = outsides = edges = 0
    with opened(path) as packs:
        for _ in range(24):
            place = lat + chance.uniform(-1.5, 1.5) * radius_deg, lon
            place = place[0], lon + chance.uniform(-1.5, 1.5) * radius_deg
            place = place[0], math.remainder(place[1], 360.0)
            if chance.random() < 0.2:  # at a corner, and on the date line, to the last bit
                corner = chance.choice(shapely.get_coordinates(shape).tolist())
                place = corner[1], math.copysign(180.0, lon) if abs(lon) > 170 else corner[0]
            radius_m = chance.choice((200.0, 2000.0, 9000.0))
            found = surroundings(packs, *place, radius_m).features
            plane = Plane(*place)
            true = whole(shape, plane)
            for _ in range(4):
                away_m, turn = chance.uniform(0, 0.7 * radius_m), chance.uniform(0, math.tau)
                x, y = away_m * math.cos(turn), away_m * math.sin(turn)
                at = (x, y, x, y)
                sees_m = radius_m - away_m
                true_m = math.sqrt(true.edge_distance2(at))
                if not found:
                    assert not true.holds(x, y)
                    assert true_m > sees_m
                    outsides += 1
                    continue
                outline = Outline(found[0], 0, plane)
                if true_m > 1e-3:  # on the very edge either is right
                    assert outline.holds(x, y) == true.holds(x, y), (place, x, y)
                edge_m = math.sqrt(outline.edge_distance2(at))
                if true_m <= sees_m:  # to the edge itself, never to a cut
                    assert edge_m == pytest.approx(true_m, abs=1e-3), (place, x, y)
                    edges += 1
                else:
                    assert edge_m >= sees_m - 1e-3, (place, x, y)
                insides += true.holds(x, y)
    assert insides > 10
    assert outsides + edges > 10


def test_a_pack_of_a_large_lake_takes_no_more_than_three_times_its_corners(tmp_path: Path) -> None:
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", lake(20_000, 0.05)))
    assert path.stat().st_size < 3 * 16 * 20_000
    with closing(sqlite3.connect(path)) as file:
        sizes = file.execute("SELECT max(length(geom)) FROM rtree_features_runs").fetchone()
    assert sizes == (8 + 9 + 121 * 16,)


def test_no_more_of_a_large_lake_is_read_than_what_is_near(tmp_path: Path) -> None:
    shape = lake(20_000, 0.15)
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", shape))
    with opened(path) as packs:
        for place in ((44.14, -88.0), (44.0, -88.15), (44.05, -88.05)):
            (found,) = surroundings(packs, *place).features
            assert sum(map(len, found.parts)) < 2000, place


def test_a_shore_too_fine_to_be_held_is_thinned_by_a_metre_at_most_on_the_unit(
    tmp_path: Path,
) -> None:
    shape = shapely.Polygon(shore(random.Random(1), 20_000, 0.005, *HERE, ragged=1e-4))
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", shape))
    place = (44.005, -88.0)
    true = whole(shape, Plane(*place))
    with opened(path) as packs:
        (exact,) = surroundings(packs, *place).features
        (found,) = surroundings(packs, *place, at_most=ENOUGH).features
    assert sum(map(len, exact.parts)) == 20_001
    assert sum(map(len, found.parts)) <= MOST_CORNERS
    outline = Outline(found, 0, Plane(*place))
    chance = random.Random(2)
    for _ in range(40):
        x, y = chance.uniform(-1000, 1000), chance.uniform(-1000, 1000)
        true_m = math.sqrt(true.edge_distance2((x, y, x, y)))
        edge_m = math.sqrt(outline.edge_distance2((x, y, x, y)))
        assert edge_m == pytest.approx(true_m, abs=1.2)
        if true_m > 1.2:
            assert outline.holds(x, y) == true.holds(x, y)


def test_a_long_trail_many_points_and_a_world_wide_coverage_are_read_by_what_is_near(
    tmp_path: Path,
) -> None:
    trail = shapely.LineString([(-88.0 + 1e-4 * n, 44.0 + 1e-5 * (n % 7)) for n in range(5000)])
    signs = shapely.MultiPoint([(-88.0 + 1e-3 * n, 44.002) for n in range(1000)])
    path = pack_of(
        tmp_path / "all.gpkg",
        row("trail", "long", trail),
        row("speed_sign", "many", signs),
        row("coverage", "all", shapely.box(-180, -90, 180, 90)),
    )
    with closing(Pack(path)) as pack:
        around = surroundings([pack], 44.0, -87.7)
        found = {one.id: one for one in around.features}
        assert found.keys() == {"long", "many", "all"}
        shapes = {one.id: one.shape for one in around.features}
        assert shapes == {"long": "line", "many": "point", "all": "polygon"}
        assert sum(map(len, found["long"].parts)) < 1000
        assert len(found["many"].parts) < 400
        near = Nearby(around).nearest(["trail"], (44.01, -87.7))
        assert near is not None
        assert near.distance_m == pytest.approx(1104.4, abs=2.0)  # 0.00994 degrees north
        sign = Nearby(around).nearest(["speed_sign"], (44.002, -87.7))
        assert sign is not None
        assert sign.distance_m == pytest.approx(0.0, abs=0.01)
        for place in ((44.0, -87.7), (0.0, 0.0), (89.0, 179.9), (-60.0, -180.0)):
            assert Nearby(surroundings([pack], *place)).is_covered(*place), place
        assert surroundings([pack], 40.0, -87.7).features[0].id == "all"


def test_who_edits_a_large_shape_in_another_program_gets_the_edited_one(tmp_path: Path) -> None:
    path = pack_of(tmp_path / "lake.gpkg", row("water", "big", lake(5000, 0.1)))
    assert runs_in(path) > 40
    moved = packs.row("x", 0, shapely.to_wkb(lake(5000, 0.1, lat=45.0)), {"kind": "water"})
    assert moved.blob is not None
    assert len(moved.blob) > LARGE_BYTES
    with closing(sqlite3.connect(path)) as edited, edited:
        for name in ("ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"):
            value = {"ST_MinX": -88.2, "ST_MaxX": -87.8, "ST_MinY": 44.8, "ST_MaxY": 45.2}[name]
            edited.create_function(name, 1, lambda _, value=value: value)
        edited.create_function("ST_IsEmpty", 1, lambda _: 0)
        edited.execute("UPDATE features SET geom = ? WHERE id = 'big'", (moved.blob,))
    assert runs_in(path) == 0
    with closing(Pack(path)) as pack:
        near = nearest_of(pack, (45.05, -88.0))
        assert near is not None
        assert near.distance_m == 0.0
        assert nearest_of(pack, (44.05, -88.0)) is None


def test_a_pack_of_layout_2_is_read_by_its_pieces(tmp_path: Path) -> None:
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", lake(4000, 0.1)))
    square = shapely.box(-88.05, 43.95, -87.95, 44.05)  # another shape, so that it is told apart
    blob = packs.row("x", 0, shapely.to_wkb(square), {"kind": "water"}).blob
    with closing(sqlite3.connect(path)) as older, older:
        older.executescript(
            "DROP TRIGGER rtree_features_runs_update; DROP TRIGGER rtree_features_runs_delete;"
            "DROP TABLE rtree_features_runs;"
            "UPDATE gpkg_contents SET description = 'sledwarden zone pack, layout 2, of 2026';"
            "CREATE TABLE pieces (piece INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, fid INTEGER,"
            "minx DOUBLE, miny DOUBLE, maxx DOUBLE, maxy DOUBLE, geom BLOB)"
        )
        piece = (1, 1, -88.01, 43.99, -87.99, 44.01, blob)
        older.execute("INSERT INTO pieces VALUES (?, ?, ?, ?, ?, ?, ?)", piece)
    with closing(Pack(path)) as pack:
        assert pack.dated == "2026"
        (near,) = pack.around(44.0, -88.0, 2000.0)
        assert len(near.parts[0]) == 5
        assert pack.around(44.05, -88.0, 2000.0) == []  # no piece: not near
        (far,) = pack.around(44.0, -88.0, 5000.0)  # further than pieces are whole
        assert sum(map(len, far.parts)) > 4000


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        ("geom = x'4750'", "not a GeoPackage geometry"),
        ("geom = NULL", "not a GeoPackage geometry"),
        ("geom = 'word'", "not a GeoPackage geometry"),
        ("first_lat = 'north'", "a run of an outline without its ends"),
    ],
)
def test_a_run_that_is_broken_names_its_feature(tmp_path: Path, spoil: str, what: str) -> None:
    path = pack_of(tmp_path / "lake.gpkg", row("water", "w", lake(4000, 0.02)))
    with closing(sqlite3.connect(path)) as spoilt, spoilt:
        spoilt.execute(f"UPDATE rtree_features_runs SET {spoil} WHERE run >= 0")
    with closing(Pack(path)) as pack, pytest.raises(ZoneError) as fault:
        pack.around(44.0, -88.0, 500.0)
        pack.around(44.0, -88.03, 5000.0)
    assert str(fault.value).startswith(f"{path}: feature 1: {what}.")


# At the date line.


def test_a_large_lake_at_the_date_line_is_near_on_both_sides(tmp_path: Path) -> None:
    shore = [(179.5 + 0.0001 * n, 44.0 - 0.00001 * (n % 5)) for n in range(10_000)]
    ring = [(lon if lon <= 180 else lon - 360, lat) for lon, lat in shore]
    shape = shapely.Polygon([*ring, (-179.5, 44.1), (179.5, 44.1)])
    path = pack_of(tmp_path / "line.gpkg", row("water", "1", shape))
    with closing(Pack(path)) as pack:
        for lon in (179.9999, -179.9999, 179.7, -179.7):
            near = nearest_of(pack, (44.05, lon))
            assert near is not None
            assert near.distance_m == 0.0
        near = nearest_of(pack, (43.99, -179.9995))
        assert near is not None
        assert near.distance_m == pytest.approx(1111.0, abs=6.0)


@pytest.mark.parametrize("side", [1, -1])
def test_a_large_lake_that_ends_at_the_date_line_is_near_from_beyond_it(
    tmp_path: Path, side: int
) -> None:
    shore = [(side * (179.5 + 0.0002 * n), 44.0 - 0.00001 * (n % 5)) for n in range(2498)]
    shape = shapely.Polygon([*shore, (side * 179.9994, 44.1), (side * 179.5, 44.1)])
    path = pack_of(tmp_path / "end.gpkg", row("water", "1", shape))
    assert runs_in(path) > 1
    with closing(Pack(path)) as pack:
        near = nearest_of(pack, (44.05, side * -179.9995))
    assert near is not None
    true_m = WGS84.inv(179.9994, 44.05, -179.9995, 44.05)[2]  # 88 m
    assert near.distance_m == pytest.approx(true_m, rel=0.002)
