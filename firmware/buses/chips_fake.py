"""Models of the chips, each from its own data sheet, for the fake bus and for `--simulate`.

A model keeps what the chip keeps: registers, a conversion that takes its time, a battery that may
have died. The world sets plain attributes (`lux`, `colour`, `utc`); the bus sets the rest.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

from firmware.clock import Clock

Colour = Literal["white", "red"]


class Bh1750Model:
    """ROHM BH1750FVI: opcodes, and a 16-bit count that is new after each conversion.

    Opcodes and flow: technical note p. 4-5; 120 ms typical, 180 ms at most: p. 2. A mode is taken
    only while powered on; the data register is 0 after power-up and after a reset.
    """

    conversion_s = 0.120  # H-resolution, typical, at the default measurement time of 69

    def __init__(self, clock: Clock, lux: float = 0.0) -> None:
        self._clock = clock
        self._lux = lux
        self.is_saturated = False
        self.power_cut()

    def power_cut(self) -> None:
        """The supply went and came back: the chip is powered down and knows no mode."""
        self._is_on = False
        self._mode: int | None = None
        self._time = 69
        self._register = 0
        self._started_s = 0.0
        self._done = 0

    @property
    def lux(self) -> float:
        """The light that falls on the sensor."""
        return self._lux

    @lux.setter
    def lux(self, value: float) -> None:
        self._convert()
        self._lux = value

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
        elif opcode == 0x07 and self._is_on:
            self._register = 0
        elif opcode in (0x10, 0x11, 0x13, 0x20, 0x21, 0x23) and self._is_on:
            self._mode = opcode
            self._started_s = self._clock.mono_s()
            self._done = 0
        elif opcode & 0xF8 == 0x40:
            self._time = self._time & 0x1F | (opcode & 0x07) << 5
        elif opcode & 0xE0 == 0x60:
            self._time = self._time & 0xE0 | opcode & 0x1F

    def _convert(self) -> None:
        if self._mode is None:
            return
        is_low = self._mode & 0x0F == 0x03
        took_s = self.conversion_s * (16 / 120 if is_low else 1.0) * self._time / 69
        done = int((self._clock.mono_s() - self._started_s) / took_s)
        if done <= self._done:
            return
        self._done = done
        doubled = 2 if self._mode & 0x0F == 0x01 else 1
        count = round(self._lux * 1.2 * doubled * self._time / 69)
        self._register = 0xFFFF if self.is_saturated else min(count, 0xFFFF)
        if self._mode & 0x20:
            self._is_on, self._mode = False, None  # a one-time mode powers down by itself


class Tcs34725Model:
    """ams TCS34725: command bit, integration cycles, gain, and the four counts of its light.

    Registers: data sheet p. 13-22. The counts follow its optical table: clear counts for each
    uW/cm2 at gain 16 and 24 ms (13.8 at 465 nm, 16.6 at 525 nm, 19.5 at 615 nm) and each filter's
    share of them, turned to lux with the eye's curve V (0.074, 0.793, 0.441; 683 lm/W).
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
        self._clock = clock
        self._lux = lux
        self._colour: Colour = colour
        self._id = chip_id
        self.is_saturated = False
        self.power_cut()

    def power_cut(self) -> None:
        """The supply went and came back: oscillator off, one cycle, gain 1, counts 0."""
        self._registers = bytearray(0x1C)
        self._registers[0x01] = 0xFF
        self._registers[0x12] = self._id
        self._pointer = 0
        self._started_s = 0.0
        self._done = 0

    @property
    def lux(self) -> float:
        """The light that falls on the sensor."""
        return self._lux

    @lux.setter
    def lux(self, value: float) -> None:
        self._convert()
        self._lux = value

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

    def read(self, count: int) -> bytes:
        self._convert()
        padded = bytes(self._registers).ljust(self._pointer + count, b"\x00")
        return padded[self._pointer : self._pointer + count]

    def _put(self, address: int, value: int) -> None:
        was_running = self._registers[0x00] & 0x03 == 0x03
        self._registers[address] = value
        is_running = self._registers[0x00] & 0x03 == 0x03
        if is_running and (not was_running or address == 0x01):
            self._started_s = self._clock.mono_s() + 0.0024  # warm-up, data sheet p. 15
            self._done = 0
            self._registers[0x13] &= 0xFE
        elif not is_running:
            self._registers[0x13] &= 0xFE

    def _convert(self) -> None:
        if self._registers[0x00] & 0x03 != 0x03:
            return
        cycles = 256 - self._registers[0x01]
        done = int((self._clock.mono_s() - self._started_s) / (cycles * 0.0024))
        if done <= self._done:
            return
        self._done = done
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
        for index, count in enumerate(counts):
            value = full if self.is_saturated else min(round(count), full)
            self._registers[0x14 + 2 * index : 0x16 + 2 * index] = value.to_bytes(2, "little")
        self._registers[0x13] |= 0x01


