"""Large and tangled shapes on their way into a pack: right, or refused in words, and in time."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from packing import opened, pack_of, row
from shapely.geometry.base import BaseGeometry

from firmware.maps.outlines import Outline
from firmware.maps.packs import surroundings
from firmware.maps.plane import Plane
from firmware.maps.zones import Nearby
from firmware.readings import Feature
from host_tools.packs.shapes import Shape, shapes_of

CENTRE = (45.0, -89.0)


def lake(corners: int) -> BaseGeometry:
    """A lake of some 8 km with a shore as ragged as its corners are close."""
    chance = np.random.default_rng(3)
    turn = np.linspace(0.0, math.tau, corners, endpoint=False)
    away = 0.05 + 0.005 * np.sin(37 * turn) + (chance.random(corners) - 0.5) * 2e-6
    places = np.column_stack(
        [CENTRE[1] + away * np.cos(turn), CENTRE[0] + 0.7 * away * np.sin(turn)]
    )
    return shapely.polygons(np.round(places, 7))


def walk(corners: int) -> BaseGeometry:
    """A path that wanders over itself, closed."""
    steps = np.random.default_rng(1).normal(0.0, 1e-4, (corners, 2))
    places = np.round(np.array([CENTRE[1], CENTRE[0]]) + np.cumsum(steps, axis=0), 7)
    return shapely.polygons(places)


def shape_of(geom: BaseGeometry) -> Shape | str:
    return shapes_of([shapely.to_wkb(geom)])[0]


def test_a_large_lake_is_as_far_by_what_is_near_of_it_as_it_is_whole(tmp_path: Path) -> None:
    whole = lake(40_000)
    ring = tuple(map(tuple, shapely.get_coordinates(whole).tolist()))
    feature = Feature("water", "lake", "", "polygon", (ring,))
    pack = pack_of(tmp_path / "lake.gpkg", row("water", "lake", whole))
    with opened(pack) as packs:
        for number in range(12):
            turn = number / 12 * math.tau
            place = (CENTRE[0] + 0.039 * math.sin(turn), CENTRE[1] + 0.056 * math.cos(turn))
            near = Nearby(surroundings(packs, *place)).nearest(("water",), place)
            assert near is not None
            outline = Outline(feature, 0, Plane(*place))
            assert near.distance_m == pytest.approx(outline.distance_m(0.0, 0.0), abs=0.2)
            if near.distance_m == 0.0:
                deep_m = math.sqrt(outline.edge_distance2((0.0, 0.0, 0.0, 0.0)))
                assert near.depth_m == pytest.approx(deep_m, abs=0.2)


def test_a_bow_tie_is_two_triangles_as_before() -> None:
    made = shape_of(shapely.polygons([(0, 0), (0.01, 0.01), (0.01, 0), (0, 0.01)]))
    assert isinstance(made, Shape)
    assert made.repaired.startswith("Self-intersection")
    assert shapely.area(shapely.from_wkb(made.blob[8:])) == pytest.approx(0.5e-4)


def test_a_shape_that_crosses_itself_often_is_mended() -> None:
    made = shape_of(walk(4_000))
    assert isinstance(made, Shape)
    head = 40 if made.blob[3] & 0x0E else 8
    whole = shapely.from_wkb(made.blob[head:])
    assert shapely.is_valid(whole)
    # what is enclosed an odd number of times must be inside; what is enclosed by nothing, outside
    ring = shapely.get_coordinates(walk(4_000))
    places = np.random.default_rng(2).uniform(ring.min(axis=0), ring.max(axis=0), (300, 2))
    odd = [_is_inside(ring, x, y) for x, y in places]
    inside = shapely.contains_xy(whole, places)
    assert sum(odd) > 20
    assert all(is_in for is_in, is_odd in zip(inside, odd, strict=True) if is_odd)


def test_a_shape_that_crosses_itself_without_end_is_refused_in_words() -> None:
    chance = np.random.default_rng(1)
    made = shape_of(shapely.polygons(chance.random((3_000, 2)) * 0.5 + [-89.0, 45.0]))
    assert made == (
        "crosses itself more than 200,000 times, which is not repaired; "
        "expected points, lines or polygons in degrees"
    )


def test_more_edges_than_can_be_looked_at_are_refused_before_they_are() -> None:
    # Each of these edges has a box that meets a fifth or so of the others' boxes.
    chance = np.random.default_rng(1)
    tangle = shapely.polygons(chance.random((20_000, 2)) * 0.5 + [-89.0, 45.0])
    made = shapes_of([shapely.to_wkb(one) for one in (tangle, shapely.box(-89, 45, -88, 46))])
    assert isinstance(made[1], Shape)  # what comes with it is packed
    assert isinstance(made[0], str)
    assert made[0].startswith("is too tangled to be checked: some ")
    assert made[0].endswith(
        " pairs of its edges may cross, and 20,000,000 are looked at; "
        "expected points, lines or polygons in degrees"
    )


def test_a_spiral_of_many_corners_is_no_tangle() -> None:
    along = np.linspace(0.0, 1.0, 10_000)
    away, turn = 0.02 + 0.3 * along, along * 40 * math.tau
    rails = [
        np.column_stack([out * np.cos(turn), out * np.sin(turn)]) for out in (away, away - 0.003)
    ]
    made = shape_of(
        shapely.polygons(np.vstack([rails[0], rails[1][::-1]]) + np.array([-89.0, 45.0]))
    )
    assert isinstance(made, Shape)
    assert made.repaired == ""


def test_a_ladder_whose_rails_cross_at_each_rung_is_mended_to_its_triangles() -> None:
    rungs = np.arange(2001)
    high = np.where(rungs % 2, 1e-4, 0.0)
    rails = [np.column_stack([rungs * 1e-4, one]) for one in (high, 1e-4 - high)]
    made = shape_of(
        shapely.polygons(np.vstack([rails[0], rails[1][::-1]]) + np.array([-89.0, 45.0]))
    )
    assert isinstance(made, Shape)
    whole = shapely.from_wkb(made.blob[40:])
    assert shapely.is_valid(whole)
    # Between two rungs lie two triangles, each half as wide as it is from there to the crossing.
    assert shapely.area(whole) == pytest.approx(2000 * 2 * (0.5 * 1e-4 * 0.5e-4), rel=1e-3)


def test_a_large_lake_that_crosses_itself_three_times_is_mended() -> None:
    shore = shapely.get_coordinates(lake(30_000))
    for at in (100, 15_000, 27_000):
        shore[[at, at + 40]] = shore[[at + 40, at]]
    made = shape_of(shapely.polygons(shore))
    assert isinstance(made, Shape)
    assert made.repaired.startswith("Self-intersection")
    whole = shapely.from_wkb(made.blob[40:])
    assert shapely.is_valid(whole)
    assert shapely.area(whole) == pytest.approx(shapely.area(lake(30_000)), rel=1e-4)


def test_each_part_of_a_shape_is_cut_at_the_date_line() -> None:
    ring = shapely.Polygon([(179.99, 44.0), (-179.99, 44.0), (-179.99, 44.01), (179.99, 44.01)])
    made = shape_of(shapely.MultiPolygon([ring, shapely.box(0.0, 44.0, 0.01, 44.01)]))
    assert isinstance(made, Shape)
    assert made.repaired == "cut at the date line"
    whole = shapely.from_wkb(made.blob[8:])
    assert len(shapely.get_parts(whole)) == 3
    assert shapely.area(whole) == pytest.approx(0.03 * 0.01)


def _is_inside(ring: np.ndarray, x: float, y: float) -> bool:
    inside = False
    for (x1, y1), (x2, y2) in pairwise(ring.tolist()):
        if (y1 > y) is not (y2 > y) and x < x1 + (x2 - x1) * (y - y1) / (y2 - y1):
            inside = not inside
    return inside
