"""The daemon's socket: what may be asked, and what nobody may make it do."""

from __future__ import annotations

import os
import select

import feed_rig
import pytest
from feed_rig import WAIT_S, Posted, Raw, heard
from glass_scenes import RIDE
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.clock import Clock
from firmware.feed.client import FeedClient
from firmware.feed.messages import (
    MAX_COMMAND_BYTES,
    CommandError,
    Hello,
    LineCutter,
    Taken,
    decode_command,
)
from firmware.outputs.feed import MAX_COMMANDS_PER_S, Feed
from firmware.readings import Channel, Reading, Request
from firmware.state import State

path, posted, feed, raw, client = (
    feed_rig.path,
    feed_rig.posted,
    feed_rig.feed,
    feed_rig.raw,
    feed_rig.client,
)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ('{"do":"acknowledge"}', Request("acknowledge")),
        ('{"do":"mark"}', Request("mark")),
        ('{"do":"mark","argument":"shanty"}', Request("mark", "shanty")),
        ('{"do":"mode","argument":" race  on"}', Request("mode", "race on")),
        ('{"do":"test"}', Request("test")),
        ('{"do":"prompt","argument":"OPEN PORT?"}', Request("prompt", "OPEN PORT?")),
        ('{"do":"note","argument":"trail 13 is iced"}', Request("note", "trail 13 is iced")),
        ('{"do":"restart"}', Request("restart")),
    ],
)
def test_a_command_becomes_a_reading_of_the_judging_thread(
    line: str, request_: Request, raw: Raw, posted: Posted
) -> None:
    raw.send(line.encode() + b"\n")
    assert raw.of("taken") == {"class": "taken", "do": request_.action}
    by = f"uid {os.getuid()}, pid {os.getpid()}"
    request = Request(request_.action, request_.argument, by)
    assert posted.wait_for(1) == [Reading(Channel.REQUEST, request, 7.5, "feed")]


def test_who_asked_is_what_the_client_says_and_what_the_kernel_knows(
    client: FeedClient, posted: Posted
) -> None:
    heard(client, Hello)
    assert client.send("acknowledge", by="page 192.168.4.2")
    assert heard(client, Taken) == [Taken("acknowledge")]
    request = posted.wait_for(1)[0].value
    assert isinstance(request, Request)
    assert request.by == f"page 192.168.4.2 (uid {os.getuid()}, pid {os.getpid()})"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (
            b"acknowledge",
            "not a command: JSON is malformed: invalid character (byte 0). "
            'Send one JSON object a line, like {"do":"acknowledge"}.',
        ),
        (b"", "not a command: Input data was truncated. "),
        (b"[1,2]", "not a command: Expected `object`, got `array`. "),
        (b'{"do":7}', "not a command: Expected `str`, got `int` - at `$.do`. "),
        (b"{}", "not a command: Object missing required field `do`. "),
        (b'{"do":"mark","by":null}', "not a command: Expected `str`, got `null` - at `$.by`. "),
        (b'{"do":"mark","speed":9}', "not a command: Object contains unknown field `speed`. "),
        (b"\xff\xfe\x00\x01", "not a command: JSON is malformed: invalid character (byte 0). "),
        (b"[" * 4000, "not a command: Expected `object`, got `array`. "),
        (b'{"x":' + b"[" * 4000, "not a command: "),
        (
            b'{"do":"explode"}',
            'do = "explode": must be one of acknowledge, mark, unmark, report, mode, race, test, '
            "prompt, note, restart, date, forget, key.",
        ),
        (b'{"do":"restart","argument":"now"}', "restart: argument: takes none."),
        (b'{"do":"note"}', "note: argument: must be the text of the note."),
        (
            b'{"do":"mode","argument":"race"}',
            'mode: argument = "race": must be NAME on or NAME off, and why.',
        ),
        (
            b'{"do":"mode","argument":"race maybe"}',
            'mode: argument = "race maybe": must be NAME on or NAME off, and why.',
        ),
        (
            b'{"do":"note","argument":"a\\u001b[2J"}',
            "note: argument: must be one line of at most 500 letters.",
        ),
        (
            b'{"do":"note","argument":"' + b"x" * 501 + b'"}',
            "note: argument: must be one line of at most 500 letters.",
        ),
        (
            b'{"do":"note","argument":"' + b"x" * 4096 + b'"}',
            "a line of more than 4096 bytes: it is not read",
        ),
    ],
)
def test_what_can_not_be_taken_is_answered_in_words(
    line: bytes, answer: str, raw: Raw, posted: Posted
) -> None:
    raw.send(line + b"\n")
    error = raw.of("error")
    assert str(error["what"]).startswith(answer)
    raw.send(b'{"do":"mark"}\n')
    assert raw.of("taken") == {"class": "taken", "do": "mark"}
    assert len(posted.wait_for(1)) == 1


