"""The demo: what its ride shows, that the real programs play it, and that Ctrl-C ends it well."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from firmware.buses.uart import Uart
from firmware.clock import Clock
from firmware.drives import script_text
from firmware.journal import reader, succession
from firmware.simulate import Stage
from firmware.sources.drive import config_of

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
            "demo", "--drive", str(SHORT), "--speed", "20", "--into", str(tmp_path), "--no-browser"
        ),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "SLOW DOWN LIMIT 55" in run.stdout
    assert "no unit | " not in run.stdout.partition("mph")[2]  # nor when it ends by itself
    assert "replays record for record" in run.stdout
    assert "whole: " in run.stdout  # fetched through the service port, and proven
    page = (tmp_path / "ride.html").read_text(encoding="utf-8")
    assert "350.10(1)(gm)" in page


class Demo:
    """A demo with a process group of its own, as in a terminal; a context that leaves nothing."""

    def __init__(self, into: Path, *, speed: str = "1") -> None:
        self.into = into
        self.temporary = into / "tmp"
        self.temporary.mkdir(parents=True)
        self.process = subprocess.Popen(
            sledwarden(
                "demo", "--drive", str(SHORT), "--speed", speed, "--into", str(into),
                "--no-browser",
            ),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env=os.environ | {"TMPDIR": str(self.temporary)},
        )  # fmt: skip
        self.seen = ""

    def wait_for_the_ride(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.seen += line
            if "mph" in line:
                return
        raise AssertionError(self.seen)

    def children(self) -> list[int]:
        """The processes that it has started and that still run."""
        return [
            int(stat.parent.name)
            for stat in Path("/proc").glob("[0-9]*/stat")
            if parent_of(stat) == self.process.pid
        ]

    def finish(self) -> str:
        rest, _ = self.process.communicate(timeout=60)
        return self.seen + rest

    def __enter__(self) -> Demo:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def parent_of(stat: Path) -> int | None:
    try:
        return int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:  # it has just ended
        return None


def runs(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody has waited for does not."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    until_s = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < until_s, what
        select.select([], [], [], 0.05)


def assert_sealed(journal: Path) -> None:
    for boot in reader.boots(journal):  # the ride, and the boot that it is fetched in
        for segment in reader.segments(boot):
            assert succession.check(segment).verdict == "whole"


@pytest.mark.parametrize("pauses_s", [(0.0,), (0.3,), (0.0, 0.02), (0.1, 0.3)], ids=str)
def test_ctrl_c_ends_it_silently_with_the_journal_sealed(
    pauses_s: tuple[float, ...], tmp_path: Path
) -> None:
    with Demo(tmp_path) as demo:
        demo.wait_for_the_ride()
        for pause_s in pauses_s:
            select.select([], [], [], pause_s)
            os.killpg(demo.process.pid, signal.SIGINT)
        said = demo.finish()
    assert demo.process.returncode == 0, said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert "no unit | " not in said.partition("mph")[2]
    assert "Ended by hand; the journal is sealed." in said
    assert_sealed(tmp_path / "journal")
    assert list(demo.temporary.iterdir()) == []


def test_a_second_ctrl_c_leaves_the_rest_out(tmp_path: Path) -> None:
    with Demo(tmp_path) as demo:
        demo.wait_for_the_ride()
        os.killpg(demo.process.pid, signal.SIGINT)
        assert demo.process.stdout is not None
        for line in demo.process.stdout:
            demo.seen += line
            if "Judged again" in line:
                break
        os.killpg(demo.process.pid, signal.SIGINT)
        said = demo.finish()
    assert demo.process.returncode == 0, said
    assert said.endswith("The rest was left out.\n")
    assert "Traceback" not in said
    assert_sealed(tmp_path / "journal")
    assert list(demo.temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM], ids=lambda one: one.name)
def test_a_closed_terminal_or_a_kill_ends_all_its_programs(
    number: signal.Signals, tmp_path: Path
) -> None:
    with Demo(tmp_path) as demo:
        demo.wait_for_the_ride()
        children = demo.children()
        assert len(children) == 3  # the daemon, the page and the glass
        demo.process.send_signal(number)
        said = demo.finish()
    assert demo.process.returncode == 0, said
    assert said.endswith("Ended by hand; the journal is sealed.\n")
    assert not any(map(runs, children))
    assert_sealed(tmp_path / "journal")
    assert list(demo.temporary.iterdir()) == []


def test_its_programs_end_in_order_when_it_is_killed_outright(tmp_path: Path) -> None:
    with Demo(tmp_path) as demo:
        demo.wait_for_the_ride()
        children = demo.children()
        assert len(children) == 3
        demo.process.kill()
        wait_until(lambda: not any(map(runs, children)), "a program outlives the demo")
    assert_sealed(tmp_path / "journal")
    assert not list(demo.temporary.glob("sledwarden-gps-*"))


def test_a_second_one_in_the_folder_says_who_uses_it(tmp_path: Path) -> None:
    with Demo(tmp_path) as demo:
        demo.wait_for_the_ride()
        second = subprocess.run(
            sledwarden("demo", "--drive", str(SHORT), "--into", str(tmp_path), "--no-browser"),
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        demo.process.send_signal(signal.SIGTERM)
        said = demo.finish()
    assert second.returncode == 1
    assert re.search(r"journal: is in use by process \d+: ", second.stderr), second.stderr
    assert "raised" not in second.stderr
    assert demo.process.returncode == 0, said


@pytest.mark.parametrize(
    ("size", "why"), [("28k", "it holds nothing of this ride"), ("400k", "its end is missing")]
)
def test_a_ride_whose_disk_was_full_is_called_incomplete(
    size: str, why: str, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)],
        capture_output=True, check=False,
    )  # fmt: skip
    if mounted.returncode != 0:
        if os.environ.get("SLEDWARDEN_NO_SKIP") == "1":
            pytest.fail(f"no small disk can be mounted: {mounted.stderr.decode()}")
        pytest.skip("a small disk can be mounted by root alone")
    try:
        run = subprocess.run(
            sledwarden(
                "demo", "--drive", str(SHORT), "--speed", "20", "--into", str(disk / "ride"),
                "--no-browser",
            ),
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        left = [path.name for path in disk.rglob("*.new")]
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert run.returncode == 1, run.stderr
    assert f": the journal is incomplete: {why}." in run.stderr
    assert "record for record" not in run.stdout
    assert "Traceback" not in run.stderr
    assert left == []


def _read_until(uart: Uart, ended: threading.Event) -> None:
    while not ended.is_set():
        uart.read(0.02)


def test_a_ride_that_can_not_keep_its_pace_is_played_slower_and_says_how_fast(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # A unit that takes five looks of a millisecond to judge what it heard: 0.3 s of a ride 60 times
    # as fast. Time waits for it, and so nothing that it hears is late.
    looks = count()
    drive = script_text.load(SHORT)
    clock = Clock(60.0, from_zero=True)
    ended = threading.Event()
    stage = Stage(drive, config_of(drive, None), clock)
    with closing(Uart(stage.wires.gps_port, 38_400)) as uart:
        reading = threading.Thread(target=_read_until, args=(uart, ended), daemon=True)
        reading.start()
        stage.start(lambda _reading: None, lambda _why: ended.set(), lambda: next(looks) % 6 == 5)
        wait_until(ended.is_set, "the drive goes on for ever")
        reading.join()  # before the wire goes: what is unplugged under a reader is a fault
        stage.stop()
    (said,) = caplog.messages
    found = re.fullmatch(
        r"played (\d+\.\d) times as fast, not 60: this machine can't keep that pace", said
    )
    assert found is not None, said
    assert 1.0 < float(found[1]) < 57.0


def test_it_rides_at_most_sixty_times_as_fast(tmp_path: Path) -> None:
    run = subprocess.run(
        sledwarden("demo", "--speed", "200", "--into", str(tmp_path)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert "0.1<=x<=60" in run.stderr


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
    with urllib.request.urlopen(f"{found[1]}events", timeout=60) as events:
        lines = (line for line in events if line.startswith(b"data: "))
        assert json.loads(next(lines)[6:])["is_paired"] is False
        assert any(b'"life":"live"' in line for line in lines)
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate(timeout=60)
    assert demo.returncode == 0
    assert "Traceback" not in said
    with pytest.raises(urllib.error.URLError, match="Connection refused"):
        urllib.request.urlopen(found[1], timeout=60)
