"""Tables of figures: what is printed for a person and written for a program, and the statistics."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

PEERS = ("pynmea2", "pyserial", "gpiozero", "msgspec", "ephem", "mcap", "cryptography")

Figures = dict[str, Any]
"""A row: its figures by the keys of the columns; what was not measured has no key."""


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of every row; `form` is a format specification like ",.0f"."""

    key: str
    heading: str
    form: str = ""


@dataclass(slots=True)
class Table:
    """One subject's figures, and what must be known to read them."""

    subject: str
    title: str
    columns: Sequence[Column]
    rows: list[Figures] = field(default_factory=list)
    note: str = ""
    load: tuple[float, float] = (0.0, 0.0)

    def show(self, console: Console) -> None:
        """Prints it, with the machine's load before and after the measurement."""
        grid = Grid(title=self.title, title_justify="left", title_style="bold", box=None)
        for column in self.columns:
            grid.add_column(column.heading, justify="right" if column.form else "left")
        for row in self.rows:
            grid.add_row(*(_shown(row.get(one.key), one.form) for one in self.columns))
        console.print()
        console.print(grid)
        if self.note:
            console.print(self.note, style="dim", highlight=False)
        console.print(
            f"load {self.load[0]:.1f} before, {self.load[1]:.1f} after",
            style="dim",
            highlight=False,
        )

    def plain(self) -> Figures:
        """The same as an object for JSON: figures unrounded."""
        return {
            "subject": self.subject,
            "title": self.title,
            "rows": self.rows,
            "note": self.note,
            "load": list(self.load),
        }


def _shown(figure: object, form: str) -> str:
    return "" if figure is None else format(figure, form)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of an ordered, non-empty sequence lies."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def load() -> float:
    """How many processes wanted a core in the last minute; 2 fills a machine of two."""
    return os.getloadavg()[0]


def machine() -> Figures:
    """What the figures were measured on."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith(("model name", "Model"))
        ),
        platform.machine(),
    )
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": sys.version.split()[0],
        "versions": {name: version(name) for name in PEERS},
    }
