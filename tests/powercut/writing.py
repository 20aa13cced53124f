"""Runs in the guest: writes a journal as the daemon does, and says on /dev/ttyS1 what is safe.

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
from firmware.findings import Finding, Verdict
from firmware.journal import writer
from firmware.journal.folder import Storage
from firmware.journal.record import Start
from firmware.journal.writer import Journal

CARD = Path("/mnt")
DAY = datetime(2026, 1, 17, 22, 0, tzinfo=UTC)
BATCHES = 30


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


def main() -> None:
    seed, boots, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chance = random.Random(seed)
    writer.ROLL_BYTES = 48 * 1024  # several segments a boot
    number = 0
    with open("/dev/ttyS1", "w", encoding="ascii") as promises:
        for boot in range(boots):
            clock = Clock(100.0, from_zero=True)
            journal = Journal(
                CARD / "journal", Start("sled-7", "0.1.0"), clock, storage=WRITERS[kind]()
            )
            journal.open()
            before = number
            for _ in range(BATCHES):
                for _ in range(chance.randrange(1, 20)):
                    number += 1
                    at_s = clock.mono_s()
                    why = "".join(chance.choices("abcdefghijklmnop", k=chance.randrange(900)))
                    finding = Finding("350.10(1)(gm)", Verdict.COMPLIANT, why, value=float(number))
                    utc = DAY + timedelta(hours=boot, seconds=at_s)
                    journal.put(finding, at_s, utc, urgent=chance.random() < 0.2)
                if chance.random() < 0.5:
                    journal.flush()
                else:
                    time.sleep(chance.uniform(0.0, 0.05))
                safe = journal.acknowledged.sequence
                if safe:
                    promises.write(f"{before + safe}\n")
                    promises.flush()
            if not journal.close(clock.mono_s(), timeout_s=20.0):
                raise SystemExit("the journal could not be closed")
            promises.write(f"{number}\n")
            promises.flush()


if __name__ == "__main__":
    main()
