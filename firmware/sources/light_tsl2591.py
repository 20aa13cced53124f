"""The TSL2591 light sensor: lux from a broad and an infrared diode (ams data sheet v2-04).

The figures are its; on which page of which revision each of them stands was not verified.
"""

from __future__ import annotations

from firmware.buses.i2c import Chip, Field, I2cBus, Register
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Light, Missing, Reading, Why
from firmware.sources.base import FrozenCounts

COMMAND = 0xA0  # the command bit and a normal transaction; the address steps on
ENABLE = Register("ENABLE", COMMAND | 0x00)
POWER_ON = Field("PON", ENABLE, 0)
MEASURE = Field("AEN", ENABLE, 1)
CONTROL = Register("CONTROL", COMMAND | 0x01)
GAIN = Field("AGAIN", CONTROL, 4, 2)
TIME = Field("ATIME", CONTROL, 0, 3)
ID = Register("ID", COMMAND | 0x12)
STATUS = Register("STATUS", COMMAND | 0x13)
VALID = Field("AVALID", STATUS, 0)
COUNT = Register("C0DATA", COMMAND | 0x14, 2)

CHIP_ID = 0x50
OTHERS = {0x44: "a TCS34725", 0x4D: "a TCS34727"}  # what else has this address, and this register
RUNNING = POWER_ON.put(MEASURE.put(0, 1), 1)
TIME_MS = 100.0  # ATIME 0; ten periods of the slowest PWM of a lamp
FULL = 36_863  # at 100 ms; 65,535 at the longer ones
GAINS = (1.0, 25.0, 428.0)  # typical, AGAIN 0 to 2; a gain of 9876 is for starlight
MS_GAIN_PER_LUX = 408.0  # for one count of the broad diode less the infrared: white light
DIM_COUNTS = 700  # below it the next gain is used: still below full scale at 25 times as much
ACCURACY = 0.40  # the sheet promises no lux: the two diodes and their glass vary so much
NOISE_COUNTS = 3
LEAST_COUNTS = 100  # below it the diodes' noise can hide which of them sees more


class Tsl2591:
    """A TSL2591, 0.02 to about 84,000 lux, read four times a second at a gain of 1, 25 or 428.

    Its sheet gives no formula; this is the usual one for white light, never below 0. What is not a
    number: a count at full scale, another chip's ID, settings that are not ours (it lost its
    supply: it is set up again), a conversion that has not ended, an infrared diode that sees more
    than the broad one in good light, and counts that stand still while AVALID stays set although
    the measurement was begun anew (frozen). It has the address of a TCS34725 and no way to another:
    the two can't be on one bus.
    """

    ADDRESSES = (0x29,)
    period_s = 0.25
    fresh_s = 1.75  # seven reads: one that fails says nothing, and a dead chip is seen within 2 s

    def __init__(self, bus: I2cBus, address: int, channel: Channel, clock: Clock) -> None:
        self.channel = channel
        self.chip = Chip(bus, address, f"{channel} (tsl2591)", self.ADDRESSES)
        self.source = f"tsl2591@{bus.name}:0x{address:02x}"
        self._is_set_up = False
        self._gain = 0
        self._frozen = FrozenCounts(
            lambda: self._set_up(self._gain), lambda: bool(self.chip.get(VALID))
        )

    def read(self, at_s: float) -> Reading:
        """The light now, or why there is none; sets the chip up first when it has to."""
        try:
            value = self._measure()
        except BusError as error:
            self._is_set_up = False
            value = Missing(Why.NO_ANSWER, str(error))
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)

    def _measure(self) -> Light | Missing:
        found = self.chip.get(ID)
        if found != CHIP_ID:
            self._is_set_up = False
            named = OTHERS.get(found, "")
            what = f", and so is {named}" if named else ", not as a TSL2591"
            return Missing(Why.NOT_TRUSTED, f"answers with ID 0x{found:02X}{what}")
        if not self._is_set_up:
            self._set_up(0)
            return Missing(Why.STARTING, "the first conversion has not ended")
        enable, control = self.chip.read(ENABLE.address, 2)
        if (enable, control) != (RUNNING, GAIN.put(0, self._gain)):
            self._set_up(self._gain)
            return Missing(Why.NOT_TRUSTED, "had lost its settings, and was set up again")
        status, *octets = self.chip.read(STATUS.address, 5)
        if not VALID.of(status):
            return Missing(Why.STARTING, "the first conversion has not ended")
        counts = (COUNT.decode(bytes(octets[:2])), COUNT.decode(bytes(octets[2:])))
        if max(counts) >= FULL:
            if self._gain > 0:
                self._set_up(self._gain - 1)
            return Missing(Why.SATURATED, f"a count of {FULL} or more: too much light")
        if self._frozen.has_frozen(counts):
            return Missing(Why.NOT_TRUSTED, "its counts stand still, even when begun anew")
        gain = GAINS[self._gain]
        if max(counts) < DIM_COUNTS and self._gain + 1 < len(GAINS):
            self._set_up(self._gain + 1)
        return light_of(*counts, gain)

    def _set_up(self, gain: int) -> None:
        self._is_set_up = False
        self._gain = gain
        self.chip.set(ENABLE, 0)  # what was measured at another gain must not be read as new
        self.chip.set(CONTROL, GAIN.put(TIME.put(0, 0), gain))
        self.chip.set(ENABLE, RUNNING)
        self._is_set_up = True


def light_of(broad: int, infrared: int, gain: float) -> Light | Missing:
    """The lux of the two diodes' counts at 100 ms; darkness is 0 and never less."""
    lux_per_count = MS_GAIN_PER_LUX / (TIME_MS * gain)
    if infrared >= broad:
        if infrared >= LEAST_COUNTS:
            return Missing(Why.NOT_TRUSTED, f"sees more infrared ({infrared}) than all ({broad})")
        return Light(0.0, NOISE_COUNTS * lux_per_count)
    lux = (broad - infrared) * (1.0 - infrared / broad) * lux_per_count
    return Light(lux, ACCURACY * lux + NOISE_COUNTS * lux_per_count)
