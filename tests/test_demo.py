"""The demo: what its ride shows, that the real programs play it, and that Ctrl-C ends it well."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from firmware.journal import reader, seal

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "host_tools" / "demo" / "demo.drive"
SHORT = ROOT / "tests" / "drives" / "live.drive"


def sledwarden(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "host_tools.cli", *arguments]


def test_its_ride_shows_each_warning_that_it_promises() -> None:
    shown = subprocess.run(
        sledwarden("replay", str(DEMO), "--alerts", "--json"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    alerts = [json.loads(line) for line in shown.stdout.splitlines()]
    raised = [(one["alert"], one["clause"]) for one in alerts if one["state"] == "raised"]
    for wanted in (
        ("over-speed", "350.10(1)(gm)"),
        ("head-lamp-out", "350.09(2)(b)"),
        ("zone-ahead", "350.10(1)(i)"),
        ("zone-speed", "350.10(1)(i)"),
        ("zone-ahead", "350.10(1)(g)"),
        ("tether-out", "350.09(9)"),
    ):
        assert wanted in raised
    assert ("zone-speed", "350.10(1)(g)") not in raised  # this time the rider brakes in time


def test_night_begins_in_it_by_the_sun_at_the_place() -> None:
    found = subprocess.run(
        sledwarden("replay", str(DEMO), "--findings", "--json"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    findings = [json.loads(line) for line in found.stdout.splitlines()]
    first = next(one for one in findings if one["verdict"] == "violation")
    # Half an hour after sunset there is 02:21:41Z, by an almanac; the car was at 64 mph.
    assert first["clause"] == "350.10(1)(gm)"
    assert "2005-09-26T02:21:40Z" < first["t"] < "2005-09-26T02:21:48Z"
    assert 63.0 < first["value"] < 65.0
    assert first["limit"] == 55.0


def test_the_real_programs_play_a_ride_and_its_journal_replays(tmp_path: Path) -> None:
    run = subprocess.run(
        sledwarden(
            "demo", "--drive", str(SHORT), "--speed", "10", "--into", str(tmp_path), "--no-browser"
        ),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "SLOW DOWN LIMIT 55" in run.stdout
    assert "replays record for record" in run.stdout
    assert "whole: " in run.stdout  # fetched through the service port, and proven
    page = (tmp_path / "ride.html").read_text(encoding="utf-8")
    assert "350.10(1)(gm)" in page


def test_ctrl_c_ends_it_with_the_journal_sealed(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        sledwarden(
            "demo", "--drive", str(SHORT), "--speed", "1", "--into", str(tmp_path), "--no-browser"
        ),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    assert demo.stdout is not None
    seen = ""
    until_s = time.monotonic() + 60.0
    while "mph" not in seen and time.monotonic() < until_s:
        seen += demo.stdout.readline()
    demo.send_signal(signal.SIGINT)
    rest, _ = demo.communicate(timeout=60)
    assert demo.returncode == 0, seen + rest
    assert "Traceback" not in rest
    for boot in reader.boots(tmp_path / "journal"):  # the ride, and the boot that it is fetched in
        for segment in reader.segments(boot):
            assert seal.check(segment).verdict == "whole"


def test_the_page_is_up_from_the_start_and_ends_with_the_ride(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        sledwarden(
            "demo", "--drive", str(SHORT), "--speed", "1", "--into", str(tmp_path), "--no-browser"
        ),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert demo.stderr is not None
    said = demo.stderr.readline()
    found = re.fullmatch(r"The live page of this ride: (http://127\.0\.0\.1:\d+/)\n", said)
    assert found is not None, said
    with urllib.request.urlopen(f"{found[1]}events", timeout=20) as events:
        lines = (line for line in events if line.startswith(b"data: "))
        assert json.loads(next(lines)[6:])["is_paired"] is False
        assert any(b'"life":"live"' in line for line in lines)
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate(timeout=60)
    assert demo.returncode == 0
    assert "Traceback" not in said
    with pytest.raises(urllib.error.URLError, match="Connection refused"):
        urllib.request.urlopen(found[1], timeout=20)
