"""A sheet: the answers so far, what is asked next, and what each paragraph comes to.

It is pure: the same answers give the same sheet. An answer that is not there is open, never kept;
what does not apply says why; a figure within its error of the limit is unsure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from firmware.law.packs import Clause
from host_tools.inspection.answers import Answer, AnswerError, Days
from host_tools.inspection.checks import MADE, Check, Inspection, Question
from host_tools.inspection.conditions import Bound, Condition, Day, Words, meets
from host_tools.inspection.limits import limit_words, said
from host_tools.inspection.states import WORST, CheckResult, RowResult, State, judge

MADE_ON = Question(
    item="made_on",
    ask="A date decides here: in which month or on which day was it made?",
    type="date",
    hint="As the plate says: 1994-05, 1994-05-07. Skip it where nobody knows.",
)


@dataclass(slots=True)
class Sheet:
    """The answers to an inspection, in the order in which they came.

    `modes` are declared for the vehicle: they lift what the law says that they lift.
    """

    inspection: Inspection
    modes: tuple[str, ...] = ()
    answers: dict[str, Answer] = field(default_factory=dict)

    def question(self, item: str) -> Question | None:
        """The question of an item: that of the first check that applies, where it has several."""
        if item == MADE_ON.item:
            return MADE_ON
        for one in self._active(item):
            return one
        return self.inspection.question(item)

    def take(self, item: str, text: str) -> Answer:
        """Takes an answer as it was typed; raises AnswerError with what was expected."""
        question = self.question(item)
        if question is None:
            raise AnswerError(f"{item}: there is no such item.")
        answer = question.take(text)
        self._refuse_unless_taken_so(item, answer)
        self.put(item, answer)
        return answer

    def put(self, item: str, answer: Answer) -> None:
        """Keeps an answer as the newest; what hung on the one before is judged anew."""
        if item == MADE_ON.item and answer.days is not None:
            self._refuse_unless_dated(answer.days, answer.text)
        self.answers.pop(item, None)
        self.answers[item] = answer

    def undo(self) -> str:
        """Takes back the newest answer and names its item; empty where there is none."""
        if not self.answers:
            return ""
        item = list(self.answers)[-1]
        del self.answers[item]
        return item

    def next_item(self) -> str:
        """The item that is asked next; empty where all is answered."""
        for row in self.rows():
            for one in row.checks:
                if one.state is State.OPEN and one.needs:
                    return one.needs
        return ""

    def rows(self) -> tuple[RowResult, ...]:
        """What every paragraph comes to."""
        return tuple(self._row(clause, checks) for clause, checks in self.inspection.rows)

    @property
    def verdict(self) -> State:
        """What the whole comes to: the worst of its paragraphs."""
        states = {row.state for row in self.rows()}
        return next((one for one in WORST if one in states), State.PASS)

    @property
    def made(self) -> Days | None:
        """When it was made, as exactly as it was answered."""
        for item in (MADE_ON.item, MADE.item):
            answer = self.answers.get(item)
            if answer is not None and answer.days is not None:
                return answer.days
        return None

    def _row(self, clause: Clause, checks: tuple[Check, ...]) -> RowResult:
        lifting = [mode for mode in clause.lifted_by if mode in self.modes]
        if lifting:
            why = f"{lifting[0].replace('_', ' ')}, self-declared, lifts it"
            results = tuple(CheckResult(one, State.EXEMPT, why) for one in checks)
            return RowResult(clause, State.EXEMPT, why, results)
        results = tuple(self._either([self._check(one) for one in checks]))
        real = [one for one in results if one.state is not State.NOTE]
        if not real:
            return RowResult(clause, State.NOTE, checks[0].ask, results)
        judged = [one for one in real if one.state is not State.NOT_APPLICABLE]
        if not judged:
            why = "; ".join(dict.fromkeys(one.why for one in real))
            return RowResult(clause, State.NOT_APPLICABLE, why, results)
        state = next(one for one in WORST if any(_counts(result, one) for result in judged))
        whys = dict.fromkeys(one.why for one in judged if one.state is state and one.why)
        return RowResult(clause, state, "; ".join(whys), results)

    def _either(self, results: list[CheckResult]) -> Iterator[CheckResult]:
        """Of checks of which one suffices, the others do not apply once one is kept; and while one
        is still open, one that failed has not failed the paragraph."""
        for one in results:
            group = one.check.either
            others = [
                other
                for other in results
                if group and other.check.either == group and other is not one
            ]
            if any(other.state is State.PASS for other in others) and one.state is not State.PASS:
                why = "the other test is kept, and one suffices"
                yield CheckResult(one.check, State.NOT_APPLICABLE, why, one.answer)
            elif one.state is State.FAIL and any(
                other.state in (State.OPEN, State.SKIPPED, State.UNSURE) for other in others
            ):
                why = "not kept; another test decides"
                yield CheckResult(one.check, State.NOT_APPLICABLE, why, one.answer)
            else:
                yield one

    def _check(self, check: Check) -> CheckResult:
        if check.type == "note":
            return CheckResult(check, State.NOTE, check.ask)
        blocked = self._blocked(check)
        if blocked is not None:
            return blocked
        for condition in check.taken:
            result = self._unmet(check, condition)
            if result is not None:
                if result.state is State.NOT_APPLICABLE:
                    why = f"{check.reading_why}: this reading does not count"
                    return CheckResult(check, State.OPEN, why, needs=condition.item)
                return result
        limit_of = check.wants.of if isinstance(check.wants, Bound) else ""
        if limit_of and limit_of not in self.answers:
            return CheckResult(check, State.OPEN, "not answered yet", needs=limit_of)
        answer = self.answers.get(check.item)
        if answer is None:
            return CheckResult(check, State.OPEN, "not answered yet", needs=check.item)
        if answer.is_skipped:
            return CheckResult(check, State.SKIPPED, f"skipped: {answer.reason}", answer)
        result = replace(self.judged(check, answer), taken=self._taken(check))
        if result.state is State.FAIL and any(one.is_met(self.answers) for one in check.doubts):
            return replace(result, state=State.UNSURE, why=f"{result.why}; {check.unsure_why}")
        return result

    def _taken(self, check: Check) -> str:
        """How the reading was taken: `2015, 2480 rpm`."""
        said_ = []
        for condition in check.taken:
            question, answer = (
                self.inspection.question(condition.item),
                self.answers[condition.item],
            )
            said_.append(said(answer, question.unit if question else ""))
        return ", ".join(said_)

    def _blocked(self, check: Check) -> CheckResult | None:
        """Why a check is not asked, or what must be answered before; None where it applies."""
        if self.inspection.vehicle not in check.vehicles:
            return CheckResult(check, State.NOT_APPLICABLE, check.vehicles_why)
        for day in check.days:
            if self.made is None:
                return self._needing(check, MADE.item)
            is_met = day.is_met(self.made)
            if is_met is None:
                return self._needing(check, MADE_ON.item)
            if not is_met:
                why = f"only where made {_made_words(check.days)}; this was made {self.made}"
                return CheckResult(check, State.NOT_APPLICABLE, why)
        for condition in check.conditions:
            result = self._unmet(check, condition)
            if result is not None:
                return result
        return None

    def _unmet(self, check: Check, condition: Condition) -> CheckResult | None:
        is_met = condition.is_met(self.answers)
        if is_met:
            return None
        answer = self.answers.get(condition.item)
        if is_met is None:
            return self._needing(check, condition.item)
        question = self.inspection.question(condition.item)
        asked = condition.item if question is None else question.ask.rstrip("?.")
        assert answer is not None  # or it would not be known
        said_ = answer.text
        if question is not None and answer.word in question.choices:
            said_ = question.choices[answer.word]
        return CheckResult(check, State.NOT_APPLICABLE, f"{asked}: {said_}")

    def _needing(self, check: Check, item: str) -> CheckResult:
        answer = self.answers.get(item)
        if answer is not None and answer.is_skipped:
            question = self.question(item)
            asked = item if question is None else question.ask.rstrip("?.")
            return CheckResult(check, State.SKIPPED, f"{asked}: skipped: {answer.reason}", answer)
        return CheckResult(check, State.OPEN, "not answered yet", needs=item)

    def judged(self, check: Check, answer: Answer) -> CheckResult:
        """What an answer comes to by the limit of a check that applies."""
        wants = check.wants
        if wants is None:
            return CheckResult(check, State.PASS, answer.text, answer)
        if not isinstance(wants, Bound):
            state = State.PASS if meets(answer, wants, self.answers) else State.FAIL
            why = "" if state is State.PASS else _no_words(check, answer, wants)
            return CheckResult(check, state, why, answer)
        limit = wants.limit_in(self.answers)
        if limit is None:  # the item that it is of was skipped
            return self._needing(check, wants.of)
        assert answer.figure is not None  # a number's answer has one
        state = judge(wants, answer.figure, answer.error, limit, check.tolerance_pct)
        words = limit_words(check, limit)
        why = f"{said(answer, check.unit)}: must be {words}"
        if state is State.UNSURE:
            by_tolerance = check.tolerance_pct and not answer.error
            why += f"; {'the tolerance' if by_tolerance else 'its error'} leaves it open"
        return CheckResult(check, state, why, answer, limit=words)

    def _active(self, item: str) -> Iterator[Check]:
        """The checks of an item that apply, as far as that is known."""
        for _, checks in self.inspection.rows:
            for one in checks:
                if one.item == item and one.type != "note" and self._blocked(one) is None:
                    yield one

    def _refuse_unless_taken_so(self, item: str, answer: Answer) -> None:
        """Raises AnswerError where a reading taken so counts for no check that it is for."""
        for _, checks in self.inspection.rows:
            for check in checks:
                for condition in check.taken:
                    if condition.item != item or self._blocked(check) is not None:
                        continue
                    if meets(answer, condition.wanted, self.answers) is not True:
                        raise AnswerError(f"{answer.text}: {check.reading_why}.")

    def _refuse_unless_dated(self, days: Days, text: str) -> None:
        """Raises AnswerError for a date of make outside of its year, or that decides nothing."""
        made = self.answers.get(MADE.item)
        year = None if made is None else made.days
        if year is not None and not year.first <= days.first <= days.last <= year.last:
            raise AnswerError(f"{text}: must be within {year}, as was answered before.")
        for _, checks in self.inspection.rows:
            for check in checks:
                for day in check.days:
                    if day.is_met(days) is None:
                        raise AnswerError(f"{text}: the day matters: {_made_words([day])}?")


def _counts(result: CheckResult, state: State) -> bool:
    return result.state is state


def _made_words(days: Iterable[Day]) -> str:
    return " and ".join(f"{one.op} {one.day}" for one in days)


def _no_words(check: Check, answer: Answer, wants: Words | Day) -> str:
    text = check.choices.get(answer.word, answer.text)
    return f"{check.ask.rstrip('?.')}: {text}"
