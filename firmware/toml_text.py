"""TOML that a stranger may have written, read within bounds of time and memory.

`tomllib` keeps a key for each beginning of a dotted key, so that one of fifty thousand parts takes
gigabytes; it takes a hundred bytes for each digit of a number, and ends in a RecursionError where
a value is nested too deep.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 32
"""Of a dotted key or a table's name; what we read has three."""

MOST_DIGITS = 4300
"""Of a number: what Python itself turns into one."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")
_LONG_NUMBER = re.compile(rf"(?<![0-9A-Fa-f_])[0-9A-Fa-f_]{{{MOST_DIGITS + 1}}}")


def read(text: str) -> dict[str, Any]:
    """What a text of TOML says; raises ValueError, with the place where there is one."""
    for what, pattern in (
        (f"a key of more than {MOST_PARTS} parts", _LONG_KEY),
        (f"a number of more than {MOST_DIGITS} digits", _LONG_NUMBER),
    ):
        found = pattern.search(text)
        if found is not None:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            raise ValueError(f"{what} (at line {line}, column {column})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
