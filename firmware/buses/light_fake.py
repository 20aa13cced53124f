"""What the models of light sensors share: the light on them, and conversions that end in time."""

from __future__ import annotations

from firmware.clock import Clock


class LightModel:
    """The light that falls on a chip, and when one of its conversions has ended.

    `is_saturated` models light beyond the scale, `is_frozen` a converter that has stopped behind a
    bus that answers. Light that changes ends what was being converted with the light before.
    """

    def __init__(self, clock: Clock, lux: float) -> None:
        self._clock = clock
        self._lux = lux
        self.is_saturated = False
        self.is_frozen = False
        self.power_cut()

    def power_cut(self) -> None:
        """The supply went and came back: the registers are as the chip wakes with them."""
        self._started_s = 0.0
        self._ended = 0

    @property
    def lux(self) -> float:
        """The light that falls on the sensor."""
        return self._lux

    @lux.setter
    def lux(self, value: float) -> None:
        self._convert()
        self._lux = value

    def _convert(self) -> None:
        """Puts into the registers what the chip has converted by now."""
        raise NotImplementedError

    def _begin(self, warm_up_s: float = 0.0) -> None:
        self._started_s = self._clock.mono_s() + warm_up_s
        self._ended = 0

    def _has_ended(self, took_s: float) -> bool:
        """Whether a conversion, each of which takes so long, ended since this was last asked."""
        ended = int((self._clock.mono_s() - self._started_s) / took_s)
        if ended <= self._ended:
            return False
        self._ended = ended
        return True


class RegisterModel(LightModel):
    """A light sensor whose registers are bytes that a pointer walks over.

    `status` is the register whose lowest bit says that counts are valid; `counts` the first of
    them, low byte first.
    """

    status = 0x13
    counts = 0x14

    def power_cut(self) -> None:
        super().power_cut()
        self._registers = bytearray(0x20)
        self._pointer = 0

    def read(self, count: int) -> bytes:
        self._convert()
        padded = bytes(self._registers).ljust(self._pointer + count, b"\x00")
        return padded[self._pointer : self._pointer + count]

    def _is_running(self) -> bool:
        return self._registers[0x00] & 0x03 == 0x03  # oscillator and converter are on

    def _show(self, counts: list[float], full: int) -> None:
        for index, count in enumerate(counts):
            value = full if self.is_saturated else min(round(count), full)
            first = self.counts + 2 * index
            self._registers[first : first + 2] = value.to_bytes(2, "little")
        self._registers[self.status] |= 0x01
