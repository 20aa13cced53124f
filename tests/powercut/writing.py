"""Runs in the guest: writes a journal as the daemon does, and says on /dev/ttyS1 what is safe.

Its keeper stores what is closed, deletes the oldest above a small quota, and once what the owner
names: so a cut may fall into each step of that too.

Arguments: the seed, how many boots, and which writer: `honest`, or one that must be caught:
`never-syncs` leaves out fdatasync, `syncs-first` syncs before it writes.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firmware.clock import Clock
from firmware.findings import Event, Finding, Verdict
from firmware.journal import writer
from firmware.journal.folder import Storage
from firmware.journal.keeper import Keeper
from firmware.journal.record import Start
from firmware.journal.writer import Journal

CARD = Path("/mnt")
DAY = datetime(2026, 1, 17, 22, 0, tzinfo=UTC)
BATCHES = 30
ROLL_BYTES = 96 * 1024
"""Several segments a boot; 40 KB of each are its schemas."""
QUOTA_BYTES = 420_000
"""Less than a run of three boots writes, more than one does."""
EVENT_EVERY = 400
"""So that some segments have an event and some have none: those go first."""


class NeverSyncs(Storage):
    """Believes that what was written is safe."""

    def sync(self, descriptor: int) -> None:
        pass


class SyncsFirst(Storage):
    """Syncs what it wrote before, and then writes."""

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        super().sync(descriptor)
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        pass


WRITERS = {"honest": Storage, "never-syncs": NeverSyncs, "syncs-first": SyncsFirst}


def record(number: int, at_s: float, why: str) -> Finding | Event:
    """The record of that number, which it carries with it."""
    if number % EVENT_EVERY == 0:
        return Event("350.10(1)(gm)", Verdict.VIOLATION, at_s, float(number), 55.0, "mph", True)
    return Finding("350.10(1)(gm)", Verdict.COMPLIANT, why, value=float(number))


def keeper_of(root: Path, storage: Storage | None = None) -> Keeper:
    return Keeper(root, "sled-7", quota_bytes=QUOTA_BYTES, storage=storage)


def main() -> None:
    seed, boots, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chance = random.Random(seed)
    writer.ROLL_BYTES = ROLL_BYTES
    number = 0
    root = CARD / "journal"
    with open("/dev/ttyS1", "w", encoding="ascii") as promises:
        for boot in range(boots):
            clock = Clock(100.0, from_zero=True)
            storage = WRITERS[kind]()
            keeper = keeper_of(root, storage)
            start = Start("sled-7", "0.1.0")
            journal = Journal(root, start, clock, storage=storage, keeper=keeper)
            journal.open()
            before = number
            for _ in range(BATCHES):
                for _ in range(chance.randrange(1, 20)):
                    number += 1
                    at_s = clock.mono_s()
                    why = "".join(chance.choices("abcdefghijklmnop", k=chance.randrange(900)))
                    utc = DAY + timedelta(hours=boot, seconds=at_s)
                    urgent = chance.random() < 0.2
                    journal.put(record(number, at_s, why), at_s, utc, urgent=urgent)
                if chance.random() < 0.5:
                    journal.flush()
                else:
                    time.sleep(chance.uniform(0.0, 0.05))
                safe = journal.acknowledged.sequence
                if safe:
                    promises.write(f"{before + safe}\n")
                    promises.flush()
            keeper.wait(20.0)
            if boot == 1:
                keeper.forget(boot + 1, 2, "the owner", 0)
                keeper.wait(20.0)
            if not journal.close(clock.mono_s(), timeout_s=20.0):
                raise SystemExit("the journal could not be closed")
            promises.write(f"{number}\n")
            promises.flush()


if __name__ == "__main__":
    main()
