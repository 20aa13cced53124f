"""An old zone pack is told once, on the glass, while the sled stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import shapely
from judging import HOME, WI, configured, fix_of, square
from packing import pack_of, row

from firmware.monitor import Monitor, build
from firmware.readings import Channel, Engine, Missing, Reading, Surroundings, Why
from firmware.rider.pack_age import SHOWN_S, PackAge
from firmware.view import state_of
from host_tools.checking import pack_rows

TODAY = date(2026, 11, 30)


def near(*dated: str) -> Surroundings:
    return Surroundings(*HOME, 2000.0, (), tuple(f"{n}.gpkg" for n in range(len(dated))), dated)


@pytest.mark.parametrize(
    ("dated", "words"),
    [
        (("2026-11-01",), ""),
        (("2025-11-30",), ""),  # 365 days: a year, and not over it
        (("2025-11-29",), "ZONE MAP IS OLD:\n366 DAYS"),
        (("2026", "2019-05"), "ZONE MAP IS OLD:\n2770 DAYS"),  # the oldest, from 1 May 2019
        (("", ""), ""),
        ((), ""),
    ],
)
def test_a_pack_over_a_year_old_says_its_age(dated: tuple[str, ...], words: str) -> None:
    age = PackAge()
    age.follow(5.0, near(*dated), TODAY, False)
    assert age.words == words
    assert all(len(line) <= 16 for line in words.split("\n"))
    age.follow(5.0 + SHOWN_S, near(*dated), TODAY, False)
    assert age.words == ""
    assert age.is_idle


def test_it_waits_for_the_map_and_for_the_date() -> None:
    age = PackAge()
    age.follow(1.0, Missing(Why.STARTING), TODAY, False)
    age.follow(2.0, near("2019"), None, False)
    assert not age.is_idle
    age.follow(3.0, near("2019"), TODAY, False)
    assert age.words
    assert age.due_s() == 3.0 + SHOWN_S


def test_who_rides_is_not_told_and_who_rides_off_sees_it_no_longer() -> None:
    riding, leaving = PackAge(), PackAge()
    riding.follow(1.0, near("2019"), TODAY, True)
    assert riding.is_idle
    leaving.follow(1.0, near("2019"), TODAY, False)
    leaving.follow(2.0, near("2019"), TODAY, True)
    assert leaving.words == ""
    assert leaving.is_idle


def begun(dated: str) -> Monitor:
    monitor = build(configured(), [WI], frozenset(Channel))
    monitor.notices.clauses = ()
    cover = square("coverage", HOME, 9000.0)
    things = Surroundings(*HOME, 2000.0, (cover,), ("wi.gpkg",), (dated,))
    fix = replace(fix_of(0.0), utc=datetime(2026, 1, 16, 18, tzinfo=UTC))
    for at_s in (1.0, 2.0, 3.0):
        for channel, value in (
            (Channel.ENGINE, Engine(False)),
            (Channel.SURROUNDINGS, things),
            (Channel.FIX, fix),
        ):
            monitor.step(Reading(channel, value, at_s, "test"), at_s)
    return monitor


def test_the_glass_shows_it_for_ten_seconds_and_the_part_names_its_date() -> None:
    state = state_of(begun("2019-05"), 3.0)
    assert state.prompt == "ZONE MAP IS OLD:\n2452 DAYS"  # 1 May 2019 to 16 January 2026
    (part,) = [one for one in state.parts if one.channel == "surroundings"]
    assert part.value == "1 packs, the oldest of 2019-05, 1 features near"
    monitor = begun("2019-05")
    monitor.advance(13.5)
    assert state_of(monitor, 13.5).prompt == ""
    assert state_of(begun("2025-12"), 3.0).prompt == ""


@pytest.mark.parametrize(
    ("dated", "value", "ok"),
    [
        ("2026-10", "60 days old, by its date 2026-10", True),  # from the first of the month
        ("2025", "698 days old, by its date 2025", False),
        ("", "can be read; its date is not known", True),
    ],
)
def test_check_tells_an_age_however_much_of_the_date_is_known(
    tmp_path: Path, dated: str, value: str, ok: bool
) -> None:
    told = {"dated": dated} if dated else {}
    path = pack_of(tmp_path / "wi.gpkg", row("stop", "1", shapely.Point(0, 0), **told))
    config = configured(f'[zones]\npacks = ["{path}"]\n')
    (found,) = pack_rows(config, TODAY)
    assert (found.part, found.ok, found.value) == ("zones: wi.gpkg", ok, value)
