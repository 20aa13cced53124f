"""Exceedances from start to end: what a tachograph would call an event.

An event starts with the first `unsure` or `violation` of a clause and ends with the first verdict
that is neither. It is sure once a `violation` was held for 5 s; a single fix never is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firmware.findings import Event, Finding, Verdict

SURE_S = 5.0


@dataclass(frozen=True, slots=True)
class _Open:
    event: Event
    violation_since_s: float | None


@dataclass(slots=True)
class Events:
    """Follows the findings; gives an event at its start, when it becomes sure, and at its end."""

    _open: dict[str, _Open] = field(default_factory=dict)

    def follow(self, findings: Mapping[str, Finding], at_s: float) -> list[Event]:
        """The events that start, become sure or end at `at_s`."""
        changes: list[Event] = []
        for clause, finding in findings.items():
            if not finding.verdict.is_over:
                if clause in self._open:
                    changes.append(replace(self._open.pop(clause).event, end_s=at_s))
                continue
            one = self._open.get(clause)
            if one is None:
                event = Event(
                    clause, finding.verdict, at_s, finding.value, finding.limit, finding.unit, False
                )
                one = _Open(event, None)
                changes.append(event)
            one, became_sure = _grow(one, finding, at_s)
            self._open[clause] = one
            if became_sure:
                changes.append(one.event)
        return changes

    def due_s(self, at_s: float) -> float:
        """The next instant at which an event becomes sure by time alone."""
        due = math.inf
        for one in self._open.values():
            if one.violation_since_s is not None and not one.event.is_sure:
                due = min(due, one.violation_since_s + SURE_S)
        return due if due > at_s else math.inf

    def end(self, at_s: float) -> list[Event]:
        """Ends all that is open, at power-off."""
        ended = [replace(one.event, end_s=at_s) for one in self._open.values()]
        self._open.clear()
        return ended


def _grow(one: _Open, finding: Finding, at_s: float) -> tuple[_Open, bool]:
    """The event with this finding taken in, and whether it has just become sure."""
    event = one.event
    if finding.value is not None:
        # A lamp's worst value is its lowest; a speed's, and a clock's, is its highest.
        worse = max if finding.unit in ("mph", "km/h", "s") else min
        event = replace(
            event, peak=finding.value if event.peak is None else worse(event.peak, finding.value)
        )
    since_s = one.violation_since_s
    if finding.verdict is Verdict.VIOLATION:
        since_s = at_s if since_s is None else since_s
        event = replace(event, verdict=Verdict.VIOLATION)
    else:
        since_s = None
    became_sure = not event.is_sure and since_s is not None and at_s >= since_s + SURE_S
    return _Open(replace(event, is_sure=event.is_sure or became_sure), since_s), became_sure
