"""Roads on the map: which ones a vehicle may be on, along its course, and which it surely is on."""

from __future__ import annotations

import pytest
from judging import HOME, east_of, point, square

from firmware.maps.roads import Roads, posted_mph
from firmware.readings import Feature, Surroundings
from firmware.units import metres


def road(
    name: str,
    north_ft: float = 0.0,
    kind: str = "road",
    is_north: bool = False,
    **told: str,
) -> Feature:
    """A straight road of 4,000 ft through a place so many feet north of home."""
    ends = [(-2000.0, north_ft), (2000.0, north_ft)]
    if is_north:
        ends = [(north_ft, -2000.0), (north_ft, 2000.0)]
    places = [east_of(*one) for one in ends]
    return Feature(kind, name, "", "line", (tuple((lon, lat) for lat, lon in places),), told)


def roads_of(*features: Feature, kinds: tuple[str, ...] = ("road",)) -> Roads:
    return Roads(Surroundings(*HOME, 2000.0, features), kinds)


def test_a_road_reaches_half_its_width_to_each_side_and_further_by_the_error() -> None:
    roads = roads_of(road("a", width_m="10"))
    for north_m, error_m, names in (
        (4.9, 0.0, ["a"]), (5.1, 0.0, []), (5.1, 0.2, ["a"]), (8.1, 3.0, []),
    ):  # fmt: skip
        place = east_of(30.0, north_m / metres(1.0))
        assert [one.feature.id for one in roads.near(place, error_m)] == names


def test_without_a_width_it_is_12_m_and_a_law_may_say_how_far_it_reaches() -> None:
    roads = roads_of(road("a"))
    place = east_of(0.0, 6.1 / metres(1.0))
    assert roads.near(place, 0.0) == []
    (found,) = roads.near(place, 0.0, 10.0)
    assert (found.distance_m, found.half_m) == (pytest.approx(6.1, abs=0.01), 10.0)


def test_only_a_place_whose_error_leaves_no_doubt_is_surely_on_it() -> None:
    (found,) = roads_of(road("a", width_m="12")).near(east_of(0.0, 2.0 / metres(1.0)), 3.0)
    assert found.is_sure(3.9)
    assert not found.is_sure(4.1)


def test_a_road_runs_both_ways_and_a_course_across_it_is_not_along_it() -> None:
    (east,) = roads_of(road("a")).near(HOME, 1.0)
    assert east.course_deg == pytest.approx(90.0, abs=0.1)
    assert [east.runs_along(one) for one in (90.0, 270.0, 60.0, 120.0, 304.0)] == [True] * 5
    assert [east.runs_along(one) for one in (0.0, 180.0, 50.0, 130.0, 310.0)] == [False] * 5
    (north,) = roads_of(road("b", is_north=True)).near(HOME, 1.0)
    assert [north.runs_along(one) for one in (0.0, 359.0, 180.0, 145.5)] == [True] * 4
    assert not north.runs_along(90.0)


def test_of_several_the_nearest_comes_first_and_other_kinds_do_not_come() -> None:
    roads = roads_of(road("far", 30.0), road("near", 10.0), road("trail", 0.0, "trail"))
    assert [one.feature.id for one in roads.near(HOME, 10.0)] == ["near", "far"]
    trails = roads_of(road("a"), road("t", kind="trail"), kinds=("trail",))
    assert [one.feature.id for one in trails.near(HOME, 1.0)] == ["t"]


def test_what_was_far_when_it_was_last_looked_is_found_when_it_is_near() -> None:
    roads = roads_of(road("a"), road("b", 3000.0))
    for north_ft in range(0, 3001, 25):
        names = [one.feature.id for one in roads.near(east_of(0.0, north_ft), 2.0)]
        wanted = ["a"] if north_ft <= 25 else ["b"] if north_ft >= 2975 else []
        assert names == wanted, north_ft


def test_a_limit_in_km_h_is_told_in_mph_and_one_that_is_not_told_is_none() -> None:
    assert posted_mph(road("a", limit_mph="35")) == 35.0
    assert posted_mph(road("a", limit_kmh="50")) == pytest.approx(31.0686, abs=1e-4)
    assert posted_mph(road("a")) is None
    assert posted_mph(road("a", limit_mph="fast")) is None


def test_a_coverage_tells_of_what_it_is_for() -> None:
    for told, covers in (
        (None, False),
        ("dwelling", False),
        ("road", True),
        ("dwelling road", True),
    ):
        cover = square("coverage", HOME, 500.0)
        if told is not None:
            cover.attributes["of"] = told
        assert roads_of(cover).is_covered(HOME) is covers, told
        assert not roads_of(cover).is_covered(east_of(600.0))


def test_a_crossing_is_so_far_ahead_on_the_course_and_so_far_aside() -> None:
    roads = roads_of(point("crossing", east_of(100.0, 50.0)))
    assert roads.crossings(HOME, 90.0, 20.0) == []
    (found,) = roads.crossings(HOME, 90.0, 50.0)
    assert (found.ahead_m, found.aside_m) == (
        pytest.approx(metres(100.0), abs=0.05),
        pytest.approx(metres(50.0), abs=0.05),
    )
    (behind,) = roads.crossings(HOME, 270.0, 50.0)
    assert behind.ahead_m == pytest.approx(-metres(100.0), abs=0.05)
    (standing,) = roads.crossings(HOME, None, 50.0)
    assert standing.ahead_m is None


def test_the_chord_of_a_bent_road_is_no_road() -> None:
    corners = [east_of(-1000.0, 0.0), east_of(0.0, 1000.0), east_of(1000.0, 0.0)]
    bent = Feature("road", "bent", "", "line", (tuple((lon, lat) for lat, lon in corners),))
    roads = roads_of(bent)
    assert roads.near(HOME, 5.0) == []
    (found,) = roads.near(east_of(-500.0, 500.0), 5.0)
    assert found.course_deg == pytest.approx(45.0, abs=0.2)


def test_a_road_of_one_point_is_that_point() -> None:
    roads = roads_of(point("road", HOME))
    assert [one.distance_m for one in roads.near(HOME, 0.0)] == [0.0]
    assert roads.near(east_of(25.0), 0.0) == []
