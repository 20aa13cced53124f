"""`sledwarden service`: what a workshop changes on a unit, over its port: files, settings, date."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from firmware.clock import Clock
from firmware.errors import UsageError
from firmware.port.hosts import HostKey
from host_tools.port.bringing import Brought, bring
from host_tools.port.contact import Contact
from host_tools.port.forgetting import ForgetError, Named, named_of, not_kept
from host_tools.port.forgetting import forget as forget_on
from host_tools.port.reaching import Reach, Said, reaches
from host_tools.port.sled import Sled
from host_tools.terminal import Console, echo

AT_NEXT_START = "The unit takes it at its next start: sledwarden service restart"

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")


@app.callback()
def service() -> None:
    """Changes a unit over its service port: files, single settings, the date; starts it anew.

    The sled must stand, and its rider's button opens the port, as for a download. Each change is
    checked by the unit before anything is touched, keeps one step back, and stands in its journal.

    For example: [bold]sledwarden service upload vilas.gpkg --port /dev/ttyACM0[/bold]
    """


@app.command()
@reaches
def upload(
    reach: Reach,
    files: Annotated[
        list[Path], typer.Argument(help="Zone packs (.gpkg), law packs, a configuration (.toml).")
    ],
    name: Annotated[
        str, typer.Option("--as", help="The name on the unit, where it is another; of one file.")
    ] = "",
    wait: Annotated[
        float, typer.Option(min=0, help="Wait so many seconds for a cable that was pulled.")
    ] = 30.0,
) -> None:
    """Brings files to a unit, which checks them and puts them in use at its next start.

    A file named as the unit's configuration (sledwarden.toml) is one, another .toml a law pack. It
    goes on where a pulled cable left it, and is refused, with the reasons, if the unit's daemon
    would not start with it.

    For example: [bold]sledwarden service upload sledwarden.toml vilas.gpkg[/bold]
    """
    if name and len(files) != 1:
        raise UsageError("--as", f"{name}: names one file, and {len(files)} were given.")
    brought = [Brought.of(path, name) for path in files]
    console = Console(stderr=True, highlight=False)
    with _contact(reach, wait, console) as contact, _bar(console) as bar:
        for one in brought:
            task = bar.add_task(one.name, total=one.size_bytes)
            put = bring(contact, one, _shown(bar, task))
            echo(f"{one.name}: put as {put.path} ({one.size_bytes:,} bytes).")
            for note in put.notes:
                echo(f"  {note}")
    echo(AT_NEXT_START)


@app.command()
@reaches
def files(
    reach: Reach,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array.")] = False,
) -> None:
    """Lists the files of a unit that may be replaced, and what was sent and was never put.

    A pack is in use where the unit's configuration names it.

    For example: [bold]sledwarden service files --json[/bold]
    """
    with _sled(reach) as sled:
        found = sled.files()
    rows = [
        *({"name": one.name, "bytes": one.len, "in_use": one.named, "before": one.before}
          for one in found.installed),
        *({"name": one.name, "bytes": one.len, "in_use": False, "before": False}
          for one in found.staged),
    ]  # fmt: skip
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("file", "bytes", "in use", "one step back")
    for row in rows:
        marks = ("yes" if row["in_use"] else "no", "yes" if row["before"] else "")
        table.add_row(str(row["name"]), f"{row['bytes']:,}", *marks)
    Console(highlight=False).print(table)
    for put in found.installed:
        if not put.named:
            key = "[zones] packs" if put.name.endswith(".gpkg") else "[unit] law"
            echo(f'{put.name}: {key} does not name it: add "{put.path}" to it.')
    for sent in found.staged:
        echo(f"{sent.name}: was sent and not put in use: send it again to go on.")


@app.command()
@reaches
def undo(
    reach: Reach,
    name: Annotated[str, typer.Argument(help="The file, as `sledwarden service files` names it.")],
) -> None:
    """Puts back what a file of a unit was before; a second time, what it is now.

    For example: [bold]sledwarden service undo sledwarden.toml[/bold]
    """
    with _sled(reach) as sled:
        put = sled.undo(name)
    echo(f"{name}: put back as it was before, {put.path}.")
    echo(AT_NEXT_START)


@app.command()
@reaches
def setting(
    reach: Reach,
    name: Annotated[str, typer.Argument(help="SECTION.KEY, or a section.")],
    value: Annotated[str | None, typer.Argument(help="A TOML value to set.")] = None,
    unset: Annotated[
        bool, typer.Option("--unset", help="Take it out: its default holds again.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Shows a setting of a unit, or changes it in its configuration.

    A change is checked as the whole file is, and keeps the file's comments and one step back.

    For example: [bold]sledwarden service setting gps.baud 115200[/bold]
    """
    if unset and value is not None:
        raise UsageError("--unset", f"takes {name} out, and a value was given.")
    is_change = unset or value is not None
    with _sled(reach) as sled:
        if is_change:
            sled.set_setting(name, value)
        told = sled.setting(name) if not unset else ""
    if as_json:
        typer.echo(json.dumps({"name": name, "value": told, "changed": is_change}))
        return
    echo(f"{name} = {told}" if told else f"{name}: taken out.")
    if is_change:
        echo(AT_NEXT_START)


