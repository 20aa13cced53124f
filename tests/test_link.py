"""The service port: who may take what, who it is, and how several come in at once."""

from __future__ import annotations

import os
import socket
import struct
import threading
from pathlib import Path

import cbor2
import link_asking
import pytest
from journal_samples import written
from link_asking import LOCKED, MOVES, SHUT, all_refused, ask, index_of, ours, remote, segments
from port_rig import Rig
from smp.error import MGMT_ERR
from smp.file_management import (
    FileDownloadRequest,
)
from smp.os_management import (
    DateTimeReadRequest,
    EchoWriteRequest,
    MCUMgrParametersReadRequest,
    OSApplicationInfoReadRequest,
)

from firmware import __version__
from firmware.journal.reader import read
from firmware.link.door import OPEN_QUESTION, QUESTION_S, QUIET_S, WINDOW_S
from firmware.link.frames import framed
from firmware.link.handling import LONGEST_REPLY_BYTES
from firmware.link.server import MAX_CLIENTS
from firmware.link.ways import SerialWay, reply_bytes
from firmware.port.messages import INDEX, Command

template, rig, opened = link_asking.template, link_asking.rig, link_asking.opened


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
