"""Which alerts stand, how far their sound has climbed, and which one wins the glass.

The sound follows the ladder of Regulation (EU) 2021/1958, Annex I 3.5.2.1.4: the light and the
haptic come at once, the sound after 6, 5, 4 or 3 s at over 100, 110, 120 or 130 % of the limit. It
lasts 5 s at most, and comes again only for a higher step or a new exceedance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from firmware.alerts.table import TABLE, THINGS, Row
from firmware.findings import Alert, Cues, Finding, HapticCue, LightCue, ToneCue, Verdict
from firmware.maps.zones import NO_ZONE_DATA

LADDER = ((1.3, 3.0), (1.2, 4.0), (1.1, 5.0), (1.0, 6.0))
"""(over this share of the limit, so many seconds until the sound): highest step first."""

_DELAYS_S = dict(LADDER)

LINE = 16
"""Letters on a line of the glass."""

UNMAPPED, UNWATCHED = "NO ZONE DATA\nHERE", "ZONES NOT\nWATCHED"
"""What the glass says where no map has the place, and where zones are not watched otherwise."""

SOUND_S = 5.0
CHIRP_S = 0.3
TAP_S = 0.4


_QUIET, _QUIET_WATCHING = Cues(), Cues(is_watching=True)
_STEADY = {LightCue.RED_FLASH: LightCue.RED, LightCue.AMBER_FLASH: LightCue.AMBER}

# Names of our own, because Python 3.11 takes twenty times as long to find a member of an enum.
_DARK, _STILL, _TAP, _PULSES = LightCue.OFF, HapticCue.OFF, HapticCue.TAP, HapticCue.PULSES
_SILENT, _ALARM = ToneCue.OFF, ToneCue.ALARM


@dataclass(slots=True)
class Standing:
    """One alert's progress: pending, raised, and how far its sound has climbed.

    `step_s` holds since when each step of the ladder is reached; `sounded` the highest share that
    has sounded; `sounds_until_s` the end of the sound that plays. While its value is on the step
    `reached`, nothing of that changes until `climbs_s`.
    """

    row: Row
    finding: Finding
    wanted_s: float
    unwanted_s: float | None = None
    raised_s: float | None = None
    is_acknowledged: bool = False
    step_s: dict[float, float] = field(default_factory=dict)
    sounded: float = 0.0
    sounds_until_s: float = -math.inf
    reached: float = -1.0
    climbs_s: float = -math.inf

    @property
    def light(self) -> LightCue:
        """The row's light, steady once it is acknowledged."""
        light = self.row.light
        return _STEADY.get(light, light) if self.is_acknowledged else light

    @property
    def is_loud(self) -> bool:
        """Whether it asks for an answer: it has a light, and nobody has acknowledged it."""
        return self.row.light is not _DARK and not self.is_acknowledged

    def alert(self, state: str) -> Alert:
        """The alert as a record and as the glass shows it."""
        finding = self.finding
        kind = finding.why.split(" ", 1)[0]
        thing = THINGS.get(kind, kind.replace("_", " ").upper())
        words = self.row.words.format(
            value=finding.value or 0.0,
            limit=finding.limit or 0.0,
            at=f"{finding.limit or 0.0:.0f}" + (" KM/H" if finding.unit == "km/h" else ""),
            thing=thing,
            away=_away(finding, thing),
            what=_on_the_glass(finding.why),
            unmapped=UNMAPPED if finding.why == NO_ZONE_DATA else UNWATCHED,
        )
        return Alert(
            self.row.name,
            state,  # type: ignore[arg-type]  # one of the three words, all in this file
            finding.clause,
            words,
            self.light,
            HapticCue.OFF if self.is_acknowledged else self.row.haptic,
            ToneCue.OFF if self.is_acknowledged else self.row.tone,
            finding.why,
        )


