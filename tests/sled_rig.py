"""A sled: a monitor, the readings that a test says to it, and the story of its changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from judging import HOME, configured, east_of, fix_of, point, square

from firmware.findings import Finding, Outcome, Verdict
from firmware.law import packs as law
from firmware.monitor import Monitor, build
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Light,
    Reading,
    Surroundings,
    Tether,
    TetherState,
    Value,
)

NIGHT_SPEED, DWELLINGS, ICE = "350.10(1)(gm)", "350.10(1)(g)", "350.10(1)(i)"

HEAD, TAIL, TETHER = "350.09(2)(b)", "350.09(3)", "350.09(9)"

OF_SIX = law.load(str(Path(__file__).parent / "data" / "law" / "sample.toml"))
"""What a monitor does with clauses, not what they say: six of them are enough."""

SIX = [one.citation for one in OF_SIX.clause if one.kind]

T0 = 1000.0

NIGHT = datetime(2026, 1, 16, 5, tzinfo=UTC)  # 23:00 in Wisconsin

NOON = datetime(2026, 1, 16, 18, tzinfo=UTC)

EVERYTHING = frozenset(Channel)

FLOOR = "[clock]\nfloor = 2026-01-01\n"

GPS = frozenset({Channel.FIX, Channel.RECEIVER, Channel.REQUEST, Channel.JOURNAL})

COVER = square("coverage", HOME, 30_000.0, "cover")

HOUSE = point("dwelling", HOME, "house")


class Sled:
    """A monitor and the story of its changes."""

    def __init__(
        self, fitted: frozenset[Channel] = EVERYTHING, utc_at_t0: datetime = NIGHT
    ) -> None:
        self.monitor: Monitor = build(configured(FLOOR), [OF_SIX], fitted)
        self.utc_at_t0 = utc_at_t0
        self.findings: list[tuple[float, str, Verdict]] = []
        self.alerts: list[tuple[float, str, str]] = []
        self.events: list[tuple[float, str, bool, bool]] = []

    def _keep(self, outcome: Outcome) -> Sled:
        self.findings += [(at_s, one.clause, one.verdict) for at_s, one in outcome.findings]
        self.alerts += [(at_s, one.name, one.state) for at_s, one in outcome.alerts]
        self.events += [
            (at_s, one.clause, one.is_sure, one.end_s is not None) for at_s, one in outcome.events
        ]
        return self

    def put(
        self,
        at_s: float,
        channel: Channel,
        value: Value,
        fresh_s: float | None = None,
        *,
        mono_s: float | None = None,
    ) -> Sled:
        reading = Reading(channel, value, at_s if mono_s is None else mono_s, "test", fresh_s)
        return self._keep(self.monitor.step(reading, at_s))

    def fix(
        self,
        at_s: float,
        mph: float = 30.0,
        place: tuple[float, float] = HOME,
        fresh_s: float | None = 2.5,
        *,
        mono_s: float | None = None,
        utc: datetime | None = None,
        track_deg: float | None = None,
    ) -> Sled:
        mono_s = at_s if mono_s is None else mono_s
        date = self.utc_at_t0 + timedelta(seconds=mono_s - T0) if utc is None else utc
        value = replace(fix_of(mph, place, track_deg=track_deg), utc=date)
        return self.put(at_s, Channel.FIX, value, fresh_s, mono_s=mono_s)

    def whole(self, at_s: float = T0, *features: object) -> Sled:
        """All parts answer: lamps lit, tether in, engine on, a map about home, a fix at 30 mph."""
        around = Surroundings(*HOME, 2000.0, (COVER, *features))  # type: ignore[arg-type]  # Feature
        self.put(at_s, Channel.SURROUNDINGS, around)
        self.put(at_s, Channel.TETHER, Tether(TetherState.IN))
        self.put(at_s, Channel.ENGINE, Engine(True))
        self.put(at_s, Channel.LIGHT_HEAD, Light(800.0, 10.0))
        self.put(at_s, Channel.LIGHT_TAIL, Light(800.0, 10.0, 0.9))
        self.put(at_s, Channel.LIGHT_AMBIENT, Light(0.0, 1.0))
        self.put(at_s, Channel.JOURNAL, Disk(1000.0))
        return self.fix(at_s, place=east_of(3000.0))

    def advance(self, at_s: float) -> Sled:
        return self._keep(self.monitor.advance(at_s))

    def of(self, clause: str) -> list[tuple[float, Verdict]]:
        """The changes of one clause, with the seconds since T0."""
        return [(at_s - T0, verdict) for at_s, one, verdict in self.findings if one == clause]

    def now(self, clause: str) -> Finding:
        return self.monitor.findings[clause]

    def alert(self, name: str) -> list[tuple[float, str]]:
        return [(at_s - T0, state) for at_s, one, state in self.alerts if one == name]
