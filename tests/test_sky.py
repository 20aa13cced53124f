"""Darkness by the sun, asked seldom and at the right instants, and by the light, after 30 s."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from firmware.readings import Light, Missing, Why
from firmware.rules.base import Dark
from firmware.situation.sky import Sky
from firmware.sun import hours_of_darkness

EAGLE_RIVER = (45.917, -89.244)
NOON = datetime(2026, 1, 16, 18, tzinfo=UTC)
MIDNIGHT = datetime(2026, 1, 16, 6, tzinfo=UTC)


def sky(place: tuple[float, float] | None = EAGLE_RIVER) -> Sky:
    made = Sky(dark_lux=5.0, light_lux=10.0, dwell_s=30.0)
    if place is not None:
        made.take_place(*place)
    return made


def light(lux: float) -> Light:
    return Light(lux, 1.0)


def dim(*series: tuple[float, float]) -> list[tuple[float, bool | None]]:
    """The instants at which the light's answer changes, for (seconds, lux) as they come."""
    made = sky(None)
    changes: list[tuple[float, bool | None]] = []
    answer: bool | None = None

    def ask(at_s: float) -> None:
        nonlocal answer
        now = made.judge(None, at_s).by_light
        if now is not answer:
            answer = now
            changes.append((at_s, now))

    for at_s, lux in series:
        while made.due_s() < at_s:
            ask(made.due_s())
        made.take_ambient(light(lux), at_s)
        ask(at_s)
    while made.due_s() < math.inf:
        ask(made.due_s())
    return changes


def test_the_sled_s_own_lamp_makes_no_day_for_as_long_as_it_is_lit() -> None:
    made = sky(None)
    made.take_head(light(0.0), 0.0)
    for tick in range(600):
        at_s = tick / 4
        lamp_lux = 850.0 if 40.0 <= at_s < 140.0 else 0.0
        made.take_ambient(light(2.0 + lamp_lux / 10.0), at_s)  # 87 lux with the lamp on
        made.take_head(light(lamp_lux), at_s)
        answer = made.judge(None, at_s).by_light
        assert answer is (True if at_s >= 30.0 else None), at_s
    made.take_head(light(0.0), 150.0)
    made.take_ambient(light(87.0), 150.0)
    assert made.judge(None, 180.0).by_light is False


def test_what_a_lamp_gives_that_was_lit_from_the_start_is_not_known() -> None:
    made = sky(None)
    made.take_head(light(850.0), 0.0)
    for tick in range(200):
        made.take_ambient(light(60.0), tick / 4)
    assert made.judge(None, 50.0).by_light is None
    # What came on top of all that the lamp can have given is the sky's.
    for tick in range(200, 400):
        made.take_ambient(light(71.0), tick / 4)
    assert made.judge(None, 100.0).by_light is False


def test_below_the_dim_level_it_is_dim_whatever_the_lamp_gives() -> None:
    made = sky(None)
    made.take_head(light(850.0), 0.0)
    for tick in range(121):
        made.take_ambient(light(4.0), tick / 4)
    assert made.judge(None, 30.0).by_light is True


def test_a_lamp_lit_from_the_start_is_known_by_the_night_and_makes_no_day_after_it() -> None:
    made = sky()
    made.judge(MIDNIGHT, 0.0)
    made.take_head(light(850.0), 0.0)
    for tick in range(241):
        made.take_ambient(light(60.0), tick / 4)
        made.judge(MIDNIGHT, tick / 4)
    assert made.judge(MIDNIGHT, 60.0).by_light is True
    made.forget_sun()
    for tick in range(240, 480):
        made.take_ambient(light(64.0), tick / 4)  # by day now, and a snow storm
        made.judge(NOON, tick / 4)
    assert made.judge(NOON, 120.0) == Dark(by_sun=False, by_light=True)


def test_the_high_beam_makes_no_day_either() -> None:
    made = sky(None)
    made.take_head(light(0.0), 0.0)
    for tick in range(480):
        at_s = tick / 4
        lamp_lux = 0.0 if at_s < 40.0 else 850.0 if at_s < 60.0 else 1700.0
        made.take_head(light(lamp_lux), at_s)
        made.take_ambient(light(2.0 + lamp_lux / 10.0), at_s)
    assert made.judge(None, 120.0).by_light is True


