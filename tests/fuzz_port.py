"""Well-formed requests with senseless contents, without end, into a real port that stands open.

    python tests/fuzz_port.py --frames 1000000 [--seed 2]

What must hold: nothing is raised; each frame is answered within the bounds of its way or not at
all; no frame takes over two seconds; the memory does not grow; the configuration stays one that
the daemon would start with; the journal stays as it was; every file stays in its place.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run from anywhere, without an installation
    sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

import cbor2
import shapely
from fuzz_journal import NAMES, mutated
from journal_samples import written
from packing import pack_of, row
from port_rig import Rider, ShiftedClock

from firmware.clock import Clock
from firmware.config import reading
from firmware.journal import folder
from firmware.link.door import QUESTION_S
from firmware.link.handling import LONGEST_REPLY_BYTES, Way
from firmware.link.intake import STAGING
from firmware.link.main import Link, Plan
from firmware.port.messages import INDEX
from firmware.state import PartSeen

MOST_S = 2.0
STRETCH_BYTES = 1900
CONFIG = '[unit]\nid = "sled-7"\nlaw = ["wi"]\n\n[gps]\nport = "/dev/serial0"\n'
LAW = (Path(__file__).parent.parent / "firmware" / "laws" / "wi.toml").read_bytes()

WAYS = Way("serial", 16384), Way("serial", 256), Way("udp", 1452)

FIELDS = ["off", "name", "len", "type", "key", "d", "format", "data", "sha256", "val", "place",
          "datetime", "signature", "x"]  # fmt: skip

SETTINGS = ["gps.baud", "unit.law", "zones.packs", "light.head.chip", "clock.floor", "", "gps",
            "privacy.circles", "journal.quota_mb", "gps.port.x", "__class__.__mro__"]  # fmt: skip

VALUES = [b"115200", b'"x"', b"[]", b"{}", b"1e999", b"nan", b"[" * 600, b"{a=" * 300, b"\xff", b"",
          b"1\n[gps]", b"1979-05-27", b'"\\u0000"', b"a." * 300, b'["/dev/zero"]', b'"""',
          b"9" * 900, b"true"]  # fmt: skip

DATES = ["2026-01-17T22:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "", "T",
         "2026-W01-1", "\0", "2026-01-17T22:00:00.999999999Z"]  # fmt: skip

BOMBS = [
    b"\xa1ad\xc5\x82\x1a\x3b\x9a\xca\x00\x03", b"\x9a\xff\xff\xff\xff", b"\xba\xff\xff\xff\xff",
    b"\xa1ad\x5b" + b"\x7f" * 8, b"\xa1ad" + b"\x81" * 2000, b"\xbf" * 2000, b"\x5f" * 2000,
    b"\xa1ad\xd8\x1c\x81\xd8\x1d\x00", b"\xa1ad\xd8\x1e\x82\x01\x00", b"\xa1\x80\x80", b"\xff",
]  # fmt: skip

COMMANDS = [(0, range(11)), (3, range(5)), (8, range(6)), (64, range(12)), (1, (0,)), (9, (0,))]


@dataclass(slots=True)
class Port:
    """An open port with all that lies behind it, and what came of the frames so far."""

    link: Link
    rider: Rider
    clock: ShiftedClock
    top: Path
    names: list[str]
    files: list[tuple[str, bytes]]
    before: dict[str, str]
    answers: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0

    def open(self) -> None:
        """Has the unit heard, and the port opened by its rider where it is shut."""
        door, clock = self.link.door, Clock()
        until_s = clock.mono_s() + 60.0
        while True:
            door.look()
            if door.state is not None and door.left_s > 0.0:
                return
            assert clock.mono_s() < until_s, "the port was not opened"
            if door.state is not None and not door.is_asking and not door.ask():
                self.clock.shift_s += QUESTION_S  # a glass that was asked lately is let alone
            if self.rider.prompt.endswith("?"):
                self.rider.hold()
            clock.sleep(0.005)

    def check(self) -> None:
        """That nothing was changed but what may be."""
        reading.load(self.top / "etc" / "sledwarden.toml")
        files = {path for path in self.top.rglob("*") if path.is_file() and not path.is_symlink()}
        after = {str(path): digest(path) for path in files if self.top / "journal" in path.parents}
        assert after == self.before
        homes = {path.parent.relative_to(self.top).as_posix() for path in files}
        journal = {Path(path).parent.relative_to(self.top).as_posix() for path in after}
        assert homes - journal <= {"etc", "staging", "zones", "laws", "."}, homes


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def port(top: Path) -> Iterator[Port]:
    """A port with a journal, a configuration, a battery clock, and a rider beside it."""
    written(top / "journal")
    written(top / "journal")
    config = top / "etc" / "sledwarden.toml"
    config.parent.mkdir()
    config.write_text(CONFIG)
    pack_of(top / "lake.gpkg", row("water", "lake", shapely.box(-90.2, 45.0, -90.0, 45.1)))
    segments = [place.path for place in folder.segments(top / "journal")]
    names = [f"/journal/{path.parent.name}/{path.name}" for path in segments]
    with tempfile.TemporaryDirectory(prefix="fuzz") as sockets:
        rider, clock = Rider(Path(sockets) / "feed"), ShiftedClock()
        rider.parts = (PartSeen("rtc"),)
        plan = Plan("sled-7", Path(sockets) / "feed", top / "journal", None, 115_200, None, None,
                    False, config)  # fmt: skip
        link = Link(plan, clock)
        before = {
            str(path): digest(path) for path in (top / "journal").rglob("*") if path.is_file()
        }
        one = Port(
            link,
            rider,
            clock,
            top,
            [INDEX, "/journal/ledger.jsonl", *names],
            [
                ("sledwarden.toml", CONFIG.encode()),
                ("wi2.toml", LAW),
                ("lake.gpkg", (top / "lake.gpkg").read_bytes()),
            ],
            before,
        )
        try:
            one.open()
            yield one
        finally:
            link.stop()
            link.run()  # which leaves what it had, and ends at once
            rider.fall_silent()


