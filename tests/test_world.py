"""The world around a simulated unit: what its sensors would see."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from firmware.drives import script, world
from firmware.drives.world import LampLight, World
from firmware.readings import TetherState

NOON = datetime(2026, 1, 17, 18, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 1, 18, 6, 0, tzinfo=UTC)
LAKE = (45.9, -89.5)


def test_at_first_the_sled_is_parked_with_its_lamps_out() -> None:
    one = World()
    assert (one.is_running, one.tether, one.head, one.tail.lux) == (
        False,
        TetherState.IN,
        LampLight(),
        0.0,
    )


def test_a_lamp_without_supply_is_dark_unless_it_is_said_otherwise() -> None:
    one = World()
    one.apply(script.Lamp("head", True, 850.0), 0.0)
    one.apply(script.Lamp("head", False), 1.0)
    assert one.head == LampLight(False, 0.0)
    one.apply(script.Lamp("head", False, 40.0), 2.0)
    assert one.head == LampLight(False, 40.0)


def test_a_colour_alone_leaves_the_light_as_it_is() -> None:
    one = World()
    one.apply(script.Lamp("tail", True, 300.0), 0.0)
    one.apply(script.Lamp("tail", is_red=False), 1.0)
    assert one.tail == LampLight(True, 300.0, False)


def test_a_fault_stands_until_it_is_cleared() -> None:
    one = World()
    one.apply(script.Fault("i2c-1", 0x23, "eio"), 0.0)
    one.apply(script.Fault("i2c-1", 0x29, "ones"), 0.0)
    one.apply(script.Fault("i2c-1", 0x23, "clear"), 1.0)
    one.apply(script.Fault("i2c-1", 0x5C, "clear"), 1.0)
    assert one.faults == {("i2c-1", 0x29): "ones"}


def test_the_battery_clock_runs_from_what_it_was_set_to() -> None:
    one = World(NOON)
    assert one.rtc_utc(90.0) == NOON + timedelta(seconds=90)
    one.apply(script.RtcSet(MIDNIGHT), 100.0)
    assert one.rtc_utc(110.0) == MIDNIGHT + timedelta(seconds=10)
    one.apply(script.RtcSet(None), 120.0)
    assert one.rtc_utc(130.0) is None
    assert World().rtc_utc(0.0) is None


@pytest.mark.parametrize(
    ("altitude_deg", "least_lux", "most_lux"),
    [
        (-90.0, 0.0009, 0.0011),
        (-18.0, 0.0009, 0.0011),
        (-6.0, 3.0, 4.0),
        (-0.8, 400.0, 500.0),
        (5.0, 4000.0, 6000.0),
        (60.0, 29_000.0, 30_100.0),
    ],
)
def test_the_sky_is_as_bright_as_the_tables_say(
    altitude_deg: float, least_lux: float, most_lux: float
) -> None:
    assert least_lux <= world.sky_lux(altitude_deg) <= most_lux


def test_the_sky_brightens_smoothly_with_the_sun() -> None:
    lux = [world.sky_lux(altitude / 10.0) for altitude in range(-200, 900)]
    assert lux == sorted(lux)
    assert all(after / before < 1.2 for before, after in itertools.pairwise(lux))


def test_light_that_follows_the_sun_is_bright_by_day_and_under_3_lux_at_night() -> None:
    for utc, least, most in ((NOON, 10_000.0, 30_000.0), (MIDNIGHT, 0.0, 3.0)):
        one = World(utc)
        one.move(*LAKE, utc, 0.0)
        assert least < one.ambient_lux(1.0) < most


def test_the_date_of_a_fix_wins_over_the_drive_s_start() -> None:
    one = World(NOON)
    one.move(*LAKE, MIDNIGHT, 100.0)
    assert one.utc(160.0) == MIDNIGHT + timedelta(seconds=60)
    assert one.ambient_lux(160.0) < 3.0


def test_before_place_and_date_are_known_the_sky_is_overcast() -> None:
    one = World(NOON)
    assert one.ambient_lux(0.0) == world.UNKNOWN_SKY_LUX
    one.move(*LAKE, None, 1.0)
    assert one.ambient_lux(1.0) > 10_000.0
    lost = World()
    lost.move(*LAKE, None, 1.0)
    assert lost.ambient_lux(2.0) == world.UNKNOWN_SKY_LUX


def test_a_light_that_was_told_stays_until_it_follows_the_sun_again() -> None:
    one = World(MIDNIGHT)
    one.move(*LAKE, MIDNIGHT, 0.0)
    one.apply(script.Ambient(320.0), 1.0)
    assert one.ambient_lux(2.0) == 320.0
    one.apply(script.Ambient(None), 3.0)
    assert one.ambient_lux(4.0) < 3.0
