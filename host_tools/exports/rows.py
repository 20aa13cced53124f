"""A ride as what every format is made of: rows for tables, marks and lines for maps."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import pairwise

from firmware.findings import Margin
from host_tools.journals.ride import Exceedance, Leg, Ride, Stood
from host_tools.redacting import MARK

STANDING = {
    Margin.FREE: "no limit",
    Margin.FAR: "far below",
    Margin.BELOW: "below",
    Margin.NEAR: "near",
    Margin.UNSURE: "over, unsure",
    Margin.OVER: "over",
    Margin.UNKNOWN: "not watched",
}
"""How a fix stood to the limits, in words: far below is by 10 mph or more."""

# XML 1.0 has no way to write these, and no other format wants them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: a fix, a change of a verdict (`finding`) or an exceedance (`event`); or a
    `note` that something was left out.

    `ride_s` counts from the start of the first boot, boots following one another. `is_redated` says
    that a later anchor gives the date `t`: the record itself has none, or the battery clock's. What
    a record does not have is absent.
    """

    record: str
    t: datetime | None
    ride_s: float
    boot: int
    lat: float | None = None
    lon: float | None = None
    error_m: float | None = None
    speed_mph: float | None = None
    speed_error_mph: float | None = None
    track_deg: float | None = None
    limit_mph: float | None = None
    standing: str | None = None
    clause: str | None = None
    verdict: str | None = None
    value: float | None = None
    limit: float | None = None
    unit: str | None = None
    value_error: float | None = None
    why: str | None = None
    end_t: datetime | None = None
    duration_s: float | None = None
    is_sure: bool | None = None
    warned_after_s: float | None = None
    is_redated: bool | None = None


COLUMNS = tuple(one.name for one in fields(Row))


@dataclass(frozen=True, slots=True)
class Line:
    """Fixes that stood alike to the limits: `lon, lat` pairs with the date of each."""

    leg: Leg
    begin: int
    end: int
    margin: Margin
    clause: str

    def numbers(self) -> range:
        return range(self.begin, self.end)

    @property
    def top_mph(self) -> float:
        return max(self.leg.track.speed_mph[self.begin : self.end])


def clean(text: str) -> str:
    """A text without what XML can't hold."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def rows(ride: Ride) -> Iterator[Row]:
    """Fixes, findings and events in the order in which they came; before them, what a copy with
    something left out says of itself."""
    for leg in ride.legs[:1]:
        if MARK in ride.unit:
            yield Row("note", None, 0.0, leg.start.boot, why=MARK)
    for leg in ride.legs:
        parts = (_fixes(leg), map(_finding, leg.stood()), map(_event, leg.exceedances()))
        yield from heapq.merge(*parts, key=lambda row: row.ride_s)


def marks(ride: Ride) -> Iterator[Row]:
    """The findings and events alone."""
    return (row for row in rows(ride) if row.record not in ("fix", "note"))


def lines(leg: Leg) -> Iterator[Line]:
    """The track in pieces of like standing; each begins where the one before ends."""
    track = leg.track
    for begin, end in leg.stretches():
        cuts = [begin]
        for number in range(begin + 1, end):
            if (track.margin[number], track.clause[number]) != (
                track.margin[number - 1],
                track.clause[number - 1],
            ):
                cuts.append(number)
        for first, last in pairwise([*cuts, end]):
            to = last if last == end else last + 1
            clause = track.clause[first]
            name = leg.citations[clause] if clause >= 0 else ""
            yield Line(leg, first, to, Margin(track.margin[first]), name)


def place(row: Row) -> tuple[float, float] | None:
    """The row's longitude and latitude; None where it has none."""
    return None if row.lat is None or row.lon is None else (row.lon, row.lat)


def title(row: Row) -> str:
    """What a mark is called on a map."""
    return clean(f"{row.clause} {row.verdict}")


def words(row: Row) -> str:
    """A mark's figures and reason as a person reads them."""
    said = [row.why or ""]
    if row.value is not None:
        error = "" if row.value_error is None else f" +-{row.value_error:.1f}"
        limit = "" if row.limit is None else f" of {row.limit:g}"
        said.append(f"{row.value:.1f}{error}{limit} {row.unit}")
    if row.duration_s is not None:
        sure = "sure" if row.is_sure else "not held for 5 s"
        said.append(f"for {row.duration_s:.0f} s, {sure}")
    if row.is_redated:
        said.append("dated afterwards")
    return clean("; ".join(one for one in said if one))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _fixes(leg: Leg) -> Iterator[Row]:
    track, boot = leg.track, leg.start.boot
    for number, at_s in enumerate(track.at_s):
        clause = track.clause[number]
        yield Row(
            "fix",
            leg.utc(at_s),
            leg.ride_s(at_s),
            boot,
            track.lat_deg[number],
            track.lon_deg[number],
            track.error_m[number],
            track.speed_mph[number],
            track.error_mph[number],
            _number(track.track_deg[number]),
            _number(track.limit_mph[number]),
            STANDING[Margin(track.margin[number])],
            leg.citations[clause] if clause >= 0 else None,
            is_redated=_is_redated(leg, at_s),
        )


def _is_redated(leg: Leg, at_s: float) -> bool | None:
    dated = leg.dated(at_s)
    return None if dated is None else dated.is_redated


def _at(leg: Leg, fix: int | None) -> tuple[float | None, float | None, float | None]:
    if fix is None:
        return None, None, None
    return leg.track.lat_deg[fix], leg.track.lon_deg[fix], leg.track.error_m[fix]


def _finding(one: Stood) -> Row:
    finding = one.finding
    return Row(
        "finding",
        one.utc,
        one.leg.ride_s(one.at_s),
        one.leg.start.boot,
        *_at(one.leg, one.fix),
        clause=finding.clause,
        verdict=str(finding.verdict),
        value=finding.value,
        limit=finding.limit,
        unit=finding.unit or None,
        value_error=finding.error,
        why=finding.why,
        is_redated=_is_redated(one.leg, one.at_s),
    )


def _event(one: Exceedance) -> Row:
    event, leg = one.event, one.leg
    return Row(
        "event",
        leg.utc(event.start_s),
        leg.ride_s(event.start_s),
        leg.start.boot,
        *_at(leg, one.fix),
        clause=event.clause,
        verdict=str(event.verdict),
        value=event.peak,
        limit=event.limit,
        unit=event.unit or None,
        value_error=None if one.finding is None else one.finding.error,
        why=None if one.finding is None else one.finding.why,
        end_t=None if one.is_open else leg.utc(one.end_s),
        duration_s=one.duration_s,
        is_sure=event.is_sure,
        warned_after_s=one.warned_s,
        is_redated=_is_redated(leg, event.start_s),
    )
