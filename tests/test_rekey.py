"""A new key: vouched for by the old one, whatever is cut."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from journal_samples import START, journal_in, put_all, ride, written
from typer.testing import CliRunner

from firmware.errors import JournalError
from firmware.journal import folder, ledger, reader
from firmware.journal.folder import LEDGER, Storage
from firmware.journal.keeper import Keeper
from firmware.journal.ledger import KeyLine
from firmware.journal.record import Note
from firmware.journal.rekey import replace_key, settle
from firmware.journal.seal import Key
from host_tools.cli import app


def _verdict(*words: object) -> str:
    done = CliRunner().invoke(app, ["verify", "--json", *map(str, words)])
    verdict: str = msgspec.json.decode(done.stdout)["verdict"]
    return verdict


def _boot(path: Path) -> None:
    keeper = Keeper(path, START.unit)
    journal = journal_in(path, keeper=keeper)
    journal.open()
    put_all(journal, ride(10))
    assert keeper.wait(60.0)
    assert journal.close(101.0, timeout_s=60.0)


def test_the_old_key_vouches_for_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    _boot(path)
    old, new = replace_key(path, START.unit)
    assert old.public != new.public == Key.load(tmp_path / "journal.key").public
    assert (tmp_path / "journal.key").stat().st_mode & 0o777 == 0o600
    *_, line = ledger.read(path / LEDGER).lines
    assert isinstance(line, KeyLine)
    assert (line.public_key, line.new_key) == (old.public, new.public)
    _boot(path)
    notes = [one for _, one in reader.read(path) if isinstance(one, Note)]
    assert ("key", {"was": old.fingerprint, "is": new.fingerprint}) in [
        (one.kind, one.detail) for one in notes
    ]
    for key in (old, new):
        (tmp_path / "public").write_text(key.public)
        assert _verdict(path, "--key", tmp_path / "public") == "whole"
    (tmp_path / "public").write_text(Key.make().public)
    assert _verdict(path, "--key", tmp_path / "public") == "tampered"


class _Cut(Exception):  # noqa: N818 - no error, the power goes
    """The power goes."""


class _CutAt(Storage):
    def __init__(self, step: str) -> None:
        self.step = step

    def create(self, path: Path) -> int:
        if self.step == "create":
            raise _Cut
        return super().create(path)

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        if self.step == "write":
            super().write(descriptor, content[: len(content) // 2], offset)
            raise _Cut
        super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        if self.step == "sync":
            raise _Cut


@pytest.mark.parametrize(("step", "is_new"), [("create", False), ("write", False), ("sync", True)])
def test_a_cut_leaves_the_old_key_or_the_new_one_that_the_ledger_names(
    tmp_path: Path, step: str, is_new: bool
) -> None:
    path = tmp_path / "journal"
    written(path, 10)
    old = Key.load(tmp_path / "journal.key")
    with pytest.raises(_Cut):
        replace_key(path, START.unit, _CutAt(step))
    settle(path, tmp_path / "journal.key")
    assert (Key.load(tmp_path / "journal.key").public != old.public) is is_new
    assert not (tmp_path / "journal.key.next").exists()
    _boot(path)
    assert _verdict(path) == "whole"


def test_a_start_ends_what_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 10)
    with pytest.raises(_Cut):
        replace_key(path, START.unit, _CutAt("sync"))
    _boot(path)
    assert not (tmp_path / "journal.key.next").exists()
    assert _verdict(path) == "whole"


def test_the_key_of_a_unit_that_writes_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = journal_in(path)
    journal.open()
    put_all(journal, ride(10))
    with pytest.raises(JournalError, match="is in use by process"):
        replace_key(path, START.unit)
    assert journal.close(101.0, timeout_s=60.0)
    assert len(folder.segments(path)) == 1
