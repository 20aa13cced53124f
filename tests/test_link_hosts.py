"""Enrolled hosts: how one becomes known, and what it opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import link_asking
import pytest
from link_asking import LOCKED, MOVES, SHUT, ask, index_of, ours
from port_rig import Rig
from smp.error import MGMT_ERR

from firmware.link.door import QUESTION_S, WINDOW_S
from firmware.port.hosts import HostKey, words_of
from firmware.port.messages import Command

template, rig, opened = link_asking.template, link_asking.rig, link_asking.opened


def prove(rig: Rig, key: HostKey, who: str) -> dict[str, Any]:
    nonce = ask(rig, ours(Command.PROOF), who)["nonce"]
    unit_key = ask(rig, ours(Command.IDENTITY), who)["key"].hex()
    proof = {"key": key.public, "signature": key.prove(unit_key, nonce)}
    return ask(rig, ours(Command.PROOF, proof, op=2), who)


def enroll(rig: Rig, key: HostKey, who: str = "desk") -> dict[str, Any]:
    nonce = ask(rig, ours(Command.PROOF), who)["nonce"]
    unit_key = ask(rig, ours(Command.IDENTITY), who)["key"].hex()
    host = {"key": key.public, "signature": key.prove(unit_key, nonce), "name": "desk"}
    return ask(rig, ours(Command.HOST, host, op=2), who)


@pytest.fixture
def enrolled(opened: Rig) -> tuple[Rig, HostKey]:
    """An enrolled host at a port that is shut again."""
    key = HostKey(b"\x07" * 32)
    # On a busy machine the unit may just not have been heard for 2 s: then the port is shut.
    opened.wait(lambda: "words" in enroll(opened, key))
    opened.wait(lambda: opened.rider.prompt != "")
    opened.rider.hold()
    opened.wait(lambda: opened.door.is_enrolled(key.public))
    opened.clock.shift_s += WINDOW_S
    opened.wait(lambda: opened.refusal() == SHUT)
    return opened, key


def test_a_host_is_enrolled_when_its_four_words_are_held_to_be_right(
    opened: Rig, tmp_path: Path
) -> None:
    key = HostKey(b"\x07" * 32)
    assert enroll(opened, key) == {"words": words_of(key.public)}
    opened.wait(lambda: opened.rider.prompt != "")
    assert " ".join(opened.rider.prompt.split()) == f"{words_of(key.public).upper()}?"
    assert ask(opened, ours(Command.SESSION, {"key": key.public}))["enrolled"] is False
    opened.rider.hold()
    opened.wait(lambda: ask(opened, ours(Command.SESSION, {"key": key.public}))["enrolled"])
    hosts = tmp_path / "journal.hosts"
    assert hosts.read_text() == f"{key.public.hex()} desk\n"
    assert hosts.stat().st_mode & 0o777 == 0o600


def test_a_host_that_nobody_held_for_is_not_enrolled(opened: Rig, tmp_path: Path) -> None:
    enroll(opened, HostKey(b"\x07" * 32))
    opened.wait(lambda: opened.rider.prompt != "")
    opened.clock.shift_s += QUESTION_S
    opened.wait(lambda: opened.rider.prompts[-1] == "")
    opened.rider.hold()
    assert not (tmp_path / "journal.hosts").exists()


def test_an_enrolled_host_opens_the_port_for_itself_alone(enrolled: tuple[Rig, HostKey]) -> None:
    rig, key = enrolled
    told = prove(rig, key, "desk")
    assert (told["open"], told["how"]) == (True, "host")
    assert index_of(rig, "desk")
    assert ask(rig, LOCKED[0], "another")["rsn"] == SHUT
    rig.wait(
        lambda: rig.rider.notes[-1] == "the journal is read over desk by the enrolled host desk"
    )
    rig.clock.shift_s += WINDOW_S
    rig.wait(lambda: ask(rig, LOCKED[0], "desk").get("rsn") == SHUT)


def test_a_ride_ends_an_enrolled_host_s_session(enrolled: tuple[Rig, HostKey]) -> None:
    rig, key = enrolled
    prove(rig, key, "desk")
    rig.rider.ride(20.0)
    rig.wait(lambda: ask(rig, LOCKED[0], "desk").get("rsn") == MOVES)
    assert prove(rig, key, "desk")["open"] is False
    rig.rider.ride(0.0)
    rig.wait(lambda: rig.refusal() == SHUT)


def test_a_stranger_s_key_opens_nothing(enrolled: tuple[Rig, HostKey]) -> None:
    rig, _ = enrolled
    key = HostKey(b"\x08" * 32)
    told = prove(rig, key, "desk")
    assert told == {
        "rc": MGMT_ERR.EACCESSDENIED,
        "rsn": f"this host ({words_of(key.public)}) is not enrolled.",
    }


def test_a_challenge_is_good_once_for_a_minute_for_one_client_and_one_unit(
    enrolled: tuple[Rig, HostKey],
) -> None:
    rig, key = enrolled
    unit_key = ask(rig, ours(Command.IDENTITY))["key"].hex()
    false = {
        "rc": MGMT_ERR.EACCESSDENIED,
        "rsn": "the proof is false, or its challenge is too old.",
    }

    def prove_with(nonce: bytes, who: str = "desk", unit: str = unit_key) -> dict[str, Any]:
        proof = {"key": key.public, "signature": key.prove(unit, nonce)}
        return ask(rig, ours(Command.PROOF, proof, op=2), who)

    nonce = ask(rig, ours(Command.PROOF), "desk")["nonce"]
    assert prove_with(nonce, "another") == false
    assert prove_with(nonce)["open"] is True
    assert prove_with(nonce) == false
    assert prove_with(ask(rig, ours(Command.PROOF), "desk")["nonce"], unit="00" * 32) == false
    nonce = ask(rig, ours(Command.PROOF), "desk")["nonce"]
    rig.clock.shift_s += 60.0
    rig.wait(lambda: rig.door.state is not None)
    assert prove_with(nonce) == false


def test_an_enrolled_host_enrols_no_other(enrolled: tuple[Rig, HostKey]) -> None:
    rig, key = enrolled
    prove(rig, key, "desk")
    told = enroll(rig, HostKey(b"\x09" * 32), "desk")
    words = "a host is enrolled only in a window that the rider's button has opened."
    assert told == {"rc": MGMT_ERR.EACCESSDENIED, "rsn": words}


@pytest.mark.parametrize("name", ["desk\n", "desk\0", "", "d" * 65, "\x1b[2J", "b\u00fcro"])
def test_a_host_s_name_is_one_short_line_of_plain_letters(opened: Rig, name: str) -> None:
    body = {"key": b"k" * 32, "signature": b"s" * 64, "name": name}
    told = ask(opened, ours(Command.HOST, body, op=2))
    assert told["rc"] == MGMT_ERR.EINVAL


def test_a_proof_of_another_form_is_refused(rig: Rig) -> None:
    for body in [{}, {"key": b"k" * 31, "signature": b"s" * 64},
                                  {"key": "k" * 32, "signature": b"s" * 64},
                                  {"key": b"k" * 32, "signature": b"s" * 65}]:  # fmt: skip
        told = ask(rig, ours(Command.PROOF, body, op=2))  # type: ignore[arg-type]  # false forms
        assert told["rc"] == MGMT_ERR.EINVAL
