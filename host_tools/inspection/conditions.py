"""The small language of an inspection's conditions: `>= 200`, `beams = multiple`, `after` a day.

A condition is met, not met, or not known yet: an item that it speaks of has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from host_tools.inspection.answers import Answer, Days

ROUNDING = 1e-9
"""Of a typed figure: 0.1 and 0.2 are 0.30000000000000004."""

_OPS = ("<=", ">=", "<", ">", "=", "within")
_NAME = r"[a-z][a-z0-9_]*"
_FIGURE = r"-?\d+(?:\.\d+)?"
_BOUND = re.compile(rf"(<=|>=|<|>|=|within) ?(?:({_FIGURE})|({_NAME})(?: \+ ({_FIGURE}))?)")
_SPAN = re.compile(rf"({_FIGURE}) to ({_FIGURE})")
_OF = re.compile(rf"({_NAME}) ?((?:=|<=|>=|<|>|within) ?.+|(?:after|from|before|until) .+)")
_DAY = re.compile(r"(after|from|before|until) (\d{4}-\d{2}-\d{2})")


class ConditionError(ValueError):
    """A condition that says nothing: its text, and what was expected."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure must keep: an operator and a limit, or a span of both ends.

    The limit is a figure, or that of another item (`of`) with something added.
    """

    op: str
    limit: float = 0.0
    of: str = ""
    upper: float | None = None

    def limit_in(self, answers: Mapping[str, Answer]) -> float | None:
        """The limit as a figure; None while the item that it is of has no answer."""
        if not self.of:
            return self.limit
        answer = answers.get(self.of)
        return None if answer is None or answer.figure is None else answer.figure + self.limit

    def margin(self, value: float, limit: float) -> float:
        """How far a value lies within; negative beyond."""
        match self.op:
            case "<=" | "<":
                return limit - value
            case ">=" | ">":
                return value - limit
            case "within":
                return limit - abs(value)
            case "to":
                assert self.upper is not None
                return min(value - limit, self.upper - value)
        return -abs(value - limit)

    def keeps(self, value: float, limit: float) -> bool:
        """Whether the value keeps the limit: at `<` and `>` the limit itself does not."""
        margin = self.margin(value, limit)
        return margin > ROUNDING if self.op in ("<", ">") else margin >= -ROUNDING


@dataclass(frozen=True, slots=True)
class Words:
    """The words that an answer must be one of."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """What a date must be: after a day, from it on, before it, or until it."""

    op: str
    day: date

    def is_met(self, made: Days) -> bool | None:
        """Whether all of the days that are possible meet it; None where some do and some do not."""
        first, last = self._is_met(made.first), self._is_met(made.last)
        return first if first is last else None

    def _is_met(self, day: date) -> bool:
        match self.op:
            case "after":
                return day > self.day
            case "from":
                return day >= self.day
            case "before":
                return day < self.day
        return day <= self.day


Wanted = Bound | Words | Day


@cache
def wanted(text: str) -> Wanted:
    """What a text wants: `yes`, `new or used`, `<= 40`, `2250 to 2750`, `from 1975-07-02`."""
    text = text.strip()
    span = _SPAN.fullmatch(text)
    if span:
        return Bound("to", float(span[1]), upper=float(span[2]))
    bound = _BOUND.fullmatch(text)
    if bound and (bound[2] or bound[1] != "="):
        if bound[2]:
            return Bound(bound[1], float(bound[2]))
        return Bound(bound[1], float(bound[4] or 0.0), bound[3])
    day = _DAY.fullmatch(text)
    if day:
        return Day(day[1], date.fromisoformat(day[2]))
    words = tuple(word.strip() for word in text.removeprefix("=").split(" or "))
    if all(re.fullmatch(r"[A-Za-z0-9_]+", word) for word in words):
        return Words(words)
    raise ConditionError(f"{text}: must be like yes, <= 40, 2 to 3, after 1972-07-01")


@dataclass(frozen=True, slots=True)
class Condition:
    """What the answer of an item must be, for a check to be asked or a reading to count."""

    item: str
    wanted: Wanted
    text: str

    @classmethod
    @cache
    def read(cls, text: str) -> Condition:
        """The condition in a text like `beams = multiple`; raises ConditionError."""
        found = _OF.fullmatch(text.strip())
        if found is None:
            raise ConditionError(
                f"{text}: must be an item and what it must be, like beams = single"
            )
        rest = found[2]
        figure = re.fullmatch(rf"= ?({_FIGURE}(?: to {_FIGURE})?)", rest)
        if figure and " to " in figure[1]:
            rest = figure[1]
        return cls(found[1], wanted(rest), text)

    def is_met(self, answers: Mapping[str, Answer]) -> bool | None:
        """Whether it is met; None while that is not known."""
        answer = answers.get(self.item)
        if answer is None or answer.is_skipped:
            return None
        return meets(answer, self.wanted, answers)


def meets(answer: Answer, wants: Wanted, answers: Mapping[str, Answer]) -> bool | None:
    """Whether an answer is what is wanted; None where that can't be told."""
    match wants:
        case Words(words=words):
            return answer.word in words
        case Day():
            return None if answer.days is None else wants.is_met(answer.days)
        case Bound():
            limit = wants.limit_in(answers)
            if answer.figure is None:
                # A choice of a year's edition reads as a figure and is a word.
                return answer.word == f"{wants.limit:g}" if answer.word else None
            return None if limit is None else wants.keeps(answer.figure, limit)
