"""The daemon's socket: what is pushed, and who may connect."""

from __future__ import annotations

import os
import socket
import stat
import threading
from dataclasses import replace
from pathlib import Path

import feed_rig
import pytest
from feed_rig import WAIT_S, Posted, Raw, heard
from glass_scenes import NO_FIX, RIDE, alert

from firmware import __version__
from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.feed.client import FeedClient
from firmware.feed.messages import (
    Hello,
    Refused,
)
from firmware.findings import Alert
from firmware.outputs import feed as feed_module
from firmware.outputs.feed import MAX_CLIENTS, Feed
from firmware.readings import Reading
from firmware.state import State

path, posted, feed, client = feed_rig.path, feed_rig.posted, feed_rig.feed, feed_rig.client


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
