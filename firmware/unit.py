"""The judging thread: waits for readings and for time, judges, warns, and hands on to be kept.

It is the only thread that judges. Nothing in it may block: sources, the journal, the feed and the
zone packs have threads of their own and meet it at one queue.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from firmware.clock import Clock
from firmware.findings import Alert, Anchor, Cues, HapticCue, LightCue, Outcome, Standing, ToneCue
from firmware.grain import grained, instant_s
from firmware.informed import Informed
from firmware.journal.health import Health
from firmware.journal.writer import Journal
from firmware.kept import Kept
from firmware.maps.zones import Nearby
from firmware.monitor import INFORMED, Monitor
from firmware.notify import Notifier
from firmware.outputs.base import Output
from firmware.outputs.feed import Feed
from firmware.readings import Channel, Fix, Missing, Reading, Request, Surroundings, Value
from firmware.rider.requests import KEPT, NEW_KEY
from firmware.sources.base import SettableClock, Source
from firmware.state import State
from firmware.steady import Steady
from firmware.view import state_of

log = logging.getLogger("sledwarden.unit")

SHOW_GAP_S = 0.09
"""A new state for the screens at most so often, in the world's seconds; a change of an alert is
told at once. Less than the period of a 10 Hz receiver, or each other speed would not be shown."""

IDLE_S = 0.25
"""The longest wait, in the world's seconds: the watchdog and the screens hear of us meanwhile."""

SELF_TEST_S = 1.0
"""At start all lights, the haptic and the tone come on for so long, unless a warning is due."""

SELF_TEST = Cues(LightCue.RED, HapticCue.TAP, ToneCue.CHIRP, True)


CLOSE_S = 5.0
"""The longest that the last seal may take, in the world's seconds; a slow card needs some."""

BY = "daemon"
"""Who says that the watch begins: the first record that is judged, so that a replay of the journal
judges from the same instant."""


class Scout(Protocol):
    """The source that must be told where the sled is."""

    def chart(self, around: Surroundings) -> Nearby:
        """The map of a reading, made ready where it was read."""

    def look(self, lat_deg: float, lon_deg: float) -> None: ...


