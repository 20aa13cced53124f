"""`sledwarden check`: how each part of a running unit does, and what to do next."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from firmware.clock import Clock
from firmware.config.reading import load as load_config
from firmware.config.schema import Config
from firmware.errors import SledwardenError
from firmware.feed.client import FeedClient
from firmware.feed.messages import DEFAULT_PATH, Hello
from firmware.state import State
from host_tools.checking import Row, no_unit, pack_rows, unit_rows
from host_tools.terminal import Console

CONFIG = Path("/etc/sledwarden/sledwarden.toml")
ANSWER_S = 3.0

app = typer.Typer(add_completion=False)


@app.command()
def check(
    feed: Annotated[
        Path | None,
        typer.Option(help=f"The unit's socket; the configuration's, or {DEFAULT_PATH}."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"The unit's configuration ({CONFIG}).")
    ] = None,
    listen_s: Annotated[
        float, typer.Option("--listen", min=0.0, max=600.0, help="Seconds to look for drop-outs.")
    ] = 5.0,
    json: Annotated[bool, typer.Option("--json", help="An array of objects.")] = False,
) -> None:
    """Tells how each part of a running unit does, with its limit, and what to do next.

    For example: [bold]sledwarden check --json[/bold]

    Run it on the unit, under the open sky: it asks the unit over its feed. All that is wrong is
    told at once, and exit code 0 is for a unit with nothing wrong. Without a unit it says that it
    hears none, and checks the configuration.
    """
    read, rows = _configured(config)
    socket = feed or (DEFAULT_PATH if read is None else Path(read.feed.path))
    heard, today = _heard(socket, listen_s)
    rows = [*heard, *rows]
    if read is not None:
        rows += pack_rows(read, today)
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    else:
        _tell(rows)
    if not all(row.ok for row in rows):
        raise typer.Exit(1)


def _configured(path: Path | None) -> tuple[Config | None, list[Row]]:
    """The configuration, where there is one, and its own row."""
    if path is None and not CONFIG.exists():
        return None, []
    where = path or CONFIG
    try:
        return load_config(where), [Row(part="configuration", ok=True, value=str(where))]
    except SledwardenError as fault:
        then = f"Put it right: sledwardend --config {where} --check"
        return None, [
            Row(part="configuration", ok=False, value=str(where), cause=str(fault), next=then)
        ]


def _heard(socket: Path, listen_s: float) -> tuple[list[Row], date]:
    """What the unit says over a while, or that none is heard; and the date, the unit's if it can.

    A Pi without a network has a wrong date of its own, by which a map's age would be wrong.
    """
    clock = Clock()
    today = clock.system_utc().date()
    client = FeedClient(socket)
    first: State | None = None
    hello: Hello | None = None
    try:
        until_s = clock.mono_s() + ANSWER_S
        while clock.mono_s() < until_s:
            client.poll(0.1)
            hello = client.hello or hello
            if first is None and client.is_alive and client.state is not None:
                first = client.state
                until_s = clock.mono_s() + listen_s
        if first is None or client.state is None or not client.is_alive:
            return [no_unit(socket, client.trouble)], today
        utc = client.state.utc
        return list(unit_rows(first, client.state, hello)), today if utc is None else utc.date()
    finally:
        client.close()


def _tell(rows: list[Row]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "part", "value", "limit", "cause"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        mark = Text("ok", "green") if row.ok else Text("NO", "bold red")
        cells = [_text(row.value), _text(row.limit), row.cause or ""]
        table.add_row(mark, Text(row.part), *map(Text, cells))
    out = Console(highlight=False)
    out.print(table)
    wrong = [row for row in rows if not row.ok]
    for row in wrong:
        out.print(Text(f"{row.part}: {row.next}"))
    out.print(f"{len(rows) - len(wrong)} of {len(rows)} are well.")


def _text(value: float | str | None) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
