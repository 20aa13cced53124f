"""The last seconds of a ride: what a speed is derived from, and what rest is told by.

A receiver that stands still says places that wander and speeds that jitter: a moored one was heard
at 3.4 knots while its places moved 7.7 m in 5 s. What tells it from a ride at walking pace is that
its places do not go where its speeds and courses say.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from firmware.gps.epochs import M_PER_DEG, distance_m
from firmware.units import mps

KEPT_S = 12.0

LEAST_MPS = mps(1.0)
"""Slower is no motion to any rule."""

AGREEING_MPS = 0.8
"""A start at 2 mph, 0.89 m/s, is faster than this; what a moored receiver's places and speeds were
seen to agree on by chance is slower."""

_NO_COURSE_MPS = 0.1
"""A receiver may leave out the course of what does not move; below this it is none."""


class _Place(NamedTuple):
    """A place with its velocity, and how far velocities had led since the beginning of the path.

    `unsaid_s` counts the seconds for which they were not said.
    """

    at_s: float
    lat_deg: float
    lon_deg: float
    is_said: bool
    speed_mps: float
    east_mps: float
    north_mps: float
    east_m: float
    north_m: float
    said_m: float
    unsaid_s: float


@dataclass(frozen=True, slots=True)
class Way:
    """How a place came from an older one: the net distance, over how long, how far the speeds said
    that it is, and by how much it missed where speeds and courses led; absent where not said."""

    net_m: float
    over_s: float
    said_m: float
    miss_m: float | None


class Path:
    """The places of the last 12 s, newest last."""

    def __init__(self) -> None:
        self._places: deque[_Place] = deque(maxlen=400)

    def clear(self) -> None:
        """Forgets all: what follows begins anew."""
        self._places.clear()

    def add(
        self,
        at_s: float,
        lat_deg: float,
        lon_deg: float,
        speed_mps: float | None = None,
        track_deg: float | None = None,
    ) -> None:
        """Adds a place, in the stead of those that are not older; absent is what was not said."""
        places = self._places
        while places and places[-1].at_s >= at_s:
            places.pop()
        speed = speed_mps or 0.0
        is_said = speed_mps is not None and (track_deg is not None or speed <= _NO_COURSE_MPS)
        course = math.radians(track_deg or 0.0)
        east_mps, north_mps = speed * math.sin(course), speed * math.cos(course)
        east_m = north_m = said_m = unsaid_s = 0.0
        if places:
            last = places[-1]
            half_s = (at_s - last.at_s) / 2.0
            east_m = last.east_m + (last.east_mps + east_mps) * half_s
            north_m = last.north_m + (last.north_mps + north_mps) * half_s
            said_m = last.said_m + (last.speed_mps + speed) * half_s
            is_unsaid = not (is_said and last.is_said)
            unsaid_s = last.unsaid_s + 2.0 * half_s if is_unsaid else last.unsaid_s
        velocity = (speed, east_mps, north_mps)
        led = (east_m, north_m, said_m, unsaid_s)
        places.append(_Place(at_s, lat_deg, lon_deg, is_said, *velocity, *led))
        while places[0].at_s < at_s - KEPT_S:
            places.popleft()

    def moved(
        self, at_s: float, lat_deg: float, lon_deg: float, over_s: float
    ) -> tuple[float, float] | None:
        """Metres of net displacement and seconds since the newest place that is so old."""
        for then in reversed(self._places):
            if at_s - then.at_s >= over_s - 1e-6:
                away_m = distance_m(then.lat_deg, then.lon_deg, lat_deg, lon_deg)
                return away_m, at_s - then.at_s
        return None

    def way(self, over_s: float) -> Way | None:
        """The way to the newest place from the newest that is so old, else from the oldest; none
        where there is but one."""
        if len(self._places) < 2:
            return None
        last = self._places[-1]
        then = next(
            (one for one in reversed(self._places) if last.at_s - one.at_s >= over_s - 1e-6),
            self._places[0],
        )
        net_m = distance_m(then.lat_deg, then.lon_deg, last.lat_deg, last.lon_deg)
        miss_m = None
        if last.unsaid_s == then.unsaid_s:
            lon_deg = (last.lon_deg - then.lon_deg + 180.0) % 360.0 - 180.0
            east_m = lon_deg * math.cos(math.radians(last.lat_deg)) * M_PER_DEG
            north_m = (last.lat_deg - then.lat_deg) * M_PER_DEG
            led_m = (last.east_m - then.east_m, last.north_m - then.north_m)
            miss_m = math.hypot(east_m - led_m[0], north_m - led_m[1])
        return Way(net_m, last.at_s - then.at_s, last.said_m - then.said_m, miss_m)


class Bounds(Protocol):
    """The figures that decide, as `FixSettings` has them."""

    @property
    def standstill_s(self) -> float: ...
    @property
    def standstill_m(self) -> float: ...
    @property
    def standstill_speed_mps(self) -> float: ...
    @property
    def miss_share(self) -> float: ...


class Rest:
    """Whether the receiver stands still, told by its path.

    Faster than any jitter is motion, and on the average slower than a mile an hour is rest. Between
    them it takes a net displacement over some seconds that went where speeds and courses led, or
    one of twice what jitter does. Motion goes on until the displacement is that of jitter, and
    agrees no more. One place alone tells nothing: it is as the receiver says.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._is_resting = True

    def judge(self, path: Path, speed_mps: float, *, is_derived: bool) -> bool:
        """Whether it rests at the newest place of the path, where it said this speed."""
        bounds = self._bounds
        if is_derived:
            way = path.way(bounds.standstill_s)
            self._is_resting = way is not None and way.net_m < self._jitter_m(way)
        elif speed_mps >= bounds.standstill_speed_mps:
            self._is_resting = False
        else:
            way = path.way(bounds.standstill_s)
            if way is None:
                return False
            self._is_resting = self._rests(way)
        return self._is_resting

    def _rests(self, way: Way) -> bool:
        if way.said_m < LEAST_MPS * way.over_s:
            return True
        bounds, jitter_m = self._bounds, self._jitter_m(way)
        if way.miss_m is None:  # no course is said: the distances alone must agree
            agrees = way.net_m >= jitter_m and way.said_m >= (1.0 - bounds.miss_share) * way.net_m
        else:
            least_mps = AGREEING_MPS if self._is_resting else LEAST_MPS
            is_far = way.net_m >= least_mps * way.over_s
            agrees = is_far and way.miss_m <= bounds.miss_share * way.net_m
        if agrees or way.net_m >= 2.0 * jitter_m:
            return False
        return self._is_resting or way.net_m < jitter_m

    def _jitter_m(self, way: Way) -> float:
        return self._bounds.standstill_m * max(1.0, way.over_s / self._bounds.standstill_s)
