"""How every command that goes to a unit's port is told where it is, and what it says meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from firmware.errors import UsageError
from host_tools.port.contact import Onlooker
from host_tools.port.messages import Session
from host_tools.port.sled import UDP_PORT, LostError, Way, ports

Port = Annotated[
    str | None, typer.Option(help="The serial port of the unit, like /dev/ttyACM0 or COM3.")
]
Udp = Annotated[
    str | None, typer.Option(metavar="HOST[:PORT]", help="The unit's address, for UDP.")
]
Baud = Annotated[
    int, typer.Option(min=1200, help="Bits a second on a serial line; USB has no such pace.")
]
KeyFile = Annotated[
    Path | None, typer.Option(dir_okay=False, help="This computer's key; made by --enroll.")
]


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


def key_path() -> Path:
    """Where this computer's key lies unless another file is named."""
    return Path(typer.get_app_dir("sledwarden")) / "host.key"


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
