"""The packs of other states and provinces: read in part, and no surer than what was read."""

from __future__ import annotations

import re

import bless
import pytest

from firmware.law import packs as law
from firmware.law.packs import Clause

PACKS = {
    "mn": "US-MN", "mi": "US-MI", "ny": "US-NY", "vt": "US-VT", "on": "CA-ON", "qc": "CA-QC",
}  # fmt: skip
LAWS = {word: law.load(word) for word in PACKS}
CLAUSES = [clause for one in LAWS.values() for clause in one.clause]

DRIVES = {
    "mn": "speed", "mi": "lamps", "ny": "lamps", "vt": "lamps", "on": "road", "qc": "dwelling",
}  # fmt: skip


@pytest.mark.parametrize("word", PACKS)
def test_a_pack_says_whose_law_it_is_and_that_it_was_read_in_part(word: str) -> None:
    assert (LAWS[word].id, LAWS[word].jurisdiction) == (word, PACKS[word])
    assert LAWS[word].title.endswith("law, read in part")
    assert LAWS[word].unverified


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda one: one.citation)
def test_each_row_names_the_page_that_it_was_read_on(clause: Clause) -> None:
    assert re.fullmatch(r"https://\S+", clause.source)
    assert re.fullmatch(r"[A-Z][^\n]*\.", clause.plain)
    assert clause.applies_to == "snowmobile"


def test_a_citation_stands_in_one_law_alone_so_that_all_can_be_judged_at_once() -> None:
    words = law.words_of([*PACKS, "wi"])
    citations = [one.citation for word in words for one in law.load(word).clause]
    assert len(citations) == len(set(citations))


def test_what_was_not_verified_is_judged_nowhere() -> None:
    """The figures that nobody read in a law, by the law: no clause that is judged has one."""
    claimed = {"ny": {100.0}, "on": set(), "qc": {70.0}, "mn": {100.0}}
    for word, figures in claimed.items():
        judged = [clause for clause in LAWS[word].clause if clause.kind and not clause.lamp]
        for clause in judged:
            used = {near.within_ft for near in clause.near}
            used |= {clause.limit.value} if clause.limit else set()
            assert not used & figures, clause.citation
    assert not [one for one in LAWS["on"].clause if one.lamp]
    assert not [one for one in LAWS["qc"].clause if one.lamp]
    for word in ("qc", "on"):
        assert not [one for one in LAWS[word].clause if one.kind and one.accuses]
    assert not [one for one in LAWS["mn"].clause if one.kind and one.accuses and not one.lamp]


def test_every_figure_that_a_rule_judges_by_is_among_the_numbers_of_its_row() -> None:
    for clause in CLAUSES:
        told = {(one.value, one.unit) for one in clause.numbers}
        used: set[tuple[float | str, str]] = set()
        for near in clause.near:
            used.add((near.within_ft, "ft") if near.within_ft else (near.within_m or 0.0, "m"))
        if clause.limit is not None:
            used.add((clause.limit.value, clause.limit.unit))
        for at in (clause.from_time, clause.to_time):
            if at is not None:
                used.add((f"{at:%H:%M}", "local time"))
        assert used <= told, clause.citation


@pytest.mark.parametrize("word", PACKS)
def test_each_law_has_a_ride_that_keeps_it_and_one_that_breaks_it(word: str) -> None:
    citations = {clause.citation for clause in LAWS[word].clause if clause.kind}
    worst = {}
    for end in ("kept", "broken"):
        changes = bless.expected(bless.FOLDER / f"{word}_{DRIVES[word]}_{end}.drive")
        worst[end] = {one.state for one in changes if one.subject in citations}
    assert not worst["kept"] & {"unsure", "violation"}
    assert worst["broken"] & ({"unsure"} if word in ("qc", "on", "mn") else {"violation"})
