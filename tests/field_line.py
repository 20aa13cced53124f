"""What a case of the field is driven through: a receiver's line, and a sled that judges it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date

import msgspec
from judging import WI, configured, point, square

from firmware.buses.uart_fake import FakeReceiver
from firmware.clock import Clock
from firmware.findings import Alert, Event, Verdict
from firmware.gps.fixes import EpochReport, FixSettings, FixTracker
from firmware.law.packs import Law, Limit
from firmware.monitor import Monitor, build
from firmware.readings import (
    Channel,
    Fix,
    Reading,
    Receiver,
    Surroundings,
)
from firmware.sources.gps import Gps
from firmware.units import mps, mps_of_knots

NIGHT_SPEED = "350.10(1)(gm)"


@dataclass
class Line:
    """A receiver's bytes through the parser, the epochs and the gates."""

    floor: date = date(2024, 1, 1)
    trust_dates: bool = False
    at_s: float = 100.0
    readings: list[Reading] = field(default_factory=list)
    reports: list[EpochReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings = FixSettings(self.floor, trust_dates=self.trust_dates)
        self.tracker = FixTracker(settings, on_epoch=self.reports.append)

    def say(self, octets: bytes, after_s: float = 1.0) -> list[Fix]:
        """The fixes that these bytes give, a second after the last ones."""
        self.at_s += after_s
        found = self.tracker.feed(octets, self.at_s)
        self.readings += found
        return [one.value for one in found if isinstance(one.value, Fix)]

    @property
    def notes(self) -> list[str]:
        values = [one.value for one in self.readings]
        return [one.note for one in values if isinstance(one, Receiver) and one.note]

    def finish(self) -> list[EpochReport]:
        self.tracker.finish()
        return self.reports


class Sled:
    """A receiver's line and the monitor that judges it, at 45 N 87 W beside a dwelling."""

    def __init__(self, law: Law = WI, config: str = "", *, is_trusting: bool = True) -> None:
        self.line = Line(trust_dates=is_trusting)
        self.monitor: Monitor = build(
            configured("[clock]\nfloor = 2024-01-01\n" + config),
            [law],
            frozenset({Channel.FIX, Channel.RECEIVER, Channel.SURROUNDINGS}),
        )
        self.alerts: list[Alert] = []
        self.events: list[Event] = []
        place = (45.0, -87.0)
        features = (point("dwelling", place), square("coverage", place, 20_000.0, "cover"))
        around = Surroundings(*place, 2000.0, features)
        self._step(Reading(Channel.SURROUNDINGS, around, self.line.at_s, "test"))

    def say(self, octets: bytes, after_s: float = 1.0) -> None:
        before = len(self.line.readings)
        self.line.say(octets, after_s)
        for reading in self.line.readings[before:]:
            self._step(reading)
        if not octets:
            outcome = self.monitor.advance(self.line.at_s)
            self._keep(outcome.alerts, outcome.events)

    def ride(self, speed_mph: float) -> None:
        """A second of a ride east at a speed."""
        seconds = int(self.line.at_s) - 99
        minutes = seconds * 0.4 / 60.0
        knots = mps(speed_mph) / mps_of_knots(1.0)
        self.say(
            signed(
                f"GPRMC,1011{seconds:02d}.00,A,4500.0000,N,087{minutes:07.4f},W,"
                f"{knots:.4f},90.0,150124,,,A"
            )
        )

    def verdict(self, clause: str) -> Verdict:
        return self.monitor.findings[clause].verdict

    def raised(self, name: str) -> list[str]:
        return [one.state for one in self.alerts if one.name == name]

    def _step(self, reading: Reading) -> None:
        outcome = self.monitor.step(reading, reading.mono_s)
        self._keep(outcome.alerts, outcome.events)

    def _keep(self, alerts: list[tuple[float, Alert]], events: list[tuple[float, Event]]) -> None:
        self.alerts += [one for _, one in alerts]
        self.events += [one for _, one in events]


def signed(body: str) -> bytes:
    total = 0
    for octet in body.encode():
        total ^= octet
    return f"${body}*{total:02X}\r\n".encode()


def law_of(limit_mph: float) -> Law:
    """The night's clause with another figure, alone."""
    clause = WI.find(NIGHT_SPEED)
    assert clause is not None
    changed = msgspec.structs.replace(clause, limit=Limit(limit_mph))
    return msgspec.structs.replace(WI, clause=(changed,))


def posted(
    octets: bytes, wanted: Callable[[Reading], bool], speed: float = 1.0
) -> Iterator[Reading]:
    """What the source posts of these bytes on a serial line, until a wanted reading has come."""
    readings: queue.Queue[Reading] = queue.Queue()
    settings = FixSettings(date(2020, 1, 1), trust_dates=True)
    with FakeReceiver() as receiver:
        gps = Gps(receiver.port, 9600, settings, Clock(speed, from_zero=True))
        gps.start(readings.put)
        try:
            assert gps.wait_until_open(10.0)
            receiver.write(octets)
            for _ in range(2000):
                reading = readings.get(timeout=60.0)
                yield reading
                if wanted(reading):
                    return
        finally:
            gps.stop()
    raise AssertionError("it did not come")
