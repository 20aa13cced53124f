"""A ride for other eyes: what lies inside the privacy circles left out, places made coarse.

The journal stays as it is. What is left out of a ride can't be judged again, so such a copy says in
its name that it is no evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from operator import itemgetter
from typing import Any, TypeVar

from firmware.errors import JournalError
from host_tools.journals.ride import Hole, Leg, Ride

MARK = "redacted copy, no evidence"
WHY = "left out: inside a privacy circle"

_M_PER_DEG = 111_195.0

Span = tuple[float, float]
Change = TypeVar("Change", bound=tuple[Any, ...])
"""An instant, and what held from it on."""


def hide(ride: Ride) -> str:
    """Leaves out what the journal's own privacy circles cover; in a sentence what that was.

    From the first fix inside of one to the next fix outside of all, nothing stays: no fix, no
    finding, no alert, no event that touches it, nor for how long. A ride that begins or ends inside
    begins with its first fix outside, and ends with its last; a boot that has none outside is left
    out. Raises JournalError where nothing is left.
    """
    if not any(leg.circles for leg in ride.legs):
        return ""
    gone = sum(_hide(leg) for leg in ride.legs if leg.circles)
    ride.legs = [leg for leg in ride.legs if not _is_all_gone(leg)]
    if not ride.legs:
        raise JournalError(
            "journal",
            "lies all inside of its privacy circles: a copy would tell nothing.",
            "--everything tells what lies inside, too.",
        )
    ride.lay_out()
    _mark(ride)
    return f"{gone:,} fixes inside of privacy circles were left out: this copy is no evidence."


def coarsen(ride: Ride, grid_m: float) -> str:
    """Moves every fix to the middle of a square of so many metres; says so in a sentence."""
    for leg in ride.legs:
        track = leg.track
        for number in range(len(track)):
            track.lat_deg[number], track.lon_deg[number] = _middle(
                track.lat_deg[number], track.lon_deg[number], grid_m
            )
            track.error_m[number] = max(track.error_m[number], grid_m)
        leg.features.clear()
        leg.notes.append(f"Places are to {grid_m:.0f} m: this copy is no evidence.")
    _mark(ride)
    return f"Places were made coarse, to {grid_m:.0f} m: this copy is no evidence."


def _mark(ride: Ride) -> None:
    if MARK not in ride.unit:
        ride.unit = f"{ride.unit} ({MARK})"


def _middle(lat_deg: float, lon_deg: float, grid_m: float) -> tuple[float, float]:
    tall_deg = grid_m / _M_PER_DEG
    lat_deg = (math.floor(lat_deg / tall_deg) + 0.5) * tall_deg
    wide_deg = tall_deg / max(0.01, math.cos(math.radians(lat_deg)))
    return lat_deg, (math.floor(lon_deg / wide_deg) + 0.5) * wide_deg


def _hide(leg: Leg) -> int:
    """Leaves out of one boot what its circles cover; how many fixes that were."""
    track = leg.track
    inside = [
        any(one.covers(track.lat_deg[number], track.lon_deg[number]) for one in leg.circles)
        for number in range(len(track))
    ]
    if not any(inside):
        return 0
    spans = _spans(leg, inside)
    for column in fields(track):
        values = getattr(track, column.name)
        kept = (value for value, is_in in zip(values, inside, strict=True) if not is_in)
        setattr(track, column.name, type(values)(values.typecode, kept))
    leg.findings = [one for one in leg.findings if not _is_in(one[0], spans)]
    leg.alerts = [one for one in leg.alerts if not _is_in(one[0], spans)]
    leg.events = {
        key: event
        for key, event in leg.events.items()
        if not _touches(event.start_s, leg.to_s if event.end_s is None else event.end_s, spans)
    }
    for strip, changes in leg.strips.items():
        leg.strips[strip] = _outside(changes, spans)
    for clause, whys in leg.unknowns.items():
        nothing = [(from_s, "", False) for from_s, _ in spans]
        leg.unknowns[clause] = sorted([*_outside(whys, spans), *nothing], key=itemgetter(0))
    leg.features = {
        key: feature
        for key, feature in leg.features.items()
        if not any(
            one.covers(lat_deg, lon_deg)
            for one in leg.circles
            for part in feature.parts
            for lon_deg, lat_deg in part
        )
    }
    leg.holes += [Hole(from_s, to_s, WHY) for from_s, to_s in spans]
    leg.holes = [
        replace(one, from_s=max(one.from_s, leg.from_s), to_s=min(one.to_s, leg.to_s))
        for one in leg.holes
    ]
    if len(track):
        if inside[0]:
            leg.from_s = track.at_s[0]
        if inside[-1]:
            leg.to_s = track.at_s[-1]
        leg.holes = [one for one in leg.holes if leg.from_s < one.to_s and one.from_s < leg.to_s]
    leg.notes.append(
        f"{sum(inside):,} fixes inside of privacy circles were left out: this copy is no evidence."
    )
    return sum(inside)


def _spans(leg: Leg, inside: Sequence[bool]) -> list[Span]:
    """From the first fix inside to the next one outside; open ends reach to the boot's own."""
    spans: list[Span] = []
    begin: float | None = None
    for number, is_in in enumerate(inside):
        if is_in and begin is None:
            begin = leg.from_s if number == 0 else leg.track.at_s[number]
        elif not is_in and begin is not None:
            spans.append((begin, leg.track.at_s[number]))
            begin = None
    if begin is not None:
        spans.append((begin, math.inf))
    return spans


def _is_in(at_s: float, spans: Sequence[Span]) -> bool:
    return any(from_s <= at_s < to_s for from_s, to_s in spans)


def _touches(from_s: float, to_s: float, spans: Sequence[Span]) -> bool:
    return any(from_s < end_s and begin_s <= to_s for begin_s, end_s in spans)


def _outside(changes: Sequence[Change], spans: Sequence[Span]) -> list[Change]:
    """The changes of a state outside of the spans; after each, what held at its end."""
    kept = [one for one in changes if not _is_in(one[0], spans)]
    for _, end_s in spans:
        held = [one for one in changes if one[0] < end_s]
        if held and not math.isinf(end_s):
            kept.append(type(held[-1])((end_s, *held[-1][1:])))
    return sorted(kept, key=itemgetter(0))


def _is_all_gone(leg: Leg) -> bool:
    """Whether a boot had fixes, all of them inside."""
    return not leg.track.at_s and any(one.what == WHY for one in leg.holes)
