"""Pulls of the tether in use: speed, run-on distance, and how each ends."""

from __future__ import annotations

import pytest
from judging import NO_FIX, fix_of, seen

from firmware.alerts.pulls import Pulls
from firmware.findings import Pull
from firmware.readings import Engine, Missing, Tether, TetherState, Why
from firmware.units import mps

IN, OUT = Tether(TetherState.IN), Tether(TetherState.OUT)


def told(*moments: tuple[float, dict[str, object]]) -> list[Pull]:
    """The pulls that are told at these moments."""
    pulls = Pulls()
    return [pull for at_s, changes in moments for pull in pulls.follow(seen(at_s=at_s, **changes))]


def moment(at_s: float, tether: object, mph: float | None, running: bool | None = True):  # type: ignore[no-untyped-def]  # a tuple for `told`
    return at_s, {
        "tether": tether,
        "fix": NO_FIX if mph is None else fix_of(mph),
        "engine": Missing(Why.NOT_FITTED) if running is None else Engine(running),
    }


def test_a_pull_at_speed_is_told_with_how_far_the_sled_ran_on() -> None:
    started, ended = told(
        moment(100.0, IN, 30.0),
        moment(100.5, OUT, 30.0),
        moment(101.5, OUT, 20.0, running=False),
        moment(102.5, OUT, 10.0, running=False),
        moment(103.5, OUT, 0.0, running=False),
    )
    assert started == Pull(100.5, True, mps(30.0))
    assert (ended.start_s, ended.end_s, ended.run_on_s, ended.ended) == (
        100.5,
        103.5,
        3.0,
        "stopped",
    )
    assert ended.run_on_m == pytest.approx(mps(30.0 + 20.0 + 10.0), abs=0.01)


def test_a_cap_that_is_off_while_the_sled_stands_with_its_engine_off_is_no_pull() -> None:
    assert told(moment(100.0, OUT, 0.0, running=False), moment(101.0, IN, 0.0, running=False)) == []


def test_starting_the_engine_without_the_cap_is_one() -> None:
    (started,) = told(moment(100.0, OUT, 0.0, running=False), moment(101.0, OUT, 0.0))
    assert started == Pull(101.0, True, 0.0)


def test_moving_off_without_the_cap_is_one_where_no_engine_is_sensed() -> None:
    (started,) = told(moment(100.0, OUT, 0.0, running=None), moment(101.0, OUT, 5.0, running=None))
    assert started == Pull(101.0, None, mps(5.0))


def test_an_engine_that_runs_on_is_not_stopped_by_standing() -> None:
    pulls = told(moment(100.0, OUT, 10.0), moment(101.0, OUT, 0.0), moment(160.0, OUT, 0.0))
    assert len(pulls) == 1


def test_a_cap_that_is_put_back_ends_it() -> None:
    _, ended = told(moment(100.0, OUT, 10.0), moment(102.0, IN, 10.0))
    assert (ended.ended, ended.run_on_s) == ("attached", 2.0)
    assert ended.run_on_m == pytest.approx(mps(10.0) * 2, abs=0.01)


@pytest.mark.parametrize(
    "lost", [Missing(Why.STALE), Tether(TetherState.OPEN), Tether(TetherState.SHORT)]
)
def test_a_tether_that_is_no_longer_seen_ends_it_unknown(lost: object) -> None:
    _, ended = told(moment(100.0, OUT, 10.0), moment(102.0, lost, 10.0))
    assert ended.ended == "unknown"
    assert told(moment(100.0, lost, 10.0)) == []


def test_without_a_fix_on_the_way_the_distance_is_not_known() -> None:
    _, ended = told(
        moment(100.0, OUT, 10.0), moment(101.0, OUT, None), moment(102.0, OUT, 10.0),
        moment(103.0, OUT, 0.0, running=False),
    )  # fmt: skip
    assert (ended.run_on_m, ended.run_on_s) == (None, 3.0)
    started, ended = told(moment(100.0, OUT, None), moment(101.0, OUT, None, running=False))
    assert started.speed_mps is None
    assert (ended.run_on_m, ended.ended) == (None, "stopped")


def test_power_off_ends_it_unknown_and_nothing_where_none_is_open() -> None:
    pulls = Pulls()
    assert pulls.end(100.0) == []
    pulls.follow(seen(at_s=100.0, tether=OUT))
    (ended,) = pulls.end(104.0)
    assert (ended.ended, ended.end_s) == ("unknown", 104.0)
    assert pulls.end(105.0) == []
