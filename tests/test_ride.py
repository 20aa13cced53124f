"""The made-up receiver: where the sled goes, and what is sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pynmea2
import pytest
from pyproj import Geod

from firmware.drives import ride
from firmware.units import MPS_PER_KNOT, mph, mps

START = datetime(2026, 1, 17, 22, 30, tzinfo=UTC)
WGS84 = Geod(ellps="WGS84")


def sent(changes: list[tuple[float, ride.Change]], end_s: float) -> list[tuple[float, list[str]]]:
    return [
        (at_s, octets.decode().splitlines())
        for at_s, octets in ride.sentences(changes, START, end_s)
    ]


def begin(speed_mph: float = 0.0, heading_deg: float = 90.0, **more: float) -> ride.Change:
    return ride.Change(45.9, -89.5, heading_deg, mps(speed_mph), **more)


@pytest.mark.parametrize(
    ("lat_deg", "lon_deg", "heading_deg", "distance_m"),
    [
        (45.9, -89.5, 0.0, 12.0),
        (45.9, -89.5, 123.0, 100_000.0),
        (42.5, -92.9, 270.0, 30_000.0),
        (-33.0, 179.99, 80.0, 5_000.0),
    ],
)
def test_the_sled_rides_along_the_geodesic_to_a_centimetre(
    lat_deg: float, lon_deg: float, heading_deg: float, distance_m: float
) -> None:
    lat, lon, heading = ride.travel(lat_deg, lon_deg, heading_deg, distance_m)
    true_lon, true_lat, back_deg = WGS84.fwd(lon_deg, lat_deg, heading_deg, distance_m)
    assert WGS84.inv(lon, lat, true_lon, true_lat)[2] < 0.01
    assert heading == pytest.approx((back_deg + 180.0) % 360.0, abs=1e-6)


def test_every_sentence_is_read_by_another_parser_with_its_checksum_demanded() -> None:
    changes = [(0.0, begin(40.0, gst_m=3.0)), (2.0, ride.Change(state="void"))]
    for _, lines in sent(changes, 4.0):
        for line in lines:
            pynmea2.parse(line, check=True)


def test_an_epoch_says_its_instant_its_place_and_its_speed() -> None:
    (_, first), (at_s, second) = sent([(10.0, begin(40.0, hdop=1.4))], 12.0)
    rmc, gga = (pynmea2.parse(line, check=True) for line in second)
    assert at_s == 11.0
    assert rmc.datetime == datetime(2026, 1, 17, 22, 30, 11, tzinfo=UTC)
    assert rmc.status == "A"
    assert mph(rmc.spd_over_grnd * MPS_PER_KNOT) == pytest.approx(40.0, abs=2e-4)
    assert gga.horizontal_dil == "1.4"
    start = pynmea2.parse(first[0])
    moved_m = WGS84.inv(start.longitude, start.latitude, rmc.longitude, rmc.latitude)[2]
    assert moved_m == pytest.approx(mps(40.0), abs=0.01)


@pytest.mark.parametrize("limit_mph", [10.0, 15.0, 25.0, 35.0, 55.0, 55.5, 65.0])
def test_a_speed_at_the_limit_is_never_sent_as_over_it(limit_mph: float) -> None:
    ((_, lines),) = sent([(0.0, begin(limit_mph))], 1.0)
    told_mph = mph(float(lines[0].split(",")[7]) * MPS_PER_KNOT)
    assert limit_mph - 2e-4 < told_mph <= limit_mph


def test_a_ramp_changes_the_speed_evenly_and_ends_exactly() -> None:
    changes = [(0.0, begin(40.0)), (2.0, ride.Change(speed_mps=mps(60.0), over_s=4.0))]
    speeds = [
        round(mph(float(lines[0].split(",")[7]) * MPS_PER_KNOT), 2)
        for _, lines in sent(changes, 9.0)
    ]
    assert speeds == [40.0, 40.0, 40.0, 45.0, 50.0, 55.0, 60.0, 60.0, 60.0]


def test_a_ramp_covers_the_mean_of_its_speeds() -> None:
    changes = [(0.0, begin(0.0)), (0.0, ride.Change(speed_mps=20.0, over_s=10.0))]
    epochs = sent(changes, 13.0)
    places = [pynmea2.parse(lines[0]) for _, lines in epochs]
    ends = (places[0], places[12])
    ridden_m = WGS84.inv(ends[0].longitude, ends[0].latitude, ends[1].longitude, ends[1].latitude)
    assert ridden_m[2] == pytest.approx(100.0 + 2 * 20.0, abs=0.02)


def test_a_change_of_rate_begins_a_new_beat() -> None:
    changes = [(0.0, begin(5.0)), (1.5, ride.Change(rate_hz=5.0)), (2.0, ride.Change(rate_hz=0.5))]
    assert [at_s for at_s, _ in sent(changes, 6.0)] == [0.0, 1.0, 1.5, 1.7, 1.9, 2.0, 4.0]


def test_a_void_epoch_has_no_place_and_the_sled_rides_on_meanwhile() -> None:
    changes = [
        (0.0, begin(50.0)),
        (1.0, ride.Change(state="void")),
        (3.0, ride.Change()),
    ]
    epochs = sent(changes, 4.0)
    assert epochs[1][1][0].startswith("$GPRMC,223001.000,V,,,,,,,170126,,,N*")
    before, after = pynmea2.parse(epochs[0][1][0]), pynmea2.parse(epochs[3][1][0])
    assert after.status == "A"
    moved = WGS84.inv(before.longitude, before.latitude, after.longitude, after.latitude)
    assert moved[2] == pytest.approx(3 * mps(50.0), abs=0.02)


def test_a_stopped_receiver_is_silent_until_the_next_change() -> None:
    changes = [(0.0, begin()), (1.0, ride.Change(state="stop")), (3.0, ride.Change())]
    assert [at_s for at_s, _ in sent(changes, 5.0)] == [0.0, 3.0, 4.0]


def test_south_and_east_are_told_by_their_letters() -> None:
    ((_, lines),) = sent([(0.0, ride.Change(-33.5, 151.25))], 1.0)
    assert lines[0].split(",")[3:7] == ["3330.000000", "S", "15115.000000", "E"]


def test_a_ride_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="the first ride line must have lat= and lon="):
        list(ride.sentences([(0.0, ride.Change(speed_mps=3.0))], START, 1.0))
