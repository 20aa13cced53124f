"""`python tests/page_pictures.py` writes the pictures of the page that the documents show."""

from __future__ import annotations

import tempfile
from pathlib import Path

from page_scenes import ARGUMENTS, CHROMIUM, PHONE, SCENES
from pages import PageProcess, Unit
from playwright.sync_api import sync_playwright
from test_page_browser import life, show

DOCS = Path(__file__).parent.parent / "docs"
PICTURES = {
    "page": "over the limit",
    "page-night": "calm",
    "page-zone": "a zone ahead",
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        unit = Unit(Path(folder) / "feed.sock")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with PageProcess(unit.path) as served:
            window = browser.new_page(
                viewport={"width": PHONE[0], "height": PHONE[1]}, reduced_motion="reduce"
            )
            window.goto(served.address)
            for name, scene in PICTURES.items():
                show(window, unit, SCENES[scene])
                window.screenshot(path=DOCS / f"{name}.png")
            unit.hang_up()
            life(window, "no-unit")
            window.screenshot(path=DOCS / "page-no-unit.png")
        browser.close()
        unit.stop()
