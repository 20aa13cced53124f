"""350.10(1)(g) and (i): when the warning of a zone ahead comes, how long it stands, round bends.

Sleds ride east from home; distances in metres, by hand from v^2 / (2 * 3.28 m/s2) less that of the
speed to be at, 9.5 mph of a limit of 10, and 1.8 s of v. A zone begins 150 ft from a house, and its
warning two errors of 10 ft before it: 51.82 m.
"""

from __future__ import annotations

import math

import msgspec
import pytest
from judging import HOME, clause_of, configured, fix_of, map_of, point, seen, square
from test_calm import Restless

from firmware.findings import Finding, Verdict
from firmware.law.packs import Near as Reach
from firmware.maps.plane import Plane
from firmware.maps.zones import Nearby
from firmware.readings import Feature, Missing, Surroundings, Why
from firmware.rules.zone_speed import LastPlace, ZoneSpeed
from firmware.units import ft, metres, mps

DWELLINGS, ICE = clause_of("350.10(1)(g)"), clause_of("350.10(1)(i)")
RULE = ZoneSpeed(configured())
NEAR_M = metres(150.0) + 2.0 * metres(10.0)
LAKE = square("water", HOME, 6000.0)


def at(ahead_m: float, right_m: float = 0.0, kind: str = "dwelling") -> Feature:
    """A house so far ahead of a sled at home that rides east, and so far to its right."""
    return point(kind, Plane(*HOME).place(ahead_m, -right_m), kind)


def warned(
    house: Feature,
    speed_mph: float,
    courses: tuple[float, ...] = (90.0,),
    every_s: float = 0.5,
    memory: LastPlace | None = None,
    error_mph: float = 0.5,
) -> tuple[LastPlace, Finding]:
    """What is remembered and found at home, where only the last of the fixes knows of a house."""
    memory = RULE.begin() if memory is None else memory
    for number, track_deg in enumerate(courses, 1 - len(courses)):
        fix = fix_of(speed_mph, track_deg=track_deg, error_mph=error_mph)
        chart = map_of() if number else map_of(house)
        now = seen(at_s=100.0 + number * every_s, fix=fix, nearby=chart)
        memory, finding = RULE.judge(memory, now, DWELLINGS)
    return memory, finding


def is_warned(house: Feature, speed_mph: float, *courses: float, every_s: float = 0.5) -> bool:
    return warned(house, speed_mph, courses, every_s)[1].verdict is Verdict.APPROACHING


# Round bends. At 30 mph, 13.41 m/s, it takes 48.8 m to be at the limit. A turn of 20 degrees a
# second is on 38.4 m: after 48.8 m the sled is 36.7 m ahead and 27.0 m aside.

AHEAD, ROUND = (99.0, 0.0), (75.0, 60.0)


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_a_turn_leads_to_the_house_round_the_bend_and_not_to_the_one_straight_on(
    side: float,
) -> None:
    turning = [90.0 - side * 30.0] * 3 + [90.0]  # in the last half second of 1.5 s
    ahead, round_it = at(*AHEAD), at(ROUND[0], side * ROUND[1])
    assert not is_warned(ahead, 30.0, *turning)
    assert is_warned(round_it, 30.0, *turning)
    assert not is_warned(at(ROUND[0], -side * ROUND[1]), 30.0, *turning)
    assert is_warned(ahead, 30.0, *[90.0] * 4)
    assert not is_warned(round_it, 30.0, *[90.0] * 4)


def test_a_turn_over_the_north_is_the_same_turn() -> None:
    house = point("dwelling", Plane(*HOME).place(60.0, 75.0))  # 75 m north, 60 m to the right of it
    for courses, is_ahead in (((340.0, 350.0, 0.0, 10.0), True), ((40.0, 30.0, 20.0, 10.0), False)):
        assert is_warned(house, 30.0, *courses) is is_ahead


@pytest.mark.parametrize(
    ("every_s", "turns"), [(0.5, False), (0.7, False), (0.75, True), (1.0, True)]
)
def test_two_courses_tell_a_turn_once_three_quarters_of_a_second_are_between_them(
    every_s: float, turns: bool
) -> None:
    courses = (90.0 - 20.0 * every_s, 90.0)
    assert is_warned(at(*ROUND), 30.0, *courses, every_s=every_s) is turns
    assert is_warned(at(*AHEAD), 30.0, *courses, every_s=every_s) is not turns


