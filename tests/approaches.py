"""Sleds towards a house at night, and past it: are they slow in time, and who is warned in vain?

The rider obeys: 1.5 s after the light they brake by 3.28 m/s2, until they read 9.5 mph. The
receiver wanders by a few metres over minutes, its speed and course are noisy, and each fix comes a
fifth of a second late. The judging core is the real one with its alerts, and 50 ms pass from an
alert to its light. `python -m tests.approaches 1000` prints the figures; the tests run a few.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from firmware import monitor
from firmware.config.reading import parse
from firmware.config.schema import Config
from firmware.law import packs as law
from firmware.maps.plane import Plane
from firmware.readings import Channel, Feature, Fix, Reading, Surroundings
from firmware.units import ft, metres, mph, mps

HOUSE = (44.05, -88.45)
PLANE = Plane(*HOUSE)
ZONE_M = metres(150.0)
NIGHT = datetime(2026, 1, 16, 5, 0, tzinfo=UTC)  # 23:00 of civil time

REACTION_S = 1.5
BRAKE_MPS2 = 3.28
LIGHT_S = 0.05
LATENCY_S = 0.2
STEP_S = 0.02
HOLD_MPH = 9.5

WEAVE_HZ = 0.4
WANDER_S = 60.0
"""So slowly the position's error changes."""

FITTED = frozenset({Channel.FIX, Channel.SURROUNDINGS})


@dataclass(frozen=True, slots=True)
class Sky:
    """What a receiver does: fixes a second, its position's wander and what it says of it, in
    metres, and the noise of its speed in metres a second."""

    rate_hz: float
    wander_m: float
    error_m: float
    noise_mps: float


@dataclass(slots=True)
class Seen:
    """What came of a ride. Speeds are the true ones in mph, absent where it never got there;
    `slack_ft` is how far before the zone's edge it had come down to 10 mph."""

    name: str
    at_edge_mph: float | None = None
    was_red: bool = False
    warned_s: float = 0.0
    warnings: int = 0
    came_within_ft: float = math.inf
    slack_ft: float | None = None


def house(chance: random.Random) -> tuple[Feature, Callable[[float, float], float]]:
    """A house about the middle of the map, and the true distance to its nearest wall."""
    half_e, half_n = chance.uniform(4.0, 8.0), chance.uniform(4.0, 8.0)
    corners = []
    for east, north in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)):
        lat, lon = PLANE.place(east * half_e, north * half_n)
        corners.append((lon, lat))

    def away_m(x: float, y: float) -> float:
        return math.hypot(max(0.0, abs(x) - half_e), max(0.0, abs(y) - half_n))

    return Feature("dwelling", "house", "", "polygon", (tuple(corners),)), away_m


def sky(chance: random.Random, rate_hz: float) -> Sky:
    """As on the open ice and under trees: HDOP 0.7 to 1.6 at the 2.5 m that the config says."""
    hdop = chance.uniform(0.7, 1.6)
    return Sky(rate_hz, hdop * chance.uniform(0.8, 1.8), 2.5 * hdop, chance.uniform(0.03, 0.12))


Path = Callable[[float], tuple[float, float, float]]
"""East, north in metres and course in degrees after so many metres of the way."""


def straight(chance: random.Random, from_m: float, aside_m: float) -> Path:
    """A straight way that begins so far before the house and passes it so far aside."""
    course = chance.uniform(0.0, math.tau)
    east, north = math.sin(course), math.cos(course)
    start = (-from_m * east - aside_m * north, -from_m * north + aside_m * east)
    return lambda s: (start[0] + s * east, start[1] + s * north, math.degrees(course) % 360.0)


def bend(chance: random.Random, radius_m: float, aside_m: float, from_m: float) -> Path:
    """A straight, a bend of a quarter to a half turn about the house's side, and a straight; at its
    nearest it is so far aside."""
    turn = chance.choice((-1.0, 1.0))
    course = chance.uniform(0.0, math.tau)
    arc = chance.uniform(math.pi / 2, math.pi)
    # In a frame where the bend's middle is nearest to the house, which lies outside of it.
    begin = course - turn * arc / 2

    def at(s: float) -> tuple[float, float, float]:
        """From the beginning of the arc, negative before it."""
        if s <= 0.0:
            return s * math.sin(begin), s * math.cos(begin), begin
        along = min(s, radius_m * arc)
        end = begin + turn * along / radius_m
        x = radius_m * turn * (math.cos(begin) - math.cos(end))
        y = radius_m * turn * (math.sin(end) - math.sin(begin))
        rest = s - along
        return x + rest * math.sin(end), y + rest * math.cos(end), end

    middle_x, middle_y, middle = at(radius_m * arc / 2)
    # Outside of the bend is to the left of a right turn.
    out_x, out_y = -turn * math.cos(middle), turn * math.sin(middle)
    home_x, home_y = middle_x + aside_m * out_x, middle_y + aside_m * out_y

    def path(s: float) -> tuple[float, float, float]:
        x, y, heading = at(s - from_m)
        return x - home_x, y - home_y, math.degrees(heading) % 360.0

    return path


