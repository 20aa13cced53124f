"""What a check or a paragraph came to, and how a figure comes to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from firmware.law.packs import Clause
from host_tools.inspection.answers import Answer
from host_tools.inspection.checks import Check
from host_tools.inspection.conditions import Bound


class State(StrEnum):
    """What a check or a paragraph came to."""

    PASS = "pass"
    FAIL = "fail"
    UNSURE = "unsure"
    SKIPPED = "skipped"
    OPEN = "open"
    EXEMPT = "exempt"
    NOT_APPLICABLE = "not applicable"
    NOTE = "note"


WORST = (State.FAIL, State.OPEN, State.SKIPPED, State.UNSURE, State.PASS)
"""The worst first: what a whole comes to by its parts."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: what it came to and why; `needs` is the item that must be answered first.

    `limit` is what it must be, in words, and `taken` how a reading was taken that counts.
    """

    check: Check
    state: State
    why: str = ""
    answer: Answer | None = None
    needs: str = ""
    limit: str = ""
    taken: str = ""


@dataclass(frozen=True, slots=True)
class RowResult:
    """One paragraph with its checks."""

    clause: Clause
    state: State
    why: str
    checks: tuple[CheckResult, ...]


def judge(wants: Bound, value: float, error: float, limit: float, tolerance_pct: float) -> State:
    """What a figure comes to: kept or not beyond its error and beyond the tolerance.

    A tolerance in per cent is allowed for sure as a share of the limit; whether it means points is
    not said, so between the two it is unsure.
    """
    sure = limit * (1.0 - tolerance_pct / 100.0) if tolerance_pct else limit
    most = limit - tolerance_pct if tolerance_pct else limit
    if all(wants.keeps(value + off, sure) for off in (-error, error)):
        return State.PASS
    if any(wants.keeps(value + off, most) for off in (-error, 0.0, error)):
        return State.UNSURE
    return State.FAIL
