"""A lamp that must be lit in hours of darkness, while the sled is in operation.

What its supply and its light say together is the truth table of `lamps.py`. Below half (in config)
of its own calibrated level, or below 50 lux at the sensor where it was never calibrated, for 2 s it
is out: `unsure`, for one dark element need not break the law (State v. Brown, 2014 WI 69). 60 s of
riding on with it, counted from when it went dark, is a `violation`, by the sun's darkness only.
Without light and with its supply sensed and off, it is a `violation` after the 2 s: that is a
switch, not a bulb. Covered by snow, or seen although its supply is off, it is never more than
`unsure`; blinded by another light it is not seen. Parked with the engine off is not operation
(350.09 annotation); where no engine sense is fitted, operation is motion, and without a fix it is
not known.

A law may let off old sleds (`exempt_aged`): by the model year of the configuration, and without one
nobody is accused.

Where a law wants lamps lit at all hours (`when = always`), daylight on a sensor may be taken for
the lamp. A lamp that looks dark is out by day too; one that looks lit counts as lit by its supply,
or where the light of the sky is known to be less than a lamp's. Else it can't be told.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from firmware.config.schema import Config
from firmware.findings import Finding, Verdict
from firmware.lamps import Drift, LampState, Levels, state_of
from firmware.law.packs import Clause
from firmware.readings import Channel, Engine, Light, Missing, Supply, Why
from firmware.rules.base import (
    MOTION,
    NEVER,
    Dark,
    Snapshot,
    cannot_tell,
    does_not_apply,
    lifted,
)

ROUNDING_S = 1e-6
"""The riding time is a sum of many small steps."""

LOOK_S = 0.26
"""A lamp is looked at four times a second, with a moment for the bus."""

AS_IT_MUST_BE = frozenset({LampState.LIT, LampState.HIGH})
NEVER_ACCUSED = frozenset({LampState.COVERED, LampState.UNSUPPLIED, LampState.BLINDED})

AT_ALL_HOURS = Dark(True, None)
"""Where lamps must be lit by day too, the sun is not asked."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Since when the lamp is not as it must be, and for how many seconds the sled was ridden so.

    `counts` is whether its state is one that riding on with is accused of; `off_since_s` is since
    when it has no supply; `drift` how its light came to where it is.
    """

    since_s: float | None = None
    ridden_s: float = 0.0
    seen_s: float = 0.0
    was_moving: bool = False
    due_s: float = NEVER
    counts: bool = True
    off_since_s: float | None = None
    drift: Drift = field(default_factory=Drift)


def levels_of(config: Config, lamp: str) -> Levels:
    """What light of a lamp ("head" or "tail") means what, by its own levels and the choices."""
    part = config.light.head if lamp == "head" else config.light.tail
    rules = config.rules
    on_lux = None if part is None else part.on_lux
    least_lux = on_lux * rules.lamp_on_share if on_lux else rules.uncalibrated_lux
    high_lux = None if part is None else part.high_lux
    return Levels(least_lux, on_lux, high_lux, rules.red_share)


class LampLit:
    """Judges a clause such as 350.09(2)(b) and (3)."""

    channels = frozenset(
        {
            MOTION,
            Channel.LIGHT_HEAD,
            Channel.LIGHT_TAIL,
            Channel.LIGHT_AMBIENT,
            Channel.SUPPLY_HEAD,
            Channel.SUPPLY_TAIL,
            Channel.ENGINE,
        }
    )

    def __init__(self, config: Config) -> None:
        self.choices = config.rules
        self._year = config.unit.year
        self._grace_s = LOOK_S if config.rules.lamp_dwell_s > 0.0 else 0.0
        self._levels = {lamp: levels_of(config, lamp) for lamp in ("head", "tail")}

    def begin(self) -> Outage:
        return Outage()

    def judge(self, memory: Outage, now: Snapshot, clause: Clause) -> tuple[Outage, Finding]:
        topic = f"{clause.lamp}-lamp"
        exempt = lifted(clause, now, topic)
        is_aged = self._is_aged(now, clause)
        if is_aged:
            why = f"a sled of {self._year} is let off"
            exempt = Finding(clause.citation, Verdict.EXEMPT, why, topic=topic)
        if exempt is not None:
            return Outage(), exempt
        light = now.head if clause.lamp == "head" else now.tail
        levels = self._levels[clause.lamp]
        drift = memory.drift
        if isinstance(light, Light):
            drift = drift.after(light.lux, levels.least_lux)
        dark = now.dark_by(clause) if clause.when == "darkness" else AT_ALL_HOURS
        idle = self._not_demanded(now, dark, clause, topic)
        if idle is not None:
            return Outage(drift=drift), idle
        supply = now.head_supply if clause.lamp == "head" else now.tail_supply
        state = state_of(clause.lamp, light, supply, levels, drift)
        if state is LampState.NOT_SEEN:
            assert isinstance(light, Missing)  # lamps.py: only what is missing is not seen
            why = f"{clause.lamp} lamp not seen ({light})"
            return Outage(), cannot_tell(clause, why, topic, light)
        if dark.is_dark is None:
            return Outage(drift=drift), cannot_tell(clause, dark.why, topic)
        is_by_supply = False
        if state in AS_IT_MUST_BE and _may_be_daylight(now, levels, clause):
            is_by_supply = isinstance(supply, Supply) and supply.is_on
            if not is_by_supply:
                why = f"{clause.lamp} lamp not told from daylight"
                return Outage(drift=drift), cannot_tell(clause, why, topic)
        seen_s = now.head_seen_s if clause.lamp == "head" else now.tail_seen_s
        outage = replace(self._follow(memory, now, state), drift=drift)
        is_beyond_error = (
            not isinstance(light, Light)
            or state not in (LampState.DIM, LampState.OUT)
            or light.lux + light.error_lux < levels.least_lux
        )
        verdict = self._verdict(outage, now, seen_s, state, is_beyond_error, dark)
        if verdict is Verdict.VIOLATION and is_aged is None:
            verdict = Verdict.UNSURE
        finding = _finding(clause, light, levels, state, verdict)
        if is_by_supply:
            why = f"{clause.lamp} lamp supplied: its light is not told from daylight"
            finding = replace(finding, why=why)
        if verdict.is_over and now.is_moving is None and _has_no_sense(now.engine):
            what = finding.why.partition(":")[0]
            why = f"{what}, but not known whether the sled moves"
            return outage, cannot_tell(clause, why, topic)
        return outage, finding

    def _is_aged(self, now: Snapshot, clause: Clause) -> bool | None:
        """Whether the sled is so old that the clause lets it off; None where nobody can tell."""
        if clause.exempt_aged is None:
            return False
        if self._year is None or now.local is None:
            return None
        return now.local.year - self._year >= clause.exempt_aged

    def _not_demanded(
        self, now: Snapshot, dark: Dark, clause: Clause, topic: str
    ) -> Finding | None:
        """The finding where no lamp is demanded here and now."""
        if dark.is_dark is False:
            return does_not_apply(clause, "daylight", topic)
        engine = now.engine
        if isinstance(engine, Missing):
            # Without an engine sense, operation is motion; with one that fails it is assumed.
            if _has_no_sense(engine) and now.is_moving is False:
                return does_not_apply(clause, "not moving", topic)
        elif not engine.is_running and not now.is_moving:
            return does_not_apply(clause, "parked with the engine off is not operation", topic)
        return None

    def _follow(self, memory: Outage, now: Snapshot, state: LampState) -> Outage:
        """The outage as it stands now, and when it must be looked at again."""
        if state in AS_IT_MUST_BE:
            return Outage()
        moving = now.is_moving is True
        off_since_s = self._off_since_s(memory, now) if state is LampState.OFF else None
        if memory.since_s is None:
            outage = Outage(now.at_s, 0.0, now.at_s, moving)
        else:
            ridden_s = memory.ridden_s
            if memory.was_moving and memory.counts:
                ridden_s += now.at_s - memory.seen_s
            outage = replace(memory, ridden_s=ridden_s, seen_s=now.at_s, was_moving=moving)
        counts = state not in NEVER_ACCUSED
        outage = replace(outage, counts=counts, off_since_s=off_since_s)
        return replace(outage, due_s=self._due_s(outage, now.at_s))

    def _off_since_s(self, memory: Outage, now: Snapshot) -> float:
        """Since when there is no supply: since its light went, where both went together as far as
        two looks can tell."""
        if memory.off_since_s is not None:
            return memory.off_since_s
        if memory.since_s is not None and now.at_s - memory.since_s <= 2 * self._grace_s:
            return memory.since_s
        return now.at_s

    def _due_s(self, outage: Outage, at_s: float) -> float:
        assert outage.since_s is not None  # only asked of an outage that has begun
        dwell_s = self.choices.lamp_dwell_s
        for since_s in (outage.since_s, outage.off_since_s):
            if since_s is not None and at_s < since_s + dwell_s + self._grace_s:
                return since_s + dwell_s + self._grace_s
        left_s = self.choices.lamp_violation_s - outage.ridden_s
        is_counted = outage.was_moving and outage.counts and left_s > ROUNDING_S
        return at_s + left_s if is_counted else NEVER

    def _has_lasted(self, since_s: float, now: Snapshot, seen_s: float) -> bool:
        """Whether the lamp was seen so for the dwell. Time alone says so only after the next look
        would have come: a flicker that is over by then must not be told."""
        dwell_s = self.choices.lamp_dwell_s
        return seen_s >= since_s + dwell_s or now.at_s >= since_s + dwell_s + self._grace_s

    def _verdict(
        self,
        outage: Outage,
        now: Snapshot,
        seen_s: float,
        state: LampState,
        is_beyond_error: bool,
        dark: Dark,
    ) -> Verdict:
        if outage.since_s is None or not self._has_lasted(outage.since_s, now, seen_s):
            return Verdict.COMPLIANT
        if state is LampState.BLINDED:
            return Verdict.UNKNOWN
        off_s = outage.off_since_s
        is_off = off_s is not None and self._has_lasted(off_s, now, seen_s)
        long_enough = outage.ridden_s >= self.choices.lamp_violation_s - ROUNDING_S
        is_accused = (is_off or (long_enough and is_beyond_error)) and state not in NEVER_ACCUSED
        return Verdict.VIOLATION if is_accused and dark.may_accuse else Verdict.UNSURE


def _finding(
    clause: Clause, light: Light | Missing, levels: Levels, state: LampState, verdict: Verdict
) -> Finding:
    """The finding on a lamp in a state; the words up to the colon are what the glass shows."""
    lamp, topic = clause.lamp, f"{clause.lamp}-lamp"
    if isinstance(light, Missing):
        return Finding(clause.citation, verdict, _why(lamp, None, levels, state), topic=topic)
    why = _why(lamp, light, levels, state)
    if state in (LampState.NOT_RED, LampState.NOT_WHITE):
        share, least = light.red_share, levels.red_limit(lamp)
        return Finding(clause.citation, verdict, why, share, least, "share of red", topic=topic)
    lux, error = light.lux, light.error_lux
    return Finding(clause.citation, verdict, why, lux, levels.least_lux, "lux", error, topic)


def _why(lamp: str, light: Light | None, levels: Levels, state: LampState) -> str:
    lux = 0.0 if light is None else light.lux
    share = 0.0 if light is None or light.red_share is None else light.red_share
    needs = f"{lux:.0f} lux, needs {levels.least_lux:.0f}"
    match state:
        case LampState.LIT:
            return f"{lamp} lamp lit"
        case LampState.HIGH:
            return f"{lamp} lamp lit: {'high beam' if lamp == 'head' else 'brake light'}"
        case LampState.OFF:
            return f"{lamp} lamp off: it has no supply"
        case LampState.WIRE_OPEN:
            return f"{lamp} lamp wire open: no light, and its wire hangs free"
        case LampState.UNSUPPLIED:
            return f"{lamp} lamp has no supply: yet {lux:.0f} lux are seen"
        case LampState.COVERED:
            clear_lux = levels.on_lux or 0.0
            return f"{lamp} lamp covered: {lux:.0f} lux thrown back, {clear_lux:.0f} when clear"
        case LampState.BLINDED:
            return f"{lamp} lamp not seen: blinded, {lux:.0f} lux are no light of its own"
        case LampState.NOT_RED | LampState.NOT_WHITE:
            return f"{lamp} lamp {state}: {share:.0%} of its light is red"
        case _:
            return f"{lamp} lamp {state}: {needs}"


def _may_be_daylight(now: Snapshot, levels: Levels, clause: Clause) -> bool:
    """Whether the light at a lamp that must be lit by day too may be the day's."""
    if clause.when != "always" or now.dark_by(clause).by_sun is True:
        return False
    ambient = now.ambient
    if isinstance(ambient, Missing):
        return True
    return ambient.lux + ambient.error_lux >= levels.least_lux


def _has_no_sense(engine: Engine | Missing) -> bool:
    """Whether no engine sense was ever fitted."""
    return isinstance(engine, Missing) and engine.why is Why.NOT_FITTED
