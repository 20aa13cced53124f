"""`sledwarden zones report`: keeps what is wrong in a pack, for whoever makes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from firmware.clock import Clock
from firmware.errors import SledwardenError, ZoneError
from firmware.files import whole
from firmware.maps.geopackage import decode
from firmware.maps.packs import Pack
from firmware.readings import Feature
from firmware.rider.mark_files import collection, report_feature
from host_tools.saving import saved

REPORTS = Path("reports.geojson")
_MOST_BYTES = 64 << 20
_FIND = "SELECT geom, kind, id, name FROM features WHERE id = ? AND (? = '' OR kind = ?)"


def report(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="The zone pack that is wrong.")],
    ident: Annotated[
        str, typer.Argument(metavar="ID", help="Of what it is wrong; KIND:ID where ids repeat.")
    ],
    why: Annotated[str, typer.Option("--why", help="What is wrong with it.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The reports; added to, never lost.")
    ] = REPORTS,
    by: Annotated[str, typer.Option(help="Who says so.")] = "",
) -> None:
    """Keeps a report of something false on the map, with its shape, for the pack's maker.

    It silences nothing: what is on the map goes on to warn until its maker takes it away, or a pack
    of your own strikes it.

    For example: [bold]sledwarden zones report wi.gpkg bldg-1234 --why "a barn"[/bold]
    """
    if not why.strip():
        raise typer.BadParameter("must say what is wrong", param_hint="--why")
    found = list(_found(pack, ident))
    if not found:
        raise ZoneError(str(pack), f"has nothing of the id {ident}.", "`zones at` lists ids.")
    if len(found) > 1:
        kinds = ", ".join(f"{one.kind}:{one.id}" for one in found)
        raise ZoneError(str(pack), f"has several of that id: name one of {kinds}.")
    before = _before(out)
    feature = report_feature(ident, why.strip(), found[0], pack.name, Clock().system_utc(), by)
    with saved(out, is_forced=True) as part:
        text = json.dumps(collection([*before, feature]), indent=1, ensure_ascii=False)
        part.write_text(f"{text}\n", encoding="utf-8")
    typer.echo(f"{out}: {len(before) + 1} report{'s' if before else ''}; it goes on to warn")


def _found(path: Path, word: str) -> Iterator[Feature]:
    """What a pack holds of that id, of any kind unless one precedes it; raises ZoneError."""
    kind, colon, ident = word.partition(":")
    with closing(Pack(path)):
        pass  # refuses what is no whole pack
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as ask:
            rows = ask.execute(_FIND, (word, "", "")).fetchall()
            if not rows and colon:
                rows = ask.execute(_FIND, (ident, kind, kind)).fetchall()
    except sqlite3.DatabaseError as fault:
        raise ZoneError(str(path), f"can't be read on ({fault}).") from fault
    for blob, its_kind, its_ident, name in rows:
        try:
            shape, parts = decode(blob)
        except ValueError as fault:
            raise ZoneError(str(path), f"{its_kind} {its_ident}: {fault}.") from fault
        yield Feature(its_kind, its_ident, name or "", shape, parts)


def _before(path: Path) -> list[Any]:
    """The reports that a file holds by now; raises SledwardenError for a file of something else."""
    try:
        document = json.loads(whole(path, "reports (GeoJSON)", _MOST_BYTES))
        features = document["features"]
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be read: {fault.strerror}.") from fault
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise SledwardenError(
            str(path), "holds no reports: GeoJSON was expected.", "Name another file with -o."
        ) from fault
    if not isinstance(features, list):
        raise SledwardenError(str(path), "holds no reports.", "Name another file with -o.")
    return features
