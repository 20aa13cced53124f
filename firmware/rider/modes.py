"""What stands for a mode that is on: who set it, why, and what is proven of it.

A mode that the rider sets is *self-declared*: it lifts what the law lifts, and every finding that
rests on it says so. A race may be proven by an organizer's token instead, and then place and window
are watched: outside of the circle it lifts nothing, at the end of the window it ends.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from firmware.race_token import Token, read
from firmware.readings import Fix, Missing


class Proof(StrEnum):
    """What is proven of a mode."""

    SELF_DECLARED = "self-declared"
    SIGNED = "signed by an organizer who is not named here"
    PROVEN = "proven by the organizer"


@dataclass(frozen=True, slots=True)
class ModeOn:
    """A mode that is on; `off` says why it lifts nothing now, and is empty while it does."""

    mode: str
    proof: Proof = Proof.SELF_DECLARED
    by: str = ""
    why: str = ""
    token: Token | None = None
    ends_s: float = math.inf
    off: str = ""

    @property
    def is_proven(self) -> bool:
        """Whether an organizer whom the configuration names has signed it."""
        return self.proof is Proof.PROVEN

    @property
    def words(self) -> str:
        """What is known of it in one line, for a finding's reason, the dash and the report."""
        if self.token is None:
            return str(self.proof) + (f" by {self.by}" if self.by else "")
        said = f"{self.token.event}, {self.proof} ({self.token.words})"
        return f"{said}; {self.off}" if self.off else said


def by_token(
    line: str, by: str, unit: str, organizers: Collection[str], fix: Fix | Missing,
    utc: datetime | None, at_s: float,
) -> ModeOn:  # fmt: skip
    """The race that a token proves here and now; raises TokenError where it proves none.

    `utc` is the satellites' date, absent while they gave none: a battery clock proves no window.
    """
    token = read(line)
    token.refuse_unless_for(unit)
    token.refuse_unless_now(utc)
    token.refuse_unless_here(None if isinstance(fix, Missing) else (fix.lat_deg, fix.lon_deg))
    assert utc is not None  # or it was refused
    proof = Proof.PROVEN if token.key in organizers else Proof.SIGNED
    ends_s = at_s + (token.to_utc - utc).total_seconds()
    return ModeOn("race", proof, by, f"token for {token.event}", token, ends_s)


def watched(on: ModeOn, fix: Fix | Missing, utc: datetime | None, at_s: float) -> ModeOn:
    """The same race after a new word on place or date.

    It lifts nothing once the sled is outside by more than its position's error, or nowhere known;
    again once it is inside. Between the two it stays as it was.
    """
    token = on.token
    if token is None:
        return on
    off = on.off
    if isinstance(fix, Missing):
        off = "its place is not known"
    else:
        off_m = token.off_m(fix.lat_deg, fix.lon_deg)
        if off_m > fix.error_m:
            off = "outside its place"
        elif off_m <= 0.0:
            off = ""
    ends_s = on.ends_s
    if utc is not None:
        ends_s = at_s + (token.to_utc - utc).total_seconds()
        if abs(ends_s - on.ends_s) < 1.0:  # the satellites' date trembles by less
            ends_s = on.ends_s
        if utc < token.from_utc:
            ends_s = at_s
    return replace(on, off=off, ends_s=ends_s)
