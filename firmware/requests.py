"""What people ask of the unit: acknowledge, mark, modes, test, prompts. Granted or refused aloud.

Modes are set only while standing and end at power-off. A refused request raises its prompt on the
glass; nothing is refused in silence.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from enum import Enum, auto

from firmware.law import MODES
from firmware.maps.zones import Nearby
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
    """

    modes: frozenset[str] = frozenset()
    marks: Nearby | None = None
    prompt: str = ""
    answered: str = ""
    answered_s: float | None = None
    _is_question: bool = False
    _prompt_ends_s: float = math.inf
    _test_ends_s: float = -math.inf
    _marks: list[_Mark] = field(default_factory=list)

    def take(
        self, value: Press | Request, at_s: float, fix: Fix | Missing, is_standing: bool
    ) -> Effect:
        """Grants or refuses; `is_standing` is false also where motion can't be told."""
        if isinstance(value, Press):
            return self._pressed(value, at_s, fix)
        match value.action:
            case "acknowledge":
                return Effect.ACKNOWLEDGE
            case "mark":
                return self._mark(value.argument or "person", at_s, fix)
            case "mode":
                return self._set_mode(value.argument, at_s, is_standing)
            case "test":
                if not is_standing:
                    return self._refuse("STOP FIRST\nTHEN TEST", at_s)
                self._test_ends_s = at_s + TEST_S
            case "prompt":
                words = "\n".join(textwrap.wrap(value.argument, LINE_LETTERS)[:2])
                self._show(words, at_s + QUESTION_S, is_question=words != "")
        return Effect.NOTHING

    def is_testing(self, at_s: float) -> bool:
        """Whether all lights, the haptic and the tone are on for a test."""
        return at_s < self._test_ends_s

    def due_s(self, at_s: float) -> float:
        """The next instant after `at_s` at which a prompt, a test or a mark ends."""
        ends = [self._prompt_ends_s, self._test_ends_s, *(one.expires_s for one in self._marks)]
        return min((end for end in ends if end > at_s), default=math.inf)

    def pass_time(self, at_s: float) -> Effect:
        """Ends what is over at `at_s`."""
        if at_s >= self._prompt_ends_s:
            self._show("", math.inf)
        if any(one.expires_s <= at_s for one in self._marks):
            self._marks = [one for one in self._marks if one.expires_s > at_s]
            self._chart()
            return Effect.JUDGE_AGAIN
        return Effect.NOTHING

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

    def _set_mode(self, argument: str, at_s: float, is_standing: bool) -> Effect:
        name, _, switch = argument.partition(" ")
        if name not in MODES or switch not in ("on", "off"):
            return self._refuse("NO SUCH MODE", at_s)
        if not is_standing:
            return self._refuse("STOP FIRST\nTHEN SET MODE", at_s)
        if switch == "on":
            self.modes |= {name}
        else:
            self.modes -= {name}
        words = name.replace("_", " ").upper()
        self._show(f"{words}\nMODE {switch.upper()}", at_s + PROMPT_S)
        return Effect.JUDGE_AGAIN

    def _refuse(self, words: str, at_s: float) -> Effect:
        self._show(words, at_s + PROMPT_S)
        return Effect.NOTHING

    def _show(self, words: str, ends_s: float, *, is_question: bool = False) -> None:
        self.prompt, self._prompt_ends_s, self._is_question = words, ends_s, is_question
