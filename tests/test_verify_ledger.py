"""`sledwarden verify` with the ledger at hand: what is gone, replaced or too old shows."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pyrage
import pytest
from journal_samples import START, journal_in, put_all, ride, written
from typer.testing import CliRunner

from firmware.journal import folder, ledger, segment, stored
from firmware.journal.folder import LEDGER, Storage
from firmware.journal.keeper import Keeper
from firmware.journal.ledger import KeyLine
from firmware.journal.seal import Key
from host_tools.cli import app
from host_tools.journals.archive import UNIT_JSON, Seen, UnitFile

RUNNER = CliRunner()


def _told(*words: object) -> dict[str, Any]:
    done = RUNNER.invoke(app, ["verify", "--json", *map(str, words)])
    told: dict[str, Any] = msgspec.json.decode(done.stdout)
    assert done.exit_code == (0 if told["verdict"] in ("whole", "power-cut") else 1)
    return told


def _reasons(told: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["segment"].partition("/")[0][:6], one["what"]) for one in told["reasons"]]


def _keep(path: Path, owner: Path | None = None, forget: int = 0) -> None:
    keeper = Keeper(path, START.unit, owner_path=owner)
    keeper.begin(Key.load(path.with_name("journal.key")))
    keeper.forget(forget, None, "dash", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    assert keeper.trouble == ""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Three boots, all stored and told of."""
    path = tmp_path / "journal"
    for _ in range(3):
        written(path, 30)
    _keep(path)
    return path


def _file(journal: Path, boot: int) -> Path:
    return folder.segments(folder.boots(journal)[boot - 1])[0].path


def test_a_stored_journal_is_whole(journal: Path) -> None:
    told = _told(journal)
    assert (told["verdict"], told["reasons"]) == ("whole", [])
    assert [one["records"] for one in told["segments"]] == [32, 32, 32]


def test_the_newest_segment_that_is_gone_is_missed(journal: Path) -> None:
    shutil.rmtree(folder.boots(journal)[2])
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    assert _reasons(told) == [("000003", "is not here, and line 3 of the ledger tells of it")]


def test_the_oldest_segment_that_is_gone_is_missed(journal: Path) -> None:
    shutil.rmtree(folder.boots(journal)[0])
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    assert _reasons(told) == [
        ("000002", "the segments before it are missing"),
        ("000001", "is not here, and line 1 of the ledger tells of it"),
    ]


def test_the_oldest_that_is_gone_is_missed_without_a_ledger_too(journal: Path) -> None:
    shutil.rmtree(folder.boots(journal)[0])
    (journal / LEDGER).unlink()
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    assert _reasons(told)[0] == ("000002", "the segments before it are missing")


def test_a_stored_journal_whose_ledger_is_gone_is_incomplete(journal: Path) -> None:
    (journal / LEDGER).unlink()
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    what = "is stored, and the ledger that must tell of it is not here"
    assert _reasons(told) == [(f"{boot:06d}", what) for boot in (1, 2, 3)]


def test_a_ledger_that_is_shorter_than_it_was_downloaded_is_rolled_back(journal: Path) -> None:
    """Also where what is gone has the look of a power cut."""
    content = (journal / LEDGER).read_bytes()
    seen = Seen(len(content), hashlib.sha256(content).hexdigest())
    known = UnitFile(START.unit, ledger=seen)
    (journal / UNIT_JSON).write_bytes(msgspec.json.encode(known))
    assert _told(journal)["verdict"] == "whole"
    (journal / LEDGER).write_bytes(content[:-1])  # as if torn by a power cut
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    what = f"has {len(content) - 1} bytes, and had {len(content)} when it was downloaded"
    assert ("ledger", what) in _reasons(told)
    (journal / LEDGER).write_bytes(content.replace(b'"events":', b'"event5":', 1))
    told = _told(journal)
    assert told["verdict"] == "tampered"
    assert ("ledger", "does not begin as it did when it was downloaded") in _reasons(told)


def test_two_forms_of_a_segment_that_differ_are_told(journal: Path) -> None:
    path = _file(journal, 2)
    raw = stored.read(path)
    path.with_name("000001.mcap").write_bytes(raw)
    assert _told(journal)["verdict"] == "whole"  # as a power cut leaves it
    path.write_bytes(stored.packed(raw[:-1]))
    told = _told(journal)
    assert told["verdict"] == "tampered"
    what = "000001.mcap.zst beside it is not the file that the ledger tells of in line 2"
    assert _reasons(told) == [("000002", what)]
    (journal / LEDGER).write_bytes((journal / LEDGER).read_bytes().partition(b"\n")[0] + b"\n")
    told = _told(journal)
    assert ("000002", "000001.mcap.zst beside it holds other bytes") in _reasons(told)


def test_a_boots_folder_has_the_name_that_was_sealed(journal: Path) -> None:
    boot = folder.boots(journal)[1]
    true = boot.name
    boot.rename(boot.with_name("000002-00000000"))
    told = _told(journal)
    assert told["verdict"] == "tampered"
    assert _reasons(told) == [("000002", f"was sealed in boot {true}")]


