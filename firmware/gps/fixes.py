"""Epochs become trusted fixes: order, outliers, standstill, staleness, dates.

Pure: no thread, no clock. Accelerations and ages within the stream come from the sentences' own
times, never from when the bytes came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from statistics import median
from typing import Literal

from firmware.gps.dates import AGREEING_DATES, Dates
from firmware.gps.epochs import Assembler, Epoch, elapsed_s, paced
from firmware.gps.nmea import Parser, Sentence
from firmware.gps.outliers import Motion, OutlierGate, Passage
from firmware.gps.path import KEPT_S, Path, Rest
from firmware.readings import Channel, Fix, Missing, Reading, Receiver, Why
from firmware.signals import Signals
from firmware.units import mps

__all__ = ["EpochReport", "FixSettings", "FixTracker", "paced"]

QUALIFYING = frozenset({"GGA", "GNS", "GSA", "GST"})
"""The sentences that say how good a fix is."""

# Names of our own, because Python 3.11 takes twenty times as long to find a member of an enum.
_FIX, _RECEIVER = Channel.FIX, Channel.RECEIVER
_HELD, _CONFIRMED = Passage.HELD, Passage.CONFIRMED

RESTART_EPOCHS = 5
DOP_AGE_S = 10.0  # satellites rise and set in minutes; a GSA may come every fifth epoch
STANDS_STILL_S = 2.5
MEASURED_PERIODS = 2.5  # one lost epoch is no reason to derive what the next sentence measures
LATE_S = 0.5
NO_SENTENCE_S = 2.0
NO_SENTENCE_BYTES = 200


@dataclass(frozen=True, slots=True)
class FixSettings:
    """What makes a fix trusted.

    `floor` is the earliest date that can be true, the build's; `trust_dates` believes any date (a
    recording's). `max_accel_mps2`: no sled passes 15 m/s2, 1.5 g, in a straight line: 0 to 60 mph
    in 1.8 s, where a drag sled on ice needs over 2; the brake rule asks for 3.28. `max_turn_mps2`:
    nor 13 m/s2 in a turn at one speed, and the grip that a turn takes is not there to change the
    speed. `max_speed_mps`: the fastest snowmobile on record did 94 m/s. At rest: the receiver says
    less than `standstill_speed_mps` (4 knots: a moored boat was heard at 3.4), and the net
    displacement over `standstill_s` is under twice `standstill_m`, and it misses where speeds and
    courses led by more than `miss_share` of itself (`path.Rest`).
    """

    floor: date
    trust_dates: bool = False
    speed_error_mph: float = 0.5
    derived_speed_error_mph: float = 2.0
    hdop_m: float = 2.5
    default_error_m: float = 10.0
    max_accel_mps2: float = 15.0
    max_turn_mps2: float = 13.0
    max_speed_mps: float = 100.0
    standstill_s: float = 5.0
    standstill_m: float = 5.0
    standstill_speed_mps: float = 2.06
    miss_share: float = 0.45
    source: str = "gps"


@dataclass(frozen=True, slots=True)
class EpochReport:
    """One epoch that the receiver says is valid, before the gates of order, outlier, standstill.

    Absent: `utc` where there is no date, `speed_mps` and `error_mps` where there is no speed and
    no earlier position to derive one from. `sentence` counts as `Epoch.sentence`.
    """

    sentence: int
    lat_deg: float
    lon_deg: float
    error_m: float
    mode: Literal[2, 3]
    utc: datetime | None = None
    speed_mps: float | None = None
    error_mps: float | None = None
    track_deg: float | None = None
    derived: bool = False


def _derived(path: Path, at_s: float, epoch: Epoch) -> tuple[float, float] | None:
    """Speed from successive positions, and the error that the position's decimals leave in it.

    One minute of latitude is 1,852 m: at four decimals a step is 0.19 m, so positions 0.1 s apart
    would be wrong by 1.9 m/s. The older place is chosen so that a step counts for 0.25 m/s.
    """
    step_m = 1852.0 * 10.0**-epoch.decimals
    moved = path.moved(at_s, epoch.lat_deg, epoch.lon_deg, max(0.05, min(4.0 * step_m, 2.0)))
    if moved is None or moved[1] > KEPT_S:
        return None
    return moved[0] / moved[1], step_m / moved[1]


class _Errors:
    """How sure a position is: GST, else HDOP, each as long as it is fresh, else the default."""

    def __init__(self, settings: FixSettings) -> None:
        self._settings = settings
        self._gst: tuple[float, float] | None = None
        self._hdop: tuple[float, float] | None = None

    def hear(self, hdop: float | None, gst_m: float | None, at_s: float) -> None:
        """Takes what was said of the epoch at `at_s`; absent figures leave the last ones."""
        if gst_m is not None:
            self._gst = (gst_m, at_s)
        if hdop is not None:
            self._hdop = (hdop, at_s)

    def at(self, at_s: float) -> float:
        """The error of a position at this instant, in metres."""
        if self._gst is not None and 0.0 <= at_s - self._gst[1] <= DOP_AGE_S:
            return self._gst[0]
        if self._hdop is not None and 0.0 <= at_s - self._hdop[1] <= DOP_AGE_S:
            return self._hdop[0] * self._settings.hdop_m
        return self._settings.default_error_m

    def forget(self) -> None:
        """Nothing that was said before a loss of fix is true after it."""
        self._gst = self._hdop = None

    @property
    def hdop(self) -> float | None:
        return None if self._hdop is None else self._hdop[0]


class _Reporter:
    """Makes the reports of completed epochs, by a timeline of its own."""

    def __init__(self, settings: FixSettings) -> None:
        self._settings = settings
        self._dates = Dates(settings.floor, settings.trust_dates, 1)
        self._errors = _Errors(settings)
        self._path = Path()
        self._now_s = 0.0
        self._time_s: float | None = None

    def report(self, epoch: Epoch) -> EpochReport:
        if epoch.time_s is not None:
            if self._time_s is not None:
                gap_s = elapsed_s(self._time_s, epoch.time_s)
                if gap_s < 0.0:
                    self._path.clear()
                self._now_s += abs(gap_s)
            self._time_s = epoch.time_s
        now_s = self._now_s
        speed_mps, error_mps = epoch.speed_mps, mps(self._settings.speed_error_mph)
        is_derived = False
        if speed_mps is None and epoch.time_s is not None:
            derived = _derived(self._path, now_s, epoch)
            if derived is not None:
                speed_mps, is_derived = derived[0], True
                error_mps = max(mps(self._settings.derived_speed_error_mph), derived[1])
        self._path.add(now_s, epoch.lat_deg, epoch.lon_deg)
        return EpochReport(
            epoch.sentence,
            epoch.lat_deg,
            epoch.lon_deg,
            self._error_m(epoch, now_s),
            epoch.mode,
            self._dates.utc(epoch.date, epoch.time_s),
            speed_mps,
            None if speed_mps is None else error_mps,
            epoch.track_deg,
            is_derived,
        )

    def _error_m(self, epoch: Epoch, now_s: float) -> float:
        self._errors.hear(epoch.hdop, epoch.gst_m, now_s)
        return self._errors.at(now_s)


class FixTracker:
    """Turns a receiver's bytes into readings of `Channel.FIX` and `Channel.RECEIVER`.

    `fresh_s` is for how long a fix may be judged: the larger of 2 s and two periods, and 0.5 s.
    A speed is given at the sentence that carries it; `on_epoch` gets each completed epoch later,
    before the gates (call `finish` at the end of a recording for the last ones).
    """

    def __init__(
        self, settings: FixSettings, on_epoch: Callable[[EpochReport], None] | None = None
    ) -> None:
        self.settings = settings
        self.parser = Parser()
        self.signals = Signals()
        self.setup = ""
        self._dropouts = 0
        self._assembler = Assembler(gives_complete=on_epoch is not None)
        self._reporter = _Reporter(settings) if on_epoch is not None else None
        self._on_epoch = on_epoch
        self._dates = Dates(
            settings.floor, settings.trust_dates, 1 if settings.trust_dates else AGREEING_DATES
        )
        self._snapped: tuple[date, date] | None = None
        self._errors = _Errors(settings)
        self._path = Path()
        self._rest = Rest(settings)
        self._outliers = OutlierGate(settings)
        self._speed_error_mps = mps(settings.speed_error_mph)
        self._now_s = 0.0  # the timeline: seconds of the sentences' own times since the first
        self._time_s: float | None = None
        self._came_s: float | None = None
        self._older_s: float | None = None
        self._older = 0
        self._accepted_s: float | None = None
        self._periods_s: deque[float] = deque(maxlen=5)
        self._period_s: float | None = None
        self.fresh_s = 2.0 + LATE_S
        self._measured_s: float | None = None
        self._measured_period_s = 1.2  # before two are known: 3 s
        self._void_epoch = -1
        self._satellites: int | None = None
        self._counted_epoch = -1
        self._event = self._said = ""
        self._told: tuple[float, str] | None = None
        self._heard_s: float | None = None
        self._unheard_bytes = 0

    def feed(self, data: bytes, at_s: float) -> list[Reading]:
        """Takes bytes that came at `at_s`, monotonic seconds, and returns what they say."""
        readings: list[Reading] = []
        heard = False
        assembler = self._assembler
        for sentence in self.parser.feed(data):
            heard = True
            closed = assembler.add(sentence)
            if closed:
                self._report(closed)
            if not assembler.is_void and sentence.kind in QUALIFYING:
                self._hear_quality(sentence)
            epoch = assembler.early
            if epoch is not None:
                fix = self._judge(epoch, at_s)
                if fix is not None:
                    readings.append(self._reading(_FIX, fix, at_s, self.fresh_s))
            elif assembler.is_void and self._void_epoch != assembler.opened:
                if self._void_epoch != assembler.opened - 1 and self._accepted_s is not None:
                    self._dropouts += 1  # the first one after a fix
                self._void_epoch = assembler.opened
                self._satellites = None
                self._errors.forget()
                no_fix = Missing(Why.NO_FIX, "the receiver says that it has no fix")
                readings.append(self._reading(Channel.FIX, no_fix, at_s))
        if heard or self._heard_s is None:
            self._heard_s, self._unheard_bytes = at_s, 0
        if not heard:
            self._unheard_bytes += len(data)
        self._tell(readings, at_s)
        return readings

    def _hear_quality(self, sentence: Sentence) -> None:
        """Takes the HDOP, the GST and the satellites that follow the sentence with the speed.

        The fix went out without waiting for them; they speak for the next one, while fresh.
        """
        self._errors.hear(sentence.hdop, sentence.error_m, self._now_s)
        if sentence.satellites is not None:
            same = self._counted_epoch == self._assembler.opened
            # Two talkers of one epoch count their own satellites; the larger is the fix's.
            known = self._satellites if same and self._satellites is not None else 0
            self._satellites = max(sentence.satellites, known)
            self._counted_epoch = self._assembler.opened

    @property
    def epochs(self) -> int:
        """How many epochs have begun, those without a fix too."""
        return self._assembler.opened

    def say(self, note: str) -> None:
        """Lets the next `Receiver` carry a note, once."""
        self._said = note

    def finish(self) -> None:
        """Gives the epochs that are still open to `on_epoch`: no more bytes will come."""
        self._report(self._assembler.finish())

    def _report(self, epochs: list[Epoch]) -> None:
        if self._reporter is not None and self._on_epoch is not None:
            for epoch in epochs:
                self._on_epoch(self._reporter.report(epoch))

    def _reading(
        self,
        channel: Channel,
        value: Fix | Missing | Receiver,
        at_s: float,
        fresh_s: float | None = None,
    ) -> Reading:
        return Reading(channel, value, at_s, self.settings.source, fresh_s)

    def _tell(self, readings: list[Reading], at_s: float) -> None:
        """Adds how the receiver does, once a second and whenever there is something to say."""
        note = self._event or self._said
        if not self._event:
            self._said = ""
        if self._outliers.is_holding:
            note = note or "a jump of speed or place is ignored"
        heard_s = self._heard_s if self._heard_s is not None else at_s
        is_rubbish = self._unheard_bytes > NO_SENTENCE_BYTES and at_s - heard_s >= NO_SENTENCE_S
        if is_rubbish:
            note = "bytes come but no sentence: is the baud rate right?"
        if self._told is not None and note == self._told[1] and at_s - self._told[0] < 1.0:
            return
        self._event = ""
        self._told = (at_s, note)
        if is_rubbish:
            missing = Missing(Why.NO_ANSWER, note)
            readings.append(self._reading(Channel.FIX, missing, at_s))
        receiver = Receiver(
            None if self._period_s is None else round(1.0 / self._period_s, 2),
            self._satellites,
            self._errors.hdop,
            self.parser.begun,
            self.parser.refused.total(),
            note,
            self.signals.cn0_dbhz(at_s),
            self._dropouts,
            self.setup,
        )
        readings.append(self._reading(_RECEIVER, receiver, at_s))

    def _judge(self, epoch: Epoch, at_s: float) -> Fix | None:
        """The gates, in their order; none where one of them holds the epoch back."""
        now_s = self._order(epoch, at_s)
        if now_s is None:
            return None
        settings = self.settings
        self._errors.hear(epoch.hdop, epoch.gst_m, now_s)
        error_m = self._errors.at(now_s)
        speed_mps, error_mps = epoch.speed_mps, self._speed_error_mps
        if speed_mps is not None:
            self._measure(now_s)
        else:
            if self._measured_s is None:
                self._measured_s = now_s  # the first places of a fix wander, and RMC comes last
            if 0.0 <= now_s - self._measured_s <= MEASURED_PERIODS * self._measured_period_s:
                # A measured speed comes soon or has just come, and is better than a derived one.
                self._path.add(now_s, epoch.lat_deg, epoch.lon_deg)
                return None
            derived = _derived(self._path, now_s, epoch)
            if derived is None:
                self._path.add(now_s, epoch.lat_deg, epoch.lon_deg)
                return None
            speed_mps = derived[0]
            error_mps = max(mps(settings.derived_speed_error_mph), derived[1])
        is_derived = epoch.speed_mps is None
        motion = Motion(
            now_s,
            speed_mps,
            epoch.track_deg,
            epoch.lat_deg,
            epoch.lon_deg,
            error_m,
            is_derived,
        )
        passage = self._outliers.judge(motion)
        if passage is _HELD:
            return None
        if passage is _CONFIRMED:
            self._path.clear()
            self._event = "a jump of speed or place was confirmed: the new one is taken"
        else:
            self._count_period(now_s)
        self._accepted_s = now_s
        self._path.add(now_s, epoch.lat_deg, epoch.lon_deg, epoch.speed_mps, epoch.track_deg)
        utc = self._dates.utc(epoch.date, epoch.time_s)
        if utc is not None and self._dates.snapped not in (None, self._snapped):
            self._snapped = self._dates.snapped
            assert self._snapped is not None  # it is not None by the line above
            self._event = "the receiver's date {} is years behind: {} is taken".format(
                *self._snapped
            )
        track_deg = epoch.track_deg
        if self._rest.judge(self._path, speed_mps, is_derived=is_derived):
            speed_mps, track_deg = 0.0, None
        return Fix(
            epoch.lat_deg,
            epoch.lon_deg,
            error_m,
            speed_mps,
            error_mps,
            track_deg,
            utc,
            epoch.mode,
            is_derived,
        )

    def _order(self, epoch: Epoch, at_s: float) -> float | None:
        """The epoch's instant on our own timeline; none while it is older than the last one."""
        gap_s = 0.0
        if epoch.time_s is None or self._time_s is None:
            gap_s = 0.0 if self._came_s is None else max(0.0, at_s - self._came_s)
        elif epoch.time_s == self._time_s:
            if self._came_s is not None and at_s - self._came_s > STANDS_STILL_S:
                self._event = "the receiver's time stands still"
                return None
            return self._now_s
        else:
            gap_s = elapsed_s(self._time_s, epoch.time_s)
        if gap_s < 0.0 and epoch.time_s is not None:
            if not self._is_anew(epoch.time_s):
                return None
            self._event = f"the receiver's time went back {-gap_s:.0f} s: it has started anew"
            self._forget()
            gap_s = 0.0
        self._older_s, self._older = None, 0
        self._now_s += gap_s
        self._time_s, self._came_s = epoch.time_s, at_s
        return self._now_s

    def _is_anew(self, time_s: float) -> bool:
        """Whether five older epochs have followed one another."""
        step_s = 0.0 if self._older_s is None else elapsed_s(self._older_s, time_s)
        if self._older_s is None or step_s < 0.0 or step_s > 60.0:
            self._older = 1
        elif step_s > 0.0:
            self._older += 1
        self._older_s = time_s
        return self._older >= RESTART_EPOCHS

    def _forget(self) -> None:
        self._accepted_s = self._measured_s = None
        self._outliers.forget()
        self._path.clear()
        self._periods_s.clear()
        self._period_s = None
        self.fresh_s = 2.0 + LATE_S

    def _count_period(self, now_s: float) -> None:
        """Takes the gap since the last fix; one of two periods and a half is a drop-out."""
        if self._accepted_s is not None and self._period_s is not None:
            self._dropouts += 2.5 * self._period_s < now_s - self._accepted_s
        if self._accepted_s is not None and 0.0 < now_s - self._accepted_s <= 10.0:
            self._periods_s.append(now_s - self._accepted_s)
            self._period_s = median(self._periods_s)
            self.fresh_s = max(2.0, 2.0 * self._period_s) + LATE_S

    def _measure(self, now_s: float) -> None:
        if self._measured_s is not None and 0.0 < now_s - self._measured_s <= 5.0:
            self._measured_period_s = max(0.8, now_s - self._measured_s)
        self._measured_s = now_s
