"""Reading a journal back: the very records that were put in, in the order they were judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firmware.errors import JournalError
from firmware.files import refuse_unless_regular
from firmware.journal import folder, segment, stored
from firmware.journal.recall import Recall
from firmware.journal.record import POSITION, SEAL, TOPICS, Record, RecordError, Start
from firmware.journal.segment import Scan
from firmware.journal.stored import Identity

_TOPIC_OF_ID = dict(enumerate(TOPICS, start=1))


def read(path: Path, identity: Identity | None = None) -> Iterator[tuple[float, Record]]:
    """The records of a segment, of a boot's folder, or of the newest boot of a journal's folder.

    Each comes with its `at_s`, in the order of the file, which is the order in which the unit
    judged. A torn end is left out; raises JournalError where a file is no journal, or is damaged
    before its end, or is encrypted and `identity` does not open it.
    """
    for place in segments(path):
        content, found = _scanned(place, identity)
        recall = Recall()
        for start, topic, text in told(content, found):
            try:
                yield from recall.records(topic, text)
            except RecordError as fault:
                raise JournalError(str(place), f"the chunk at byte {start}: {fault}") from fault


def told(content: bytes, found: Scan) -> Iterator[tuple[int, str, bytes]]:
    """The messages of a segment that tell a record, as far as it is whole: the byte at which the
    chunk begins, the topic, and the text, for one `Recall`."""
    for span in found.chunks:
        for message in segment.unpacked(span.content(content)):
            topic = _TOPIC_OF_ID.get(message.topic_id, SEAL)
            if topic not in (SEAL, POSITION):
                yield span.start, topic, message.text


def segments(path: Path) -> list[Path]:
    """The files that `read` reads, in their order; raises JournalError where there are none."""
    boots = folder.boots(path)
    places = folder.segments(boots[-1] if boots else path)
    if not places:
        raise JournalError(str(path), "holds no journal segment: must be a .mcap or their folder.")
    return [place.path for place in places]


def boots(path: Path) -> list[Path]:
    """The folders of a journal's boots, oldest first; each can be given to `read`."""
    return folder.boots(path)


def beside(path: Path, ending: str) -> Path:
    """The file beside a journal's folder that belongs to it: its key, its enrolled hosts."""
    return folder.beside(path, ending)


def start(path: Path, identity: Identity | None = None) -> Start:
    """The start record of the first segment that `read` reads."""
    for _, record in read(path, identity):
        if isinstance(record, Start):
            return record
    raise JournalError(str(path), "has no start record: what wrote it is not known.")


def attachments(path: Path, identity: Identity | None = None) -> dict[str, bytes]:
    """The files attached to the first segment: the law packs and the configuration, by name."""
    _, found = _scanned(segments(path)[0], identity)
    return {one.name: one.data for one in found.attachments}


def _scanned(path: Path, identity: Identity | None) -> tuple[bytes, Scan]:
    try:
        refuse_unless_regular(path, "a journal segment", JournalError)
        content = stored.read(path, identity)
    except OSError as fault:
        raise JournalError(str(path), f"can't be read: {fault.strerror}.") from fault
    found = segment.scan(content)
    if found.header is None and content:
        raise JournalError(
            str(path), f"{found.why}: must be a journal segment.", "Is it the file you meant?"
        )
    if found.header is not None and found.header.profile != segment.PROFILE:
        raise JournalError(
            str(path),
            f"has the profile {found.header.profile!r}: must be {segment.PROFILE!r}.",
            "This MCAP file was written by another program.",
        )
    if not found.has_ending and content.endswith(segment.MAGIC) and found.chunks:
        raise JournalError(
            str(path),
            f"is damaged at byte {found.end}: {found.why}.",
            "sledwarden verify says what still stands.",
        )
    return content, found
