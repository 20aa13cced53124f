"""What a clause says of places and signs: refused whole where it can't be judged."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest
from test_law import PACK, WHERE

from firmware.errors import LawError
from firmware.law import packs as law
from firmware.law.places import Entry, Season, Signs

HEAD = PACK.read_text().partition("[[clause]]")[0]
CLAUSE = """
[[clause]]
citation = "1"
title = "t"
plain = "p"
requirement = "r"
applies_to = "snowmobile"
coverage = "ZONE"
how = "h"
source = "s:1"
"""


def faults_of(text: str) -> list[str]:
    with pytest.raises(LawError) as refused:
        law.parse((HEAD + CLAUSE + text).encode(), WHERE)
    return refused.value.faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("season = {from_day = '02-30', to_day = '03-31'}", "season: from_day = 02-30: must be"),
        ("entry = {kinds = ['privat']}", "entry: kind of zone privat: must be one of"),
        (
            "entry = {kinds = ['private'], crossing = ['path']}",
            "entry: kind of zone path: must be one of",
        ),
        ("entry = {kinds = ['private'], line_ft = 0}", "line_ft = 0.0: must be above 0"),
        ("entry = {kinds = ['private'], crossing_ft = 501}", "crossing_ft = 501.0: must be above"),
        ("signs = {stop = ['halt']}", "signs: kind of zone halt: must be one of"),
        ("signs = {give_way = ['yield'], within_ft = -1}", "within_ft = -1.0: must be above 0"),
    ],
)
def test_a_place_that_can_t_be_judged_is_refused(text: str, fault: str) -> None:
    assert [one for one in faults_of(text) if f": [1] {fault}" in one] != []


@pytest.mark.parametrize("day", ["2-1", "02-1", "2026-02-01", "0201"])
def test_a_day_of_another_form_is_refused(day: str) -> None:
    assert "matching regex" in faults_of(f"season = {{from_day = '{day}', to_day = '03-31'}}")[0]


@pytest.mark.parametrize(
    ("days", "inside", "outside"),
    [
        (("04-01", "11-30"), ["2026-04-01", "2026-11-30"], ["2026-03-31", "2026-12-01"]),
        (("12-01", "03-31"), ["2025-12-01", "2026-01-15", "2026-03-31"], ["2026-04-01"]),
        (("02-29", "02-29"), ["2024-02-29"], ["2025-02-28", "2025-03-01"]),
    ],
)
def test_a_season_holds_from_its_first_day_to_its_last(
    days: tuple[str, str], inside: list[str], outside: list[str]
) -> None:
    season = Season(*days)
    assert all(season.holds(date.fromisoformat(day)) for day in inside)
    assert not any(season.holds(date.fromisoformat(day)) for day in outside)


def test_what_a_clause_does_not_say_of_its_places_opens_none() -> None:
    entry, signs = Entry(("private",)), Signs(("stop",))
    assert (entry.consent, entry.after_stop, entry.crossing) == (False, False, ())
    assert (entry.line_ft, entry.crossing_ft, signs.within_ft) == (15.0, 15.0, 30.0)


def test_a_season_of_one_day_is_that_day_of_each_year() -> None:
    season = Season("01-15", "01-15")
    days = [date(2026, 1, 14), date(2026, 1, 15), date(2026, 1, 16), date(2027, 1, 15)]
    assert [season.holds(day) for day in days] == [False, True, False, True]


@pytest.mark.parametrize(
    ("keys", "has_hours"),
    [
        ({}, False),
        ({"when": "darkness"}, False),
        ({"when": "clock"}, True),
        ({"season": Season("12-01", "03-31")}, True),
        ({"exempt_aged": 25}, True),
        ({"entry": Entry(("closed",))}, True),  # a zone may be closed on some days alone
    ],
)
def test_a_clause_by_hours_or_days_needs_the_time_of_day(
    keys: dict[str, object], has_hours: bool
) -> None:
    clause = law.parse((HEAD + CLAUSE).encode(), WHERE).clause[0]
    assert msgspec.structs.replace(clause, **keys).has_hours is has_hours


def test_darkness_begins_half_an_hour_after_sunset_where_a_law_says_nothing_else() -> None:
    clause = law.parse((HEAD + CLAUSE).encode(), WHERE).clause[0]
    assert clause.sun_offset_min == 30  # Wis. Stat. 340.01(23)
