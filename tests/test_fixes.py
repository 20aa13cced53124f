"""The gates between what a receiver says and what a rule may judge."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from gps_ride import FLOOR, Ride, clock, new_ride, place, signed

from firmware.gps.fixes import FixSettings
from firmware.readings import Channel, Missing, Receiver, Why
from firmware.units import mph, mps, mps_of_knots


@pytest.fixture
def ride() -> Ride:
    return new_ride()


def test_a_valid_rmc_is_a_fix_at_once(ride: Ride) -> None:
    (fix,) = ride.rmc(36672, 58.5)
    assert fix.speed_mps == mps_of_knots(58.5)
    assert fix.error_mps == mps(0.5)
    assert not fix.derived
    (reading,) = [one for one in ride.readings if one.channel is Channel.FIX]
    assert (reading.mono_s, reading.source, reading.fresh_s) == (501.0, "gps", 2.5)


def test_the_speed_error_comes_from_the_settings_never_from_hdop() -> None:
    ride = new_ride(FixSettings(floor=FLOOR, speed_error_mph=1.0))
    ride.gga(36672, 0)
    (fix,) = ride.rmc(36672, 20, after_s=0.0)
    assert fix.error_mps == mps(1.0)
    assert fix.error_m == pytest.approx(1.2 * 2.5)


def test_void_sentences_are_a_missing_fix_and_move_nothing(ride: Ride) -> None:
    ride.rmc(36672, 58.5)
    for second in range(1, 5):
        assert ride.say(b"$GPRMC,,V,,,,,,,,,,N*53\r\n", 1.0) == []
        assert len(ride.missing) == second
    assert ride.missing[0] == Missing(Why.NO_FIX, "the receiver says that it has no fix")


def test_a_simulator_is_known_by_its_gga_at_the_next_rmc(ride: Ride) -> None:
    for second in range(3):
        found = ride.rmc(36672 + second, 20.0, second * 10.3)
        body = f"GPGGA,{clock(36672 + second)},{place(second * 10.3)},8,08,1.2,200.0,M,,M,,"
        assert ride.say(signed(body)) == []
        assert bool(found) is (second == 0)  # nothing had said so at the very first


def test_a_refused_sentence_is_not_a_speed_of_zero(ride: Ride) -> None:
    speeds = []
    for second in range(5):
        octets = signed(f"GPRMC,{clock(36672 + second)},A,{place(second * 30)},58.5,0.0,150124,,,A")
        if second % 2:
            octets = octets.replace(b"58.5", b"08.5")
        speeds += [fix.speed_mps for fix in ride.say(octets, 1.0)]
    assert speeds == [mps_of_knots(58.5)] * 3
    assert ride.missing == []


@pytest.mark.parametrize(
    ("period_s", "fresh_s"), [(0.04, 2.5), (0.1, 2.5), (1.0, 2.5), (2.0, 4.5), (3.0, 6.5)]
)
def test_freshness_follows_the_receivers_own_rate(period_s: float, fresh_s: float) -> None:
    ride = new_ride()
    for turn in range(6):
        ride.rmc(36672 + turn * period_s, 20.0, turn * period_s * 10.3, after_s=period_s)
    assert ride.readings[-1].fresh_s == fresh_s or ride.readings[-2].fresh_s == fresh_s
    assert ride.tracker.fresh_s == pytest.approx(fresh_s)


def test_two_readings_of_the_receiver_a_second_at_most() -> None:
    ride = new_ride()
    for turn in range(100):
        ride.rmc(36672 + turn * 0.1, 20.0, turn * 1.03, after_s=0.1)
    told = [reading for reading in ride.readings if reading.channel is Channel.RECEIVER]
    assert 10 <= len(told) <= 11
    last = told[-1].value
    assert isinstance(last, Receiver)
    assert last.rate_hz == 10.0
    assert last.sentences > 90


# Order ---------------------------------------------------------------------------------------


def test_an_older_epoch_is_ignored_until_five_follow_one_another(ride: Ride) -> None:
    for second in range(3):
        assert ride.rmc(36672 + second, 20.0, second * 10.3)
    given = [bool(ride.rmc(36000 + second, 20.0, 40 + second * 10.3)) for second in range(7)]
    assert given == [False, False, False, False, True, True, True]
    assert ride.notes == ["the receiver's time went back 670 s: it has started anew"]


def test_a_single_older_epoch_changes_nothing(ride: Ride) -> None:
    ride.rmc(36672, 20.0)
    assert ride.rmc(36100, 20.0) == []
    assert ride.rmc(36674, 20.0)
    assert ride.rmc(36100, 20.0) == []
    assert ride.rmc(36676, 20.0)
    assert ride.notes == []


def test_one_wild_time_ahead_is_overcome_by_itself(ride: Ride) -> None:
    for second in range(3):
        ride.rmc(36672 + second, 20.0, second * 10.3)
    ride.rmc(40000, 20.0, 30.0)
    given = [bool(ride.rmc(36675 + second, 20.0, 30 + second * 10.3)) for second in range(6)]
    assert given == [False] * 4 + [True] * 2


def test_a_time_that_stands_still_is_no_news(ride: Ride) -> None:
    given = [bool(ride.rmc(36672, 20.0)) for _ in range(6)]
    assert given == [True, True, True, False, False, False]
    assert "the receiver's time stands still" in ride.notes


def test_midnight_is_not_a_step_back(ride: Ride) -> None:
    for second in range(-3, 3):
        day = "311224" if second < 0 else "010125"
        (fix,) = ride.rmc((86400 + second) % 86400, 20.0, 40 + second * 10.3, day=day)
    assert fix.utc == datetime(2025, 1, 1, 0, 0, 2, tzinfo=UTC)


# Outliers ------------------------------------------------------------------------------------


def test_a_speed_spike_does_not_pass_and_is_told(ride: Ride) -> None:
    ride.rmc(36672, 20.0, 0.0)
    assert ride.rmc(36673, 78.5, 10.3) == []
    assert ride.notes == ["a jump of speed or place is ignored"]
    (fix,) = ride.rmc(36674, 20.0, 20.6)
    assert fix.speed_mps == mps_of_knots(20.0)
    ride.rmc(36675, 20.0, 30.9)
    last = [one.value for one in ride.readings if one.channel is Channel.RECEIVER][-1]
    assert isinstance(last, Receiver)
    assert last.note == ""


@pytest.mark.parametrize("rate_hz", [1, 5, 10, 25])
def test_the_gate_opens_again_by_itself_within_three_seconds(rate_hz: int) -> None:
    ride = new_ride()
    ride.rmc(36000, 20.0, 0.0)
    held_s = None
    for turn in range(1, rate_hz * 5):
        time_s = turn / rate_hz
        if ride.rmc(36000 + time_s, 100.0, time_s * 51.4, after_s=1 / rate_hz):
            held_s = time_s - 1 / rate_hz
            break
    assert held_s is not None
    assert 0.5 < held_s <= 3.0
    assert "a jump of speed or place is ignored" in ride.notes


@pytest.mark.parametrize("rate_hz", [1, 2, 10])
@pytest.mark.parametrize(("knots", "north_m"), [(190.0, 0.0), (20.0, 9000.0)])
def test_a_jump_that_stays_is_taken_within_three_seconds_and_told(
    rate_hz: int, knots: float, north_m: float
) -> None:
    ride = new_ride()
    ride.rmc(36000, 20.0, 0.0)
    given_s = [
        turn / rate_hz
        for turn in range(1, rate_hz * 6)
        if ride.rmc(
            36000 + turn / rate_hz,
            knots,
            north_m + turn / rate_hz * mps_of_knots(knots),
            after_s=1 / rate_hz,
        )
    ]
    assert 1.0 <= given_s[0] - 1 / rate_hz <= 3.0
    assert len(given_s) == given_s[-1] * rate_hz - given_s[0] * rate_hz + 1
    assert ride.notes[-1] == "a jump of speed or place was confirmed: the new one is taken"


def test_the_hardest_a_sled_does_passes(ride: Ride) -> None:
    speed_mps = 0.0
    for turn in range(20):
        assert ride.rmc(36000 + turn * 0.1, speed_mps / mps_of_knots(1), turn * 0.5, after_s=0.1)
        speed_mps += 1.5
    assert ride.notes == []


def test_a_place_that_jumps_does_not_pass(ride: Ride) -> None:
    ride.rmc(36672, 20.0, 0.0)
    assert ride.rmc(36673, 20.0, 1800.0) == []
    assert ride.rmc(36674, 20.0, 20.6)


def test_no_sled_does_a_hundred_metres_a_second(ride: Ride) -> None:
    for second in range(8):
        assert ride.rmc(36672 + second, 200.0, second * 103.0) == []


def test_after_a_tunnel_another_speed_is_believed(ride: Ride) -> None:
    ride.rmc(36672, 50.0, 0.0)
    assert ride.rmc(36732, 0.0, 500.0, after_s=60.0)


# Rest ----------------------------------------------------------------------------------------


def test_moored_drift_of_three_and_a_half_knots_is_rest(ride: Ride) -> None:
    speeds = []
    for turn in range(40):
        north_m = 1.85 * math.sin(turn * 1.3)
        knots = 3.4 * abs(math.sin(turn * 2.1))
        (fix,) = ride.rmc(36000 + turn * 2, knots, 100 + north_m, after_s=2.0, decimals=3)
        speeds.append(fix.speed_mps)
    assert set(speeds[3:]) == {0.0}


def test_rest_has_no_track(ride: Ride) -> None:
    for second in range(8):
        (fix,) = ride.rmc(36000 + second, 0.4, 50.0)
    assert fix.speed_mps == 0.0
    assert fix.track_deg is None


@pytest.mark.parametrize("speed_mph", [3.0, 5.0, 9.0, 11.0, 55.0])
def test_a_sled_that_moves_keeps_its_speed(ride: Ride, speed_mph: float) -> None:
    for second in range(20):
        knots = mps(speed_mph) / mps_of_knots(1)
        (fix,) = ride.rmc(36000 + second, round(knots, 3), second * mps(speed_mph))
        assert mph(fix.speed_mps) == pytest.approx(speed_mph, abs=0.01)


def test_a_start_from_rest_is_seen_within_a_second_or_two(ride: Ride) -> None:
    north_m = 0.0
    for turn in range(100):
        ride.rmc(36000 + turn * 0.1, 0.1, north_m, after_s=0.1)
    for turn in range(30):
        speed_mps = 0.3 * turn
        north_m += speed_mps * 0.1
        (fix,) = ride.rmc(36010 + turn * 0.1, speed_mps / mps_of_knots(1), north_m, after_s=0.1)
        if speed_mps > 2.1:
            assert fix.speed_mps == pytest.approx(speed_mps, abs=0.01)


def test_jitter_of_places_is_not_summed_to_a_speed(ride: Ride) -> None:
    for second in range(10):
        (fix,) = ride.rmc(36000 + second, 0.0, second % 2)
        assert fix.speed_mps == 0.0


# Speed from places ---------------------------------------------------------------------------


def test_without_rmc_and_vtg_the_speed_is_derived_and_marked(ride: Ride) -> None:
    found = [ride.gga(36000 + second, second * 20.0) for second in range(10)]
    assert found[0] == []
    (fix,) = found[-1]
    assert fix.derived
    assert fix.speed_mps == pytest.approx(20.0, rel=0.01)
    assert fix.error_mps == mps(2.0)
    assert sum(map(bool, found)) >= 5


def test_coarse_places_are_compared_over_a_longer_time(ride: Ride) -> None:
    speeds = []
    for turn in range(100):
        speeds += [
            fix.speed_mps
            for fix in ride.gga(36000 + turn * 0.1, turn * 2.0, decimals=4, after_s=0.1)
        ]
    assert len(speeds) > 50
    assert all(speed == pytest.approx(20.0, abs=mps(2.0)) for speed in speeds)


def test_places_between_measured_speeds_derive_none(ride: Ride) -> None:
    found = []
    for turn in range(50):
        time_s = 36000 + turn * 0.1
        if turn % 10 == 0:
            found += ride.rmc(time_s, 20.0, turn * 1.03, after_s=0.1)
        else:
            found += ride.gga(time_s, turn * 1.03, after_s=0.1)
    assert len(found) == 5
    assert not any(fix.derived for fix in found)


def test_the_walk_of_the_first_places_derives_nothing(ride: Ride) -> None:
    assert ride.gga(36000, 0.0) == []
    assert ride.gga(36001, 17.0) == []
    (fix,) = ride.rmc(36001, 0.1, 17.0, after_s=0.0)
    assert fix.speed_mps == 0.0  # 17 m in a second, where it says 0.1 knots: rest


# Errors of place -----------------------------------------------------------------------------


def test_the_error_of_place_is_of_gst_else_hdop_else_ten_metres(ride: Ride) -> None:
    (fix,) = ride.rmc(36000, 20.0, 0.0)
    assert fix.error_m == 10.0  # RMC came first: what GGA says is known to the next epoch
    ride.gga(36000, 0.0, after_s=0.0)
    (fix,) = ride.rmc(36001, 20.0, 10.3)
    assert fix.error_m == pytest.approx(3.0)
    ride.gga(36001, 10.3, after_s=0.0)
    ride.gga(36002, 20.6)
    (fix,) = ride.rmc(36002, 20.0, 20.6, after_s=0.0)
    assert fix.error_m == pytest.approx(3.0)


def test_a_gst_of_nothing_is_no_estimate(ride: Ride) -> None:
    ride.gga(36000, 0.0)
    for lat_m, lon_m, error_m in ((0.0, 0.0, 3.0), ("", 2.0, 3.0), (0.3, 0.4, 0.5)):
        ride.say(signed(f"GPGST,{clock(36000)},,,,,{lat_m},{lon_m},4.0"))
        (fix,) = ride.rmc(36000, 20.0, 0.0, after_s=0.0)
        assert fix.error_m == pytest.approx(error_m)


def test_hdop_is_forgotten_after_ten_seconds(ride: Ride) -> None:
    ride.gga(36000, 0.0)
    (fix,) = ride.rmc(36000, 20.0, 0.0, after_s=0.0)
    assert fix.error_m == pytest.approx(3.0)
    for second in range(1, 13):
        (fix,) = ride.rmc(36000 + second, 20.0, second * 10.3)
    assert fix.error_m == 10.0
