"""One step: a reading comes in, findings, alerts and events come out.

The monitor has no thread, no clock and no file. `step(reading, at_s)` takes a reading and the
monotonic instant at which it is judged. Before it, every timer that was due is fired at its own due
instant, so that the same readings at the same instants always give the same findings and alerts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from firmware.alerts.events import Events
from firmware.alerts.following import Alerts
from firmware.alerts.pulls import Pulls
from firmware.binding import bound, fitted_channels, sun_offsets, territories_of
from firmware.config.parts import Ambient
from firmware.config.schema import Config
from firmware.duties import Duties
from firmware.findings import (
    Cues,
    Finding,
    HapticCue,
    LightCue,
    Outcome,
    ToneCue,
)
from firmware.law.packs import Clause, Law
from firmware.maps.zones import Nearby
from firmware.readings import (
    Channel,
    Fix,
    Missing,
    Press,
    Reading,
    Request,
    RtcTime,
    Surroundings,
    Why,
)
from firmware.rider.marks import Marks
from firmware.rider.notices import Notices, notices_of
from firmware.rider.pack_age import PackAge
from firmware.rider.requests import Effect, Requests
from firmware.rules.base import Rule, Snapshot
from firmware.situation.senses import Held, Senses, believed
from firmware.situation.sky import Sky
from firmware.situation.standing import Standings
from firmware.situation.territory import LAW, Territories
from firmware.situation.timekeeper import Timekeeper
from firmware.watch import Watch, Watched

INFORMED = "informed"
"""The request by which the daemon tells on which day the notices were last shown."""

PULL_CHANNELS = frozenset({Channel.FIX, Channel.TETHER, Channel.ENGINE})
"""What a pull of the tether is told by."""

# Names of our own for what each fix asks for: Python 3.11 takes twenty times as long to find a
# member of an enum by its class.
_FIX, _RECEIVER, _AMBIENT = Channel.FIX, Channel.RECEIVER, Channel.LIGHT_AMBIENT
_TETHER, _ENGINE, _JOURNAL = Channel.TETHER, Channel.ENGINE, Channel.JOURNAL
_JUDGE_AGAIN = Effect.JUDGE_AGAIN


class Monitor:
    """Judges readings against the clauses that it was given."""

    def __init__(
        self,
        watched: Iterable[tuple[Clause, Rule]],
        *,
        sky: Sky,
        other_skies: Iterable[Sky] = (),
        timekeeper: Timekeeper,
        alerts: Alerts,
        events: Events,
        requests: Requests,
        notices: Notices,
        time_zone: ZoneInfo,
        fitted: Collection[Channel],
        territories: Territories | None = None,
    ) -> None:
        """Takes all its parts; `fitted` are the channels that have a source at all, `other_skies`
        judge by the dusk and dawn of further laws, `territories` say whose law holds where not
        all of them hold everywhere."""
        self._watch = Watch(watched)
        self._turns_s = math.inf
        self.sky = sky
        self.timekeeper = timekeeper
        self.alerts = alerts
        self.events = events
        self.requests = requests
        self.notices = notices
        self.pack_age = PackAge()
        self.time_zone = self._own_zone = time_zone
        self._local_utc: datetime | None = None
        self._local: datetime | None = None
        self.territories = territories
        self.senses = Senses(fitted)
        self._pulls = Pulls()
        self._standings = Standings()
        self._pull_channels = PULL_CHANNELS if Channel.TETHER in fitted else frozenset()
        self._is_pull_due = False
        self.chart: Callable[[Surroundings], Nearby] = Nearby
        self.nearby: Nearby | Missing = Missing(Why.STARTING)
        self._refresh_nearby()
        self._skies = {one.offset_min: one for one in (sky, *other_skies)}
        self._darks = {offset: one.judge(None, 0.0) for offset, one in self._skies.items()}
        self.dark = self._darks[sky.offset_min]
        self._duties = Duties()
        self.findings: Mapping[str, Finding] = self._duties.findings
        self.next_due_s = -math.inf

    # Time and readings come in.

    def step(self, reading: Reading, at_s: float) -> Outcome:
        """Judges a reading at an instant that is no earlier than the last one."""
        outcome = Outcome()
        if self.next_due_s <= at_s:
            if self.next_due_s == -math.inf:  # the first instant of all: every clause is judged
                self._take(reading, at_s, outcome)
                self._judge_all(self._watch.all, at_s, outcome)
                return outcome
            self._pass_time(at_s, outcome)
        touched = self._take(reading, at_s, outcome)
        # How the receiver does is shown and kept; no clause, alert or timer hangs on it.
        if touched or reading.channel is not _RECEIVER or reading.fresh_s is not None:
            self._judge_all(touched, at_s, outcome)
        return outcome

    def advance(self, at_s: float) -> Outcome:
        """Lets time pass without a reading: fires every timer that is due up to `at_s`."""
        outcome = Outcome()
        self._pass_time(at_s, outcome)
        return outcome

    def finish(self, at_s: float) -> Outcome:
        """Lets time pass up to power-off and ends the events that are open."""
        outcome = self.advance(at_s)
        outcome.events += [(at_s, event) for event in self.events.end(at_s)]
        outcome.notes += [(at_s, pull) for pull in self._pulls.end(at_s)]
        return outcome

    def cues(self, at_s: float) -> Cues:
        """What the outputs do now."""
        if self.requests.is_testing(at_s):
            return Cues(LightCue.RED_FLASH, HapticCue.PULSES, ToneCue.ALARM, True)
        return self.alerts.cues(at_s, is_watching=self.is_watching)

    @property
    def is_watching(self) -> bool:
        """Whether speed is judged, or rightly is not: the steady watching light."""
        return self._duties.is_watching

    @property
    def held(self) -> Mapping[Channel, Held]:
        """The last word of each channel."""
        return self.senses.held

    @property
    def fix(self) -> Fix | Missing:
        """The fix that is judged, or why there is none."""
        return self.senses.fix

    @property
    def is_standing(self) -> bool:
        """Whether the sled surely stands: at rest by its fix, or, without one, its engine off."""
        return self.senses.is_standing

    def _pass_time(self, at_s: float, outcome: Outcome) -> None:
        if self.next_due_s == -math.inf:
            self._judge_all(self._watch.all, at_s, outcome)
        while self.next_due_s <= at_s:
            self._fire(self.next_due_s, outcome)

    def _fire(self, at_s: float, outcome: Outcome) -> None:
        """Does all that is due at this instant."""
        touched: list[Watched] = []
        for channel, held in self.held.items():
            if held.lapses_s <= at_s:
                touched += self._replace(channel, held.lapsed(), at_s)
        if self._sky_due_s() <= at_s:
            touched += self._look_at_sky(at_s)
        if self._turns_s <= at_s:
            touched += self._look_at_clock(at_s)
        if self.requests.pass_time(at_s) is Effect.JUDGE_AGAIN:
            touched += self._watch.all
        touched += [one for one in self._watch.all if one.due_s <= at_s]
        self._judge_all(touched, at_s, outcome)

    def _take(self, reading: Reading, at_s: float, outcome: Outcome) -> Sequence[Watched]:
        """Takes a reading's word; returns the clauses that must be judged again."""
        value = reading.value
        if isinstance(value, (Press, Request)):
            return self._obey(value, at_s, outcome)
        channel = reading.channel
        held = self.senses.held[channel]
        lapses_s = math.inf
        if reading.fresh_s is not None:
            lapses_s = reading.mono_s + reading.fresh_s
            if lapses_s <= at_s and not isinstance(value, Missing):
                value = Missing(Why.STALE, f"came {at_s - reading.mono_s:.1f} s late")
        value = believed(value, channel, is_day=self.dark.by_sun is False)
        if isinstance(value, Missing):
            lasts = not isinstance(held.value, Missing) and held.lapses_s != math.inf
            if lasts and value.why is not Why.NOT_FITTED:
                held.next_word = value
                return []
            return self._replace(channel, Held(value, reading.mono_s), at_s)
        return self._replace(channel, Held(value, reading.mono_s, lapses_s), at_s)

    def _replace(self, channel: Channel, held: Held, at_s: float) -> Sequence[Watched]:
        """Puts a new word in the place of the last; returns the clauses that look at it, a tuple
        where each is there once and in the order of the law, as nearly always."""
        if channel is _FIX:
            return self._replace_fix(held, at_s)
        self.senses.put(channel, held)
        if channel in self._pull_channels:
            self._is_pull_due = True
        touched: list[Watched] = []
        match channel:
            case Channel.SURROUNDINGS:
                self._refresh_nearby()
                touched += self._look_at_borders(at_s)
            case Channel.RTC:
                rtc = held.value
                if isinstance(rtc, RtcTime) and self.timekeeper.take_rtc(rtc, held.mono_s):
                    touched += self._follow_date(at_s)
                touched += self._look_at_sky(at_s)
            case Channel.LIGHT_AMBIENT:
                for sky in self._skies.values():
                    sky.take_ambient(self.senses.light(channel), at_s)
                touched += self._look_at_sky(at_s)
            case Channel.LIGHT_HEAD:
                for sky in self._skies.values():
                    sky.take_head(self.senses.light(channel), at_s)
        looking = self._watch.looking_at(channel)
        return [*looking, *touched] if touched else looking

    def _replace_fix(self, held: Held, at_s: float) -> Sequence[Watched]:
        """Takes a new fix, or the loss of it; returns the clauses that must judge it."""
        senses = self.senses
        was_moving = senses.is_moving
        senses.put(_FIX, held)
        fix = senses.fix
        touched: list[Watched] = []
        if senses.is_moving is not was_moving:
            touched += self._watch.by_motion
        if self._pull_channels and not self._pulls.is_idle(self.held[_TETHER].value):
            self._is_pull_due = True
        if isinstance(fix, Fix) and self.timekeeper.take_fix(fix, held.mono_s):
            touched += self._follow_date(at_s)
        if self.requests.watch(fix, self._satellite_utc(at_s), at_s) is _JUDGE_AGAIN:
            touched += self._watch.all
        touched += self._look_at_borders(at_s)
        if isinstance(fix, Fix):
            for sky in self._skies.values():
                sky.take_place(fix.lat_deg, fix.lon_deg)
        touched += self._look_at_sky(at_s)
        if isinstance(fix, Fix):
            looking = self._watch.awake(fix, held.mono_s, self.nearby, self._hour(at_s))
        else:
            looking = self._watch.looking_at(_FIX)
        return [*looking, *touched] if touched else looking

    def _follow_date(self, at_s: float) -> list[Watched]:
        """Begins anew with a date that came or moved; returns the clauses that go by the clock."""
        for sky in self._skies.values():
            sky.forget_sun()
        return self._look_at_clock(at_s)

    def _look_at_borders(self, at_s: float) -> list[Watched]:
        """Finds out whose law holds, and by whose civil time: returns the clauses that go by it."""
        territories = self.territories
        if territories is None:
            return []
        territories.take(self.fix, self.nearby, at_s)
        if territories.whose.jurisdiction:
            self.notices.clauses = territories.notices[territories.whose.jurisdiction]
        time_zone = territories.whose.time_zone or self._own_zone
        if time_zone is self.time_zone:
            return []
        self.time_zone = time_zone
        self._local_utc = self._local = None
        return self._look_at_clock(at_s)

    def _obey(self, value: Press | Request, at_s: float, outcome: Outcome) -> list[Watched]:
        utc = self._satellite_utc(at_s)
        effect = self.requests.take(value, at_s, self.fix, self.is_standing, utc)
        if isinstance(value, Request) and value.action == INFORMED:
            self.notices.arm(value.argument)
        elif effect is Effect.ACKNOWLEDGE:
            answered = self.alerts.acknowledge()
            outcome.alerts += [(at_s, alert) for alert in answered]
            if isinstance(value, Press) and not answered:
                self.requests.hide_key()
                outcome.notes += [(at_s, notice) for notice in self.notices.press(at_s)]
        return self._watch.all if effect is Effect.JUDGE_AGAIN else []

    def _look_at_sky(self, at_s: float) -> list[Watched]:
        error_s = self.timekeeper.error_s(at_s) or 0.0
        utc = self.timekeeper.utc(at_s)
        has_changed = False
        for offset, sky in self._skies.items():
            dark, before = sky.judge(utc, at_s, error_s), self._darks[offset]
            if dark is not before and dark != before:
                self._darks = {**self._darks, offset: dark}  # a snapshot may hold the old one
                has_changed = True
        if not has_changed:
            return []
        self.dark = self._darks[self.sky.offset_min]
        return self._watch.in_darkness

    def _sky_due_s(self) -> float:
        """When darkness must be judged again, by any law's dusk and dawn."""
        if len(self._skies) == 1:  # as nearly always
            return self.sky.due_s()
        return min(sky.due_s() for sky in self._skies.values())

    def _look_at_clock(self, at_s: float) -> list[Watched]:
        """The clauses that go by the clock; finds out when civil time next opens or closes one."""
        turns_s = self.timekeeper.next_turn_s(self._watch.turns, self.time_zone, at_s)
        self._turns_s = max(turns_s, at_s + 0.001)  # at a huge uptime less would not be later
        return self._watch.by_clock

    def _refresh_nearby(self) -> None:
        value = self.senses.surroundings
        self.nearby = value if isinstance(value, Missing) else self.chart(value)

    # Findings, alerts and events come out.

    def _judge_all(self, touched: Sequence[Watched], at_s: float, outcome: Outcome) -> None:
        """Judges these clauses, each once, in the order of the law, and what follows from them."""
        now: Snapshot | None = None
        if touched:
            now = self._snapshot(at_s)
            for finding, before in self._watch.judge(touched, now):
                self._duties.take(finding)
                if before is None or before.verdict is not finding.verdict:
                    outcome.findings.append((at_s, finding))
        self._watch.settle()
        duties = self._duties
        duties.take_journal(self.held[_JOURNAL].value)
        duties.take_clocks(self.timekeeper.rtc_ahead_s)
        if self.territories is not None:
            self._tell_law(self.territories.finding(at_s), at_s, outcome)
        has_turned = duties.has_turned
        for alert in self.alerts.follow(duties.all, at_s, has_turned=has_turned):
            outcome.alerts.append((at_s, alert))
        for event in self.events.follow(duties.all, at_s, has_turned=has_turned):
            outcome.events.append((at_s, event))
        self._note(at_s, now, outcome)
        duties.settle()
        if not self.notices.is_idle:
            self._inform(at_s, outcome)
        elif not self.pack_age.is_idle:
            self._tell_pack_age(at_s)
        self.next_due_s = min(
            self._sky_due_s(),
            self._turns_s,
            self.requests.due_s(at_s),
            self.alerts.due_s(at_s),
            self.events.due_s(at_s),
            self.notices.due_s(),
            self.pack_age.due_s(),
            self.senses.lapses_s(),
            math.inf if self.territories is None else self.territories.due_s(at_s),
            self._watch.due_s,
        )

    def _tell_pack_age(self, at_s: float) -> None:
        around = self.senses.surroundings
        if isinstance(around, Missing) and not self.pack_age.words:
            return  # nothing to tell of
        local = self.local(at_s)
        today = None if local is None else local.date()
        is_moving = False if self.is_standing else self.senses.is_moving
        self.pack_age.follow(at_s, around, today, is_moving)

    def _tell_law(self, finding: Finding, at_s: float, outcome: Outcome) -> None:
        """Puts whose law holds beside the findings; a change of it is told like one of them."""
        before = self.findings.get(LAW)
        self._duties.take(finding)
        if before is None or (before.verdict, before.why) != (finding.verdict, finding.why):
            outcome.findings.append((at_s, finding))

    def _note(self, at_s: float, now: Snapshot | None, outcome: Outcome) -> None:
        """Notes whose date it is and what holds, where that has changed, and a pull."""
        anchor = self.timekeeper.anchor()
        if anchor is not None:
            outcome.notes.append((at_s, anchor))
        if self._is_pull_due:
            self._is_pull_due = False
            for pull in self._pulls.follow(now or self._snapshot(at_s)):
                outcome.notes.append((at_s, pull))
        held = self.senses.held
        standings = self._standings.follow(
            self.findings,
            self._duties.changed,
            is_dark=self.dark.is_dark,
            tether=held[_TETHER].value,
            engine=held[_ENGINE].value,
            fix=self.senses.fix,
            clock=self.timekeeper.source,
        )
        if standings:
            outcome.notes += [(at_s, one) for one in standings]

    def _inform(self, at_s: float, outcome: Outcome) -> None:
        """Tells the duties that no sensor sees, while the sled stands and nothing else is told."""
        if self.territories is not None and not self.territories.whose.jurisdiction:
            return  # which duties, is not known yet
        local = self.local(at_s)
        is_moving = False if self.is_standing else self.senses.is_moving
        is_taken = self.requests.prompt != "" or self.requests.is_key_wanted
        is_free = not is_taken and not self.alerts.is_loud
        today = None if local is None else local.date()
        told = self.notices.follow(at_s, today, is_moving, is_free=is_free)
        outcome.notes += [(at_s, notice) for notice in told]

    def _snapshot(self, at_s: float) -> Snapshot:
        senses, requests = self.senses, self.requests
        return Snapshot(  # by their places, which is quicker
            at_s,
            senses.fix,
            senses.held[_FIX].mono_s,
            *senses.shown,
            self.nearby,
            requests.marked.chart,
            self.dark,
            self._hour(at_s),
            requests.modes,
            self.timekeeper.error_s(at_s) or 0.0,
            requests.lifts,
            senses.light(_AMBIENT),
            self._darks,
            None if self.territories is None else self.territories.whose,
        )

    def _satellite_utc(self, at_s: float) -> datetime | None:
        """The date where the satellites gave it: a battery clock proves no race's window."""
        return self.timekeeper.utc(at_s) if self.timekeeper.source == "gps" else None

    def _hour(self, at_s: float) -> datetime | None:
        """Local civil time, where a clause goes by it."""
        return self.local(at_s) if self._watch.has_hours else None

    def local(self, at_s: float) -> datetime | None:
        """Local civil time, daylight saving included; None while there is no date."""
        utc = self.timekeeper.utc(at_s)
        if utc is not self._local_utc:  # it is asked for several times an instant
            self._local_utc = utc
            self._local = None if utc is None else utc.astimezone(self.time_zone)
        return self._local


