"""The journal on a disk that is slow, full, read-only, failing or gone: told, and made good."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from journal_samples import DAY, LAW, NOTE, START, journal_in, put_all, ride

from firmware.clock import ManualClock
from firmware.findings import Finding, Verdict
from firmware.journal import folder, proof, reader, seal, segment, succession
from firmware.journal.folder import Storage
from firmware.journal.health import Health
from firmware.journal.open_segment import OpenSegment
from firmware.journal.record import Close, Finished, Gap, Start, encode
from firmware.journal.room import MB, Left, Room
from firmware.journal.segment import Message
from firmware.journal.writer import Journal
from firmware.readings import Disk, Missing, Reading, Why


class FailingStorage(Storage):
    """A disk that fails as told: an errno for its writes or syncs, or a stall until let go."""

    def __init__(self) -> None:
        self.write_errno = 0
        self.sync_errno = 0
        self.go = threading.Event()
        self.go.set()
        self.stalls = threading.Event()

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        if not self.go.is_set():
            self.stalls.set()
        self.go.wait()
        if self.write_errno:
            super().write(descriptor, content[: len(content) // 2], offset)  # as a full disk does
            raise OSError(self.write_errno, os.strerror(self.write_errno))
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        if self.sync_errno:
            raise OSError(self.sync_errno, os.strerror(self.sync_errno))
        super().sync(descriptor)


class Watch:
    """Keeps each health that a journal tells, and waits for one."""

    def __init__(self) -> None:
        self.told: list[Health] = []
        self._changed = threading.Condition()

    def __call__(self, health: Health) -> None:
        with self._changed:
            self.told.append(health)
            self._changed.notify_all()

    def wait_for(self, wanted: Callable[[Health], bool], timeout_s: float = 5.0) -> Health:
        def found() -> list[Health]:
            return [one for one in self.told if wanted(one)]

        with self._changed:
            assert self._changed.wait_for(found, timeout_s), self.told
            return found()[-1]


def _is_missing(detail: str) -> Callable[[Health], bool]:
    return lambda health: health.value == Missing(Why.NO_ANSWER, detail)


def test_put_never_waits_for_a_disk_that_stalls_and_the_loss_is_a_gap(tmp_path: Path) -> None:
    storage = FailingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    journal.put(NOTE, 100.0, DAY)
    assert journal.flush(60.0)
    storage.go.clear()
    journal.put(NOTE, 100.5, DAY, urgent=True)
    assert storage.stalls.wait(60.0)
    count = 9000
    for number in range(count):
        journal.put(NOTE, 101.0 + number / 100, DAY)
    journal.put(NOTE, 200.0, DAY, urgent=True)  # there is room kept for it
    storage.go.set()
    assert journal.flush(60.0)
    journal.put(NOTE, 201.0, DAY)
    assert journal.flush(60.0)
    health = journal.health()
    assert isinstance(health.value, Disk)
    lost = health.value.lost_records
    assert 0 < lost <= count - 8192 + 1
    assert journal.close(202.0, timeout_s=60.0)
    got = list(reader.read(tmp_path / "journal"))
    gaps = [one for _, one in got if isinstance(one, Gap)]
    assert sum(gap.lost for gap in gaps) == lost
    assert gaps[0].why == "the disk was too slow"
    assert sum(record == NOTE for _, record in got) + lost == count + 4
    assert [at_s for at_s, _ in got] == sorted(at_s for at_s, _ in got)
    assert (200.0, NOTE) in got


def test_a_gap_that_nothing_followed_is_written_at_close(tmp_path: Path) -> None:
    storage = FailingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    storage.go.clear()
    journal.put(NOTE, 100.5, DAY, urgent=True)
    assert storage.stalls.wait(60.0)
    for number in range(9000):
        journal.put(NOTE, 101.0 + number / 100, DAY)
    storage.go.set()
    assert journal.close(300.0, timeout_s=60.0)
    got = [one for _, one in reader.read(tmp_path / "journal")]
    assert (
        sum(one == NOTE for one in got) + sum(one.lost for one in got if isinstance(one, Gap))
        == 9001
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk full"),
        (errno.EROFS, "disk is read-only"),
        (errno.EIO, "disk error"),
        (errno.EDQUOT, "quota used up"),
    ],
)
@pytest.mark.parametrize("step", ["write", "sync"])
def test_a_disk_that_fails_is_told_and_nothing_is_lost_when_it_comes_back(
    tmp_path: Path, number: int, words: str, step: str
) -> None:
    storage, watch = FailingStorage(), Watch()
    journal = Journal(
        tmp_path / "journal", START, ManualClock(100.0), on_change=watch, storage=storage
    )
    journal.open()
    given = ride(90)
    put_all(journal, given[:30])
    safe = journal.acknowledged
    setattr(storage, f"{step}_errno", number)
    journal.put(given[30][2], given[30][0], given[30][1], urgent=True)
    watch.wait_for(_is_missing(words))
    assert journal.acknowledged == safe
    for at_s, utc, record, is_urgent in given[31:60]:
        journal.put(record, at_s, utc, urgent=is_urgent)
    setattr(storage, f"{step}_errno", 0)
    put_all(journal, given[60:])
    assert isinstance(journal.health().value, Disk)
    assert journal.close(110.0, timeout_s=60.0)
    got = list(reader.read(tmp_path / "journal"))
    apart = (Start, Close, Finished)
    assert [one for one in got if not isinstance(one[1], apart)] == [
        (at_s, record) for at_s, _, record, _ in given
    ]
    verdict = succession.check(tmp_path / "journal").verdict
    assert verdict in (proof.Verdict.WHOLE, proof.Verdict.POWER_CUT)
    assert (verdict is proof.Verdict.POWER_CUT) == (number == errno.EIO)  # its file is given up


def test_what_a_failed_write_left_is_gone_after_a_shorter_one(tmp_path: Path) -> None:
    storage = FailingStorage()
    key = seal.Key.make()
    one = OpenSegment.begin(tmp_path / "000001.mcap", START, [LAW], 1.0, 10**9, key, storage)

    def content(why: str) -> bytes:
        text = encode(replace(NOTE, why=why), 2.0)
        return segment.packed([Message(segment.TOPIC_IDS["/finding"], 1, 2 * 10**9, 0, text)])

    storage.write_errno = errno.ENOSPC
    with pytest.raises(OSError, match="No space left"):
        one.commit([content("long" * 100_000)], 2 * 10**9, None)
    storage.write_errno = 0
    one.commit([content("short")], 2 * 10**9, "close")
    one.finish()
    assert succession.check(tmp_path / "000001.mcap").verdict is proof.Verdict.WHOLE


def _is_tmpfs(path: Path, size: str) -> bool:
    """Mounts a small disk of its own where that is allowed: root, and not in every container."""
    path.mkdir()
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class SmallStorage(Storage):
    """The real disk with so many bytes free: a small disk where none can be mounted."""

    def __init__(self, free_bytes: int) -> None:
        self.free_bytes = free_bytes

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        grown = max(0, offset + len(content) - os.fstat(descriptor).st_size)
        if grown > self.free_bytes:
            super().write(descriptor, content[: self.free_bytes], offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.free_bytes -= grown
        super().write(descriptor, content, offset)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Storage, Callable[[], None]]]:
    """A disk with half a megabyte free, and the way to make room on it."""
    path = tmp_path / "disk"
    if not _is_tmpfs(path, "2m"):
        small = SmallStorage(500_000)
        yield path, small, lambda: setattr(small, "free_bytes", 10**9)
        return
    try:
        (path / "ballast").write_bytes(bytes(1_500_000))
        yield path, Storage(), (path / "ballast").unlink
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_is_told_and_the_journal_goes_on_when_there_is_room(
    small_disk: tuple[Path, Storage, Callable[[], None]],
) -> None:
    path, storage, make_room = small_disk
    watch = Watch()
    journal = Journal(
        path / "journal", START, ManualClock(100.0), attachments=[LAW], on_change=watch,
        key_path=path / "unit.key", storage=storage,
    )  # fmt: skip
    journal.open()
    around = Finding("350.10(1)(g)", Verdict.COMPLIANT, "no dwelling near. " * 200)
    at_s = 100.0
    while not _is_missing("disk full")(journal.health()):
        at_s += 1.0
        assert at_s < 2000.0
        journal.put(around, at_s, DAY + timedelta(seconds=at_s), urgent=True)
        journal.flush(0.5)
    watch.wait_for(_is_missing("disk full"))
    safe = journal.acknowledged.sequence
    last = journal.put(around, at_s + 1, DAY, urgent=True)
    make_room()
    assert journal.flush(60.0)
    assert journal.acknowledged.sequence == last > safe
    watch.wait_for(lambda health: isinstance(health.value, Disk) and len(watch.told) > 2)
    assert journal.close(at_s + 2, timeout_s=60.0)
    assert succession.check(path / "journal").verdict is proof.Verdict.WHOLE
    got = [one for _, one in reader.read(path / "journal") if one == around]
    assert len(got) == last


def test_a_quota_is_a_full_disk(tmp_path: Path) -> None:
    watch = Watch()
    journal = Journal(tmp_path / "journal", START, ManualClock(100.0), quota_mb=1, on_change=watch)
    journal.open()
    long = Finding("350.10(1)(g)", Verdict.COMPLIANT, "x" * 100_000)
    for number in range(12):
        journal.put(long, 100.0 + number, DAY, urgent=True)
        journal.flush(0.3)
    watch.wait_for(_is_missing("quota used up"))
    journal.close(200.0)
    assert sum(place.path.stat().st_size for place in folder.segments(tmp_path / "journal")) < 1e6


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder that can't be written, how that is told, and the command that lets it be written."""
    disk = tmp_path / "disk"
    path = disk / "journal"
    if _is_tmpfs(disk, "2m"):
        path.mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield path, "disk is read-only", ["mount", "-o", "remount,rw", str(disk)]
        subprocess.run(["umount", "-l", str(disk)], check=True)
    elif os.geteuid() == 0:
        pytest.skip("mount: not allowed here, and no folder is closed to root")
    else:
        path.mkdir()
        path.chmod(0o555)
        yield path, "folder not writable", ["chmod", "755", str(path)]


