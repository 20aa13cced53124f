"""Zone packs on disk, what they say about a place, and the distances, beside pyproj and shapely."""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import shapely
from pyproj import Geod
from shapely.geometry import LineString, Point, Polygon

from firmware.errors import ZoneError
from firmware.maps.packs import COLUMNS, KINDS, Pack, surroundings
from firmware.maps.plane import Plane
from firmware.maps.zones import Near, Nearby
from firmware.readings import Feature, Surroundings
from firmware.units import ft, metres
from host_tools.packs import build as packs

LAKE = Path(__file__).parents[1] / "host_tools" / "demo" / "lake.gpkg"
WGS84 = Geod(ellps="WGS84")
HERE = (44.05, -88.45)
REBUILD = "Build it anew with `sledwarden zones build`, or copy it again."


def away(place: tuple[float, float], bearing_deg: float, distance_m: float) -> tuple[float, float]:
    """The place (lat, lon) at a bearing and a geodesic distance from another."""
    lon, lat, _ = WGS84.fwd(place[1], place[0], bearing_deg, distance_m)
    return lat, lon


def point(kind: str, ident: str, place: tuple[float, float]) -> Feature:
    return Feature(kind, ident, "", "point", (((place[1], place[0]),),))


def square(kind: str, ident: str, middle: tuple[float, float], half_m: float) -> Feature:
    south, north = away(middle, 180, half_m)[0], away(middle, 0, half_m)[0]
    west, east = away(middle, 270, half_m)[1], away(middle, 90, half_m)[1]
    ring = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return Feature(kind, ident, "", "polygon", (ring,))


def nearby(*features: Feature, at: tuple[float, float] = HERE) -> Nearby:
    return Nearby(Surroundings(*at, 2000.0, features))


def pack_of(path: Path, *features: tuple[str, str, shapely.Geometry]) -> Path:
    rows = [
        packs.row(str(path), index, shapely.to_wkb(shape), {"kind": kind, "id": ident})
        for index, (kind, ident, shape) in enumerate(features)
    ]
    packs.write(rows, path)
    return path


@pytest.fixture
def lake() -> Iterator[Pack]:
    with closing(Pack(LAKE)) as pack:
        yield pack


# Packs


def test_a_pack_tells_what_lies_around_a_place(lake: Pack) -> None:
    found = {(one.kind, one.id): one for one in lake.around(44.05, -88.415, 200.0)}
    assert set(found) == {
        ("coverage", "demo-coverage"),
        ("water", "demo-lake"),
        ("shanty", "shanty-1"),
    }
    assert found["shanty", "shanty-1"] == Feature(
        "shanty",
        "shanty-1",
        "Invented shanty by the track",
        "point",
        (((-88.415, 44.0501646),),),
    )
    assert found["water", "demo-lake"].shape == "polygon"
    assert len(found["water", "demo-lake"].parts[0]) == 14


def test_nothing_is_written_beside_a_pack_and_its_digest_is_the_file_s(tmp_path: Path) -> None:
    import hashlib

    copy = tmp_path / "a pack #1?.gpkg"  # signs that mean something in a URI
    copy.write_bytes(LAKE.read_bytes())
    copy.chmod(0o444)
    with closing(Pack(copy)) as pack:
        assert len(pack.around(44.05, -88.415, 2000.0)) == 5
        assert pack.digest == hashlib.sha256(LAKE.read_bytes()).hexdigest()
    assert list(tmp_path.iterdir()) == [copy]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", f"is empty: expected a zone pack (.gpkg). {REBUILD}"),
        (b"hello " * 30, f"is not a GeoPackage: expected a zone pack (.gpkg). {REBUILD}"),
        (b"SQLite format 3\0", f"is not a GeoPackage: expected a zone pack (.gpkg). {REBUILD}"),
        (LAKE.read_bytes()[:40_000], f"is cut short: 40000 of 73728 bytes are there. {REBUILD}"),
    ],
    ids=["empty", "text", "head alone", "torn"],
)
def test_a_file_that_is_no_whole_pack_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "wi.gpkg"
    path.write_bytes(content)
    with pytest.raises(ZoneError) as fault:
        Pack(path)
    assert str(fault.value) == f"{path}: {what}"


