"""What a file is, and the readings it holds: a raw NMEA log, a `.drive`, a GPX track.

Journals are read beside this, in `journals.py`, for they hold findings as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from msgspec import structs

from firmware.config.parts import Lights
from firmware.config.reading import load as load_config
from firmware.config.schema import Config, Unit, with_floor
from firmware.drives.script import Drive, Send
from firmware.drives.script_text import load as load_drive
from firmware.errors import SledwardenError
from firmware.files import refuse_unless_regular
from firmware.gps.fixes import EpochReport, paced
from firmware.journal.reader import boots
from firmware.readings import Reading
from firmware.sources import drive as source
from host_tools.replay.gpx import Point, of_track, read_track, refuse_without_speed

MAGIC = b"\x89MCAP0\r\n"
ZSTD = b"\x28\xb5\x2f\xfd"
ADVICE = "replay reads a raw NMEA log, a .drive, a journal (.mcap, or its boot's folder) or a GPX."


class Kind(StrEnum):
    """What a recording is."""

    NMEA = "NMEA log"
    DRIVE = "drive"
    JOURNAL = "journal"
    GPX = "GPX track"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for on the command line; absent means as the recording has it."""

    law: tuple[str, ...] = ()
    zones: tuple[Path, ...] = ()
    config: Path | None = None
    vehicle: str | None = None
    modes: tuple[str, ...] = ()
    floor: date | None = None


def recognise(path: Path) -> Kind:
    """What a file is, by its name and its first bytes; raises SledwardenError for anything else."""
    if path.is_dir():
        if boots(path) or any(path.glob("*.mcap*")):
            return Kind.JOURNAL
        raise SledwardenError(str(path), "is a folder without journal segments.", ADVICE)
    try:
        refuse_unless_regular(path, "a recording")
        with path.open("rb") as file:
            head = file.read(65536)
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be read: {fault.strerror}.", ADVICE) from fault
    if not head:
        raise SledwardenError(str(path), "is empty: a recording was expected.", ADVICE)
    if path.suffix == ".drive":
        return Kind.DRIVE
    if head.startswith((MAGIC, ZSTD)) or ".mcap" in path.suffixes:
        return Kind.JOURNAL
    if path.suffix == ".gpx" or b"<gpx" in head:
        return Kind.GPX
    if _has_sentence(path):
        return Kind.NMEA
    raise SledwardenError(str(path), "has no NMEA sentence in it.", ADVICE)


def _has_sentence(path: Path) -> bool:
    """Whether anything in the file begins as a sentence, be its checksum right or wrong."""
    return re.search(rb"\$[A-Z]{2}[A-Z0-9]{3},", path.read_bytes()) is not None


@dataclass(slots=True)
class Recording:
    """A recording with the configuration it is judged by.

    `floor` is absent where its dates are believed as they stand. `last_s` is its length, as far
    as it is known before all of it was read.
    """

    path: Path
    kind: Kind
    config: Config
    floor: date | None
    modes: tuple[str, ...]
    drive: Drive | None = None
    track: tuple[Point, ...] = ()
    last_s: float = 0.0

    def readings(self) -> Iterator[tuple[float, Reading]]:
        """Its readings in virtual time, without what lies near."""
        if self.drive is not None:
            yield from source.readings(self.drive, self.config)
            return
        yield from source.with_modes(self.modes, is_engine_fitted=False)
        if self.kind is Kind.GPX:
            yield from of_track(self.track, f"gpx:{self.path.name}")
            return
        tracker = source.tracker(self.config, self.floor, source=f"log:{self.path.name}")
        chunks = paced(self.path.read_bytes())
        self.last_s = chunks[-1][0]
        for at_s, octets in chunks:
            for reading in tracker.feed(octets, at_s):
                yield at_s, reading

    def refuse_without_speed(self) -> None:
        """Raises SledwardenError for a track of which no point can be judged, and says why."""
        if self.kind is Kind.GPX:
            refuse_without_speed(self.path, self.track)

    def epochs(self) -> Iterator[EpochReport]:
        """Each epoch that the receiver says is valid, before the gates of order and outlier."""
        if self.kind is Kind.GPX:
            yield from (point.report for point in self.track)
            return
        reports: list[EpochReport] = []
        tracker = source.tracker(self.config, self.floor, reports.append)
        for octets in self._octets():
            tracker.feed(octets, 0.0)
            yield from reports
            reports.clear()
        tracker.finish()
        yield from reports

    def _octets(self) -> Iterator[bytes]:
        if self.drive is None:
            yield self.path.read_bytes()
            return
        for _, action in self.drive.timeline():
            if isinstance(action.deed, Send):
                yield action.deed.octets


def open_recording(path: Path, kind: Kind, wishes: Wishes) -> Recording:
    """Opens a log, a drive or a track; raises SledwardenError with all that is wrong with it."""
    if kind is Kind.DRIVE:
        return _open_drive(path, wishes)
    config = Config(unit=Unit(id="replay"))
    if wishes.config is not None:
        config = load_config(wishes.config)
    # A log has the receiver's voice alone: no other sensor was there to be heard.
    config = structs.replace(
        config, light=Lights(), rtc=None, tether=None, engine=None, button=None
    )
    config = as_wished(config, wishes)
    if kind is Kind.NMEA:
        return Recording(path, kind, config, wishes.floor, wishes.modes)
    track = read_track(path, config.gps)
    return Recording(path, kind, config, wishes.floor, wishes.modes, None, track, track[-1].at_s)


def _open_drive(path: Path, wishes: Wishes) -> Recording:
    drive = load_drive(path)
    drive = replace(
        drive,
        laws=wishes.law or drive.laws,
        zones=wishes.zones or drive.zones,
        vehicle=wishes.vehicle or drive.vehicle,
        modes=(*drive.modes, *(mode for mode in wishes.modes if mode not in drive.modes)),
        floor=wishes.floor or drive.floor,
    )
    config = None if wishes.config is None else load_config(wishes.config)
    return Recording(
        path,
        Kind.DRIVE,
        source.config_of(drive, config),
        drive.floor,
        drive.modes,
        drive,
        last_s=drive.actions[-1].at_s,
    )


def as_wished(config: Config, wishes: Wishes) -> Config:
    """The configuration with what the command line says in place of what it said."""
    unit = config.unit
    if wishes.law:
        unit = structs.replace(unit, law="auto" if wishes.law == ("auto",) else wishes.law)
    if wishes.vehicle is not None:
        unit = structs.replace(unit, vehicle=wishes.vehicle)
    zones = config.zones
    if wishes.zones:
        zones = structs.replace(zones, packs=tuple(str(path) for path in wishes.zones))
    return with_floor(structs.replace(config, unit=unit, zones=zones), wishes.floor)
