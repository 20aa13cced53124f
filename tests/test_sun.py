"""Hours of darkness, beside JPL's ephemeris and at the places where other programs fail."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from firmware.sun import Darkness, hours_of_darkness, sun_altitude_deg

WISCONSIN = {
    "Milwaukee": (43.039, -87.906),
    "Superior": (46.721, -92.104),
    "Eagle River": (45.917, -89.244),
    "La Crosse": (43.801, -91.240),
    "Lake Winnebago": (44.050, -88.450),
}
HALF_HOUR = timedelta(minutes=30)
MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text)


# Places and instants at which public sunset programs answered wrongly or raised, with the Sun as
# PyEphem and a NOAA-formula program have it. A crossing is absent where the Sun makes none.
FIELD: list[dict[str, Any]] = [
    {  # sffjunkie/astral#83: sunset before sunrise of the same date, west of Greenwich
        "place": (44.0, -121.0),
        "asked": [
            ("2023-05-06T22:00:00Z", 52.83, "2023-05-06T12:48:52Z", "2023-05-07T03:13:06Z"),
            ("2023-05-07T02:30:00Z", 6.41, "2023-05-06T12:48:52Z", "2023-05-07T03:13:06Z"),
            ("2023-05-07T04:00:00Z", -8.22, "2023-05-07T03:13:06Z", "2023-05-07T12:47:33Z"),
        ],
    },
    {  # sffjunkie/astral#74: the edge of the polar night taken for the midnight sun
        "place": (72.0, 0.0),
        "asked": [
            ("1970-01-28T12:00:00Z", -0.26, "1970-01-28T11:12:02Z", "1970-01-28T13:15:03Z"),
            ("2024-01-15T12:00:00Z", -3.18, None, None),
            ("2024-01-15T00:00:00Z", -39.24, None, None),
        ],
    },
    {  # SatAgro/suntime#12: a day early once the sunset passes 00:00 UTC
        "place": (39.8895, -77.0353),
        "asked": [
            ("2020-04-29T23:50:00Z", 1.19, "2020-04-29T10:10:17Z", "2020-04-30T00:01:12Z"),
            ("2020-04-30T00:30:00Z", -5.93, "2020-04-30T00:01:12Z", "2020-04-30T10:09:02Z"),
        ],
    },
    {  # mourner/suncalc#45: NaN under the midnight sun
        "place": (66.017, 29.136),
        "asked": [
            ("2015-06-20T21:00:00Z", 0.30, None, None),
            ("2015-06-21T10:00:00Z", 47.41, None, None),
        ],
    },
    {  # home-assistant/core#157260: an exception all through the polar night
        "place": (71.29, -156.79),
        "asked": [
            ("2024-12-21T22:30:00Z", -4.73, None, None),
            ("2024-12-21T10:00:00Z", -42.01, None, None),
        ],
    },
    {  # brandon-rhodes/pyephem#251: midnight UTC is still the afternoon there
        "place": (28.03, -97.07),
        "asked": [
            ("2023-03-01T00:00:00Z", 5.22, "2023-02-28T12:54:02Z", "2023-03-01T00:27:52Z"),
            ("2023-03-01T00:45:00Z", -4.58, "2023-03-01T00:27:52Z", "2023-03-01T12:53:02Z"),
        ],
    },
]


@pytest.mark.parametrize(
    ("place", "asked"), [(case["place"], one) for case in FIELD for one in case["asked"]]
)
def test_the_sun_is_right_where_other_programs_failed(
    place: tuple[float, float], asked: tuple[str, float, str | None, str | None]
) -> None:
    at, altitude_deg, last_change, next_change = asked
    assert sun_altitude_deg(*place, utc(at)) == pytest.approx(altitude_deg, abs=0.02)
    down = altitude_deg < -0.8333
    answer = hours_of_darkness(*place, utc(at), 0.0, 0.0)
    assert answer.is_dark is down
    expected = utc(next_change) if next_change else utc(at) + timedelta(days=1)
    assert abs((answer.until_utc - expected).total_seconds()) < 10.0
    if last_change is not None:
        before = hours_of_darkness(*place, utc(last_change) - MINUTE, 0.0, 0.0)
        assert before.is_dark is not down
        assert abs((before.until_utc - utc(last_change)).total_seconds()) < 10.0


@pytest.fixture(scope="module")
def jpl() -> Any:
    """Sunsets and sunrises from skyfield with JPL's DE421, all in one array a place."""
    import skyfield_data  # its own function for the path warns of another file's age
    from skyfield import almanac
    from skyfield.api import load, load_file, wgs84

    planets = load_file(str(Path(skyfield_data.__file__).parent / "data" / "de421.bsp"))
    scale = load.timescale(builtin=True)
    start = scale.utc(2024, 1, 1)

    def events(
        place: tuple[float, float], years: int = 12
    ) -> tuple[list[datetime], list[datetime]]:
        end = scale.utc(2024 + years, 1, 1)
        observer = planets["earth"] + wgs84.latlon(*place)
        found = []
        for search in (almanac.find_settings, almanac.find_risings):
            times, crosses = search(observer, planets["sun"], start, end, horizon_degrees=-0.8333)
            assert crosses.all()
            found.append(list(times.utc_datetime()))
        return found[0], found[1]

    yield events
    planets.close()


