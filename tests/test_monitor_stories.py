"""Any story of readings: the same however time is cut, whole, and in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from judging import HOME, configured, east_of, fix_of, point, square
from sled_rig import (
    COVER,
    EVERYTHING,
    FLOOR,
    HOUSE,
    NIGHT,
    NOON,
    OF_SIX,
    T0,
    Sled,
)

from firmware.findings import Alert, Event, Finding, Outcome, Verdict
from firmware.monitor import build
from firmware.readings import (
    Channel,
    Disk,
    Engine,
    Light,
    Missing,
    Press,
    Reading,
    Receiver,
    Request,
    RtcTime,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)

_LUX = st.sampled_from([0.0, 4.0, 7.0, 20.0, 60.0, 800.0])

_MISSING = st.sampled_from([Missing(why) for why in Why])

_PLACES = st.builds(east_of, st.floats(-600.0, 600.0), st.floats(-60.0, 60.0))

_DATES = st.one_of(
    st.none(),
    st.sampled_from([NIGHT, NOON, datetime(2026, 1, 16, 4, 29, 55, tzinfo=UTC)]),
    st.floats(0.0, 3.1e8).map(lambda seconds: NIGHT + timedelta(seconds=seconds)),
)

_FIXES = st.builds(
    lambda mph, place, utc, track: replace(fix_of(mph, place, track_deg=track), utc=utc),
    st.sampled_from([0.0, 0.9, 1.0, 9.5, 10.2, 30.0, 54.0, 55.2, 61.0, 73.0]),
    _PLACES,
    _DATES,
    st.one_of(st.none(), st.floats(0.0, 359.9)),
)

_THINGS = st.lists(
    st.one_of(
        st.builds(point, st.sampled_from(["dwelling", "shanty", "person"]), _PLACES),
        st.builds(square, st.sampled_from(["water", "dwelling"]), _PLACES, st.floats(50.0, 900.0)),
    ),
    max_size=4,
)

_ASKED = st.sampled_from(
    [
        Request("mode", "race on"),
        Request("mode", "race off"),
        Request("mark", "shanty"),
        Request("mark"),
        Request("test"),
        Request("prompt", "HOLD"),
        Request("acknowledge"),
        Request("note", "x"),
    ]
)

_SAID = st.one_of(
    st.tuples(st.just(Channel.FIX), _FIXES | _MISSING),
    st.tuples(st.just(Channel.FIX), _FIXES),
    st.tuples(
        st.sampled_from([Channel.LIGHT_HEAD, Channel.LIGHT_TAIL, Channel.LIGHT_AMBIENT]),
        st.builds(lambda lux: Light(lux, 1.0), _LUX) | _MISSING,
    ),
    st.tuples(st.just(Channel.TETHER), st.builds(Tether, st.sampled_from(TetherState)) | _MISSING),
    st.tuples(st.just(Channel.ENGINE), st.builds(Engine, st.booleans()) | _MISSING),
    st.tuples(st.just(Channel.BUTTON), st.builds(Press, st.sampled_from(["press", "hold"]))),
    st.tuples(
        st.just(Channel.RTC),
        st.builds(RtcTime, _DATES.filter(lambda one: one is not None), st.just(2.0)) | _MISSING,
    ),
    st.tuples(
        st.just(Channel.SURROUNDINGS),
        st.builds(lambda things: Surroundings(*HOME, 2000.0, (COVER, *things)), _THINGS) | _MISSING,
    ),
    st.tuples(st.just(Channel.REQUEST), _ASKED),
    st.tuples(st.just(Channel.RECEIVER), st.just(Receiver(satellites=7)) | _MISSING),
    st.tuples(st.just(Channel.JOURNAL), st.just(Disk(10.0)) | _MISSING),
)

_GAPS = st.sampled_from([0.0, 0.1, 0.25, 1.0, 1.7, 2.0, 5.0, 30.0, 61.0, 700.0])

_STORIES = st.lists(
    st.tuples(
        _GAPS, _SAID, st.sampled_from([None, 0.5, 2.5, 10.0]), st.sampled_from([0.0, 0.2, 3.0])
    ),
    min_size=1,
    max_size=25,
)

_CUTS = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=3)

Story = list[tuple[float, tuple[Channel, Value], float | None, float]]

Change = tuple[float, Finding | Alert | Event]


def play(story: Story, cuts: Sequence[float] = ()) -> list[list[Change]]:
    """Everything that a story brings, with `advance` called at parts of the way to each reading."""
    monitor = build(configured(FLOOR), [OF_SIX], EVERYTHING)
    brought: list[list[Change]] = [[], [], []]

    def keep(outcome: Outcome) -> None:
        brought[0] += outcome.findings
        brought[1] += outcome.alerts
        brought[2] += outcome.events

    at_s = T0
    for number, (gap_s, (channel, value), fresh_s, late_s) in enumerate(story):
        for part in sorted(cuts) if number else ():
            keep(monitor.advance(at_s + gap_s * part))
        at_s += gap_s
        keep(monitor.step(Reading(channel, value, at_s - late_s, "test", fresh_s), at_s))
        assert monitor.next_due_s > at_s
    keep(monitor.finish(at_s + 4000.0))
    for kept in brought:
        assert all(before[0] <= after[0] for before, after in pairwise(kept))
    return brought


@settings(max_examples=150, deadline=None)
@given(_STORIES, _CUTS)
def test_the_same_readings_give_the_same_changes_however_time_is_cut(
    story: Story, cuts: list[float]
) -> None:
    assert play(story) == play(story, cuts)


@settings(max_examples=100, deadline=None)
@given(_STORIES)
def test_every_finding_is_whole_and_time_always_goes_on(story: Story) -> None:
    for _, finding in play(story)[0]:
        assert isinstance(finding, Finding)
        assert finding.why
        if finding.verdict.is_over and finding.topic != "tether":
            assert finding.value is not None
            assert finding.limit is not None
            assert finding.unit
        if finding.verdict is Verdict.UNKNOWN:
            assert (finding.value, finding.limit) == (None, None)


@settings(max_examples=100, deadline=None)
@given(_STORIES)
def test_alerts_and_events_begin_and_end_in_turn(story: Story) -> None:
    _, alerts, events = play(story)
    standing: dict[tuple[str, str], str] = {}
    for _, alert in alerts:
        assert isinstance(alert, Alert)
        key = (alert.name, alert.clause)
        if alert.state == "raised":
            assert key not in standing
            standing[key] = "raised"
        elif alert.state == "acknowledged":
            assert standing[key] == "raised"
            standing[key] = "acknowledged"
        else:
            del standing[key]
        assert all(len(line) <= 16 for line in alert.words.split("\n"))
    open_since: dict[str, float] = {}
    for at_s, event in events:
        assert isinstance(event, Event)
        if event.end_s is not None:
            assert open_since.pop(event.clause) == event.start_s <= event.end_s == at_s
        elif event.is_sure:
            assert open_since[event.clause] == event.start_s
        else:
            assert event.clause not in open_since
            open_since[event.clause] = at_s
    assert open_since == {}


def test_a_second_of_every_kind_of_reading_at_a_huge_uptime_still_ends() -> None:
    sled = Sled()
    at_s = 1e8  # three years
    sled.whole(at_s, HOUSE).put(at_s, Channel.LIGHT_HEAD, Light(1.0, 0.1))
    sled.advance(at_s + 7200.0)
    assert sled.monitor.next_due_s > at_s + 7200.0
