"""What day a receiver means, what its reports say, and how a recording is paced."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from gps_ride import FLOOR, Ride, clock, new_ride, place, signed
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.gps.dates import believable_date
from firmware.gps.fixes import FixSettings, paced
from firmware.readings import Missing, Receiver, Why
from firmware.units import mps_of_knots


@pytest.fixture
def ride() -> Ride:
    return new_ride()


# Dates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "floor", "meant"),
    [
        (date(2024, 1, 15), date(2024, 1, 1), date(2024, 1, 15)),
        (date(2004, 5, 31), date(2024, 1, 1), date(2024, 1, 15)),
        (date(2000, 10, 14), date(2020, 1, 1), date(2020, 5, 30)),
        (date(2000, 10, 14), date(2024, 1, 1), None),
        (date(1985, 1, 1), date(2024, 1, 1), date(2024, 4, 2)),
        (date(1980, 1, 6), date(2026, 11, 30), None),
        (date(2023, 12, 31), date(2024, 1, 1), None),
        (date(2034, 1, 1), date(2024, 1, 1), date(2034, 1, 1)),
        (date(2034, 1, 2), date(2024, 1, 1), None),
        (date(9999, 12, 31), date(2024, 1, 1), None),
        (date(2024, 2, 29), date(2024, 2, 29), date(2024, 2, 29)),
    ],
)
def test_dates_are_snapped_above_the_floor_or_are_none(
    said: date, floor: date, meant: date | None
) -> None:
    assert believable_date(said, floor) == meant


def test_a_date_is_believed_after_three_that_agree(ride: Ride) -> None:
    dates = [ride.rmc(36000 + second, 20.0, second * 10.3)[0].utc for second in range(4)]
    assert dates[:2] == [None, None]
    assert dates[2:] == [
        datetime(2024, 1, 15, 10, 0, 2, tzinfo=UTC),
        datetime(2024, 1, 15, 10, 0, 3, tzinfo=UTC),
    ]


def test_one_wild_date_changes_nothing(ride: Ride) -> None:
    for second in range(10):
        day = {5: "010130", 7: "060180", 8: "310224"}.get(second, "150124")
        (fix,) = ride.rmc(36000 + second, 20.0, second * 10.3, day=day)
        if second >= 2 and fix.utc is not None:
            assert fix.utc == datetime(2024, 1, 15, 10, 0, second, tzinfo=UTC)


def test_no_date_of_1980_is_ever_given(ride: Ride) -> None:
    ride.say(b"$GPRMC,000231.00,V,,,,,,,060180,,,N*72\r\n", 1.0)
    for second in range(4):
        (fix,) = ride.rmc(83676 + second, 12.0, second * 6.0)
    assert fix.utc == datetime(2024, 1, 15, 23, 14, 39, tzinfo=UTC)


def test_a_fix_without_a_date_has_none(ride: Ride) -> None:
    for second in range(6):
        (fix,) = ride.rmc(36000 + second, 20.0, second * 10.3, day="")
        assert fix.utc is None


def test_a_recordings_dates_are_trusted_at_once() -> None:
    ride = new_ride(FixSettings(floor=FLOOR, trust_dates=True))
    (fix,) = ride.rmc(36000, 20.0, day="260905")
    assert fix.utc == datetime(2005, 9, 26, 10, 0, tzinfo=UTC)


def test_reports_snap_to_a_floor_that_is_given() -> None:
    ride = new_ride(FixSettings(floor=date(2020, 1, 1)))
    ride.rmc(36000, 20.0, day="141000")
    ride.tracker.finish()
    assert ride.reports[0].utc == datetime(2020, 5, 30, 10, 0, tzinfo=UTC)


def test_a_date_that_comes_late_at_midnight_does_not_step_back() -> None:
    ride = new_ride(FixSettings(floor=FLOOR, trust_dates=True))
    found: list[datetime] = []
    for second in range(-3, 4):
        day = "280224" if second < 1 else "290224"
        (fix,) = ride.rmc((86400 + second) % 86400, 20.0, 40 + second * 10.3, day=day)
        assert fix.utc is not None
        found.append(fix.utc)
    assert found == sorted(found)
    assert found[-1] == datetime(2024, 2, 29, 0, 0, 3, tzinfo=UTC)


def test_a_leap_second_keeps_the_speed_and_never_goes_back() -> None:
    ride = new_ride(FixSettings(floor=date(2016, 1, 1)))
    lines = [
        "GPRMC,235958.00,A,4500.0000,N,08700.0000,W,30.0,90.0,311216,,,A",
        "GPRMC,235959.00,A,4500.0000,N,08700.0000,W,30.0,90.0,311216,,,A",
        "GPRMC,235960.00,A,4500.0000,N,08700.0000,W,30.0,90.0,311216,,,A",
        "GPRMC,000000.00,A,4500.0000,N,08700.0000,W,30.0,90.0,010117,,,A",
        "GPRMC,000001.00,A,4500.0000,N,08700.0000,W,30.0,90.0,010117,,,A",
    ]
    fixes = [fix for line in lines for fix in ride.say(signed(line), 1.0)]
    assert [fix.speed_mps for fix in fixes] == [mps_of_knots(30.0)] * 5
    dated = [fix.utc for fix in fixes if fix.utc is not None]
    assert dated == sorted(dated)
    assert dated[-1] == datetime(2017, 1, 1, 0, 0, 1, tzinfo=UTC)


# Rubbish, reports, pace ----------------------------------------------------------------------


def test_rubbish_is_told_as_such_within_three_seconds(ride: Ride) -> None:
    for _ in range(3):
        ride.say(b"U" * 960, 1.0)
    note = "bytes come but no sentence: is the baud rate right?"
    assert ride.notes == [note]
    assert ride.missing == [Missing(Why.NO_ANSWER, note)]
    ride.rmc(36000, 20.0)
    last = ride.readings[-1].value
    assert isinstance(last, Receiver)
    assert last.note == ""


def test_reports_come_before_the_gates(ride: Ride) -> None:
    ride.rmc(36000, 20.0, 0.0)
    ride.rmc(36001, 90.0, 10.0)
    ride.rmc(35000, 1.0, 20.0)
    ride.tracker.finish()
    speeds = [report.speed_mps for report in ride.reports]
    assert speeds == [mps_of_knots(20.0), mps_of_knots(90.0), mps_of_knots(1.0)]
    assert [report.sentence for report in ride.reports] == [1, 2, 3]


def test_pace_is_that_of_the_epochs_times() -> None:
    octets = b"\xff\xfe" + b"".join(
        signed(f"GPRMC,{clock(time_s)},A,{place(0)},0.0,0.0,150124,,,A")
        for time_s in (36000, 36002, 36004, 35990, 35992, 36010, 40000, 40002)
    )
    chunks = paced(octets)
    assert [at_s for at_s, _ in chunks] == [0.0, 2.0, 4.0, 6.0, 8.0, 26.0, 28.0, 30.0]
    assert b"".join(chunk for _, chunk in chunks) == octets


def test_pace_of_epochs_without_times_is_the_usual_one() -> None:
    octets = (
        b"".join(
            signed(f"GPRMC,{clock(time_s)},A,{place(0)},0.0,0.0,150124,,,A")
            for time_s in (36000, 36000.5, 36001)
        )
        + b"$GPRMC,,V,,,,,,,,,,N*53\r\n" * 3
    )
    assert [at_s for at_s, _ in paced(octets)] == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]


def test_pace_of_what_is_no_recording() -> None:
    assert paced(b"") == []
    assert paced(b"hello") == [(0.0, b"hello")]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 86399),
            st.floats(0, 1000),
            st.floats(0, 5000),
            st.sampled_from(["150124", "", "311299", "290224"]),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_nothing_beyond_physics_reaches_a_rule(
    said: list[tuple[float, float, float, str, bool]],
) -> None:
    ride = new_ride()
    for time_s, knots, north_m, day, is_rmc in said:
        found = (
            ride.rmc(time_s, round(knots, 2), north_m, day=day)
            if is_rmc
            else ride.gga(time_s, north_m)
        )
        for fix in found:
            assert 0.0 <= fix.speed_mps <= 100.0
            assert -90.0 <= fix.lat_deg <= 90.0
            assert fix.error_m > 0.0
            assert fix.utc is None or fix.utc - datetime(2024, 1, 1, tzinfo=UTC) < timedelta(
                days=3655
            )
    ride.tracker.finish()
