"""What the rules say: a verdict on a clause, with the figures and the reason in a rider's words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Literal

from firmware.quick import quick


class Verdict(StrEnum):
    """How a clause stands, from keeping it to not being able to tell.

    `UNSURE` is over the limit, but inside the stated error or by a limb that may not accuse.
    A clause that does not apply now is `COMPLIANT` without a limit.
    """

    COMPLIANT = "compliant"
    APPROACHING = "approaching"
    UNSURE = "unsure"
    VIOLATION = "violation"
    UNKNOWN = "unknown"
    EXEMPT = "exempt"

    @property
    def is_over(self) -> bool:
        """Whether the limit is passed, surely or not."""
        return self in (Verdict.UNSURE, Verdict.VIOLATION)


@quick
@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one clause at one instant.

    `value`, `limit` and `error` are in `unit`; absent where the clause does not apply or can't be
    watched. `topic` says within a clause which alert this is about (a head lamp that is out and a
    zone that lies ahead are both `approaching` or `unsure` of their clauses). `is_fitted` is false
    where it is unknown because no part for it was ever fitted: shown, but no alert. `away_ft` is
    how far the thing is that it speaks of, or the edge ahead, where it speaks of a place.
    """

    clause: str
    verdict: Verdict
    why: str
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    error: float | None = None
    topic: str = ""
    is_fitted: bool = True
    away_ft: float | None = None


class LightCue(StrEnum):
    """What the warning lights do. Amber says *look*, red says *now*; flashing is told apart from
    steady so that a colour-blind rider reads the rhythm."""

    OFF = "off"
    AMBER = "amber"
    AMBER_FLASH = "amber-flash"
    RED = "red"
    RED_FLASH = "red-flash"


class HapticCue(StrEnum):
    """What the handlebar does: one tap, or pulses until the alert ends or is acknowledged."""

    OFF = "off"
    TAP = "tap"
    PULSES = "pulses"


class ToneCue(StrEnum):
    """What the buzzer does; who decides for how long is the alert table, never the buzzer."""

    OFF = "off"
    CHIRP = "chirp"
    ALARM = "alarm"


@quick
@dataclass(frozen=True, slots=True)
class Cues:
    """What all the outputs do now; `is_watching` drives the steady watching light."""

    light: LightCue = LightCue.OFF
    haptic: HapticCue = HapticCue.OFF
    tone: ToneCue = ToneCue.OFF
    is_watching: bool = False


@dataclass(frozen=True, slots=True)
class Alert:
    """A change of one alert: what the rider is told, and by which light, haptic and tone.

    `words` fit the glass: at most 16 letters a line, two lines. `why` is the finding's reason.
    """

    name: str
    state: Literal["raised", "acknowledged", "cleared"]
    clause: str
    words: str
    light: LightCue
    haptic: HapticCue
    tone: ToneCue
    why: str = ""


@quick
@dataclass(frozen=True, slots=True)
class Event:
    """An exceedance from its start to its end, by a tachograph's measure.

    `peak` is the worst value in `unit`. `is_sure` is set once it was held for 5 s. `end_s` is
    absent while it lasts.
    """

    clause: str
    verdict: Verdict
    start_s: float
    peak: float | None
    limit: float | None
    unit: str
    is_sure: bool
    end_s: float | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Whose date it is from here on: `gps`, `rtc` (the battery clock) or `none`.

    `utc` was the date at `mono_s`, to `error_s`, which grows by `growth_ppm` with the seconds away
    from it on either side; so it dates every record of its boot, those before it too. `step_s` is
    how far the date moved from what it was taken for before. Absent: what there is not.
    """

    source: Literal["gps", "rtc", "none"]
    mono_s: float
    utc: datetime | None = None
    error_s: float | None = None
    growth_ppm: float = 0.0
    step_s: float | None = None
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A duty that no sensor sees, and what came of telling it: `shown` for its time, `pressed` away
    by the rider, `skipped` because the sled rode off. `shown_s` is how long the glass had it."""

    clause: str
    words: str
    state: str
    shown_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Pull:
    """The tether is out while the engine runs or the sled moves, from its start to its end.

    `speed_mps` is that at the pull; `run_on_m` and `run_on_s` how far and how long the sled went on
    until the engine was off and it stood, or until the cap was back, as `ended` says: `stopped`,
    `attached`, or `unknown` where the tether is no longer seen. They are absent, like the speed,
    where there was no fix to tell them by. `end_s` is absent while it lasts.
    """

    start_s: float
    is_running: bool | None = None
    speed_mps: float | None = None
    end_s: float | None = None
    run_on_s: float | None = None
    run_on_m: float | None = None
    ended: str = ""


class Margin(IntEnum):
    """How the speed stands to the limits that hold; the higher, the worse."""

    FREE = 0  # no limit holds
    FAR = 1  # 10 mph or more below
    BELOW = 2
    NEAR = 3  # by the law's own `approaching`
    UNSURE = 4
    OVER = 5
    UNKNOWN = 6  # speed or place could not be judged


@dataclass(frozen=True, slots=True)
class Unwatched:
    """A clause that can't be watched, and why, without the age that the words may give."""

    clause: str
    why: str
    is_fitted: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds from here on: kept at each change, so that a ride can be told from its journal.

    A verdict that stays the same may stand to another limit: dusk comes, a zone begins. `limit_mph`
    is the lowest speed limit that holds, of `clause`; absent where none does. `sun` is dark, day or
    unknown; the lamps lit, out, not needed, not fitted or unknown; `gps` good, poor or none.
    """

    clause: str
    margin: Margin
    sun: str
    head_lamp: str
    tail_lamp: str
    tether: str
    engine: str
    gps: str
    clock: str
    limit_mph: float | None = None
    unwatched: tuple[Unwatched, ...] = ()


@dataclass(slots=True, init=False)
class Outcome:
    """What a step brought: each change with the instant at which it came, in order.

    `notes` are for the journal alone: whose date it is, pulls of the tether, what holds now.
    """

    findings: list[tuple[float, Finding]]
    alerts: list[tuple[float, Alert]]
    events: list[tuple[float, Event]]
    notes: list[tuple[float, Anchor | Pull | Notice | Standing]]

    def __init__(self) -> None:
        self.findings, self.alerts, self.events, self.notes = [], [], [], []
