"""What holds now, as one record that is kept whenever it has changed.

A finding is kept when its verdict changes. Its limit may change without that, and so may why a duty
is not watched: a report, which draws the limit beside the speed, needs both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from firmware.findings import Finding, Margin, Standing, Unwatched, Verdict
from firmware.readings import Engine, Fix, Missing, Tether, Value, Why
from firmware.units import MPS_PER_KMH, MPS_PER_MPH

MPH_OF = {"mph": 1.0, "km/h": MPS_PER_KMH / MPS_PER_MPH}
"""Miles an hour of one of a speed limit's units."""

ZONE_AHEAD = "zone-ahead"
"""The topic of a finding whose limit does not hold yet."""

FAR_MPH = 10.0
POOR_M = 10.0
_AGE = re.compile(r"(: last heard at|: came) [\d.]+ s( late)?")
_UNKNOWN = Verdict.UNKNOWN
_MARGINS = {
    Verdict.VIOLATION: Margin.OVER,
    Verdict.UNSURE: Margin.UNSURE,
    Verdict.APPROACHING: Margin.NEAR,
}
_FAR, _BELOW = Margin.FAR, Margin.BELOW
_LAMP_WORDS = ("unknown", "not fitted", "lit", "not needed")


@dataclass(slots=True)
class Standings:
    """Follows what holds."""

    _last: tuple[Any, ...] = ()
    _heard: tuple[Any, ...] = ()
    _said: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def follow(
        self,
        findings: Mapping[str, Finding],
        changed: Iterable[Finding],
        *,
        is_dark: bool | None,
        tether: Value,
        engine: Value,
        fix: Fix | Missing,
        clock: str,
    ) -> list[Standing]:
        """What holds now where that is not what held before; told once. `changed` are those of the
        findings that may be others than at the last time."""
        heard = (is_dark, tether, engine, _quality(fix), clock)
        is_same = heard == self._heard
        self._heard = heard
        for one in changed:
            said = _said(one)
            if said != self._said.get(one.clause):
                self._said[one.clause] = said
                is_same = False
        return [] if is_same else self._changed(findings, is_dark, tether, engine, fix, clock)

    def _changed(
        self,
        findings: Mapping[str, Finding],
        is_dark: bool | None,
        tether: Value,
        engine: Value,
        fix: Fix | Missing,
        clock: str,
    ) -> list[Standing]:
        limit_mph: float | None = None
        clause = ""
        margin = Margin.FREE
        is_blind = False
        head: list[str] = []
        tail: list[str] = []
        unwatched: tuple[Unwatched, ...] = ()
        for one in findings.values():
            topic = one.topic
            if one.verdict is Verdict.UNKNOWN:
                unwatched += (Unwatched(one.clause, _ageless(one.why), one.is_fitted),)
                is_blind = is_blind or (topic in ("speed", "zone") and one.is_fitted)
            if topic == "head-lamp":
                head.append(_lamp(one))
            elif topic == "tail-lamp":
                tail.append(_lamp(one))
            elif one.limit is not None and one.value is not None and one.unit in MPH_OF:
                margin = max(margin, _margin(one))
                held_mph = one.limit * MPH_OF[one.unit]
                if topic != ZONE_AHEAD and (limit_mph is None or held_mph < limit_mph):
                    limit_mph, clause = held_mph, one.clause
        if is_blind and margin is Margin.FREE:
            margin = Margin.UNKNOWN
        now = (
            clause,
            margin,
            "unknown" if is_dark is None else "dark" if is_dark else "day",
            _worst(head),
            _worst(tail),
            _word(tether),
            _word(engine),
            _quality(fix),
            clock,
            limit_mph,
            unwatched,
        )
        if now == self._last:
            return []
        self._last = now
        return [Standing(*now)]


def _said(finding: Finding) -> tuple[Any, ...]:
    """All that is told of a finding here: while this is the same, so is what holds."""
    verdict, limit, unit = finding.verdict, finding.limit, finding.unit
    why = _ageless(finding.why) if verdict is _UNKNOWN else ""
    is_speed = limit is not None and finding.value is not None and unit in MPH_OF
    margin = _margin(finding) if is_speed else None
    return verdict, finding.topic, limit, unit, finding.is_fitted, why, margin


@lru_cache(maxsize=256)
def _ageless(why: str) -> str:
    return _AGE.sub("", why)


def _margin(finding: Finding) -> Margin:
    margin = _MARGINS.get(finding.verdict)
    if margin is not None:
        return margin
    assert finding.limit is not None  # asked before
    assert finding.value is not None
    left_mph = (finding.limit - finding.value) * MPH_OF[finding.unit]
    return _FAR if left_mph >= FAR_MPH else _BELOW


def _lamp(finding: Finding) -> str:
    """How a lamp stands by one clause on it."""
    if finding.verdict is Verdict.UNKNOWN:
        return "unknown" if finding.is_fitted else "not fitted"
    if finding.verdict.is_over:
        return "out"
    return "not needed" if finding.limit is None else "lit"


def _worst(words: list[str]) -> str:
    if "out" in words:
        return "out"
    return min(words, key=_LAMP_WORDS.index, default="unknown")


def _word(value: Value) -> str:
    match value:
        case Tether(state=state):
            return str(state)
        case Engine(is_running=is_running):
            return "running" if is_running else "off"
        case Missing(why=Why.NOT_FITTED):
            return "not fitted"
    return "unknown"


def _quality(fix: Fix | Missing) -> str:
    if isinstance(fix, Missing):
        return "none"
    return "good" if fix.mode == 3 and fix.error_m <= POOR_M else "poor"
