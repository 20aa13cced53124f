"""What there is to tell of a paragraph: what is judged of it, what that needs, what proves it.

All of it comes from where it is true: the clause's own keys, the rule's channels, the drives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from firmware.law.packs import Clause
from firmware.law.places import Entry
from firmware.parts import load
from firmware.readings import Channel

DRIVES = Path(__file__).parents[1] / "tests" / "drives"
"""The rides that prove the verdicts; they stand in a clone, not in an installed package."""

SENSORS = {
    Channel.FIX: "GPS receiver [gps]",
    Channel.LIGHT_HEAD: "head lamp light sensor [light.head]",
    Channel.LIGHT_TAIL: "tail lamp light sensor [light.tail]",
    Channel.LIGHT_AMBIENT: "sky light sensor [light.ambient], if fitted",
    Channel.SUPPLY_HEAD: "head lamp supply sense [supply.head], if fitted",
    Channel.SUPPLY_TAIL: "tail lamp supply sense [supply.tail], if fitted",
    Channel.TETHER: "tether switch [tether]",
    Channel.ENGINE: "engine sense [engine], if fitted",
    Channel.SURROUNDINGS: "zone pack [zones]",
}

NAMED = frozenset({"MONITORED", "ZONE", "MODE", "INFORM"})
"""Coverages whose drives name a paragraph in a remark where no verdict is its own."""


PROOF = ("approaching", "unsure", "violation", "exempt")


@dataclass(slots=True)
class Told:
    """What one drive says: the verdicts of each clause, the cases that it proves, its remarks."""

    verdicts: set[tuple[str, str]] = field(default_factory=set)
    proves: tuple[str, ...] = ()
    remarks: str = ""


def as_object(clause: Clause) -> dict[str, Any]:
    """A paragraph with the keys of the contract."""
    return {
        "citation": clause.citation,
        "title": clause.title,
        "requirement": clause.requirement,
        "numbers": clause.numbers,
        "applies_to": clause.applies_to,
        "coverage": clause.coverage,
        "how": clause.how,
        "exemptions": clause.exemptions,
        "drives": drives_of(clause),
    }


def drives_of(clause: Clause) -> list[str]:
    """The drives that prove a paragraph: which say so, in which it is more than kept, or which
    speak of it."""
    if clause.kind:
        tried = {(clause.citation, verdict) for verdict in PROOF}
        return [
            name
            for name, told in _told().items()
            if told.verdicts & tried
            or any(one.startswith(f"{clause.citation} ") for one in told.proves)
        ]
    if clause.coverage not in NAMED:
        return []
    return [name for name, told in _told().items() if speaks_of(told, clause.citation)]


def speaks_of(told: Told, citation: str) -> bool:
    """Whether a drive's remarks name this paragraph, and not one inside it."""
    words = rf"(?<![\w.]){re.escape(citation.lower())}(?![\w(])"
    return re.search(words, told.remarks.lower()) is not None


def judged(clause: Clause) -> str:
    """What is judged while riding, from the clause's own keys; empty where nothing is."""
    if not clause.kind:
        return ""
    words = [clause.kind.replace("_", " "), *_limits(clause), *_places(clause), _hours(clause)]
    if clause.season is not None:
        words.append(f"from {clause.season.from_day} to {clause.season.to_day}")
    if clause.demanded_by:
        words.append(f"in {_listed(clause.demanded_by)} mode only")
    if clause.exempt_aged is not None:
        words.append(f"not of sleds of model years {clause.exempt_aged} or more years back")
    if clause.lifted_by:
        words.append(f"lifted by {_listed(clause.lifted_by)} mode")
    if not clause.accuses:
        words.append("never more than advice")
    return ", ".join(words)


def _limits(clause: Clause) -> Iterator[str]:
    if clause.limit is not None:
        yield f"over {clause.limit.value:g} {clause.limit.unit}"
    if clause.limit_from == "posted":
        yield "over the road's own limit"
    elif clause.limit_from:
        yield "faster than it takes to keep moving"
    if clause.posted_over is not None:
        yield f"on roads with a limit over {clause.posted_over:g}"
    if clause.posted_up_to is not None:
        yield f"on roads with a limit up to {clause.posted_up_to:g}"
    if clause.reach_ft is not None:
        yield f"stopping farther than {clause.reach_ft:g} ft"


