"""`sledwarden export`: a ride for other tools."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from firmware.errors import SledwardenError
from host_tools.commands.verify import OwnersKey, opener, proved, say_unproven
from host_tools.journals.paths import find
from host_tools.journals.reading import read_shown, say_redated
from host_tools.journals.ride import Ride
from host_tools.saving import saved
from host_tools.terminal import echo

app = typer.Typer(add_completion=False)


class Format(StrEnum):
    """What a ride can be written as."""

    GPX = "gpx"
    GEOJSON = "geojson"
    KML = "kml"
    CSV = "csv"
    PARQUET = "parquet"


NEED_PLACES = (Format.GPX, Format.GEOJSON, Format.KML)


@app.command()
def export(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Segments, boots, a journal's folder, an archive."),
    ],
    to: Annotated[Format, typer.Option(help="The format.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write.")],
    identity: OwnersKey = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
    judge_again: Annotated[
        bool,
        typer.Option(
            "--judge-again",
            help="Judge the ride again instead of taking what held from the journal.",
        ),
    ] = False,
    coarsen: Annotated[
        float | None,
        typer.Option(min=10, max=100_000, metavar="METRES", help="Tell places no finer than that."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="Also what lies inside the privacy circles.")
    ] = False,
) -> None:
    """Writes a ride for other tools: its track, speeds, limits, findings and events.

    For example: [bold]sledwarden export demo-ride/journal --to gpx -o ride.gpx[/bold]

    Findings and events are waypoints, features or rows. It writes the whole file or none. What was
    recorded before the date was known is dated by the unit's own later word, and marked. A journal
    that is not what its unit sealed is told beside it, as by sledwarden verify. Nothing is
    told of what lies inside the unit's privacy.circles; such a copy, and a coarse one, says that
    it is no evidence.
    """
    write = writer_of(to)
    sources = find(paths)
    owner = opener(identity)
    ride = read_shown(
        sources,
        judges_again=judge_again,
        shows_all=everything,
        grid_m=coarsen,
        identity=owner,
    )
    if to in NEED_PLACES and not ride.fixes:
        raise SledwardenError(
            str(paths[0]),
            f"holds no position: {to} must have one.",
            "Findings and events without a place can be had with --to csv.",
        )
    with saved(out, is_forced=force) as beside:
        write(ride, beside)
    findings, events = len(ride.stood()), len(ride.exceedances())
    echo(f"{out}: {ride.fixes:,} fixes, {findings} findings, {events} events")
    say_unproven(list(proved(sources, None, owner)))
    say_redated(ride)


def writer_of(to: Format) -> Callable[[Ride, Path], None]:
    """The format's writer; its library is loaded when it is asked for."""
    match to:
        case Format.GPX:
            from host_tools.exports import gpx  # noqa: PLC0415  # gpxpy, 90 ms

            return gpx.write
        case Format.GEOJSON:
            from host_tools.exports import geojson  # noqa: PLC0415  # as its siblings

            return geojson.write
        case Format.KML:
            from host_tools.exports import kml  # noqa: PLC0415  # as its siblings

            return kml.write
        case Format.CSV:
            from host_tools.exports import csv_rows  # noqa: PLC0415  # as its siblings

            return csv_rows.write
        case Format.PARQUET:
            from host_tools.exports import parquet  # noqa: PLC0415  # duckdb, 66 MB

            return parquet.write
