"""`sledwarden download` of a unit that stores what is closed, and of its ledger."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from download_rig import fetch, tree
from journal_samples import START, journal_in, put_all, ride, torn, written
from port_rig import Rig
from typer.testing import CliRunner

from firmware.journal import folder
from firmware.journal.folder import LEDGER
from firmware.journal.keeper import Keeper
from firmware.journal.rekey import replace_key
from firmware.journal.seal import Key
from host_tools.cli import app
from host_tools.journals.archive import ArchiveError, read_unit


def _keep(path: Path, forget: int = 0) -> None:
    keeper = Keeper(path, START.unit)
    keeper.begin(Key.load(path.with_name("journal.key")))
    keeper.forget(forget, None, "dash", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)


def _verdict(path: Path) -> str:
    done = CliRunner().invoke(app, ["verify", "--json", str(path)])
    verdict: str = msgspec.json.decode(done.stdout)["verdict"]
    return verdict


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    for count in (60, 10):
        written(tmp_path / "journal", count)
    with Rig(tmp_path / "journal") as made:
        made.open()
        yield made


def test_what_is_stored_comes_as_it_is_stored_with_the_ledger(rig: Rig, tmp_path: Path) -> None:
    _keep(tmp_path / "journal")
    result = fetch(rig, tmp_path / "rides")
    assert tree(result.folder) == tree(tmp_path / "journal")
    assert (result.folder / LEDGER).read_bytes() == (tmp_path / "journal" / LEDGER).read_bytes()
    assert _verdict(result.folder) == "whole"
    again = fetch(rig, tmp_path / "rides")
    assert (again.segments, again.here, again.bytes) == (0, 2, 0)


def test_a_closed_segment_that_is_stored_since_is_not_fetched_again(
    rig: Rig, tmp_path: Path
) -> None:
    fetch(rig, tmp_path / "rides")
    had = tree(tmp_path / "rides" / "sled-7")
    _keep(tmp_path / "journal")
    again = fetch(rig, tmp_path / "rides")
    assert (again.segments, again.here) == (0, 2)
    assert tree(again.folder) == had
    assert _verdict(again.folder) == "whole"


def test_a_growing_segment_that_is_stored_since_takes_the_place_of_its_beginning(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    torn(path, 60)
    with Rig(path) as rig:
        rig.open()
        first = fetch(rig, tmp_path / "rides")
        assert len(first.growing) == 1
        journal = journal_in(path)  # its start finishes what is torn
        journal.open()
        put_all(journal, ride(10))
        assert journal.close(101.0, timeout_s=60.0)
        _keep(path)
        again = fetch(rig, tmp_path / "rides")
    assert (again.segments, again.growing) == (2, [])
    assert tree(again.folder) == tree(path)
    assert _verdict(again.folder) == "power-cut"
    known = read_unit(again.folder / "unit.json")
    assert all(name.endswith(".mcap.zst") for name in known.segments)


def test_a_stored_segment_that_begins_otherwise_is_a_roll_back(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    torn(path, 60)
    with Rig(path) as rig:
        rig.open()
        fetch(rig, tmp_path / "rides")
        boot = folder.boots(path)[0].name
        shutil.rmtree(path)
        written(path, 60)
        folder.boots(path)[0].rename(path / boot)
        _keep(path)
        with pytest.raises(ArchiveError, match="does not begin as it did"):
            fetch(rig, tmp_path / "rides")
    assert [one.name for one in (tmp_path / "rides" / "sled-7" / boot).iterdir()] == ["000001.mcap"]


def test_what_was_damaged_comes_beside_its_segment(rig: Rig, tmp_path: Path) -> None:
    boot = folder.boots(tmp_path / "journal")[0]
    (boot / "000001.torn").write_bytes(b"damaged" * 9000)
    result = fetch(rig, tmp_path / "rides")
    assert (result.segments, result.torn) == (2, 1)
    assert (result.folder / boot.name / "000001.torn").read_bytes() == b"damaged" * 9000
    assert _verdict(result.folder) == "whole"
    again = fetch(rig, tmp_path / "rides")
    assert (again.segments, again.torn, again.bytes) == (0, 0, 0)
    (boot / "000001.torn").unlink()
    assert fetch(rig, tmp_path / "rides").torn == 0


def test_what_its_owner_deleted_stays_in_the_archive(rig: Rig, tmp_path: Path) -> None:
    _keep(tmp_path / "journal")
    fetch(rig, tmp_path / "rides")
    _keep(tmp_path / "journal", forget=1)
    assert len(folder.segments(tmp_path / "journal")) == 1
    again = fetch(rig, tmp_path / "rides")
    assert len(folder.segments(again.folder)) == 2
    assert _verdict(again.folder) == "whole"


def test_a_segment_that_went_without_a_tombstone_is_a_roll_back(rig: Rig, tmp_path: Path) -> None:
    _keep(tmp_path / "journal")
    fetch(rig, tmp_path / "rides")
    shutil.rmtree(folder.boots(tmp_path / "journal")[0])
    with pytest.raises(ArchiveError, match=r"/000001\.mcap\.zst is missing"):
        fetch(rig, tmp_path / "rides")


def test_a_ledger_that_is_less_or_other_than_it_was_is_a_roll_back(
    rig: Rig, tmp_path: Path
) -> None:
    path = tmp_path / "journal" / LEDGER
    _keep(tmp_path / "journal")
    fetch(rig, tmp_path / "rides")
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"\n") + 1])
    with pytest.raises(ArchiveError, match=r"its ledger has \d+ bytes, and had \d+"):
        fetch(rig, tmp_path / "rides")
    path.write_bytes(content.replace(b'"records"', b'"recorde"', 1))
    with pytest.raises(ArchiveError, match="its ledger does not begin as it did"):
        fetch(rig, tmp_path / "rides")
    path.write_bytes(content)
    assert fetch(rig, tmp_path / "rides").segments == 0


def _first_download(path: Path, into: Path) -> None:
    written(path, 60)
    _keep(path)
    with Rig(path) as rig:
        rig.open()
        fetch(rig, into)


def test_a_key_that_the_old_one_vouches_for_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    _first_download(path, tmp_path / "rides")
    old, _ = replace_key(path, START.unit)
    written(path, 10)
    with Rig(path) as rig:
        rig.open()
        again = fetch(rig, tmp_path / "rides")
    assert again.segments == 1
    assert read_unit(again.folder / "unit.json").public_key == old.public
    assert _verdict(again.folder) == "whole"


def test_a_key_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    _first_download(path, tmp_path / "rides")
    (tmp_path / "journal.key").unlink()
    written(path, 10)
    with Rig(path) as rig:
        rig.open()
        with pytest.raises(ArchiveError, match=r"shows the key .* Nothing was taken\."):
            fetch(rig, tmp_path / "rides")
