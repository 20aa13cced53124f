"""One segment as bytes: an MCAP file that can be cut anywhere and continued by another start.

The library's own writer can't take up a file that it did not begin, and forgets a chunk that the
disk refused. So chunks are framed here, by the MCAP specification, each in one piece: its bytes
follow from its messages alone, and the end of a file (its index and footer) from its chunks alone.
Whoever finishes a file, now or after a power cut, writes the same bytes.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Schema,
    Statistics,
    SummaryOffset,
)

from firmware.journal import record

MAGIC = b"\x89MCAP0\r\n"
PROFILE = "sledwarden"
TOPIC_IDS = {topic: number for number, topic in enumerate(record.TOPICS, start=1)}
SEAL_ID = TOPIC_IDS[record.SEAL]
FOOTER_BYTES = 1 + 8 + 20 + len(MAGIC)

_FRAME = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<BQHIQQ")
_CHUNK = struct.Struct("<BQQQQIIQ")  # with an empty name of compression
_INDEX = struct.Struct("<BQHI")

CHUNK_HEAD_BYTES = _CHUNK.size - _FRAME.size
"""What stands between a chunk's opcode and length and its content."""


class Message(NamedTuple):
    """One message of a segment, as it stands in a chunk."""

    topic_id: int
    sequence: int
    log_time_ns: int
    publish_time_ns: int
    text: bytes


class Chunk(NamedTuple):
    """A chunk with its message indexes as they stand in the file, and what the file's end needs."""

    framed: bytes | memoryview
    chunk_length: int
    content_length: int
    start_ns: int
    end_ns: int
    indexes: tuple[tuple[int, int, int], ...]  # topic id, offset from the chunk's start, messages
    schemas: tuple[bytes, ...]
    channels: tuple[bytes, ...]


def packed(messages: Iterable[Message]) -> bytes:
    """The content of a chunk that holds these messages."""
    return b"".join(
        _MESSAGE.pack(Opcode.MESSAGE, 22 + len(one.text), *one[:4]) + one.text for one in messages
    )


def unpacked(content: bytes) -> Iterator[Message]:
    """The messages of a chunk's content, up to the first record of it that is cut.

    None is cut in a chunk that was read in full.
    """
    at = 0
    while at + _FRAME.size <= len(content):
        opcode, length = _FRAME.unpack_from(content, at)
        if at + _FRAME.size + length > len(content):
            return
        if opcode == Opcode.MESSAGE and length >= _MESSAGE.size - _FRAME.size:
            _, _, topic_id, sequence, log_ns, publish_ns = _MESSAGE.unpack_from(content, at)
            text = content[at + _MESSAGE.size : at + 9 + length]
            yield Message(topic_id, sequence, log_ns, publish_ns, text)
        at += 9 + length


