"""A journal whose segments were stored compressed tells the desk's tools what it told before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import rides
from typer.testing import CliRunner, Result

from firmware.journal import folder, stored
from firmware.journal.keeper import Keeper
from firmware.journal.seal import Key
from host_tools.cli import app


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A night's journal as the unit stores it, and with its segments as they were sealed; both with
    the ledger, without which a stored segment is not whole."""
    at = tmp_path_factory.mktemp("night")
    key = Key.make()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Key, "make", lambda: key)  # the copy throws its own away
        rides.journal_of(rides.NIGHT, at / "stored")
    keeper = Keeper(at / "stored", "desk")
    keeper.begin(key)
    keeper.forget(0, None, "dash", 0)
    assert keeper.wait(60.0)
    assert keeper.stop(60.0)
    shutil.copytree(at / "stored", at / "sealed")
    for place in folder.segments(at / "sealed"):
        assert place.path.suffix == ".zst"
        raw = stored.unpacked(place.path.read_bytes(), str(place.path))
        stored.raw_path(place.path).write_bytes(raw)
        place.path.unlink()
    yield at / "sealed", at / "stored"


def test_it_verifies_alike(pair: tuple[Path, Path]) -> None:
    done = [_run("verify", one, "--json") for one in pair]
    first, second = (json.loads(one.stdout) for one in done)
    for one in (*first["segments"], *second["segments"]):
        one["name"] = one["name"].removesuffix(".zst")
    assert [one.exit_code for one in done] == [0, 0]
    assert first == second
    assert first["verdict"] == "whole"


@pytest.mark.parametrize("to", ["gpx", "geojson", "kml", "csv"])
def test_it_is_exported_alike(pair: tuple[Path, Path], tmp_path: Path, to: str) -> None:
    outs = [tmp_path / f"{one.name}.{to}" for one in pair]
    for one, out in zip(pair, outs, strict=True):
        assert _run("export", one, "--to", to, "-o", out).exit_code == 0
    first, second = (out.read_bytes() for out in outs)
    assert first == second


def test_it_is_reported_alike(pair: tuple[Path, Path], tmp_path: Path) -> None:
    outs = [tmp_path / f"{one.name}.html" for one in pair]
    for one, out in zip(pair, outs, strict=True):
        assert _run("report", one, "-o", out).exit_code == 0
    first, second = (out.read_text().replace(".mcap.zst", ".mcap") for out in outs)
    assert first == second


def test_it_replays_record_for_record(pair: tuple[Path, Path]) -> None:
    done = [_run("replay", one, "--findings") for one in pair]
    assert [one.exit_code for one in done] == [0, 0]
    assert done[0].stdout == done[1].stdout
    assert "replays record for record" in done[1].stdout


def test_a_stored_segment_alone_and_a_folder_of_them_are_read(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    place, *_ = folder.segments(pair[1])
    loose = tmp_path / "sent.mcap.zst"
    shutil.copy(place.path, loose)
    for named in (place.path, loose, tmp_path):
        done = _run("verify", named, "--json")
        assert (done.exit_code, json.loads(done.stdout)["verdict"]) == (0, "whole"), named


def test_a_stored_segment_that_is_cut_is_told_and_no_traceback(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    place, *_ = folder.segments(pair[1])
    cut = tmp_path / "cut.mcap.zst"
    cut.write_bytes(place.path.read_bytes()[:-100])
    told = _run("verify", cut)
    assert told.exit_code == 1
    assert "can't be unpacked" in told.stdout
    told = _run("report", cut, "-o", tmp_path / "ride.html")
    assert told.exit_code == 1
    assert told.stderr.startswith(f"{cut}: can't be unpacked")
