"""The page's server: what it tells, whom it refuses, and what a client that is stuck can't do."""

from __future__ import annotations

import contextlib
import errno
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from glass_scenes import NIGHT, NO_FIX, RIDE, SLOW_DOWN, alert
from pages import STANDING, WAIT_S, Browser, PageProcess, Stream, Unit, until

from firmware import __version__
from firmware.clock import Clock, ManualClock
from firmware.dash import screen
from firmware.findings import Cues, LightCue
from firmware.page import frame
from firmware.page.door import HEAD_S, MAX_CONNECTIONS, why_not
from firmware.page.guard import is_ours
from firmware.page.hub import MAX_SCREENS
from firmware.page.main import main
from firmware.page.pairing import (
    CODE_S,
    GAP_S,
    LONGEST_WAIT_S,
    MAX_SESSIONS,
    TRIES,
    Pairing,
    RefusedError,
)
from firmware.state import State

OVER = replace(
    RIDE,
    speed_mph=61.2,
    alert=SLOW_DOWN,
    alerts=(SLOW_DOWN,),
    cues=Cues(LightCue.RED_FLASH, is_watching=True),
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="sledwarden-test-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[PageProcess]:
    """One page for the tests that leave it as it was; its unit comes and goes."""
    with PageProcess(folder / "feed.sock") as page:
        yield page


@pytest.fixture
def unit(folder: Path) -> Iterator[Unit]:
    one = Unit(folder / "feed.sock")
    yield one
    one.stop()


@pytest.fixture
def page(unit: Unit) -> Iterator[PageProcess]:
    """A page of its own, for a test that pairs."""
    with PageProcess(unit.path) as one:
        with Stream(one) as stream:
            frame_when(stream, lambda told: told["life"] == "live")
        until(lambda: _connections(one) == 0)
        yield one


def frame_when(stream: Stream, wanted: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    deadline_s = Clock().mono_s() + WAIT_S
    for one in stream.frames():
        if wanted(one):
            return one
        assert Clock().mono_s() < deadline_s, one
    raise AssertionError("the page hung up")


# -- what a frame says


def test_a_frame_says_in_words_what_the_glass_shows() -> None:
    told = frame.frame_of(OVER)
    assert (told["speed"], told["limit"], told["is_over"]) == (61, 55, True)
    assert told["limit_why"] == "After dark, not faster than 55 mph."
    assert told["limit_clause"] == NIGHT
    assert (told["level"], told["is_flashing"]) == ("now", True)
    assert told["alerts"][0]["lines"] == ["SLOW DOWN", "LIMIT 55"]
    assert told["alerts"][0]["law"] == "Night speed"
    assert [(one["name"], one["word"], one["mark"]) for one in told["signs"]] == [
        ("Head lamp", "lit", "good"),
        ("Tail lamp", "lit", "good"),
        ("Tether", "attached", "good"),
        ("Engine", "running", "plain"),
        ("GPS", "fix, 9 satellites", "good"),
        ("Clock", "no date known", "unknown"),
        ("Journal", "3.2 GB free", "good"),
    ]


def test_the_dots_of_a_frame_are_the_glass() -> None:
    import base64

    dots = base64.b64decode(frame.frame_of(OVER)["glass"])
    assert dots == screen.draw(SLOW_DOWN, OVER).tobytes()
    dots = base64.b64decode(frame.dead_frame("gone")["glass"])
    assert dots == screen.draw_no_unit().tobytes()


def test_what_is_not_known_is_no_number_and_said_why() -> None:
    told = frame.frame_of(NO_FIX)
    assert (told["speed"], told["limit"], told["is_watching"]) == (None, None, False)
    assert told["speed_why"] == "Speed not known: no fix: the receiver says V"
    assert told["limit_why"] == "Limit not known"
    assert [one["duty"] for one in told["not_watched"]] == [
        "Night speed", "Near dwellings at night", "On the ice near people and shanties",
    ]  # fmt: skip


def test_a_frame_holds_no_place() -> None:
    told = frame.encode(frame.frame_of(RIDE)).decode()
    assert str(RIDE.lat_deg) not in told
    assert str(RIDE.lon_deg) not in told


def test_a_dead_frame_holds_nothing_that_was_alive() -> None:
    assert frame.dead_frame("gone").keys() == {"life", "glass", "trouble"}


@pytest.mark.parametrize("code", ["0000", "4711"])
def test_a_code_on_the_glass_is_in_no_frame(code: str) -> None:
    with_code = frame.frame_of(replace(STANDING, prompt=f"{frame.CODE_WORDS} {code}"))
    assert with_code == frame.frame_of(replace(STANDING, prompt=frame.HIDDEN_CODE))
    assert code not in frame.encode(with_code).decode()


# -- pairing


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(100.0)


def refusal(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(RefusedError) as refused:
        call()
    return refused.value.status, refused.value.what


def wrong(code: str) -> str:
    return "1111" if code != "1111" else "2222"


def test_the_right_code_pairs_once_and_only_the_browser_that_asked(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    offer = pairing.begin()
    assert re.fullmatch(r"[0-9]{4}", offer.code)
    over = (410, "That code is over. Ask for a new one.")
    assert refusal(lambda: pairing.enter("", offer.code)) == over
    assert refusal(lambda: pairing.enter("another", offer.code)) == over
    session = pairing.enter(offer.asker, offer.code)
    assert pairing.is_paired(session)
    assert not pairing.is_paired("")
    assert refusal(lambda: pairing.enter(offer.asker, offer.code)) == over
    pairing.end(session)
    assert not pairing.is_paired(session)


def test_a_code_is_over_after_a_minute(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    offer = pairing.begin()
    clock.advance(CODE_S - 0.1)
    assert pairing.is_pending
    clock.advance(0.1)
    assert not pairing.is_pending
    assert refusal(lambda: pairing.enter(offer.asker, offer.code))[0] == 410


def test_wrong_tries_are_counted_over_all_codes_and_make_the_next_one_wait(
    clock: ManualClock,
) -> None:
    pairing = Pairing(clock)
    said = []
    for _ in range(TRIES):  # a new code for each try gives no new tries
        offer = pairing.begin()
        said.append(refusal(lambda: pairing.enter(offer.asker, wrong(offer.code))))  # noqa: B023 - called at once
        pairing.cancel(offer.asker)
        clock.advance(GAP_S)
    assert said == [
        (403, "Not the code on the glass. 2 tries left."),
        (403, "Not the code on the glass. One try left."),
        (429, "Not the code on the glass. A new code can be had in 10 s."),
    ]
    assert refusal(pairing.begin) == (429, "Too many wrong tries. A new code can be had in 7 s.")


def test_guessing_for_a_day_is_a_hundred_tries(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    tries = 0
    end_s = clock.mono_s() + 86_400.0
    while clock.mono_s() < end_s:
        try:
            offer = pairing.begin()
        except RefusedError:
            clock.advance(30.0)
            continue
        refusal(lambda: pairing.enter(offer.asker, wrong(offer.code)))  # noqa: B023 - called at once
        tries += 1
        pairing.cancel(offer.asker)
        clock.advance(GAP_S)
    assert tries <= 3 * (86_400.0 / LONGEST_WAIT_S + 10)


def test_another_phone_waits_for_the_first(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    pairing.begin()
    clock.advance(20.0)
    assert refusal(pairing.begin) == (
        409, "Another phone is being paired. Try again in 40 s.",
    )  # fmt: skip


def test_codes_come_no_faster_than_a_person_asks(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    pairing.cancel(pairing.begin().asker)
    assert refusal(pairing.begin) == (429, "That was quick. Try again in a moment.")


def test_one_phone_too_many_ends_the_oldest(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    sessions = []
    for _ in range(MAX_SESSIONS + 1):
        clock.advance(GAP_S)
        offer = pairing.begin()
        sessions.append(pairing.enter(offer.asker, offer.code))
    assert [pairing.is_paired(one) for one in sessions] == [False] + [True] * MAX_SESSIONS


def paired(page: PageProcess, unit: Unit) -> Browser:
    browser = Browser(page)
    assert browser.ask("/pair", {}).status == 200
    code = unit.prompts()[-1].removeprefix("PAGE CODE ")
    until(lambda: "PAGE CODE" in unit.state.prompt)
    assert browser.ask("/pair/code", {"code": code}).text == '{"is_paired":true}'
    return browser


def test_a_phone_that_has_read_the_glass_may_acknowledge_and_mark(
    page: PageProcess, unit: Unit
) -> None:
    browser = Browser(page)
    answer = browser.ask("/ask", {"do": "acknowledge"})
    assert (answer.status, answer.what) == (401, "This phone is not paired with the unit.")
    assert unit.asked == []

    with Stream(page) as looks:
        answer = browser.ask("/pair", {})
        assert answer.text == '{"valid_s":60.0,"digits":4}'
        code = re.fullmatch(r"PAGE CODE ([0-9]{4})", unit.prompts()[-1])
        assert code is not None
        told = frame_when(looks, lambda one: one["prompt"] != "")
        assert told["prompt"] == frame.HIDDEN_CODE
    answer = browser.ask("/pair/code", {"code": wrong(code[1])})
    assert (answer.status, answer.what) == (403, "Not the code on the glass. 2 tries left.")
    answer = browser.ask("/pair/code", {"code": code[1]})
    line = next(one for one in answer.headers.get_all("set-cookie", [])
                if one.startswith(f"{browser.session_name}="))  # fmt: skip
    bounds = {part.strip().lower() for part in line.split(";")[1:]}
    assert bounds == {"httponly", "path=/", "samesite=strict"}
    until(lambda: unit.prompts()[-1] == "")

    assert browser.ask("/ask", {"do": "acknowledge"}).text == '{"did":"acknowledge"}'
    answer = browser.ask("/ask", {"do": "mark", "argument": "shanty"})
    assert (answer.status, answer.what) == (429, "That was quick. Try again in a moment.")
    until(lambda: browser.ask("/ask", {"do": "mark", "argument": "shanty"}).status == 200)
    asked = [(one.action, one.argument) for one in unit.asked if one.action != "prompt"]
    assert asked == [("note", "paired with the page"), ("acknowledge", ""), ("mark", "shanty")]
    assert all(re.match(r"page(?: 127\.0\.0\.1)? \(uid \d+, pid \d+\)$", one.by)
               for one in unit.asked)  # fmt: skip

    browser.ask("/unpair", {})
    assert browser.ask("/ask", {"do": "acknowledge"}).status == 401


def test_a_stream_knows_whether_its_browser_is_paired_and_a_new_process_knows_nobody(
    page: PageProcess, unit: Unit
) -> None:
    browser = paired(page, unit)
    cookie = f"{browser.session_name}={browser.cookies[browser.session_name]}"
    with Stream(page, cookie) as stream:
        name, hello = next(stream.events())
        assert name == "hello"
        server = hello.pop("server")
        assert hello == {"is_paired": True, "unit": "", "version": __version__}
    assert page.end() == (0, "")
    with PageProcess(unit.path, port=page.port) as again, Stream(again, cookie) as stream:
        name, hello = next(stream.events())
        assert (name, hello["is_paired"]) == ("hello", False)
        assert hello["server"] != server


def test_no_code_is_put_on_the_glass_of_a_sled_that_moves(page: PageProcess, unit: Unit) -> None:
    unit.state = RIDE
    with Stream(page) as looks:
        frame_when(looks, lambda one: one["speed"] == 47)
    answer = Browser(page).ask("/pair", {})
    assert (answer.status, answer.what) == (
        409, "Stop first: a phone is paired while the sled stands.",
    )  # fmt: skip
    assert unit.asked == []


def test_no_code_takes_the_place_of_a_question_of_the_glass(page: PageProcess, unit: Unit) -> None:
    unit.state = replace(STANDING, prompt="OPEN PORT?")
    with Stream(page) as looks:
        frame_when(looks, lambda one: one["prompt"] == "OPEN PORT?")
    answer = Browser(page).ask("/pair", {})
    assert (answer.status, answer.what) == (409, "The glass asks something: answer that first.")


def test_a_code_is_taken_off_the_glass_when_it_is_cancelled_and_when_the_page_ends(
    page: PageProcess, unit: Unit
) -> None:
    browser = Browser(page)
    browser.ask("/pair", {})
    browser.ask("/pair/cancel", {})
    assert [bool(one) for one in unit.prompts()] == [True, False]
    until(lambda: browser.ask("/pair", {}).status == 200)
    assert page.end() == (0, "")
    assert unit.prompts()[-1] == ""


def test_a_code_that_a_killed_page_left_is_taken_off_by_the_next(unit: Unit) -> None:
    unit.state = replace(STANDING, prompt="PAGE CODE 4711")
    with PageProcess(unit.path):
        until(lambda: unit.prompts() == [""])


def test_a_code_that_is_asked_for_as_soon_as_the_page_is_there_stays(unit: Unit) -> None:
    with PageProcess(unit.path) as page:
        until(lambda: Browser(page).ask("/pair", {}).status == 200)
        with Stream(page) as looks:
            frames = looks.frames()
            for _ in range(6):
                next(frames)
        assert [bool(one) for one in unit.prompts()] == [True]


# -- who is refused


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost.", "10.1.2.3", "",
     "localhost:8350:1", "[::1", "0x7f.1", "user@localhost"],
)  # fmt: skip
def test_a_name_that_was_made_to_lead_here_reaches_nothing(served: PageProcess, host: str) -> None:
    for path in ("/", "/events", "/static/page.js"):
        answer = Browser(served).ask(path, host=host)
        assert answer.status == 421
        assert answer.text.startswith("This unit's page is not called that.")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:{port}", "LOCALHOST", "[::1]:9000"])
def test_its_own_names_are_served(served: PageProcess, host: str) -> None:
    assert Browser(served).ask("/", host=host.format(port=served.port)).status == 200


@pytest.mark.parametrize(
    ("host", "address", "answer"),
    [
        ("192.168.4.1:8350", "192.168.4.1", True),
        ("192.168.4.1:8350", "::ffff:192.168.4.1", True),
        ("[fe80::1]:8350", "fe80::1%wlan0", True),
        ("sled.lan", "192.168.4.1", True),
        ("192.168.4.2:8350", "192.168.4.1", False),
        ("other.lan", "192.168.4.1", False),
    ],
)
def test_the_address_that_was_connected_to_and_the_configured_name_are_ours(
    host: str, address: str, answer: bool
) -> None:
    assert is_ours(host, {"localhost", "sled.lan"}, address) is answer


FOREIGN = "http://evil.example"


@pytest.mark.parametrize("path", ["/pair", "/pair/code", "/pair/cancel", "/unpair", "/ask"])
@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"origin": FOREIGN}, 403, "Asked from another site: only the unit's own page may ask.\n"),
        ({"origin": "null"}, 403, "Asked from another site: only the unit's own page may ask.\n"),
        ({"origin": None}, 403, "Asked without an Origin: only the unit's own page may ask.\n"),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 403,
         "Asked from another site: only the unit's own page may ask.\n"),
        ({"content_type": "text/plain"}, 415, "The content type must be application/json.\n"),
        ({"content_type": None}, 415, "The content type must be application/json.\n"),
        ({"content_length": "1025"}, 413, "At most 1024 bytes are taken.\n"),
        ({"content_length": None, "transfer_encoding": "chunked"}, 411,
         "The length of the content must be given.\n"),
    ],
)  # fmt: skip
def test_nothing_is_taken_from_another_site_or_in_another_form(
    served: PageProcess, path: str, headers: dict[str, str | None], status: int, words: str
) -> None:
    answer = Browser(served).ask(path, {}, **headers)
    assert (answer.status, answer.text) == (status, words)


@pytest.mark.parametrize("path", ["/", "/events", "/static/page.js"])
def test_another_site_reads_nothing(served: PageProcess, path: str) -> None:
    assert Browser(served).ask(path, origin=FOREIGN).status == 403
    assert Browser(served).ask(path, sec_fetch_site="cross-site").status == 403


def test_a_link_from_another_site_may_lead_here(served: PageProcess) -> None:
    headers = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert Browser(served).ask("/", **headers).status == 200


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/pair/code", b"not json"), ("/pair/code", {"code": 4711}), ("/pair/code", {}),
        ("/pair/code", b"[" * 1000), ("/pair", {"more": 1}),
    ],
)  # fmt: skip
def test_content_that_is_not_what_is_taken_is_refused_in_words(
    served: PageProcess, path: str, content: object
) -> None:
    answer = Browser(served).ask(path, content)
    assert answer.status == 400
    assert answer.what.startswith("Not what is taken here: ")


