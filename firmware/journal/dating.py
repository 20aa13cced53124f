"""Dates for records: the best UTC then known, and when a new one asks for a new segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from firmware.journal import segment
from firmware.journal.recall import Recall, again
from firmware.journal.record import POSITION, Gap, Record, RecordError, position, topic_of
from firmware.journal.segment import TOPIC_IDS, Message
from firmware.readings import Fix, Reading

CHUNK_S = 1.0
POSITION_S = 0.95
"""Just below a second, so that of a fix a second each is copied."""
CLOCK_STEP_S = 60.0

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Item(NamedTuple):
    """A record on its way to the disk, as `put` took it."""

    sequence: int
    at_s: float
    utc: datetime | None
    record: Record
    is_urgent: bool


STEP_NS = 1 << 24
"""16.8 ms. A message's two times, which stand four times in a file, are multiples of it: the exact
instant is in the message, and no date here is known so well."""


def ns(seconds: float) -> int:
    """Nanoseconds of seconds, down to a whole step and never negative: MCAP's are unsigned."""
    return on_step(round(seconds * 1e9))


def on_step(time_ns: int) -> int:
    """The time down to a whole step; never negative."""
    return max(0, time_ns) // STEP_NS * STEP_NS


def utc_ns(utc: datetime) -> int:
    """Nanoseconds of an aware date since 1970, exact to its microsecond."""
    return (utc - _EPOCH) // _MICROSECOND * 1000


class Dating:
    """The newest pair of a date and its monotonic instant; seconds since boot where there is none.

    Between two dates the monotonic clock goes on from the last one, so a date that is given late
    or seldom costs nothing.
    """

    def __init__(self) -> None:
        self.pair: tuple[datetime, float] | None = None
        self._copied_s = -math.inf

    def is_position_due(self, at_s: float) -> bool:
        """Whether a fix is copied for map panels again: once a second is enough for a map."""
        if at_s - self._copied_s < POSITION_S:
            return False
        self._copied_s = at_s
        return True

    def log_time_ns(self, at_s: float, utc: datetime | None = None) -> int:
        """The best date known at the instant, as MCAP's nanoseconds."""
        if utc is not None:
            self.pair = (utc, at_s)
        if self.pair is None:
            return ns(at_s)
        known, known_at_s = self.pair
        return on_step(utc_ns(known) + round((at_s - known_at_s) * 1e9))


def before_step(items: Sequence[Item], newest_ns: int, *, is_dated: bool, may_step: bool) -> int:
    """How many items come before the first whose date asks for a new segment.

    That is the first date in a segment that began without one, and one that lies more than a
    minute before the newest log time: log times never go back within a segment, so until the
    clock had caught up all of them would be the same.
    """
    for index, item in enumerate(items):
        if item.utc is None:
            continue
        dated_ns = utc_ns(item.utc)
        if not is_dated or (may_step and dated_ns < newest_ns - ns(CLOCK_STEP_S)):
            return index
        newest_ns = max(newest_ns, dated_ns)
    return len(items)


def contents(
    items: Sequence[Item], dating: Dating, newest_ns: int, recall: Recall
) -> tuple[list[bytes], int]:
    """The contents of these items' chunks, one a second of the ride, and how many were refused.

    No log time is before `newest_ns`. A record that can't be written is replaced by a gap that
    says why. `recall` is what the segment has told, and takes what is told now.
    """
    chunks: list[bytes] = []
    messages: list[Message] = []
    same: list[Reading] = []
    begun_at_s, refused = items[0].at_s, 0
    for place, item in enumerate(items):
        if item.at_s - begun_at_s >= CHUNK_S and messages:
            chunks.append(segment.packed(messages))
            messages, begun_at_s = [], item.at_s
        newest_ns = max(newest_ns, dating.log_time_ns(item.at_s, item.utc))
        times = 0, newest_ns, ns(item.at_s)
        record = item.record
        if isinstance(record, Reading) and recall.is_again(record):
            same.append(record)
            following = items[place + 1] if place + 1 < len(items) else None
            if (
                following is not None
                and following.at_s == item.at_s
                and recall.is_again(following.record)
            ):
                continue  # one message stands for all of one instant
            record, same = again(same), []
        try:
            text = recall.text(record, item.at_s)
        except RecordError as fault:
            refused += 1
            record = Gap(1, f"could not be written: {fault}", item.at_s, item.at_s)
            text = recall.text(record, item.at_s)
        messages.append(Message(TOPIC_IDS[topic_of(record)], *times, text))
        if type(record) is not Reading or type(record.value) is not Fix:
            continue
        if dating.is_position_due(item.at_s):
            messages.append(Message(TOPIC_IDS[POSITION], *times, position(record.value, newest_ns)))
    chunks.append(segment.packed(messages))
    return chunks, refused
