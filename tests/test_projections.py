"""Maps that are not in degrees of WGS 84: converted, and told, or refused in words."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyogrio
import pytest
import shapely
from pyproj import Geod
from shapely.geometry.base import BaseGeometry
from typer.testing import CliRunner, Result

from host_tools.cli import app

WGS84 = Geod(ellps="WGS84")
SPHERE_M = 6378137.0
"""The radius of the sphere on which EPSG:3857 is drawn."""

FOOT_US_M = 1200 / 3937


def zones(*words: object) -> Result:
    return CliRunner().invoke(app, ["zones", *(str(word) for word in words)])


def drawn(path: Path, crs: str, *shapes: BaseGeometry, driver: str = "GPKG") -> Path:
    pyogrio.raw.write(
        path,
        [shapely.to_wkb(shape) for shape in shapes],
        [],
        [],
        driver=driver,
        geometry_type="Unknown" if driver == "GPKG" else shapes[0].geom_type,
        crs=crs,
    )
    return path


def packed(path: Path) -> list[BaseGeometry]:
    _, _, shapes, _ = pyogrio.raw.read(path, layer="features")
    return list(shapely.from_wkb(shapes))


@pytest.mark.parametrize(
    ("suffix", "driver"),
    [("gpkg", "GPKG"), ("shp", "ESRI Shapefile"), ("gdb", "OpenFileGDB")],  # a .gdb is a folder
)
def test_a_map_in_wisconsin_s_own_metres_is_converted_and_told(
    tmp_path: Path, suffix: str, driver: str
) -> None:
    # EPSG:3071 has its middle meridian, 90 W, at 520,000 m east, with a scale of 0.9996 there.
    points = [shapely.Point(520_000, 300_000), shapely.Point(570_000, 290_000)]
    source = drawn(tmp_path / f"wtm.{suffix}", "EPSG:3071", *points, driver=driver)
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--kind", "stop", "--source", "the DNR", "-o", out)
    assert result.exit_code == 0, result.stderr
    system = "NAD83(HARN) / Wisconsin Transverse Mercator (EPSG:3071)"
    assert f"{source}: was in {system}, converted to WGS 84, true to 1 m" in result.stdout
    middle, capitol = sorted(packed(out), key=lambda one: float(one.x))
    assert middle.x == pytest.approx(-90.0, abs=1e-5)  # 1 m
    # PROJ 9.5, by the datum shift "NAD83(HARN) to WGS 84 (3)".
    assert capitol.x == pytest.approx(-89.3857649, abs=1e-6)
    assert capitol.y == pytest.approx(43.0810725, abs=1e-6)
    # And by geodesics: from one to the other it is as far as the grid says, but for its scale.
    _, _, far_m = WGS84.inv(middle.x, middle.y, capitol.x, capitol.y)
    assert far_m == pytest.approx(math.hypot(50_000, 10_000) / 0.9996, rel=1e-4)
    told = json.loads(zones("info", out, "--json").stdout)[0]
    assert told["sources"] == ["the DNR (from EPSG:3071)"]


def test_nad83_degrees_and_feet_are_converted_too(tmp_path: Path) -> None:
    place = (-89.5, 44.25)
    nad83 = drawn(tmp_path / "nad83.gpkg", "EPSG:4269", shapely.Point(*place))
    # EPSG:3857 by its own formulas.
    x = math.radians(place[0]) * SPHERE_M
    y = math.log(math.tan(math.pi / 4 + math.radians(place[1]) / 2)) * SPHERE_M
    web = drawn(tmp_path / "web.gpkg", "EPSG:3857", shapely.Point(x, y))
    # EPSG:6609 has its middle meridian, 90 W, at 1,968,500 US feet, 600,000 m.
    feet = drawn(
        tmp_path / "feet.gpkg",
        "EPSG:6609",
        shapely.Point(1_968_500, 0),
        shapely.Point(1_968_500, 10_000 / FOOT_US_M),
    )
    for source, wanted in ((nad83, place), (web, place)):
        out = tmp_path / "out.gpkg"
        assert zones("build", source, "--kind", "stop", "-o", out).exit_code == 0
        (found,) = packed(out)
        assert (found.x, found.y) == (
            pytest.approx(wanted[0], abs=1e-7),
            pytest.approx(wanted[1], abs=1e-7),
        )
    assert zones("build", feet, "--kind", "stop", "-o", out).exit_code == 0
    south, north = sorted(packed(out), key=lambda one: float(one.y))
    assert south.x == pytest.approx(-90.0, abs=1e-5)
    assert south.y == pytest.approx(42.0, abs=1e-5)  # its origin
    assert WGS84.inv(south.x, south.y, north.x, north.y)[2] == pytest.approx(
        10_000,
        rel=3e-4,  # so far south of its parallels the scale is 1.0002
    )


def test_a_long_edge_in_metres_stays_where_it_is(tmp_path: Path) -> None:
    # Straight in metres for 40 km, at 45 N that is 31 m off what is straight in degrees.
    field = shapely.box(500_000, 480_000, 540_000, 490_000)
    points = [shapely.Point(x, 490_000) for x in (510_000, 520_000, 533_333)]
    out = tmp_path / "out.gpkg"
    source = drawn(tmp_path / "a.gpkg", "EPSG:3071", field, *points)
    assert zones("build", source, "--kind", "private", "-o", out).exit_code == 0
    shapes = packed(out)
    (area,) = [one for one in shapes if one.geom_type == "Polygon"]
    for point in (one for one in shapes if one.geom_type == "Point"):
        assert shapely.distance(area.exterior, point) * 111_195 < 0.02


def test_bounds_are_degrees_of_the_result(tmp_path: Path) -> None:
    points = [shapely.Point(520_000 + 10_000 * at, 480_000) for at in range(-3, 4)]
    source = drawn(tmp_path / "a.gpkg", "EPSG:3071", *points)
    out = tmp_path / "out.gpkg"
    result = zones("build", source, "--kind", "stop", "--bounds=-90.2,44,-89.9,46", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert sorted(round(one.x, 2) for one in packed(out)) == [-90.13, -90.0]


@pytest.mark.parametrize(
    ("crs", "place", "what"),
    [
        (  # without its grid of shifts NAD27 is known to 10 m here
            "EPSG:4267",
            (-89.0, 44.0),
            "is in NAD27 (EPSG:4267), which is converted to 10 m here: expected 5 m. "
            "Convert it with `ogr2ogr -t_srs EPSG:4326`, where PROJ has the grid for it.",
        ),
        (
            'LOCAL_CS["a mine\'s own",UNIT["metre",1]]',
            (10.0, 10.0),
            "expected degrees of WGS 84 (EPSG:4326), or what PROJ converts to them. "
            "Convert it with `ogr2ogr -t_srs EPSG:4326`.",
        ),
    ],
    ids=["too far off", "unknown"],
)
def test_what_can_t_be_converted_well_enough_is_refused(
    tmp_path: Path, crs: str, place: tuple[float, float], what: str
) -> None:
    source = drawn(tmp_path / "a.gpkg", crs, shapely.Point(*place))
    result = zones("build", source, "--kind", "stop", "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{source}: is in ")
    assert result.stderr.endswith(f"{what}\n")
    assert not (tmp_path / "out.gpkg").exists()


def test_a_place_that_no_projection_holds_is_a_fault_of_its_feature(tmp_path: Path) -> None:
    source = drawn(tmp_path / "a.gpkg", "EPSG:3071", shapely.Point(1e12, 1e12))
    result = zones("build", source, "--kind", "stop", "-o", tmp_path / "out.gpkg")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{source}: feature 1: a corner that is not ")
