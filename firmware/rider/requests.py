"""What people ask of the unit: acknowledge, mark, modes, test, prompts. Granted or refused aloud.

Modes are set only while standing and end at power-off; a race that an organizer's token proved
ends with its window. A refused request raises its prompt on the glass; nothing is refused in
silence.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto

from firmware.law.packs import MODES
from firmware.maps.zones import Nearby
from firmware.race_token import TokenError
from firmware.readings import Fix, Missing, Press, Request
from firmware.rider.marks import Asked, MarkError, Marks, asked
from firmware.rider.modes import ModeOn, by_token, watched

PROMPT_S = 8.0
QUESTION_S = 60.0
"""A question that nobody answers goes: who asked it may be gone, and a hold is to mark again."""
LINE_LETTERS = 16
TEST_S = 3.0

SECOND_HOLD_S = 5.0
"""A second hold so soon after the first turns the marked person into a shanty."""

KEY_S = 60.0
"""So long the unit's key stands on the glass: time to find the telephone."""

NEW_KEY_S = 300.0
"""At the first start longer: what is not watched yet stands before it until it is acknowledged."""

NEW_KEY = "new"
"""The argument by which the unit itself asks for its key to be shown, when it was just made."""

DATE_SLACK_S = 2.0

BUTTON = "button"
KEPT = "kept marks"
"""Who marked: the rider by the button, or the unit itself what it kept over a restart."""


class Effect(Enum):
    """What a request changes for the judging."""

    NOTHING = auto()
    ACKNOWLEDGE = auto()
    JUDGE_AGAIN = auto()


@dataclass(frozen=True, slots=True)
class Report:
    """What a rider says is wrong on the map: the feature's id and why, when, and who says so."""

    id: str
    why: str
    utc: datetime | None = None
    by: str = ""


