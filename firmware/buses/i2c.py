"""The door to the sensor bus: the only import of smbus2, and where an errno becomes a sentence.

A chip is declared as a table of registers and read through a `Chip`, which tries a failed transfer
once more and counts. SMBus block reads are never used: they take the chip's first byte as a
length. Register reads and opcodes go through the kernel's addressed calls, so that an address
which one of the kernel's own drivers holds is refused (EBUSY) and not read behind its back.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import smbus2

from firmware.errors import BusError, SledwardenError

LONGEST = 32
"""Bytes in one addressed transfer (the kernel's I2C_SMBUS_BLOCK_MAX)."""

_CHECK_WIRES = "Check its power, its wires and its address."
_CAUSES: dict[int, tuple[str, str]] = {
    errno.EREMOTEIO: ("does not answer", _CHECK_WIRES),
    errno.ENXIO: ("does not answer", _CHECK_WIRES),
    errno.ENODEV: ("does not answer", _CHECK_WIRES),
    errno.EIO: (
        "failed in mid-transfer",
        "Look for a loose plug, water in a connector or a wire longer than the harness has.",
    ),
    errno.ETIMEDOUT: (
        "timed out, the bus is held low",
        "One chip holds the line: unplug the sensors one by one, or cut their power once.",
    ),
    errno.EBUSY: (
        "is held by the kernel's own driver",
        "Take the chip's dtoverlay line (i2c-rtc for a DS3231) out of config.txt and restart,"
        " or take the part out of the configuration.",
    ),
    errno.EOPNOTSUPP: (
        "can't be reached, this adapter has no raw transfers",
        "Use an adapter that does plain I2C, like the Pi's own.",
    ),
    errno.ENOENT: (
        "can't be reached, there is no such bus",
        "Switch I2C on (dtparam=i2c_arm=on in config.txt) or correct [i2c] bus.",
    ),
    errno.EACCES: (
        "can't be reached, the bus may not be opened",
        "Add the unit's user to the group i2c.",
    ),
}


class I2cError(BusError):
    """A transfer that failed; `errno` is the kernel's word for it."""

    def __init__(self, where: str, number: int) -> None:
        what, advice = _CAUSES.get(number, (os.strerror(number).lower(), _CHECK_WIRES))
        super().__init__(where, f"{what} (errno {number}).", advice)
        self.errno = number


class Transport(Protocol):
    """As much of smbus2.SMBus as is used; the fake bus has the same shape."""

    def write_byte(self, i2c_addr: int, value: int) -> None: ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]: ...

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None: ...

    def i2c_rdwr(self, *i2c_msgs: smbus2.i2c_msg) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Register:
    """A register of a chip: its address on the wire, its width in bytes and their order."""

    name: str
    address: int
    width: int = 1
    order: Literal["little", "big"] = "little"

    def encode(self, value: int) -> bytes:
        """The bytes of a value; refuses one that does not fit."""
        top = (1 << 8 * self.width) - 1
        if not 0 <= value <= top:
            raise ValueError(f"{self.name} = {value}: must be 0 to {top}")
        return value.to_bytes(self.width, self.order)

    def decode(self, raw: bytes) -> int:
        """The value of so many bytes as the register is wide."""
        if len(raw) != self.width:
            raise ValueError(f"{self.name}: got {len(raw)} bytes, not {self.width}")
        return int.from_bytes(raw, self.order)


@dataclass(frozen=True, slots=True)
class Field:
    """Some neighbouring bits of a register, from bit `low` upwards."""

    name: str
    register: Register
    low: int
    bits: int = 1

    def of(self, raw: int) -> int:
        """The field's value in a register's value."""
        return raw >> self.low & (1 << self.bits) - 1

    def put(self, raw: int, value: int) -> int:
        """The register's value with the field changed; refuses a value that does not fit."""
        top = (1 << self.bits) - 1
        if not 0 <= value <= top:
            raise ValueError(f"{self.name} = {value}: must be 0 to {top}")
        return raw & ~(top << self.low) | value << self.low


_Answer = TypeVar("_Answer")


