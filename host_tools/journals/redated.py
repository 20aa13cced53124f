"""Dates for segments that were sealed without one, by the anchors that the same boot kept later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from firmware.findings import Anchor
from firmware.journal import proof, segment, stored
from firmware.journal.folder import Place
from firmware.journal.record import RecordError, decode
from firmware.journal.redating import Anchors
from firmware.journal.segment import TOPIC_IDS
from firmware.journal.stored import Identity

_ANCHOR_KEY = b'"growth_ppm":'
"""A key that each anchor has."""

_ANCHOR = "/journal/anchor"


@dataclass(frozen=True, slots=True)
class Redated:
    """When a segment's first and last records were in truth, by which clock, to how many seconds.

    The records themselves say nothing of it: they had no date, or the battery clock's.
    """

    begin: datetime
    end: datetime
    source: str
    error_s: float


@dataclass(slots=True)
class _Span:
    """The instants of a segment's first and last messages, in seconds of its boot."""

    from_s: float = 0.0
    to_s: float = 0.0


def redated(places: Iterable[Place], identity: Identity | None = None) -> dict[str, Redated]:
    """By their names, the segments whose first record is dated by an anchor that came later.

    Each boot is read no further than to the first date of the satellites: that one counts for all
    before it. Only segments whose seals hold should be given, for anchors are believed here;
    `identity` opens encrypted ones.
    """
    found: dict[str, Redated] = {}
    for _, boot in groupby(places, key=lambda one: (one.path.parent, one.boot)):
        spans: dict[str, _Span] = {}
        anchors: list[Anchor] = []
        for place in boot:
            spans[place.name] = span = _Span()
            anchors += _anchors(place.path, span, identity)
            if any(one.source == "gps" for one in anchors):
                break
        dates = Anchors(anchors)
        for name, span in spans.items():
            begin, end = dates.at(span.from_s), dates.at(span.to_s)
            if begin is not None and end is not None and begin.is_redated:
                found[name] = Redated(begin.utc, end.utc, begin.source, begin.error_s)
    return found


def _anchors(path: Path, span: _Span, identity: Identity | None) -> Iterator[Anchor]:
    """A segment's anchors up to the first of the satellites; notes its span."""
    content = stored.read(path, identity)
    found = proof.sealed_scan(content)
    if found.chunks:
        first = next(segment.unpacked(found.chunks[0].content(content)), None)
        span.from_s = 0.0 if first is None else segment.at_s_of(first)
    span.to_s = segment.last_at_s(content, found)
    for chunk in found.chunks:
        if content.find(_ANCHOR_KEY, chunk.begin, chunk.until) < 0:
            continue  # as nearly all
        for message in segment.unpacked(chunk.content(content)):
            if message.topic_id != TOPIC_IDS[_ANCHOR]:
                continue
            try:
                _, one = decode(_ANCHOR, message.text)
            except RecordError:
                continue
            if isinstance(one, Anchor):
                yield one
                if one.source == "gps":
                    return
