"""What the law asks that no sensor sees, told on the glass: while the sled stands, once a day.

A notice stays for some seconds, and a press moves on to the next. Nothing waits for them: a sled
that rides off skips the rest, which is kept in the journal as skipped, and a warning always comes
first on the glass. They begin only once it is told when they were last shown, which the daemon does
at its start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from firmware.findings import Notice
from firmware.law.packs import Clause

NEVER_SHOWN = "never"


@dataclass(slots=True)
class Notices:
    """Told the day, motion and presses; asked for the words.

    `words` are what the glass shows now, `done_on` the local day whose notices were all shown.
    """

    clauses: Sequence[Clause]
    shown_s: float
    born: date | None = None
    words: str = ""
    done_on: date | None = None
    _last_day: str | None = None
    _left: list[Clause] = field(default_factory=list)
    _today: date | None = None
    _is_decided: bool = False
    _since_s: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be shown, now or later."""
        return self._last_day is None or (self._is_decided and not self._left)

    def arm(self, last_day: str) -> None:
        """Takes the local day on which all were shown last, as ISO 8601, or "never"."""
        if self._last_day is None and self.shown_s > 0.0 and self.clauses:
            self._last_day = last_day

    def follow(
        self, at_s: float, today: date | None, is_moving: bool | None, *, is_free: bool
    ) -> list[Notice]:
        """What was shown or skipped at this instant. `is_moving` is None where that can't be told;
        `is_free` is false while something else has the glass."""
        if self.is_idle:
            return []
        if not self._is_decided:
            self._decide(today, is_moving)
        if is_moving:
            return self._skip()
        if not self._left:
            return []
        if is_moving is None or not is_free:
            self._since_s, self.words = None, ""
            return []
        if self._since_s is None:
            self._since_s, self.words = at_s, self._left[0].notice
        if at_s >= self._since_s + self.shown_s:
            return [self._next(at_s, "shown")]
        return []

    def press(self, at_s: float) -> list[Notice]:
        """Moves on to the next; nothing where none is shown."""
        return [self._next(at_s, "pressed")] if self.words else []

    def due_s(self) -> float:
        """When the notice that is shown gives way to the next."""
        return math.inf if self._since_s is None else self._since_s + self.shown_s

    def _decide(self, today: date | None, is_moving: bool | None) -> None:
        """Whether they are due today: a sled that rides off undated has skipped them."""
        if today is None and not is_moving:
            return
        self._is_decided = True
        if today is not None and today.isoformat() == self._last_day:
            return
        self._today = today
        self._left = [one for one in self.clauses if self._is_for_rider(one, today)]

    def _is_for_rider(self, clause: Clause, today: date | None) -> bool:
        if clause.under_age is None or self.born is None or today is None:
            return True
        return age(self.born, today) < clause.under_age

    def _skip(self) -> list[Notice]:
        skipped = [Notice(one.citation, one.notice, "skipped") for one in self._left]
        self._left.clear()
        self._since_s, self.words = None, ""
        return skipped

    def _next(self, at_s: float, state: str) -> Notice:
        clause = self._left.pop(0)
        shown_s = at_s - (at_s if self._since_s is None else self._since_s)
        self._since_s, self.words = None, ""
        if self._left:
            self._since_s, self.words = at_s, self._left[0].notice
        else:
            self.done_on = self._today
        return Notice(clause.citation, clause.notice, state, shown_s)


def notices_of(clauses: Iterable[Clause], vehicle: str) -> list[Clause]:
    """The clauses that a rider of this vehicle is told of."""
    return [one for one in clauses if one.notice and one.applies_to == vehicle]


def age(born: date, today: date) -> int:
    """Whole years lived; who was born on 29 February is a year older on 1 March."""
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
