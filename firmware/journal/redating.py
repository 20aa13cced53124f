"""Dates for the records of a boot by its anchors: also for those from before any date was known.

The originals stay as they were sealed: their `log_time` is what was known when they were written.
What an anchor adds is said beside it, never in its place.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal

from firmware.findings import Anchor
from firmware.journal import reader
from firmware.journal.record import Record
from firmware.journal.stored import Identity

STEP_S = 1.0
"""A date that moves by less is the receiver's own jitter."""


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
        self._held_from_s = [one.mono_s for one in self._anchors]

    @classmethod
    def of(cls, records: Iterable[tuple[float, Record]]) -> Anchors:
        """The anchors among the records of one boot."""
        return cls(record for _, record in records if isinstance(record, Anchor))

    @classmethod
    def read(cls, path: Path, identity: Identity | None = None) -> Anchors:
        """The anchors of a boot's folder, or of a segment alone; raises JournalError."""
        return cls.of(reader.read(path, identity))

    def at(self, at_s: float) -> Dated | None:
        """The date of an instant of this boot; None where no clock ever told one."""
        if not self._anchors:
            return None
        number = bisect_right(self._held_from_s, at_s) - 1
        anchor = self._anchors[max(0, number)]
        assert anchor.utc is not None  # those without a date were left out
        assert anchor.source != "none"
        away_s = at_s - anchor.mono_s
        error_s = (anchor.error_s or 0.0) + anchor.growth_ppm * 1e-6 * abs(away_s)
        try:
            utc = anchor.utc + timedelta(seconds=away_s)
        except OverflowError:  # beyond the year 9999: no unit of ours wrote that
            return None
        return Dated(utc, anchor.source, error_s, number < 0)

    @property
    def known_from_s(self) -> float:
        """From when on the date was known as it is told here; infinite where it never was."""
        return self._held_from_s[0] if self._held_from_s else math.inf

    def steps_s(self) -> list[float]:
        """The instants at which the date moved by more than a second, but for the first of all."""
        return [
            one.mono_s
            for before, one in pairwise(self._anchors)
            if abs(_boot_s(one) - _boot_s(before)) > STEP_S
        ]


def _boot_s(anchor: Anchor) -> float:
    """The date of second 0 of the boot, in seconds since 1970."""
    assert anchor.utc is not None  # those without a date were left out
    return anchor.utc.timestamp() - anchor.mono_s
