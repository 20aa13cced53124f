"""The gate between what a receiver says and what a sled can have done."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import pytest

from firmware.gps.fixes import FixSettings, FixTracker, paced
from firmware.gps.outliers import Motion, OutlierGate, Passage
from firmware.readings import Fix, Receiver
from firmware.units import mph, mps, mps_of_knots

SETTINGS = FixSettings(floor=date(2000, 1, 1), trust_dates=True)
TAHOE = Path(__file__).parent / "data" / "nmea" / "dotmorten_tahoe_dusk.log"
M_PER_DEG = 111_195.0
RATES_HZ = [0.5, 1, 5, 10, 25]


class Sled:
    """A sled on a plain, and what the gate makes of each epoch of its receiver."""

    def __init__(self, speed_mps: float, track_deg: float = 90.0) -> None:
        self.gate = OutlierGate(SETTINGS)
        self.at_s, self.speed_mps, self.track_deg = 0.0, speed_mps, track_deg
        self.north_m = self.east_m = 0.0
        self.say()

    def say(self, speed_mps: float | None = None, track_deg: float | None = None) -> Passage:
        """An epoch of what it does, or of what a receiver makes up."""
        lat_deg = 45.0 + self.north_m / M_PER_DEG
        lon_deg = -87.0 + self.east_m / M_PER_DEG / math.cos(math.radians(lat_deg))
        return self.gate.judge(
            Motion(
                self.at_s,
                self.speed_mps if speed_mps is None else speed_mps,
                self.track_deg if track_deg is None else track_deg,
                lat_deg,
                lon_deg,
                3.0,
                False,
            )
        )

    def ride(self, for_s: float, accel_mps2: float = 0.0, turn_deg_s: float = 0.0) -> None:
        """Moves on without a word, in small steps."""
        steps = max(1, round(for_s * 1000))
        for _ in range(steps):
            self.speed_mps = max(0.0, self.speed_mps + accel_mps2 * for_s / steps)
            self.track_deg = (self.track_deg + turn_deg_s * for_s / steps) % 360.0
            course = math.radians(self.track_deg)
            self.north_m += self.speed_mps * math.cos(course) * for_s / steps
            self.east_m += self.speed_mps * math.sin(course) * for_s / steps
        self.at_s += for_s

    def epochs(self, rate_hz: float, for_s: float, **how: float) -> list[Passage]:
        """What becomes of each epoch of a ride at a rate."""
        said = []
        for _ in range(round(for_s * rate_hz)):
            self.ride(1.0 / rate_hz, **how)
            said.append(self.say())
        return said


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_nought_to_sixty_in_three_seconds_is_given_at_every_epoch(rate_hz: float) -> None:
    said = Sled(0.0).epochs(rate_hz, 4.0, accel_mps2=mps(60.0) / 3.0)
    assert set(said) == {Passage.GIVEN}


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_braking_as_hard_as_a_sled_can_is_given_at_every_epoch(rate_hz: float) -> None:
    said = Sled(mps(60.0)).epochs(rate_hz, 4.0, accel_mps2=-9.8)
    assert set(said) == {Passage.GIVEN}


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize(
    ("speed_mph", "turn_deg_s"), [(15.0, 90.0), (30.0, 45.0), (50.0, 28.0), (90.0, 15.0)]
)
def test_a_turn_of_one_g_is_given_at_every_epoch(
    rate_hz: float, speed_mph: float, turn_deg_s: float
) -> None:
    side_mps2 = mps(speed_mph) * math.radians(turn_deg_s)
    assert 9.8 < side_mps2 < 13.0
    said = Sled(mps(speed_mph)).epochs(rate_hz, 4.0, turn_deg_s=turn_deg_s)
    assert set(said) == {Passage.GIVEN}


@pytest.mark.parametrize("rate_hz", [1, 5, 10, 25])
def test_a_turn_that_gains_speed_is_given_at_every_epoch(rate_hz: float) -> None:
    said = Sled(mps(30.0)).epochs(rate_hz, 3.0, accel_mps2=6.0, turn_deg_s=15.0)
    assert set(said) == {Passage.GIVEN}


@pytest.mark.parametrize("rate_hz", [0.5, 1, 5, 10])
@pytest.mark.parametrize("off_deg", [50.0, -50.0, 120.0])
def test_one_epoch_of_another_speed_and_course_is_held_back(rate_hz: float, off_deg: float) -> None:
    sled = Sled(mps_of_knots(35.2), 92.7)
    sled.ride(1.0 / rate_hz)
    assert sled.say(mps_of_knots(58.0), 92.7 + off_deg) is Passage.HELD
    assert sled.gate.is_holding
    sled.ride(1.0 / rate_hz, accel_mps2=-2.0)
    assert sled.say() is Passage.GIVEN
    assert not sled.gate.is_holding


def test_at_a_walk_the_course_is_noise() -> None:
    sled = Sled(1.0)
    for turn in range(20):
        sled.ride(0.1)
        assert sled.say(track_deg=turn * 170.0 % 360.0) is Passage.GIVEN


def test_a_receiver_that_gives_no_course_is_judged_by_its_speed() -> None:
    gate = OutlierGate(SETTINGS)
    for second in range(5):
        place = Motion(second, 20.0, None, 45.0 + second * 20.0 / M_PER_DEG, -87.0, 3.0, False)
        assert gate.judge(place) is Passage.GIVEN


@pytest.mark.parametrize("rate_hz", [1, 5, 10])
def test_a_course_that_stays_turned_is_confirmed_within_three_seconds(rate_hz: int) -> None:
    sled = Sled(25.0)
    sled.ride(1.0 / rate_hz)
    sled.track_deg = 230.0
    said = [sled.say(), *sled.epochs(rate_hz, 4.0)]
    held = said.count(Passage.HELD)
    assert 1.0 <= held / rate_hz <= 3.0
    assert said[held] is Passage.CONFIRMED
    assert set(said[held + 1 :]) == {Passage.GIVEN}


def test_the_spike_of_a_recorded_drive_reaches_no_rule() -> None:
    tracker = FixTracker(SETTINGS)
    speeds_mph: dict[str, float] = {}
    notes: dict[float, str] = {}
    for at_s, octets in paced(TAHOE.read_bytes()):
        for reading in tracker.feed(octets, at_s):
            if isinstance(reading.value, Fix) and reading.value.utc is not None:
                speeds_mph[reading.value.utc.strftime("%H:%M:%S")] = mph(reading.value.speed_mps)
            elif isinstance(reading.value, Receiver) and reading.value.note:
                notes[at_s] = reading.value.note
    assert speeds_mph["02:49:30"] == pytest.approx(40.5, abs=0.05)
    assert "02:49:32" not in speeds_mph  # 58.0 knots, 66.7 mph, and a course 50 degrees off
    assert speeds_mph["02:49:34"] == pytest.approx(28.4, abs=0.05)
    assert len(speeds_mph) == 1992  # of 1,993: no other epoch is held back
    assert notes == {3662.0: "a jump of speed or place is ignored"}
