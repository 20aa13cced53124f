"""How every command that goes to a unit's port is told where it is, and what it says meanwhile."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from firmware.errors import UsageError
from host_tools.port.contact import Onlooker
from host_tools.port.messages import Session
from host_tools.port.sled import UDP_PORT, LostError, Way, ports
from host_tools.terminal import Console


def _options(
    port: Annotated[
        str | None, typer.Option(help="The serial port of the unit, like /dev/ttyACM0 or COM3.")
    ] = None,
    udp: Annotated[
        str | None, typer.Option(metavar="HOST[:PORT]", help="The unit's address, for UDP.")
    ] = None,
    baud: Annotated[
        int, typer.Option(min=1200, help="Bits a second on a serial line; USB has no such pace.")
    ] = 115_200,
    key: Annotated[
        Path | None, typer.Option(dir_okay=False, help="This computer's key; made by --enroll.")
    ] = None,
) -> Reach:
    return Reach(port, udp, baud, key)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a command's options say of its way to a unit."""

    port: str | None
    udp: str | None
    baud: int
    key: Path | None

    @property
    def way(self) -> Way:
        """The way that the options name, or the one unit on USB; raises UsageError for none."""
        return way_of(self.port, self.udp, self.baud)

    @property
    def key_path(self) -> Path:
        """Where this computer's key lies: the file that was named, or its own place."""
        return self.key or Path(typer.get_app_dir("sledwarden")) / "host.key"


def reaches(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of a unit's port in place of its parameter `reach`."""
    ours = inspect.signature(_options, eval_str=True).parameters
    taken = inspect.signature(command, eval_str=True)

    @wraps(command)
    def run(**given: Any) -> None:
        reach = _options(**{name: given.pop(name) for name in ours})
        command(**given, reach=reach)

    asked = [one for one in taken.parameters.values() if one.name != "reach"]
    options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*asked, *ours.values())]
    run.__dict__["__signature__"] = taken.replace(parameters=options)
    return run


class Said(Onlooker):
    """Says what a person must do, each thing once."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._said = ""

    def opening(self, session: Session) -> None:
        if session.asking:
            self.say("Hold the rider's button for two seconds: the unit's glass asks for it.")
        elif session.why:
            self.say(f"Waiting: {session.why}")

    def lost(self, fault: LostError, left_s: float) -> None:
        self.say(f"{fault} Waiting for it: {left_s:.0f} s.", once=str(fault))

    def say(self, words: str, once: str = "") -> None:
        """Says words, unless they, or `once` in their place, were the last that were said."""
        if (once or words) != self._said:
            self._said = once or words
            self.console.print(words)

    def forget(self) -> None:
        """Lets the last words be said again."""
        self._said = ""


def way_of(port: str | None, udp: str | None, baud: int) -> Way:
    """The way that these options name, or the one unit on USB; raises UsageError for none."""
    if port is not None and udp is not None:
        raise typer.BadParameter("must be one of --port and --udp, not both.")
    if udp is not None:
        host, colon, number = udp.rpartition(":")
        if not colon or host.endswith(":") or "]" in number:  # no port, or a bare IPv6 address
            return Way(host=udp.strip("[]"), udp=UDP_PORT)
        if not number.isdecimal() or not 0 < int(number) < 65536:
            raise typer.BadParameter(f"--udp {udp}: must be an address, or an address:port.")
        return Way(host=host.strip("[]"), udp=int(number))
    if port is not None:
        return Way(port, baud=baud)
    found = ports()
    if len(found) != 1:
        there = f"there are {', '.join(found)}" if found else "no USB serial port is there"
        raise UsageError(
            "--port",
            f"is missing, and {there}: the unit's port or --udp was expected.",
            "Plug the unit in, or name it: sledwarden download --port /dev/ttyACM0",
        )
    return Way(found[0], baud=baud)
