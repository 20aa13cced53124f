"""`sledwarden-link`: the service port, by which a person's computer takes the journal away.

A client of the unit's socket and a reader of the journal's files: it touches no pin, judges and
writes nothing, and may die at any time without costing a warning.
"""

from __future__ import annotations

import argparse
import logging
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Protocol

from firmware import __version__, leash
from firmware.buses.uart import Uart
from firmware.clock import Clock
from firmware.config.reading import load as load_config
from firmware.config.schema import Config
from firmware.errors import JournalError, SledwardenError, UsageError
from firmware.feed.client import FeedClient
from firmware.journal import reader
from firmware.link.door import Door
from firmware.link.enrolled import Enrolled
from firmware.link.intake import Intake
from firmware.link.server import Server
from firmware.link.shelf import Shelf
from firmware.link.ways import SerialWay, UdpWay, Wire
from firmware.outlet import guarded

LOOK_S = 0.05
"""How often the unit is heard; a client waits for nothing meanwhile."""

PTY_BAUD = 1_000_000
"""A pseudo-terminal has no pace of its own."""

OPEN_WITHIN_S = 5.0

EXAMPLE = """
examples:
  sledwarden-link --config /etc/sledwarden/sledwarden.toml
  sledwarden-link --feed feed.sock --journal demo-ride/journal --pty port --open

It gives the journal to nobody before the rider's button was held while the sled stands. --open is
for a desk: it opens the port for ten minutes, of a simulated unit only.
"""

log = logging.getLogger("sledwarden-link")


class AnyWay(Protocol):
    """A way in, as the loop sees it."""

    @property
    def wants_to_send(self) -> bool: ...
    @property
    def wants_to_hear(self) -> bool: ...
    def descriptor(self) -> int | None: ...
    def serve(self, *, may_read: bool) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served and where: the configuration with what the command line changed of it."""

    unit: str
    feed: Path
    journal: Path
    serial: str | None
    baud: int
    udp: tuple[str, int] | None
    pty: Path | None
    is_open: bool
    config: Path | None = None


class Link:
    """The parts of a running port; `run` serves until `stop`."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        """Raises SledwardenError where a way in can't be had at all."""
        self._plan = plan
        self._clock = clock
        self._feed = FeedClient(plan.feed, clock=clock)
        hosts = reader.beside(plan.journal, "hosts")
        self.door = Door(self._feed, clock, Enrolled(hosts))
        intake = None if plan.config is None else Intake(plan.config, plan.journal.parent)
        self.server = Server(self.door, Shelf(plan.journal, plan.unit, clock), plan.unit, intake)
        self.ways: list[AnyWay] = []
        self._is_ended = False
        if plan.serial is not None:
            port, baud = plan.serial, plan.baud
            self.add_serial(lambda: Uart(port, baud, end="host", section="[link]"), baud)
        if plan.pty is not None:
            path = str(plan.pty)
            self.add_serial(lambda: _pty(path), PTY_BAUD)
        if plan.udp is not None:
            self.ways.append(UdpWay(self.server, *plan.udp))

    def add_serial(self, open_wire: Callable[[], Wire], baud: int) -> None:
        """Adds a serial line, which is opened again whenever it was lost."""
        self.ways.append(SerialWay(self.server, open_wire, baud, self._clock))

    def run(self) -> None:
        """Serves until `stop`, then leaves all ways."""
        try:
            looked_s = -LOOK_S
            while not self._is_ended:
                now_s = self._clock.mono_s()
                if now_s >= looked_s + LOOK_S:
                    looked_s = now_s
                    self.door.look()
                self._turn()
        finally:
            for way in self.ways:
                way.close()
            self._feed.close()

    def stop(self) -> None:
        """Ends `run`; may be called from a signal handler and from any thread."""
        self._is_ended = True

    def _turn(self) -> None:
        there = {
            way: descriptor for way in self.ways if (descriptor := way.descriptor()) is not None
        }
        hears = [number for way, number in there.items() if way.wants_to_hear]
        sends = [number for way, number in there.items() if way.wants_to_send]
        waits = any(not way.wants_to_hear and not way.wants_to_send for way in there)
        can_read, _, _ = select.select(hears, sends, [], 0.0 if waits else LOOK_S)
        for way, number in there.items():
            way.serve(may_read=number in can_read)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until Ctrl-C or SIGTERM; 0 then, 1 when it could not, 2 for wrong use."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    logging.basicConfig(
        level=logging.DEBUG if os.environ.get("DEBUG") else logging.INFO,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    try:
        plan = _settle(asked)
        if plan.serial is None and plan.udp is None and plan.pty is None:
            sys.stderr.write(
                "sledwarden-link: no way in is named: set [link] serial or udp, or give --serial, "
                "--udp or --pty.\n"
            )
            return 2
        clock = Clock()
        link = Link(plan, clock)
        if plan.is_open:
            _check_simulated(plan, clock)
            link.door.open_for_a_desk()
        _listen_to_signals(link)
        if asked.is_leashed:
            leash.hold()
        link.run()
    except SledwardenError as fault:
        if os.environ.get("DEBUG"):
            raise
        sys.stderr.write(f"sledwarden-link: {fault}\n")
        return 2 if isinstance(fault, UsageError) else 1
    return 0


