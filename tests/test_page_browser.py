"""The page in a real Chromium: what a rider sees of a real unit, and what axe-core says of it."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from daemons import Daemon
from node_packages import node_packages
from page_scenes import (
    ARGUMENTS,
    CALM,
    CHROMIUM,
    DAY,
    DESK,
    PHONE,
    SCENES,
    SIZES,
    alert,
    told,
)
from pages import STANDING, WAIT_S, PageProcess, Unit, until
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from firmware.clock import Clock
from firmware.findings import LightCue
from firmware.journal import reader
from firmware.readings import Reading, Request
from firmware.state import State

expect.set_options(timeout=WAIT_S * 1000)

DRIVE = """\
# Name: Stands, then rides too fast after dark
# Law: wi
# Start: 2026-01-15T03:46:00Z
# Floor: 2025-01-01
# Shows: the page of a real unit
0.0   engine on
0.0   lamp head supply=on light=850
0.0   lamp tail supply=on light=300 colour=red
2.0   ride lat=44.05 lon=-88.43 heading=90 speed=0
40.0  ride speed=62 over=8
400.0 end
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Sight:
    """A window that collects all that the browser complains of."""

    def __init__(self, chromium: Browser, size: tuple[int, int] = PHONE, **settings: Any) -> None:
        viewport = {"width": size[0], "height": size[1]}
        self.context: BrowserContext = chromium.new_context(viewport=viewport, **settings)  # type: ignore[arg-type]  # a TypedDict
        self.context.set_default_timeout(WAIT_S * 1000)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("console", lambda said: self.complaints.append(said.text))

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.context.close()


def life(page: Page, wanted: str) -> None:
    page.wait_for_selector(f"html[data-life='{wanted}']", timeout=WAIT_S * 1000)


def text(page: Page, selector: str) -> str:
    return (page.locator(selector).text_content() or "").strip()


@pytest.fixture(scope="module")
def unit() -> Iterator[Unit]:
    with tempfile.TemporaryDirectory(prefix="sledwarden-test-") as folder:
        one = Unit(Path(folder) / "feed.sock")
        yield one
        one.stop()


@pytest.fixture(scope="module")
def served(unit: Unit) -> Iterator[PageProcess]:
    with PageProcess(unit.path) as page:
        yield page


def show(page: Page, unit: Unit, state: State) -> None:
    """Waits until the page shows this state and no other."""
    unit.state, unit.is_talking = state, True
    unit.come_back()
    life(page, "live")
    speed = "--" if state.speed_mph is None else f"{state.speed_mph:.0f}"
    expect(page.locator("#speed")).to_have_text(speed)
    level = {"o": "calm", "a": "look", "r": "now"}[state.cues.light[0]]
    page.wait_for_selector(f"html[data-level='{level}']")
    loud = state.alert is not None and state.alert.state == "raised"
    page.wait_for_selector(f"html[data-loud='{'yes' if loud else 'no'}']")


