"""What a unit can measure of a vehicle by itself, each figure with its error.

The errors are bounds and not likelihoods: a verdict that counts them is never surer than the
sensors. 350.09(4) for the brake, Trans 305.28(1) and (3) for speed indicator and odometer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from firmware.units import MPS_PER_MPH, ft, mph
from host_tools.inspection.trace import Note, Sample, Trace

BRAKE_FROM_MPS = 20.0 * MPS_PER_MPH
REST_MPS = 1.0 * MPS_PER_MPH
"""Below this a receiver tells no motion from rest; the gates clamp it to 0."""

GAP_S = 2.5
"""Two speeds further apart in time are no trace of a stop or of a way."""

STEADY_S = 3.0
SPREAD_MPH = 2.0
READ_OFF_MPH = 0.5
"""A speed is steady that stayed within 2 mph for 3 s; a person reads an indicator to 0.5 mph."""

NEAR_MPH = 3.0
"""So near to 40, 55 or 65 mph a reading counts for it."""

INDICATED_MPH = (40.0, 65.0)
"""Where Trans 305.28(1) speaks of accuracy."""

LAMP_S = 2.0
METRES_PER_MILE = 1609.344


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop from 20 mph: where it began in the trace, its distance, and what may be wrong with it.

    `sampling_ft` is what may have gone on between two fixes, `speed_ft` what the error of the
    speed makes of the start at 20 mph and of the way.
    """

    at_s: float
    took_s: float
    distance_ft: float
    sampling_ft: float
    speed_ft: float

    @property
    def error_ft(self) -> float:
        return self.sampling_ft + self.speed_ft


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured figure with its error, and the speed or the miles that it was measured at; or why
    there is none."""

    value: float = 0.0
    error: float = 0.0
    at: float = 0.0
    why_not: str = ""


def stops(samples: list[Sample]) -> list[Stop]:
    """Every stop from 20 mph in a trace, without a gap and without riding on in between."""
    found = []
    for at, (before, after) in enumerate(pairwise(samples)):
        if before.speed_mps >= BRAKE_FROM_MPS > after.speed_mps:
            stop = _stop(before, samples[at + 1 :])
            if stop is not None:
                found.append(stop)
    return found


def _stop(before: Sample, rest: list[Sample]) -> Stop | None:
    first = rest[0]
    if first.at_s - before.at_s > GAP_S:
        return None
    # Where the straight line between the two fixes passes 20 mph.
    share = (before.speed_mps - BRAKE_FROM_MPS) / (before.speed_mps - first.speed_mps)
    begin_s = before.at_s + share * (first.at_s - before.at_s)
    distance_m = sampling_m = 0.0
    # Between fixes a braked sled goes no faster than at the first and no slower than at the second.
    last_s, last_mps = begin_s, BRAKE_FROM_MPS
    error_mps = before.error_mps
    # A brake that comes on between two fixes bends the line by a quarter of the time at most.
    sampling_m += BRAKE_FROM_MPS * (first.at_s - before.at_s) / 4.0
    for sample in rest:
        step_s = sample.at_s - last_s
        error_mps = max(error_mps, sample.error_mps)
        if step_s > GAP_S or sample.speed_mps > last_mps + 2.0 * error_mps:
            return None
        distance_m += (last_mps + sample.speed_mps) / 2.0 * step_s
        sampling_m += abs(last_mps - sample.speed_mps) / 2.0 * step_s
        last_s, last_mps = sample.at_s, sample.speed_mps
        if sample.speed_mps < REST_MPS:
            break
    else:
        return None
    took_s = last_s - begin_s
    # The speed's error along the way, and that of the start: a way goes with the square of it.
    speed_m = error_mps * took_s + 2.0 * error_mps / BRAKE_FROM_MPS * distance_m
    return Stop(begin_s, took_s, ft(distance_m), ft(sampling_m), ft(speed_m))


def best(found: list[Stop]) -> Stop | None:
    """The stop that shows most: the shortest for sure, for a brake must be *capable* of it."""
    return min(found, key=lambda one: one.distance_ft + one.error_ft, default=None)


def indicator_error(trace: Trace, note: Note) -> Reading:
    """The error of a speed indicator in per cent, by what a person read off at a steady speed."""
    steady = [one for one in trace.samples if note.at_s - STEADY_S <= one.at_s <= note.at_s]
    if len(steady) < 2 or steady[-1].at_s - steady[0].at_s < STEADY_S / 2.0:
        return Reading(why_not=f"no GPS speed over the {STEADY_S:g} s before it")
    speeds = [mph(one.speed_mps) for one in steady]
    spread = max(speeds) - min(speeds)
    true_mph = sum(speeds) / len(speeds)
    if spread > SPREAD_MPH:
        return Reading(
            at=true_mph, why_not=f"the speed was not steady: {spread:.1f} mph in {STEADY_S:g} s"
        )
    low, high = INDICATED_MPH
    error_mph = max(mph(one.error_mps) for one in steady) + spread / 2.0 + READ_OFF_MPH
    if not low - error_mph <= true_mph <= high + error_mph:
        return Reading(at=true_mph, why_not=f"{true_mph:.1f} mph: must be 40 to 65 mph")
    off = (note.figure - true_mph) / true_mph * 100.0
    return Reading(off, error_mph / true_mph * 100.0, true_mph)


def odometer_error(trace: Trace) -> Reading:
    """The error of an odometer in per cent, by the first and the last figure that was read off."""
    notes = [one for one in trace.notes if one.word == "odometer"]
    if len(notes) < 2:
        return Reading(why_not="two odometer readings were expected")
    first, last = notes[0], notes[-1]
    way = [one for one in trace.samples if first.at_s <= one.at_s <= last.at_s]
    distance_m = error_m = 0.0
    ends = [first.at_s, *(one.at_s for one in way), last.at_s]
    if any(after - before > GAP_S for before, after in pairwise(ends)):
        return Reading(why_not="the GPS speed has gaps between the two readings")
    for before, after in pairwise(way):
        step_s = after.at_s - before.at_s
        distance_m += (before.speed_mps + after.speed_mps) / 2.0 * step_s
        is_at_rest = before.speed_mps < REST_MPS and after.speed_mps < REST_MPS
        error_m += 0.0 if is_at_rest else max(before.error_mps, after.error_mps) * step_s
    edges_s = way[0].at_s - first.at_s + last.at_s - way[-1].at_s if way else 0.0
    error_m += edges_s * max((one.speed_mps for one in way), default=0.0)
    if distance_m < METRES_PER_MILE / 2.0:
        return Reading(
            why_not=f"{distance_m / METRES_PER_MILE:.2f} miles: too short, ride 5 or more"
        )
    decimals = min(len(one.text.partition(".")[2]) for one in (first, last))
    miles = distance_m / METRES_PER_MILE
    shown = last.figure - first.figure
    error = (error_m / METRES_PER_MILE + 10.0**-decimals) / miles * 100.0
    return Reading((shown - miles) / miles * 100.0, error, miles)


def lamp_lux(trace: Trace) -> Reading:
    """The greatest light at the head lamp's sensor that lasted 2 s."""
    most: Reading | None = None
    for at, (begin_s, _) in enumerate(trace.lamps):
        window = [light for at_s, light in trace.lamps[at:] if at_s <= begin_s + LAMP_S]
        if trace.lamps[-1][0] < begin_s + LAMP_S:
            break
        least = min(window, key=lambda one: one.lux)
        if most is None or least.lux > most.value:
            most = Reading(least.lux, least.error_lux)
    return most or Reading(why_not=f"no light at the head lamp's sensor over {LAMP_S:g} s")
