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

from firmware.law import MODES
from firmware.maps.zones import Nearby
from firmware.modes import ModeOn, by_token, watched
from firmware.race_token import TokenError
from firmware.readings import Feature, Fix, Missing, Press, Request, Surroundings

PROMPT_S = 8.0
QUESTION_S = 60.0
"""A question that nobody answers goes: who asked it may be gone, and a hold is to mark again."""
LINE_LETTERS = 16
TEST_S = 3.0

PERSON_S = 600.0
SHANTY_S = 72 * 3600.0
SECOND_HOLD_S = 5.0
"""A second hold so soon after the first turns the marked person into a shanty."""

MARK_REACH_M = 2000.0


class Effect(Enum):
    """What a request changes for the judging."""

    NOTHING = auto()
    ACKNOWLEDGE = auto()
    JUDGE_AGAIN = auto()


@dataclass(frozen=True, slots=True)
class _Mark:
    feature: Feature
    place: tuple[float, float]
    made_s: float
    expires_s: float


@dataclass(slots=True)
class Requests:
    """Keeps the modes, the rider's marks, the prompt and the lamp test.

    `answered` is the last question that a held button answered, `answered_s` when; absent before.
    `unit` and `organizers`, the keys in hex that its configuration names, are what a race's token
    is held against.
    """

    modes: frozenset[str] = frozenset()
    unit: str = ""
    organizers: Collection[str] = frozenset()
    marks: Nearby | None = None
    prompt: str = ""
    answered: str = ""
    answered_s: float | None = None
    _is_question: bool = False
    _prompt_ends_s: float = math.inf
    _test_ends_s: float = -math.inf
    _marks: list[_Mark] = field(default_factory=list)
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
        if isinstance(value, Press):
            return self._pressed(value, at_s, fix)
        match value.action:
            case "acknowledge":
                return Effect.ACKNOWLEDGE
            case "mark":
                return self._mark(value.argument or "person", at_s, fix)
            case "mode":
                return self._set_mode(value, at_s, is_standing)
            case "race":
                return self._prove_race(value, at_s, fix, is_standing, utc)
            case "test":
                if not is_standing:
                    return self._refuse("STOP FIRST\nTHEN TEST", at_s)
                self._test_ends_s = at_s + TEST_S
            case "prompt":
                words = "\n".join(textwrap.wrap(value.argument, LINE_LETTERS)[:2])
                self._show(words, at_s + QUESTION_S, is_question=words != "")
        return Effect.NOTHING

    @property
    def lifts(self) -> Mapping[str, str]:
        """The modes that lift something now, each with what is known of it in words."""
        words = {}
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
        """Looks whether a race that was proven is still held here; says where that changes."""
        effect = Effect.NOTHING
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
        ends = [self._prompt_ends_s, self._test_ends_s, *(one.expires_s for one in self._marks)]
        ends += [one.ends_s for one in self._on.values()]
        return min((end for end in ends if end > at_s), default=math.inf)

    def pass_time(self, at_s: float) -> Effect:
        """Ends what is over at `at_s`."""
        if at_s >= self._prompt_ends_s:
            self._show("", math.inf)
        effect = Effect.NOTHING
        if any(one.expires_s <= at_s for one in self._marks):
            self._marks = [one for one in self._marks if one.expires_s > at_s]
            self._chart()
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
        last = self._marks[-1] if self._marks else None
        if (
            last is not None
            and last.feature.kind == "person"
            and at_s - last.made_s <= SECOND_HOLD_S
        ):
            self._marks.pop()
            return self._mark_at("shanty", at_s, last.place)  # the first hold's place is meant
        return self._mark("person", at_s, fix)

    def _mark(self, kind: str, at_s: float, fix: Fix | Missing) -> Effect:
        if kind not in ("person", "shanty"):
            return self._refuse("MARK PERSON\nOR SHANTY", at_s)
        if isinstance(fix, Missing):
            return self._refuse("NO GPS FIX\nNOT MARKED", at_s)
        return self._mark_at(kind, at_s, (fix.lat_deg, fix.lon_deg))

    def _mark_at(self, kind: str, at_s: float, place: tuple[float, float]) -> Effect:
        corner = (place[1], place[0])
        name = f"mark-{at_s:.1f}"
        feature = Feature(kind, name, "marked by the rider", "point", ((corner,),))
        life_s = PERSON_S if kind == "person" else SHANTY_S
        self._marks.append(_Mark(feature, place, at_s, at_s + life_s))
        self._chart()
        self._show(f"{kind.upper()}\nMARKED HERE", at_s + PROMPT_S)
        return Effect.JUDGE_AGAIN

    def _chart(self) -> None:
        """Draws the marks as a map of their own, about the newest of them."""
        if not self._marks:
            self.marks = None
            return
        lat_deg, lon_deg = self._marks[-1].place
        features = tuple(one.feature for one in self._marks)
        self.marks = Nearby(Surroundings(lat_deg, lon_deg, MARK_REACH_M, features))

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

    def _refuse(self, words: str, at_s: float) -> Effect:
        self._show(words, at_s + PROMPT_S)
        return Effect.NOTHING

    def _show(self, words: str, ends_s: float, *, is_question: bool = False) -> None:
        self.prompt, self._prompt_ends_s, self._is_question = words, ends_s, is_question
