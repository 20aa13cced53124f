"""Roll-backs and changed keys: what no download takes in the place of what it has."""

from __future__ import annotations

import shutil
from pathlib import Path

import download_rig
import pytest
from download_rig import fetch, newest, stamps
from journal_samples import torn, written
from port_rig import Rig

from firmware.journal import seal, succession
from host_tools.journals.archive import ArchiveError, read_unit

template, rig = download_rig.template, download_rig.rig


def refused(rig: Rig, tmp_path: Path) -> str:
    """How a download is refused; nothing of the archive changes by it."""
    before = stamps(tmp_path / "rides")
    with pytest.raises(ArchiveError) as told:
        fetch(rig, tmp_path / "rides")
    assert stamps(tmp_path / "rides") == before
    assert "Nothing was taken." in str(told.value)
    return str(told.value)


def test_a_unit_that_lacks_a_segment_it_had_is_refused(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    path = newest(tmp_path)
    path.unlink()
    assert "unit sled-7 shows less than on 20" in refused(rig, tmp_path)
    assert f"{path.parent.name}/000001.mcap is missing" in refused(rig, tmp_path)


def test_a_card_image_that_is_older_than_the_archive_is_refused(rig: Rig, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "journal", tmp_path / "image")
    written(tmp_path / "journal", 20)
    last = newest(tmp_path).parent.name
    fetch(rig, tmp_path / "rides")
    shutil.rmtree(tmp_path / "journal")
    (tmp_path / "image").rename(tmp_path / "journal")
    assert f"{last}/000001.mcap is missing" in refused(rig, tmp_path)
    written(tmp_path / "journal", 40)  # and rides on, with the same number for another boot
    assert f"{last}/000001.mcap is missing" in refused(rig, tmp_path)


@pytest.mark.parametrize("index", [0, -1])
def test_another_content_of_a_closed_segment_is_refused(
    rig: Rig, tmp_path: Path, index: int
) -> None:
    fetch(rig, tmp_path / "rides")
    path = sorted((tmp_path / "journal").glob("*/*.mcap"))[index]
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    assert f"{path.parent.name}/000001.mcap has another SHA-256" in refused(rig, tmp_path)


def test_a_changed_segment_is_told_also_where_the_index_does_not_know_its_digest_yet(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(rig, tmp_path / "rides")
    monkeypatch.setattr("firmware.link.shelf.HASHING_S", -1.0)
    path = newest(tmp_path)
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    assert f"{path.parent.name}/000001.mcap has another SHA-256" in refused(rig, tmp_path)


def test_a_closed_segment_that_is_cut_or_longer_is_refused(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    path = newest(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert f"{path.name} has " in refused(rig, tmp_path)
    path.write_bytes(content)
    assert fetch(rig, tmp_path / "rides").segments == 0


def test_a_growing_segment_that_begins_otherwise_is_refused(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 300)
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        fetch(rig, tmp_path / "rides")
        path = newest(tmp_path)
        unit_json = tmp_path / "rides" / "sled-7" / "unit.json"
        known = read_unit(unit_json)
        digest = known.segments[f"{path.parent.name}/000001.mcap"].sha256
        unit_json.write_text(unit_json.read_text().replace(digest, "ab" * 32))
        written(tmp_path / "journal", 10)
        assert "000001.mcap does not begin as it did" in refused(rig, tmp_path)


def test_a_changed_key_is_refused(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    before = read_unit(tmp_path / "rides" / "sled-7" / "unit.json").fingerprint
    shutil.rmtree(tmp_path / "journal")
    (tmp_path / "journal.key").unlink()
    written(tmp_path / "journal", 90)
    with Rig(tmp_path / "journal") as other:
        other.open()
        words = refused(other, tmp_path)
    after = seal.fingerprint(succession.check(tmp_path / "journal").public_key)
    assert f"unit sled-7 shows the key {after}: since 20" in words
    assert f"its key was {before}. Nothing was taken." in words


def test_a_journal_that_was_emptied_is_refused(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    shutil.rmtree(tmp_path / "journal")
    with Rig(tmp_path / "journal") as other:
        other.open()
        assert "shows the key none" in refused(other, tmp_path)


def test_a_unit_without_a_journal_is_no_fault(tmp_path: Path) -> None:
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        result = fetch(rig, tmp_path / "rides")
    assert (result.segments, result.here) == (0, 0)