def test_a_missing_pack_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ZoneError, match="there is no such file: expected a zone pack"):
        Pack(tmp_path / "none.gpkg")
    with pytest.raises(ZoneError, match="is not a file: expected a zone pack"):
        Pack(tmp_path)
    with pytest.raises(ZoneError, match="Not a directory"):
        Pack(LAKE / "none.gpkg")


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.gpkg"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE features (a)")
    with pytest.raises(ZoneError, match="is a SQLite file, but not a GeoPackage"):
        Pack(path)


def test_a_geopackage_of_something_else_is_refused(tmp_path: Path) -> None:
    import pyogrio

    path = tmp_path / "roads.gpkg"
    wkb = [shapely.to_wkb(Point(-88, 44))]
    pyogrio.raw.write(
        path, wkb, [], [], driver="GPKG", layer="roads", geometry_type="Point", crs="EPSG:4326"
    )
    with pytest.raises(ZoneError) as fault:
        Pack(path)
    assert str(fault.value) == (
        f"{path}: is a GeoPackage, but not a zone pack: expected a table `features` with geom, "
        "kind, id, name, source, licence, dated, confidence and its R*Tree. Make a pack of it "
        "with `sledwarden zones build`."
    )


def changed(tmp_path: Path, statement: str) -> Path:
    """The demo's pack, edited without the triggers that SQLite alone can't run."""
    path = tmp_path / "changed.gpkg"
    path.write_bytes(LAKE.read_bytes())
    with closing(sqlite3.connect(path)) as pack, pack:
        for name in ("insert", "update1", "update2", "update3", "update4", "delete"):
            pack.execute(f"DROP TRIGGER rtree_features_geom_{name}")
        pack.executescript(statement)
    return path


def test_a_pack_in_another_projection_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, "UPDATE gpkg_geometry_columns SET srs_id = 0")
    with pytest.raises(ZoneError, match=r"is not in degrees: expected WGS 84 \(srs_id 4326\)\."):
        Pack(path)


def test_a_pack_with_changes_outside_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wi.gpkg"
    path.write_bytes(LAKE.read_bytes())
    (tmp_path / "wi.gpkg-wal").write_bytes(b"")  # what an editor leaves that closed well
    Pack(path).close()
    (tmp_path / "wi.gpkg-wal").write_bytes(b"changes")
    with pytest.raises(ZoneError) as fault:
        Pack(path)
    assert str(fault.value) == (
        f"{path}: has changes that were not written into it (in wi.gpkg-wal). "
        "Close it in the other program, then copy it again."
    )


def told(attributes: str) -> str:
    """Gives the third feature of a pack attributes, as SQL has them."""
    return f"UPDATE features SET attributes = {attributes} WHERE fid = 3"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE features SET geom = NULL WHERE fid = 3", "has no geometry."),
        ("UPDATE features SET geom = x'4750' WHERE fid = 3", "not a GeoPackage geometry."),
        ("UPDATE features SET kind = x'00' WHERE fid = 3", "has no kind and id in words."),
        (told("'{'"), "attributes that are no JSON."),
        (told("x'00'"), "attributes that are no text."),
        (told("'[]'"), "attributes that are no JSON object."),
        (told("'{\"a\": null}'"), "an attribute a that is neither a word nor a number."),
        (told("'{\"a\": NaN}'"), "an attribute a that is neither a word nor a number."),
        (told("'{\"a\": true}'"), "an attribute a that is neither a word nor a number."),
    ],
)
def test_a_broken_feature_names_itself(tmp_path: Path, statement: str, what: str) -> None:
    path = changed(tmp_path, statement)
    with closing(Pack(path)) as pack, pytest.raises(ZoneError) as fault:
        pack.around(44.05, -88.415, 200.0)
    assert str(fault.value) == f"{path}: feature 3: {what} {REBUILD}"


def test_a_feature_tells_its_attributes_and_a_pack_may_have_none(tmp_path: Path) -> None:
    words = """'{"limit_mph": 35, "class": "local"}'"""
    with closing(Pack(changed(tmp_path, told(words)))) as pack:
        found = pack.around(44.05, -88.415, 200.0)
    (road,) = (one for one in found if one.attributes)
    assert road.attributes == {"limit_mph": "35", "class": "local"}
    assert road.number("limit_mph") == 35.0
    assert road.number("class") is None
    assert road.number("width_m") is None
    older = changed(tmp_path, "ALTER TABLE features DROP COLUMN attributes")
    for path in (LAKE, older):
        with closing(Pack(path)) as pack:
            assert not any(one.attributes for one in pack.around(44.05, -88.415, 200.0))


