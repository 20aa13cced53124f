"""The time axis that plot and strips share: boots one after another, marked in local time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from host_tools.journals.ride import Leg, Ride
from host_tools.report import words
from host_tools.report.markup import Markup, el, join

WIDE = 10_000.0
"""The width of plot and strips in their own units, stretched over whatever width there is."""

_STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
)  # fmt: skip
_TICKS = 9


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch in which time went on without a step: from and to on the axis, and its dates."""

    leg: Leg
    from_s: float
    to_s: float


class Axis:
    """Places of instants, from 0 to `WIDE`."""

    def __init__(self, ride: Ride) -> None:
        self.ride = ride
        self.length_s = ride.length_s or 1.0
        self.step_s = next((one for one in _STEPS_S if self.length_s / one <= _TICKS), _STEPS_S[-1])

    def x(self, leg: Leg, at_s: float) -> float:
        inside_s = min(max(at_s, leg.from_s), leg.to_s)
        return leg.ride_s(inside_s) / self.length_s * WIDE

    def pieces(self) -> list[Piece]:
        """From one step of the date to the next."""
        found = []
        for leg in self.ride.legs:
            cuts = [leg.from_s, *leg.dates.steps_s(), leg.to_s]
            for from_s, to_s in pairwise(cuts):
                if to_s > from_s:
                    found.append(Piece(leg, from_s, to_s))
        return found

    def breaks(self) -> list[float]:
        """Where the date steps or a new boot begins."""
        return [self.x(one.leg, one.from_s) for one in self.pieces()[1:]]

    def marks(self) -> list[tuple[float, str]]:
        """The full steps of local time, or of the ride where there is no date."""
        found: list[tuple[float, str]] = []
        for piece in self.pieces():
            for at_s in self._full_steps(piece):
                local = piece.leg.local(at_s)
                if local is None:
                    text = words.duration(piece.leg.ride_s(at_s))
                else:
                    text = words.clock(local, seconds=self.step_s < 60)
                found.append((self.x(piece.leg, at_s), text))
        return found

    def _full_steps(self, piece: Piece) -> list[float]:
        local = piece.leg.local(piece.from_s)
        if local is None:
            begin = -piece.leg.ride_s(piece.from_s) % self.step_s
        else:
            seconds = local.timestamp() + (local.utcoffset() or timedelta()).total_seconds()
            begin = -seconds % self.step_s
        at_s, found = piece.from_s + begin, []
        while at_s <= piece.to_s:
            found.append(at_s)
            at_s += self.step_s
        return found

    def days(self) -> list[tuple[float, str]]:
        """The date where each piece begins."""
        found: list[tuple[float, str]] = []
        for piece in self.pieces():
            local = piece.leg.local(piece.from_s)
            text = "no date" if local is None else f"{local:%a} {local.day} {local:%b %Y}"
            if not found or found[-1][1] != text:
                found.append((self.x(piece.leg, piece.from_s), text))
        return found

    def drawn(self) -> Markup:
        """The line of times under the strips."""
        ticks: list[Markup] = []
        last = -WIDE
        for number, (x, text) in enumerate(self.marks()):
            if x - last < WIDE / 15:
                continue
            last = x
            share = x / WIDE
            anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
            kind = "tick" if number % 3 == 0 else "tick alt"
            ticks.append(
                el("text", text, x=f"{share * 100:.2f}%", y="14", class_=kind, text_anchor=anchor)
            )
        last = -WIDE
        for x, text in self.days():
            share = x / WIDE
            is_last = share > 0.8
            kind = "date" if x - last > WIDE / 4 or last < 0 else "date alt"
            last = x
            anchor = "end" if is_last else "start"
            at = "100%" if is_last else f"{share * 100:.2f}%"
            ticks.append(el("text", text, x=at, y="31", class_=kind, text_anchor=anchor))
        return el("svg", join(ticks), class_="times", width="100%", height="36", aria_hidden="true")
