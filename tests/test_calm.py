"""What is not looked at again because nothing can be near changes no finding."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from judging import HOME, clause_of, configured, east_of, fix_of, seen, square

from firmware.findings import Finding
from firmware.law.packs import Clause
from firmware.maps.calm import Calm
from firmware.maps.packs import KINDS
from firmware.maps.zones import Nearby
from firmware.readings import Engine, Feature, Fix, Missing, Surroundings, Why
from firmware.rules.stop import StopSign
from firmware.rules.zone_entry import ZoneEntry
from firmware.rules.zone_speed import ZoneSpeed

RULES = {
    "350.10(1)(g)": ZoneSpeed(configured()),
    "350.10(1)(i)": ZoneSpeed(configured()),
    "350.10(1)(f)": ZoneEntry(configured()),
    "350.10(1)(j)": ZoneEntry(configured()),
    "350.10(1)(c)": StopSign(configured()),
}


class Restless(Nearby):
    """A map on which no ground is calm: everything is looked at at each fix."""

    def calm(self, *_: object, **__: object) -> Calm | None:
        return None


def sign(chance: random.Random, number: int) -> Feature:
    """A stop or yield sign: a point, or the way in that ends at it."""
    x, y, course = chance.uniform(-5000, 5000), chance.uniform(-5000, 5000), chance.uniform(0, 6.2)
    ends = [(x - 300.0 * math.sin(course), y - 300.0 * math.cos(course)), (x, y)]
    shape = chance.choice(("point", "line"))
    way = [east_of(*end)[::-1] for end in (ends if shape == "line" else ends[1:])]
    kind = chance.choice(("stop", "stop", "yield"))
    return Feature(kind, f"sign {number}", "", shape, (tuple(way),))


def land(chance: random.Random) -> Surroundings:
    """Houses, shanties, water, private land and ski hills about home, and two coverages."""
    features: list[Feature] = []
    for number in range(40):
        kind = chance.choice(("dwelling", "shanty", "water", "private", "ski_slide_skate"))
        place = east_of(chance.uniform(-5000, 5000), chance.uniform(-5000, 5000))
        size_ft = chance.uniform(20, 60) if kind in ("dwelling", "shanty") else 400.0
        features.append(square(kind, place, size_ft, str(number)))
    features += [sign(chance, number) for number in range(60)]
    half = square("coverage", east_of(-2500.0), 3000.0, "west")
    features.append(replace(half, attributes={"of": " ".join(KINDS)}))
    features.append(square("coverage", east_of(2500.0), 2900.0, "east"))
    return Surroundings(*HOME, 2000.0, tuple(features))


def ride(chart: Nearby, clause: Clause, seed: int) -> list[Finding]:
    """Ten minutes at random speeds and turns, at 2 Hz, with an error that comes and goes."""
    chance, rule = random.Random(seed), RULES[clause.citation]
    memory, findings = rule.begin(), []
    x, y, course, speed_mph = chance.uniform(-4000, 4000), chance.uniform(-4000, 4000), 0.0, 30.0
    for number in range(1200):
        if number % 20 == 0:
            speed_mph, turn = chance.choice((0.0, 8.0, 30.0, 60.0)), chance.gauss(0.0, 3.0)
        if number % 300 == 0:
            x, y = chance.uniform(-4000, 4000), chance.uniform(-4000, 4000)
        course = (course + turn) % 360.0
        step_ft = speed_mph * 5280.0 / 3600.0 / 2.0
        x += step_ft * math.sin(math.radians(course))
        y += step_ft * math.cos(math.radians(course))
        fix = fix_of(
            speed_mph,
            east_of(x, y),
            error_ft=chance.choice((5.0, 8.0, 12.0, 40.0)),
            track_deg=course if speed_mph else None,
        )
        now = seen(at_s=100.0 + number / 2, fix=fix, nearby=chart)
        memory, finding = rule.judge(memory, now, clause)
        findings.append(finding)
    return findings


@pytest.mark.parametrize("citation", RULES)
def test_every_finding_is_the_same_with_and_without_calm_ground(citation: str) -> None:
    calm_fixes, verdicts = 0, set()
    for seed in range(4):
        around, clause = land(random.Random(seed)), clause_of(citation)
        chart = Nearby(around)
        with_calm = ride(chart, clause, seed)
        assert with_calm == ride(Restless(around), clause, seed)
        calm_fixes += sum(a is b for a, b in pairwise(with_calm))
        verdicts |= {one.verdict for one in with_calm}
    assert calm_fixes > 300  # it was there to be seen
    assert len(verdicts) >= 3  # kept, not known, over


@pytest.mark.parametrize("citation", RULES)
def test_without_a_map_what_was_said_is_what_would_be_said_anew(citation: str) -> None:
    rule, clause, chance = RULES[citation], clause_of(citation), random.Random(1)
    chart = Nearby(land(random.Random(1)))
    maps = (Missing(Why.NOT_FITTED), Missing(Why.STARTING), Missing(Why.STARTING), chart)
    memory, nearby, same = rule.begin(), maps[0], 0
    for number in range(600):
        if number % 15 == 0:
            nearby = chance.choice(maps)
        fix: Fix | Missing = fix_of(chance.choice((0.0, 30.0)), east_of(0.0, 10.0 * number))
        now = seen(
            at_s=100.0 + number,
            fix=chance.choice((fix, fix, fix, Missing(Why.NO_FIX))),
            nearby=nearby,
            modes=frozenset({"family_land"}) if number % 40 > 30 else frozenset(),
            engine=Engine(number % 50 > 5),
        )
        memory, finding = rule.judge(memory, now, clause)
        if isinstance(nearby, Missing):
            assert finding == rule.judge(rule.begin(), now, clause)[1], number
            same += memory.blind is nearby
    assert same > 100  # it was there to be seen, but for a clause that was idle all the time


def test_calm_ground_holds_for_its_own_map_error_and_speed_alone() -> None:
    chart = Nearby(Surroundings(*HOME, 2000.0, (square("coverage", HOME, 9000.0),)))
    calm = chart.calm(("dwelling",), ("dwelling",), HOME, 100.0, 500.0, 5.0, 20.0)
    assert calm is not None
    fix = replace(fix_of(20.0), error_m=5.0, speed_mps=20.0)
    assert calm.holds(chart, fix)
    assert not calm.holds(Nearby(chart.surroundings), fix)
    assert not calm.holds(chart, replace(fix, error_m=5.1))
    assert not calm.holds(chart, replace(fix, speed_mps=20.1))
    assert calm.holds(chart, replace(fix, lat_deg=calm.north_deg))
    assert not calm.holds(chart, replace(fix, lat_deg=calm.north_deg + 1e-9))
    assert msgspec.structs.asdict(calm)["error_m"] == 5.0
