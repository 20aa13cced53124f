"""The Wisconsin packs held against the three texts that they cite, paragraph by paragraph.

The texts are Wisconsin's own, as published; they lie in data/law, one paragraph a line. `rows.json`
beside them is a reading of the texts on its own, made before the packs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, time
from pathlib import Path

import pytest

from firmware.law import packs as law
from firmware.law.packs import Clause, Number

TEXTS = Path(__file__).parent / "data" / "law"
PACKS = {
    "wi": "000_2976922b8616f3d7.txt",
    "wi_act311": "002_ca8298e3133c0225.txt",
    "wi_trans305": "003_a2ef981afc6e9a3d.txt",
}
LAWS = {word: law.load(word) for word in PACKS}
CLAUSES = [clause for one in LAWS.values() for clause in one.clause]
NUMBERS = [(clause, number) for clause in CLAUSES for number in clause.numbers]
ROWS = {row["citation"]: row for row in json.loads((TEXTS / "rows.json").read_text())}
MONTHS = ["January", "February", "March", "April", "May", "June", "July"]
MONTHS += ["August", "September", "October", "November", "December"]

UNITS = {
    "mph": ["miles per hour"],
    "ft": ["feet"],
    "lb": ["pound", "pounds"],
    "min": ["minutes"],
    "dB": ["decibels"],
    "dB(A)": ["decibels of A sound pressure"],
    "cycles/min": ["cycles per minute"],
    "of 3 tests": ["of the 3 chemical tests"],
    "points": ["points", "demerit points"],
    "in": ["inch", "inches"],
}
"""How the texts spell the units of the packs."""

SPELT = {
    ("350.09(4)", "brakes"): "at least one brake",
    ("350.095(2)(a)", "mufflers in good working order"): "equipped with a muffler",
    ("350.101(1)(c)", "age to which it applies"): "the age of 19",
    ("350.104(1)(a)", "breath, blood or urine"): "one or more samples",
    ("350.104(2)(b)", "designated first"): "one chemical test",
    ("350.104(2)(c)", "additional"): "one chemical test",
    ("341.297(1)", "registration period (biennial)"): "as specified in s. 341.25 (1) (b)",
    ("2009 Act 311 s. 16(1)", "after publication, first day of"): "the 5th month",
    ("Trans 305.28(1)", "range start"): "between 40 miles per hour",
    ("Trans 305.29(2)", "steering wheel lash (45 degrees)"): "1/8 of one complete turn",
    ("Trans 305.30(2)", "tread depth (2/32)"): "2/32 inch",
    ("Trans 305.30(6)", "cut or snag length exposing cords"): "excess of one inch",
    ("Trans 305.34(3)(c)", "damage diameter in critical area"): "½ inch",
    ("Trans 305.34(3)(c)", "damage diameter elsewhere"): "1½ inches",
    ("Trans 305.34(5)", "cloudiness, driver's side edge"): "excess of one inch",
    ("Trans 305.35(3)", "separate constant wiper speeds"): "at least 2 separate, constant speeds",
}
"""The figures that a paragraph writes in words of its own."""


TITLED = {
    "Trans 305.30(5) Example": "Example:",
    "346.94(22)(a)": "346.94(22)Low-speedvehiclesoperatedonhighways.(a)",
}
"""Paragraphs that have a title before their own letter, or a title alone."""


def text_of(word: str) -> list[str]:
    return (TEXTS / PACKS[word]).read_text().splitlines()


def paragraph(clause: Clause) -> str:
    """The line of the text that a clause names as its source."""
    name, _, line = clause.source.partition(":")
    return (TEXTS / name).read_text().splitlines()[int(line) - 1]


def spellings(clause: Clause, number: Number) -> list[str]:
    """The ways in which a statute may write a figure."""
    value = number.value
    if (clause.citation, number.of) in SPELT:
        return [SPELT[clause.citation, number.of]]
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
    if number.unit == "USD":
        return [f"${value:,.2f}" if value % 1 else f"${value:,.0f}"]
    if number.unit == "alcohol concentration":
        return [f"{value}"]
    if number.unit == "%":
        return [f"{value:g}%"]
    if (number.unit, value) == ("min", 30):
        return ["30 minutes", "half hour"]
    return [f"{value:,g} {unit}" for unit in UNITS.get(number.unit, [number.unit])]


def stands_in(clause: Clause, number: Number, text: str) -> bool:
    return any(
        re.search(rf"(?<![\d.:,]){re.escape(one)}", text) for one in spellings(clause, number)
    )


def openings(citation: str) -> list[str]:
    """How a paragraph may begin, without its blanks: by its whole citation or by the end of it."""
    if match := re.fullmatch(r"2009 Act 311 s\. (\d+)(.*)", citation):
        number, rest = match.groups()
        return [rest] if rest else [f"311,{number}Section{number}."]
    if citation in TITLED:
        return [TITLED[citation]]
    whole = citation.replace(" ", "").replace("ch.", "Chapter")
    ends = [match.start() for match in re.finditer(r"\(|(?<=\))\d", whole)]
    return [whole, *(whole[end:] for end in ends)]


# Every paragraph, and only what it says.


@pytest.mark.parametrize("word", PACKS)
def test_every_paragraph_of_a_text_has_its_row_in_the_order_of_the_text(word: str) -> None:
    wanted = [number for number, line in enumerate(text_of(word), 1) if line.strip()]
    have = [clause.source for clause in LAWS[word].clause]
    assert have == [f"{PACKS[word]}:{number}" for number in wanted]


def test_the_three_packs_have_the_217_rows_of_the_reading_each_once() -> None:
    assert [clause.citation for clause in CLAUSES] == list(ROWS)
    assert len(CLAUSES) == 217


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda one: one.citation)
def test_the_source_line_of_each_clause_begins_with_its_citation(clause: Clause) -> None:
    begins = paragraph(clause).replace(" ", "")
    assert any(begins.startswith(one) for one in openings(clause.citation))


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda one: one.citation)
def test_a_row_says_what_the_reading_says(clause: Clause) -> None:
    row = ROWS[clause.citation]
    assert clause.coverage == row["coverage"]
    assert clause.applies_to == re.sub("[ -]", "_", row["applies_to"])
    figures = Counter((one.op, one.value, one.unit, one.in_text) for one in clause.numbers)
    read = Counter((one["op"], one["value"], one["unit"], one["in_text"]) for one in row["numbers"])
    assert figures == read


@pytest.mark.parametrize(
    ("clause", "number"), NUMBERS, ids=[f"{one.citation}: {number.of}" for one, number in NUMBERS]
)
def test_a_number_is_marked_in_text_exactly_where_its_paragraph_holds_it(
    clause: Clause, number: Number
) -> None:
    assert stands_in(clause, number, paragraph(clause)) is number.in_text


@pytest.mark.parametrize("path", sorted(law.FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_a_number_that_its_text_does_not_have_says_where_it_is_from(path: Path) -> None:
    for clause in law.load(path.stem).clause:
        for number in clause.numbers:
            says = re.search(r"\b(from \S*\d|from par\.|derived|ours)", number.of) is not None
            assert number.in_text or says, (clause.citation, number.of)


def test_a_planted_figure_a_figure_of_another_unit_and_a_longer_one_are_told_apart() -> None:
    night = LAWS["wi"].find("350.10(1)(gm)")
    assert night is not None
    text = paragraph(night)
    assert stands_in(night, Number("<=", 55.0, "mph", "speed"), text)
    assert not stands_in(night, Number("<=", 50.0, "mph", "speed"), text)
    assert not stands_in(night, Number("<=", 5.0, "mph", "speed"), text)
    assert not stands_in(night, Number("<=", 55.0, "ft", "distance"), text)


@pytest.mark.parametrize("word", PACKS)
def test_no_row_tells_a_figure_that_neither_its_paragraph_nor_its_numbers_have(word: str) -> None:
    """In `plain`, each whole number from 5 up; smaller ones are counts and citations."""
    for clause in LAWS[word].clause:
        text = re.sub(r"[½,]", "", paragraph(clause))
        known = set(re.findall(r"\d+", text))
        known |= {re.sub(r"\.0$", "", str(number.value)) for number in clause.numbers}
        known |= {part for one in clause.numbers for part in str(one.value).split("-")}
        told = re.sub(r"(Trans )?\d{3}\.\d+[\w()]*|section \S+", "", clause.plain)
        for figure in re.findall(r"\d+", told.replace(",", "")):
            assert int(figure) < 5 or figure in known, (clause.citation, figure)


EXCEEDING = {
    "350.10(1)(g)": 10.0,
    "350.10(1)(gm)": 55.0,
    "346.94(22)(d)": 25.0,
}


@pytest.mark.parametrize("citation", EXCEEDING)
def test_exceeding_is_strict_so_that_the_figure_itself_still_keeps_the_law(citation: str) -> None:
    clause = next(one for one in CLAUSES if one.citation == citation)
    assert re.search("exceeding|in excess of", paragraph(clause))
    speeds = [one for one in clause.numbers if one.unit == "mph"]
    assert [(one.op, one.value) for one in speeds] == [("<=", EXCEEDING[citation])]


def test_wherever_a_paragraph_forbids_more_than_a_figure_the_row_keeps_the_figure_itself() -> None:
    for clause, number in NUMBERS:
        text = paragraph(clause)
        for spelt in spellings(clause, number):
            forbids = rf"(more than|in excess of|exceeding|exceeds) {re.escape(spelt)}"
            if number.in_text and re.search(forbids, text):
                assert number.op == "<=", (clause.citation, number.of)
            if number.in_text and re.search(rf"{re.escape(spelt)} or more", text):
                assert number.op in ("<", "=="), (clause.citation, number.of)


# In a rider's words.


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda one: one.citation)
def test_a_rider_is_told_in_one_line(clause: Clause) -> None:
    assert len(clause.plain) <= law.PLAIN_LETTERS
    assert re.fullmatch(r"[A-Z0-9][^\n]*\.", clause.plain)
    assert re.fullmatch(r"[A-Z`][^\n]*\.", clause.how)


def test_no_row_is_left_to_do() -> None:
    for clause in CLAUSES:
        for words in (clause.plain, clause.how, clause.requirement):
            assert not re.search(r"\b(to do|todo|tbd|not yet)\b", words, re.IGNORECASE)


def test_a_paragraph_that_binds_nobody_is_out_and_says_so() -> None:
    for clause in CLAUSES:
        if clause.applies_to == "none":
            assert clause.coverage == "OUT"
            assert not clause.kind


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda one: one.citation)
def test_an_exemption_that_names_a_paragraph_names_one_of_the_packs(clause: Clause) -> None:
    known = {one.citation for one in CLAUSES}
    for exemption in clause.exemptions:
        if match := re.match(r"((?:Trans )?\d{3}\.[^:]*|350\.09 Annotation):", exemption):
            assert match[1] in known


# What a rule judges by.


@pytest.mark.parametrize("word", PACKS)
def test_every_figure_that_a_rule_judges_by_is_among_the_numbers_of_the_text(word: str) -> None:
    for clause in LAWS[word].clause:
        told = {(one.value, one.unit) for one in clause.numbers if one.in_text}
        used: set[tuple[float | str, str]] = {(near.within_ft, "ft") for near in clause.near}
        if clause.limit is not None:
            used.add((clause.limit.value, clause.limit.unit))
        for at in (clause.from_time, clause.to_time):
            if at is not None:
                used.add((f"{at:%H:%M}", "local time"))
        assert used <= told, clause.citation


def test_a_mode_lifts_a_clause_exactly_where_the_text_says_so() -> None:
    lifted = {clause.citation: clause.lifted_by for clause in CLAUSES if clause.lifted_by}
    noise = ["350.095(1)(a)", "350.095(1)(b)", "350.095(2)(a)", "350.095(2)(b)", "350.095(2)(c)"]
    assert lifted == {
        **dict.fromkeys([*noise, "350.095(2)(d)1.", "350.10(1)(d)"], ("race", "maker_test")),
        "350.10(1)(c)": ("family_land",),
        "350.10(1)(gm)": ("race",),
    }
    demanded = {clause.citation: clause.demanded_by for clause in CLAUSES if clause.demanded_by}
    assert demanded == {"350.09(9)": ("race",)}
    race = LAWS["wi"].find("350.10(3)")
    assert race is not None
    assert "Subsection (1) (gm) does not apply" in paragraph(race)
    tether = LAWS["wi"].find("350.09(9)")
    assert tether is not None
    assert "competing in a sanctioned race or derby" in paragraph(tether)


def test_every_row_that_is_monitored_or_a_zone_is_judged_but_for_the_two_of_the_inspection() -> (
    None
):
    left = [
        one.citation for one in CLAUSES if one.coverage in ("MONITORED", "ZONE") and not one.kind
    ]
    assert left == ["Trans 305.28(1)", "Trans 305.28(3)"]


def test_the_two_nights_of_the_law_are_two_clauses() -> None:
    by_sun = LAWS["wi"].find("350.10(1)(gm)")
    by_clock = LAWS["wi"].find("350.10(1)(g)")
    assert by_sun is not None
    assert by_clock is not None
    assert (by_sun.when, by_clock.when) == ("darkness", "clock")
    assert (by_clock.from_time, by_clock.to_time) == (time(22, 30), time(7))


def test_the_days_of_force_are_those_of_the_history_of_each_section() -> None:
    for clause in LAWS["wi_trans305"].clause:
        match = re.match(r"Trans 305\.(\d+)\((\w+)\)(?:\((\w+)\))?", clause.citation)
        if match is None:
            continue
        history = LAWS["wi_trans305"].find(f"Trans 305.{match[1]} History")
        if history is None:  # 305.35: the text ends before it
            assert clause.in_force_from is None
            continue
        text = paragraph(history)
        amended = re.findall(r"am\. ([^R]*), Register,[^;]*?eff\. (\d+)-1-(\d\d)", text)
        own = f"({match[2]})" + (f" ({match[3]})" if match[3] else "")
        days = [
            date(1900 + int(year), int(month), 1)
            for paragraphs, month, year in amended
            if own in re.split(", | and ", paragraphs)
        ]
        first = date(1996, 3, 1)
        assert "Cr. Register, February, 1996, No. 482, eff. 3-1-96" in text
        assert clause.in_force_from == max([first, *days]), clause.citation
