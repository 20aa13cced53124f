"""The journal's writer: what it keeps, when it syncs, and what it does when the disk does not."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from journal_samples import CONFIG, DAY, LAW, START, journal_in, put_all, ride, torn, written
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from firmware.clock import Clock, ManualClock
from firmware.errors import JournalError
from firmware.findings import Finding, Verdict
from firmware.journal import finish, folder, reader, seal, segment
from firmware.journal.folder import Storage
from firmware.journal.open_segment import OpenSegment
from firmware.journal.record import Close, Finished, Gap, Start, encode
from firmware.journal.segment import Message
from firmware.journal.writer import ROLL_S, Health, Journal
from firmware.readings import Channel, Disk, Engine, Fix, Missing, Reading, Why

NOTE = Finding("350.10(1)(gm)", Verdict.COMPLIANT, "by day")


class CountingStorage(Storage):
    """The real disk, with a note of each write and sync in its order."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        self.steps.append("write")
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        self.steps.append("sync")
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        self.steps.append(f"folder {folder.name}")
        super().sync_folder(folder)


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


def test_what_was_put_is_read_back_in_order(tmp_path: Path) -> None:
    put = written(tmp_path / "journal")
    got = list(reader.read(tmp_path / "journal"))
    assert got[1:-1] == put
    assert isinstance(got[0][1], Start)
    assert got[-1] == (106.0, Close("stopped", 62, 0))


def test_the_start_record_says_who_wrote_it_and_by_which_law(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    start = reader.start(tmp_path / "journal")
    report = seal.check(tmp_path / "journal")
    assert (start.unit, start.laws, start.packs) == ("sled-7", ("wi",), {"lake.gpkg": "ab" * 32})
    assert (start.boot, start.segment, start.previous) == (1, 1, "")
    assert start.key == seal.fingerprint(report.public_key)
    assert start.attachments == {
        name: hashlib.sha256(body).hexdigest() for name, body in (LAW, CONFIG)
    }
    assert reader.attachments(tmp_path / "journal") == dict((LAW, CONFIG))


def test_a_foreign_reader_reads_every_message_and_attachment(tmp_path: Path) -> None:
    put = written(tmp_path / "journal")
    (place,) = folder.segments(tmp_path / "journal")
    fixes = sum(isinstance(one, Reading) and isinstance(one.value, Fix) for _, one in put)
    with place.path.open("rb") as file:
        mcap = make_reader(file, validate_crcs=True)
        messages = list(mcap.iter_messages(log_time_order=False))
        seals = [one for _, channel, one in messages if channel.topic == "/seal"]
        assert len(messages) == len(put) + 2 + fixes + len(seals)
        for schema, channel, message in messages:
            assert schema is not None
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            assert json.loads(schema.data)["type"] == "object"
            assert isinstance(json.loads(message.data), dict)
        assert [(one.name, one.data) for one in mcap.iter_attachments()] == [LAW, CONFIG]
        summary = mcap.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == len(messages)
        assert sum(1 for _ in mcap.iter_messages(topics="/position")) == fixes
        where = [one for _, channel, one in messages if channel.topic == "/position"]
        assert json.loads(where[0].data)["latitude"] == 45.0


def test_the_ending_is_byte_for_byte_what_mcaps_own_writer_gives(tmp_path: Path) -> None:
    """The whole file is, when each of its chunks is given to that writer again."""
    written(tmp_path / "journal", 120)
    (place,) = folder.segments(tmp_path / "journal")
    content = place.path.read_bytes()
    found = segment.scan(content)
    assert found.header is not None
    again = tmp_path / "again.mcap"
    with again.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE, chunk_size=2**40)
        writer.start(found.header.profile, found.header.library)
        for one in found.attachments:
            writer.add_attachment(0, 0, one.name, one.media_type, one.data)
        with place.path.open("rb") as source:
            summary = make_reader(source).get_summary()
        assert summary is not None
        for schema in summary.schemas.values():
            writer.register_schema(schema.name, schema.encoding, schema.data)
        for channel in summary.channels.values():
            writer.register_channel(channel.topic, channel.message_encoding, channel.schema_id)
        for span in found.chunks:
            for message in segment.unpacked(span.content(content)):
                topic_id, sequence, log_ns, publish_ns, text = message
                writer.add_message(topic_id, log_ns, text, publish_ns, sequence)
            writer.flush()
        writer.finish()
    assert again.read_bytes() == content