@pytest.mark.parametrize("name", WISCONSIN)
def test_darkness_is_within_a_minute_of_jpl_on_every_day_from_2024_to_2035(
    name: str, jpl: Any
) -> None:
    place = WISCONSIN[name]
    sunsets, sunrises = jpl(place)
    assert len(sunsets) >= 4382
    assert len(sunrises) >= 4382
    worst_s = 0.0
    for change, becomes_dark in [(at + HALF_HOUR, True) for at in sunsets] + [
        (at - HALF_HOUR, False) for at in sunrises
    ]:
        shortly_before = hours_of_darkness(*place, change - MINUTE)
        assert shortly_before.is_dark is not becomes_dark, change
        off_s = abs((shortly_before.until_utc - change).total_seconds())
        worst_s = max(worst_s, off_s)
    assert worst_s < 2.0  # measured 0.6 s; the promise is a minute


PLACES = int(os.environ.get("SLEDWARDEN_SUN_PLACES", "20"))
"""A desk tries 200; each takes a second."""


def test_darkness_is_within_a_minute_of_jpl_anywhere_that_snowmobiles_run(jpl: Any) -> None:
    chance = random.Random(42)
    worst_s, tried = 0.0, 0
    for _ in range(PLACES):
        place = (chance.uniform(42.0, 49.0), chance.uniform(-125.0, -60.0))
        sunsets, sunrises = jpl(place, years=2)
        assert min(len(sunsets), len(sunrises)) >= 730
        for change, becomes_dark in [(at + HALF_HOUR, True) for at in sunsets] + [
            (at - HALF_HOUR, False) for at in sunrises
        ]:
            shortly_before = hours_of_darkness(*place, change - MINUTE)
            assert shortly_before.is_dark is not becomes_dark, (place, change)
            worst_s = max(worst_s, abs((shortly_before.until_utc - change).total_seconds()))
            tried += 1
    assert tried >= PLACES * 1460
    assert worst_s < 2.0  # measured 0.6 s at 200 places; the promise is a minute


def test_a_sunset_of_the_next_day_in_utc_is_this_evening_s(jpl: Any) -> None:
    place = (46.5, -104.0)  # a degree past the meridian of Mountain Time
    sunsets, _ = jpl(place, years=2)
    evening = next(at for at in sunsets if at.date().isoformat() == "2024-06-21")
    assert evening.hour < 4  # the evening of 20 June by every clock there
    assert not hours_of_darkness(*place, evening + HALF_HOUR - MINUTE).is_dark
    assert hours_of_darkness(*place, evening + HALF_HOUR + MINUTE).is_dark


