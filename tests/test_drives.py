"""Golden drives: each `.drive` gives the changes that its `.expect` derives, and no others."""

from __future__ import annotations

from pathlib import Path

import bless
import pytest
from bless import Change

ROWS = {
    "350.10(1)(gm)": {
        "kept": "night_speed_kept",
        "broken": "night_speed_broken",
        "exactly at the limit": "night_speed_at_limit",
        "sensor dies": "night_speed_receiver_dies",
        "no fix": "no_fix",
        "exempt": "race_lifts_night_speed",
    },
    "350.10(1)(g)": {
        "kept": "dwelling_kept",
        "broken": "dwelling_broken",
        "exactly at the limit": "dwelling_at_limit",
        "sensor dies": "dwelling_receiver_dies",
        "no fix": "no_fix",
    },
    "350.10(1)(i)": {
        "kept": "ice_kept",
        "broken": "ice_broken",
        "exactly at the limit": "ice_at_limit",
        "sensor dies": "ice_receiver_dies",
        "no fix": "no_fix",
    },
    "350.09(2)(b)": {
        "kept": "night_speed_kept",
        "broken": "head_lamp_broken",
        "exactly at the limit": "head_lamp_at_limit",
        "sensor dies": "head_lamp_sensor_dies",
        "no fix": "no_fix",
        "exempt": "lamps_parked",
    },
    "350.09(3)": {
        "kept": "night_speed_kept",
        "broken": "tail_lamp_broken",
        "exactly at the limit": "tail_lamp_at_limit",
        "sensor dies": "tail_lamp_sensor_dies",
        "no fix": "no_fix",
        "exempt": "lamps_parked",
    },
    "350.09(9)": {
        "kept": "race_tether_kept",
        "broken": "race_tether_broken",
        "exactly at the limit": "race_tether_at_limit",
        "sensor dies": "race_tether_wire_breaks",
        "no fix": "race_tether_no_fix",
    },
}


@pytest.mark.parametrize("path", bless.drives(), ids=lambda path: path.stem)
def test_the_unit_does_what_the_drive_expects(path: Path) -> None:
    assert bless.differences(bless.expected(path), bless.play(path)) == []


@pytest.mark.parametrize("path", bless.drives(), ids=lambda path: path.stem)
def test_every_expectation_says_why(path: Path) -> None:
    assert path.with_suffix(".expect").read_text().startswith("# ")


@pytest.mark.parametrize("clause", ROWS)
def test_every_clause_has_its_rows(clause: str) -> None:
    for name in ROWS[clause].values():
        changes = bless.expected(bless.FOLDER / f"{name}.drive")
        assert any(change.subject == clause for change in changes), name


def test_the_broken_rows_end_in_a_violation_and_the_others_have_none() -> None:
    for clause, rows in ROWS.items():
        for row, name in rows.items():
            states = {
                change.state
                for change in bless.expected(bless.FOLDER / f"{name}.drive")
                if change.subject == clause
            }
            if row == "broken":
                assert "violation" in states, name
            elif row in ("kept", "no fix") and name != "race_tether_no_fix":
                assert "violation" not in states, name


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
