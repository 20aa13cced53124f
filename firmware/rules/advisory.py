"""Advice on stopping: a sled that can't stop within the reach of its head lamp.

350.10(1)(a) asks for a speed that is reasonable, which is for a court to say; 350.09(2)(b) asks for
a head lamp that shows what is 200 ft ahead, and 350.09(4) for a brake that needs 40 ft from 20 mph.
With 1.5 s to react such a sled overdrives such a lamp from 35 mph on. That is said as advice, never
as a violation: once for a while, and not again for some minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.maps.calm import ANYWHERE, Calm
from firmware.quick import quick
from firmware.readings import Channel, Missing
from firmware.rules.base import (
    NEVER,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    is_out_of_hours,
    lifted,
)
from firmware.units import ft

TOPIC = "stopping"


@quick
@dataclass(frozen=True, slots=True)
class Told:
    """When the advice was given last, and whether the sled has been slow enough since."""

    at_s: float | None = None
    is_over: bool = False
    due_s: float = NEVER


class Stopping:
    """Judges whether the way to stop passes `reach_ft`; at most `approaching`."""

    channels = frozenset({Channel.FIX, Channel.LIGHT_AMBIENT})

    def __init__(self, config: Config) -> None:
        rules = config.rules
        self._brake_mps2, self._reaction_s = rules.brake_mps2, rules.reaction_s
        self._shown_s, self._quiet_s = rules.advice_shown_s, rules.advice_quiet_s

    def begin(self) -> Told:
        return Told()

    def judge(self, memory: Told, now: Snapshot, clause: Clause) -> tuple[Told, Finding]:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return Told(memory.at_s), exempt
        if clause.when == "darkness":
            dark = now.dark_by(clause)
            if dark.is_dark is None:
                return Told(memory.at_s), cannot_tell(clause, dark.why, TOPIC)
            if not dark.is_dark:
                return Told(memory.at_s), does_not_apply(clause, "daylight", TOPIC)
        if isinstance(now.fix, Missing):
            why = f"speed not known ({now.fix})"
            return Told(memory.at_s, memory.is_over), cannot_tell(clause, why, TOPIC)
        assert clause.reach_ft is not None  # law.py refuses such advice without it
        # In the rider's favour: as slow as the speed's error lets it be.
        surely_ft = self._stop_ft(max(0.0, now.fix.speed_mps - now.fix.error_mps))
        if surely_ft <= clause.reach_ft:
            told = Told(memory.at_s) if memory.is_over else memory
            return told, self._finding(clause, now, "can stop in time", is_told=False)
        told_s = memory.at_s
        if not memory.is_over and (told_s is None or now.at_s >= told_s + self._quiet_s):
            told_s = now.at_s
        ends_s = NEVER if told_s is None else told_s + self._shown_s
        is_told = told_s is not None and now.at_s < ends_s
        why = "can't stop within the lamp's reach" + ("" if is_told else ", said already")
        due_s = ends_s if is_told else NEVER
        told = memory
        if not memory.is_over or told_s != memory.at_s or due_s != memory.due_s:
            told = Told(told_s, True, due_s)
        return told, self._finding(clause, now, why, is_told=is_told)

    def ground(self, memory: Told, now: Snapshot, clause: Clause) -> Calm | None:
        return ANYWHERE if is_out_of_hours(now, clause) else None

    def ridden(self, memory: Told, passed: Passed) -> Told:
        return memory

    def _finding(self, clause: Clause, now: Snapshot, why: str, *, is_told: bool) -> Finding:
        assert not isinstance(now.fix, Missing)  # told by judge
        verdict = Verdict.APPROACHING if is_told else Verdict.COMPLIANT
        stop_ft = self._stop_ft(now.fix.speed_mps)
        return Finding(clause.citation, verdict, why, stop_ft, clause.reach_ft, "ft", topic=TOPIC)

    def _stop_ft(self, speed_mps: float) -> float:
        """The way to a stop in feet: to react, then to brake as 350.09(4) asks."""
        return ft(speed_mps * self._reaction_s + speed_mps**2 / (2 * self._brake_mps2))
