"""The law packs: true to the texts they cite, complete for the rules that read them, refused whole.

The texts are Wisconsin's own, as published; they lie in data/law, one paragraph a line, each begun
with its citation.
"""

from __future__ import annotations

import hashlib
import re
from datetime import date, time
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from firmware import config, law
from firmware.errors import LawError
from firmware.law import Clause, Law, Number
from firmware.requests import MODES

TEXTS = Path(__file__).parent / "data" / "law"
PACK = law.FOLDER / "wi.toml"
WI = law.load("wi")
WHERE = "wi.toml"

NUMBERS = [(clause, number) for clause in WI.clause for number in clause.numbers]
MONTHS = ["January", "February", "March", "April", "May", "June", "July"]
MONTHS += ["August", "September", "October", "November", "December"]


def paragraph(clause: Clause) -> str:
    """The line of the text that a clause names as its source."""
    name, _, line = clause.source.partition(":")
    return (TEXTS / name).read_text().splitlines()[int(line) - 1]


def spellings(number: Number) -> list[str]:
    """The ways in which a statute may write a figure."""
    value = number.value
    if number.unit == "local time":
        at = time.fromisoformat(str(value))
        hour, half = (at.hour - 1) % 12 + 1, "a.m." if at.hour < 12 else "p.m."
        spelt = [f"{hour}:{at.minute:02d} {half}"]
        return spelt if at.minute else [f"{hour} {half}", *spelt]
    if number.unit == "date":
        day = date.fromisoformat(str(value))
        return [f"{MONTHS[day.month - 1]} {day.day}, {day.year}"]
    if isinstance(value, str):
        return [value]
    words = {"mph": "miles per hour", "ft": "feet", "min": "minutes"}
    spelt = [f"{value:g} {words.get(number.unit, number.unit)}"]
    if (number.unit, value) == ("min", 30):
        spelt.append("half hour")
    return spelt


def stands_in(number: Number, text: str) -> bool:
    return any(re.search(rf"(?<![\d.:]){re.escape(one)}", text) for one in spellings(number))


def faults_of(text: str) -> list[str]:
    with pytest.raises(LawError) as refused:
        law.parse(text.encode(), WHERE)
    assert refused.value.where == WHERE
    assert refused.value.advice == "The whole pack is refused."
    return refused.value.faults


def changed(old: str, new: str) -> str:
    """The pack of Wisconsin with a fault planted in it."""
    text = PACK.read_text()
    assert old in text
    return text.replace(old, new, 1)


# True to the text.


@pytest.mark.parametrize("clause", WI.clause, ids=lambda one: one.citation)
def test_the_source_line_of_each_clause_begins_with_its_citation(clause: Clause) -> None:
    assert paragraph(clause).startswith(f"{clause.citation} ")


@pytest.mark.parametrize(
    ("clause", "number"), NUMBERS, ids=[f"{one.citation}: {number.of}" for one, number in NUMBERS]
)
def test_a_number_is_marked_in_text_exactly_where_its_paragraph_holds_it(
    clause: Clause, number: Number
) -> None:
    assert stands_in(number, paragraph(clause)) is number.in_text


def test_every_figure_that_a_rule_judges_by_is_among_the_numbers_of_the_text() -> None:
    for clause in WI.clause:
        told = {(one.value, one.unit) for one in clause.numbers if one.in_text}
        used: set[tuple[float | str, str]] = {
            (near.within_m, "m") if near.within_ft is None else (near.within_ft, "ft")
            for near in clause.near
        }
        if clause.limit is not None:
            used.add((clause.limit.value, clause.limit.unit))
        for at in (clause.from_time, clause.to_time):
            if at is not None:
                used.add((f"{at:%H:%M}", "local time"))
        assert used <= told, clause.citation


def test_a_planted_figure_a_figure_of_another_unit_and_a_longer_one_are_told_apart() -> None:
    text = paragraph(WI.clause[0])
    assert stands_in(Number("<=", 55.0, "mph", "speed"), text)
    assert not stands_in(Number("<=", 50.0, "mph", "speed"), text)
    assert not stands_in(Number("<=", 5.0, "mph", "speed"), text)
    assert not stands_in(Number("<=", 55.0, "ft", "distance"), text)


def test_a_mode_lifts_a_clause_exactly_where_its_exemptions_say_so() -> None:
    lifted = {clause.citation: clause.lifted_by for clause in WI.clause if clause.lifted_by}
    assert lifted == {"350.10(1)(gm)": ("race",)}
    demanded = {clause.citation: clause.demanded_by for clause in WI.clause if clause.demanded_by}
    assert demanded == {"350.09(9)": ("race",)}
    race = WI.find("350.10(3)")
    assert race is not None
    assert "Subsection (1) (gm) does not apply" in paragraph(race)
    tether = WI.find("350.09(9)")
    assert tether is not None
    assert "competing in a sanctioned race or derby" in paragraph(tether)


