"""Golden drives: each `.drive` gives the changes that its `.expect` derives, and no others."""

from __future__ import annotations

from pathlib import Path

import bless
import pytest
from bless import Change

from firmware.drives.script_text import load
from firmware.law import packs as law
from firmware.law.packs import Clause

CASES = ("kept", "at the limit", "over", "exempt", "sensor missing")

BY_INSPECTION = {"350.09(8)", "Trans 305.28(1)", "Trans 305.28(3)"}
"""What no drive can prove: noise, which is measured, and what `sledwarden inspect` compares."""

STRICT = ("wi", "wi_act311", "wi_trans305")
"""The packs whose every row has its drives; what was read in part is proven kept and broken."""

PACKS = {path.stem: law.load(path.stem) for path in sorted(law.FOLDER.glob("*.toml"))}

UNLIMITED_ROADS = ("barred", "authorized", "prohibited")
"""Parts of the rules on roads that have no figure of their own."""

NEVER_EXEMPT_ROADS = ("signals", "barred", "allowed")


def cases_of(clause: Clause) -> set[str]:
    """The cases that a clause can have."""
    cases = {"kept", "over", "sensor missing"}
    entry = clause.entry
    if clause.road not in UNLIMITED_ROADS:
        cases.add("at the limit")
    may_be_lifted = clause.lifted_by or clause.demanded_by or clause.kind == "lamp"
    if clause.road and clause.road not in NEVER_EXEMPT_ROADS:
        may_be_lifted = True
    if entry is not None and (entry.crossing or entry.consent or entry.after_stop):
        may_be_lifted = True
    return cases | {"exempt"} if may_be_lifted else cases


def proven() -> dict[str, dict[str, list[str]]]:
    """By citation and case the drives that say that they prove it."""
    told: dict[str, dict[str, list[str]]] = {}
    for path in bless.drives():
        for one in load(path).proves:
            case = next((case for case in CASES if one.endswith(f" {case}")), "")
            told.setdefault(one.removesuffix(case).strip(), {}).setdefault(case, []).append(
                path.stem
            )
    return told


PROVEN = proven()

ROWS = [
    pytest.param(word, clause, id=f"{word}: {clause.citation}")
    for word, pack in PACKS.items()
    for clause in pack.clause
    if word in STRICT
    and (clause.coverage in ("MONITORED", "ZONE", "MODE") and clause.citation not in BY_INSPECTION)
]

SAYS = {
    "kept": {"compliant"},
    "over": {"unsure", "violation"},
    "at the limit": {"compliant", "approaching", "unsure"},
    "sensor missing": {"unknown"},
}
"""Which states a drive must expect of a clause whose case it proves; what is exempt may be kept."""


@pytest.mark.parametrize("path", bless.drives(), ids=lambda path: path.stem)
def test_the_unit_does_what_the_drive_expects(path: Path) -> None:
    assert bless.differences(bless.expected(path), bless.play(path)) == []


@pytest.mark.parametrize("path", bless.drives(), ids=lambda path: path.stem)
def test_every_expectation_says_why(path: Path) -> None:
    assert path.with_suffix(".expect").read_text().startswith("# ")


@pytest.mark.parametrize(("word", "clause"), ROWS)
def test_every_row_has_a_drive_for_each_case_that_it_can_have(word: str, clause: Clause) -> None:
    assert PACKS[word].find(clause.citation) is clause
    wanted = {"exempt"} if clause.coverage == "MODE" else cases_of(clause)
    assert wanted - set(PROVEN.get(clause.citation, {})) == set()


@pytest.mark.parametrize("word", sorted(set(PACKS) - set(STRICT)))
def test_a_pack_that_was_read_in_part_has_a_drive_that_keeps_it_and_one_that_breaks_it(
    word: str,
) -> None:
    judged = {clause.citation for clause in PACKS[word].clause if clause.kind}
    over = []
    for path in bless.drives():
        if word in load(path).laws:
            found = [one for one in bless.expected(path) if one.subject in judged]
            over.append(any(one.state in ("unsure", "violation") for one in found))
    assert {True, False} <= set(over)


def test_what_a_drive_proves_is_a_case_of_a_clause_that_some_pack_judges() -> None:
    judged = {
        clause.citation
        for pack in PACKS.values()
        for clause in pack.clause
        if clause.kind or clause.coverage == "MODE"
    }
    for citation, cases in PROVEN.items():
        assert citation in judged, cases
        assert set(cases) <= set(CASES), citation


def test_a_drive_expects_what_it_says_that_it_proves() -> None:
    for citation, cases in PROVEN.items():
        for case, names in cases.items():
            for name in names:
                states = {
                    change.state
                    for change in bless.expected(bless.FOLDER / f"{name}.drive")
                    if change.subject == citation
                }
                if case in SAYS:
                    assert states & SAYS[case], (name, citation, case)
                if case == "kept":
                    assert "violation" not in states or len(states) > 1, (name, citation)


def test_a_change_that_is_late_by_more_than_0_2_s_differs() -> None:
    want = [Change(10.0, "350.10(1)(gm)", "violation", "57.0", "55")]
    late = [Change(10.21, "350.10(1)(gm)", "violation", "57.04", "55.0")]
    good = [Change(10.2, "350.10(1)(gm)", "violation", "57.04", "55.0")]
    assert bless.differences(want, good) == []
    assert bless.differences(want, late) == [
        "expected 10      350.10(1)(gm) violation 57.0 55, "
        "came 10.21   350.10(1)(gm) violation 57.04 55.00"
    ]


def test_a_figure_is_compared_as_far_as_it_is_written() -> None:
    want = [Change(0.0, "350.10(1)(gm)", "violation", "57.0", "55")]
    assert bless.differences(want, [Change(0.0, "350.10(1)(gm)", "violation", "57.06", "55")])


def test_a_change_too_many_and_one_too_few_differ() -> None:
    one = Change(0.0, "350.09(9)", "violation")
    assert bless.differences([], [one]) == ["expected nothing, came 0       350.09(9) violation"]
    assert bless.differences([one], []) == ["expected 0       350.09(9) violation, came nothing"]


def test_blessing_keeps_the_remarks_and_writes_what_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bless, "FOLDER", tmp_path)
    source = Path(__file__).parent / "drives" / "night_speed_broken"
    (tmp_path / "one.drive").write_text(source.with_suffix(".drive").read_text())
    right = source.with_suffix(".expect").read_text()
    wrong = right.replace("18      350.10(1)(gm) violation", "19      350.10(1)(gm) unsure")
    (tmp_path / "one.expect").write_text(wrong)
    assert bless.main(["one"]) == 0
    blessed = (tmp_path / "one.expect").read_text()
    assert (
        bless.differences(
            bless.expected(tmp_path / "one.drive"), bless.play(source.with_suffix(".drive"))
        )
        == []
    )
    for remark in (line for line in right.splitlines() if line.startswith("#")):
        assert remark in blessed
    assert not bless.bless(tmp_path / "one.drive")
    assert bless.main(["two"]) == 2
