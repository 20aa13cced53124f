"""Mutated sentences without end into the receiver's line; run by hand, in short by test_fuzz_nmea.

    python tests/fuzz_nmea.py --sentences 10000000     mutations of the recordings, at random
    python tests/fuzz_nmea.py --atheris -runs=1000000  led by coverage (pip install atheris)

What must hold: no exception; nothing accepted whose checksum is wrong; nothing beyond physics
reaches a rule, though its checksum be forged right; the memory does not grow.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sys
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

if __name__ == "__main__":  # run from anywhere, without an installation
    sys.path.insert(0, str(Path(__file__).parent.parent))

FOLDER = Path(__file__).parent / "data" / "nmea"
FLOOR = date(2024, 1, 1)
CHUNK = 20
"""Sentences that are sent at once."""

ANEW = 500
"""After so many chunks a receiver is another one."""

ODD = [b"", b"0", b"-1", b"1", b"nan", b"inf", b"1e9", b"99999999", b"0.0", b"-0", b"A", b"V", b"N",
       b"S", b"E", b"W", b"240000", b"235960.5", b"9960.0", b"310299", b"000000", b"291300", b"999",
       b"18000.0", b"9000.0", b"9000.1", b"1000.0", b"1000.1", b"193.9", b"360.0", b"360.1", b" ",
       b"1" * 90, b"\xd9\xa3", b"+5", b"5.5.5", b"0x10", b"1_000"]  # fmt: skip
"""What a field may say that it should not, and the edges of what it may."""


USED = re.compile(rb"\$([A-Z]{2}(?:RMC|GGA|GNS|GLL|VTG|GSA|GST|ZDA)[^*$\r\n]{0,200})\*")


def recorded() -> list[bytes]:
    """Every sentence of the recordings whose type is used, in order, without its checksum."""
    files = sorted([*FOLDER.glob("*.log"), *FOLDER.glob("*.nmea")])
    return [body for path in files for body in USED.findall(path.read_bytes())]


def corpus() -> list[bytes]:
    """The same, each form once."""
    return list({re.sub(rb"\d", b"0", body): body for body in recorded()}.values())


def xor_of(body: bytes) -> int:
    total = 0
    for octet in body:
        total ^= octet
    return total


def signed(body: bytes) -> bytes:
    return b"$%b*%02X\r\n" % (body, xor_of(body))


def mutated(body: bytes, luck: random.Random) -> bytes:
    """A sentence with something wrong in it; half of them with a checksum that is right again."""
    turn = luck.random()
    if turn < 0.45:  # a field says something else, and the checksum is forged
        fields = body.split(b",")
        for _ in range(luck.choice((1, 1, 1, 2, 3))):
            fields[luck.randrange(1, len(fields)) if len(fields) > 1 else 0] = luck.choice(ODD)
        return signed(b",".join(fields))
    if turn < 0.55:  # fields too few, too many, or in another order, forged
        fields = body.split(b",")
        place = luck.randrange(len(fields))
        if luck.random() < 0.5:
            del fields[place:]
        else:
            fields[place:place] = [luck.choice(ODD)] * luck.randrange(1, 4)
        return signed(b",".join(fields))
    octets = bytearray(signed(body))
    if turn < 0.75:  # a bit, or some, turned on the line
        for _ in range(luck.choice((1, 1, 2, 5))):
            octets[luck.randrange(len(octets))] ^= 1 << luck.randrange(8)
    elif turn < 0.85:  # lost or doubled bytes
        at = luck.randrange(len(octets))
        end = at + luck.randrange(1, 12)
        if luck.random() < 0.5:
            del octets[at:end]
        else:
            octets[at:at] = octets[at:end]
    elif turn < 0.93:  # binary between
        at = luck.randrange(len(octets))
        octets[at:at] = luck.randbytes(luck.randrange(1, 30))
    elif turn < 0.97:  # digits made others, forged: another time, place, date and speed
        digits = bytes(0x30 + luck.randrange(10) if 0x30 <= one <= 0x39 and luck.random() < 0.2
                       else one for one in body)  # fmt: skip
        return signed(digits)
    return bytes(octets)


def good_count(octets: bytes) -> int:
    """How many sentences with a right checksum begin in these bytes, by plain splitting."""
    found = 0
    for piece in octets.split(b"$")[1:]:
        body, star, rest = piece.partition(b"*")
        if star and re.match(rb"[0-9A-Fa-f]{2}", rest) and xor_of(body) == int(rest[:2], 16):
            found += 1
    return found


@dataclass
class Line:
    """One receiver after another on a line, each judged by what must hold."""

    mutated: int = 0
    fixes: int = 0
    accepted: int = 0
    at_s: float = 0.0
    chunks: int = 0

    def __str__(self) -> str:
        return f"{self.mutated} mutated sentences, {self.accepted} accepted, {self.fixes} fixes"

    def feed(self, octets: bytes) -> None:
        """Sends bytes that end a line, so that what is accepted of them is known at once."""
        from firmware.gps.fixes import FixSettings, FixTracker

        if self.chunks % ANEW == 0:
            self.tracker = FixTracker(
                FixSettings(FLOOR, trust_dates=self.chunks % (2 * ANEW) == 0),
                on_epoch=lambda _: None,
            )
        self.chunks += 1
        self.at_s += 0.5
        before = self.tracker.parser.accepted
        readings = self.tracker.feed(octets, self.at_s)
        accepted = self.tracker.parser.accepted - before
        self.accepted += accepted
        if accepted > good_count(octets):
            raise AssertionError(f"accepted {accepted} with a wrong checksum: {octets!r}")
        for reading in readings:
            self._check(reading.value, octets)

    def _check(self, value: object, octets: bytes) -> None:
        from firmware.readings import Fix

        if not isinstance(value, Fix):
            return
        self.fixes += 1
        is_trusting = self.tracker.settings.trust_dates
        ceiling = datetime(FLOOR.year + 10, FLOOR.month, FLOOR.day, tzinfo=UTC) + timedelta(days=2)
        floor = datetime(FLOOR.year, FLOOR.month, FLOOR.day, tzinfo=UTC) - timedelta(days=1)
        holds = (
            -90.0 <= value.lat_deg <= 90.0
            and -180.0 <= value.lon_deg <= 180.0
            and 0.0 <= value.speed_mps <= 100.0
            and 0.0 < value.error_mps < 1000.0
            and 0.0 <= value.error_m < 2e6
            and (value.track_deg is None or 0.0 <= value.track_deg <= 360.0)
            and (value.utc is None or is_trusting or floor <= value.utc <= ceiling)
        )
        if not holds:
            raise AssertionError(f"beyond physics: {value} of {octets!r}")


def used_mb() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(sentences: int, seed: int, says: int = 0) -> Line:
    """Sends so many mutated sentences, and what stands between; says so often how far it is."""
    luck = random.Random(seed)
    bodies, rides = corpus(), recorded()
    line = Line()
    began_s = time.monotonic()
    ride, said, settled_mb = 0, 0, 0.0

    def maybe(body: bytes, chance: float) -> bytes:
        octets = mutated(body, luck) if luck.random() < chance else signed(body)
        line.mutated += octets != signed(body)
        return octets

    while line.mutated < sentences:
        if line.chunks % ANEW == 0:
            ride = luck.randrange(len(rides))
        if line.chunks % 3 == 0:  # no two of one epoch
            octets = b"".join(maybe(luck.choice(bodies), 1.0) for _ in range(CHUNK))
        else:  # a ride goes on, and all through it sentences are damaged
            ride = (ride + CHUNK) % len(rides)
            octets = b"".join(maybe(body, 0.5) for body in rides[ride : ride + CHUNK])
        line.feed(octets + b"\r\n")
        if says and line.mutated >= said * sentences // says:
            said += 1
            settled_mb = settled_mb or (used_mb() if said > 2 else 0.0)
            print(
                f"{line}, {used_mb():.1f} MB at most, {time.monotonic() - began_s:.0f} s",
                flush=True,
            )
    if settled_mb and used_mb() > settled_mb + 4.0:
        raise AssertionError(f"the memory grew from {settled_mb:.1f} to {used_mb():.1f} MB")
    return line


def run_atheris(arguments: list[str]) -> None:
    """Sends what atheris makes up: raw, or as the bodies of sentences with a forged checksum."""
    import atheris

    with atheris.instrument_imports(include=["firmware", "pynmea2"]):
        import firmware.gps.fixes  # noqa: F401  # imported here to be instrumented
    line = Line()

    def one(octets: bytes) -> None:
        if octets[:1] > b"\x7f":
            octets = b"".join(signed(body) for body in octets[1:].split(b"\n"))
        line.feed(octets + b"\r\n")

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--atheris", action="store_true", help="what follows is for libFuzzer")
    parser.add_argument("--seeds", type=Path, help="write the corpus there, a file a sentence")
    known, rest = parser.parse_known_args()
    if known.seeds:
        known.seeds.mkdir(parents=True, exist_ok=True)
        for number, body in enumerate(corpus()):
            (known.seeds / f"{number}").write_bytes(b"\xff" + body)
        return
    if known.atheris:
        run_atheris(rest)
        return
    line = run(known.sentences, known.seed, says=20)
    print(f"{line}, {used_mb():.1f} MB at most; all held")


if __name__ == "__main__":
    main()