class Receiver:
    """Sends a fix at its rate, each late, with an error that wanders."""

    def __init__(self, chance: random.Random, sky: Sky, weave_deg: float) -> None:
        self._chance, self._sky, self._weave_deg = chance, sky, weave_deg
        self._phase = chance.uniform(0.0, math.tau)
        self._next_s = chance.uniform(0.0, 1.0 / sky.rate_hz)
        self._off_m = [chance.gauss(0.0, sky.wander_m) for _ in "xy"]
        self._late: list[tuple[float, Reading]] = []

    def look(self, x: float, y: float, course_deg: float, speed_mps: float, at_s: float) -> None:
        """Measures where the sled is, whenever a fix is due."""
        if at_s < self._next_s:
            return
        sky, gauss = self._sky, self._chance.gauss
        self._next_s += 1.0 / sky.rate_hz
        keep = math.exp(-1.0 / sky.rate_hz / WANDER_S)
        new_m = sky.wander_m * math.sqrt(1.0 - keep * keep)
        self._off_m = [keep * one + gauss(0.0, new_m) for one in self._off_m]
        lat, lon = PLANE.place(x + self._off_m[0], y + self._off_m[1])
        off_deg = math.degrees(sky.noise_mps / max(1.0, speed_mps)) * gauss(0.0, 1.0)
        off_deg += self._weave_deg * math.sin(self._phase + math.tau * WEAVE_HZ * at_s)
        fix = Fix(
            lat,
            lon,
            sky.error_m,
            max(0.0, speed_mps + gauss(0.0, sky.noise_mps)),
            mps(0.5),
            (course_deg + off_deg) % 360.0,
            NIGHT + timedelta(seconds=at_s),
        )
        due_s = at_s + LATENCY_S
        self._late.append((due_s, Reading(Channel.FIX, fix, due_s, "simulated", 2.5)))

    def heard(self, at_s: float) -> Iterator[tuple[float, Reading]]:
        """The fixes that have come by now."""
        while self._late and self._late[0][0] <= at_s:
            yield self._late.pop(0)


def ride(
    chance: random.Random,
    name: str,
    path: Path,
    length_m: float,
    speed_mph: float,
    sky: Sky,
    *,
    obeys: bool = True,
    weave_deg: float = 0.0,
) -> Seen:
    """Rides along a path and watches what the unit says."""
    feature, away_m = house(chance)
    core, receiver = _core(feature), Receiver(chance, sky, weave_deg)
    seen, raised = Seen(name), set[str]()
    along_m, speed_mps, at_s, lit_s = 0.0, mps(speed_mph), 0.0, math.inf
    shown_mps = speed_mps
    while along_m < length_m:
        x, y, course_deg = path(along_m)
        truth_m = away_m(x, y)
        seen.came_within_ft = min(seen.came_within_ft, ft(truth_m))
        if seen.slack_ft is None and mph(speed_mps) <= 10.0:
            seen.slack_ft = ft(truth_m - ZONE_M)
        if truth_m <= ZONE_M and obeys:
            seen.at_edge_mph = mph(speed_mps)
            break
        receiver.look(x, y, course_deg, speed_mps, at_s)
        outcomes = []
        for due_s, reading in receiver.heard(at_s):
            assert isinstance(reading.value, Fix)
            shown_mps = reading.value.speed_mps
            outcomes.append(core.step(reading, due_s))
        outcomes.append(core.advance(at_s))
        _follow(outcomes, seen, raised)
        if raised & {"zone-ahead", "zone-speed"}:
            lit_s = min(lit_s, at_s + LIGHT_S)
        seen.warned_s += STEP_S * ("zone-ahead" in raised)
        if obeys and at_s >= lit_s + REACTION_S and shown_mps > mps(HOLD_MPH):
            speed_mps = max(mps(0.95 * HOLD_MPH), speed_mps - BRAKE_MPS2 * STEP_S)
        along_m += speed_mps * STEP_S
        at_s += STEP_S
    return seen


def _follow(outcomes: list[monitor.Outcome], seen: Seen, raised: set[str]) -> None:
    """Keeps which alerts stand, and counts what they were."""
    for _, alert in (one for outcome in outcomes for one in outcome.alerts):
        if alert.state == "raised":
            raised.add(alert.name)
            seen.was_red |= alert.name == "zone-speed"
            seen.warnings += alert.name == "zone-ahead"
        elif alert.state == "cleared":
            raised.discard(alert.name)


