"""Journals read into a ride: each record once.

What held at each instant is the journal's own word, where the unit kept it. Where it did not (a
journal of an earlier version, one with lost records, a boot whose beginning is missing), or where a
person wants it, the judging core is led through the readings again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from zoneinfo import ZoneInfo

import msgspec

from firmware import monitor
from firmware.circles import circles
from firmware.config.schema import Config
from firmware.errors import ConfigError, JournalError
from firmware.findings import Alert, Anchor, Event, Finding, Margin, Standing
from firmware.journal import reader, segment, stored
from firmware.journal.folder import Place
from firmware.journal.recall import Recall
from firmware.journal.record import (
    FORMAT,
    Close,
    Finished,
    Gap,
    Record,
    RecordError,
    Start,
)
from firmware.journal.stored import Identity
from firmware.law.packs import Law
from firmware.monitor import Monitor
from firmware.readings import Fix, Reading, Surroundings, Value
from firmware.sources.drive import every_sensor
from firmware.units import mph
from host_tools import redacting
from host_tools.journals.judged import Comparison, config_of, laws_in
from host_tools.journals.paths import Source, head_of
from host_tools.journals.ride import Hole, Leg, Ride
from host_tools.journals.verifying import newer_format
from host_tools.progress import shown
from host_tools.replay import replaying
from host_tools.terminal import echo


def read_ride(
    sources: Iterable[Source],
    places: Iterator[Place] | None = None,
    *,
    judges_again: bool = False,
    identity: Identity | None = None,
) -> Ride:
    """The ride of these journals, which must be one unit's; raises JournalError.

    `places` are all of theirs, through something that counts them. `judges_again` judges also where
    the journal tells what held. `identity` opens encrypted segments.
    """
    listed = [place for source in sources for place in source.places]
    rest = iter(listed) if places is None else places
    legs: list[Leg] = []
    troubles: list[str] = []
    for _, boot in groupby(listed, key=lambda one: (one.path.parent, one.boot)):
        leg = _leg(list(boot), rest, troubles, judges_again, identity)
        if leg is not None:
            legs.append(leg)
    if not legs and len(listed) == 1 and troubles:
        (place,) = listed
        raise JournalError(str(place.path), troubles[0].removeprefix(f"{place.name} "))
    if not legs:
        raise JournalError("journal", "; ".join(troubles) or "holds no record.")
    units = sorted({leg.start.unit for leg in legs})
    if len(units) > 1:
        raise JournalError(
            "journal",
            f"is of {len(units)} units, {', '.join(units)}: must be one unit's.",
            "Name the boots of one of them.",
        )
    legs[0].notes[:0] = troubles
    ride = Ride(units[0], legs, troubles)
    ride.lay_out()
    return ride


@dataclass(slots=True)
class _Part:
    """A segment that can be read: where, how it began, what is attached to it, what opens it."""

    place: Place
    start: Start
    attached: dict[str, bytes]
    identity: Identity | None


def _leg(
    places: list[Place],
    rest: Iterator[Place],
    troubles: list[str],
    judges_again: bool,
    identity: Identity | None,
) -> Leg | None:
    """One boot; None where nothing of it can be read, and the reason among the troubles."""
    parts = {one.place.path: one for one in _parts(places, troubles, identity)}
    found = list(parts.values())
    if not found:
        for _ in places:
            next(rest)
        return None
    counted = (parts.get(next(rest).path) for _ in places)
    readable = (one for one in counted if one is not None)
    leg = None
    if not judges_again and _is_without_hole(found):
        leg = _told(found[0], readable)
    if leg is None:
        leg = _judged_again(found[0], iter(found))
    for _ in readable:  # the progress goes on to the end
        pass
    return leg if leg.to_s >= leg.from_s else None


def _is_without_hole(parts: list[_Part]) -> bool:
    """Whether the boot's beginning is here, and all between it and the last segment."""
    numbers = [one.start.segment for one in parts]
    return numbers[0] <= 1 and all(after == before + 1 for before, after in pairwise(numbers))


