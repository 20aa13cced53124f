"""A journal judged again: its readings give its findings and alerts anew, record for record."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from msgspec import structs

from firmware.config.reading import parse as parse_config
from firmware.config.schema import Config
from firmware.errors import ConfigError, JournalError
from firmware.findings import Alert, Anchor, Event, Finding, Notice, Pull, Standing
from firmware.gps.fixes import EpochReport
from firmware.journal import reader
from firmware.journal.record import (
    CONFIG_JSON,
    CONFIG_TOML,
    LAW_FOLDER,
    Close,
    Gap,
    Record,
    Start,
)
from firmware.journal.redating import Anchors
from firmware.journal.stored import Identity
from firmware.law import packs as law
from firmware.law.packs import Law
from firmware.maps.packs import Pack
from firmware.readings import Channel, Fix, Reading
from firmware.sources.drive import every_sensor, with_modes, with_surroundings
from host_tools.replay.replaying import Told

Judged = Finding | Alert | Event


@dataclass(slots=True)
class Comparison:
    """Holds what the journal says beside what the replay says, and finds the first difference.

    Findings, alerts and events are compared each in their own order. `records` counts those that
    agree. The last ones of a journal that was cut by a power failure may be missing in it.
    """

    records: int = 0
    difference: str = ""
    lost: int = 0
    is_whole: bool = False
    _held: dict[type, deque[tuple[float, Judged]]] = field(default_factory=dict)
    _anew: dict[type, deque[tuple[float, Judged]]] = field(default_factory=dict)

    def hold(self, at_s: float, record: Judged) -> None:
        """Takes a record of the journal."""
        self._held.setdefault(type(record), deque()).append((at_s, record))
        self._compare(type(record))

    def judge(self, told: Told) -> None:
        """Takes a record of the replay; the notes follow from the readings alone."""
        if isinstance(told.record, Anchor | Pull | Notice | Standing):
            return
        kind = type(told.record)
        self._anew.setdefault(kind, deque()).append((told.at_s, told.record))
        self._compare(kind)

    def finish(self) -> None:
        """Looks at what has no partner at the end."""
        for held in self._held.values():
            if held and not self.difference:
                self.difference = f"the journal has {_words(held[0])}; the replay has not"
        for anew in self._anew.values():
            if anew and self.is_whole and not self.difference:
                self.difference = f"the replay has {_words(anew[0])}; the journal has not"

    def _compare(self, kind: type) -> None:
        held, anew = self._held.setdefault(kind, deque()), self._anew.setdefault(kind, deque())
        while held and anew:
            was, now = held.popleft(), anew.popleft()
            if was == now:
                self.records += 1
            elif not self.difference:
                self.difference = f"the journal has {_words(was)}; the replay has {_words(now)}"


@dataclass(slots=True)
class Redated:
    """Dates what a journal held before any date was known, by the anchors that came later.

    `count` says how many were, `source` by which clock. Without a journal it changes nothing.
    `identity` opens encrypted segments.
    """

    path: Path | None
    identity: Identity | None = None
    count: int = 0
    source: str = ""
    _anchors: Anchors | None = None

    def dated(self, told: Told) -> Told:
        """The same, with a date where it had none and the journal has one for it."""
        if told.utc is not None or self.path is None:
            return told
        if self._anchors is None:
            self._anchors = Anchors.read(self.path, self.identity)
        found = self._anchors.at(told.at_s)
        if found is None:
            return told
        self.count += 1
        self.source = found.source
        return replace(told, utc=found.utc)


@dataclass(slots=True)
class JournalRecording:
    """A boot's journal with the configuration and the laws that it carries."""

    path: Path
    start: Start
    config: Config
    laws: tuple[Law, ...]
    identity: Identity | None = None
    comparison: Comparison = field(default_factory=Comparison)

    def readings(self) -> Iterator[tuple[float, Reading | None]]:
        """Its readings as they were judged; what it holds of findings goes to the comparison."""
        last: Record | None = None
        for at_s, record in reader.read(self.path, self.identity):
            match record:
                case Reading():
                    yield at_s, record
                case Finding() | Alert() | Event():
                    self.comparison.hold(at_s, record)
                case Gap(lost=lost):
                    self.comparison.lost += lost
                case Close():
                    yield at_s, None
                case _:
                    pass
            last = record
        self.comparison.is_whole = isinstance(last, Close) and last.is_last

    def epochs(self) -> Iterator[EpochReport]:
        """The fixes that the journal holds; they have passed the gates."""
        for _, reading in self.readings():
            if reading is not None and isinstance(reading.value, Fix):
                yield _report(reading.value)

    def readings_again(
        self, modes: tuple[str, ...], zones: tuple[Path, ...]
    ) -> Iterator[tuple[float, Reading]]:
        """Its readings with other modes from the start, or with other packs' features."""
        yield from with_modes(modes, self.config.engine is not None)
        alone = ((at_s, one) for at_s, one in self.readings() if one is not None)
        if not zones:
            yield from alone
            return
        packs = [Pack(path) for path in zones]
        kept = (entry for entry in alone if entry[1].channel is not Channel.SURROUNDINGS)
        try:
            yield from with_surroundings(kept, packs)
        finally:
            for pack in packs:
                pack.close()