class Ds3231Model:
    """Maxim DS3231: BCD registers that tick, 12- and 24-hour forms, century bit, stop flag.

    Registers: data sheet p. 11-14. The date of a new or long dead chip is 1 January 2000 with
    the stop flag (OSF) set.
    """

    def __init__(self, clock: Clock, utc: datetime | None = None) -> None:
        self._clock = clock
        self._pointer = 0
        self._is_12_hour = False
        self._registers = bytearray(0x13)
        self._registers[0x0E] = 0x1C
        self._base = datetime(2000, 1, 1, tzinfo=UTC)
        self._base_s = clock.mono_s()
        self.has_stopped = True
        if utc is not None:
            self.utc = utc

    @property
    def utc(self) -> datetime:
        """The date that the chip keeps; setting it is a good write that clears the stop flag."""
        return self._base + timedelta(seconds=self._clock.mono_s() - self._base_s)

    @utc.setter
    def utc(self, value: datetime) -> None:
        self._base = value
        self._base_s = self._clock.mono_s()
        self.has_stopped = False

    @property
    def has_stopped(self) -> bool:
        """The oscillator stop flag."""
        return bool(self._registers[0x0F] & 0x80)

    @has_stopped.setter
    def has_stopped(self, value: bool) -> None:
        self._registers[0x0F] = self._registers[0x0F] & 0x7F | (0x80 if value else 0)

    def battery_dies(self) -> None:
        """The battery was empty while the unit was off: the date is gone, the stop flag set."""
        self.utc = datetime(2000, 1, 1, tzinfo=UTC)
        self.has_stopped = True

    def write(self, payload: bytes) -> None:
        self._pointer = payload[0] % 0x13
        values = payload[1:]
        if not values:
            return
        self._tick()
        is_time = False
        for value in values:
            is_time = is_time or self._pointer < 0x07
            # The stop flag of 0x0F can be cleared and never set.
            kept = self._registers[0x0F] | 0x7F if self._pointer == 0x0F else 0xFF
            self._registers[self._pointer] = value & kept
            self._pointer = (self._pointer + 1) % 0x13
        if is_time:
            self._take_time()

    def read(self, count: int) -> bytes:
        self._tick()
        answer = bytes(self._registers[(self._pointer + i) % 0x13] for i in range(count))
        self._pointer = (self._pointer + count) % 0x13
        return answer

    def _tick(self) -> None:
        now = self.utc
        if self._is_12_hour:
            hour = 0x40 | (0x20 if now.hour >= 12 else 0) | _bcd((now.hour - 1) % 12 + 1)
        else:
            hour = _bcd(now.hour)
        century = 0x80 if now.year >= 2100 else 0
        self._registers[0:7] = bytes(
            [
                _bcd(now.second),
                _bcd(now.minute),
                hour,
                now.isoweekday(),
                _bcd(now.day),
                _bcd(now.month) | century,
                _bcd(now.year % 100),
            ]
        )

    def _take_time(self) -> None:
        second, minute, hours, _, day, month, year = self._registers[0:7]
        self._is_12_hour = bool(hours & 0x40)
        if self._is_12_hour:
            hour = _of_bcd(hours & 0x1F) % 12 + (12 if hours & 0x20 else 0)
        else:
            hour = _of_bcd(hours & 0x3F)
        self._base = datetime(
            2000 + _of_bcd(year) + (100 if month & 0x80 else 0),
            _of_bcd(month & 0x1F),
            _of_bcd(day),
            hour,
            _of_bcd(minute),
            _of_bcd(second),
            tzinfo=UTC,
        )
        self._base_s = self._clock.mono_s()