def _told(first: _Part, parts: Iterator[_Part]) -> Leg | None:
    """A boot as its journal tells it; None where that does not tell what held all the time."""
    leg = _begun(first)
    return leg if _LegReader(leg).read(parts) else None


def _judged_again(first: _Part, parts: Iterator[_Part]) -> Leg:
    leg = _begun(first)
    leg.is_judged_again = True
    laws, config, _ = _terms(first.start, first.attached)
    _JudgingReader(leg, monitor.build(config, laws)).read(parts)
    return leg


def _begun(first: _Part) -> Leg:
    laws, config, notes = _terms(first.start, first.attached)
    clauses = {
        one.citation: one
        for law in laws
        for one in law.clause
        if one.applies_to == config.unit.vehicle or not one.kind
    }
    if first.start.segment > 1:
        notes.append(
            f"The boot's beginning is not here: it starts with segment {first.start.segment}. "
            "Limits are told as far as its readings give them."
        )
    return Leg(
        first.start,
        ZoneInfo(config.unit.time_zone),
        clauses,
        notes=notes,
        circles=circles(config.privacy.circles),
    )


def _parts(places: list[Place], troubles: list[str], identity: Identity | None) -> Iterator[_Part]:
    for place in places:
        name = place.name
        version = newer_format(place.path, identity)
        if version is not None:
            troubles.append(
                f"{name} is of journal format {version}: this sledwarden reads format {FORMAT}."
            )
            continue
        try:
            content, found = head_of(place.path, identity)
        except OSError as fault:
            troubles.append(f"{name} can't be read: {fault.strerror}.")
            continue
        except JournalError as fault:  # what was stored compressed or encrypted
            troubles.append(f"{name} {fault.what} {fault.advice}".rstrip())
            continue
        start = next((one for _, one in _records(content, found) if isinstance(one, Start)), None)
        if start is None:
            troubles.append(f"{name} holds no record that can be read: {found.why}.")
            continue
        attached = {one.name: one.data for one in found.attachments}
        yield _Part(place, start, attached, identity)


def _terms(start: Start, attached: dict[str, bytes]) -> tuple[list[Law], Config, list[str]]:
    """The laws and the configuration that were in force; a note for each that can't be had."""
    notes = []
    try:
        laws = laws_in(attached)
        if not laws:
            notes.append("The journal carries no law: limits and their words are not known.")
    except ConfigError as fault:
        laws = []
        notes.append(f"The law that the journal carries can't be read: {fault.faults[0]}")
    try:
        config = config_of(start, attached)
    except ConfigError:
        config = every_sensor()
        notes.append("The configuration that the journal carries can't be read: times are UTC.")
        config = msgspec.structs.replace(
            config, unit=msgspec.structs.replace(config.unit, time_zone="UTC")
        )
    return laws, config, notes


def _records(content: bytes, found: segment.Scan) -> Iterator[tuple[float, Record]]:
    """The records of a segment as far as it is whole; one of a later version is passed over."""
    recall = Recall()
    for _, topic, text in reader.told(content, found):
        try:
            yield from recall.records(topic, text)
        except RecordError:
            continue


