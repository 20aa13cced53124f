"""The DS3231 battery clock: the date until the first fix (Maxim data sheet 19-5170, Rev 10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from firmware.buses.i2c import Chip, Field, I2cBus, Register
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.readings import Channel, Missing, Reading, RtcTime, Why

SECONDS = Register("SECONDS", 0x00)
HOURS = Register("HOURS", 0x02)
IS_12_HOUR = Field("12/24", HOURS, 6)
IS_PM = Field("AM/PM", HOURS, 5)
MONTH = Register("MONTH", 0x05)
CENTURY = Field("CENTURY", MONTH, 7)
CONTROL = Register("CONTROL", 0x0E)
STOPS_ON_BATTERY = Field("EOSC", CONTROL, 7)
STATUS = Register("STATUS", 0x0F)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HAS_STOPPED = Field("OSF", STATUS, 7)

MEMORY = Register("ALARMS", 0x07, 6, "big")  # the alarms are not used: battery-backed memory
MARK = 0x5D  # the first byte of what we keep there

DRIFT = 3.5e-6  # p. 1: seconds a second from -40 to 85 C
YEAR_S = 366 * 86_400.0
RESOLUTION_S = 1.0
OFF_S = 1.5  # further from the satellites than its resolution explains
DAY_S = 86_400.0


class Ds3231:
    """A DS3231, read every ten seconds; it keeps UTC.

    Its error is the second that it counts in and 3.5 ppm since it was set. When it was set is kept
    in its alarm registers, behind the same battery; where they do not say, a year is assumed
    (112 s). A set stop flag (OSF) means that its battery was empty: what it counts since is no
    date. The kernel must not hold it (`dtoverlay=i2c-rtc`).

    A date that it is offered is taken at its next turn on the bus where it has none, is off by more
    than 1.5 s, or was not set for a day; what it gained since it was set is then its drift.
    """

    ADDRESSES = (0x68,)
    period_s = 10.0
    fresh_s = 25.0

    def __init__(self, bus: I2cBus, address: int, channel: Channel, clock: Clock) -> None:
        self.channel = channel
        self.chip = Chip(bus, address, f"{channel} (ds3231)", self.ADDRESSES)
        self.source = f"ds3231@{bus.name}:0x{address:02x}"
        self._offered: tuple[datetime, float] | None = None
        self._drift_ppm: float | None = None

    def read(self, at_s: float) -> Reading:
        """The date that it keeps, or why there is none."""
        try:
            value = self._date()
            offered, self._offered = self._offered, None
            if offered is not None and self._is_wanted(value, *offered, at_s):
                self.write(offered[0] + timedelta(seconds=at_s - offered[1]))
                value = self._date()
        except BusError as error:
            value = Missing(Why.NO_ANSWER, str(error))
        return Reading(self.channel, value, at_s, self.source, self.fresh_s)

    def offer(self, utc: datetime, mono_s: float) -> None:
        """Says the date of a monotonic instant, by the satellites; from any thread, at once."""
        self._offered = (utc, mono_s)

    def _is_wanted(
        self, kept: RtcTime | Missing, utc: datetime, mono_s: float, at_s: float
    ) -> bool:
        """Whether an offered date is to be taken; measures the drift where it is."""
        if isinstance(kept, Missing):
            self._drift_ppm = None
            return kept.why is Why.NOT_TRUSTED  # stopped, or no date at all
        now = utc + timedelta(seconds=at_s - mono_s)
        # It shows the second that has begun: on the average half a second has passed of it.
        gained_s = (kept.utc + timedelta(seconds=0.5) - now).total_seconds()
        set_utc = self._set_utc()
        age_s = None if set_utc is None else (now - set_utc).total_seconds()
        if abs(gained_s) <= OFF_S and age_s is not None and 0.0 <= age_s < DAY_S:
            return False
        self._drift_ppm = None
        if age_s is not None and age_s >= DAY_S:  # in less, its resolution hides it
            self._drift_ppm = round(gained_s / age_s * 1e6, 3)
        return 2000 <= now.year <= 2099

    def write(self, utc: datetime) -> None:
        """Sets it to a date from 2000 to 2099, to the nearest second, and clears the stop flag.

        Raises `BusError` when it does not take it; blocks as the bus does.
        """
        if utc.tzinfo is None:
            raise ValueError(f"{utc}: must say its time zone")
        when = (utc + timedelta(seconds=0.5)).astimezone(UTC)
        if not 2000 <= when.year <= 2099:
            raise ValueError(f"{utc}: must be from 2000 to 2099")
        fields = (
            when.second,
            when.minute,
            when.hour,
            when.isoweekday(),
            when.day,
            when.month,
            when.year % 100,
        )
        self.chip.write(SECONDS.address, bytes(_bcd(field) for field in fields))
        self._remember(when)
        self.chip.set(STOPS_ON_BATTERY, 0)
        self.chip.set(HAS_STOPPED, 0)

    def _remember(self, utc: datetime) -> None:
        """Keeps when it was set: minutes since 2000 between a mark and a sum of them."""
        minutes = int((utc - EPOCH).total_seconds() // 60)
        octets = minutes.to_bytes(4, "big")
        self.chip.write(MEMORY.address, bytes([MARK, *octets, sum(octets) & 0xFF]))

    def _set_utc(self) -> datetime | None:
        """When it was set, as far as its memory says."""
        mark, *octets, check = self.chip.read(MEMORY.address, MEMORY.width)
        if mark != MARK or sum(octets) & 0xFF != check:
            return None
        return EPOCH + timedelta(minutes=int.from_bytes(bytes(octets), "big"))

    def _date(self) -> RtcTime | Missing:
        registers = self.chip.read(SECONDS.address, STATUS.address + 1)
        if registers.count(0xFF) == len(registers):
            return Missing(Why.NOT_TRUSTED, "all its registers read 0xFF: look at its wires")
        if HAS_STOPPED.of(registers[STATUS.address]):
            return Missing(
                Why.NOT_TRUSTED,
                "the battery clock has stopped: set it (a GPS fix does) and change its battery",
            )
        try:
            utc = _utc(registers[:7])
        except ValueError:
            return Missing(Why.NOT_TRUSTED, f"its registers {registers[:7].hex(' ')} are no date")
        set_utc = self._set_utc()
        age_s = YEAR_S if set_utc is None else (utc - set_utc).total_seconds()
        age_s = age_s if age_s >= 0.0 else YEAR_S  # set later than it shows: not by us
        return RtcTime(utc, RESOLUTION_S + DRIFT * age_s, self._drift_ppm)


def _utc(registers: bytes) -> datetime:
    """The date of registers 0x00 to 0x06; raises ValueError where they hold none."""
    seconds, minutes, hours, _, day, month, year = registers
    if IS_12_HOUR.of(hours):
        hour = _of_bcd(hours & 0x1F)
        if not 1 <= hour <= 12:
            raise ValueError(f"hour {hour} of twelve")
        hour = hour % 12 + 12 * IS_PM.of(hours)
    else:
        hour = _of_bcd(hours & 0x3F)
    return datetime(
        2000 + 100 * CENTURY.of(month) + _of_bcd(year),
        _of_bcd(month & 0x1F),
        _of_bcd(day),
        hour,
        _of_bcd(minutes),
        _of_bcd(seconds),
        tzinfo=UTC,
    )


def _bcd(value: int) -> int:
    return value // 10 << 4 | value % 10


def _of_bcd(value: int) -> int:
    tens, ones = value >> 4, value & 0x0F
    if tens > 9 or ones > 9:
        raise ValueError(f"0x{value:02X} is no decimal")
    return 10 * tens + ones
