"""Fewer points that tell the same: extremes are kept, and how coarse it became is said."""

from __future__ import annotations

from collections.abc import Sequence

COLUMNS = 1400
"""The plot has at most this many columns of time; a wide screen has fewer pixels."""


def kept(xs: Sequence[float], ys: Sequence[float], width: float) -> list[int]:
    """The numbers of the points to draw: of each column its first, last, lowest and highest.

    A line through them covers the same pixels as one through all (Jugel and others, "M4", VLDB
    2014), where a column is no wider than a pixel.
    """
    if len(xs) <= 4 * COLUMNS:
        return list(range(len(xs)))
    found: list[int] = []
    begin = 0
    scale = COLUMNS / width
    while begin < len(xs):
        column = int(xs[begin] * scale)
        end = begin + 1
        while end < len(xs) and int(xs[end] * scale) == column:
            end += 1
        piece = range(begin, end)
        found += sorted(
            {begin, end - 1, min(piece, key=ys.__getitem__), max(piece, key=ys.__getitem__)}
        )
        begin = end
    return found


Run = tuple[float, float, str]


def worst_runs(runs: Sequence[Run], width: float, ranks: Sequence[str]) -> list[Run]:
    """States over time, at most one a column: the worst one in it, by its place in `ranks`."""
    if len(runs) <= COLUMNS // 2:
        return list(runs)
    columns: list[str | None] = [None] * COLUMNS
    for begin, end, state in runs:
        first = min(COLUMNS - 1, int(begin / width * COLUMNS))
        last = min(COLUMNS - 1, int(end / width * COLUMNS))
        for number in range(first, last + 1):
            held = columns[number]
            if held is None or _rank(state, ranks) > _rank(held, ranks):
                columns[number] = state
    found: list[Run] = []
    for number, one in enumerate(columns):
        if one is None:
            continue
        begin, end = number * width / COLUMNS, (number + 1) * width / COLUMNS
        if found and found[-1][2] == one and abs(found[-1][1] - begin) < 1e-6:
            found[-1] = (found[-1][0], end, one)
        else:
            found.append((begin, end, one))
    return found


def _rank(state: str, ranks: Sequence[str]) -> int:
    return ranks.index(state) if state in ranks else len(ranks)
