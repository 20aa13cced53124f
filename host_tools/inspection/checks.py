"""What a person is asked for the paragraphs of a law: the checks that stand beside its pack.

`firmware/laws/checks/NAME.toml` belongs to `firmware/laws/NAME.toml`: the unit needs none of it. A
`[[check]]` is of one paragraph and has a limit; a `[[fact]]` is asked only where a check depends on
it. A file is refused whole, with every fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from firmware import toml_text
from firmware.errors import LawError
from firmware.files import CONFIG_BYTES, whole
from firmware.law import packs as law
from firmware.law.packs import VEHICLES, Clause
from host_tools.inspection.answers import Answer, AnswerError, parse
from host_tools.inspection.conditions import (
    Bound,
    Condition,
    ConditionError,
    Day,
    Wanted,
    meets,
    wanted,
)

Kind = Literal["yes_no", "number", "count", "choice", "date", "text", "note"]
Gauge = Literal["", "brake", "speedometer", "odometer", "lamps"]

PACKS_OF: Mapping[str, tuple[str, ...]] = {
    "snowmobile": ("wi",),
    "low_speed_vehicle": ("wi_act311", "wi_trans305"),
    "motor_vehicle": ("wi_trans305",),
}
"""The packs whose paragraphs are inspected on each kind of vehicle."""

BINDS: Mapping[str, tuple[str, ...]] = {
    "snowmobile": ("snowmobile",),
    "low_speed_vehicle": ("low_speed_vehicle", "motor_vehicle"),
    "motor_vehicle": ("motor_vehicle",),
}
"""Whose paragraphs bind a vehicle: a low-speed vehicle is a motor vehicle."""

REFUSED = "The whole file is refused."


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is asked: `type` of the answer, its `unit`, the `range` that anything can be in.

    `choices` are the words of a choice, each with what it means. Outside of `valid` an answer is
    no answer to this question, and `valid_why` says why. Of several `points` the worst counts.
    """

    item: str
    ask: str
    type: Kind
    unit: str = ""
    hint: str = ""
    range: tuple[float, float] | None = None
    choices: dict[str, str] = {}
    points: int = 1
    valid: str = ""
    valid_why: str = ""
    measured: Gauge = ""

    def take(self, text: str) -> Answer:
        """The answer in a text; raises AnswerError with what was expected."""
        low, high = self.range or (float("-inf"), float("inf"))
        answer = parse(
            text, self.type, choices=self.choices, points=self.points,
            low=low, high=high, unit=self.unit, worst=self.worst,
        )  # fmt: skip
        if self.valid and meets(answer, wanted(self.valid), {}) is not True:
            raise AnswerError(f"{answer.text}: {self.valid_why}.")
        return answer

    @property
    def worst(self) -> str:
        """Which of several points is the worst one: the least for a floor."""
        return ""