@pytest.mark.parametrize(
    ("evening", "morning"),
    [
        # Central Time ends on 2025-11-02 and begins on 2026-03-08; about sunset and about sunrise
        ("2025-11-01T22:45:00Z", "2025-11-02T12:37:00Z"),
        ("2026-03-07T23:48:00Z", "2026-03-08T12:22:00Z"),
    ],
)
def test_both_nights_of_a_time_change_are_dark_by_the_sun_alone(
    evening: str, morning: str, jpl: Any
) -> None:
    place = WISCONSIN["Eagle River"]
    sunsets, sunrises = jpl(place)
    sunset = min(sunsets, key=lambda at: abs(at - utc(evening)))
    sunrise = min(sunrises, key=lambda at: abs(at - utc(morning)))
    asked = sunset + HALF_HOUR
    while asked < sunrise - HALF_HOUR:
        assert hours_of_darkness(*place, asked + timedelta(seconds=2)).is_dark, asked
        asked += timedelta(minutes=5)
    assert not hours_of_darkness(*place, sunset + HALF_HOUR - timedelta(seconds=2)).is_dark
    assert not hours_of_darkness(*place, sunrise - HALF_HOUR + timedelta(seconds=2)).is_dark


def test_at_the_change_the_answer_is_the_other_one_through_a_year() -> None:
    place = WISCONSIN["Lake Winnebago"]
    at = datetime(2026, 1, 1, 18, tzinfo=UTC)
    last = hours_of_darkness(*place, at)
    assert not last.is_dark
    changes = 0
    while at < datetime(2027, 1, 1, tzinfo=UTC):
        at = last.until_utc
        now = hours_of_darkness(*place, at)
        assert now.is_dark is not last.is_dark, at
        last = now
        changes += 1
    assert 729 <= changes <= 732


def test_a_sunset_that_passes_midnight_utc_is_no_seam() -> None:
    place = WISCONSIN["Lake Winnebago"]  # 18 March 2026: sunset 00:04 UTC of the 19th
    dark_from = hours_of_darkness(*place, utc("2026-03-18T18:00:00Z")).until_utc
    assert utc("2026-03-19T00:33:00Z") < dark_from < utc("2026-03-19T00:36:00Z")
    for minutes in range(-90, 90):
        at = dark_from + timedelta(minutes=minutes)
        answer = hours_of_darkness(*place, at)
        assert answer.is_dark is (at >= dark_from)
        if minutes < 0:
            assert abs((answer.until_utc - dark_from).total_seconds()) < 0.1


def test_half_an_hour_counts_from_the_sunset_at_the_place() -> None:
    place = WISCONSIN["Eagle River"]
    noon = utc("2026-01-20T18:00:00Z")
    sunset = hours_of_darkness(*place, noon, 0.0, 0.0).until_utc
    assert hours_of_darkness(*place, noon).until_utc - sunset == pytest.approx(
        HALF_HOUR, abs=timedelta(seconds=0.1)
    )
    assert sun_altitude_deg(*place, sunset) == pytest.approx(-0.8333, abs=0.001)


def test_darkness_ends_half_an_hour_before_the_sunrise_at_the_place() -> None:
    place = WISCONSIN["Eagle River"]
    midnight = utc("2026-01-20T06:00:00Z")
    sunrise = hours_of_darkness(*place, midnight, 0.0, 0.0).until_utc
    answer = hours_of_darkness(*place, midnight)
    assert answer.is_dark
    assert sunrise - answer.until_utc == pytest.approx(HALF_HOUR, abs=timedelta(seconds=0.1))


