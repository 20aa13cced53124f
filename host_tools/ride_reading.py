"""Journals read into a ride: each record once, the judging core led along to tell the limits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from zoneinfo import ZoneInfo

import msgspec

from firmware import monitor
from firmware.config import Config
from firmware.errors import ConfigError, JournalError
from firmware.findings import Alert, Event, Finding, Verdict
from firmware.journal import segment
from firmware.journal.folder import Place
from firmware.journal.record import (
    FORMAT,
    POSITION,
    SEAL,
    TOPICS,
    Close,
    Finished,
    Gap,
    Record,
    RecordError,
    Start,
    decode,
)
from firmware.law import Clause, Law
from firmware.readings import Channel as On
from firmware.readings import (
    Engine,
    Fix,
    Missing,
    Reading,
    Surroundings,
    Tether,
    Value,
    Why,
)
from firmware.sources.drive import every_sensor
from firmware.units import mph
from host_tools import replaying
from host_tools.journal_paths import Source, head_of
from host_tools.journals import Comparison, config_of, laws_in
from host_tools.progress import shown
from host_tools.ride import MPH_OF, Hole, Leg, Margin, Ride
from host_tools.verifying import newer_format

_TOPIC_OF_ID = dict(enumerate(TOPICS, start=1))
_ZONE_AHEAD = "zone-ahead"
_FAR_MPH = 10.0
_POOR_M = 10.0
_AGE = re.compile(r"(: last heard at|: came) [\d.]+ s( late)?")
_SAMPLE_S = 1.0
_STEP_S = 1.0
"""A date that moves by less is the receiver's own jitter, and no new anchor."""


def read_ride(sources: Iterable[Source], places: Iterator[Place] | None = None) -> Ride:
    """The ride of these journals, which must be one unit's; raises JournalError.

    `places` are all of theirs, through something that counts them.
    """
    listed = [place for source in sources for place in source.places]
    rest = iter(listed) if places is None else places
    legs: list[Leg] = []
    troubles: list[str] = []
    for _, boot in groupby(listed, key=lambda one: (one.path.parent, one.boot)):
        leg = _leg(list(boot), rest, troubles)
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
    offset_s = 0.0
    for leg in legs:
        leg.offset_s = offset_s
        offset_s += leg.length_s
    return Ride(units[0], legs)


@dataclass(slots=True)
class _Part:
    """A segment that can be read: where, how it began, and what is attached to it."""

    place: Place
    start: Start
    attached: dict[str, bytes]


def _leg(places: list[Place], rest: Iterator[Place], troubles: list[str]) -> Leg | None:
    """One boot; None where nothing of it can be read, and the reason among the troubles."""
    parts = {one.place.path: one for one in _parts(places, troubles)}
    leg = None
    if parts:
        first = next(iter(parts.values()))
        leg = _begun(first)
        counted = (parts.get(next(rest).path) for _ in places)
        reader = _LegReader(leg, first)
        reader.read(one for one in counted if one is not None)
    else:
        for _ in places:
            next(rest)
    return leg if leg is not None and leg.to_s >= leg.from_s else None


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
    return Leg(first.start, ZoneInfo(config.unit.time_zone), clauses, notes=notes)


def _parts(places: list[Place], troubles: list[str]) -> Iterator[_Part]:
    for place in places:
        name = place.name
        version = newer_format(place.path)
        if version is not None:
            troubles.append(
                f"{name} is of journal format {version}: this sledwarden reads format {FORMAT}."
            )
            continue
        try:
            content, found = head_of(place.path)
        except OSError as fault:
            troubles.append(f"{name} can't be read: {fault.strerror}.")
            continue
        start = next((one for _, one in _records(content, found) if isinstance(one, Start)), None)
        if start is None:
            troubles.append(f"{name} holds no record that can be read: {found.why}.")
            continue
        yield _Part(place, start, {one.name: one.data for one in found.attachments})


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
    except (ConfigError, msgspec.DecodeError, msgspec.ValidationError):
        config = every_sensor()
        notes.append("The configuration that the journal carries can't be read: times are UTC.")
        config = msgspec.structs.replace(
            config, unit=msgspec.structs.replace(config.unit, time_zone="UTC")
        )
    return laws, config, notes


def _records(content: bytes, found: segment.Scan) -> Iterator[tuple[float, Record]]:
    """The records of a segment as far as it is whole; one of a later version is passed over."""
    for span in found.chunks:
        for message in segment.unpacked(span.content(content)):
            topic = _TOPIC_OF_ID.get(message.topic_id, SEAL)
            if topic in (SEAL, POSITION):
                continue
            try:
                yield decode(topic, message.text)
            except RecordError:
                continue


