"""The zone packs as a source: what lies within 2 km, as a reading, from a thread of its own.

A card that stalls for seconds holds up this thread and never a warning: what it posted before
reaches further than where it is asked again. In a town, where thousands of buildings lie within
2 km, it looks less far and asks sooner; the reading says how far it reaches.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path

from firmware.clock import Clock
from firmware.errors import ZoneError
from firmware.grain import on_grain
from firmware.maps.packs import ENOUGH, Pack, again_m, surroundings
from firmware.maps.zones import Nearby
from firmware.readings import Channel, Missing, Reading, Surroundings, Why
from firmware.sources.base import Post

RETRY_S = 10.0
_M_PER_DEG = 111_195.0  # a mean degree of the Earth: which kilometre it is matters, not which metre


class SurroundingsSource:
    """Posts `Surroundings` whenever the place that it is told has moved by 1 km, or by less where
    the last one does not reach 2 km.

    The packs are opened by the thread, which SQLite asks for. When one can't be read, the reading
    is a `Missing` with the reason, and the packs are opened anew after 10 s.
    """

    name = "zones"

    def __init__(self, packs: Sequence[Path | str], clock: Clock) -> None:
        self._paths = [Path(pack) for pack in packs]
        self._clock = clock
        self._source = "zones:" + "+".join(path.name for path in self._paths)
        self._asked = threading.Event()
        self._is_ended = False
        self._thread: threading.Thread | None = None
        self._place: tuple[float, float] | None = None
        self._done: Surroundings | None = None
        self._ready: Nearby | None = None
        self._past: Nearby | None = None
        self._retry_s: float | None = None

    def start(self, post: Post) -> None:
        """Starts the thread; without packs it says so once, and needs none."""
        if not self._paths:
            missing = Missing(Why.NOT_FITTED, "no zone pack")
            post(Reading(Channel.SURROUNDINGS, missing, self._clock.mono_s(), "zones"))
            return
        self._thread = threading.Thread(target=self._run, args=(post,), name=self.name, daemon=True)
        self._thread.start()

    def look(self, lat_deg: float, lon_deg: float) -> None:
        """Tells where the sled is, at every fix; takes microseconds and waits for nothing."""
        if self._is_due(lat_deg, lon_deg):
            self._place = (lat_deg, lon_deg)
            self._asked.set()

    def chart(self, around: Surroundings) -> Nearby:
        """The map of a reading: the one that the thread made ready, where it is of this reading.

        To make one of a town takes longer than a fix: that is never done where it is judged.
        """
        ready = self._ready
        if ready is not None and ready.surroundings is around:
            return ready
        return Nearby(around)

    def stop(self) -> None:
        self._is_ended = True
        self._asked.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _is_due(self, lat_deg: float, lon_deg: float) -> bool:
        if self._retry_s is not None:
            return self._clock.mono_s() >= self._retry_s
        done = self._done
        if done is None:
            return True
        return _apart_m((done.lat_deg, done.lon_deg), (lat_deg, lon_deg)) > again_m(done)

    def _run(self, post: Post) -> None:
        packs: list[Pack] = []
        while True:
            self._asked.wait()
            self._asked.clear()
            if self._is_ended:
                break
            place = self._place
            if place is None or not self._is_due(*place):
                continue
            at_s = self._clock.mono_s()
            value = self._around(packs, place)
            post(Reading(Channel.SURROUNDINGS, value, at_s, self._source))
        _close(packs)

    def _around(self, packs: list[Pack], place: tuple[float, float]) -> Surroundings | Missing:
        try:
            for path in self._paths[len(packs) :]:
                packs.append(Pack(path))
            self._past = None  # by now nothing is judged by it; two maps are enough to hold
            value = on_grain(surroundings(packs, *place, at_most=ENOUGH))
            # Held on to, so that the old map is taken apart here and not where it is judged.
            self._past = self._ready
            self._ready = Nearby(value).make_ready()
        except ZoneError as error:
            _close(packs)
            self._retry_s = self._clock.mono_s() + RETRY_S
            return Missing(Why.NO_ANSWER, str(error))
        self._done, self._retry_s = value, None
        return value


def _close(packs: list[Pack]) -> None:
    while packs:
        packs.pop().close()


def _apart_m(one: tuple[float, float], other: tuple[float, float]) -> float:
    north = other[0] - one[0]
    east = math.remainder(other[1] - one[1], 360.0) * math.cos(math.radians(one[0]))
    return _M_PER_DEG * math.hypot(north, east)
