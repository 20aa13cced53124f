"""What the rider marks on the map: a person on the ice, a shanty; until it expires.

A mark counts like a feature of a pack. One that was kept over a restart, or came from a friend,
says until when it stands by the date; as long as the unit has no date, it stands for its kind's
whole life from then on: too long rather than too short.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from firmware.maps.zones import Nearby
from firmware.readings import Feature, Surroundings

KINDS: Final = ("person", "shanty")
MOST: Final = 500
"""Marks at once; a new one takes the place of the one that ends soonest."""

SAME_M = 5.0
"""A mark so near another of its kind is that one, told again."""

_REACH_M = 2000.0
_FORM = "KIND, or KIND LAT LON [until=DATE] [left=SECONDS] [id=ID], like shanty 45.88 -89.52"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked thing. `expires_s` is monotonic; `until` is the date of that, absent while there is
    none. `by` is who marked it."""

    kind: str
    id: str
    lat_deg: float
    lon_deg: float
    expires_s: float
    until: datetime | None = None
    by: str = ""


class MarkError(ValueError):
    """What is wrong with a mark that is asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A mark as it was asked for: its place and what else was said of it, where it was."""

    kind: str
    place: tuple[float, float] | None = None
    until: datetime | None = None
    left_s: float | None = None
    id: str = ""


def asked(argument: str) -> Asked:
    """The mark that a request's argument asks for; raises `MarkError` that says what is wrong."""
    kind, *words = argument.split() or ["person"]
    if kind not in KINDS:
        raise MarkError(f"{kind}: must be {' or '.join(KINDS)}")
    if not words:
        return Asked(kind)
    said = dict(word.partition("=")[::2] for word in words[2:])
    if len(words) < 2 or not said.keys() <= {"until", "left", "id"} or len(said) != len(words) - 2:
        raise MarkError(f"{argument}: must be {_FORM}")
    try:
        lat_deg, lon_deg = float(words[0]), float(words[1])
        until = datetime.fromisoformat(said["until"]) if "until" in said else None
        left_s = float(said["left"]) if "left" in said else None
    except ValueError:
        raise MarkError(f"{argument}: must be {_FORM}") from None
    if not (-90.0 <= lat_deg <= 90.0 and -180.0 <= lon_deg <= 180.0):
        raise MarkError(f"{words[0]} {words[1]}: must be a place in degrees")
    if until is not None and until.tzinfo is None:
        raise MarkError(f"until={said['until']}: must be a date in UTC, like 2026-12-03T10:00:00Z")
    if left_s is not None and not 0.0 < left_s < 1e8:
        raise MarkError(f"left={said['left']}: must be above 0 seconds")
    if "id" in said and not _ID.match(said["id"]):
        raise MarkError(f"id={said['id']}: must be letters, digits, dots and dashes")
    return Asked(kind, (lat_deg, lon_deg), until, left_s, said.get("id", ""))


def as_argument(mark: Mark, at_s: float) -> str:
    """The argument that asks for this very mark again, after a restart."""
    end = (
        f"left={mark.expires_s - at_s:.0f}"
        if mark.until is None
        else f"until={mark.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    )
    return f"{mark.kind} {mark.lat_deg:.7f} {mark.lon_deg:.7f} {end} id={mark.id}"


@dataclass(slots=True)
class Marks:
    """The marks that stand, and the map of them; `changes` counts what came and went.

    A person stands for `person_s`, a shanty for `shanty_s`.
    """

    person_s: float = 600.0
    shanty_s: float = 72 * 3600.0
    chart: Nearby | None = None
    changes: int = 0
    _marks: list[Mark] = field(default_factory=list)
    _due_s: float = math.inf

    def standing(self) -> Sequence[Mark]:
        """The marks that stand, oldest first."""
        return tuple(self._marks)

    def put(
        self, wanted: Asked, here: tuple[float, float], at_s: float, utc: datetime | None, by: str
    ) -> Mark | None:
        """Sets a mark at its place, or here; None where it has expired already."""
        lat_deg, lon_deg = wanted.place or here
        life_s = self.person_s if wanted.kind == "person" else self.shanty_s
        # A date of another's clock may not keep a mark for ever.
        left_s = min(wanted.left_s or life_s, life_s)
        if wanted.until is not None and utc is not None:
            left_s = min((wanted.until - utc).total_seconds(), life_s)
        if left_s <= 0.0:
            return None
        until = wanted.until
        if utc is not None:
            until = utc + timedelta(seconds=left_s)
        ident = wanted.id or f"mark-{at_s:.1f}"
        mark = Mark(wanted.kind, ident, lat_deg, lon_deg, at_s + left_s, until, by)
        others = [one for one in self._marks if not _is_same(one, mark)]
        if len(others) >= MOST:
            others.remove(min(others, key=lambda one: one.expires_s))
        self._set([*others, mark])
        return mark

    def take_away(self, ident: str) -> Mark | None:
        """Takes a mark off the map; None where there is none of that id."""
        gone = next((one for one in self._marks if one.id == ident), None)
        if gone is not None:
            self._set(one for one in self._marks if one is not gone)
        return gone

    def due_s(self) -> float:
        """The instant at which the next mark ends."""
        return self._due_s

    def pass_time(self, at_s: float) -> bool:
        """Ends what is over; whether anything was."""
        if self.due_s() > at_s:
            return False
        self._set(one for one in self._marks if one.expires_s > at_s)
        return True

    def take_date(self, utc: datetime, at_s: float) -> bool:
        """Follows the date where it became known or moved; whether a mark has ended by it.

        A mark that says until when it stands ends then, and never later than it would without; one
        that does not learns its date.
        """
        dated = []
        for one in self._marks:
            if one.until is None:
                left = timedelta(seconds=one.expires_s - at_s)
                dated.append(replace(one, until=utc + left))
            else:
                left_s = (one.until - utc).total_seconds()
                dated.append(replace(one, expires_s=min(one.expires_s, at_s + left_s)))
        if dated == self._marks:
            return False
        before = len(dated)
        self._set(one for one in dated if one.expires_s > at_s)
        return len(self._marks) < before

    def _set(self, marks: Iterable[Mark]) -> None:
        """Draws the marks as a map of their own, about the newest of them."""
        self._marks = list(marks)
        self._due_s = min((one.expires_s for one in self._marks), default=math.inf)
        self.changes += 1
        self.chart = None
        if self._marks:
            middle = self._marks[-1]
            features = tuple(_feature(one) for one in self._marks)
            around = Surroundings(middle.lat_deg, middle.lon_deg, _REACH_M, features)
            self.chart = Nearby(around)


def _feature(mark: Mark) -> Feature:
    corner = (mark.lon_deg, mark.lat_deg)
    return Feature(mark.kind, mark.id, "marked by the rider", "point", ((corner,),))


def _is_same(one: Mark, other: Mark) -> bool:
    """Whether two marks are of one thing: by their id, or by kind and place."""
    if one.id == other.id:
        return True
    north_m = 111_195.0 * (one.lat_deg - other.lat_deg)
    east_deg = math.remainder(one.lon_deg - other.lon_deg, 360.0)
    east_m = 111_195.0 * east_deg * math.cos(math.radians(one.lat_deg))
    return one.kind == other.kind and math.hypot(north_m, east_m) < SAME_M
