"""The zone packs as a source: posted when the sled has moved, and missing with a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from firmware.clock import ManualClock
from firmware.readings import Channel, Missing, Reading, Surroundings, Why
from firmware.sources.surroundings import SurroundingsSource

LAKE = Path(__file__).parents[1] / "host_tools" / "demo" / "lake.gpkg"
ON_ICE = (44.05, -88.415)
A_KM = 1.0 / 111.2  # degrees of latitude


class Posted:
    """What the source posted, in order."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Reading] = SimpleQueue()
        self.threads: list[str] = []

    def __call__(self, reading: Reading) -> None:
        self.threads.append(threading.current_thread().name)
        self._queue.put(reading)

    def next(self) -> Reading:
        return self._queue.get(timeout=60.0)

    def is_empty(self) -> bool:
        return self._queue.empty()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(100.0)


Started = Callable[..., tuple[SurroundingsSource, Posted]]


@pytest.fixture
def started(clock: ManualClock) -> Iterator[Started]:
    sources = []

    def start(*packs: Path) -> tuple[SurroundingsSource, Posted]:
        source, posted = SurroundingsSource(packs, clock), Posted()
        sources.append(source)
        source.start(posted)
        return source, posted

    yield start
    for source in sources:
        source.stop()


def test_the_first_place_is_answered_from_a_thread_of_its_own(started: Started) -> None:
    source, posted = started(LAKE)
    source.look(*ON_ICE)
    reading = posted.next()
    assert isinstance(reading.value, Surroundings)
    assert reading == Reading(Channel.SURROUNDINGS, reading.value, 100.0, "zones:lake.gpkg")
    assert (reading.value.lat_deg, reading.value.lon_deg, reading.value.radius_m) == (
        *ON_ICE,
        2000.0,
    )
    assert reading.value.packs == ("lake.gpkg",)
    assert sorted(one.id for one in reading.value.features) == [
        "demo-coverage",
        "demo-lake",
        "demo-oval",
        "shanty-1",
        "shanty-2",
    ]
    assert posted.threads == ["zones"]


def test_it_is_asked_again_only_after_a_kilometre(started: Started) -> None:
    source, posted = started(LAKE)
    source.look(*ON_ICE)
    assert isinstance(posted.next().value, Surroundings)
    for part in range(10):
        source.look(ON_ICE[0] + 0.099 * part * A_KM, ON_ICE[1])
    source.look(ON_ICE[0] + 1.01 * A_KM, ON_ICE[1])
    second = posted.next().value
    assert isinstance(second, Surroundings)
    assert second.lat_deg == round(ON_ICE[0] + 1.01 * A_KM, 7)
    assert posted.is_empty()


def test_fixes_that_come_while_it_reads_are_not_answered_again() -> None:
    class BusyClock(ManualClock):
        """A clock at whose every look, so also at that of the thread, a fix comes in."""

        def mono_s(self) -> float:
            source.look(*ON_ICE)
            return super().mono_s()

    source, posted = SurroundingsSource([LAKE], BusyClock()), Posted()
    source.start(posted)
    source.look(*ON_ICE)
    posted.next()
    source.look(ON_ICE[0] + 1.01 * A_KM, ON_ICE[1])
    second = posted.next().value
    assert isinstance(second, Surroundings)
    assert second.lat_deg > ON_ICE[0]
    source.stop()


def test_a_look_waits_for_nothing_while_a_card_stalls(clock: ManualClock) -> None:
    source = SurroundingsSource([LAKE], clock)
    gate, entered = threading.Event(), threading.Event()
    posted = Posted()

    def stall(reading: Reading) -> None:
        entered.set()
        assert gate.wait(60.0)
        posted(reading)

    source.start(stall)
    source.look(*ON_ICE)
    assert entered.wait(60.0)
    for number in range(1000):
        source.look(ON_ICE[0] + number * A_KM * 0.002, ON_ICE[1])
    gate.set()
    posted.next()
    last = posted.next().value  # of all places looked at meanwhile, one is answered: the last
    assert isinstance(last, Surroundings)
    assert last.lat_deg == round(ON_ICE[0] + 999 * A_KM * 0.002, 7)
    source.stop()
    assert posted.is_empty()


def test_without_packs_it_is_not_fitted(started: Started) -> None:
    source, posted = started()
    source.look(*ON_ICE)
    assert posted.next() == Reading(
        Channel.SURROUNDINGS, Missing(Why.NOT_FITTED, "no zone pack"), 100.0, "zones"
    )
    assert posted.is_empty()


def test_a_pack_that_fails_is_missing_and_tried_again_after_ten_seconds(
    started: Started, clock: ManualClock, tmp_path: Path
) -> None:
    path = tmp_path / "wi.gpkg"
    path.write_bytes(b"rubbish " * 20)
    source, posted = started(LAKE, path)
    source.look(*ON_ICE)
    reading = posted.next()
    assert reading.value == Missing(
        Why.NO_ANSWER,
        f"{path}: is not a GeoPackage: expected a zone pack (.gpkg). "
        "Build it anew with `sledwarden zones build`, or copy it again.",
    )
    assert reading.source == "zones:lake.gpkg+wi.gpkg"
    path.write_bytes(LAKE.read_bytes())
    clock.advance(9.9)
    source.look(*ON_ICE)
    with pytest.raises(Empty):
        posted._queue.get(timeout=0.05)
    clock.advance(0.2)
    source.look(*ON_ICE)
    again = posted.next()
    assert isinstance(again.value, Surroundings)
    assert again.mono_s == pytest.approx(110.1)
    assert again.value.packs == ("lake.gpkg", "wi.gpkg")


def test_it_stops_at_once_and_may_be_stopped_twice(clock: ManualClock) -> None:
    never_started = SurroundingsSource([LAKE], clock)
    never_started.stop()
    source, posted = SurroundingsSource([LAKE], clock), Posted()
    source.start(posted)
    source.look(*ON_ICE)
    posted.next()
    source.stop()
    source.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "zones"]
    source.look(0.0, 0.0)
    assert posted.is_empty()
