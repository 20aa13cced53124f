"""What is wrong with a clause on its own: with its words and figures, and for its rule."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import date, time

from firmware.law.clause import (
    PLAIN_LETTERS,
    ROAD_PARTS,
    SPEED_KINDS,
    VEHICLES,
    Clause,
    Number,
)
from firmware.law.places import faults_of as faults_of_places
from firmware.maps.packs import KINDS
from firmware.parts import PARTS

OPS = ("<", "<=", "==", "!=", ">=", ">", "from", "to")
"""How a figure bounds what it is of: as an inequality that is kept, or as the ends of a window."""

UNITS = frozenset(
    {
        "mph", "km/h", "ft", "m", "in", "lb", "kg", "min", "month", "years", "USD", "%", "dB",
        "dB(A)", "rpm", "ft/s^2", "turn", "cycles", "cycles/min", "count", "points", "wheels",
        "speeds", "leaks", "samples", "test", "of 3 tests", "alcohol concentration", "sq in",
        "date", "local time", "colour",
    }
)  # fmt: skip

_WORDS = ("citation", "title", "plain", "requirement", "how", "source")
_SOURCE = re.compile(r"[^\s:/]+:[1-9]\d*|https?://\S+")


def faults_of(clause: Clause) -> list[str]:
    """Every fault of a clause; each begins with its key."""
    return [*_word_faults(clause), *_number_faults(clause), *_kind_faults(clause)]


def _word_faults(clause: Clause) -> Iterator[str]:
    for key in _WORDS:
        if not getattr(clause, key).strip():
            yield f"{key}: must have words."
    if "\n" in clause.plain or len(clause.plain) > PLAIN_LETTERS:
        yield f"plain: must be one line of at most {PLAIN_LETTERS} letters."
    if clause.applies_to not in ("none", *VEHICLES) and not clause.kind:
        yield f"applies_to = {clause.applies_to}: must be one of none, {', '.join(VEHICLES)}."
    if clause.source.strip() and not _SOURCE.fullmatch(clause.source):
        yield f"source = {clause.source}: must be a text's file and line, or an address."
    starts, ends = clause.in_force_from, clause.in_force_to
    if starts is not None and ends is not None and ends < starts:
        yield f"in_force_to = {ends}: must not be before in_force_from = {starts}."


def _number_faults(clause: Clause) -> Iterator[str]:
    for at, number in enumerate(clause.numbers):
        key = f"numbers[{at}]"
        if number.op not in OPS:
            yield f"{key}.op = {number.op}: must be one of {', '.join(OPS)}."
        if number.unit not in UNITS:
            yield f"{key}.unit = {number.unit}: must be one of {', '.join(sorted(UNITS))}."
        if not number.of.strip():
            yield f"{key}.of: must say what the figure is of."
        fault = _value_fault(number)
        if fault:
            yield f"{key}.value = {number.value}: must be {fault}."


def _value_fault(number: Number) -> str:
    """What the value of a figure must be, and nothing where it is that."""
    value, unit = number.value, number.unit
    if unit == "date":
        return "" if _is_read(date, value) else 'a date in quotes, like "1994-05-07"'
    if unit == "local time":
        return "" if _is_read(time, value) else 'a time in quotes, like "22:30"'
    if unit == "colour":
        return "" if isinstance(value, str) and value else "a colour's name"
    if isinstance(value, str) or not math.isfinite(value) or value < 0:
        return "a number from 0 up"
    return ""


def _is_read(kind: type[date] | type[time], value: float | str) -> bool:
    try:
        kind.fromisoformat(str(value))
    except ValueError:
        return False
    return isinstance(value, str)


def _kind_faults(clause: Clause) -> list[str]:
    """What a clause lacks for the rule that its `kind` names."""
    kind, when = clause.kind, clause.when
    faults = []
    if kind and kind not in PARTS["rule"]:
        faults.append(f"kind = {kind}: must be one of {', '.join(sorted(PARTS['rule']))}.")
    if kind == "advisory" and clause.coverage != "INFORM":
        faults.append("kind = advisory: only INFORM clauses are advice.")
    elif kind and kind != "advisory" and clause.coverage not in ("MONITORED", "ZONE"):
        faults.append(f"kind = {kind}: only MONITORED and ZONE clauses have a kind.")
    if kind and clause.applies_to not in VEHICLES:
        faults.append(
            f"applies_to = {clause.applies_to}: must be one of {', '.join(VEHICLES)} "
            "for a clause that is judged."
        )
    if kind == "lamp" and not clause.lamp:
        faults.append("lamp: must be head or tail for a lamp clause.")
    elif kind == "lamp" and when == "clock":
        faults.append("when = clock: a lamp clause is judged in darkness or always.")
    if clause.exempt_aged is not None and not (kind == "lamp" and 0 < clause.exempt_aged <= 99):
        faults.append("exempt_aged: must be 1 to 99, and stand in a lamp clause.")
    if kind == "curfew" and when != "clock":
        faults.append(f"when = {when}: a curfew is judged by the clock.")
    if kind == "road_network" and not clause.road:
        faults.append(f"road: must be one of {', '.join(ROAD_PARTS)} for a road_network clause.")
    if kind == "advisory" and not 0 < (clause.reach_ft or 0.0) <= 5000:
        faults.append("reach_ft: must be above 0 and at most 5000 for advice on stopping.")
    if kind == "zone_speed" and when == "darkness":
        faults.append(f"when = {when}: a zone_speed clause is judged always or by the clock.")
    if kind == "tether" and when != "always":
        faults.append(f"when = {when}: a tether clause is judged always.")
    faults += faults_of_places(kind, clause.entry, clause.signs, clause.season)
    return (
        faults
        + _limit_faults(clause)
        + _window_faults(clause)
        + _near_faults(clause)
        + _notice_faults(clause)
    )


def _limit_faults(clause: Clause) -> list[str]:
    """What is wrong with the speed limit of a clause, or with the roads that it holds on."""
    kind, limit = clause.kind, clause.limit
    faults = []
    if kind in SPEED_KINDS and limit is None and not clause.limit_from:
        faults.append("limit: must be there for a clause on speed.")
    if limit is not None and clause.limit_from:
        faults.append("limit: must not be there beside limit_from.")
    if clause.limit_from == "posted" and kind != "road_speed":
        faults.append("limit_from = posted: only a road_speed clause goes by the road's limit.")
    if limit is not None and not 0 < limit.value <= 200:
        faults.append(f"limit = {limit.value}: must be above 0 and at most 200.")
    for name in ("posted_over", "posted_up_to"):
        posted = getattr(clause, name)
        if posted is None:
            continue
        if kind != "road_speed" or limit is None:
            faults.append(f"{name}: must stand in a road_speed clause with a limit.")
        elif not 0 < posted <= 200:
            faults.append(f"{name} = {posted}: must be above 0 and at most 200.")
    return faults


def _notice_faults(clause: Clause) -> list[str]:
    """What is wrong with what the glass says of a clause."""
    lines = clause.notice.split("\n")
    faults = []
    if clause.notice and clause.coverage not in ("INFORM", "ZONE"):
        faults.append("notice: only an INFORM or a ZONE clause has one.")
    if clause.shown_with and (clause.notice or clause.coverage != "INFORM"):
        faults.append("shown_with: must stand in an INFORM clause without a notice of its own.")
    if clause.notice and (len(lines) > 2 or not all(0 < len(one) <= 16 for one in lines)):
        faults.append("notice: must be one or two lines of 1 to 16 letters.")
    if not clause.notice.isascii():
        faults.append("notice: must have no letters but those of ASCII, which the glass draws.")
    if clause.under_age is not None and not (clause.notice and 0 < clause.under_age <= 99):
        faults.append("under_age: must be 1 to 99, and stand beside a notice.")
    return faults


def _window_faults(clause: Clause) -> list[str]:
    """What is wrong with the hours of a clause."""
    if not 0 <= clause.sun_offset_min <= 60:
        return [f"sun_offset_min = {clause.sun_offset_min}: must be 0 to 60."]
    if clause.when != "clock":
        return []
    if clause.from_time is None or clause.to_time is None:
        return ["from_time and to_time: must be there where when = clock."]
    if clause.from_time.tzinfo is not None or clause.to_time.tzinfo is not None:
        return ["from_time and to_time: must be local times, without a zone."]
    if clause.from_time == clause.to_time:
        return ["from_time and to_time: must differ."]
    return []


def _near_faults(clause: Clause) -> list[str]:
    """What is wrong with the things on the map that a clause speaks of."""
    faults = []
    if clause.kind == "zone_speed" and not any(near.kinds for near in clause.near):
        faults.append("near: must name the kinds of a zone_speed clause.")
    for near in clause.near:
        if (near.within_ft is None) is (near.within_m is None):
            faults.append("near: must have within_ft or within_m, and not both.")
        elif near.within_ft is not None and not 0 < near.within_ft <= 5000:
            faults.append(f"within_ft = {near.within_ft}: must be above 0 and at most 5000.")
        elif near.within_m is not None and not 0 < near.within_m <= 1500:
            faults.append(f"within_m = {near.within_m}: must be above 0 and at most 1500.")
    named = [("near", kind) for near in clause.near for kind in near.kinds]
    named += [("on", clause.on)] * bool(clause.on)
    return faults + [
        f"{key}: kind of zone {kind}: must be one of {', '.join(sorted(KINDS))}."
        for key, kind in named
        if kind not in KINDS
    ]
