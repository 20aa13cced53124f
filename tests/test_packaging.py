"""The package as a stranger gets it: the wheel, in a clean environment, with no more than it asks.

Nothing is fetched: what the wheel requires is linked from the environment that runs the tests.
"""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXTRA_OF = {
    "sledwardend": "unit",
    "sledwarden-dash": "unit",
    "sledwarden-page": "unit",
    "sledwarden-link": "unit",
    "sledwarden": "host",
}
"""The one extra that each program needs; a new program gets its line."""


def _setup() -> configparser.ConfigParser:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup


def _programs() -> dict[str, str]:
    lines = _setup()["options.entry_points"]["console_scripts"].strip().splitlines()
    return {name.strip(): place.strip() for name, _, place in (one.partition("=") for one in lines)}


def _needs(requirements: str) -> list[str]:
    """The names in a list of requirements, those of another machine's architecture left out."""
    lines = [line for line in requirements.strip().splitlines() if "platform_machine" not in line]
    return [re.split(r"[<>=;\[ ]", line.strip())[0] for line in lines]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy, so that the checkout stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for package in ("firmware", "host_tools"):
        shutil.copytree(
            ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("setup.cfg", "pyproject.toml", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--no-index", "--wheel-dir", folder, source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


class Stranger:
    """A fresh environment with the wheel and what it requires, and nothing else."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.bin = folder / "bin"
        venv = [sys.executable, "-m", "venv", "--without-pip", folder]
        subprocess.run(venv, check=True, capture_output=True)
        (self.packages,) = folder.glob("lib/python*/site-packages")
        pip = [sys.executable, "-m", "pip", "--python", self.bin / "python", "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", wheel], check=True)
        for name in _needs(_setup()["options"]["install_requires"]):
            self.give(name)

    def give(self, name: str) -> None:
        """Links an installed library, and those that it requires itself."""
        for found in _with_requirements(name):
            # An old pip lists for a library without a wheel what it did not put there.
            tops = {file.parts[0] for file in found.files or ()}
            tops |= set((found.read_text("top_level.txt") or "").split())
            for top in tops - {"..", "__pycache__"}:
                target, source = self.packages / top, Path(str(found.locate_file(top)))
                if source.exists() and not target.exists():
                    target.symlink_to(source)

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / program, *words], capture_output=True, text=True, check=False,
            cwd=self.bin, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )  # fmt: skip


def _with_requirements(name: str, seen: set[str] | None = None) -> Iterator[metadata.Distribution]:
    seen = set() if seen is None else seen
    if name.lower() in seen:
        return
    seen.add(name.lower())
    found = metadata.distribution(name)
    yield found
    for line in found.requires or ():
        if "extra ==" in line:
            continue
        try:
            yield from _with_requirements(re.split(r"[<>=!~;\[ (]", line)[0], seen)
        except metadata.PackageNotFoundError:
            continue  # for another Python or system: the marker did not hold here


@pytest.fixture
def stranger(tmp_path: Path, wheel: Path) -> Stranger:
    return Stranger(tmp_path / "venv", wheel)


def test_every_program_has_its_extra() -> None:
    assert EXTRA_OF.keys() == _programs().keys()
    assert set(EXTRA_OF.values()) <= _setup()["options.extras_require"].keys()


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    wanted = {
        str(path.relative_to(ROOT))
        for package in ("firmware", "host_tools") for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }  # fmt: skip
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert sorted(wanted - inside) == [], "package_data in setup.cfg misses them"
    assert sorted(inside - wanted) == []


def test_the_wheel_has_the_licence_and_the_version(wheel: Path) -> None:
    from firmware import __version__

    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert wheel.name == f"sledwarden-{__version__}-py3-none-any.whl"
    assert any(re.search(r"\.dist-info/(licenses/)?LICENSE$", name) for name in names)


@pytest.mark.parametrize("program", EXTRA_OF)
def test_a_program_asks_for_its_own_extra_and_helps_with_that_alone(
    program: str, stranger: Stranger
) -> None:
    extra = EXTRA_OF[program]
    done = stranger.run(program, "--help")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.fullmatch(
        rf"{program}: \S+ is not installed: .* were expected\. "
        rf"Install them with: pip install 'sledwarden\[{extra}\]'\n",
        done.stderr,
    ), done.stderr
    for name in _needs(_setup()["options.extras_require"][extra]):
        stranger.give(name)
    done = stranger.run(program, "--help")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "usage: " in done.stdout.lower()
    assert done.stderr == ""


def test_the_laws_and_the_time_zones_are_there_without_an_extra(stranger: Stranger) -> None:
    words = "from firmware.config import reading\nfrom firmware.law import packs as law\n"
    words += "law.load('wi')\nimport zoneinfo\n"
    words += "zoneinfo.reset_tzpath(())\nreading.parse('[unit]\\nid = \"a\"', 'x')"
    done = stranger.run("python", "-W", "error", "-c", words)
    assert done.returncode == 0, done.stderr


def test_every_door_is_an_extra_that_setup_cfg_names() -> None:
    """A library that a file imports is one that an installation brings."""
    from test_layering import DOORS

    setup = _setup()
    given = {
        name.lower() for text in (setup["options"]["install_requires"],
                                  setup["options.extras_require"]["unit"],
                                  setup["options.extras_require"]["host"]) for name in _needs(text)
    }  # fmt: skip
    packages = {"serial": "pyserial", "PIL": "pillow", "luma": "luma.oled"}
    assert {packages.get(door, door) for door in DOORS} <= given
