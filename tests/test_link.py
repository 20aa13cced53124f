"""The service port: who may take what, which files there are, and what each request is answered."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journal_samples import journal_in, put_all, ride, written
from port_rig import Rig
from smp.error import MGMT_ERR
from smp.file_management import (
    FS_MGMT_ERR,
    FileCloseRequest,
    FileDownloadRequest,
    FileHashChecksumRequest,
    FileStatusRequest,
    FileUploadRequest,
    SupportedFileHashChecksumTypesRequest,
)
from smp.os_management import (
    DateTimeReadRequest,
    EchoWriteRequest,
    MCUMgrParametersReadRequest,
    OSApplicationInfoReadRequest,
)

from firmware import __version__
from firmware.journal import stored
from firmware.journal.reader import read
from firmware.link.door import OPEN_QUESTION, QUESTION_S, QUIET_S, WINDOW_S
from firmware.link.frames import framed
from firmware.link.handling import LONGEST_REPLY_BYTES, Way
from firmware.link.server import MAX_CLIENTS
from firmware.link.ways import DATAGRAM_BYTES, SerialWay, reply_bytes
from firmware.port.hosts import HostKey, words_of
from firmware.port.messages import GROUP, INDEX, Command

WIDE = Way("serial", 4096)
SHUT = "the port is shut: hold the rider's button when the glass asks, then try again."
MOVES = "the sled moves, or can't tell that it stands: nothing is given out."


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    written(folder / "journal")
    return folder


@pytest.fixture
def rig(template: Path, tmp_path: Path) -> Iterator[Rig]:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Rig(tmp_path / "journal") as made:
        yield made


@pytest.fixture
def opened(rig: Rig) -> Rig:
    rig.open()
    return rig


def ask(rig: Rig, octets: bytes, who: str = "test", way: Way = WIDE) -> dict[str, Any]:
    """The body of the answer to a message."""
    reply = rig.server.answer(octets, who, way)
    assert reply is not None
    op, _, length, *_ = struct.unpack("!BBHHBB", reply[:8])
    assert op & 1
    assert length == len(reply) - 8 <= way.reply_bytes - 8
    body: dict[str, Any] = cbor2.loads(reply[8:])
    return body


def ours(command: int, body: dict[str, Any] | None = None, *, op: int = 0) -> bytes:
    octets = cbor2.dumps(body or {})
    return struct.pack("!BBHHBB", op | 8, 0, len(octets), GROUP, 1, command) + octets


def download(rig: Rig, name: str, who: str = "test", way: Way = WIDE) -> bytes:
    """A whole file, as a stock client takes it."""
    content, length = b"", 1
    while len(content) < length:
        told = ask(rig, FileDownloadRequest(off=len(content), name=name).BYTES, who, way)
        length = told["len"] if not content else length
        content += told["data"]
        assert told["data"]
    assert len(content) == length
    return content


def index_of(rig: Rig, who: str = "test") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(download(rig, INDEX, who))
    return found


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "journal").glob("*/*.mcap"))


def remote(path: Path) -> str:
    return f"/journal/{path.parent.name}/{path.name}"


# Who may take what.

LOCKED = [
    FileDownloadRequest(off=0, name=INDEX).BYTES,
    FileStatusRequest(name=INDEX).BYTES,
    FileHashChecksumRequest(name=INDEX).BYTES,
    FileUploadRequest(off=0, name="/journal/x", data=b"x", len=1).BYTES,
    SupportedFileHashChecksumTypesRequest().BYTES,
    FileCloseRequest().BYTES,
    ours(Command.PACKED, {"name": INDEX, "off": 0, "len": 10}),
    ours(Command.HOST, {"key": b"k" * 32, "signature": b"s" * 64, "name": "desk"}, op=2),
]


def all_refused(rig: Rig) -> list[object]:
    """The one reason for which all that needs an opened port is refused."""
    told = [ask(rig, octets) for octets in LOCKED]
    assert [one["rc"] for one in told] == [MGMT_ERR.EACCESSDENIED] * len(LOCKED)
    return list(dict.fromkeys(one["rsn"] for one in told))


def test_without_a_window_nothing_but_identity_and_health_is_given(rig: Rig) -> None:
    assert all_refused(rig) == [SHUT]


def test_a_ride_shuts_the_port_to_everyone(opened: Rig) -> None:
    opened.rider.ride(3.0)
    opened.wait(lambda: opened.refusal() == MOVES)
    assert all_refused(opened) == [MOVES]


def test_a_daemon_that_is_not_heard_shuts_the_port_to_everyone(opened: Rig) -> None:
    opened.rider.fall_silent()
    opened.wait(lambda: opened.door.state is None)
    (words,) = all_refused(opened)
    assert isinstance(words, str)
    assert words.startswith("the unit's daemon is not heard (")
    assert words.endswith("): nothing is given out.")


def test_a_held_button_opens_the_port_for_ten_minutes_to_any_client(rig: Rig) -> None:
    rig.open()
    assert rig.refusal() == ""
    assert rig.door.left_s == pytest.approx(WINDOW_S, abs=5)
    assert index_of(rig, "one") == index_of(rig, "another")
    rig.clock.shift_s += WINDOW_S
    rig.wait(lambda: rig.refusal() == SHUT)
    rig.wait(lambda: any("is shut" in note for note in rig.rider.notes))  # told a moment later
    assert [one for one in rig.rider.notes if "service" in one] == [
        "the service port is open for ten minutes, by the rider's button",
        "the service port is shut: the ten minutes are over",
    ]


def test_a_refused_client_has_the_glass_ask(rig: Rig) -> None:
    ask(rig, LOCKED[0])
    rig.wait(lambda: rig.rider.prompt == "HOLD BUTTON TO\nOPEN PORT?")
    assert ask(rig, ours(Command.SESSION))["asking"] is True


def test_asking_for_a_session_has_the_glass_ask(rig: Rig) -> None:
    told = ask(rig, ours(Command.SESSION, op=2))
    assert told == {"open": False, "how": "", "why": SHUT, "asking": True, "left_s": 0}
    rig.wait(lambda: rig.rider.prompt != "")
    rig.rider.hold()
    rig.wait(lambda: rig.door.left_s > 0)
    told = ask(rig, ours(Command.SESSION))
    assert (told["open"], told["how"], told["why"]) == (True, "button", "")


def test_a_hold_that_nobody_asked_for_opens_nothing(rig: Rig) -> None:
    rig.rider.hold()
    rig.rider.push()
    assert rig.refusal() == SHUT


def test_another_question_s_hold_opens_nothing(rig: Rig) -> None:
    rig.ask()
    rig.rider._requests.answered, rig.rider._requests.answered_s = "MARK HERE?", 1e9
    rig.rider.push()
    rig.wait(lambda: rig.door.state is not None and rig.door.state.answered == "MARK HERE?")
    assert rig.refusal() == SHUT


def test_a_moving_sled_is_not_asked(rig: Rig) -> None:
    rig.rider.ride(12.0)
    rig.wait(lambda: rig.refusal() == MOVES)
    assert ask(rig, ours(Command.SESSION, op=2))["asking"] is False
    assert rig.rider.prompts == []


def test_a_question_that_nobody_answers_is_taken_away_and_not_asked_at_once_again(
    rig: Rig,
) -> None:
    rig.ask()
    rig.clock.shift_s += QUESTION_S
    rig.wait(lambda: rig.rider.prompts == [OPEN_QUESTION, ""])
    assert rig.rider.prompt == ""
    rig.wait(lambda: rig.door.state is not None and rig.door.state.prompt == "")
    assert rig.door.ask() is False
    rig.clock.shift_s += QUIET_S
    rig.wait(rig.door.ask)


def test_another_one_s_question_is_not_written_over(rig: Rig) -> None:
    rig.rider._requests.prompt = "PAIR PHONE?"
    rig.rider.push()
    rig.wait(lambda: rig.door.state is not None and rig.door.state.prompt == "PAIR PHONE?")
    assert rig.door.ask() is False


def test_a_ride_ends_the_window_for_good(opened: Rig) -> None:
    opened.rider.ride(20.0)
    opened.wait(lambda: opened.door.left_s == 0)
    opened.rider.ride(0.0)
    opened.wait(lambda: opened.refusal() == SHUT)
    opened.wait(lambda: "the service port is shut: the sled is ridden" in opened.rider.notes)


def test_a_push_by_hand_only_interrupts_the_window(opened: Rig) -> None:
    opened.rider.ride(2.0)
    opened.wait(lambda: opened.refusal() == MOVES)
    opened.rider.ride(0.0)
    opened.wait(lambda: opened.refusal() == "")


def test_the_journal_is_told_once_who_reads_it(opened: Rig) -> None:
    index_of(opened, "serial")
    index_of(opened, "serial")
    opened.wait(lambda: len(opened.rider.notes) == 2)
    assert opened.rider.notes[1] == "the journal is read over serial by whoever is at the port"


# Identity and health: for everybody, always.


def test_the_identity_is_the_journal_s(rig: Rig, tmp_path: Path) -> None:
    told = ask(rig, ours(Command.IDENTITY))
    (path,) = segments(tmp_path)
    (start,) = [one for _, one in read(path) if type(one).__name__ == "Start"]
    assert told["unit"] == "sled-7"
    assert told["fingerprint"] == start.key  # type: ignore[union-attr]  # of a Start
    assert len(told["key"]) == 32
    assert told["software"] == f"sledwarden {__version__}"


def test_health_says_nothing_of_where_when_or_how_fast(rig: Rig) -> None:
    told = ask(rig, ours(Command.HEALTH))
    assert told["heard"] is True
    assert told.keys() == {"heard", "watching", "standing", "gps", "head_lamp", "tail_lamp",
                           "tether", "engine", "journal"}  # fmt: skip


def test_health_says_why_the_unit_is_not_heard(rig: Rig) -> None:
    rig.rider.fall_silent()
    rig.wait(lambda: rig.door.state is None)
    told = ask(rig, ours(Command.HEALTH))
    assert told["heard"] is False
    assert "feed.sock" in told["why"]


def test_the_os_group_answers_everybody(rig: Rig) -> None:
    assert ask(rig, EchoWriteRequest(d="hé").BYTES) == {"r": "hé"}
    assert ask(rig, MCUMgrParametersReadRequest().BYTES) == {"buf_size": 2048, "buf_count": 8}
    assert ask(rig, DateTimeReadRequest().BYTES) == {"datetime": "2026-01-17T22:00:05.250"}
    assert ask(rig, OSApplicationInfoReadRequest().BYTES) == {"output": "sledwarden"}
    told = ask(rig, OSApplicationInfoReadRequest(format="rn").BYTES)
    assert told == {"output": f"sled-7 {__version__}"}
    told = ask(rig, OSApplicationInfoReadRequest(format="x").BYTES)
    assert told == {"err": {"group": 0, "rc": 2}}


def test_a_unit_without_a_date_says_so(rig: Rig) -> None:
    rig.rider.fall_silent()
    rig.wait(lambda: rig.door.state is None)
    assert ask(rig, DateTimeReadRequest().BYTES) == {"err": {"group": 0, "rc": 4}}


UNKNOWN = [
     ours(99), ours(Command.IDENTITY, op=2), struct.pack("!BBHHBB", 8, 0, 1, 777, 1, 0) + b"\xa0",
     struct.pack("!BBHHBB", 8, 0, 1, 1, 1, 200) + b"\xa0"]  # fmt: skip


def test_what_is_not_known_is_refused_in_words(opened: Rig) -> None:
    for octets in UNKNOWN:
        told = ask(opened, octets)
        assert told["rc"] == MGMT_ERR.ENOTSUP
        assert "has no command" in told["rsn"]


# Enrolled hosts.


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


# The files.


def test_the_index_names_every_segment_and_whose_they_are(opened: Rig, tmp_path: Path) -> None:
    written(tmp_path / "journal")
    index = index_of(opened)
    assert (index["format"], index["unit"]) == (1, "sled-7")
    assert bytes.fromhex(index["public_key"]) == ask(opened, ours(Command.IDENTITY))["key"]
    told = {f"{boot['name']}/{one['name']}": one
            for boot in index["boots"] for one in boot["segments"]}  # fmt: skip
    paths = segments(tmp_path)
    assert [f"{path.parent.name}/{path.name}" for path in paths] == list(told)
    for path, one in zip(paths, told.values(), strict=True):
        assert one == {
            "name": path.name,
            "bytes": path.stat().st_size,
            "closed": True,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }


def test_a_segment_comes_byte_for_byte(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    for room in (256, DATAGRAM_BYTES, 4096, LONGEST_REPLY_BYTES):
        assert download(opened, remote(path), way=Way("way", room)) == path.read_bytes()
        assert download(opened, INDEX, way=Way("way", room)) == download(opened, INDEX)


@pytest.mark.parametrize("room", [256, DATAGRAM_BYTES, 16384])
def test_a_packed_stretch_is_the_file_s_wherever_it_begins(
    opened: Rig, tmp_path: Path, room: int
) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)
    for offset in (0, 1, 8192, len(content) - 1, len(content)):
        body = {"name": name, "off": offset, "len": 8192}
        told = ask(opened, ours(Command.PACKED, body), way=Way("way", room))
        octets = zlib.decompress(told["data"])
        assert octets == content[offset : offset + told["raw"]]
        assert (told["off"], told["len"]) == (offset, len(content))
        assert told["raw"] > 0 or offset == len(content)


def test_the_digests_are_those_of_the_stretch(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)

    def digest(**how: Any) -> dict[str, Any]:
        return ask(opened, FileHashChecksumRequest(name=name, **how).BYTES)

    whole = {"type": "sha256", "len": len(content), "output": hashlib.sha256(content).digest()}
    assert digest() == whole
    assert digest(type="sha256", off=0, len=len(content) + 1) == whole
    assert digest(type="crc32")["output"] == zlib.crc32(content)
    assert digest(off=10, len=5000) == {
        "type": "sha256",
        "off": 10,
        "len": 5000,
        "output": hashlib.sha256(content[10:5010]).digest(),
    }
    assert digest(type="crc32", len=9)["output"] == zlib.crc32(content[:9])
    index = download(opened, INDEX)
    told = ask(opened, FileHashChecksumRequest(name=INDEX).BYTES)
    assert told["output"] == hashlib.sha256(index).digest()
    assert ask(opened, FileStatusRequest(name=name).BYTES) == {"len": len(content)}
    assert ask(opened, FileStatusRequest(name=INDEX).BYTES) == {"len": len(index)}


def test_the_kinds_of_digest_are_told(opened: Rig) -> None:
    assert ask(opened, SupportedFileHashChecksumTypesRequest().BYTES) == {
        "types": {"crc32": {"format": 0, "size": 4}, "sha256": {"format": 1, "size": 32}}
    }
    assert ask(opened, FileCloseRequest().BYTES) == {}
    body = cbor2.dumps({"name": INDEX, "type": "md5"})
    told = ask(opened, struct.pack("!BBHHBB", 8, 0, len(body), 8, 1, 2) + body)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.CHECKSUM_HASH_NOT_FOUND}}


def test_a_port_without_a_configuration_takes_no_file(opened: Rig, tmp_path: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    told = ask(opened, FileUploadRequest(off=0, name="/journal/x", data=b"x", len=1).BYTES)
    words = "this port was started without --config: it takes nothing."
    assert told == {"rc": MGMT_ERR.ENOTSUP, "rsn": words}
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


FALSE_NAMES = [
    ("", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT/", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT/000009.mcap", FS_MGMT_ERR.FILE_NOT_FOUND),
    ("/journal/999999-00000000/000001.mcap", FS_MGMT_ERR.FILE_NOT_FOUND),
    ("/journal/../journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/../../journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/../BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/boots", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/lock", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/etc/passwd", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/dev/zero", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/000001.mcap\0", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT\0/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/000001.mcap\n", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("//journal/BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("journal/BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/\N{ARABIC-INDIC DIGIT ONE}00001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/" + "x" * 1500, FS_MGMT_ERR.FILE_INVALID_NAME),
]


def test_no_other_name_has_a_file(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    for name, code in FALSE_NAMES:
        name = name.replace("BOOT", path.parent.name)  # noqa: PLW2901  # the name that is meant
        packed = ours(Command.PACKED, {"name": name, "off": 0, "len": 10})
        for octets in (FileDownloadRequest(off=0, name=name).BYTES,
                       FileStatusRequest(name=name).BYTES,
                       FileHashChecksumRequest(name=name).BYTES, packed):  # fmt: skip
            assert ask(opened, octets) == {"err": {"group": 8, "rc": code}}, name


def test_no_link_and_no_device_is_followed(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "000001.mcap").write_bytes(path.read_bytes())
    (path.parent / "000002.mcap").symlink_to(tmp_path / "journal.key")
    (path.parent / "000003.mcap").symlink_to(path)
    os.mkfifo(path.parent / "000004.mcap")
    (path.parent / "000005.mcap").mkdir()
    os.symlink("/dev/zero", path.parent / "000006.mcap")
    (tmp_path / "journal" / "000007-00000000").symlink_to(secret)
    names = [f"/journal/{path.parent.name}/00000{number}.mcap" for number in range(2, 7)]
    names.append("/journal/000007-00000000/000001.mcap")
    for name in names:
        told = ask(opened, FileDownloadRequest(off=0, name=name).BYTES)
        assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}, name
    (boot,) = index_of(opened)["boots"]
    assert [one["name"] for one in boot["segments"]] == ["000001.mcap"]


FALSE_FORMS: list[dict[str, Any]] = [
    {"off": -1, "name": INDEX}, {"off": "0", "name": INDEX}, {"off": 0}, {"name": INDEX},
    {"off": 0, "name": b"/journal"}, {"off": 0, "name": None}, {"off": 1 << 60, "name": INDEX},
    {"off": 0.0, "name": INDEX}, {"off": True, "name": 5},
]  # fmt: skip


def test_a_request_of_another_form_is_refused(opened: Rig) -> None:
    for body in FALSE_FORMS:
        octets = cbor2.dumps(body)
        told = ask(opened, struct.pack("!BBHHBB", 8, 0, len(octets), 8, 1, 0) + octets)
        assert told["rc"] == MGMT_ERR.EINVAL


def test_an_offset_past_the_end_is_refused(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    size = path.stat().st_size
    told = ask(opened, FileDownloadRequest(off=size, name=remote(path)).BYTES)
    assert told == {"off": size, "len": size, "data": b""}
    told = ask(opened, FileDownloadRequest(off=size + 1, name=remote(path)).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_OFFSET_LARGER_THAN_FILE}}


@given(group=st.sampled_from([0, 8, 64, 9]), command=st.integers(0, 10), op=st.sampled_from([0, 2]),
       version=st.sampled_from([0, 1]),
       body=st.dictionaries(
           st.sampled_from(["off", "name", "len", "type", "key", "d", "format", "data", "x"]),
           st.one_of(st.none(), st.integers(), st.text(max_size=40), st.binary(max_size=70),
                     st.sampled_from([INDEX, "/journal", 0, 1, "sha256", "crc32"]),
                     st.floats(), st.lists(st.integers(), max_size=3)), max_size=5))  # fmt: skip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300,
          deadline=None)  # fmt: skip
def test_no_request_breaks_the_port(
    opened: Rig, group: int, command: int, op: int, version: int, body: dict[str, Any]
) -> None:
    octets = cbor2.dumps(body)
    head = struct.pack("!BBHHBB", op | version << 3, 0, len(octets), group, 1, command)
    ask(opened, head + octets)
    assert opened.refusal() == ""


# A journal that grows.


def test_a_segment_that_grows_is_given_up_to_what_is_durable(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    with Rig(tmp_path / "journal") as rig:
        put_all(journal, ride(300))
        rig.open()
        (path,) = segments(tmp_path)
        (one,) = index_of(rig)["boots"][0]["segments"]
        content = path.read_bytes()
        assert one == {"name": "000001.mcap", "bytes": one["bytes"], "closed": False}
        assert 0 < one["bytes"] < len(content)
        taken = download(rig, remote(path))
        assert taken == content[: one["bytes"]]

        # In the middle of a download the file grows, and ends: the client gets what it was told.
        ask(rig, FileDownloadRequest(off=0, name=remote(path)).BYTES)
        put_all(journal, ride(300, 130.0))
        assert journal.close(160.0, timeout_s=60.0)
        assert path.read_bytes().startswith(taken)
        rest = ask(rig, FileDownloadRequest(off=len(taken) - 10, name=remote(path)).BYTES)
        assert rest == {"off": len(taken) - 10, "len": len(taken), "data": taken[-10:]}
        (one,) = index_of(rig)["boots"][0]["segments"]
        assert (one["closed"], one["bytes"]) == (True, path.stat().st_size)
        assert download(rig, remote(path)) == path.read_bytes()


@pytest.mark.parametrize("at", [1, 100, 3000])
def test_a_segment_that_is_compressed_in_the_middle_is_given_on(
    opened: Rig, tmp_path: Path, at: int
) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)
    first = ask(opened, FileDownloadRequest(off=0, name=name).BYTES)["data"]
    path.with_name(f"{path.name}.zst").write_bytes(stored.packed(content))
    path.unlink()
    rest = ask(opened, FileDownloadRequest(off=at, name=name).BYTES)
    assert first[:1] == content[:1]
    assert rest["data"] == content[at : at + len(rest["data"])]
    assert download(opened, name) == content  # and from its beginning, by a client that began anew
    told = ask(opened, FileHashChecksumRequest(name=name).BYTES)
    assert told["output"] == hashlib.sha256(content).digest()
    (one,) = index_of(opened)["boots"][0]["segments"]
    assert one["name"] == f"{path.name}.zst"
    packed = path.with_name(one["name"]).read_bytes()
    assert download(opened, f"{name}.zst") == packed


def test_what_was_cut_from_a_damaged_segment_is_in_the_index_and_given_out(
    opened: Rig, tmp_path: Path
) -> None:
    (path,) = segments(tmp_path)
    piece = path.with_suffix(".torn")
    piece.write_bytes(b"damaged" * 1000)
    (one,) = index_of(opened)["boots"][0]["segments"]
    assert (one["name"], one["torn"]) == (path.name, 7000)
    assert download(opened, remote(piece)) == piece.read_bytes()
    told = ask(opened, FileHashChecksumRequest(name=remote(piece)).BYTES)
    assert told["output"] == hashlib.sha256(piece.read_bytes()).digest()
    told = ask(opened, FileStatusRequest(name=remote(piece).replace("000001", "000009")).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}


def test_a_segment_that_goes_in_the_middle_is_refused(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    ask(opened, FileDownloadRequest(off=0, name=remote(path)).BYTES)
    path.unlink()
    told = ask(opened, FileDownloadRequest(off=100, name=remote(path)).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}


def test_an_empty_journal_has_an_index_without_a_key(tmp_path: Path) -> None:
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        index = index_of(rig)
        assert (index["boots"], index["public_key"], index["fingerprint"]) == ([], "", "")
        assert ask(rig, ours(Command.IDENTITY))["key"] == b""


# The ways in.


def test_the_unit_remembers_few_clients(opened: Rig) -> None:
    for number in range(3 * MAX_CLIENTS):
        index_of(opened, f"client {number}")
    assert len(opened.server._clients) == MAX_CLIENTS
    assert len(opened.server._shelf._readers) == MAX_CLIENTS


@pytest.mark.parametrize(("baud", "size"), [(9600, 280), (115_200, 3363), (921_600, 16384)])
def test_an_answer_takes_a_slow_line_less_than_half_a_second(baud: int, size: int) -> None:
    assert reply_bytes(baud) == size
    assert len(framed(b"x" * size)) / (baud / 10) < 0.5


def test_a_client_that_reads_nothing_costs_the_others_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path / "journal")
    host = f"127.0.{os.getpid() % 250}.77"
    with Rig(tmp_path / "journal", (host, 1337)) as rig:
        rig.open()
        line = os.open(rig.port.port, os.O_RDWR | os.O_NOCTTY)
        (path,) = segments(tmp_path)
        asking = framed(FileDownloadRequest(off=0, name=remote(path)).BYTES)
        try:
            for _ in range(2000):
                os.set_blocking(line, False)
                os.write(line, asking)
        except BlockingIOError:
            pass  # the unit reads no further ahead: the line is full
        os.set_blocking(line, True)
        (way,) = (one for one in rig.link.ways if isinstance(one, SerialWay))
        carried = [-1] * 40  # 0.2 s in which nothing moved: the line is full
        rig.wait(
            lambda: (
                way._outbox and (carried.append(rig.port.carried) or len(set(carried[-40:])) == 1)
            )
        )
        assert len(way._outbox) < 4 * LONGEST_REPLY_BYTES
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.settimeout(60)
            other.sendto(FileDownloadRequest(off=0, name=INDEX).BYTES, (host, 1337))
            assert cbor2.loads(other.recv(2048)[8:])["off"] == 0
        rig.clock.shift_s += 11.0
        rig.wait(lambda: "nobody reads the answers: they are dropped" in caplog.text)
        os.close(line)


def test_two_clients_at_once_each_get_their_own(tmp_path: Path) -> None:
    written(tmp_path / "journal", 200)
    (path,) = segments(tmp_path)
    host = f"127.0.{os.getpid() % 250}.78"
    got: dict[int, bytes] = {}
    with Rig(tmp_path / "journal", (host, 1337)) as rig:
        rig.open()

        def fetch(number: int) -> None:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.settimeout(60)
                content, length = b"", 1
                while len(content) < length:
                    request = FileDownloadRequest(off=len(content), name=remote(path))
                    client.sendto(request.BYTES, (host, 1337))
                    reply = client.recv(2048)
                    assert reply[6] == request.header.sequence
                    told = cbor2.loads(reply[8:])
                    content, length = content + told["data"], told["len"]
            got[number] = content

        threads = [threading.Thread(target=fetch, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [got.get(number) == path.read_bytes() for number in range(3)] == [True] * 3
