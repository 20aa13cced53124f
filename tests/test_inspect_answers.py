"""What a person types: taken as it is meant, or refused with what was expected."""

from __future__ import annotations

import math
from datetime import date

import pytest

from host_tools.inspection.answers import Answer, AnswerError, Days, days, parse, skipped
from host_tools.inspection.conditions import Bound, Condition, ConditionError, Day, Words, wanted
from host_tools.inspection.states import State, judge


def fault(text: str, kind: str, **more: object) -> str:
    with pytest.raises(AnswerError) as told:
        parse(text, kind, **more)  # type: ignore[arg-type]
    return str(told.value)


@pytest.mark.parametrize("text", ["y", "Y", "yes", "1", " YES ", "true", "ok"])
def test_yes(text: str) -> None:
    assert parse(text, "yes_no").word == "yes"


@pytest.mark.parametrize("text", ["n", "No", "0", "false"])
def test_no(text: str) -> None:
    assert parse(text, "yes_no").word == "no"


@pytest.mark.parametrize("text", ["", " ", "maybe", "yn", "2", "yes no"])
def test_anything_else_is_no_yes_or_no_and_nothing_least_of_all(text: str) -> None:
    shown = " ".join(text.split()) or "nothing"
    assert fault(text, "yes_no") == f"{shown}: yes or no was expected (y, n, 1, 0)."


@pytest.mark.parametrize(
    ("text", "figure", "error"),
    [
        ("40", 40.0, 0.0), ("40.25", 40.25, 0.0), (".5", 0.5, 0.0), ("-1.5", -1.5, 0.0),
        ("3/32", 0.09375, 0.0), ("1 1/2", 1.5, 0.0), ("1-1/2", 1.5, 0.0), ("-1/8", -0.125, 0.0),
        ("38.5 +- 1", 38.5, 1.0), ("38.5±0.5", 38.5, 0.5), ("38 +- 1/2", 38.0, 0.5),
    ],
)  # fmt: skip
def test_a_figure_is_read_with_fractions_and_its_error(
    text: str, figure: float, error: float
) -> None:
    answer = parse(text, "number")
    assert (answer.figure, answer.error) == (figure, error)


@pytest.mark.parametrize(
    "text",
    ["", "forty", "1e3", "1/0", "nan", "inf", "1,5", "0x10", "1 2", "--1", "9" * 30, "5 +-", "٤"],
)
def test_what_is_no_figure_is_told(text: str) -> None:
    assert "a figure was expected, like 38.5, 3/32 or 1 1/2." in fault(text, "number")


def test_a_figure_out_of_all_measure_is_a_slip_of_the_finger() -> None:
    more = {"low": 10.0, "high": 120.0, "unit": "in"}
    assert fault("480", "number", **more) == "480: must be from 10 to 120 in."
    assert parse("120", "number", low=10.0, high=120.0).figure == 120.0


def test_of_two_points_the_worst_counts() -> None:
    assert parse("4/32 2/32", "number", points=2, worst=">=").figure == 0.0625
    assert parse("4/32, 2/32", "number", points=2, worst="<=").figure == 0.125
    assert fault("4/32", "number", points=2) == "4/32: 2 figures were expected, like 4/32 5/32."


def test_a_count_is_whole() -> None:
    assert parse("2", "count").figure == 2.0
    assert fault("2.5", "count") == "2.5: a whole number was expected."
    assert fault("2 +- 1", "count") == "2 +- 1: a whole number was expected."


def test_a_choice_is_its_word_its_beginning_or_its_number() -> None:
    beams = {"single": "one", "multiple": "two"}
    for text in ("multiple", "MULTIPLE", "m", "2"):
        assert parse(text, "choice", choices=beams).word == "multiple"
    assert fault("3", "choice", choices=beams) == "3: one of single, multiple was expected."
    assert fault("²", "choice", choices=beams) == "²: one of single, multiple was expected."
    assert fault("", "choice", choices=beams) == "nothing: one of single, multiple was expected."
    with pytest.raises(AnswerError):
        parse("s", "choice", choices={"sale": "", "spare": ""})  # which?


def test_a_word_that_is_a_year_is_not_taken_for_its_place_in_the_list() -> None:
    editions = {"JAN2004": "", "2015": ""}
    assert parse("2015", "choice", choices=editions).word == "2015"
    assert parse("2", "choice", choices=editions).word == "2015"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1994", date(1994, 1, 1), date(1994, 12, 31)),
        ("1994-05", date(1994, 5, 1), date(1994, 5, 31)),
        ("1996-02", date(1996, 2, 1), date(1996, 2, 29)),
        ("1994-5-7", date(1994, 5, 7), date(1994, 5, 7)),
    ],
)
def test_a_date_is_as_exact_as_it_is_known(text: str, first: date, last: date) -> None:
    assert days(text) == Days(first, last)
    assert str(days(str(days(text)))) == str(days(text))


