"""Every example of the README and of docs/ is run: in a folder with the files that it names, at a
port of a unit that stands and whose rider has held the button."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest
import rides
from inspecting import GOOD
from journal_samples import written
from port_rig import Rig
from test_docs import PAPERS, ROOT, _text, examples_of

HOST = f"127.{os.getpid() >> 16 & 127}.{os.getpid() >> 8 & 255}.{os.getpid() % 250 + 3}"
"""A loopback address of this process's own: an SMP client speaks to port 1337."""

LAKE = """{"type": "FeatureCollection", "features": [
 {"type": "Feature", "properties": {"kind": "dwelling", "id": "1", "name": "The house"},
  "geometry": {"type": "Point", "coordinates": [-88.41, 44.05]}},
 {"type": "Feature", "properties": {"kind": "coverage", "id": "all", "name": "all"},
  "geometry": {"type": "Polygon", "coordinates": [[[-89, 44], [-88, 44], [-88, 45], [-89, 45],
   [-89, 44]]]}}]}
"""

HOUSES = """{"type": "FeatureCollection", "features": [
 {"type": "Feature", "properties": {},
  "geometry": {"type": "Polygon", "coordinates": [[[-88.5, 44.5], [-88.4999, 44.5],
   [-88.4999, 44.5001], [-88.5, 44.5]]]}}]}
"""

ANSWERS_NO = (
    "sledwarden check",
    "sledwarden mode",
    "sledwarden service",
    "sledwarden download",
    "sledwarden zones marks",
    "sledwarden race prove",
)
"""What asks the unit of this very machine: there is none, which is told, and the code is not 0."""

IS_A_NO = ("sledwarden race show", "sledwarden inspect --check sled-7.html --signer")
"""What is answered with no: the example's race is over, and PUBLICKEY is not who signed."""

ELSEWHERE = {
    "sledwarden demo": "test_demo",
    "sledwarden-page": "test_page",
    "sledwarden-dash": "test_dash",
    "sledwarden-link": "test_link_program",
    "sledwardend --simulate": "test_daemon",
    "sledwarden zones build wi.osm.pbf": "test_packs",
    "sledwarden inspect --year": "test_inspect_command",
    "sledwarden inspect --vehicle": "test_inspect_command",
}
"""What goes on until it is ended, asks a person, or builds over a pack that others name: run by the
tests of these names."""

STOCK = re.findall(r"^smpmgr .*$", _text(ROOT / "docs" / "link.md"), re.M)


def _commands() -> list[str]:
    found: dict[str, None] = {}
    for paper in PAPERS:
        if paper.name == "CHANGELOG.md":  # what was, not what is
            continue
        for one in examples_of(_text(paper)):
            found[shlex.join(shlex.split(one.split(" | ")[0], comments=True))] = None
    return list(found)


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Path]]:
    folder = tmp_path_factory.mktemp("unit")
    written(folder / "journal", 60)
    with Rig(folder / "journal", (HOST, 1337)) as rig:
        rig.open()
        yield rig, folder / "journal"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, unit: tuple[Rig, Path]) -> Path:
    """A folder with what the examples name."""
    folder = tmp_path_factory.mktemp("world")
    for name in ("tests", "hardware", "host_tools"):
        (folder / name).symlink_to(ROOT / name)
    logs = ROOT / "tests" / "data" / "nmea"
    shutil.copy(logs / "dotmorten_tahoe_dusk.log", folder / "ride.log")
    (folder / "demo-ride").mkdir()
    rides.journal_of(rides.NIGHT, folder / "demo-ride" / "journal")
    (folder / "lake.geojson").write_text(LAKE)
    shutil.copy(ROOT / "hardware" / "sledwarden.toml", folder)
    for name in ("lake", "wi", "wi-2025", "vilas", "osm", "houses", "houses-2024", "club"):
        shutil.copy(rides.LAKE, folder / f"{name}.gpkg")
    for name in ("club", "wisconsin"):
        (folder / f"{name}.geojson").write_text(LAKE)
    with zipfile.ZipFile(folder / "Wisconsin.geojson.zip", "w") as archive:
        archive.writestr("Wisconsin.geojson", HOUSES)
    for name in ("wi", "wisconsin-latest"):
        shutil.copy(ROOT / "tests" / "data" / "zones" / "town.osm.pbf", folder / f"{name}.osm.pbf")
    (folder / "owner.txt").write_text(f"{pyrage.x25519.Identity.generate()}\n")
    answers = {
        "vehicle": "snowmobile",
        "serial": "A-1",
        "by": "Name",
        "answers": GOOD["snowmobile"],
    }
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "ride.drive").write_text(rides.CLEAN)
    for command in (
        "export demo-ride/journal --to gpx -o ride.gpx",
        f"download --port {unit[0].port.port} --into rides",
        "race token Derby --place 45.917,-89.244 --radius 2000 --from 2026-01-17T18:00 "
        "--to 2026-01-17T23:00 -o derby.token",
        "inspect --answers answers.json --key dealer.key -o sled-7.html",
    ):
        done = _run([sys.executable, "-m", "host_tools.cli", *command.split()], folder)
        assert done.returncode == 0, done.stderr
    return folder


def _run(words: list[str], at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=at,
        check=False,
        env={**os.environ, "COLUMNS": "300", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize(
    "command", [one for one in _commands() if not one.startswith(tuple(ELSEWHERE))]
)
def test_an_example_runs(command: str, world: Path, unit: tuple[Rig, Path]) -> None:
    words = shlex.split(command)
    module = {"sledwarden": "host_tools.cli", "sledwardend": "firmware.daemon"}[words[0]]
    words = [
        {"/dev/ttyS0": unit[0].port.port, "192.168.7.2": HOST,
         "/etc/sledwarden/sledwarden.toml": str(ROOT / "hardware" / "sledwarden.toml"),
         "FILE": str(ROOT / "hardware" / "sledwarden.toml"), "PUBLICKEY": "0" * 64}.get(word, word)
        for word in words
    ]  # fmt: skip
    if "-o" in words:
        (world / words[words.index("-o") + 1]).unlink(missing_ok=True)
    done = _run([sys.executable, "-m", module, *words[1:]], world)
    assert "Traceback" not in done.stderr
    asks_here = command.startswith(ANSWERS_NO) and "--port" not in words and "--udp" not in words
    if asks_here:
        assert done.returncode in (1, 2), done.stdout
        assert "unit" in done.stdout + done.stderr
    else:
        assert done.returncode == command.startswith(IS_A_NO), done.stdout + done.stderr


@pytest.mark.parametrize("line", [one for one in STOCK if " upload " not in one])
def test_an_example_with_the_stock_client_runs(
    line: str, unit: tuple[Rig, Path], tmp_path: Path
) -> None:
    rig, journal = unit
    (segment,) = journal.glob("*/*.mcap")
    words = [
        word.replace("/dev/ttyACM0", rig.port.port)
        .replace("192.168.7.2", HOST)
        .replace("000017-5f0c2a91", segment.parent.name)
        for word in shlex.split(line)
    ]
    done = _run([sys.executable, "-m", *words], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_run_elsewhere_is_run_there() -> None:
    for test in ELSEWHERE.values():
        assert (ROOT / "tests" / f"{test}.py").exists()
    assert len(STOCK) >= 3