def value(one: Port, chance: random.Random, depth: int = 0) -> Any:
    """What may stand at any key: of every type, and of every size that a request can have."""
    match chance.randrange(12):
        case 0:
            return chance.choice((None, True, False))
        case 1 | 2:
            return chance.choice(
                (0, 1, -1, 40, 2**31, 2**53, 2**53 + 1, 2**63, 2**64 - 1, -(2**64))
            )
        case 3:
            return chance.choice((0.0, 1.0, -1.5, 1e300, float("nan"), float("inf")))
        case 4 | 5:
            return chance.randbytes(chance.choice((0, 1, 31, 32, 64, 65, 1900)))
        case 6:
            return STAGING * chance.randrange(2) + chance.choice(NAMES)
        case 7:
            return chance.choice(one.names)
        case 8:
            return "".join(map(chr, chance.choices(range(0xD800), k=chance.choice((1, 40, 600)))))
        case 9:
            return chance.choice((*SETTINGS, *DATES, "sha256", "crc32", "17/2", "as", "a" * 1900))
        case 10 if depth < 6:
            return [value(one, chance, depth + 1) for _ in range(chance.choice((0, 1, 3, 30)))]
        case _ if depth < 6:
            return {chance.choice(FIELDS): value(one, chance, depth + 1) for _ in range(3)}
    return 0


def sensible(one: Port, chance: random.Random) -> dict[str, Any]:
    """A body in which most keys are of their own type, so that a handler comes far with it."""
    names = chance.choice((one.names, one.names, SETTINGS, [STAGING + name for name in NAMES]))
    return {
        "name": chance.choice(names),
        "off": chance.choice((0, 0, 1, 100, 65536, 2**53)),
        "len": chance.choice((1, 40, 65536, 2**53)),
        "data": chance.randbytes(chance.choice((0, 10, 500))),
        "val": chance.choice(VALUES),
        "key": chance.randbytes(32),
        "signature": chance.randbytes(64),
        "sha256": chance.randbytes(32),
        "type": chance.choice(("sha256", "crc32", "md5")),
        "place": chance.choice(("1", "2/1", "0", "17/")),
        "datetime": chance.choice(DATES),
        "d": chance.choice(("", "x" * 200)),
        "format": chance.choice(("", "a", "snr", "\0")),
    }


def body(one: Port, chance: random.Random) -> bytes:
    """The CBOR of a request: sensible but for a key or two, senseless, a bomb, or broken."""
    kind = chance.random()
    if kind < 0.1:
        return chance.choice(BOMBS)
    said: Any = sensible(one, chance) if kind < 0.7 else value(one, chance)
    if isinstance(said, dict) and kind < 0.9:
        for key in chance.sample(sorted(said), k=min(len(said), chance.choice((0, 0, 1, 4)))):
            del said[key]
        for _ in range(chance.choice((0, 0, 1, 2))):
            said[chance.choice(FIELDS)] = value(one, chance)
    octets = cbor2.dumps(said)
    return mutated(octets, chance) if chance.random() < 0.15 else octets


