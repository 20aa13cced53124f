"""`sledwarden zones build` from real formats: tags, footprints, bounds, repairs, interruptions."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pyogrio
import pytest
import shapely
from packing import pack_of, row
from typer.testing import CliRunner, Result

from host_tools.cli import app
from host_tools.packs.mapping import load, presets

ROOT = Path(__file__).parents[1]
ZONES = Path(__file__).parent / "data" / "zones"
BOW_TIE = [[-88.0, 44.0], [-87.99, 44.01], [-87.99, 44.0], [-88.0, 44.01], [-88.0, 44.0]]


def zones(*words: object) -> Result:
    return CliRunner().invoke(app, ["zones", *(str(word) for word in words)])


def lines(tmp_path: Path, *features: dict[str, Any], name: str = "in.geojsonl") -> Path:
    """A map of one feature a line."""
    path = tmp_path / name
    path.write_text("".join(json.dumps(one) + "\n" for one in features))
    return path


def box(lon: float, lat: float, **properties: object) -> dict[str, Any]:
    ring = [[lon, lat], [lon + 1e-4, lat], [lon + 1e-4, lat + 1e-4], [lon, lat + 1e-4], [lon, lat]]
    return shape({"type": "Polygon", "coordinates": [ring]}, **properties)


def shape(geometry: dict[str, Any] | None, **properties: object) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def rows(pack: Path, columns: str = "kind, id, confidence, attributes") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(pack)) as opened:
        return sorted(opened.execute(f"SELECT {columns} FROM features"), key=str)


# Tags.


@pytest.mark.parametrize("name", ["town.osm", "town.osm.pbf"])
def test_openstreetmap_s_tags_become_kinds(tmp_path: Path, name: str) -> None:
    out = tmp_path / "town.gpkg"
    result = zones("build", ZONES / name, "--map", "openstreetmap", "--dated", "2026-11", "-o", out)
    assert result.exit_code == 0, result.stderr
    # By hand from the tags in town.osm. The garage (w102) and the bait shop (w104) are no
    # dwellings, the park (w115) is nothing.
    assert rows(out) == sorted(
        [
            ("airport", "w114", None, None),
            ("cemetery", "w111", None, None),
            ("church", "w113", None, None),
            ("dwelling", "n23", None, None),
            ("dwelling", "w101", None, None),
            ("dwelling", "w103", "possible", None),
            ("road", "w105", None, '{"jurisdiction": "county", "limit_mph": "35"}'),
            (
                "road",
                "w106",
                None,
                '{"class": "state_trunk", "jurisdiction": "state", "limit_kmh": "80"}',
            ),
            ("road", "w108", None, '{"class": "local"}'),
            ("school", "w112", None, None),
            ("speed_sign", "n22", None, '{"limit_mph": "25"}'),
            ("stop", "n20", None, None),
            ("trail", "w107", None, None),
            ("water", "r201", None, None),
            ("yield", "n21", None, None),
        ],
        key=str,
    )
    assert f"{out}: 3 of 18 that were read are of no kind asked for\n" in result.stdout
    told = {row[:3] for row in rows(out, "source, licence, dated")}
    assert told == {("OpenStreetMap contributors", "ODbL-1.0", "2026-11")}
    inside = json.loads(zones("at", out, 44.0145, -88.0055, "--within-ft", 500, "--json").stdout)
    (water,) = [one for one in inside if one["kind"] == "water"]
    assert water["inside"] is False  # on the island, a hole of the lake
    assert water["distance_ft"] > 100.0


def test_a_mapping_of_one_s_own_says_what_becomes_what(tmp_path: Path) -> None:
    mapping = tmp_path / "county.toml"
    mapping.write_text(
        'source = "Vilas County"\nlicence = "CC0-1.0"\nid = ["PARCEL"]\nname = ["OWNER"]\n'
        '[[rule]]\nkind = "private"\nwhen = { USE = ["FOREST*", "farm"] }\n'
        'unless = { OPEN = ["*"] }\nshapes = ["polygon"]\nconfidence = "assessed"\n'
        '[[rule]]\nkind = "road"\nshapes = ["line"]\n'
        '[[rule.attribute]]\nname = "limit_kmh"\ncolumn = "SPEED"\nas = "kmh"\n'
    )
    line = {"type": "LineString", "coordinates": [[-88.0, 44.0], [-88.0, 44.1]]}
    source = lines(
        tmp_path,
        box(-88.0, 44.0, PARCEL="7", USE="FOREST 2", OWNER="A"),
        box(-88.1, 44.0, PARCEL="8", USE="farm;rest", OPEN="yes"),
        box(-88.2, 44.0, PARCEL=9, USE="farm"),
        box(-88.3, 44.0, PARCEL="10", USE="town"),
        shape(line, PARCEL="r1", SPEED="40"),
        shape(line, PARCEL="r2", SPEED="25 mph"),  # in another unit: not made into a rounded one
    )
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--map", mapping, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert rows(out, "kind, id, name, source, confidence, attributes") == sorted(
        [
            ("private", "7", "A", "Vilas County", "assessed", None),
            ("private", "9", None, "Vilas County", "assessed", None),
            ("road", "r1", None, "Vilas County", None, '{"limit_kmh": "40"}'),
            ("road", "r2", None, "Vilas County", None, None),
        ],
        key=str,
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = [", "is no TOML"),
        ("", "has no [[rule]]: expected at least one."),
        ('[[rule]]\nkind = "house"', "[[rule]] 1: kind = house: must be one of dwelling"),
        ('[[rule]]\nkinds = "house"', "docs/zones.md has every key."),
        (
            'dated = "soon"\n[[rule]]\nkind = "road"\n[[rule.attribute]]\nname = "class"',
            "dated = soon: must be a date like 2026-01-31, 2026-01 or 2026.",
        ),
        (
            '[[rule]]\nkind = "road"\n[[rule.attribute]]\nname = "class"',
            "[[rule]] 1: attribute class: must have either value or column.",
        ),
    ],
)
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, text: str, what: str) -> None:
    mapping = tmp_path / "bad.toml"
    mapping.write_text(text)
    source = lines(tmp_path, box(-88.0, 44.0))
    result = zones("build", source, "--map", mapping, "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{mapping}: ")
    assert what in result.stderr


def test_an_unknown_preset_names_those_there_are(tmp_path: Path) -> None:
    source = lines(tmp_path, box(-88.0, 44.0))
    result = zones("build", source, "--map", "osm", "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert "expected a mapping (.toml), or one of the presets footprints, openstreetmap" in (
        result.stderr
    )
    assert presets() == ["footprints", "openstreetmap"]
    assert all(load(name).rules for name in presets())


# Footprints.


def test_footprints_a_line_are_possible_dwellings_whatever_the_file_is_called(
    tmp_path: Path,
) -> None:
    content = "".join(json.dumps(box(-88.0 + n / 100, 44.0, height=n)) + "\n" for n in range(5))
    plain = tmp_path / "a.geojsonl"
    plain.write_text(content)
    zipped, packed = tmp_path / "a.csv.gz", tmp_path / "a.zip"
    zipped.write_bytes(gzip.compress(content.encode(), mtime=0))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.geojsonl", content)
    for source in (plain, zipped, packed):
        out = tmp_path / "out.gpkg"
        result = zones("build", source, "--map", "footprints", "-o", out)
        assert result.exit_code == 0, result.stderr
        assert rows(out) == [("dwelling", f"a-{n}", "possible", None) for n in range(1, 6)]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.csv.gz", "a.geojsonl", "a.zip", "out.gpkg"]  # GDAL left nothing beside


def test_bounds_and_where_choose_and_coverage_is_drawn(tmp_path: Path) -> None:
    source = lines(tmp_path, *(box(-88.0 + n / 10, 44.0, id=n, floors=n) for n in range(5)))
    out = tmp_path / "out.gpkg"
    chosen = ["build", source, "--map", "footprints", "--bounds", "-88.05,43,-87.75,45", "-o", out]
    assert zones(*chosen, "--where", "floors > 0", "--coverage", "bounds").exit_code == 0
    assert [row[:2] for row in rows(out)] == [
        ("coverage", "bounds"),
        ("dwelling", "1"),
        ("dwelling", "2"),
    ]
    told = json.loads(zones("info", out, "--json").stdout)
    assert told[0]["coverage"] == [
        {"id": "bounds", "name": "", "dated": "", "extent": [-88.05, 43.0, -87.75, 45.0]}
    ]
    area = tmp_path / "county.geojson"
    area.write_text(json.dumps(box(-88.0, 44.0, name="Vilas", dated="2025")))
    assert zones(*chosen, "--coverage", area).exit_code == 0
    assert [row[1] for row in rows(out, "kind, name") if row[0] == "coverage"] == ["Vilas"]
    nothing = zones(*chosen[:4], "--where", "floors > 9", "-o", out)
    assert nothing.exit_code == 1
    assert nothing.stderr == (
        f"{source}: nothing in it is asked for: expected at least one feature. "
        "Look at --map, --where and --bounds.\n"
    )
    wrong = zones(*chosen[:4], "--where", "no_such_column = 1", "-o", out)
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith(f"{source}: can't be read: ")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--bounds", "1,2,3"], "1,2,3: must be west,south,east,north in degrees"),
        (["--bounds", "5,2,3,4"], "west and south first"),
        (["--bounds", "nan,nan,nan,nan"], "must be west,south,east,north in degrees"),
        (["--coverage", "bounds"], "bounds: must have --bounds W,S,E,N"),
        (["--dated", "soon"], "soon: must be a date like 2026-01-31, 2026-01 or 2026"),
        (["--confidence", "struck"], "struck: each feature must say that itself"),
        (["--kind", "dwelling"], "the mapping gives the kinds: leave one out"),
    ],
)
def test_wrong_use_is_told(tmp_path: Path, options: list[str], what: str) -> None:
    source = lines(tmp_path, box(-88.0, 44.0))
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--map", "footprints", "-o", out, *options)
    assert result.exit_code == 2
    assert what in " ".join(result.stderr.replace("│", " ").split())
    assert not out.exists()


@pytest.mark.parametrize(
    ("suffix", "driver"), [("fgb", "FlatGeobuf"), ("shp", "ESRI Shapefile"), ("gpkg", "GPKG")]
)
def test_other_formats_are_read_by_the_batch(tmp_path: Path, suffix: str, driver: str) -> None:
    import numpy

    source, out = tmp_path / f"in.{suffix}", tmp_path / "out.gpkg"
    count = 20_000  # three batches
    lons = numpy.arange(count) / 1e4 - 90.0
    pyogrio.raw.write(
        source,
        shapely.to_wkb(shapely.box(lons, 44.0, lons + 5e-5, 44.0001)),
        [numpy.arange(count)],
        ["id"],
        driver=driver,
        geometry_type="Polygon",
        crs="EPSG:4326",
    )
    assert zones("build", source, "--kind", "dwelling", "-o", out).exit_code == 0
    found = rows(out, "CAST(id AS INTEGER)")
    assert len({number for (number,) in found}) == count
    near = json.loads(zones("at", out, 44.00005, -89.5, "--within-ft", 5, "--json").stdout)
    assert [(one["id"], one["inside"]) for one in near if one["inside"]] == [("5000", True)] or (
        near[0]["id"] in ("4999", "5000")
    )


# What is written.


def test_the_order_of_the_maps_makes_no_difference(tmp_path: Path) -> None:
    one = lines(
        tmp_path, *(box(-88.0 + n / 100, 44.0, id=f"a{n}") for n in range(9)), name="a.jsonl"
    )
    two = lines(tmp_path, *(box(-89.0, 44 + n / 100, id=f"b{n}") for n in range(9)), name="b.jsonl")
    packs = []
    for number, order in enumerate([(one, two), (two, one)]):
        out = tmp_path / f"{number}.gpkg"
        told = ["--kind", "dwelling", "--source", "x"]
        assert zones("build", *order, *told, "-o", out).exit_code == 0
        packs.append(out.read_bytes())
    assert packs[0] == packs[1]


def test_what_two_maps_both_have_is_packed_once_and_what_differs_is_refused(tmp_path: Path) -> None:
    here = [box(-88.0, 44.0, id="w1"), box(-88.1, 44.0, id="w2")]
    one = lines(tmp_path, *here, name="a.jsonl")
    two = lines(tmp_path, here[1], box(-88.2, 44.0, id="w3"), name="b.jsonl")
    out = tmp_path / "out.gpkg"
    told = ["--kind", "dwelling", "--source", "x", "-o", out]
    result = zones("build", one, two, *told)
    assert result.exit_code == 0, result.stderr
    assert [row[1] for row in rows(out)] == ["w1", "w2", "w3"]
    assert f"{out}: 1 were there twice, alike, and are packed once\n" in result.stdout
    moved = lines(tmp_path, box(-88.1, 44.1, id="w2"), name="c.jsonl")
    result = zones("build", one, moved, *told)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{moved}: feature 1: kind dwelling, id w2 is there already: {one}: feature 2. "
        "Give each feature of a kind an id of its own.\n"
    )
    assert len(rows(out)) == 3


def test_packs_are_maps_too_and_what_is_struck_stays_struck(tmp_path: Path) -> None:
    state = pack_of(tmp_path / "state.gpkg", row("dwelling", "1", shapely.box(0, 0, 1e-4, 1e-4)))
    club = pack_of(
        tmp_path / "club.gpkg",
        row("dwelling", "9", None, confidence="struck", source="club"),
        row("stop", "1", shapely.Point(0, 0), attributes='{"b": "2", "a": 1}'),
    )
    out = tmp_path / "all.gpkg"
    assert zones("build", state, club, "-o", out).exit_code == 0
    assert rows(out) == [
        ("dwelling", "1", None, None),
        ("dwelling", "9", "struck", None),
        ("stop", "1", None, '{"a": "1", "b": "2"}'),
    ]
    (told,) = json.loads(zones("info", out, "--json").stdout)
    assert (told["features"], told["struck"]) == (2, 1)
    assert told["kinds"] == {"dwelling": 1, "stop": 1}
    near = json.loads(zones("at", state, 0.0, 0.0, "--with", out, "--json").stdout)
    assert [(one["kind"], one["id"]) for one in near] == [("dwelling", "1"), ("stop", "1")]


def test_a_geopackage_with_large_shapes_is_valid_and_one_layer_to_gdal(tmp_path: Path) -> None:
    around = shapely.Point(0, 0).buffer(1, quad_segs=500).exterior.coords[:-1]
    ring = [(-88 + 0.1 * (n % 7 / 70 + 1) * x, 44 + 0.1 * y) for n, (x, y) in enumerate(around)]
    out = pack_of(tmp_path / "a.gpkg", row("water", "big", shapely.Polygon(ring)))
    with closing(sqlite3.connect(out)) as pack:
        ask = lambda text: pack.execute(text).fetchall()  # noqa: E731 -- a dozen times below
        assert ask("PRAGMA application_id") == [(0x47504B47,)]  # requirement 2
        assert ask("PRAGMA user_version") == [(10300,)]
        assert ask("PRAGMA integrity_check") == [("ok",)]  # 6
        assert ask("PRAGMA foreign_key_check") == []  # 7
        assert ask("SELECT srs_id FROM gpkg_spatial_ref_sys ORDER BY 1") == [(-1,), (0,), (4326,)]
        assert ask("SELECT table_name, data_type FROM gpkg_contents ORDER BY 1") == [
            ("features", "features")
        ]
        # 15: ISO 8601 in UTC with milliseconds
        when = [text for (text,) in ask("SELECT last_change FROM gpkg_contents")]
        assert all(len(text) == 24 and text.endswith("Z") for text in when)
        keys = [row for row in ask("PRAGMA table_info(features)") if row[5]]
        assert [(row[2], row[5]) for row in keys] == [("INTEGER", 1)]  # 29: counted up by SQLite
        assert ask("SELECT table_name, column_name, z, m FROM gpkg_geometry_columns") == [
            ("features", "geom", 0, 0)
        ]
        assert ask("SELECT table_name, extension_name, scope FROM gpkg_extensions") == [
            ("features", "gpkg_rtree_index", "write-only")
        ]  # 77
        triggers = {name for (name,) in ask("SELECT name FROM sqlite_schema WHERE type='trigger'")}
        wanted = ("insert", "update1", "update2", "update3", "update4", "delete")
        assert {f"rtree_features_geom_{one}" for one in wanted} <= triggers
        assert ask("SELECT rtreecheck('rtree_features_geom')") == [("ok",)]
        assert ask("SELECT rtreecheck('rtree_features_runs')") == [("ok",)]
        assert ask("SELECT count(*) > 1 FROM rtree_features_runs") == [(1,)]
    layers = [[str(name), form] for name, form in pyogrio.list_layers(out)]
    assert layers == [["features", "Unknown"]]
    _, _, shapes, _ = pyogrio.raw.read(out, layer="features", bbox=(-88, 44, -87.9, 44.1))
    assert shapely.from_wkb(shapes[0]).equals_exact(shapely.Polygon(ring), 1e-7)
    assert zones("info", out).exit_code == 0


# What is broken.


def test_shapes_that_cross_themselves_are_repaired_and_told(tmp_path: Path) -> None:
    tie = {"type": "Polygon", "coordinates": [BOW_TIE]}
    source = lines(tmp_path, shape(tie, id="tie"), box(-88.5, 44.0, id="whole"))
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--kind", "water", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert (
        f"{out}: 1 shapes were repaired, such as\n"
        f"{out}:   {source}: feature 1: water tie: Self-intersection[-87.995 44.005]\n"
    ) in result.stdout
    # Each of its two triangles is inside, and what lies between them is not.
    inside = {}
    for lat, lon in ((44.005, -87.999), (44.005, -87.991), (44.0095, -87.995)):
        near = json.loads(zones("at", out, lat, lon, "--json").stdout)
        inside[lon] = near[0]["inside"]
    assert inside == {-87.999: True, -87.991: True, -87.995: False}


def test_heights_are_left_out_and_a_shape_over_the_date_line_is_cut_there(tmp_path: Path) -> None:
    ring = [[179.99, 44.0, 9], [-179.99, 44.0, 9], [-179.99, 44.01, 9], [179.99, 44.01, 9]]
    source = lines(tmp_path, shape({"type": "Polygon", "coordinates": [[*ring, ring[0]]]}, id="d"))
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--kind", "water", "-o", out)
    assert "water d: cut at the date line" in result.stdout
    _, _, shapes, _ = pyogrio.raw.read(out, layer="features")
    whole = shapely.from_wkb(shapes[0])
    assert (whole.geom_type, whole.has_z, whole.is_valid) == ("MultiPolygon", False, True)
    assert whole.area == pytest.approx(0.02 * 0.01)


def test_what_is_broken_refuses_all_or_is_left_out_and_told(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        box(-88.0, 44.0, id="good"),
        shape({"type": "Polygon", "coordinates": []}, id="empty"),
        shape(None, id="none"),
        shape({"type": "Point", "coordinates": [200.0, 99.0]}, id="off"),
        shape({"type": "LineString", "coordinates": [[-88, 44], [-88, 44]]}, id="spot"),
    )
    out = tmp_path / "out.gpkg"
    refused = zones("build", source, "--kind", "dwelling", "-o", out)
    assert refused.exit_code == 1
    assert len(refused.stderr.splitlines()) == 4
    assert not out.exists()
    result = zones("build", source, "--kind", "dwelling", "--skip-broken", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert f"{out}: 4 were left out, such as\n" in result.stdout
    left = [line.partition("feature ")[2] for line in result.stdout.splitlines()]
    for number, what in ((2, "an empty"), (3, "has no"), (4, "a corner"), (5, "encloses")):
        assert any(line.startswith(f"{number}: {what}") for line in left), (number, left)
    (told,) = json.loads(
        zones("build", source, "--kind", "dwelling", "--skip-broken", "-o", out, "--json").stdout
    )
    assert (told["read"], told["packed"], told["fault_count"]) == (5, 1, 4)


@pytest.mark.parametrize("name", ["town.osm.pbf", "town.osm", "in.fgb", "in.gpkg", "in.csv.gz"])
def test_a_map_that_is_cut_short_is_one_sentence(tmp_path: Path, name: str) -> None:
    if name.startswith("town"):
        whole = (ZONES / name).read_bytes()
    elif name.endswith(".gz"):
        text = "".join(json.dumps(box(-88 + n / 1e3, 44.0)) + "\n" for n in range(2000))
        whole = gzip.compress(text.encode())
    else:
        made = tmp_path / "made" / name
        made.parent.mkdir()
        shapes = shapely.to_wkb(
            [shapely.box(n / 100, 0, n / 100 + 1e-3, 1e-3) for n in range(2000)]
        )
        driver = {"fgb": "FlatGeobuf", "gpkg": "GPKG"}[name[3:]]
        pyogrio.raw.write(
            made, shapes, [], [], driver=driver, geometry_type="Polygon", crs="EPSG:4326"
        )
        whole = made.read_bytes()
    for share in (0.9, 0.5, 0.02):
        source, out = tmp_path / name, tmp_path / "out.gpkg"
        source.write_bytes(whole[: int(len(whole) * share)])
        told = ["--map", "openstreetmap"] if name.startswith("town") else ["--kind", "dwelling"]
        result = zones("build", source, *told, "-o", out)
        assert result.exit_code == 1, (share, result.stdout)
        assert result.stderr.startswith(f"{source}: ")
        assert "Traceback" not in result.stderr
        assert not out.exists()


@pytest.mark.parametrize("name", ["empty.osm.pbf", "empty.gpkg", "empty.fgb", "empty.geojsonl"])
def test_a_map_of_no_bytes_is_one_sentence(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.write_bytes(b"")
    result = zones("build", source, "--kind", "dwelling", "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{source}: ")


def test_a_build_that_is_interrupted_leaves_the_old_pack_and_nothing_beside(tmp_path: Path) -> None:
    out = tmp_path / "out.gpkg"
    small = lines(tmp_path, box(-88.0, 44.0, id="old"), name="small.jsonl")
    assert zones("build", small, "--kind", "dwelling", "-o", out).exit_code == 0
    before = out.read_bytes()
    fifo = tmp_path / "big.jsonl"
    text = "".join(json.dumps(box(-88 + n / 1e5, 44.0)) + "\n" for n in range(60_000))
    fifo.write_text(text)
    command = [sys.executable, "-m", "host_tools.cli", "zones", "build", str(fifo)]
    command += ["--kind", "dwelling", "-o", str(out)]
    for ending in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
        ) as process:
            while not list(tmp_path.glob(".out.gpkg.*.stage")):
                assert process.poll() is None, process.stderr.read()
            process.send_signal(ending)
            process.wait(timeout=60)
            assert process.returncode != 0
        assert out.read_bytes() == before
        left = list(tmp_path.glob(".out*"))
        assert bool(left) is (ending is signal.SIGKILL)
    # What the killed one left is cleared by the next.
    assert zones("build", small, "--kind", "dwelling", "-o", out).exit_code == 0
    assert list(tmp_path.glob(".out*")) == []
    assert out.read_bytes() == before


# Age and changes.


def test_info_tells_an_age_over_a_year(tmp_path: Path) -> None:
    old = pack_of(tmp_path / "old.gpkg", row("stop", "1", shapely.Point(0, 0), dated="2019-05"))
    new = pack_of(tmp_path / "new.gpkg", row("stop", "1", shapely.Point(0, 0)))
    told = zones("info", old, new).stdout
    assert "by its date 2019-05: over a year old, build it anew" in told
    assert "age         not known: nothing in it has a date" in told
    first, second = json.loads(zones("info", old, new, "--json").stdout)
    assert first["dated"] == "2019-05"
    assert first["age_days"] > 2700
    assert "age_days" not in second


def test_diff_tells_what_was_added_removed_moved_and_changed(tmp_path: Path) -> None:
    house = shapely.box(-88.0, 44.0, -87.9999, 44.0001)
    old = pack_of(
        tmp_path / "old.gpkg",
        row("dwelling", "same", house),
        row("dwelling", "gone", house),
        row("dwelling", "moved", shapely.Point(-88.0, 44.0)),
        row("stop", "named", shapely.Point(-88.0, 44.0), name="old"),
    )
    new = pack_of(
        tmp_path / "new.gpkg",
        row("dwelling", "same", house),
        row("dwelling", "moved", shapely.Point(-88.0, 44.001)),
        row("dwelling", "added", house),
        row("stop", "named", shapely.Point(-88.0, 44.0), name="new"),
    )
    assert zones("diff", old, new).stdout.splitlines() == [
        "kind      added  removed  moved  changed",
        "dwelling  1      1        1      0",
        "stop      0      0        0      1",
    ]
    told = json.loads(zones("diff", old, new, "--json").stdout)
    assert [(one["change"], one["kind"], one["id"]) for one in told] == [
        ("added", "dwelling", "added"),
        ("removed", "dwelling", "gone"),
        ("moved", "dwelling", "moved"),
        ("changed", "stop", "named"),
    ]
    # 0.001 degrees of latitude at 44 N are 111.12 m (the meridian's radius there is 6,367 km).
    assert told[2]["moved_ft"] == pytest.approx(364.6, abs=0.3)
    assert (
        "moved dwelling moved at 44.001 -88.0, by 364." in zones("diff", old, new, "--list").stdout
    )
    assert zones("diff", old, old).stdout == "no feature differs\n"
    assert zones("diff", old, old, "--json").stdout == "[]\n"
    missing = zones("diff", old, tmp_path / "no.gpkg")
    assert missing.exit_code == 1
    assert "there is no such file" in missing.stderr
