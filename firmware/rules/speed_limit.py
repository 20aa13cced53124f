"""Speed against a limit that holds everywhere: always, in darkness, or in a window of the clock."""

from __future__ import annotations

from firmware.config.schema import Config
from firmware.findings import Finding
from firmware.law.packs import Clause
from firmware.maps.calm import ANYWHERE, Calm
from firmware.readings import Channel, Missing
from firmware.rules.base import (
    NoMemory,
    Passed,
    Snapshot,
    cannot_tell,
    does_not_apply,
    in_unit_of,
    is_out_of_hours,
    is_surely_within_window,
    judge_speed,
    lifted,
    outside_hours,
)

TOPIC = "speed"


class SpeedLimit:
    """Judges a clause such as 350.10(1)(gm).

    Over the limit by up to the stated error is `unsure`; beyond it `violation`. `approaching`
    begins 3 mph below a limit of 40 mph or more, 1 mph below a smaller one.
    """

    channels = frozenset({Channel.FIX, Channel.LIGHT_AMBIENT})

    def __init__(self, config: Config) -> None:
        self.choices = config.rules

    def begin(self) -> NoMemory:
        return NoMemory()

    def judge(self, memory: NoMemory, now: Snapshot, clause: Clause) -> tuple[NoMemory, Finding]:
        return memory, self._finding(now, clause)

    def ground(self, memory: NoMemory, now: Snapshot, clause: Clause) -> Calm | None:
        return ANYWHERE if is_out_of_hours(now, clause) else None

    def ridden(self, memory: NoMemory, passed: Passed) -> NoMemory:
        return memory

    def _finding(self, now: Snapshot, clause: Clause) -> Finding:
        exempt = lifted(clause, now, TOPIC)
        if exempt is not None:
            return exempt
        may_accuse = True
        if clause.when == "darkness":
            dark = now.dark_by(clause)
            is_dark = dark.is_dark
            if is_dark is False:
                return does_not_apply(clause, "daylight", TOPIC)
            if is_dark is None:
                return cannot_tell(clause, dark.why, TOPIC)
            may_accuse = dark.may_accuse
        elif clause.when == "clock":
            outside = outside_hours(clause, now, TOPIC)
            if outside is not None:
                return outside
            may_accuse = is_surely_within_window(now, clause)
        if isinstance(now.fix, Missing):
            return cannot_tell(clause, f"speed not known ({now.fix})", TOPIC)
        assert clause.limit is not None  # law.py refuses a speed clause without one
        value, error = in_unit_of(clause.limit, now.fix.speed_mps, now.fix.error_mps)
        if clause.when != "darkness":
            why = clause.title.lower()
        elif may_accuse:
            why = "after dark"
        else:
            by_sun = now.dark_by(clause).by_sun
            why = "about dusk or dawn" if by_sun else "too little natural light"
        return judge_speed(clause, value, error, why, self.choices, may_accuse, TOPIC)
