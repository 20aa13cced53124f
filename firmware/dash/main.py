"""`sledwarden-dash`: draws the glass from what the unit's socket says, on the panel that is fitted.

A client of the feed and nothing else: it judges nothing, touches no pin, and may die at any time
without costing a warning.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from firmware import leash
from firmware.config.reading import load as load_config
from firmware.config.schema import Config
from firmware.dash import screen
from firmware.dash.base import Fitting, Panel
from firmware.errors import SledwardenError
from firmware.feed.client import STALE_S, FeedClient
from firmware.feed.messages import DEFAULT_PATH
from firmware.outlet import guarded, is_closed
from firmware.parts import PARTS
from firmware.parts import load as load_part

LOOK_S = 0.25
"""How soon a signal ends it where nothing is heard."""

CLOSED = "sledwarden-dash: its output is closed: a terminal or a pipe was expected.\n"

_NOBODY_READS = (errno.EPIPE, errno.EIO)  # a pipe that was closed; a terminal that was

EXAMPLE = """\
example: the glass in this terminal, from a unit that runs on this machine

  sledwarden-dash --feed /run/sledwarden/feed.sock --panel terminal

It waits for the unit for ever, and draws NO UNIT while it hears nothing. Ctrl-C ends it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until Ctrl-C or SIGTERM; returns the exit code."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(format="sledwarden-dash: %(message)s", level=logging.WARNING)
    try:
        path, word, fitting = _settle(asked)
        if word == "terminal" and is_closed():
            sys.stderr.write(CLOSED)
            return 1
        panel: Panel = load_part("panel", word).fit(fitting)
    except SledwardenError as fault:
        print(fault, file=sys.stderr)  # noqa: T201 - the answer to who typed the command
        return 2
    client = FeedClient(path)
    ended = threading.Event()
    _listen_to_signals(ended)
    if asked.is_leashed:
        leash.hold()
    try:
        follow(client, panel, ended, is_for_one_unit=asked.until_unit_ends)
        panel.stop()
    except OSError as fault:
        # What is still to be written must not fail a second time at the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if fault.errno not in _NOBODY_READS:
            sys.stderr.write(f"sledwarden-dash: its output can't be written: {fault.strerror}.\n")
            return 1
    finally:
        client.close()
    return 0


def follow(
    client: FeedClient, panel: Panel, ended: threading.Event, *, is_for_one_unit: bool = False
) -> None:
    """Shows what the unit says until `ended` is set; with `is_for_one_unit` also until the unit
    that was heard has taken its socket away, as one does that ends in order."""
    was_heard = False
    while not ended.is_set():
        was_heard = was_heard or client.is_connected
        if is_for_one_unit and was_heard and not client.is_connected and not client.path.exists():
            return
        refresh(client, panel)
        age_s = client.age_s
        fresh_s = 0.0 if age_s is None else STALE_S - age_s
        client.poll(min(fresh_s + 0.01 if fresh_s > 0.0 else 1.0, LOOK_S))


def refresh(client: FeedClient, panel: Panel) -> None:
    """Shows what is known now: the state if it is fresh, else that there is no unit."""
    state = client.state
    if state is None or not client.is_alive:
        panel.show(screen.draw_no_unit(), None, client.trouble)
        return
    panel.show(screen.draw(state.alert, state), state, "")


def _settle(asked: argparse.Namespace) -> tuple[Path, str, Fitting]:
    """The feed, the panel's word and how it is reached: the options, else the configuration."""
    config: Config | None = load_config(asked.config) if asked.config else None
    fitting = Fitting(png=asked.png or Fitting().png, note=asked.note)
    path, word = DEFAULT_PATH, "terminal"
    if config is not None:
        path, word = Path(config.feed.path), config.dash.panel
        fitting = replace(fitting, bus=config.i2c.bus, address=config.dash.address)
    return asked.feed or path, asked.panel or ("png" if asked.png else word), fitting


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sledwarden-dash",
        description="Draws the glass in front of the rider from the unit's feed.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="sledwarden.toml of the unit")
    parser.add_argument("--feed", type=Path, metavar="PATH", help=f"socket ({DEFAULT_PATH})")
    parser.add_argument("--panel", choices=sorted(PARTS["panel"]), help="panel (terminal)")
    parser.add_argument("--png", type=Path, metavar="FILE", help="picture file of --panel png")
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="a line to keep below the glass of a terminal"
    )
    parser.add_argument(
        "--until-unit-ends", action="store_true", help="end when the unit that is shown has ended"
    )
    parser.add_argument(leash.FLAG, action="store_true", dest="is_leashed", help=leash.HELP)
    return parser


def _listen_to_signals(ended: threading.Event) -> None:
    """Whatever signal comes, and however often, only `ended` is set: no call is broken off."""

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(guarded("sledwarden-dash", main))
