"""A bus without wires: chips as register models, and the faults that real buses have.

It has the shape of smbus2.SMBus, so all that runs on it is what runs on the Pi. Its faults answer
with the kernel's own numbers, as they were seen on real adapters: 121 for a chip that is not
there, 5 for one that fails in mid-transfer, 110 after a second for a bus that is held low, 16 for
an address that a kernel driver holds.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, cast, get_args

import smbus2

from firmware.clock import Clock

Fault = Literal["eio", "nack", "hang", "busy", "saturate", "ones", "zeros", "clear"]

_READ = 0x0001  # I2C_M_RD of the kernel's i2c.h
_HANG_S = 1.0  # the kernel's adapters give up after their time-out of one second
_ERRNOS: dict[str, int] = {
    "eio": errno.EIO,
    "nack": errno.EREMOTEIO,
    "hang": errno.ETIMEDOUT,
    "busy": errno.EBUSY,
}


class ChipModel(Protocol):
    """What a chip does on its side of the wire."""

    def write(self, payload: bytes) -> None:
        """Takes the bytes of one write, from its start to its stop or repeated start."""

    def read(self, count: int) -> bytes:
        """Gives so many bytes."""


class LightModel(ChipModel, Protocol):
    """A chip that measures light, which can be driven past its range."""

    is_saturated: bool


class FakeI2cBus:
    """A bus whose chips are models; `fault` breaks one address, `fail_next` scripts transfers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._chips: dict[int, ChipModel] = {}
        self._faults: dict[int, Fault] = {}
        self._script: dict[int, deque[int]] = {}
        self.transfers = 0
        self.is_closed = False

    def attach(self, address: int, model: ChipModel) -> None:
        """Puts a chip on the bus; another one at its address is swapped for it."""
        self._chips[address] = model

    def fault(self, address: int, kind: str) -> None:
        """Breaks the chip at an address until "clear"; unknown kinds are refused."""
        if kind not in get_args(Fault):
            raise ValueError(f"fault {kind}: must be one of {', '.join(get_args(Fault))}")
        model = self._chips.get(address)
        if hasattr(model, "is_saturated"):
            cast(LightModel, model).is_saturated = kind == "saturate"
        elif kind == "saturate":
            raise ValueError(f"fault saturate: no light sensor at 0x{address:02X}")
        self._faults[address] = cast(Fault, kind)

    def fail_next(self, address: int, errnos: Iterable[int]) -> None:
        """The next transfers to an address end so, in order: 0 is a good one."""
        self._script[address] = deque(errnos)

    def write_byte(self, i2c_addr: int, value: int) -> None:
        """As smbus2: one byte."""
        self._transfer(i2c_addr, bytes([value]), 0)

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        """As smbus2: the register is written, then the bytes are read after a repeated start."""
        return list(self._transfer(i2c_addr, bytes([register]), length))

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        """As smbus2: the register and up to 32 bytes in one write."""
        if len(data) > 32:
            raise ValueError("Data length cannot exceed 32 bytes")
        self._transfer(i2c_addr, bytes([register, *data]), 0)

    def i2c_rdwr(self, *i2c_msgs: smbus2.i2c_msg) -> None:
        """As smbus2: messages in the order given, the answers put into the reading ones."""
        for message in i2c_msgs:
            if message.flags & _READ:
                answer = self._transfer(message.addr, b"", message.len)
                for index, byte in enumerate(answer):
                    message.buf[index] = byte
            else:
                self._transfer(message.addr, bytes(message), 0)

    def close(self) -> None:
        """Every transfer after it fails with EBADF, as on a closed descriptor."""
        self.is_closed = True

    def _transfer(self, address: int, payload: bytes, count: int) -> bytes:
        self.transfers += 1
        if self.is_closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        script = self._script.get(address)
        scripted = script.popleft() if script else 0
        kind = self._faults.get(address, "clear")
        if kind == "hang":
            self._clock.sleep(_HANG_S)
        number = scripted or _ERRNOS.get(kind, 0)
        if number == 0 and address not in self._chips:
            number = errno.EREMOTEIO
        if number:
            raise OSError(number, os.strerror(number))
        model = self._chips[address]
        if payload:
            model.write(payload)
        if count == 0:
            return b""
        answer = model.read(count)
        if kind in ("ones", "zeros"):
            return (b"\xff" if kind == "ones" else b"\x00") * count
        return answer