def test_a_commit_is_one_write_and_one_sync(tmp_path: Path) -> None:
    storage = CountingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    journal.put(NOTE, 100.0, DAY)
    assert journal.flush()
    boot = next(iter(folder.boots(tmp_path / "journal"))).name
    counter = ["write", "sync", "folder journal"]
    assert storage.steps == [*counter, "folder journal", "write", "sync", f"folder {boot}",
                             "write", "sync"]  # fmt: skip
    for second in range(101, 121):
        storage.steps.clear()
        for tenth in range(10):
            journal.put(NOTE, second + tenth / 10, DAY, urgent=tenth == 9 and second % 5 == 0)
        assert journal.flush()
        assert storage.steps.count("sync") == storage.steps.count("write")
        assert storage.steps.count("sync") <= (2 if second % 5 == 0 else 1)
    storage.steps.clear()
    assert journal.close(121.0)
    assert storage.steps == ["write", "sync", "write", "sync"]  # the closing seal; the ending


def test_an_urgent_record_is_safe_without_waiting_for_the_second(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    journal.put(NOTE, 100.0, DAY)
    assert journal.flush()
    clock = Clock()
    waits_s = []
    for number in range(10):
        began_s = clock.mono_s()
        sequence = journal.put(NOTE, 100.1 + number / 10, DAY, urgent=True)
        while journal.acknowledged.sequence < sequence:
            assert clock.mono_s() - began_s < 5.0
            with journal._safe:
                journal._safe.wait(0.01)
        waits_s.append(clock.mono_s() - began_s)
    assert sorted(waits_s)[5] < 0.1
    assert journal.close(101.0)


def test_a_clock_that_runs_fast_does_not_sync_more_than_ten_times_a_second(tmp_path: Path) -> None:
    for speed, wanted_s in ((1.0, 1.0), (4.0, 0.25), (20.0, 0.1), (5000.0, 0.1)):
        journal = Journal(tmp_path / "journal", START, Clock(speed, from_zero=True))
        assert journal._period_s == pytest.approx(wanted_s)


def test_the_ride_is_cut_into_chunks_of_a_second_however_fast_it_runs(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    for at_s, utc, record, _ in ride(100):
        journal.put(record, at_s, utc)
    assert journal.close(110.0)
    (place,) = folder.segments(tmp_path / "journal")
    with place.path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    spans_s = [
        (one.message_end_time - one.message_start_time) / 1e9 for one in summary.chunk_indexes
    ]
    assert max(spans_s) <= 1.0
    assert len(spans_s) >= 10


def test_put_never_waits_for_a_disk_that_stalls_and_the_loss_is_a_gap(tmp_path: Path) -> None:
    storage = FailingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    journal.put(NOTE, 100.0, DAY)
    assert journal.flush()
    storage.go.clear()
    journal.put(NOTE, 100.5, DAY, urgent=True)
    assert storage.stalls.wait(5.0)
    count = 9000
    for number in range(count):
        journal.put(NOTE, 101.0 + number / 100, DAY)
    journal.put(NOTE, 200.0, DAY, urgent=True)  # there is room kept for it
    storage.go.set()
    assert journal.flush(10.0)
    journal.put(NOTE, 201.0, DAY)
    assert journal.flush()
    health = journal.health()
    assert isinstance(health.value, Disk)
    lost = health.value.lost_records
    assert 0 < lost <= count - 8192 + 1
    assert journal.close(202.0)
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
    assert storage.stalls.wait(5.0)
    for number in range(9000):
        journal.put(NOTE, 101.0 + number / 100, DAY)
    storage.go.set()
    assert journal.close(300.0, timeout_s=10.0)
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
    assert journal.close(110.0)
    got = list(reader.read(tmp_path / "journal"))
    apart = (Start, Close, Finished)
    assert [one for one in got if not isinstance(one[1], apart)] == [
        (at_s, record) for at_s, _, record, _ in given
    ]
    verdict = seal.check(tmp_path / "journal").verdict
    assert verdict in (seal.Verdict.WHOLE, seal.Verdict.POWER_CUT)
    assert (verdict is seal.Verdict.POWER_CUT) == (number == errno.EIO)  # its file is given up


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
    assert seal.check(tmp_path / "000001.mcap").verdict is seal.Verdict.WHOLE


def _tmpfs(path: Path, size: str) -> None:
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(path)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("mount: not allowed here, so a full disk is tried by a quota alone")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB, with half a megabyte free."""
    if os.geteuid() != 0:
        pytest.skip("mount: needs root, so a full disk is tried by a quota alone")
    path = tmp_path / "disk"
    _tmpfs(path, "2m")
    try:
        (path / "ballast").write_bytes(bytes(1_500_000))
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_is_told_and_the_journal_goes_on_when_there_is_room(small_disk: Path) -> None:
    watch = Watch()
    journal = Journal(
        small_disk / "journal", START, ManualClock(100.0), attachments=[LAW], on_change=watch,
        key_path=small_disk / "unit.key",
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
    (small_disk / "ballast").unlink()
    assert journal.flush()
    assert journal.acknowledged.sequence == last > safe
    watch.wait_for(lambda health: isinstance(health.value, Disk) and len(watch.told) > 2)
    assert journal.close(at_s + 2)
    assert seal.check(small_disk / "journal").verdict is seal.Verdict.WHOLE
    got = [one for _, one in reader.read(small_disk / "journal") if one == around]
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
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A journal's folder that can't be written: by its mode, or by its mount where we are root."""
    path = tmp_path / "disk"
    if os.geteuid() == 0:
        _tmpfs(path, "2m")
        (path / "journal").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(path)], check=True)
    else:
        (path / "journal").mkdir(parents=True)
        (path / "journal").chmod(0o555)
    yield path / "journal"
    if os.geteuid() == 0:
        subprocess.run(["umount", "-l", str(path)], check=True)
    else:
        (path / "journal").chmod(0o755)