def test_a_lamp_whose_light_does_not_reach_the_sensor_takes_nothing_away() -> None:
    made = sky(None)
    made.take_head(light(0.0), 0.0)
    for tick in range(400):
        at_s = tick / 4
        made.take_ambient(light(20.0), at_s)
        made.take_head(light(850.0 if at_s >= 40.0 else 0.0), at_s)
    assert made.judge(None, 100.0).by_light is False


def test_a_lamp_that_is_not_seen_for_a_moment_stays_the_lamp_that_it_was() -> None:
    made = sky(None)
    made.take_head(light(0.0), 0.0)
    for tick in range(200):
        at_s = tick / 4
        made.take_ambient(light(60.0 if at_s >= 10.0 else 2.0), at_s)
        made.take_head(light(850.0 if at_s >= 10.0 else 0.0), at_s)
        if at_s == 20.0:
            made.take_head(Missing(Why.NO_ANSWER), at_s)
    assert made.judge(None, 50.0).by_light is True


# The sun.


def test_it_is_dark_at_midnight_and_light_at_noon() -> None:
    assert sky().judge(MIDNIGHT, 0.0) == Dark(True, None)
    assert sky().judge(NOON, 0.0) == Dark(False, None)


def test_without_a_place_it_is_not_known_and_why() -> None:
    dark = sky(None).judge(NOON, 0.0)
    assert dark == Dark(None, None, "no GPS fix yet: not known whether it is dark")
    assert dark.is_dark is None
    assert not dark.may_accuse


def test_without_a_date_it_is_not_known_and_why() -> None:
    dark = sky().judge(None, 0.0)
    assert dark == Dark(None, None, "no date yet: not known whether it is dark")


def test_the_sun_is_asked_again_after_a_minute() -> None:
    made = sky()
    made.judge(NOON, 100.0)
    assert made.due_s() == 160.0


def test_a_clock_that_may_be_off_makes_dusk_unsure_and_midnight_not() -> None:
    one = sky()
    noon = datetime(2026, 1, 16, 18, 0, tzinfo=UTC)
    until_s = (hours_of_darkness(*EAGLE_RIVER, noon).until_utc - noon).total_seconds()
    night = noon + timedelta(seconds=until_s + 30.0)
    assert one.judge(night, 0.0, 20.0).may_accuse
    assert not one.judge(night, 1.0, 60.0).may_accuse
    assert one.judge(night, 2.0, 60.0).is_dark is True
    assert one.judge(night + timedelta(hours=3), 99.0, 60.0).may_accuse


def test_the_change_comes_at_the_very_instant_of_the_change() -> None:
    until = hours_of_darkness(*EAGLE_RIVER, NOON).until_utc
    start = until - timedelta(seconds=130)
    made = sky()
    assert made.judge(start, 0.0).by_sun is False
    instants = []
    while not made.judge(start + timedelta(seconds=made.due_s()), made.due_s()).by_sun:
        instants.append(made.due_s())
        assert len(instants) < 10
    assert instants[:2] == [120.0, pytest.approx(130.0, abs=0.1)]


def test_between_two_questions_the_answer_is_kept() -> None:
    made = sky()
    assert made.judge(NOON, 0.0).by_sun is False
    assert made.judge(MIDNIGHT, 59.9).by_sun is False
    assert made.judge(MIDNIGHT, 60.0).by_sun is True


def test_a_date_that_was_put_right_is_asked_about_at_once() -> None:
    made = sky()
    assert made.judge(NOON, 0.0).by_sun is False
    made.forget_sun()
    assert made.judge(MIDNIGHT, 1.0).by_sun is True


@pytest.mark.parametrize(
    ("lat", "lon", "is_asked"),
    [(45.961, -89.244, False), (45.963, -89.244, True), (45.917, -89.198, True)],
)
def test_after_5_km_the_sun_is_asked_again(lat: float, lon: float, is_asked: bool) -> None:
    made = sky()
    made.judge(NOON, 0.0)
    made.take_place(lat, lon)
    assert (made.judge(MIDNIGHT, 1.0).by_sun is True) is is_asked


