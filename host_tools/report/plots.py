"""Speed against its limit over time, and strips of what the unit saw on the same axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import itemgetter

from host_tools.journals.ride import Exceedance, Leg, Ride
from host_tools.report import thin, words
from host_tools.report.axis import WIDE, Axis
from host_tools.report.markup import Markup, el, join, short

HIGH = 1000.0
"""The height of the plot in its own units."""

_LOOKS = {
    "lit": "good", "in": "good", "running": "good", "good": "good", "gps": "good",
    "all duties": "good", "kept": "good",
    "rtc": "fair", "poor": "fair", "out": "bad", "open": "bad", "short": "bad", "lost": "bad",
    "dark": "night", "day": "day", "not needed": "idle", "off": "idle",
    "not fitted": "absent", "none": "blind", "unknown": "blind",
}  # fmt: skip

_RANKS = (
    "not needed", "day", "off", "all duties", "kept", "lit", "in", "running", "good", "gps", "dark",
    "rtc", "poor", "not fitted", "unknown", "none", "out", "open", "short", "lost",
)  # fmt: skip
"""The states from the calmest to the worst, for where there are more than can be drawn."""

_LABELS = {
    "watch": "Watched",
    "sun": "Sun",
    "head lamp": "Head lamp",
    "tail lamp": "Tail lamp",
    "tether": "Tether",
    "engine": "Engine",
    "gps": "GPS fix",
    "clock": "Clock from",
    "journal": "Journal",
}

_WORDS = {"gps": {"good": "good, 10 m or better", "poor": "poor", "none": "no fix"}}


def top_mph(ride: Ride) -> float:
    """The upper edge of the plot: a full ten above all speeds and limits."""
    tops = [max(leg.track.speed_mph, default=0.0) for leg in ride.legs]
    limits = [one for leg in ride.legs for one in leg.track.limit_mph if not math.isnan(one)]
    return 10.0 * math.ceil((max([*tops, *limits, 10.0]) + 3.0) / 10.0)


def speed_plot(ride: Ride, axis: Axis, exceedances: list[Exceedance]) -> Markup:
    """The plot; each exceedance is a band with the id `plot-N`."""
    top = top_mph(ride)
    inner = [
        _nights(ride, axis),
        join(_bands(axis, exceedances)),
        join(_grid_lines(top)),
        el("path", d=_error_band(ride, axis, top), class_="error"),
        el("path", d=_speed_line(ride, axis, top), class_="speed"),
        el("path", d=_limit_line(ride, axis, top), class_="limit"),
        join(el("line", x1=x, x2=x, y1=0.0, y2=HIGH, class_="break") for x in axis.breaks()),
    ]
    data = el(
        "svg", join(inner), viewBox=f"0 0 {WIDE:.0f} {HIGH:.0f}", preserveAspectRatio="none",
        width="100%", height="100%",
    )  # fmt: skip
    return el(
        "svg", data, join(_grid_words(top)), class_="plot", width="100%", height="230", id="plot",
        role="img", aria_label="Speed against its limit over time",
    )  # fmt: skip


def resolution(ride: Ride, axis: Axis) -> str:
    """How coarse the plot is."""
    if ride.fixes <= 4 * thin.COLUMNS:
        return f"All {words.count(ride.fixes, 'fix', 'fixes')} are drawn."
    column_s = axis.length_s / thin.COLUMNS
    return (
        f"{words.count(ride.fixes, 'fix', 'fixes')} in columns of {column_s:.1f}{words.NARROW}s: "
        "the first, last, slowest and fastest of each are drawn, so no peak is lost."
    )


def strips(ride: Ride, axis: Axis) -> Markup:
    """A row for each state: its name and its runs."""
    rows = []
    for name, label in _LABELS.items():
        runs = [one for leg in ride.legs for one in _runs(leg, axis, name)]
        if not runs or all(state == "not fitted" for _, _, state in runs):
            continue
        rows.append(el("div", label, class_="name"))
        rows.append(_strip(name, thin.worst_runs(runs, WIDE, _RANKS)))
    return join(rows)


def _strip(name: str, runs: Iterable[thin.Run]) -> Markup:
    blocks, texts = [], []
    for begin, end, state in runs:
        look = _LOOKS.get(state, "fair" if name == "watch" else "blind")
        said = _WORDS.get(name, {}).get(state, state)
        blocks.append(
            el("rect", el("title", said), x=begin, width=max(end - begin, 12.0), y=0.0,
               height=10.0, class_=f"s {look}")
        )  # fmt: skip
        share = (end - begin) / WIDE
        needs = len(said) * 7 + 10  # of pixels, at the strips' type size
        if share * 620 > needs:
            kind = "label" if share * 330 > needs else "label alt"
            middle = f"{(begin + end) / 2 / WIDE * 100:.2f}%"
            texts.append(el("text", said, x=middle, y="15", class_=f"{kind} {look}"))
    inner = el(
        "svg", join(blocks), viewBox=f"0 0 {WIDE:.0f} 10", preserveAspectRatio="none", width="100%",
        height="100%",
    )  # fmt: skip
    return el("svg", inner, join(texts), class_="strip", width="100%", height="22")


def _runs(leg: Leg, axis: Axis, name: str) -> Iterable[thin.Run]:
    changes = leg.strips.get(name, [])
    if name == "watch":
        changes = _watch(leg)
    elif name == "journal" and leg.holes:
        changes = [(leg.from_s, "kept")]
        for hole in leg.holes:
            changes += [(hole.from_s, "lost"), (hole.to_s, "kept")]
    ends = [at_s for at_s, _ in changes[1:]]
    for (at_s, state), end_s in zip(changes, [*ends, leg.to_s], strict=False):
        if end_s > at_s:
            yield axis.x(leg, at_s), axis.x(leg, end_s), state


def _watch(leg: Leg) -> list[tuple[float, str]]:
    """How many of the duties that could be watched were not, over time."""
    # Of one clause several may come at one instant: sorting by time alone leaves their order.
    moves: list[tuple[float, str, bool]] = sorted(
        (
            (at_s, clause, bool(why) and is_fitted)
            for clause, changes in leg.unknowns.items()
            for at_s, why, is_fitted in changes
        ),
        key=itemgetter(0),
    )
    blind: set[str] = set()
    found: list[tuple[float, str]] = []
    for at_s, clause, is_blind in moves:
        (blind.add if is_blind else blind.discard)(clause)
        word = "all duties"
        if len(blind) == 1:
            word = f"all but: {words.title_of(leg.clauses, next(iter(blind))).lower()}"
        elif blind:
            word = f"all but {len(blind)} duties"
        if found and found[-1][0] == at_s:
            found.pop()
        if not found or found[-1][1] != word:
            found.append((at_s, word))
    return found


def _nights(ride: Ride, axis: Axis) -> Markup:
    blocks = [
        el("rect", x=begin, width=end - begin, y=0.0, height=HIGH, class_="night")
        for leg in ride.legs
        for begin, end, state in _runs(leg, axis, "sun")
        if state == "dark"
    ]
    return join(blocks[: thin.COLUMNS])


def _bands(axis: Axis, exceedances: list[Exceedance]) -> Iterable[Markup]:
    for number, one in enumerate(exceedances, start=1):
        begin, end = axis.x(one.leg, one.event.start_s), axis.x(one.leg, one.end_s)
        look = "violation" if one.is_violation else "unsure"
        yield el(
            "rect", x=begin, width=max(end - begin, 18.0), y=0.0, height=HIGH,
            class_=f"band {look}", id=f"plot-{number}",
        )  # fmt: skip


def _steps(top: float) -> list[float]:
    step = 10.0 if top <= 60 else 20.0
    return [step * number for number in range(int(top / step) + 1)]


def _grid_lines(top: float) -> Iterable[Markup]:
    for mph in _steps(top):
        y = HIGH * (1 - mph / top)
        yield el("line", x1=0.0, x2=WIDE, y1=y, y2=y, class_="grid" if mph else "ground")


def _grid_words(top: float) -> Iterable[Markup]:
    for mph in _steps(top)[1:]:
        y = f"{100 * (1 - mph / top):.2f}%"
        yield el("text", f"{mph:.0f}", x="-7", y=y, dy="4", class_="scale", text_anchor="end")


def _pieces(leg: Leg, axis: Axis) -> Iterable[tuple[list[float], list[int]]]:
    """The places on the axis and the numbers of the fixes to draw, a joined stretch at a time."""
    track = leg.track
    for begin, end in leg.stretches():
        xs = [axis.x(leg, at_s) for at_s in track.at_s[begin:end]]
        chosen = thin.kept(xs, track.speed_mph[begin:end], WIDE)
        yield [xs[n] for n in chosen], [begin + n for n in chosen]


def _path(xs: Iterable[float], ys: Iterable[float]) -> str:
    return "M" + "L".join(f"{x:.1f} {short(y)}" for x, y in zip(xs, ys, strict=True))


def _speed_line(ride: Ride, axis: Axis, top: float) -> str:
    parts = []
    for leg in ride.legs:
        for xs, numbers in _pieces(leg, axis):
            ys = [HIGH * (1 - leg.track.speed_mph[n] / top) for n in numbers]
            parts.append(_path(xs, ys))
    return "".join(parts)


def _error_band(ride: Ride, axis: Axis, top: float) -> str:
    parts = []
    for leg in ride.legs:
        speed, error = leg.track.speed_mph, leg.track.error_mph
        for xs, numbers in _pieces(leg, axis):
            above = [HIGH * (1 - (speed[n] + error[n]) / top) for n in numbers]
            below = [HIGH * (1 - max(0.0, speed[n] - error[n]) / top) for n in numbers]
            parts.append(_path([*xs, *reversed(xs)], [*above, *reversed(below)]) + "Z")
    return "".join(parts)


def _limit_line(ride: Ride, axis: Axis, top: float) -> str:
    """The lowest limit that held, drawn where one did; in a column with several, the lowest."""
    parts = []
    for leg in ride.legs:
        for begin, end, mph in _limits(leg, axis):
            y = short(HIGH * (1 - mph / top))
            parts.append(f"M{begin:.1f} {y}H{max(end, begin + 6.0):.1f}")
    return "".join(parts)


def _limits(leg: Leg, axis: Axis) -> list[tuple[float, float, float]]:
    track = leg.track
    runs: list[tuple[float, float, float]] = []
    least = WIDE / thin.COLUMNS / 2
    for begin, end in leg.stretches():
        for number in range(begin, end):
            mph = track.limit_mph[number]
            if math.isnan(mph):
                continue
            x = axis.x(leg, track.at_s[number])
            to = axis.x(leg, track.at_s[number + 1]) if number + 1 < end else x
            if runs and runs[-1][2] == mph and x - runs[-1][1] <= least:
                runs[-1] = (runs[-1][0], max(to, runs[-1][1]), mph)
            else:
                runs.append((x, to, mph))
    return _lowest(runs) if len(runs) > 2 * thin.COLUMNS else runs


def _lowest(runs: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    wide = WIDE / thin.COLUMNS
    columns: dict[int, float] = {}
    for begin, end, mph in runs:
        for column in range(int(begin / wide), int(end / wide) + 1):
            columns[column] = min(mph, columns.get(column, math.inf))
    return [(column * wide, (column + 1) * wide, mph) for column, mph in sorted(columns.items())]