def test_a_line_that_never_ends_is_answered_once_and_then_skipped(raw: Raw) -> None:
    for _ in range(50):
        raw.send(b"x" * 1000)
    raw.send(b'"}\n{"do":"mark"}\n')
    assert raw.of("error")["what"] == "a line of more than 4096 bytes: it is not read"
    assert raw.line() == {"class": "taken", "do": "mark"}


def test_the_longest_line_that_is_allowed_is_read(raw: Raw) -> None:
    command = b'{"do":"mark"}'
    raw.send(command + b" " * (MAX_COMMAND_BYTES - len(command)) + b"\n")
    assert raw.of("taken") == {"class": "taken", "do": "mark"}


def test_a_flood_of_commands_is_thinned_and_the_judging_thread_spared(
    raw: Raw, posted: Posted
) -> None:
    raw.send(b'{"do":"mark"}\n' * 100)
    answers = [raw.line() for _ in range(101)][1:]
    assert sum(one["class"] == "taken" for one in answers) <= 2 * MAX_COMMANDS_PER_S
    assert answers[-1] == {
        "class": "error",
        "what": "too many commands: at most 20 a second are taken",
    }


def test_a_client_that_asks_and_never_reads_is_not_listened_to_for_ever(
    feed: Feed, client: FeedClient
) -> None:
    rude = Raw(feed.path)
    rude.link.setblocking(False)
    deadline_s = Clock().mono_s() + WAIT_S
    blocked = False
    while not blocked:
        assert Clock().mono_s() < deadline_s, "the feed reads questions without an end"
        try:
            rude.send(b"what?\n" * 1000)
        except BlockingIOError:
            blocked = not select.select([], [rude.link], [], 0.5)[1]
    feed.push(RIDE)
    heard(client, State)
    rude.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=8))
def test_no_bytes_stop_the_feed(chunks: list[bytes]) -> None:
    for chunk in chunks:
        for line in chunk.split(b"\n"):
            try:
                assert isinstance(decode_command(line), Request)
            except CommandError as refusal:
                assert str(refusal)


def test_rubbish_on_the_wire_leaves_the_feed_serving(feed: Feed, posted: Posted) -> None:
    for seed in range(20):
        rude = Raw(feed.path)
        rude.send(bytes((seed * 7 + n * n) % 256 for n in range(3000)))
        rude.close()
    raw = Raw(feed.path)
    raw.send(b'{"do":"mark"}\n')
    assert raw.of("taken")["do"] == "mark"
    raw.close()


@given(st.binary(max_size=400), st.integers(1, 60), st.integers(1, 50))
def test_lines_are_cut_alike_however_they_arrive(text: bytes, limit: int, piece: int) -> None:
    whole = LineCutter(limit).cut(text + b"\n")
    cutter = LineCutter(limit)
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    cut = [line for part in [*pieces, b"\n"] for line in cutter.cut(part)]
    assert cut == whole
    assert whole == [one if len(one) <= limit else None for one in text.split(b"\n")]
