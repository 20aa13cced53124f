"""The rule of `conftest.py`, tried on planted skips."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = {
    "test_by_call.py": "import pytest\ndef test_one():\n    pytest.skip('no gpsd')\n",
    "test_by_mark.py": "import pytest\n@pytest.mark.skip(reason='no gpsd')\ndef test_one(): pass\n",
    "test_by_module.py": "import pytest\npytest.skip('no gpsd', allow_module_level=True)\n",
}


def run(folder: Path, *, no_skip: bool) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if key != "SLEDWARDEN_NO_SKIP"}
    if no_skip:
        environ["SLEDWARDEN_NO_SKIP"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)],
        capture_output=True, text=True, env=environ, cwd=folder, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", PLANTED)
def test_every_way_of_skipping_is_a_failure_under_the_rule(folder: Path, name: str) -> None:
    (folder / name).write_text(PLANTED[name])
    done = run(folder, no_skip=True)
    assert done.returncode != 0, done.stdout
    assert "no gpsd; SLEDWARDEN_NO_SKIP=1 makes a skip a failure" in done.stdout


def test_a_skip_is_a_skip_without_the_rule(folder: Path) -> None:
    for name, text in PLANTED.items():
        (folder / name).write_text(text)
    done = run(folder, no_skip=False)
    assert "3 skipped" in done.stdout
    assert "failed" not in done.stdout
