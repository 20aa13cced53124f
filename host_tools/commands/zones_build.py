"""`sledwarden zones build`: maps of any vector format become one zone pack."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from firmware.errors import ZoneError
from firmware.maps.packs import KINDS, STRUCK
from host_tools.packs.rows import Box, Origin, Row, is_date
from host_tools.terminal import Console

if TYPE_CHECKING:
    from host_tools.packs.build import Account, Asked

NO_COVERAGE = "no coverage: by this pack alone the dwelling clause stays unknown everywhere"


def build(
    inputs: Annotated[list[Path], typer.Argument(metavar="IN...", help="Vector files.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PACK", help="The pack to write.")],
    kind: Annotated[
        str | None, typer.Option(help="The kind of features that have no property `kind`.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            "--map", metavar="NAME", help="What becomes which kind: a preset, or a FILE.toml."
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Only features for which this is true.")
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(metavar="W,S,E,N", help="Only features that reach into this box of degrees."),
    ] = None,
    coverage: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A map of where all is known, or the word bounds for that box."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Who says so, where a feature doesn't.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Its terms, where a feature has none.")
    ] = None,
    dated: Annotated[
        str | None, typer.Option(metavar="DATE", help="When it was true, where it isn't told.")
    ] = None,
    confidence: Annotated[
        str | None, typer.Option(help="How sure it is: `possible` warns and accuses nobody.")
    ] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out what can't be packed, and tell it.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON array instead of words.")
    ] = False,
) -> None:
    """Builds a zone pack from maps; an older one is replaced at once.

    Takes GeoJSON (also one feature a line, also .gz and .zip), Shapefile, GeoPackage, FlatGeobuf,
    OpenStreetMap's .osm.pbf, and whatever else GDAL reads, of any size.

    What is not in degrees of WGS 84, such as Wisconsin's EPSG:3071, is converted, and told.

    A feature's kind and id are its properties of those names.

    So are its name, source, licence, dated, confidence and attributes.

    One without an id gets the name of its file and its number in it.

    --map takes them from other columns: openstreetmap, footprints, or a file of your own.

    For example: [bold]sledwarden zones build lake.geojson -o lake.gpkg[/bold]

    Or: [bold]sledwarden zones build wisconsin.osm.pbf --map openstreetmap -o wi.gpkg[/bold]
    """
    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind}: must be one of {', '.join(KINDS)}", param_hint="--kind")
    if kind is not None and mapping is not None:
        raise typer.BadParameter("the mapping gives the kinds: leave one out", param_hint="--kind")
    if dated is not None and not is_date(dated):
        raise typer.BadParameter(
            f"{dated}: must be a date like 2026-01-31, 2026-01 or 2026", param_hint="--dated"
        )
    if confidence == STRUCK:
        raise typer.BadParameter(
            f"{STRUCK}: each feature must say that itself", param_hint="--confidence"
        )
    if out.suffix.lower() != ".gpkg" and not out.is_dir():
        raise typer.BadParameter(f"{out}: must end in .gpkg, like lake.gpkg", param_hint="--out")
    box = None if bounds is None else _box(bounds)
    if coverage == "bounds" and box is None:
        raise typer.BadParameter("bounds: must have --bounds W,S,E,N", param_hint="--coverage")
    from host_tools.packs import build as packs  # noqa: PLC0415 -- GDAL takes half a second
    from host_tools.packs import mapping as pack_mapping  # noqa: PLC0415 -- GDAL takes half a second

    rules = None if mapping is None else pack_mapping.load(mapping)
    told = Origin(kind, source, licence, dated, confidence)
    origin = told if rules is None else _over(told, rules.origin)
    asked = packs.Asked(origin, rules, where, box, skip_broken)
    account = packs.Account()
    with _progress() as progress:
        rows = _rows(inputs, coverage, asked, account, progress)
        account.kinds = dict(packs.write(rows, out, _packing(progress, account)))
    if as_json:
        typer.echo(f"[{json.dumps({'pack': str(out)} | asdict(account))}]")
        return
    for line in _lines(account):
        typer.echo(f"{out}: {line}")


def _rows(
    inputs: list[Path],
    coverage: str | None,
    asked: Asked,
    account: Account,
    progress: Progress,
) -> Iterator[Row]:
    """The rows of all the files, and of the coverage; raises ZoneError where some can't be."""
    from host_tools.packs import build as packs  # noqa: PLC0415 -- see above

    for path in inputs:
        yield from packs.rows_of(path, asked, account, _reading(progress, path.name))
    told = Origin("coverage", asked.origin.source, asked.origin.licence, asked.origin.dated)
    if coverage == "bounds":
        assert asked.bounds is not None
        yield packs.box_row("coverage", "bounds", asked.bounds, told)
    elif coverage is not None:
        path = Path(coverage)
        yield from packs.rows_of(
            path, packs.Asked(told, None, None, None, asked.is_lenient), account,
            _reading(progress, path.name),
        )  # fmt: skip
    if not asked.is_lenient:
        packs.refuse_faults(account)
    if account.packed == 0 and account.fault_count:
        raise ZoneError(
            ", ".join(map(str, inputs)),
            "\n".join(["nothing in it can be packed.", *account.faults]),
        )
    if account.packed == 0:
        raise ZoneError(
            ", ".join(map(str, inputs)),
            "nothing in it is asked for: expected at least one feature.",
            "Look at --map, --where and --bounds.",
        )


