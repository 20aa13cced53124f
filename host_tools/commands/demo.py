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
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, TextIO

import typer

from firmware import leash
from firmware.clock import Clock
from firmware.drives.script import SLOWER
from firmware.errors import SledwardenError
from firmware.journal.reader import boots, read, start
from firmware.journal.record import Close, Gap
from host_tools.terminal import Console

FOLDER = Path(__file__).parent.parent / "demo"
DRIVE = FOLDER / "demo.drive"
PARKED = FOLDER / "parked.drive"

START_S = 15.0
"""The longest that the daemon may take to open its feed, on a slow machine."""

PAGE_PORT = 8350

END_S = 10.0
"""The longest that a program may take to end in order."""

LOOK_S = 0.05

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

app = typer.Typer(add_completion=False)
console = Console(stderr=True, markup=True)


@app.command()
def demo(
    speed: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=60.0,
            help="Ride so many times as fast; 1 is real time. A machine that can't keep the pace "
            "plays it slower, and says so.",
        ),
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
    asked = _Asked()
    journal, log_path = into / "journal", into / f"daemon-{os.getpid()}.log"
    earlier = _boots(journal)
    # A Unix socket's path is short (107 letters), so it lies in a folder of its own.
    with tempfile.TemporaryDirectory(prefix="sledwarden-") as folder, _log(log_path) as log:
        feed = Path(folder) / "feed.sock"
        with suppress(_EndAsked), _daemon(drive, speed, journal, feed, log) as unit:
            _wait_for(unit, feed, log_path, asked)
            with _page(feed, log) as address:
                _say_page(address, opens=not no_browser)
                _watch(unit, feed, address, asked)
    if signal.SIGHUP in asked.heard:
        _leave_the_terminal()
    boot = next((one for one in reversed(_boots(journal)) if one not in earlier), None)
    if boot is None and asked.heard:
        console.print("Ended by hand before the ride had begun.")
        return
    _check_kept(journal, boot, log_path)
    if unit.returncode != 0:
        raise SledwardenError(
            str(log_path),
            f"the daemon ended with {unit.returncode}.",
            f"Its last words: {_last_words(log_path)}",
        )
    if asked.heard:
        console.print("Ended by hand; the journal is sealed.")
    for line in _lines(log_path):
        if SLOWER in line:
            said = line.partition("sledwarden.simulate: ")[2] or line
            console.print(f"The ride was {said}.", highlight=False)
    if not asked.heard or set(asked.heard) == {signal.SIGINT}:  # else nobody waits for more
        asked.heard.clear()
        assert boot is not None  # _check_kept refuses a ride without one
        with suppress(_EndAsked):
            _conclude(into, boot, log_path, asked)
            return
        console.print("The rest was left out.")


class _EndAsked(Exception):  # noqa: N818 - it is no error
    """The person asked the demo to end while it waited for something."""


class _Asked:
    """The signals that asked the demo to end. None of them breaks a call off: who waits looks."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        for number in ENDINGS:
            signal.signal(number, self._hear)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.heard.append(number)

    def look(self) -> None:
        """Raises _EndAsked where a signal has come."""
        if self.heard:
            raise _EndAsked


@contextmanager
def _deaf() -> Iterator[None]:
    """What is started meanwhile shares this terminal but not its Ctrl-C: this command ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _log(path: Path) -> Iterator[TextIO]:
    """What the programs of this run say; of its own, for another demo may run in the folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = path.open("a")
    except OSError as fault:
        raise SledwardenError(
            str(path), f"can't be written: {fault.strerror}.", "Give --into another folder."
        ) from fault
    with log:
        yield log


def _leave_the_terminal() -> None:
    """Lets what is still said go nowhere, where the terminal that it went to was closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        if os.isatty(number):
            os.dup2(nowhere, number)
    os.close(nowhere)


def _boots(journal: Path) -> list[Path]:
    return boots(journal) if journal.is_dir() else []


def _check_kept(journal: Path, boot: Path | None, log_path: Path) -> None:
    """Raises SledwardenError unless every record of the ride is in its journal, to its end."""
    why = "it holds nothing of this ride"
    if boot is not None and any(boot.glob("*.mcap")):
        why = ""
        last, lost = None, 0
        for _, record in read(boot):
            last = record
            if isinstance(record, Gap):
                lost += record.lost
                why = f"{lost} records were lost ({record.why})"
        if not isinstance(last, Close) or not last.is_last:
            why = why or "its end is missing"
    if why:
        raise SledwardenError(
            str(boot or journal),
            f"the journal is incomplete: {why}.",
            f"Give --into a folder with room. The daemon's last words: {_last_words(log_path)}",
        )


