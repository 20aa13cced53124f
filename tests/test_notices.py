"""What no sensor sees is told on the glass: once a day, at rest, and never in the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from judging import configured, fix_of

from firmware import monitor
from firmware.findings import Notice
from firmware.informed import Informed
from firmware.law import packs as law
from firmware.law.packs import Clause
from firmware.monitor import INFORMED
from firmware.readings import (
    Channel,
    Engine,
    Light,
    Missing,
    Press,
    Reading,
    Request,
    Value,
    Why,
)
from firmware.rider.notices import Notices, age, notices_of
from firmware.view import state_of

WI = law.load("wi")
TODAY = date(2026, 1, 16)
BASE = WI.clause[0]
ONE, TWO, YOUNG = (
    msgspec.structs.replace(BASE, citation=name, notice=name.upper(), under_age=under)
    for name, under in (("one", None), ("two", None), ("young", 19))
)


def armed(*clauses: Clause, last: str = "never", born: date | None = None) -> Notices:
    notices = Notices(clauses, 6.0, born)
    notices.arm(last)
    return notices


def follow(
    notices: Notices,
    at_s: float,
    today: date | None = TODAY,
    is_moving: bool | None = False,
    is_free: bool = True,
) -> list[Notice]:
    return notices.follow(at_s, today, is_moving, is_free=is_free)


# On their own


def test_each_is_shown_for_its_time_and_then_the_day_is_done() -> None:
    notices = armed(ONE, TWO)
    assert follow(notices, 0.0) == []
    assert (notices.words, notices.due_s()) == ("ONE", 6.0)
    assert follow(notices, 5.9) == []
    assert follow(notices, 6.0) == [Notice("one", "ONE", "shown", 6.0)]
    assert (notices.words, notices.due_s(), notices.done_on) == ("TWO", 12.0, None)
    assert follow(notices, 12.0) == [Notice("two", "TWO", "shown", 6.0)]
    assert (notices.words, notices.done_on, notices.is_idle) == ("", TODAY, True)


def test_a_press_moves_on() -> None:
    notices = armed(ONE, TWO)
    follow(notices, 0.0)
    assert notices.press(1.5) == [Notice("one", "ONE", "pressed", 1.5)]
    assert notices.words == "TWO"
    assert notices.press(2.0) == [Notice("two", "TWO", "pressed", 0.5)]
    assert notices.press(2.5) == []
    assert notices.done_on == TODAY


def test_riding_off_skips_the_rest_and_the_day_is_not_done() -> None:
    notices = armed(ONE, TWO)
    follow(notices, 0.0)
    follow(notices, 6.0)
    assert follow(notices, 7.0, is_moving=True) == [Notice("two", "TWO", "skipped", 0.0)]
    assert (notices.words, notices.done_on) == ("", None)
    assert follow(notices, 60.0) == []


def test_a_day_that_had_them_has_them_no_more_and_the_next_one_has() -> None:
    assert follow(armed(ONE, last="2026-01-16"), 0.0) == []
    tomorrow = armed(ONE, last="2026-01-15")
    follow(tomorrow, 0.0)
    assert tomorrow.words == "ONE"


def test_without_a_date_they_wait_and_a_sled_that_rides_off_has_skipped_them() -> None:
    notices = armed(ONE)
    assert follow(notices, 0.0, today=None) == []
    assert notices.words == ""
    follow(notices, 30.0)
    assert notices.words == "ONE"
    undated = armed(ONE)
    assert follow(undated, 0.0, today=None, is_moving=True) == [Notice("one", "ONE", "skipped")]


def test_they_wait_while_something_else_has_the_glass_and_while_motion_is_not_known() -> None:
    for changes in ({"is_free": False}, {"is_moving": None}):
        notices = armed(ONE)
        follow(notices, 0.0)
        follow(notices, 5.0, **changes)  # type: ignore[arg-type]  # one of two keywords
        assert (notices.words, notices.due_s()) == ("", float("inf"))
        follow(notices, 20.0)
        assert notices.due_s() == 26.0  # its time begins anew


def test_nothing_is_shown_before_it_is_told_when_it_was_last_shown() -> None:
    notices = Notices((ONE,), 6.0)
    assert notices.is_idle
    assert follow(notices, 0.0) == []
    silent = Notices((ONE,), 0.0)
    silent.arm("never")
    assert silent.is_idle


@pytest.mark.parametrize(
    ("born", "is_told"),
    [
        (date(2007, 1, 17), True),  # 19 tomorrow
        (date(2007, 1, 16), False),  # 19 today
        (date(1970, 1, 1), False),
        (None, True),
    ],
)
def test_the_young_are_told_what_holds_for_them(born: date | None, is_told: bool) -> None:
    notices = armed(YOUNG, born=born)
    follow(notices, 0.0)
    assert (notices.words != "") is is_told


def test_an_age_is_whole_years_also_of_who_was_born_on_29_february() -> None:
    assert age(date(2008, 2, 29), date(2027, 2, 28)) == 18
    assert age(date(2008, 2, 29), date(2027, 3, 1)) == 19


# In the packs


@pytest.mark.parametrize("word", ["wi", "wi_act311"])
def test_every_paragraph_that_is_only_told_is_told_by_some_notice(word: str) -> None:
    pack = law.load(word)
    for clause in pack.clause:
        if clause.coverage == "INFORM":
            teller = pack.find(clause.shown_with) if clause.shown_with else clause
            assert teller is not None, clause.citation
            assert teller.notice, clause.citation
            assert teller.applies_to == clause.applies_to


def test_a_rider_of_a_snowmobile_is_told_seven_things_and_the_0_0_by_age() -> None:
    told = notices_of(WI.clause, "snowmobile")
    assert [one.citation for one in told] == [
        "350.10(1)(a)",
        "350.10(1)(b)",
        "350.10(1)(i)",
        "350.101(1)(b)",
        "350.101(1)(bm)",
        "350.101(1)(c)",
        "350.103",
    ]
    assert [one.under_age for one in told] == [None, None, None, None, None, 19, None]
    assert notices_of(WI.clause, "low_speed_vehicle") == []


# In the unit


class Sled:
    """A monitor that is told things; keeps the notices that came of it."""

    def __init__(self, config: str = "") -> None:
        floor = "[clock]\nfloor = 2026-01-01\n"
        parts = frozenset(Channel) - {Channel.LIGHT_AMBIENT, Channel.SURROUNDINGS}
        self.core = monitor.build(configured(floor + config), [WI], parts)
        self.told: list[tuple[float, Notice]] = []

    def step(self, channel: Channel, value: Value, at_s: float) -> None:
        outcome = self.core.step(Reading(channel, value, at_s, "test"), at_s)
        self.told += [one for one in outcome.notes if isinstance(one[1], Notice)]

    def inform(self, at_s: float, last: str = "never") -> None:
        self.step(Channel.REQUEST, Request(INFORMED, last, "daemon"), at_s)

    def rest(self, at_s: float, speed_mph: float = 0.0) -> None:
        utc = datetime(2026, 1, 16, 18, tzinfo=UTC) + timedelta(seconds=at_s)
        fix = fix_of(speed_mph)
        self.step(Channel.FIX, replace(fix, utc=utc), at_s)

    def prepare(self) -> None:
        for channel, value in (
            (Channel.ENGINE, Engine(True)),
            (Channel.LIGHT_HEAD, Light(800.0, 10.0)),
            (Channel.LIGHT_TAIL, Light(800.0, 10.0, 0.9)),
            (Channel.SUPPLY_HEAD, Missing(Why.NOT_FITTED)),
        ):
            self.step(channel, value, 0.0)

    @property
    def prompt(self) -> str:
        return state_of(self.core, 99.0).prompt


def test_the_unit_shows_them_at_its_first_rest_and_the_button_moves_on() -> None:
    sled = Sled()
    sled.inform(0.0)
    sled.prepare()
    assert sled.prompt == ""  # no date yet
    sled.rest(1.0)
    assert sled.prompt == "SPEED MUST FIT\nTHE CONDITIONS"
    sled.step(Channel.BUTTON, Press("press"), 3.0)
    assert sled.prompt == "RIDE WITH CARE\nFOR OTHERS"
    assert sled.told == [
        (3.0, Notice("350.10(1)(a)", "SPEED MUST FIT\nTHE CONDITIONS", "pressed", 2.0))
    ]
    sled.rest(60.0)
    assert [(at_s, one.clause) for at_s, one in sled.told[1:]] == [
        (9.0, "350.10(1)(b)"),
        (15.0, "350.10(1)(i)"),
        (21.0, "350.101(1)(b)"),
        (27.0, "350.101(1)(bm)"),
        (33.0, "350.101(1)(c)"),
        (39.0, "350.103"),
    ]
    assert sled.core.notices.done_on == date(2026, 1, 16)


def test_the_unit_keeps_them_off_a_moving_sled_and_says_that_they_were_skipped() -> None:
    sled = Sled("[rider]\nborn = 1970-01-01\n")
    sled.inform(0.0)
    sled.prepare()
    sled.rest(1.0)
    sled.rest(2.0, 20.0)
    assert sled.prompt == ""
    assert {one.state for _, one in sled.told} == {"skipped"}
    assert len(sled.told) == 6  # nothing for the young
    sled.rest(3.0)
    assert sled.prompt == ""


def test_a_warning_comes_first_and_a_press_answers_it_alone() -> None:
    sled = Sled()
    sled.inform(0.0)
    sled.prepare()
    sled.rest(1.0)
    sled.step(Channel.JOURNAL, Missing(Why.NO_ANSWER, "the disk is full"), 2.0)
    sled.rest(2.5)
    assert sled.prompt == ""
    sled.step(Channel.BUTTON, Press("press"), 3.0)
    assert sled.told == []
    assert sled.prompt == "SPEED MUST FIT\nTHE CONDITIONS"


def test_a_replay_that_is_told_no_day_shows_none() -> None:
    sled = Sled()
    sled.prepare()
    sled.rest(1.0)
    sled.rest(60.0)
    assert (sled.prompt, sled.told) == ("", [])


# Over a restart


def test_the_day_is_kept_beside_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.informed"
    informed = Informed(path)
    assert informed.last_day() == "never"
    informed.note(None)
    informed.note(TODAY)
    informed.finish()
    assert Informed(path).last_day() == "2026-01-16"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("octets", [b"", b"yesterday\n", b"\xff", b"2026-01-16" * 40])
def test_a_file_that_says_nothing_shows_them_once_more(tmp_path: Path, octets: bytes) -> None:
    path = tmp_path / "journal.informed"
    path.write_bytes(octets)
    assert Informed(path).last_day() == "never"


def test_a_place_that_can_t_be_written_is_told_and_costs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    informed = Informed(tmp_path / "no folder" / "journal.informed")
    informed.note(TODAY)
    informed.finish()
    assert "can't be written (No such file or directory)" in caplog.text
