"""A stay in a zone of 350.10(1)(g) and (i): where it ends, in which season, and by which house."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import pytest
from judging import HOME, clause_of, configured, east_of, fix_of, map_of, point, seen, square

from firmware.findings import Verdict
from firmware.law.places import Season
from firmware.maps.zones import Nearby
from firmware.readings import Feature, Surroundings
from firmware.rules.zone_speed import ZoneSpeed

DWELLINGS, ICE = clause_of("350.10(1)(g)"), clause_of("350.10(1)(i)")
RULE = ZoneSpeed(configured())
HOUSE = point("dwelling", HOME, "house")
POSSIBLE = replace(HOUSE, attributes={"confidence": "possible"})


def ride(*moments: tuple[float, float]) -> list[Verdict]:
    """The verdicts along (feet from a house, mph), half a second apart, 10 ft uncertain."""
    memory, verdicts = RULE.begin(), []
    for number, (feet, speed_mph) in enumerate(moments):
        fix = fix_of(speed_mph, east_of(feet))
        now = seen(at_s=100.0 + number / 2, fix=fix, nearby=map_of(HOUSE))
        memory, finding = RULE.judge(memory, now, DWELLINGS)
        verdicts.append(finding.verdict)
    return verdicts


def test_too_fast_a_sled_has_left_the_150_ft_once_it_is_three_errors_out() -> None:
    out = [(130.0, 30.0), (155.0, 30.0), (161.0, 30.0), (170.0, 30.0), (179.9, 30.0), (180.1, 30.0)]
    assert ride(*out)[2:] == [Verdict.UNSURE] * 3 + [Verdict.COMPLIANT]


def test_a_way_that_surely_led_through_it_counts_where_the_sled_may_have_left_it() -> None:
    assert ride((130.0, 30.0), (155.0, 30.0)) == [Verdict.VIOLATION] * 2
    assert ride((130.0, 9.0), (155.0, 30.0)) == [Verdict.APPROACHING, Verdict.UNSURE]


@pytest.mark.parametrize(
    ("feet", "verdict"),
    [((60.0, 40.0), Verdict.VIOLATION), ((155.0, 152.0), Verdict.UNSURE)],
    ids=["surely inside", "maybe inside"],
)
def test_in_a_zone_the_speed_is_that_of_the_place_and_not_of_the_way_there(
    feet: tuple[float, float], verdict: Verdict
) -> None:
    memory = RULE.begin()
    for at_s, away_ft, speed_mph in ((100.0, feet[0], 20.0), (100.5, feet[1], 30.0)):
        now = seen(at_s=at_s, fix=fix_of(speed_mph, east_of(away_ft)), nearby=map_of(HOUSE))
        memory, finding = RULE.judge(memory, now, DWELLINGS)
    assert finding.verdict is verdict
    assert (finding.value, finding.away_ft) == (pytest.approx(30.0), pytest.approx(feet[1], abs=1))


def test_who_kept_the_limit_may_go_faster_as_soon_as_the_zone_may_have_ended() -> None:
    slow = [(130.0, 9.5), (155.0, 9.5), (161.0, 9.5)]
    assert ride(*slow, (170.0, 9.5))[-1] is Verdict.APPROACHING  # still the same stay
    assert ride(*slow, (170.0, 30.0))[-1] is Verdict.COMPLIANT
    assert ride(*slow, (181.0, 9.5))[-1] is Verdict.COMPLIANT


@pytest.mark.parametrize(
    ("months", "verdict"),
    [(("12-01", "03-31"), Verdict.VIOLATION), (("04-01", "11-30"), Verdict.COMPLIANT)],
)
def test_a_limit_with_a_season_holds_on_its_days_alone(
    months: tuple[str, str], verdict: Verdict
) -> None:
    clause = msgspec.structs.replace(ICE, season=Season(*months))
    chart = map_of(point("shanty", HOME), square("water", HOME, 5000.0))
    now = seen(fix=fix_of(30.0, HOME), nearby=chart)  # on 15 January
    assert RULE.judge(RULE.begin(), now, clause)[1].verdict is verdict
    dateless = seen(fix=fix_of(30.0, HOME), nearby=chart, local=None)
    finding = RULE.judge(RULE.begin(), dateless, clause)[1]
    assert (finding.verdict, finding.why) == (Verdict.UNKNOWN, "the date is not known")


def house_at(feet: float, *features: Feature) -> Verdict:
    """The verdict beside things, and a house that is known so many feet east of the sled."""
    known = point("dwelling", east_of(feet), "known")
    now = seen(fix=fix_of(30.0, HOME), nearby=map_of(*features, known))
    return RULE.judge(RULE.begin(), now, DWELLINGS)[1].verdict


def test_what_is_only_possibly_a_house_accuses_nobody_and_hides_no_house() -> None:
    now = seen(fix=fix_of(30.0, HOME), nearby=map_of(POSSIBLE))
    assert RULE.judge(RULE.begin(), now, DWELLINGS)[1].verdict is Verdict.UNSURE
    assert house_at(139.0, POSSIBLE) is Verdict.VIOLATION
    assert house_at(141.0, POSSIBLE) is Verdict.UNSURE


@pytest.mark.parametrize("others", [(), ("dwelling",)], ids=["marked things alone", "others too"])
def test_calm_ground_does_not_hide_what_the_rider_has_just_marked(others: tuple[str, ...]) -> None:
    lake = map_of(square("water", HOME, 5000.0))
    (near,) = clause_of("350.10(1)(i)").near
    near = msgspec.structs.replace(near, kinds=(*others, *near.kinds))
    clause = msgspec.structs.replace(ICE, near=(near,))
    memory, finding = RULE.judge(RULE.begin(), seen(nearby=lake), clause)
    assert (finding.verdict, memory.said) == (Verdict.COMPLIANT, finding)
    assert memory.calm is not None
    marks = Nearby(Surroundings(*HOME, math.inf, (point("person", HOME),)))
    marked = seen(at_s=101.0, nearby=lake, marks=marks)
    assert RULE.judge(memory, marked, clause)[1].verdict is Verdict.VIOLATION
    _, finding = RULE.judge(RULE.begin(), seen(nearby=lake), ICE)
    assert finding.verdict is Verdict.COMPLIANT
