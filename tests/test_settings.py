"""Single settings over the port: read, written, checked as the file is, saved with its comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.config.reading import load
from firmware.errors import ConfigError, SledwardenError
from firmware.link.intake import Intake, IntakeError
from firmware.link.settings import Settings

CONFIG = """# sled 7, blue
[unit]
id = "sled-7"  # on the tunnel
law = ["wi"]

[gps]
port = "/dev/serial0"

[light.head]
chip = "bh1750"
address = 0x23  # ADDR to ground
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "sledwarden.toml"
    path.write_text(CONFIG)
    return Settings(Intake(path, tmp_path))


def text(settings: Settings) -> str:
    return settings._intake.config_path.read_text()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("unit.id", '"sled-7"'),
        ("unit.law", '["wi"]'),
        ("gps.baud", "9600"),
        ("light.head.address", "35"),
        ("link.host", '"0.0.0.0"'),
    ],
)
def test_a_setting_is_told_as_toml_with_its_default(
    settings: Settings, name: str, told: str
) -> None:
    assert settings.read("a", name) == told


def test_a_section_is_told_whole(settings: Settings) -> None:
    assert settings.read("a", "link") == '{ baud = 115200, host = "0.0.0.0" }'


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gps.buad", "is no setting: buad must be one of port, baud"),
        ("nothing", "is no setting: nothing must be one of unit, rider"),
        ("gps.baud.x", "is no setting: x has no parts"),
        ("link.serial", "is not set, and has no default"),
    ],
)
def test_a_name_that_leads_nowhere_is_said(settings: Settings, name: str, words: str) -> None:
    with pytest.raises(IntakeError, match=words):
        settings.read("a", name)


def test_a_change_is_the_clients_own_until_it_is_saved(settings: Settings) -> None:
    settings.write("a", "gps.baud", "115200")
    assert settings.read("a", "gps.baud") == "115200"
    assert settings.read("b", "gps.baud") == "9600"
    assert text(settings) == CONFIG
    assert settings.save("a")
    assert settings.read("b", "gps.baud") == "115200"


def test_a_saved_change_keeps_all_else_of_the_file(settings: Settings) -> None:
    settings.write("a", "unit.id", '"sled-8"')
    settings.write("a", "light.head.address", "0x5C")
    settings.write("a", "link.udp", "1337")
    settings.save("a")
    changed = CONFIG.replace('"sled-7"', '"sled-8"').replace("0x23", "92")
    assert text(settings) == changed + "\n[link]\nudp = 1337\n"
    assert load(settings._intake.config_path).link.udp == 1337
    assert settings._intake.config_path.with_name("sledwarden.toml.before").read_text() == CONFIG


def test_a_setting_that_is_taken_out_has_its_default_again(settings: Settings) -> None:
    settings.write("a", "gps.baud", "115200")
    settings.delete("a", "gps.baud")
    assert settings.read("a", "gps.baud") == "9600"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("gps.baud", "12", "baud = 12: must be one of"),
        ("gps.speed", "12", "speed"),
        ("unit.law", '["xx"]', "xx is not here"),
    ],
)
def test_a_value_that_may_not_be_is_refused_and_forgotten(
    settings: Settings, name: str, value: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        settings.write("a", name, value)
    assert not settings.save("a")
    assert text(settings) == CONFIG


@pytest.mark.parametrize(
    "value", ["", "wi", "1\n[link]\nudp = 1", '"a"\nid = "b"', "[", "= 1", "1 2", "\0"]
)
def test_a_value_that_is_no_toml_is_refused(settings: Settings, value: str) -> None:
    with pytest.raises((IntakeError, ConfigError)):
        settings.write("a", "unit.id", value)
    assert not settings.save("a")


@pytest.mark.parametrize("name", ["", "gps", ".baud", "gps.", "gps.baud\n", "a b.c", "__class__.x"])
def test_a_name_that_is_none_is_refused(settings: Settings, name: str) -> None:
    with pytest.raises((IntakeError, ConfigError)):
        settings.write("a", name, "1")
    assert not settings.save("a")


@pytest.mark.parametrize(
    "value",
    [
        "[" * 1900,
        "[" * 900 + "]" * 900,
        "{a=" * 480 + "1" + "}" * 480,
        "{" + "a." * 900 + "a=1}",
        "9" * 1900,
        "0x" + "f" * 1900,
        "inf",
        "9999-12-31T23:59:59.999999-23:59",
    ],
)
def test_a_value_that_is_deep_or_long_is_refused_at_once(settings: Settings, value: str) -> None:
    with pytest.raises(SledwardenError):
        settings.write("a", "gps.baud", value)
    assert settings.read("a", "gps.baud") == "9600"


@pytest.mark.parametrize("name", ["a." * 1000 + "a", "gps." + "a." * 32 + "baud"])
def test_a_name_that_is_deep_is_refused_at_once(settings: Settings, name: str) -> None:
    for change in (lambda: settings.write("a", name, "1"), lambda: settings.delete("a", name)):
        with pytest.raises(IntakeError, match=r"is no setting: must be SECTION\.KEY"):
            change()


def test_what_was_changed_meanwhile_is_not_written_over(settings: Settings) -> None:
    settings.write("a", "gps.baud", "115200")
    settings.write("b", "unit.id", '"sled-9"')
    assert settings.save("b")
    with pytest.raises(IntakeError, match="was changed meanwhile: nothing was saved"):
        settings.save("a")
    assert "115200" not in text(settings)
    assert settings.read("a", "unit.id") == '"sled-9"'


def test_a_draft_that_is_forgotten_leaves_the_file(settings: Settings) -> None:
    settings.write("a", "gps.baud", "115200")
    settings.forget("a")
    assert not settings.save("a")
    assert text(settings) == CONFIG
