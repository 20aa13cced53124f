"""`sledwarden zones marks`: the rider's marks of a running unit; out as GeoJSON, and in from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from firmware.clock import Clock
from firmware.errors import SledwardenError, UsageError
from firmware.feed.client import FeedClient
from firmware.feed.messages import DEFAULT_PATH
from firmware.files import whole
from firmware.rider.mark_files import arguments_of, collection, mark_feature
from firmware.state import MarkSeen, State
from host_tools.saving import saved
from host_tools.terminal import Console

ANSWER_S = 3.0
"""How long the unit may take to say its state, and to show what it was asked for."""

PACE_S = 0.06
"""Between two requests: the unit takes 20 a second from a client."""

_MOST_BYTES = 16 << 20


def marks(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write them as GeoJSON.")
    ] = None,
    take: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="Put a friend's marks (GeoJSON) on the map."),
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="ID", help="Take the mark of this id off the map.")
    ] = None,
    feed: Annotated[Path, typer.Option(help="The unit's socket.")] = DEFAULT_PATH,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """Lists the people and shanties that the rider marked; run it on the unit.

    A mark stands until it expires; a date of a friend's keeps none for longer than its kind stands.

    For example: [bold]sledwarden zones marks -o ours.geojson[/bold], and on the friend's unit
    [bold]sledwarden zones marks --import ours.geojson[/bold]
    """
    if sum(one is not None for one in (out, take, remove)) > 1:
        raise UsageError("zones marks", "takes one of --out, --import and --remove.")
    lines = None if take is None else _read(take)
    unit = _Unit(feed)
    try:
        before = unit.state(lambda _: True)
        if lines is not None:
            _import(unit, before, lines)
        elif remove is not None:
            _remove(unit, before, remove)
        elif out is not None:
            _write(out, before.marks, is_forced=force)
            typer.echo(f"{out}: {_counted(before.marks)}", err=as_json)
        shown = unit.state(lambda _: True).marks
    finally:
        unit.close()
    if as_json:
        typer.echo(json.dumps([_row(one) for one in shown], indent=1))
    elif out is None:
        _print(shown)


class _Unit:
    """A running unit, asked through its socket."""

    def __init__(self, feed: Path) -> None:
        self._feed, self._client, self._clock = feed, FeedClient(feed), Clock()

    def state(self, is_wanted: Callable[[State], bool]) -> State:
        """The first state that is as wanted; raises SledwardenError where none comes."""
        until_s = self._clock.mono_s() + ANSWER_S
        while self._clock.mono_s() < until_s:
            self._client.poll(0.1)
            state = self._client.state
            if state is not None and self._client.is_alive and is_wanted(state):
                return state
        if self._client.is_alive:
            raise SledwardenError(str(self._feed), f"the unit did not do it in {ANSWER_S:g} s.")
        raise SledwardenError(
            str(self._feed),
            f"no unit is heard ({self._client.trouble}).",
            "Run it on the unit, or name --feed.",
        )

    def ask(self, do: str, argument: str) -> None:
        self._client.send(do, argument, "zones marks")
        self._client.poll(PACE_S)

    def close(self) -> None:
        self._client.close()


def _read(path: Path) -> list[str]:
    """What to ask for, of each mark of a file; raises SledwardenError for what holds none."""
    try:
        lines = list(arguments_of(json.loads(whole(path, "marks (GeoJSON)", _MOST_BYTES))))
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be read: {fault.strerror}.") from fault
    except (ValueError, RecursionError) as fault:
        raise SledwardenError(
            str(path), f"{fault}: marks as `zones marks -o` writes them were expected."
        ) from fault
    if not lines:
        raise SledwardenError(str(path), "holds no person and no shanty.")
    return lines


def _import(unit: _Unit, before: State, lines: Sequence[str]) -> None:
    known = {one.id for one in before.marks}
    with Console(stderr=True).status("") as status:
        for number, line in enumerate(lines, 1):
            status.update(f"mark {number} of {len(lines)}")
            unit.ask("mark", line)
    # What is over by its date is not put on the map; what comes last may be such a one.
    try:
        after = unit.state(lambda state: {one.id for one in state.marks} != known)
    except SledwardenError:
        after = unit.state(lambda _: True)
    new = len({one.id for one in after.marks} - known)
    typer.echo(f"{len(lines)} sent: {new} new on the map", err=True)


def _remove(unit: _Unit, before: State, ident: str) -> None:
    if ident not in {one.id for one in before.marks}:
        known = ", ".join(one.id for one in before.marks) or "none"
        raise SledwardenError(ident, f"there is no such mark. The marks are: {known}.")
    unit.ask("unmark", ident)
    unit.state(lambda state: ident not in {one.id for one in state.marks})


def _write(path: Path, seen: Sequence[MarkSeen], *, is_forced: bool) -> None:
    features = [
        mark_feature(one.kind, one.id, (one.lat_deg, one.lon_deg), one.left_s, one.until, one.by)
        for one in seen
    ]
    with saved(path, is_forced=is_forced) as part:
        text = json.dumps(collection(features), indent=1, ensure_ascii=False)
        part.write_text(f"{text}\n", encoding="utf-8")


def _row(mark: MarkSeen) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": mark.kind,
        "id": mark.id,
        "lat": mark.lat_deg,
        "lon": mark.lon_deg,
        "left_s": round(mark.left_s),
    }
    if mark.until is not None:
        row["until"] = f"{mark.until:%Y-%m-%dT%H:%M:%SZ}"
    return row | ({"by": mark.by} if mark.by else {})


def _print(seen: Sequence[MarkSeen]) -> None:
    if not seen:
        typer.echo("no marks")
    for one in seen:
        left = f"{one.left_s / 60:.0f} min" if one.left_s < 7200 else f"{one.left_s / 3600:.0f} h"
        by = "".join(letter if letter.isprintable() else "?" for letter in one.by)
        typer.echo(
            f"{one.kind:<7} {one.id:<20} {one.lat_deg:10.6f} {one.lon_deg:11.6f}  {left} left"
            + (f", by {by}" if by else "")
        )


def _counted(seen: Sequence[MarkSeen]) -> str:
    return f"{len(seen)} mark{'' if len(seen) == 1 else 's'}"
