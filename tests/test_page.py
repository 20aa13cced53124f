"""The page's server: what it tells, whom it refuses, and what a client that is stuck can't do."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from glass_scenes import RIDE, alert
from pages import STANDING, WAIT_S, Browser, PageProcess, Stream, Unit, frame_when, until, wrong

from firmware import __version__
from firmware.clock import Clock
from firmware.page import frame
from firmware.page.door import HEAD_S, MAX_CONNECTIONS
from firmware.page.guard import is_ours
from firmware.page.hub import MAX_SCREENS
from firmware.page.main import main
from firmware.state import MarkSeen, State


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

    # What it says is no dwelling is what the unit has nearest, and only a dwelling.
    until(lambda: browser.ask("/ask", {"do": "report"}).status == 409)
    unit.state = replace(unit.state, zone="dwelling", zone_id="house-7", zone_ft=140.0)
    until(lambda: browser.ask("/ask", {"do": "report"}).status == 200)
    assert (unit.asked[-1].action, unit.asked[-1].argument) == (
        "report",
        "house-7 not a dwelling, says the rider",
    )

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


def test_the_end_of_the_unit_is_told_at_once_and_so_is_its_return(
    served: PageProcess, folder: Path
) -> None:
    unit = Unit(folder / "feed.sock")
    with Stream(served) as stream:
        frame_when(stream, lambda one: one["life"] == "live")
        unit.stop()
        told = frame_when(stream, lambda one: one["life"] == "no-unit")
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
        told = frame_when(stream, lambda one: one["life"] == "no-unit")
        assert told["trouble"] == "the unit has said nothing for 2 s"


def test_a_screen_hears_of_the_page_twice_a_second_whatever_the_unit_does(
    served: PageProcess,
) -> None:
    with Stream(served) as stream:
        frames = stream.frames()
        sent_s = [next(frames)["sent_s"] for _ in range(6)]
    # the least gap: a busy machine may hold the page up, and nothing makes it hurry
    assert 0.0 < min(after - before for before, after in pairwise(sent_s)) < 1.0


def test_fifty_clients_that_never_read_cost_the_others_nothing(
    page: PageProcess, unit: Unit
) -> None:
    before_kb = _rss_kb(page)
    with Stream(page) as reader:
        frames = reader.frames()
        next(frames)
        crowd = [Stream(page, buffer_bytes=2048) for _ in range(50)]
        begun_s = Clock().mono_s()
        while Clock().mono_s() < begun_s + 4.0:  # long enough to fill all that the kernel buffers
            next(frames)
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


def test_the_rider_s_marks_are_counted_and_their_places_kept_back() -> None:
    marks = (
        MarkSeen("person", "a", 45.123456, -89.654321, 470.0),
        MarkSeen("shanty", "b", 45.2, -89.6, 7.0 * 86400),
        MarkSeen("shanty", "c", 45.2, -89.7, 9000.0),
    )
    said = {
        marks: "1 person and 2 shanties, the first ends in 8 min",
        marks[2:]: "1 shanty, the first ends in 2 h",
    }
    for shown, words in said.items():
        told = frame.frame_of(replace(STANDING, marks=shown))
        (sign,) = [one for one in told["signs"] if one["kind"] == "marks"]
        assert (sign["name"], sign["word"]) == ("Your marks", words)
        assert b"45.1" not in frame.encode(told)
    assert "marks" not in [one["kind"] for one in frame.frame_of(STANDING)["signs"]]


def test_markup_in_words_stays_words_of_json() -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    state: State = replace(STANDING, alerts=(alert(evil, why=evil),), zone=evil, zone_ft=10.0)
    told = json.loads(frame.encode(frame.frame_of(state)))
    assert told["alerts"][0]["lines"] == [evil]
