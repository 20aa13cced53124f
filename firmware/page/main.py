"""`sledwarden-page`: the live web page, from what the unit's socket says.

A client of the feed and nothing else: it judges nothing, touches no pin, writes no journal, and may
die at any time without costing a warning.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from firmware import leash
from firmware.clock import Clock
from firmware.config.reading import load as load_config
from firmware.config.schema import Page as PageSection
from firmware.errors import SledwardenError
from firmware.feed.messages import DEFAULT_PATH
from firmware.outlet import guarded, say
from firmware.page.app import Page, Site
from firmware.page.door import listen, server_of
from firmware.page.follower import Follower, Sight
from firmware.page.hub import Hub

EXAMPLE = """\
example: the page of the unit that runs on this machine, for this machine's own browser

  sledwarden-page --feed /run/sledwarden/feed.sock --port 8350

A phone reaches it with --host 0.0.0.0, over a network that is yours. It waits for the unit for
ever, and says NO UNIT while it hears nothing. Ctrl-C ends it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until Ctrl-C or SIGTERM; returns the exit code."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(format="sledwarden-page: %(message)s", level=logging.ERROR)
    try:
        site = _settle(asked)
        listener = listen(site.host, site.port)
    except SledwardenError as fault:
        print(fault, file=sys.stderr)  # noqa: T201 - the answer to who typed the command
        return 2
    site = replace(site, port=listener.getsockname()[1])
    say(f"sledwarden-page: {_address(listener)}")
    if asked.is_leashed:
        leash.hold()
    try:
        asyncio.run(serve(site, listener))
    except KeyboardInterrupt:  # it came before the signals were ours
        listener.close()
    return 0


async def serve(site: Site, listener: socket.socket) -> None:
    """Serves the page on this socket until a signal ends it."""
    clock = Clock()
    hub = Hub(clock)
    page = Page(site, hub, clock)
    server = server_of(page.app)
    loop = asyncio.get_running_loop()

    def end() -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    follower = Follower(site.feed, clock, lambda one: _hand_over(loop, hub, one))
    follower.start()
    starting = asyncio.create_task(page.start())
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.should_exit and not serving.done():
        await asyncio.sleep(0.05)
    starting.cancel()
    await page.stop()
    hub.close()  # or the server would wait for streams that have no end
    await serving
    await asyncio.to_thread(follower.stop)


def _settle(asked: argparse.Namespace) -> Site:
    """What is asked for by options, else by the configuration."""
    config = load_config(asked.config) if asked.config else None
    section = PageSection() if config is None else config.page
    feed = DEFAULT_PATH if config is None else Path(config.feed.path)
    return Site(
        feed=asked.feed or feed,
        host=asked.host or section.host,
        port=section.port if asked.port is None else asked.port,
        unit="" if config is None else config.unit.id,
        pairs_while_moving=asked.pair_moving,
    )


def _parser() -> argparse.ArgumentParser:
    section = PageSection()
    parser = argparse.ArgumentParser(
        prog="sledwarden-page",
        description="Serves the live page of the unit, for a phone or a screen, from its feed.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="sledwarden.toml of the unit")
    parser.add_argument("--feed", type=Path, metavar="PATH", help=f"socket ({DEFAULT_PATH})")
    parser.add_argument("--host", metavar="H", help=f"where to listen ({section.host})")
    parser.add_argument("--port", type=_port, metavar="P", help=f"TCP port ({section.port})")
    parser.add_argument(
        "--pair-moving",
        action="store_true",
        help="let a phone pair while the ride moves: for a desk, where nobody rides",
    )
    parser.add_argument(leash.FLAG, action="store_true", dest="is_leashed", help=leash.HELP)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number from 0 to 65535")
    return int(text)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _hand_over(loop: asyncio.AbstractEventLoop, hub: Hub, sight: Sight) -> None:
    loop.call_soon_threadsafe(hub.offer, sight)


if __name__ == "__main__":
    sys.exit(guarded("sledwarden-page", main))
