"""Privacy circles: what lies inside, and which texts are none."""

from __future__ import annotations

import pytest

from firmware.circles import Circle, circles, parse


def test_a_circle_is_latitude_longitude_and_metres() -> None:
    assert parse("45.9231 -89.4874 300") == Circle(45.9231, -89.4874, 300.0)


@pytest.mark.parametrize(
    ("north_m", "east_m", "inside"),
    [(0, 0, True), (299, 0, True), (301, 0, False), (0, -299, True), (0, 301, False),
     (210, 210, True), (214, 214, False)],
)  # fmt: skip
def test_it_covers_its_metres_in_each_direction(north_m: int, east_m: int, inside: bool) -> None:
    # A degree of latitude is 111,195 m on the sphere; at 60 degrees one of longitude is half of it.
    lat_deg, lon_deg = 60.0 + north_m / 111195.0, -89.0 + east_m / (111195.0 * 0.5)
    assert Circle(60.0, -89.0, 300.0).covers(lat_deg, lon_deg) is inside


def test_it_covers_places_beyond_the_date_line() -> None:
    assert Circle(0.0, 179.999, 300.0).covers(0.0, -179.9995)


@pytest.mark.parametrize(
    "text",
    ["", "45.9 -89.4", "45.9, -89.4, 300", "91 0 300", "45 181 300", "45 0 49", "45 0 5001",
     "nan 0 300", "45 0 300 1", "45 0 -300", "1e1 0 300"],
)  # fmt: skip
def test_other_texts_are_no_circle(text: str) -> None:
    assert parse(text) is None
    assert circles([text, "45.0 0.0 50"]) == (Circle(45.0, 0.0, 50.0),)
