"""`sledwarden zones`: builds zone packs, tells what one holds, and what lies near a place."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from firmware.clock import Clock
from firmware.errors import ZoneError
from firmware.files import POINTS_BYTES, whole
from firmware.maps.packs import Pack, surroundings
from firmware.maps.zones import Near, Nearby
from firmware.units import ft, metres
from host_tools.commands.zone_marks import marks
from host_tools.commands.zone_report import report
from host_tools.commands.zones_build import NO_COVERAGE, build
from host_tools.packs.diff import CHANGES, differences
from host_tools.packs.facts import PackFacts, facts
from host_tools.terminal import Console

_TWO_KM_FT = 6562.0
_FEW = 10  # coverages that are named; the rest are counted
_MOST_FT = 32_800.0  # 10 km, up to which the flat map is true to 0.2 %

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Builds zone packs and asks what lies near.\n\n"
    "For example: [bold]sledwarden zones at lake.gpkg 44.05 -88.43[/bold]",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON array instead of words.")]


app.command()(build)
app.command()(marks)
app.command()(report)


@app.command()
def info(
    packs: Annotated[list[Path], typer.Argument(metavar="PACK...", help="Zone packs.")],
    as_json: _AsJson = False,
) -> None:
    """Tells what packs hold: the kinds, where, from whom, how old.

    For example: [bold]sledwarden zones info lake.gpkg[/bold]
    """
    today = Clock().system_utc().date()
    found = []
    with Console(stderr=True).status("") as status:
        for pack in packs:
            status.update(f"counting {pack.name}")
            found.append(facts(pack, today))
    if as_json:
        _print_array([{k: v for k, v in asdict(one).items() if v is not None} for one in found])
        return
    for number, one in enumerate(found):
        if number:
            typer.echo()
        for name, value in _told(one):
            typer.echo(f"{name:<10}  {_clean(value)}".rstrip())


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A zone pack.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another, to compare with it.")],
    lists: Annotated[bool, typer.Option("--list", help="Name each feature.")] = False,
    as_json: _AsJson = False,
) -> None:
    """Tells what was added, removed, moved or changed from one pack to another, by kind.

    Features are the same where kind and id are.

    For example: [bold]sledwarden zones diff wi-2025.gpkg wi-2026.gpkg[/bold]
    """
    found = differences(old, new)
    if as_json:
        _stream_array({k: v for k, v in asdict(one).items() if v is not None} for one in found)
        return
    counts: Counter[tuple[str, str]] = Counter()
    with Console(stderr=True).status("comparing"):
        for one in found:
            counts[one.kind, one.change] += 1
            if lists:
                where = "" if one.lat is None else f" at {one.lat} {one.lon}"
                by = "" if one.moved_ft is None else f", by {one.moved_ft} ft"
                name = f" ({one.name})" if one.name else ""
                typer.echo(_clean(f"{one.change} {one.kind} {one.id}{name}{where}{by}"))
    rows = [
        {"kind": kind} | {change: counts[kind, change] for change in CHANGES}
        for kind in sorted({kind for kind, _ in counts})
    ]
    if rows:
        _print_table(rows)
    else:
        typer.echo("no feature differs")


# With this, "-88.45" is a place and no option.
@app.command(context_settings={"ignore_unknown_options": True})
def at(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="A zone pack.")],
    lat: Annotated[
        float | None, typer.Argument(metavar="LAT", min=-90.0, max=90.0, help="Degrees north.")
    ] = None,
    lon: Annotated[
        float | None, typer.Argument(metavar="LON", min=-180.0, max=180.0, help="Degrees east.")
    ] = None,
    points: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Many places: a table with columns lat and lon."),
    ] = None,
    within_ft: Annotated[
        float, typer.Option(min=0.0, max=_MOST_FT, help="How far to look, in feet.")
    ] = _TWO_KM_FT,
    others: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="PACK", help="Another pack that adds, overrides, strikes."),
    ] = None,
    as_json: _AsJson = False,
) -> None:
    """Lists what lies near a place, nearest first.

    Each with the feet to its nearest edge, and whether the place is inside.

    For example: [bold]sledwarden zones at lake.gpkg 44.0500 -88.4150[/bold]

    With --points each line also has the place that it is about.

    Where no pack says that it knows every dwelling it says so: nothing near means nothing there.

    With --with, once for each further pack, it answers as a unit does that has them all.
    """
    places = _places(points, lat, lon)
    shown: list[dict[str, Any]] = []
    blind = 0
    with ExitStack() as held:
        opened = [held.enter_context(closing(Pack(one))) for one in (pack, *(others or ()))]
        progress = held.enter_context(
            Progress(console=Console(stderr=True), transient=True, disable=len(places) < 100)
        )
        for place in progress.track(places):
            around = surroundings(opened, *place, metres(within_ft))
            nearby = Nearby(around)
            blind += not nearby.is_covered(*place)
            for near in nearby.within(place, metres(within_ft)):
                of = {"lat": place[0], "lon": place[1]} if points is not None else {}
                shown.append(of | _shown(near))
        swapped = "" if shown or points is not None else _swapped(opened, *places[0])
    if as_json:
        _print_array(shown)
    elif shown:
        _print_table(shown)
    else:
        typer.echo(f"nothing within {within_ft:.0f} ft" + swapped)
    if blind and not as_json:
        where = "here" if len(places) == 1 else f"at {blind} of {len(places)} places"
        typer.echo(f"no zone data {where}: no pack says that it knows the dwellings", err=True)


def _swapped(packs: Sequence[Pack], lat: float, lon: float) -> str:
    """A word to who gives east before north, where that has something near."""
    if abs(lon) > 90.0 or not surroundings(packs, lon, lat).features:
        return ""
    return f"; {lon} {lat} has: LAT comes first"


def _shown(near: Near) -> dict[str, Any]:
    feature = near.feature
    return {
        "kind": feature.kind,
        "id": feature.id,
        "name": feature.name,
        "distance_ft": round(ft(near.distance_m), 2),
        "inside": near.depth_m > 0.0,
    }


def _places(
    points: Path | None, lat: float | None, lon: float | None
) -> Sequence[tuple[float, float]]:
    if points is not None:
        if lat is not None:
            raise typer.BadParameter("give LAT LON or --points, not both", param_hint="--points")
        return list(_read_points(points))
    if lat is None or lon is None:
        raise typer.BadParameter("a place is expected: LAT LON in degrees, or --points FILE.csv")
    if not (math.isfinite(lat) and math.isfinite(lon)):
        raise typer.BadParameter("a place is expected: LAT LON in degrees")
    return [(lat, lon)]


def _read_points(path: Path) -> Iterator[tuple[float, float]]:
    """The places of a table with a head line of lat and lon, in any order and among others."""
    try:
        text = whole(path, "a table (CSV)", POINTS_BYTES, ZoneError).decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ZoneError(str(path), f"can't be read ({reason}): expected a table (CSV).") from error
    head = [name.strip().lower() for name in lines[0]] if lines else []
    if "lat" not in head or "lon" not in head:
        raise ZoneError(str(path), "line 1: expected a head with the columns lat and lon.")
    columns = head.index("lat"), head.index("lon")
    for number, line in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in line):
            continue
        try:
            lat, lon = (float(line[column]) for column in columns)
        except (ValueError, IndexError):
            lat = lon = math.nan
        if not (-90.0 <= lat <= 90.0 and -180.0 <= lon <= 180.0):
            raise ZoneError(
                str(path), f"line {number}: {','.join(line)}: expected a place in degrees."
            )
        yield lat, lon


def _told(found: PackFacts) -> Iterator[tuple[str, str]]:
    yield "pack", found.pack
    yield "layout", found.layout or "not said"
    yield "size", f"{found.size_bytes:,} bytes"
    yield "sha256", found.sha256
    yield "features", f"{found.features:,}"
    for kind, count in found.kinds.items():
        yield "", f"{count:,} {kind}"
    if found.struck:
        yield "", f"{found.struck:,} struck: they take away what an earlier pack has"
    if found.extent is not None:
        west, south, east, north = found.extent
        yield "extent", f"{south:.4f} to {north:.4f} N, {west:.4f} to {east:.4f} E"
    yield "coverage", f"{len(found.coverage):,} drawn" if found.has_coverage else NO_COVERAGE
    for area in found.coverage[:_FEW]:
        west, south, east, north = area.extent
        yield "", f"{area.name or area.id}: {south} to {north} N, {west} to {east} E"
    if len(found.coverage) > _FEW:
        yield "", f"and {len(found.coverage) - _FEW:,} more"
    dates = f"{found.dated_from} to {found.dated_to}" if found.dated_from else "none"
    yield "dates", dates + (f" ({found.undated:,} without)" if found.undated else "")
    yield "age", _age(found)
    yield "sources", ", ".join(found.sources) or "not said"
    yield "licences", ", ".join(found.licences) or "not said"


def _age(found: PackFacts) -> str:
    if found.dated is None or found.age_days is None:
        return "not known: nothing in it has a date"
    days = f"{found.age_days:,} days, by its date {found.dated}"
    return f"{days}: over a year old, build it anew" if found.is_old else days


def _stream_array(objects: Iterable[dict[str, Any]]) -> None:
    """The same as `_print_array`, object by object, for what may be millions of them."""
    before = "["
    for one in objects:
        typer.echo(f"{before}{json.dumps(one)}", nl=False)
        before = ",\n "
    typer.echo("[]" if before == "[" else "]")


def _print_array(objects: Sequence[dict[str, Any]]) -> None:
    lines = ",\n ".join(json.dumps(one) for one in objects)
    typer.echo(f"[{lines}]")


def _print_table(rows: Sequence[dict[str, Any]]) -> None:
    words = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(len(line[column]) for line in words) for column in range(len(words[0]))]
    for line in words:
        typer.echo(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _clean(str(value))


def _clean(text: str) -> str:
    """Text of a pack, without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