def test_a_read_only_folder_is_told_and_written_once_it_can_be(
    read_only: tuple[Path, str, list[str]], tmp_path: Path
) -> None:
    path, words, let = read_only
    watch = Watch()
    journal = Journal(
        path, START, ManualClock(100.0), on_change=watch, key_path=tmp_path / "unit.key"
    )
    journal.open()
    watch.wait_for(_is_missing(words))
    journal.put(NOTE, 101.0, DAY, urgent=True)
    assert not journal.flush(0.2)
    subprocess.run(let, check=True)
    assert journal.flush(60.0)
    assert journal.close(102.0, timeout_s=60.0)
    assert [one for _, one in reader.read(path)][1] == NOTE


def test_a_folder_that_vanishes_is_told_and_made_anew(tmp_path: Path) -> None:
    watch = Watch()
    journal = Journal(tmp_path / "journal", START, ManualClock(100.0), on_change=watch)
    journal.open()
    given = ride(60)
    put_all(journal, given[:30])
    shutil.rmtree(tmp_path / "journal")
    journal.put(given[30][2], given[30][0], given[30][1], urgent=True)
    watch.wait_for(_is_missing("folder has vanished"))
    put_all(journal, given[31:])
    assert journal.close(110.0, timeout_s=60.0)
    got = [one for one in reader.read(tmp_path / "journal") if isinstance(one[1], Reading)]
    assert got == [(at, one) for at, _, one, _ in given[30:] if isinstance(one, Reading)]
    report = succession.check(tmp_path / "journal")
    assert report.verdict is proof.Verdict.WHOLE
    assert report.segments[0].name.endswith("/000002.mcap")


