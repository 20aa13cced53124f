"""`sledwardend`: the program that watches. Reads the config, builds the parts, runs the unit.

Nothing is decided here: this is where all parts are made and handed to each other.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from firmware import __version__, leash
from firmware.binding import steady_of
from firmware.buses.i2c import I2cBus
from firmware.buses.pins import Pins
from firmware.clock import Clock
from firmware.config.reading import load as load_config
from firmware.config.schema import Config
from firmware.errors import JournalError, SledwardenError, UsageError, ZoneError
from firmware.informed import Informed
from firmware.journal.beginning import attachments_of, start_of
from firmware.journal.folder import beside
from firmware.journal.hearing import Hearing
from firmware.journal.keeper import Keeper
from firmware.journal.rekey import replace_key
from firmware.journal.room import MB
from firmware.journal.stored import Owner
from firmware.journal.writer import Journal
from firmware.kept import MARKS, REPORTS, Kept
from firmware.law.packs import AUTO, Law, load_live
from firmware.maps.packs import Pack
from firmware.monitor import build
from firmware.notify import Notifier
from firmware.outlet import guarded, say
from firmware.outputs.console import Console
from firmware.outputs.feed import Feed
from firmware.unit import Unit
from firmware.wiring import Wires, fit

if TYPE_CHECKING:  # what plays a world takes 70 ms to import, and a unit on a sled plays none
    from firmware.drives.script import Drive
    from firmware.simulate import Stage

log = logging.getLogger("sledwardend")

ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

EXAMPLE = """
examples:
  sledwardend --config /etc/sledwarden/sledwarden.toml
  sledwardend --config hardware/sledwarden.toml --check
  sledwardend --simulate ride.drive --speed 20 --journal /tmp/journal --feed /tmp/feed.sock
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: the configuration with what the command line changed of it."""

    config: Config
    config_bytes: bytes
    laws: tuple[Law, ...]
    law_words: tuple[str, ...]
    journal: Path
    feed: Path
    drive: Drive | None


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the daemon; 0 when it was asked to end, 1 when it could not run, 2 for wrong use."""
    arguments = _parser().parse_args(argv)
    logging.basicConfig(
        level=logging.DEBUG if os.environ.get("DEBUG") else logging.INFO,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    try:
        plan = _plan(arguments)
        if arguments.check:
            return _check(plan, arguments.config or arguments.simulate)
        if arguments.new_key:
            return _replace_key(plan)
        return _run(plan, arguments.speed, is_leashed=arguments.is_leashed)
    except SledwardenError as fault:
        if os.environ.get("DEBUG"):
            raise
        sys.stderr.write(f"sledwardend: {fault}\n")
        return 2 if isinstance(fault, UsageError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sledwardend",
        description="Watches a snowmobile's speed, lamps, tether and zones, and warns its rider.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config", type=Path, help="the unit's configuration (default: what --simulate names)"
    )
    parser.add_argument("--check", action="store_true", help="check the configuration and end")
    parser.add_argument(
        "--new-key",
        action="store_true",
        help="replace the key that seals the journal; the old one vouches for it; then end",
    )
    parser.add_argument(
        "--simulate", type=Path, metavar="FILE.drive", help="play a drive to fake parts"
    )
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="simulate N times as fast (1)"
    )
    parser.add_argument("--journal", type=Path, metavar="DIR", help="keep the journal there")
    parser.add_argument("--feed", type=Path, metavar="PATH", help="serve the feed socket there")
    parser.add_argument(leash.FLAG, action="store_true", dest="is_leashed", help=leash.HELP)
    parser.add_argument("--version", action="version", version=f"sledwardend {__version__}")
    return parser


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.01 <= speed <= 1000:
        raise argparse.ArgumentTypeError(f"{text}: must be a number from 0.01 to 1000")
    return speed


def _plan(arguments: argparse.Namespace) -> Plan:
    """Reads everything that can be wrong before anything is started."""
    drive = _drive(arguments.simulate) if arguments.simulate else None
    if arguments.config is None and drive is None:
        raise UsageError(
            "--config",
            "is missing: a configuration or a drive was expected.",
            "Try `sledwardend --config /etc/sledwarden/sledwarden.toml`, or --help.",
        )
    if drive is None and arguments.speed != 1.0:
        raise UsageError("--speed", "goes with --simulate only: the world has its own pace.")
    path: Path | None = arguments.config or (None if drive is None else drive.config)
    config = load_config(path) if path else None
    if drive is not None:
        from firmware.sources.drive import config_of  # noqa: PLC0415  # see the imports above

        config = config_of(drive, config)
    assert config is not None  # without a path there is a drive
    words = (AUTO,) if config.unit.law == AUTO else tuple(config.unit.law)
    return Plan(
        config,
        path.read_bytes() if path else b"",
        load_live(words),
        words,
        arguments.journal or Path(config.journal.folder),
        arguments.feed or Path(config.feed.path),
        drive,
    )


