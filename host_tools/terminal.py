"""A person's terminal: what others have named is shown there as text, and gives it no orders.

A journal, a unit, a map or a law pack may come from a stranger, and an escape sequence in a name
would colour, move or write over the very line that says what the file is worth.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console as AnyConsole
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from firmware.errors import printable


class Console(AnyConsole):
    """Rich's console, to which square brackets are brackets unless `markup` is asked for."""

    # `Any`: rich's own keywords, passed on as they are.
    def __init__(self, *, markup: bool = False, **how: Any) -> None:
        super().__init__(markup=markup, **how)

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(printable(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for one in super().render(renderable, options):
            yield one if one.control else one._replace(text=printable(one.text))


def one_line(text: str) -> Text:
    """A text as a line that no name in it can end."""
    return Text(printable(text).replace("\n", "\N{REPLACEMENT CHARACTER}"))


def echo(text: str = "", *, err: bool = False) -> None:
    """Prints a line or more, to standard error where that is asked for."""
    typer.echo(printable(text), err=err)
