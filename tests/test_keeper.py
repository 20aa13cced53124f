"""The keeper: closed segments stored and told of, wherever a cut falls; room made; deletions."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyrage
import pytest
from journal_samples import CONFIG, LAW, START, put_all, ride, torn, written

from firmware.clock import ManualClock
from firmware.journal import folder, ledger, reader, stored, succession
from firmware.journal.folder import LEDGER, Storage
from firmware.journal.keeper import Keeper
from firmware.journal.ledger import BootLine, Ledger, SegmentLine, TombstoneLine
from firmware.journal.proof import Verdict
from firmware.journal.seal import Key
from firmware.journal.stored import Identity
from firmware.journal.writer import Journal


def _kept(path: Path, keeper: Keeper, count: int = 60) -> None:
    """One boot of a journal with this keeper, closed; what it closed is stored at the end."""
    journal = Journal(path, START, ManualClock(100.0), attachments=[LAW, CONFIG], keeper=keeper)
    journal.open()
    put_all(journal, ride(count))
    assert keeper.wait(60.0)
    assert journal.close(100.0 + count / 10, timeout_s=60.0)


def _keeper(path: Path, **more: object) -> Keeper:
    return Keeper(path, START.unit, **more)  # type: ignore[arg-type]


def _store_all(path: Path, **more: object) -> Ledger:
    """A start that stores what is closed, without a boot of its own."""
    keeper = _keeper(path, **more)
    keeper.begin(Key.load(path.with_name(f"{path.name}.key")))
    keeper.forget(0, None, "nobody", 0)  # a task to wait for
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    assert keeper.trouble == ""
    return ledger.read(path / LEDGER)


def test_a_closed_segment_is_stored_and_stands_in_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    (place,) = folder.segments(path)
    raw, before = place.path.read_bytes(), succession.check(place.path).segments[0]
    told = _store_all(path)
    (line,) = told.lines
    kept = place.path.with_name("000001.mcap.zst")
    assert sorted(one.name for one in place.path.parent.iterdir()) == ["000001.mcap.zst"]
    assert isinstance(line, SegmentLine)
    assert before.seal is not None
    assert (line.boot, line.segment, line.verdict) == (1, 1, "whole")
    # 60 records, the start and the close; an event at record 42.
    assert (line.records, line.events, line.seals) == (62, 1, before.seal.count)
    assert (line.from_ns, line.to_ns) == (str(before.from_ns), str(before.to_ns))
    assert line.digest == before.seal.digest
    assert (line.raw_bytes, line.raw_sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert line.stored == f"{kept.parent.name}/000001.mcap.zst"
    assert line.stored_bytes == kept.stat().st_size
    assert line.stored_sha256 == hashlib.sha256(kept.read_bytes()).hexdigest()
    assert stored.read(kept) == raw
    assert told.key == before.seal.public_key


def test_doing_it_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    _store_all(path)
    before = {one: one.read_bytes() for one in path.rglob("*") if one.is_file()}
    _store_all(path)
    assert {one: one.read_bytes() for one in path.rglob("*") if one.is_file()} == before


def test_a_boot_is_told_once_and_its_segments_follow_from_those_before(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for _ in range(3):
        _kept(path, _keeper(path))
    told = ledger.read(path / LEDGER)
    boots = [line for line in told.lines if isinstance(line, BootLine)]
    assert [line.boot for line in boots] == [1, 2, 3]
    assert [line.boot for line in told.segments().values()] == [1, 2]  # the last waits for a start
    report = succession.check(path)
    assert report.verdict is Verdict.WHOLE
    forms = [stored.form_of(place.path) for place in folder.segments(path)]
    assert forms == [".mcap.zst", ".mcap.zst", ".mcap"]


def test_a_torn_segment_is_finished_then_stored_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    torn(path)
    _kept(path, _keeper(path))
    line = ledger.read(path / LEDGER).segments()[1, 1]
    assert line.verdict == "power-cut"
    assert succession.check(path).verdict is Verdict.POWER_CUT


class _Cut(Exception):  # noqa: N818 - no error, the power goes
    """The power goes."""


class _CutStorage(Storage):
    """Loses its power at the n-th thing that it is asked to do."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Cut

    def create(self, path: Path) -> int:
        self._count()
        return super().create(path)

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        if self.left == 0:
            super().write(descriptor, content[: len(content) // 2], offset)
        self._count()
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        self._count()
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        self._count()
        super().sync_folder(folder)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("at", range(12))
def test_a_cut_at_any_step_leaves_a_whole_journal_and_the_next_start_stores_it(
    tmp_path: Path, at: int
) -> None:
    path = tmp_path / "journal"
    written(path)
    records = list(reader.read(path))
    keeper = _keeper(path, storage=_CutStorage(at))
    keeper.begin(Key.load(path.with_name("journal.key")))
    assert keeper._thread is not None
    keeper.forget(0, None, "nobody", 0)
    while keeper._thread.is_alive() and not keeper._idle.is_set():
        keeper._thread.join(0.01)
    assert list(reader.read(path)) == records
    assert succession.check(path).verdict is Verdict.WHOLE
    told = _store_all(path)
    assert (told.fault, len(told.segments())) == (None, 1)
    (place,) = folder.segments(path)
    line = told.segments()[1, 1]
    assert hashlib.sha256(place.path.read_bytes()).hexdigest() == line.stored_sha256
    assert list(reader.read(path)) == records
    assert len(list(place.path.parent.iterdir())) == 1


def test_with_an_owners_key_what_is_closed_is_encrypted(tmp_path: Path) -> None:
    path, secret = tmp_path / "journal", pyrage.x25519.Identity.generate()
    (tmp_path / "owner").write_text(f"{secret.to_public()}\n")
    (tmp_path / "identity").write_text(f"{secret}\n")
    written(path)
    records = list(reader.read(path))
    line = _store_all(path, owner_path=tmp_path / "owner").segments()[1, 1]
    (place,) = folder.segments(path)
    assert place.path.name == "000001.mcap.zst.age"
    assert hashlib.sha256(place.path.read_bytes()).hexdigest() == line.stored_sha256
    assert list(reader.read(path, Identity.load(tmp_path / "identity"))) == records
    _kept(path, _keeper(path, owner_path=tmp_path / "owner"))  # goes on by the ledger's digest
    assert reader.start(folder.boots(path)[1]).previous == line.digest


def test_an_owners_key_that_is_none_stores_nothing_in_the_clear(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    (tmp_path / "owner").write_text("nobody\n")
    written(path)
    heard: list[str] = []
    keeper = _keeper(path, owner_path=tmp_path / "owner", on_notice=heard.append)
    keeper.begin(Key.load(path.with_name("journal.key")))
    keeper.forget(0, None, "nobody", 0)
    assert not keeper.wait(0.3)
    assert keeper.stop(60.0)
    assert [one.path.name for one in folder.segments(path)] == ["000001.mcap"]
    assert "the line 'nobody' is no key" in heard[0]


def test_room_is_made_from_the_oldest_without_events_first(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for count in (60, 30, 30, 30):  # only the first has an event
        written(path, count)
    _store_all(path)
    sizes = [place.path.stat().st_size for place in folder.segments(path)]
    room = sum(sizes) - sizes[1] - 1 + (path / LEDGER).stat().st_size
    keeper = _keeper(path, quota_bytes=int(room / 0.9))
    _kept(path, keeper, 30)
    told = ledger.read(path / LEDGER)
    graves = [line for line in told.lines if isinstance(line, TombstoneLine)]
    assert {line.why for line in graves} == {"quota"}
    assert [line.boot for line in graves][:2] == [2, 3]
    assert 1 in [place.boot for place in folder.segments(path)]
    assert told.segments()[2, 1].stored_sha256 == graves[0].stored_sha256


def test_an_owner_deletes_a_boot_and_the_ledger_says_so(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for _ in range(3):
        written(path)
    keeper = _keeper(path)
    keeper.begin(Key.load(path.with_name("journal.key")))
    keeper.forget(2, None, "dash", 77)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    assert [place.boot for place in folder.segments(path)] == [1, 3]
    grave = ledger.read(path / LEDGER).tombstones()[2, 1]
    assert (grave.why, grave.by, grave.time_ns) == ("owner", "dash", "77")