@pytest.mark.parametrize(("turn_deg_s", "turns"), [(0.9, False), (1.1, True), (-0.9, False)])
def test_a_turn_of_less_than_a_degree_a_second_is_noise(turn_deg_s: float, turns: bool) -> None:
    # 60 mph: 155.2 m. A degree a second is 7 m aside there: a house 51.6 m to the left is missed.
    left = at(155.0, math.copysign(51.6, -turn_deg_s))
    courses = (90.0 - turn_deg_s, 90.0 - 0.5 * turn_deg_s, 90.0)
    assert is_warned(left, 60.0, *courses) is not turns


@pytest.mark.parametrize(("turn_deg_s", "turns"), [(0.9, False), (1.1, True)])
def test_a_degree_a_second_is_one_over_the_north_too(turn_deg_s: float, turns: bool) -> None:
    west = point("dwelling", Plane(*HOME).place(-51.6, 155.0), "west")  # to the left of due north
    courses = (360.0 - turn_deg_s, 360.0 - 0.5 * turn_deg_s, 0.0)
    assert is_warned(west, 60.0, *courses) is not turns


def test_of_fixes_2_s_apart_the_last_two_tell_the_turn() -> None:
    memory = RULE.begin()
    for number in range(4):
        fix = fix_of(30.0, track_deg=80.0 + number)
        now = seen(at_s=100.0 + 2.0 * number, fix=fix, nearby=map_of())
        memory, _ = RULE.judge(memory, now, DWELLINGS)
    assert memory.courses == ((104.0, 82.0), (106.0, 83.0))


def test_the_courses_of_the_last_1_5_s_and_the_one_before_are_kept() -> None:
    memory, kept = RULE.begin(), []
    for number in range(9):
        fix = fix_of(30.0, track_deg=80.0 + number)
        now = seen(at_s=100.0 + number / 2, fix=fix, nearby=map_of())
        memory, _ = RULE.judge(memory, now, DWELLINGS)
        kept.append(memory.courses)
    assert kept[0] == ((100.0, 80.0),)
    assert kept[2] == ((100.0, 80.0), (100.5, 81.0), (101.0, 82.0))
    assert kept[8] == ((102.5, 85.0), (103.0, 86.0), (103.5, 87.0), (104.0, 88.0))
    again, _ = RULE.judge(memory, msgspec.structs.replace(now, at_s=104.2), DWELLINGS)
    assert again.courses == kept[8]  # the same fix is one course
    at_rest = seen(at_s=104.5, fix=fix_of(0.0), nearby=map_of())
    assert RULE.judge(memory, at_rest, DWELLINGS)[0].courses == ()


# Between two fixes.


def test_the_warning_comes_when_the_way_to_brake_begins_though_no_fix_comes() -> None:
    # 55 mph, 24.59 m/s: 133.66 m to brake; half a second further the edge is at 145.95 m, of which
    # 1/110 is the spread of half a mile an hour.
    house = at(NEAR_M + 145.95 * (1.0 + 0.5 / 55.0))
    memory, finding = warned(house, 55.0, (90.0, 90.0), every_s=1.0)
    assert finding.verdict is Verdict.COMPLIANT
    assert memory.due_s == pytest.approx(100.5, abs=0.01)
    fix = fix_of(55.0, track_deg=90.0)
    for at_s, verdict in ((100.45, Verdict.COMPLIANT), (100.55, Verdict.APPROACHING)):
        now = seen(at_s=at_s, fix_at_s=100.0, fix=fix, nearby=map_of(house))
        after, finding = RULE.judge(memory, now, DWELLINGS)
        assert finding.verdict is verdict
        assert (after.due_s == math.inf) is (verdict is Verdict.APPROACHING)
    assert finding.away_ft == pytest.approx(ft(145.95 - 0.55 * 24.59), abs=0.5)


@pytest.mark.parametrize(
    ("every_s", "later_s", "is_due"),
    [
        (0.5, 0.45, True),
        (0.5, 0.6, False),  # the next fix comes before
        (1.0, 0.95, True),
        (1.0, 1.05, False),
        (4.0, 1.95, True),  # at most 2 s
        (4.0, 2.05, False),
    ],
)
def test_it_looks_as_far_as_the_sled_gets_until_the_next_fix(
    every_s: float, later_s: float, is_due: bool
) -> None:
    along_m = 133.66 + 24.587 * later_s
    house = at(NEAR_M + along_m * (1.0 + 0.5 / 55.0))
    memory, finding = warned(house, 55.0, (90.0, 90.0), every_s=every_s)
    assert finding.verdict is Verdict.COMPLIANT
    assert memory.due_s == (pytest.approx(100.0 + later_s, abs=0.02) if is_due else math.inf)


