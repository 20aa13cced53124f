"""Writes a journal as fast as it can, says each record that is safe, and waits to be killed.

Run by test_journal_kill.py as a process of its own: FOLDER, then the seed of its ride.
"""

from __future__ import annotations

import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firmware.clock import Clock
from firmware.findings import Finding, Verdict
from firmware.journal.record import Start
from firmware.journal.writer import Journal

DAY = datetime(2026, 1, 17, 22, 0, tzinfo=UTC)


def main() -> None:
    chance = random.Random(int(sys.argv[2]))
    clock = Clock(100.0, from_zero=True)
    journal = Journal(Path(sys.argv[1]), Start("sled-7", "0.1.0"), clock)
    journal.open()
    said, sequence = 0, 0
    while True:
        for _ in range(chance.randrange(1, 30)):
            sequence += 1
            at_s = clock.mono_s()
            why = "x" * chance.randrange(2000)
            record = Finding("350.10(1)(gm)", Verdict.COMPLIANT, why, value=float(sequence))
            utc = DAY + timedelta(seconds=at_s)
            journal.put(record, at_s, utc, urgent=chance.random() < 0.1)
        if chance.random() < 0.7:
            journal.flush()
        safe = journal.acknowledged.sequence
        if safe > said:
            said = safe
            sys.stdout.write(f"{safe}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
