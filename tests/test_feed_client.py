"""The feed's other end: what a client makes of what it hears."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import feed_rig
import pytest
from feed_rig import WAIT_S, heard
from glass_scenes import NO_FIX, RIDE, alert

from firmware.clock import Clock, ManualClock
from firmware.feed.client import FeedClient
from firmware.feed.messages import (
    Hello,
    Message,
    Refused,
    Taken,
    decode,
    decode_command,
    encode,
    encode_command,
)
from firmware.readings import Request
from firmware.state import State

path, posted, feed, client = feed_rig.path, feed_rig.posted, feed_rig.feed, feed_rig.client


@pytest.mark.parametrize(
    "message",
    [RIDE, NO_FIX, alert("SLOW\nDOWN"), Hello(1, "0.1", 7), Taken("mark"), Refused("no")],
    ids=lambda one: type(one).__name__,
)
def test_what_is_encoded_is_decoded_to_the_same(message: Message) -> None:
    line = encode(message, 1.5)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == (message, 1.5 if isinstance(message, State) else 0.0)


def test_a_class_of_a_later_feed_is_passed_over() -> None:
    assert decode(b'{"class":"weather","snow":1}') == (None, 0.0)


def test_a_command_leaves_out_what_is_empty() -> None:
    assert encode_command("mark") == b'{"do":"mark"}\n'
    assert decode_command(encode_command("note", "ice", "me")) == Request("note", "ice", "me")


class Server:
    """The unit's end of the socket, by hand."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._links: list[socket.socket] = []

    def accept(self, *lines: bytes) -> socket.socket:
        link, _ = self._listener.accept()
        self._links.append(link)
        link.sendall(b"".join(lines))
        return link

    def close(self) -> None:
        for one in (*self._links, self._listener):
            one.close()


@pytest.fixture
def server(path: Path) -> Iterator[Server]:
    one = Server(path)
    yield one
    one.close()


def test_a_state_that_is_not_renewed_for_two_seconds_is_not_alive(
    server: Server, path: Path
) -> None:
    clock = ManualClock()
    client = FeedClient(path, clock=clock)
    client.poll(0.0)
    server.accept(encode(Hello(1)), encode(RIDE, 0.5))
    heard(client, State)
    assert client.is_alive
    clock.advance(1.49)
    assert client.is_alive
    clock.advance(0.02)
    assert not client.is_alive
    assert client.is_connected
    assert client.state == RIDE
    client.close()


def test_a_state_that_is_old_when_it_comes_is_not_alive(server: Server, path: Path) -> None:
    client = FeedClient(path)
    client.poll(0.0)
    server.accept(encode(Hello(1)), encode(RIDE, 2.1))
    heard(client, State)
    assert not client.is_alive
    client.close()


def test_a_client_waits_for_the_unit_and_says_why(path: Path) -> None:
    clock = ManualClock()
    client = FeedClient(path, clock=clock)
    assert client.poll(0.0) == []
    assert client.trouble == f"{path}: No such file or directory"
    server = Server(path)
    assert client.poll(0.0) == []
    clock.advance(0.6)
    client.poll(0.0)
    assert client.is_connected
    link = server.accept(encode(Hello(1)), encode(RIDE))
    heard(client, State)
    server.close()
    link.close()
    client.poll(1.0)
    assert not client.is_alive
    assert client.trouble == f"{path}: the unit hung up"
    assert not client.send("mark")
    client.close()


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        (b"GET / HTTP/1.1\n", "not a line of the feed: JSON is malformed"),
        (
            b'{"class":"state","at_s":"now"}\n',
            "not a line of the feed: Expected `float`, got `str`",
        ),
        (b"\xff\x00\n", "not a line of the feed: "),
        (b"[" * 5000 + b"\n", "not a line of the feed: "),
        (b"x" * (1 << 20) + b"xx", "not a line of the feed: "),
        (
            b'{"class":"hello","feed":2}\n',
            "the unit speaks feed 2, this program 1. Update the older of the two.",
        ),
    ],
)
def test_a_client_leaves_what_does_not_speak_the_feed(
    line: bytes, trouble: str, server: Server, path: Path
) -> None:
    client = FeedClient(path)
    client.poll(0.0)
    sender = threading.Thread(target=server.accept, args=(line,))
    sender.start()
    deadline_s = Clock().mono_s() + WAIT_S
    while client.is_connected:
        assert Clock().mono_s() < deadline_s
        client.poll(0.5)
    assert client.trouble.startswith(f"{path}: {trouble}")
    assert not client.is_alive
    client.close()
    server.close()
    sender.join()
