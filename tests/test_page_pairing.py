"""Pairing a phone: codes, tries, and how many phones."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pages import wrong

from firmware.clock import ManualClock
from firmware.page.pairing import (
    CODE_S,
    GAP_S,
    LONGEST_WAIT_S,
    MAX_SESSIONS,
    TRIES,
    Pairing,
    RefusedError,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(100.0)


def refusal(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(RefusedError) as refused:
        call()
    return refused.value.status, refused.value.what


def test_the_right_code_pairs_once_and_only_the_browser_that_asked(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    offer = pairing.begin()
    assert re.fullmatch(r"[0-9]{4}", offer.code)
    over = (410, "That code is over. Ask for a new one.")
    assert refusal(lambda: pairing.enter("", offer.code)) == over
    assert refusal(lambda: pairing.enter("another", offer.code)) == over
    session = pairing.enter(offer.asker, offer.code)
    assert pairing.is_paired(session)
    assert not pairing.is_paired("")
    assert refusal(lambda: pairing.enter(offer.asker, offer.code)) == over
    pairing.end(session)
    assert not pairing.is_paired(session)


def test_a_code_is_over_after_a_minute(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    offer = pairing.begin()
    clock.advance(CODE_S - 0.1)
    assert pairing.is_pending
    clock.advance(0.1)
    assert not pairing.is_pending
    assert refusal(lambda: pairing.enter(offer.asker, offer.code))[0] == 410


def test_wrong_tries_are_counted_over_all_codes_and_make_the_next_one_wait(
    clock: ManualClock,
) -> None:
    pairing = Pairing(clock)
    said = []
    for _ in range(TRIES):  # a new code for each try gives no new tries
        offer = pairing.begin()
        said.append(refusal(lambda: pairing.enter(offer.asker, wrong(offer.code))))  # noqa: B023 - called at once
        pairing.cancel(offer.asker)
        clock.advance(GAP_S)
    assert said == [
        (403, "Not the code on the glass. 2 tries left."),
        (403, "Not the code on the glass. One try left."),
        (429, "Not the code on the glass. A new code can be had in 10 s."),
    ]
    assert refusal(pairing.begin) == (429, "Too many wrong tries. A new code can be had in 7 s.")


def test_guessing_for_a_day_is_a_hundred_tries(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    tries = 0
    end_s = clock.mono_s() + 86_400.0
    while clock.mono_s() < end_s:
        try:
            offer = pairing.begin()
        except RefusedError:
            clock.advance(30.0)
            continue
        refusal(lambda: pairing.enter(offer.asker, wrong(offer.code)))  # noqa: B023 - called at once
        tries += 1
        pairing.cancel(offer.asker)
        clock.advance(GAP_S)
    assert tries <= 3 * (86_400.0 / LONGEST_WAIT_S + 10)


def test_another_phone_waits_for_the_first(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    pairing.begin()
    clock.advance(20.0)
    assert refusal(pairing.begin) == (
        409, "Another phone is being paired. Try again in 40 s.",
    )  # fmt: skip


def test_codes_come_no_faster_than_a_person_asks(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    pairing.cancel(pairing.begin().asker)
    assert refusal(pairing.begin) == (429, "That was quick. Try again in a moment.")


def test_one_phone_too_many_ends_the_oldest(clock: ManualClock) -> None:
    pairing = Pairing(clock)
    sessions = []
    for _ in range(MAX_SESSIONS + 1):
        clock.advance(GAP_S)
        offer = pairing.begin()
        sessions.append(pairing.enter(offer.asker, offer.code))
    assert [pairing.is_paired(one) for one in sessions] == [False] + [True] * MAX_SESSIONS
