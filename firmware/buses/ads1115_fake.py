"""A model of the ADS1115, for the fake bus and for `--simulate`."""

from __future__ import annotations

from typing import ClassVar

from firmware.clock import Clock


class Ads1115Model:
    """TI ADS1115: 16-bit registers, high byte first; one converter behind a multiplexer.

    Registers: data sheet p. 27-30. `volts` are those at its four inputs; the world sets them. A
    conversion takes the input that was chosen when it began; its result stands until the next.
    After power-up it is idle with the configuration 0x8583.
    """

    _RANGES_V: ClassVar[tuple[float, ...]] = (
        6.144,
        4.096,
        2.048,
        1.024,
        0.512,
        0.256,
        0.256,
        0.256,
    )
    _RATES_HZ: ClassVar[tuple[float, ...]] = (8.0, 16.0, 32.0, 64.0, 128.0, 250.0, 475.0, 860.0)
    supply_v = 3.3

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.volts = [0.0, 0.0, 0.0, 0.0]
        self.power_cut()

    def power_cut(self) -> None:
        """The supply went and came back."""
        self._config = 0x8583
        self._conversion = 0
        self._pointer = 0
        self._pending: tuple[float, int] | None = None

    def write(self, payload: bytes) -> None:
        self._convert()
        self._pointer = payload[0] & 0x03
        if len(payload) == 3 and self._pointer == 1:
            self._config = int.from_bytes(payload[1:], "big")
            if self._config & 0x8000 and self._config & 0x0100:
                took_s = 1.0 / self._RATES_HZ[self._config >> 5 & 0x7]
                self._pending = (self._clock.mono_s() + took_s, self._measured())
            self._config |= 0x8000

    def read(self, count: int) -> bytes:
        self._convert()
        value = 0
        if self._pointer == 0:
            value = self._conversion & 0xFFFF
        elif self._pointer == 1:
            value = self._config & 0x7FFF if self._pending else self._config
        return value.to_bytes(2, "big").ljust(count, b"\xff")[:count]

    def _convert(self) -> None:
        if self._pending is not None and self._clock.mono_s() >= self._pending[0]:
            self._conversion, self._pending = self._pending[1], None

    def _measured(self) -> int:
        mux = self._config >> 12 & 0x7
        if mux >= 4:
            volts = min(max(self.volts[mux - 4], -0.3), self.supply_v + 0.3)
        else:
            low, high = ((0, 1), (0, 3), (1, 3), (2, 3))[mux]
            volts = self.volts[low] - self.volts[high]
        scaled = round(volts / self._RANGES_V[self._config >> 9 & 0x7] * 32768)
        return max(-32768, min(scaled, 32767))