def test_a_night_shorter_than_both_half_hours_has_no_darkness() -> None:
    # At 65.8 N on 16 June 2026 the Sun is down for less than the hour that the two halves take.
    place, noon = (65.75, 20.0), utc("2026-06-16T10:40:00Z")
    sunset = hours_of_darkness(*place, noon, 0.0, 0.0)
    sunrise = hours_of_darkness(*place, sunset.until_utc, 0.0, 0.0)
    assert sunrise.is_dark
    assert timedelta(minutes=5) < sunrise.until_utc - sunset.until_utc < timedelta(minutes=60)
    answer = hours_of_darkness(*place, noon)
    assert answer == Darkness(False, answer.until_utc)
    assert answer.until_utc - noon >= timedelta(days=1)


def test_polar_night_is_dark_and_the_midnight_sun_is_not() -> None:
    winter, summer = utc("2026-12-21T12:00:00Z"), utc("2026-06-21T00:00:00Z")
    for lat_deg in (90.0, 80.0, 71.3):
        assert hours_of_darkness(lat_deg, 25.0, winter).is_dark
        assert not hours_of_darkness(lat_deg, 25.0, summer).is_dark
        assert not hours_of_darkness(-lat_deg, 25.0, winter).is_dark
        assert hours_of_darkness(-lat_deg, 25.0, summer).is_dark


def test_no_date_and_no_place_raises_and_the_answer_holds_until_it_says() -> None:
    chance = random.Random(350)
    places = [(90.0, 0.0), (-90.0, 180.0), (0.0, 0.0), (66.56, -180.0), (89.99, 33.0), (-66.6, 7.0)]
    first = datetime(1970, 1, 1, tzinfo=UTC)
    span_s = (datetime(2100, 12, 31, tzinfo=UTC) - first).total_seconds()
    for number in range(4000):
        lat_deg, lon_deg = (
            chance.choice(places)
            if number % 3 == 0
            else (chance.uniform(-90.0, 90.0), chance.uniform(-180.0, 180.0))
        )
        at = first + timedelta(seconds=chance.uniform(0.0, span_s))
        answer = hours_of_darkness(lat_deg, lon_deg, at)
        holds = answer.until_utc - at
        assert timedelta(0) < holds < timedelta(days=1, seconds=1)
        later = at + chance.random() * (holds - timedelta(seconds=0.1))
        if later > at:
            assert hours_of_darkness(lat_deg, lon_deg, later).is_dark is answer.is_dark


def test_every_hour_of_a_polar_year_is_answered() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    dark = {True: 0, False: 0}
    while at.year == 2026:
        dark[hours_of_darkness(69.65, 18.96, at).is_dark] += 1
        at += timedelta(hours=3)
    assert dark[True] + dark[False] == 365 * 8
    assert dark[True] > 900
    assert dark[False] > 1500


@pytest.mark.parametrize("lon_deg", [271.55, -88.45 - 360.0])
def test_a_longitude_may_be_told_around_the_globe(lon_deg: float) -> None:
    at = utc("2026-02-01T00:10:00Z")
    told = hours_of_darkness(44.05, lon_deg, at)
    usual = hours_of_darkness(44.05, -88.45, at)
    assert told.is_dark is usual.is_dark
    assert abs((told.until_utc - usual.until_utc).total_seconds()) < 0.1


@pytest.mark.parametrize("pole_deg", [90.0, -90.0])
def test_past_the_pole_by_a_rounding_is_the_pole(pole_deg: float) -> None:
    at = utc("2026-06-21T00:00:00Z")
    there = sun_altitude_deg(pole_deg, 0.0, at)
    assert abs(there) == pytest.approx(23.44, abs=0.01)
    assert sun_altitude_deg(pole_deg * 1.005, 0.0, at) == there


def test_a_date_without_a_zone_and_a_place_that_is_no_number_are_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone; a date is judged in UTC"):
        hours_of_darkness(44.0, -88.0, datetime(2026, 1, 1))  # noqa: DTZ001 -- the fault tried
    with pytest.raises(ValueError, match=r"nan, -88\.0: is not a place in degrees"):
        hours_of_darkness(float("nan"), -88.0, datetime(2026, 1, 1, tzinfo=UTC))
