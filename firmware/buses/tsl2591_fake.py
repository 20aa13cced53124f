"""A model of the TSL2591, for the fake bus and for `--simulate`."""

from __future__ import annotations

from typing import ClassVar

from firmware.buses.light_fake import RegisterModel
from firmware.clock import Clock


class Tsl2591Model(RegisterModel):
    """ams TSL2591: command bit, gain and time, and the counts of its two diodes.

    Registers: the data sheet's description of them. The broad diode (0) sees all, the other (1)
    infrared only: `infrared` is the share that the second sees of the first, a quarter for a white
    LED. Full scale is 36,863 counts at 100 ms and 65,535 above. AVALID is set by the first
    conversion that ended since AEN was set.
    """

    _GAINS: ClassVar[tuple[float, ...]] = (1.0, 25.0, 428.0, 9876.0)
    counts_per_lux = 1 / 408.0  # for each ms at gain 1, of the first diode less the second

    def __init__(
        self, clock: Clock, lux: float = 0.0, infrared: float = 0.25, chip_id: int = 0x50
    ) -> None:
        self.infrared = infrared
        self._id = chip_id
        super().__init__(clock, lux)

    def power_cut(self) -> None:
        """The supply went and came back: oscillator off, gain 1, 100 ms, counts 0."""
        super().power_cut()
        self._registers[0x12] = self._id

    def write(self, payload: bytes) -> None:
        self._convert()
        command, values = payload[0], payload[1:]
        if command & 0xE0 != 0xA0:
            return  # not a command, or one of its special functions
        self._pointer = command & 0x1F
        for value in values:
            if self._pointer <= 0x0C:  # ID, status and counts can't be written
                self._put(self._pointer, value)
            self._pointer += 1

    def _put(self, address: int, value: int) -> None:
        was_running = self._is_running()
        if address == 0x01 and value & 0x80:
            self.power_cut()
            return
        self._registers[address] = value
        if self._is_running() and (not was_running or address == 0x01):
            self._begin()
        if not self._is_running() and not self.is_frozen:
            self._registers[0x13] &= 0xFE

    def _convert(self) -> None:
        if not self._is_running() or self.is_frozen:
            return
        took_ms = 100.0 * ((self._registers[0x01] & 0x07) + 1)
        if not self._has_ended(took_ms / 1000.0):
            return
        full = 36_863 if took_ms == 100.0 else 65_535
        gain = self._GAINS[self._registers[0x01] >> 4 & 0x03]
        share = (1.0 - self.infrared) ** 2
        broad = self._lux * took_ms * gain * self.counts_per_lux / share
        self._show([broad, broad * self.infrared], full)