class _LegReader:
    """Leads the judging core through a boot's records and notes what a ride is made of."""

    def __init__(self, leg: Leg, first: _Part) -> None:
        laws, config, _ = _terms(first.start, first.attached)
        self.leg = leg
        self.core = monitor.build(config, laws)
        self.comparison = Comparison()
        self._is_from_start = first.start.segment <= 1
        self._last: Record | None = None
        self._sampled_s = -math.inf
        self._lamps: dict[str, list[str]] = {
            lamp: [one.citation for one in _judged(leg.clauses) if one.lamp == lamp]
            for lamp in ("head", "tail")
        }
        self._numbers: dict[str, int] = {}

    def read(self, parts: Iterator[_Part]) -> None:
        for at_s, reading, told in replaying.judge(self._stream(parts), self.core):
            for one in told:
                self.comparison.judge(one)
            if reading is not None:
                self._take(reading.value, reading.mono_s, at_s)
            is_fix = reading is not None and reading.channel is On.FIX
            # A fix changes little that no finding tells of, and there are ten of them a second.
            if told or not is_fix or at_s >= self._sampled_s + _SAMPLE_S:
                self._sample(at_s)
            elif reading is not None:
                self._state("gps", at_s, _quality(self.core.fix))
        self._conclude()

    def _stream(self, parts: Iterator[_Part]) -> Iterator[tuple[float, Reading | None]]:
        """The readings as they were judged; all else goes into the leg."""
        before = None
        for part in parts:
            number = part.start.segment
            if before is not None and number > before + 1 and self.leg.to_s > -math.inf:
                missing = number - before - 1
                self.leg.holes.append(Hole(self.leg.to_s, math.nan, _missing(missing)))
                self._is_from_start = False
            before = number
            self.leg.ended = ""  # what closed the segment before did not end the boot
            content = part.place.path.read_bytes()
            for at_s, record in _records(content, segment.scan(content)):
                yield from self._record(at_s, record)

    def _record(self, at_s: float, record: Record) -> Iterator[tuple[float, Reading | None]]:
        leg = self.leg
        leg.from_s, leg.to_s = min(leg.from_s, at_s), max(leg.to_s, at_s)
        if leg.holes and math.isnan(leg.holes[-1].to_s):
            last = leg.holes[-1]
            leg.holes[-1] = Hole(last.from_s, at_s, last.what)
        match record:
            case Reading():
                yield at_s, record
            case Finding() | Alert() | Event():
                if not isinstance(self._last, Reading):
                    yield at_s, None
                self.comparison.hold(at_s, record)
                self._keep(at_s, record)
            case Gap(lost=lost, why=why):
                self.comparison.lost += lost
                words = f"{lost} records were lost: {why}"
                leg.holes.append(Hole(record.from_s, record.to_s, words))
            case Close(why=why):
                leg.ended = why
                yield at_s, None
            case Finished(note=note):
                leg.ended = f"power cut; finished at a later start ({note})"
            case _:
                pass
        self._last = record

    def _keep(self, at_s: float, record: Finding | Alert | Event) -> None:
        match record:
            case Finding():
                self.leg.findings.append((at_s, record))
            case Alert():
                self.leg.alerts.append((at_s, record))
            case Event():
                self.leg.events[record.clause, record.start_s] = record

    def _take(self, value: Value, mono_s: float, at_s: float) -> None:
        match value:
            case Fix():
                self._fix(value, mono_s, at_s)
            case Surroundings(features=features):
                self.leg.features.update({(one.kind, one.id): one for one in features})

    def _fix(self, fix: Fix, mono_s: float, at_s: float) -> None:
        utc = self.core.timekeeper.utc(mono_s)
        if utc is not None:
            self._anchor(utc.timestamp() - mono_s, at_s)
        limit, clause, margin = _standing(self.core.findings)
        track = self.leg.track
        track.at_s.append(at_s)
        track.lat_deg.append(fix.lat_deg)
        track.lon_deg.append(fix.lon_deg)
        track.error_m.append(fix.error_m)
        track.speed_mph.append(mph(fix.speed_mps))
        track.error_mph.append(mph(fix.error_mps))
        track.track_deg.append(math.nan if fix.track_deg is None else fix.track_deg)
        track.limit_mph.append(math.nan if limit is None else limit)
        track.margin.append(margin)
        track.clause.append(self._number(clause))

    def _number(self, clause: str) -> int:
        """The place of a clause in the leg's list; -1 for none."""
        if not clause:
            return -1
        if clause not in self._numbers:
            self._numbers[clause] = len(self.leg.citations)
            self.leg.citations.append(clause)
        return self._numbers[clause]

    def _anchor(self, offset_s: float, at_s: float) -> None:
        anchors = self.leg.anchors
        if not anchors or abs(offset_s - anchors[-1][1]) > _STEP_S:
            anchors.append((at_s, offset_s))

    def _sample(self, at_s: float) -> None:
        core = self.core
        self._sampled_s = at_s
        if not self.leg.anchors and (utc := core.timekeeper.utc(at_s)) is not None:
            self._anchor(utc.timestamp() - at_s, at_s)
        dark = core.dark.is_dark
        self._state("sun", at_s, "unknown" if dark is None else "dark" if dark else "day")
        for lamp, citations in self._lamps.items():
            self._state(f"{lamp} lamp", at_s, _lamp(citations, core.findings))
        self._state("tether", at_s, _word(core.held[On.TETHER].value))
        self._state("engine", at_s, _word(core.held[On.ENGINE].value))
        self._state("gps", at_s, _quality(core.fix))
        self._state("clock", at_s, core.timekeeper.source)

        for one in core.findings.values():
            self._unknown(one, at_s)

    def _unknown(self, one: Finding, at_s: float) -> None:
        why = _AGE.sub("", one.why) if one.verdict is Verdict.UNKNOWN else ""
        changes = self.leg.unknowns.setdefault(one.clause, [])
        if not changes or changes[-1][1] != why:
            changes.append((at_s, why, one.is_fitted))

    def _state(self, strip: str, at_s: float, word: str) -> None:
        states = self.leg.strips.setdefault(strip, [])
        if not states or states[-1][1] != word:
            states.append((at_s, word))

    def _conclude(self) -> None:
        leg = self.leg
        if not leg.ended:
            leg.ended = "power cut: nothing says that it ended in order"
        if isinstance(self._last, Gap) or not self._is_from_start or not leg.clauses:
            return
        self.comparison.is_whole = isinstance(self._last, Close)
        self.comparison.finish()
        if self.comparison.difference and not self.comparison.lost:
            leg.difference = self.comparison.difference