def test_a_read_only_folder_is_told_and_written_once_it_can_be(
    read_only: Path, tmp_path: Path
) -> None:
    watch = Watch()
    journal = Journal(
        read_only, START, ManualClock(100.0), on_change=watch, key_path=tmp_path / "unit.key"
    )
    journal.open()
    words = "disk is read-only" if os.geteuid() == 0 else "folder not writable"
    watch.wait_for(_is_missing(words))
    journal.put(NOTE, 101.0, DAY, urgent=True)
    assert not journal.flush(0.2)
    if os.geteuid() == 0:
        subprocess.run(["mount", "-o", "remount,rw", str(read_only.parent)], check=True)
    else:
        read_only.chmod(0o755)
    assert journal.flush()
    assert journal.close(102.0)
    assert [one for _, one in reader.read(read_only)][1] == NOTE


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
    assert journal.close(110.0)
    got = [one for one in reader.read(tmp_path / "journal") if isinstance(one[1], Reading)]
    assert got == [(at, one) for at, _, one, _ in given[30:] if isinstance(one, Reading)]
    report = seal.check(tmp_path / "journal")
    assert report.verdict is seal.Verdict.WHOLE
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
    assert journal.flush()
    assert journal.close(102.0)


def test_a_second_unit_on_the_same_folder_is_refused_by_the_firsts_number(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    script = (
        "import sys; from pathlib import Path; from firmware.journal.folder import Lock\n"
        "Lock(Path(sys.argv[1])).take(); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        journal = journal_in(path)
        with pytest.raises(JournalError) as fault:
            journal.open()
        assert str(fault.value) == (
            f"{path}: is in use by process {other.pid}: one unit writes in a journal's folder. "
            "Stop that one, or give this one another [journal] folder."
        )
        other.stdin.close()
        assert other.wait() == 0
    journal = journal_in(path)
    journal.open()
    assert journal.close(101.0)


def test_a_closed_journal_frees_its_folder(tmp_path: Path) -> None:
    for boot in range(1, 4):
        written(tmp_path / "journal", 12)
        names = [one.name for one in folder.boots(tmp_path / "journal")]
        assert [int(name[:6]) for name in names] == list(range(1, boot + 1))


def test_a_boots_number_is_never_given_twice(tmp_path: Path) -> None:
    written(tmp_path / "journal", 12)
    written(tmp_path / "journal", 12)
    for boot in folder.boots(tmp_path / "journal"):
        shutil.rmtree(boot)
    written(tmp_path / "journal", 12)
    assert [one.boot for one in folder.segments(tmp_path / "journal")] == [3]
    (tmp_path / "journal" / "boots").write_text("rubbish")
    written(tmp_path / "journal", 12)
    assert [one.boot for one in folder.segments(tmp_path / "journal")] == [3, 4]


def test_segments_and_boots_are_chained_by_their_digests(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(12))
    put_all(journal, ride(12, from_s=100.0 + ROLL_S, utc=DAY + timedelta(seconds=ROLL_S)))
    assert journal.close(100.0 + ROLL_S + 2)
    written(path, 12)
    places = folder.segments(path)
    assert [(one.boot, one.segment) for one in places] == [(1, 1), (1, 2), (2, 1)]
    starts = [reader.start(place.path) for place in places]
    digests = [finish.last_digest(place.path) for place in places]
    assert [one.previous for one in starts] == ["", *digests[:-1]]
    assert seal.check(path).verdict is seal.Verdict.WHOLE
    assert len(list(reader.read(folder.boots(path)[0]))) == 2 * 12 + 4


def _log_times(path: Path) -> list[list[datetime]]:
    times = []
    for place in folder.segments(path):
        with place.path.open("rb") as file:
            messages = make_reader(file).iter_messages(log_time_order=False)
            stamps = [message.log_time for _, _, message in messages]
            assert stamps == sorted(stamps)
            times.append([datetime.fromtimestamp(one / 1e9, UTC) for one in stamps])
    return times


def test_log_times_are_seconds_since_boot_until_a_date_is_known(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(30, utc=None))
    put_all(journal, ride(30, from_s=103.0))
    assert journal.close(106.0)
    undated, dated = _log_times(path)
    assert undated[0] == datetime(1970, 1, 1, 0, 1, 40, tzinfo=UTC)
    assert undated[-1] == datetime(1970, 1, 1, 0, 1, 43, tzinfo=UTC)
    assert dated[0] == DAY
    assert seal.check(path).verdict is seal.Verdict.WHOLE


def test_a_date_that_comes_within_the_first_second_dates_that_second_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    given = ride(10, utc=None)
    for at_s, _, record, _ in given[:5]:
        journal.put(record, at_s, None)
    for at_s, _, record, _ in given[5:]:
        journal.put(record, at_s, DAY + timedelta(seconds=at_s - 100.5))
    journal.open()
    assert journal.close(101.0)
    (dated,) = _log_times(path)
    assert dated[0] == DAY - timedelta(seconds=0.5)


def test_a_clock_that_steps_back_never_turns_back_the_log(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(30, utc=DAY + timedelta(days=700)))
    put_all(journal, ride(300, from_s=150.0, utc=DAY))  # too soon for a new segment
    put_all(journal, ride(30, from_s=180.0, utc=DAY + timedelta(seconds=30)))
    assert journal.close(190.0)
    first, second = _log_times(path)
    assert first[0] == DAY + timedelta(days=700)
    assert second[0] == DAY + timedelta(seconds=10)
    assert seal.check(path).verdict is seal.Verdict.WHOLE
    put = ride(30)
    put += ride(300, from_s=150.0) + ride(30, from_s=180.0)
    got = [at_s for at_s, one in reader.read(path) if not isinstance(one, Start | Close)]
    assert got == [at_s for at_s, _, _, _ in put]


def test_a_record_that_can_not_be_written_is_a_gap_and_stops_nothing(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    bad = Reading(Channel.FIX, Fix(float("nan"), -90.0, 3.0, 1.0, 0.2), 101.0, "gps")
    journal.put(bad, 101.0, DAY)
    journal.put(Reading(Channel.FIX, Engine(True), 101.0, "gps"), 101.0, DAY)
    journal.put(NOTE, 101.5, DAY)
    assert journal.close(102.0)
    got = [one for _, one in reader.read(tmp_path / "journal")]
    assert got[1:4] == [
        Gap(1, "could not be written: Reading.value.lat_deg = nan: must be finite", 101.0, 101.0),
        Gap(1, "could not be written: fix: the value is a Engine: must be a Fix", 101.0, 101.0),
        NOTE,
    ]


def test_a_torn_segment_is_finished_at_the_next_start_and_said(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    put = torn(path)
    (place,) = folder.segments(path)
    before = place.path.read_bytes()
    place.path.write_bytes(before + b"\x06half a chunk")
    written(path, 12)
    first, second = folder.segments(path)
    assert first.path.read_bytes().startswith(before)
    got = list(reader.read(first.path))
    assert got[1:-1] == put
    finished = got[-1][1]
    assert isinstance(finished, Finished)
    assert (finished.kept, finished.dropped, finished.records) == (len(before), 13, 61)
    assert (finished.by_boot, finished.note) == (2, "a record is cut")
    report = seal.check(path)
    assert [one.verdict for one in report.segments] == [
        seal.Verdict.POWER_CUT, seal.Verdict.WHOLE,
    ]  # fmt: skip
    with first.path.open("rb") as file:
        messages = sum(1 for _ in make_reader(file, validate_crcs=True).iter_messages())
    assert messages > 62
    assert reader.start(second.path).previous == finish.last_digest(first.path)


def test_what_was_finished_is_told_in_the_notices(tmp_path: Path) -> None:
    torn(tmp_path / "journal")
    name = folder.boots(tmp_path / "journal")[0].name
    journal = journal_in(tmp_path / "journal")
    journal.open()
    assert journal.close(101.0)
    assert journal.health().notices == (
        f"{name}/000001.mcap was torn (ends without an ending): 61 records kept, 0 bytes cut",
    )


def test_a_segment_torn_at_any_length_is_finished_with_what_is_whole(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 12)
    (place,) = folder.segments(tmp_path / "journal")
    content = place.path.read_bytes()
    key = seal.Key.load(tmp_path / "journal.key")
    ends = [span.end for span in segment.scan(content).chunks]
    begun = segment.scan(content).chunks[0].start
    lengths = {0, 1, 7, 8, 9, *range(0, begun + 200, 37), *range(begun, len(content), 331)}
    lengths |= {end + shift for end in ends for shift in (-1, 0, 1)} - {len(content) + 1}
    for length in sorted(lengths):
        place.path.write_bytes(content[:length])
        whole = segment.scan(content[:length])
        finish.finish(place, "sled-7", "", 2, "sledwarden 0.1.0", key, Storage())
        finished = place.path.read_bytes()
        kept = whole.end if whole.header else 0
        assert finished[:kept] == content[:kept]
        assert finish.has_good_ending(place.path), length
        found = segment.scan(finished)
        assert finished[found.end :] == found.ending.written(found.end)
        assert found.ending.records >= whole.ending.records + 1
        with place.path.open("rb") as file:
            read = sum(1 for _ in make_reader(file, validate_crcs=True).iter_messages())
        assert read == found.ending.messages
        assert seal.check_segment("s", finished).verdict is seal.Verdict.POWER_CUT


def test_finishing_that_is_itself_cut_is_finished_again(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 12)
    (place,) = folder.segments(tmp_path / "journal")
    key = seal.Key.load(tmp_path / "journal.key")
    content = place.path.read_bytes()
    arguments = ("sled-7", "", 2, "sledwarden 0.1.0", key, Storage())
    finish.finish(place, *arguments)
    finished = place.path.read_bytes()
    for length in range(len(content), len(finished), 211):
        place.path.write_bytes(finished[:length])
        assert not finish.has_good_ending(place.path)
        finish.finish(place, *arguments)
        again = place.path.read_bytes()
        assert again.startswith(content)
        assert seal.check_segment("s", again).verdict is seal.Verdict.POWER_CUT


def test_damage_that_no_power_cut_explains_is_kept_beside_the_finished_file(
    tmp_path: Path,
) -> None:
    torn(tmp_path / "journal", 120)
    (place,) = folder.segments(tmp_path / "journal")
    content = bytearray(place.path.read_bytes())
    spot = segment.scan(bytes(content)).chunks[4].begin + 30
    content[spot] ^= 1
    place.path.write_bytes(content)
    damaged = segment.scan(bytes(content)).end
    written(tmp_path / "journal", 12)
    assert place.path.with_suffix(".torn").read_bytes() == content[damaged:]
    assert seal.check_segment("s", place.path.read_bytes()).verdict is seal.Verdict.POWER_CUT


def test_a_foreign_file_in_a_segments_place_is_kept_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "journal", 12)
    home = folder.boots(tmp_path / "journal")[0]
    (home / "000002.mcap").write_bytes(b"my holiday pictures")
    written(tmp_path / "journal", 12)
    assert (home / "000002.torn").read_bytes() == b"my holiday pictures"
    assert finish.has_good_ending(home / "000002.mcap")


def test_hostile_names_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 12)
    home = folder.boots(path)[0]
    for name in ("notes.txt", "000001.mcap.zst", "0000001.mcap", "..mcap", "1.mcap"):
        (home / name).write_bytes(b"x")
    (path / "000009-nothex00").mkdir()
    (path / "000009-00000000").write_bytes(b"a file, not a folder")
    written(path, 12)
    assert [(one.boot, one.segment) for one in folder.segments(path)] == [(1, 1), (2, 1)]
    assert (home / "notes.txt").read_bytes() == b"x"


def test_closing_takes_under_a_second_and_ends_the_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    journal = journal_in(tmp_path / "journal")
    journal.open()
    put_all(journal, ride(120))
    clock = Clock()
    began_s = clock.mono_s()
    assert journal.close(112.0)
    assert clock.mono_s() - began_s < 1.0
    assert set(threading.enumerate()) <= before


def test_closing_does_not_wait_for_a_disk_that_hangs(tmp_path: Path) -> None:
    storage = FailingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    storage.go.clear()
    journal.put(NOTE, 101.0, DAY, urgent=True)
    assert not journal.close(102.0, timeout_s=0.1)
    storage.go.set()
    assert journal.close(102.0, timeout_s=5.0)


def test_a_patient_journal_loses_nothing_however_fast_it_is_fed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", START, ManualClock(0.0), is_patient=True)
    journal.open()
    count = 30_000
    for number in range(count):
        journal.put(NOTE, number / 10, DAY + timedelta(seconds=number / 10))
    assert journal.close(count / 10, timeout_s=30.0)
    got = list(reader.read(tmp_path / "journal"))
    assert sum(record == NOTE for _, record in got) == count
    assert got[0][0] == 0.0


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


def test_the_warning_path_does_not_import_the_library_for_seals() -> None:
    script = (
        "import sys, firmware.journal.writer, firmware.journal.reader\n"
        "assert not [one for one in sys.modules if one.startswith('cryptography')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_mcaps_reader_refuses_what_we_call_damaged(tmp_path: Path) -> None:
    """The tools agree: a chunk whose checksum is wrong is wrong for both."""
    written(tmp_path / "journal", 12)
    (place,) = folder.segments(tmp_path / "journal")
    content = bytearray(place.path.read_bytes())
    content[segment.scan(bytes(content)).chunks[1].begin + 40] ^= 1
    place.path.write_bytes(content)
    with pytest.raises(JournalError, match="is damaged at byte"):
        list(reader.read(place.path))
    with place.path.open("rb") as file, pytest.raises((McapError, ValueError)):
        list(make_reader(file, validate_crcs=True).iter_messages())
