"""Pulls of the tether while the sled is in use: at which speed, and how far it ran on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firmware.findings import Pull
from firmware.readings import Engine, Fix, Missing, Tether, TetherState, Value
from firmware.rules.base import Snapshot

_OUT, _BROKEN = TetherState.OUT, frozenset({TetherState.OPEN, TetherState.SHORT})


@dataclass(slots=True)
class Pulls:
    """Follows what is seen; gives a pull at its start and at its end.

    The distance is the speed of each fix times the seconds until the next: where the fix is lost
    on the way, it is not known and absent.
    """

    _open: Pull | None = None
    _at_s: float = 0.0
    _speed_mps: float | None = None
    _run_m: float | None = None

    def follow(self, now: Snapshot) -> list[Pull]:
        """The pull that starts or ends at this snapshot, if there is one."""
        out = _is_out(now.tether)
        running = now.engine.is_running if isinstance(now.engine, Engine) else None
        speed_mps = now.fix.speed_mps if isinstance(now.fix, Fix) else None
        if self._open is None:
            if not out or not (running or now.is_moving):
                return []
            self._open = Pull(now.at_s, running, speed_mps)
            self._at_s, self._speed_mps, self._run_m = now.at_s, speed_mps, 0.0
            return [self._open]
        if self._run_m is not None:
            way_s, self._at_s = now.at_s - self._at_s, now.at_s
            self._run_m = None if self._speed_mps is None else self._run_m + self._speed_mps * way_s
        self._speed_mps = speed_mps
        if out is None:
            return self._end(now.at_s, "unknown")
        if not out:
            return self._end(now.at_s, "attached")
        stands = now.is_moving is False or (now.is_moving is None and running is False)
        return self._end(now.at_s, "stopped") if stands and not running else []

    def is_idle(self, tether: Value) -> bool:
        """Whether no fix can begin or end a pull: none is open, and the tether is not out."""
        return self._open is None and not (isinstance(tether, Tether) and _is_out(tether))

    def end(self, at_s: float) -> list[Pull]:
        """Ends the one that is open, at power-off."""
        return [] if self._open is None else self._end(at_s, "unknown")

    def _end(self, at_s: float, how: str) -> list[Pull]:
        assert self._open is not None  # only asked while one lasts
        run_s = round(at_s - self._open.start_s, 6)
        run_m = None if self._run_m is None else round(self._run_m, 2)
        ended = replace(self._open, end_s=at_s, run_on_s=run_s, run_on_m=run_m, ended=how)
        self._open = None
        return [ended]


def _is_out(tether: Tether | Missing) -> bool | None:
    """Whether the cap is off; None where that can't be told."""
    if isinstance(tether, Missing) or tether.state in _BROKEN:
        return None
    return tether.state is _OUT
