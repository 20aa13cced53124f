"""Stored segments: compressed or encrypted, whoever reads gets the very bytes that were sealed."""

from __future__ import annotations

from pathlib import Path

import pyrage
import pytest
import zstandard
from journal_samples import written

from firmware.errors import JournalError
from firmware.journal import folder, reader, stored, succession
from firmware.journal.proof import Verdict
from firmware.journal.stored import Identity, Owner


@pytest.fixture
def place(tmp_path: Path) -> folder.Place:
    written(tmp_path / "journal")
    (place,) = folder.segments(tmp_path / "journal")
    return place


def _store(place: folder.Place) -> Path:
    kept = place.path.with_name("000001.mcap.zst")
    kept.write_bytes(stored.packed(place.path.read_bytes()))
    place.path.unlink()
    return kept


def _pair(tmp_path: Path) -> tuple[Path, Path]:
    secret = pyrage.x25519.Identity.generate()
    (tmp_path / "owner.txt").write_text(f"# mine\n{secret.to_public()}\n")
    (tmp_path / "identity.txt").write_text(f"# created: today\n{secret}\n")
    return tmp_path / "owner.txt", tmp_path / "identity.txt"


def test_a_compressed_segment_reads_and_verifies_as_the_sealed_one(place: folder.Place) -> None:
    records, report = list(reader.read(place.path)), succession.check(place.path)
    raw, attached = place.path.read_bytes(), reader.attachments(place.path)
    kept = _store(place)
    assert list(reader.read(kept)) == list(reader.read(kept.parent.parent)) == records
    assert reader.attachments(kept) == attached
    again = succession.check(kept.parent.parent)
    assert (again.verdict, again.segments[0].seal) == (Verdict.WHOLE, report.segments[0].seal)
    assert again.segments[0].name == f"{kept.parent.name}/000001.mcap.zst"
    assert stored.read_head(kept, 100) == raw[:100]
    assert kept.stat().st_size < len(raw) / 3


def test_any_zstandard_tool_unpacks_it(place: folder.Place) -> None:
    raw = place.path.read_bytes()
    assert zstandard.ZstdDecompressor().decompress(_store(place).read_bytes()) == raw


def test_of_two_forms_the_sealed_one_is_read(place: folder.Place) -> None:
    place.path.with_name("000001.mcap.zst").write_bytes(b"half of it")
    assert folder.segments(place.path.parent) == [place]


def test_an_encrypted_segment_opens_with_the_owners_key_alone(
    place: folder.Place, tmp_path: Path
) -> None:
    records = list(reader.read(place.path))
    public, secret = _pair(tmp_path)
    locked = place.path.with_name("000001.mcap.zst.age")
    locked.write_bytes(Owner.load(public).locked(stored.packed(place.path.read_bytes())))
    place.path.unlink()
    assert b"sledwarden" not in locked.read_bytes()
    with pytest.raises(JournalError) as fault:
        list(reader.read(locked))
    assert str(fault.value) == (
        f"{locked}: is encrypted to its owner. Give the owner's secret key: --identity FILE"
    )
    assert list(reader.read(locked, Identity.load(secret))) == records
    (tmp_path / "other").mkdir()
    _, wrong = _pair(tmp_path / "other")
    with pytest.raises(JournalError, match="can't be decrypted with"):
        list(reader.read(locked, Identity.load(wrong)))


@pytest.mark.parametrize(
    ("octets", "what"),
    [
        (b"", "can't be unpacked"),
        (b"MCAP", "can't be unpacked"),
        (stored.packed(b"x" * 100)[:-3], "can't be unpacked"),
        (stored.packed(b"x" * 100) + b"more", "can't be unpacked"),
        (zstandard.ZstdCompressor(write_content_size=False).compress(b"x"), "is no stored segment"),
    ],
)
def test_bytes_that_are_no_stored_segment_are_refused(
    tmp_path: Path, octets: bytes, what: str
) -> None:
    path = tmp_path / "000001.mcap.zst"
    path.write_bytes(octets)
    with pytest.raises(JournalError, match=what):
        stored.read(path)


def test_what_would_unpack_to_all_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "000001.mcap.zst"
    long = zstandard.ZstdCompressor(level=3)
    with (
        path.open("wb") as file,
        long.stream_writer(file, size=stored.MOST_BYTES + 1, closefd=False) as stream,
    ):
        for _ in range(256):
            stream.write(bytes(1 << 20))
        stream.write(b"\0")
    with pytest.raises(JournalError, match="its length is missing or too large"):
        stored.read(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "has no key: must hold the owner's public age key, age1 and 58 letters more"),
        ("age1abc\n", "the line 'age1abc' is no key"),
        ("age1" + "q" * 58 + "\n", "is no age key"),
    ],
)
def test_a_file_that_is_no_owners_key_is_refused(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "owner.txt"
    path.write_text(text)
    with pytest.raises(JournalError, match=what):
        Owner.load(path)


def test_the_public_half_is_no_identity(tmp_path: Path) -> None:
    public, _ = _pair(tmp_path)
    with pytest.raises(JournalError, match="is no identity: must hold AGE-SECRET-KEY-1"):
        Identity.load(public)
