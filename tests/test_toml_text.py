"""TOML of strangers is read within bounds: no short text takes gigabytes or minutes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from firmware import toml_text
from firmware.errors import LawError, ZoneError
from firmware.files import CONFIG_BYTES
from firmware.law import packs as law
from host_tools.packs import mapping

MANY = 50_000
"""Of one key's parts `tomllib` alone would keep 10 GB: each beginning of it, as a tuple."""

FULL = CONFIG_BYTES - 100


def refused(text: str) -> str:
    with pytest.raises(ValueError, match=r".") as fault:
        toml_text.read(text)
    return str(fault.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (".".join("a" * MANY) + " = 1", "line 1, column 1"),
        ("[" + ".".join("a" * MANY) + "]", "line 1, column 2"),
        ("b = 1\n[[" + ".".join("a" * MANY) + "]]", "line 2, column 3"),
        ("c = {" + " . ".join("a" * MANY) + " = 1}", "line 1, column 6"),
        (".".join(['"\\""'] * MANY) + " = 1", "line 1, column 1"),
        (".".join(["'.'"] * MANY) + " = 1", "line 1, column 1"),
        (".".join(["a", '"b"', "'c'"] * MANY) + " = 1", "line 1, column 1"),
        ("".join("a." * parts + "b = 1\n" for parts in range(1000)), "line 33, column 1"),
    ],
)
def test_a_key_of_too_many_parts_is_refused_with_its_place(text: str, where: str) -> None:
    assert refused(text) == f"a key of more than 32 parts (at {where})"


def test_a_number_of_too_many_digits_is_refused_with_its_place() -> None:
    for begin in ("", "0x", "-", "1.", "1e"):
        assert refused(f"a = 1\nb = {begin}{'9' * FULL}").startswith(
            "a number of more than 4300 digits (at line 2, column "
        )


@pytest.mark.parametrize("text", ["a = " + "[" * FULL, "a = " + "{b = " * (FULL // 5)])
def test_a_value_that_is_nested_too_deep_is_refused(text: str) -> None:
    assert refused(text) == "nested too deep"


@pytest.mark.parametrize(
    "text",
    [
        "x" * FULL,
        '"' * FULL,
        "'" * FULL,
        'a = "' + "\\" * FULL,
        'a = "' + '"a.' * (FULL // 3),
        "a" + " " * FULL,
        (".".join("a" * 31) + ".\n") * (FULL // 63),
    ],
)
def test_no_text_keeps_the_search_for_long_keys_busy(text: str) -> None:
    assert refused(text)  # by the reader itself: and it comes to it


def test_what_is_within_the_bounds_is_read_as_it_stands() -> None:
    deep = toml_text.read(".".join("a" * 32) + " = " + "1" * 4300)
    for _ in range(32):
        deep = deep["a"]
    assert deep == int("1" * 4300)
    said = "one.two.three " * 40
    assert toml_text.read(f'a = "{said}"\n[b."c.d".e]\nf = 0.5') == {
        "a": said,
        "b": {"c.d": {"e": {"f": 0.5}}},
    }


def test_a_law_pack_and_a_mapping_of_a_stranger_are_refused_in_little_memory(
    tmp_path: Path,
) -> None:
    text = ".".join("a" * MANY) + " = 1"
    path = tmp_path / "mapping.toml"
    path.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(LawError, match="a key of more than 32 parts"):
            law.parse(text.encode(), "strange.toml")
        with pytest.raises(ZoneError, match="a key of more than 32 parts"):
            mapping.load(str(path))
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_a_mapping_that_is_nested_too_deep_or_has_no_end_is_refused_in_a_sentence(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text("a = " + "[" * 9999)
    with pytest.raises(ZoneError, match=r"is no TOML \(nested too deep\)"):
        mapping.load(str(path))
    with pytest.raises(ZoneError, match=r"is no regular file: a mapping was expected"):
        mapping.load("/dev/zero")
