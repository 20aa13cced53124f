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
from firmware.journal.reader import boots, start

FOLDER = Path(__file__).parent.parent / "demo"
DRIVE = FOLDER / "demo.drive"
PARKED = FOLDER / "parked.drive"

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
    takes two minutes. Ctrl-C ends it at any moment, with the journal sealed. Then the journal is
    judged again, fetched through the service port, proven whole, and reported as ride.html.

    For example: [bold]sledwarden demo --speed 40[/bold]
    """
    into.mkdir(parents=True, exist_ok=True)
    journal, log_path = into / "journal", into / "daemon.log"
    # A Unix socket's path is short (107 letters), so it lies in a folder of its own.
    with tempfile.TemporaryDirectory(prefix="sledwarden-") as folder:
        feed = Path(folder) / "feed.sock"
        with log_path.open("w") as log, _daemon(drive, speed, journal, feed, log) as unit:
            _wait_for(unit, feed, log_path)
            with _page(feed, log) as address:
                _say_page(address, opens=not no_browser)
                was_cut_short = _watch(unit, feed, address)
        if unit.returncode != 0:
            raise SledwardenError(
                str(log_path),
                f"the daemon ended with {unit.returncode}.",
                f"Its last words: {_tail(log_path)}",
            )
    _conclude(into, journal, was_cut_short)


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


def _wait_for(program: subprocess.Popen[bytes], sign: Path, log_path: Path) -> None:
    """Waits until a program that was started shows its socket or its port."""
    clock = Clock()
    until_s = clock.mono_s() + START_S
    while not sign.exists():
        if program.poll() is not None or clock.mono_s() > until_s:
            raise SledwardenError(
                str(log_path), "a program did not start.", f"Its last words: {_tail(log_path)}"
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


def _conclude(into: Path, journal: Path, was_cut_short: bool) -> None:
    """What a person does after a ride: judges it again, fetches it, proves it and reports it."""
    boot = boots(journal)[-1]
    if was_cut_short:
        console.print("Ended by hand; the journal is sealed.")
    console.print(f"The journal of this ride is {boot}.", highlight=False)
    _say_and_run("Judged again from its readings:", "replay", str(boot))
    rides, unit = into / "rides", start(boot).unit
    _fetch(journal, unit, rides)
    kept = rides / unit / boot.name
    _say_and_run("Proven whole:", "verify", str(kept))
    page = into / "ride.html"
    _say_and_run("Reported:", "report", str(kept), "-o", str(page), "--force")
    console.print(f"Open {page} in any browser.", highlight=False)


def _fetch(journal: Path, unit_id: str, rides: Path) -> None:
    """The sled is switched on again beside the desk, and its journal comes through its port."""
    with (
        tempfile.TemporaryDirectory(prefix="sledwarden-") as folder,
        (journal.parent / "parked.log").open("w") as log,
    ):
        feed, port = Path(folder) / "feed.sock", Path(folder) / "port"
        with _daemon(PARKED, 1.0, journal, feed, log) as unit:
            _wait_for(unit, feed, Path(log.name))
            link = subprocess.Popen(
                [
                    sys.executable, "-m", "firmware.link.main", "--feed", str(feed),
                    "--journal", str(journal), "--unit", unit_id, "--pty", str(port), "--open",
                ],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                _wait_for(link, port, Path(log.name))
                _say_and_run(
                    "Fetched through the service port:",
                    "download", "--port", str(port), "--into", str(rides),
                )  # fmt: skip
            finally:
                _end(link, signal.SIGTERM)


def _say_and_run(words: str, *arguments: str) -> None:
    """Says the command that a person would give, and gives it; ends the demo where it fails."""
    console.print(f"\n[bold]{words}[/bold] sledwarden {' '.join(arguments)}", highlight=False)
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", "host_tools.cli", *arguments], check=False)
    if done.returncode != 0:
        raise typer.Exit(1)


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "none"