def test_past_the_edge_that_was_come_to_there_is_nothing_left_to_brake() -> None:
    house = at(NEAR_M + 10.0)
    fix = fix_of(55.0, track_deg=90.0)
    memory, _ = RULE.judge(RULE.begin(), seen(at_s=100.0, fix=fix, nearby=map_of(house)), DWELLINGS)
    late = seen(at_s=101.0, fix_at_s=100.0, fix=fix, nearby=map_of(house))
    assert RULE.judge(memory, late, DWELLINGS)[1].away_ft == 0.0


# How long it stands.


@pytest.mark.parametrize(("ahead_m", "stands"), [(146.5, True), (147.5, False)])
def test_a_warning_stands_until_a_longer_way_to_brake_ends_before_the_edge(
    ahead_m: float, stands: bool
) -> None:
    # 40 mph, 17.88 m/s: 78.17 m; a tenth and 2 m more, 87.99 m, from four errors before the zone:
    # 57.91 m and 87.99 m with their spread of an eightieth are 147.0 m.
    memory = once_warned()
    _, finding = warned(at(ahead_m), 40.0, memory=memory)
    assert (finding.verdict is Verdict.APPROACHING) is stands


@pytest.mark.parametrize(("ahead_m", "comes"), [(130.5, True), (131.5, False)])
def test_a_warning_comes_later_than_it_goes(ahead_m: float, comes: bool) -> None:
    # 51.82 m and 78.17 m with their spread are 130.97 m.
    _, finding = warned(at(ahead_m), 40.0)
    assert (finding.verdict is Verdict.APPROACHING) is comes


def once_warned() -> LastPlace:
    """What a sled remembers half a second after it was warned."""
    memory, finding = warned(at(60.0), 40.0)
    assert finding.verdict is Verdict.APPROACHING
    return msgspec.structs.replace(memory, at_s=99.5)


@pytest.mark.parametrize(("error_mph", "edge_m"), [(0.5, 48.81), (6.0, 50.79), (10.0, 50.79)])
def test_however_uncertain_the_speed_half_of_the_limit_is_slow_enough(
    error_mph: float, edge_m: float
) -> None:
    # 30 mph: to 9.5 mph in 24.67 m, to 5 mph, the half, in 26.65 m; and 24.14 m to react.
    spread = min(error_mph / 30.0, 0.2)
    for off_m, verdict in ((0.2, Verdict.COMPLIANT), (-0.2, Verdict.APPROACHING)):
        house = at(NEAR_M + (edge_m + off_m) * (1.0 + spread))
        assert warned(house, 30.0, error_mph=error_mph)[1].verdict is verdict


# Several things.


@pytest.mark.parametrize("shanty_first", [True, False])
@pytest.mark.parametrize(("shanty_m", "person_m"), [(120.0, 140.0), (140.0, 120.0)])
def test_of_several_edges_ahead_the_first_one_counts(
    shanty_m: float, person_m: float, shanty_first: bool
) -> None:
    reaches = (Reach(("shanty",), 100.0), Reach(("person",), 100.0))
    clause = msgspec.structs.replace(ICE, near=reaches if shanty_first else reaches[::-1])
    chart = map_of(at(shanty_m, kind="shanty"), at(person_m, kind="person"), LAKE)
    now = seen(fix=fix_of(55.0, track_deg=90.0), nearby=chart)
    finding = RULE.judge(RULE.begin(), now, clause)[1]
    nearer = "shanty" if shanty_m < person_m else "person"
    # 100 ft and two errors are 36.58 m
    assert finding.why.startswith(f"{nearer} ahead: ")
    assert finding.away_ft == pytest.approx(ft((120.0 - 36.58) / (1.0 + 0.5 / 55.0)), abs=1.0)


