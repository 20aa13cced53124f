"""The unit's own measurements as answers of a sheet, told as they are found."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from firmware.errors import SledwardenError
from host_tools.inspection import gauges
from host_tools.inspection.trace import Trace, live, of_file
from host_tools.terminal import Console

LIVE = "live"
"""The word for the running unit, where a file could stand."""

STOPS = 3
LAMP_LIVE_S = 4.0

Taken = tuple[str, str, str]
"""An item, its answer, and how it was measured."""


def measure(gauge: str, source: str, feed: Path, out: Console) -> list[Taken]:
    """Measures by a gauge from a recording, or live; raises SledwardenError where it can't."""
    trace = _live(gauge, feed, out) if source == LIVE else of_file(Path(source))
    match gauge:
        case "brake":
            return _brake(trace, out)
        case "speedometer":
            return _speedometer(trace, out)
        case "odometer":
            return _odometer(trace, out)
    return _lamp(trace)


def _live(gauge: str, feed: Path, out: Console) -> Trace:
    if gauge == "brake":
        out.print("Ride faster than 20 mph, then brake to a stop.")
        out.print(f"{STOPS} times, or Ctrl-C after one.")
        told = 0

        def has_stopped(trace: Trace) -> bool:
            nonlocal told
            found = gauges.stops(trace.samples)
            for stop in found[told:]:
                out.print(_stop_words(stop))
            told = len(found)
            return told >= STOPS

        return live(feed, has_stopped)
    if gauge == "lamps":
        out.print("Head lamp on, engine running ...")
        return live(feed, lambda seen: bool(seen.lamps) and _span_s(seen) >= LAMP_LIVE_S)
    if gauge == "speedometer":
        out.print("Hold 40, 55 and 65 mph for 3 s each. A second person types what the indicator")
    else:
        out.print("Ride 5 miles or more. Before and after them, standing, type what the odometer")
    out.print("shows, then Enter. An empty line ends it.")
    word = "indicated" if gauge == "speedometer" else "odometer"
    return live(feed, lambda _: False, word=word)


def _span_s(trace: Trace) -> float:
    return trace.lamps[-1][0] - trace.lamps[0][0]


def _stop_words(stop: gauges.Stop) -> str:
    parts = f"speed {stop.speed_ft:.1f}, between fixes {stop.sampling_ft:.1f} ft"
    way = f"{stop.distance_ft:.1f} +- {stop.error_ft:.1f} ft in {stop.took_s:.1f} s"
    return f"stop at {stop.at_s:.1f} s: {way} ({parts})"


def _brake(trace: Trace, out: Console) -> list[Taken]:
    found = gauges.stops(trace.samples)
    best = gauges.best(found)
    if best is None:
        raise SledwardenError(
            trace.source,
            "has no stop from 20 mph to rest without a gap.",
            "Ride faster than 20 mph, brake straight to a stop, under the open sky.",
        )
    for stop in found:
        out.print(Text(_stop_words(stop)))
    by = f"GPS, {trace.source}, best of {len(found)} at {best.at_s:.1f} s"
    return [("brake_stop_ft", f"{best.distance_ft:.1f} +- {best.error_ft:.1f}", by)]


def _speedometer(trace: Trace, out: Console) -> list[Taken]:
    notes = [one for one in trace.notes if one.word == "indicated"]
    if not notes:
        raise SledwardenError(
            trace.source,
            "has no speed that a person read off the indicator.",
            "Read it off on the way: sledwarden inspect --speedometer live",
        )
    taken: dict[str, Taken] = {}
    for note in notes:
        read = gauges.indicator_error(trace, note)
        if read.why_not:
            out.print(Text(f"indicated {note.text} at {note.at_s:.1f} s: {read.why_not}"))
            continue
        found = f"{read.at:.1f} mph: {read.value:+.1f} +- {read.error:.1f} %"
        out.print(Text(f"indicated {note.text} at {found}"))
        nearest = min((40, 55, 65), key=lambda one: abs(one - read.at))
        item = f"speed_indicator_{nearest}_pct"
        by = f"GPS, {trace.source}, {note.text} at {read.at:.1f} mph"
        newer = (item, f"{read.value:.2f} +- {read.error:.2f}", by)
        if abs(nearest - read.at) <= gauges.NEAR_MPH:
            taken[item] = newer
    if not taken:
        raise SledwardenError(
            trace.source,
            "has no reading of the indicator at a steady 40, 55 or 65 mph.",
            "Hold each of them for 3 s before you note it.",
        )
    return list(taken.values())


def _odometer(trace: Trace, out: Console) -> list[Taken]:
    read = gauges.odometer_error(trace)
    if read.why_not:
        raise SledwardenError(
            trace.source,
            f"{read.why_not}.",
            "Read it off before and after 5 miles: sledwarden inspect --odometer live",
        )
    out.print(Text(f"{read.at:.2f} miles by GPS: {read.value:+.2f} +- {read.error:.2f} %"))
    by = f"GPS, {trace.source}, {read.at:.2f} miles"
    return [("odometer_error_pct", f"{read.value:.2f} +- {read.error:.2f}", by)]


def _lamp(trace: Trace) -> list[Taken]:
    read = gauges.lamp_lux(trace)
    if read.why_not:
        raise SledwardenError(trace.source, f"{read.why_not}.", "Is [light.head] fitted?")
    by = f"light sensor, {trace.source}"
    return [("headlamp_lux", f"{read.value:.0f} +- {read.error:.0f}", by)]