class Ssd1309Model:
    """Solomon Systech SSD1309, 128 x 64: commands, three ways of addressing, and its picture.

    Commands: data sheet ch. 9-10. A write begins with its control byte: 0x00 commands, 0x40
    picture. Scrolling and the graphic commands are not modelled.
    """

    _ARGUMENTS: ClassVar[dict[int, int]] = {
        0x20: 1, 0x21: 2, 0x22: 2, 0x81: 1, 0x8D: 1, 0xA8: 1,
        0xD3: 1, 0xD5: 1, 0xD9: 1, 0xDA: 1, 0xDB: 1, 0xFD: 1,
    }  # fmt: skip  # a table reads better in rows

    def __init__(self) -> None:
        self.memory = bytearray(128 * 8)
        self.is_on = False
        self.contrast = 0x7F
        self.writes = 0
        self._is_inverse = False
        self._is_remapped = False
        self._scans_down = False
        self._mode = 2
        self._columns = (0, 127)
        self._pages = (0, 7)
        self._column = 0
        self._page = 0
        self._pending: list[int] = []

    def write(self, payload: bytes) -> None:
        control, values = payload[0], payload[1:]
        if control & 0x40:
            self.writes += 1
            for value in values:
                self._draw(value)
        else:
            self._pending.extend(values)
            self._obey()

    def read(self, count: int) -> bytes:
        return bytes([0x00 if self.is_on else 0x40]) * count  # the status: bit 6 is display off

    def rows(self) -> list[list[bool]]:
        """What the rider sees: 64 rows of 128 lit or dark points, all dark when switched off."""
        return [[self._is_lit(x, y) for x in range(128)] for y in range(64)]

    def pbm(self) -> bytes:
        """The same picture as a portable bitmap (1 is a lit point)."""
        body = bytearray()
        for row in self.rows():
            for x in range(0, 128, 8):
                body.append(sum(1 << 7 - bit for bit in range(8) if row[x + bit]))
        return b"P4\n128 64\n" + bytes(body)

    def _is_lit(self, x: int, y: int) -> bool:
        # Mounted as modules are: segment remap and downward scan show column 0, row 0 top left.
        column = x if self._is_remapped else 127 - x
        row = y if self._scans_down else 63 - y
        bit = bool(self.memory[row // 8 * 128 + column] >> row % 8 & 1)
        return self.is_on and bit != self._is_inverse

    def _obey(self) -> None:
        while self._pending:
            command = self._pending[0]
            count = self._ARGUMENTS.get(command, 0)
            if len(self._pending) <= count:
                return
            arguments = self._pending[1 : 1 + count]
            del self._pending[: 1 + count]
            self._command(command, arguments)

    def _command(self, command: int, arguments: list[int]) -> None:
        if command == 0x20:
            self._mode = arguments[0] & 0x03
        elif command == 0x21:
            self._columns = (arguments[0] & 0x7F, arguments[1] & 0x7F)
            self._column = self._columns[0]
        elif command == 0x22:
            self._pages = (arguments[0] & 0x07, arguments[1] & 0x07)
            self._page = self._pages[0]
        elif command == 0x81:
            self.contrast = arguments[0]
        elif command in (0xAE, 0xAF):
            self.is_on = command == 0xAF
        elif command in (0xA0, 0xA1):
            self._is_remapped = command == 0xA1
        elif command in (0xA6, 0xA7):
            self._is_inverse = command == 0xA7
        elif command in (0xC0, 0xC8):
            self._scans_down = command == 0xC8
        elif self._mode == 2:
            self._point(command)

    def _point(self, command: int) -> None:
        if command <= 0x0F:
            self._column = self._column & 0x70 | command
        elif command <= 0x1F:
            self._column = self._column & 0x0F | (command & 0x07) << 4
        elif 0xB0 <= command <= 0xB7:
            self._page = command & 0x07

    def _draw(self, value: int) -> None:
        self.memory[self._page * 128 + self._column] = value
        if self._mode == 2:
            self._column = (self._column + 1) % 128
        elif self._mode == 0:
            self._column, has_wrapped = _step(self._column, self._columns)
            if has_wrapped:
                self._page, _ = _step(self._page, self._pages)
        else:
            self._page, has_wrapped = _step(self._page, self._pages)
            if has_wrapped:
                self._column, _ = _step(self._column, self._columns)


def _step(value: int, window: tuple[int, int]) -> tuple[int, bool]:
    return (window[0], True) if value >= window[1] else (value + 1, False)


def _bcd(value: int) -> int:
    return value // 10 << 4 | value % 10


def _of_bcd(value: int) -> int:
    return (value >> 4) * 10 + (value & 0x0F)
