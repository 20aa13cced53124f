"""Reading a journal back: the same records, in order, from whatever a power cut left."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_samples import CONFIG, DAY, LAW, START, journal_in, put_all, ride, torn, written
from mcap.writer import Writer

from firmware.clock import ManualClock
from firmware.errors import JournalError
from firmware.findings import Finding
from firmware.journal import folder, reader, segment
from firmware.journal.record import Start
from firmware.journal.writer import ROLL_S, Journal
from firmware.readings import Channel, Fix, Reading


def _only(path: Path) -> Path:
    (place,) = folder.segments(path)
    return place.path


def test_a_file_a_boot_and_a_folder_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 30)
    whole = list(reader.read(path))
    (boot,) = reader.boots(path)
    assert list(reader.read(boot)) == whole
    assert list(reader.read(_only(path))) == whole


def test_a_file_away_from_its_folder_reads_too(tmp_path: Path) -> None:
    written(tmp_path / "journal", 30)
    moved = tmp_path / "evidence.mcap"
    moved.write_bytes(_only(tmp_path / "journal").read_bytes())
    assert list(reader.read(moved)) == list(reader.read(tmp_path / "journal"))
    assert reader.attachments(moved) == dict((LAW, CONFIG))


def test_a_folder_of_several_boots_reads_its_newest(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 30)
    put = written(path, 20)
    old, new = reader.boots(path)
    assert list(reader.read(path)) == list(reader.read(new))
    assert list(reader.read(path))[1:-1] == put
    assert len(list(reader.read(old))) == 32


def test_boots_and_segments_come_by_their_numbers_not_by_their_dates(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    for hour in range(12):  # past nine, where names as text would mislead
        start = 100.0 + hour * ROLL_S
        put_all(journal, ride(3, from_s=start, utc=DAY - timedelta(days=hour)))
    assert journal.close(100.0 + 12 * ROLL_S, timeout_s=60.0)
    assert [place.name for place in reader.segments(path)] == [
        f"{number:06d}.mcap" for number in range(1, 13)
    ]
    instants = [at_s for at_s, one in reader.read(path) if isinstance(one, Reading)]
    assert instants == sorted(instants)
    assert len(instants) == 36


def test_a_torn_end_is_left_out(tmp_path: Path) -> None:
    put = torn(tmp_path / "journal", 120)
    path = _only(tmp_path / "journal")
    content = path.read_bytes()
    chance = random.Random(3)
    spans = segment.scan(content).chunks
    for length in sorted(chance.randrange(spans[0].end, len(content)) for _ in range(40)):
        path.write_bytes(content[:length])
        got = [one for one in reader.read(path) if not isinstance(one[1], Start)]
        assert got == put[: len(got)]
        whole = [span for span in spans if span.end <= length]
        wanted = sum(
            1
            for span in whole
            for message in segment.unpacked(span.content(content))
            if message.topic_id not in (segment.SEAL_ID, segment.TOPIC_IDS["/position"])
        )
        assert len(got) + 1 == wanted


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(b"")
    assert list(reader.read(path)) == []
    with pytest.raises(JournalError) as fault:
        reader.start(path)
    assert str(fault.value) == f"{path}: has no start record: what wrote it is not known."


def test_damage_before_the_end_is_an_error_with_its_place(tmp_path: Path) -> None:
    written(tmp_path / "journal", 60)
    path = _only(tmp_path / "journal")
    content = bytearray(path.read_bytes())
    span = segment.scan(bytes(content)).chunks[3]
    content[span.begin + 50] ^= 4
    path.write_bytes(content)
    with pytest.raises(JournalError) as fault:
        list(reader.read(path))
    assert str(fault.value) == (
        f"{path}: is damaged at byte {span.start}: a chunk's checksum is wrong. "
        "sledwarden verify says what still stands."
    )


def test_what_is_no_journal_is_refused_in_words(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("$GPRMC,...\n")
    with pytest.raises(JournalError) as fault:
        list(reader.read(text))
    assert str(fault.value) == (
        f"{text}: does not begin as an MCAP file: must be a journal segment. "
        "Is it the file you meant?"
    )
    foreign = tmp_path / "robot.mcap"
    with foreign.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        writer.finish()
    with pytest.raises(JournalError) as fault:
        list(reader.read(foreign))
    assert str(fault.value) == (
        f"{foreign}: has the profile 'ros2': must be 'sledwarden'. "
        "This MCAP file was written by another program."
    )
    for empty in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(JournalError) as fault:
            list(reader.read(empty))
        assert str(fault.value) == (
            f"{empty}: holds no journal segment: must be a .mcap or their folder."
        )


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e6),
            st.floats(-90, 90),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_numbers_come_back_through_a_real_file(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[tuple[float, float, float]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "journal"
    journal = Journal(path, START, ManualClock(0.0), is_patient=True)
    journal.open()
    put = [
        (at_s, Reading(Channel.FIX, Fix(lat, speed, 3.0, speed, 0.2), at_s, "gps"))
        for at_s, lat, speed in sorted(numbers)
    ]
    for at_s, one in put:
        journal.put(one, at_s)
    assert journal.close(2e6, timeout_s=60.0)
    assert [one for one in reader.read(path) if isinstance(one[1], Reading)] == put


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_bytes_make_the_scanner_raise(data: st.DataObject) -> None:
    sample = _SAMPLE[0] if _SAMPLE else b"\x89MCAP0\r\n"
    bad = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(bad) - 1))
        bad[at : at + data.draw(st.integers(0, 12))] = data.draw(st.binary(max_size=12))
    found = segment.scan(bytes(bad))
    assert 0 <= found.end <= len(bad)
    assert found.why


_SAMPLE: list[bytes] = []


@pytest.fixture(autouse=True, scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("sample") / "journal"
    written(path, 12)
    _SAMPLE[:] = [_only(path).read_bytes()]


def test_findings_of_a_ride_come_back_in_their_order(tmp_path: Path) -> None:
    put = written(tmp_path / "journal", 300)
    wanted = [one for _, one in put if isinstance(one, Finding)]
    got = [one for _, one in reader.read(tmp_path / "journal") if isinstance(one, Finding)]
    assert got == wanted
    assert len(got) == 30