def test_what_its_owner_deleted_is_not_missed(journal: Path) -> None:
    _keep(journal, forget=2)
    assert [place.boot for place in folder.segments(journal)] == [1, 3]
    told = _told(journal)
    assert (told["verdict"], told["reasons"]) == ("whole", [])
    done = RUNNER.invoke(app, ["verify", str(journal)])
    assert "The ledger has 4 lines, and tells of 1 deleted segment." in done.stdout


def test_a_segment_cut_after_a_seal_and_stored_again_is_told(journal: Path) -> None:
    """The attack that no single file shows: without the ledger it reads as a power cut."""
    path = _file(journal, 3)
    raw = stored.read(path)
    cut = segment.scan(raw).seals[1].end
    path.write_bytes(stored.packed(raw[:cut]))
    assert _told(path)["verdict"] == "tampered"  # its ledger is beside it
    lone = journal.parent / "000001.mcap.zst"
    shutil.copy(path, lone)
    assert _told(lone)["verdict"] == "power-cut"
    told = _told(journal)
    assert told["verdict"] == "tampered"
    assert ("000003", "is not the file that the ledger tells of in line 3") in _reasons(told)


def test_every_bit_of_a_stored_segment_counts(journal: Path) -> None:
    path = _file(journal, 2)
    octets = path.read_bytes()
    for at in range(0, len(octets), 97):
        changed = bytearray(octets)
        changed[at] ^= 1 << at % 8
        path.write_bytes(bytes(changed))
        told = _told(journal)
        assert told["verdict"] == "tampered"
        assert ("000002", "is not the file that the ledger tells of in line 2") in _reasons(told)


def test_the_sealed_form_put_back_is_as_good_as_the_stored_one(journal: Path) -> None:
    path = _file(journal, 2)
    path.with_name("000001.mcap").write_bytes(stored.read(path))
    path.unlink()
    assert _told(journal)["verdict"] == "whole"


def test_a_ledger_that_is_older_than_the_folder_is_told(journal: Path) -> None:
    path = journal / LEDGER
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    assert _reasons(told) == [
        (
            "000003",
            "is stored, and no line of the ledger tells of it: the ledger was cut or rolled back",
        )
    ]


def test_a_changed_line_is_told(journal: Path) -> None:
    path = journal / LEDGER
    path.write_bytes(path.read_bytes().replace(b'"records":32', b'"records":33', 1))
    told = _told(journal)
    assert told["verdict"] == "tampered"
    assert (LEDGER, "a line's signature is false") in [
        (one["segment"], one["what"]) for one in told["reasons"]
    ]


def test_a_boot_that_is_gone_before_it_was_stored_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    keeper = Keeper(path, START.unit)
    journal = journal_in(path, keeper=keeper)
    journal.open()
    put_all(journal, ride(30))
    assert keeper.wait(60.0)
    assert journal.close(103.0, timeout_s=60.0)
    assert _told(path)["verdict"] == "whole"
    written(path, 30)
    shutil.rmtree(folder.boots(path)[0])
    told = _told(path)
    assert told["verdict"] == "incomplete"
    assert ("000001", "is not here, and line 1 of the ledger tells of its boot") in _reasons(told)


def test_an_encrypted_journal_verifies_with_and_without_the_owners_key(tmp_path: Path) -> None:
    path, secret = tmp_path / "journal", pyrage.x25519.Identity.generate()
    (tmp_path / "owner").write_text(f"{secret.to_public()}\n")
    (tmp_path / "identity").write_text(f"{secret}\n")
    for _ in range(2):
        written(path, 30)
    _keep(path, owner=tmp_path / "owner")
    for words in ((), ("--identity", tmp_path / "identity")):
        told = _told(path, *words)
        assert (told["verdict"], told["reasons"]) == ("whole", [])
        assert [one["records"] for one in told["segments"]] == [32, 32]
    locked = _file(path, 2)
    changed = bytearray(locked.read_bytes())
    changed[-1] ^= 1
    locked.write_bytes(bytes(changed))
    assert _told(path)["verdict"] == "tampered"
    (path / LEDGER).unlink()
    assert _told(path)["verdict"] == "unreadable"


def test_a_replaced_key_is_vouched_for_by_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path, 30)
    old = Key.load(tmp_path / "journal.key")
    _keep(path)
    (tmp_path / "journal.key").unlink()
    new = Key.load(tmp_path / "journal.key")
    writer = ledger.Writer(path / LEDGER, START.unit, Storage())
    writer.open()
    writer.add(KeyLine(unit=START.unit, new_key=new.public), old)
    writer.close()
    written(path, 30)
    _keep(path)
    shown = RUNNER.invoke(app, ["verify", str(path)])
    assert shown.exit_code == 0
    assert (
        f"Key {old.fingerprint}, the journal's own: 2 keys made it, each vouched for by the one "
        "before, but nothing here says whose."
    ) in shown.stdout
    assert (
        f"The unit's key was replaced: {old.fingerprint}, then {new.fingerprint}." in shown.stdout
    )
    assert _told(path)["key"]["all"] == [old.fingerprint, new.fingerprint]
    for key in (old, new):
        (tmp_path / "public").write_text(key.public)
        assert _told(path, "--key", tmp_path / "public")["verdict"] == "whole"
    (path / LEDGER).unlink()
    (tmp_path / "public").write_text(old.public)
    assert _told(path, "--key", tmp_path / "public")["verdict"] == "tampered"
