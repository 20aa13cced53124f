"""Finishing: a torn segment is closed at a later start, with all of it that is whole."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

from journal_samples import DAY, journal_in, put_all, ride, torn, written
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from firmware.journal import finish, folder, proof, reader, seal, segment, succession
from firmware.journal.folder import Storage
from firmware.journal.record import Finished
from firmware.journal.writer import ROLL_S


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
    assert journal.close(100.0 + ROLL_S + 2, timeout_s=60.0)
    written(path, 12)
    places = folder.segments(path)
    assert [(one.boot, one.segment) for one in places] == [(1, 1), (1, 2), (2, 1)]
    starts = [reader.start(place.path) for place in places]
    digests = [finish.last_digest(place.path) for place in places]
    assert [one.previous for one in starts] == ["", *digests[:-1]]
    assert succession.check(path).verdict is proof.Verdict.WHOLE
    assert len(list(reader.read(folder.boots(path)[0]))) == 2 * 12 + 4


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
    report = succession.check(path)
    assert [one.verdict for one in report.segments] == [
        proof.Verdict.POWER_CUT, proof.Verdict.WHOLE,
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
    assert journal.close(101.0, timeout_s=60.0)
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
        assert proof.check_segment("s", finished).verdict is proof.Verdict.POWER_CUT


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
        assert proof.check_segment("s", again).verdict is proof.Verdict.POWER_CUT


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
    assert proof.check_segment("s", place.path.read_bytes()).verdict is proof.Verdict.POWER_CUT


def test_a_file_of_a_size_that_no_segment_has_is_finished_in_bounded_memory(
    tmp_path: Path,
) -> None:
    """As a broken file system shows one: a hundred gigabytes, of which nothing is on the card."""
    put = torn(tmp_path / "journal", 60)
    (place,) = folder.segments(tmp_path / "journal")
    kept = place.path.stat().st_size
    os.truncate(place.path, 100 << 30)
    written(tmp_path / "journal", 12)
    assert kept < place.path.stat().st_size < kept + 100_000
    (report, _) = succession.check(tmp_path / "journal").segments
    assert report.verdict is proof.Verdict.POWER_CUT
    got = [*reader.read(place.path)]
    assert [one for one in got if one in put] == put
    last = next(one for _, one in got if isinstance(one, Finished))
    assert last.dropped == (100 << 30) - kept
    unseen = (100 << 30) - (64 << 20)
    assert last.note.endswith(f"; {unseen} bytes beyond 67108864 were not looked at")


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
