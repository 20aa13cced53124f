"""The findings that stand: of the clauses, and of the two duties that are no clauses.

Nearly all of them are from one fix to the next the very same object, which says so at once: only
what has changed is looked at by what follows from it.
"""

from __future__ import annotations

from firmware.findings import Finding, Verdict
from firmware.readings import Missing, Value, Why
from firmware.situation.territory import LAW
from firmware.situation.timekeeper import CONFLICT_S

JOURNAL = "journal"
"""The one duty that is no clause: that the journal is kept."""

CLOCK = "clock"
"""The other one: that the battery clock and the satellites say the same; it raises no alert."""

_KEPT = Finding(JOURNAL, Verdict.COMPLIANT, "kept", topic=JOURNAL)


class Duties:
    """Keeps the finding that stands of each duty.

    `findings` are those of the clauses, `all` the same with the journal's and the clocks' after
    them. `changed` are those of the clauses that are other objects than when `settle` was called;
    `has_turned` says whether any duty has another verdict, topic or part than then.
    """

    def __init__(self) -> None:
        self.findings: dict[str, Finding] = {}
        self.all: dict[str, Finding] = {}
        self.changed: list[Finding] = []
        self.has_turned = False
        self._is_watching: bool | None = None
        self._rtc_ahead_s: float | None = None
        self._disk: Value | None = None

    def take(self, finding: Finding) -> None:
        """Puts a clause's finding in the place of the one before."""
        before = self.findings.get(finding.clause)
        if before is finding:
            return
        self.findings[finding.clause] = finding
        self.changed.append(finding)
        self._put(finding, before)

    def take_journal(self, disk: Value) -> None:
        """Judges whether the journal is kept."""
        if disk is self._disk:
            return
        self._disk = disk
        finding = _KEPT
        if isinstance(disk, Missing) and disk.why not in (Why.NOT_FITTED, Why.STARTING):
            finding = Finding(JOURNAL, Verdict.UNKNOWN, disk.detail or str(disk), topic=JOURNAL)
        before = self.all.get(JOURNAL)
        if finding is not before:
            self._put(finding, before)

    def take_clocks(self, rtc_ahead_s: float | None) -> None:
        """Judges whether the two clocks are in conflict, once both were heard."""
        if rtc_ahead_s is None or rtc_ahead_s == self._rtc_ahead_s:
            return
        self._rtc_ahead_s = rtc_ahead_s
        verdict = Verdict.UNSURE if abs(rtc_ahead_s) > CONFLICT_S else Verdict.COMPLIANT
        side = "ahead of" if rtc_ahead_s > 0 else "behind"
        why = f"the battery clock is {abs(rtc_ahead_s):.0f} s {side} the satellites"
        finding = Finding(CLOCK, verdict, why, abs(rtc_ahead_s), CONFLICT_S, "s", topic=CLOCK)
        self._put(finding, self.all.get(CLOCK))

    def settle(self) -> None:
        """Begins anew with what has changed: all that follows from it is told."""
        self.changed.clear()
        self.has_turned = False

    @property
    def is_watching(self) -> bool:
        """Whether speed is judged, or rightly is not: the steady watching light."""
        if self._is_watching is None:
            self._is_watching = bool(self.findings) and not any(
                one.topic in ("speed", LAW) and one.verdict is Verdict.UNKNOWN
                for one in self.findings.values()
            )
        return self._is_watching

    def _put(self, finding: Finding, before: Finding | None) -> None:
        self.all[finding.clause] = finding
        if (
            before is None
            or before.verdict is not finding.verdict
            or before.topic != finding.topic
            or before.is_fitted is not finding.is_fitted
        ):
            self.has_turned = True
            self._is_watching = None
