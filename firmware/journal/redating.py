"""Dates for the records of a boot by its anchors: also for those from before any date was known.

The originals stay as they were sealed: their `log_time` is what was known when they were written.
What an anchor adds is said beside it, never in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from firmware.findings import Anchor
from firmware.journal import reader
from firmware.journal.record import Record


@dataclass(frozen=True, slots=True)
class Dated:
    """The date of an instant of a boot, by which clock, to how many seconds.

    `is_redated` says that an anchor from after that instant gives it: the record itself has no
    date, or only the battery clock's.
    """

    utc: datetime
    source: Literal["gps", "rtc"]
    error_s: float
    is_redated: bool


class Anchors:
    """The anchors of one boot, asked for the date of any of its instants.

    The satellites' date that held at the instant counts; before the first of them, the first,
    reckoned back. Without satellites the battery clock's does, in the same way.
    """

    def __init__(self, anchors: Iterable[Anchor]) -> None:
        dated = [one for one in anchors if one.utc is not None]
        trusted = [one for one in dated if one.source == "gps"]
        self._anchors = trusted or dated
        self._is_known_from_s = min((one.mono_s for one in self._anchors), default=0.0)

    @classmethod
    def of(cls, records: Iterable[tuple[float, Record]]) -> Anchors:
        """The anchors among the records of one boot."""
        return cls(record for _, record in records if isinstance(record, Anchor))

    @classmethod
    def read(cls, path: Path) -> Anchors:
        """The anchors of a boot's folder, or of a segment alone; raises JournalError."""
        return cls.of(reader.read(path))

    def at(self, at_s: float) -> Dated | None:
        """The date of an instant of this boot; None where no clock ever told one."""
        held = [one for one in self._anchors if one.mono_s <= at_s]
        if not self._anchors:
            return None
        anchor = held[-1] if held else self._anchors[0]
        assert anchor.utc is not None  # those without a date were left out
        assert anchor.source != "none"
        away_s = at_s - anchor.mono_s
        error_s = (anchor.error_s or 0.0) + anchor.growth_ppm * 1e-6 * abs(away_s)
        is_redated = at_s < self._is_known_from_s
        return Dated(anchor.utc + timedelta(seconds=away_s), anchor.source, error_s, is_redated)