def _places(clause: Clause) -> Iterator[str]:
    for near in clause.near:
        reach = f"{near.within_m:g} m" if near.within_m is not None else f"{near.within_ft:g} ft"
        yield f"within {reach} of {_listed(near.kinds)}"
    if clause.on:
        yield f"on {clause.on}"
    if clause.entry is not None:
        yield from _entry(clause.entry)
    if clause.signs is not None:
        yield f"at {_listed((*clause.signs.stop, *clause.signs.give_way))} signs"
    if clause.lamp:
        yield f"{clause.lamp} lamp"
    if clause.road:
        yield f"by road: {clause.road}"


def _entry(entry: Entry) -> Iterator[str]:
    yield f"inside {_listed(entry.kinds)}"
    if entry.crossing:
        yield f"but not on a {_listed(entry.crossing)} through it"
    if entry.consent:
        yield "nor with a consent in [zones] consents"
    if entry.after_stop:
        yield "nor after a stop at its edge"


def needs(clause: Clause) -> list[str]:
    """The parts without which a judged paragraph is not watched, or is watched less well."""
    if not clause.kind:
        return []
    channels = set(load("rule", clause.kind).channels)
    if clause.lamp:
        other = "tail" if clause.lamp == "head" else "head"
        channels -= {f"light.{other}", f"supply.{other}"}
        channels.add(Channel.FIX)
    if clause.when != "darkness":
        channels.discard(Channel.LIGHT_AMBIENT)
    return [words for channel, words in SENSORS.items() if channel in channels]


def zones(clause: Clause) -> list[str]:
    """The kinds of thing that a zone pack must hold for it."""
    kinds = [kind for near in clause.near for kind in near.kinds] + [clause.on]
    if clause.entry is not None:
        kinds += [*clause.entry.kinds, *clause.entry.crossing]
    if clause.signs is not None:
        kinds += [*clause.signs.stop, *clause.signs.give_way]
    if clause.kind in ("road_network", "road_speed"):
        kinds += ["road", "crossing"] if clause.kind == "road_network" else ["road"]
    return list(dict.fromkeys(kind for kind in kinds if kind))


def figures(clause: Clause) -> list[str]:
    """Each figure of a paragraph in one line, marked where its text does not have it."""
    return [
        f"{one.of} {one.op} {one.value if isinstance(one.value, str) else f'{one.value:g}'} "
        f"{one.unit}" + ("" if one.in_text else " (not in its text)")
        for one in clause.numbers
    ]


def _hours(clause: Clause) -> str:
    if clause.when == "clock" and clause.from_time is not None and clause.to_time is not None:
        return f"from {clause.from_time:%H:%M} to {clause.to_time:%H:%M}"
    if clause.when == "darkness":
        edge = "sunset to sunrise"
        if clause.sun_offset_min:
            edge = f"{clause.sun_offset_min} min after sunset to as long before sunrise"
        return f"in hours of darkness, {edge}"
    return "at any hour"


def _listed(words: tuple[str, ...]) -> str:
    return " or ".join(word.replace("_", " ") for word in words)


@cache
def _told() -> dict[str, Told]:
    """Every drive once, by its name."""
    drives = {}
    for path in sorted(DRIVES.glob("*.expect")):
        told = drives[path.stem] = Told()
        both = path.read_text(encoding="utf-8"), path.with_suffix(".drive").read_text("utf-8")
        for line in both[0].splitlines():
            if not line.startswith("#") and line.strip():
                told.verdicts.update(_verdict(line))
        proves = re.search(r"^# Proves: (.+)$", both[1], re.MULTILINE)
        told.proves = tuple(one.strip() for one in proves[1].split(",")) if proves else ()
        told.remarks = "\n".join(
            line for text in both for line in text.splitlines() if line.startswith("#")
        )
    return drives


def _verdict(line: str) -> set[tuple[str, str]]:
    """The clause and the verdict of a line of an expectation; a citation may hold blanks."""
    match = re.match(
        r"\S+\s+(?!alert )(.+?)\s+(compliant|approaching|unsure|violation|unknown|exempt)\b", line
    )
    return {(match[1], match[2])} if match else set()
