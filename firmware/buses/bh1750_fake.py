"""A model of the BH1750, for the fake bus and for `--simulate`."""

from __future__ import annotations

from firmware.buses.light_fake import LightModel
from firmware.clock import Clock


class Bh1750Model(LightModel):
    """ROHM BH1750FVI: opcodes, and a 16-bit count that is new after each conversion.

    Opcodes and flow: technical note p. 4-5; 120 ms typical, 180 ms at most: p. 2. A mode is taken
    only while powered on; the data register is 0 after power-up and after a reset.
    """

    conversion_s = 0.120  # H-resolution, typical, at the default measurement time of 69

    def __init__(self, clock: Clock, lux: float = 0.0) -> None:
        super().__init__(clock, lux)

    def power_cut(self) -> None:
        """The supply went and came back: the chip is powered down and knows no mode."""
        super().power_cut()
        self._is_on = False
        self._mode: int | None = None
        self._time = 69
        self._register = 0

    def write(self, payload: bytes) -> None:
        for opcode in payload:
            self._convert()
            self._obey(opcode)

    def read(self, count: int) -> bytes:
        self._convert()
        return self._register.to_bytes(2, "big").ljust(count, b"\xff")[:count]

    def _obey(self, opcode: int) -> None:
        if opcode in (0x00, 0x01):
            self._is_on = opcode == 0x01
            self._mode = None
        elif opcode == 0x07 and self._is_on and not self.is_frozen:
            self._register = 0
        elif opcode in (0x10, 0x11, 0x13, 0x20, 0x21, 0x23) and self._is_on:
            self._mode = opcode
            self._begin()
        elif opcode & 0xF8 == 0x40:
            self._time = self._time & 0x1F | (opcode & 0x07) << 5
        elif opcode & 0xE0 == 0x60:
            self._time = self._time & 0xE0 | opcode & 0x1F

    def _convert(self) -> None:
        if self._mode is None or self.is_frozen:
            return
        is_low = self._mode & 0x0F == 0x03
        took_s = self.conversion_s * (16 / 120 if is_low else 1.0) * self._time / 69
        if not self._has_ended(took_s):
            return
        doubled = 2 if self._mode & 0x0F == 0x01 else 1
        count = round(self._lux * 1.2 * doubled * self._time / 69)
        self._register = 0xFFFF if self.is_saturated else min(count, 0xFFFF)
        if self._mode & 0x20:
            self._is_on, self._mode = False, None  # a one-time mode powers down by itself
