"""The page of a ride, whole in one file: nothing in it is fetched, and only its own script runs."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from firmware import __version__
from firmware.findings import Margin
from firmware.journal.proof import GOOD
from host_tools.journals.ride import Exceedance, Ride
from host_tools.journals.verifying import Proof, worst
from host_tools.report import maps, plots, tables, words
from host_tools.report.axis import WIDE, Axis
from host_tools.report.maps import Area
from host_tools.report.markup import Markup, el, join

HERE = Path(__file__).parent

_LEGEND = (
    (Margin.FAR, "10 mph or more below the limit"),
    (Margin.BELOW, "less than 10 mph below"),
    (Margin.NEAR, "near it, or a zone ahead"),
    (Margin.UNSURE, "over, but not surely"),
    (Margin.OVER, "over"),
    (Margin.FREE, "no limit judged"),
    (Margin.UNKNOWN, "not watched"),
)

_SAMPLES = 1500


def filled(ride: Ride, proofs: list[Proof]) -> str:
    """The page as HTML. Every text that is not ours is escaped where it enters."""
    all_found = ride.exceedances()
    found = tables.gravest(all_found)
    axis = Axis(ride)
    grounds = maps.areas(ride)
    style = (HERE / "page.css").read_text("utf-8") + "".join(one.style() for one in grounds)
    script = (HERE / "page.js").read_text("utf-8")
    drawn = [maps.drawn(one, ride, found) for one in grounds]
    parts = {
        "policy": Markup(_policy(style, script)),
        "title": join([f"{ride.unit}: ride report"]),
        "style": Markup(style),
        "script": Markup(script),
        "header": _header(ride, proofs, all_found),
        "found": _found(ride, all_found),
        "legend": _legend(ride) if drawn else Markup(""),
        "maps": join(drawn) if drawn else el("p", "The journal holds no position.", class_="none"),
        "plot": plots.speed_plot(ride, axis, found),
        "strips": plots.strips(ride, axis),
        "zone": join([_zones(ride)]),
        "times": axis.drawn(),
        "resolution": join([plots.resolution(ride, axis)]),
        "exceedances": tables.exceedances(ride, found, len(all_found)),
        "changes": tables.changes(ride, ride.stood()),
        "blind": tables.not_watched(ride),
        "proof": tables.proof(proofs),
        "notes": _notes(ride),
        "footer": _footer(ride),
        "samples": Markup(_json(_samples(ride, axis, grounds))),
    }
    template = (HERE / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], template)


def _policy(style: str, script: str) -> str:
    """Nothing may be fetched, and only this style and this script may run."""
    hashes = [
        base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _header(ride: Ride, proofs: list[Proof], found: list[Exceedance]) -> Markup:
    verdict = worst(proofs)
    name, look, said = words.BADGES[verdict]
    laws = sorted({one for leg in ride.legs for one in leg.start.laws})
    vehicle = ride.legs[-1].start.vehicle.replace("_", " ")
    law = f"law: {', '.join(laws)}" if laws else ""
    kicker = " \N{MIDDLE DOT} ".join(one for one in ("Ride report", vehicle, law) if one)
    masthead = el(
        "div",
        el(
            "div",
            el("p", kicker, class_="kicker"),
            el("h1", ride.unit),
            el("p", _when(ride), class_="when"),
        ),
        el(
            "div",
            el("span", f"Journal: {name.lower()}", class_=f"badge {look}"),
            el("small", said),
            class_="seal",
        ),
        class_="masthead",
    )
    alarm = None
    if verdict not in GOOD:
        alarm = el("p", f"{said} What follows is what can still be read.", class_="alarm")
    return join([masthead, alarm, _figures(ride, found)])


def _when(ride: Ride) -> str:
    first, last = ride.legs[0], ride.legs[-1]
    begin, end = first.local(first.from_s), last.local(last.to_s)
    if begin is None or end is None:
        return "No date was known"
    names = dict.fromkeys((words.zone_of(first, first.from_s), words.zone_of(last, last.to_s)))
    zone = f"{' and '.join(names)} ({first.time_zone.key})"
    if begin.date() == end.date():
        return f"{words.day(begin)}, {begin:%H:%M} to {end:%H:%M} {zone}"
    return f"{words.short_day(begin)}, {begin:%H:%M} to {words.short_day(end)}, {end:%H:%M} {zone}"


def _figures(ride: Ride, found: list[Exceedance]) -> Markup:
    tops = [max(leg.track.speed_mph) for leg in ride.legs if len(leg.track)]
    over_s = sum(one.duration_s for one in found if one.is_violation)
    sure = sum(one.is_violation for one in found)
    miles = ride.distance_m / 1609.344
    figures: list[tuple[str, str, str]] = [
        ("Recorded", *_split(words.duration(ride.length_s))),
        ("Ridden", f"{miles:.1f}", "mi"),
        ("Top speed", f"{max(tops):.1f}" if tops else "\N{EN DASH}", "mph"),
        ("Violations", f"{sure:,}", ""),
        ("In violation", *_split(words.duration(over_s))),
    ]
    return el(
        "dl",
        (
            el("div", el("dt", name), el("dd", value, el("span", unit) if unit else None))
            for name, value, unit in figures
        ),
        class_="figures",
    )


def _split(text: str) -> tuple[str, str]:
    """A duration as a figure and its small rest."""
    value, _, rest = text.partition(words.NARROW)
    return value, rest


def _found(ride: Ride, found: list[Exceedance]) -> Markup:
    return join(
        [
            el("h2", words.headline(ride, found)),
            words.story(ride, found),
            el("p", words.blind(ride), class_="note"),
        ]
    )


def _legend(ride: Ride) -> Markup:
    seen = {one for leg in ride.legs for one in leg.track.margin}
    items = []
    for margin, text in _LEGEND:
        if margin.value not in seen:
            continue
        line = el("line", x1=2.0, x2=26.0, y1=5.0, y2=5.0, class_=f"t m{margin.value}")
        items.append(el("li", el("svg", line, width="28", height="10", aria_hidden="true"), text))
    return el("ul", items, class_="legend")


def _zones(ride: Ride) -> str:
    found = dict.fromkeys(
        words.zone_of(leg, at_s)
        for leg in ride.legs
        for at_s in (leg.from_s, leg.to_s, *leg.dates.steps_s())
    )
    return ", ".join(one for one in found if one)


def _notes(ride: Ride) -> Markup:
    items = [note for leg in ride.legs for note in leg.notes]
    for leg in ride.legs:
        if leg.ended:
            items.append(f"Boot {leg.start.boot} ended: {leg.ended}.")
        if leg.difference:
            items.append(
                f"Judged again from its readings by this version, boot {leg.start.boot} gives "
                f"something else: {leg.difference}. The findings here are the journal's."
            )
    items += [said for leg in ride.legs if (said := leg.redated())]
    whole = [leg for leg in ride.legs if leg.clauses and not leg.difference and not leg.notes]
    judged = [leg for leg in whole if leg.is_judged_again]
    if len(judged) == len(ride.legs):
        items.append("Judged again from its readings, it gives the same findings and events.")
    elif not judged and whole:
        items.append(
            "Findings, events and limits are the journal's own word. sledwarden replay, and "
            "sledwarden report --judge-again, judge them again from its readings."
        )
    return el("ul", (el("li", one) for one in items), class_="reasons note")


def _footer(ride: Ride) -> Markup:
    start = ride.legs[-1].start
    software = f"recorded by {start.software}" if start.software else "recorded"
    return el(
        "p",
        f"{ride.unit}, {software}; page by sledwarden {__version__}. "
        "It holds everything that it shows and fetches nothing. This is no legal advice.",
    )


def _samples(ride: Ride, axis: Axis, grounds: list[Area]) -> dict[str, Any]:
    """What pointing at the plot reads: the fastest fix of each column."""
    found: dict[str, list[Any]] = {
        name: [] for name in ("x", "mph", "error", "limit", "map", "mx", "my")
    }
    for leg in ride.legs:
        track = leg.track
        columns: dict[int, int] = {}
        for number, at_s in enumerate(track.at_s):
            column = int(axis.x(leg, at_s) / WIDE * _SAMPLES)
            held = columns.get(column)
            if held is None or track.speed_mph[number] > track.speed_mph[held]:
                columns[column] = number
        for number in columns.values():
            limit = track.limit_mph[number]
            lat_deg, lon_deg = track.lat_deg[number], track.lon_deg[number]
            ground = next((one for one in grounds if one.holds(lat_deg, lon_deg)), None)
            x_m, y_m = (0.0, 0.0) if ground is None else ground.xy(lat_deg, lon_deg)
            found["x"].append(round(axis.x(leg, track.at_s[number]), 1))
            found["mph"].append(round(track.speed_mph[number], 1))
            found["error"].append(round(track.error_mph[number], 1))
            found["limit"].append(None if math.isnan(limit) else round(limit, 1))
            found["map"].append(-1 if ground is None else ground.number)
            found["mx"].append(round(x_m))
            found["my"].append(round(y_m))
    pieces = []
    for piece in axis.pieces():
        local = piece.leg.local(piece.from_s)
        shown = None
        if local is not None:
            # As if it were UTC: the page's script knows no time zones.
            shown = round((local.timestamp() + _offset_s(local.utcoffset())) * 1000)
        begin, end = axis.x(piece.leg, piece.from_s), axis.x(piece.leg, piece.to_s)
        pieces.append(
            [round(begin, 2), round(end, 2), shown, words.zone_of(piece.leg, piece.from_s)]
        )
    return {**found, "pieces": pieces, "wide": WIDE, "ms": axis.length_s * 1000 / WIDE}


def _offset_s(offset: timedelta | None) -> float:
    return 0.0 if offset is None else offset.total_seconds()


def _json(value: dict[str, Any]) -> str:
    """JSON that can't end the element it stands in."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c").replace("&", "\\u0026")
