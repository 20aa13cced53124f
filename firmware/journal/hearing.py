"""What the receiver was heard to say: the 20 s before and after an event, as bytes.

A verdict rests on numbers that were read from sentences. Where it counts, the sentences themselves
are kept beside it, so that who doubts a number can read where it came from. At other times they
would fill the card for nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.journal.record import Heard

BEFORE_S = AFTER_S = 20.0
PIECE_S = 1.0
MOST_BYTES = 512 * 1024
"""The longest memory: 20 s of a line at 230,400 baud."""


@dataclass(slots=True)
class _Piece:
    mono_s: float
    octets: bytearray = field(default_factory=bytearray)


class Hearing:
    """Remembers the last bytes of one receiver, and hands them over when something happens.

    `hear` is called by the thread that reads the line, `tell` by the one that judges.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._pieces: deque[_Piece] = deque()
        self._bytes = 0
        self._until_s = float("-inf")
        self._guard = threading.Lock()
        self.keep: Callable[[Heard, float], object] = lambda _heard, _at_s: None
        """Takes what is to be kept; must not block."""

    def hear(self, octets: bytes, at_s: float) -> None:
        """Takes bytes that came just now."""
        with self._guard:
            if not self._pieces or at_s - self._pieces[-1].mono_s >= PIECE_S:
                if at_s <= self._until_s:
                    self._hand_over(at_s)
                self._pieces.append(_Piece(at_s))
            self._pieces[-1].octets += octets
            self._bytes += len(octets)
            while self._bytes > MOST_BYTES or at_s - self._pieces[0].mono_s > BEFORE_S + PIECE_S:
                self._bytes -= len(self._pieces.popleft().octets)
                if not self._pieces:
                    break

    def tell(self, at_s: float) -> None:
        """Something happened: what was heard before it is kept, and what comes after."""
        with self._guard:
            self._until_s = max(self._until_s, at_s + AFTER_S + PIECE_S)
            self._hand_over(at_s)

    def _hand_over(self, at_s: float) -> None:
        for piece in self._pieces:
            self.keep(Heard(self._source, piece.mono_s, piece.octets.decode("latin-1")), at_s)
        self._pieces.clear()
        self._bytes = 0
