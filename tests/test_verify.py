"""`sledwarden verify`: the verdict, the key that was trusted, and what was done to the journal."""

from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journal_samples import torn, written
from typer.testing import CliRunner, Result

from firmware.journal.seal import Key, fingerprint
from host_tools.cli import app

RUNNER = CliRunner()


def _run(*words: object) -> Result:
    return RUNNER.invoke(app, ["verify", *map(str, words)])


def _told(*words: object) -> dict[str, Any]:
    done = _run("--json", *words)
    told: dict[str, Any] = msgspec.json.decode(done.stdout)
    assert done.exit_code == (0 if told["verdict"] in ("whole", "power-cut") else 1)
    return told


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.mcap"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Two boots of one unit."""
    folder = tmp_path / "journal"
    written(folder, 30)
    written(folder, 30)
    return folder


def test_a_journal_as_it_was_sealed_is_whole(journal: Path) -> None:
    told = _told(journal)
    assert list(told) == ["verdict", "unit", "key", "segments", "reasons"]
    assert (told["verdict"], told["unit"], told["reasons"]) == ("whole", "sled-7", [])
    key = Key.load(journal.with_name("journal.key"))
    assert told["key"] == {"fingerprint": key.fingerprint, "trusted": "journal"}
    first = told["segments"][0]
    assert first["name"].endswith("/000001.mcap")
    assert (first["verdict"], first["records"]) == ("whole", 32)  # the ride, start and close
    assert (first["from"], first["to"]) == ("2026-01-17T22:00:00.000Z", "2026-01-17T22:00:03.000Z")


def test_a_power_cut_is_told_and_good(tmp_path: Path) -> None:
    torn(tmp_path / "journal", 30)
    told = _told(tmp_path / "journal")
    assert told["verdict"] == "power-cut"
    assert told["reasons"][0]["what"].startswith("ends without an ending, after seal ")


def test_a_changed_byte_is_tampering_and_its_place_is_told(journal: Path) -> None:
    path = _segments(journal)[0]
    content = bytearray(path.read_bytes())
    at = content.rindex(b'"speed_mps":20.1')
    content[at + 12 : at + 16] = b"15.1"
    path.write_bytes(content)
    told = _told(journal)
    assert told["verdict"] == "tampered"
    assert told["segments"][0]["verdict"] == "tampered"
    (reason, *_) = told["reasons"]
    assert reason["segment"].endswith("/000001.mcap")
    assert 0 < reason["offset"] <= at


def test_a_missing_boot_between_two_is_incomplete(journal: Path) -> None:
    written(journal, 30)
    shutil.rmtree(_segments(journal)[1].parent)
    told = _told(journal)
    assert told["verdict"] == "incomplete"
    assert [one["what"] for one in told["reasons"]] == ["a segment before it is missing"]


def test_segments_named_one_by_one_are_chained(journal: Path) -> None:
    written(journal, 30)
    first, _, third = _segments(journal)
    assert _told(third, first)["verdict"] == "incomplete"
    assert _told(*_segments(journal))["verdict"] == "whole"


def test_copies_elsewhere_are_put_in_order_by_their_seals(journal: Path, tmp_path: Path) -> None:
    written(journal, 30)
    copies = tmp_path / "copies"
    copies.mkdir()
    for name, path in zip("cab", _segments(journal), strict=True):
        shutil.copy(path, copies / f"{name}.mcap")
    assert _told(copies)["verdict"] == "whole"
    (copies / "a.mcap").unlink()
    assert _told(copies)["verdict"] == "incomplete"