def test_a_pack_overwritten_with_rubbish_in_its_middle_is_refused_or_right(tmp_path: Path) -> None:
    whole = LAKE.read_bytes()
    with closing(Pack(LAKE)) as pack:
        right = pack.around(44.05, -88.415, 2000.0)
    chance = random.Random(11)
    refused = 0
    for number in range(150):
        at = chance.randrange(100, len(whole) - 512)
        path = tmp_path / f"{number}.gpkg"
        path.write_bytes(whole[:at] + chance.randbytes(512) + whole[at + 512 :])
        try:
            with closing(Pack(path)) as pack:
                found = pack.around(44.05, -88.415, 2000.0)
            assert len(found) <= len(right) + 5
        except ZoneError as fault:
            assert str(fault).startswith(str(path))
            refused += 1
    assert refused > 20


def test_what_qgis_or_gdal_adds_to_a_pack_is_found(tmp_path: Path) -> None:
    import numpy
    import pyogrio

    path = tmp_path / "edited.gpkg"
    path.write_bytes(LAKE.read_bytes())
    pyogrio.raw.write(
        path,
        numpy.array([shapely.to_wkb(Point(-88.44, 44.06))], dtype=object),
        [numpy.array(["shanty"], dtype=object), numpy.array(["mine"], dtype=object)],
        ["kind", "id"],
        driver="GPKG",
        layer="features",
        geometry_type="Unknown",
        crs="EPSG:4326",
        append=True,
    )
    with closing(Pack(path)) as pack:
        assert ("shanty", "mine") in {(f.kind, f.id) for f in pack.around(44.06, -88.44, 50.0)}


def test_hostile_names_are_only_names(tmp_path: Path) -> None:
    name = "'); DROP TABLE features; --"
    path = pack_of(tmp_path / "x.gpkg", ("shanty", name, Point(HERE[1], HERE[0])))
    for _ in range(2):
        with closing(Pack(path)) as pack:
            assert [one.id for one in pack.around(*HERE, 10.0)] == [name]


@pytest.mark.parametrize(
    "place", [(90.0, 0.0), (-90.0, 0.0), (44.0, 180.0), (44.0, -180.0), (0.0, 0.0), (89.99, 10.0)]
)
def test_a_pack_answers_at_the_poles_and_on_the_date_line(
    tmp_path: Path, place: tuple[float, float]
) -> None:
    lat, lon = place
    inside = max(-89.995, min(89.995, lat))
    path = pack_of(
        tmp_path / "edge.gpkg",
        ("shanty", "here", Point(lon, inside)),
        ("shanty", "far", Point(lon, inside * 0.5 + 20.0)),
    )
    with closing(Pack(path)) as pack:
        assert [one.id for one in pack.around(lat, lon, 2000.0)] == ["here"]
        around = surroundings([pack], lat, lon)
    near = Nearby(around).nearest(["shanty"], place)
    assert near is not None
    assert near.distance_m < 600.0


@pytest.mark.parametrize(
    ("lon", "nearest", "at_lon"), [(179.999, "east", -179.999), (-179.998, "west", 179.9995)]
)
def test_a_thing_across_the_date_line_is_as_near_as_it_is(
    tmp_path: Path, lon: float, nearest: str, at_lon: float
) -> None:
    path = pack_of(
        tmp_path / "line.gpkg",
        ("shanty", nearest, Point(at_lon, 44.0)),
        ("shanty", "this side", Point(math.copysign(179.99, lon), 44.0)),
    )
    with closing(Pack(path)) as pack:
        around = surroundings([pack], 44.0, lon)
    assert {one.id for one in around.features} == {nearest, "this side"}
    near = Nearby(around).nearest({"shanty"}, (44.0, lon))
    assert near is not None
    assert near.feature.id == nearest
    true_m = WGS84.inv(lon, 44.0, at_lon, 44.0)[2]
    assert near.distance_m == pytest.approx(true_m, rel=0.002)


def test_a_later_pack_replaces_a_feature_of_the_same_kind_and_id(tmp_path: Path) -> None:
    state = pack_of(
        tmp_path / "state.gpkg",
        ("shanty", "7", Point(-88.45, 44.05)),
        ("dwelling", "7", Point(-88.45, 44.051)),
    )
    club = pack_of(tmp_path / "club.gpkg", ("shanty", "7", Point(-88.451, 44.05)))
    with closing(Pack(state)) as first, closing(Pack(club)) as second:
        around = surroundings([first, second], *HERE)
    assert around.packs == ("state.gpkg", "club.gpkg")
    assert around.radius_m == 2000.0
    assert [(one.kind, one.id, one.parts[0][0]) for one in around.features] == [
        ("shanty", "7", (-88.451, 44.05)),
        ("dwelling", "7", (-88.45, 44.051)),
    ]