def test_a_keyboard_alone_pairs_and_acknowledges_a_real_unit_that_dies_and_comes_back(
    chromium: Browser, tmp_path: Path
) -> None:
    drive = tmp_path / "ride.drive"
    drive.write_text(DRIVE)
    arguments = ("--simulate", str(drive), "--speed", "8")
    sight = Sight(chromium)
    with (
        Daemon(tmp_path, *arguments) as daemon,
        PageProcess(daemon.feed_path) as served,
        sight as page,
    ):
        page.goto(served.address)
        life(page, "live")
        expect(page.locator("#speed")).to_have_text("0")

        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "pair-open"
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "solid" in outline
        assert "4px" in outline
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open]")
        # what stands on the glass comes by the unit's own feed; the page shows only that it does
        prompt = daemon.wait_for(lambda state: state.prompt.startswith("PAGE CODE ")).prompt
        code = prompt.removeprefix("PAGE CODE ")
        assert code not in text(page, "main")
        page.keyboard.type(code)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="hidden")
        assert page.evaluate("document.activeElement.id") == "acknowledge"
        daemon.wait_for(lambda state: state.prompt == "")

        page.wait_for_selector("html[data-level='now'][data-loud='yes']")
        assert page.locator("#words span").all_text_contents() == ["SLOW DOWN", "LIMIT 55"]
        assert int(text(page, "#speed")) > 55
        assert text(page, "#limit") == "55"
        assert text(page, "#loud") == "SLOW DOWN. LIMIT 55. After dark."
        assert page.title() == "SLOW DOWN LIMIT 55 - sledwarden"
        page.keyboard.press("Enter")
        expect(page.locator("#watch-word")).to_have_text("Acknowledged: SLOW DOWN LIMIT 55")
        assert page.evaluate("document.activeElement.id") == "acknowledge"

        def asked() -> list[Request]:
            boot = reader.boots(daemon.journal)[-1]
            values = [one.value for _, one in reader.read(boot) if isinstance(one, Reading)]
            return [one for one in values if isinstance(one, Request)]

        # shown at once, and on the disk a moment later: a kill is not to come in between
        daemon.wait_for(lambda _state: any(one.action == "acknowledge" for one in asked()))
        daemon.end(signal.SIGKILL)
        life(page, "no-unit")
        assert_dead(page, "NO UNIT")
        by_page = [(one.action, one.argument) for one in asked() if one.by.startswith("page ")]
        assert by_page == [
            ("prompt", prompt), ("prompt", ""), ("note", "paired with the page"),
            ("acknowledge", ""),
        ]  # fmt: skip

        (tmp_path / "again").mkdir()
        with Daemon(tmp_path / "again", *arguments, feed=daemon.feed_path):
            life(page, "live")
            expect(page.locator("#speed")).to_have_text("0")
    assert sight.complaints == []


def assert_dead(page: Page, words: str) -> None:
    assert text(page, "#dead-words") == words
    assert text(page, "#loud").startswith(words)
    assert page.title() == f"{words} - sledwarden"
    assert text(page, "#speed") == "--"
    assert text(page, "#clock") == "--:--"
    for selector in (".speed", "#plate", "#words", "#watch", "#more", "#blind"):
        assert not page.locator(selector).is_visible(), selector
    assert set(page.locator(".sign-word").all_text_contents()) == {"--"}
    assert text(page, "#limit") + text(page, "#words") + text(page, "#alerts") == ""
    for button in page.locator(".deck button:visible:not(#unpair)").all():
        assert button.get_attribute("aria-disabled") == "true"


def test_the_end_of_the_server_is_told_by_the_browser_itself_and_so_is_its_return(
    chromium: Browser, unit: Unit
) -> None:
    with PageProcess(unit.path) as served, Sight(chromium) as page:
        page.goto(served.address)
        show(page, unit, CALM)
        served.process.kill()
        life(page, "no-page")
        assert_dead(page, "NO CONTACT")
        with PageProcess(unit.path, port=served.port):
            life(page, "live")
            expect(page.locator("#speed")).to_have_text("47")


def test_a_server_or_a_unit_that_hangs_is_told_after_two_seconds(
    chromium: Browser, unit: Unit
) -> None:
    with PageProcess(unit.path) as served, Sight(chromium) as page:
        page.goto(served.address)
        show(page, unit, SCENES["over the limit"])
        expect(page.locator("#alerts li")).to_have_count(1)
        unit.is_talking = False
        life(page, "no-unit")
        assert_dead(page, "NO UNIT")
        show(page, unit, CALM)
        os.kill(served.process.pid, signal.SIGSTOP)
        life(page, "no-page")
        os.kill(served.process.pid, signal.SIGCONT)
        life(page, "live")


@pytest.mark.parametrize("size", SIZES)
def test_every_scene_fits_its_window_and_a_glove(
    chromium: Browser, unit: Unit, served: PageProcess, size: str
) -> None:
    with Sight(chromium, SIZES[size]) as page:
        page.goto(served.address)
        for name, state in SCENES.items():
            show(page, unit, state)
            assert_fits(page, name)
        show(page, unit, STANDING)
        open_pairing(page)
        assert_fits(page, "pairing")
        page.keyboard.press("Escape")
        unit.hang_up()
        life(page, "no-unit")
        assert_fits(page, "no unit")


def open_pairing(page: Page) -> None:
    """Opens the dialog without asking for a code: there is one in three seconds at most."""
    page.evaluate("document.getElementById('pair').showModal()")


