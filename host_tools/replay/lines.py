"""A replay as a person reads it: lines with local time, a summary, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from zoneinfo import ZoneInfo

from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from firmware.clock import Clock
from firmware.config.schema import Config
from firmware.findings import Alert, Finding, Verdict
from firmware.gps.fixes import EpochReport
from firmware.readings import Reading
from firmware.units import ft, mph
from host_tools.replay import replaying
from host_tools.replay.replaying import Summary, Told
from host_tools.terminal import Console

COLOURS = {
    Verdict.COMPLIANT: "green",
    Verdict.APPROACHING: "yellow",
    Verdict.UNSURE: "yellow",
    Verdict.VIOLATION: "bold red",
    Verdict.UNKNOWN: "magenta",
    Verdict.EXEMPT: "cyan",
}


def fix_line(report: EpochReport) -> str:
    """One epoch of `--fixes`."""
    when = "no date" if report.utc is None else replaying.iso(report.utc)
    speed = "  --.-" if report.speed_mps is None else f"{mph(report.speed_mps):6.1f}"
    track = "   --" if report.track_deg is None else f"{report.track_deg:5.0f}"
    derived = " derived" if report.derived else ""
    return (
        f"{when:24}  {report.lat_deg:11.6f} {report.lon_deg:12.6f}  {speed} mph  {track} deg  "
        f"{report.mode}D  +-{ft(report.error_m):.0f} ft{derived}"
    )


def shower(config: Config) -> Callable[[Told], None]:
    """Prints a line that a person reads: local time, what, how it stands, and why."""
    zone = ZoneInfo(config.unit.time_zone)
    console = Console(highlight=False, soft_wrap=True)

    def show(told: Told) -> None:
        if told.utc is None:
            when = f"{told.at_s:.1f} s"
        else:
            when = f"{told.utc.astimezone(zone):%Y-%m-%d %H:%M:%S}"
        line = Text(f"{when:>19}  ")
        match told.record:
            case Finding() as finding:
                line.append(f"{finding.clause:14} ")
                line.append(f"{finding.verdict:11} ", COLOURS[finding.verdict])
                line.append(f"{_figures(finding):22} {finding.why}")
            case Alert() as alert:
                colour = {"raised": "bold red", "acknowledged": "yellow"}.get(alert.state, "green")
                line.append(f"{alert.name:22} ")
                line.append(f"{alert.state:13} ", colour)
                line.append(f"{alert.clause:14} {alert.words.replace(chr(10), ' / ')}")
            case _:
                return
        console.print(line)

    return show


def _figures(finding: Finding) -> str:
    if finding.value is None or finding.limit is None:
        return ""
    return f"{finding.value:.1f} of {finding.limit:g} {finding.unit}"


def print_summary(name: str, summary: Summary) -> None:
    console = Console(highlight=False)
    miles = mph(summary.distance_m) / 3600.0
    minutes, seconds = divmod(round(summary.duration_s), 60)
    console.print(
        f"{name}: {minutes} min {seconds:02} s, "
        f"{miles:.1f} mi, {summary.fixes} fixes, up to {summary.top_mph:.1f} mph",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("clause")
    table.add_column("at the end")
    table.add_column("changes of verdict")
    for clause, counts in summary.findings.items():
        last = summary.last[clause]
        changes = ", ".join(f"{verdict} {number}" for verdict, number in counts.items())
        table.add_row(clause, Text(str(last), COLOURS[last]), changes)
    console.print(table)
    raised = ", ".join(f"{name} {number}" for name, number in summary.alerts.items())
    console.print(f"alerts: {raised or 'none'}", soft_wrap=True)


def with_progress(
    stream: Iterator[tuple[float, Reading | None]], name: str, length_s: Callable[[], float]
) -> Iterator[tuple[float, Reading | None]]:
    """Shows how far a long replay has come, where a person looks on; after its first second."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from stream
        return
    clock = Clock()
    due_s = clock.mono_s() + 1.0
    column = TextColumn("{task.description}", markup=False)  # a file may be named with braces
    bar = Progress(column, BarColumn(), console=console, transient=True)
    task = bar.add_task(name, total=None)
    try:
        for number, entry in enumerate(stream):
            if number % 500 == 0 and clock.mono_s() >= due_s:
                bar.start()
                bar.update(task, completed=entry[0], total=length_s() or None)
                due_s = clock.mono_s() + 0.1
            yield entry
    finally:
        bar.stop()
