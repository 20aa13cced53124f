"""The BH1750 light sensor: lux from its opcodes and its 16-bit count.

Pages are those of ROHM's technical note, Rev. B (2009.04); the shortest measurement time, 31, is
that of its "measurement result adjustment", whose page was not verified.
"""

from __future__ import annotations

from firmware.buses.i2c import Chip, I2cBus
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Light, Missing, Reading, Why
from firmware.sources.base import STILL_READS

POWER_ON = 0x01
RESET = 0x07
CONTINUOUS_H = 0x10
TIME_HIGH = 0x40  # or'ed with bits 7-5 of the measurement time
TIME_LOW = 0x60  # or'ed with bits 4-0
TIME = 69  # the default: 54,612 lux at most
TIME_BRIGHT = 31  # the least: 121,500 lux at most, more than direct sun

FULL = 0xFFFF
COUNTS_PER_LUX = 1.2  # p. 2 and 10, at the default measurement time
ACCURACY = 0.20  # p. 2: 0.96 to 1.44 counts for each lux
DARK_COUNTS = 3  # p. 2: what the chip may show in darkness
CONVERSION_S = 0.180  # p. 2: 120 ms typical, 180 ms at most; longer than any lamp's PWM period
DIM_AGAIN_LUX = 40_000.0  # back to the finer range below this


class Bh1750:
    """A BH1750 in continuous H-resolution mode, 0.8 to 121,500 lux, read four times a second.

    It measures in its default time, and in its shortest one (81 ms) while there is too much light
    for that. Its error is 20 % and the three counts of darkness (p. 2). What is not a number: a
    full count (saturated, or a wire that reads all ones); a zero that was not seen again after the
    mode was set anew, for a chip that lost its supply for a moment answers zero for ever; and a
    count that stands still although its register was reset (frozen).
    """

    ADDRESSES = (0x23, 0x5C)  # ADDR pin low, high (p. 10)
    period_s = 0.25
    fresh_s = 1.75  # seven reads: one that fails says nothing, and a dead chip is seen within 2 s

    def __init__(self, bus: I2cBus, address: int, channel: Channel, clock: Clock) -> None:
        self.channel = channel
        self.chip = Chip(bus, address, f"{channel} (bh1750)", self.ADDRESSES)
        self.source = f"bh1750@{bus.name}:0x{address:02x}"
        self._clock = clock
        self._ready_s: float | None = None  # when a value of the mode last set must be there
        self._is_fresh_mode = False
        self._time = TIME
        self._count = 0
        self._still = 0

    def read(self, at_s: float) -> Reading:
        """The light now, or why there is none; sets the chip up first when it has to."""
        try:
            value = self._measure(at_s)
        except BusError as error:
            self._ready_s = None
            value = Missing(Why.NO_ANSWER, str(error))
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)

    def _measure(self, at_s: float) -> Light | Missing:
        if self._ready_s is None:
            self._set_up(self._time)
        if self._ready_s is None or at_s < self._ready_s:
            return Missing(Why.STARTING, "the first conversion has not ended")
        count = int.from_bytes(self.chip.receive(2), "big")
        if count == FULL:
            self._set_up(TIME_BRIGHT)
            return Missing(Why.SATURATED, f"count {FULL}: too much light, or the wire reads ones")
        was_fresh_mode, self._is_fresh_mode = self._is_fresh_mode, False
        if count == 0:
            self._set_up(TIME)  # all of it: a chip that lost its supply lost its time too
            if not was_fresh_mode:
                return Missing(Why.NOT_TRUSTED, "exactly 0: believed when seen again in a new mode")
        elif self._has_frozen(count):
            self._ready_s = None
            return Missing(Why.NOT_TRUSTED, f"its count stands still at {count}, even when reset")
        counts_per_lux = COUNTS_PER_LUX * self._time / TIME
        if self._time != TIME and count / counts_per_lux < DIM_AGAIN_LUX:
            self._set_up(TIME)
        return Light(count / counts_per_lux, (ACCURACY * count + DARK_COUNTS) / counts_per_lux)

    def _has_frozen(self, count: int) -> bool:
        """Whether a count that stands still does so even when its register is reset."""
        self._still = self._still + 1 if count == self._count else 1
        self._count = count
        if self._still < STILL_READS:
            return False
        self.chip.opcode(RESET)
        if int.from_bytes(self.chip.receive(2), "big") == count:
            return True
        self._still = 0
        self._set_mode()
        return False

    def _set_up(self, time: int) -> None:
        self._time = time
        self.chip.opcode(POWER_ON)
        self.chip.opcode(RESET)
        self.chip.opcode(TIME_HIGH | time >> 5)
        self.chip.opcode(TIME_LOW | time & 0x1F)
        self._set_mode()

    def _set_mode(self) -> None:
        self.chip.opcode(POWER_ON)
        self.chip.opcode(CONTINUOUS_H)
        # A conversion that began in another range would be read as one of this.
        self._ready_s = self._clock.mono_s() + CONVERSION_S
        self._is_fresh_mode = True
