"""Whose law holds where the sled is, by the outlines of kind `territory` in the zone packs.

An outline is a state's or a province's, with its code (US-WI) as its id or its name. A law holds
once the sled is surely inside its outline, by more than the position's error, and goes on to hold
until it surely is inside another or outside of its own: so no border makes it flap. Where that
can't be told, no law is judged, and it is said so. Hours in a law are told by the civil time that
its outline names, or by the configuration's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Feature, Fix, Missing
from firmware.rules.base import Rule, Snapshot, Whose, does_not_apply

LAW = "law"
"""The clause, which is none, and the topic under which it is told whose law holds."""

TOLD_S = 10.0
"""So long a change of law is told."""

KIND = frozenset({"territory"})


class Territories:
    """Told fixes and what lies near; asked whose law holds, and what is to be told of it."""

    def __init__(self, notices: Mapping[str, Sequence[Clause]]) -> None:
        """Takes the jurisdictions that have a law here, each with what it has shown at start."""
        self.notices = notices
        self.whose = Whose(why="no fix yet: not known whose law holds")
        self._last = ""
        self._zones: dict[str, ZoneInfo] = {}
        self._told_until_s = -math.inf

    def take(self, fix: Fix | Missing, nearby: Nearby | Missing, at_s: float) -> None:
        """Takes a place. Without a fix the law goes on that held at the last one."""
        if isinstance(fix, Missing):
            return
        whose = self._whose(fix, nearby)
        if whose is None:
            return
        self.whose = whose
        if whose.jurisdiction:
            if self._last not in ("", whose.jurisdiction):
                self._told_until_s = at_s + TOLD_S
            self._last = whose.jurisdiction

    def finding(self, at_s: float) -> Finding:
        """What is told: `unknown` where no law is known to hold, `approaching` for some seconds
        after it changed, and else `compliant` with the law that holds."""
        whose = self.whose
        if not whose.jurisdiction:
            return Finding(LAW, Verdict.UNKNOWN, whose.why, topic=LAW)
        if at_s < self._told_until_s:
            why = f"{whose.name} law: it holds from here on"
            return Finding(LAW, Verdict.APPROACHING, why, topic=LAW)
        return Finding(LAW, Verdict.COMPLIANT, f"the law of {whose.name} holds", topic=LAW)

    def due_s(self, at_s: float) -> float:
        """When a change of law has been told for long enough."""
        return self._told_until_s if at_s < self._told_until_s else math.inf

    def _whose(self, fix: Fix, nearby: Nearby | Missing) -> Whose | None:
        """Whose law holds at a place; None where it can't be told better than before."""
        if isinstance(nearby, Missing):
            return Whose(why=f"no outlines of laws ({nearby})")
        place = (fix.lat_deg, fix.lon_deg)
        if not nearby.reaches(*place, fix.error_m):
            return None  # what lies here is still being looked up
        met = nearby.met(KIND, place, within_m=fix.error_m)
        if not met:
            return Whose(why="outside every outline of a law")
        found = {self._code(one.feature): one.feature for one in met}
        sure = {self._code(one.feature) for one in met if one.depth_m >= fix.error_m}
        if len(found) == 1 and sure:
            ((code, feature),) = found.items()
            if code not in self.notices:
                return Whose(why=f"no law pack for {code}")
            return self._named(code, feature)
        if len(sure) > 1:
            return Whose(why=f"the outlines of {' and '.join(sorted(sure))} overlap")
        if self.whose.jurisdiction in found:
            return None
        return Whose(why=f"at the border of {' and '.join(sorted(found))}")

    def _named(self, code: str, feature: Feature) -> Whose:
        """The law of an outline, with its own civil time where it tells one."""
        name = feature.name if feature.name not in ("", code) else code
        zone = feature.attributes.get("time_zone")
        if zone is None:
            return Whose(code, name)
        if zone not in self._zones:
            try:
                self._zones[zone] = ZoneInfo(zone)
            except (ZoneInfoNotFoundError, ValueError, OSError):  # absent, "../x", a folder
                return Whose(why=f"the outline of {code} names no time zone that is here: {zone}")
        return Whose(code, name, time_zone=self._zones[zone])

    def _code(self, feature: Feature) -> str:
        """The jurisdiction that an outline is of: its id, or its name where that is a code."""
        return feature.name if feature.name in self.notices else feature.id


class InTerritory:
    """A rule that judges where its law holds; elsewhere its clause asks nothing, and where that is
    not known it is `unknown`. It forgets what it remembers when its law ceases to hold."""

    def __init__(self, rule: Rule, jurisdiction: str) -> None:
        self.channels = rule.channels | {Channel.FIX, Channel.SURROUNDINGS}
        self._rule = rule
        self._jurisdiction = jurisdiction

    def begin(self) -> Any:  # the inner rule's memory
        return self._rule.begin()

    def judge(self, memory: Any, now: Snapshot, clause: Clause) -> tuple[Any, Finding]:
        whose = now.whose
        if whose is None or not whose.jurisdiction:
            why = "not known whose law holds" if whose is None else whose.why
            unknown = Finding(
                clause.citation, Verdict.UNKNOWN, why, topic=LAW, is_fitted=False
            )  # told once, by `Territories`
            return self.begin(), unknown
        if whose.jurisdiction != self._jurisdiction:
            why = f"the law of {whose.name} holds here"
            return self.begin(), does_not_apply(clause, why, LAW)
        finding: tuple[Any, Finding] = self._rule.judge(memory, now, clause)
        return finding