class _LegReader:
    """Reads a boot's records into its leg, as the journal has them."""

    def __init__(self, leg: Leg) -> None:
        self.leg = leg
        self._last: Record | None = None
        self._stands: Standing | None = None
        self._is_fix_judged = False
        self._numbers: dict[str, int] = {}
        self._watched = [one.citation for one in leg.clauses.values() if one.kind]

    def read(self, parts: Iterator[_Part]) -> bool:
        """Whether the journal told all the time what held; ends where it can't be known."""
        readings = 0
        for at_s, record in self._records(parts):
            match record:
                case Standing():
                    self._stand(at_s, record)
                case Reading(value=value):
                    readings += 1
                    if self._stands is None and readings > 1:
                        return False  # an earlier version kept no such record
                    self._take(value, at_s)
                case Gap():
                    return False  # it may have changed in a record that was lost
        self._conclude()
        return True

    def _records(self, parts: Iterator[_Part]) -> Iterator[tuple[float, Record]]:
        """Every record, once the leg has what it keeps of it."""
        leg = self.leg
        before = None
        for part in parts:
            number = part.start.segment
            if before is not None and number > before + 1 and leg.to_s > -math.inf:
                leg.holes.append(Hole(leg.to_s, math.nan, _missing(number - before - 1)))
            before = number
            leg.ended = ""  # what closed the segment before did not end the boot
            content = stored.read(part.place.path, part.identity)
            for at_s, record in _records(content, segment.scan(content)):
                leg.from_s = min(leg.from_s, at_s)
                leg.to_s = max(leg.to_s, at_s)
                if leg.holes and math.isnan(leg.holes[-1].to_s):
                    last = leg.holes[-1]
                    leg.holes[-1] = Hole(last.from_s, at_s, last.what)
                if not isinstance(record, Reading):
                    self._keep(at_s, record)
                yield at_s, record
                self._last = record

    def _keep(self, at_s: float, record: Record) -> None:
        leg = self.leg
        match record:
            case Finding():
                leg.findings.append((at_s, record))
            case Alert():
                leg.alerts.append((at_s, record))
            case Event():
                leg.events[record.clause, record.start_s] = record
            case Anchor():
                leg.anchors.append(record)
            case Gap(lost=lost, why=why):
                words = f"{lost} records were lost: {why}"
                leg.holes.append(Hole(record.from_s, record.to_s, words, is_of_records=True))
            case Close(why=why):
                leg.ended = why
            case Finished(note=note):
                leg.ended = f"power cut; finished at a later start ({note})"
            case _:
                pass

    def _take(self, value: Value, at_s: float) -> None:
        self._is_fix_judged = isinstance(value, Fix)
        match value:
            case Fix():
                self._fix(value, at_s)
            case Surroundings(features=features):
                self.leg.features.update({(one.kind, one.id): one for one in features})

    def _fix(self, fix: Fix, at_s: float) -> None:
        track = self.leg.track
        track.at_s.append(at_s)
        track.lat_deg.append(fix.lat_deg)
        track.lon_deg.append(fix.lon_deg)
        track.error_m.append(fix.error_m)
        track.speed_mph.append(mph(fix.speed_mps))
        track.error_mph.append(mph(fix.error_mps))
        track.track_deg.append(math.nan if fix.track_deg is None else fix.track_deg)
        limit_mph, margin, number = self._limit()
        track.limit_mph.append(limit_mph)
        track.margin.append(margin)
        track.clause.append(number)

    def _limit(self) -> tuple[float, int, int]:
        now = self._stands
        if now is None:
            return math.nan, Margin.FREE, -1
        limit_mph = math.nan if now.limit_mph is None else now.limit_mph
        return limit_mph, now.margin, self._number(now.clause)

    def _number(self, clause: str) -> int:
        """The place of a clause in the leg's list; -1 for none."""
        if not clause:
            return -1
        if clause not in self._numbers:
            self._numbers[clause] = len(self.leg.citations)
            self.leg.citations.append(clause)
        return self._numbers[clause]

    def _stand(self, at_s: float, now: Standing) -> None:
        """Takes what holds from here on, from the fix on that brought it."""
        self._stands = now
        track = self.leg.track
        if self._is_fix_judged and at_s <= track.at_s[-1]:
            track.limit_mph[-1], track.margin[-1], track.clause[-1] = self._limit()
        self._state("sun", at_s, now.sun)
        self._state("head lamp", at_s, now.head_lamp)
        self._state("tail lamp", at_s, now.tail_lamp)
        self._state("tether", at_s, now.tether)
        self._state("engine", at_s, now.engine)
        self._state("gps", at_s, now.gps)
        self._state("clock", at_s, now.clock)
        unwatched = {one.clause: one for one in now.unwatched}
        for clause in self._watched:
            one = unwatched.get(clause)
            why, is_fitted = ("", True) if one is None else (one.why, one.is_fitted)
            changes = self.leg.unknowns.setdefault(clause, [])
            if not changes or changes[-1][1] != why:
                changes.append((at_s, why, is_fitted))

    def _state(self, strip: str, at_s: float, word: str) -> None:
        states = self.leg.strips.setdefault(strip, [])
        if not states or states[-1][1] != word:
            states.append((at_s, word))

    def _conclude(self) -> None:
        if not self.leg.ended:
            self.leg.ended = "power cut: nothing says that it ended in order"


