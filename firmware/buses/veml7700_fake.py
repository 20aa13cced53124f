"""A model of the VEML7700, for the fake bus and for `--simulate`."""

from __future__ import annotations

from typing import ClassVar

from firmware.buses.light_fake import LightModel
from firmware.clock import Clock


class Veml7700Model(LightModel):
    """Vishay VEML7700: 16-bit registers, low byte first, and a count that is new each integration.

    Registers: data sheet, revision 1.8. It is shut down after power-up (bit 0 of ALS_CONF). A
    change of gain or time is good from the next integration that begins after it; until one has
    ended the old count stands.
    """

    _GAINS: ClassVar[dict[int, float]] = {0: 1.0, 1: 2.0, 2: 0.125, 3: 0.25}
    _TIMES_S: ClassVar[dict[int, float]] = {
        0xC: 0.025, 0x8: 0.050, 0x0: 0.100, 0x1: 0.200, 0x2: 0.400, 0x3: 0.800,
    }  # fmt: skip  # the table of the data sheet
    lux_per_count = 0.0042  # at gain 2 and 800 ms

    def __init__(self, clock: Clock, lux: float = 0.0, chip_id: int = 0xC481) -> None:
        self._id = chip_id
        super().__init__(clock, lux)

    def power_cut(self) -> None:
        """The supply went and came back: shut down, gain 1, 100 ms, count 0."""
        super().power_cut()
        self._registers = [0x0001, 0, 0, 0, 0, 0, 0, self._id]
        self._pointer = 0

    @property
    def integration_s(self) -> float:
        """How long one integration takes with the settings that stand."""
        return self._TIMES_S.get(self._registers[0] >> 6 & 0xF, 0.100)

    def write(self, payload: bytes) -> None:
        self._convert()
        self._pointer = payload[0] & 0x07
        if len(payload) == 3 and self._pointer <= 3:
            self._registers[self._pointer] = int.from_bytes(payload[1:], "little")
            if self._pointer == 0:
                self._begin(warm_up_s=0.0025)

    def read(self, count: int) -> bytes:
        self._convert()
        return self._registers[self._pointer].to_bytes(2, "little").ljust(count, b"\xff")[:count]

    def _convert(self) -> None:
        config = self._registers[0]
        if config & 0x0001 or self.is_frozen:
            return
        if not self._has_ended(self.integration_s):
            return
        gain = self._GAINS[config >> 11 & 0x3]
        shown = _bent(self._lux) if gain < 1.0 else self._lux
        count = round(shown / self.lux_per_count * (gain / 2) * (self.integration_s / 0.8))
        self._registers[4] = 0xFFFF if self.is_saturated else min(count, 0xFFFF)


def _bent(lux: float) -> float:
    """What a low gain shows of strong light: the inverse of the application note's polynomial."""
    low, high = 0.0, lux + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        grown = 6.0135e-13 * middle**4 - 9.3924e-9 * middle**3 + 8.1488e-5 * middle**2
        if grown + 1.0023 * middle < lux:
            low = middle
        else:
            high = middle
    return low
