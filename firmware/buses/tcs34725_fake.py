"""A model of the TCS34725, for the fake bus and for `--simulate`."""

from __future__ import annotations

from typing import ClassVar, Literal

from firmware.buses.light_fake import RegisterModel
from firmware.clock import Clock

Colour = Literal["white", "red"]


class Tcs34725Model(RegisterModel):
    """ams TCS34725: command bit, integration cycles, gain, and the four counts of its light.

    Registers: data sheet TAOS135, p. 13-20. The counts follow its optical table (p. 4): clear
    counts for each uW/cm2 at gain 16 and 24 ms (13.8 at 465 nm, 16.6 at 525 nm, 19.5 at 615 nm)
    and each filter's share of them, turned to lux with the eye's curve V (0.074, 0.793, 0.441;
    683 lm/W).
    """

    # uW/cm2 for one lux: red is 615 nm alone; white is the mix that all three filters see alike.
    _IRRADIANCE: ClassVar[dict[str, tuple[float, float, float]]] = {
        "red": (0.0, 0.0, 0.33185),
        "white": (0.11580, 0.12515, 0.08745),
    }
    _CLEAR = (13.8, 16.6, 19.5)
    _FILTERS: ClassVar[dict[str, tuple[float, float, float]]] = {
        "red": (0.075, 0.145, 0.95),
        "green": (0.26, 0.725, 0.07),
        "blue": (0.765, 0.275, 0.145),
    }
    _GAINS = (1, 4, 16, 60)

    def __init__(
        self, clock: Clock, lux: float = 0.0, colour: Colour = "white", chip_id: int = 0x44
    ) -> None:
        self._colour: Colour = colour
        self._id = chip_id
        super().__init__(clock, lux)

    def power_cut(self) -> None:
        """The supply went and came back: oscillator off, one cycle, gain 1, counts 0."""
        super().power_cut()
        self._registers[0x01] = 0xFF
        self._registers[0x12] = self._id

    @property
    def colour(self) -> Colour:
        """What colour that light has."""
        return self._colour

    @colour.setter
    def colour(self, value: Colour) -> None:
        if value not in self._IRRADIANCE:
            raise ValueError(f"colour {value}: must be one of {', '.join(self._IRRADIANCE)}")
        self._convert()
        self._colour = value

    def write(self, payload: bytes) -> None:
        self._convert()
        command, values = payload[0], payload[1:]
        if not command & 0x80:
            return  # without the command bit the chip takes it for nothing
        self._pointer = command & 0x1F
        for value in values:
            if self._pointer < 0x12:  # ID, status and counts can't be written
                self._put(self._pointer, value)
            if command & 0x60 == 0x20:
                self._pointer += 1

    def _put(self, address: int, value: int) -> None:
        was_running = self._is_running()
        self._registers[address] = value
        is_running = self._is_running()
        if self.is_frozen:
            return
        if is_running and (not was_running or address in (0x01, 0x0F)):
            self._begin(warm_up_s=0.0024)  # data sheet p. 15 (PON)
            self._registers[0x13] &= 0xFE
        elif not is_running:
            self._registers[0x13] &= 0xFE

    def _convert(self) -> None:
        if not self._is_running() or self.is_frozen:
            return
        cycles = 256 - self._registers[0x01]
        if not self._has_ended(cycles * 0.0024):
            return
        full = min(0xFFFF, 1024 * cycles)
        irradiance = self._IRRADIANCE[self._colour]
        scale = self._lux * self._GAINS[self._registers[0x0F] & 0x03] / 16 * cycles / 10
        by_source = [
            scale * one * clear for one, clear in zip(irradiance, self._CLEAR, strict=True)
        ]
        counts = [sum(by_source)] + [
            sum(one * share for one, share in zip(by_source, shares, strict=True))
            for shares in self._FILTERS.values()
        ]
        self._show(counts, full)