def assert_fits(page: Page, name: str) -> None:
    too_wide = page.evaluate(
        "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert too_wide <= 0, name
    cut = page.evaluate(
        "[...document.querySelectorAll('.hero, .hero *, .deck, .signs li, dialog[open]')]"
        ".filter(one => one.offsetParent && one.scrollWidth > one.clientWidth + 2"
        " && !one.classList.contains('unseen') && getComputedStyle(one).display !== 'inline')"
        ".map(one => one.id || one.className)"
    )
    assert cut == [], name
    small = page.evaluate(
        "[...document.querySelectorAll('button')].filter(one => one.offsetParent"
        " && Math.min(one.offsetWidth, one.offsetHeight) < 64).map(one => one.textContent)"
    )
    assert small == [], name
    assert page.evaluate("[...document.querySelectorAll('button')].some(one => one.offsetParent)")


def test_axe_finds_nothing_in_any_scene(chromium: Browser, unit: Unit, served: PageProcess) -> None:
    axe = (node_packages() / "axe-core" / "axe.min.js").read_text()
    # without motion: axe weighs the contrast of what it sees at one instant
    few = ("over the limit", "no fix")
    for size, scenes in ((PHONE, tuple(SCENES)), (DESK, few)):
        sight = Sight(chromium, size, reduced_motion="reduce")
        with sight as page:
            page.goto(served.address)
            page.evaluate(axe)
            for name in scenes:
                show(page, unit, SCENES[name])
                assert violations(page) == [], name
            show(page, unit, STANDING)
            open_pairing(page)
            assert violations(page) == [], "pairing"
            page.keyboard.press("Escape")
            unit.hang_up()
            life(page, "no-unit")
            assert violations(page) == [], "no unit"
        assert sight.complaints == []


def violations(page: Page) -> list[str]:
    found = page.evaluate("axe.run(document)")
    return [
        f"{one['id']}: {one['help']}: {node['target']}: {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def test_axe_would_have_found_a_fault(chromium: Browser, unit: Unit, served: PageProcess) -> None:
    axe = (node_packages() / "axe-core" / "axe.min.js").read_text()
    with Sight(chromium) as page:
        page.goto(served.address)
        show(page, unit, CALM)
        page.evaluate(axe)
        page.evaluate(
            "document.getElementById('watch').style.color = '#223';"
            "document.documentElement.removeAttribute('lang')"
        )
        found = {one.partition(":")[0] for one in violations(page)}
        assert found == {"color-contrast", "html-has-lang"}


def test_the_canvas_shows_the_glass_dot_by_dot(
    chromium: Browser, unit: Unit, served: PageProcess
) -> None:
    from firmware.dash import screen

    with Sight(chromium) as page:
        page.goto(served.address)
        show(page, unit, SCENES["over the limit"])
        dots = page.evaluate(
            "[...document.getElementById('glass').getContext('2d')"
            ".getImageData(0, 0, 128, 64).data].filter((_, n) => n % 4 === 0).map(r => r > 128)"
        )
    picture = screen.draw(unit.state.alert, unit.state)
    assert dots == [bool(one) for one in picture.convert("L").tobytes()]


def test_markup_in_what_is_told_is_shown_as_the_letters_it_is(
    chromium: Browser, unit: Unit, served: PageProcess
) -> None:
    evil = "<img src=x onerror='document.title=1'><script>document.title=2</script>"
    bad = alert("zone-ahead", f"{evil}\n{evil}", evil, evil, LightCue.AMBER_FLASH)
    state = told(
        CALM, bad, replace(bad, name="other"), zone=evil, zone_ft=10.0, gps=evil, journal=evil,
        modes=(evil,), prompt=evil, tether=evil, engine=evil, head_lamp=evil, utc_source=evil,
        not_watched=(f"{evil}: {evil}",), local_time=evil, limit_clause=evil,
    )  # fmt: skip
    sight = Sight(chromium)
    with sight as page:
        page.goto(served.address)
        show(page, unit, CALM)
        before = page.evaluate("document.querySelectorAll('img, script').length")
        show(page, unit, state)
        assert evil in text(page, "#words")
        assert evil in text(page, "#prompt")
        assert page.evaluate("document.querySelectorAll('img, script').length") == before
        assert page.title().endswith("- sledwarden")
    assert sight.complaints == []


def test_day_and_night_follow_the_unit_and_else_the_phone(
    chromium: Browser, unit: Unit, served: PageProcess
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    night, day = "rgb(7, 9, 11)", "rgb(243, 239, 230)"
    unknown = replace(CALM, is_dark=None)
    seen = []
    for scheme in ("light", "dark"):
        with Sight(chromium, color_scheme=scheme) as page:
            page.goto(served.address)
            for speed, state in enumerate((CALM, DAY, unknown), start=31):
                show(page, unit, replace(state, speed_mph=float(speed)))
                seen.append(page.evaluate(ground))
    assert seen == [night, day, day, night, day, night]


def test_what_flashes_stands_still_for_who_wants_no_motion(
    chromium: Browser, unit: Unit, served: PageProcess
) -> None:
    names = []
    for motion in ("no-preference", "reduce"):
        with Sight(chromium, reduced_motion=motion) as page:
            page.goto(served.address)
            show(page, unit, SCENES["over the limit"])
            names.append(
                page.evaluate(
                    "getComputedStyle(document.querySelector('.hero'), '::before').animationName"
                )
            )
    assert names == ["flash", "none"]


class Slow:
    """A way to the page on which every answer can be held up, as in a network's buffers."""

    def __init__(self, page: PageProcess) -> None:
        self.delay_s = 0.0
        self._page = page
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._door.getsockname()[1]}/"
        self._links: list[socket.socket] = [self._door]
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        for link in self._links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                theirs, _ = self._door.accept()
                ours = socket.create_connection(("127.0.0.1", self._page.port))
                self._links += [theirs, ours]
                waiting: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                for work in (
                    lambda a=theirs, b=ours: self._pass_on(a, b),
                    lambda a=ours, q=waiting: self._hold(a, q),
                    lambda a=theirs, q=waiting: self._let_go(a, q),
                ):
                    threading.Thread(target=work, daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while octets := one.recv(65536):
                other.sendall(octets)
            other.shutdown(socket.SHUT_WR)

    def _hold(self, one: socket.socket, waiting: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        octets = b"begin"
        with contextlib.suppress(OSError):
            while octets:
                octets = one.recv(65536)
                waiting.put((Clock().mono_s() + self.delay_s, octets))

    def _let_go(self, one: socket.socket, waiting: queue.SimpleQueue[tuple[float, bytes]]) -> None:
        with contextlib.suppress(OSError):
            while True:
                due_s, octets = waiting.get()
                threading.Event().wait(max(0.0, due_s - Clock().mono_s()))
                if not octets:
                    one.shutdown(socket.SHUT_WR)
                    return
                one.sendall(octets)


def test_frames_that_lay_in_the_network_are_not_shown_as_alive(
    chromium: Browser, unit: Unit, served: PageProcess
) -> None:
    """What a phone hears late, out of a buffer, is as old as it is late."""
    way = Slow(served)
    with Sight(chromium) as page:
        page.goto(way.address)
        show(page, unit, CALM)
        way.delay_s = 2.5
        life(page, "no-page")
        # frames come again, each two and a half seconds late: none may be shown, on a new
        # connection as little as on the old one
        page.evaluate(
            "window.lives = []; new MutationObserver(() => window.lives.push("
            "document.documentElement.dataset.life)).observe(document.documentElement,"
            " {attributes: true, attributeFilter: ['data-life']});"
        )
        page.wait_for_timeout(1000)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_timeout(3200)
        assert set(page.evaluate("window.lives")) <= {"no-page"}
        way.delay_s = 0.0
        life(page, "live")
    way.close()


def test_a_phone_that_slept_begins_anew(chromium: Browser, unit: Unit, served: PageProcess) -> None:
    with Sight(chromium) as page:
        page.goto(served.address)
        show(page, unit, CALM)
        # the date has gone on by a minute from one tick to the next
        page.evaluate(
            "window.lives = []; new MutationObserver(() => window.lives.push("
            "document.documentElement.dataset.life)).observe(document.documentElement,"
            " {attributes: true, attributeFilter: ['data-life']});"
            "const date = Date.now; Date.now = () => date() + 60000"
        )
        until(lambda: "no-page" in page.evaluate("window.lives"))
        life(page, "live")
