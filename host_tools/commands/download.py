"""`sledwarden download`: the new segments of a unit's journal, into the archive of this desk."""

from __future__ import annotations

import platform
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
    TransferSpeedColumn,
)

from firmware.clock import Clock
from firmware.port.hosts import HostKey, words_of
from host_tools.journals.archive import Wanted
from host_tools.port.contact import POLL_S, Contact
from host_tools.port.fetching import Download, Result, Watcher
from host_tools.port.messages import Identity
from host_tools.port.reaching import Reach, Said, reaches
from host_tools.port.sled import RefusedError, Sled
from host_tools.terminal import Console, echo

ARCHIVE = Path("rides")
ENROLL_S = 60.0

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
@reaches
def download(
    reach: Reach,
    into: Annotated[Path, typer.Option(file_okay=False, help="The archive.")] = ARCHIVE,
    wait: Annotated[
        float, typer.Option(min=0, help="Wait so many seconds for a cable that was pulled.")
    ] = 30.0,
    enroll: Annotated[
        bool,
        typer.Option("--enroll", help="Enrol this computer, so that later it needs no button."),
    ] = False,
) -> None:
    """Downloads what is new of a unit's journal, over a cable or UDP.

    The sled must stand. The unit's glass asks, and a hold of its button opens the port for ten
    minutes to whoever is at it; a computer that was enrolled needs no hold.

    For example: [bold]sledwarden download --port /dev/ttyACM0 --into rides[/bold]

    A pulled cable costs nothing: it goes on at the byte where it was, at once or in the next run.
    Every segment's SHA-256 is checked. A unit that shows less than the archive has seen, or another
    key, is refused. The unit's own data stays as it is.
    """
    way = reach.way
    host_key = HostKey.load(reach.key_path)
    if enroll and host_key is None:
        host_key = HostKey.make(reach.key_path)
    clock = Clock()
    console = Console(stderr=True, highlight=False)
    watcher = Shown(console)

    def enrol_first(sled: Sled, identity: Identity) -> None:
        if enroll and host_key is not None:
            _enroll(sled, host_key, identity, clock, console)

    begun_s = clock.mono_s()
    with watcher:
        contact = Contact(way, host_key, wait_s=wait, onlooker=watcher, clock=clock)
        result = Download(contact, into, watcher, on_open=enrol_first).run()
    echo(_told(result, clock.mono_s() - begun_s))


class Shown(Said, Watcher):
    """Shows a download where a person looks on; where none does, says only what they must do."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_fault: object) -> None:
        self._bar.stop()

    def planned(self, wanted: list[Wanted], here: int) -> None:
        del here  # told at the end
        if wanted:
            self._task = self._bar.add_task("", total=sum(one.segment.bytes for one in wanted))
            self._bar.start()

    def began(self, wanted: Wanted, size: int) -> None:
        self.forget()
        if self._task is not None:
            self._bar.update(self._task, description=wanted.name)
            self._bar.advance(self._task, size)

    def came(self, count: int) -> None:
        if self._task is not None:
            self._bar.advance(self._task, count)


def _enroll(sled: Sled, key: HostKey, identity: Identity, clock: Clock, console: Console) -> None:
    """Has the rider compare the four words, and waits for their hold."""
    if sled.session(key).enrolled:
        console.print(f"This computer ({words_of(key.public)}) is enrolled already.")
        return
    name = platform.node()[:64] or "a computer"
    words = sled.enroll(key, name, identity.key.hex())
    if words != words_of(key.public):
        raise RefusedError(
            str(sled.way), f"it shows other words ({words}) than this computer's key has.",
            "Somebody stands between: do not hold the button.",
        )  # fmt: skip
    console.print(f"The glass must show: {words}. If it does, hold the button for two seconds.")
    until_s = clock.mono_s() + ENROLL_S
    while not sled.session(key).enrolled:
        if clock.mono_s() >= until_s:
            raise RefusedError(
                str(sled.way), "nobody held the button: this computer is not enrolled."
            )
        clock.sleep(POLL_S)
    console.print(f"{identity.unit} knows this computer now, as {name}.")


def _told(result: Result, took_s: float) -> str:
    unit = result.identity.unit
    if not result.segments and not result.torn:
        return f"{unit}: nothing new; {_many(result.here)} in {result.folder}."
    megabytes = result.bytes / 1e6
    pace = f"{megabytes:.1f} MB in {took_s:.0f} s, {megabytes / max(took_s, 0.001):.2f} MB/s"
    text = f"{unit}: {_many(result.segments)} new ({pace}), in {result.folder}."
    if result.here:
        text += f" {_many(result.here)} were there already."
    if result.torn:
        text += f" {result.torn} damaged pieces, which no seal covers, lie beside them as .torn."
    if result.growing:
        text += f" The unit still writes {result.growing[-1]}: what was safe of it is here."
    return text


def _many(segments: int) -> str:
    return f"{segments} segment" + ("" if segments == 1 else "s")
