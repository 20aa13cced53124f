"""`sledwarden units`: what an archive holds, unit by unit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from host_tools.commands.download import ARCHIVE
from host_tools.journals.archive import ArchiveError, plain, units
from host_tools.terminal import Console

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command("units")
def list_units(
    archive: Annotated[Path, typer.Argument(help="The archive of sledwarden download.")] = ARCHIVE,
    json: Annotated[bool, typer.Option("--json", help="An array of objects.")] = False,
) -> None:
    """Lists the units of an archive: their keys, since when they are known, what is there.

    For example: [bold]sledwarden units rides[/bold]
    """
    if not archive.is_dir():
        raise ArchiveError(
            str(archive),
            "is not there: the folder of an archive was expected.",
            "sledwarden download makes one.",
        )
    known = [plain(folder, one) for folder, one in units(archive)]
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(known), indent=1).decode())
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("unit", "key", "known since", "last download"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "key")
    for heading in ("boots", "segments", "MB"):
        table.add_column(heading, justify="right")
    for one in known:
        growing = f" ({one['open_segments']} open)" if one["open_segments"] else ""
        cells = [one["unit"], one["fingerprint"] or "none", one["first_seen"][:10],
                 one["last_download"].replace("T", " ")[:16], str(one["boots"]),
                 f"{one['segments']}{growing}", f"{one['bytes'] / 1e6:.1f}"]  # fmt: skip
        table.add_row(*map(Text, cells))  # no markup: a name is somebody else's
    if known:
        Console(highlight=False).print(table)
    else:
        typer.echo(f"{archive}: no unit was downloaded into it yet.")
