"""Finishing: a segment that a power cut tore is closed at a later start, with what is whole of it.

What is whole is kept to the byte. After it come a record of what was found, a seal of the kind
`finish`, and the ending; so a finished segment can never pass as one that was closed in time.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware.journal import record, seal, segment, stored
from firmware.journal.dating import ns
from firmware.journal.folder import Place, Storage
from firmware.journal.seal import Chain, Key
from firmware.journal.segment import FOOTER_BYTES, MAGIC, TOPIC_IDS, Message

MOST_BYTES = 64 << 20
"""No segment is half as long; more than this a unit with little memory must not read at once."""


def has_good_ending(path: Path) -> bool:
    """Whether the file's footer and the index before it are whole; reads only those."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not len(MAGIC) + FOOTER_BYTES <= size <= MOST_BYTES:
            return False
        file.seek(size - FOOTER_BYTES)
        footer = file.read(FOOTER_BYTES)
        opcode, length, start, _, crc = struct.unpack("<BQQQI", footer[: -len(MAGIC)])
        end = size - FOOTER_BYTES
        if footer[-len(MAGIC) :] != MAGIC or (opcode, length) != (2, 20) or not 0 < start <= end:
            return False
        file.seek(start)
        summary = file.read(end - start)
    return bool(zlib.crc32(footer[: 1 + 8 + 16], zlib.crc32(summary)) == crc)