class Check(Question, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A question of one paragraph, with the limit that its answer must keep.

    `made` and `only_if` say when it is asked at all, `vehicles` of which. Where `unsure_if` holds
    it accuses of nothing, and `unsure_why` says why. `reading` says how a reading must have been
    taken to count. Of the checks with one `either` in a paragraph one that is kept suffices.
    `tolerance_pct` is allowed by `tolerance_of`. `figure_of` is the paragraph that has the figure,
    where it is another; `ours` says that it is a choice that the law leaves open.
    """

    of: str
    item: str = ""
    passes: str = msgspec.field(name="pass", default="")
    either: str = ""
    made: tuple[str, ...] = ()
    only_if: tuple[str, ...] = ()
    unsure_if: tuple[str, ...] = ()
    unsure_why: str = ""
    reading: tuple[str, ...] = ()
    reading_why: str = ""
    tolerance_pct: float = 0.0
    tolerance_of: str = ""
    ours: str = ""
    figure_of: str = ""
    vehicles: tuple[str, ...] = VEHICLES
    vehicles_why: str = ""

    @property
    def wants(self) -> Wanted | None:
        """What the answer must be; None for a note, and where any answer will do."""
        return None if self.passes in ("", "any") else wanted(self.passes)

    @property
    def worst(self) -> str:
        wants = self.wants
        return wants.op if isinstance(wants, Bound) else ""

    @property
    def days(self) -> tuple[Day, ...]:
        """What the date of make must be."""
        return tuple(one for one in map(wanted, self.made) if isinstance(one, Day))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(map(Condition.read, self.only_if))

    @property
    def doubts(self) -> tuple[Condition, ...]:
        """Where a check that is not kept is unsure."""
        return tuple(map(Condition.read, self.unsure_if))

    @property
    def taken(self) -> tuple[Condition, ...]:
        """How a reading must have been taken."""
        return tuple(map(Condition.read, self.reading))


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    check: tuple[Check, ...] = ()
    fact: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that is asked of one kind of vehicle: paragraphs with their checks, and the facts.

    `undue` are the items that are asked in one of some modes alone, none of which is on.
    """

    vehicle: str
    rows: tuple[tuple[Clause, tuple[Check, ...]], ...]
    facts: Mapping[str, Question]
    undue: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def question(self, item: str) -> Question | None:
        """The question of an item, a check's or a fact's."""
        if item in self.facts:
            return self.facts[item]
        return next((one for _, checks in self.rows for one in checks if one.item == item), None)

    @property
    def items(self) -> tuple[str, ...]:
        """Every item that may have an answer."""
        asked = dict.fromkeys(one.item for _, checks in self.rows for one in checks if one.item)
        return (*self.facts, *(one for one in asked if one not in self.facts))


MADE = Question(
    item="made",
    ask="When was it made, as far as the plate says?",
    type="date",
    hint="A year, a month or a day: 1994, 1994-05, 1994-05-07.",
)


def load(vehicle: str, packs: Iterable[str] = (), modes: Iterable[str] = ()) -> Inspection:
    """The inspection of a vehicle by these packs, or by Wisconsin's; raises LawError.

    A paragraph that only a mode demands, as a race demands the tether, is there with that mode.
    """
    rows: list[tuple[Clause, tuple[Check, ...]]] = []
    facts: dict[str, Question] = {MADE.item: MADE}
    undue: dict[str, tuple[str, ...]] = {}
    on = frozenset(modes)
    for word in tuple(packs) or PACKS_OF[vehicle]:
        pack = law.load(word)
        read = _read(law.path_of(word), pack)
        facts |= {one.item: one for one in read.fact}
        for clause in pack.clause:
            checks = tuple(one for one in read.check if one.of == clause.citation)
            is_due = not clause.demanded_by or on.intersection(clause.demanded_by)
            if checks and clause.applies_to in BINDS[vehicle]:
                if is_due:
                    rows.append((clause, checks))
                else:
                    undue |= dict.fromkeys((one.item for one in checks), clause.demanded_by)
    return Inspection(vehicle, tuple(rows), facts, undue)


def _read(pack_path: Path, pack: law.Law) -> _File:
    path = pack_path.parent / "checks" / pack_path.name
    try:
        text = whole(
            path, "a pack's checks", CONFIG_BYTES, lambda where, what: LawError(where, [what])
        )
        read = msgspec.convert(toml_text.read(text.decode()), _File)
    except FileNotFoundError:
        return _File()
    except OSError as fault:
        raise LawError(str(path), [f"can't be read ({fault.strerror})."], REFUSED) from fault
    except ValueError as fault:
        raise LawError(str(path), [f"{fault}."], REFUSED) from fault
    faults = faults_of(read, pack)
    if faults:
        raise LawError(str(path), faults, REFUSED)
    return read


def _fault(where: str, what: str) -> LawError:
    return LawError(where, [what])


def faults_of(read: _File, pack: law.Law) -> list[str]:
    """Every fault of a file of checks: in itself, and beside its pack."""
    faults: list[str] = []
    known = {one.item for one in (*read.check, *read.fact)} | {MADE.item}
    for one in (*read.fact, *read.check):
        name = f"[{one.of}] {one.item}" if isinstance(one, Check) else f"[fact] {one.item}"
        for fault in _faults_of(one, pack):
            faults.append(f"{name}: {fault}")
        for needed in _needed(one):
            if needed not in known:
                faults.append(f"{name}: {needed}: there is no such item.")
    cited = {one.of for one in read.check}
    faults += [
        f"[{clause.citation}]: is INSPECTED and has no check."
        for clause in pack.clause
        if clause.coverage == "INSPECTED" and clause.citation not in cited
    ]
    return faults


def _faults_of(one: Question, pack: law.Law) -> Iterable[str]:
    try:
        if one.valid:
            wanted(one.valid)
        if isinstance(one, Check):
            _ = one.wants, one.days, one.conditions, one.doubts, one.taken
    except ConditionError as fault:
        yield f"{fault}."
        return
    if one.type == "choice" and not one.choices:
        yield "choices: must be there for a choice."
    if one.valid and not one.valid_why:
        yield "valid_why: must say why any other answer is none."
    if not isinstance(one, Check):
        return
    clause = pack.find(one.of)
    if clause is None:
        yield "of: there is no such paragraph in the pack."
    if one.type == "note":
        return
    if not one.item or not one.passes:
        yield "item and pass: must be there for all but a note."
    if len(one.days) != len(one.made):
        yield "made: must be dates, like after 1972-07-01."
    wants = one.wants
    if clause is None or one.ours or not isinstance(wants, Bound):
        return
    source = pack.find(one.figure_of) if one.figure_of else clause
    numbers = () if source is None else source.numbers
    limits = {abs(n.value) for n in numbers if not isinstance(n.value, str)}
    if wants.limit not in limits and not (wants.of and wants.limit == 0.0):
        yield f"pass = {one.passes}: this figure is none of its paragraph's numbers."


def _needed(one: Question) -> Iterable[str]:
    """The items that a question depends on."""
    if not isinstance(one, Check):
        return
    try:
        wants = one.wants
        if isinstance(wants, Bound) and wants.of:
            yield wants.of
        yield from (condition.item for condition in (*one.conditions, *one.doubts, *one.taken))
    except ConditionError:
        return
