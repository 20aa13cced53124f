"""`sledwarden mode`: sets a race or another mode on a standing unit, and says whether it took."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.feed.client import FeedClient
from firmware.feed.messages import DEFAULT_PATH
from firmware.law.packs import MODES

ANSWER_S = 3.0
"""How long the unit may take to hear and to show its answer."""

app = typer.Typer(add_completion=False)


@app.command()
def mode(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(MODES)}.")],
    switch: Annotated[Literal["on", "off"], typer.Argument(help="On or off.")],
    feed: Annotated[Path, typer.Option(help="The unit's socket.")] = DEFAULT_PATH,
    by: Annotated[str, typer.Option(help="Who sets it; stands in the journal.")] = "",
    why: Annotated[str, typer.Option(help="Why; stands in the journal.")] = "",
) -> None:
    """Sets a mode of a unit while the sled stands; it ends at power-off.

    For example: [bold]sledwarden mode race on --by "Eagle River, lane 3" --why "heat 2"[/bold]

    It is self-declared, and each finding that rests on it says so; sledwarden race proves one.
    """
    if name not in MODES:
        raise SledwardenError("mode", f"{name}: must be one of {', '.join(MODES)}.")
    wanted = switch == "on"
    unit, clock = FeedClient(feed), Clock()
    until_s = clock.mono_s() + ANSWER_S
    was_asked = False
    while clock.mono_s() < until_s:
        unit.poll(0.1)
        state = unit.state
        if state is None or not unit.is_alive:
            continue
        if was_asked and (name in state.modes) is wanted:
            unit.close()
            typer.echo(f"{name} mode is {switch}.")
            return
        if was_asked and "STOP FIRST" in state.prompt:
            raise SledwardenError(
                "mode",
                f"{name} {switch}: refused, the sled does not surely stand.",
                "Stop it, with a GPS fix or with its engine off.",
            )
        if not was_asked:
            was_asked = unit.send("mode", f"{name} {switch} {why}".rstrip(), by)
    if not was_asked:
        raise SledwardenError(
            str(feed), f"no unit is heard ({unit.trouble}).", "Run it on the unit, or name --feed."
        )
    raise SledwardenError("mode", f"{name} {switch}: the unit did not answer in {ANSWER_S:g} s.")
