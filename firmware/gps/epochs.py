"""Sentences become epochs: all that a receiver says about one instant.

A receiver spreads an epoch over several sentences, in any order, from several talkers. RMC, GGA,
GNS, GLL, GST and ZDA carry the time of day; VTG and GSA do not. Some receivers stamp GLL or ZDA
with another second than the rest, some send an epoch's sentences after the next one has begun.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from firmware.gps.nmea import Parser, Sentence, checksum

DAY_S = 86_400.0

PLACING = ("RMC", "GGA", "GNS", "GLL")
"""The sentences that carry a place and a time, and so make an epoch."""

M_PER_DEG = 111_195.0
"""Of latitude, on a sphere of the mean radius 6,371,008.8 m (IUGG); true to 0.6 % anywhere."""


def elapsed_s(from_s: float, to_s: float) -> float:
    """Seconds from one time of day to another, the shorter way over midnight; negative is back."""
    return (to_s - from_s + DAY_S / 2) % DAY_S - DAY_S / 2


def distance_m(
    from_lat_deg: float, from_lon_deg: float, to_lat_deg: float, to_lon_deg: float
) -> float:
    """Metres between two near places; true to 1 % up to some kilometres, over the date line too."""
    lon_deg = (to_lon_deg - from_lon_deg + 180.0) % 360.0 - 180.0
    east_m = lon_deg * math.cos(math.radians((from_lat_deg + to_lat_deg) / 2.0)) * M_PER_DEG
    return math.hypot((to_lat_deg - from_lat_deg) * M_PER_DEG, east_m)


class Epoch(NamedTuple):
    """What the receiver says about one instant at which it has a fix.

    `time_s` is seconds of the UTC day; `date` is the UTC day as the receiver says it, unjudged.
    `speed_mps` is the receiver's own, from RMC or else VTG. `gst_m` is the horizontal error of
    GST, one sigma. `sentence` is how many sentences had begun when the last sentence of this epoch
    came. `decimals` counts those of the minutes of latitude. A tuple, as `Sentence` is.
    """

    sentence: int
    lat_deg: float
    lon_deg: float
    decimals: int
    time_s: float | None = None
    date: date | None = None
    speed_mps: float | None = None
    track_deg: float | None = None
    mode: Literal[2, 3] = 2
    hdop: float | None = None
    satellites: int | None = None
    gst_m: float | None = None


class _Draft:
    """An epoch that is being put together."""

    __slots__ = (
        "day",
        "gst_m",
        "hdop",
        "is_simulated",
        "kinds",
        "mode",
        "places",
        "rmc_valid",
        "satellites",
        "sentence",
        "speed_mps",
        "time_s",
        "track_deg",
        "vtg",
    )

    def __init__(self, time_s: float | None) -> None:
        self.time_s = time_s
        self.sentence = 0
        self.kinds: set[str] = set()  # talker and type of the sentences that place it
        self.places: list[Sentence] = []
        self.rmc_valid: bool | None = None
        self.is_simulated = False
        self.day: date | None = None
        self.speed_mps: float | None = None
        self.track_deg: float | None = None
        self.vtg: Sentence | None = None
        self.mode: int | None = None
        self.hdop: float | None = None
        self.satellites: int | None = None
        self.gst_m: float | None = None

    @property
    def has_fix(self) -> bool:
        """Status of RMC decides where there is one: GGA may say 1 beside a void RMC."""
        return bool(self.places) and self.rmc_valid is not False and not self.is_simulated

    def place(self) -> tuple[float, float, int]:
        """Where most sentences of the epoch put it, to a metre; of two, the last one but GLL.

        One receiver stamps GLL with the next second, another RMC with the place of the last.
        """
        if len(self.places) == 1:  # as where RMC comes first
            only = self.places[0]
            if only.lat_deg is not None and only.lon_deg is not None:
                return only.lat_deg, only.lon_deg, only.decimals
        places = [
            (one.lat_deg, one.lon_deg, one.decimals, one.kind != "GLL")
            for one in self.places
            if one.lat_deg is not None and one.lon_deg is not None
        ]
        best = places[-1]
        if any(place[:2] != best[:2] for place in places):
            best = max(
                reversed(places),
                key=lambda one: (
                    sum(distance_m(one[0], one[1], two[0], two[1]) < 1.0 for two in places),
                    one[3],
                ),
            )
        return best[:3]

    def take(self, sentence: Sentence) -> None:
        """Adds a sentence that tells of a place, or of there being none."""
        kind = sentence.kind
        self.kinds.add(sentence.talker + kind)
        self.sentence = sentence.number
        self.is_simulated |= sentence.is_simulated
        if kind == "RMC":
            self.rmc_valid = sentence.is_valid or self.rmc_valid is True
        if not sentence.is_valid:
            return
        self.places.append(sentence)
        if kind == "RMC":
            if sentence.speed_mps is not None:
                self.speed_mps, self.track_deg = sentence.speed_mps, sentence.track_deg
            if sentence.date is not None:
                self.day = sentence.date
        if sentence.mode is not None and self.mode is None:
            self.mode = sentence.mode
        if sentence.hdop is not None:
            self.hdop = sentence.hdop
        if sentence.satellites is not None:
            # Two talkers of one epoch count their own satellites; the larger is the fix's.
            self.satellites = max(sentence.satellites, self.satellites or 0)


class Assembler:
    """Groups sentences into epochs; void epochs are counted and not given.

    `add` returns the epochs that are complete now. Two are kept open, because a sentence may come
    after the first one of the next epoch. `opened` counts epochs that have begun, void ones too,
    and `opened_s` is the time of day of the newest. `early` is the newest epoch as far as it is
    known when the last added sentence brought a place or a speed to it, and `is_void` is whether
    that sentence said that there is no fix.
    """

    def __init__(self, *, gives_complete: bool = True, only_counts: bool = False) -> None:
        """Without `gives_complete` only `early` is wanted, and `add` returns nothing; with
        `only_counts` no more than `opened` and `opened_s`, from the sentences that place."""
        self._gives_complete = gives_complete and not only_counts
        self._only_counts = only_counts
        self._open: list[_Draft] = []
        self._pending_vtg: Sentence | None = None
        self._dated: tuple[date, float] | None = None
        self._simulated_until = 0
        self._rmc_until = 0
        self._gsa_mode: int | None = None
        self.opened = 0
        self.opened_s: float | None = None
        self.early: Epoch | None = None
        self.is_void = False

    def add(self, sentence: Sentence) -> list[Epoch]:
        """Takes the next sentence and returns the epochs that it completes."""
        self.early = None
        self.is_void = False
        kind = sentence.kind
        if kind in PLACING:
            return self._place(sentence)
        newest = self._open[-1] if self._open else None
        if kind == "VTG":
            self._speed(sentence, newest)
        elif kind == "GSA":
            # One GSA a constellation: the fix is as good as its best.
            if sentence.mode is not None:
                self._gsa_mode = sentence.mode
            if newest is not None:
                newest.sentence = sentence.number
                if sentence.mode is not None:
                    newest.mode = sentence.mode
                    newest.hdop = sentence.hdop if newest.hdop is None else newest.hdop
        elif kind == "GST":
            for draft in reversed(self._open):
                if draft.time_s == sentence.time_s:
                    draft.gst_m, draft.sentence = sentence.error_m, sentence.number
                    break
        elif sentence.date is not None and sentence.time_s is not None:
            self._dated = (sentence.date, sentence.time_s)
            if newest is not None and newest.time_s == sentence.time_s:
                newest.sentence = sentence.number
        return []

    def finish(self) -> list[Epoch]:
        """The epochs that are still open, when no more bytes will come."""
        drafts, self._open = self._open, []
        return [self._epoch(draft) for draft in drafts if draft.has_fix]

    def _place(self, sentence: Sentence) -> list[Epoch]:
        draft = self._home(sentence)
        closed: list[Epoch] = []
        if draft is None:
            draft = _Draft(sentence.time_s)
            self._open.append(draft)
            self.opened += 1
            self.opened_s = sentence.time_s
            if self._pending_vtg is not None:
                self._take_vtg(draft, self._pending_vtg)
                self._pending_vtg = None
            if len(self._open) > 2:
                oldest = self._open.pop(0)
                if self._gives_complete and oldest.has_fix:
                    closed.append(self._epoch(oldest))
        kind = sentence.kind
        if self._only_counts:
            draft.kinds.add(sentence.talker + sentence.kind)
            return closed
        was_placed, had_rmc = bool(draft.places), draft.rmc_valid is True
        draft.take(sentence)
        if kind == "RMC":
            self._rmc_until = self.opened + 3
            if sentence.date is not None and sentence.time_s is not None:
                self._dated = (sentence.date, sentence.time_s)
        if sentence.is_simulated:
            self._simulated_until = self.opened + 3
        elif kind == "GGA":
            self._simulated_until = 0
        if draft is self._open[-1]:
            if not sentence.is_valid or self.opened < self._simulated_until:
                # GGA, GNS and GLL speak of a lost fix only where there is no RMC to do so, and of
                # two talkers' RMC one that has a fix is enough.
                is_rmc = kind == "RMC" and not had_rmc
                self.is_void = is_rmc or self.opened >= self._rmc_until
            elif draft.has_fix and (not was_placed or (kind == "RMC" and not had_rmc)):
                self.early = self._epoch(draft)
        return closed

    def _home(self, sentence: Sentence) -> _Draft | None:
        """The open epoch that this sentence belongs to; none where it begins a new one.

        The same type from the same talker comes once an epoch: a receiver that has lost the time
        still begins a new epoch with each of its sentences.
        """
        name = sentence.talker + sentence.kind
        for draft in reversed(self._open):
            if draft.time_s == sentence.time_s:
                if name not in draft.kinds:
                    return draft
                break
        if sentence.kind != "GLL" or not self._open or sentence.time_s is None:
            return None
        newest = self._open[-1]
        if newest.time_s is not None and -2.0 <= elapsed_s(newest.time_s, sentence.time_s) < 0.0:
            return newest  # a GLL that carries the second before is not an epoch of its own
        return None

    def _speed(self, vtg: Sentence, newest: _Draft | None) -> None:
        if newest is None:
            self._pending_vtg = vtg
            return
        # Where VTG comes before the place, the one in hand tells of the next epoch as well.
        is_first = newest.vtg is None
        self._pending_vtg = None if is_first or newest.rmc_valid is not None else vtg
        newest.sentence = vtg.number
        self._take_vtg(newest, vtg)
        if newest.has_fix and newest.rmc_valid is None and vtg.speed_mps is not None:
            self.early = self._epoch(newest)

    @staticmethod
    def _take_vtg(draft: _Draft, vtg: Sentence) -> None:
        draft.vtg = vtg

    def _epoch(self, draft: _Draft) -> Epoch:
        lat_deg, lon_deg, decimals = draft.place()
        speed_mps, track_deg = draft.speed_mps, draft.track_deg
        if speed_mps is None and draft.vtg is not None:
            speed_mps, track_deg = draft.vtg.speed_mps, draft.vtg.track_deg
        mode = draft.mode or self._gsa_mode or 2
        return Epoch(
            draft.sentence,
            lat_deg,
            lon_deg,
            decimals,
            draft.time_s,
            draft.day or self._date(draft),
            speed_mps,
            track_deg,
            3 if mode == 3 else 2,
            draft.hdop,
            draft.satellites,
            draft.gst_m,
        )

    def _date(self, draft: _Draft) -> date | None:
        """The day of this epoch: its RMC's, else the nearest one to the last RMC's or ZDA's."""
        if draft.day is not None or self._dated is None or draft.time_s is None:
            return draft.day
        day, time_s = self._dated
        turn = math.floor((time_s + elapsed_s(time_s, draft.time_s)) / DAY_S)
        try:
            return day + timedelta(days=turn)
        except OverflowError:
            return None


