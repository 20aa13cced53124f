from __future__ import annotations

import json
import os
import select
import socket
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from glass_scenes import NO_FIX, RIDE, alert
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware import __version__
from firmware.clock import Clock, ManualClock
from firmware.errors import SledwardenError
from firmware.feed.client import FeedClient
from firmware.feed.messages import (
    MAX_COMMAND_BYTES,
    CommandError,
    Hello,
    LineCutter,
    Message,
    Refused,
    Taken,
    decode,
    decode_command,
    encode,
    encode_command,
)
from firmware.findings import Alert
from firmware.outputs import feed as feed_module
from firmware.outputs.feed import MAX_CLIENTS, MAX_COMMANDS_PER_S, Feed
from firmware.readings import Channel, Reading, Request
from firmware.state import State

WAIT_S = 60.0


class Posted:
    """The judging thread's queue, as far as the feed sees it."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self._came = threading.Condition()

    def __call__(self, reading: Reading) -> None:
        with self._came:
            self.readings.append(reading)
            self._came.notify_all()

    def wait_for(self, count: int) -> list[Reading]:
        with self._came:
            assert self._came.wait_for(lambda: len(self.readings) >= count, WAIT_S)
        return self.readings


class Raw:
    """A client that speaks the socket by hand."""

    def __init__(self, path: Path) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # first, while it blocks: with a timeout a Unix socket doesn't wait for a full queue
        self.link.connect(str(path))
        self.link.settimeout(WAIT_S)
        self._stream = self.link.makefile("rb")

    def line(self) -> dict[str, object]:
        """The next line; an empty dict at the end."""
        text = self._stream.readline()
        return json.loads(text) if text else {}

    def of(self, kind: str) -> dict[str, object]:
        """The next line of a class."""
        while (line := self.line()) and line["class"] != kind:
            pass
        return line

    def send(self, text: bytes) -> None:
        self.link.sendall(text)

    def close(self) -> None:
        self._stream.close()
        self.link.close()


@pytest.fixture
def posted() -> Posted:
    return Posted()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "feed.sock"


@pytest.fixture
def feed(path: Path, posted: Posted) -> Iterator[Feed]:
    served = Feed(path, posted, ManualClock(7.5))
    served.start()
    yield served
    served.stop()


@pytest.fixture
def raw(feed: Feed) -> Iterator[Raw]:
    client = Raw(feed.path)
    yield client
    client.close()


@pytest.fixture
def client(feed: Feed) -> Iterator[FeedClient]:
    heard = FeedClient(feed.path)
    yield heard
    heard.close()


def heard(client: FeedClient, kind: type, count: int = 1) -> list[Message]:
    """The messages up to the count-th of a kind."""
    messages: list[Message] = []
    deadline_s = Clock().mono_s() + WAIT_S
    while sum(isinstance(one, kind) for one in messages) < count:
        assert Clock().mono_s() < deadline_s, messages
        messages += client.poll(0.5)
    return messages


# -- what is pushed


def test_a_client_is_greeted_and_given_the_state_that_holds(feed: Feed) -> None:
    feed.push(RIDE)
    raw = Raw(feed.path)
    assert raw.line() == {"class": "hello", "feed": 1, "version": __version__, "pid": os.getpid()}
    state = raw.line()
    assert (state["class"], state["speed_mph"], state["modes"]) == ("state", 47.2, [])
    assert 0.0 <= float(str(state["age_s"])) < WAIT_S
    raw.close()


def test_each_push_and_each_change_of_an_alert_reaches_a_client(
    feed: Feed, client: FeedClient
) -> None:
    heard(client, Hello)
    assert client.state is None
    assert not client.is_alive
    feed.push(NO_FIX)
    assert heard(client, State)[-1] == NO_FIX
    assert client.is_alive
    told = alert("SLOW DOWN", why="57.4 mph in hours of darkness")
    feed.alert(told)
    feed.push(replace(RIDE, alert=told, alerts=(told,)))
    assert heard(client, State) == [told, replace(RIDE, alert=told, alerts=(told,))]
    assert client.state is not None
    assert client.state.alert == told


def test_every_alert_comes_in_order(feed: Feed, client: FeedClient) -> None:
    heard(client, Hello)
    told = [alert(f"ALERT {number}") for number in range(200)]
    for one in told:
        feed.alert(one)
    assert [one for one in heard(client, Alert, 200) if isinstance(one, Alert)] == told


def test_a_client_that_never_reads_delays_nobody_and_gets_no_old_states_later(
    feed: Feed, client: FeedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "STATE_GAP_S", 0.0)
    lazy = Raw(feed.path)
    heard(client, Hello)
    long = replace(RIDE, not_watched=("a duty: and a long reason why not" * 20,) * 4)
    for number in range(400):
        feed.push(replace(long, at_s=float(number)))
        if number % 20 == 0:
            heard(client, State)
    while client.state is None or client.state.at_s < 399.0:
        heard(client, State)
    seen = [float(str(lazy.of("state")["at_s"]))]
    feed.push(replace(long, at_s=1000.0))
    while seen[-1] < 1000.0:
        seen.append(float(str(lazy.of("state")["at_s"])))
    assert seen == sorted(seen)
    assert len(seen) < 100, "most of the states were never sent to it"
    lazy.close()


def test_a_client_that_takes_nothing_is_dropped_with_a_line_in_the_log(
    feed: Feed,
    client: FeedClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(feed_module, "STATE_GAP_S", 0.0)
    monkeypatch.setattr(feed_module, "STUCK_S", 0.05)
    lazy = Raw(feed.path)
    long = replace(RIDE, not_watched=("x" * 4000,))
    deadline_s = Clock().mono_s() + WAIT_S
    while "does not read: dropped" not in caplog.text:
        assert Clock().mono_s() < deadline_s
        feed.push(replace(long, at_s=Clock().mono_s()))
        heard(client, State)
    assert f"pid {os.getpid()}) does not read: dropped" in caplog.text
    while lazy.line():
        pass
    lazy.close()


def test_alerts_that_a_client_does_not_take_do_not_pile_up(
    feed: Feed, client: FeedClient, caplog: pytest.LogCaptureFixture
) -> None:
    lazy = Raw(feed.path)
    heard(client, Hello)
    told = alert("SLOW DOWN", why="x" * 2000)
    for _ in range(40):
        for _ in range(20):
            feed.alert(told)
        heard(client, Alert, 20)
    assert "does not read: dropped" in caplog.text
    lazy.close()


def test_pushing_never_waits_though_the_feeds_own_thread_is_held_up(path: Path) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(_: Reading) -> None:
        held.set()
        free.wait(WAIT_S)

    served = Feed(path, hold)
    served.start()
    raw = Raw(path)
    raw.send(b'{"do":"mark"}\n')
    assert held.wait(WAIT_S)
    for number in range(2000):
        served.push(replace(RIDE, at_s=float(number)))
        served.alert(alert("SLOW DOWN"))
    free.set()
    assert raw.of("state")["at_s"] == 1999.0
    served.stop()
    raw.close()


def test_a_state_says_how_old_it_is_when_it_is_sent(feed: Feed, client: FeedClient) -> None:
    feed.push(RIDE)
    heard(client, State)
    threading.Event().wait(0.12)
    late = Raw(feed.path)
    assert float(str(late.of("state")["age_s"])) >= 0.12
    late.close()


def test_pushing_before_the_start_and_after_the_stop_harms_nothing(
    path: Path, posted: Posted
) -> None:
    served = Feed(path, posted)
    served.push(NO_FIX)
    served.start()
    raw = Raw(path)
    assert raw.of("state")["speed_mph"] is None
    served.alert(alert("LAST WORDS"))
    served.stop()
    served.stop()
    served.push(RIDE)
    served.alert(alert("UNHEARD"))
    assert raw.of("alert")["words"] == "LAST WORDS"
    assert raw.line() == {}
    raw.close()


# -- who may connect


def test_the_seventeenth_client_is_refused_in_words_until_another_leaves(feed: Feed) -> None:
    seated = [Raw(feed.path) for _ in range(MAX_CLIENTS)]
    for one in seated:
        assert one.line()["class"] == "hello"
    refused = FeedClient(feed.path)
    assert heard(refused, Refused) == [Refused("16 clients are connected already: close one first")]
    assert refused.trouble == "16 clients are connected already: close one first"
    refused.close()
    seated.pop().close()
    deadline_s = Clock().mono_s() + WAIT_S
    while (late := Raw(feed.path)).line()["class"] != "hello":
        late.close()
        assert Clock().mono_s() < deadline_s
    for one in (*seated, late):
        one.close()


def test_the_socket_is_for_the_units_group_and_goes_with_the_unit(feed: Feed) -> None:
    assert stat.S_IMODE(feed.path.stat().st_mode) == 0o660
    feed.stop()
    assert not feed.path.exists()


def test_a_stale_socket_is_replaced(path: Path, posted: Posted) -> None:
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    dead.bind(str(path))
    dead.close()
    served = Feed(path, posted)
    served.start()
    raw = Raw(path)
    assert raw.line()["class"] == "hello"
    raw.close()
    served.stop()


def test_a_socket_that_is_served_is_refused_with_its_process(feed: Feed, posted: Posted) -> None:
    second = Feed(feed.path, posted)
    with pytest.raises(SledwardenError) as refusal:
        second.start()
    assert str(refusal.value) == (
        f"{feed.path}: process {os.getpid()} serves this feed already. "
        "Stop it first: one unit, one daemon."
    )
    second.stop()
    raw = Raw(feed.path)
    assert raw.line()["class"] == "hello", "the first one goes on"
    raw.close()


def test_a_file_at_the_path_is_left_alone(path: Path, posted: Posted) -> None:
    path.write_text("somebody's notes")
    with pytest.raises(SledwardenError, match="is a file, not a socket: it is left alone"):
        Feed(path, posted).start()
    assert path.read_text() == "somebody's notes"


def test_a_path_that_no_socket_can_have_is_told(tmp_path: Path, posted: Posted) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / ("x" * 120), tmp_path / "file" / "feed.sock"):
        with pytest.raises(SledwardenError) as refusal:
            Feed(path, posted).start()
        assert str(refusal.value).startswith(f"{path}: can't serve the feed: ")
        assert "Give a path of at most 100 letters" in str(refusal.value)


def test_a_socket_that_another_made_meanwhile_is_not_removed(feed: Feed, posted: Posted) -> None:
    feed.path.unlink()
    second = Feed(feed.path, posted)
    second.start()
    feed.stop()
    assert feed.path.exists()
    second.stop()


# -- what may be asked


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


# -- the client's side


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
