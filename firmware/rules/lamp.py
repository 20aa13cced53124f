"""A lamp that must be lit in hours of darkness, while the sled is in operation.

Below half (in config) of its own calibrated level, or below 50 lux at the sensor where it was never
calibrated, for 2 s it is out: `unsure`, for one dark element need not break the law (State v.
Brown, 2014 WI 69). 60 s of riding on with it, counted from when it went dark, is a `violation`,
by the sun's darkness only. Parked with the engine off is not operation (350.09 annotation); where
no engine sense is fitted, operation is motion, and without a fix it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from firmware.config import Config
from firmware.findings import Finding, Verdict
from firmware.law import Clause
from firmware.readings import Channel, Engine, Light, Missing, Why
from firmware.rules.base import (
    NEVER,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
)

ROUNDING_S = 1e-6
"""The riding time is a sum of many small steps."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Since when the lamp is dark, and for how many seconds the sled was ridden so."""

    since_s: float | None = None
    ridden_s: float = 0.0
    seen_s: float = 0.0
    was_moving: bool = False
    due_s: float = NEVER


class LampLit:
    """Judges a clause such as 350.09(2)(b) and (3)."""

    channels = frozenset(
        {
            Channel.FIX,
            Channel.LIGHT_HEAD,
            Channel.LIGHT_TAIL,
            Channel.LIGHT_AMBIENT,
            Channel.ENGINE,
        }
    )

    def __init__(self, config: Config) -> None:
        self.choices = config.rules
        head, tail = config.light.head, config.light.tail
        self._on_lux = {"head": head and head.on_lux, "tail": tail and tail.on_lux}

    def begin(self) -> Outage:
        return Outage()

    def judge(self, memory: Outage, now: Snapshot, clause: Clause) -> tuple[Outage, Finding]:
        topic = f"{clause.lamp}-lamp"
        exempt = lifted(clause, now, topic)
        if exempt is not None:
            return Outage(), exempt
        idle = self._not_demanded(now, clause, topic)
        if idle is not None:
            return Outage(), idle
        light = now.head if clause.lamp == "head" else now.tail
        if isinstance(light, Missing):
            why = f"{clause.lamp} lamp not seen ({light})"
            return Outage(), cannot_tell(clause, why, topic, light)
        if now.dark.is_dark is None:
            return Outage(), cannot_tell(clause, now.dark.why, topic)
        on_lux = self._on_lux[clause.lamp]
        limit_lux = self.choices.uncalibrated_lux
        if on_lux:
            limit_lux = on_lux * self.choices.lamp_on_share
        lamp = self._look(clause, light, limit_lux, topic)
        outage = self._follow(memory, now, is_out=lamp.verdict.is_over)
        verdict = self._verdict(outage, now)
        if verdict.is_over and now.is_moving is None and _has_no_sense(now.engine):
            what = lamp.why.partition(":")[0]
            why = f"{what}, but not known whether the sled moves"
            return outage, cannot_tell(clause, why, topic)
        return outage, lamp if lamp.verdict is verdict else replace(lamp, verdict=verdict)

    def _not_demanded(self, now: Snapshot, clause: Clause, topic: str) -> Finding | None:
        """The finding where no lamp is demanded here and now."""
        if now.dark.is_dark is False:
            return does_not_apply(clause, "daylight", topic)
        engine = now.engine
        if isinstance(engine, Missing):
            # Without an engine sense, operation is motion; with one that fails it is assumed.
            if _has_no_sense(engine) and now.is_moving is False:
                return does_not_apply(clause, "not moving", topic)
        elif not engine.is_running and not now.is_moving:
            return does_not_apply(clause, "parked with the engine off is not operation", topic)
        return None

    def _look(self, clause: Clause, light: Light, limit_lux: float, topic: str) -> Finding:
        """The lamp as it looks now: `unsure` where it is not as it must be, however long."""
        lamp = clause.lamp
        red, least = light.red_share if lamp == "tail" else None, self.choices.red_share
        if light.lux < limit_lux:
            verdict = Verdict.UNSURE
            why = f"{lamp} lamp out: {light.lux:.0f} lux, needs {limit_lux:.0f}"
        elif red is not None and red < least:
            why = f"tail lamp not red: {red:.0%} of its light is red"
            unit = "share of red"
            return Finding(clause.citation, Verdict.UNSURE, why, red, least, unit, topic=topic)
        else:
            verdict, why = Verdict.COMPLIANT, f"{lamp} lamp lit"
        error = light.error_lux
        return Finding(clause.citation, verdict, why, light.lux, limit_lux, "lux", error, topic)

    def _follow(self, memory: Outage, now: Snapshot, *, is_out: bool) -> Outage:
        """The outage as it stands now, and when it must be looked at again."""
        if not is_out:
            return Outage()
        moving = now.is_moving is True
        if memory.since_s is None:
            outage = Outage(now.at_s, 0.0, now.at_s, moving)
        else:
            ridden_s = memory.ridden_s
            if memory.was_moving:
                ridden_s += now.at_s - memory.seen_s
            outage = replace(memory, ridden_s=ridden_s, seen_s=now.at_s, was_moving=moving)
        return replace(outage, due_s=self._due_s(outage, now.at_s))

    def _due_s(self, outage: Outage, at_s: float) -> float:
        assert outage.since_s is not None  # only asked of an outage that has begun
        dwell_ends_s = outage.since_s + self.choices.lamp_dwell_s
        if at_s < dwell_ends_s:
            return dwell_ends_s
        left_s = self.choices.lamp_violation_s - outage.ridden_s
        return at_s + left_s if outage.was_moving and left_s > ROUNDING_S else NEVER

    def _verdict(self, outage: Outage, now: Snapshot) -> Verdict:
        if outage.since_s is None or now.at_s < outage.since_s + self.choices.lamp_dwell_s:
            return Verdict.COMPLIANT
        long_enough = outage.ridden_s >= self.choices.lamp_violation_s - ROUNDING_S
        return Verdict.VIOLATION if long_enough and now.dark.may_accuse else Verdict.UNSURE


def _has_no_sense(engine: Engine | Missing) -> bool:
    """Whether no engine sense was ever fitted."""
    return isinstance(engine, Missing) and engine.why is Why.NOT_FITTED
