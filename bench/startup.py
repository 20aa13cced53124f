"""From exec to the first judged fix, and which modules the start is made of."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.daemons import Daemon, has_fix, is_night_judged
from bench.line import ENVIRONMENT, ROOT, Line
from bench.report import Column, Figures, Table

RUNS = 9
STREAM_EPOCHS = 6000

NOTE = (
    "Wall time; medians of starts in turn, files in the page cache. The receiver streams 10 Hz x "
    "6 sentences all the while; the journal's folder is fresh, with a key to be made. Seen by a "
    "client that knocks at the feed's socket each millisecond. A date is believed once several "
    "sentences agree on it, so the night limit comes some epochs later."
)

COLUMNS = (
    Column("what", "what"),
    Column("ms", "ms", ",.0f"),
    Column("least_ms", "least", ",.0f"),
    Column("most_ms", "most", ",.0f"),
    Column("ratio", "of python -c pass", ".1f"),
)

IMPORT_NOTE = (
    "`python -X importtime -c 'import firmware.daemon'`: own time of each package's modules, "
    "medians; the tracing itself makes it slower. Packages under 1 ms are summed."
)

IMPORT_COLUMNS = (
    Column("package", "package"),
    Column("ms", "ms", ",.1f"),
    Column("modules", "modules", ",d"),
)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Starts the daemon and its yardsticks in turn."""
    table = Table("startup", "Exec to the first judged fix", COLUMNS, note=NOTE)
    took_ms: dict[str, list[float]] = defaultdict(list)
    runs = max(3, round(RUNS * share))
    _python("import firmware.daemon")  # compiles what is not compiled yet
    with (
        tempfile.TemporaryDirectory(prefix="sledwarden-bench-") as name,
        Line("stream", STREAM_EPOCHS) as line,
    ):
        line.begin()
        for number in range(runs):
            say(f"startup: start {number + 1} of {runs}")
            took_ms["python -c pass"].append(_python("pass"))
            took_ms["python -c 'import firmware.daemon'"].append(_python("import firmware.daemon"))
            with Daemon.at(line.port, Path(name)) as daemon:
                fix_s = night_s = 0.0
                for came_s, state in daemon.states():
                    fix_s = fix_s or (came_s if has_fix(state) else 0.0)
                    if is_night_judged(state):
                        night_s = came_s
                        break
                took_ms["sledwardend: first fix judged"].append((fix_s - daemon.begun_s) * 1e3)
                took_ms["sledwardend: night limit judged"].append((night_s - daemon.begun_s) * 1e3)
                daemon.end()
    peer_ms = median(took_ms["python -c pass"])
    for what, each_ms in took_ms.items():
        row: Figures = {"what": what, "ms": median(each_ms), "runs_ms": each_ms}
        row |= {"least_ms": min(each_ms), "most_ms": max(each_ms), "ratio": row["ms"] / peer_ms}
        table.rows.append(row)
    return table


def _python(code: str) -> float:
    begin_s = time.monotonic()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=ENVIRONMENT, check=True)
    return (time.monotonic() - begin_s) * 1e3


def measure_imports(share: float, say: Callable[[str], None]) -> Table:
    """What the daemon imports at its start, by package."""
    table = Table("imports", "Imports of the daemon", IMPORT_COLUMNS, note=IMPORT_NOTE)
    runs: list[dict[str, float]] = []
    modules: dict[str, int] = {}
    _python("import firmware.daemon")
    for number in range(max(3, round(RUNS * share))):
        say(f"imports: run {number + 1}")
        own_ms: dict[str, float] = defaultdict(float)
        modules = defaultdict(int)
        for package, each_ms in _imports():
            own_ms[package] += each_ms
            modules[package] += 1
        runs.append(own_ms)
    known = {package: median(run.get(package, 0.0) for run in runs) for package in modules}
    small = [package for package, ms in known.items() if ms < 1.0]
    for package, ms in sorted(known.items(), key=lambda one: -one[1]):
        if package not in small:
            table.rows.append({"package": package, "ms": ms, "modules": modules[package]})
    for name, packages in (("(others)", small), ("all", list(known))):
        ms, count = sum(known[one] for one in packages), sum(modules[one] for one in packages)
        table.rows.append({"package": name, "ms": ms, "modules": count})
    return table


def _imports() -> list[tuple[str, float]]:
    """Each module that is imported: its package and its own milliseconds."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import firmware.daemon"],
        cwd=ROOT,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = re.findall(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", ended.stderr, re.MULTILINE)
    return [(_package(module), int(own_us) / 1e3) for own_us, module in lines]


def _package(module: str) -> str:
    first = module.partition(".")[0]
    return "(standard library)" if first in sys.stdlib_module_names or first[0] == "_" else first
