"""Exceedances from start to end: what a tachograph would call an event.

An event is a stretch of one verdict, `unsure` or `violation`: its start, its peak and its end are
those of that verdict alone, so that nothing which was unsure ever counts as a violation. A
violation that wavers into `unsure` for less than 5 s goes on; it ends where it was last seen. It is
sure once it was held for 5 s without a break; a single fix never is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firmware.findings import Event, Finding, Verdict

SURE_S = 5.0
"""So long a violation must be held to be sure, and so long `unsure` must last to end one."""

# Names of our own, because Python 3.11 takes twenty times as long to find a member of an enum.
_UNSURE, _VIOLATION = Verdict.UNSURE, Verdict.VIOLATION


@dataclass(slots=True)
class _Open:
    """An event that lasts: since when its violation is held, and since when it is in doubt."""

    event: Event
    held_since_s: float
    doubted_since_s: float | None = None
    doubted: Finding | None = None


@dataclass(slots=True)
class Events:
    """Follows the findings; gives an event at its start, when it becomes sure, and at its end."""

    _open: dict[str, _Open] = field(default_factory=dict)

    def follow(
        self, findings: Mapping[str, Finding], at_s: float, *, has_turned: bool = True
    ) -> list[Event]:
        """The events that start, become sure or end at `at_s`. `has_turned` is false where each
        finding has the verdict that it had at the last time."""
        changes: list[Event] = []
        if not has_turned and len(self._open) < 2:
            for lasting in list(self._open.values()):
                changes += self._go_on(lasting, findings[lasting.event.clause], at_s)
            return changes
        for clause, finding in findings.items():
            verdict = finding.verdict
            is_over = verdict is _VIOLATION or verdict is _UNSURE
            if not is_over and not self._open:
                continue  # as nearly always
            one = self._open.get(clause)
            if one is None:
                if is_over:
                    changes.append(self._begin(finding, at_s))
            elif is_over:
                changes += self._go_on(one, finding, at_s)
            else:
                changes += self._close(one, at_s)
        return changes

    def due_s(self, at_s: float) -> float:
        """The next instant at which an event becomes sure, or ends in doubt, by time alone."""
        due = math.inf
        for one in self._open.values():
            if one.event.verdict is not _VIOLATION:
                continue
            if one.doubted_since_s is not None:
                due = min(due, one.doubted_since_s + SURE_S)
            elif not one.event.is_sure:
                due = min(due, one.held_since_s + SURE_S)
        return due if due > at_s else math.inf

    def end(self, at_s: float) -> list[Event]:
        """Ends all that is open, at power-off."""
        return [event for one in list(self._open.values()) for event in self._close(one, at_s)]

    def _begin(self, finding: Finding, at_s: float) -> Event:
        event = Event(
            finding.clause,
            finding.verdict,
            at_s,
            finding.value,
            finding.limit,
            finding.unit,
            False,
        )
        self._open[finding.clause] = _Open(event, at_s)
        return event

    def _close(self, one: _Open, at_s: float) -> list[Event]:
        """Ends an event: where its violation was last seen, with what was doubted after it."""
        del self._open[one.event.clause]
        if one.doubted_since_s is None or one.doubted is None:
            return [replace(one.event, end_s=at_s)]
        ended = [replace(one.event, end_s=one.doubted_since_s)]
        if at_s > one.doubted_since_s:
            doubt = self._begin(one.doubted, one.doubted_since_s)
            ended += [doubt, *self._close(self._open[one.event.clause], at_s)]
        return ended

    def _go_on(self, one: _Open, finding: Finding, at_s: float) -> list[Event]:
        if finding.verdict is not one.event.verdict:
            return self._turn(one, finding, at_s)
        if one.doubted_since_s is not None:
            one.doubted_since_s = one.doubted = None
            one.held_since_s = at_s
        one.event = _grown(one.event, finding)
        is_held = finding.verdict is _VIOLATION and at_s >= one.held_since_s + SURE_S
        if one.event.is_sure or not is_held:
            return []
        one.event = replace(one.event, is_sure=True)
        return [one.event]

    def _turn(self, one: _Open, finding: Finding, at_s: float) -> list[Event]:
        """What was unsure becomes a violation at once; a violation becomes unsure after 5 s."""
        if finding.verdict is Verdict.VIOLATION:
            return [*self._close(one, at_s), self._begin(finding, at_s)]
        if one.doubted_since_s is None or one.doubted is None:
            one.doubted_since_s, one.doubted = at_s, finding
            return []
        one.doubted = replace(finding, value=_worse(one.doubted.value, finding))
        if at_s < one.doubted_since_s + SURE_S:
            return []
        since_s, doubted = one.doubted_since_s, one.doubted
        one.doubted_since_s = None
        ended = self._close(one, since_s)
        return [*ended, self._begin(doubted, since_s)]


def _grown(event: Event, finding: Finding) -> Event:
    """The event with the worst of its value and the finding's."""
    peak = _worse(event.peak, finding)
    if peak == event.peak:
        return event
    return Event(
        event.clause,
        event.verdict,
        event.start_s,
        peak,
        event.limit,
        event.unit,
        event.is_sure,
        event.end_s,
    )


_HIGHER_IS_WORSE = ("mph", "km/h", "mph posted", "s", "ft")


def _worse(value: float | None, finding: Finding) -> float | None:
    """A lamp's worst value is its lowest; that of what has a limit above it is its highest."""
    if finding.value is None or value is None:
        return finding.value if value is None else value
    return (max if finding.unit in _HIGHER_IS_WORSE else min)(value, finding.value)
