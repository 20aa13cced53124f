"""Which line of a pack a key stands on, through every form that TOML gives a value."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from firmware.law import packs as law
from firmware.law.lines import Lines

TEXT = '''# a remark with [[clause]] in it

id = "x"  # and a "quote" here
day = 2026-11-30
[[clause]]
citation = "350.10(1)(g)"
"quoted" = 'it''s # no remark'
near = [{ kinds = ["dwelling"], within_ft = 150 },
  # between
  { kinds = [
      "shanty",
      "person",
    ], within_ft = 100 },
]
long = """
[[clause]]
key = 1 \\""" """"
at = 22:30:00
[[clause]]# the second one
citation = "a = \\"b\\""
raw = \'\'\'
x = 1
\'\'\'
last = true
tight=["x",
"y"]
deep = [{kinds=["a"]},{kinds=["b"]}]
empty = ""
odd = ["""a""""]
[head.of]# where
key = 1 # the end'''.replace("'it''s # no remark'", "'its # no remark'")


def test_each_key_and_element_stands_on_its_line() -> None:
    tomllib.loads(TEXT)
    found = Lines(TEXT).scan().found
    assert found == {
        ("id",): 3,
        ("day",): 4,
        ("clause", 0): 5,
        ("clause", 0, "citation"): 6,
        ("clause", 0, "quoted"): 7,
        ("clause", 0, "near"): 8,
        ("clause", 0, "near", 0): 8,
        ("clause", 0, "near", 0, "kinds"): 8,
        ("clause", 0, "near", 0, "kinds", 0): 8,
        ("clause", 0, "near", 0, "within_ft"): 8,
        ("clause", 0, "near", 1): 10,
        ("clause", 0, "near", 1, "kinds"): 10,
        ("clause", 0, "near", 1, "kinds", 0): 11,
        ("clause", 0, "near", 1, "kinds", 1): 12,
        ("clause", 0, "near", 1, "within_ft"): 13,
        ("clause", 0, "long"): 15,
        ("clause", 0, "at"): 18,
        ("clause", 1): 19,
        ("clause", 1, "citation"): 20,
        ("clause", 1, "raw"): 21,
        ("clause", 1, "last"): 24,
        ("clause", 1, "tight"): 25,
        ("clause", 1, "tight", 0): 25,
        ("clause", 1, "tight", 1): 26,
        ("clause", 1, "deep"): 27,
        ("clause", 1, "deep", 0): 27,
        ("clause", 1, "deep", 0, "kinds"): 27,
        ("clause", 1, "deep", 0, "kinds", 0): 27,
        ("clause", 1, "deep", 1): 27,
        ("clause", 1, "deep", 1, "kinds"): 27,
        ("clause", 1, "deep", 1, "kinds", 0): 27,
        ("clause", 1, "empty"): 28,
        ("clause", 1, "odd"): 29,
        ("clause", 1, "odd", 0): 29,
        ("head", "of"): 30,
        ("head", "of", "key"): 31,
    }


def test_a_text_may_end_with_a_value_and_a_raw_one_with_a_backslash() -> None:
    text = "a = 'b\\'\nc = 1"
    assert tomllib.loads(text) == {"a": "b\\", "c": 1}
    assert Lines(text).scan().found == {("a",): 1, ("c",): 2}


def test_what_has_no_line_of_its_own_has_that_of_what_it_is_in() -> None:
    lines = Lines(TEXT).scan()
    assert lines.of("clause", 0, "near", 1, "within_m") == 10
    assert lines.of("clause", 1, "limit", "value") == 19
    assert lines.of("day", "month") == 4
    assert lines.of("jurisdiction") == 1
    assert lines.of() == 1


def test_a_key_inside_is_found_by_its_name() -> None:
    lines = Lines(TEXT).scan()
    assert lines.named(("clause", 0), "within_ft") == ("clause", 0, "near", 0, "within_ft")
    assert lines.named(("clause", 1), "within_ft") == ("clause", 1)


@pytest.mark.parametrize("path", sorted(law.FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_clause_of_a_pack_is_found_where_its_header_stands(path: Path) -> None:
    text = path.read_text()
    found = Lines(text).scan().found
    headers = [number for number, line in enumerate(text.splitlines(), 1) if line == "[[clause]]"]
    have = [line for place, line in found.items() if place[:1] == ("clause",) and len(place) == 2]
    assert have == headers
    for number, clause in enumerate(tomllib.loads(text)["clause"]):
        assert {key for *where, key in found if where == ["clause", number]} == set(clause)
