"""`sledwarden zones`: what it builds, what it tells, and what it refuses."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyogrio
import pytest
import shapely
from pyproj import Geod
from typer.testing import CliRunner, Result

from firmware.maps.packs import KINDS
from host_tools.cli import app

DEMO = Path(__file__).parents[1] / "host_tools" / "demo"
LAKE = DEMO / "lake.gpkg"
ALLOWED = ", ".join(KINDS)


def zones(*words: object) -> Result:
    return CliRunner().invoke(app, ["zones", *(str(word) for word in words)])


def build(tmp_path: Path, *features: dict[str, Any]) -> Result:
    """Builds `in.geojson` of these features into `out.gpkg`."""
    source = tmp_path / "in.geojson"
    source.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return zones("build", source, "-o", tmp_path / "out.gpkg")


def feature(geometry: object = None, **properties: object) -> dict[str, Any]:
    point = {"type": "Point", "coordinates": [-88.4, 44.0]}
    return {"type": "Feature", "properties": properties, "geometry": geometry or point}


def rows(pack: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(pack)) as opened:
        columns = "fid, kind, id, name, source, licence, dated, confidence, geom"
        return opened.execute(f"SELECT {columns} FROM features ORDER BY fid").fetchall()


def dump(pack: Path) -> list[str]:
    with closing(sqlite3.connect(pack)) as opened:
        return list(opened.iterdump())


def test_the_demo_s_pack_is_what_its_map_gives(tmp_path: Path) -> None:
    fresh = tmp_path / "lake.gpkg"
    result = zones("build", DEMO / "lake.geojson", "-o", fresh)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{fresh}: 10 features: 1 coverage, 4 dwelling, 1 race_course, 2 shanty, 1 trail, 1 water\n"
    )
    # Rows, not bytes: the file's head tells which SQLite wrote it.
    assert dump(fresh) == dump(LAKE), "build host_tools/demo/lake.gpkg anew"


def test_the_same_map_gives_the_same_bytes_and_nothing_is_left_beside(tmp_path: Path) -> None:
    out = tmp_path / "lake.gpkg"
    built = []
    for _ in range(2):
        assert zones("build", DEMO / "lake.geojson", "-o", out).exit_code == 0
        built.append(out.read_bytes())
    assert built[0] == built[1]
    assert list(tmp_path.iterdir()) == [out]


def test_gdal_opens_a_pack_as_geopackage_1_3(tmp_path: Path) -> None:
    with closing(sqlite3.connect(LAKE)) as pack:
        assert pack.execute("PRAGMA user_version").fetchone() == (10300,)
        assert pack.execute("PRAGMA application_id").fetchone() == (0x47504B47,)
        assert pack.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert pack.execute("PRAGMA foreign_key_check").fetchall() == []
        assert pack.execute("SELECT rtreecheck('rtree_features_geom')").fetchone() == ("ok",)
    about = pyogrio.read_info(LAKE)
    assert (about["driver"], about["layer_name"], about["crs"]) == ("GPKG", "features", "EPSG:4326")
    assert about["features"] == 10
    assert about["total_bounds"] == (-88.46, 44.02, -88.35, 44.09)
    assert about["capabilities"]["fast_spatial_filter"]
    meta, _, shapes, values = pyogrio.raw.read(LAKE, bbox=(-88.3799, 44.0595, -88.379, 44.0605))
    names = dict(zip(meta["fields"], values, strict=True))
    assert sorted(names["id"]) == ["demo-coverage", "dwelling-1"]
    assert all(shapely.from_wkb(shape).is_valid for shape in shapes)


def test_properties_become_columns_and_what_is_absent_is_filled(tmp_path: Path) -> None:
    result = build(
        tmp_path,
        feature(kind="shanty", id=7, name="Ours", source="club", licence="CC0-1.0"),
        feature(kind="person", dated="2026-01-31", confidence=0.5, colour="red"),
        feature(kind="stop", id=" 7 ", dated="2026"),
    )
    assert result.exit_code == 0, result.stderr
    told = [row[:-1] for row in rows(tmp_path / "out.gpkg")]
    assert told == [
        (1, "person", "in-2", None, "in.geojson", None, "2026-01-31", "0.5"),
        (2, "shanty", "7", "Ours", "club", "CC0-1.0", None, None),
        (3, "stop", "7", None, "in.geojson", None, "2026", None),
    ]


def test_a_pack_without_coverage_says_so(tmp_path: Path) -> None:
    result = build(tmp_path, feature(kind="shanty"))
    out = tmp_path / "out.gpkg"
    assert result.stdout == (
        f"{out}: 1 feature: 1 shanty\n"
        f"{out}: no coverage: by this pack alone the dwelling clause stays unknown everywhere\n"
    )
    assert "no coverage: by this pack alone the dwelling clause" in zones("info", out).stdout


def test_what_a_pack_strikes_is_counted_as_struck(tmp_path: Path) -> None:
    shed = {"type": "Feature", "geometry": None}
    shed["properties"] = {"kind": "dwelling", "id": "house-1", "confidence": "struck"}
    out = tmp_path / "out.gpkg"
    assert build(tmp_path, shed).stdout == (
        f"{out}: 1 feature: 1 struck\n"
        f"{out}: it only takes away what the packs named before it have\n"
    )
    both = build(tmp_path, shed, feature(kind="dwelling", id="house-2"))
    assert both.stdout.startswith(f"{out}: 2 features: 1 dwelling, 1 struck\n{out}: no coverage")


def test_where_no_pack_knows_the_dwellings_nothing_near_is_said_to_mean_nothing() -> None:
    blind = "no zone data here: no pack says that it knows the dwellings\n"
    far = zones("at", LAKE, "46.5", "-89.5")
    assert (far.exit_code, far.stdout, far.stderr) == (0, "nothing within 6562 ft\n", blind)
    assert zones("at", LAKE, "46.5", "-89.5", "--json").stderr == ""
    assert zones("at", LAKE, "44.05", "-88.415").stderr == ""


def test_the_kind_option_is_for_features_without_a_kind(tmp_path: Path) -> None:
    source, out = tmp_path / "in.geojson", tmp_path / "out.gpkg"
    source.write_text(
        json.dumps({"type": "FeatureCollection", "features": [feature(), feature(kind="water")]})
    )
    assert zones("build", source, "-o", out, "--kind", "dwelling").exit_code == 0
    assert [row[1] for row in rows(out)] == ["dwelling", "water"]
    wrong = zones("build", source, "-o", out, "--kind", "house")
    assert wrong.exit_code == 2
    assert "house: must be one of dwelling" in wrong.stderr


def test_several_maps_become_one_pack(tmp_path: Path) -> None:
    more = tmp_path / "more.geojson"
    more.write_text(json.dumps({"type": "FeatureCollection", "features": [feature(kind="stop")]}))
    out = tmp_path / "out.gpkg"
    assert zones("build", DEMO / "lake.geojson", more, "-o", out).exit_code == 0
    assert len(rows(out)) == 11
    twice = zones("build", more, more, "-o", out)
    assert twice.exit_code == 1
    assert twice.stderr == (
        f"{more}: feature 1: kind stop, id more-1 is there already: {more}: feature 1. "
        "Give each feature of a kind an id of its own.\n"
    )
    assert len(rows(out)) == 11  # what was there stays


RING = [[-88.4, 44.0], [-88.39, 44.0], [-88.39, 44.01], [-88.4, 44.0]]
IN_DEGREES = "expected points, lines or polygons in degrees"


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (feature(kind="house"), f"kind = house: must be one of {ALLOWED}"),
        (feature(name="x"), "has no property `kind`: give it one, or say --kind"),
        (
            {"type": "Feature", "properties": {"kind": "water"}, "geometry": None},
            "has no geometry: expected a point, a line or a polygon",
        ),
        (
            feature({"type": "Polygon", "coordinates": []}, kind="water"),
            f"an empty geometry; {IN_DEGREES}",
        ),
        (
            feature({"type": "Polygon", "coordinates": [RING[:3]]}, kind="water"),
            f"a polygon with a part of 3 corners; {IN_DEGREES}",
        ),
        (
            feature({"type": "Point", "coordinates": [680000.0, 290000.0]}, kind="stop"),
            f"a corner that is not on the globe in degrees; {IN_DEGREES}",
        ),
        (
            feature({"type": "GeometryCollection", "geometries": []}, kind="stop"),
            f"a geometry of type 7; points, lines and polygons are read; {IN_DEGREES}",
        ),
        (
            feature(kind="stop", dated="last winter"),
            "dated = last winter: must be a date like 2026-01-31, 2026-01 or 2026",
        ),
        (
            feature(kind="stop", dated="2026-13"),
            "dated = 2026-13: must be a date like 2026-01-31, 2026-01 or 2026",
        ),
        (
            feature(kind="stop", confidence="struck"),
            "confidence = struck: must have the `id` of the feature that it takes away",
        ),
        (
            feature(kind="stop", id=2**60),
            "id = 1152921504606846976: is too large a number; write it in quotes",
        ),
        (feature(kind="stop", id=[1, 2]), "id = [1, 2]: must be a word or a number"),
    ],
)
def test_a_bad_feature_is_named_with_what_is_allowed(
    tmp_path: Path, bad: dict[str, Any], what: str
) -> None:
    result = build(tmp_path, feature(kind="shanty"), bad)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{tmp_path}/in.geojson: feature 2: {what}. "
        "Nothing was built: mend the file and build again, or leave them out with --skip-broken.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in.geojson"]


def test_all_bad_features_are_told_at_once(tmp_path: Path) -> None:
    result = build(tmp_path, *(feature(kind=f"kind{number}") for number in range(14)))
    lines = result.stderr.splitlines()
    assert len(lines) == 11
    assert lines[3].startswith(f"{tmp_path}/in.geojson: feature 4: kind = kind3: must be one of")
    assert lines[10].startswith(f"{tmp_path}/in.geojson: and 4 more.")


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        (
            "cut.geojson",
            '{"type": "FeatureCollection", "features": [{',
            "Unterminated object. Expected GeoJSON or another vector map.",
        ),
        ("empty.geojson", "", "not recognized as being in a supported file format"),
        ("hello.geojson", "hello", "not recognized as being in a supported file format"),
        (
            "none.geojson",
            '{"type": "FeatureCollection", "features": []}',
            "holds no features: expected at least one.",
        ),
        ("table.csv", "kind,id\nshanty,7\n", "has no geometries: expected GeoJSON"),
        (
            "mixed.geojson",
            json.dumps(
                {
                    "type": "FeatureCollection",
                    "features": [feature(kind="stop", id=1), feature(kind="stop") | {"id": "a7"}],
                }
            ),
            "parsed incompletely to integer 0",
        ),
    ],
)
def test_a_bad_map_is_refused(tmp_path: Path, name: str, content: str, what: str) -> None:
    source = tmp_path / name
    source.write_text(content)
    result = zones("build", source, "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{source}: ")
    assert what in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_map_that_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    missing = zones("build", tmp_path / "no.geojson", "-o", tmp_path / "out.gpkg")
    assert (missing.exit_code, missing.stderr) == (
        1,
        f"{tmp_path}/no.geojson: there is no such file: expected GeoJSON or another vector map.\n",
    )
    folder = zones("build", tmp_path, "-o", tmp_path / "out.gpkg")
    assert (folder.exit_code, folder.stderr) == (
        1,
        f"{tmp_path}: is a folder: expected GeoJSON or another vector map. Name the map.\n",
    )


@pytest.mark.parametrize("name", ["lake.txt", "lake", "lake.geojson", ".gpkg"])
def test_a_pack_must_be_called_one_before_anything_is_read(tmp_path: Path, name: str) -> None:
    result = zones("build", tmp_path / "no.geojson", "-o", tmp_path / name)
    assert result.exit_code == 2
    assert "must end in .gpkg, like lake.gpkg" in " ".join(result.stderr.replace("│", "").split())


def test_what_is_no_pack_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "lake.geojson"
    source.write_bytes((DEMO / "lake.geojson").read_bytes())
    other = tmp_path / "notes.gpkg"
    other.write_bytes(b"a note " * 40)
    result = zones("build", source, "-o", other)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{other}: is there already, and is no GeoPackage: it is not overwritten. "
        "Name another place with -o.\n"
    )
    assert other.read_bytes() == b"a note " * 40
    folder = zones("build", source, "-o", tmp_path)
    assert (
        folder.stderr == f"{tmp_path}: is a folder: expected the name of a pack, like lake.gpkg.\n"
    )
    nowhere = zones("build", source, "-o", tmp_path / "no" / "lake.gpkg")
    assert nowhere.stderr == (
        f"{tmp_path}/no/lake.gpkg: there is no folder {tmp_path}/no. Make it first.\n"
    )


def test_another_vector_format_is_read_too(tmp_path: Path) -> None:
    source, out = tmp_path / "lake.fgb", tmp_path / "out.gpkg"
    meta, _, shapes, values = pyogrio.raw.read(DEMO / "lake.geojson", datetime_as_string=True)
    pyogrio.raw.write(
        source,
        shapes,
        values,
        meta["fields"],
        driver="FlatGeobuf",
        geometry_type="Unknown",
        crs="EPSG:4326",
    )
    result = zones("build", source, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert sorted(row[1:3] for row in rows(out)) == sorted(row[1:3] for row in rows(LAKE))


def test_info_counts_what_a_pack_holds() -> None:
    result = zones("info", LAKE)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "features    10" in lines
    assert "            4 dwelling" in lines
    assert "extent      44.0200 to 44.0900 N, -88.4600 to -88.3500 E" in lines
    assert "coverage    1 drawn" in lines
    assert "dates       2026-11-01 to 2026-11-01" in lines
    (told,) = json.loads(zones("info", LAKE, "--json").stdout)
    assert told["kinds"] == {
        "coverage": 1,
        "dwelling": 4,
        "race_course": 1,
        "shanty": 2,
        "trail": 1,
        "water": 1,
    }
    assert told["has_coverage"] is True
    assert told["size_bytes"] == LAKE.stat().st_size
    assert told["layout"] == "sledwarden zone pack, layout 3"


def test_at_lists_what_is_near_nearest_first() -> None:
    result = zones("at", LAKE, "44.0500", "-88.4150")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "kind         id             name                              distance_ft  inside",
        "coverage     demo-coverage  Invented survey of the demo lake  0.0          yes",
        "water        demo-lake      Invented Lake                     0.0          yes",
        "shanty       shanty-1       Invented shanty by the track      60.0         no",
        "race_course  demo-oval      Invented ice oval                 2858.57      no",
        "shanty       shanty-2       Invented shanty to the north      2858.57      no",
    ]
    near = json.loads(zones("at", LAKE, 44.06, -88.38, "--json", "--within-ft", 150).stdout)
    assert near == [
        {
            "kind": "coverage",
            "id": "demo-coverage",
            "name": "Invented survey of the demo lake",
            "distance_ft": 0.0,
            "inside": True,
        },
        {
            "kind": "trail",
            "id": "demo-trail",
            "name": "Invented shore trail",
            "distance_ft": 0.0,
            "inside": False,
        },
        {
            "kind": "dwelling",
            "id": "dwelling-1",
            "name": "Invented house by the trail",
            "distance_ft": 100.0,
            "inside": False,
        },
    ]
    assert zones("at", LAKE, 45, -90, "--json").stdout == "[]\n"
    assert zones("at", LAKE, 45, -90).stdout == "nothing within 6562 ft\n"


def test_distances_of_at_are_true_to_geodesics(tmp_path: Path) -> None:
    geodesics = Geod(ellps="WGS84")
    chance = random.Random(4)
    places = [(chance.uniform(42, 49), chance.uniform(-93, -86)) for _ in range(40)]
    shanties, points = [], ["lat,lon"]
    for lat, lon in places:
        away_lon, away_lat, _ = geodesics.fwd(
            lon, lat, chance.uniform(0, 360), chance.uniform(3, 9900)
        )
        shanties.append(
            feature({"type": "Point", "coordinates": [away_lon, away_lat]}, kind="shanty")
        )
        points.append(f"{lat},{lon}")
    build(tmp_path, *shanties)
    table = tmp_path / "points.csv"
    table.write_text("\n".join(points))
    result = zones("at", tmp_path / "out.gpkg", "--points", table, "--within-ft", 32800, "--json")
    told = {
        (one["lat"], one["lon"], one["id"]): one["distance_ft"] for one in json.loads(result.stdout)
    }
    for number, (lat, lon) in enumerate(places):
        at_lon, at_lat = shanties[number]["geometry"]["coordinates"]
        true_ft = geodesics.inv(lon, lat, at_lon, at_lat)[2] / 0.3048
        assert told[lat, lon, f"in-{number + 1}"] == pytest.approx(true_ft, rel=0.002)


def test_at_answers_a_table_of_points(tmp_path: Path) -> None:
    table = tmp_path / "points.csv"
    table.write_text("\ufeffname, Lon ,LAT\nice,-88.415,44.05\n\nfar,-80,40\nshore,-88.38,44.06\n")
    told = json.loads(zones("at", LAKE, "--points", table, "--within-ft", "100.1", "--json").stdout)
    assert [(one["lat"], one["lon"], one["id"]) for one in told] == [
        (44.05, -88.415, "demo-coverage"),
        (44.05, -88.415, "demo-lake"),
        (44.05, -88.415, "shanty-1"),
        (44.06, -88.38, "demo-coverage"),
        (44.06, -88.38, "demo-trail"),
        (44.06, -88.38, "dwelling-1"),
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "line 1: expected a head with the columns lat and lon."),
        ("x,y\n1,2\n", "line 1: expected a head with the columns lat and lon."),
        ("lat,lon\n44,-88\n44,x\n", "line 3: 44,x: expected a place in degrees."),
        ("lat,lon\n44\n", "line 2: 44: expected a place in degrees."),
        ("lat,lon\n91,0\n", "line 2: 91,0: expected a place in degrees."),
        ("lat,lon\nnan,0\n", "line 2: nan,0: expected a place in degrees."),
    ],
)
def test_a_bad_table_of_points_names_its_line(tmp_path: Path, content: str, what: str) -> None:
    table = tmp_path / "points.csv"
    table.write_text(content)
    result = zones("at", LAKE, "--points", table)
    assert (result.exit_code, result.stderr) == (1, f"{table}: {what}\n")


@pytest.mark.parametrize(
    "words",
    [
        ("44.05",),
        (),
        ("95", "-88"),
        ("44", "-188"),
        ("nan", "nan"),
        ("x", "-88"),
        ("44", "-88", "--nosuch"),
        ("44", "-88", "--points", "p.csv"),
    ],
)
def test_a_place_that_is_none_is_wrong_use(words: tuple[str, ...]) -> None:
    result = zones("at", LAKE, *words)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize("command", [("info",), ("at", "44", "-88")])
def test_a_pack_that_is_none_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    torn = tmp_path / "torn.gpkg"
    torn.write_bytes(LAKE.read_bytes()[:30_000])
    result = zones(command[0], torn, *command[1:])
    assert result.exit_code == 1
    assert result.stderr == (
        f"{torn}: is cut short: 30000 of 73728 bytes are there. "
        "Build it anew with `sledwarden zones build`, or copy it again.\n"
    )


def test_who_gives_east_before_north_is_told() -> None:
    result = zones("at", DEMO / "lake.gpkg", "--", -88.415, 44.05)
    assert result.stdout == "nothing within 6562 ft; 44.05 -88.415 has: LAT comes first\n"
    assert zones("at", DEMO / "lake.gpkg", "--", -80.0, 44.05).stdout == "nothing within 6562 ft\n"


def test_a_name_can_t_command_the_terminal(tmp_path: Path) -> None:
    build(tmp_path, feature(kind="shanty", name="red \x1b[31m [bold]"))
    shown = zones("at", tmp_path / "out.gpkg", 44.0, -88.4).stdout
    assert "red ?[31m [bold]" in shown


@pytest.mark.parametrize("command", ["build", "info", "at"])
def test_each_command_s_help_has_an_example(command: str) -> None:
    shown = zones(command, "--help").stdout
    assert f"sledwarden zones {command} lake" in shown