class Unit:
    """Owns the monitor and the queue; runs until it is told to stop."""

    def __init__(
        self,
        monitor: Monitor,
        clock: Clock,
        *,
        outputs: Sequence[Output],
        tell: Sequence[Callable[[Alert], None]] = (),
        notifier: Notifier | None = None,
        steady: Steady | None = None,
    ) -> None:
        """`tell` hears each change of an alert, after the lights have changed; `steady` holds back
        what says nothing new, and without it nothing is held back."""
        self.monitor = monitor
        self.clock = clock
        self._real = Clock()
        self._outputs = list(outputs)
        self._tell = list(tell)
        self._notifier = notifier or Notifier({})
        self._queue: queue.SimpleQueue[Reading | None] = queue.SimpleQueue()
        self._steady = steady or Steady(holds_back=False)
        self._sources: list[Source] = []
        self._scout: Scout | None = None
        self._rtc: SettableClock | None = None
        self._journal: Journal | None = None
        self._feed: Feed | None = None
        self._informed: Informed | None = None
        self._kept: Kept | None = None
        self._shows_new_key = False
        self._ended_why = ""
        self._cues: Cues | None = None
        self._at_s = 0.0
        self._shown_s = -SHOW_GAP_S
        self._self_test_ends_s = 0.0

    def post(self, reading: Reading) -> None:
        """Hands a reading to the judging thread; never blocks."""
        self._queue.put(reading)

    def post_journal_health(self, health: Health) -> None:
        """Hands the journal's own state to the judging thread, as a reading."""
        self.post(Reading(Channel.JOURNAL, health.value, self.clock.mono_s(), "journal"))

    def is_idle(self) -> bool:
        """Whether all that it was given has been taken up."""
        return self._queue.empty()

    def fix_heard_s(self) -> float:
        """When the receiver's last word was measured, of those that have been judged."""
        return self.monitor.held[Channel.FIX].mono_s

    def stop(self, why: str) -> None:
        """Ends `run`; may be called from a signal handler and from any thread."""
        if not self._ended_why:
            self._ended_why = why
        self._queue.put(None)

    def run(
        self,
        sources: Sequence[Source],
        *,
        journal: Journal | None = None,
        feed: Feed | None = None,
        scout: Scout | None = None,
        rtc: SettableClock | None = None,
        informed: Informed | None = None,
        kept: Kept | None = None,
        shows_new_key: bool = False,
        on_started: Callable[[], None] | None = None,
    ) -> str:
        """Starts the sources, judges until `stop`, ends all in order; returns why it ended.

        `shows_new_key`: a key that this start made is put on the glass once, unasked.
        `on_started` is called once every source runs: a simulated world begins then.
        """
        self._journal, self._feed, self._scout, self._rtc = journal, feed, scout, rtc
        if scout is not None:
            self.monitor.chart = scout.chart
        self._at_s = instant_s(self.clock.mono_s())
        self._self_test_ends_s = self._real.mono_s() + SELF_TEST_S
        begin = Reading(Channel.REQUEST, Request("note", "begins to watch", BY), self._at_s, BY)
        self._act(begin, self.monitor.step(begin, self._at_s))
        self._informed = informed
        if informed is not None:
            self._ask(Request(INFORMED, informed.last_day(), BY))
        for mark in () if kept is None else kept.marks():
            self._ask(Request("mark", mark, KEPT))
        self._kept = kept
        self._shows_new_key = shows_new_key
        self._sources = list(sources)
        for source in self._sources:
            source.start(self.post)
        if on_started is not None:
            on_started()
        self._notifier.ready("watching")
        try:
            while not self._ended_why:
                self._turn()
        finally:
            self._finish()
        return self._ended_why

    def _ask(self, request: Request) -> None:
        """Takes up what the unit itself asks for at the start, as a record like any other."""
        reading = Reading(Channel.REQUEST, request, self._at_s, BY)
        self._act(reading, self.monitor.step(reading, self._at_s))

    def _turn(self) -> None:
        """Waits for one reading, or for the next instant that is due, and judges it."""
        wait_s = min(IDLE_S, self.clock.real_s(self.monitor.next_due_s - self.clock.mono_s()))
        try:
            reading = self._queue.get(timeout=wait_s) if wait_s > 0 else self._queue.get_nowait()
        except queue.Empty:
            reading = None
        # The clock never goes back, but its last reading may be later than the due instant.
        self._at_s = max(self._at_s, instant_s(self.clock.mono_s()))
        said = self._steady.due(self._at_s)
        if reading is not None:
            said += self._steady.take(reading)
        for one in said:
            judged = grained(one, self._at_s)
            self._act(judged, self.monitor.step(judged, self._at_s))
        if not said:
            self._act(None, self.monitor.advance(self._at_s))
        if self._shows_new_key and self._journal is not None and self._journal.is_key_new:
            self._shows_new_key = False
            self._ask(Request("key", NEW_KEY, BY))
        self._notifier.alive(self._real.mono_s())

    def _act(self, reading: Reading | None, outcome: Outcome) -> None:
        """Warns first, keeps second, shows third."""
        real_s = self._real.mono_s()
        cues = self.monitor.cues(self._at_s)
        if cues.light is LightCue.OFF and real_s < self._self_test_ends_s:
            cues = SELF_TEST
        if cues != self._cues:
            self._cues = cues
            for output in self._outputs:
                output.show(cues)
        self._keep(reading, outcome)
        for _, alert in outcome.alerts:
            for tell in self._tell:
                tell(alert)
            if self._feed is not None:
                self._feed.alert(alert)
        if self._feed is not None and (outcome.alerts or real_s - self._shown_s >= SHOW_GAP_S):
            self._shown_s = real_s
            self._feed.push(self._state())
        if self._informed is not None:
            self._informed.note(self.monitor.notices.done_on)
        if self._kept is not None:
            around = self.monitor.held[Channel.SURROUNDINGS].value
            assert isinstance(around, Surroundings | Missing)  # readings.VALUE_TYPES
            utc = self.monitor.timekeeper.utc(self._at_s)
            self._kept.look(self.monitor.requests, around, self._at_s, utc)
        if reading is not None:
            self._follow(reading.value)

    def _state(self) -> State:
        key = key_print = ""
        if self._journal is not None:
            key, key_print = self._journal.public_key, self._journal.fingerprint
        return state_of(self.monitor, self._at_s, key, key_print)

    def _follow(self, value: Value) -> None:
        """Does what a reading asks beyond judging it."""
        if isinstance(value, Fix):
            if self._scout is not None:
                self._scout.look(value.lat_deg, value.lon_deg)
            self._offer_date()
        elif isinstance(value, Request) and value.action == "restart":
            self._restart(value)
        elif isinstance(value, Request) and value.action == "forget":
            self._forget(value)
        elif isinstance(value, Request) and value.action == "date":
            self._take_date(value)

    def _keep(self, reading: Reading | None, outcome: Outcome) -> None:
        """Hands the reading and all that came of it to the journal; changes go to the disk now."""
        if self._journal is None:
            return
        utc = self.monitor.timekeeper.utc(self._at_s)
        if reading is not None:
            self._journal.put(reading, self._at_s, utc)
        for at_s, finding in outcome.findings:
            self._journal.put(finding, at_s, utc)
        for at_s, alert in outcome.alerts:
            self._journal.put(alert, at_s, utc, urgent=True)
        for at_s, event in outcome.events:
            self._journal.put(event, at_s, utc, urgent=True)
        for at_s, note in outcome.notes:
            if isinstance(note, Anchor):
                note = replace(note, boot_id=self._journal.boot_id)  # noqa: PLW2901 - the same note
            self._journal.put(note, at_s, utc, urgent=not isinstance(note, Standing))

    def _offer_date(self) -> None:
        """Lets the battery clock be set once the satellites' date has agreed with itself."""
        timekeeper = self.monitor.timekeeper
        utc = timekeeper.utc(self._at_s)
        if self._rtc is not None and utc is not None and timekeeper.is_agreed:
            self._rtc.offer(utc, self._at_s)

    def _restart(self, request: Request) -> None:
        if self.monitor.is_standing:
            self.stop(f"restart asked by {request.by or 'somebody'}")
        else:
            log.warning("a restart was asked for while moving: refused")

    def _forget(self, request: Request) -> None:
        """Deletes what the owner names of the journal; the ledger keeps that it was there."""
        if self._journal is None or not self.monitor.is_standing:
            log.warning("a deletion was asked for while moving: refused")
            return
        boot, _, number = request.argument.partition("/")
        self._journal.forget(int(boot), int(number) if number else None, request.by)

    def _take_date(self, request: Request) -> None:
        """Sets the battery clock by a person's date, where the satellites have given none."""
        if self._rtc is None or self.monitor.timekeeper.is_agreed or not self.monitor.is_standing:
            log.warning("a date was given: refused: %s", request.argument)
            return
        self._rtc.offer(datetime.fromisoformat(request.argument), self._at_s)

    def _finish(self) -> None:
        """Ends the sources, darkens the outputs, seals the journal."""
        self._notifier.stopping(self._ended_why or "failed")
        for source in self._sources:
            source.stop()
        self._at_s = max(self._at_s, instant_s(self.clock.mono_s()))
        self._keep(None, self.monitor.finish(self._at_s))
        for output in self._outputs:
            output.stop()
        if self._feed is not None:
            self._feed.push(self._state())
            self._feed.stop()
        if self._informed is not None:
            self._informed.finish()
        if self._kept is not None:
            self._kept.finish()
        if self._journal is not None and not self._journal.close(
            self._at_s, self._ended_why, CLOSE_S
        ):
            log.error("the journal could not be closed in time: the next start finishes it")
        self._notifier.close()
