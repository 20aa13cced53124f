"""What people ask: granted while it is safe, refused aloud, ended by time."""

from __future__ import annotations

import math

import pytest
from judging import HOME, NO_FIX, east_of, fix_of

from firmware.readings import Missing, Press, Request, Why
from firmware.rider.requests import (
    MODES,
    PROMPT_S,
    QUESTION_S,
    TEST_S,
    Effect,
    Requests,
)

HERE = fix_of(0.0)
PRESS, HOLD = Press("press"), Press("hold")


def ask(
    requests: Requests,
    action: str,
    argument: str = "",
    at_s: float = 10.0,
    *,
    standing: bool = True,
) -> Effect:
    return requests.take(Request(action, argument, "test"), at_s, HERE, standing)


def hold(requests: Requests, at_s: float, place: tuple[float, float] = HOME) -> Effect:
    return requests.take(HOLD, at_s, fix_of(5.0, place), False)


def marked(requests: Requests) -> list[tuple[str, float]]:
    """Kind and feet from home of each mark on the map."""
    if requests.marks is None:
        return []
    nears = requests.marks.within(HOME, 1e5)
    return sorted((near.feature.kind, round(near.distance_m / 0.3048)) for near in nears)


def test_a_press_and_a_request_acknowledge() -> None:
    requests = Requests()
    assert requests.take(PRESS, 1.0, NO_FIX, False) is Effect.ACKNOWLEDGE
    assert ask(requests, "acknowledge", standing=False) is Effect.ACKNOWLEDGE
    assert (requests.prompt, requests.marks) == ("", None)


# Modes.


def test_no_mode_stands_at_power_on() -> None:
    assert Requests().modes == frozenset()


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_set_and_ended_while_standing_and_said(mode: str) -> None:
    requests = Requests()
    words = mode.replace("_", " ").upper()
    assert ask(requests, "mode", f"{mode} on") is Effect.JUDGE_AGAIN
    assert requests.modes == {mode}
    assert requests.prompt == f"{words}\nMODE ON"
    assert ask(requests, "mode", f"{mode} off") is Effect.JUDGE_AGAIN
    assert requests.modes == frozenset()
    assert requests.prompt == f"{words}\nMODE OFF"


def test_modes_stand_side_by_side() -> None:
    requests = Requests()
    for mode in MODES:
        ask(requests, "mode", f"{mode} on")
    ask(requests, "mode", "race off")
    assert requests.modes == {"maker_test", "family_land"}


@pytest.mark.parametrize("switch", ["on", "off"])
def test_a_mode_is_refused_aloud_while_the_sled_may_move(switch: str) -> None:
    requests = Requests(modes=frozenset({"race"} if switch == "off" else set()))
    before = requests.modes
    assert ask(requests, "mode", f"race {switch}", standing=False) is Effect.NOTHING
    assert requests.modes == before
    assert requests.prompt == "STOP FIRST\nTHEN SET MODE"


@pytest.mark.parametrize("argument", ["", "race", "race maybe", "rase on", "on race", "RACE on"])
def test_a_mode_that_there_is_not_is_refused_aloud(argument: str) -> None:
    requests = Requests()
    assert ask(requests, "mode", argument) is Effect.NOTHING
    assert (requests.modes, requests.prompt) == (frozenset(), "NO SUCH MODE")


# The lamp test.


def test_a_test_lasts_3_s_and_needs_a_sled_that_stands() -> None:
    requests = Requests()
    assert not requests.is_testing(0.0)
    ask(requests, "test", standing=False)
    assert not requests.is_testing(10.0)
    assert requests.prompt == "STOP FIRST\nTHEN TEST"
    ask(requests, "test")
    assert requests.is_testing(10.0)
    assert requests.is_testing(10.0 + TEST_S - 0.001)
    assert not requests.is_testing(10.0 + TEST_S)


def test_the_end_of_a_test_is_due() -> None:
    requests = Requests()
    ask(requests, "test")
    assert requests.due_s(10.0) == 13.0
    assert requests.due_s(13.0) == math.inf


# Prompts.


def test_what_is_said_is_taken_away_after_8_s() -> None:
    requests = Requests()
    ask(requests, "mode", "race on")
    assert requests.due_s(10.0) == 10.0 + PROMPT_S
    assert requests.pass_time(17.9) is Effect.NOTHING
    assert requests.prompt == "RACE\nMODE ON"
    assert requests.pass_time(18.0) is Effect.NOTHING
    assert (requests.prompt, requests.due_s(18.0)) == ("", math.inf)


def test_a_question_stays_until_a_hold_answers_it() -> None:
    requests = Requests()
    ask(requests, "prompt", "HOLD TO ALLOW DOWNLOAD")
    assert requests.due_s(10.0) == 10.0 + QUESTION_S
    assert requests.take(PRESS, 11.0, HERE, True) is Effect.ACKNOWLEDGE
    assert requests.prompt == "HOLD TO ALLOW\nDOWNLOAD"
    assert (requests.answered, requests.answered_s) == ("", None)
    assert hold(requests, 12.0) is Effect.NOTHING
    assert (requests.prompt, requests.marks) == ("", None)
    assert (requests.answered, requests.answered_s) == ("HOLD TO ALLOW\nDOWNLOAD", 12.0)


