"""Single bits of a closed segment, flipped one after another, and what is then said of it.

    python tests/flipping.py [--every 7]

tries every so manieth bit (each, where nothing is said) of a segment as the unit writes it, as it
was sealed and as it was stored, on all processors, and prints the row of docs/journal.md.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # run from anywhere, without an installation
    sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

from journal_samples import START, written
from mcap.data_stream import RecordBuilder
from mcap.records import Channel, Schema

from firmware.journal import folder, ledger, record, segment
from firmware.journal.folder import LEDGER, Place
from firmware.journal.keeper import Keeper
from firmware.journal.proof import check_segment
from firmware.journal.seal import Chain, Key, Kind
from firmware.journal.segment import TOPIC_IDS, Ending, Message
from host_tools.journals.holding import Holding

Judge = Callable[[bytes], str]
"""What is said of a segment's bytes."""

SHARES = 256
"""Into so many pieces of work a segment is cut."""


def flips(octets: bytes, judge: Judge, bits: Iterable[int]) -> Counter[str]:
    """How often what was said of the bytes with one of these bits flipped."""
    said: Counter[str] = Counter()
    bad = bytearray(octets)
    for bit in bits:
        bad[bit // 8] ^= 1 << bit % 8
        said[judge(bytes(bad))] += 1
        bad[bit // 8] ^= 1 << bit % 8
    return said


def by_seals(octets: bytes) -> str:
    """The verdict of a segment's own seals, with nothing else at hand."""
    return str(check_segment("s", octets).verdict)


def by_ledger(place: Place, held: Holding, octets: bytes) -> str:
    """The verdict of a segment's line in the ledger."""
    return "tampered" if held.fault(place, octets) else "as told"


def small(path: Path) -> tuple[Place, Place, Holding]:
    """A short closed segment as the unit writes it: sealed, and stored beside it, and the ledger
    that tells of both."""
    written(path, 12)
    (place,) = folder.segments(path)
    raw = place.path.read_bytes()
    keeper = Keeper(path, START.unit)
    keeper.begin(Key.load(path.with_name(f"{path.name}.key")))
    assert keeper.wait(30.0)
    assert keeper.stop(30.0)
    (kept,) = folder.segments(path)
    place.path.write_bytes(raw)
    return place, kept, Holding(ledger.read(path / LEDGER))


def smallest(key: Key) -> bytes:
    """The least that is a whole segment: one topic beside the seals, one record, two seals.

    A segment of the unit's own declares every topic, twice, in 34 KB.
    """
    topics = record.SEAL, "/journal/close"
    builder = RecordBuilder()
    for topic in topics:
        number, name = TOPIC_IDS[topic], record.schema_name(topic)
        Schema(id=number, data=b"{}", encoding="jsonschema", name=name).write(builder)
    for topic in topics:
        number = TOPIC_IDS[topic]
        Channel(number, topic, "json", {}, number).write(builder)
    declared = bytes(builder.end())  # type: ignore[no-untyped-call]  # mcap gives no result type
    content = segment.opening("s", [("a.toml", b"a = 1\n")])
    ending, chain = Ending(), Chain("sled-7", 1, "0f" * 16, 1, "")
    ending.attachment_indexes += segment.scan(content).ending.attachment_indexes
    first, closing = (
        Message(TOPIC_IDS[topics[1]], 0, ns, ns, b'{"at_s":1.0,"why":"","records":1,"lost":0}')
        for ns in (5, 7)
    )
    sealed = safe = 0
    commits: tuple[tuple[Kind, bytes], ...] = (
        ("start", declared + segment.packed([first])),
        ("close", segment.packed([closing])),
    )
    for kind, body in commits:
        chunk = segment.framed(body)
        ending.take_chunk(len(content), chunk)
        content += chunk.framed
        stretch = hashlib.sha256(content[sealed:]).digest()
        seal = chain.next(
            key, kind, stretch,
            end=len(content), durable=safe,
            log_time_ns=ending.end_ns, publish_time_ns=ending.end_ns,
        )  # fmt: skip
        chain.taken(seal)
        sealed = len(content)
        chunk = segment.framed(segment.packed([seal.message()]))
        ending.take_chunk(len(content), chunk)
        content += chunk.framed
        safe = len(content)
    return content + ending.written(len(content))


def shares(bits: int, every: int) -> list[range]:
    """Every so manieth of so many bits, in pieces of work."""
    size = every * max(1, bits // (every * SHARES))
    return [range(begin, min(begin + size, bits), every) for begin in range(0, bits, size)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
    os.nice(10)
    with tempfile.TemporaryDirectory() as where, ProcessPoolExecutor() as pool:
        raw, kept, held = small(Path(where) / "journal")
        least = smallest(Key.make())
        sealed, packed = raw.path.read_bytes(), kept.path.read_bytes()
        rows: list[tuple[str, bytes, Judge, str]] = [
            ("smallest, by its seals", least, by_seals, "whole"),
            ("sealed, by its seals", sealed, by_seals, "whole"),
            ("sealed, by the ledger", sealed, partial(by_ledger, raw, held), "as told"),
            ("stored, by the ledger", packed, partial(by_ledger, kept, held), "as told"),
        ]
        print("| segment | bytes | bits | said | took |")
        for name, octets, judge, unharmed in rows:
            assert judge(octets) == unharmed, name
            begun_s = time.monotonic()
            said: Counter[str] = Counter()
            work = shares(len(octets) * 8, every)
            jobs = [pool.submit(flips, octets, judge, bits) for bits in work]
            for number, job in enumerate(jobs, start=1):
                said += job.result()
                took_s = time.monotonic() - begun_s
                print(f"{name}: {number}/{len(jobs)}, {took_s:.0f} s", end="\r", file=sys.stderr)
            told = ", ".join(f"{verdict} {count:,}" for verdict, count in said.most_common())
            print(f"| {name} | {len(octets):,} | {said.total():,} | {told} | {took_s:.0f} s |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