_PLACED = re.compile(rb"\$([A-Z]{2}(?:RMC|GGA|GNS)),")
_TIMED = re.compile(
    rb"\$([A-Z]{2}(?:RMC|GGA|GNS),([0-9]{6}(?:\.[0-9]*)?),[^$*\r\n]*)\*([0-9A-F]{2})"
)
"""A sentence that begins an epoch when its time is a new one; GLL may carry another's second."""


def paced(data: bytes) -> list[tuple[float, bytes]]:
    """Cuts a recording at its epochs: each chunk with its seconds since the first.

    The pace is that of the epochs' own times. Where these are absent, step back or leap by more
    than two minutes, the recording's usual period is kept. The chunks joined are the recording.
    """
    cuts = _cuts_by_time(data)
    if len(cuts) < max(_most_placed(data, len(cuts)), 2):  # some tell no new time
        cuts = _cuts_by_epoch(data)
    gaps_s: list[float | None] = []
    for (_, from_s), (_, to_s) in pairwise(cuts):
        gap_s = None if from_s is None or to_s is None else elapsed_s(from_s, to_s)
        gaps_s.append(gap_s if gap_s is not None and 0.0 < gap_s <= 120.0 else None)
    known_s = [gap_s for gap_s in gaps_s if gap_s is not None]
    usual_s = median(known_s) if known_s else 1.0
    chunks: list[tuple[float, bytes]] = []
    at_s = 0.0
    for place, (begin, _) in enumerate(cuts):
        end = cuts[place + 1][0] if place + 1 < len(cuts) else len(data)
        chunks.append((at_s, data[begin if place else 0 : end]))
        if place < len(gaps_s):
            gap_s = gaps_s[place]
            at_s += usual_s if gap_s is None else gap_s
    return chunks if chunks else [(0.0, data)] if data else []


