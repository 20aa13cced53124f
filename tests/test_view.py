"""The unit's picture of itself, as a screen gets it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from judging import HOME, WI, configured, east_of, fix_of, point, square

from firmware.findings import Finding, LightCue, Verdict
from firmware.law.packs import Law, Limit
from firmware.monitor import Monitor, build
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Feature,
    Fix,
    Light,
    Missing,
    Press,
    Reading,
    Receiver,
    Request,
    RtcTime,
    Supply,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)
from firmware.state import State
from firmware.view import state_of

NIGHT = datetime(2026, 1, 16, 5, tzinfo=UTC)  # 23:00 in Wisconsin
NOON = datetime(2026, 1, 16, 18, tzinfo=UTC)
EVERYTHING = frozenset(Channel)
COVER = square("coverage", HOME, 30_000.0, "cover")
LAKE = square("water", HOME, 3000.0, "lake")


def at_night(mph: float = 30.0, place: tuple[float, float] = HOME) -> Fix:
    return replace(fix_of(mph, place, track_deg=90.0), utc=NIGHT)


def unit(
    *said: tuple[Channel, Value],
    fitted: frozenset[Channel] = EVERYTHING,
    law: Law = WI,
    around: tuple[Feature, ...] = (),
) -> Monitor:
    monitor = build(configured(), [law], fitted)
    things = Surroundings(*HOME, 2000.0, (COVER, *around))
    for channel, value in ((Channel.SURROUNDINGS, things), *said):
        monitor.step(Reading(channel, value, 100.0, "test"), 100.0)
    return monitor


def seen(*said: tuple[Channel, Value], **how: object) -> State:
    return state_of(unit(*said, **how), 100.0)  # type: ignore[arg-type]  # unit's own keywords


def test_before_anything_is_known_nothing_is_claimed() -> None:
    state = state_of(build(configured(), [WI], EVERYTHING), 5.0)
    assert {part.trouble for part in state.parts} == {"starting"}
    assert replace(state, parts=()) == State(
        at_s=5.0,
        gps="starting",
        journal="starting",
        head_lamp="unknown",
        tail_lamp="unknown",
        tether="unknown",
        engine="unknown",
        unit=configured().unit.id,
    )


def test_a_fix_is_shown_in_the_riders_units() -> None:
    state = seen((Channel.FIX, at_night(41.5)))
    assert state.speed_mph == pytest.approx(41.5)
    assert state.speed_error_mph == pytest.approx(0.5)
    assert (state.lat_deg, state.lon_deg, state.track_deg) == (*HOME, 90.0)
    assert (state.gps, state.utc, state.utc_source) == ("fix", NIGHT, "gps")
    assert (state.local_time, state.is_dark, state.is_watching) == ("23:00", True, True)


def test_without_a_fix_there_is_no_speed_and_the_reason_is_shown() -> None:
    state = seen((Channel.FIX, at_night()), (Channel.FIX, Missing(Why.NO_FIX, "void")))
    assert (state.speed_mph, state.lat_deg, state.zone_ft) == (None, None, None)
    assert (state.gps, state.is_watching) == ("no fix: void", False)
    assert "350.10(1)(gm): speed not known (no fix: void)" in state.not_watched


# The limit.


def test_the_limit_is_the_one_that_holds_here_and_now() -> None:
    state = seen((Channel.FIX, at_night()))
    assert (state.limit_mph, state.limit_clause) == (55.0, "350.10(1)(gm)")


def test_by_day_and_without_zones_there_is_no_limit() -> None:
    state = seen((Channel.FIX, replace(at_night(), utc=NOON)))
    assert (state.limit_mph, state.limit_clause) == (None, "")


def test_of_several_limits_the_lowest_holds() -> None:
    state = seen((Channel.FIX, at_night()), around=(point("dwelling", HOME),))
    assert (state.limit_mph, state.limit_clause) == (10.0, "350.10(1)(g)")


def test_the_limit_of_a_zone_ahead_does_not_hold_yet() -> None:
    state = seen((Channel.FIX, at_night(50.0, east_of(-400.0))), around=(point("dwelling", HOME),))
    assert state.alert is not None
    assert state.alert.name == "zone-ahead"
    assert state.limit_mph == 55.0


def test_a_race_lifts_the_limit_from_the_glass_too() -> None:
    state = seen(
        (Channel.FIX, at_night(0.0)),
        (Channel.REQUEST, Request("mode", "race on")),
        (Channel.FIX, at_night(70.0)),
    )
    assert (state.limit_mph, state.modes) == (None, ("race",))


@pytest.mark.parametrize(("kmh", "mph"), [(50.0, 31.07), (88.0, 54.68), (100.0, 55.0)])
def test_a_limit_in_kilometres_is_shown_and_compared_in_miles(kmh: float, mph: float) -> None:
    night = WI.find("350.10(1)(gm)")
    assert night is not None
    metric = msgspec.structs.replace(
        night, citation="metric", when="always", limit=Limit(kmh, "km/h")
    )
    law = msgspec.structs.replace(WI, clause=(night, metric))
    state = seen((Channel.FIX, at_night()), law=law)
    assert state.limit_mph == pytest.approx(mph, abs=0.01)
    assert state.limit_clause == ("350.10(1)(gm)" if mph == 55.0 else "metric")


# What is near.


def test_the_nearest_thing_is_named_with_its_feet() -> None:
    around = (point("dwelling", east_of(500.0)), point("shanty", east_of(-200.0), "s"), LAKE)
    state = seen((Channel.FIX, at_night()), around=around)
    assert (state.zone, state.zone_ft) == ("shanty", pytest.approx(200.0, rel=1e-3))


def test_what_the_rider_marked_is_near_too() -> None:
    state = seen(
        (Channel.FIX, at_night()),
        (Channel.BUTTON, Press("hold")),
        (Channel.FIX, at_night(30.0, east_of(50.0))),
        around=(point("dwelling", east_of(500.0)),),
    )
    assert (state.zone, state.zone_ft) == ("person", pytest.approx(50.0, rel=1e-3))
    assert state.prompt == "PERSON\nMARKED HERE"


def test_a_mark_is_near_without_any_zone_pack() -> None:
    monitor = build(configured(), [WI], frozenset({Channel.FIX, Channel.BUTTON}))
    for channel, value in ((Channel.FIX, at_night()), (Channel.BUTTON, Press("hold"))):
        monitor.step(Reading(channel, value, 100.0, "test"), 100.0)
    assert state_of(monitor, 100.0).zone == "person"


def test_nothing_near_is_no_zone() -> None:
    state = seen((Channel.FIX, at_night()), around=(LAKE,))
    assert (state.zone, state.zone_ft) == ("", None)


# Lamps, tether, engine, journal.


@pytest.mark.parametrize(
    ("value", "dark", "word"),
    [
        (Light(800.0, 1.0), True, "lit"),
        (Light(1.0, 0.1), True, "out"),
        (Light(800.0, 1.0), False, "not needed"),
        (Light(1.0, 0.1), False, "not needed"),
        (Missing(Why.NO_ANSWER), True, "unknown"),
        (Missing(Why.STARTING), False, "unknown"),
        (Missing(Why.NOT_FITTED), True, "not fitted"),
    ],
)
@pytest.mark.parametrize("channel", [Channel.LIGHT_HEAD, Channel.LIGHT_TAIL])
def test_a_lamp_is_lit_out_unknown_not_fitted_or_not_needed(
    channel: Channel, value: Light | Missing, dark: bool, word: str
) -> None:
    fix = at_night() if dark else replace(at_night(), utc=NOON)
    monitor = unit((Channel.ENGINE, Engine(True)), (Channel.FIX, fix), (channel, value))
    monitor.advance(103.0)
    state = state_of(monitor, 103.0)
    shown = state.head_lamp if channel is Channel.LIGHT_HEAD else state.tail_lamp
    assert shown == word


def test_a_lamp_is_unknown_while_it_is_not_known_whether_it_is_needed() -> None:
    state = seen((Channel.LIGHT_HEAD, Light(800.0, 1.0)))
    assert state.head_lamp == "unknown"


@pytest.mark.parametrize("tether", list(TetherState))
def test_the_tether_is_shown_as_it_is(tether: TetherState) -> None:
    assert seen((Channel.TETHER, Tether(tether))).tether == str(tether)


def test_parts_that_are_not_there_say_so() -> None:
    bare = frozenset({Channel.FIX})
    state = state_of(unit(fitted=bare), 100.0)
    assert {state.head_lamp, state.tail_lamp, state.tether, state.engine} == {"not fitted"}


@pytest.mark.parametrize(("value", "word"), [(True, "running"), (False, "off")])
def test_the_engine_runs_or_is_off(value: bool, word: str) -> None:
    assert seen((Channel.ENGINE, Engine(value))).engine == word
    assert seen((Channel.ENGINE, Missing(Why.STALE))).engine == "unknown"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Disk(512.4), "512 MB free"),
        (Disk(512.4, 3), "512 MB free, 3 records lost"),
        (Missing(Why.NO_ANSWER, "the card is read-only"), "not kept: the card is read-only"),
        (Missing(Why.NO_ANSWER), "not kept: no answer"),
        (Missing(Why.STARTING), "starting"),
        (Missing(Why.NOT_FITTED), "not fitted"),
    ],
)
def test_the_journal_says_whether_it_is_kept(value: Disk | Missing, words: str) -> None:
    assert seen((Channel.JOURNAL, value)).journal == words


def test_the_receivers_satellites_are_shown_where_it_tells_them() -> None:
    assert seen((Channel.RECEIVER, Receiver(satellites=9))).satellites == 9
    assert seen((Channel.RECEIVER, Missing(Why.NO_ANSWER))).satellites is None


# Alerts and findings.


def test_the_winning_alert_comes_first_with_its_cues() -> None:
    state = seen((Channel.FIX, at_night(70.0)), around=(point("dwelling", HOME),))
    assert [one.name for one in state.alerts[:2]] == ["zone-speed", "over-speed"]
    assert state.alert == state.alerts[0]
    assert state.cues.light is LightCue.RED_FLASH


def test_every_duty_is_shown_and_each_that_is_not_watched_with_its_why() -> None:
    state = seen((Channel.FIX, at_night()), (Channel.TETHER, Missing(Why.NO_ANSWER)))
    assert [one.clause for one in state.findings] == [one.citation for one in WI.clause if one.kind]
    unknown = [one for one in state.findings if one.verdict is Verdict.UNKNOWN]
    assert state.not_watched == tuple(f"{one.clause}: {one.why}" for one in unknown)
    assert {one.clause for one in unknown if "lamp" in one.topic} == {"350.09(2)(b)", "350.09(3)"}


def test_a_finding_is_shown_as_it_was_judged() -> None:
    monitor = unit((Channel.FIX, at_night(70.0)))
    state = state_of(monitor, 100.0)
    assert isinstance(state.findings[0], Finding)
    assert state.findings == tuple(monitor.findings.values())


def test_each_part_is_shown_as_it_is_or_with_its_trouble() -> None:
    broken = Missing(Why.NO_ANSWER, "bh1750@i2c-1:0x5c: no answer")
    state = seen(
        (Channel.LIGHT_HEAD, Light(850.4, 1.0)),
        (Channel.LIGHT_AMBIENT, broken),
        (Channel.TETHER, Tether(TetherState.IN)),
        (Channel.RTC, RtcTime(NIGHT, 2.0)),
        (Channel.SUPPLY_HEAD, Supply(True, 13.94)),
        (Channel.SUPPLY_TAIL, Supply(False, is_open=True)),
    )
    parts = {part.channel: (part.value, part.trouble) for part in state.parts}
    assert parts["light.head"] == ("850 lux", "")
    assert parts["light.ambient"] == ("", "no answer: bh1750@i2c-1:0x5c: no answer")
    assert parts["tether"] == ("in", "")
    assert parts["supply.head"] == ("on, 13.9 V", "")
    assert parts["supply.tail"] == ("open", "")
    assert parts["rtc"] == (f"{NIGHT:%Y-%m-%d %H:%M:%S} UTC", "")
    assert parts["engine"] == ("", "starting")
    assert not {"fix", "receiver", "journal", "request", "button"} & parts.keys()
