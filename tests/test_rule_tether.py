"""350.09(9): a race demands the tether while the engine runs, and nothing else does."""

from __future__ import annotations

import msgspec
import pytest
from judging import NO_FIX, clause_of, configured, fix_of, seen

from firmware.findings import Finding, Verdict
from firmware.readings import Engine, Missing, Tether, TetherState, Why
from firmware.rules.base import Snapshot
from firmware.rules.tether import TetherAttached

RACE_TETHER = clause_of("350.09(9)")
RULE = TetherAttached(configured())
RACE = frozenset({"race"})
RUNNING, STOPPED = Engine(True), Engine(False)


def judge(now: Snapshot) -> Finding:
    memory, finding = RULE.judge(RULE.begin(), now, RACE_TETHER)
    assert memory == RULE.begin()
    assert (finding.clause, finding.topic) == ("350.09(9)", "tether")
    assert (finding.value, finding.limit) == (None, None)
    return finding


def race(state: TetherState | Missing, **changes: object) -> Finding:
    tether = state if isinstance(state, Missing) else Tether(state)
    return judge(seen(tether=tether, modes=RACE, **changes))


@pytest.mark.parametrize("state", list(TetherState))
@pytest.mark.parametrize("modes", [frozenset(), frozenset({"maker_test", "family_land"})])
def test_without_a_race_nothing_is_asked(state: TetherState, modes: frozenset[str]) -> None:
    finding = judge(seen(tether=Tether(state), modes=modes))
    assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "no sanctioned race")


def test_without_a_race_no_tether_need_be_fitted() -> None:
    finding = judge(seen(tether=Missing(Why.NOT_FITTED)))
    assert (finding.verdict, finding.is_fitted) == (Verdict.COMPLIANT, True)


@pytest.mark.parametrize("engine", [RUNNING, STOPPED, Missing(Why.NO_ANSWER)])
def test_attached_keeps_it_whatever_the_engine_does(engine: Engine | Missing) -> None:
    finding = race(TetherState.IN, engine=engine)
    assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "tether attached")


def test_out_with_the_engine_running_is_a_violation_even_at_rest() -> None:
    finding = race(TetherState.OUT, engine=RUNNING, fix=fix_of(0.0))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.why == "tether is out with the engine running"


def test_out_with_the_engine_running_needs_no_fix() -> None:
    assert race(TetherState.OUT, engine=RUNNING, fix=NO_FIX).verdict is Verdict.VIOLATION


def test_out_with_the_engine_stopped_is_what_the_tether_is_for() -> None:
    finding = race(TetherState.OUT, engine=STOPPED, fix=fix_of(20.0))
    assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "tether is out, engine stopped")


@pytest.mark.parametrize("why", [Why.NOT_FITTED, Why.NO_ANSWER, Why.STALE, Why.STARTING])
def test_an_unknown_engine_counts_as_running_only_while_the_sled_moves(why: Why) -> None:
    moving = race(TetherState.OUT, engine=Missing(why), fix=fix_of(1.0))
    assert (moving.verdict, moving.why) == (Verdict.VIOLATION, "tether is out while moving")
    for fix in (fix_of(0.99), fix_of(0.0), NO_FIX):
        still = race(TetherState.OUT, engine=Missing(why), fix=fix)
        assert (still.verdict, still.why) == (Verdict.UNSURE, "tether is out, engine unknown")


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (TetherState.OPEN, "the tether switch's wire is broken"),
        (TetherState.SHORT, "the tether switch's wire is shorted"),
    ],
)
@pytest.mark.parametrize("engine", [RUNNING, STOPPED, Missing(Why.STALE)])
def test_a_faulty_wire_is_a_tether_that_is_not_watched(
    state: TetherState, why: str, engine: Engine | Missing
) -> None:
    finding = race(state, engine=engine)
    assert (finding.verdict, finding.why, finding.is_fitted) == (Verdict.UNKNOWN, why, True)


def test_a_tether_that_is_not_seen_is_unknown_not_attached() -> None:
    finding = race(Missing(Why.STALE, "last heard at 3.0 s"))
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.why == "tether not seen (stale: last heard at 3.0 s)"
    assert finding.is_fitted


def test_a_tether_that_was_never_fitted_is_told_apart_from_one_that_fails() -> None:
    finding = race(Missing(Why.NOT_FITTED))
    assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, False)
    assert finding.why == "tether not seen (not fitted)"


def test_a_law_that_names_no_mode_demands_the_tether_always() -> None:
    always = msgspec.structs.replace(RACE_TETHER, demanded_by=())
    _, finding = RULE.judge(RULE.begin(), seen(tether=Tether(TetherState.OUT)), always)
    assert finding.verdict is Verdict.VIOLATION
