"""`python -m bench`: measures, prints the tables, and writes them with `--json FILE`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bench import (
    desk,
    download,
    footprint,
    gpsd,
    journal,
    latency,
    page,
    receivers,
    replay,
    sizes,
    startup,
    step,
    town,
    verifying,
    zones,
)
from bench.report import Figures, Table, load, machine

WIDTH = 130
"""Letters a line where the tables go into a file."""

Measure = Callable[[float, Callable[[str], None]], Table]

SUBJECTS: dict[str, Measure] = {
    "step": step.measure,
    "town": town.measure,
    "replay": replay.measure,
    "startup": startup.measure,
    "imports": startup.measure_imports,
    "footprint": footprint.measure,
    "desk": desk.measure,
    "latency": latency.measure,
    "gpsd": gpsd.measure,
    "receivers": receivers.measure,
    "parsing": receivers.measure_cost,
    "download": download.measure,
    "journal": journal.measure,
    "verify": verifying.measure,
    "sizes": sizes.measure,
    "page": page.measure,
    "zones": zones.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks beside peers.")
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}; all without any")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    arguments = parser.parse_args()
    unknown = [one for one in arguments.subjects if one not in SUBJECTS]
    if unknown:
        parser.error(f"{unknown[0]}: must be one of {', '.join(SUBJECTS)}")
    share = 0.1 if arguments.quick else 1.0
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    about = machine()
    console.print(
        f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, Python {about['python']}"
    )
    tables: list[Figures] = []
    for name in arguments.subjects or SUBJECTS:
        before = load()
        with Console(stderr=True).status(name) as status:
            table = SUBJECTS[name](share, status.update)
        table.load = (before, load())
        table.show(console)
        tables.append(table.plain())
        if arguments.json is not None:  # after each subject: an hour's figures survive a Ctrl-C
            figures = {"machine": about, "quick": arguments.quick, "tables": tables}
            arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
