"""A tether kill switch that must be attached while the engine runs, where a mode demands it."""

from __future__ import annotations

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.readings import Channel, Missing, TetherState
from firmware.rules.base import (
    MOTION,
    NoMemory,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
)

TOPIC = "tether"

FAULTS = {
    TetherState.OUT: "tether is out",
    TetherState.OPEN: "the tether switch's wire is broken",
    TetherState.SHORT: "the tether switch's wire is shorted",
}


class TetherAttached:
    """Judges 350.09(9): in a race, out with the engine running is a violation.

    A broken or shorted wire is a tether that can't be watched. Where the engine's state is not
    known, a moving sled counts as running and a still one is `unsure`.
    """

    channels = frozenset({Channel.TETHER, Channel.ENGINE, MOTION, Channel.REQUEST})

    def __init__(self, config: Config) -> None:
        """Needs nothing of the config; each rule is made alike."""

    def begin(self) -> NoMemory:
        return NoMemory()

    def judge(self, memory: NoMemory, now: Snapshot, clause: Clause) -> tuple[NoMemory, Finding]:
        return memory, self._finding(now, clause)

    def _finding(self, now: Snapshot, clause: Clause) -> Finding:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        if clause.demanded_by and not now.modes.intersection(clause.demanded_by):
            return does_not_apply(clause, "no sanctioned race", TOPIC)
        if isinstance(now.tether, Missing):
            return cannot_tell(clause, f"tether not seen ({now.tether})", TOPIC, now.tether)
        state = now.tether.state
        if state is TetherState.IN:
            return Finding(clause.citation, Verdict.COMPLIANT, "tether attached", topic=TOPIC)
        if state is not TetherState.OUT:
            return cannot_tell(clause, FAULTS[state], TOPIC)
        if isinstance(now.engine, Missing):
            verdict = Verdict.VIOLATION if now.is_moving else Verdict.UNSURE
            why = "tether is out while moving" if now.is_moving else "tether is out, engine unknown"
        elif now.engine.is_running:
            verdict, why = Verdict.VIOLATION, "tether is out with the engine running"
        else:
            verdict, why = Verdict.COMPLIANT, "tether is out, engine stopped"
        return Finding(clause.citation, verdict, why, topic=TOPIC)
