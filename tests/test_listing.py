"""What may be taken of a journal while it is written: all that is closed, and what is durable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from journal_samples import journal_in, put_all, ride, torn, written

from firmware.journal import seal, succession
from firmware.journal.folder import Storage
from firmware.journal.keeper import Keeper
from firmware.journal.listing import Listing, Owner, open_plain
from firmware.journal.seal import Key


class Synced(Storage):
    """A disk that remembers how much of a file was safe after each sync."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self._end = 0

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        super().write(descriptor, content, offset)
        self._end = offset + len(content)

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.ends.append(self._end)


def test_a_closed_segment_is_all_there(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    (one,) = Listing(tmp_path / "journal").all()
    assert (one.name, one.is_closed) == ("000001.mcap", True)
    assert one.size_bytes == one.path.stat().st_size
    assert one.boot == one.path.parent.name


def test_of_a_growing_one_only_what_was_synced_is_told(tmp_path: Path) -> None:
    storage = Synced()
    journal = journal_in(tmp_path / "journal", storage=storage)
    journal.open()
    listing = Listing(tmp_path / "journal")
    sizes = []
    for begin in range(0, 60, 5):
        put_all(journal, ride(50, 100.0 + begin))
        (one,) = listing.all()
        assert not one.is_closed
        assert one.size_bytes in (0, *storage.ends)
        assert one.size_bytes < one.path.stat().st_size
        assert Listing(tmp_path / "journal").all() == [one]  # as one that looks for the first time
        sizes.append(one.size_bytes)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 5
    assert journal.close(160.0, timeout_s=60.0)
    (one,) = listing.all()
    assert (one.is_closed, one.size_bytes) == (True, one.path.stat().st_size)


def test_what_is_told_of_a_torn_segment_stays_when_it_is_finished(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 200)
    listing = Listing(tmp_path / "journal")
    (before,) = listing.all()
    content = before.path.read_bytes()[: before.size_bytes]
    assert 0 < before.size_bytes < before.path.stat().st_size
    written(tmp_path / "journal", 10)
    after = listing.one(before.boot, before.name)
    assert after is not None
    assert after.is_closed
    assert after.path.read_bytes().startswith(content)


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"no journal at all" * 100,
                                     b"\x89MCAP0\r\n" + b"\xff" * 5000])  # fmt: skip
def test_of_what_is_no_journal_nothing_is_told(tmp_path: Path, content: bytes) -> None:
    written(tmp_path / "journal")
    listing = Listing(tmp_path / "journal")
    (one,) = listing.all()
    one.path.write_bytes(content)
    (one,) = listing.all()
    assert (one.size_bytes, one.is_closed) == (0, False)


def test_a_cut_segment_is_told_as_far_as_its_seals_vouch(tmp_path: Path) -> None:
    written(tmp_path / "journal", 100)
    listing = Listing(tmp_path / "journal")
    (whole,) = listing.all()
    content = whole.path.read_bytes()
    sizes = []
    for end in range(0, len(content), 997):
        whole.path.write_bytes(content[:end])
        (one,) = listing.all()
        assert not one.is_closed
        assert one.size_bytes <= end
        sizes.append(one.size_bytes)
    assert sizes == sorted(sizes)


def test_a_closed_segment_that_somebody_went_on_with_is_closed_no_more(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    listing = Listing(tmp_path / "journal")
    (whole,) = listing.all()
    with whole.path.open("ab") as file:
        file.write(b"more")
    (one,) = listing.all()
    assert not one.is_closed
    assert one.size_bytes < whole.size_bytes


def test_the_owner_is_the_one_who_sealed_last(tmp_path: Path) -> None:
    listing = Listing(tmp_path / "journal")
    assert listing.owner() == Owner()
    written(tmp_path / "journal")
    key = succession.check(tmp_path / "journal").public_key
    assert listing.owner() == Owner(key, seal.fingerprint(key))


def test_no_other_file_is_listed(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    listing = Listing(tmp_path / "journal")
    (one,) = listing.all()
    (one.path.parent / "000001.torn").write_bytes(b"damaged")
    (one.path.parent / "notes.txt").write_bytes(b"x")
    shutil.copytree(one.path.parent, tmp_path / "journal" / "copy")
    assert listing.all() == [one]
    for boot, name in (("..", "journal.key"), (one.boot, "notes.txt"), ("", ""), (one.boot, ".."),
                       (f"../journal/{one.boot}", one.name)):  # fmt: skip
        assert listing.one(boot, name) is None
        assert listing.torn(boot, name) is None


def test_a_piece_of_a_damaged_segment_is_told_apart_from_the_segments(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    listing = Listing(tmp_path / "journal")
    (one,) = listing.all()
    assert listing.torn(one.boot, "000001.torn") is None
    (one.path.parent / "000001.torn").write_bytes(b"damaged")
    (one.path.parent / "000002.torn").symlink_to(one.path)
    piece = listing.torn(one.boot, "000001.torn")
    assert piece is not None
    assert (piece.size_bytes, piece.is_closed) == (7, True)
    assert listing.one(one.boot, "000001.torn") is None
    assert listing.torn(one.boot, "000002.torn") is None  # a link is not followed


def test_a_link_is_not_opened(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    (one,) = Listing(tmp_path / "journal").all()
    link = one.path.with_name("000002.mcap")
    link.symlink_to(one.path)
    with pytest.raises(OSError, match="symbolic links"):
        open_plain(link)
    with pytest.raises(FileNotFoundError):
        open_plain(one.path.with_name("000003.mcap"))


def test_what_is_stored_is_listed_under_its_name_and_the_ledger_to_its_last_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    written(path)
    key = succession.check(path).public_key
    assert Listing(path).ledger() is None
    keeper = Keeper(path, "sled-7")
    keeper.begin(Key.load(path.with_name("journal.key")))
    keeper.forget(0, None, "nobody", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    listing = Listing(path)
    (one,) = listing.all()
    assert (one.name, one.is_closed) == ("000001.mcap.zst", True)
    assert one.size_bytes == one.path.stat().st_size
    assert listing.one(one.boot, one.name) == one
    assert listing.owner() == Owner(key, seal.fingerprint(key))
    told = listing.ledger()
    assert told is not None
    assert told.size_bytes == (path / "ledger.jsonl").stat().st_size
    with (path / "ledger.jsonl").open("ab") as file:
        file.write(b'{"kind":"boot"')
    again = listing.ledger()
    assert again is not None
    assert again.size_bytes == told.size_bytes
