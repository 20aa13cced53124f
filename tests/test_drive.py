"""A drive as a source: what each sensor says in virtual time."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from firmware.config.schema import Config
from firmware.drives.script_text import parse
from firmware.maps.packs import Pack
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Missing,
    Press,
    Reading,
    Request,
    RtcTime,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)
from firmware.sources import drive
from firmware.units import mph

START = "# Start: 2026-01-17T23:30:00Z\n"
DRIVES = Path(__file__).parent / "drives"


def heard(text: str, config: Config | None = None) -> list[tuple[float, Reading]]:
    one = parse(START + text, Path("/nowhere/one.drive"))
    return list(drive.readings(one, config or drive.config_of(one)))


def of(stream: list[tuple[float, Reading]], channel: Channel) -> list[tuple[float, Value]]:
    return [(at_s, one.value) for at_s, one in stream if one.channel is channel]


def test_readings_come_in_order_and_are_the_same_each_time() -> None:
    text = "0 ride lat=45.9 lon=-89.5 speed=30 rate=10\n1 engine on\n2 button hold\n5 end\n"
    stream = heard(text)
    assert [at_s for at_s, _ in stream] == sorted(at_s for at_s, _ in stream)
    assert stream == heard(text)


def test_at_the_start_the_battery_clock_is_read_before_lights_and_receiver() -> None:
    """The day stands before anything is judged by it; contacts cost no bus and come first."""
    stream = heard("0 ride lat=45.9 lon=-89.5\n0 lamp head light=850\n1 end\n")
    assert [one.channel for at_s, one in stream if at_s == 0.0] == [
        Channel.ENGINE,
        Channel.TETHER,
        Channel.RTC,
        Channel.SUPPLY_HEAD,
        Channel.SUPPLY_TAIL,
        Channel.LIGHT_HEAD,
        Channel.LIGHT_TAIL,
        Channel.LIGHT_AMBIENT,
        Channel.FIX,
        Channel.RECEIVER,
    ]


def test_lights_are_read_four_times_a_second_to_the_last_instant() -> None:
    stream = of(heard("0 lamp head light=850\n1 end\n"), Channel.LIGHT_HEAD)
    assert [at_s for at_s, _ in stream] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert stream[0][1] == Light(850.0, pytest.approx(172.5))


def test_contacts_are_read_each_second_and_at_each_change() -> None:
    stream = heard("0.5 engine on\n0.6 tether out\n1 end\n")
    assert of(stream, Channel.ENGINE) == [
        (0.0, Engine(False)),
        (0.5, Engine(True)),
        (1.0, Engine(True)),
    ]
    assert [
        value.state for _, value in of(stream, Channel.TETHER) if isinstance(value, Tether)
    ] == [
        TetherState.IN,
        TetherState.OUT,
        TetherState.OUT,
    ]


@pytest.mark.parametrize(
    ("contact", "word", "seen"),
    [
        ("closed_when_in", "open", TetherState.OUT),
        ("closed_when_in", "short", TetherState.IN),
        ("open_when_in", "open", TetherState.IN),
        ("open_when_in", "short", TetherState.OUT),
    ],
)
def test_a_plain_switch_shows_a_bad_wire_as_its_contact(
    contact: str, word: str, seen: TetherState
) -> None:
    from firmware.config.reading import parse as parse_config

    config = parse_config(
        f'[unit]\nid = "x"\n[tether]\npin = 17\ncontact = "{contact}"\n', "x.toml"
    )
    stream = of(heard(f"0 tether {word}\n0 end\n", config), Channel.TETHER)
    assert stream[-1][1] == Tether(seen)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("eio", Why.NO_ANSWER),
        ("nack", Why.NO_ANSWER),
        ("hang", Why.NO_ANSWER),
        ("saturate", Why.SATURATED),
        ("ones", Why.SATURATED),
    ],
)
def test_a_chip_that_fails_gives_a_missing_of_its_kind(kind: str, why: Why) -> None:
    stream = of(
        heard(
            f"0 lamp head light=850\n0.2 fault i2c-1 0x23 {kind}\n"
            "0.7 fault i2c-1 0x23 clear\n1 end\n"
        ),
        Channel.LIGHT_HEAD,
    )
    whys = [value.why if isinstance(value, Missing) else None for _, value in stream]
    assert whys == [None, why, why, None, None]


def test_a_fault_of_another_chip_or_bus_changes_nothing() -> None:
    stream = heard("0 fault i2c-1 0x29 eio\n0 fault i2c-2 0x23 eio\n1 end\n")
    assert not any(isinstance(value, Missing) for _, value in of(stream, Channel.LIGHT_HEAD))
    assert all(isinstance(value, Missing) for _, value in of(stream, Channel.LIGHT_TAIL))


def test_a_wire_that_reads_zeros_is_a_dark_lamp() -> None:
    stream = of(
        heard("0 lamp head light=850\n0 fault i2c-1 0x23 zeros\n0 end\n"), Channel.LIGHT_HEAD
    )
    assert stream == [(0.0, Light(0.0, 2.5))]


def test_a_bh1750_counts_in_steps_of_0_83_lux() -> None:
    ambient = of(heard("0 ambient 4.9\n0.25 ambient 4.5\n0.25 end\n"), Channel.LIGHT_AMBIENT)
    assert [value.lux for _, value in ambient if isinstance(value, Light)] == [
        pytest.approx(6 / 1.2),
        pytest.approx(5 / 1.2),
    ]


def test_what_changes_at_second_0_is_never_read_as_it_was_before() -> None:
    stream = heard("0 tether in\n0 engine on\n1 end\n")
    assert (0.0, Engine(False)) not in of(stream, Channel.ENGINE)


def test_too_much_light_saturates_a_sensor() -> None:
    stream = of(heard("0 lamp head light=122000\n0 end\n"), Channel.LIGHT_HEAD)
    assert isinstance(stream[0][1], Missing)
    assert stream[0][1].why is Why.SATURATED


def test_only_a_chip_that_sees_colour_tells_it() -> None:
    stream = heard("0 lamp tail light=300 colour=red\n0.1 lamp tail colour=white\n0.25 end\n")
    red, white = (value for _, value in of(stream, Channel.LIGHT_TAIL))
    assert isinstance(red, Light)
    assert isinstance(white, Light)
    assert (red.red_share, white.red_share) == (0.9, 0.33)
    head = of(stream, Channel.LIGHT_HEAD)[0][1]
    assert isinstance(head, Light)
    assert head.red_share is None


def test_a_hold_counts_after_its_two_seconds_and_a_press_at_once() -> None:
    stream = of(heard("1 button press\n2 button hold\n5 end\n"), Channel.BUTTON)
    assert stream == [(1.0, Press("press")), (4.0, Press("hold"))]


def test_a_hold_that_the_end_cuts_short_does_not_count() -> None:
    assert of(heard("2 button hold\n3 end\n"), Channel.BUTTON) == []


def test_a_mode_is_asked_for_by_the_drive() -> None:
    stream = of(heard("1 mode race on\n2 mode race off\n3 end\n"), Channel.REQUEST)
    assert stream == [
        (1.0, Request("mode", "race on", "drive")),
        (2.0, Request("mode", "race off", "drive")),
    ]


def test_the_header_s_modes_are_set_before_the_engine_runs() -> None:
    stream = heard("# Mode: race\n0 engine on\n1 end\n")
    assert [one.value for _, one in stream[:3]] == [
        Engine(False),
        Request("mode", "race on", "drive"),
        Engine(True),
    ]


def test_the_battery_clock_tells_the_drive_s_date_until_it_is_dead() -> None:
    stream = of(heard("30 rtc dead\n120 end\n"), Channel.RTC)
    assert stream[0] == (0.0, RtcTime(datetime(2026, 1, 17, 23, 30, tzinfo=UTC), 60.0))
    missing = stream[3][1]
    assert isinstance(missing, Missing)
    assert missing.why is Why.NOT_TRUSTED
    assert [at_s for at_s, _ in stream] == [10.0 * turn for turn in range(13)]


def test_the_battery_clock_is_set_by_five_dates_of_the_satellites() -> None:
    stream = of(
        heard("0 rtc 2026-01-17T22:00:00Z\n5 ride lat=45.9 lon=-89.5 speed=0\n20 end\n"),
        Channel.RTC,
    )
    assert [value.utc for _, value in stream if isinstance(value, RtcTime)] == [
        datetime(2026, 1, 17, 22, 0, tzinfo=UTC),
        datetime(2026, 1, 17, 23, 30, 10, tzinfo=UTC),
        datetime(2026, 1, 17, 23, 30, 20, tzinfo=UTC),
    ]


def test_the_receiver_is_heard_through_the_gates_of_the_unit() -> None:
    stream = heard("0 ride lat=45.9 lon=-89.5 heading=90 speed=30\n3 end\n")
    fixes = [value for _, value in of(stream, Channel.FIX)]
    assert len(fixes) == 3
    for fix in fixes:
        assert isinstance(fix, Fix)
        assert mph(fix.speed_mps) == pytest.approx(30.0, abs=1e-3)
        assert fix.error_mps == pytest.approx(0.22352)


def test_a_receiver_that_is_unplugged_is_not_heard() -> None:
    stream = heard("0 ride lat=45.9 lon=-89.5\n1.5 unplug gps\n3.5 replug gps\n5 end\n")
    fixes = of(stream, Channel.FIX)
    assert [at_s for at_s, _ in fixes] == [0.0, 1.0, 1.5, 4.0]
    assert fixes[2][1] == Missing(Why.NO_ANSWER, "the receiver was unplugged")


def test_dates_are_believed_as_they_stand_unless_there_is_a_floor() -> None:
    ride = "0 ride lat=45.9 lon=-89.5\n5 end\n"
    for header, believed in (
        ("", True),
        ("# Floor: 2026-01-01\n", True),
        ("# Floor: 2027-01-01\n", False),
    ):
        last = of(heard(header + ride), Channel.FIX)[-1][1]
        assert isinstance(last, Fix)
        assert (last.utc is not None) is believed


def test_a_part_that_is_not_fitted_says_nothing() -> None:
    from firmware.config.reading import parse as parse_config

    config = parse_config('[unit]\nid = "x"\n', "x.toml")
    text = "# Mode: race\n0 ride lat=45.9 lon=-89.5\n1 engine on\n1 button press\n3 end\n"
    channels = {one.channel for at_s, one in heard(text, config) if at_s > 0.0}
    assert channels == {Channel.FIX, Channel.RECEIVER}


def test_light_follows_the_sun_at_the_place_of_the_ride() -> None:
    stream = of(heard("0 ride lat=45.9 lon=-89.5\n30 end\n"), Channel.LIGHT_AMBIENT)
    last = stream[-1][1]
    assert isinstance(last, Light)
    assert last.lux < 3.0


def test_the_header_changes_the_configuration() -> None:
    one = parse(
        "# Law: wi\n# Vehicle: motor_vehicle\n# Floor: 2020-01-01\n0 end\n", Path("x.drive")
    )
    config = drive.config_of(one)
    assert (config.unit.law, config.unit.vehicle) == (("wi",), "motor_vehicle")
    assert config.clock.floor == date(2020, 1, 1)
    dated = parse(f"{START}0 end\n", Path("x.drive"))
    assert drive.config_of(dated).clock.floor == date(2026, 1, 17)


def test_what_lies_near_is_told_after_each_kilometre() -> None:
    one = parse(
        f"{START}# Zones: shore.gpkg\n0 ride lat=45.87 lon=-89.52 speed=60\n90 end\n",
        DRIVES / "one.drive",
    )
    packs = [Pack(path) for path in one.zones]
    stream = list(drive.with_surroundings(drive.readings(one, drive.config_of(one)), packs))
    for pack in packs:
        pack.close()
    told = [(at_s, one) for at_s, one in stream if one.channel is Channel.SURROUNDINGS]
    # 60 mph are 26.82 m/s: a kilometre is passed at 37.3 s and at 75.3 s.
    assert [at_s for at_s, _ in told] == [0.0, 38.0, 76.0]
    near = told[0][1].value
    assert isinstance(near, Surroundings)
    assert near.packs == ("shore.gpkg",)
    assert {feature.id for feature in near.features} == {"shore", "lake", "shanty"}
    before = stream[stream.index(told[0]) - 1][1]
    assert isinstance(before.value, Fix)
