"""The one clock: monotonic, scaled, and moved by hand in a test."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from firmware.clock import AHEAD_S, STANDS_S, Clock, ManualClock


def test_the_clock_of_the_machine_is_the_kernels() -> None:
    before = time.monotonic()
    now_s = Clock().mono_s()
    assert before <= now_s <= time.monotonic()


def test_a_simulation_begins_at_zero() -> None:
    assert 0.0 <= Clock(from_zero=True).mono_s() < 60.0


def test_a_scaled_clock_runs_as_many_times_as_fast() -> None:
    before = time.monotonic()
    clock = Clock(1e6, from_zero=True)
    after = time.monotonic()
    ride_s, now = clock.mono_s(), time.monotonic()
    assert ride_s <= (now - before) * 1e6
    assert ride_s + (now - after) * 1e6 >= 0.0
    assert clock.real_s(2e6) == 2.0


def test_a_real_ride_is_never_scaled() -> None:
    clock = Clock(20.0)
    assert clock.real_s(3.0) == 3.0
    assert abs(clock.mono_s() - time.monotonic()) < 60.0


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_clock_that_stands_or_runs_back_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match=r"^speed = .*: must be above 0$"):
        Clock(speed)


def test_time_that_is_over_is_not_waited_for() -> None:
    assert Clock().real_s(-3.0) == 0.0
    assert Clock().wait(threading.Event(), -3.0) is False


def test_a_wait_ends_with_its_event() -> None:
    ended = threading.Event()
    ended.set()
    assert Clock().wait(ended, 3600.0) is True


def test_a_fast_clock_waits_only_as_long_as_the_world_needs() -> None:
    clock = Clock(1e6, from_zero=True)
    before = time.monotonic()
    assert clock.wait(threading.Event(), 1000.0) is False
    clock.sleep(1000.0)
    assert time.monotonic() - before < 60.0


def test_the_systems_date_has_its_time_zone() -> None:
    assert abs(Clock().system_utc() - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_manual_clock_moves_by_hand_alone() -> None:
    clock = ManualClock(5.0, datetime(2026, 1, 16, tzinfo=UTC))
    assert (clock.mono_s(), clock.system_utc()) == (5.0, datetime(2026, 1, 16, tzinfo=UTC))
    clock.advance(2.5)
    clock.sleep(1.0)
    assert clock.mono_s() == 8.5
    assert clock.system_utc() == datetime(2026, 1, 16, 0, 0, 3, 500_000, tzinfo=UTC)


def test_a_step_of_the_date_moves_no_monotonic_time() -> None:
    clock = ManualClock(5.0, datetime(2026, 1, 16, tzinfo=UTC))
    clock.step_utc(-3600.0)
    assert (clock.mono_s(), clock.system_utc()) == (5.0, datetime(2026, 1, 15, 23, tzinfo=UTC))


def test_a_manual_wait_passes_its_whole_time_unless_the_event_came() -> None:
    clock, ended = ManualClock(), threading.Event()
    assert clock.wait(ended, 4.0) is False
    assert clock.mono_s() == 4.0
    ended.set()
    assert clock.wait(ended, 4.0) is True
    assert clock.mono_s() == 4.0


# A simulation's time waits for who is late.


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The kernel's clock, moved by hand."""
    at = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: at[0])
    return at


def _waited(clock: Clock, ride_s: float) -> None:
    """A thread has waited so long, by the event that it also waits for."""
    ended = threading.Event()
    ended.set()
    clock.wait(ended, ride_s)


def test_a_simulation_s_time_stands_for_a_thread_that_does_not_come_back(now: list[float]) -> None:
    clock = Clock(10.0, from_zero=True)
    _waited(clock, 1.0)  # until second 1
    now[0] = 0.1
    assert clock.mono_s() == pytest.approx(1.0)
    now[0] = 0.5  # the machine was busy: 5 s of the ride would have passed
    assert clock.mono_s() == pytest.approx(1.0 + AHEAD_S)
    _waited(clock, 1.0)  # it is back, and waits until 2.3
    now[0] = 0.55
    assert clock.mono_s() == pytest.approx(1.8)  # what was lost is not caught up


def test_it_does_not_stand_for_ever(now: list[float]) -> None:
    clock = Clock(10.0, from_zero=True)
    _waited(clock, 1.0)
    now[0] = 5.0
    assert clock.mono_s() == pytest.approx(1.0 + AHEAD_S)
    now[0] = 5.0 + STANDS_S + 0.01  # the thread has ended, or does something else now
    assert clock.mono_s() == pytest.approx(1.0 + AHEAD_S)
    now[0] += 0.2
    assert clock.mono_s() == pytest.approx(1.0 + AHEAD_S + 2.0)


def test_time_never_goes_back_where_it_stood(now: list[float]) -> None:
    clock = Clock(20.0, from_zero=True)
    seen = []
    for number in range(2000):
        now[0] += 0.001 * (number * 7919 % 13)
        if number % 50 == 0:
            _waited(clock, 0.25)
        seen.append(clock.mono_s())
    assert seen == sorted(seen)


def test_a_real_ride_waits_for_nobody(now: list[float]) -> None:
    clock = Clock()
    _waited(clock, 1.0)
    now[0] = 500.0
    assert clock.mono_s() == 500.0
