"""The digits that are judged and kept."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from firmware.grain import grained, instant_s, on_grain
from firmware.readings import (
    Channel,
    Disk,
    Feature,
    Fix,
    Light,
    Missing,
    Reading,
    Surroundings,
    Tether,
    Why,
)


def test_a_fix_keeps_centimetres_and_is_never_faster_or_surer_than_it_was() -> None:
    utc = datetime(2026, 1, 16, 3, 59, 59, 900000, tzinfo=UTC)
    fix = Fix(
        44.14951873333333, -88.34722681666666, 2.3411, 25.489256444444444, 0.22352,
        179.96, utc,
    )  # fmt: skip
    reading = grained(Reading(Channel.FIX, fix, 3599.9607811999967, "gps", 2.5), 3599.97)
    assert reading == Reading(
        Channel.FIX, Fix(44.1495187, -88.3472268, 2.35, 25.48, 0.2235, 180.0, utc), 3599.961,
        "gps", 2.5,
    )  # fmt: skip


def test_what_is_on_the_grain_already_stays_there() -> None:
    for mps in (0.0, 0.29, 4.47, 24.58, 26.82, 1.1, 2.3):
        fix = Fix(44.1, -88.3, mps, mps, mps)
        judged = grained(Reading(Channel.FIX, fix, 1.0, "gps"), 1.0).value
        assert isinstance(judged, Fix)
        assert (judged.speed_mps, judged.error_m) == (mps, mps)


def test_a_course_just_west_of_north_is_north() -> None:
    fix = grained(Reading(Channel.FIX, Fix(44.1, -88.3, 2.0, 9.0, 0.2, 359.97), 1.0, "gps"), 1.0)
    assert isinstance(fix.value, Fix)
    assert fix.value.track_deg == 0.0


@pytest.mark.parametrize(
    ("light", "judged"),
    [
        (Light(300.00956, 108.23518812, 0.81540587), Light(300.0, 110.0, 0.815)),
        (Light(850.83333, 170.66667), Light(851.0, 180.0)),
        (Light(1.66667, 2.83334), Light(1.67, 2.9)),
        (Light(0.0, 2.5), Light(0.0, 2.5)),
        (Light(0.0004, 0.5), Light(0.0004, 0.5)),
        (Light(54612.5, 10925.0), Light(54600.0, 11000.0)),
    ],
)
def test_a_light_keeps_three_figures_and_its_error_is_rounded_up(
    light: Light, judged: Light
) -> None:
    one = grained(Reading(Channel.LIGHT_TAIL, light, 1.23456, "x"), 2.0)
    assert one.value == judged
    assert grained(one, 2.0) == one


@pytest.mark.parametrize("value", [Missing(Why.STALE, "x"), Tether("in", 0), Disk(1.5, 2)])
def test_what_has_no_such_digits_stays(value: Missing | Tether | Disk) -> None:
    assert grained(Reading(Channel.TETHER, value, 5.0, "x"), 5.0).value is value


@pytest.mark.parametrize("mono_s", [0.0, 1.0, 12.3456, 12.34561, 987654.12345678, 0.00009])
def test_a_reading_is_never_judged_before_it_was_measured(mono_s: float) -> None:
    at_s = instant_s(mono_s)
    kept = grained(Reading(Channel.TETHER, Tether("in", 0), mono_s, "x"), at_s).mono_s
    assert kept <= at_s < mono_s + 1.1e-3
    assert abs(kept - mono_s) < 1.1e-3
    assert instant_s(at_s) == at_s
    assert math.isclose(at_s * 1e3, round(at_s * 1e3), abs_tol=1e-5)


def test_what_is_judged_at_once_was_measured_then_and_what_is_judged_late_was_not() -> None:
    one = Reading(Channel.TETHER, Tether("in", 0), 10.0003, "x")
    assert grained(one, 10.002).mono_s == 10.002
    assert grained(one, 10.004).mono_s == 10.001


def test_a_number_that_is_none_stays_none() -> None:
    odd = Light(math.nan, math.inf)
    value = grained(Reading(Channel.LIGHT_HEAD, odd, 1.0, "x"), 1.0).value
    assert isinstance(value, Light)
    assert math.isnan(value.lux)
    assert value.error_lux == math.inf


def test_a_map_is_judged_to_a_centimetre_and_reaches_no_further_than_it_did() -> None:
    ring = ((-88.41512345678, 44.05000004), (-88.4, 44.1), (-88.41512345678, 44.05000004))
    around = Surroundings(
        44.05987654321, -88.4, 1234.5678, (Feature("water", "w", "Lake", "polygon", (ring,)),)
    )
    told = on_grain(around)
    assert (told.lat_deg, told.lon_deg, told.radius_m) == (44.0598765, -88.4, 1234.5)
    assert told.features[0].parts == (((-88.4151235, 44.05), (-88.4, 44.1), (-88.4151235, 44.05)),)
    assert on_grain(told) == told
