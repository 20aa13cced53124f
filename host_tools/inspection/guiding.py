"""Leads a person through a sheet in a terminal: a question, a letter or a figure, the next one.

Nothing has a default: Enter alone is no answer, for a sheet must not pass by leaning on a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.text import Text

from firmware.errors import SledwardenError
from host_tools.inspection.answers import AnswerError, skipped
from host_tools.inspection.checks import Check, Question
from host_tools.inspection.limits import limit_words
from host_tools.inspection.results import VERDICTS
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.states import RowResult, State
from host_tools.terminal import Console

Ask = Callable[[str], str]
Measure = Callable[[str], list[tuple[str, str, str]]]
"""Measures by a gauge's word; returns items with their answers and how they were measured."""

COLOURS = {
    State.PASS: "green",
    State.FAIL: "bold red",
    State.UNSURE: "yellow",
    State.OPEN: "cyan",
    State.SKIPPED: "cyan",
}
_APART = (State.NOT_APPLICABLE, State.NOTE, State.EXEMPT)


class StoppedError(Exception):
    """The person left the sheet; what was answered is kept."""


class Guide:
    """Asks until nothing is open; `keep` is called after each answer."""

    def __init__(
        self, sheet: Sheet, console: Console, ask: Ask, keep: Callable[[], None], measure: Measure
    ) -> None:
        self._sheet = sheet
        self._out = console
        self._ask = ask
        self._keep = keep
        self._measure = measure

    def lead(self) -> None:
        """Asks all that is open; raises StoppedError where the person leaves."""
        self._out.print(
            "y yes   n no   b back   s skip, and why   m measure   ? more   q quit and keep",
            style="dim",
            highlight=False,
        )
        while item := self._sheet.next_item():
            question = self._sheet.question(item)
            assert question is not None  # next_item names items of the sheet
            self._show(item, question)
            self._answer(item, question)

    def text(self, label: str, current: str = "") -> str:
        """A line of words about the sheet itself; asked until there are some."""
        while not current:
            current = " ".join(self._line(f"{label}: ").split())
            if current.lower() == "q":
                raise StoppedError
            if len(current) > 60 or not current.isprintable():
                self._complain("one line of at most 60 letters was expected.")
                current = ""
        return current

    def confirm(self) -> bool:
        """Shows what it all came to; whether it is to be signed. `b` takes the last answer back."""
        tell(self._out, self._sheet)
        while True:
            word = self._line("Sign it? y, or b to change the last answer, q to leave it: ")
            match word.strip().lower():
                case "y" | "yes" | "1":
                    return True
                case "b" | "-":
                    self._back()
                    return False
                case "q" | ".":
                    raise StoppedError
            self._complain("y, b or q was expected.")

    def _show(self, item: str, question: Question) -> None:
        rows = self._sheet.rows()
        row = _row_of(rows, item)
        done = sum(one.state is not State.OPEN for one in rows)
        head = Text()
        head.append(f"\n{done + 1} of {len(rows)}  ", style="dim")
        if row is not None:
            head.append(f"{row.clause.citation}  ", style="bold")
            head.append(row.clause.title)
        failed = sum(one.state is State.FAIL for one in rows)
        if failed:
            head.append(f"   {failed} failed", style="bold red")
        self._out.print(head)
        line = Text(question.ask, style="bold")
        if isinstance(question, Check):
            line.append(f"   {limit_words(question)}", style="not bold cyan")
        self._out.print(line)
        for number, (word, meaning) in enumerate(question.choices.items(), 1):
            self._out.print(Text(f"  {number}  {word}: {meaning}"))
        if question.measured:
            self._out.print(Text("  m  the unit can measure it", style="dim"))
        if question.hint:
            self._out.print(Text(f"  {question.hint}", style="dim"))

    def _answer(self, item: str, question: Question) -> None:
        label = {"yes_no": "y/n", "choice": "1.." + str(len(question.choices)), "date": "date"}.get(
            question.type, question.unit or "figure"
        )
        while True:
            text = self._line(f"{label} > ").strip()
            try:
                if self._is_done(item, question, text):
                    return
            except AnswerError as fault:
                self._complain(str(fault))
            except SledwardenError as fault:
                self._complain(str(fault))

    def _is_done(self, item: str, question: Question, text: str) -> bool:
        match text.lower():
            case "q" | ".":
                raise StoppedError
            case "b" | "back" | "-":
                self._back()
                return True
            case "?":
                self._more(item, question)
                return False
            case "s" | "skip" | "+":
                reason = self._line("why is it skipped? ")
                self._sheet.put(item, skipped(reason))
            case "m" if question.measured:
                taken = self._measure(question.measured)
                for measured, answer, by in taken:
                    kept = self._sheet.take(measured, answer)
                    self._sheet.put(measured, replace(kept, by=by))
                self._keep()
                return item in self._sheet.answers
            case _:
                self._sheet.take(item, text)
                self._tell_result(item)
        self._keep()
        return True

    def _tell_result(self, item: str) -> None:
        for row in self._sheet.rows():
            for one in row.checks:
                if one.check.item == item and one.state in (State.FAIL, State.UNSURE):
                    line = Text(f"{one.state}: ", style=COLOURS[one.state])
                    line.append(one.why, style="default")
                    self._out.print(line)
                    return

    def _back(self) -> None:
        undone = self._sheet.undo()
        self._keep()
        if not undone:
            self._complain("this is the first question.")

    def _more(self, item: str, question: Question) -> None:
        row = _row_of(self._sheet.rows(), item)
        if row is not None:
            self._out.print(Text(row.clause.requirement))
            for one in row.clause.exemptions:
                self._out.print(Text(f"exempt: {one}", style="dim"))
        if isinstance(question, Check) and question.ours:
            self._out.print(Text(question.ours, style="dim"))

    def _line(self, label: str) -> str:
        try:
            return self._ask(label)
        except (EOFError, KeyboardInterrupt):
            raise StoppedError from None

    def _complain(self, what: str) -> None:
        self._out.print(Text(what, style="yellow"))


def tell(out: Console, sheet: Sheet) -> None:
    """What every paragraph came to, and the whole."""
    rows = sheet.rows()
    out.print()
    for row in rows:
        if row.state in _APART:
            continue
        line = Text(f"{row.state:>8}  ", style=COLOURS.get(row.state, "dim"))
        line.append(f"{row.clause.citation}  {row.clause.title}", style="default")
        if row.state is not State.PASS and row.why:
            line.append(f"  {row.why}", style="dim")
        out.print(line)
    apart = sum(row.state in _APART for row in rows)
    whole = Text(f"{VERDICTS[sheet.verdict]}", style=COLOURS.get(sheet.verdict, ""))
    whole.append(f"; {apart} of {len(rows)} paragraphs do not apply", style="default")
    out.print(whole)


def _row_of(rows: tuple[RowResult, ...], item: str) -> RowResult | None:
    """The first paragraph that waits for this item."""
    return next((row for row in rows for one in row.checks if one.needs == item), None)
