"""The unit's state as the feed pushes it: all that a screen needs, and nothing to judge by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from firmware.findings import Alert, Cues, Finding
from firmware.readings import Disk, Receiver


@dataclass(frozen=True, slots=True)
class PartSeen:
    """A fitted part as it is: the channel it answers for, what it says, and what is wrong."""

    channel: str
    value: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class MarkSeen:
    """A mark of the rider's: what, where, for how many seconds more, and until which date (absent
    while the unit has none)."""

    kind: str
    id: str
    lat_deg: float
    lon_deg: float
    left_s: float
    until: datetime | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """One picture of the unit; absent values are ones that it does not know.

    `limit_mph` is the lowest speed limit that applies here and now, `limit_clause` its citation.
    `alert` is the one that wins the glass; `alerts` are all that stand. `not_watched` says, a
    line each, which duty can't be watched and why. `head_lamp` and `tail_lamp` are lit, out, not
    needed, unknown or not fitted. `is_standing` is false also where motion can't be told.
    `utc_error_s` is how far off the date may be. `packs` are the zone packs in use, `parts` all
    that is fitted but the receiver and the disk.
    `answered` is the last question (`prompt`) that the rider answered by holding the button.
    `mode_words` says of each of `modes` who declared it and what is proven. `fix_at_s` is when the
    speed was measured. `marks` are the rider's own; `zone_id` is the id of what `zone` and
    `zone_ft` tell of. `key` is the public key that seals the journal, in hex, `key_print` its
    fingerprint, both empty until the journal has one; `is_key_shown` while the glass shows it.
    """

    at_s: float
    is_watching: bool = False
    is_standing: bool = False
    utc: datetime | None = None
    utc_source: str = "none"
    local_time: str = ""
    lat_deg: float | None = None
    lon_deg: float | None = None
    speed_mph: float | None = None
    speed_error_mph: float | None = None
    track_deg: float | None = None
    limit_mph: float | None = None
    limit_clause: str = ""
    is_dark: bool | None = None
    zone: str = ""
    zone_ft: float | None = None
    head_lamp: str = "unknown"
    tail_lamp: str = "unknown"
    tether: str = "unknown"
    engine: str = "unknown"
    gps: str = ""
    satellites: int | None = None
    journal: str = ""
    modes: tuple[str, ...] = ()
    prompt: str = ""
    answered: str = ""
    answered_s: float | None = None
    cues: Cues = field(default_factory=Cues)
    alert: Alert | None = None
    alerts: tuple[Alert, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_watched: tuple[str, ...] = ()
    utc_error_s: float | None = None
    receiver: Receiver | None = None
    disk: Disk | None = None
    packs: tuple[str, ...] = ()
    parts: tuple[PartSeen, ...] = ()
    mode_words: tuple[str, ...] = ()
    fix_at_s: float | None = None
    marks: tuple[MarkSeen, ...] = ()
    zone_id: str = ""
    unit: str = ""
    key: str = ""
    key_print: str = ""
    is_key_shown: bool = False
