"""What the unit measures: distances by hand, errors as bounds, and nothing surer than the GPS."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path

import pytest

from firmware.readings import Light
from firmware.units import ft, mps
from host_tools.inspection import gauges
from host_tools.inspection.trace import Note, Sample, Trace, of_file

ERROR_MPS = mps(0.5)
DECELERATION_MPS2 = 8.9408**2 / (2 * 12.192)
"""A brake that just keeps 350.09(4): 20 mph are 8.9408 m/s, 40 ft are 12.192 m."""


def braked(
    deceleration_mps2: float, rate_hz: float, *, from_mph: float = 30.0, late_s: float = 0.0,
    error_mps: float = ERROR_MPS,
) -> list[Sample]:  # fmt: skip
    """A constant braking as a receiver sees it: at rest from 1 mph down."""
    samples = []
    for at in range(int(20 * rate_hz)):
        at_s = at / rate_hz + late_s
        speed = max(0.0, min(mps(from_mph), mps(from_mph) - deceleration_mps2 * (at_s - 3.0)))
        samples.append(Sample(at_s, speed if speed >= gauges.REST_MPS else 0.0, error_mps))
    return samples


def test_a_brake_that_just_keeps_the_law_stops_in_40_ft() -> None:
    assert pytest.approx(3.278, abs=0.001) == DECELERATION_MPS2
    (stop,) = gauges.stops(braked(DECELERATION_MPS2, 10.0))
    # The last sample before rest is clamped to 0 below 1 mph: under 0.1 ft is lost by that.
    assert stop.distance_ft == pytest.approx(40.0, abs=0.2)
    assert stop.took_s == pytest.approx(8.9408 / DECELERATION_MPS2, abs=0.15)


def test_the_error_of_a_stop_is_that_of_its_speeds_and_of_what_lies_between_fixes() -> None:
    """By hand for 40 ft at 10 Hz: 0.2235 m/s over 2.6 s and twice 0.2235/8.94 of 12.2 m are 1.2 m
    or 3.9 ft; half of 8.94 m/s by 0.1 s and a quarter of it are 0.67 m or 2.2 ft."""
    (stop,) = gauges.stops(braked(DECELERATION_MPS2, 10.0))
    assert stop.speed_ft == pytest.approx(3.9, abs=0.15)
    assert stop.sampling_ft == pytest.approx(2.2, abs=0.15)
    (slow,) = gauges.stops(braked(DECELERATION_MPS2, 1.0))
    assert slow.sampling_ft == pytest.approx(22.0, abs=1.5)
    (derived,) = gauges.stops(braked(DECELERATION_MPS2, 10.0, error_mps=mps(2.0)))
    assert derived.speed_ft == pytest.approx(4 * stop.speed_ft, rel=0.01)


@pytest.mark.parametrize("rate_hz", [1.0, 2.0, 5.0, 10.0, 25.0])
def test_the_true_distance_lies_within_the_error_at_every_phase_of_the_fixes(
    rate_hz: float,
) -> None:
    for deceleration in (2.0, DECELERATION_MPS2, 5.0, 8.0):
        true_ft = ft(8.9408**2 / (2 * deceleration))
        for phase in range(20):
            for stop in gauges.stops(braked(deceleration, rate_hz, late_s=phase / rate_hz / 20)):
                assert abs(stop.distance_ft - true_ft) <= stop.error_ft, (deceleration, phase)


def test_the_true_distance_lies_within_the_error_whatever_the_receiver_errs_by() -> None:
    """300 stops with a brake that grips unevenly, and speeds wrong by up to what is stated."""
    lots = random.Random(20)
    found = 0
    for _ in range(300):
        rate_hz = lots.choice([2.0, 5.0, 10.0])
        step_s = 0.001
        speed, way_m, at_s = mps(lots.uniform(22, 45)), 0.0, 0.0
        grip = [lots.uniform(1.5, 7.0) for _ in range(40)]
        bias = lots.uniform(-ERROR_MPS, ERROR_MPS)
        noise = ERROR_MPS - abs(bias)
        true: list[tuple[float, float, float]] = []
        while speed > 0.0:
            true.append((at_s, speed, way_m))
            way_m += speed * step_s
            speed -= grip[min(39, int(at_s * 2))] * step_s
            at_s += step_s
        rest_m = way_m
        begin_m = next(way for _, fast, way in true if fast <= gauges.BRAKE_FROM_MPS)
        phase = lots.random() / rate_hz
        samples = []
        for number in range(int((at_s + 3) * rate_hz)):
            when = number / rate_hz + phase
            index = int(when / step_s)
            seen = true[index][1] if index < len(true) else 0.0
            if seen:
                seen = max(0.0, seen + bias + lots.uniform(-noise, noise))
            samples.append(Sample(when, seen if seen >= gauges.REST_MPS else 0.0, ERROR_MPS))
        for stop in gauges.stops(samples)[:1]:
            found += 1
            assert abs(stop.distance_ft - ft(rest_m - begin_m)) <= stop.error_ft
    assert found > 285


def test_a_ride_that_slows_and_goes_on_is_no_stop() -> None:
    speeds = [30, 25, 19, 12, 8, 12, 20, 22]
    samples = [Sample(float(at), mps(speed), ERROR_MPS) for at, speed in enumerate(speeds)]
    assert gauges.stops(samples) == []


def test_a_gap_in_the_fixes_is_no_stop() -> None:
    samples = braked(DECELERATION_MPS2, 10.0)
    holed = [one for one in samples if not 5.5 < one.at_s < 8.2]
    assert gauges.stops(holed) == []
    assert gauges.stops([]) == []
    assert gauges.stops(samples[:1]) == []


def test_a_stop_that_did_not_come_to_rest_is_none() -> None:
    samples = [one for one in braked(DECELERATION_MPS2, 10.0) if one.speed_mps > mps(3.0)]
    assert gauges.stops(samples) == []


def test_of_several_stops_the_surest_short_one_counts() -> None:
    near, far = gauges.Stop(1.0, 3.0, 38.0, 2.0, 4.0), gauges.Stop(9.0, 3.0, 36.0, 9.0, 4.0)
    assert gauges.best([far, near]) == near
    assert gauges.best([]) is None


# The speed indicator.


def cruise(speed_mph: float, spread_mph: float = 0.0, seconds: int = 10) -> Trace:
    trace = Trace("drive")
    for at in range(seconds * 10 + 1):
        wave = spread_mph / 2 * math.sin(at / 4)
        trace.samples.append(Sample(at / 10, mps(speed_mph + wave), ERROR_MPS))
    return trace


@pytest.mark.parametrize(
    ("true_mph", "shown", "error_pct"),
    [(55.0, "55", 0.0), (55.0, "57.2", 4.0), (55.0, "52.8", -4.0), (40.0, "41.6", 4.0),
     (65.0, "62.4", -4.0)],
)  # fmt: skip
def test_the_indicator_s_error_is_in_per_cent_of_the_true_speed(
    true_mph: float, shown: str, error_pct: float
) -> None:
    read = gauges.indicator_error(cruise(true_mph), Note(8.0, "indicated", shown))
    assert read.value == pytest.approx(error_pct, abs=1e-6)
    assert read.at == pytest.approx(true_mph)
    # Half a mile an hour of the GPS and half of the reading: 1 mph of 55 is 1.8 %.
    assert read.error == pytest.approx(100.0 / true_mph, rel=1e-6)


def test_a_speed_that_wavers_is_no_measure_and_a_little_wavering_counts() -> None:
    wild = gauges.indicator_error(cruise(55.0, 6.0), Note(8.0, "indicated", "55"))
    assert wild.why_not.startswith("the speed was not steady: ")
    calm = gauges.indicator_error(cruise(55.0, 1.0), Note(8.0, "indicated", "55"))
    assert calm.error == pytest.approx(150.0 / 55.0, rel=0.05)


@pytest.mark.parametrize(("true_mph", "is_read"), [(35.0, False), (40.0, True), (65.0, True),
                                                   (70.0, False)])  # fmt: skip
def test_accuracy_is_defined_from_40_to_65_mph_alone(true_mph: float, is_read: bool) -> None:
    read = gauges.indicator_error(cruise(true_mph), Note(8.0, "indicated", f"{true_mph:g}"))
    assert (read.why_not == "") is is_read


def test_a_figure_without_gps_speed_before_it_is_none() -> None:
    assert gauges.indicator_error(cruise(55.0), Note(30.0, "indicated", "55")).why_not
    assert gauges.indicator_error(Trace("x"), Note(1.0, "indicated", "55")).why_not


# The odometer.


def ridden(miles: float, shown: tuple[str, str], *, gap: bool = False) -> Trace:
    """So many miles at 60 mph, a mile a minute, with a reading before and after."""
    trace = Trace("drive")
    for at in range(int(miles * 60) + 1):
        if not (gap and 30 < at < 40):
            trace.samples.append(Sample(float(at), mps(60.0), ERROR_MPS))
    trace.note(0.0, f"odometer {shown[0]}")
    trace.note(miles * 60.0, f"odometer {shown[1]}")
    return trace


def test_the_odometer_s_error_is_in_per_cent_of_the_true_miles() -> None:
    read = gauges.odometer_error(ridden(10.0, ("1000.0", "1010.4")))
    assert read.value == pytest.approx(4.0)
    assert read.at == pytest.approx(10.0)
    # 0.5 of 60 mph all the way is 0.83 %; a digit of 0.1 mile of 10 is 1 %.
    assert read.error == pytest.approx(0.8333 + 1.0, abs=0.001)


def test_a_coarser_odometer_needs_a_longer_way() -> None:
    assert gauges.odometer_error(ridden(10.0, ("1000", "1010"))).error > 10.0


@pytest.mark.parametrize(
    ("trace", "why"),
    [
        (Trace("x"), "two odometer readings were expected"),
        (ridden(0.4, ("1.0", "1.4")), "0.40 miles: too short, ride 5 or more"),
        (
            ridden(10.0, ("1.0", "11.0"), gap=True),
            "the GPS speed has gaps between the two readings",
        ),
    ],
)
def test_a_way_that_measures_nothing_says_why(trace: Trace, why: str) -> None:
    assert gauges.odometer_error(trace).why_not == why


def test_standing_about_before_and_after_costs_no_accuracy() -> None:
    moving = ridden(10.0, ("1000.0", "1010.0"))
    stood = Trace("drive")
    stood.samples = [Sample(at - 600.0, 0.0, ERROR_MPS) for at in range(0, 599, 2)]
    stood.samples += [Sample(-1.0, 0.0, ERROR_MPS), *moving.samples]
    stood.note(-600.0, "odometer 1000.0")
    stood.note(600.0, "odometer 1010.0")
    assert gauges.odometer_error(stood).error == pytest.approx(
        gauges.odometer_error(moving).error, rel=0.02
    )


def test_only_a_figure_of_the_vehicle_is_noted() -> None:
    trace = Trace("x")
    for text in ("indicated 55", "odometer 12345.6", "indicated", "lovely day", "indicated -5"):
        trace.note(1.0, text)
    assert [(one.word, one.text) for one in trace.notes] == [
        ("indicated", "55"), ("odometer", "12345.6"),
    ]  # fmt: skip


# The head lamp.


def test_the_light_that_counts_is_one_that_lasted() -> None:
    trace = Trace("x")
    trace.lamps = [(at / 4, Light(900.0 if at == 3 else 600.0 if at > 8 else 2.0, 12.0))
                   for at in range(24)]  # fmt: skip
    read = gauges.lamp_lux(trace)
    assert (read.value, read.error) == (600.0, 12.0)
    assert gauges.lamp_lux(Trace("x")).why_not


# From a drive, through the receiver's own sentences.

BRAKING = """\
# Name: a brake test
# Law: wi
# Start: 2026-01-17T18:00:00Z
0.0   ride lat=44.05 lon=-88.45 heading=90 speed=0 rate=10
1.0   ride speed=30 over=8
12.0  ride speed=0 over={over}
20.0  end
"""


@pytest.mark.parametrize(
    ("over_s", "distance_ft"),
    [
        # From 30 mph (44 ft/s) evenly to 0: 20 mph (29.33 ft/s) take two thirds of the time.
        (3.0, 29.33 / 2 * 2.0),
        (4.0, 29.33 / 2 * 8.0 / 3.0),
        (6.0, 29.33 / 2 * 4.0),
    ],
)
def test_a_ride_s_braking_is_measured_from_its_sentences(
    tmp_path: Path, over_s: float, distance_ft: float
) -> None:
    path = tmp_path / "brake.drive"
    path.write_text(BRAKING.format(over=over_s))
    trace = of_file(path)
    gaps = [two.at_s - one.at_s for one, two in pairwise(trace.samples)]
    assert max(gaps) < 0.21
    (stop,) = gauges.stops(trace.samples)
    assert abs(stop.distance_ft - distance_ft) < 2.0
    assert abs(stop.distance_ft - distance_ft) <= stop.error_ft
