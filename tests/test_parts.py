"""The parts list: each word loads the class that it names, and a wrong word is one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firmware.errors import SledwardenError
from firmware.parts import PARTS, load

LINES = [(section, word) for section, words in PARTS.items() for word in words]
FIRMWARE = Path(__file__).parent.parent / "firmware"


@pytest.mark.parametrize(("section", "word"), LINES)
def test_each_word_loads_the_class_that_it_names(section: str, word: str) -> None:
    part = load(section, word)
    module, _, name = PARTS[section][word].partition(":")
    assert isinstance(part, type)
    assert (part.__module__, part.__name__) == (module, name)


@pytest.mark.parametrize(
    ("section", "pattern"),
    [
        ("light", "sources/light_*.py"),
        ("adc", "sources/adc_*.py"),
        ("rtc", "sources/rtc_*.py"),
        ("panel", "dash/panel_*.py"),
    ],
)
def test_each_file_of_a_kind_has_its_line(section: str, pattern: str) -> None:
    files = {f"firmware.{path.parent.name}.{path.stem}" for path in FIRMWARE.glob(pattern)}
    assert files == {line.partition(":")[0] for line in PARTS[section].values()}


@pytest.mark.parametrize("word", PARTS["light"])
def test_a_light_sensor_has_what_the_daemon_asks_of_one(word: str) -> None:
    sensor = load("light", word)
    assert all(0x08 <= address <= 0x77 for address in sensor.ADDRESSES)
    assert 0.2 <= sensor.period_s <= 0.25
    assert sensor.period_s + sensor.fresh_s <= 2.0  # a dead one is seen within two seconds


def test_a_word_that_is_not_in_the_list_is_one_sentence() -> None:
    with pytest.raises(SledwardenError) as caught:
        load("light", "bh1751")
    assert (
        str(caught.value)
        == "parts.py: light = bh1751: must be one of bh1750, tcs34725, tsl2591, veml7700."
    )


def test_a_library_that_is_not_installed_is_one_sentence() -> None:
    code = (
        "import sys; sys.modules['smbus2'] = None\n"
        "from firmware.errors import SledwardenError\n"
        "from firmware.parts import load\n"
        "try:\n    load('light', 'bh1750')\n"
        "except SledwardenError as error:\n    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == (
        "parts.py: light = bh1750: needs the library smbus2, which is not installed."
        " Install sledwarden[unit].\n"
    )


def test_the_list_itself_imports_no_part() -> None:
    code = "import sys, firmware.parts; print([m for m in sys.modules if m.startswith('smbus2')])"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "[]\n"