def frame(one: Port, chance: random.Random) -> bytes:
    """A message with its header, which is right nearly always."""
    group, commands = chance.choice(COMMANDS)
    octets = body(one, chance)[:2100]
    length = len(octets) if chance.random() < 0.98 else chance.choice((0, 1, 65535))
    return (
        struct.pack(
            "!BBHHBB",
            chance.choice((0, 2) * 20 + (1, 3, 7)) | chance.choice((0, 1) * 20 + (2, 3)) << 3,
            chance.randrange(256),
            length,
            group if chance.random() < 0.98 else chance.randrange(65536),
            chance.randrange(256),
            chance.choice(commands),
        )
        + octets
    )


def said(group: int, command: int, op: int, content: dict[str, Any]) -> bytes:
    octets = cbor2.dumps(content)
    return struct.pack("!BBHHBB", op | 8, 0, len(octets), group, 1, command) + octets


def bringing(name: str, content: bytes) -> Iterator[bytes]:
    """What brings a whole file, and puts it in use."""
    for at in range(0, max(1, len(content)), STRETCH_BYTES):
        piece = {"name": STAGING + name, "off": at, "data": content[at : at + STRETCH_BYTES]}
        yield said(8, 0, 2, piece | {"len": len(content)})
    sha256 = hashlib.sha256(content).digest()
    yield said(64, 6, 2, {"name": STAGING + name, "sha256": sha256})


def installing(one: Port, chance: random.Random) -> Iterator[bytes]:
    """A file, changed or not, that is brought; and perhaps taken back."""
    name, content = chance.choice(one.files)
    yield from bringing(name, mutated(content, chance) if chance.random() < 0.8 else content)
    if chance.random() < 0.5:
        yield said(64, 7, 2, {"name": name})


def frames_of(one: Port, chance: random.Random) -> Iterator[bytes]:
    if chance.random() < 0.002:
        yield from installing(one, chance)
    else:
        yield frame(one, chance)


def fuzz(one: Port, frames: int, seed: int) -> None:
    """Says so many frames; raises AssertionError with the one that went wrong."""
    chance = random.Random(seed)
    number = 0
    while number < frames:
        for message in frames_of(one, chance):
            number += 1
            if number % 20 == 0:
                one.open()
                one.rider.notes.clear()
                one.rider.asked.clear()
                one.rider.prompts.clear()
            way = chance.choice(WAYS)
            who = f"{way.name} {chance.randrange(50)}"
            begin_s = time.process_time()
            try:
                reply = one.link.server.answer(message, who, way)
                look_at(one, message, reply, way)
            except Exception as fault:
                raise AssertionError(f"seed {seed}, frame {number}:{message[:60].hex()}") from fault
            took_s = time.process_time() - begin_s
            one.slowest_s = max(one.slowest_s, took_s)
            assert took_s < MOST_S, f"seed {seed}, frame {number}: {took_s:.1f} s: {message.hex()}"
            if chance.random() < 0.001:
                one.link.server.forget(who)
    one.check()


def look_at(one: Port, message: bytes, reply: bytes | None, way: Way) -> None:
    """An answer has the form of its request, and is no longer than its way carries."""
    if reply is None:
        one.answers["none"] += 1
        return
    op, _, length, group, sequence, command = struct.unpack_from("!BBHHBB", reply)
    assert op & 7 == message[0] & 7 | 1
    assert (group, sequence, command) == struct.unpack_from("!HBB", message, 4)
    assert length == len(reply) - 8
    is_of_files = (group, command) == (64, 6)
    most = LONGEST_REPLY_BYTES if is_of_files else way.reply_bytes
    assert len(reply) <= most, f"{len(reply)} bytes for {way}"
    told = cbor2.loads(reply[8:])
    refused = told.get("rc", told.get("err"))
    one.answers["done" if refused is None else f"refused {refused}"] += 1


def memory_mb() -> float:
    """What this process holds of the machine's memory now."""
    with open("/proc/self/statm", encoding="ascii") as told:
        return int(told.read().split()[1]) * 4096 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    known = parser.parse_args()
    with tempfile.TemporaryDirectory() as where, port(Path(where)) as one:
        fuzz(one, 5000, known.seed)  # what is kept is filled
        begun_mb, begun_s, rest = memory_mb(), time.monotonic(), known.frames - 5000
        for part in range(1, 11):
            fuzz(one, rest // 10, known.seed + part)
            took_s = time.monotonic() - begun_s
            print(
                f"{part * rest // 10 + 5000:,} frames, {took_s:.0f} s, slowest "
                f"{one.slowest_s:.3f} s, {memory_mb() - begun_mb:+.1f} MB of {begun_mb:.0f}",
                flush=True,
            )
        print(dict(one.answers.most_common()))


if __name__ == "__main__":
    main()
