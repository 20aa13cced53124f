"""The configuration: every fault at once, each with its key, its value and its limit."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware import __released__
from firmware.config.faults import limit_of, section_of, shown
from firmware.config.reading import load, parse
from firmware.config.schema import BUILD_DATE, Config
from firmware.errors import ConfigError
from firmware.parts import PARTS
from host_tools.config_reference import meaning_of, reference, sections

ROOT = Path(__file__).parent.parent
SMALLEST = '[unit]\nid = "sled-1"\n'


def faults_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse(text, "sledwarden.toml")
    *lines, advice = str(caught.value).split("\n")
    assert advice == "Put it right in the file and try again; docs/config.md lists every key."
    assert all(line.startswith("sledwarden.toml: ") for line in lines), lines
    return [line.removeprefix("sledwarden.toml: ") for line in lines]


def fault_of(text: str) -> str:
    """The one fault of a text that is right but for it."""
    (fault,) = faults_of(SMALLEST + text)
    return fault


def test_an_id_is_all_that_must_be_given() -> None:
    config = parse(SMALLEST, "sledwarden.toml")
    assert config.unit.id == "sled-1"
    assert config.unit.law == ("wi",)
    assert config.gps.baud == 9600
    assert config.clock.floor == BUILD_DATE
    assert config.tether is None
    assert config.leds.red is None
    assert config.light.head is None
    assert config.rules.approach_mph == 3.0


def test_the_annotated_file_is_what_a_pi_runs() -> None:
    config = load(ROOT / "hardware" / "sledwarden.toml")
    assert config.tether is not None
    assert config.light.ambient is not None
    assert (config.light.ambient.dark_lux, config.light.ambient.light_lux) == (5.0, 10.0)
    assert (config.tether.pin, config.tether.contact) == (17, "closed_when_in")
    assert config.dash.panel == "ssd1309"


def test_a_config_can_t_be_changed_after_it_is_read() -> None:
    config = parse(SMALLEST, "sledwarden.toml")
    with pytest.raises(AttributeError, match="immutable type: 'Gps'"):
        config.gps.baud = 4800  # type: ignore[misc]  # this is what must not be possible


def test_an_unknown_key_a_wrong_type_and_a_value_out_of_range_are_told_at_once() -> None:
    text = (
        SMALLEST
        + '[gps]\nbaud = 12\nport = 5\nsped = 1\n[light.head]\nchip = "bh1750"\naddress = 0x80\n'
    )
    assert faults_of(text) == [
        "[gps] port = 5: must be a path.",
        "[gps] baud = 12: must be one of 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800.",
        "[gps] sped = 1: there is no such key: must be one of port, baud, configure, "
        "rate_hz, speed_error_mph, derived_error_mph, hdop_m, position_error_m, max_accel_mps2, "
        "max_turn_mps2.",
        "[light.head] address = 0x80: must be an I2C address from 0x08 to 0x77.",
    ]  # fmt: skip


def test_faults_between_keys_are_told_along_with_faults_of_keys() -> None:
    text = "[tether]\npin = 2\ncontact = 1\n[engine]\npin = 5\n[leds]\nred = 5\n[gps]\nbaud = 1\n"
    assert faults_of(SMALLEST + text) == [
        "[gps] baud = 1: must be one of 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800.",
        '[tether] contact = 1: must be one of "closed_when_in", "open_when_in".',
        "[tether] pin = 2: must be another pin: this one carries SDA of the sensor bus.",
        "[leds] red = 5: must be another pin: [engine] pin has this one.",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[gsp]\nbaud = 1\n", "[gsp]: there is no such section: did you mean gps?"),
        ("[light.hed]\nx = 1\n", "[light.hed]: there is no such section: did you mean head?"),
        ("[gps]\nbuad = 9600\n", "[gps] buad = 9600: there is no such key: did you mean baud?"),
        ('[gps]\n"a b" = 1\n', '[gps] "a b" = 1: there is no such key: must be one of port, baud, '
         "configure, rate_hz, speed_error_mph, derived_error_mph, hdop_m, position_error_m, "
         "max_accel_mps2, max_turn_mps2."),
        ("[[zones]]\n", "[zones] = [{...}]: must be a section of its own."),
        ("[rtc]\nchip = 'ds3231'\n",
         "[rtc] address: is missing: must be an I2C address from 0x08 to 0x77."),
        ("[gps]\nrate_hz = nan\n", "[gps] rate_hz = nan: must be a number from 0.1 to 25."),
        ("[gps]\nrate_hz = inf\n", "[gps] rate_hz = inf: must be a number from 0.1 to 25."),
        ("[gps]\nrate_hz = true\n", "[gps] rate_hz = true: must be a number from 0.1 to 25."),
        ("[gps]\nport = ''\n", '[gps] port = "": must be a path.'),
        ("[privacy]\ncircles = ['45.9 -89.4 20']\n",
         '[privacy] circles = "45.9 -89.4 20": must be degrees north from -90 to 90, degrees east '
         'from -180 to 180, and 50 to 5000 metres, like "45.9231 -89.4874 300".'),
        ("[button]\npin = 28\n", "[button] pin = 28: must be a BCM pin number from 0 to 27."),
        ("[button]\npin = 22.0\n", "[button] pin = 22: must be a BCM pin number from 0 to 27."),
        ("[journal]\nquota_mb = 0\n",
         "[journal] quota_mb = 0: must be a whole number from 1 to 10000000."),
        ("[clock]\nfloor = 'soon'\n", '[clock] floor = "soon": must be a date, like 2026-11-30.'),
        ("[clock]\nfloor = 2026-01-01T00:00:00Z\n",
         "[clock] floor = 2026-01-01T00:00:00+00:00: must be a date, like 2026-11-30."),
        ("[clock]\nfloor = 1979-12-31\n",
         "[clock] floor = 1979-12-31: must not be before 1980-01-06, when GPS time began."),
        ("[gps]\nrate_hz = 10\nconfigure = false\n",
         "[gps] rate_hz = 10: must be at most 5.9 at 9600 baud: RMC and GGA take 1640 letters a "
         "second, and the line carries 960."),
        ("[dash]\npanel = 'ssd1306'\n",
         '[dash] panel = "ssd1306": must be one of png, ssd1309, terminal.'),
        ("[supply.head]\non_v = 8\n", "[supply.head]: must have pin, or input, and not both."),
        ("[tether]\npin = 17\ninput = 1\n[adc]\nchip = 'ads1115'\naddress = 0x48\n",
         "[tether]: must have pin, or input, and not both."),
        ("[supply.tail]\ninput = 1\n",
         "[supply.tail] input = 1: must have the converter that it belongs to: [adc] chip."),
        ("[supply.head]\ninput = 1\n[tether]\ninput = 1\n"
         "[adc]\nchip = 'ads1115'\naddress = 0x48\n",
         "[tether] input = 1: must be another input: [supply.head] input has this one."),
        ("[supply.head]\ninput = 1\nopen_v = 9\n[adc]\nchip = 'ads1115'\naddress = 0x48\n",
         "[supply.head] open_v = 9: must be below on_v = 8: "
         "a wire that hangs free is not supplied."),
        ("[adc]\nchip = 'ads1015'\naddress = 0x48\n",
         '[adc] chip = "ads1015": must be one of ads1115.'),
        ("[light.head]\nchip = 'bh1750'\naddress = 0x23\nhigh_lux = 900\n",
         "[light.head] high_lux = 900: must be above an on_lux that is measured too."),
        ("[light.head]\nchip = 'tsl2591'\naddress = 0x29\n"
         "[light.tail]\nchip = 'tcs34725'\naddress = 0x29\n",
         "[light.tail] address = 0x29: must be another address: [light.head] address has this one, "
         "and a tcs34725 and a tsl2591 have no other: they answer over each other."),
        ("[rtc]\nchip = 'ds1307'\naddress = 0x68\n",
         '[rtc] chip = "ds1307": must be one of ds3231.'),
        ("[light.head]\nchip = 'tsl2561'\naddress = 0x29\n",
         f'[light.head] chip = "tsl2561": must be one of {", ".join(sorted(PARTS["light"]))}.'),
        ("[light.ambient]\nchip = 'bh1750'\naddress = 0x23\ndark_lux = 10\n",
         "[light.ambient] light_lux = 10: must be above dark_lux = 10, or dusk would flicker."),
        ("[button]\npin = 15\n",
         "[button] pin = 15: must be another pin: this one carries RXD of the GPS line."),
        ("[rules]\nred_share = 1\n",
         "[rules] red_share = 1: must be a number above 0.34 and below 1."),
        (f"[feed]\npath = '/{'x' * 107}'\n",
         f'[feed] path = "/{"x" * 55}...: must be a path of at most 107 characters.'),
    ],
)  # fmt: skip
def test_each_fault_says_the_key_the_value_and_the_limit(text: str, fault: str) -> None:
    assert fault_of(text) == fault


@pytest.mark.parametrize(
    "zone", ["America/Chicag", "America", "../UTC", "/etc/passwd", "", "\u0000"]
)
def test_a_time_zone_that_does_not_exist_is_told(zone: str) -> None:
    text = f'[unit]\nid = "sled-1"\ntime_zone = "{zone}"\n'.replace("\u0000", "\\u0000")
    (fault,) = faults_of(text)
    assert fault == (
        f"[unit] time_zone = {shown(zone)}: there is no such time zone here: must be an IANA name, "
        'like "America/Chicago" (and the system needs its tzdata).'
    )


def test_a_law_that_is_not_here_is_told() -> None:
    (fault,) = faults_of('[unit]\nid = "sled-1"\nlaw = ["wi", "zz"]\n')
    assert fault.startswith('[unit] law = ["wi", "zz"]: zz is not here: must be one of ')
    assert fault.endswith(", or the path of a law pack (.toml).")


@pytest.mark.parametrize("law", ['"wi"', "[]", "[1]", '["WI"]', "5"])
def test_a_law_is_auto_or_a_list(law: str) -> None:
    (fault,) = faults_of(f'[unit]\nid = "sled-1"\nlaw = {law}\n')
    assert fault == f'[unit] law = {law}: must be "auto" or a list of law packs, like ["wi"].'


def test_auto_is_a_law() -> None:
    assert parse('[unit]\nid = "a"\nlaw = "auto"\n', "x").unit.law == "auto"


def test_two_chips_at_one_address_are_told() -> None:
    light = '[light.head]\nchip = "bh1750"\naddress = 0x23\n[light.ambient]\nchip = "bh1750"\n'
    assert fault_of(light + "address = 0x23\n") == (
        "[light.ambient] address = 0x23: must be another address: [light.head] address has this "
        "one, and two chips at one address answer over each other."
    )


def test_a_panel_on_the_bus_takes_its_address_and_a_terminal_takes_none() -> None:
    rtc = '[rtc]\nchip = "ds3231"\naddress = 0x3c\n'
    assert fault_of(rtc + '[dash]\npanel = "ssd1309"\n').startswith("[dash] address = 0x3c: ")
    parse(SMALLEST + rtc + '[dash]\npanel = "terminal"\n', "x")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a = [", "line 1, column 6: invalid value: must be TOML."),
        # the string runs on to the end, and there tomllib misses its quote
        ("[unit]\nid = 'x\n", "line 3, column 1: expected \"'\": must be TOML."),
        ("[unit]\nid = 'x'\n[unit]\n",
         "line 3, column 6: cannot declare ('unit',) twice: must be TOML."),
        ("x = 2026-02-30", "line 1, column 5: invalid date or datetime: must be TOML."),
        ("a = " + "[" * 9999, "can't be read: nested too deep: must be TOML."),
    ],
)  # fmt: skip
def test_bad_toml_is_told_with_its_line_and_column(text: str, fault: str) -> None:
    assert faults_of(text)[0] == fault


def test_a_number_too_long_for_python_is_no_traceback() -> None:
    assert faults_of("a = " + "9" * 5000)[0].endswith("must be TOML.")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "no.toml")
    assert str(caught.value) == (
        f"{tmp_path}/no.toml: there is no such file: a configuration was expected.\n"
        "hardware/sledwarden.toml is one to start from."
    )


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: can't be read: Is a directory."


def test_a_file_in_another_encoding_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "sledwarden.toml"
    path.write_bytes(b'[unit]\nid = "gr\xf6\xdf"\n')
    with pytest.raises(ConfigError, match="line 2, column 9: must be text in UTF-8"):
        load(path)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sledwarden.toml"
    path.write_bytes(b'\xef\xbb\xbf[unit]\r\nid = "sled-1"\r\n')
    assert load(path).unit.id == "sled-1"


def test_the_error_names_the_file_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[unit]\n")
    with pytest.raises(
        ConfigError, match=r"^" + str(tmp_path) + r"/bad\.toml: \[unit\] id: is missing"
    ):
        load(tmp_path / "bad.toml")


def test_the_floor_is_the_date_of_the_release() -> None:
    assert date.fromisoformat(__released__) == BUILD_DATE


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=12)
    | st.dates() | st.datetimes()
)  # fmt: skip
VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=3)
    | st.dictionaries(st.text(max_size=5), SCALARS, max_size=2)
)
KEYS = [(name, field.name) for name, one in sections() for field in msgspec.structs.fields(one)
        if section_of(field.type) is None]  # fmt: skip


def as_toml(value: object) -> str | None:
    """A value as TOML, where TOML can say it."""
    if isinstance(value, float):
        return str(value)
    if isinstance(value, dict):
        pairs = [f"{shown(key)} = {as_toml(one)}" for key, one in value.items()]
        return "{" + ", ".join(pairs) + "}" if "None" not in str(pairs) else None
    if isinstance(value, list):
        return None if None in value else "[" + ", ".join(map(str, map(as_toml, value))) + "]"
    return None if value is None else shown(value)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(KEYS), VALUES)
def test_whatever_stands_at_a_key_is_taken_or_told_and_never_a_crash(
    key: tuple[str, str], value: object
) -> None:
    written = as_toml(value)
    text = f"[{key[0]}]\n{key[1]} = {written}\n"
    try:
        tomllib.loads(text)
    except ValueError:
        return
    try:
        config = parse(text if key[0] == "unit" else SMALLEST + text, "sledwarden.toml")
    except ConfigError as fault:
        assert str(fault).startswith("sledwarden.toml: ")
    else:
        assert isinstance(config, Config)


def test_every_key_has_its_line_in_the_reference() -> None:
    assert (ROOT / "docs" / "config.md").read_text() == reference(), (
        "docs/config.md lags: python -m host_tools.config_reference > docs/config.md"
    )


def test_every_key_says_its_limit_its_meaning_and_its_unit() -> None:
    for name, section in sections():
        for field in msgspec.structs.fields(section):
            if section_of(field.type) is None:
                assert limit_of(field.type), (name, field.name)
                assert meaning_of(field.type).endswith("."), (name, field.name)
                assert "None" not in limit_of(field.type), (name, field.name)


def test_a_default_is_a_value_that_the_file_may_hold() -> None:
    for name, section in sections():
        for field in msgspec.structs.fields(section):
            if section_of(field.type) is None and not field.required and field.default is not None:
                assert msgspec.convert(field.default, field.type) == field.default, (
                    name,
                    field.name,
                )
