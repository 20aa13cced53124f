"""The digits that are judged and kept."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from firmware.grain import grained, instant_s
from firmware.readings import Channel, Disk, Fix, Light, Missing, Reading, Tether, Why


def test_a_fix_keeps_centimetres_and_tenths_of_a_millimetre_a_second() -> None:
    utc = datetime(2026, 1, 16, 3, 59, 59, 900000, tzinfo=UTC)
    fix = Fix(
        44.14951873333333, -88.34722681666666, 2.3499999999999996, 25.481256444444444, 0.22352,
        180.000004, utc,
    )  # fmt: skip
    reading = grained(Reading(Channel.FIX, fix, 3599.9647811999967, "gps", 2.5))
    assert reading == Reading(
        Channel.FIX, Fix(44.1495187, -88.3472268, 2.35, 25.4813, 0.2235, 180.0, utc), 3599.9647,
        "gps", 2.5,
    )  # fmt: skip


def test_it_is_done_once_and_for_all() -> None:
    one = grained(
        Reading(Channel.LIGHT_TAIL, Light(300.00956, 108.23518812, 0.81540587), 1.23456, "x")
    )
    assert one.value == Light(300.0096, 108.2352, 0.8154)
    assert grained(one) == one


@pytest.mark.parametrize("value", [Missing(Why.STALE, "x"), Tether("in", 0), Disk(1.5, 2)])
def test_what_has_no_such_digits_stays(value: Missing | Tether | Disk) -> None:
    assert grained(Reading(Channel.TETHER, value, 5.0, "x")).value is value


@pytest.mark.parametrize("mono_s", [0.0, 1.0, 12.3456, 12.34561, 987654.12345678, 0.00009])
def test_a_reading_is_never_judged_before_it_was_measured(mono_s: float) -> None:
    at_s = instant_s(mono_s)
    kept = grained(Reading(Channel.TETHER, Tether("in", 0), mono_s, "x")).mono_s
    assert kept <= at_s < mono_s + 1.1e-4
    assert abs(kept - mono_s) < 1.1e-4
    assert instant_s(at_s) == at_s
    assert math.isclose(at_s * 1e4, round(at_s * 1e4), abs_tol=1e-5)


def test_a_number_that_is_none_stays_none() -> None:
    odd = Light(math.nan, math.inf)
    value = grained(Reading(Channel.LIGHT_HEAD, odd, 1.0, "x")).value
    assert isinstance(value, Light)
    assert math.isnan(value.lux)
    assert value.error_lux == math.inf
