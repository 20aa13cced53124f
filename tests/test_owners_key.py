"""A journal that is encrypted to its owner: all the desk's tools read it with the owner's key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyrage
import pytest
import rides
from typer.testing import CliRunner, Result

from firmware.journal import folder, stored
from firmware.journal.stored import Owner
from host_tools.cli import app

RUNNER = CliRunner()


@dataclass(frozen=True)
class Locked:
    """A night's journal as it was sealed, the same encrypted and without its ledger, and the file
    with the secret key."""

    plain: Path
    journal: Path
    identity: Path


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Locked:
    home = tmp_path_factory.mktemp("locked")
    plain = rides.journal_of(rides.NIGHT, home / "plain")
    secret = pyrage.x25519.Identity.generate()
    (home / "owner.txt").write_text(f"{secret.to_public()}\n")
    (home / "identity.txt").write_text(f"{secret}\n")
    owner = Owner.load(home / "owner.txt")
    for place in folder.segments(plain):
        locked = home / "journal" / place.path.parent.name / f"{place.path.name}.zst.age"
        locked.parent.mkdir(parents=True)
        locked.write_bytes(owner.locked(stored.packed(place.path.read_bytes())))
    return Locked(plain, home / "journal", home / "identity.txt")


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """The secret key of somebody else."""
    (tmp_path / "stranger.txt").write_text(f"{pyrage.x25519.Identity.generate()}\n")
    return tmp_path / "stranger.txt"


def _run(*words: object) -> Result:
    return RUNNER.invoke(app, list(map(str, words)))


def test_an_export_with_the_owners_key_is_that_of_the_open_journal(
    night: Locked, tmp_path: Path
) -> None:
    opened, plain = tmp_path / "opened.csv", tmp_path / "plain.csv"
    done = _run("export", night.journal, "--to=csv", "-o", opened, "--identity", night.identity)
    again = _run("export", night.plain, "--to=csv", "-o", plain)
    assert done.exit_code == 0
    assert done.stderr.endswith(again.stderr)
    assert "encrypted" not in done.stderr
    assert opened.read_bytes() == plain.read_bytes()


def test_a_report_with_the_owners_key_tells_the_ride(night: Locked, tmp_path: Path) -> None:
    out = tmp_path / "ride.html"
    done = _run("report", night.journal, "-o", out, "--identity", night.identity)
    again = _run("report", night.plain, "-o", tmp_path / "plain.html")
    assert done.exit_code == 0
    assert done.stderr.endswith(again.stderr)
    assert "encrypted" not in done.stderr
    assert done.stdout.partition(": ")[2] == again.stdout.partition(": ")[2]


def test_a_replay_with_the_owners_key_is_held_against_the_journal(night: Locked) -> None:
    done = _run("replay", night.journal, "--findings", "--json", "--identity", night.identity)
    plain = _run("replay", night.plain, "--findings", "--json")
    assert done.exit_code == 0
    assert "replays record for record: " in done.stderr
    assert done.stdout == plain.stdout


def test_a_proof_with_the_owners_key_tells_when_each_segment_was(night: Locked) -> None:
    shown = [
        msgspec.json.decode(_run("verify", "--json", *words).stdout)["segments"][0]
        for words in ((night.journal, "--identity", night.identity), (night.plain,))
    ]
    assert shown[0]["records"] == shown[1]["records"] > 0
    assert [shown[0][word] for word in ("from", "to")] == [
        shown[1][word] for word in ("from", "to")
    ]


@pytest.mark.parametrize("words", [("report",), ("export", "--to=gpx"), ("export", "--to=csv")])
def test_without_a_key_nothing_is_written_and_the_option_is_named(
    night: Locked, tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = tmp_path / "ride"
    done = _run(*words, night.journal, "-o", out)
    assert done.exit_code == 1
    assert "--identity FILE" in done.stderr
    assert not out.exists()


def test_a_replay_without_a_key_names_the_option(night: Locked) -> None:
    done = _run("replay", night.journal)
    assert done.exit_code == 1
    assert "is encrypted to its owner. Give the owner's secret key: --identity FILE" in done.stderr


@pytest.mark.parametrize("words", [("report",), ("export", "--to=csv"), ("replay",), ("verify",)])
def test_a_strangers_key_opens_nothing(
    night: Locked, stranger: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = () if words[0] in ("replay", "verify") else ("-o", tmp_path / "ride")
    done = _run(*words, night.journal, *out, "--identity", stranger)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "can't be decrypted with" in done.stderr + done.stdout
    assert not (tmp_path / "ride").exists()


def test_a_key_that_is_none_is_refused(night: Locked, tmp_path: Path) -> None:
    (tmp_path / "owner.txt").write_text("age1\n")
    done = _run("report", night.journal, "-o", tmp_path / "r", "--identity", tmp_path / "owner.txt")
    assert done.exit_code == 1
    assert "is no identity: must hold AGE-SECRET-KEY-1" in done.stderr
