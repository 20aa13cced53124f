"""`sledwarden mode` against a real daemon."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from daemons import Daemon

LIVE = Path(__file__).parent / "drives" / "live.drive"


def mode(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "host_tools.cli", "mode", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_mode_is_set_while_standing_and_refused_while_moving(tmp_path: Path) -> None:
    with Daemon(tmp_path, "--simulate", str(LIVE), "--speed", "1") as daemon:
        feed = ("--feed", str(daemon.feed_path))
        daemon.wait_for(lambda state: state.speed_mph == 0.0)
        on = mode("race", "on", "--by", "Invented club", *feed)
        assert (on.returncode, on.stdout) == (0, "race mode is on.\n"), on.stderr
        state = daemon.wait_for(lambda state: (state.speed_mph or 0.0) > 5.0)
        assert state.modes == ("race",)
        off = mode("race", "off", *feed)
        assert off.returncode == 1
        assert off.stderr == (
            "mode: race off: refused, the sled does not surely stand. "
            "Stop it, with a GPS fix or with its engine off.\n"
        )


def test_no_unit_and_no_such_mode_are_told(tmp_path: Path) -> None:
    away = mode("race", "on", "--feed", str(tmp_path / "feed.sock"))
    assert away.returncode == 1
    assert "no unit is heard" in away.stderr
    wrong = mode("party", "on")
    assert wrong.returncode == 1
    assert wrong.stderr == "mode: party: must be one of race, maker_test, family_land.\n"