def test_every_kind_of_the_contract_is_there_once() -> None:
    assert len(KINDS) == len(set(KINDS)) == 23


# Distances


def test_the_demo_s_shanty_and_house_are_where_the_demo_says(lake: Pack) -> None:
    ice = Nearby(surroundings([lake], 44.05, -88.415))
    near = ice.nearest({"shanty", "person"}, (44.05, -88.43), (44.05, -88.40))
    assert near is not None
    assert (near.feature.id, round(ft(near.distance_m), 1)) == ("shanty-1", 60.0)
    assert ice.nearest(["water"], (44.05, -88.415)) is not None
    shore = Nearby(surroundings([lake], 44.06, -88.38))
    near = shore.nearest(["dwelling"], (44.05, -88.38), (44.07, -88.38))
    assert near is not None
    assert (near.feature.id, round(ft(near.distance_m), 1)) == ("dwelling-1", 100.0)
    on_water = shore.nearest(["water"], (44.06, -88.38))
    assert on_water is not None
    assert on_water.distance_m > 300.0


def test_inside_is_no_distance_and_tells_how_deep() -> None:
    house = square("dwelling", "1", HERE, 10.0)
    near = nearby(house).nearest(["dwelling"], away(HERE, 90, 7.0))
    assert near == Near(house, 0.0, pytest.approx(3.0, abs=0.01))
    outside = nearby(house).nearest(["dwelling"], away(HERE, 90, 25.0))
    assert outside == Near(house, pytest.approx(15.0, abs=0.02), 0.0)


def test_in_a_hole_of_a_polygon_is_outside_it() -> None:
    shore, island = square("water", "1", HERE, 500.0), square("water", "1", HERE, 100.0)
    lake_with_island = Feature("water", "1", "", "polygon", (*shore.parts, *island.parts))
    near = nearby(lake_with_island).nearest(["water"], HERE)
    assert near is not None
    assert near.distance_m == pytest.approx(100.0, rel=0.001)
    assert near.depth_m == 0.0
    on_ice = nearby(lake_with_island).nearest(["water"], away(HERE, 0, 130.0))
    assert on_ice is not None
    assert (on_ice.distance_m, on_ice.depth_m) == (0.0, pytest.approx(30.0, rel=0.001))


def test_a_zone_crossed_between_two_fixes_is_met() -> None:
    house = square("dwelling", "1", HERE, 5.0)
    before, after = away(HERE, 270, 13.4), away(HERE, 90, 13.4)  # 60 mph at 1 Hz
    around = nearby(house)
    for place in (before, after):
        alone = around.nearest(["dwelling"], place)
        assert alone is not None
        assert alone.distance_m > 8.0
    crossed = around.nearest(["dwelling"], before, after)
    assert crossed == Near(house, 0.0, 0.0)
    assert around.nearest(["dwelling"], before, HERE) == Near(house, 0.0, 0.0)
    trail = Feature("trail", "1", "", "line", (((HERE[1], 44.04), (HERE[1], 44.06)),))
    assert nearby(trail).nearest(["trail"], before, after) == Near(trail, 0.0, 0.0)


def test_of_several_that_hold_the_place_it_is_the_one_that_holds_it_deepest() -> None:
    small, large = square("closed", "small", HERE, 20.0), square("private", "large", HERE, 300.0)
    near = nearby(small, large).nearest(("closed", "private"), HERE)
    assert near is not None
    assert near.feature is large


def test_a_kind_that_is_not_there_has_no_nearest() -> None:
    around = nearby(point("shanty", "1", HERE))
    assert around.nearest(["dwelling", "person"], HERE) is None
    assert around.nearest([], HERE) is None
    assert nearby().nearest(["dwelling"], HERE, away(HERE, 0, 10)) is None


def test_the_place_is_covered_only_inside_a_coverage() -> None:
    around = nearby(square("coverage", "1", HERE, 400.0), square("water", "1", HERE, 900.0))
    assert around.is_covered(*HERE)
    assert around.is_covered(*away(HERE, 45, 500.0))
    assert not around.is_covered(*away(HERE, 90, 401.0))
    assert not nearby(square("water", "1", HERE, 900.0)).is_covered(*HERE)


