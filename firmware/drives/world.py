"""The world around a simulated unit: what its sensors would see while a drive is played.

Both the simulator's fake chips and the replay without chips ask it, so that a lamp means the
same lux to either. At first the sled is parked with its engine off and its lamps out, the tether
is in, and the light of the sky follows the sun.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from firmware.drives.script import (
    Ambient,
    Deed,
    EngineRuns,
    Fault,
    Lamp,
    Plug,
    RtcSet,
    TetherTurns,
)
from firmware.readings import TetherState
from firmware.sun import sun_altitude_deg

UNKNOWN_SKY_LUX = 1000.0
"""The light that follows the sun before place and date are known: an overcast day."""

# Illuminance by the altitude of the sun's centre, log10 lux. Clear sky, after the table of the
# Explanatory Supplement to the Astronomical Almanac (natural illumination); capped at 30,000 lux,
# which is what passes the diffuser of an ambient sensor and keeps it below saturation.
_SKY = (
    (-18.0, -3.0),
    (-12.0, -2.1),
    (-6.0, 0.53),
    (-0.8, 2.65),
    (5.0, 3.7),
    (15.0, 4.3),
    (30.0, 4.477),
)


@dataclass(frozen=True, slots=True)
class LampLight:
    """A lamp as its sensor and its supply tap see it.

    `is_supplied` is absent while a drive never spoke of it: then the wire has its voltage, for a
    sled's lamps have no switch. `is_open` says that its wire is broken, and the tap hangs free.
    """

    is_supplied: bool | None = None
    lux: float = 0.0
    is_red: bool = False
    is_open: bool = False

    @property
    def has_supply(self) -> bool:
        """Whether there is voltage at the lamp's wire."""
        return self.is_supplied is not False


def sky_lux(altitude_deg: float) -> float:
    """The light of a clear sky for an altitude of the sun; smooth, from 0.001 to 30,000 lux."""
    below = _SKY[0]
    for above in _SKY:
        if altitude_deg < above[0]:
            if below is above:
                break
            share = (altitude_deg - below[0]) / (above[0] - below[0])
            return float(10.0 ** (below[1] + share * (above[1] - below[1])))
        below = above
    return float(10.0 ** below[1])


@dataclass(slots=True)
class World:
    """What is true around the unit now; `apply` changes it, deed by deed.

    `faults` holds the chips that misbehave now, by bus and address. `rtc` is what the battery
    clock is set to and at which second; absent before a drive sets it and when it is dead.
    """

    start: datetime | None = None
    head: LampLight = LampLight()
    tail: LampLight = LampLight(is_red=True)
    tether: TetherState = TetherState.IN
    is_running: bool = False
    is_plugged: bool = True
    is_rtc_dead: bool = False
    faults: dict[tuple[str, int], str] = field(default_factory=dict)
    _ambient_lux: float | None = None
    _rtc: tuple[datetime, float] | None = None
    _place: tuple[float, float] | None = None
    _utc: tuple[datetime, float] | None = None
    _sky: tuple[float, float] = (-math.inf, UNKNOWN_SKY_LUX)

    def __post_init__(self) -> None:
        if self.start is not None:
            self._utc = self._rtc = (self.start, 0.0)

    def apply(self, deed: Deed, at_s: float) -> None:
        """Lets a deed happen; deeds that are none of the world's are left to the caller."""
        match deed:
            case Ambient():
                self._ambient_lux = deed.lux
            case Lamp(which="head"):
                self.head = _lit(self.head, deed)
            case Lamp():
                self.tail = _lit(self.tail, deed)
            case EngineRuns():
                self.is_running = deed.is_running
            case TetherTurns():
                self.tether = deed.state
            case Fault(kind="clear"):
                self.faults.pop((deed.bus, deed.address), None)
            case Fault():
                self.faults[deed.bus, deed.address] = deed.kind
            case RtcSet():
                self.is_rtc_dead = deed.utc is None
                self._rtc = None if deed.utc is None else (deed.utc, at_s)
            case Plug():
                self.is_plugged = deed.is_in
            case _:
                pass

    def move(self, lat_deg: float, lon_deg: float, utc: datetime | None, at_s: float) -> None:
        """Says where the sled is, and its date, for the light that follows the sun."""
        if self._place is None or (self._utc is None and utc is not None):
            self._sky = (-math.inf, UNKNOWN_SKY_LUX)
        self._place = (lat_deg, lon_deg)
        if utc is not None:
            self._utc = (utc, at_s)

    def utc(self, at_s: float) -> datetime | None:
        """The true date, as far as the drive tells it."""
        return None if self._utc is None else self._utc[0] + timedelta(seconds=at_s - self._utc[1])

    def rtc_utc(self, at_s: float) -> datetime | None:
        """What the battery clock shows; absent when it is dead or was never set."""
        return None if self._rtc is None else self._rtc[0] + timedelta(seconds=at_s - self._rtc[1])

    def ambient_lux(self, at_s: float) -> float:
        """The light of the sky; one that follows the sun is that of the last whole second."""
        if self._ambient_lux is not None:
            return self._ambient_lux
        second_s = math.floor(at_s)
        if second_s != self._sky[0]:
            utc = self.utc(second_s)
            if self._place is not None and utc is not None:
                self._sky = (second_s, sky_lux(sun_altitude_deg(*self._place, utc)))
        return self._sky[1]


def _lit(lamp: LampLight, deed: Lamp) -> LampLight:
    """The lamp after a deed: without supply it is dark, unless the deed says otherwise."""
    if deed.is_supplied is not None:
        lamp = replace(lamp, is_supplied=deed.is_supplied, is_open=deed.is_open)
        if not deed.is_supplied:
            lamp = replace(lamp, lux=0.0)
    if deed.lux is not None:
        lamp = replace(lamp, lux=deed.lux)
    if deed.is_red is not None:
        lamp = replace(lamp, is_red=deed.is_red)
    return lamp
