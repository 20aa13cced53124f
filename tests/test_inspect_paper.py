"""The sheet in a real Chromium: one page of A4 and of Letter, no script, no network."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspecting import GOOD
from playwright.sync_api import Browser, sync_playwright
from test_report_browser import CHROMIUM, FLAGS
from typer.testing import CliRunner

from host_tools.cli import app

SLED, LSV, CAR = "snowmobile", "low_speed_vehicle", "motor_vehicle"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def sheet(folder: Path, vehicle: str, *words: str, **other: Any) -> Path:
    answers = {"answers": GOOD[vehicle] | other, "serial": "W" * 40, "by": "M" * 40}
    (folder / "a.json").write_text(json.dumps(answers))
    with contextlib.chdir(folder):
        CliRunner().invoke(
            app,
            ["inspect", "--vehicle", vehicle, "--answers", "a.json", "-o", "sheet.html",
             "--key", "k", "--force", *words],
        )  # fmt: skip
    return folder / "sheet.html"


def pages_of(chromium: Browser, path: Path, paper: str) -> int:
    tab = chromium.new_page(java_script_enabled=False)
    try:
        tab.goto(path.as_uri())
        return len(re.findall(rb"/Type\s*/Page[^s]", tab.pdf(format=paper)))
    finally:
        tab.close()


WORST = {
    "width_in": "49", "headlamp_white": "n", "taillamp_red": "n", "muffler_present": "n",
    "track_locks": "n", "brake_conditions": "y", "exhaust_as_original": "n",
    "brake_stop_ft": {"answer": "39 +- 6", "by": "GPS, a-long-name-of-a-ride.drive, best of 3"},
    "noise_vs_original_db": "3", "stationary_noise_db": "99", "brake_adjust_ok": "n",
    "side_reflectors_present": {"skipped": "snow and ice all over them, " * 6},
    "has_unit": "y", "headlamp_lux": "12", "muffler_blends": "n",
}  # fmt: skip
LONG = "a reason as long as a person has patience to type at thirty below " * 3
SKIPPED = {item: {"skipped": LONG[:199]} for item in GOOD[SLED] if item not in ("made", "purpose")}
ALL_WRONG = {item: "n" for item, answer in GOOD[LSV].items() if answer == "y"}
RACE = {
    "tether_no_start_when_out": "y", "tether_limit_s": "2", "tether_stop_s": "1",
    "tether_stays_off": "y", "has_tether_sense": "y", "tether_edges_seen": "3",
    "tether_cord_sound": "y", "tether_clip_holds": "y", "tether_clipped_to_body": "y",
}  # fmt: skip


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize(
    ("vehicle", "words", "other"),
    [
        (SLED, (), {}),
        (SLED, (), WORST),
        (SLED, (), SKIPPED),
        (SLED, ("--mode", "race"), RACE),
        (LSV, (), {}),
        (LSV, (), ALL_WRONG),
        (CAR, (), {}),
    ],
    ids=[
        "sled",
        "sled with all that can fail",
        "all skipped",
        "race sled",
        "low-speed vehicle",
        "low-speed vehicle on which all is wrong",
        "motor vehicle",
    ],
)
def test_a_sheet_prints_on_one_page(
    tmp_path: Path,
    chromium: Browser,
    vehicle: str,
    words: tuple[str, ...],
    other: dict[str, Any],
    paper: str,
) -> None:
    assert pages_of(chromium, sheet(tmp_path, vehicle, *words, **other), paper) == 1


def test_the_page_asks_for_nothing_and_runs_nothing(tmp_path: Path, chromium: Browser) -> None:
    path = sheet(tmp_path, SLED)
    asked: list[str] = []
    told: list[str] = []
    tab = chromium.new_page()
    tab.on("request", lambda one: asked.append(one.url))
    tab.on("console", lambda one: told.append(one.text))
    tab.on("pageerror", lambda one: told.append(str(one)))
    tab.goto(path.as_uri())
    assert asked == [path.as_uri()]
    assert told == []
    assert tab.locator("script").count() == 0
    assert tab.locator(".stamp b").inner_text().lower() == "passed"
    tab.close()


@pytest.mark.parametrize("width", [390, 1000])
def test_nothing_runs_off_the_side(tmp_path: Path, chromium: Browser, width: int) -> None:
    path = sheet(tmp_path, SLED, **WORST)
    tab = chromium.new_page(viewport={"width": width, "height": 800})
    tab.goto(path.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_what_failed_stands_first_and_in_words(tmp_path: Path, chromium: Browser) -> None:
    tab = chromium.new_page()
    tab.goto(sheet(tmp_path, SLED, width_in="49").as_uri())
    assert tab.locator(".stamp b").inner_text().lower() == "failed"
    assert tab.locator("header .said").inner_text() == (
        "Failed: 350.09(8m) Width: 49 in: must be at most 48 in"
    )
    assert tab.locator(".m-fail").count() == 1
    tab.close()