def has_good_magic(path: Path) -> bool:
    """Whether the file ends like a finished one; reads eight bytes."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < len(MAGIC):
            return False
        file.seek(-len(MAGIC), os.SEEK_END)
        return file.read() == MAGIC


@dataclass(frozen=True, slots=True)
class LastWords:
    """What the last segment of a journal says of itself; empty where it does not say.

    `digest` and `public_key` are its last seal's, `why` is how it ended.
    """

    digest: str = ""
    public_key: str = ""
    start: record.Start | None = None
    why: str = ""


def last_words(path: Path) -> LastWords:
    """The start, the last whole seal and the close of a segment that is not encrypted."""
    content = stored.read(path)
    found = segment.scan(content)
    seals = (seal.parse(stamp.message.text) for stamp in reversed(found.seals))
    last = next((one for one in seals if one is not None), None)
    start, close = None, None
    for span in (*found.chunks[:1], *found.chunks[-3:]):
        for message in segment.unpacked(span.content(content)):
            if message.topic_id == TOPIC_IDS["/journal/start"]:
                start = start or _decoded(message)
            elif message.topic_id in (TOPIC_IDS["/journal/close"], TOPIC_IDS["/journal/finished"]):
                close = _decoded(message)
    return LastWords(
        digest=last.digest if last is not None else "",
        public_key=last.public_key if last is not None else "",
        start=start if isinstance(start, record.Start) else None,
        why=_why(close),
    )


def _decoded(message: Message) -> record.Record | None:
    try:
        return record.decode(record.TOPICS[message.topic_id - 1], message.text)[1]
    except record.RecordError:
        return None


def _why(close: record.Record | None) -> str:
    if isinstance(close, record.Close):
        return close.why if close.is_last else "cut off where its next segment was to begin"
    if isinstance(close, record.Finished):
        return f"cut off: {close.note}"
    return ""


def last_digest(path: Path) -> str:
    """The digest in the last seal of a segment, or nothing where none is whole."""
    return last_words(path).digest


def finish(
    place: Place,
    unit: str,
    previous: str,
    by_boot: int,
    software: str,
    key: Key,
    storage: Storage,
) -> str:
    """Finishes a torn segment and says in a sentence what was kept; an OSError passes through.

    `previous` serves only where not even the segment's first seal is whole.
    Doing it again after a cut in the middle of it gives a file that is finished once more. Of a
    file that is longer than any segment only the beginning is looked at.
    """
    torn, size = _beginning(place.path)
    content, found = torn, segment.scan(torn)
    why, begin = found.why + _unseen(torn, size), found.end
    if found.unindexed is not None:  # its index follows from it
        content = torn[: found.end] + found.unindexed.framed
        found = segment.scan(content)
    seals = [one for one in (seal.parse(stamp.message.text) for stamp in found.seals) if one]
    kept = found.end if found.header is not None else 0
    begin = min(begin, kept)
    is_closed = bool(seals) and seals[-1].kind in seal.LAST_KINDS
    addition = content[begin:kept] + (
        b"" if found.header is not None else segment.opening(software, ())
    )
    end = begin + len(addition)
    records = found.ending.records
    descriptor = storage.reopen(place.path)
    try:
        if not is_closed:
            _keep_damaged(place.path, torn, kept, seals, storage)
            chain = _chain(seals, unit, place, previous)
            sealed = found.seals[-1].offset if seals else 0
            at_s = segment.last_at_s(content, found)
            publish_ns = ns(at_s)
            dropped = torn[kept:]
            note = record.Finished(
                kept=kept,
                dropped=size - kept,
                unsealed=kept - sealed,
                records=records,
                by_boot=by_boot,
                note=why,
                dropped_sha256=hashlib.sha256(dropped).hexdigest() if size > kept else "",
            )
            log_ns = found.ending.end_ns
            text = record.encode(note, at_s)
            topic_id = TOPIC_IDS[record.topic_of(note)]
            body = segment.packed([Message(topic_id, 0, log_ns, publish_ns, text)])
            if not found.ending.channels:
                body = segment.declarations() + body
            chunk = segment.framed(body)
            found.ending.take_chunk(end, chunk)
            addition += chunk.framed
            end += len(chunk.framed)
            last = chain.next(
                key,
                "finish",
                hashlib.sha256((content[:begin] + addition)[sealed:]).digest(),
                end=end,
                durable=note.kept,
                log_time_ns=log_ns,
                publish_time_ns=publish_ns,
            )
            chunk = segment.framed(segment.packed([last.message()]))
            found.ending.take_chunk(end, chunk)
            addition += chunk.framed
            end += len(chunk.framed)
        os.ftruncate(descriptor, begin)
        storage.write(descriptor, addition, begin)
        storage.sync(descriptor)
        storage.write(descriptor, found.ending.written(end), end)
        storage.sync(descriptor)
    finally:
        os.close(descriptor)
    what = "was closed but lacked its ending" if is_closed else f"was torn ({why})"
    return f"{place.name} {what}: {records} records kept, {max(0, size - kept)} bytes cut"


def _beginning(path: Path) -> tuple[bytes, int]:
    """As much of a file as is looked at, and how long all of it is."""
    with path.open("rb") as file:
        return file.read(MOST_BYTES), os.fstat(file.fileno()).st_size


def _unseen(torn: bytes, size: int) -> str:
    more = size - len(torn)
    return f"; {more} bytes beyond {len(torn)} were not looked at" if more > 0 else ""


def _chain(seals: Sequence[seal.Seal], unit: str, place: Place, previous: str) -> Chain:
    if not seals:
        boot_id = place.path.parent.name.partition("-")[2]
        return Chain(unit, place.boot, boot_id, place.segment, previous)
    last = seals[-1]
    chain = Chain(last.unit, last.boot, last.boot_id, last.segment, last.previous)
    chain.taken(last)
    return chain


def _keep_damaged(
    path: Path, content: bytes, end: int, seals: Sequence[seal.Seal], storage: Storage
) -> None:
    """Keeps the bytes that will be cut beside the file, if they are more than a power cut explains.

    They are so where a later seal of the same key stands in them that was made when the damaged
    place had been safe on the disk, and where the file is none of ours at all.
    """
    later = seal.later_seals(content[end:], seals[-1].public_key if seals else "")
    is_foreign = not MAGIC.startswith(content[: len(MAGIC)]) and any(content)
    if is_foreign or any(one.durable > end for one in later):
        storage.replace(path.with_suffix(".torn"), content[end:])
