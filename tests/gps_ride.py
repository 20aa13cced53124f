"""A receiver that says what a test tells it to, and what came of it through the gates."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from firmware.gps.fixes import EpochReport, FixSettings, FixTracker
from firmware.readings import Fix, Missing, Reading, Receiver

FLOOR = date(2024, 1, 1)

SETTINGS = FixSettings(floor=FLOOR)

M_PER_MINUTE = 1852.0


def signed(body: str) -> bytes:
    total = 0
    for octet in body.encode():
        total ^= octet
    return f"${body}*{total:02X}\r\n".encode()


def clock(time_s: float) -> str:
    centis = round(time_s * 100) % 8_640_000
    seconds, rest = divmod(centis, 100)
    return f"{seconds // 3600:02d}{seconds // 60 % 60:02d}{seconds % 60:02d}.{rest:02d}"


def place(north_m: float, decimals: int = 5) -> str:
    return f"45{north_m / M_PER_MINUTE:0{decimals + 3}.{decimals}f},N,08700.00000,W"


@dataclass
class Ride:
    """A receiver that says what a test tells it to, and what came of it."""

    tracker: FixTracker
    reports: list[EpochReport] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    at_s: float = 500.0

    def say(self, octets: bytes, after_s: float = 0.0) -> list[Fix]:
        """Sends bytes and returns the fixes that they give."""
        self.at_s += after_s
        found = self.tracker.feed(octets, self.at_s)
        self.readings += found
        return [reading.value for reading in found if isinstance(reading.value, Fix)]

    def rmc(
        self,
        time_s: float,
        knots: float,
        north_m: float = 0.0,
        *,
        day: str = "150124",
        status: str = "A",
        after_s: float = 1.0,
        decimals: int = 5,
    ) -> list[Fix]:
        body = f"GPRMC,{clock(time_s)},{status},{place(north_m, decimals)},{knots},0.0,{day},,,A"
        return self.say(signed(body), after_s)

    def gga(
        self, time_s: float, north_m: float, decimals: int = 5, after_s: float = 1.0
    ) -> list[Fix]:
        body = f"GPGGA,{clock(time_s)},{place(north_m, decimals)},1,08,1.2,200.0,M,-30.0,M,,"
        return self.say(signed(body), after_s)

    @property
    def notes(self) -> list[str]:
        return [
            reading.value.note
            for reading in self.readings
            if isinstance(reading.value, Receiver) and reading.value.note
        ]

    @property
    def missing(self) -> list[Missing]:
        return [reading.value for reading in self.readings if isinstance(reading.value, Missing)]


def new_ride(settings: FixSettings = SETTINGS) -> Ride:
    reports: list[EpochReport] = []
    return Ride(FixTracker(settings, on_epoch=reports.append), reports)
