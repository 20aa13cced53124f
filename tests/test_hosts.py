"""How a computer is known to a unit: four words, one proof for one unit and one challenge."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.errors import SledwardenError
from firmware.link.enrolled import Enrolled
from firmware.port.hosts import HostError, HostKey, challenge, is_proof, words_of
from firmware.port.words import WORDS
from firmware.rider.requests import LINE_LETTERS

UNIT_KEY, OTHER_KEY = "11" * 32, "22" * 32
NONCE = b"n" * 32


def test_there_are_256_words_that_are_told_apart_by_four_letters() -> None:
    assert len(WORDS) == len({word[:4] for word in WORDS}) == 256
    assert sorted(WORDS) == list(WORDS)
    assert all(word.isalpha() and word.islower() and 3 <= len(word) <= 7 for word in WORDS)


def test_any_four_words_and_their_question_mark_fit_the_glass() -> None:
    longest = max(map(len, WORDS))
    assert 2 * longest + 2 <= LINE_LETTERS


def test_the_four_words_of_a_key_never_change() -> None:
    assert words_of(b"\x07" * 32) == "crystal lake fiddle guitar"
    assert words_of(b"\x08" * 32) != words_of(b"\x07" * 32)


def test_a_proof_is_good_for_its_unit_and_challenge_alone(tmp_path: Path) -> None:
    key, other = HostKey.make(tmp_path / "a"), HostKey.make(tmp_path / "b")
    proof = key.prove(UNIT_KEY, NONCE)
    assert is_proof(key.public, proof, UNIT_KEY, NONCE)
    assert not is_proof(other.public, proof, UNIT_KEY, NONCE)
    assert not is_proof(key.public, proof, OTHER_KEY, NONCE)
    assert not is_proof(key.public, proof, UNIT_KEY, b"m" * 32)
    assert not is_proof(key.public, proof[:-1], UNIT_KEY, NONCE)
    assert not is_proof(b"\xff" * 32, proof, UNIT_KEY, NONCE)
    assert challenge(UNIT_KEY, NONCE).startswith(b"sledwarden host 1\n")


def test_a_key_is_kept_for_its_owner_alone_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "config" / "host.key"
    assert HostKey.load(path) is None
    key = HostKey.make(path)
    assert path.stat().st_mode & 0o777 == 0o600
    again = HostKey.load(path)
    assert again is not None
    assert again.public == key.public


def test_a_key_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    HostKey.make(tmp_path / "host.key")
    with pytest.raises(HostError) as told:
        HostKey.make(tmp_path / "host.key")
    assert str(told.value) == f"{tmp_path}/host.key: can't be made: File exists."


def test_a_file_that_is_no_key_is_told(tmp_path: Path) -> None:
    (tmp_path / "host.key").write_text("not a key")
    with pytest.raises(HostError) as told:
        HostKey.load(tmp_path / "host.key")
    assert str(told.value) == (
        f"{tmp_path}/host.key: is no key: must be 64 hex digits, the private half of an Ed25519 "
        "key. Move it away and enrol this computer again."
    )
    with pytest.raises(HostError, match="can't be read: Is a directory"):
        HostKey.load(tmp_path)


# The unit's list.


def test_hosts_are_kept_and_a_line_that_is_none_is_passed_over(tmp_path: Path) -> None:
    hosts = Enrolled(tmp_path / "hosts")
    assert hosts.all() == {}
    hosts.add(b"a" * 32, "the desk")
    hosts.add(b"b" * 32, "a laptop")
    hosts.add(b"a" * 32, "the bench")
    with hosts.path.open("a") as file:
        file.write("# not a host\n\xe9\n")
    assert hosts.all() == {(b"a" * 32).hex(): "the bench", (b"b" * 32).hex(): "a laptop"}
    assert hosts.name_of(b"a" * 32) == "the bench"
    assert hosts.name_of(b"c" * 32) is None


def test_what_a_power_cut_left_of_a_list_is_gone_at_the_next_start(tmp_path: Path) -> None:
    Enrolled(tmp_path / "hosts").add(b"a" * 32, "the desk")
    (tmp_path / "hosts.new").write_text("61616161")  # the cut came while it was written
    assert Enrolled(tmp_path / "hosts").all() == {(b"a" * 32).hex(): "the desk"}
    assert [one.name for one in tmp_path.iterdir()] == ["hosts"]


def test_a_list_that_can_t_be_read_or_kept_is_told(tmp_path: Path) -> None:
    with pytest.raises(SledwardenError, match="can't be read: Is a directory"):
        Enrolled(tmp_path).all()
    with pytest.raises(SledwardenError, match="can't be kept: No such file"):
        Enrolled(tmp_path / "gone" / "hosts").add(b"a" * 32, "desk")
