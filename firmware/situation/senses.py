"""The last word of each channel: what it said, when, and until when that may be judged."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Missing,
    Supply,
    Surroundings,
    Tether,
    Value,
    Why,
)
from firmware.rules.base import MOVING_MPH
from firmware.units import mph

SUN_LUX = 120_000.0
"""Full sun on snow; what claims to be brighter is an overflow."""

SHOWN = frozenset(
    {
        Channel.LIGHT_HEAD,
        Channel.LIGHT_TAIL,
        Channel.SUPPLY_HEAD,
        Channel.SUPPLY_TAIL,
        Channel.TETHER,
        Channel.ENGINE,
    }
)
"""What a snapshot shows beside the fix: gathered when one of them changes, not at each fix."""

_FIX = Channel.FIX
"""A name of our own, because Python 3.11 takes twenty times as long to find a member of an enum."""

Shown = tuple[
    Light | Missing,
    Light | Missing,
    Supply | Missing,
    Supply | Missing,
    float,
    float,
    Tether | Missing,
    Engine | Missing,
]
"""Of a `Snapshot`, from `head` to `engine`, in its order."""


@dataclass(slots=True)
class Held:
    """The last word of a channel: its value, when it was measured, and when it lapses.

    `next_word` is the Missing that takes the value's place once it has lapsed.
    """

    value: Value
    mono_s: float = 0.0
    lapses_s: float = math.inf
    next_word: Missing | None = None

    def lapsed(self) -> Held:
        """What holds once it has lapsed: why there is no newer word, or that it is stale."""
        word = self.next_word  # not `or`: a Missing has no truth
        if word is None:
            word = Missing(Why.STALE, f"last heard at {self.mono_s:.1f} s")
        return Held(word, self.mono_s)


class Senses:
    """Keeps the word that holds of each channel.

    `fix` is the one that is judged, or why there is none, `is_moving` whether it says that the sled
    moves; `shown` is what a snapshot shows of the others.
    """

    def __init__(self, fitted: Collection[Channel]) -> None:
        """`fitted` are the channels that have a source at all: the others never say anything."""
        self.held = {
            channel: Held(Missing(Why.STARTING if channel in fitted else Why.NOT_FITTED))
            for channel in Channel
        }
        self._lapsing: dict[Channel, float] = {}  # when each word lapses that ever does
        self.shown = self._gathered()
        self.fix, self.is_moving = self._of_fix()

    def put(self, channel: Channel, held: Held) -> None:
        """Puts a new word in the place of the last."""
        self.held[channel] = held
        if held.lapses_s != math.inf:
            self._lapsing[channel] = held.lapses_s
        else:
            self._lapsing.pop(channel, None)
        if channel is _FIX:
            self.fix, self.is_moving = self._of_fix()
        elif channel in SHOWN:
            self.shown = self._gathered()

    def lapses_s(self) -> float:
        """When the first of them lapses."""
        return min(self._lapsing.values(), default=math.inf)

    # readings.VALUE_TYPES: a channel has one type, or a Missing.

    @property
    def surroundings(self) -> Surroundings | Missing:
        """What lies near, or why that is not known."""
        value = self.held[Channel.SURROUNDINGS].value
        assert isinstance(value, (Surroundings, Missing))
        return value

    def light(self, channel: Channel) -> Light | Missing:
        """The light that a sensor sees, or why it sees none."""
        value = self.held[channel].value
        assert isinstance(value, (Light, Missing))
        return value

    @property
    def is_standing(self) -> bool:
        """Whether the sled surely stands: at rest by its fix, or, without one, its engine off."""
        if self.is_moving is not None:
            return not self.is_moving
        engine = self.held[Channel.ENGINE].value
        return isinstance(engine, Engine) and not engine.is_running

    def _of_fix(self) -> tuple[Fix | Missing, bool | None]:
        """The fix that is judged, or why there is none; and, as a snapshot has it, whether the sled
        moves, None without a fix."""
        fix = self.held[_FIX].value
        if isinstance(fix, Fix):
            return fix, mph(fix.speed_mps) >= MOVING_MPH
        assert isinstance(fix, Missing)
        return fix, None

    def _gathered(self) -> Shown:
        tether, engine = self.held[Channel.TETHER].value, self.held[Channel.ENGINE].value
        head_supply = self.held[Channel.SUPPLY_HEAD].value
        tail_supply = self.held[Channel.SUPPLY_TAIL].value
        assert isinstance(head_supply, (Supply, Missing))
        assert isinstance(tail_supply, (Supply, Missing))
        assert isinstance(tether, (Tether, Missing))
        assert isinstance(engine, (Engine, Missing))
        return (
            self.light(Channel.LIGHT_HEAD),
            self.light(Channel.LIGHT_TAIL),
            head_supply,
            tail_supply,
            self._seen_s(Channel.LIGHT_HEAD, Channel.SUPPLY_HEAD),
            self._seen_s(Channel.LIGHT_TAIL, Channel.SUPPLY_TAIL),
            tether,
            engine,
        )

    def _seen_s(self, *channels: Channel) -> float:
        """The older of the last words of these channels, of those that have one."""
        told = (self.held[channel] for channel in channels)
        return min((one.mono_s for one in told if type(one.value) is not Missing), default=0.0)


def believed(value: Value, channel: Channel, *, is_day: bool) -> Value:
    """The value, unless nothing in nature gives it: a figure that is no number, a chip's overflow,
    or its silence. NaN is not above any limit and would read as compliant."""
    match value:
        case Fix():
            place = value.lat_deg + value.lon_deg + value.error_m
            motion = value.speed_mps + value.error_mps + (value.track_deg or 0.0)
            if not math.isfinite(place + motion):
                return Missing(Why.NOT_TRUSTED, "a figure is no number")
        case Light(lux=lux):
            if not math.isfinite(lux + value.error_lux + (value.red_share or 0.0)):
                return Missing(Why.NOT_TRUSTED, "a figure is no number")
            if not 0.0 <= lux <= SUN_LUX:
                return Missing(Why.NOT_TRUSTED, f"{lux:.0f} lux: must be 0 to {SUN_LUX:.0f}")
            if is_day and channel is Channel.LIGHT_AMBIENT and lux == 0.0:
                return Missing(Why.NOT_TRUSTED, "exactly 0 lux while the sun is up")
        case _:
            pass
    return value
