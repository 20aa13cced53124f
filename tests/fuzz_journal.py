"""Mutated journals, ledgers and requests without end into their readers; by hand, in short in CI.

    python tests/fuzz_journal.py --tries 20000 [--seed 2]

What must hold: nothing is raised but the errors that are ours; no try takes over two seconds; the
memory does not grow; every file stays in its folder.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":  # run from anywhere, without an installation
    sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]

import zstandard
from journal_samples import START, torn, written

from firmware.errors import JournalError, SledwardenError
from firmware.journal import finish, folder, ledger, proof, reader, segment, stored
from firmware.journal.folder import LEDGER, Storage
from firmware.journal.keeper import Keeper
from firmware.journal.seal import Key
from firmware.link.frames import FrameCutter, NoAnswer, Refused, framed, parse
from firmware.link.intake import STAGING, Intake
from host_tools.journals.paths import find
from host_tools.journals.verifying import verify

MOST_S = 2.0
FALSE = [0, 1, 8, 2**15, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
"""Lengths and offsets that are not so."""
NAMES = ["..", "../x", "/etc/passwd", "a/b", "a\0b", "", ".", "x" * 300, "sledwarden.toml/..", "\\",
         "wi.toml", "lake.gpkg", "%2e%2e", "~root", "-rf", "\u202egpkg",
         "sledwarden.toml"]  # fmt: skip


@dataclass(slots=True)
class Corpus:
    """What is mutated: a sealed segment, a torn one, a ledger, and what a client sends."""

    sealed: bytes
    torn: bytes
    lines: bytes
    requests: bytes
    work: Path
    key: Key
    slowest_s: float = 0.0
    refused: dict[str, int] = field(default_factory=dict)


def corpus(where: Path) -> Corpus:
    whole, cut = where / "whole", where / "cut"
    written(whole, 20)
    written(whole, 12)
    torn(cut, 20)
    raws = [place.path.read_bytes() for place in folder.segments(whole)]
    key = Key.load(where / "whole.key")
    keeper = Keeper(whole, START.unit)
    keeper.begin(key)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    (place,) = folder.segments(cut)
    bodies = (
        b"\xa0",
        b"\xa1aneho",
        b"\xa2cabcd" + b"\x9f" * 40,
        b"\xbb" + b"\xff" * 8,
        b"\x81" * 60,
    )
    requests = b"".join(
        framed(struct.pack("!BBHHBB", op | 8, 0, len(body), group, 7, command) + body)
        for op in (0, 2)
        for group in (0, 3, 8, 64)
        for command in (0, 1, 6)
        for body in bodies
    )
    return Corpus(
        raws[0], place.path.read_bytes(), (whole / LEDGER).read_bytes(), requests, where, key
    )


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Up to six changes: bits, stretches put in, taken out, doubled, zeroed, and false numbers."""
    bad = bytearray(content)
    for _ in range(chance.randrange(1, 7)):
        at, size = chance.randrange(len(bad) + 1), chance.choice((1, 4, 16, 512, 5000))
        match chance.randrange(7):
            case 0 if bad:
                bad[min(at, len(bad) - 1)] ^= 1 << chance.randrange(8)
            case 1:
                bad[at:at] = chance.randbytes(size)
            case 2:
                del bad[at : at + size]
            case 3:
                bad[at:at] = bad[at : at + size]
            case 4:
                bad[at : at + size] = bytes(len(bad[at : at + size]))
            case 5:
                bad[at : at + 8] = struct.pack("<Q", chance.choice(FALSE))
            case _:
                bad[at : at + 4] = struct.pack("<I", chance.choice(FALSE) & 0xFFFFFFFF)
    return bytes(bad[: chance.randrange(len(bad) + 1)] if chance.random() < 0.1 else bad)


def try_segment(one: Corpus, chance: random.Random) -> None:
    content = mutated(chance.choice((one.sealed, one.torn)), chance)
    found = segment.scan(content)
    assert 0 <= found.end <= len(content)
    report = proof.check_segment("s", content)
    is_same = content in (one.sealed, one.torn)
    assert is_same or report.verdict is not proof.Verdict.WHOLE
    path = one.work / "000001.mcap"
    path.write_bytes(content)
    for _ in reader.read(path):
        pass


def try_stored(one: Corpus, chance: random.Random) -> None:
    """Compressed bytes that were changed, and bombs: much from little, its length true or not."""
    path = one.work / "000001.mcap.zst"
    packed = zstandard.ZstdCompressor(level=1, write_content_size=chance.random() < 0.7)
    octets = packed.compress(
        bytes(chance.choice((10**6, 3 * 10**7))) if chance.random() < 0.1 else one.sealed
    )
    path.write_bytes(mutated(octets, chance))
    stored.read_head(path, 1 << 18)
    for _ in reader.read(path):
        pass


