"""What the sources say: a value with its error, its stamp and its source, or a `Missing`.

Absent is not zero and not NaN: `nan > 55` is False, and False reads as compliant. So an absent
value is a `Missing` with its reason, and asking whether it is more or less than a limit raises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NoReturn

from firmware.quick import quick


class Why(StrEnum):
    """Why there is no value."""

    NOT_FITTED = "not fitted"
    STARTING = "starting"
    NO_ANSWER = "no answer"
    STALE = "stale"
    NO_FIX = "no fix"
    SATURATED = "saturated"
    NOT_TRUSTED = "not trusted"


@dataclass(frozen=True, slots=True)
class Missing:
    """The absence of a value: its reason, and in words what a technician would look at."""

    why: Why
    detail: str = ""

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"a missing value ({self.why}) can't be compared or computed with")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __float__ = __bool__ = _refuse

    def __str__(self) -> str:
        return f"{self.why}: {self.detail}" if self.detail else str(self.why)


class Channel(StrEnum):
    """What a reading is about; each channel carries one type of value."""

    FIX = "fix"
    RECEIVER = "receiver"
    LIGHT_HEAD = "light.head"
    LIGHT_TAIL = "light.tail"
    LIGHT_AMBIENT = "light.ambient"
    SUPPLY_HEAD = "supply.head"
    SUPPLY_TAIL = "supply.tail"
    TETHER = "tether"
    ENGINE = "engine"
    BUTTON = "button"
    RTC = "rtc"
    SURROUNDINGS = "surroundings"
    REQUEST = "request"
    JOURNAL = "journal"


@quick
@dataclass(frozen=True, slots=True)
class Fix:
    """A trusted position and speed.

    `utc` is absent where the receiver gave no date that can be believed. `error_m` and
    `error_mps` are one-sigma-like bounds that a rule subtracts before it accuses. `track_deg` is
    degrees from true north, absent at rest. `derived` marks a speed computed from positions.
    """

    lat_deg: float
    lon_deg: float
    error_m: float
    speed_mps: float
    error_mps: float
    track_deg: float | None = None
    utc: datetime | None = None
    mode: Literal[2, 3] = 3
    derived: bool = False


@quick
@dataclass(frozen=True, slots=True)
class Receiver:
    """How the GPS receiver is doing; absent figures were not sent.

    `cn0_dbhz` is the mean carrier-to-noise density of the four strongest satellites in view.
    `dropouts` counts losses of the fix, and epochs that did not come. `setup` is what came of
    asking it for a rate, in words.
    """

    rate_hz: float | None = None
    satellites: int | None = None
    hdop: float | None = None
    sentences: int = 0
    refused: int = 0
    note: str = ""
    cn0_dbhz: float | None = None
    dropouts: int = 0
    setup: str = ""


@quick
@dataclass(frozen=True, slots=True)
class Light:
    """Illuminance at a sensor in lux, its error, and the share of red where the chip sees colour.

    `red_share` is red / (red + green + blue): about a third for an even white, above 0.68 for a
    red lamp.
    """

    lux: float
    error_lux: float
    red_share: float | None = None


@dataclass(frozen=True, slots=True)
class Supply:
    """Whether a lamp's wire has its voltage; in `volts` where they are measured.

    `is_open` says that the wire hangs free: it, or the lamp behind it, is broken.
    """

    is_on: bool
    volts: float | None = None
    is_open: bool = False


class TetherState(StrEnum):
    """The tether switch: attached, pulled, its wire broken, its wire shorted."""

    IN = "in"
    OUT = "out"
    OPEN = "open"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class Tether:
    """Where the tether cap is; `bounces` counts the extra edges of the last change."""

    state: TetherState
    bounces: int = 0


@dataclass(frozen=True, slots=True)
class Engine:
    """Whether the engine runs."""

    is_running: bool


@dataclass(frozen=True, slots=True)
class Press:
    """The rider's button: a press acknowledges; a hold of 2 s answers or marks."""

    kind: Literal["press", "hold"]


@dataclass(frozen=True, slots=True)
class RtcTime:
    """The date that the battery clock keeps, and its error in seconds.

    `drift_ppm` is how much it gained on the satellites' date from when it was set until it was
    last set by it; absent until then.
    """

    utc: datetime
    error_s: float
    drift_ppm: float | None = None


@dataclass(frozen=True, slots=True)
class Feature:
    """A thing on the map: its kind, and its shape in degrees as (longitude, latitude).

    A point has one part of one corner; a line has a part for each string; a polygon's parts are
    all its rings, outer and holes alike, filled by the even-odd rule. `attributes` are what else
    the pack says of it, as docs/zones.md lists them: a road's limit, an ordinance's name.
    """

    kind: str
    id: str
    name: str
    shape: Literal["point", "line", "polygon"]
    parts: tuple[tuple[tuple[float, float], ...], ...]
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether its pack says that it may be of its kind: it warns, and accuses nobody."""
        return self.attributes.get("confidence") == "possible"

    def number(self, name: str) -> float | None:
        """The attribute as a finite number; None where it is not told or is none."""
        try:
            value = float(self.attributes[name])
        except (KeyError, ValueError):
            return None
        return value if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All features that lie within `radius_m` of a place, and whether the packs cover it.

    `dated` is since when each of the packs may be out of date, as far as it says: "2026-01-31",
    "2026-01", "2026" or "".
    """

    lat_deg: float
    lon_deg: float
    radius_m: float
    features: tuple[Feature, ...]
    packs: tuple[str, ...] = ()
    dated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for: `action` is one of acknowledge, mark, mode, race, test, prompt,
    note, restart; `by` is who asked, as far as it is known."""

    action: str
    argument: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """The journal's own state: how much room is left, how many records were lost so far, and
    whether the rider should make room before the ride goes unkept."""

    free_mb: float
    lost_records: int = 0
    is_nearly_full: bool = False


Value = (
    Fix
    | Receiver
    | Light
    | Supply
    | Tether
    | Engine
    | Press
    | RtcTime
    | Surroundings
    | Request
    | Disk
    | Missing
)

VALUE_TYPES: dict[Channel, type] = {
    Channel.FIX: Fix,
    Channel.RECEIVER: Receiver,
    Channel.LIGHT_HEAD: Light,
    Channel.LIGHT_TAIL: Light,
    Channel.LIGHT_AMBIENT: Light,
    Channel.SUPPLY_HEAD: Supply,
    Channel.SUPPLY_TAIL: Supply,
    Channel.TETHER: Tether,
    Channel.ENGINE: Engine,
    Channel.BUTTON: Press,
    Channel.RTC: RtcTime,
    Channel.SURROUNDINGS: Surroundings,
    Channel.REQUEST: Request,
    Channel.JOURNAL: Disk,
}
"""The one type of value that each channel carries when it is not a `Missing`."""


@quick
@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that a source says.

    `mono_s` is the instant of the measurement, in monotonic seconds since boot. `fresh_s` is for
    how long after it the value may be judged; absent means until the next one. `source` names the
    device and its place, like "bh1750@i2c-1:0x23".

    A `Missing` takes effect when the last good value of its channel has lapsed: a single failed
    read says nothing about a lamp.
    """

    channel: Channel
    value: Value
    mono_s: float
    source: str
    fresh_s: float | None = None