@dataclass(slots=True)
class Alerts:
    """Keeps the standing alerts; told the findings, asked for cues. Time comes as an argument."""

    table: tuple[Row, ...] = TABLE
    _standing: dict[tuple[str, str], Standing] = field(default_factory=dict)
    _rows: dict[tuple[str, Verdict], list[Row]] = field(default_factory=dict)
    _wanting: list[tuple[str, Sequence[Row]]] = field(default_factory=list)
    _cues: Cues = _QUIET

    def __post_init__(self) -> None:
        for row in self.table:
            for verdict in row.verdicts:
                self._rows.setdefault((row.topic, verdict), []).append(row)

    def follow(
        self, findings: Mapping[str, Finding], at_s: float, *, has_turned: bool = True
    ) -> list[Alert]:
        """Brings the alerts up to the findings at `at_s`; the changes come clause by clause.

        `has_turned` is false where each finding has the verdict, the topic and the part that it had
        at the last time.
        """
        if has_turned:
            self._wanting = [
                (clause, rows) for clause, one in findings.items() if (rows := self._rows_of(one))
            ]
        changes: list[Alert] = []
        if not self._standing and not self._wanting:
            return changes  # as nearly always
        for key, one in list(self._standing.items()):
            is_wanted = one.unwanted_s is None
            if has_turned:
                finding = findings.get(one.finding.clause, one.finding)
                is_wanted = one.row in self._rows_of(finding)
            if not is_wanted:
                self._let_go(key, one, at_s, changes)
        for clause, rows in self._wanting:
            for row in rows:
                self._hold(row, findings[clause], at_s, changes)
        return changes

    def _rows_of(self, finding: Finding) -> Sequence[Row]:
        """The alerts that are raised on such a finding."""
        return self._rows.get((finding.topic, finding.verdict), ()) if finding.is_fitted else ()

    def _hold(self, row: Row, finding: Finding, at_s: float, changes: list[Alert]) -> None:
        """Raises or keeps up the alert that this finding wants."""
        key = (row.name, finding.clause)
        one = self._standing.get(key)
        if one is None:
            one = self._standing[key] = Standing(row, finding, at_s)
        one.finding = finding
        one.unwanted_s = None
        if one.raised_s is None and at_s >= one.wanted_s + row.raise_s:
            one.raised_s = at_s
            changes.append(one.alert("raised"))
        if one.raised_s is not None and row.tone is not _SILENT:
            _sound(one, at_s)

    def _let_go(
        self, key: tuple[str, str], one: Standing, at_s: float, changes: list[Alert]
    ) -> None:
        """Silences an alert that nothing wants, and clears it once its row's time is over."""
        if one.unwanted_s is None:
            one.unwanted_s = at_s
        one.sounds_until_s = -math.inf
        if one.raised_s is None or at_s >= one.unwanted_s + one.row.clear_s:
            if one.raised_s is not None:
                changes.append(one.alert("cleared"))
            del self._standing[key]

    def acknowledge(self) -> list[Alert]:
        """The rider's press: the winning alert that is not yet acknowledged falls silent.

        Its light stays, steady, until its cause ends. A higher step of the ladder sounds again.
        """
        loud = [one for one in self._raised() if one.is_loud]
        if not loud:
            return []
        one = loud[0]
        one.is_acknowledged = True
        one.sounds_until_s = -math.inf
        one.sounded = max(one.sounded, _share_step(one.finding) if one.row.climbs else 1.0)
        return [one.alert("acknowledged")]

    def due_s(self, at_s: float) -> float:
        """The next instant after `at_s` at which something changes by time alone."""
        due = math.inf
        for one in self._standing.values():
            for instant_s in _instants(one):
                if at_s < instant_s < due:
                    due = instant_s
        return due

    def standing(self) -> tuple[Alert, ...]:
        """All raised alerts, the one that wins the glass first."""
        return tuple(
            one.alert("acknowledged" if one.is_acknowledged else "raised") for one in self._raised()
        )

    def cues(self, at_s: float, *, is_watching: bool) -> Cues:
        """What the outputs do now: the winner's light, the loudest unacknowledged haptic, any sound
        that plays."""
        raised = self._raised() if self._standing else None
        if not raised:
            return _QUIET_WATCHING if is_watching else _QUIET
        haptic, tone = _STILL, _SILENT
        for one in raised:
            row = one.row
            if row.haptic is _PULSES and not one.is_acknowledged:
                haptic = _PULSES
            elif row.haptic is _TAP and haptic is _STILL:
                is_felt = not one.is_acknowledged and at_s < (one.raised_s or 0.0) + TAP_S
                haptic = _TAP if is_felt else _STILL
            if at_s < one.sounds_until_s and (tone is _SILENT or row.tone is _ALARM):
                tone = row.tone
        light, last = raised[0].light, self._cues
        if (
            last.light is not light
            or last.haptic is not haptic
            or last.tone is not tone
            or last.is_watching is not is_watching
        ):
            self._cues = Cues(light, haptic, tone, is_watching)
        return self._cues

    @property
    def is_loud(self) -> bool:
        """Whether an alert has the glass and waits for an answer."""
        return any(one.raised_s is not None and one.is_loud for one in self._standing.values())

    def _raised(self) -> list[Standing]:
        raised = [one for one in self._standing.values() if one.raised_s is not None]
        if len(raised) < 2:
            return raised
        # What the rider has not answered yet comes before what was acknowledged; what has no light
        # asks for no answer.
        return sorted(raised, key=lambda one: (not one.is_loud, -one.row.priority))