@dataclass(slots=True)
class Requests:
    """Keeps the modes, the rider's marks, the prompt and the lamp test.

    `is_key_wanted` while the glass is to show the unit's key.
    `answered` is the last question that a held button answered, `answered_s` when; absent before.
    `unit` and `organizers`, the keys in hex that its configuration names, are what a race's token
    is held against.
    """

    modes: frozenset[str] = frozenset()
    unit: str = ""
    organizers: Collection[str] = frozenset()
    marked: Marks = field(default_factory=Marks)
    reports: list[Report] = field(default_factory=list)
    prompt: str = ""
    answered: str = ""
    answered_s: float | None = None
    _is_question: bool = False
    _prompt_ends_s: float = math.inf
    _test_ends_s: float = -math.inf
    _key_ends_s: float = math.inf
    is_key_wanted: bool = False
    _utc: datetime | None = None
    _held: tuple[float, str] | None = None
    _dated: tuple[datetime, float] | None = None
    _on: dict[str, ModeOn] = field(default_factory=dict)

    def take(
        self,
        value: Press | Request,
        at_s: float,
        fix: Fix | Missing,
        is_standing: bool,
        utc: datetime | None = None,
    ) -> Effect:
        """Grants or refuses; `is_standing` is false also where motion can't be told.

        `utc` is the satellites' date, absent while they have given none.
        """
        self._utc = utc
        if isinstance(value, Press):
            return self._pressed(value, at_s, fix)
        match value.action:
            case "acknowledge":
                return Effect.ACKNOWLEDGE
            case "mark":
                return self._mark(value, at_s, fix)
            case "unmark":
                return self._unmark(value.argument, at_s)
            case "report":
                return self._report(value, at_s)
            case "mode":
                return self._set_mode(value, at_s, is_standing)
            case "race":
                return self._prove_race(value, at_s, fix, is_standing, utc)
            case "test":
                if not is_standing:
                    return self._refuse("STOP FIRST\nTHEN TEST", at_s)
                self._test_ends_s = at_s + TEST_S
            case "key":
                if not is_standing and not (value.argument == NEW_KEY and isinstance(fix, Missing)):
                    return self._refuse("STOP FIRST\nTHEN SHOW KEY", at_s)
                is_new = value.argument == NEW_KEY
                self.is_key_wanted = True
                self._key_ends_s = at_s + (NEW_KEY_S if is_new else KEY_S)
            case "prompt":
                words = "\n".join(textwrap.wrap(value.argument, LINE_LETTERS)[:2])
                self._show(words, at_s + QUESTION_S, is_question=words != "")
        return Effect.NOTHING

    @property
    def marks(self) -> Nearby | None:
        """The map of the rider's own marks; None where there are none."""
        return self.marked.chart

    def _date_marks(self, utc: datetime | None, at_s: float) -> Effect:
        """Follows the date where it became known or has moved: a mark may be over by it."""
        if utc is None:
            return Effect.NOTHING
        if self._dated is not None:
            from_utc, from_s = self._dated
            moved_s = (utc - from_utc).total_seconds() - (at_s - from_s)
            if abs(moved_s) <= DATE_SLACK_S:
                return Effect.NOTHING
        self._dated = (utc, at_s)
        return Effect.JUDGE_AGAIN if self.marked.take_date(utc, at_s) else Effect.NOTHING

    @property
    def lifts(self) -> Mapping[str, str]:
        """The modes that lift something now, each with what is known of it in words."""
        words: dict[str, str] = {}
        if not self.modes:  # as nearly always
            return words
        for mode in sorted(self.modes):
            on = self._on.get(mode, ModeOn(mode))
            if not on.off:
                words[mode] = on.words
        return words

    @property
    def mode_words(self) -> tuple[str, ...]:
        """Of each mode that is on, in order of its name, who says so and what is proven."""
        return tuple(self._on.get(mode, ModeOn(mode)).words for mode in sorted(self.modes))

    def watch(self, fix: Fix | Missing, utc: datetime | None, at_s: float) -> Effect:
        """Looks whether a race that was proven is still held here, and says where that changes; and
        whether a mark has ended by the date."""
        effect = self._date_marks(utc, at_s)
        for mode, on in list(self._on.items()):
            if on.token is None:
                continue
            now = watched(on, fix, utc, at_s)
            if now.ends_s <= at_s:
                self._end_by_time(mode, at_s)
                effect = Effect.JUDGE_AGAIN
                continue
            self._on[mode] = now
            if now.off == on.off:
                continue
            effect = Effect.JUDGE_AGAIN
            if now.off and not isinstance(fix, Missing):  # without a fix the glass says that
                self._show("OUTSIDE THE RACE\nLIMITS HOLD", at_s + PROMPT_S)
            elif not now.off:
                self._show("AT THE RACE\nNIGHT LIMIT OFF", at_s + PROMPT_S)
        return effect

    def is_testing(self, at_s: float) -> bool:
        """Whether all lights, the haptic and the tone are on for a test."""
        return at_s < self._test_ends_s

    def due_s(self, at_s: float) -> float:
        """The next instant after `at_s` at which a prompt, a test or a mark ends."""
        due_s = math.inf
        for one in self._on.values():
            if at_s < one.ends_s < due_s:
                due_s = one.ends_s
        own = (self._prompt_ends_s, self._test_ends_s, self._key_ends_s, self.marked.due_s())
        for end_s in own:
            if at_s < end_s < due_s:
                due_s = end_s
        return due_s

    def pass_time(self, at_s: float) -> Effect:
        """Ends what is over at `at_s`."""
        if at_s >= self._prompt_ends_s:
            self._show("", math.inf)
        if at_s >= self._key_ends_s:
            self.hide_key()
        effect = Effect.NOTHING
        if self.marked.pass_time(at_s):
            effect = Effect.JUDGE_AGAIN
        for mode in [mode for mode, on in self._on.items() if on.ends_s <= at_s]:
            self._end_by_time(mode, at_s)
            effect = Effect.JUDGE_AGAIN
        return effect

    def _pressed(self, press: Press, at_s: float, fix: Fix | Missing) -> Effect:
        if press.kind == "press":
            return Effect.ACKNOWLEDGE
        if self._is_question:
            self.answered, self.answered_s = self.prompt, at_s
            self._show("", math.inf)
            return Effect.NOTHING
        held, self._held = self._held, None
        if held is not None and at_s - held[0] <= SECOND_HOLD_S:
            mark = self.marked.take_away(held[1])
            if mark is not None:  # the first hold's place is meant
                place = (mark.lat_deg, mark.lon_deg)
                return self._put(Asked("shanty", place, id=mark.id), at_s, fix, BUTTON)
        if isinstance(fix, Missing):
            return self._refuse("NO GPS FIX\nNOT MARKED", at_s)
        effect = self._put(Asked("person"), at_s, fix, BUTTON)
        self._held = (at_s, self.marked.standing()[-1].id)
        return effect

    def _mark(self, request: Request, at_s: float, fix: Fix | Missing) -> Effect:
        try:
            wanted = asked(request.argument)
        except MarkError:
            return self._refuse("MARK PERSON\nOR SHANTY", at_s)
        if wanted.place is None and isinstance(fix, Missing):
            return self._refuse("NO GPS FIX\nNOT MARKED", at_s)
        return self._put(wanted, at_s, fix, request.by)

    def _put(self, wanted: Asked, at_s: float, fix: Fix | Missing, by: str) -> Effect:
        here = (0.0, 0.0) if isinstance(fix, Missing) else (fix.lat_deg, fix.lon_deg)
        mark = self.marked.put(wanted, here, at_s, self._utc, by)
        if mark is None:
            return Effect.NOTHING  # one that was kept over a restart and is over by now
        if by != KEPT:  # what was kept is no news to the rider
            where = "MARKED HERE" if by == BUTTON or wanted.place is None else "MARKED"
            self._show(f"{wanted.kind.upper()}\n{where}", at_s + PROMPT_S)
        return Effect.JUDGE_AGAIN

    def _unmark(self, ident: str, at_s: float) -> Effect:
        gone = self.marked.take_away(ident)
        if gone is None:
            return self._refuse("NO SUCH MARK", at_s)
        self._show(f"{gone.kind.upper()}\nMARK REMOVED", at_s + PROMPT_S)
        return Effect.JUDGE_AGAIN

    def _report(self, request: Request, at_s: float) -> Effect:
        """Keeps what the rider says is wrong on the map; it goes on to warn."""
        ident, _, why = request.argument.partition(" ")
        if not ident or not why.strip():
            return self._refuse("SAY WHAT IS\nWRONG, AND WHY", at_s)
        self.reports.append(Report(ident, why.strip(), self._utc, request.by))
        self._show("REPORT KEPT\nIT STILL WARNS", at_s + PROMPT_S)
        return Effect.NOTHING

    def _set_mode(self, request: Request, at_s: float, is_standing: bool) -> Effect:
        name, _, rest = request.argument.partition(" ")
        switch, _, why = rest.partition(" ")
        if name not in MODES or switch not in ("on", "off"):
            return self._refuse("NO SUCH MODE", at_s)
        if not is_standing:
            return self._refuse("STOP FIRST\nTHEN SET MODE", at_s)
        if switch == "on":
            self._begin_mode(ModeOn(name, by=request.by, why=why))
        else:
            self._end_mode(name)
        words = name.replace("_", " ").upper()
        self._show(f"{words}\nMODE {switch.upper()}", at_s + PROMPT_S)
        return Effect.JUDGE_AGAIN

    def _prove_race(
        self,
        request: Request,
        at_s: float,
        fix: Fix | Missing,
        is_standing: bool,
        utc: datetime | None,
    ) -> Effect:
        """Sets race mode by an organizer's token; one that proves nothing changes nothing."""
        if not is_standing:
            return self._refuse("STOP FIRST\nTHEN SET MODE", at_s)
        line, by = request.argument, request.by
        try:
            on = by_token(line, by, self.unit, self.organizers, fix, utc, at_s)
        except TokenError as fault:
            return self._refuse(fault.glass, at_s)
        self._begin_mode(on)
        self._show(
            "RACE PROVEN\nNIGHT LIMIT OFF" if on.is_proven else "RACE SIGNED\nKEY NOT NAMED",
            at_s + PROMPT_S,
        )
        return Effect.JUDGE_AGAIN

    def _begin_mode(self, on: ModeOn) -> None:
        self.modes |= {on.mode}
        self._on[on.mode] = on

    def _end_by_time(self, mode: str, at_s: float) -> None:
        self._end_mode(mode)
        self._show(f"{mode.upper()} IS OVER\nLIMITS HOLD", at_s + PROMPT_S)

    def _end_mode(self, mode: str) -> None:
        self.modes -= {mode}
        self._on.pop(mode, None)

    def hide_key(self) -> None:
        """Takes the key off the glass; nothing where it is not there."""
        self.is_key_wanted, self._key_ends_s = False, math.inf

    def _refuse(self, words: str, at_s: float) -> Effect:
        self._show(words, at_s + PROMPT_S)
        return Effect.NOTHING

    def _show(self, words: str, ends_s: float, *, is_question: bool = False) -> None:
        self.prompt, self._prompt_ends_s, self._is_question = words, ends_s, is_question
