"""A visit to land that is not entered: how far it reaches, what is between two fixes, and calm."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from judging import (
    DAY,
    HOME,
    NO_FIX,
    clause_of,
    configured,
    east_of,
    fix_of,
    local_of,
    map_of,
    point,
    seen,
    square,
)

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.law.places import Entry, Season
from firmware.maps.zones import Nearby
from firmware.readings import Engine, Feature, Missing, Why
from firmware.rules.zone_entry import Visit, ZoneEntry

CLAUSE = msgspec.structs.replace(
    clause_of("350.10(1)(f)"), kind="zone_entry", entry=Entry(("private",))
)
RULE = ZoneEntry(configured())
BARE = map_of()


def go(
    chart: Nearby, *moments: tuple[float, tuple[float, float], float], clause: Clause = CLAUSE
) -> list[Finding]:
    """The findings at each (seconds, place, mph)."""
    memory, findings = RULE.begin(), []
    for at_s, place, speed_mph in moments:
        now = seen(at_s=at_s, fix=fix_of(speed_mph, place), nearby=chart)
        memory, finding = RULE.judge(memory, now, clause)
        findings.append(finding)
    return findings


@pytest.mark.parametrize(("gap_s", "verdict"), [(5.0, Verdict.VIOLATION), (5.5, Verdict.COMPLIANT)])
def test_what_lies_between_two_fixes_counts_up_to_5_s(gap_s: float, verdict: Verdict) -> None:
    chart = map_of(square("private", HOME, 50.0))
    found = go(chart, (100.0, east_of(-200.0), 55.0), (100.0 + gap_s, east_of(200.0), 55.0))
    assert found[-1].verdict is verdict


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("is_north", [False, True])
def test_the_way_between_two_fixes_is_as_deep_in_a_zone_at_each_quarter(
    share: float, is_north: bool
) -> None:
    # 30 ft from each edge, where 10 ft are the error: more than twice as deep as need be.
    def along(feet: float) -> tuple[float, float]:
        return east_of(0.0, feet) if is_north else east_of(feet)

    chart = map_of(square("private", along(200.0 - share * 400.0), 30.0))
    finding = go(chart, (100.0, along(-200.0), 55.0), (104.0, along(200.0), 55.0))[-1]
    assert finding.verdict is Verdict.VIOLATION
    assert finding.value == pytest.approx(30.0, abs=0.1)


@pytest.mark.parametrize(("out_m", "verdict"), [(20.9, Verdict.UNSURE), (21.3, Verdict.COMPLIANT)])
def test_a_sled_that_stands_has_left_only_15_m_past_a_second_error(
    out_m: float, verdict: Verdict
) -> None:
    # 10 ft are 3.048 m: twice that and 15 m are 21.1 m.
    chart = map_of(square("private", HOME, 300.0))
    place = east_of(300.0 + out_m / 0.3048)
    at_edge = [(100.0, east_of(280.0), 9.0), (101.0, east_of(312.0), 0.0)]
    found = go(chart, *at_edge, (102.0, place, 0.0))
    assert [one.verdict for one in found] == [Verdict.VIOLATION, Verdict.UNSURE, verdict]


def test_a_stop_within_15_m_and_the_error_opens_a_zone() -> None:
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("ski_slide_skate",), after_stop=True))
    chart = map_of(square("ski_slide_skate", HOME, 300.0))
    for stop_m, verdict in ((17.5, Verdict.COMPLIANT), (18.5, Verdict.VIOLATION)):
        stop = east_of(300.0 + stop_m / 0.3048)
        moments = [(100.0, stop, 0.0), (101.0, stop, 0.0), (102.0, stop, 0.0)]
        on = [(103.0, east_of(310.0), 20.0), (104.0, east_of(250.0), 20.0)]
        assert go(chart, *moments, *on, clause=clause)[-1].verdict is verdict


def test_how_far_the_zone_is_away_is_told_outside_and_nothing_inside() -> None:
    chart = map_of(square("private", HOME, 300.0))
    outside, inside = go(chart, (100.0, east_of(305.0), 20.0), (101.0, east_of(280.0), 20.0))
    assert (outside.verdict, outside.away_ft) == (Verdict.UNSURE, pytest.approx(5.0, abs=0.01))
    assert outside.why.endswith("5 ft outside, give or take 10 ft")
    assert (inside.verdict, inside.away_ft) == (Verdict.VIOLATION, 0.0)


def calm() -> Visit:
    """The memory of a fix with nothing near, whose finding goes on to hold."""
    memory, finding = RULE.judge(RULE.begin(), seen(nearby=BARE), CLAUSE)
    assert memory.calm is not None
    assert finding.why == "in no private"
    return memory


def later(clause: Clause = CLAUSE, **changes: object) -> Finding:
    return RULE.judge(calm(), seen(at_s=101.0, nearby=BARE, **changes), clause)[1]


def test_on_calm_ground_a_finding_goes_on_and_is_not_made_again() -> None:
    memory = calm()
    _, finding = RULE.judge(memory, seen(at_s=101.0, nearby=BARE), CLAUSE)
    assert finding is memory.said


def test_calm_ground_does_not_hide_a_mode_a_season_or_a_parked_sled() -> None:
    racing = msgspec.structs.replace(CLAUSE, lifted_by=("race",))
    assert later(racing, modes=frozenset({"race"})).verdict is Verdict.EXEMPT
    summer = msgspec.structs.replace(CLAUSE, season=Season("05-01", "09-30"))
    local = local_of("2026-01-16T18:00:00")
    assert later(summer, local=local, dark=DAY).why == "outside its season"
    parked = later(engine=Engine(False), fix=fix_of(0.0))
    assert parked.why == "parked with the engine off"


def test_calm_ground_holds_nothing_without_a_fix_and_needs_no_engine_sense() -> None:
    lost = later(fix=NO_FIX)
    assert (lost.verdict, lost.why) == (Verdict.UNKNOWN, "place not known (no fix)")
    assert later(engine=Missing(Why.NOT_FITTED)).why == "in no private"


# Which zone counts.


def test_of_two_zones_the_deeper_one_counts() -> None:
    beside = square("private", east_of(10.0), 5.0, "beside")  # of HOME its edge is 5 ft off
    for features in (
        (square("private", HOME, 300.0), beside),
        (beside, square("private", HOME, 300.0)),
    ):
        finding = go(map_of(*features), (100.0, HOME, 20.0))[-1]
        assert finding.verdict is Verdict.VIOLATION
        finding = go(map_of(*features), (100.0, east_of(280.0), 20.0))[-1]
        assert (finding.verdict, finding.value) == (Verdict.VIOLATION, pytest.approx(20.0, abs=0.1))


def test_in_one_zone_the_next_one_is_not_entered_before_its_own_error() -> None:
    rule = ZoneEntry(configured('[zones]\nconsents = ["ours"]\n'))
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("private",), consent=True))
    chart = map_of(
        square("private", HOME, 300.0, "ours"), square("private", east_of(615.0), 300.0, "theirs")
    )
    memory, verdicts = rule.begin(), []
    for at_s in (100.0, 101.0):  # 15 ft from theirs, where 10 ft are the error
        now = seen(at_s=at_s, fix=fix_of(20.0, east_of(300.0)), nearby=chart)
        memory, finding = rule.judge(memory, now, clause)
        verdicts.append(finding.verdict)
    assert verdicts == [Verdict.EXEMPT, Verdict.EXEMPT]


def test_whoever_stays_at_a_point_is_not_accused_either() -> None:
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("cemetery",), line_ft=50.0))
    chart = map_of(point("cemetery", HOME))
    found = go(chart, (100.0, HOME, 5.0), (101.0, HOME, 5.0), clause=clause)
    assert [one.verdict for one in found] == [Verdict.UNSURE, Verdict.UNSURE]


def test_a_closed_trail_counts_for_the_stretch_on_which_it_is_left() -> None:
    ends = tuple((lon, lat) for lat, lon in (east_of(-2000.0), east_of(2000.0)))
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("trail",), line_ft=20.0))
    chart = map_of(Feature("trail", "13", "", "line", (ends,)))
    moments = [(100.0 + n, east_of(0.0, north), 40.0) for n, north in enumerate((0.0, 0.0, 60.0))]
    found = go(chart, *moments, clause=clause)
    assert [one.verdict for one in found] == [Verdict.UNSURE] + [Verdict.VIOLATION] * 2


@pytest.mark.parametrize(
    ("days", "verdict"),
    [
        ({"closed_from": "2026-01-01"}, Verdict.VIOLATION),  # with no day on which it opens
        ({"closed_to": "2026-12-31"}, Verdict.VIOLATION),
        ({"closed_from": "2026-02-01"}, Verdict.COMPLIANT),
        ({"closed_from": "12-01"}, Verdict.UNSURE),  # each year from then, and nobody says how long
    ],
)
def test_a_zone_with_one_day_alone_is_closed_from_it_or_to_it(
    days: dict[str, str], verdict: Verdict
) -> None:
    zone = replace(square("private", HOME, 300.0), attributes=days)
    assert go(map_of(zone), (100.0, HOME, 20.0))[-1].verdict is verdict


def test_ground_is_not_calm_where_a_less_exact_fix_may_be_inside() -> None:
    # 60 m from the edge with an error of 25 m; then 40 m from it with one of 49 m.
    chart = map_of(square("private", HOME, 300.0))
    memory, verdicts = RULE.begin(), []
    for at_s, out_m, error_m in ((100.0, 60.0, 25.0), (101.0, 40.0, 49.0)):
        fix = fix_of(20.0, east_of(300.0 + out_m / 0.3048), error_ft=error_m / 0.3048)
        memory, finding = RULE.judge(memory, seen(at_s=at_s, fix=fix, nearby=chart), CLAUSE)
        verdicts.append(finding.verdict)
    assert verdicts == [Verdict.COMPLIANT, Verdict.UNSURE]


@pytest.mark.parametrize(
    ("radius_m", "verdict"), [(200.5, Verdict.COMPLIANT), (199.5, Verdict.UNKNOWN)]
)
def test_the_map_must_be_whole_for_200_m_about_the_sled(radius_m: float, verdict: Verdict) -> None:
    assert go(map_of(radius_m=radius_m), (100.0, HOME, 20.0))[-1].verdict is verdict