def _check(plan: Plan, where: Path) -> int:
    """Says whether what was given is good, with every zone pack; a unit would ride on without."""
    is_good = True
    for path in plan.config.zones.packs:
        try:
            Pack(Path(path)).close()
        except ZoneError as fault:
            is_good = False
            sys.stderr.write(f"sledwardend: [zones] packs: {fault}\n")
    if plan.config.journal.owner_key:
        try:
            Owner.load(Path(plan.config.journal.owner_key))
        except JournalError as fault:
            is_good = False
            sys.stderr.write(f"sledwardend: [journal] owner_key: {fault}\n")
    if not is_good:
        return 1
    say(f"{where}: good; law {', '.join(plan.law_words)}")
    return 0


def _replace_key(plan: Plan) -> int:
    """Gives the unit another key, for a card that was lost or lent; the ledger tells of it."""
    try:
        old, new = replace_key(plan.journal, plan.config.unit.id)
    except OSError as fault:
        raise JournalError(
            str(plan.journal), f"the key was not replaced: {fault.strerror}."
        ) from fault
    say(f"{plan.journal}: the key was {old.fingerprint} and is {new.fingerprint} now")
    return 0


def _drive(path: Path) -> Drive:
    from firmware.drives.script_text import load  # noqa: PLC0415  # see the imports above

    return load(path)


def _stage(drive: Drive, config: Config, clock: Clock) -> Stage:
    from firmware.simulate import Stage  # noqa: PLC0415  # see the imports above

    return Stage(drive, config, clock)


def _run(plan: Plan, speed: float, *, is_leashed: bool) -> int:
    clock = Clock(speed, from_zero=plan.drive is not None)
    clock.hold()  # a drive begins when everything stands ready for it
    with ExitStack() as ending:
        # A signal that comes while the unit is built waits until it can end the unit in order.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        ending.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        stage = None if plan.drive is None else _stage(plan.drive, plan.config, clock)
        if stage is not None:
            ending.callback(stage.stop)
        wires = _real_wires(plan.config, clock) if stage is None else stage.wires
        ending.callback(wires.i2c.close)
        ending.callback(wires.pins.close)
        fitted = fit(plan.config, wires)
        console = Console()
        ending.callback(console.stop)
        unit = Unit(
            build(plan.config, plan.laws),
            clock,
            outputs=fitted.outputs,
            tell=[console.alert],
            notifier=Notifier(),
            steady=steady_of(plan.config, holds_back=clock.real_s(1.0) >= 1.0),
        )
        hearing = Hearing("gps")
        if fitted.gps is not None:
            fitted.gps.on_octets = hearing.hear
        journal = Journal(
            plan.journal,
            start_of(
                plan.config,
                plan.law_words,
                clock_speed=speed,
                note=f"simulated: {plan.drive.path.name}" if plan.drive else "",
            ),
            clock,
            attachments=attachments_of(plan.config, plan.law_words, plan.config_bytes),
            quota_mb=plan.config.journal.quota_mb,
            on_change=unit.post_journal_health,
            keeper=_keeper(plan),
            hearing=hearing,
        )
        journal.open()  # refuses a second daemon before anything is heard or shown
        _listen_to_signals(unit)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if is_leashed:
            leash.hold()

        def begin_the_world() -> None:
            if stage is not None and fitted.gps is not None:
                fitted.gps.wait_until_open(1.0)  # a drive's first sentence is not to be missed
                clock.release()
                stage.start(unit.post, unit.stop, unit.is_idle, unit.fix_heard_s)

        # Modules, laws and tables stay for ever: looked through again and again they would cost the
        # judging thread 15 ms at a time, once a ride has filled the oldest generation.
        gc.collect()
        gc.freeze()
        why = unit.run(
            fitted.sources,
            journal=journal,
            informed=Informed(beside(plan.journal, "informed")),
            kept=Kept(beside(plan.journal, MARKS), beside(plan.journal, REPORTS)),
            feed=_feed(plan, unit, clock),
            scout=fitted.scout,
            rtc=fitted.rtc,
            shows_new_key=plan.drive is None,  # a ride that is played has nobody to see it
            on_started=begin_the_world,
        )
    log.info("ended: %s", why)
    return 0


def _keeper(plan: Plan) -> Keeper:
    """Who stores what is closed; an owner's key that is none keeps it as it was sealed."""
    settings = plan.config.journal
    return Keeper(
        plan.journal,
        plan.config.unit.id,
        quota_bytes=settings.quota_mb * MB,
        owner_path=Path(settings.owner_key) if settings.owner_key else None,
        on_notice=lambda words: log.warning("%s", words),
    )


def _feed(plan: Plan, unit: Unit, clock: Clock) -> Feed | None:
    """The feed for the screens; warnings go on without one."""
    feed = Feed(plan.feed, unit.post, clock)
    try:
        feed.start()
    except SledwardenError as fault:
        log.error("%s", fault)
        return None
    return feed


def _real_wires(config: Config, clock: Clock) -> Wires:
    return Wires(clock, I2cBus(config.i2c.bus), Pins(clock), config.gps.port)


def _listen_to_signals(unit: Unit) -> None:
    """Ends in order at SIGTERM, SIGINT and SIGHUP."""

    def end(number: int, _frame: FrameType | None) -> None:
        unit.stop(signal.Signals(number).name)

    for number in ENDINGS:
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(guarded("sledwardend", main))
