"""An answer as a person types it: yes or no, a figure with its error, a count, a word, a date.

What can't be taken is said in one sentence with what was expected. Fractions of an inch are typed
as they are read, `3/32` or `1 1/2`, and a figure may carry its error, `38.5 +- 1`.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

YES = frozenset({"y", "yes", "1", "true", "ok"})
NO = frozenset({"n", "no", "0", "false"})

LEAST_REASON_LETTERS = 4
MOST_TEXT_LETTERS = 200

_MIXED = re.compile(r"([+-]?)(?:(\d+)[ -])?(\d+)/(\d+)", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)


class AnswerError(ValueError):
    """An answer that can't be taken; its text says what was expected."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days on which something may have been: one, a month, a year."""

    first: date
    last: date

    def __str__(self) -> str:
        if self.first == self.last:
            return self.first.isoformat()
        if (self.first.year, self.first.month) == (self.last.year, self.last.month):
            return f"{self.first:%Y-%m}"
        return f"{self.first:%Y}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: `text` as it was given, and one of its meanings.

    `error` is how far off a figure may be. `by` says how it was measured, empty where a person
    typed it. A skipped answer has only its `reason`.
    """

    text: str
    word: str = ""
    figure: float | None = None
    error: float = 0.0
    days: Days | None = None
    by: str = ""
    reason: str = ""

    @property
    def is_skipped(self) -> bool:
        return bool(self.reason)


def skipped(reason: str) -> Answer:
    """A question that was passed over, and why; raises AnswerError for a reason that is none."""
    reason = " ".join(reason.split())
    if len(reason) < LEAST_REASON_LETTERS:
        raise AnswerError(f"a reason of at least {LEAST_REASON_LETTERS} letters was expected.")
    return Answer("", reason=_plain(reason))


def parse(
    text: str, kind: str, *, choices: Mapping[str, str] | None = None, points: int = 1,
    low: float = -math.inf, high: float = math.inf, unit: str = "", worst: str = "",
) -> Answer:  # fmt: skip
    """The answer in a text; raises AnswerError.

    `kind` is yes_no, number, count, choice, date or text. Of several `points` the worst counts:
    the least where `worst` is ">=", else the greatest.
    """
    text = " ".join(text.split())
    match kind:
        case "yes_no":
            return _yes_no(text)
        case "choice":
            return _choice(text, choices or {})
        case "date":
            return Answer(text, days=days(text))
        case "text":
            if not text:
                raise AnswerError("some words were expected.")
            return Answer(_plain(text), word=_plain(text))
    value, error, sep = text, 0.0, ""
    for mark in ("+-", "±"):
        if not sep:
            value, sep, told = text.partition(mark)
            if sep:
                error = abs(_figure(told.strip()))
    if sep == "":
        value = text
    figures = [_figure(part) for part in _parts(value.strip(), points)]
    figure = min(figures) if worst == ">=" else max(figures)
    if kind == "count" and (figure != int(figure) or error):
        raise AnswerError(f"{text}: a whole number was expected.")
    for one in figures:
        if not low <= one <= high:
            raise AnswerError(f"{text}: must be from {low:g} to {high:g}{' ' * bool(unit)}{unit}.")
    return Answer(text, figure=figure, error=error)


def days(text: str) -> Days:
    """A day, a month or a year, as far as it is known; raises AnswerError."""
    found = re.fullmatch(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", text, re.ASCII)
    try:
        if found is None:
            raise ValueError(text)
        year = int(found[1])
        first_month, last_month = (int(found[2]),) * 2 if found[2] else (1, 12)
        last_day = calendar.monthrange(year, last_month)[1]
        first = date(year, first_month, int(found[3] or 1))
        last = date(year, last_month, int(found[3] or last_day))
    except (ValueError, calendar.IllegalMonthError):
        raise AnswerError(
            f"{text}: a date was expected, like 1994-05-07, or as much as is known: 1994-05, 1994."
        ) from None
    if not 1890 <= year <= 2100:
        raise AnswerError(f"{text}: must be from 1890 to 2100.")
    return Days(first, last)


def _yes_no(text: str) -> Answer:
    word = text.lower()
    if word in YES:
        return Answer("yes", word="yes")
    if word in NO:
        return Answer("no", word="no")
    raise AnswerError(f"{text or 'nothing'}: yes or no was expected (y, n, 1, 0).")


def _choice(text: str, choices: Mapping[str, str]) -> Answer:
    words = list(choices)
    for word in words:
        if text.lower() == word.lower():
            return Answer(word, word=word)
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(words):
        word = words[int(text) - 1]
        return Answer(word, word=word)
    near = [word for word in words if text and word.lower().startswith(text.lower())]
    if len(near) == 1:
        return Answer(near[0], word=near[0])
    raise AnswerError(f"{text or 'nothing'}: one of {', '.join(words)} was expected.")


def _parts(value: str, points: int) -> list[str]:
    if points == 1:
        return [value]
    parts = re.split(r"[,; ]+", value)
    if len(parts) != points:
        raise AnswerError(f"{value or 'nothing'}: {points} figures were expected, like 4/32 5/32.")
    return parts


def _figure(text: str) -> float:
    mixed = _MIXED.fullmatch(text)
    if mixed:
        if int(mixed[4]) == 0:
            raise AnswerError(f"{text}: a figure was expected, like 38.5, 3/32 or 1 1/2.")
        value = int(mixed[2] or 0) + int(mixed[3]) / int(mixed[4])
        return -value if mixed[1] == "-" else value
    if not _DECIMAL.fullmatch(text) or len(text) > 20:
        raise AnswerError(f"{text or 'nothing'}: a figure was expected, like 38.5, 3/32 or 1 1/2.")
    return float(text)


def _plain(text: str) -> str:
    if len(text) > MOST_TEXT_LETTERS or not text.isprintable():
        raise AnswerError(f"one line of at most {MOST_TEXT_LETTERS} letters was expected.")
    return text
