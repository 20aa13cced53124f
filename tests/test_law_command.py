"""`sledwarden law`: the table, one paragraph, and which rides prove it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from firmware.law import packs
from firmware.law.packs import load_all
from host_tools import law_rows


def law(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "host_tools.cli", "law", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_paragraph_has_the_keys_of_the_contract() -> None:
    rows = json.loads(law("--json").stdout)
    assert len(rows) == 217
    for row in rows:
        assert list(row) == [
            "citation", "title", "requirement", "numbers", "applies_to", "coverage", "how",
            "exemptions", "drives",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("citation", "proves", "proves_not"),
    [
        ("350.10(1)(gm)", "night_speed_broken", "dwelling_broken"),
        ("350.10(1)(g)", "dwelling_broken", "race_tether_broken"),
        ("350.09(9)", "race_tether_broken", "dwelling_broken"),
        ("350.10(3)", "race_lifts_night_speed", "night_speed_broken"),
        ("350.09 Annotation", "lamps_parked", "head_lamp_broken"),
    ],
)
def test_a_paragraph_names_the_rides_that_prove_it(
    citation: str, proves: str, proves_not: str
) -> None:
    (row,) = json.loads(law(citation, "--json").stdout)
    assert proves in row["drives"]
    assert proves_not not in row["drives"]


def test_a_paragraph_that_is_not_there_is_told_with_those_near_it() -> None:
    result = law("350.10(1)(z)")
    assert result.returncode == 1
    assert "350.10(1)(z): is no paragraph of the laws that are here" in result.stderr
    assert "Near it: " in result.stderr
    assert "350.10(1)(m)" in result.stderr
    assert law("zz").stderr.endswith("`sledwarden law` lists them all.\n")


def test_the_rows_of_one_coverage_are_listed_alone() -> None:
    rows = json.loads(law("--coverage", "mode", "--json").stdout)
    assert [row["citation"] for row in rows] == [
        "350.09(8)", "350.09 Annotation", "350.10(2)", "350.10(3)",
    ]  # fmt: skip
    assert law("--coverage", "WATCHED").returncode == 2


def test_a_law_is_listed_alone_by_its_word() -> None:
    rows = json.loads(law("--law", "wi_act311", "--json").stdout)
    assert len(rows) == 37
    assert rows[-1]["citation"] == "2009 Act 311 s. 16(1)"


def test_a_paragraph_tells_what_is_watched_and_what_that_needs() -> None:
    told = " ".join(law("350.10(1)(g)").stdout.split())
    for words in (
        "rider From 10:30 p.m. to 7 a.m., 10 mph within 150 ft of a dwelling.",
        "judged zone speed, over 10 mph, within 150 ft of dwelling, from 22:30 to 07:00",
        "needs GPS receiver [gps]; zone pack [zones]",
        "zones dwelling",
        "proven by dwelling_at_limit, dwelling_broken",
        "text line 67 of the text that was read for 2026-11-30; as it stands today: "
        "https://docs.legis.wisconsin.gov/document/statutes/350.01",
    ):
        assert words in told


def test_a_paragraph_of_another_state_names_the_address_where_it_was_read() -> None:
    told = "".join(law("Minn. R. 6100.5200").stdout.split())
    assert told.endswith("texthttps://www.co.washington.mn.us/1089/MN-SS-86B106-and-61101900")


def test_no_row_of_a_shipped_law_ends_with_a_text_that_no_reader_has() -> None:
    for pack in packs.load_all("auto"):
        for clause in pack.clause:
            assert "://" in clause.source or pack.text_at, f"{pack.id}: {clause.citation}"


def test_a_paragraph_is_looked_for_in_every_law_that_is_here() -> None:
    told = " ".join(law("Minn. R. 6100.5200").stdout.split())
    assert "judged speed limit, over 50 mph, at any hour, never more than advice" in told
    assert "proven by mn_speed_broken" in told
    assert law("350.10(1)(gm)", "--law", "mn").returncode == 1


def test_a_paragraph_tells_what_the_inspection_asks_of_it() -> None:
    told = " ".join(law("350.09(4)").stdout.split())
    assert "judged not while riding: `sledwarden inspect` asks for it" in told
    assert "inspection Stopping distance from 20 mph" in told
    other = " ".join(law("Minn. R. 6100.5700 subp. 1 C").stdout.split())
    assert "judged not while riding, and by no question of the inspection" in other


def test_a_paragraph_that_is_not_judged_says_so() -> None:
    assert "judged not: out of reach" in " ".join(law("350.102(3)").stdout.split())
    told = " ".join(law("Trans 305.28(1)").stdout.split())
    assert "judged not while riding: `sledwarden inspect` measures it" in told
    for citation in ("Trans 305.28(1)", "Trans 305.28(3)", "350.09(8)"):
        told = " ".join(law(citation).stdout.split())
        assert "proven by `sledwarden inspect`, and no ride" in told


def test_the_table_says_how_far_each_paragraph_is_covered() -> None:
    told = law().stdout
    assert told.count("│ OUT ") == 99
    assert "to do" not in told.lower()


def test_the_table_says_how_each_paragraph_is_covered_its_limits_and_whom_it_exempts() -> None:
    cells = [line.split("│")[3].strip() for line in law().stdout.splitlines() if "│" in line]
    told = " ".join(" ".join(cells).split())
    for pack in load_all(["wi"]):
        for one in pack.clause:
            for words in (one.plain, one.how, *law_rows.figures(one), *one.exemptions):
                assert " ".join(words.split()) in told, (one.citation, words)


def test_a_row_that_no_drive_judges_names_those_that_speak_of_it_and_no_longer_citation() -> None:
    told = law_rows.Told(remarks="# 350.10(1)(gm) and 350.095(2)(d)1. are named")
    assert law_rows.speaks_of(told, "350.10(1)(gm)")
    assert law_rows.speaks_of(told, "350.095(2)(d)1.")
    for other in ("350.10(1)", "350.10", "350.095(2)(d)", "350.09", "50.10(1)(gm)"):
        assert not law_rows.speaks_of(told, other)
