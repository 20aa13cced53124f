"""What makes a pack refused beyond the shipped ones: each key of a clause with a fault in it."""

from __future__ import annotations

import pytest

from firmware.errors import LawError
from firmware.law import packs as law

HEAD = 'id = "x"\ntitle = "X"\njurisdiction = "X"\nchecked_on = 2026-11-30\n[[clause]]\n'
CLAUSE = """
citation = "1"
title = "One"
plain = "One."
requirement = "One."
applies_to = "snowmobile"
how = "So."
source = "x.txt:1"
"""
JUDGED = 'coverage = "MONITORED"\n'
INFORM = 'coverage = "INFORM"\n'
SPEED = JUDGED + 'kind = "speed_limit"\n'
ZONE = 'coverage = "ZONE"\nkind = "zone_speed"\nlimit = { value = 10 }\n'


def faults_of(keys: str, **words: str) -> list[str]:
    """The faults of a pack of one clause with these keys, and these words for its own."""
    told = CLAUSE.strip().splitlines()
    own = [f'{key} = "{value}"' for key, value in words.items()]
    own += [line for line in told if line.partition(" = ")[0] not in words]
    try:
        law.parse((HEAD + "\n".join(own) + "\n" + keys).encode(), "x.toml")
    except LawError as refused:
        return [fault.partition(": ")[2] for fault in refused.faults]  # without their lines
    return []


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(SPEED + "limit = { value = 50, unit = 'km/h' }", id="a speed in km/h"),
        pytest.param(
            SPEED + "limit = { value = 55 }\nwhen = 'darkness'\nsun_offset_min = 0",
            id="from sunset on",
        ),
        pytest.param(ZONE + "near = [{ kinds = ['dwelling'], within_m = 30 }]", id="metres"),
        pytest.param(SPEED + "limit_from = 'keep_moving'\naccuses = false", id="keep moving"),
        pytest.param(JUDGED + "kind = 'lamp'\nlamp = 'head'", id="a lamp by day too"),
        pytest.param(INFORM + "notice = '''SIXTEEN LETTERS!\nAND TWO LINES'''", id="a notice"),
        pytest.param(INFORM + "notice = '0.0'\nunder_age = 19", id="a notice to the young"),
    ],
)
def test_what_other_jurisdictions_need_is_taken(keys: str) -> None:
    assert faults_of(keys) == []


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        pytest.param(
            ZONE + "near = [{ kinds = ['dwelling'] }]",
            "near: must have within_ft or within_m, and not both.",
            id="no distance",
        ),
        pytest.param(
            ZONE + "near = [{ kinds = ['dwelling'], within_m = 30, within_ft = 98 }]",
            "near: must have within_ft or within_m, and not both.",
            id="distance told twice",
        ),
        pytest.param(
            ZONE + "near = [{ kinds = ['dwelling'], within_m = 1501 }]",
            "within_m = 1501.0: must be above 0 and at most 1500.",
            id="distance too far",
        ),
        pytest.param(
            SPEED, "limit: must be there for a clause on speed.", id="a speed without a limit"
        ),
        pytest.param(
            SPEED + "limit = { value = 55 }\nlimit_from = 'keep_moving'",
            "limit: must not be there beside limit_from.",
            id="two limits",
        ),
        pytest.param(
            SPEED + "limit_from = 'posted'",
            "limit_from = posted: only a road_speed clause goes by the road's limit.",
            id="posted limit off the road",
        ),
        pytest.param(
            SPEED + "limit = { value = 55 }\nposted_over = 50",
            "posted_over: must stand in a road_speed clause with a limit.",
            id="posted limit of no road",
        ),
        pytest.param(
            SPEED + "limit = { value = 55 }\nsun_offset_min = 61",
            "sun_offset_min = 61: must be 0 to 60.",
            id="dusk too late",
        ),
        pytest.param(
            SPEED + "limit = { value = 55 }\nnotice = 'SLOW'",
            "notice: only an INFORM or a ZONE clause has one.",
            id="notice of a clause that is judged",
        ),
        pytest.param(
            INFORM + "notice = 'SEVENTEEN LETTERS'",
            "notice: must be one or two lines of 1 to 16 letters.",
            id="notice too long",
        ),
        pytest.param(
            INFORM + "notice = '''A\nB\nC'''",
            "notice: must be one or two lines of 1 to 16 letters.",
            id="notice of three lines",
        ),
        pytest.param(
            INFORM + "notice = '0.8 \u2030'",
            "notice: must have no letters but those of ASCII, which the glass draws.",
            id="notice that can't be drawn",
        ),
        pytest.param(
            INFORM + "notice = 'SLOW'\nshown_with = '2'",
            "shown_with: must stand in an INFORM clause without a notice of its own.",
            id="shown twice",
        ),
        pytest.param(
            INFORM + "under_age = 19",
            "under_age: must be 1 to 99, and stand beside a notice.",
            id="age without a notice",
        ),
    ],
)
def test_a_faulty_key_is_told_with_what_was_expected(keys: str, fault: str) -> None:
    assert faults_of(keys) == [f"[1] {fault}"]
