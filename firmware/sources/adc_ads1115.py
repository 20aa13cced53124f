"""The ADS1115 converter: the supplies of the lamps, and a supervised tether loop (TI SBAS444D).

Each value is tied to the input that was chosen for its whole conversion: one conversion is begun,
waited for, and taken only where the configuration that is read back is the one that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from firmware.buses.i2c import Chip, Field, I2cBus, Register
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Missing, Reading, Supply, Tether, TetherState, Why

CONVERSION = Register("CONVERSION", 0x00, 2, "big")
CONFIG = Register("CONFIG", 0x01, 2, "big")
READY = Field("OS", CONFIG, 15)  # written: begin; read: no conversion is under way (p. 28)
INPUT = Field("MUX", CONFIG, 12, 3)  # 4 to 7 are the inputs 0 to 3 against ground
RANGE = Field("PGA", CONFIG, 9, 3)
SINGLE = Field("MODE", CONFIG, 8)
RATE = Field("DR", CONFIG, 5, 3)
NO_ALERT = Field("COMP_QUE", CONFIG, 0, 2)

FULL_V = 4.096  # PGA 1
ERROR_V = 0.02  # gain and offset are far better (p. 7); this is the divider's 1 % resistors
FULL = 0x7FFF
SIGN = 0x8000
CONVERSION_S = 1.1 / 128  # DR 4: 128 a second, 10 % slower at worst (p. 7)
TRIES = 3  # looks at the ready flag
Wiring = Literal["short", "closed", "opened", "open"]
"""What a loop can be, from the least voltage to the most."""

PULL_UP_V = 3.3  # what the loop's pull-up hangs on


class Ads1115:
    """An ADS1115 in single-shot mode, 0 to 4.096 V at four inputs, 9 ms a conversion.

    What is not a number: a full count either way (saturated), and a configuration that is not the
    one that was written, for the chip lost its supply or the wire reads all ones or zeros.
    """

    ADDRESSES = (0x48, 0x49, 0x4A, 0x4B)  # ADDR to ground, supply, SDA, SCL (p. 23)

    def __init__(self, bus: I2cBus, address: int, clock: Clock) -> None:
        self.chip = Chip(bus, address, "adc (ads1115)", self.ADDRESSES)
        self.source = f"ads1115@{bus.name}:0x{address:02x}"
        self._clock = clock

    def volts(self, number: int) -> float | Missing:
        """The voltage at an input from 0 to 3, never below 0; raises no bus error."""
        try:
            return self._measured(number)
        except BusError as error:
            return Missing(Why.NO_ANSWER, str(error))

    def _measured(self, number: int) -> float | Missing:
        asked = SINGLE.put(RANGE.put(INPUT.put(RATE.put(0, 4), 4 + number), 1), 1)
        asked = NO_ALERT.put(asked, 3)
        self.chip.set(CONFIG, READY.put(asked, 1))
        for _ in range(TRIES):
            self._clock.sleep(CONVERSION_S)
            found = self.chip.get(CONFIG)
            if READY.put(found, 1) != READY.put(asked, 1):
                return Missing(
                    Why.NOT_TRUSTED, f"measured as 0x{found:04X} says, not as 0x{asked:04X}"
                )
            if READY.of(found):
                break
        else:
            return Missing(Why.NO_ANSWER, "its conversion does not end")
        count = self.chip.get(CONVERSION)
        if count in (FULL, SIGN):
            return Missing(Why.SATURATED, f"count 0x{count:04X}: beyond {FULL_V} V")
        return max(0.0, (count - (1 << 16 if count & SIGN else 0)) * FULL_V / (1 << 15))


class SupplySense:
    """Whether a lamp's wire has its voltage, read four times a second behind a divider.

    `divider` is the volts of the wire for one at the input. From `on_v` on it is supplied. Where
    `open_v` is given, a weak pull-up lifts a wire that hangs free to that or more, while a lamp's
    filament holds an unsupplied wire below it: so a broken wire, or lamp, is told from a switch.
    """

    period_s = 0.25
    fresh_s = 1.75  # as the lights: what is dead is seen within 2 s

    def __init__(
        self,
        adc: Ads1115,
        number: int,
        channel: Channel,
        divider: float,
        on_v: float,
        open_v: float | None = None,
    ) -> None:
        self.channel = channel
        self.source = f"{adc.source}:{number}"
        self._adc = adc
        self._number = number
        self._divider = divider
        self._on_v = on_v
        self._open_v = open_v

    def read(self, at_s: float) -> Reading:
        """The supply now, or why it is not known."""
        volts = self._adc.volts(self._number)
        value: Supply | Missing
        if isinstance(volts, Missing):
            value = volts
        else:
            wire_v = volts * self._divider
            is_on = wire_v >= self._on_v
            is_open = not is_on and self._open_v is not None and wire_v >= self._open_v
            value = Supply(is_on, round(wire_v, 3), is_open)
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)


@dataclass(frozen=True, slots=True)
class Loop:
    """The resistors of a supervised loop, in ohms: one ahead of the loop, one in series with the
    contact at its far end, and one across that contact."""

    pull_up_ohm: float
    series_ohm: float
    across_ohm: float

    def volts(self, wiring: Wiring) -> float:
        """The voltage at the input: wire shorted, contact closed, contact open, wire broken."""
        if wiring == "short":
            return 0.0
        if wiring == "open":
            return PULL_UP_V
        ohm = self.series_ohm + (self.across_ohm if wiring == "opened" else 0.0)
        return PULL_UP_V * ohm / (ohm + self.pull_up_ohm)

    def edges_v(self) -> tuple[float, float, float]:
        """The voltages half-way between those four."""
        steps = [self.volts(one) for one in get_args(Wiring)]
        low, middle, high = ((a + b) / 2 for a, b in pairwise(steps))
        return low, middle, high


class TetherLoop:
    """A tether switch at the end of a supervised loop, read ten times a second.

    It tells attached, pulled, wire broken and wire shorted apart. A state counts once it was seen
    twice, so that a drop-out of the contact on the trail is no pull; a pull is told within 0.2 s.
    """

    channel = Channel.TETHER
    period_s = 0.1
    fresh_s = 1.75

    def __init__(self, adc: Ads1115, number: int, loop: Loop, is_closed_when_in: bool) -> None:
        self.source = f"{adc.source}:{number}"
        self._adc = adc
        self._number = number
        self._edges_v = loop.edges_v()
        self._closed = TetherState.IN if is_closed_when_in else TetherState.OUT
        self._opened = TetherState.OUT if is_closed_when_in else TetherState.IN
        self._seen: TetherState | None = None
        self._state: TetherState | None = None

    def read(self, at_s: float) -> Reading:
        """The tether now, or why it is not known."""
        volts = self._adc.volts(self._number)
        value: Tether | Missing
        if isinstance(volts, Missing):
            value = volts
        else:
            seen = self._state_of(volts)
            if seen is self._seen:
                self._state = seen
            self._seen = seen
            value = Missing(Why.STARTING) if self._state is None else Tether(self._state)
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)

    def _state_of(self, volts: float) -> TetherState:
        low, middle, high = self._edges_v
        if volts < low:
            return TetherState.SHORT
        if volts >= high:
            return TetherState.OPEN
        return self._closed if volts < middle else self._opened
