"""The bounds of what a clause may say: the last figure that is taken, and the first that is not."""

from __future__ import annotations

import pytest
from test_law_faults import INFORM, JUDGED, SPEED, ZONE, faults_of

LIMITED = SPEED + "limit = { value = 55 }\n"
POSTED = JUDGED + "kind = 'road_speed'\nlimit = { value = 20 }\n"
LAMP = JUDGED + "kind = 'lamp'\nlamp = 'head'\n"
AHEAD = INFORM + "kind = 'advisory'\n"
PLACED = "coverage = 'ZONE'\nkind = 'zone_entry'\n"
SIGNS = "coverage = 'ZONE'\nkind = 'stop'\n"
LAMP = JUDGED + "kind = 'lamp'\nlamp = 'head'\n"
OUT = 'coverage = "OUT"\n'


def near(reach: str) -> str:
    return ZONE + f"near = [{{ kinds = ['dwelling'], {reach} }}]"


def figure(value: str, unit: str) -> str:
    return OUT + f"numbers = [{{ op = '<=', value = {value}, unit = '{unit}', of = 'it' }}]"


@pytest.mark.parametrize(
    ("taken", "refused", "fault"),
    [
        (
            SPEED + "limit = { value = 0.5 }",
            SPEED + "limit = { value = 0 }",
            "limit = 0.0: must be above 0 and at most 200.",
        ),
        (
            SPEED + "limit = { value = 200 }",
            SPEED + "limit = { value = 200.5 }",
            "limit = 200.5: must be above 0 and at most 200.",
        ),
        (
            POSTED + "posted_over = 0.5",
            POSTED + "posted_over = 0",
            "posted_over = 0.0: must be above 0 and at most 200.",
        ),
        (
            POSTED + "posted_up_to = 200",
            POSTED + "posted_up_to = 200.5",
            "posted_up_to = 200.5: must be above 0 and at most 200.",
        ),
        (
            POSTED + "posted_over = 50",
            POSTED.replace("limit = { value = 20 }", "limit_from = 'posted'") + "posted_over = 50",
            "posted_over: must stand in a road_speed clause with a limit.",
        ),
        (
            near("within_ft = 0.5"),
            near("within_ft = 0"),
            "within_ft = 0.0: must be above 0 and at most 5000.",
        ),
        (
            near("within_ft = 5000"),
            near("within_ft = 5000.5"),
            "within_ft = 5000.5: must be above 0 and at most 5000.",
        ),
        (
            near("within_m = 0.5"),
            near("within_m = 0"),
            "within_m = 0.0: must be above 0 and at most 1500.",
        ),
        (
            near("within_m = 1500"),
            near("within_m = 1500.5"),
            "within_m = 1500.5: must be above 0 and at most 1500.",
        ),
        (
            AHEAD + "reach_ft = 0.5",
            AHEAD + "reach_ft = 0",
            "reach_ft: must be above 0 and at most 5000 for advice on stopping.",
        ),
        (
            AHEAD + "reach_ft = 5000",
            AHEAD + "reach_ft = 5000.5",
            "reach_ft: must be above 0 and at most 5000 for advice on stopping.",
        ),
        (
            AHEAD + "reach_ft = 200",
            AHEAD,
            "reach_ft: must be above 0 and at most 5000 for advice on stopping.",
        ),
        (
            LIMITED + "sun_offset_min = 0",
            LIMITED + "sun_offset_min = -1",
            "sun_offset_min = -1: must be 0 to 60.",
        ),
        (
            LIMITED + "sun_offset_min = 60",
            LIMITED + "sun_offset_min = 61",
            "sun_offset_min = 61: must be 0 to 60.",
        ),
        (
            LAMP + "exempt_aged = 1",
            LAMP + "exempt_aged = 0",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            LAMP + "exempt_aged = 99",
            LAMP + "exempt_aged = 100",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            LIMITED,
            LIMITED + "exempt_aged = 25",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            INFORM + "notice = 'A'\nunder_age = 1",
            INFORM + "notice = 'A'\nunder_age = 0",
            "under_age: must be 1 to 99, and stand beside a notice.",
        ),
        (
            INFORM + "notice = 'A'\nunder_age = 99",
            INFORM + "notice = 'A'\nunder_age = 100",
            "under_age: must be 1 to 99, and stand beside a notice.",
        ),
        (
            INFORM + "notice = '''A\nB'''",
            INFORM + "notice = '''A\n'''",
            "notice: must be one or two lines of 1 to 16 letters.",
        ),
        (
            INFORM + "shown_with = '2'",
            OUT + "shown_with = '2'",
            "shown_with: must stand in an INFORM clause without a notice of its own.",
        ),
        (
            PLACED + "entry = { kinds = ['closed'], line_ft = 0.5 }",
            PLACED + "entry = { kinds = ['closed'], line_ft = 0 }",
            "line_ft = 0.0: must be above 0 and at most 500.",
        ),
        (
            PLACED + "entry = { kinds = ['closed'], crossing_ft = 500 }",
            PLACED + "entry = { kinds = ['closed'], crossing_ft = 500.5 }",
            "crossing_ft = 500.5: must be above 0 and at most 500.",
        ),
        (
            PLACED + "entry = { kinds = ['closed'] }",
            PLACED + "entry = { kinds = [] }",
            "entry: must name the kinds of zone of a zone_entry clause.",
        ),
        (
            PLACED + "entry = { kinds = ['private'] }",
            PLACED,
            "entry: must name the kinds of zone of a zone_entry clause.",
        ),
        (
            SIGNS + "signs = { stop = ['stop'] }",
            SIGNS + "signs = {}",
            "signs: must name the kinds of sign of a stop clause.",
        ),
        (
            SIGNS + "signs = { give_way = ['yield'] }",
            SIGNS,
            "signs: must name the kinds of sign of a stop clause.",
        ),
        (
            OUT.replace("OUT", "ZONE") + "season = { from_day = '02-29', to_day = '12-31' }",
            OUT.replace("OUT", "ZONE") + "season = { from_day = '02-29', to_day = '12-32' }",
            "season: to_day = 12-32: must be a month and a day, like 12-01.",
        ),
        (
            OUT + "in_force_from = 2026-01-01\nin_force_to = 2026-01-01",
            OUT + "in_force_from = 2026-01-01\nin_force_to = 2025-12-31",
            "in_force_to = 2025-12-31: must not be before in_force_from = 2026-01-01.",
        ),
        (
            figure("0", "ft"),
            figure("-0.5", "ft"),
            "numbers[0].value = -0.5: must be a number from 0 up.",
        ),
        (
            figure("'amber'", "colour"),
            figure("''", "colour"),
            "numbers[0].value = : must be a colour's name.",
        ),
        (
            figure("'red'", "colour"),
            figure("3", "colour"),
            "numbers[0].value = 3.0: must be a colour's name.",
        ),
        (
            figure("'1994-05-07'", "date"),
            figure("'1994-05'", "date"),
            'numbers[0].value = 1994-05: must be a date in quotes, like "1994-05-07".',
        ),
        (
            figure("'22:30'", "local time"),
            figure("22", "local time"),
            'numbers[0].value = 22.0: must be a time in quotes, like "22:30".',
        ),
        (
            ZONE + "near = [{ kinds = ['dwelling'], within_m = 30 }]",
            ZONE,
            "near: must name the kinds of a zone_speed clause.",
        ),
        (
            ZONE + "near = [{ kinds = ['dwelling'], within_m = 30 }]",
            ZONE + "near = [{ kinds = [], within_m = 30 }]",
            "near: must name the kinds of a zone_speed clause.",
        ),
        (
            near("within_m = 30") + "\non = 'water'",
            near("within_m = 30") + "\non = 'wather'",
            "on: kind of zone wather: must be one of",
        ),
        (
            JUDGED + "kind = 'road_network'\nroad = 'barred'",
            JUDGED + "kind = 'road_network'",
            "road: must be one of jurisdiction, connecting, signals, barred, authorized, "
            "prohibited, allowed for a road_network clause.",
        ),
        (
            LAMP + "exempt_aged = 1",
            LAMP + "exempt_aged = 0",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            LAMP + "exempt_aged = 99",
            LAMP + "exempt_aged = 100",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            LAMP + "exempt_aged = 25",
            LIMITED + "exempt_aged = 25",
            "exempt_aged: must be 1 to 99, and stand in a lamp clause.",
        ),
        (
            JUDGED + "kind = 'curfew'\nwhen = 'clock'\nfrom_time = 00:00:00\nto_time = 06:00:00",
            JUDGED + "kind = 'curfew'",
            "when = always: a curfew is judged by the clock.",
        ),
        (
            LIMITED + "when = 'clock'\nfrom_time = 22:00:00\nto_time = 06:00:00",
            LIMITED + "when = 'clock'\nfrom_time = 22:00:00",
            "from_time and to_time: must be there where when = clock.",
        ),
        (
            LIMITED + "when = 'clock'\nfrom_time = 22:00:00\nto_time = 06:00:00",
            LIMITED + "when = 'clock'\nfrom_time = 22:00:00\nto_time = '06:00:00Z'",
            "from_time and to_time: must be local times, without a zone.",
        ),
        (
            AHEAD + "reach_ft = 200",
            JUDGED + "kind = 'advisory'\nreach_ft = 200",
            "kind = advisory: only INFORM clauses are advice.",
        ),
    ],
)
def test_a_bound_is_where_it_is_told_to_be(taken: str, refused: str, fault: str) -> None:
    assert faults_of(taken) == []
    (told,) = faults_of(refused)
    assert told.startswith(f"[1] {fault}")


