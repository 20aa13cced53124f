"""The TCS34725 colour sensor: lux and the share of red.

Tables and pages are those of the TCS3472 data sheet TAOS135 (August 2012).
Its maker's lux formula is made for white light and reads a red lamp 2.5 times too dark. Here the
three weights are solved from the data sheet's own optical table, so that its three test lights
(465, 525 and 615 nm) read the lux that the eye's curve gives them.
"""

from __future__ import annotations

from firmware.buses.i2c import Chip, Field, I2cBus, Register
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Light, Missing, Reading, Why
from firmware.sources.base import FrozenCounts

COMMAND = 0xA0  # the command bit, and the address steps on by itself (table 4)
ENABLE = Register("ENABLE", COMMAND | 0x00)
POWER_ON = Field("PON", ENABLE, 0)
MEASURE = Field("AEN", ENABLE, 1)
ATIME = Register("ATIME", COMMAND | 0x01)
CONTROL = Register("CONTROL", COMMAND | 0x0F)
GAIN = Field("AGAIN", CONTROL, 0, 2)
ID = Register("ID", COMMAND | 0x12)
STATUS = Register("STATUS", COMMAND | 0x13)
VALID = Field("AVALID", STATUS, 0)
CLEAR = Register("CDATA", COMMAND | 0x14, 2)

IDS = (0x44, 0x4D)  # TCS34721 and 25, TCS34723 and 27 (table 12)
CYCLES = 64  # of 2.4 ms: 154 ms, longer than any lamp's PWM period
FULL = min(0xFFFF, 1024 * CYCLES)
RUNNING = POWER_ON.put(MEASURE.put(0, 1), 1)

# Lux for each count at gain 16 and 24 ms: the inverse of the optical table, p. 4 (clear 13.8, 16.6
# and 19.5 counts for 1 uW/cm2; red 7.5, 14.5, 95 %, green 26, 72.5, 7 %, blue 76.5, 27.5, 14.5 % of
# clear) applied to 683 lm/W times the eye's V of 0.0739, 0.7932 and 0.4412.
LUX_RED, LUX_GREEN, LUX_BLUE = 0.14736, 0.46841, -0.12583
SCALE = 16 * 24.0 / (CYCLES * 2.4)  # from gain 16 and 24 ms to gain 1 and these cycles
BRIGHT, DIM = 0, 2  # the words of AGAIN for a gain of 1 and of 16 (table 11)
GAINS = {BRIGHT: 1, DIM: 16}
DIM_COUNTS = FULL // 40  # below it at gain 1, gain 16 is used: well below its own full scale
ACCURACY = 0.36  # p. 4: 20 % of the clear counts and 16 % of the red share, at worst together
NOISE_COUNTS = 2
LEAST_COUNTS = 30  # below it the share of red is noise


class Tcs34725:
    """A TCS34725, 0.03 to about 25,000 lux, read four times a second at a gain of 1 or 16.

    What is not a number: a count at its full scale of 1024 for each cycle (saturated), another
    chip's ID, settings that are not ours (the chip lost its supply: it is set up again), a
    conversion that has not ended, and counts that stand still while AVALID stays set although the
    measurement was begun anew (frozen). `red_share` is absent in light too weak to tell. The error
    is that of the sheet's three test lights; a deeper red than 615 nm reads too bright, so a lamp
    is best judged by its own calibrated level. At 615 nm the share of red is 0.82, from 0.68 to
    0.96 by the limits of the table (p. 4). The sheet has no white light: a third for white is our
    model's, and that of a halogen or a white LED lamp was not verified.
    """

    ADDRESSES = (0x29,)
    period_s = 0.25
    fresh_s = 1.75  # seven reads: one that fails says nothing, and a dead chip is seen within 2 s

    def __init__(self, bus: I2cBus, address: int, channel: Channel, clock: Clock) -> None:
        self.channel = channel
        self.chip = Chip(bus, address, f"{channel} (tcs34725)", self.ADDRESSES)
        self.source = f"tcs34725@{bus.name}:0x{address:02x}"
        self._is_set_up = False
        self._gain = BRIGHT
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
        if not self._is_set_up:
            found = self.chip.get(ID)
            if found in IDS:
                self._set_up(BRIGHT)
                return Missing(Why.STARTING, "the first conversion has not ended")
            return _foreign(found)
        enable, cycles = self.chip.read(ENABLE.address, 2)
        control, _, _, found, status, *octets = self.chip.read(CONTROL.address, 13)
        if found not in IDS:
            self._is_set_up = False
            return _foreign(found)
        if (enable, cycles, GAIN.of(control)) != (RUNNING, 256 - CYCLES, self._gain):
            self._set_up(self._gain)
            return Missing(Why.NOT_TRUSTED, "had lost its settings, and was set up again")
        if not VALID.of(status):
            return Missing(Why.STARTING, "the first conversion has not ended")
        counts = tuple(CLEAR.decode(bytes(octets[at : at + 2])) for at in range(0, 8, 2))
        if max(counts) >= FULL:
            if self._gain != BRIGHT:
                self._set_up(BRIGHT)
            return Missing(Why.SATURATED, f"a count of {FULL}: too much light")
        if self._frozen.has_frozen(counts):
            return Missing(Why.NOT_TRUSTED, "its counts stand still, even when begun anew")
        gain = self._gain
        if gain == BRIGHT and max(counts) < DIM_COUNTS:
            self._set_up(DIM)
        _, red, green, blue = counts
        return _light(red, green, blue, GAINS[gain])

    def _set_up(self, gain: int) -> None:
        self._is_set_up = False
        self._gain = gain
        self.chip.set(ENABLE, 0)  # what was measured at another gain must not be read as new
        self.chip.set(ATIME, 256 - CYCLES)
        self.chip.set(CONTROL, GAIN.put(0, gain))
        self.chip.set(ENABLE, RUNNING)
        self._is_set_up = True


def _foreign(found: int) -> Missing:
    return Missing(Why.NOT_TRUSTED, f"answers with ID 0x{found:02X}, not as a TCS34725")


def _light(red: int, green: int, blue: int, gain: int) -> Light:
    scale = SCALE / gain
    lux = max(0.0, LUX_RED * red + LUX_GREEN * green + LUX_BLUE * blue) * scale
    noise_lux = NOISE_COUNTS * (LUX_RED + LUX_GREEN - LUX_BLUE) * scale
    seen = red + green + blue
    return Light(lux, ACCURACY * lux + noise_lux, red / seen if seen >= LEAST_COUNTS else None)
