"""What no sled does: a change of speed, course or place that is held back until it is confirmed.

A receiver that sees the sky through trees or off a rock gives, for an epoch or two, a speed and a
course that fit each other and nothing before or after. It is told by the acceleration that it
would have taken, from the sentences' own times.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple, Protocol

from firmware.gps.epochs import distance_m
from firmware.units import mps

REOPENS_S = 3.0
AGREEING = 3
AGREEING_S = 1.0
SPEED_NOISE_MPS = 1.0
VELOCITY_NOISE_MPS = 1.5
COURSE_SPEED_MPS = 5.0
"""Below it the course of a receiver is noise, or is held where it was."""


class Bounds(Protocol):
    """The figures that decide, as `FixSettings` has them."""

    @property
    def max_accel_mps2(self) -> float: ...
    @property
    def max_turn_mps2(self) -> float: ...
    @property
    def max_speed_mps(self) -> float: ...
    @property
    def derived_speed_error_mph(self) -> float: ...


class Motion(NamedTuple):
    """One epoch as the gate sees it: its instant is on the tracker's own timeline.

    `track_deg` is absent where the receiver said none; `derived` marks a speed from places.
    """

    now_s: float
    speed_mps: float
    track_deg: float | None
    lat_deg: float
    lon_deg: float
    error_m: float
    derived: bool


class Passage(Enum):
    """What becomes of an epoch: given, held back, or given because it was confirmed."""

    GIVEN = "given"
    HELD = "held"
    CONFIRMED = "confirmed"


_GIVEN = Passage.GIVEN
"""A name of our own, because Python 3.11 takes twenty times as long to find a member of an enum."""


class OutlierGate:
    """Holds back what a sled can't have done since the last epoch that passed.

    It opens by itself: when three epochs held back agree with each other over a second, or 3 s
    after the last good one.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._last: Motion | None = None
        self._held: list[Motion] = []

    @property
    def is_holding(self) -> bool:
        """Whether the newest epoch was held back."""
        return bool(self._held)

    def forget(self) -> None:
        """What follows is measured against nothing: the receiver began anew."""
        self._last, self._held = None, []

    def judge(self, motion: Motion) -> Passage:
        """Whether this epoch may reach a rule."""
        if motion.speed_mps > self._bounds.max_speed_mps:
            return Passage.HELD
        last = self._last
        if last is None or self._can_follow(last, motion):
            self._last = motion
            if self._held:
                self._held = []
            return _GIVEN
        held = self._held
        if held and not self._can_follow(held[-1], motion):
            held.clear()
        if not held or motion.now_s > held[-1].now_s:
            held.append(motion)
        agree = len(held) >= AGREEING and motion.now_s - held[0].now_s >= AGREEING_S
        if agree or motion.now_s - last.now_s >= REOPENS_S:
            self._last, self._held = motion, []
            return Passage.CONFIRMED
        return Passage.HELD

    def _can_follow(self, last: Motion, motion: Motion) -> bool:
        bounds = self._bounds
        gap_s = motion.now_s - last.now_s
        slack_mps = SPEED_NOISE_MPS
        if last.derived or motion.derived:
            slack_mps += 2.0 * mps(bounds.derived_speed_error_mph)
        change_mps = abs(motion.speed_mps - last.speed_mps)
        # What was derived from places is no evidence against what the receiver measured.
        is_evidence = motion.derived or not last.derived
        if is_evidence and change_mps > bounds.max_accel_mps2 * gap_s + slack_mps:
            return False
        if not self._can_turn(last, motion, gap_s):
            return False
        reach_m = (max(last.speed_mps, motion.speed_mps) + slack_mps) * gap_s
        reach_m += bounds.max_accel_mps2 * gap_s * gap_s / 2.0
        reach_m += 20.0 + 3.0 * (last.error_m + motion.error_m)
        return reach_m >= distance_m(last.lat_deg, last.lon_deg, motion.lat_deg, motion.lon_deg)

    def _can_turn(self, last: Motion, motion: Motion, gap_s: float) -> bool:
        """Whether the change of velocity, speed and course together, is one of a sled.

        The square of that change is the square of the change of speed and that of
        2 sqrt(v1 v2) sin(turn / 2). Each takes its share of the grip, and the shares are added.
        """
        if last.derived or motion.derived or last.track_deg is None or motion.track_deg is None:
            return True
        if min(last.speed_mps, motion.speed_mps) < COURSE_SPEED_MPS:
            return True
        half_turn = math.radians(motion.track_deg - last.track_deg) / 2.0
        turn_mps = 2.0 * math.sqrt(last.speed_mps * motion.speed_mps) * abs(math.sin(half_turn))
        change_mps = abs(motion.speed_mps - last.speed_mps)
        whole_mps = math.hypot(turn_mps, change_mps)
        if whole_mps <= VELOCITY_NOISE_MPS:
            return True
        sure = 1.0 - VELOCITY_NOISE_MPS / whole_mps
        bounds = self._bounds
        share_mps = change_mps / bounds.max_accel_mps2 + turn_mps / bounds.max_turn_mps2
        return sure * share_mps <= gap_s