@pytest.mark.parametrize("clause", WI.clause, ids=lambda one: one.citation)
def test_an_exemption_that_names_a_paragraph_names_one_of_the_pack(clause: Clause) -> None:
    for exemption in clause.exemptions:
        if exemption.startswith("350."):
            assert WI.find(exemption.partition(":")[0]) is not None


def test_the_two_nights_of_the_law_are_two_clauses() -> None:
    by_sun = WI.find("350.10(1)(gm)")
    by_clock = WI.find("350.10(1)(g)")
    assert by_sun is not None
    assert by_clock is not None
    assert (by_sun.when, by_clock.when) == ("darkness", "clock")
    assert (by_clock.from_time, by_clock.to_time) == (time(22, 30), time(7))


# Read and found.


def test_a_clause_is_found_by_its_citation_and_absent_when_it_is_not_there() -> None:
    found = WI.find("350.10(1)(i)")
    assert found is not None
    assert found.near[0].kinds == ("shanty", "person")
    assert WI.find("350.10(1)(zz)") is None


def test_a_law_is_named_by_its_word_or_by_a_path(tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_bytes(PACK.read_bytes())
    assert law.path_of("wi") == PACK
    assert law.load(str(copy)) == WI
    assert (
        law.digest(str(copy)) == law.digest("wi") == hashlib.sha256(copy.read_bytes()).hexdigest()
    )


def test_a_law_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(LawError) as refused:
        law.load("zz")
    assert str(refused.value) == (
        f"{law.FOLDER / 'zz.toml'}: can't be read (No such file or directory).\n"
        "Laws that are here: wi."
    )


def test_the_vehicles_that_a_law_binds_are_those_that_a_config_names() -> None:
    named = msgspec.structs.fields(config.Unit)
    vehicle = next(one for one in named if one.name == "vehicle")
    assert get_args(get_args(vehicle.type)[0]) == law.VEHICLES


def test_the_modes_that_a_law_speaks_of_are_those_that_can_be_set() -> None:
    assert MODES == law.MODES


# Refused whole.


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        pytest.param(
            'lifted_by = ["race"]',
            'lifted_buy = ["race"]',
            "[350.10(1)(gm)] Object contains unknown field `lifted_buy`.",
            id="unknown key",
        ),
        pytest.param(
            "limit = { value = 55 }",
            'limit = { value = "55" }',
            "[350.10(1)(gm)] Expected `float`, got `str` - at `$.limit.value`.",
            id="wrong type",
        ),
        pytest.param(
            "limit = { value = 55 }",
            'limit = { value = 55, unit = "knots" }',
            "[350.10(1)(gm)] Invalid enum value 'knots' - at `$.limit.unit`.",
            id="unknown unit",
        ),
        pytest.param(
            "limit = { value = 55 }\n",
            "",
            "[350.10(1)(gm)] limit: must be there for a clause on speed.",
            id="missing limit",
        ),
        pytest.param(
            "limit = { value = 55 }",
            "limit = { value = nan }",
            "[350.10(1)(gm)] limit = nan: must be above 0 and at most 200.",
            id="limit that is no number",
        ),
        pytest.param(
            "limit = { value = 55 }",
            "limit = { value = 0 }",
            "[350.10(1)(gm)] limit = 0.0: must be above 0 and at most 200.",
            id="limit of zero",
        ),
        pytest.param(
            'kind = "tether"',
            'kind = "teher"',
            "[350.09(9)] kind = teher: must be one of lamp, speed_limit, tether, zone_speed.",
            id="unknown kind of clause",
        ),
        pytest.param(
            'kind = "zone_speed"',
            'kind = "lamp"',
            "[350.10(1)(g)] lamp: must be head or tail for a lamp clause.",
            id="wrong kind of clause",
        ),
        pytest.param(
            'kinds = ["dwelling"]',
            'kinds = ["dweling"]',
            "[350.10(1)(g)] kind of zone dweling: must be one of "
            + ", ".join(sorted(law.KINDS))
            + ".",
            id="unknown kind of zone",
        ),
        pytest.param(
            "within_ft = 150",
            "within_ft = -150",
            "[350.10(1)(g)] within_ft = -150.0: must be above 0 and at most 5000.",
            id="distance below zero",
        ),
        pytest.param(
            "within_ft = 150",
            "within_ft = nan",
            "[350.10(1)(g)] within_ft = nan: must be above 0 and at most 5000.",
            id="distance that is no number",
        ),
        pytest.param(
            "from_time = 22:30:00\n",
            "",
            "[350.10(1)(g)] from_time and to_time: must be there where when = clock.",
            id="missing time",
        ),
        pytest.param(
            "from_time = 22:30:00",
            'from_time = "22:30:00Z"',
            "[350.10(1)(g)] from_time and to_time: must be local times, without a zone.",
            id="time with a zone",
        ),
        pytest.param(
            "to_time = 07:00:00",
            "to_time = 22:30:00",
            "[350.10(1)(g)] from_time and to_time: must differ.",
            id="empty window",
        ),
        pytest.param(
            'lifted_by = ["race"]',
            'lifted_by = ["rase"]',
            "[350.10(1)(gm)] Invalid enum value 'rase' - at `$.lifted_by[0]`.",
            id="unknown mode that lifts",
        ),
        pytest.param(
            'demanded_by = ["race"]',
            'demanded_by = ["rase"]',
            "[350.09(9)] Invalid enum value 'rase' - at `$.demanded_by[0]`.",
            id="unknown mode that demands",
        ),
        pytest.param(
            'applies_to = "snowmobile"',
            'applies_to = "snowmobil"',
            "[350.10(1)(gm)] applies_to = snowmobil: must be one of snowmobile, "
            "low_speed_vehicle, motor_vehicle for a clause that is judged.",
            id="unknown vehicle",
        ),
        pytest.param(
            'when = "darkness"\nlamp = "head"',
            'when = "clock"\nfrom_time = 22:00:00\nto_time = 23:00:00\nlamp = "head"',
            "[350.09(2)(b)] when = clock: a lamp clause is judged in darkness or always.",
            id="lamp by the clock",
        ),
        pytest.param(
            'when = "clock"',
            'when = "darkness"',
            "[350.10(1)(g)] when = darkness: a zone_speed clause is judged always or by the clock.",
            id="zone by the sun",
        ),
        pytest.param(
            'demanded_by = ["race"]',
            'demanded_by = ["race"]\nwhen = "darkness"',
            "[350.09(9)] when = darkness: a tether clause is judged always.",
            id="tether by the sun",
        ),
        pytest.param(
            'coverage = "MONITORED"',
            'coverage = "INSPECTED"',
            "[350.10(1)(gm)] kind = speed_limit: only MONITORED and ZONE clauses have a kind.",
            id="kind of an inspected clause",
        ),
        pytest.param(
            'coverage = "MONITORED"',
            'coverage = "MONITRED"',
            "[350.10(1)(gm)] Invalid enum value 'MONITRED' - at `$.coverage`.",
            id="unknown coverage",
        ),
        pytest.param(
            'citation = "350.10(1)(gm)"',
            'citation = "350.10(1)(g)"',
            "[350.10(1)(g)] stands twice: each citation must stand once.",
            id="double citation",
        ),
        pytest.param(
            'citation = "350.10(3)"\n',
            "",
            "[clause 7] Object missing required field `citation`.",
            id="no citation",
        ),
        pytest.param(
            'jurisdiction = "US-WI"\n',
            "",
            "Object missing required field `jurisdiction`.",
            id="missing head",
        ),
    ],
)
def test_a_fault_refuses_the_pack_with_its_citation_and_what_was_expected(
    old: str, new: str, fault: str
) -> None:
    assert faults_of(changed(old, new)) == [fault]


