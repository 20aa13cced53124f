"""Node.js and the npm packages that tests use as judges, installed once and only when needed."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "node"
PATIENCE_S = 120.0


def node_packages() -> Path:
    """The folder of the installed packages; skips, with the reason, where there can be none."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (apt-get install nodejs npm)")
    installed = FOLDER / "node_modules"
    lock = FOLDER / "package-lock.json"
    # one process installs, and the others wait for it
    with (FOLDER / "package.json").open() as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        mark = installed / ".sledwarden-lock"
        if not mark.exists() or mark.read_bytes() != lock.read_bytes():
            _install()
            shutil.copy(lock, mark)
    return installed


def _install() -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm ci took too long: is there a network?")
    if done.returncode != 0:
        pytest.skip(f"npm ci failed: {done.stderr.strip()[-300:]}")
