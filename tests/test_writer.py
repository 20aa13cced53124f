"""The journal's writer: what it keeps, when it syncs, and in which segments."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from journal_samples import CONFIG, DAY, LAW, NOTE, START, journal_in, put_all, ride, written
from mcap.exceptions import McapError
from mcap.reader import make_reader

from firmware.clock import Clock, ManualClock
from firmware.errors import JournalError
from firmware.journal import folder, proof, reader, seal, segment, succession
from firmware.journal.folder import Storage
from firmware.journal.record import Close, Gap, Start
from firmware.journal.writer import Journal
from firmware.readings import Channel, Engine, Fix, Reading


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


def test_what_was_put_is_read_back_in_order(tmp_path: Path) -> None:
    put = written(tmp_path / "journal")
    got = list(reader.read(tmp_path / "journal"))
    assert got[1:-1] == put
    assert isinstance(got[0][1], Start)
    assert got[-1] == (106.0, Close("stopped", 62, 0))


def test_the_start_record_says_who_wrote_it_and_by_which_law(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    start = reader.start(tmp_path / "journal")
    report = succession.check(tmp_path / "journal")
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
    copies = 6  # a fix a second is copied, and the ride takes 6 s
    with place.path.open("rb") as file:
        mcap = make_reader(file, validate_crcs=True)
        messages = list(mcap.iter_messages(log_time_order=False))
        seals = [one for _, channel, one in messages if channel.topic == "/seal"]
        assert len(messages) == len(put) + 2 + copies + len(seals)
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
        assert sum(1 for _ in mcap.iter_messages(topics="/position")) == copies
        where = [one for _, channel, one in messages if channel.topic == "/position"]
        assert json.loads(where[0].data)["latitude"] == 45.0


def test_a_commit_is_one_write_and_one_sync(tmp_path: Path) -> None:
    storage = CountingStorage()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    journal.put(NOTE, 100.0, DAY)
    assert journal.flush(60.0)
    boot = next(iter(folder.boots(tmp_path / "journal"))).name
    counter = ["write", "sync", "folder journal"]
    assert storage.steps == [*counter, "folder journal", "write", "sync", f"folder {boot}",
                             "write", "sync"]  # fmt: skip
    for second in range(101, 121):
        storage.steps.clear()
        for tenth in range(10):
            journal.put(NOTE, second + tenth / 10, DAY, urgent=tenth == 9 and second % 5 == 0)
        assert journal.flush(60.0)
        assert storage.steps.count("sync") == storage.steps.count("write")
        assert storage.steps.count("sync") <= (2 if second % 5 == 0 else 1)
    storage.steps.clear()
    assert journal.close(121.0, timeout_s=60.0)
    assert storage.steps == ["write", "sync", "write", "sync"]  # the closing seal; the ending


def test_an_urgent_record_is_safe_without_waiting_for_the_second(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal._period_s = 3600.0  # so long would one wait that is not urgent
    journal.open()
    assert journal.flush(60.0)
    for number in range(10):
        sequence = journal.put(NOTE, 100.1 + number / 10, DAY, urgent=True)
        with journal._safe:
            assert journal._safe.wait_for(
                lambda due=sequence: journal.acknowledged.sequence >= due, 60.0
            )
    assert journal.close(101.0, timeout_s=60.0)


def test_a_clock_that_runs_fast_does_not_sync_more_than_ten_times_a_second(tmp_path: Path) -> None:
    for speed, wanted_s in ((1.0, 1.0), (4.0, 0.25), (20.0, 0.1), (5000.0, 0.1)):
        journal = Journal(tmp_path / "journal", START, Clock(speed, from_zero=True))
        assert journal._period_s == pytest.approx(wanted_s)


def test_the_ride_is_cut_into_chunks_of_a_second_however_fast_it_runs(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    for at_s, utc, record, _ in ride(100):
        journal.put(record, at_s, utc)
    assert journal.close(110.0, timeout_s=60.0)
    (place,) = folder.segments(tmp_path / "journal")
    with place.path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    spans_s = [
        (one.message_end_time - one.message_start_time) / 1e9 for one in summary.chunk_indexes
    ]
    assert max(spans_s) <= 1.0
    assert len(spans_s) >= 10


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
    assert journal.close(101.0, timeout_s=60.0)


def test_a_closed_journal_frees_its_folder(tmp_path: Path) -> None:
    for boot in range(1, 4):
        written(tmp_path / "journal", 12)
        names = [one.name for one in folder.boots(tmp_path / "journal")]
        assert [int(name[:6]) for name in names] == list(range(1, boot + 1))


def _log_times(path: Path) -> list[list[datetime]]:
    times = []
    for place in folder.segments(path):
        with place.path.open("rb") as file:
            messages = make_reader(file).iter_messages(log_time_order=False)
            stamps = [message.log_time for _, _, message in messages]
            assert stamps == sorted(stamps)
            times.append([datetime.fromtimestamp(one / 1e9, UTC) for one in stamps])
    return times


def _on_step(utc: datetime) -> datetime:
    """The date down to a whole 2**24 nanoseconds, as docs/journal.md has it."""
    since = utc - datetime(1970, 1, 1, tzinfo=UTC)
    exact_ns = (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000
    return datetime.fromtimestamp((exact_ns >> 24 << 24) / 1e9, UTC)


def test_log_times_are_seconds_since_boot_until_a_date_is_known(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(30, utc=None))
    put_all(journal, ride(30, from_s=103.0))
    assert journal.close(106.0, timeout_s=60.0)
    undated, dated = _log_times(path)
    assert undated[0] == _on_step(datetime(1970, 1, 1, 0, 1, 40, tzinfo=UTC))
    assert undated[-1] == _on_step(datetime(1970, 1, 1, 0, 1, 43, tzinfo=UTC))
    assert dated[0] == _on_step(DAY)
    assert succession.check(path).verdict is proof.Verdict.WHOLE


def test_a_date_that_comes_within_the_first_second_dates_that_second_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    given = ride(10, utc=None)
    for at_s, _, record, _ in given[:5]:
        journal.put(record, at_s, None)
    for at_s, _, record, _ in given[5:]:
        journal.put(record, at_s, DAY + timedelta(seconds=at_s - 100.5))
    journal.open()
    assert journal.close(101.0, timeout_s=60.0)
    (dated,) = _log_times(path)
    assert dated[0] == _on_step(DAY - timedelta(seconds=0.5))


def test_a_clock_that_steps_back_never_turns_back_the_log(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(30, utc=DAY + timedelta(days=700)))
    put_all(journal, ride(300, from_s=150.0, utc=DAY))  # too soon for a new segment
    put_all(journal, ride(30, from_s=180.0, utc=DAY + timedelta(seconds=30)))
    assert journal.close(190.0, timeout_s=60.0)
    first, second = _log_times(path)
    assert first[0] == _on_step(DAY + timedelta(days=700))
    assert second[0] == _on_step(DAY + timedelta(seconds=10))
    assert succession.check(path).verdict is proof.Verdict.WHOLE
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
    assert journal.close(102.0, timeout_s=60.0)
    got = [one for _, one in reader.read(tmp_path / "journal")]
    assert got[1:4] == [
        Gap(1, "could not be written: Reading.value.lat_deg = nan: must be finite", 101.0, 101.0),
        Gap(1, "could not be written: fix: the value is a Engine: must be a Fix", 101.0, 101.0),
        NOTE,
    ]


def test_closing_takes_under_a_second_and_ends_the_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    journal = journal_in(tmp_path / "journal")
    journal.open()
    put_all(journal, ride(120))
    clock = Clock()
    began_s = clock.mono_s()
    assert journal.close(112.0, timeout_s=60.0)
    assert clock.mono_s() - began_s < 1.0
    assert set(threading.enumerate()) <= before


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