def test_surroundings_reach_as_far_as_their_radius_less_the_margin() -> None:
    around = nearby()
    assert around.reaches(*HERE, metres(150.0))
    assert around.reaches(*away(HERE, 30, 1800.0), 195.0)
    assert not around.reaches(*away(HERE, 30, 1800.0), 205.0)


def shapes(chance: random.Random, plane: Plane) -> tuple[list[Feature], list[shapely.Geometry]]:
    """Points, lines, polygons with holes and long shores around a place, also as shapely's."""
    features, geometries = [], []
    for number in range(60):
        corners = chance.choice([1, 2, 5, 4, 7, 60])
        x, y = chance.uniform(-1500, 1500), chance.uniform(-1500, 1500)
        outer = [
            (
                x + chance.uniform(10, 200) * math.cos(turn * math.tau / corners),
                y + chance.uniform(10, 200) * math.sin(turn * math.tau / corners),
            )
            for turn in range(corners)
        ]
        rings = [outer]
        if corners == 1:
            geometries.append(Point(outer[0]))
        elif corners == 2:
            geometries.append(LineString(outer))
        else:
            rings = [[*outer, outer[0]], [(x + 4, y), (x - 2, y + 3), (x - 2, y - 3), (x + 4, y)]]
            geometries.append(Polygon(rings[0], rings[1:]))
        parts = tuple(
            tuple(
                (HERE[1] + px / plane.x(HERE[1] + 1), HERE[0] + py / plane.y(HERE[0] + 1))
                for px, py in ring
            )
            for ring in rings
        )
        shape = {1: "point", 2: "line"}.get(corners, "polygon")
        features.append(Feature("dwelling", str(number), "", shape, parts))  # type: ignore[arg-type]
    return features, geometries


def test_every_answer_agrees_with_shapely() -> None:
    chance = random.Random(9)
    plane = Plane(*HERE)

    def place(x: float, y: float) -> tuple[float, float]:
        return HERE[0] + y / plane.y(HERE[0] + 1), HERE[1] + x / plane.x(HERE[1] + 1)

    inside = 0
    for _ in range(15):
        features, geometries = shapes(chance, plane)
        around = nearby(*features)
        for _ in range(25):
            a = chance.uniform(-1500, 1500), chance.uniform(-1500, 1500)
            b = a[0] + chance.uniform(-100, 100), a[1] + chance.uniform(-100, 100)
            at_a = around.nearest(["dwelling"], place(*a))
            on_way = around.nearest(["dwelling"], place(*a), place(*b))
            assert at_a is not None
            assert on_way is not None
            deep = [g.boundary.distance(Point(a)) for g in geometries if g.contains(Point(a))]
            inside += bool(deep)
            assert at_a.distance_m == pytest.approx(
                min(g.distance(Point(a)) for g in geometries), abs=1e-6
            )
            assert at_a.depth_m == pytest.approx(max(deep, default=0.0), abs=1e-6)
            assert on_way.distance_m == pytest.approx(
                min(g.distance(LineString([a, b])) for g in geometries), abs=1e-6
            )
            listed = around.within(place(*a), 500.0)
            assert [near.distance_m for near in listed] == pytest.approx(
                sorted(d for g in geometries if (d := g.distance(Point(a))) <= 500.0), abs=1e-6
            )
    assert inside > 20


# Documentation


def test_the_reference_has_every_kind_and_column() -> None:
    told = (LAKE.parents[2] / "docs" / "zones.md").read_text()
    for word in (*KINDS, *COLUMNS):
        assert f"`{word}`" in told, word


def test_within_so_many_metres_the_answer_is_the_same_and_beyond_there_is_none() -> None:
    chance = random.Random(20261130)
    plane = Plane(*HERE)
    for _ in range(60):
        features, _shapes = shapes(chance, plane)
        around = nearby(*features)
        kinds = {feature.kind for feature in features}
        a, b = (plane.place(chance.uniform(-900, 900), chance.uniform(-900, 900)) for _ in "ab")
        for way in (None, b):
            nearest = around.nearest(kinds, a, way)
            assert nearest is not None
            far_m = nearest.distance_m
            assert around.nearest(kinds, a, way, far_m + 0.001) == nearest
            assert around.nearest(kinds, a, way, 5000.0) == nearest
            if far_m > 0.002:
                assert around.nearest(kinds, a, way, far_m - 0.001) is None
                assert around.nearest(kinds, a, way, 0.0) is None