def test_a_folder_whose_parent_is_missing_is_not_made(tmp_path: Path) -> None:
    """It may be a disk that is not mounted: what was written there would be on another one."""
    watch = Watch()
    path = tmp_path / "card" / "journal"
    journal = Journal(path, START, ManualClock(100.0), on_change=watch, key_path=tmp_path / "k")
    journal.open()
    watch.wait_for(_is_missing("folder has vanished"))
    assert not path.parent.exists()
    path.parent.mkdir()
    journal.put(NOTE, 101.0, DAY, urgent=True)
    assert journal.flush(60.0)
    assert journal.close(102.0, timeout_s=60.0)


def test_closing_does_not_wait_for_a_disk_that_hangs(tmp_path: Path) -> None:
    storage = FailingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    storage.go.clear()
    journal.put(NOTE, 101.0, DAY, urgent=True)
    assert not journal.close(102.0, timeout_s=0.1)
    storage.go.set()
    assert journal.close(102.0, timeout_s=60.0)


def test_a_journal_without_the_library_for_seals_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    watch = Watch()
    journal = Journal(tmp_path / "journal", START, ManualClock(0.0), on_change=watch)
    journal.open()
    words = "cryptography is not installed: pip install 'sledwarden[unit]'"
    watch.wait_for(_is_missing(words))
    assert not journal.close(1.0)


def test_the_rider_is_told_before_the_disk_is_full_and_its_last_part_is_left_alone(
    small_disk: tuple[Path, Storage, Callable[[], None]],
) -> None:
    path, storage, _ = small_disk
    if isinstance(storage, SmallStorage):
        pytest.skip("no small disk can be mounted here: run as root")
    (path / "more").write_bytes(bytes(300_000))  # of 2 MiB some 290 kB are left
    watch = Watch()
    journal = Journal(
        path / "journal", START, ManualClock(100.0), attachments=[LAW], on_change=watch,
        key_path=path / "unit.key", storage=storage,
    )  # fmt: skip
    journal.open()
    around = Finding("350.10(1)(g)", Verdict.COMPLIANT, "no dwelling near. " * 200)
    at_s = 100.0
    while not _is_missing("disk full")(journal.health()):
        at_s += 1.0
        assert at_s < 2000.0
        journal.put(around, at_s, DAY + timedelta(seconds=at_s), urgent=True)
        journal.flush(0.5)
    told = [one.value.is_nearly_full for one in watch.told if isinstance(one.value, Disk)]
    assert told[0] is False  # 290 kB: more than the twentieth of 2 MiB
    assert told[-1] is True
    there = os.statvfs(path)
    assert there.f_bavail * there.f_frsize >= 0.01 * 2 * 1024 * 1024
    journal.close(at_s + 1)


def test_a_quota_that_events_alone_use_up_is_told_before_it_is(tmp_path: Path) -> None:
    room = Room(tmp_path, 100 * MB)
    assert room.left(94 * MB).is_low is False
    assert room.left(96 * MB) == Left(4 * MB, is_low=True)
    assert room.left(96 * MB).free_mb == 4.0
    with pytest.raises(OSError, match="quota"):
        room.refuse_beyond(96 * MB, 5 * MB)
    room.refuse_beyond(96 * MB, 4 * MB)


def test_a_disk_that_is_gone_has_no_room(tmp_path: Path) -> None:
    assert Room(tmp_path / "gone", None).left(0) == Left(0, is_low=False)