@pytest.mark.parametrize("vehicle", ["none", "snowmobile", "low_speed_vehicle", "motor_vehicle"])
def test_a_clause_that_is_not_judged_binds_a_vehicle_or_none(vehicle: str) -> None:
    assert faults_of(OUT, applies_to=vehicle) == []


def test_a_clause_that_is_not_judged_binds_no_vehicle_of_another_name() -> None:
    assert faults_of(OUT, applies_to="sled") == [
        "[1] applies_to = sled: must be one of none, snowmobile, low_speed_vehicle, motor_vehicle."
    ]


def test_a_clause_that_is_judged_binds_a_vehicle() -> None:
    assert faults_of(LIMITED, applies_to="none") == [
        "[1] applies_to = none: must be one of snowmobile, low_speed_vehicle, motor_vehicle "
        "for a clause that is judged."
    ]


@pytest.mark.parametrize(
    ("plain", "is_taken"), [("x" * 96, True), ("x" * 97, False), ("two\\nlines", False)]
)
def test_what_a_rider_is_told_is_one_line_of_96_letters(plain: str, is_taken: bool) -> None:
    found = faults_of(OUT, plain=plain)
    assert found == ([] if is_taken else ["[1] plain: must be one line of at most 96 letters."])


@pytest.mark.parametrize("key", ["citation", "title", "plain", "requirement", "how", "source"])
def test_no_words_are_left_out(key: str) -> None:
    (fault,) = faults_of(OUT, **{key: " "})
    assert fault.endswith(f"] {key}: must have words.")