class I2cBus:
    """One I2C bus, opened at the first transfer and again after it has gone.

    Each transfer holds the bus alone and blocks for as long as the kernel does: 0.2 to 3 ms, and
    1 s on a bus that is held low. So only the bus's own thread should call it.

    A chip that was cut off in mid-byte holds SDA low until it has been clocked nine times (UM10204,
    3.1.16). Linux lets no program do that: an adapter's driver may, as i2c-gpio and
    i2c-designware do after a time-out; the Pi's own (i2c-bcm2835) does not, and only begins anew.
    So after each time-out the bus is closed and opened again, which is all there is, and counted in
    `recoveries`; each chip is set up again once it answers. Where that does not help, the sensors'
    supply has to be cut.
    """

    def __init__(
        self,
        number: int,
        transport: Transport | None = None,
        opened: Callable[[int], Transport] = smbus2.SMBus,
    ) -> None:
        """Takes an open transport, which stays its giver's, or opens one of its own by `opened`."""
        self.number = number
        self.name = f"i2c-{number}"
        self.recoveries = 0
        self._given = transport is not None
        self._opened = opened
        self._transport = transport
        self._lock = threading.Lock()
        self._parts: dict[int, str] = {}

    def claim(self, address: int, part: str) -> None:
        """Books the address for a part; two at one address are refused, both named."""
        if not 0x08 <= address <= 0x77:
            raise SledwardenError(
                part, f"address 0x{address:02X}: must be 0x08 to 0x77.", "See the part's label."
            )
        holder = self._parts.setdefault(address, part)
        if holder != part:
            raise SledwardenError(
                part,
                f"address 0x{address:02X} on {self.name}: is taken by {holder}.",
                "Give one of them another address, or put it on another bus.",
            )

    def write_opcode(self, address: int, opcode: int, where: str = "") -> None:
        """Sends one byte that is a command by itself."""
        self._do(address, where, lambda bus: bus.write_byte(address, opcode))

    def receive(self, address: int, count: int, where: str = "") -> bytes:
        """Takes so many bytes from a chip that has no registers."""

        def take(bus: Transport) -> bytes:
            message = smbus2.i2c_msg.read(address, count)
            bus.i2c_rdwr(message)
            return bytes(message)

        return self._do(address, where, take)

    def read(self, address: int, register: int, count: int, where: str = "") -> bytes:
        """Reads so many bytes from a register on, at most 32."""
        if not 1 <= count <= LONGEST:
            raise ValueError(f"count = {count}: must be 1 to {LONGEST}")
        return self._do(
            address, where, lambda bus: bytes(bus.read_i2c_block_data(address, register, count))
        )

    def write(self, address: int, register: int, payload: bytes, where: str = "") -> None:
        """Writes bytes from a register on, at most 32."""
        if not 1 <= len(payload) <= LONGEST:
            raise ValueError(f"{len(payload)} bytes: must be 1 to {LONGEST}")
        self._do(
            address,
            where,
            lambda bus: bus.write_i2c_block_data(address, register, list(payload)),
        )

    def close(self) -> None:
        """Closes a bus that this object opened; one that was handed in stays its giver's."""
        with self._lock:
            self._drop()

    def _do(self, address: int, where: str, transfer: Callable[[Transport], _Answer]) -> _Answer:
        part = where or self._parts.get(address, "chip")
        with self._lock:
            try:
                if self._transport is None:
                    self._transport = self._opened(self.number)
                return transfer(self._transport)
            except OSError as error:
                number = error.errno or errno.EIO
                if number == errno.ETIMEDOUT:
                    self.recoveries += 1
                if number in (errno.ENODEV, errno.EBADF, errno.ETIMEDOUT):
                    # Held low, or an adapter on USB was pulled: the next transfer opens it anew.
                    self._drop()
                raise I2cError(f"{part} at 0x{address:02X} on {self.name}", number) from error

    def _drop(self) -> None:
        if self._transport is not None and not self._given:
            self._transport.close()
            self._transport = None


class Chip:
    """One part at its address: claims it, tries each failed transfer once more, and counts.

    `failures` counts failed transfers, the ones that a second try mended included.
    """

    def __init__(self, bus: I2cBus, address: int, part: str, allowed: Sequence[int] = ()) -> None:
        """`part` is what a message calls it, like "light.head (bh1750)"."""
        if allowed and address not in allowed:
            choices = " or ".join(f"0x{one:02X}" for one in allowed)
            raise SledwardenError(
                part, f"address 0x{address:02X}: must be {choices}.", "See the part's label."
            )
        bus.claim(address, part)
        self.bus = bus
        self.address = address
        self.part = part
        self.failures = 0

    def opcode(self, code: int) -> None:
        """Sends one byte that is a command by itself."""
        self._twice(lambda: self.bus.write_opcode(self.address, code, self.part))

    def receive(self, count: int) -> bytes:
        """Takes bytes from a chip that has no registers."""
        return self._twice(lambda: self.bus.receive(self.address, count, self.part))

    def read(self, register: int, count: int) -> bytes:
        """Reads bytes from a register on."""
        return self._twice(lambda: self.bus.read(self.address, register, count, self.part))

    def write(self, register: int, payload: bytes) -> None:
        """Writes bytes from a register on."""
        self._twice(lambda: self.bus.write(self.address, register, payload, self.part))

    def get(self, what: Register | Field) -> int:
        """The value of a register or of a field in it."""
        if isinstance(what, Field):
            return what.of(self.get(what.register))
        return what.decode(self.read(what.address, what.width))

    def set(self, what: Register | Field, value: int) -> None:
        """Writes a register, or a field and leaves its neighbours; refuses what does not fit."""
        if isinstance(what, Field):
            what.put(0, value)  # refused before the wire is touched
            self.set(what.register, what.put(self.get(what.register), value))
            return
        self.write(what.address, what.encode(value))

    def _twice(self, transfer: Callable[[], _Answer]) -> _Answer:
        try:
            return transfer()
        except I2cError as error:
            self.failures += 1
            if error.errno in (errno.ETIMEDOUT, errno.EBUSY):
                raise  # a time-out has cost a second already; a held address stays held
        try:
            return transfer()
        except I2cError:
            self.failures += 1
            raise


class PanelBus:
    """What luma's `i2c(bus=...)` needs of a bus, for the one chip whose address it claims.

    A panel that does not answer raises the `BusError` of this door, not an OSError.
    """

    def __init__(self, bus: I2cBus, address: int, part: str) -> None:
        self._chip = Chip(bus, address, part)

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        """Writes one command or a piece of the picture; luma's pieces have at most 32 bytes."""
        if i2c_addr != self._chip.address:
            raise ValueError(f"address 0x{i2c_addr:02X}: this panel is at another")
        self._chip.write(register, bytes(data))