def _most_placed(data: bytes, enough: int) -> int:
    """How many sentences that place it the most frequent talker and type has; no more than
    `enough` are soon told."""
    if max(data.count(kind) for kind in (b"RMC,", b"GGA,", b"GNS,")) <= enough:
        return enough
    return max(Counter(_PLACED.findall(data)).values(), default=0)


def _cuts_by_time(data: bytes) -> list[tuple[int, float | None]]:
    """Where each new time of day begins, and that time; by what a whole sentence says of it."""
    cuts: list[tuple[int, float | None]] = []
    last = b""
    for match in _TIMED.finditer(data):
        clock = match[2]
        if clock == last or checksum(match[1]) != int(match[3], 16):
            continue
        last = clock
        hours, minutes, seconds = int(clock[:2]), int(clock[2:4]), float(clock[4:])
        time_s = hours * 3600.0 + minutes * 60.0 + seconds
        if time_s <= DAY_S and (not cuts or cuts[-1][1] != time_s):
            cuts.append((match.start(), time_s))
    return cuts


def _cuts_by_epoch(data: bytes) -> list[tuple[int, float | None]]:
    """Where each epoch begins, and its time of day, where it has one."""
    begins = [match.start() for match in re.finditer(rb"\$", data)]
    assembler = Assembler(only_counts=True)
    cuts: list[tuple[int, float | None]] = []
    for sentence in Parser(PLACING).feed(data):
        before = assembler.opened
        assembler.add(sentence)
        if assembler.opened != before:
            cuts.append((begins[sentence.number - 1], assembler.opened_s))
    return cuts