def _over(told: Origin, mapped: Origin) -> Origin:
    """What was said on the command line, else what the mapping says."""
    return Origin(
        None,
        told.source or mapped.source,
        told.licence or mapped.licence,
        told.dated or mapped.dated,
        told.confidence or mapped.confidence,
    )


def _box(text: str) -> Box:
    try:
        west, south, east, north = (float(word) for word in text.split(","))
    except ValueError as fault:
        raise typer.BadParameter(
            f"{text}: must be west,south,east,north in degrees", param_hint="--bounds"
        ) from fault
    if not (-180.0 <= west < east <= 180.0 and -90.0 <= south < north <= 90.0):
        raise typer.BadParameter(
            f"{text}: must be west,south,east,north in degrees, west and south first",
            param_hint="--bounds",
        )
    return west, south, east, north


def _progress() -> Progress:
    """Drawn only while it lasts, and only where a person looks on."""
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]:,}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _reading(progress: Progress, name: str) -> Callable[[float | None, int], object]:
    task = progress.add_task(f"reading {name}", total=None, count=0)

    def advance(done: float | None, read: int) -> None:
        total = None if done is None else 1.0
        progress.update(task, total=total, completed=done or 0.0, count=read)

    return advance


def _packing(progress: Progress, account: Account) -> Callable[[int], object]:
    task = progress.add_task("packing", total=None, count=0, start=False)

    def advance(done: int) -> None:
        progress.start_task(task)
        progress.update(task, total=account.packed, completed=done, count=done)

    return advance


def _lines(account: Account) -> Iterator[str]:
    counts = ", ".join(f"{count} {name}" for name, count in sorted(account.kinds.items()))
    total = sum(account.kinds.values())
    yield f"{total} feature{'' if total == 1 else 's'}: {counts}"
    if total < account.packed:
        yield f"{account.packed - total} were there twice, alike, and are packed once"
    if account.passed_over:
        yield f"{account.passed_over} of {account.read} that were read are of no kind asked for"
    yield from account.converted
    if account.repair_count:
        yield f"{account.repair_count} shapes were repaired, such as"
        yield from (f"  {line}" for line in account.repairs)
    if account.fault_count:
        yield f"{account.fault_count} were left out, such as"
        yield from (f"  {line}" for line in account.faults)
    if account.kinds.keys() == {STRUCK}:
        yield "it only takes away what the packs named before it have"
    elif "coverage" not in account.kinds:
        yield NO_COVERAGE