def framed(content: bytes) -> Chunk:
    """The chunk of this content, uncompressed, with its message indexes after it.

    Raises ValueError where the content is not a row of schemas and channels, then messages.
    """
    at = 0
    entries: dict[int, list[int]] = {}
    schemas: list[bytes] = []
    channels: list[bytes] = []
    start_ns, end_ns = 0, 0
    while at < len(content):
        if at + 9 > len(content):
            raise ValueError("a record of the chunk is cut")
        opcode, length = _FRAME.unpack_from(content, at)
        end = at + 9 + length
        if end > len(content):
            raise ValueError("a record of the chunk is cut")
        if opcode == Opcode.MESSAGE and length >= 22:
            _, _, topic_id, _, log_ns, _ = _MESSAGE.unpack_from(content, at)
            start_ns = min(start_ns, log_ns) if entries else log_ns
            end_ns = max(end_ns, log_ns)
            entries.setdefault(topic_id, []).extend((log_ns, at))
        elif opcode == Opcode.SCHEMA and not entries:
            schemas.append(content[at:end])
        elif opcode == Opcode.CHANNEL and not entries:
            channels.append(content[at:end])
        else:
            raise ValueError("a record of the chunk is out of place")
        at = end
    head = _CHUNK.pack(
        Opcode.CHUNK, 40 + len(content), start_ns, end_ns, len(content), zlib.crc32(content), 0, at
    )
    parts = [head, content]
    chunk_length = offset = len(head) + len(content)
    indexes = []
    for topic_id, pairs in entries.items():
        size = 8 * len(pairs)
        parts.append(_INDEX.pack(Opcode.MESSAGE_INDEX, 6 + size, topic_id, size))
        parts.append(struct.pack(f"<{len(pairs)}Q", *pairs))
        indexes.append((topic_id, offset, len(pairs) // 2))
        offset += _INDEX.size + size
    return Chunk(
        b"".join(parts),
        chunk_length,
        len(content),
        start_ns,
        end_ns,
        tuple(indexes),
        tuple(schemas),
        tuple(channels),
    )


def _written(*records: McapRecord) -> bytes:
    builder = RecordBuilder()
    for one in records:
        one.write(builder)
    return bytes(builder.end())  # type: ignore[no-untyped-call]  # mcap gives it no result type


def opening(software: str, attachments: Sequence[tuple[str, bytes]]) -> bytes:
    """How a segment begins: magic, header and attachments."""
    return MAGIC + _written(
        Header(profile=PROFILE, library=software),
        *(
            Attachment(0, 0, name, "application/toml" if name.endswith(".toml") else "", body)
            for name, body in attachments
        ),
    )


def declarations() -> bytes:
    """The schemas and channels of every topic: how the content of a segment's first chunk begins.

    A topic's schema and its channel have the same id, its place in `record.TOPICS`.
    """
    schemas = [
        Schema(
            id=number,
            data=msgspec.json.encode(record.schema(topic)),
            encoding="jsonschema",
            name=record.schema_name(topic),
        )
        for topic, number in TOPIC_IDS.items()
    ]
    channels = [
        Channel(id=number, topic=topic, message_encoding="json", metadata={}, schema_id=number)
        for topic, number in TOPIC_IDS.items()
    ]
    return _written(*schemas, *channels)


@dataclass(slots=True)
class Ending:
    """What a file's end will say, gathered chunk by chunk; `written` gives its bytes."""

    schemas: list[bytes] = field(default_factory=list)
    channels: list[bytes] = field(default_factory=list)
    attachment_indexes: list[bytes] = field(default_factory=list)
    chunk_indexes: bytearray = field(default_factory=bytearray)
    chunks: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    start_ns: int = 0
    end_ns: int = 0

    @property
    def messages(self) -> int:
        return sum(self.counts.values())

    @property
    def records(self) -> int:
        """Messages that are records: not the seals, and not the copies made for map panels."""
        copies = self.counts.get(SEAL_ID, 0) + self.counts.get(TOPIC_IDS[record.POSITION], 0)
        return self.messages - copies

    @property
    def events(self) -> int:
        """Messages that a person looks for first: events, and pulls of the tether."""
        return sum(self.counts.get(TOPIC_IDS[topic], 0) for topic in ("/event", "/pull"))

    def take_attachment(self, offset: int, length: int, one: Attachment) -> None:
        self.attachment_indexes.append(
            _written(
                AttachmentIndex(
                    offset=offset,
                    length=length,
                    log_time=one.log_time,
                    create_time=one.create_time,
                    data_size=len(one.data),
                    name=one.name,
                    media_type=one.media_type,
                )
            )
        )

    def take_chunk(self, offset: int, chunk: Chunk) -> None:
        self.schemas.extend(chunk.schemas)
        self.channels.extend(chunk.channels)
        self.start_ns = min(self.start_ns, chunk.start_ns) if self.counts else chunk.start_ns
        self.end_ns = max(self.end_ns, chunk.end_ns)
        pairs = bytearray()
        for topic_id, index_offset, messages in chunk.indexes:
            pairs += struct.pack("<HQ", topic_id, offset + index_offset)
            self.counts[topic_id] = self.counts.get(topic_id, 0) + messages
        body = struct.pack(
            f"<QQQQI{len(pairs)}sQIQQ",
            chunk.start_ns,
            chunk.end_ns,
            offset,
            chunk.chunk_length,
            len(pairs),
            bytes(pairs),
            len(chunk.framed) - chunk.chunk_length,
            0,
            chunk.content_length,
            chunk.content_length,
        )
        self.chunk_indexes += _FRAME.pack(Opcode.CHUNK_INDEX, len(body)) + body
        self.chunks += 1

    def written(self, offset: int) -> bytes:
        """DataEnd, summary, footer and magic of a file whose last chunk ends at `offset`."""
        statistics = Statistics(
            attachment_count=len(self.attachment_indexes),
            channel_count=len(self.channels),
            channel_message_counts=self.counts,
            chunk_count=self.chunks,
            message_count=self.messages,
            metadata_count=0,
            message_start_time=self.start_ns,
            message_end_time=self.end_ns,
            schema_count=len(self.schemas),
        )
        data_end = _written(DataEnd(0))
        start = offset + len(data_end)
        groups = (
            (Opcode.SCHEMA, b"".join(self.schemas)),
            (Opcode.CHANNEL, b"".join(self.channels)),
            (Opcode.STATISTICS, _written(statistics)),
            (Opcode.CHUNK_INDEX, bytes(self.chunk_indexes)),
            (Opcode.ATTACHMENT_INDEX, b"".join(self.attachment_indexes)),
            (Opcode.METADATA_INDEX, b""),
        )
        summary, offsets = b"", []
        for opcode, group in groups:
            offsets.append(SummaryOffset(opcode, start + len(summary), len(group)))
            summary += group
        offsets_start = start + len(summary)
        summary += _written(*offsets)
        footer = struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offsets_start)
        crc = zlib.crc32(footer, zlib.crc32(summary))
        return data_end + summary + _written(Footer(start, offsets_start, crc)) + MAGIC


class Stamp(NamedTuple):
    """A seal's chunk: where it begins and ends, and its one message."""

    offset: int
    end: int
    message: Message


class Span(NamedTuple):
    """Where a chunk lies: its start, its content from and to, and the end of its indexes."""

    start: int
    begin: int
    until: int
    end: int

    def content(self, segment: bytes) -> bytes:
        return segment[self.begin : self.until]


@dataclass(slots=True)
class Scan:
    """What is whole in a file, from its first byte on, and where and why that ended.

    `end` is the offset of the first byte that is not whole, or of the file's end (its DataEnd).
    `unindexed` is a whole chunk at `end` whose message indexes are not; where it is a seal's,
    `torn_seal` is that seal.
    """

    end: int = 0
    why: str = ""
    has_ending: bool = False
    header: Header | None = None
    attachments: list[Attachment] = field(default_factory=list)
    chunks: list[Span] = field(default_factory=list)
    seals: list[Stamp] = field(default_factory=list)
    ending: Ending = field(default_factory=Ending)
    unindexed: Chunk | None = None
    torn_seal: Stamp | None = None
    is_trusting: bool = False


def scan(segment: bytes, *, is_trusting: bool = False) -> Scan:
    """Reads a segment from its start as far as it is whole; never raises on any bytes.

    A chunk is whole when it and its message indexes are, byte for byte, what its content gives.
    `is_trusting` takes a chunk's word for that, ten times as fast: what comes of it counts only
    where good seals cover all of it.
    """
    found = Scan(is_trusting=is_trusting)
    if segment[: len(MAGIC)] != MAGIC:
        found.why = "does not begin as an MCAP file"
        return found
    found.end = len(MAGIC)
    while not found.why:
        if found.end == len(segment):
            found.why = "ends without an ending"
        elif found.end + 9 > len(segment):
            found.why = "a record is cut"
        else:
            opcode, length = _FRAME.unpack_from(segment, found.end)
            found.why = _take(found, segment, opcode, found.end + 9 + length)
    return found


def _take(found: Scan, segment: bytes, opcode: int, end: int) -> str:
    """Takes one record into the scan and moves its end on; says why where it is not whole."""
    if opcode == Opcode.DATA_END:
        found.has_ending = True
        return "the file's ending"
    if end > len(segment):
        return "a record is cut"
    if opcode == Opcode.CHUNK:
        return _take_chunk(found, segment, end)
    body = memoryview(segment)[found.end + 9 : end]
    is_first = found.header is None
    try:
        if opcode == Opcode.HEADER and is_first:
            profile, at = _text(body, 0)
            library, at = _text(body, at)
            one: McapRecord = Header(profile, library)
            found.header = Header(profile, library)
        elif opcode == Opcode.ATTACHMENT and not is_first and not found.chunks:
            log_ns, create_ns = struct.unpack_from("<QQ", body, 0)
            name, at = _text(body, 16)
            media, at = _text(body, at)
            (size,) = struct.unpack_from("<Q", body, at)
            one = Attachment(create_ns, log_ns, name, media, bytes(body[at + 8 : at + 8 + size]))
        else:
            return "a record is out of place or of no known kind"
    except (struct.error, UnicodeDecodeError):
        return "a record can't be read"
    if _written(one) != segment[found.end : end]:
        return "a record is not what its checksum or its fields say"
    if isinstance(one, Attachment):
        found.ending.take_attachment(found.end, end - found.end, one)
        found.attachments.append(one)
    found.end = end
    return ""


def _take_chunk(found: Scan, segment: bytes, end: int) -> str:
    begin = found.end + _CHUNK.size
    if found.header is None or begin > end:
        return "a chunk is out of place"
    chunk = _by_its_word(segment, found.end, end) if found.is_trusting else None
    if chunk is None:
        try:
            chunk = framed(segment[begin:end])
        except ValueError as fault:
            return str(fault)
        if not chunk.indexes:
            return "a chunk has no message"
        if not segment.startswith(chunk.framed, found.end):
            if segment.startswith(chunk.framed[: chunk.chunk_length], found.end):
                found.unindexed = chunk
                seal = _seal_in(chunk, segment[begin:end])
                if seal is not None:
                    found.torn_seal = Stamp(found.end, end, seal)
                return "a message index is cut or changed"
            return "a chunk's checksum is wrong"
    after = found.end + len(chunk.framed)
    seal = _seal_in(chunk, segment[begin:end])
    if seal is not None:
        found.seals.append(Stamp(found.end, after, seal))
    found.ending.take_chunk(found.end, chunk)
    found.chunks.append(Span(found.end, begin, end, after))
    found.end = after
    return ""


def _seal_in(chunk: Chunk, content: bytes) -> Message | None:
    """The message of a seal's own chunk; None in any other."""
    is_seals = [one[0] for one in chunk.indexes] == [SEAL_ID] and not chunk.schemas
    messages = [*unpacked(content)] if is_seals and not chunk.channels else []
    return messages[-1] if messages else None


def _by_its_word(segment: bytes, start: int, end: int) -> Chunk | None:
    """A chunk by what its head and its indexes say of it; None where they can't be so.

    A seal's own chunk, and one with schemas, are read in full.
    """
    _, _, start_ns, end_ns, size, _, name, size_too = _CHUNK.unpack_from(segment, start)
    begin = start + _CHUNK.size
    if name or size != end - begin or size_too != size or segment[begin : begin + 1] != b"\x05":
        return None
    at = end
    indexes = []
    while at + _INDEX.size <= len(segment) and segment[at] == Opcode.MESSAGE_INDEX:
        _, length, topic_id, octets = _INDEX.unpack_from(segment, at)
        if length != 6 + octets or octets % 16 or at + 9 + length > len(segment):
            return None
        indexes.append((topic_id, at - start, octets // 16))
        at += 9 + length
    if len(indexes) == 1 and indexes[0][0] == SEAL_ID:
        return None
    whole = memoryview(segment)[start:at]
    return Chunk(whole, end - start, size, start_ns, end_ns, tuple(indexes), (), ())


def at_s_of(message: Message) -> float:
    """When a message was judged: exactly where it tells it, as a seal does not."""
    told = _AT_S.match(message.text)
    return message.publish_time_ns / 1e9 if told is None else float(told[1])


def last_at_s(segment: bytes, found: Scan) -> float:
    """When the last whole message was judged; 0.0 where there is none."""
    spans = found.chunks[-2:]
    last = (at_s_of(one) for span in spans for one in unpacked(span.content(segment)))
    return max(last, default=0.0)


_AT_S = re.compile(rb'\{"at_s":(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)[,}]')


def _text(body: memoryview, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", body, at)
    if at + 4 + length > len(body):
        raise struct.error("the text is cut")
    return str(body[at + 4 : at + 4 + length], "utf-8"), at + 4 + length
