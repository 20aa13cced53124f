"""How far the edges of points, lines and polygons with holes are, beside geodesics of pyproj."""

from __future__ import annotations

import random

import pytest
from test_zones import WGS84, away, nearby, point

from firmware.readings import Feature


def along_the_edges(
    chance: random.Random, centre: tuple[float, float]
) -> tuple[Feature, list[tuple[float, float]]]:
    """A point, a line or a polygon with a hole within 2 km of a place, and places along its edges
    a metre apart or less; both (latitude, longitude)."""
    away_m = chance.uniform(0.0, 1500.0)
    middle = away(centre, chance.uniform(0, 360), away_m)
    corners = chance.choice([1, 2, 3, 5, 9])
    turns = sorted(chance.uniform(0, 360) for _ in range(corners))
    ring = [away(middle, turn, chance.uniform(20.0, 200.0)) for turn in turns]
    rings = [ring]
    if corners > 2:
        hole = [away(middle, turn, chance.uniform(2.0, 10.0)) for turn in (0, 120, 240)]
        rings = [[*ring, ring[0]], [*hole, hole[0]]]
    places = []
    for one in rings:
        for (lat1, lon1), (lat2, lon2) in zip(one, one[1:] or one, strict=False):
            steps = 1 + int(WGS84.inv(lon1, lat1, lon2, lat2)[2])
            places += [
                (lat1 + (lat2 - lat1) * n / steps, lon1 + (lon2 - lon1) * n / steps)
                for n in range(steps + 1)
            ]
    shape = "point" if corners == 1 else "line" if corners == 2 else "polygon"
    parts = tuple(tuple((lon, lat) for lat, lon in one) for one in rings)
    return Feature("closed", "1", "", shape, parts), places  # type: ignore[arg-type]


def test_edges_of_all_shapes_are_as_far_as_geodesics_say_from_42_to_49_north() -> None:
    chance, worst, shapes = random.Random(20261130), 0.0, set()
    for _ in range(400):
        centre = (chance.uniform(42.0, 49.0), chance.uniform(-97.0, -82.0))
        feature, places = along_the_edges(chance, centre)
        sled = away(centre, chance.uniform(0, 360), chance.uniform(0, 500))
        near = nearby(feature, at=centre).nearest(["closed"], sled)
        assert near is not None
        lats, lons = zip(*places, strict=True)
        count = len(places)
        true_m = min(WGS84.inv([sled[1]] * count, [sled[0]] * count, lons, lats)[2])
        found_m = near.depth_m or near.distance_m
        if true_m > 250.0:  # places a metre apart are half a metre off at most: 0.0002 % of it
            worst = max(worst, abs(found_m - true_m) / true_m)
            shapes.add(feature.shape)
        else:
            assert found_m == pytest.approx(true_m, abs=0.6)
    assert shapes == {"point", "line", "polygon"}
    assert worst < 0.002


def test_distances_are_true_to_geodesics_within_2_km_from_42_to_49_north() -> None:
    chance = random.Random(5)
    worst = 0.0
    for _ in range(1500):
        centre = (chance.uniform(42.0, 49.0), chance.uniform(-93.0, -86.0))
        thing, sled = (
            away(centre, chance.uniform(0, 360), chance.uniform(0, 2000)) for _ in range(2)
        )
        near = nearby(point("shanty", "1", thing), at=centre).nearest(["shanty"], sled)
        assert near is not None
        true_m = WGS84.inv(sled[1], sled[0], thing[1], thing[0])[2]
        worst = max(worst, abs(near.distance_m - true_m) / true_m)
    assert worst < 0.0005  # a quarter of the promise
