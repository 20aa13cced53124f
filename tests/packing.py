"""What the tests of zone packs share: packs made of shapes, and packs opened together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import shapely
from shapely.geometry.base import BaseGeometry

from firmware.maps.packs import Pack
from host_tools.packs import build as packs
from host_tools.packs.rows import Row


def row(kind: str, ident: str, shape: BaseGeometry | None, **told: str) -> Row:
    """A feature on its way into a pack."""
    wkb = None if shape is None else shapely.to_wkb(shape)
    return packs.row("test", 0, wkb, {"kind": kind, "id": ident, **told})


def pack_of(path: Path, *rows: Row) -> Path:
    packs.write(rows, path)
    return path


@contextmanager
def opened(*paths: Path) -> Iterator[list[Pack]]:
    with ExitStack() as held:
        yield [held.enter_context(closing(Pack(path))) for path in paths]
