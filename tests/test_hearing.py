"""What the receiver was heard to say: kept about an event, forgotten otherwise, always bounded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from journal_samples import CONFIG, DAY, LAW, NOTE, START, journal_in, ride, written

from firmware.clock import ManualClock
from firmware.config.reading import parse
from firmware.findings import Event, Verdict
from firmware.journal import folder, reader
from firmware.journal.beginning import start_of
from firmware.journal.hearing import MOST_BYTES, Hearing
from firmware.journal.keeper import Keeper
from firmware.journal.record import GOES_ON, Heard, Note, Start
from firmware.journal.writer import ROLL_S, Journal

EVENT = Event("350.10(1)(gm)", Verdict.VIOLATION, 50.0, 61.0, 55.0, "mph", is_sure=False)


class _Kept:
    def __init__(self) -> None:
        self.heard: list[Heard] = []

    def take(self, heard: Heard, _at_s: float) -> None:
        self.heard.append(heard)

    @property
    def octets(self) -> bytes:
        return b"".join(one.octets.encode("latin-1") for one in self.heard)


def _hearing() -> tuple[Hearing, _Kept]:
    hearing, kept = Hearing("gps"), _Kept()
    hearing.keep = kept.take
    return hearing, kept


def _lines(first: int, last: int) -> bytes:
    """One line for each tenth of a second, named by it."""
    return b"".join(b"$%d\r\n" % tenth for tenth in range(first, last))


def test_nothing_is_kept_of_a_ride_without_an_event() -> None:
    hearing, kept = _hearing()
    for tenth in range(1000):
        hearing.hear(_lines(tenth, tenth + 1), tenth / 10)
    assert kept.heard == []


def test_the_20_s_before_and_after_an_event_are_kept_to_the_byte() -> None:
    hearing, kept = _hearing()
    for tenth in range(1000):
        if tenth == 500:
            hearing.tell(50.0)
        hearing.hear(_lines(tenth, tenth + 1), tenth / 10)
    # Pieces of a second: from 29 s, the one that still has bytes of 30 s in it, to the last that
    # was complete by 71 s.
    assert kept.octets == _lines(290, 710)
    assert [one.mono_s for one in kept.heard] == [float(at) for at in range(29, 71)]
    assert {one.source for one in kept.heard} == {"gps"}


def test_bytes_of_two_events_are_kept_once() -> None:
    hearing, kept = _hearing()
    for tenth in range(1000):
        if tenth in (500, 550):
            hearing.tell(tenth / 10)
        hearing.hear(_lines(tenth, tenth + 1), tenth / 10)
    assert kept.octets == _lines(290, 760)


def test_a_line_gone_mad_costs_no_more_memory_than_the_bound() -> None:
    hearing, kept = _hearing()
    for number in range(300):
        hearing.hear(b"\xff" * 10_000, number / 100)
    hearing.tell(3.0)
    assert 0 < len(kept.octets) <= MOST_BYTES + 100 * 10_000
    assert set(kept.octets) == {255}


def test_what_was_heard_stands_in_the_journal_beside_the_event(tmp_path: Path) -> None:
    path, hearing = tmp_path / "journal", Hearing("gps")
    journal = Journal(path, START, ManualClock(0.0), hearing=hearing)
    journal.open()
    hearing.hear(b"$GPRMC,\x00\xfe*00\r\n", 40.25)
    journal.put(EVENT, 50.0, None, urgent=True)
    assert journal.flush(60.0)
    assert journal.close(51.0, timeout_s=60.0)
    told = [(at_s, one) for at_s, one in reader.read(path) if isinstance(one, Heard | Event)]
    assert told == [
        (50.0, Heard("gps", 40.25, "$GPRMC,\x00\xfe*00\r\n")),
        (50.0, EVENT),
    ]


def _boot(path: Path, start: Start, attachments: list[tuple[str, bytes]]) -> list[Note]:
    keeper = Keeper(path, start.unit)
    journal = Journal(path, start, ManualClock(100.0), attachments=attachments, keeper=keeper)
    journal.open()
    for at_s, utc, record, is_urgent in ride(5):
        journal.put(record, at_s, utc, urgent=is_urgent)
    assert journal.flush(60.0)
    assert journal.close(101.0, "SIGTERM", 60.0)
    return [one for _, one in reader.read(folder.boots(path)[-1]) if isinstance(one, Note)]


def test_a_boot_notes_how_the_one_before_ended_and_what_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    assert _boot(path, START, [LAW, CONFIG]) == []
    first = folder.boots(path)[0].name
    (note,) = _boot(path, START, [LAW, CONFIG])
    assert note == Note("start", f"boot {first} ended: SIGTERM", "journal", {"before": first})
    (tmp_path / "journal.key").unlink()
    other = [LAW, (CONFIG[0], b"[unit]\nid = 'sled-8'\n")]
    notes = _boot(path, START, other)
    assert [one.kind for one in notes] == ["start", "configuration", "key"]
    assert notes[1].what == "sledwarden.toml was changed"


def test_a_boot_whose_next_segment_never_began_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    for after_s in (0.0, ROLL_S + 1.0):
        journal.put(NOTE, 100.0 + after_s, DAY + timedelta(seconds=after_s), urgent=True)
        assert journal.flush(60.0)
    assert journal.close(102.0 + ROLL_S, timeout_s=60.0)
    first, second = folder.segments(path)
    *_, (_, last) = reader.read(second.path)
    assert (last.why, last.is_last) == ("stopped", True)
    second.path.unlink()
    *_, (_, last) = reader.read(first.path)
    assert (last.why, last.is_last) == (GOES_ON, False)
    (note, *_) = _boot(path, START, [LAW, CONFIG])
    ended = "cut off where its next segment was to begin"
    assert note.what == f"boot {folder.boots(path)[0].name} ended: {ended}"


def test_a_boot_notes_each_consent_that_was_given_or_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for zones, told in (
        ((), []),
        (("private:parcel-7", "parcel-9"), [("parcel-9", "given"), ("private:parcel-7", "given")]),
        (("parcel-9", "private:parcel-7"), []),
        (("parcel-9",), [("private:parcel-7", "taken back")]),
    ):
        notes = _boot(path, replace(START, consents=zones), [LAW, CONFIG])
        assert [one for one in notes if one.kind == "consent"] == [
            Note("consent", f"the consent for {zone} was {said}", "journal", {"zone": zone})
            for zone, said in told
        ]


def test_a_unit_s_journal_begins_with_its_consents() -> None:
    config = parse('[unit]\nid = "a"\n[zones]\nconsents = ["b", "a", "b"]\n', "unit.toml")
    assert start_of(config, ("wi",)).consents == ("b", "a")


def test_a_boot_notes_that_the_one_before_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 30)
    (place,) = folder.segments(path)
    octets = place.path.read_bytes()
    place.path.write_bytes(octets[: len(octets) // 2])
    (note, *_) = _boot(path, START, [LAW, CONFIG])
    assert note.what.startswith(f"boot {folder.boots(path)[0].name} ended: cut off: ")
