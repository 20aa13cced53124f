"""What a clause says of places that are entered and signs that are passed: data, and its faults."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated

import msgspec

from firmware.maps.packs import KINDS

WIDEST_FT = 500.0
"""The most to either side of a line that still counts as on it."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The zones that a clause keeps a sled out of, and what lets it in.

    `kinds` are kinds of zone; a line among them (a closed trail) reaches `line_ft` to each side.
    `crossing` are kinds of line or area on which a zone may be crossed, lines `crossing_ft` to
    each side. `consent` says that a zone named in `[zones] consents` is lifted; `after_stop` that
    a stop at its edge opens it for one visit.
    """

    kinds: tuple[str, ...]
    line_ft: float = 15.0
    crossing: tuple[str, ...] = ()
    crossing_ft: float = 15.0
    consent: bool = False
    after_stop: bool = False


class Signs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signs that a clause asks to obey.

    A sign on the map is a line, its way in, that ends at the sign, or a point. `stop` are the
    kinds at which a sled must stand, `give_way` those at which its rider is advised to yield.
    Whoever comes along within `within_ft` of that way is on it.
    """

    stop: tuple[str, ...] = ()
    give_way: tuple[str, ...] = ()
    within_ft: float = 30.0


class Season(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The days of each year on which a clause holds, both included; 12-01 to 03-31 is a winter."""

    from_day: Annotated[str, msgspec.Meta(pattern=r"^\d\d-\d\d\Z")]
    to_day: Annotated[str, msgspec.Meta(pattern=r"^\d\d-\d\d\Z")]

    def holds(self, day: date) -> bool:
        """Whether a day of any year lies in the season."""
        at = f"{day:%m-%d}"
        if self.from_day <= self.to_day:
            return self.from_day <= at <= self.to_day
        return at >= self.from_day or at <= self.to_day


def faults_of(
    kind: str, entry: Entry | None, signs: Signs | None, season: Season | None
) -> list[str]:
    """What is wrong with the places and signs of a clause that the rule `kind` judges."""
    return [*_entry_faults(kind, entry), *_sign_faults(kind, signs), *_season_faults(season)]


def _entry_faults(kind: str, entry: Entry | None) -> Iterator[str]:
    if kind == "zone_entry" and (entry is None or not entry.kinds):
        yield "entry: must name the kinds of zone of a zone_entry clause."
    if entry is None:
        return
    yield from _unknown("entry", (*entry.kinds, *entry.crossing))
    for key, value in (("line_ft", entry.line_ft), ("crossing_ft", entry.crossing_ft)):
        yield from _width_fault(key, value)


def _sign_faults(kind: str, signs: Signs | None) -> Iterator[str]:
    if kind == "stop" and (signs is None or not (signs.stop or signs.give_way)):
        yield "signs: must name the kinds of sign of a stop clause."
    if signs is None:
        return
    yield from _unknown("signs", (*signs.stop, *signs.give_way))
    yield from _width_fault("within_ft", signs.within_ft)


def _season_faults(season: Season | None) -> Iterator[str]:
    if season is None:
        return
    for key, day in (("from_day", season.from_day), ("to_day", season.to_day)):
        try:
            date.fromisoformat(f"2024-{day}")  # a leap year: 02-29 is a day
        except ValueError:
            yield f"season: {key} = {day}: must be a month and a day, like 12-01."


def _unknown(key: str, kinds: tuple[str, ...]) -> Iterator[str]:
    for kind in kinds:
        if kind not in KINDS:
            yield f"{key}: kind of zone {kind}: must be one of {', '.join(sorted(KINDS))}."


def _width_fault(key: str, value: float) -> Iterator[str]:
    if not 0 < value <= WIDEST_FT:
        yield f"{key} = {value}: must be above 0 and at most {WIDEST_FT:g}."