def _core(feature: Feature) -> monitor.Monitor:
    core = monitor.build(_CONFIG, [_LAW], FITTED)
    corners = []
    for east, north in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)):
        lat, lon = PLANE.place(east * 5000.0, north * 5000.0)
        corners.append((lon, lat))
    cover = Feature("coverage", "all", "", "polygon", (tuple(corners),))
    around = Surroundings(*HOUSE, 5000.0, (feature, cover))
    core.step(Reading(Channel.SURROUNDINGS, around, 0.0, "simulated"), 0.0)
    return core


_CONFIG: Config = parse('[unit]\nid = "approach"\n[clock]\nfloor = 2026-01-01', "approach")
_LAW = law.load("wi")


def approaches(count: int, seed: int) -> Iterator[Seen]:
    """Straight at the zone from 20 to 70 mph, at 1, 5 and 10 Hz, at the house or past its side."""
    chance = random.Random(seed)
    for number in range(count):
        speed_mph, rate_hz = chance.uniform(20.0, 70.0), (1.0, 5.0, 10.0)[number % 3]
        aside_m = chance.uniform(-0.8, 0.8) * ZONE_M
        reach_m = 2.2 * mps(speed_mph) ** 2 / (2 * BRAKE_MPS2) + 4.0 * mps(speed_mph)
        path = straight(chance, reach_m + 2.0 * ZONE_M, aside_m)
        name = f"{speed_mph:.0f} mph at {rate_hz:g} Hz"
        yield ride(chance, name, path, reach_m + 4.0 * ZONE_M, speed_mph, sky(chance, rate_hz))


def passages(count: int, seed: int, *, bends: bool) -> Iterator[Seen]:
    """Past the house with 200 to 400 ft to its nearest wall, straight or in a bend, weaving."""
    chance = random.Random(seed)
    for number in range(count):
        rate_hz = (1.0, 5.0, 10.0)[number % 3]
        aside_m = metres(chance.uniform(200.0, 400.0)) + 11.4  # to the wall, not to the middle
        weave_deg = chance.uniform(0.0, 2.0)
        receiver = sky(chance, rate_hz)
        if bends:
            radius_m = chance.uniform(40.0, 200.0)
            speed_mph = min(chance.uniform(20.0, 60.0), mph(math.sqrt(4.0 * radius_m)))
            path = bend(chance, radius_m, aside_m, 300.0)
            length_m = 600.0 + radius_m * math.pi
        else:
            speed_mph = chance.uniform(20.0, 70.0)
            path, length_m = straight(chance, 400.0, aside_m), 800.0
        name = f"{speed_mph:.0f} mph at {rate_hz:g} Hz"
        yield ride(
            chance, name, path, length_m, speed_mph, receiver, obeys=False, weave_deg=weave_deg
        )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    came = [one for one in approaches(count, 6) if one.at_edge_mph is not None]
    speeds = sorted(one.at_edge_mph or 0.0 for one in came)
    kept = sum(speed <= 10.0 for speed in speeds)
    print(
        f"approaches: {len(came)} of {count} reach the zone, {kept} at 10 mph or less at its edge"
    )
    print(f"  at the edge: median {speeds[len(speeds) // 2]:.2f} mph, worst {speeds[-1]:.2f} mph")
    slacks = sorted(one.slack_ft for one in came if one.slack_ft is not None)
    print(
        f"  down to 10 mph before the edge: median {slacks[len(slacks) // 2]:.0f} ft, "
        f"least {slacks[0]:.0f} ft, most {slacks[-1]:.0f} ft"
    )
    print(f"  red at any time: {sum(one.was_red for one in came)}")
    print(f"  more than one warning: {sum(one.warnings > 1 for one in came)}")
    for one in sorted(came, key=lambda one: -(one.at_edge_mph or 0.0))[:3]:
        print(f"  worst: {one.name}: {one.at_edge_mph:.2f} mph")
    for title, bends in (("straight past", False), ("in a bend past", True)):
        past = list(passages(count, 7, bends=bends))
        past = [one for one in past if one.came_within_ft > 200.0]
        false = [one for one in past if one.warnings]
        red = sum(one.was_red for one in past)
        print(
            f"{title}, 200 to 400 ft: {len(false)} of {len(past)} warned "
            f"({100.0 * len(false) / max(1, len(past)):.1f} %), {red} red; "
            f"median {sorted([one.warned_s for one in false] or [0])[len(false) // 2]:.1f} s"
        )


if __name__ == "__main__":
    main()
