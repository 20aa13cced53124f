"""Golden drives: what the world did (`NAME.drive`) and what the unit must do (`NAME.expect`).

`python -m tests.bless NAME ...` writes the expectations of these drives anew from a run, keeping
their remarks above the lines; without a name, those of all drives that differ. The first
expectation of a drive is derived by hand in its remarks, and the commit of a re-blessed one says
why each line moved.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from firmware import monitor
from firmware.drives.script_text import load
from firmware.findings import Alert, Finding, Verdict
from firmware.law import packs as law
from firmware.maps.packs import Pack
from firmware.sources.drive import config_of, readings, with_surroundings

FOLDER = Path(__file__).parent / "drives"
WITHIN_S = 0.2
STATES = frozenset({*Verdict, "raised", "acknowledged", "cleared"})
"""What an expectation says of a clause or of an alert."""


@dataclass(frozen=True)
class Change:
    """A change of one clause's verdict, or of one alert: when, whose, to what, by which figures."""

    at_s: float
    subject: str
    state: str
    value: str = ""
    limit: str = ""

    def __str__(self) -> str:
        figures = f" {self.value} {self.limit}" if self.value else ""
        return f"{self.at_s:<8g}{self.subject} {self.state}{figures}"

    def agrees(self, other: Change) -> bool:
        """Whether a run's change is this expected one: figures as far as this writes them."""
        return (
            (self.subject, self.state) == (other.subject, other.state)
            and abs(self.at_s - other.at_s) <= WITHIN_S + 1e-6
            and (not self.value or _close(self.value, other.value))
            and (not self.limit or _close(self.limit, other.limit))
        )


def _close(written: str, was: str) -> bool:
    digits = len(written.partition(".")[2])
    return was != "" and abs(float(written) - float(was)) <= 0.5000001 * 10.0**-digits


def drives() -> list[Path]:
    """All golden drives: those with an expectation beside them."""
    return sorted(path.with_suffix(".drive") for path in FOLDER.glob("*.expect"))


def play(path: Path) -> list[Change]:
    """Judges a drive; what changes and changes back at one instant is no change."""
    drive = load(path)
    config = config_of(drive)
    core = monitor.build(config, law.load_all(config.unit.law))
    packs = [Pack(pack) for pack in config.zones.packs]
    changes: list[Change] = []
    at_s = 0.0
    for at_s, reading in with_surroundings(readings(drive, config), packs):
        outcome = core.step(reading, at_s)
        changes += [_of_finding(*one) for one in outcome.findings]
        changes += [_of_alert(*one) for one in outcome.alerts]
    for pack in packs:
        pack.close()
    return _settled(changes)


def _of_finding(at_s: float, finding: Finding) -> Change:
    value = "" if finding.value is None else f"{finding.value:.6f}"
    limit = "" if finding.limit is None else f"{finding.limit:.6f}"
    return Change(at_s, finding.clause, str(finding.verdict), value, limit)


def _of_alert(at_s: float, alert: Alert) -> Change:
    return Change(at_s, f"alert {alert.name}", alert.state)


def _settled(changes: Iterable[Change]) -> list[Change]:
    """What stands after each instant, in order of time and then of the subject."""
    last: dict[tuple[float, str], Change] = {}
    for change in changes:
        last[round(change.at_s, 3), change.subject] = change
    stands: dict[str, str] = {}
    settled = []
    for (_, subject), change in sorted(last.items(), key=lambda one: one[0]):
        before = stands.get(subject, "cleared" if subject.startswith("alert ") else "")
        if change.state != before:
            stands[subject] = change.state
            settled.append(change)
    return settled


def expected(path: Path) -> list[Change]:
    """The lines of the expectation beside a drive; raises ValueError for one that is none."""
    changes = []
    place = path.with_suffix(".expect")
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            at, subject, *rest = _words(line)
            changes.append(Change(float(at), subject, *rest))
        except (ValueError, StopIteration, TypeError) as fault:
            raise ValueError(f"{place}:{number}: {line}: is no expectation") from fault
    return changes


def _words(line: str) -> list[str]:
    """A line's second, subject, state and figures: a citation may hold blanks, an alert has one."""
    words = line.split()
    state = next(at for at, word in enumerate(words) if at > 1 and word in STATES)
    return [words[0], " ".join(words[1:state]), *words[state:]]


def differences(want: list[Change], have: list[Change]) -> list[str]:
    """What is expected and did not come, and what came unexpected, subject by subject.

    A clause that the expectation does not speak of must be kept, or not known, from first to last.
    """
    said = []
    spoken = {change.subject for change in want}
    have = [change for change in have if change.subject in spoken or not _is_quiet(change)]
    for subject in sorted({change.subject for change in [*want, *have]}):
        wanted = [change for change in want if change.subject == subject]
        had = [change for change in have if change.subject == subject]
        for index in range(max(len(wanted), len(had))):
            one = wanted[index] if index < len(wanted) else None
            other = had[index] if index < len(had) else None
            if one is None or other is None or not one.agrees(other):
                said.append(f"expected {one or 'nothing'}, came {_short(other) or 'nothing'}")
    return said


def _is_quiet(change: Change) -> bool:
    """Whether a change is the state of a clause that asks nothing here, or can't be watched."""
    return change.state in ("compliant", "unknown")


def _short(change: Change | None) -> str:
    if change is None:
        return ""
    figures = (f"{float(one):.2f}" if one else "" for one in (change.value, change.limit))
    return str(Change(round(change.at_s, 3), change.subject, change.state, *figures))


def bless(path: Path) -> bool:
    """Rewrites an expectation from a run; false where it agrees already.

    A remark stays above the line that it stood above, as far as that line still comes.
    """
    place = path.with_suffix(".expect")
    have = play(path)
    if place.exists() and not differences(expected(path), have):
        return False
    spoken = {change.subject for change in expected(path)} if place.exists() else set()
    loud = {change.subject for change in have if not _is_quiet(change)}
    have = [change for change in have if change.subject in spoken | loud]
    remarks: dict[tuple[str, str], list[list[str]]] = {}
    held: list[str] = []
    for line in place.read_text(encoding="utf-8").splitlines() if place.exists() else []:
        words = line.split()
        if not words or words[0].startswith("#"):
            held.append(line)
        elif held:
            _, subject, state, *_ = _words(line)
            remarks.setdefault((subject, state), []).append(held)
            held = []
    lines: list[str] = []
    for change in have:
        found = remarks.get((change.subject, change.state))
        lines += found.pop(0) if found else []
        figures = (f"{float(one):.1f}" if one else "" for one in (change.value, change.limit))
        at_s = round(change.at_s, 2)
        lines.append(str(Change(at_s, change.subject, change.state, *figures)))
    left = [line for kept in remarks.values() for remark in kept for line in remark]
    place.write_text("\n".join([*lines, *left, *held]) + "\n", encoding="utf-8")
    return True


def main(names: list[str]) -> int:
    """Blesses the named drives, or all that differ; tells which."""
    known = {path.stem: path for path in FOLDER.glob("*.drive")}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"{', '.join(unknown)}: no such drive in {FOLDER}")
        return 2
    for name in names or [path.stem for path in drives()]:
        if bless(known[name]):
            print(f"{name}: written anew: say in the commit why each line moved")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
