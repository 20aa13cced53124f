"""The ride's page in a real Chromium: at a desk, on a phone, without its script, and on paper."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import rides
from node_packages import node_packages
from playwright.sync_api import Browser, sync_playwright
from typer.testing import CliRunner

from host_tools.cli import app

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",  # the tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    journal = rides.journal_of(rides.NIGHT, folder / "journal")
    out = folder / "ride.html"
    done = CliRunner().invoke(app, ["report", str(journal), "-o", str(out)])
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def _tab(chromium: Browser, size: str = "desk", **settings: Any) -> Iterator[Any]:
    width, height = SIZES[size]
    context = chromium.new_context(viewport={"width": width, "height": height}, **settings)
    try:
        yield context.new_page()
    finally:
        context.close()


@pytest.mark.parametrize("size", SIZES)
def test_rows_map_and_plot_are_joined_and_nothing_is_asked_of_a_network(
    chromium: Browser, html: Path, size: str
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    with _tab(chromium, size, reduced_motion="reduce") as tab:
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda fault: complaints.append(str(fault)))
        tab.goto(html.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
        assert tab.locator("svg.map .mark").count() == 3
        whole = tab.locator("svg.map").get_attribute("viewBox")
        # A row leads to its mark on the map and to its band in the plot.
        tab.locator("#row-3 td").nth(3).click()
        assert "on" in (tab.locator("#map-3").get_attribute("class") or "").split()
        assert "on" in (tab.locator("#plot-3").get_attribute("class") or "").split()
        tab.wait_for_function(
            "() => { const top = document.querySelector('figure').getBoundingClientRect().top;"
            " return top > -5 && top < 300 }"
        )
        # The plot is read by pointing at it.
        tab.locator("#plot").scroll_into_view_if_needed()
        box = tab.locator("#plot").bounding_box()
        tab.mouse.move(box["x"] + box["width"] * 90 / 119, box["y"] + 60)
        assert re.fullmatch(
            r"22:39:(29|30|31) CST: 60\.0 mph \N{PLUS-MINUS SIGN} 0\.5, limit 55 mph",
            tab.locator("#read").inner_text(),
        )
        assert tab.locator("svg.map .ghost").get_attribute("hidden") is None
        # The map comes nearer, and goes back.
        tab.get_by_role("button", name="Nearer").click()
        assert tab.locator("svg.map").get_attribute("viewBox") != whole
        tab.get_by_role("button", name="All of the map").click()
        assert tab.locator("svg.map").get_attribute("viewBox") == whole
    assert complaints == []
    assert asked == [html.as_uri()]


def test_without_its_script_a_number_still_leads_to_the_map(chromium: Browser, html: Path) -> None:
    with _tab(chromium, java_script_enabled=False) as tab:
        tab.goto(html.as_uri())
        assert tab.locator(".zoom").count() == 0
        tab.locator("#row-3 .no").click()
        assert tab.url.endswith("#map-3")
        assert tab.locator("#map-3:target").count() == 1


def test_it_prints_to_a_few_pages_of_either_size(chromium: Browser, html: Path) -> None:
    with _tab(chromium) as tab:
        tab.goto(html.as_uri())
        for size in ("A4", "Letter"):
            pages = tab.pdf(format=size).count(b"/Type /Page\n")
            assert 2 <= pages <= 4, size


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_axe_finds_nothing(chromium: Browser, html: Path, size: str, scheme: str) -> None:
    axe = (node_packages() / "axe-core" / "axe.min.js").read_text()
    with _tab(chromium, size, color_scheme=scheme, bypass_csp=True) as tab:
        tab.goto(html.as_uri())
        tab.evaluate(axe)
        found = tab.evaluate("axe.run(document)")
    assert [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]] == []
