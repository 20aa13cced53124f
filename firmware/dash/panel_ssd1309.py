"""The OLED panel: an SSD1309 of 128 by 64 dots on the sensor bus, by luma.oled.

A panel that is missing or comes loose is one line in the log and is tried again; the warning
lights, the haptic and the tone do not depend on it.
"""

from __future__ import annotations

import logging

from luma.core.interface.serial import i2c
from luma.oled.device import ssd1309
from PIL import Image

from firmware.buses.i2c import I2cBus, PanelBus
from firmware.clock import Clock
from firmware.dash.base import Fitting, Panel
from firmware.errors import BusError
from firmware.state import State

RETRY_S = 2.0

_NOP = 0xE3  # data sheet table 9-1: no operation
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))

_log = logging.getLogger(__name__)


class _Chip(ssd1309):  # type: ignore[misc]  # luma.oled has no types
    """luma's driver, begun when the panel answers and not when the object is made."""

    def __init__(self, interface: i2c) -> None:
        self._interface = interface

    def begin(self) -> None:
        """Sets the chip up and clears it; raises `BusError` where it does not answer."""
        # luma keeps an exit hook for each set-up, so first see whether somebody is there.
        self._interface.command(_NOP)
        super().__init__(self._interface)
        self.persist = True  # `stop` darkens it; luma's hook would wait for a bus that is gone

    def display(self, image: Image.Image) -> None:
        """Sends the whole picture.

        In luma's place: its own walks over each dot in Python with a call that Pillow 14 drops.
        """
        self.command(self._const.COLUMNADDR, 0, self.width - 1)
        self.command(self._const.PAGEADDR, 0, self.height // 8 - 1)
        self.data(list(_pages(image)))


class Ssd1309:
    """Shows each new picture on the chip, and sets the chip up whenever it has come back."""

    def __init__(self, bus: I2cBus, address: int = 0x3C, *, clock: Clock | None = None) -> None:
        """`clock` is the world's; it paces the retries."""
        self._bus = bus
        self._wire = PanelBus(bus, address, "dash (ssd1309)")
        self._chip = _Chip(i2c(bus=self._wire, address=address))
        self._clock = clock if clock is not None else Clock()
        self._is_up = False
        self._is_told = False
        self._retry_s = float("-inf")
        self._shown = b""

    @classmethod
    def fit(cls, fitting: Fitting) -> Panel:
        return cls(I2cBus(fitting.bus), fitting.address)

    def show(self, picture: Image.Image, state: State | None, trouble: str) -> None:
        """Sends the picture where it differs from the last one that arrived."""
        dots = picture.tobytes()
        if self._is_up and dots == self._shown:
            return
        if not self._is_up and self._clock.mono_s() < self._retry_s:
            return
        try:
            if not self._is_up:
                self._chip.begin()
                self._is_up = True
            self._chip.display(picture)
        except BusError as fault:
            self._fail(fault)
            return
        self._shown = dots
        if self._is_told:
            _log.warning("the panel answers again")
            self._is_told = False

    def stop(self) -> None:
        """Switches the panel off: a picture that stays would look alive."""
        if self._is_up:
            self._is_up = False
            try:
                self._chip.hide()
            except BusError as fault:
                _log.warning("the panel may still show its last picture: %s", fault)
        self._bus.close()

    def _fail(self, fault: BusError) -> None:
        self._is_up = False
        self._retry_s = self._clock.mono_s() + RETRY_S
        if not self._is_told:
            _log.error("%s It is tried again every %.0f s.", fault, RETRY_S)
            self._is_told = True


def _pages(picture: Image.Image) -> bytes:
    """The picture as the chip's memory has it: eight pages of columns, the top dot is bit 0."""
    # Turned over its diagonal each byte of the picture is eight dots of one column, top first.
    columns = picture.transpose(Image.Transpose.TRANSPOSE).tobytes().translate(_REVERSED)
    pages = picture.height // 8
    return b"".join(columns[page::pages] for page in range(pages))
