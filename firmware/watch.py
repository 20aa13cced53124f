"""The clauses that are watched: which of them look at what, which are due, and which rest.

Most clauses find at nearly every fix what they found at the last one, for nothing that they look at
is near. Such a clause rests: `rules.base.Resting` says on what its finding depends, and by which
ground. A fix on the ground that all of them share is judged by the other clauses alone. A clause
that wakes is first told the fixes that it was not asked about.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from firmware.findings import Finding
from firmware.law.packs import Clause
from firmware.maps.calm import ANYWHERE, Calm, shared
from firmware.readings import Channel, Fix
from firmware.rules.base import LOOK_BACK_S, MOTION, Passed, Resting, Rule, Snapshot

_MOST_FIXES = 400
"""Of the last moments, however fast they come: the memory stays bounded."""

Stretch = tuple[date, int]
"""A local day, and between which of its turns: within it no hours begin or end."""


@dataclass(slots=True)
class Watched:
    """A clause with its rule, what that remembers and when it is due, and the finding.

    `ground` is where it rests, None while it does not; `judged` how many fixes had come when it
    was last judged.
    """

    clause: Clause
    rule: Rule
    memory: Any  # each rule knows its own memory's type
    resting: Resting | None  # the rule, where it is one that may rest
    due_s: float = math.inf
    finding: Finding | None = None
    ground: Calm | None = None
    judged: int = 0


class Watch:
    """All clauses of a unit, in the order of the law; `due_s` is when time alone may change one."""

    def __init__(self, clauses: Iterable[tuple[Clause, Rule]]) -> None:
        self.all = [
            Watched(clause, rule, rule.begin(), rule if isinstance(rule, Resting) else None)
            for clause, rule in clauses
        ]
        self._by_channel = {
            channel: tuple(one for one in self.all if channel in one.rule.channels)
            for channel in Channel
        }
        self.by_motion = [one for one in self.all if MOTION in one.rule.channels]
        self.in_darkness = [one for one in self.all if one.clause.when == "darkness"]
        self.by_clock = [one for one in self.all if one.clause.when == "clock"]
        self.has_hours = any(one.clause.has_hours for one in self.all)
        self.turns = {
            at
            for one in self.by_clock
            for at in (one.clause.from_time, one.clause.to_time)
            if at is not None
        }
        self.due_s = math.inf
        self._is_due_new = False
        self._sorted_turns = sorted(self.turns)
        self._local: datetime | None = None
        self._stretch: Stretch | None = None  # in it each clause that rests was judged
        self._ground = ANYWHERE
        self._awake = self._by_channel[Channel.FIX]
        self._has_new_rest = False
        self._fixes: deque[tuple[float, Fix]] = deque(maxlen=_MOST_FIXES)
        self._count = 0
        self._is_fix_new = False

    def looking_at(self, channel: Channel) -> tuple[Watched, ...]:
        """The clauses that look at a channel."""
        return self._by_channel[channel]

    def awake(
        self, fix: Fix, fix_at_s: float, chart: object, local: datetime | None
    ) -> tuple[Watched, ...]:
        """Takes a new fix; returns the clauses that must judge it, all others rest on."""
        fixes = self._fixes
        fixes.append((fix_at_s, fix))
        self._count += 1
        self._is_fix_new = True
        while len(fixes) > 2 and fixes[1][0] <= fix_at_s - LOOK_BACK_S:
            fixes.popleft()
        self._come_to(local)
        if self._has_new_rest:
            self._share_ground()
        if not self._ground.holds(chart, fix):
            for one in self.all:
                if one.ground is not None and not one.ground.holds(chart, fix):
                    one.ground = None
            self._share_ground()
        return self._awake

    def judge(
        self, touched: Sequence[Watched], now: Snapshot
    ) -> list[tuple[Finding, Finding | None]]:
        """Judges these clauses, each once, in the order of the law; gives each finding that is
        another object than the one before, which it gives too."""
        self._come_to(now.local)
        changed = []
        for one in touched if type(touched) is tuple else self._in_order(touched):
            before = one.finding
            finding = self._judge(one, now)
            if finding is not before:
                changed.append((finding, before))
        if self._is_due_new:
            self._is_due_new = False
            self.due_s = min([one.due_s for one in self.all])
        return changed

    def settle(self) -> None:
        """Ends an instant: whoever judges the newest fix from here on judges it once more."""
        self._is_fix_new = False

    def _judge(self, one: Watched, now: Snapshot) -> Finding:
        memory, resting = one.memory, one.resting
        if resting is not None and one.judged < self._count - self._is_fix_new:
            memory = resting.ridden(memory, self._passed(one))
        before = one.finding
        one.memory, one.finding = memory, finding = one.rule.judge(memory, now, one.clause)
        one.judged = self._count
        if memory.due_s != one.due_s:
            one.due_s = memory.due_s
            self._is_due_new = True
        if resting is not None:
            ground = None
            if finding is before and not (one.clause.lifted_by and now.modes):
                ground = resting.ground(memory, now, one.clause)
            if ground is not one.ground:
                one.ground = ground
                self._has_new_rest = True
        return finding

    def _passed(self, one: Watched) -> Passed:
        """The fixes of the last moments that a clause was not asked about; a new one it judges now
        is none of them."""
        passed = list(self._fixes)[one.judged - self._count :]
        return passed[:-1] if self._is_fix_new else passed

    def _share_ground(self) -> None:
        """Finds out which clauses rest, and on which ground all of them do."""
        self._has_new_rest = False
        self._ground = shared(one.ground for one in self.all if one.ground is not None)
        self._awake = tuple(one for one in self._by_channel[Channel.FIX] if one.ground is None)

    def _come_to(self, local: datetime | None) -> None:
        """Comes to a local time: in another stretch of it than theirs no clause rests."""
        if local is self._local:
            return
        self._local = local
        stretch = None if local is None else self._stretch_of(local)
        if stretch != self._stretch:
            self._stretch = stretch
            for one in self.all:
                one.ground = None
            self._has_new_rest = True

    def _stretch_of(self, local: datetime) -> Stretch:
        return local.date(), bisect_right(self._sorted_turns, local.time())

    def _in_order(self, touched: Iterable[Watched]) -> list[Watched]:
        """Each of these once, in the order of the law."""
        wanted = {id(one) for one in touched}
        return [one for one in self.all if id(one) in wanted]
