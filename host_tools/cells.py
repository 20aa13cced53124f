"""Cells of a table for a spreadsheet, which would run some texts instead of showing them."""

from __future__ import annotations

from typing import Any

_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a text begins that a spreadsheet takes as a formula; some do so in full width too."""


# `Any`: a cell is of any type, and only texts are looked at.
def as_cell(value: Any) -> Any:
    """The value, a text with an apostrophe before it where it would be run; a number stays one."""
    if not isinstance(value, str) or not value.startswith(_RUNS) or _is_number(value):
        return value
    return f"'{value}"


def _is_number(text: str) -> bool:
    """Whether a text is a number by itself: `-1` is, `-1+2` is a formula."""
    sign, digits = text[:1], text[1:]
    whole, _, decimals = digits.partition(".")
    return sign in "+-" and whole.isdecimal() and whole.isascii() and (decimals or "0").isdecimal()