def _missing(segments: int) -> str:
    return "a segment is missing" if segments == 1 else f"{segments} segments are missing"


def _judged(clauses: dict[str, Clause]) -> list[Clause]:
    return [one for one in clauses.values() if one.kind]


def _standing(findings: dict[str, Finding]) -> tuple[float | None, str, Margin]:
    """The lowest speed limit that holds, in mph, its clause, and how the speed stands to all."""
    limit: float | None = None
    clause = ""
    margin = Margin.FREE
    is_unknown = False
    for one in findings.values():
        if one.topic in ("speed", "zone") and one.verdict is Verdict.UNKNOWN and one.is_fitted:
            is_unknown = True
        if one.limit is None or one.value is None or one.unit not in MPH_OF:
            continue
        margin = max(margin, _margin(one))
        held_mph = one.limit * MPH_OF[one.unit]
        if one.topic != _ZONE_AHEAD and (limit is None or held_mph < limit):
            limit, clause = held_mph, one.clause
    if margin is Margin.FREE and is_unknown:
        margin = Margin.UNKNOWN
    return limit, clause, margin


def _margin(finding: Finding) -> Margin:
    match finding.verdict:
        case Verdict.VIOLATION:
            return Margin.OVER
        case Verdict.UNSURE:
            return Margin.UNSURE
        case Verdict.APPROACHING:
            return Margin.NEAR
    assert finding.limit is not None  # asked before
    assert finding.value is not None
    left_mph = (finding.limit - finding.value) * MPH_OF[finding.unit]
    return Margin.FAR if left_mph >= _FAR_MPH else Margin.BELOW


def _lamp(citations: list[str], findings: dict[str, Finding]) -> str:
    """How a lamp stands by the clauses on it: the worst of them."""
    words = []
    for one in (findings[name] for name in citations if name in findings):
        if one.verdict is Verdict.UNKNOWN:
            words.append("unknown" if one.is_fitted else "not fitted")
        elif one.verdict.is_over:
            return "out"
        else:
            words.append("not needed" if one.limit is None else "lit")
    return min(words, key=("unknown", "not fitted", "lit", "not needed").index, default="unknown")


def _word(value: Value) -> str:
    match value:
        case Tether(state=state):
            return str(state)
        case Engine(is_running=is_running):
            return "running" if is_running else "off"
        case Missing(why=Why.NOT_FITTED):
            return "not fitted"
    return "unknown"


def _quality(fix: Fix | Missing) -> str:
    if isinstance(fix, Missing):
        return "none"
    return "good" if fix.mode == 3 and fix.error_m <= _POOR_M else "poor"


def read_shown(sources: list[Source]) -> Ride:
    """The ride of these journals, with progress where a person looks on."""
    sizes = [one.path.stat().st_size for source in sources for one in source.places]
    done = accumulate(sizes, initial=0)
    places = [one for source in sources for one in source.places]
    counted = shown(zip(done, places, strict=False), "reading", sum(sizes))
    return read_ride(sources, counted)
