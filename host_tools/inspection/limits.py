"""Limits and figures in a person's words: `at most 40 ft`, `3/32 in`, `38.5 ft +- 1`."""

from __future__ import annotations

from host_tools.inspection.answers import Answer
from host_tools.inspection.checks import Check
from host_tools.inspection.conditions import Bound, Words

_OPS = {
    "<=": "at most",
    ">=": "at least",
    "<": "less than",
    ">": "more than",
    "=": "exactly",
    "within": "within",
}


def limit_words(check: Check, limit: float | None = None) -> str:
    """What a check wants, in words; `limit` is the figure where it is another item's."""
    wants = check.wants
    unit = f" {check.unit}" if check.unit else ""
    if wants is None:
        return "" if check.type == "note" else "told"
    if isinstance(wants, Words):
        return " or ".join(check.choices.get(word, word) for word in wants.words)
    if not isinstance(wants, Bound):
        return check.passes
    if limit is None and wants.of:
        more = f" + {wants.limit:g}" if wants.limit else ""
        return f"{_OPS[wants.op]} {wants.of}{more}{unit}"
    figure = wants.limit if limit is None else limit
    if wants.op == "to":
        return f"{figure:g} to {wants.upper:g}{unit}"
    words = f"{_OPS[wants.op]} {_inches(figure) if check.unit == 'in' else f'{figure:g}'}{unit}"
    if check.tolerance_pct:
        words += f" ({check.tolerance_pct:g} % allowed)"
    return words


def said(answer: Answer, unit: str) -> str:
    """An answer as it was typed, with its unit."""
    if answer.figure is None:
        return answer.text
    return f"{answer.text} {unit}".rstrip()


def _inches(figure: float) -> str:
    """Small parts of an inch as they are read off a gauge."""
    for parts in (2, 4, 8, 32):
        share = figure * parts
        if 0.0 < figure < 1.0 and share == int(share):
            return f"{int(share)}/{parts}"
    return f"{figure:g}"