def _away(finding: Finding, thing: str) -> str:
    """How far it is, to 10 ft so that it can be read, where that fits beside the thing."""
    if finding.away_ft is None:
        return "AHEAD"
    away_ft = 10.0 * math.floor(finding.away_ft / 10.0)
    return next(
        (
            one
            for one in (f"{away_ft:.0f} FT", f"{away_ft:.0f}FT")
            if len(thing) + 1 + len(one) <= LINE
        ),
        "AHEAD",
    )


def _on_the_glass(why: str) -> str:
    """The reason up to its colon, in capitals: on one line where it fits, else on two, with the
    part ("HEAD LAMP") on the first."""
    words = why.partition(":")[0].replace("_", " ").upper()
    if len(words) <= LINE:
        return words
    part, _, rest = words.partition(" LAMP ")
    if not rest:
        part, _, rest = words.partition(" ")
    elif len(part) + 5 <= LINE:
        part += " LAMP"
    return "\n".join(line[:LINE] for line in (part, rest) if line)


def _share_step(finding: Finding) -> float:
    """The highest step of the ladder that the value has passed, 0.0 for none."""
    if finding.value is None or not finding.limit:
        return 0.0
    share = finding.value / finding.limit
    return next((over for over, _ in LADDER if share > over), 0.0)


def _sound(one: Standing, at_s: float) -> None:
    """Lets the sound of a raised alert begin, as its row says."""
    if not one.row.climbs:
        if one.sounded == 0.0:
            one.sounded = 1.0
            one.sounds_until_s = at_s + (CHIRP_S if one.row.tone is ToneCue.CHIRP else SOUND_S)
        return
    reached = _share_step(one.finding)
    if reached == one.reached and at_s < one.climbs_s:
        return  # as nearly always
    one.reached, one.climbs_s = reached, math.inf
    for over, delay_s in LADDER:
        if over > reached:
            one.step_s.pop(over, None)
            continue
        since_s = one.step_s.setdefault(over, at_s)
        if over <= one.sounded:
            continue
        if at_s < since_s + delay_s:
            one.climbs_s = min(one.climbs_s, since_s + delay_s)
            continue
        one.sounded = over
        # While it sounds, a higher step joins in and draws nothing out.
        if at_s > one.sounds_until_s:
            one.sounds_until_s = at_s + SOUND_S


def _instants(one: Standing) -> list[float]:
    """The instants at which this alert changes by time alone, past ones among them."""
    instants = [one.sounds_until_s]
    if one.raised_s is None:
        instants.append(one.wanted_s + one.row.raise_s)
    elif one.row.haptic is _TAP:
        instants.append(one.raised_s + TAP_S)
    if one.unwanted_s is not None:
        instants.append(one.unwanted_s + one.row.clear_s)
    if one.step_s:
        instants += [since_s + _DELAYS_S[over] for over, since_s in one.step_s.items()]
    return instants