def build(
    config: Config, laws: Iterable[Law], fitted: Collection[Channel] | None = None
) -> Monitor:
    """The monitor of a unit with this config under these laws.

    `fitted` are the channels that have a source; without it, those that the config names.
    """
    laws = tuple(laws)
    territories = territories_of(laws, config) if config.unit.law == "auto" else None
    watched = bound(laws, config, has_borders=territories is not None)
    told = notices_of((clause for law in laws for clause in law.clause), config.unit.vehicle)
    ambient = config.light.ambient or Ambient(chip="none", address=0x08)
    sky, *other_skies = (
        Sky(ambient.dark_lux, ambient.light_lux, config.rules.ambient_dwell_s, offset_min)
        for offset_min in sun_offsets(clause for clause, _ in watched)
    )
    return Monitor(
        watched,
        sky=sky,
        other_skies=other_skies,
        timekeeper=Timekeeper(config.clock.floor),
        alerts=Alerts(),
        events=Events(),
        requests=Requests(
            unit=config.unit.id,
            organizers=config.race.organizers,
            marked=Marks(60.0 * config.zones.person_mark_min, 3600.0 * config.zones.shanty_mark_h),
        ),
        notices=Notices(told, config.rules.notice_s, config.rider.born),
        time_zone=ZoneInfo(config.unit.time_zone),
        fitted=fitted_channels(config) if fitted is None else fitted,
        territories=territories,
    )