def open_journal(path: Path, identity: Identity | None = None) -> JournalRecording:
    """Opens a segment or a boot's folder; raises JournalError where it can't be judged again."""
    start = reader.start(path, identity)
    if start.segment > 1:
        raise JournalError(
            str(path),
            f"is segment {start.segment} of its boot: judging goes on from the ones before it.",
            f"Replay the whole boot: sledwarden replay {path.resolve().parent}",
        )
    attached = reader.attachments(path, identity)
    laws = laws_in(attached)
    if not laws:
        raise JournalError(str(path), "carries no law: it can't be judged again.")
    return JournalRecording(path, start, config_of(start, attached), tuple(laws), identity)


def laws_in(attached: dict[str, bytes]) -> list[Law]:
    """The law packs that a segment carries; raises LawError."""
    return [
        law.parse(octets, name)
        for name, octets in attached.items()
        if name.startswith(LAW_FOLDER) and name.endswith(".toml")
    ]


def config_of(start: Start, attached: dict[str, bytes]) -> Config:
    """The configuration that was in force, with what the start record says of it.

    Raises ConfigError where it can't be read.
    """
    try:
        return _config_of(start, attached)
    except (ValueError, RecursionError) as fault:
        raise ConfigError("the journal's configuration", [f"can't be read: {fault}"]) from fault


def _config_of(start: Start, attached: dict[str, bytes]) -> Config:
    whole = attached.get(CONFIG_JSON)
    if whole is not None:
        return msgspec.json.decode(whole, type=Config)
    text = attached.get(CONFIG_TOML, b"").decode()
    config = parse_config(text, CONFIG_TOML) if text else every_sensor()
    unit = config.unit
    if start.vehicle:
        unit = msgspec.convert(structs.asdict(unit) | {"vehicle": start.vehicle}, type(unit))
    zones = structs.replace(config.zones, packs=tuple(start.packs) or config.zones.packs)
    return structs.replace(config, unit=unit, zones=zones)


def _words(entry: tuple[float, Judged]) -> str:
    at_s, record = entry
    match record:
        case Finding():
            return f"{record.clause} {record.verdict} ({record.why}) at {at_s:.3f} s"
        case Alert():
            return f"alert {record.name} {record.state} at {at_s:.3f} s"
        case Event():
            return f"an event of {record.clause} at {at_s:.3f} s"


def _report(fix: Fix) -> EpochReport:
    return EpochReport(
        sentence=0,
        lat_deg=fix.lat_deg,
        lon_deg=fix.lon_deg,
        error_m=fix.error_m,
        mode=fix.mode,
        utc=fix.utc,
        speed_mps=fix.speed_mps,
        error_mps=fix.error_mps,
        track_deg=fix.track_deg,
        derived=fix.derived,
    )