@app.command()
@reaches
def key(
    reach: Reach,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tells the public key that seals a unit's journal, and has its glass show it for a minute.

    What is on the glass comes from the unit itself: where both are the same, nobody stands between.
    `sledwarden verify --key FILE` takes the 64 digits in a file.

    For example: [bold]sledwarden service key --port /dev/ttyACM0[/bold]
    """
    console = Console(stderr=True, highlight=False)
    with _contact(reach, 0.0, console) as contact:
        contact.patiently(lambda sled: sled.show_key())
        who = contact.identity
    told = {"unit": who.unit, "key": who.key.hex(), "fingerprint": who.fingerprint}
    if as_json:
        typer.echo(json.dumps(told))
        return
    echo(f"{who.unit}: key {who.key.hex()}, fingerprint {who.fingerprint}.")
    echo("The glass shows it for a minute: a telephone reads the code. A press takes it away.")


@app.command()
@reaches
def forget(
    reach: Reach,
    place: Annotated[
        str, typer.Argument(metavar="BOOT[/SEGMENT]", help="A boot, like 17; a segment, like 17/2.")
    ],
    archive: Annotated[
        Path, typer.Option(file_okay=False, help="The archive that must have it.")
    ] = Path("rides"),
    even_so: Annotated[
        bool, typer.Option("--even-so", help="Also what the archive has not: it is lost then.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Deletes a boot of a unit's journal, or one segment of it, as its owner may.

    What was not downloaded is not deleted. The unit keeps in its ledger, signed, that it was there
    and was deleted by its owner; what is still being written stays.

    For example: [bold]sledwarden service forget 17 --archive rides[/bold]
    """
    named = Named.of(place)
    console = Console(stderr=True, highlight=False)
    with _contact(reach, 30.0, console) as contact:
        wanted, growing = named_of(contact, named)
        unit = contact.identity.unit
        for name in growing:
            echo(f"{name}: is still being written, and stays.", err=True)
        if not wanted:
            raise ForgetError(
                str(contact.way), f"nothing of {named} is closed.", "Start the unit anew first."
            )
        missing = not_kept(archive, unit, wanted)
        if missing and not even_so:
            raise ForgetError(
                str(archive),
                f"has not {', '.join(missing)} of {unit}: nothing was deleted.",
                "Download it first, or say --even-so to lose it.",
            )
        size = sum(one.bytes for one in wanted.values())
        what = f"{len(wanted)} segment{'s' * (len(wanted) != 1)} of {unit} ({size:,} bytes)"
        lost = f", {len(missing)} of them in no archive" if missing else ""
        if not yes and not typer.confirm(f"Delete {what}{lost}?", err=True):
            raise typer.Exit(1)
        forget_on(contact, named, wanted)
    echo(f"{what} deleted. Its ledger keeps that they were there.")


@app.command()
@reaches
def restart(
    reach: Reach,
) -> None:
    """Has a unit's daemon start anew, with what was put in use; only while the sled stands.

    For example: [bold]sledwarden service restart --port /dev/ttyACM0[/bold]
    """
    with _sled(reach) as sled:
        sled.restart()
    echo("The unit starts anew; the port is shut until its button is held again.")


@app.command()
@reaches
def date(
    reach: Reach,
    is_set: Annotated[
        bool, typer.Option("--set", help="Set the battery clock to this computer's date.")
    ] = False,
) -> None:
    """Shows the date of a unit, or sets its battery clock where the satellites give none.

    For example: [bold]sledwarden service date --set[/bold]
    """
    with _sled(reach) as sled:
        if is_set:
            now = Clock().system_utc()
            sled.set_date(now)
            echo(f"The battery clock is set to {now:%Y-%m-%dT%H:%M:%SZ}.")
        else:
            echo(f"{sled.date()}Z")


@contextmanager
def _contact(reach: Reach, wait_s: float, console: Console) -> Iterator[Contact]:
    host_key = HostKey.load(reach.key_path)
    contact = Contact(reach.way, host_key, wait_s, onlooker=Said(console))
    try:
        contact.opened()
        yield contact
    finally:
        contact.leave()


@contextmanager
def _sled(reach: Reach) -> Iterator[Sled]:
    console = Console(stderr=True, highlight=False)
    with _contact(reach, 0.0, console) as contact:
        yield contact.patiently(lambda sled: sled)


def _shown(bar: Progress, task: TaskID) -> Callable[[int], None]:
    return lambda offset: bar.update(task, completed=offset)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
