"""What a segment has told already, and so need not be told again: on both sides of the file.

A lamp that is seen lit a second time, and a house that is still near, are told by what was told
before in the same segment. Each segment stands for itself: it begins with nothing to recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from firmware.journal.around import MOST_SHOWN
from firmware.journal.record import Again, Record, RecordError, decode, encode
from firmware.readings import Channel, Feature, Reading, Surroundings
from firmware.steady import SENSORS


class Recall:
    """The last word of each sensor, and what the last surroundings showed."""

    def __init__(self) -> None:
        self._last: dict[Channel, Reading] = {}
        self._before: Sequence[Feature] = ()
        self._shown = 0

    def copy(self) -> Recall:
        """The same, to be thrown away where what is told next does not come to the disk."""
        one = Recall()
        one._last, one._before = self._last.copy(), self._before
        one._shown = self._shown
        return one

    # On the writing side.

    def is_again(self, record: Record) -> bool:
        """Whether it is a reading that says what the last one of its channel said."""
        if type(record) is not Reading or record.channel not in SENSORS:
            return False
        last = self._last.get(record.channel)
        return last is not None and replace(last, mono_s=record.mono_s) == record

    def text(self, record: Record, at_s: float) -> bytes:
        """What is written of a record that is none of these; raises RecordError."""
        text = encode(record, at_s, self._before)
        self._take(record)
        return text

    # On the reading side.

    def records(self, topic: str, text: bytes) -> Iterator[tuple[float, Record]]:
        """The records that a message stands for; raises RecordError, and forgets what such a one
        may have told: nothing later is taken for what came before it."""
        try:
            at_s, record = decode(topic, text, self._before)
        except RecordError:
            self._forget(topic)
            raise
        if not isinstance(record, Again):
            self._take(record)
            yield at_s, record
            return
        if len(record.channels) != len(record.mono_s):
            raise RecordError(f"{topic}: must have an instant for each of its channels")
        for channel, mono_s in zip(record.channels, record.mono_s, strict=True):
            last = self._last.get(channel)
            if last is None:
                raise RecordError(f"{topic}: {channel} has said nothing before in this segment")
            yield at_s, replace(last, mono_s=mono_s)

    def _forget(self, topic: str) -> None:
        self._last = {
            channel: last for channel, last in self._last.items() if topic != f"/reading/{channel}"
        }
        if topic == f"/reading/{Channel.SURROUNDINGS}":
            self._before = ()

    def _take(self, record: Record) -> None:
        if type(record) is not Reading:
            return
        if record.channel in SENSORS:
            self._last[record.channel] = record
        elif isinstance(record.value, Surroundings):
            features = record.value.features
            self._shown += len(features)
            self._before = features if self._shown < MOST_SHOWN else ()


def again(readings: Sequence[Reading]) -> Again:
    """What stands for readings that say what was said before."""
    return Again(tuple(one.channel for one in readings), tuple(one.mono_s for one in readings))