def test_a_question_that_nobody_answers_goes_and_a_hold_marks_again() -> None:
    requests = Requests()
    ask(requests, "prompt", "OPEN PORT?")
    requests.pass_time(10.0 + QUESTION_S)
    assert requests.prompt == ""
    assert hold(requests, 71.0) is Effect.JUDGE_AGAIN
    assert (requests.answered, marked(requests)) == ("", [("person", 0)])


def test_the_hold_after_an_answer_marks_again() -> None:
    requests = Requests()
    ask(requests, "prompt", "HOLD TO ALLOW\nDOWNLOAD")
    hold(requests, 12.0)
    assert hold(requests, 20.0) is Effect.JUDGE_AGAIN
    assert marked(requests) == [("person", 0)]


def test_what_is_only_said_is_no_question() -> None:
    requests = Requests()
    ask(requests, "mode", "race on")
    assert hold(requests, 11.0) is Effect.JUDGE_AGAIN


# Marks.


def test_a_hold_marks_a_person_here_for_ten_minutes() -> None:
    requests = Requests()
    assert hold(requests, 100.0) is Effect.JUDGE_AGAIN
    assert marked(requests) == [("person", 0)]
    assert requests.prompt == "PERSON\nMARKED HERE"
    requests.pass_time(108.0)
    assert requests.due_s(108.0) == 700.0
    assert requests.pass_time(699.9) is Effect.NOTHING
    assert marked(requests) == [("person", 0)]
    assert requests.pass_time(700.0) is Effect.JUDGE_AGAIN
    assert (requests.marks, requests.due_s(700.0)) == (None, math.inf)


def test_a_second_hold_within_5_s_turns_the_person_into_a_shanty_where_it_was_marked() -> None:
    requests = Requests()
    hold(requests, 100.0)
    assert hold(requests, 105.0, east_of(100.0)) is Effect.JUDGE_AGAIN
    assert marked(requests) == [("shanty", 0)]
    assert requests.prompt == "SHANTY\nMARKED HERE"
    requests.pass_time(113.0)
    assert requests.due_s(113.0) == 105.0 + 72 * 3600.0


def test_a_second_hold_needs_no_fix_of_its_own_and_never_loses_the_mark() -> None:
    requests = Requests()
    hold(requests, 100.0)
    assert requests.take(HOLD, 104.0, Missing(Why.NO_FIX), False) is Effect.JUDGE_AGAIN
    assert marked(requests) == [("shanty", 0)]


def test_a_second_hold_later_than_5_s_marks_another_person() -> None:
    requests = Requests()
    hold(requests, 100.0)
    hold(requests, 105.1, east_of(100.0))
    assert marked(requests) == [("person", 0), ("person", 100)]


def test_a_third_hold_marks_another_person_and_leaves_the_shanty() -> None:
    requests = Requests()
    hold(requests, 100.0)
    hold(requests, 103.0)
    hold(requests, 106.0, east_of(100.0))
    assert marked(requests) == [("person", 100), ("shanty", 0)]


def test_marks_end_each_at_its_own_time() -> None:
    requests = Requests()
    hold(requests, 100.0)
    hold(requests, 200.0, east_of(100.0))
    assert requests.pass_time(700.0) is Effect.JUDGE_AGAIN
    assert marked(requests) == [("person", 100)]
    assert requests.due_s(700.0) == 800.0


def test_a_mark_without_a_fix_is_refused_aloud() -> None:
    requests = Requests()
    assert requests.take(HOLD, 1.0, NO_FIX, True) is Effect.NOTHING
    assert (requests.prompt, requests.marks) == ("NO GPS FIX\nNOT MARKED", None)


@pytest.mark.parametrize(("argument", "kind"), [("", "person"), ("shanty", "shanty")])
def test_a_mark_may_be_asked_for_by_its_kind(argument: str, kind: str) -> None:
    requests = Requests()
    assert ask(requests, "mark", argument) is Effect.JUDGE_AGAIN
    assert marked(requests) == [(kind, 0)]


def test_a_mark_of_another_kind_is_refused_aloud() -> None:
    requests = Requests()
    assert ask(requests, "mark", "dwelling") is Effect.NOTHING
    assert (requests.prompt, requests.marks) == ("MARK PERSON\nOR SHANTY", None)


def test_marks_far_apart_keep_their_places() -> None:
    requests = Requests()
    hold(requests, 100.0)
    hold(requests, 200.0, east_of(20_000.0))
    (_, near), (_, far) = marked(requests)
    assert near == 0
    assert far == pytest.approx(20_000, rel=0.002)


@pytest.mark.parametrize("action", ["note", "restart"])
def test_what_is_only_kept_changes_nothing(action: str) -> None:
    requests = Requests()
    assert ask(requests, action, "anything") is Effect.NOTHING
    assert requests == Requests()


def test_everything_that_is_said_fits_the_glass() -> None:
    said = set()
    for standing in (True, False):
        for action, argument in [
            *(("mode", f"{mode} {switch}") for mode in (*MODES, "x") for switch in ("on", "off")),
            ("test", ""),
            *(("mark", kind) for kind in ("person", "shanty", "x")),
        ]:
            requests = Requests()
            ask(requests, action, argument, standing=standing)
            said.add(requests.prompt)
    requests.take(HOLD, 1.0, NO_FIX, True)
    for words in (said | {requests.prompt}) - {""}:
        lines = words.split("\n")
        assert len(lines) <= 2
        assert all(len(line) <= 16 for line in lines), words