class _JudgingReader(_LegReader):
    """Leads the judging core through a boot's readings: what held is the core's word."""

    def __init__(self, leg: Leg, core: Monitor) -> None:
        super().__init__(leg)
        self._core = core
        self._comparison = Comparison()
        self._dated_anew: list[Anchor] = []

    def read(self, parts: Iterator[_Part]) -> bool:
        for at_s, reading, told in replaying.judge(self._stream(parts), self._core):
            if reading is not None:
                self._take(reading.value, at_s)
            for one in told:
                match one.record:
                    case Standing():
                        self._stand(one.at_s, one.record)
                    case Anchor():
                        self._dated_anew.append(one.record)
                    case _:
                        self._comparison.judge(one)
        self._conclude()
        return True

    def _stream(self, parts: Iterator[_Part]) -> Iterator[tuple[float, Reading | None]]:
        """The readings as they were judged; findings, alerts and events go to the comparison."""
        for at_s, record in self._records(parts):
            match record:
                case Reading():
                    yield at_s, record
                case Finding() | Alert() | Event():
                    if not isinstance(self._last, Reading):
                        yield at_s, None
                    self._comparison.hold(at_s, record)
                case Gap(lost=lost):
                    self._comparison.lost += lost
                case Close():
                    yield at_s, None
                case _:
                    pass

    def _conclude(self) -> None:
        super()._conclude()
        leg, comparison = self.leg, self._comparison
        if not leg.anchors:  # an earlier version kept none
            leg.anchors = self._dated_anew
        is_whole = leg.start.segment <= 1 and all(one.is_of_records for one in leg.holes)
        if isinstance(self._last, Gap) or not is_whole or not leg.clauses:
            return
        comparison.is_whole = isinstance(self._last, Close) and self._last.is_last
        comparison.finish()
        if comparison.difference and not comparison.lost:
            leg.difference = comparison.difference


def _missing(segments: int) -> str:
    return "a segment is missing" if segments == 1 else f"{segments} segments are missing"


def read_shown(
    sources: list[Source],
    *,
    judges_again: bool = False,
    shows_all: bool = False,
    grid_m: float | None = None,
    identity: Identity | None = None,
) -> Ride:
    """The ride of these journals, with progress where a person looks on; `identity` opens what is
    encrypted to its owner.

    What lies inside its privacy circles is left out unless `shows_all`, and places are to `grid_m`
    metres where that is given; either is said, and what could not be read.
    """
    sizes = [one.path.stat().st_size for source in sources for one in source.places]
    done = accumulate(sizes, initial=0)
    places = [one for source in sources for one in source.places]
    counted = shown(zip(done, places, strict=False), "reading", sum(sizes))
    ride = read_ride(sources, counted, judges_again=judges_again, identity=identity)
    said = [] if shows_all else [redacting.hide(ride)]
    if grid_m is not None:
        said.append(redacting.coarsen(ride, grid_m))
    for words in filter(None, [*ride.troubles, *said]):
        echo(words, err=True)
    return ride


def say_redated(ride: Ride) -> None:
    """Says beside the answer what was dated afterwards."""
    for leg in ride.legs:
        if words := leg.redated():
            echo(words, err=True)