@pytest.mark.parametrize("kinds", [("shanty", "person"), ("person", "shanty")])
def test_one_edge_is_enough_whichever_kind_it_is_of(kinds: tuple[str, str]) -> None:
    clause = msgspec.structs.replace(ICE, near=tuple(Reach((kind,), 100.0) for kind in kinds))
    chart = map_of(at(120.0, kind="person"), LAKE)
    now = seen(fix=fix_of(55.0, track_deg=90.0), nearby=chart)
    assert RULE.judge(RULE.begin(), now, clause)[1].why.startswith("person ahead: ")


@pytest.mark.parametrize("shanty_first", [True, False])
@pytest.mark.parametrize(("shanty_m", "person_m"), [(10.0, 20.0), (20.0, 10.0)])
def test_of_several_things_near_the_nearest_one_is_told(
    shanty_m: float, person_m: float, shanty_first: bool
) -> None:
    reaches = (Reach(("shanty",), 50.0), Reach(("person",), 50.0))
    clause = msgspec.structs.replace(ICE, near=reaches if shanty_first else reaches[::-1])
    chart = map_of(at(shanty_m, kind="shanty"), at(person_m, kind="person"), LAKE)
    now = seen(fix=fix_of(8.0, error_ft=50.0), nearby=chart)  # maybe near each of them
    finding = RULE.judge(RULE.begin(), now, clause)[1]
    assert finding.why.startswith("shanty" if shanty_m < person_m else "person")
    assert finding.away_ft == pytest.approx(ft(10.0), abs=0.1)


def test_a_mark_that_has_ended_leaves_nothing_behind_where_there_is_no_map() -> None:
    marks = Nearby(Surroundings(*HOME, 2000.0, (at(10.0, kind="person"),)))
    missing, memory = Missing(Why.NO_ANSWER), RULE.begin()
    fix = fix_of(30.0)
    now = seen(at_s=100.0, fix=fix, nearby=missing, marks=marks)
    memory, finding = RULE.judge(memory, now, ICE)
    assert finding.verdict is Verdict.UNSURE
    _, after = RULE.judge(memory, seen(at_s=101.0, fix=fix, nearby=missing, marks=None), ICE)
    assert (after.verdict, after.why) == (
        Verdict.UNKNOWN,
        "nothing known of what is near (no answer)",
    )


@pytest.mark.parametrize(
    ("radius_m", "verdict"), [(619.5, Verdict.UNKNOWN), (620.5, Verdict.COMPLIANT)]
)
def test_the_map_must_be_whole_for_620_m_about_the_sled(radius_m: float, verdict: Verdict) -> None:
    now = seen(fix=fix_of(20.0, track_deg=90.0), nearby=map_of(radius_m=radius_m))
    assert RULE.judge(RULE.begin(), now, DWELLINGS)[1].verdict is verdict


@pytest.mark.parametrize("every_s", [0.2, 2.0])
@pytest.mark.parametrize("error_ft", [5.0, 60.0])
@pytest.mark.parametrize("speed_mph", [12.0, 55.0, 95.0])
def test_calm_ground_ends_before_a_warning_can_begin(
    speed_mph: float, error_ft: float, every_s: float
) -> None:
    """Towards a house from 1300 m away, over the corners of the ground: every other fix is as fast
    and as inexact as it allows. With few fixes it is ridden more than once, a little further on."""
    clause = msgspec.structs.replace(DWELLINGS, near=(*DWELLINGS.near, Reach(("church",), 10.0)))
    charts = [kind(map_of(at(0.0)).surroundings) for kind in (Nearby, Restless)]
    for start in range(1 if every_s < 1.0 else 12):
        told: list[list[tuple[Finding, float]]] = []
        for chart in charts:
            memory, findings, x_m, number = RULE.begin(), [], -1300.0 - 3.0 * start, 0
            while x_m < -40.0:
                is_fast = number % 2 == 1
                fast_mph = 1.25 * speed_mph + 4.4 if is_fast else speed_mph  # 2 m/s are 4.47 mph
                place = Plane(*HOME).place(x_m * math.sqrt(0.5), x_m * math.sqrt(0.5))
                fix = fix_of(fast_mph, place, error_ft=error_ft * (1 + is_fast), track_deg=45.0)
                now = seen(at_s=100.0 + number * every_s, fix=fix, nearby=chart)
                memory, finding = RULE.judge(memory, now, clause)
                findings.append((finding, memory.due_s))
                x_m, number = x_m + mps(fast_mph) * every_s, number + 1
            told.append(findings)
        assert told[0] == told[1]
        assert told[0][0][0].verdict is Verdict.COMPLIANT
