"""A model of the DS3231, for the fake bus and for `--simulate`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from firmware.clock import Clock


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
        self._registers[0x07:0x0E] = bytes(7)
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


def _bcd(value: int) -> int:
    return value // 10 << 4 | value % 10


def _of_bcd(value: int) -> int:
    return (value >> 4) * 10 + (value & 0x0F)
