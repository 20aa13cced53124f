"""Who may ask something of the unit: whoever has read four digits off its glass.

Held in memory and gone with the process. Three wrong tries, over however many codes, end the code
and make the next one wait, each time twice as long up to an hour, so that guessing leads nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from firmware.clock import Clock

CODE_S = 60.0
"""A code is good for so long."""

GAP_S = 3.0
"""The glass is given no new code sooner than this."""

DIGITS = 4
TRIES = 3
MAX_SESSIONS = 8
"""Phones that are paired at once; one more ends the oldest."""

FIRST_WAIT_S = 10.0
LONGEST_WAIT_S = 3600.0


class RefusedError(Exception):
    """What can't be granted, in words for a person; `status` is HTTP's."""

    def __init__(self, status: int, what: str) -> None:
        self.status = status
        self.what = what
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Offer:
    """A code that stands on the glass, and the secret of the browser that asked for it."""

    code: str
    asker: str


@dataclass(slots=True)
class _Pending:
    offer: Offer
    ends_s: float


@dataclass(slots=True)
class Pairing:
    """The code that stands and the browsers that are paired; for one thread."""

    clock: Clock
    _pending: _Pending | None = None
    _sessions: dict[bytes, None] = field(default_factory=dict)
    _tries_left: int = TRIES
    _ended_codes: int = 0
    _begun_s: float = float("-inf")
    _next_code_s: float = float("-inf")

    def begin(self, asker: str = "") -> Offer:
        """A new code; the browser that asked for the one that stands may ask for another.

        Raises `RefusedError` while another browser's code stands, and after wrong tries.
        """
        now_s = self.clock.mono_s()
        pending = self._current(now_s)
        if pending is not None and not _is_same(pending.offer.asker, asker):
            wait_s = pending.ends_s - now_s
            raise RefusedError(
                409, f"Another phone is being paired. Try again in {_seconds(wait_s)}."
            )
        if now_s < self._next_code_s:
            wait_s = self._next_code_s - now_s
            raise RefusedError(
                429, f"Too many wrong tries. A new code can be had in {_seconds(wait_s)}."
            )
        if now_s < self._begun_s + GAP_S:
            raise RefusedError(429, "That was quick. Try again in a moment.")
        self._begun_s = now_s
        code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        self._pending = _Pending(Offer(code, secrets.token_urlsafe(32)), now_s + CODE_S)
        return self._pending.offer

    def enter(self, asker: str, code: str) -> str:
        """The session's secret for a right code; raises `RefusedError` otherwise."""
        pending = self._current(self.clock.mono_s())
        if pending is None or not _is_same(pending.offer.asker, asker):
            raise RefusedError(410, "That code is over. Ask for a new one.")
        if _is_same(pending.offer.code, code):
            self._pending = None
            self._tries_left, self._ended_codes = TRIES, 0
            return self._admit()
        self._tries_left -= 1
        if self._tries_left > 0:
            left = "One try" if self._tries_left == 1 else f"{self._tries_left} tries"
            raise RefusedError(403, f"Not the code on the glass. {left} left.")
        wait_s = min(FIRST_WAIT_S * 2.0 ** min(self._ended_codes, 20), LONGEST_WAIT_S)
        self._pending = None
        self._tries_left = TRIES
        self._ended_codes += 1
        self._next_code_s = self.clock.mono_s() + wait_s
        raise RefusedError(
            429, f"Not the code on the glass. A new code can be had in {_seconds(wait_s)}."
        )

    def cancel(self, asker: str) -> bool:
        """Ends the code that this browser asked for; false where it has none."""
        pending = self._current(self.clock.mono_s())
        if pending is None or not _is_same(pending.offer.asker, asker):
            return False
        self._pending = None
        return True

    @property
    def is_pending(self) -> bool:
        """Whether a code stands."""
        return self._current(self.clock.mono_s()) is not None

    def is_paired(self, session: str) -> bool:
        """Whether this is the secret of a session."""
        return _digest(session) in self._sessions

    def end(self, session: str) -> None:
        """Ends a session; nothing where there is none."""
        self._sessions.pop(_digest(session), None)

    def _admit(self) -> str:
        while len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        session = secrets.token_urlsafe(32)
        self._sessions[_digest(session)] = None
        return session

    def _current(self, now_s: float) -> _Pending | None:
        if self._pending is not None and now_s >= self._pending.ends_s:
            self._pending = None
        return self._pending


def _is_same(secret: str, said: str) -> bool:
    return hmac.compare_digest(secret.encode(), said.encode())


def _digest(session: str) -> bytes:
    # Looked up by digest: how long a look-up takes tells nothing of the secret.
    return hashlib.sha256(session.encode()).digest()


def _seconds(wait_s: float) -> str:
    seconds = max(1, round(wait_s))
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} minutes"
