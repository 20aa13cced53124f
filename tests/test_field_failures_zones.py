"""How zones of other such products failed in the field, driven through a receiver's line and ours.

The cases tell no more than a distance or which side of an edge; the zone is that of a dwelling.
"""

from __future__ import annotations

import pytest
from field_failures import Case, all_cases
from field_line import Line, Sled, signed

DWELLINGS = "350.10(1)(g)"
CASES = {one.id: one for one in all_cases()}
METRE_MIN = 1.0 / (1852.0 * 0.70711)
"""A metre east at 45 N, in minutes of longitude."""

TEN_PM = 10 * 3600 + 11 * 60
"""10:11:00 UTC on 15 January 2024: 04:11 in Wisconsin, within the hours of 350.10(1)(g)."""


def epoch(second: int, metres_off: float, knots: float = 20.0, error_m: float = 1.9) -> bytes:
    """A second's sentences: so far west of a dwelling at 45 N 87 W, on a course north."""
    at_s = TEN_PM + second
    clock = f"{at_s // 3600:02d}{at_s // 60 % 60:02d}{at_s % 60:02d}.00"
    place = f"4500.00000,N,087{metres_off * METRE_MIN:08.5f},W"
    errors = f"{error_m},{error_m},0.0,{error_m},{error_m},3.0"
    return (
        signed(f"GPRMC,{clock},A,{place},{knots},0.0,150124,,,A")
        + signed(f"GPGGA,{clock},{place},1,08,1.0,200.0,M,,M,,")
        + signed(f"GPGST,{clock},1.0,{errors}")
    )


def is_in(sled: Sled) -> bool:
    return sled.verdict(DWELLINGS).is_over


def test_one_over_confident_fix_is_no_exit_and_no_new_entry() -> None:
    case: Case = CASES["B104"]
    told = dict(zip(case.given["t_s"], case.given["distance_m"], strict=True))
    assert case.given["radius_m"] == 50  # that of a dwelling is 150 ft, 45.7 m
    sled = Sled()
    for second in range(case.given["t_s"][-1] + 1):  # between the told ones it stays where it was
        sled.say(epoch(second, told.get(second, 10.0)))
        assert is_in(sled), second
    assert case.expected == "No exit and new entry; no warning repeated."
    assert sled.raised("zone-speed") == ["raised"]
    assert [one for one in sled.events if one.end_s is not None] == []


def test_an_older_fix_that_comes_after_a_newer_one_changes_nothing() -> None:
    case = CASES["B105"]
    later, earlier = (int(clock[-2:]) for clock in case.given["rmc_times"])
    assert (later, earlier, case.given["inside"]) == (14, 12, [False, True])
    sled = Sled()
    sled.say(epoch(later - 1, 300.0))
    sled.say(epoch(later, 300.0))
    assert not is_in(sled)
    sled.say(epoch(earlier, 10.0), 0.005)
    assert not is_in(sled)
    sled.say(epoch(later + 1, 300.0))
    assert not is_in(sled)
    assert sled.raised("zone-speed") == []


def test_a_zone_is_told_at_its_edges_and_not_at_each_fix_inside() -> None:
    case = CASES["B107"]
    sled = Sled()
    second = 0
    for inside in case.given["inside"]:
        # From one side to the other it takes a sled some seconds.
        for step in range(20):
            off_m = 30.0 if inside else 300.0
            sled.say(epoch(second, off_m, knots=20.0))
            second += 1
            assert step < 5 or is_in(sled) is inside
    assert case.expected == "One entry and one exit."
    assert sled.raised("zone-speed") == ["raised", "cleared"]
    assert len([one for one in sled.events if one.end_s is not None]) == 1


def test_a_report_without_a_speed_has_none_and_stops_nothing() -> None:
    case = CASES["B035"]
    assert "speed" not in case.given["tpv"]
    line = Line(trust_dates=True)
    (good,) = line.say(signed("GPRMC,101111.00,A,4500.0000,N,08700.0000,W,30.0,90.0,150124,,,A"))
    bare = "GPRMC,101112.00,A,4500.0000,N,08700.0000,W,,,150124,,,A"
    after = line.say(signed(bare)) + line.say(signed(bare.replace("101112", "101113")))
    assert all(fix.derived for fix in after)  # from the places, and never the receiver's own
    (last,) = line.say(signed("GPRMC,101114.00,A,4500.0000,N,08700.0000,W,30.0,90.0,150124,,,A"))
    assert last.speed_mps == pytest.approx(good.speed_mps)
