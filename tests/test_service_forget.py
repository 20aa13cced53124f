"""`sledwarden service key` and `forget`: the key on the glass, and the owner's deletion."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from download_rig import fetch
from journal_samples import START, torn, written
from port_rig import Rig
from typer.testing import CliRunner, Result

from firmware.errors import UsageError
from firmware.journal import folder, ledger
from firmware.journal.folder import LEDGER
from firmware.journal.keeper import Keeper
from firmware.journal.seal import Key, fingerprint
from host_tools.cli import app
from host_tools.port.forgetting import Named

RUNNER = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    for count in (60, 10):
        written(tmp_path / "journal", count)
    with Rig(tmp_path / "journal") as made:
        made.open()
        yield made


def run(rig: Rig, *words: str | Path, answer: str | None = None) -> Result:
    asked = ["service", *map(str, words), "--port", rig.port.port]
    return RUNNER.invoke(app, asked, input=answer)


@pytest.fixture
def obeying(rig: Rig, tmp_path: Path) -> Iterator[None]:
    """The unit does what it is asked: its keeper deletes."""
    keeper = Keeper(tmp_path / "journal", START.unit)
    keeper.begin(Key.load(tmp_path / "journal.key"))
    ended = threading.Event()

    def obey() -> None:
        done = 0
        while not ended.wait(0.01):
            asked = [place for action, place in rig.rider.asked if action == "forget"]
            for place in asked[done:]:
                boot, _, number = place.partition("/")
                keeper.forget(int(boot), int(number) if number else None, "link", 0)
            done = len(asked)

    thread = threading.Thread(target=obey)
    thread.start()
    yield
    ended.set()
    thread.join()
    assert keeper.stop(60.0)


def boots(tmp_path: Path) -> list[int]:
    return [place.boot for place in folder.segments(tmp_path / "journal")]


@pytest.mark.usefixtures("obeying")
def test_what_was_downloaded_is_deleted_and_leaves_its_tombstone(rig: Rig, tmp_path: Path) -> None:
    fetch(rig, tmp_path / "rides")
    (folder.boots(tmp_path / "journal")[0] / "000001.torn").write_bytes(b"damaged")
    done = run(rig, "forget", "1", "--archive", tmp_path / "rides", answer="y\n")
    assert done.exit_code == 0, done.output
    assert "Delete 1 segment of sled-7 (" in done.stderr
    assert done.stdout.endswith("deleted. Its ledger keeps that they were there.\n")
    assert boots(tmp_path) == [2]
    assert len(folder.boots(tmp_path / "journal")) == 1
    told = ledger.read(tmp_path / "journal" / LEDGER)
    assert [(one.why, one.by) for one in told.tombstones().values()] == [("owner", "link")]
    assert any("a deletion of 1 was asked for" in note for note in rig.rider.notes)


@pytest.mark.usefixtures("obeying")
def test_what_no_archive_has_is_deleted_only_even_so(rig: Rig, tmp_path: Path) -> None:
    done = run(rig, "forget", "2/1", "--archive", tmp_path / "rides", "--yes")
    assert done.exit_code == 1
    assert "/000001.mcap" in done.stderr
    assert "of sled-7: nothing was deleted. Download it first" in done.stderr
    assert boots(tmp_path) == [1, 2]
    done = run(rig, "forget", "2/1", "--archive", tmp_path / "rides", "--yes", "--even-so")
    assert done.exit_code == 0, done.output
    assert boots(tmp_path) == [1]


def test_a_copy_that_is_gone_from_the_archive_is_none(rig: Rig, tmp_path: Path) -> None:
    result = fetch(rig, tmp_path / "rides")
    folder.segments(result.folder)[0].path.unlink()
    done = run(rig, "forget", "1", "--archive", tmp_path / "rides", "--yes")
    assert done.exit_code == 1
    assert "nothing was deleted" in done.stderr


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_nothing_is_deleted_without_a_yes(rig: Rig, tmp_path: Path, answer: str) -> None:
    fetch(rig, tmp_path / "rides")
    done = run(rig, "forget", "1", "--archive", tmp_path / "rides", answer=answer)
    assert done.exit_code == 1
    assert "forget" not in [action for action, _ in rig.rider.asked]


def test_a_boot_that_is_not_there_is_said(rig: Rig) -> None:
    done = run(rig, "forget", "17", "--yes")
    assert done.exit_code == 1
    assert "its journal has no 17." in done.stderr


def test_what_is_still_written_stays(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 60)
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        done = run(rig, "forget", "1", "--yes", "--even-so")
        assert done.exit_code == 1
        assert "is still being written, and stays." in done.stderr
        assert "forget" not in [action for action, _ in rig.rider.asked]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("17", Named(17, None)),
        ("17/2", Named(17, 2)),
        ("000017-5f0c2a91", Named(17, None)),
        ("000017-5f0c2a91/000002.mcap.zst", Named(17, 2)),
    ],
)
def test_a_place_may_be_named_as_the_folder_names_it(text: str, named: Named) -> None:
    assert Named.of(text) == named


@pytest.mark.parametrize("text", ["", "0", "all", "17/", "17/0", "../17", "17/2/3", "-1"])
def test_what_is_no_place_is_wrong_use(text: str) -> None:
    with pytest.raises(UsageError, match="a boot like 17, or a segment like 17/2, was expected"):
        Named.of(text)


def test_the_key_is_told_and_shown_on_the_glass(rig: Rig, tmp_path: Path) -> None:
    public = Key.load(tmp_path / "journal.key").public
    done = run(rig, "key", "--json")
    assert json.loads(done.stdout) == {
        "unit": "sled-7",
        "key": public,
        "fingerprint": fingerprint(public),
    }
    rig.wait(lambda: ("key", "") in rig.rider.asked)
    told = run(rig, "key").stdout
    assert told.startswith(f"sled-7: key {public}, fingerprint {fingerprint(public)}.\n")