@contextmanager
def _daemon(
    drive: Path, speed: float, journal: Path, feed: Path, log: TextIO
) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon as a process, ended in order whatever happens."""
    command = [
        sys.executable, "-m", "firmware.daemon", "--simulate", str(drive), "--speed", str(speed),
        "--journal", str(journal), "--feed", str(feed), leash.FLAG,
    ]  # fmt: skip
    # In a session of its own: Ctrl-C in this terminal reaches this command, which ends it.
    unit = subprocess.Popen(
        command, stdout=log, stderr=log, stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield unit
    finally:
        _end(unit)


@contextmanager
def _page(feed: Path, log: TextIO) -> Iterator[str]:
    """The live page as a process beside the dash; its address, or nothing where it fell."""
    page = subprocess.Popen(
        [
            sys.executable, "-m", "firmware.page.main", "--feed", str(feed),
            "--port", str(_free_port()), "--pair-moving", leash.FLAG,
        ],
        stdout=subprocess.PIPE, stderr=log, stdin=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert page.stdout is not None  # it is a pipe
    try:
        yield page.stdout.readline().decode().strip().removeprefix("sledwarden-page: ")
    finally:
        _end(page)
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program in order, and by force where it does not end; safe to call twice."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _wait_for(program: subprocess.Popen[bytes], sign: Path, log_path: Path, asked: _Asked) -> None:
    """Waits until a program that was started shows its socket or its port."""
    clock = Clock()
    until_s = clock.mono_s() + START_S
    while not sign.exists():
        asked.look()
        if program.poll() is not None or clock.mono_s() > until_s:
            raise SledwardenError(
                str(log_path),
                "a program did not start.",
                f"Its last words: {_last_words(log_path)}",
            )
        clock.sleep(LOOK_S)


def _watch(unit: subprocess.Popen[bytes], feed: Path, address: str, asked: _Asked) -> None:
    """Shows the glass until the ride ends, or until the person ends it sooner."""
    # The glass takes the whole terminal: what must stay to be read goes below it.
    note = f"The live page: {address}  Ctrl-C ends the ride." if address else ""
    with _deaf():
        glass = subprocess.Popen(
            [
                sys.executable, "-m", "firmware.dash.main", "--feed", str(feed),
                "--panel", "terminal", "--note", note, "--until-unit-ends", leash.FLAG,
            ],
            stdin=subprocess.PIPE,
        )  # fmt: skip
    clock = Clock()
    try:
        while unit.poll() is None and not asked.heard:  # where the glass falls the unit goes on
            clock.sleep(LOOK_S)
    finally:
        _end(glass)


def _conclude(into: Path, boot: Path, log_path: Path, asked: _Asked) -> None:
    """What a person does after a ride: judges it again, fetches it, proves it and reports it."""
    console.print(f"The journal of this ride is {boot}.", highlight=False)
    _say_and_run(asked, "Judged again from its readings:", "replay", str(boot))
    rides, unit = into / "rides", start(boot).unit
    _fetch(boot.parent, unit, rides, log_path, asked)
    kept = rides / unit / boot.name
    _say_and_run(asked, "Proven whole:", "verify", str(kept))
    page = into / "ride.html"
    _say_and_run(asked, "Reported:", "report", str(kept), "-o", str(page), "--force")
    console.print(f"Open {page} in any browser.", highlight=False)


def _fetch(journal: Path, unit_id: str, rides: Path, log_path: Path, asked: _Asked) -> None:
    """The sled is switched on again beside the desk, and its journal comes through its port."""
    with tempfile.TemporaryDirectory(prefix="sledwarden-") as folder, _log(log_path) as log:
        feed, port = Path(folder) / "feed.sock", Path(folder) / "port"
        with _daemon(PARKED, 1.0, journal, feed, log) as unit:
            _wait_for(unit, feed, log_path, asked)
            link = subprocess.Popen(
                [
                    sys.executable, "-m", "firmware.link.main", "--feed", str(feed),
                    "--journal", str(journal), "--unit", unit_id, "--pty", str(port), "--open",
                    leash.FLAG,
                ],
                stdout=log, stderr=log, stdin=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            try:
                _wait_for(link, port, log_path, asked)
                _say_and_run(
                    asked, "Fetched through the service port:",
                    "download", "--port", str(port), "--into", str(rides),
                )  # fmt: skip
            finally:
                _end(link)


def _say_and_run(asked: _Asked, words: str, *arguments: str) -> None:
    """Says the command that a person would give, and gives it; ends the demo where it fails."""
    console.print(f"\n[bold]{words}[/bold] sledwarden {' '.join(arguments)}", highlight=False)
    sys.stdout.flush()
    with _deaf():
        tool = subprocess.Popen([sys.executable, "-m", "host_tools.cli", *arguments])
    clock = Clock()
    try:
        while tool.poll() is None:
            asked.look()
            clock.sleep(LOOK_S)
    finally:
        _end(tool)
    if tool.returncode != 0:
        raise typer.Exit(1)


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").strip().splitlines()


def _last_words(path: Path) -> str:
    """The refusal that a program ended with, else the last line of the log."""
    lines = _lines(path)
    refused = [line for line in lines if line.startswith(("sledwardend: ", "sledwarden-"))]
    return [*lines, *refused][-1] if lines else "none"