def try_finish(one: Corpus, chance: random.Random) -> None:
    """A torn segment of any bytes is finished, and the finished one is no more than a power cut or
    is told."""
    home = one.work / "000001-00000000"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    path = home / "000001.mcap"
    path.write_bytes(mutated(one.torn, chance))
    (place,) = folder.segments(path)
    finish.finish(place, START.unit, "", 2, "sledwarden 0.1.0", one.key, Storage())
    assert finish.has_good_ending(path)
    assert proof.check_segment("s", path.read_bytes()).verdict is not proof.Verdict.WHOLE
    assert {file.name for file in home.iterdir()} <= {"000001.mcap", "000001.torn"}


def try_ledger(one: Corpus, chance: random.Random) -> None:
    path = one.work / "own" / LEDGER
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    content = mutated(one.lines * chance.choice((1, 1, 20)), chance)
    path.write_bytes(content)
    found = ledger.check(content)
    assert found.end <= len(content)
    ledger.digest_of(path, 1, 1)
    ledger.newest_key(path)
    own = ledger.Writer(path, START.unit, Storage())
    own.open()
    own.add(ledger.KeyLine(unit="", new_key=one.key.public), one.key)
    own.close()


def try_verify(one: Corpus, chance: random.Random) -> None:
    path = one.work / "journal"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(one.work / "whole", path)
    file = chance.choice([each for each in sorted(path.rglob("*")) if each.is_file()])
    file.write_bytes(mutated(file.read_bytes(), chance))
    for source in find([path]):
        verify(source)


def try_frames(one: Corpus, chance: random.Random) -> None:
    cutter = FrameCutter()
    content = mutated(one.requests, chance)
    size = chance.choice((1, 7, 100, 4096))
    for at in range(0, len(content), size):
        for message in cutter.cut(content[at : at + size]):
            try:
                parse(mutated(message, chance))
            except (NoAnswer, Refused):
                continue


def try_intake(one: Corpus, chance: random.Random) -> None:
    """Names and offsets that no client should send: nothing is written outside of the staging."""
    top = one.work / "unit"
    if not top.exists():
        (top / "etc").mkdir(parents=True)
        (top / "var").mkdir()
        (top / "etc" / "sledwarden.toml").write_text('[unit]\nid = "sled-7"\nlaw = ["wi"]\n')
    intake = Intake(top / "etc" / "sledwarden.toml", top / "var")
    name = chance.choice((STAGING, "", "/", "/journal/")) + chance.choice(NAMES)
    try:
        offset = chance.choice((0, 0, 1, 2**31, 2**63))
        length = chance.choice((None, 0, 10, 2**40, 2**64 - 1))
        intake.write(name, offset, chance.randbytes(10), length)
        intake.install(name, chance.randbytes(32))
    finally:
        for path in one.work.rglob("*"):
            if top in path.parents and path.is_file():
                is_ours = path.parent == top / "var" / "staging" or path.parent == top / "etc"
                assert is_ours, path


TARGETS: dict[str, Callable[[Corpus, random.Random], None]] = {
    "segment": try_segment,
    "stored": try_stored,
    "finish": try_finish,
    "ledger": try_ledger,
    "verify": try_verify,
    "frames": try_frames,
    "intake": try_intake,
}


def fuzz(name: str, one: Corpus, tries: int, seed: int) -> None:
    """Tries a target; raises AssertionError with the try that went wrong."""
    for number in range(tries):
        chance = random.Random(f"{name} {seed} {number}")
        begin_s = time.process_time()
        try:
            TARGETS[name](one, chance)
        except (JournalError, SledwardenError) as fault:
            kind = type(fault).__name__
            one.refused[kind] = one.refused.get(kind, 0) + 1
        except Exception as fault:
            raise AssertionError(f"{name}, seed {seed}, try {number}") from fault
        took_s = time.process_time() - begin_s
        one.slowest_s = max(one.slowest_s, took_s)
        assert took_s < MOST_S, f"{name}, seed {seed}, try {number}: {took_s:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    known = parser.parse_args()
    for name in known.targets:
        with tempfile.TemporaryDirectory() as where:
            one = corpus(Path(where))
            before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            fuzz(name, one, known.tries, known.seed)
            grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb) / 1024
        print(
            f"{name}: {known.tries} tries, slowest {one.slowest_s:.2f} s, {grown_mb:.0f} MB more, "
            f"refused {one.refused}",
            flush=True,
        )


if __name__ == "__main__":
    main()