def test_a_date_that_is_lost_again_leaves_nothing_due() -> None:
    made = sky()
    made.judge(NOON, 0.0)
    assert made.judge(None, 1.0).by_sun is None
    assert made.due_s() == math.inf


def test_a_place_stays_the_last_one_known() -> None:
    made = sky()
    made.judge(NOON, 0.0)
    assert made.judge(MIDNIGHT, 1e6).by_sun is True


@pytest.mark.parametrize("place", [(90.0, 0.0), (-90.0, 10.0), (78.2, 15.6), (0.0, 180.0)])
@pytest.mark.parametrize("utc", [NOON, MIDNIGHT, datetime(2026, 6, 21, tzinfo=UTC)])
def test_anywhere_the_next_question_lies_ahead(place: tuple[float, float], utc: datetime) -> None:
    made = sky(place)
    at_s = 1e6
    for _ in range(20):
        made.judge(utc + timedelta(seconds=at_s - 1e6), at_s)
        assert at_s < made.due_s() <= at_s + 60.0
        at_s = made.due_s()


# The light.


def test_light_counts_as_too_little_once_it_stayed_below_5_lux_for_30_s() -> None:
    assert dim((0.0, 4.9), (29.9, 4.9)) == [(30.0, True)]


def test_light_counts_as_enough_once_it_stayed_above_10_lux_for_30_s() -> None:
    assert dim((0.0, 4.9), (100.0, 10.1)) == [(30.0, True), (130.0, False)]


def test_five_lux_is_not_below_and_ten_is_not_above() -> None:
    assert dim((0.0, 5.0)) == []
    assert dim((0.0, 4.0), (40.0, 10.0)) == [(30.0, True)]


def test_between_the_two_levels_what_was_said_stays() -> None:
    assert dim((0.0, 4.0), (40.0, 7.0), (200.0, 9.9)) == [(30.0, True)]
    assert dim((0.0, 20.0), (40.0, 7.0), (200.0, 5.1)) == [(30.0, False)]


def test_a_lamp_that_passes_and_a_tree_change_nothing() -> None:
    assert dim((0.0, 1.0), (40.0, 300.0), (69.9, 1.0)) == [(30.0, True)]
    assert dim((0.0, 300.0), (40.0, 1.0), (69.9, 300.0)) == [(30.0, False)]


def test_a_gleam_between_the_levels_begins_the_30_s_anew() -> None:
    assert dim((0.0, 1.0), (20.0, 7.0), (21.0, 1.0)) == [(51.0, True)]


def test_light_that_is_not_seen_ends_all_knowledge_of_it() -> None:
    made = sky()
    made.take_ambient(light(1.0), 0.0)
    assert made.judge(NOON, 30.0).by_light is True
    made.take_ambient(Missing(Why.NO_ANSWER), 31.0)
    assert made.judge(NOON, 31.0).by_light is None
    made.take_ambient(light(1.0), 32.0)
    assert made.judge(NOON, 61.9).by_light is None
    assert made.judge(NOON, 62.0).by_light is True


def test_little_light_by_day_is_dark_but_may_not_accuse() -> None:
    made = sky()
    made.take_ambient(light(1.0), 0.0)
    dark = made.judge(NOON, 30.0)
    assert dark.is_dark is True
    assert not dark.may_accuse


@pytest.mark.parametrize(
    ("by_sun", "by_light", "is_dark", "may_accuse"),
    [
        (True, True, True, True),
        (True, False, True, True),
        (True, None, True, True),
        (False, True, True, False),
        (False, False, False, False),
        (False, None, False, False),
        (None, True, True, False),
        (None, False, None, False),
        (None, None, None, False),
    ],
)
def test_the_sun_alone_may_accuse_and_alone_may_say_that_it_is_light(
    by_sun: bool | None, by_light: bool | None, is_dark: bool | None, may_accuse: bool
) -> None:
    dark = Dark(by_sun, by_light)
    assert (dark.is_dark, dark.may_accuse) == (is_dark, may_accuse)