def test_another_unit_in_the_folder_is_told(journal: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    written(other, 20)
    written(other, 20)
    written(other, 20)
    shutil.copytree(_segments(other)[2].parent, journal / _segments(other)[2].parent.name)
    told = _told(journal)
    assert told["verdict"] == "tampered"
    print_ = Key.load(other.with_name("other.key")).fingerprint
    assert told["reasons"][-1]["what"] == f"was sealed with another key, {print_}"


def test_two_journals_have_an_object_each(journal: Path, tmp_path: Path) -> None:
    torn(tmp_path / "other", 20)
    done = _run(journal, tmp_path / "other", "--json")
    told = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert [one["verdict"] for one in told] == ["whole", "power-cut"]
    assert done.exit_code == 0


def _pem(public: str) -> str:
    octets = bytes.fromhex("302a300506032b6570032100") + bytes.fromhex(public)
    text = base64.b64encode(octets).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n"


@pytest.mark.parametrize("form", ["hex", "pem", "unit.json", "private"])
def test_a_given_key_is_taken_in_every_form(journal: Path, tmp_path: Path, form: str) -> None:
    private = journal.with_name("journal.key")
    public = Key.load(private).public
    file = tmp_path / "key"
    texts = {
        "hex": public.upper(),
        "pem": _pem(public),
        "unit.json": f'{{"unit":"sled-7","public_key":"{public}"}}',
        "private": private.read_text(),
    }
    file.write_text(texts[form])
    told = _told(journal, "--key", file)
    assert told["verdict"] == "whole"
    assert told["key"] == {"fingerprint": fingerprint(public), "trusted": "given"}
    said = _run(journal, "--key", file).stdout
    assert ("private key: keep it to yourself." in said) is (form == "private")


def test_another_units_key_shows_that_the_journal_is_not_its(journal: Path, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(Key.make().public)
    told = _told(journal, "--key", file)
    assert told["verdict"] == "tampered"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("no key", "is no key"),
        ("ab" * 31, "is no key"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "is no key"),
        ('{"unit":"sled-7"}', "is no key"),
    ],
)
def test_what_is_no_key_is_refused(journal: Path, tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "key"
    file.write_text(text)
    done = _run(journal, "--key", file)
    assert done.exit_code == 1
    assert done.stderr == (
        f"{file}: {what}: must be an Ed25519 public key: 64 hex digits, PEM, or an archive's "
        "unit.json.\n"
    )


def _archive(journal: Path, folder: Path, public: str) -> Path:
    unit = folder / "sled-7"
    shutil.copytree(journal, unit, ignore=shutil.ignore_patterns("lock", "boots"))
    seen = {
        f"{path.parent.name}/{path.name}": {
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in _segments(unit)
    }
    known = {"unit": "sled-7", "public_key": public, "segments": seen, "format": 1}
    (unit / "unit.json").write_bytes(msgspec.json.encode(known))
    return unit


def test_an_archive_trusts_the_key_first_seen(journal: Path, tmp_path: Path) -> None:
    public = Key.load(journal.with_name("journal.key")).public
    _archive(journal, tmp_path / "archive", public)
    told = _told(tmp_path / "archive")
    assert (told["verdict"], told["key"]["trusted"]) == ("whole", "archive")
    said = _run(tmp_path / "archive").stdout
    assert "the one first seen for this unit in the archive." in said


def test_a_journal_made_again_with_another_key_is_told_by_the_archive(
    journal: Path, tmp_path: Path
) -> None:
    _archive(journal, tmp_path / "archive", Key.make().public)
    told = _told(tmp_path / "archive")
    assert told["verdict"] == "tampered"
    assert told["reasons"][0]["what"].startswith("was sealed with another key, ")


def test_an_archive_misses_what_it_had(journal: Path, tmp_path: Path) -> None:
    unit = _archive(journal, tmp_path / "archive", "")
    gone = _segments(unit)[-1]
    shutil.rmtree(gone.parent)
    told = _told(tmp_path / "archive")
    assert told["verdict"] == "incomplete"
    assert told["reasons"] == [
        {
            "segment": f"{gone.parent.name}/{gone.name}",
            "offset": 0,
            "what": "was downloaded before, and is not here",
        }
    ]
    assert _told(_segments(unit)[0].parent)["verdict"] == "whole"  # a boot alone was asked for


def test_a_segment_cut_after_a_seal_is_told_by_the_archive(journal: Path, tmp_path: Path) -> None:
    unit = _archive(journal, tmp_path / "archive", "")
    last = _segments(unit)[-1]
    content = last.read_bytes()
    last.write_bytes(content[: content.rindex(b'"kind":"close"') - 100])
    told = _told(tmp_path / "archive")
    assert told["verdict"] == "tampered"
    assert told["reasons"][-1]["what"] == "is not what was downloaded"


def test_a_newer_format_is_not_called_tampering(journal: Path) -> None:
    for path in _segments(journal):
        content = path.read_bytes().replace(b'{"format":1,"kind"', b'{"format":2,"kind"')
        path.write_bytes(content)
    told = _told(journal)
    assert told["verdict"] == "unreadable"
    assert told["reasons"][0]["what"] == (
        "is of journal format 2: this sledwarden reads format 1; update it"
    )


def test_one_seal_that_claims_a_newer_format_is_tampering(journal: Path) -> None:
    path = _segments(journal)[0]
    content = path.read_bytes().replace(b'{"format":1,"kind"', b'{"format":2,"kind"', 1)
    path.write_bytes(content)
    assert _told(journal)["verdict"] == "tampered"


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"no journal at all" * 99])
def test_what_is_no_journal_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(content)
    told = _told(path)
    assert told["verdict"] == "unreadable"
    assert "unit" not in told
    assert "key" not in told


def test_a_path_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    wanted = (
        "must be a .mcap or .mcap.zst segment, a boot's folder, a journal's folder or an archive."
    )
    done = _run(tmp_path / "nowhere")
    assert (done.exit_code, done.stderr) == (1, f"{tmp_path}/nowhere: is not there: {wanted}\n")
    done = _run(tmp_path)
    assert (done.exit_code, done.stderr) == (1, f"{tmp_path}: holds no journal segment: {wanted}\n")


def test_its_table_fits_a_terminal(journal: Path) -> None:
    lines = _run(journal).stdout.splitlines()
    assert lines[1].split() == ["segment", "verdict", "records", "from,", "UTC", "to"]
    assert lines[2].split()[1:] == ["whole", "32", "2026-01-17", "22:00", "22:00"]
    assert max(len(line.rstrip()) for line in lines[1:4]) <= 80


def test_it_says_what_the_verdict_means_and_whose_key(journal: Path) -> None:
    done = _run(journal)
    assert done.exit_code == 0
    print_ = Key.load(journal.with_name("journal.key")).fingerprint
    assert done.stdout.splitlines()[-2:] == [
        "whole: 2 segments of sled-7, 64 records: nothing was changed, nothing is missing.",
        f"Key {print_}, the journal's own: one key made all of it, but nothing here says whose.",
    ]
