"""`sledwarden demo`: the real programs on this desk, on a recorded and scripted ride."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.journal.reader import boots

DRIVE = Path(__file__).parent.parent / "demo" / "demo.drive"

START_S = 15.0
"""The longest that the daemon may take to open its feed, on a slow machine."""

PAGE_PORT = 8350

END_S = 10.0
"""The longest that a program may take to end in order."""

app = typer.Typer(add_completion=False)
console = Console(stderr=True)


@app.command()
def demo(
    speed: Annotated[
        float, typer.Option(min=0.1, max=200.0, help="Ride so many times as fast; 1 is real time.")
    ] = 20.0,
    drive: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="Another ride to play.")
    ] = DRIVE,
    into: Annotated[
        Path, typer.Option(file_okay=False, help="Where the ride's journal is kept.")
    ] = Path("demo-ride"),
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser, only say where the page is.")
    ] = False,
) -> None:
    """Starts the real daemon on simulated wires, its glass in this terminal, and its live page.

    A car's recorded drive into the dusk, a night on a lake, a race start: at 20 times the pace it
    takes two minutes. Ctrl-C ends it at any moment, with the journal sealed.

    For example: [bold]sledwarden demo --speed 40[/bold]
    """
    into.mkdir(parents=True, exist_ok=True)
    journal, log_path = into / "journal", into / "daemon.log"
    # A Unix socket's path is short (107 letters), so it lies in a folder of its own.
    with tempfile.TemporaryDirectory(prefix="sledwarden-") as folder:
        feed = Path(folder) / "feed.sock"
        with log_path.open("w") as log, _daemon(drive, speed, journal, feed, log) as unit:
            _wait_for_feed(unit, feed, log_path)
            with _page(feed, log) as address:
                _say_page(address, opens=not no_browser)
                was_cut_short = _watch(unit, feed, address)
        if unit.returncode != 0:
            raise SledwardenError(
                str(log_path),
                f"the daemon ended with {unit.returncode}.",
                f"Its last words: {_tail(log_path)}",
            )
    _conclude(journal, log_path, was_cut_short)


@contextmanager
def _daemon(
    drive: Path, speed: float, journal: Path, feed: Path, log: object
) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon as a process, ended in order whatever happens."""
    command = [
        sys.executable, "-m", "firmware.daemon", "--simulate", str(drive), "--speed", str(speed),
        "--journal", str(journal), "--feed", str(feed),
    ]  # fmt: skip
    # In a session of its own: Ctrl-C in this terminal reaches this command, which ends it.
    unit = subprocess.Popen(
        command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
    )  # type: ignore[call-overload]  # log is an open text file
    try:
        yield unit
    finally:
        _end(unit, signal.SIGTERM)


@contextmanager
def _page(feed: Path, log: object) -> Iterator[str]:
    """The live page as a process beside the dash; its address, or nothing where it fell."""
    page = subprocess.Popen(
        [
            sys.executable, "-m", "firmware.page.main", "--feed", str(feed),
            "--port", str(_free_port()), "--pair-moving",
        ],
        stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # type: ignore[call-overload]  # fmt: skip  # log is an open text file
    try:
        yield page.stdout.readline().strip().removeprefix("sledwarden-page: ")
    finally:
        _end(page, signal.SIGTERM)
        page.stdout.close()


def _free_port() -> int:
    """The page's own port, or 0 for any other where that one is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PAGE_PORT))
        except OSError:
            return 0
    return PAGE_PORT


def _say_page(address: str, *, opens: bool) -> None:
    """Says where the page is, and shows it where there is a screen to show it on."""
    if not address:
        console.print("The live page did not start; the daemon's log says why.")
        return
    console.print(f"The live page of this ride: {address}", highlight=False)
    if opens and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(address)


def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(timeout=END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for_feed(unit: subprocess.Popen[bytes], feed: Path, log_path: Path) -> None:
    clock = Clock()
    until_s = clock.mono_s() + START_S
    while not feed.exists():
        if unit.poll() is not None or clock.mono_s() > until_s:
            raise SledwardenError(
                str(log_path), "the daemon did not start.", f"Its last words: {_tail(log_path)}"
            )
        clock.sleep(0.05)


def _watch(unit: subprocess.Popen[bytes], feed: Path, address: str) -> bool:
    """Shows the glass until the ride ends; true when the person ended it sooner."""
    # The glass takes the whole terminal: what must stay to be read goes below it.
    note = f"The live page: {address}  Ctrl-C ends the ride." if address else ""
    glass = subprocess.Popen(
        [
            sys.executable, "-m", "firmware.dash.main", "--feed", str(feed), "--panel", "terminal",
            "--note", note,
        ]
    )  # fmt: skip
    clock = Clock()
    try:
        while unit.poll() is None:
            clock.sleep(0.1)
            if glass.poll() is not None:  # the glass fell: the unit goes on, and so do we
                unit.wait()
    except KeyboardInterrupt:
        return True
    finally:
        _end(glass, signal.SIGTERM)
    return False


def _conclude(journal: Path, log_path: Path, was_cut_short: bool) -> None:
    """Says what was kept and judges it again, which must give the same record for record."""
    boot = boots(journal)[-1]
    if was_cut_short:
        console.print("Ended by hand; the journal is sealed.")
    console.print(f"The journal of this ride is {boot}, the daemon's own words are in {log_path}.")
    console.print(f"Judged again from its readings: sledwarden replay {boot}", highlight=False)
    sys.stdout.flush()
    again = subprocess.run(
        [sys.executable, "-m", "host_tools.cli", "replay", str(boot)], check=False
    )
    if again.returncode != 0:
        raise typer.Exit(1)


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "none"
