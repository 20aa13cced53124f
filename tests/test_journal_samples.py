"""The journals of every past version read and verify as they did, and the test vectors hold."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from firmware.journal import folder, ledger, proof, reader, seal, stored
from firmware.journal.record import Close, Finished, Start
from firmware.journal.seal import Key
from firmware.journal.stored import Identity
from firmware.readings import Channel, Light, Reading, Surroundings
from host_tools.cli import app

SAMPLES = Path(__file__).parent / "data" / "journal"
EXPECTED: dict[str, Any] = msgspec.json.decode((SAMPLES / "expected.json").read_bytes())
VECTORS: dict[str, Any] = msgspec.json.decode((SAMPLES / "vectors.json").read_bytes())
IDENTITY = SAMPLES / "stored" / "owner-identity.txt"


def test_every_sample_is_expected() -> None:
    assert {one.name for one in SAMPLES.iterdir() if one.is_dir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_past_journal_proves_what_it_proved(name: str, tmp_path: Path) -> None:
    expected = EXPECTED[name]
    shutil.copytree(SAMPLES / name / "journal", tmp_path / "journal")
    for key in expected["keys"]:
        (tmp_path / "key").write_text(key)
        done = CliRunner().invoke(
            app, ["verify", "--json", "--key", str(tmp_path / "key"), str(tmp_path / "journal")]
        )
        told = msgspec.json.decode(done.stdout)
        assert told["verdict"] == expected["verdict"]
        assert [(one["name"], one["verdict"], one["records"]) for one in told["segments"]] == [
            (one["name"], one["verdict"], one["records"]) for one in expected["segments"]
        ]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_past_journal_reads_to_its_last_record(name: str) -> None:
    identity = Identity.load(IDENTITY)
    for place, expected in zip(
        folder.segments(SAMPLES / name / "journal"), EXPECTED[name]["segments"], strict=True
    ):
        raw = stored.read(place.path, identity)
        assert hashlib.sha256(raw).hexdigest() == expected["raw_sha256"]
        records = [one for _, one in reader.read(place.path, identity)]
        assert isinstance(records[0], Start)
        assert isinstance(records[-1], Close | Finished)
        assert len(records) >= expected["records"]  # the record of a finish is under its seal
        found = proof.check_segment(place.name, raw).seal
        assert found is not None
        assert (found.digest, found.count) == (expected["digest"], expected["seals"])


def test_the_sample_of_revision_1_gives_each_reading_that_was_put_in() -> None:
    place = folder.segments(SAMPLES / "again" / "journal")[0]
    start, *given, _ = [one for _, one in reader.read(place.path)]
    assert isinstance(start, Start)
    assert (start.format, start.revision) == (1, 1)
    readings = [one for one in given if isinstance(one, Reading)]
    lights = [one for one in readings if one.channel is Channel.LIGHT_HEAD]
    assert [one.value for one in lights] == [Light(851.0, 180.0)] * 4 + [Light(3.33, 3.2)] * 2
    assert [one.mono_s for one in lights] == [99.95, 100.952, 101.954, 102.95, 103.952, 104.954]
    sights = [one.value for one in readings if isinstance(one.value, Surroundings)]
    assert [[int(one.id[4:]) for one in sight.features] for sight in sights] == [
        list(range(8)), list(range(2, 10)), list(range(4, 12)),
    ]  # fmt: skip
    west = -90.1 + 4 / 2e3
    assert sights[2].features[0].parts[0][1] == (round(west + 1.234e-4, 7), 45.0)


def _key(digits: str) -> Key:
    return Key(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(digits)))


def test_the_seals_of_the_vectors_follow_from_their_stretches_and_their_key() -> None:
    assert _key(VECTORS["private_key"]).public == VECTORS["public_key"]
    assert seal.fingerprint(VECTORS["public_key"]) == VECTORS["fingerprint"]
    digest = bytes(32)
    for one in VECTORS["seals"]:
        digest = hashlib.sha256(digest + hashlib.sha256(one["stretch"].encode()).digest()).digest()
        found = seal.parse(one["message"].encode())
        assert found is not None
        assert found.digest == one["digest"] == digest.hex()
        assert seal.is_signed(found, VECTORS["public_key"])
        unsigned = msgspec.structs.replace(found, signature="")
        assert _key(VECTORS["private_key"]).sign(unsigned) == found  # Ed25519 has one signature


def test_the_lines_of_the_vectors_are_a_good_ledger() -> None:
    lines = [one["line"].encode() for one in VECTORS["ledger"]]
    found = ledger.check(b"".join(line + b"\n" for line in lines), VECTORS["public_key"])
    assert (found.fault, found.count) == (None, 3)
    assert found.keys == [VECTORS["public_key"], VECTORS["next_public_key"]]
    assert [ledger.line_digest(line) for line in lines] == [
        one["sha256"] for one in VECTORS["ledger"]
    ]
