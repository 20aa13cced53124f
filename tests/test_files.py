"""What a person names is a regular file, or is refused in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware.dash.base import Fitting
from firmware.dash.panel_png import Png
from firmware.errors import SledwardenError, ZoneError
from firmware.files import refuse_to_replace, whole
from host_tools import packs
from host_tools.saving import saved

ROOT = Path(__file__).parent.parent
RUN = [sys.executable, "-c", "from host_tools.cli import main; main()"]
MAP = (
    '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": '
    '{"kind": "dwelling"%s}, "geometry": {"type": "Point", "coordinates": [-88.4, 44.0]}}]}'
)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def fifo(folder: Path) -> Path:
    path = folder / "pipe"
    os.mkfifo(path)
    return path


def link(folder: Path) -> Path:
    target = folder / "target"
    target.write_text("kept")
    path = folder / "link"
    path.symlink_to(target)
    return path


@pytest.mark.parametrize("make", [fifo, link])
def test_what_is_no_regular_file_is_not_replaced(make: object, tmp_path: Path) -> None:
    path: Path = make(tmp_path)  # type: ignore[operator]  # one of the two above
    before = path.lstat()
    with pytest.raises(SledwardenError) as told, saved(path, is_forced=True):
        raise AssertionError("it was let in")
    assert str(told.value) == f"{path}: is no regular file: it is not replaced; name a new file."
    with pytest.raises(ZoneError, match="is no regular file: it is not replaced"):
        packs.write([], path)
    with pytest.raises(SledwardenError, match="is no regular file: it is not replaced"):
        Png.fit(Fitting(png=path))
    assert path.lstat().st_ino == before.st_ino
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(".")) == []


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(SledwardenError, match=r"^/dev/null: is no regular file"):
        refuse_to_replace(Path("/dev/null"))


def test_a_file_is_replaced_where_forced(tmp_path: Path) -> None:
    path = tmp_path / "ride.gpx"
    path.write_text("old")
    with saved(path, is_forced=True) as beside:
        beside.write_text("new")
    assert path.read_text() == "new"


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_bytes(b"x" * 10)
    assert whole(path, "a key", 10) == b"x" * 10
    with pytest.raises(SledwardenError) as told:
        whole(path, "a key", 9)
    assert str(told.value) == f"{path}: is too long: a key of at most 9 bytes was expected."


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_read(path: str) -> None:
    with pytest.raises(SledwardenError) as told:
        whole(Path(path), "a key", 10)
    assert str(told.value) == f"{path}: is no regular file: a key was expected."