@pytest.mark.parametrize(
    ("source", "is_taken"),
    [
        ("statute.txt:1", True),
        ("https://example.org/a?b", True),
        ("statute.txt:0", False),
        ("statute.txt", False),
        ("https://example.org/a b", False),
    ],
)
def test_a_source_is_a_line_of_a_text_or_an_address(source: str, is_taken: bool) -> None:
    assert (faults_of(OUT, source=source) == []) is is_taken


@pytest.mark.parametrize(
    "keys",
    [
        OUT + "numbers = [{ op = '<=', value = 1, unit = 'ft', of = 'it', by = 2 }]",
        SPEED + "limit = { value = 55, by = 2 }",
        ZONE + "near = [{ kinds = ['dwelling'], within_m = 30, by = 2 }]",
        PLACED + "entry = { kinds = ['private'], by = 2 }",
        SIGNS + "signs = { stop = ['stop'], by = 2 }",
        OUT.replace("OUT", "ZONE") + "season = { from_day = '12-01', to_day = '03-31', by = 2 }",
    ],
)
def test_a_key_that_no_rule_knows_is_refused_wherever_it_stands(keys: str) -> None:
    (fault,) = faults_of(keys)
    assert "unknown field `by`" in fault


@pytest.mark.parametrize("key", ["in_force_from", "in_force_to"])
def test_a_wording_may_have_a_first_day_or_a_last_one_alone(key: str) -> None:
    assert faults_of(OUT + f"{key} = 2026-01-01") == []