@pytest.mark.parametrize(
    "text", ["94", "", "May 1994", "1994-13", "1994-02-30", "07/05/1994", "١٩٩٤"]
)
def test_what_is_no_date_is_told(text: str) -> None:
    assert "a date was expected, like 1994-05-07" in fault(text, "date")


@pytest.mark.parametrize("text", ["1889", "2101", "0000"])
def test_a_date_in_no_vehicle_s_time_is_refused(text: str) -> None:
    fault(text, "date")


def test_a_question_is_skipped_with_a_reason_only() -> None:
    assert skipped(" no   wall ").reason == "no wall"
    for text in ("", "  ", "no", "x\x1b[2J x"):
        with pytest.raises(AnswerError):
            skipped(text)


# The small language of the conditions.


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("yes", Words(("yes",))),
        ("new or used", Words(("new", "used"))),
        ("<= 40", Bound("<=", 40.0)),
        ("within 4", Bound("within", 4.0)),
        ("= 25", Bound("=", 25.0)),
        (">= slow + 15", Bound(">=", 15.0, "slow")),
        ("<= load", Bound("<=", 0.0, "load")),
        ("2250 to 2750", Bound("to", 2250.0, upper=2750.0)),
        ("from 1975-07-02", Day("from", date(1975, 7, 2))),
    ],
)
def test_a_condition_means_one_thing(text: str, means: object) -> None:
    assert wanted(text) == means


@pytest.mark.parametrize("text", ["<=", "about 40", "after 1975", "<= 40 ft", "", "a and b"])
def test_a_condition_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        wanted(text)


def test_a_condition_is_not_known_while_its_item_is_open_or_skipped() -> None:
    beams = Condition.read("beams = multiple")
    assert beams.is_met({}) is None
    assert beams.is_met({"beams": skipped("too dark")}) is None
    assert beams.is_met({"beams": Answer("multiple", word="multiple")}) is True
    assert beams.is_met({"beams": Answer("single", word="single")}) is False
    rpm = Condition.read("rpm = 2250 to 2750")
    for figure, is_met in ((2249.9, False), (2250.0, True), (2750.0, True), (2750.1, False)):
        assert rpm.is_met({"rpm": Answer("", figure=figure)}) is is_met
    wall = Condition.read("wall = 25")
    assert wall.is_met({"wall": Answer("25", figure=25.0)}) is True
    assert wall.is_met({"wall": Answer("24", figure=24.0)}) is False


@pytest.mark.parametrize(
    ("op", "day", "met", "not_met", "open_"),
    [
        ("after", date(1994, 5, 7), "1994-05-08", "1994-05-07", "1994-05"),
        ("from", date(1975, 7, 2), "1975-07-02", "1975-07-01", "1975-07"),
        ("before", date(1975, 7, 2), "1975-07-01", "1975-07-02", "1975"),
        ("until", date(1975, 1, 1), "1975-01-01", "1975-01-02", "1975-01"),
    ],
)
def test_a_day_is_met_by_all_of_a_span_or_by_none_or_it_is_open(
    op: str, day: date, met: str, not_met: str, open_: str
) -> None:
    one = Day(op, day)
    assert one.is_met(days(met)) is True
    assert one.is_met(days(not_met)) is False
    assert one.is_met(days(open_)) is None


# A figure and its error.


@pytest.mark.parametrize(
    ("value", "error", "state"),
    [
        (34.0, 6.0, State.PASS), (34.1, 6.0, State.UNSURE), (40.0, 0.1, State.UNSURE),
        (45.9, 6.0, State.UNSURE), (46.0, 6.0, State.UNSURE), (46.1, 6.0, State.FAIL),
    ],
)  # fmt: skip
def test_a_figure_within_its_error_of_the_limit_is_unsure(
    value: float, error: float, state: State
) -> None:
    assert judge(Bound("<=", 40.0), value, error, 40.0, 0.0) is state


def test_an_error_on_either_side_counts_for_a_figure_around_nought() -> None:
    within = Bound("within", 4.0)
    for value, error, state in (
        (0.0, 3.9, State.PASS), (-3.0, 1.1, State.UNSURE), (3.0, 1.1, State.UNSURE),
        (-5.2, 1.1, State.FAIL), (0.0, 10.0, State.UNSURE),
    ):  # fmt: skip
        assert judge(within, value, error, 4.0, 0.0) is state


def test_a_limit_that_is_no_number_is_kept_by_nothing() -> None:
    assert not Bound("<=", 40.0).keeps(math.nan, 40.0)
