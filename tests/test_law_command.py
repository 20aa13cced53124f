"""`sledwarden law`: the table, one paragraph, and which rides prove it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def law(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "host_tools.cli", "law", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_paragraph_has_the_keys_of_the_contract() -> None:
    rows = json.loads(law("--json").stdout)
    assert len(rows) == 90
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


def test_a_paragraph_that_is_not_there_is_told_with_those_that_are() -> None:
    result = law("999.99")
    assert result.returncode == 1
    assert "999.99: is not in Wisconsin Stat. ch. 350" in result.stderr