def test_all_faults_are_told_at_once() -> None:
    text = changed('jurisdiction = "US-WI"\n', "")
    text = text.replace("limit = { value = 55 }", 'limit = { value = "55" }')
    text = text.replace('lamp = "head"', 'lamp = "heat"').replace(
        "within_ft = 100", "within_ft = 0"
    )
    assert faults_of(text) == [
        "Object missing required field `jurisdiction`.",
        "[350.10(1)(gm)] Expected `float`, got `str` - at `$.limit.value`.",
        "[350.10(1)(i)] within_ft = 0.0: must be above 0 and at most 5000.",
        "[350.09(2)(b)] Invalid enum value 'heat' - at `$.lamp`.",
    ]


def test_text_that_is_no_toml_is_refused_with_its_line() -> None:
    assert faults_of('id = "wi"\n[[clause\n') == [
        "Expected ']]' at the end of an array declaration (at line 2, column 9)."
    ]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(LawError) as refused:
        law.parse(b"\xff\xfe", WHERE)
    assert refused.value.faults == [
        "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte."
    ]


@pytest.mark.parametrize("clauses", ["", "clause = []\n", "clause = 3\n", 'clause = ["gm"]\n'])
def test_a_pack_without_clauses_is_refused(clauses: str) -> None:
    head = 'id = "a"\ntitle = "b"\njurisdiction = "c"\nchecked_on = 2026-01-01\n'
    assert len(faults_of(head + clauses)) == 1


def test_an_empty_file_is_no_law() -> None:
    assert faults_of("") == ["Object missing required field `id`."]


def test_the_pack_that_is_shipped_has_no_fault() -> None:
    assert isinstance(law.parse(PACK.read_bytes(), WHERE), Law)