@pytest.mark.parametrize(
    "path",
    ["/static/../main.py", "/static/..%2fmain.py", "/static/%2e%2e/main.py", "/static//etc/passwd",
     "/static/..\\main.py", "/main.py", "/static/", "/static", "/static/index.html", "//",
     "/static/page.js%00.html"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page_s_files(served: PageProcess, path: str) -> None:
    assert Browser(served).ask(path).status == 404


def test_methods_that_nothing_needs_are_refused(served: PageProcess) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert Browser(served).ask("/", method=method).status == 405
    assert Browser(served).ask("/ask").status == 405
    assert Browser(served).ask("/events", {}).status == 405


def test_every_answer_forbids_all_that_is_foreign(served: PageProcess) -> None:
    for path in ("/", "/static/page.css", "/nowhere"):
        headers = Browser(served).ask(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_the_files_hold_no_script_or_style_in_the_markup_and_no_address_outside() -> None:
    static = Path(frame.__file__).parent / "static"
    text = (static / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", text)
    for file in static.iterdir():
        known = {"http://www.w3.org/2000/svg"}
        assert set(re.findall(r"[a-z]+://[^\s\"')]+", file.read_text())) <= known, file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(", file.read_text())


# -- the stream


def test_the_end_of_the_unit_is_told_at_once_and_so_is_its_return(
    served: PageProcess, folder: Path
) -> None:
    unit = Unit(folder / "feed.sock")
    with Stream(served) as stream:
        frame_when(stream, lambda one: one["life"] == "live")
        unit.stop()
        ended_s = Clock().mono_s()
        told = frame_when(stream, lambda one: one["life"] == "no-unit")
        assert Clock().mono_s() - ended_s < 1.0
        assert told["trouble"] == f"{folder}/feed.sock: the unit hung up"
        unit = Unit(folder / "feed.sock")
        frame_when(stream, lambda one: one["life"] == "live")
        unit.stop()


def test_a_unit_that_is_there_and_says_nothing_is_gone_after_two_seconds(
    served: PageProcess, unit: Unit
) -> None:
    with Stream(served) as stream:
        frame_when(stream, lambda one: one["life"] == "live")
        unit.is_talking = False
        quiet_s = Clock().mono_s()
        told = frame_when(stream, lambda one: one["life"] == "no-unit")
        assert 1.8 < Clock().mono_s() - quiet_s < 2.6
        assert told["trouble"] == "the unit has said nothing for 2 s"


def test_a_screen_hears_of_the_page_twice_a_second_whatever_the_unit_does(
    served: PageProcess,
) -> None:
    with Stream(served) as stream:
        frames = stream.frames()
        first, second, third = (next(frames)["sent_s"] for _ in range(3))
    assert second - first < 1.0
    assert third - second < 1.0


def test_fifty_clients_that_never_read_cost_the_others_nothing(
    page: PageProcess, unit: Unit
) -> None:
    before_kb = _rss_kb(page)
    with Stream(page) as reader:
        frames = reader.frames()
        next(frames)
        crowd = [Stream(page, buffer_bytes=2048) for _ in range(50)]
        begun_s = Clock().mono_s()
        gaps, last_s = [], begun_s
        while last_s < begun_s + 4.0:  # long enough to fill all that the kernel buffers
            next(frames)
            now_s = Clock().mono_s()
            gaps.append(now_s - last_s)
            last_s = now_s
        assert max(gaps) < 1.0
        assert Browser(page).ask("/").status == 200
        with Stream(page) as newcomer:  # a place is made by one that does not read
            assert next(newcomer.frames())["life"] == "live"
        assert _rss_kb(page) - before_kb < 16_000
        for one in crowd:
            one.close()
    until(lambda: _connections(page) == 0)


def test_a_screen_too_many_is_told_so_while_the_others_read(page: PageProcess, unit: Unit) -> None:
    streams = [Stream(page) for _ in range(MAX_SCREENS)]
    for one in streams:
        next(one.frames())
    answer = Browser(page).ask("/events")
    assert (answer.status, answer.text) == (
        503, "16 screens look at this unit already: close one first.\n",
    )  # fmt: skip
    for one in streams:
        one.close()
    until(lambda: _is_served(page))


def _is_served(page: PageProcess) -> bool:
    with Stream(page) as stream:
        return b"200 OK" in stream.link.recv(100)


def test_connections_are_bounded_and_one_that_asks_nothing_is_hung_up_on(
    page: PageProcess,
) -> None:
    idle = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(MAX_CONNECTIONS)]
    for one in idle[::2]:
        one.sendall(b"GET / HTT")
    extra = socket.create_connection(("127.0.0.1", page.port))
    begun_s = Clock().mono_s()
    assert _is_hung_up_on(extra)
    assert Clock().mono_s() - begun_s < HEAD_S / 2
    assert [_is_hung_up_on(one) for one in idle] == [True] * MAX_CONNECTIONS
    assert Browser(page).ask("/").status == 200


def _is_hung_up_on(link: socket.socket) -> bool:
    link.settimeout(WAIT_S)
    with contextlib.closing(link):
        try:
            return link.recv(1) == b""
        except ConnectionResetError:
            return True


def _rss_kb(page: PageProcess) -> int:
    status = Path(f"/proc/{page.process.pid}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert match is not None
    return int(match[1])


def _connections(page: PageProcess) -> int:
    """How many connections the kernel holds at the page's port (proc(5), state 01)."""
    port = f"{page.port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(line.split()[1].endswith(f":{port}") and line.split()[3] == "01" for line in lines)


# -- the program


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_while_screens_look(folder: Path, number: signal.Signals) -> None:
    with PageProcess(folder / "none.sock") as page, Stream(page) as stream:
        frames = stream.frames()
        next(frames)
        begun_s = Clock().mono_s()
        assert page.end(number) == (0, "")
        assert Clock().mono_s() - begun_s < 3.0
        for _ in frames:
            pass


def test_a_port_that_is_taken_is_one_sentence(
    served: PageProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--port", str(served.port)]) == 2
    assert capsys.readouterr().err == (
        f"127.0.0.1:{served.port}: another program listens there already: a free port was "
        "expected. Give one with --port.\n"
    )


def test_an_address_of_another_machine_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "192.0.2.1", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "192.0.2.1:0: is no address of this machine. Give one with --host, like 127.0.0.1 for "
        "this machine alone or 0.0.0.0 for all its networks.\n"
    )


def test_a_host_that_is_none_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "no such host", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "no such host:0: there is no such host: an address of this machine was expected. Give "
        "one with --host, like 127.0.0.1.\n"
    )


def test_a_privileged_port_is_one_sentence() -> None:
    assert why_not(OSError(errno.EACCES, "Permission denied")) == (
        "this user may not listen there: a port from 1024 was expected.",
        "Give one with --port.",
    )


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_wrong_use(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"--port={port}"])
    assert ended.value.code == 2
    assert f"{port}: must be a whole number from 0 to 65535" in capsys.readouterr().err


def test_the_configuration_says_where_and_the_options_win(tmp_path: Path) -> None:
    config = tmp_path / "sledwarden.toml"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config.write_text(
        f'[unit]\nid = "sled-7"\n[feed]\npath = "{tmp_path}/f.sock"\n[page]\nport = {port}\n'
    )
    command = [sys.executable, "-m", "firmware.page.main", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"sledwarden-page: http://127.0.0.1:{port}/\n"
        process.terminate()
    with PageProcess(tmp_path / "g.sock", "--config", str(config)) as page, Stream(page) as stream:
        assert next(stream.events())[1]["unit"] == "sled-7"
        away = f"{tmp_path}/g.sock: No such file or directory"
        frame_when(stream, lambda told: told["trouble"] == away)


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "sledwarden-page --feed /run/sledwarden/feed.sock --port 8350" in capsys.readouterr().out


def test_the_program_imports_nothing_that_senses_or_judges() -> None:
    code = "import sys, firmware.page.main; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    strangers = ("firmware.rules", "firmware.sources", "firmware.buses", "firmware.monitor",
                 "firmware.journal", "firmware.outputs", "gpiozero", "smbus2", "serial", "mcap",
                 "cryptography")  # fmt: skip
    assert [one for one in loaded if one.startswith(strangers)] == []


# -- what is told becomes no markup (that a browser agrees is tried in test_page_browser.py)


def test_markup_in_words_stays_words_of_json() -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    state: State = replace(STANDING, alerts=(alert(evil, why=evil),), zone=evil, zone_ft=10.0)
    told = json.loads(frame.encode(frame.frame_of(state)))
    assert told["alerts"][0]["lines"] == [evil]
