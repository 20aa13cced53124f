"""A writer killed at fifty random moments: nothing that it acknowledged is ever missing."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from journal_samples import START

from firmware.clock import ManualClock
from firmware.findings import Finding
from firmware.journal import folder, proof, reader, succession
from firmware.journal.writer import Journal

WRITER = Path(__file__).with_name("journal_killed.py")
FOLDERS = 5
KILLS_EACH = 10


def _killed(path: Path, seed: int) -> int:
    """Runs a writer, kills it at a random moment, and gives the last record it acknowledged."""
    chance = random.Random(seed)
    said = []
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(path), str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if chance.random() < 0.8:  # else it may be killed before its first record is safe
            said.append(process.stdout.readline())
        moment = threading.Timer(chance.uniform(0.0, 0.3), process.send_signal, [signal.SIGKILL])
        moment.start()
        said += process.stdout.readlines()
        moment.join()
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
    whole = [line for line in said if line.endswith("\n")]
    return int(whole[-1]) if whole else 0


def _kill_again_and_again(path: Path, seed: int) -> list[tuple[int, set[str]]]:
    """Kills ten writers in one folder; gives what each acknowledged and which boots were new."""
    runs = []
    for number in range(KILLS_EACH):
        before = {one.name for one in folder.boots(path)}
        safe = _killed(path, seed * 100 + number)
        runs.append((safe, {one.name for one in folder.boots(path)} - before))
    return runs


def test_nothing_acknowledged_is_missing_after_fifty_kills(tmp_path: Path) -> None:
    paths = [tmp_path / f"unit{number}" / "journal" for number in range(FOLDERS)]
    for path in paths:
        path.parent.mkdir()
    with ThreadPoolExecutor(FOLDERS) as pool:
        rides = list(pool.map(_kill_again_and_again, paths, range(FOLDERS)))
    kept, promised, cut = 0, 0, 0
    for path, runs in zip(paths, rides, strict=True):
        journal = Journal(path, START, ManualClock(0.0))  # the next start after the last kill
        journal.open()
        assert journal.close(1.0, timeout_s=60.0)
        for safe, boots in runs:
            assert len(boots) <= 1
            got: list[float | None] = []
            for name in boots:
                if folder.segments(path / name):
                    records = [one for _, one in reader.read(path / name)]
                    got = [one.value for one in records if isinstance(one, Finding)]
            assert got == [float(number) for number in range(1, len(got) + 1)]
            assert len(got) >= safe
            kept, promised = kept + len(got), promised + safe
        report = succession.check(path)
        cut += sum(one.verdict is proof.Verdict.POWER_CUT for one in report.segments)
        assert report.verdict is proof.Verdict.POWER_CUT, report.reasons
        assert {one.verdict for one in report.segments} <= {
            proof.Verdict.WHOLE,
            proof.Verdict.POWER_CUT,
        }
    assert promised > 1000
    assert kept >= promised
    assert cut >= FOLDERS * KILLS_EACH // 2
