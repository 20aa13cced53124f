"""A journal of three boots behind a port, and how it is fetched: what the tests share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journal_samples import written
from port_rig import Rig

from host_tools.port.contact import Contact
from host_tools.port.fetching import Download, Result, Watcher
from host_tools.port.sled import LostError, Way

CUTS = 100
SHUT = "the port is shut: hold the rider's button when the glass asks, then try again."


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of three boots."""
    folder = tmp_path_factory.mktemp("template")
    for count in (60, 10, 90):
        written(folder / "journal", count)
    return folder


@pytest.fixture
def rig(template: Path, tmp_path: Path) -> Iterator[Rig]:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Rig(tmp_path / "journal") as made:
        made.open()
        yield made


class Seen(Watcher):
    """Keeps what a person would have seen."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.lost_for: list[str] = []
        self.bytes = 0

    def opening(self, session: Any) -> None:
        self.opened.append(session.why)

    def lost(self, fault: LostError, left_s: float) -> None:
        assert left_s >= 0
        self.lost_for.append(str(fault))

    def came(self, count: int) -> None:
        self.bytes += count


def fetch(rig: Rig, into: Path, **how: Any) -> Result:
    how = {"wait_s": 0.0, "hold_s": 0.0} | how
    watcher = how.pop("watcher", Watcher())
    on_open = how.pop("on_open", None)
    contact = Contact(Way(rig.port.port), onlooker=watcher, **how)
    return Download(contact, into, watcher, on_open).run()


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.mcap*"))
    }


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def newest(folder: Path) -> Path:
    return sorted((folder / "journal").glob("*/*.mcap"))[-1]
