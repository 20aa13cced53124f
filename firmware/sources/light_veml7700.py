"""The VEML7700 light sensor: lux in three ranges (Vishay data sheet 84286, application note 84323).

The lux of a count and the ID are those of revision 1.8 (2024) of the sheet. Revision 1.4 (2019) has
0.0036 lux, 14 % less, and knows no ID register: what chips of before then answer there was not
verified. One that answers as where there is no register is known by what it does, since others of
the maker live at this address: it must keep its settings to the bit, and count light in two ranges
as their gains and times say. Until it has, it has no light to tell; its error then covers both
sheets. The chip has no flag that says that an integration has ended, so each range is read only
once its first integration must be over.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.buses.i2c import Chip, Field, I2cBus, Register
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Light, Missing, Reading, Why
from firmware.sources.base import STILL_READS

CONFIG = Register("ALS_CONF", 0x00, 2)
GAIN = Field("ALS_GAIN", CONFIG, 11, 2)
TIME = Field("ALS_IT", CONFIG, 6, 4)
SHUT_DOWN = Field("ALS_SD", CONFIG, 0)
LIGHT = Register("ALS", 0x04, 2)
ID = Register("ID", 0x07, 2)

CODE = 0x81
NO_REGISTER = (0x0000, 0xFFFF)
"""What a chip answers where it has no register."""
FULL = 0xFFFF
LUX_PER_COUNT = 0.0042  # at gain 2 and 800 ms
MOST_LUX = 120_000.0  # p. 1; beyond it the polynomial grows without measure
POWER_ON_S = 0.0025  # before the first integration begins
SLACK = 1.1  # the chip's own oscillator
ACCURACY = 0.10
UNNAMED_ACCURACY = 0.25  # 0.0036 instead of 0.0042, and 10 % of it
AGREEMENT = 0.25  # of two ranges on one light: the bend is 8 % at the most, and light flickers
DARK_COUNTS = 3
STILL_COUNTS = 64  # fewer may well be equal in another range too


@dataclass(frozen=True, slots=True)
class Range:
    """A gain and an integration time, and from which counts on another range is better.

    100 ms hold ten periods of the slowest PWM of a lamp (100 Hz), 25 ms still two.
    """

    gain_code: int
    gain: float
    time_code: int
    time_s: float
    dimmer_below: int
    brighter_above: int
    is_bent: bool

    @property
    def config(self) -> int:
        """The value of ALS_CONF: running, no interrupt."""
        return GAIN.put(TIME.put(0, self.time_code), self.gain_code)

    @property
    def lux_per_count(self) -> float:
        return LUX_PER_COUNT * (2.0 / self.gain) * (0.8 / self.time_s)


RANGES = (
    Range(1, 2.0, 0x0, 0.100, 0, 30_000, False),  # to 1,000 lux in steps of 0.034
    Range(2, 0.125, 0x0, 0.100, 1_500, 50_000, True),  # to full sun, in steps of 0.54
    Range(2, 0.125, 0xC, 0.025, 10_000, FULL, True),  # beyond it, for a chip that counts more
)


def straightened(lux: float) -> float:
    """The light of what a gain of 1/8 shows: the chip falls short of strong light.

    The polynomial is that of the application note (of 2019: p. 10 and 21), for all light at this
    gain.
    """
    return (((6.0135e-13 * lux - 9.3924e-9) * lux + 8.1488e-5) * lux + 1.0023) * lux


class Veml7700:
    """A VEML7700, 0.03 to 120,000 lux, read four times a second; it changes range by itself.

    What is not a number: a full count, another chip's ID, no ID and nothing yet that a VEML7700
    alone would do, settings that are not ours (it lost its
    supply, and is shut down: it is set up again), an integration that has not ended, what a range
    before the last change has left, and a count that is the same in another range (frozen).
    """

    ADDRESSES = (0x10,)
    period_s = 0.25
    fresh_s = 1.75  # seven reads: one that fails says nothing, and a dead chip is seen within 2 s

    def __init__(self, bus: I2cBus, address: int, channel: Channel, clock: Clock) -> None:
        self.channel = channel
        self.chip = Chip(bus, address, f"{channel} (veml7700)", self.ADDRESSES)
        self.source = f"veml7700@{bus.name}:0x{address:02x}"
        self._clock = clock
        self._ready_s: float | None = None
        self._range = 1
        self._count = 0
        self._still = 0
        self._asked: int | None = None  # the count that another range must not show
        self._has_id = False
        self._is_proven = False
        self._tried: tuple[int, Range] | None = None  # a count, to be held against the next range's

    def read(self, at_s: float) -> Reading:
        """The light now, or why there is none; sets the chip up first when it has to."""
        try:
            value = self._measure(at_s)
        except BusError as error:
            self._ready_s = None
            value = Missing(Why.NO_ANSWER, str(error))
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)

    def _measure(self, at_s: float) -> Light | Missing:
        found = self.chip.get(ID)
        self._has_id = self._has_id or found & 0xFF == CODE
        if found & 0xFF != CODE and (self._has_id or found not in NO_REGISTER):
            self._ready_s = None
            return Missing(
                Why.NOT_TRUSTED, f"answers with ID 0x{found & 0xFF:02X}, not as a VEML7700"
            )
        if self._ready_s is None:
            self._set_up(1)
        elif self.chip.get(CONFIG) != RANGES[self._range].config:
            self._set_up(self._range)
            return Missing(Why.NOT_TRUSTED, "had lost its settings, and was set up again")
        if self._ready_s is None or at_s < self._ready_s:
            return Missing(Why.STARTING, "the first integration has not ended")
        count = self.chip.get(LIGHT)
        if not self._has_id and not self._is_proven:
            return self._prove(count)
        if self._has_frozen(count):
            return Missing(Why.NOT_TRUSTED, f"its count stands still at {count} in every range")
        return self._light(count)

    def _light(self, count: int) -> Light | Missing:
        """The count in lux, and the range that the next one is better measured in."""
        now = RANGES[self._range]
        if count >= now.brighter_above and self._range + 1 < len(RANGES):
            self._set_up(self._range + 1)
        elif count < now.dimmer_below and self._range > 0:
            self._set_up(self._range - 1)
        elif self._still >= STILL_READS and count >= STILL_COUNTS:
            self._asked = count
            self._set_up(self._range - 1 if self._range == len(RANGES) - 1 else self._range + 1)
        if count == FULL:
            return Missing(Why.SATURATED, f"a count of {FULL}: too much light")
        lux, error_lux = count * now.lux_per_count, DARK_COUNTS * now.lux_per_count
        lux = straightened(lux) if now.is_bent else lux
        if lux > MOST_LUX:
            return Missing(Why.SATURATED, f"a count of {count}: too much light")
        accuracy = ACCURACY if self._has_id else UNNAMED_ACCURACY
        return Light(lux, accuracy * lux + error_lux)

    def _prove(self, count: int) -> Light | Missing:
        """A step of finding out whether a chip without an ID counts as a VEML7700 does."""
        now, tried, self._tried = RANGES[self._range], self._tried, None
        if tried is not None:
            due = tried[0] * tried[1].lux_per_count / now.lux_per_count
            if abs(count - due) <= AGREEMENT * due:
                self._is_proven = True
                return self._light(count)
            self._set_up(1)  # from anew: the light may have changed just then
            return Missing(
                Why.NOT_TRUSTED, f"has no ID, and counts {count}, where a VEML7700 has {due:.0f}"
            )
        place = self._place_to_compare(count)
        if place is not None:
            self._tried = count, now
        elif count >= 0.9 * FULL:
            place = min(self._range + 1, len(RANGES) - 1)
        elif count < STILL_COUNTS:
            place = max(self._range - 1, 0)
        if place is not None and place != self._range:
            self._set_up(place)
        return Missing(Why.NOT_TRUSTED, "has no ID: it must count light as a VEML7700 does first")

    def _place_to_compare(self, count: int) -> int | None:
        """The range that shows the light of this count well too; None where none does."""
        for place in (self._range - 1, self._range + 1):
            if count >= STILL_COUNTS and 0 <= place < len(RANGES):
                due = count * RANGES[self._range].lux_per_count / RANGES[place].lux_per_count
                if STILL_COUNTS <= due < 0.9 * FULL:
                    return place
        return None

    def _has_frozen(self, count: int) -> bool:
        """Whether the count is the one that another range showed before."""
        asked, self._asked = self._asked, None
        self._still = self._still + 1 if count == self._count else 1
        self._count = count
        if asked is None:
            return False
        if count != asked:
            self._still = 0
            return False
        self._asked = asked
        self._set_up((self._range + 1) % len(RANGES))
        return True

    def _set_up(self, place: int) -> None:
        self._ready_s = None
        self._range = place
        now = RANGES[place]
        self.chip.set(CONFIG, SHUT_DOWN.put(now.config, 1))  # changed at rest
        self.chip.set(CONFIG, now.config)
        self._ready_s = self._clock.mono_s() + POWER_ON_S + now.time_s * SLACK
