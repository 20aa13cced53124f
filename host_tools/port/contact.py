"""A unit, through all that happens to its port and its cable: who it is, and that it is opened.

Nothing is asked of a person here, and nothing is shown: that is the command's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from firmware.clock import Clock
from firmware.port.hosts import HostKey
from host_tools.port.messages import Identity, Session
from host_tools.port.sled import LostError, RefusedError, Sled, Way

POLL_S = 0.5
RECONNECT_S = 0.2

_T = TypeVar("_T")


class Onlooker:
    """Who looks on; this one does not, and lets everything happen."""

    def opening(self, session: Session) -> None:
        """The port is shut; the glass may be asking for a hold."""

    def lost(self, fault: LostError, left_s: float) -> None:
        """The unit is gone; so long it is still waited for."""


@dataclass(slots=True)
class Contact:
    """The unit at the other end, and how patient this end is."""

    way: Way
    key: HostKey | None = None
    wait_s: float = 30.0
    """So long a pulled cable is waited for."""
    hold_s: float = 60.0
    """So long the rider's hold is waited for."""
    onlooker: Onlooker = field(default_factory=Onlooker)
    clock: Clock = field(default_factory=Clock)
    _sled: Sled | None = None
    _identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        """Who it is; known once it was opened."""
        assert self._identity is not None
        return self._identity

    def patiently(self, work: Callable[[Sled], _T]) -> _T:
        """Does something with the unit; opens it anew, and does it again, when it was lost."""
        until_s: float | None = None
        while True:
            try:
                return work(self._sled or self.opened())
            except LostError as fault:
                self.leave()
                now_s = self.clock.mono_s()
                if until_s is None:
                    until_s = now_s + self.wait_s
                if now_s >= until_s:
                    raise
                self.onlooker.lost(fault, until_s - now_s)
                self.clock.sleep(RECONNECT_S)

    def opened(self) -> Sled:
        """The unit with its port open to us; the one that it was before, if there was one.

        Raises LostError, and RefusedError where nobody opens it or it is another unit.
        """
        sled = Sled(self.way)
        self._sled = sled
        identity = sled.identity()
        known = self._identity
        if known is not None and (known.unit, known.key) != (identity.unit, identity.key):
            raise RefusedError(
                str(self.way),
                f"is now unit {identity.unit}: it was {known.unit} before the cable was pulled.",
                "Run it again for the other unit.",
            )
        self._identity = identity
        self._pass(sled, identity)
        return sled

    def _pass(self, sled: Sled, identity: Identity) -> None:
        """Gets the port opened: by this computer's key, or by the rider's hold."""
        session = sled.session()
        if session.open:
            return
        if self.key is not None and identity.key:
            with contextlib.suppress(RefusedError):  # not enrolled there: the button is left
                session = sled.prove(self.key, identity.key.hex())
        until_s = self.clock.mono_s() + self.hold_s
        while not session.open:
            self.onlooker.opening(session)
            if self.clock.mono_s() >= until_s:
                raise RefusedError(str(self.way), session.why or "the port is shut.")
            session = sled.ask_to_open()
            if not session.open:
                self.clock.sleep(POLL_S)

    def leave(self) -> None:
        """Lets the port go; safe to call twice."""
        if self._sled is not None:
            self._sled.close()
            self._sled = None