def _pty(path: str) -> Wire:
    from firmware.buses.uart_fake import FakePort  # noqa: PLC0415  # a unit on a sled has a wire

    return FakePort(path)


def _check_simulated(plan: Plan, clock: Clock) -> None:
    """Raises SledwardenError unless the newest boot's own journal says that it is simulated."""
    until_s = clock.mono_s() + OPEN_WITHIN_S
    while True:  # a unit that has just been started writes its first record within a second
        try:
            note = reader.start(plan.journal).note
            break
        except JournalError as fault:
            if clock.mono_s() > until_s:
                raise SledwardenError(
                    "--open", f"needs a simulated unit's journal, and {fault}"
                ) from fault
            clock.sleep(LOOK_S)
    if not note.startswith("simulated"):
        raise SledwardenError(
            "--open",
            f"{plan.journal} is a real unit's: the port opens by the rider's button alone.",
            "Hold the button when the glass asks.",
        )


def _settle(asked: argparse.Namespace) -> Plan:
    config: Config | None = load_config(asked.config) if asked.config else None
    if config is None and (asked.feed is None or asked.journal is None):
        raise UsageError(
            "--config",
            "is missing: a configuration, or --feed and --journal, were expected.",
            "Try `sledwarden-link --config /etc/sledwarden/sledwarden.toml`, or --help.",
        )
    unit, serial, baud = asked.unit or "unnamed", asked.serial, asked.baud
    udp: tuple[str, int] | None = asked.udp
    if config is not None:
        unit = asked.unit or config.unit.id
        serial, baud = serial or config.link.serial, baud or config.link.baud
        if udp is None and config.link.udp is not None:
            udp = config.link.host, config.link.udp
    return Plan(
        unit,
        asked.feed or Path(config.feed.path if config else ""),
        asked.journal or Path(config.journal.folder if config else ""),
        serial,
        baud or 115_200,
        udp,
        asked.pty,
        asked.open,
        asked.config,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sledwarden-link",
        description="Serves the journal over SMP to a person who holds the rider's button.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="sledwarden.toml of the unit")
    parser.add_argument("--feed", type=Path, metavar="PATH", help="the unit's socket")
    parser.add_argument("--journal", type=Path, metavar="DIR", help="the unit's journal")
    parser.add_argument("--unit", metavar="ID", help="the unit's name")
    parser.add_argument("--serial", metavar="PORT", help="serve a serial line, like /dev/ttyGS0")
    parser.add_argument("--baud", type=int, metavar="N", help="bits a second on it (115200)")
    parser.add_argument(
        "--udp", type=_address, metavar="HOST:PORT", help="serve a UDP port; 1337 is SMP's own"
    )
    parser.add_argument(
        "--pty", type=Path, metavar="PATH", help="serve a new pseudo-terminal at this path"
    )
    parser.add_argument(
        "--open", action="store_true", help="open the port of a simulated unit, without a button"
    )
    parser.add_argument(leash.FLAG, action="store_true", dest="is_leashed", help=leash.HELP)
    parser.add_argument("--version", action="version", version=f"sledwarden-link {__version__}")
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text}: must be an address and a port, as 0.0.0.0:1337")
    return host.strip("[]"), int(port)


def _listen_to_signals(link: Link) -> None:
    def end(_number: int, _frame: FrameType | None) -> None:
        link.stop()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(guarded("sledwarden-link", main))
