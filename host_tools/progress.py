"""How far a long piece of work has come, shown where a person looks on, after its first second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from firmware.clock import Clock
from host_tools.terminal import Console

Item = TypeVar("Item")


def shown(items: Iterable[tuple[float, Item]], name: str, total: float) -> Iterator[Item]:
    """The items themselves; each comes with how much of `total` is done once it is taken."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from (item for _, item in items)
        return
    clock = Clock()
    due_s = clock.mono_s() + 1.0
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(name, total=total)
    try:
        for done, item in items:
            if clock.mono_s() >= due_s:
                bar.start()
                bar.update(task, completed=done)
                due_s = clock.mono_s() + 0.1
            yield item
    finally:
        bar.stop()
