"""What rests finds what it would have found awake: whole units, and what a rule is told later."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from judging import (
    CENTRAL,
    DAY,
    HOME,
    clause_of,
    configured,
    east_of,
    fix_of,
    map_of,
    point,
    seen,
    square,
)
from test_calm import land

from firmware import monitor
from firmware.binding import bound
from firmware.findings import Finding, Outcome, Verdict
from firmware.law.packs import Clause, load
from firmware.maps.calm import ANYWHERE, everywhere, shared
from firmware.maps.zones import Nearby
from firmware.monitor import Monitor
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Missing,
    Press,
    Reading,
    Request,
    RtcTime,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)
from firmware.rules.base import Resting, Rule, Snapshot
from firmware.rules.speed_limit import SpeedLimit
from firmware.rules.stop import StopSign
from firmware.rules.zone_entry import ZoneEntry
from firmware.rules.zone_speed import LastPlace, ZoneSpeed
from firmware.sources.drive import every_sensor
from firmware.units import metres, mps
from firmware.watch import Watch

STARTS = {
    "deep in the night": datetime(2027, 1, 15, 5, 0, tzinfo=UTC),
    "as its hours begin": datetime(2027, 1, 16, 4, 29, tzinfo=UTC),
    "as they end": datetime(2027, 1, 15, 12, 59, tzinfo=UTC),
    "at dusk": datetime(2027, 1, 15, 23, 14, tzinfo=UTC),
    "at noon": datetime(2027, 1, 15, 18, 0, tzinfo=UTC),
    "as the day begins": datetime(2027, 1, 15, 5, 59, tzinfo=UTC),
}
LAWS = (("wi",), ("mi", "wi_act311"), ("on", "qc"), ("mn", "ny", "vt"))

MODES = ("race", "family_land", "maker_test")
MARKED = ("person", "shanty")
LAPSING = frozenset({Channel.FIX, Channel.LIGHT_HEAD, Channel.LIGHT_TAIL, Channel.LIGHT_AMBIENT})
HEAD, TAIL = Light(850.0, 10.0), Light(300.0, 10.0, 0.9)


class Wakeful:
    """A rule that judges every fix: what may rest is hidden."""

    def __init__(self, rule: Rule) -> None:
        self.channels, self.begin, self.judge = rule.channels, rule.begin, rule.judge


def unit(law: tuple[str, ...], vehicle: str) -> Monitor:
    config = every_sensor()
    config = msgspec.structs.replace(
        config, unit=msgspec.structs.replace(config.unit, law=law, vehicle=vehicle)
    )
    return monitor.build(config, [load(one) for one in law], frozenset(Channel))


def ride(start: datetime, seed: int, count: int = 250) -> Iterator[Reading]:
    """Some minutes of everything that may come, at 2 Hz: speeds, turns, leaps of place and date,
    maps that come and fail, lamps, an engine that stops, modes and marks."""
    chance, utc, at_s = random.Random(seed), start, 10.0
    features = land(random.Random(seed)).features
    x, y, course_deg, speed_mph, turn_deg, error_ft = 0.0, 0.0, 0.0, 30.0, 0.0, 8.0

    def now_and_then(share: float, channel: Channel, *values: Value) -> list[tuple[Channel, Value]]:
        return [(channel, chance.choice(values))] if chance.random() < share else []

    yield Reading(Channel.ENGINE, Engine(True), at_s, "ride")
    for number in range(count):
        at_s += 0.5
        utc += timedelta(seconds=chance.choice((0.5,) * 60 + (0.4, 0.6, 20.0, -15.0)))
        if number % 25 == 0:
            speed_mph, turn_deg = chance.choice((0.0, 8.0, 30.0, 60.0)), chance.gauss(0.0, 3.0)
            error_ft = chance.choice((8.0, 8.0, 12.0, 40.0))
        if number % 150 == 149:
            x, y = chance.uniform(-4000, 4000), chance.uniform(-4000, 4000)
        course_deg = (course_deg + turn_deg) % 360.0
        x += mps(speed_mph) / 0.3048 / 2.0 * math.sin(math.radians(course_deg))
        y += mps(speed_mph) / 0.3048 / 2.0 * math.cos(math.radians(course_deg))
        place = east_of(x, y)
        fix = Fix(
            *place,
            metres(error_ft),
            mps(speed_mph),
            mps(0.5),
            course_deg if speed_mph else None,
            utc,
        )
        ahead = east_of(
            x + 500.0 * math.sin(math.radians(course_deg)),
            y + 500.0 * math.cos(math.radians(course_deg)),
        )
        around = Surroundings(*place, chance.choice((2000.0, 700.0)), features)
        words = [
            *now_and_then(0.95, Channel.FIX, *[fix] * 20, Missing(Why.NO_FIX, "void")),
            *now_and_then(0.05, Channel.SURROUNDINGS, around, around, Missing(Why.NO_ANSWER)),
            *now_and_then(0.5, Channel.LIGHT_HEAD, *[HEAD] * 9, Missing(Why.NO_ANSWER)),
            *now_and_then(0.5, Channel.LIGHT_TAIL, *[TAIL] * 9, Light(3.0, 1.0, 0.9)),
            *now_and_then(0.3, Channel.LIGHT_AMBIENT, Light(0.5, 0.1), Light(400.0, 9.0)),
            *now_and_then(0.03, Channel.ENGINE, Engine(True), Engine(False)),
            *now_and_then(0.02, Channel.TETHER, *[Tether(one) for one in TetherState]),
            *now_and_then(0.02, Channel.RTC, RtcTime(utc, 2.0)),
            *now_and_then(0.01, Channel.BUTTON, Press("press"), Press("hold")),
            *now_and_then(
                0.04,
                Channel.REQUEST,
                *(Request("mode", f"{mode} {to}") for mode in MODES for to in ("on", "off")),
                Request("mark", "person"),
                *(Request("mark", f"{kind} {ahead[0]} {ahead[1]}") for kind in MARKED * 3),
            ),
        ]
        for channel, value in words:
            yield Reading(channel, value, at_s, "ride", 2.5 if channel in LAPSING else None)


def judged(
    core: Monitor, readings: Iterator[Reading]
) -> Iterator[tuple[Outcome, dict[str, Finding]]]:
    for reading in readings:
        yield core.step(reading, reading.mono_s), dict(core.findings)


@pytest.mark.parametrize("law", LAWS, ids="+".join)
@pytest.mark.parametrize("start", STARTS)
def test_a_unit_finds_the_same_whether_its_clauses_rest_or_not(
    start: str, law: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, vehicle in enumerate(("snowmobile", "low_speed_vehicle")):
        rests = unit(law, vehicle)
        with monkeypatch.context() as patch:
            patch.setattr(
                monitor,
                "bound",
                lambda *args, **kwargs: [(one, Wakeful(r)) for one, r in bound(*args, **kwargs)],
            )
            wakes = unit(law, vehicle)
        both = zip(
            judged(rests, ride(STARTS[start], seed)),
            judged(wakes, ride(STARTS[start], seed)),
            strict=True,
        )
        for number, (found, right) in enumerate(both):
            assert found == right, (number, vehicle)
            assert rests.next_due_s == wakes.next_due_s, (number, vehicle)


class Counting:
    """A rule that rests as the one in it does, and counts what it is asked."""

    def __init__(self, rule: Any) -> None:
        self.channels, self.begin, self.ground, self.ridden = (
            rule.channels,
            rule.begin,
            rule.ground,
            rule.ridden,
        )
        self._rule, self.judged = rule, 0

    def judge(self, memory: Any, now: Snapshot, clause: Clause) -> tuple[Any, Finding]:
        self.judged += 1
        found: tuple[Any, Finding] = self._rule.judge(memory, now, clause)
        return found


OPEN = Nearby(Surroundings(*HOME, 2000.0, (square("coverage", HOME, 9000.0),)))


def go(watch: Watch, at_s: float, place: tuple[float, float], **changes: object) -> None:
    """One fix, and all that is judged at it."""
    now = seen(at_s=at_s, fix=fix_of(30.0, place), **({"nearby": OPEN} | changes))
    assert isinstance(now.fix, Fix)
    watch.judge(watch.awake(now.fix, at_s, now.nearby, now.local), now)
    watch.settle()


def counted(citation: str, rule: Any) -> tuple[Watch, Counting]:
    counting = Counting(rule)
    return Watch([(clause_of(citation), counting)]), counting


def test_on_open_ground_a_clause_is_asked_until_it_has_said_the_same_twice() -> None:
    watch, rule = counted("350.10(1)(f)", ZoneEntry(configured()))
    for number in range(20):
        go(watch, 100.0 + number / 10, east_of(2.0 * number))
    assert rule.judged == 2


def test_a_clause_wakes_as_its_hours_begin_though_no_timer_has_told_it() -> None:
    watch, rule = counted("350.10(1)(g)", ZoneSpeed(configured()))
    home = map_of(point("dwelling", HOME))
    for number, clock in enumerate(("22:29:57", "22:29:58", "22:29:59", "22:30:00")):
        local = datetime.fromisoformat(f"2026-01-15T{clock}").replace(tzinfo=CENTRAL)
        go(watch, 100.0 + number, HOME, local=local, nearby=home)
    assert rule.judged == 3
    (one,) = watch.all
    assert one.finding is not None
    assert one.finding.verdict is Verdict.VIOLATION


def test_where_a_clause_slept_the_sled_went_its_way_and_not_straight_on() -> None:
    # Around the corner of a nursery that only the next map knows: the line from where the clause
    # was last asked cuts through it.
    watch, rule = counted("350.10(1)(h)", ZoneEntry(configured()))
    way = ((0, -1), (0, 0), (0, 100), (0, 200), (100, 200), (190, 200))
    for number, (x, y) in enumerate(way):
        go(watch, 100.0 + number / 2, east_of(x, y))
    assert rule.judged == 2
    nursery = map_of(square("nursery", east_of(130.0, 70.0), 60.0))
    go(watch, 103.0, east_of(200.0, 200.0), nearby=nursery)
    (one,) = watch.all
    assert one.finding is not None
    assert (rule.judged, one.finding.verdict) == (3, Verdict.COMPLIANT)


def test_a_clause_that_a_mode_may_lift_never_rests_while_one_is_on() -> None:
    watch, rule = counted("350.10(1)(gm)", SpeedLimit(configured()))
    for number in range(5):
        go(watch, 100.0 + number, HOME, dark=DAY, modes=frozenset({"race"}))
    assert rule.judged == 5
    for number in range(5, 10):
        go(watch, 100.0 + number, HOME, dark=DAY)
    assert rule.judged == 7


def replace(memory: Any, **changes: object) -> Any:
    """A memory with changes: some are dataclasses, some are structs."""
    if isinstance(memory, msgspec.Struct):
        return msgspec.structs.replace(memory, **changes)
    return dataclasses.replace(memory, **changes)


def on_the_way(number: int) -> tuple[float, Fix]:
    """Fixes of 2 Hz on a bend, with one at rest and a gap of 6 s among them."""
    fix = fix_of(20.0, east_of(15.0 * number, 9.0 * number), track_deg=None)
    track_deg = None if number == 5 else 9.0 * number
    at_s = 100.0 + number / 2 + (6.0 if number > 9 else 0.0)
    return at_s, Fix(fix.lat_deg, fix.lon_deg, 3.0, fix.speed_mps, fix.error_mps, track_deg)


@pytest.mark.parametrize(
    ("rule", "citation"),
    [
        (ZoneEntry(configured()), "350.10(1)(f)"),
        (StopSign(configured()), "350.10(1)(c)"),
        (ZoneSpeed(configured()), "350.10(1)(g)"),
        (ZoneSpeed(configured()), "350.10(1)(i)"),
    ],
)
@pytest.mark.parametrize("nearby", ["a map", "no map"])
@pytest.mark.parametrize("local", ["2026-01-16T05:00:00", "2026-01-16T18:00:00"])
def test_what_a_clause_remembers_of_fixes_it_was_told_later_is_what_it_would_have_noted(
    rule: Any, citation: str, nearby: str, local: str
) -> None:
    clause, at_noon = clause_of(citation), datetime.fromisoformat(f"{local}+00:00")
    chart = Nearby(Surroundings(*HOME, 4000.0, (square("coverage", HOME, 9000.0),)))
    around = chart if nearby == "a map" else Missing(Why.STARTING)
    assert isinstance(rule, Resting)
    for last in range(1, 16):
        memory = rule.begin()
        for number in range(last + 1):
            at_s, fix = on_the_way(number)
            now = seen(at_s=at_s, fix=fix, nearby=around, local=at_noon)
            memory, _ = rule.judge(memory, now, clause)
            if number == 0:
                first = memory
        passed = [on_the_way(number) for number in range(1, last + 1)]
        # It is told no more than the last moments, but the next judgement must not see that.
        late = [one for one in passed if one[0] > passed[-1][0] - 1.5]
        told = rule.ridden(first, [*passed[: len(passed) - len(late)][-1:], *late])
        at_s, fix = on_the_way(last + 1)
        now = seen(at_s=at_s, fix=fix, nearby=around, local=at_noon)
        (after, finding), (right, due) = (rule.judge(one, now, clause) for one in (told, memory))
        assert finding == due
        # After a gap of 5 s calm ground is made anew: another piece of it, as good.
        if isinstance(after, LastPlace):
            after, right = replace(after, tried=None), replace(right, tried=None)
        assert replace(after, calm=None) == replace(right, calm=None)


def test_shared_ground_is_what_lies_on_all_of_them() -> None:
    chart, other = object(), object()
    one = msgspec.structs.replace(everywhere(chart), south_deg=44.0, north_deg=45.0, error_m=5.0)
    two = msgspec.structs.replace(ANYWHERE, south_deg=44.5, west_deg=-88.5, speed_mps=20.0)
    both = shared([one, two])
    assert (both.chart, both.south_deg, both.north_deg) == (chart, 44.5, 45.0)
    assert (both.west_deg, both.east_deg) == (-88.5, math.inf)
    assert (both.error_m, both.speed_mps) == (5.0, 20.0)
    assert shared([]) == ANYWHERE
    apart = shared([one, everywhere(other)])
    fix = fix_of(0.0, (44.6, -88.4), error_ft=1.0)
    assert both.holds(chart, fix)
    assert not both.holds(other, fix)
    assert not apart.holds(chart, fix)
    assert not apart.holds(other, fix)
