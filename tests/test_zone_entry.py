"""350.10(1)(f), (fm), (h), (j) to (m): land that is not entered, and what lets a sled in."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from judging import (
    HOME,
    NO_FIX,
    clause_of,
    configured,
    east_of,
    fix_of,
    local_of,
    map_of,
    point,
    seen,
    square,
)

from firmware.findings import Finding, Verdict
from firmware.law.packs import Clause
from firmware.law.places import Entry, Season
from firmware.readings import Engine, Feature, Missing, Why
from firmware.rules.base import Snapshot
from firmware.rules.zone_entry import Visit, ZoneEntry

LAND = square("private", HOME, 300.0, "parcel-7")
CLAUSE = msgspec.structs.replace(
    clause_of("350.10(1)(f)"),
    kind="zone_entry",
    entry=Entry(("private",), crossing=("trail",), consent=True),
)
RULE = ZoneEntry(configured())
COVER_FAR = replace(
    square("coverage", east_of(4000.0), 900.0), attributes={"of": "dwelling private"}
)
TRAIL = Feature(
    "trail", "13", "", "line", (tuple((lon, lat) for lat, lon in (east_of(-400), east_of(400))),)
)


def judge(
    now: Snapshot, clause: Clause = CLAUSE, memory: Visit | None = None, rule: ZoneEntry = RULE
) -> tuple[Visit, Finding]:
    return rule.judge(rule.begin() if memory is None else memory, now, clause)


def at(
    feet: float,
    *features: Feature,
    clause: Clause = CLAUSE,
    north_ft: float = 0.0,
    rule: ZoneEntry = RULE,
    **changes: object,
) -> Finding:
    """The finding at so many feet east of the middle of the land, whose edge is at 300 ft."""
    fix = fix_of(20.0, east_of(feet, north_ft))
    return judge(
        seen(fix=fix, nearby=map_of(*(features or (LAND,))))
        if not changes
        else seen(fix=fix, nearby=map_of(*(features or (LAND,))), **changes),
        clause,
        None,
        rule,
    )[1]


@pytest.mark.parametrize(
    ("feet", "verdict"),
    [
        (289.9, Verdict.VIOLATION),  # inside by more than the error of 10 ft
        (290.1, Verdict.UNSURE),
        (300.0, Verdict.UNSURE),
        (309.9, Verdict.UNSURE),
        (310.1, Verdict.COMPLIANT),
    ],
)
def test_the_edge_counts_for_sure_only_past_the_error(feet: float, verdict: Verdict) -> None:
    finding = at(feet)
    assert finding.verdict is verdict
    if verdict is not Verdict.COMPLIANT:
        assert finding.value == pytest.approx(300.0 - feet, abs=0.3)
        assert (finding.limit, finding.unit, finding.topic) == (0.0, "ft", "entry")
        assert finding.error == pytest.approx(10.0)


def test_the_finding_says_whose_land_and_how_far_inside() -> None:
    assert at(200.0).why == "private parcel-7: 100 ft inside"
    assert at(305.0).why == "private parcel-7: 5 ft outside, give or take 10 ft"


def test_a_hole_in_the_land_is_no_part_of_it() -> None:
    yard = square("private", HOME, 100.0).parts
    ring = replace(LAND, parts=(*LAND.parts, *yard))
    assert at(0.0, ring).verdict is Verdict.COMPLIANT
    assert at(200.0, ring).verdict is Verdict.VIOLATION


def test_land_of_another_kind_asks_for_nothing() -> None:
    finding = at(0.0, square("school", HOME, 300.0))
    assert (finding.verdict, finding.why) == (Verdict.COMPLIANT, "in no private")


def test_a_trail_through_the_land_may_be_ridden_and_beside_it_not() -> None:
    # the trail is 15 ft wide to each side, and the error of 10 ft is the rider's
    assert at(0.0, LAND, TRAIL, north_ft=24.0).why == "private crossed on a trail"
    assert at(0.0, LAND, TRAIL, north_ft=24.0).verdict is Verdict.COMPLIANT
    assert at(0.0, LAND, TRAIL, north_ft=26.0).verdict is Verdict.VIOLATION


@pytest.mark.parametrize("word", ["parcel-7", "private:parcel-7"])
def test_consent_lifts_a_zone_by_its_id(word: str) -> None:
    rule = ZoneEntry(configured(f'[zones]\nconsents = ["{word}"]'))
    finding = at(0.0, rule=rule)
    assert (finding.verdict, finding.why) == (Verdict.EXEMPT, "private: consent for parcel-7")
    assert at(0.0, square("private", HOME, 300.0, "parcel-8"), rule=rule).verdict.is_over
    school = msgspec.structs.replace(CLAUSE, entry=Entry(("private",)))
    assert at(0.0, clause=school, rule=rule).verdict is Verdict.VIOLATION  # consent lifts nothing


def test_consent_for_one_of_two_neighbours_says_nothing_of_the_other() -> None:
    rule = ZoneEntry(configured('[zones]\nconsents = ["parcel-7"]'))
    other = square("private", east_of(600.0), 300.0, "parcel-8")
    assert at(280.0, LAND, other, rule=rule).verdict is Verdict.EXEMPT
    near = at(295.0, LAND, other, rule=rule)
    assert (near.verdict, near.why) == (
        Verdict.UNSURE,
        "private parcel-8: 5 ft outside, give or take 10 ft",
    )
    assert at(320.0, LAND, other, rule=rule).verdict is Verdict.VIOLATION


def test_a_mode_lifts_what_its_law_says() -> None:
    clause = msgspec.structs.replace(CLAUSE, lifted_by=("family_land",))
    modes = frozenset({"family_land"})
    assert at(0.0, clause=clause, modes=modes).verdict is Verdict.EXEMPT
    assert at(0.0, modes=modes).verdict is Verdict.VIOLATION


def test_what_is_only_possibly_such_a_zone_warns_and_accuses_nobody() -> None:
    maybe = replace(LAND, attributes={"confidence": "possible"})
    finding = at(0.0, maybe)
    assert (finding.verdict, finding.why) == (
        Verdict.UNSURE,
        "possible private parcel-7: 300 ft inside",
    )


# Seasons.


@pytest.mark.parametrize(
    ("attributes", "verdict"),
    [
        ({"closed_from": "12-01", "closed_to": "03-31"}, Verdict.VIOLATION),
        ({"closed_from": "04-01", "closed_to": "11-30"}, Verdict.COMPLIANT),
        ({"closed_from": "2026-01-15", "closed_to": "2026-01-15"}, Verdict.VIOLATION),
        ({"closed_from": "2026-01-16"}, Verdict.COMPLIANT),
        ({"closed_to": "2026-01-14"}, Verdict.COMPLIANT),
        ({"closed_to": "2026-01-15"}, Verdict.VIOLATION),
        ({"closed_from": "in spring"}, Verdict.UNSURE),  # no day: it warns and accuses nobody
    ],
)
def test_a_zone_is_closed_on_the_days_that_it_says(
    attributes: dict[str, str], verdict: Verdict
) -> None:
    # 23:00 of 15 January 2026 by civil time, the 16th by UTC
    assert at(0.0, replace(LAND, attributes=attributes)).verdict is verdict


def test_without_a_date_a_season_may_hold_and_accuses_nobody() -> None:
    closed = replace(LAND, attributes={"closed_from": "04-01", "closed_to": "11-30"})
    assert at(0.0, closed, local=None).verdict is Verdict.UNSURE
    assert at(0.0, LAND, local=None).verdict is Verdict.VIOLATION


def test_a_law_with_a_season_holds_on_its_days_alone() -> None:
    summer = msgspec.structs.replace(CLAUSE, season=Season("04-01", "11-30"))
    assert at(0.0, clause=summer).why == "outside its season"
    july = local_of("2026-07-16T05:00:00")
    assert at(0.0, clause=summer, local=july).verdict is Verdict.VIOLATION
    assert at(0.0, clause=summer, local=None).verdict is Verdict.UNSURE


# Lines, points, and what is crossed between two fixes.


def test_a_closed_trail_is_a_line_with_a_width_that_accuses_whoever_stays_on_it() -> None:
    line = replace(TRAIL, kind="closed")
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("closed",), line_ft=15.0))
    chart = map_of(line)
    first = seen(at_s=100.0, fix=fix_of(20.0, HOME), nearby=chart)
    memory, finding = judge(first, clause)
    assert finding.verdict is Verdict.UNSURE  # it may be crossed
    then = seen(at_s=100.5, fix=fix_of(20.0, east_of(15.0, 4.0)), nearby=chart)
    memory, finding = judge(then, clause, memory)
    assert finding.verdict is Verdict.VIOLATION
    assert at(0.0, line, clause=clause, north_ft=24.0).verdict is Verdict.UNSURE
    assert at(0.0, line, clause=clause, north_ft=26.0).verdict is Verdict.COMPLIANT


def test_a_point_says_nothing_of_its_ground_and_accuses_nobody() -> None:
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("cemetery",)))
    assert at(0.0, point("cemetery", HOME), clause=clause).verdict is Verdict.UNSURE


@pytest.mark.parametrize(("half_ft", "verdict"), [(15.0, Verdict.VIOLATION), (9.0, Verdict.UNSURE)])
def test_land_that_is_crossed_between_two_fixes_is_caught(half_ft: float, verdict: Verdict) -> None:
    """60 mph at 1 Hz: 88 ft between two fixes, the strip in the middle of them."""
    strip = square("private", HOME, half_ft, "strip")
    chart = map_of(strip)
    memory, first = judge(seen(at_s=100.0, fix=fix_of(60.0, east_of(-44.0)), nearby=chart))
    assert first.verdict is Verdict.COMPLIANT
    _, second = judge(
        seen(at_s=101.0, fix=fix_of(60.0, east_of(44.0)), nearby=chart), memory=memory
    )
    assert second.verdict is verdict
    memory = msgspec.structs.replace(
        memory, at_s=94.9
    )  # fixes 6 s apart are two points, and no way
    _, second = judge(
        seen(at_s=101.0, fix=fix_of(60.0, east_of(44.0)), nearby=chart), memory=memory
    )
    assert second.verdict is Verdict.COMPLIANT


# One visit.


def ride(*places: tuple[float, float]) -> list[Verdict]:
    """The verdicts along (feet from the middle, mph), a second apart."""
    memory, verdicts = RULE.begin(), []
    for number, (feet, speed_mph) in enumerate(places):
        now = seen(at_s=100.0 + number, fix=fix_of(speed_mph, east_of(feet)), nearby=map_of(LAND))
        memory, finding = judge(now, memory=memory)
        verdicts.append(finding.verdict)
    return verdicts


def test_a_visit_ends_a_second_error_out() -> None:
    assert ride((305.0, 10.0), (315.0, 10.0), (319.9, 10.0), (320.1, 10.0), (315.0, 10.0)) == [
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.COMPLIANT,
        Verdict.COMPLIANT,
    ]


def test_a_sled_that_stands_crosses_no_edge() -> None:
    assert ride((305.0, 0.0), (325.0, 0.0), (340.0, 0.0), (340.0, 5.0)) == [
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.UNSURE,
        Verdict.COMPLIANT,
    ]


# After a stop.


def test_a_stop_at_the_edge_opens_a_ski_area_for_one_visit() -> None:
    clause = msgspec.structs.replace(CLAUSE, entry=Entry(("ski_slide_skate",), after_stop=True))
    chart = map_of(square("ski_slide_skate", HOME, 300.0, "hill"))

    def go(*places: tuple[float, float]) -> list[str]:
        memory, said = RULE.begin(), []
        for number, (feet, speed_mph) in enumerate(places):
            fix = fix_of(speed_mph, east_of(feet))
            memory, finding = judge(
                seen(at_s=100.0 + number, fix=fix, nearby=chart), clause, memory
            )
            said.append(finding.why if finding.verdict is Verdict.COMPLIANT else finding.verdict)
        return said

    stood = [(340.0, 5.0), (330.0, 0.0), (330.0, 0.0), (310.0, 8.0), (250.0, 10.0), (0.0, 20.0)]
    assert go(*stood)[-2:] == ["ski_slide_skate entered after a stop"] * 2
    assert go((330.0, 0.0), (250.0, 10.0))[-1] == Verdict.VIOLATION  # a fix is no second
    assert go((400.0, 0.0), (400.0, 0.0), (340.0, 9.0), (250.0, 9.0))[-1] == Verdict.VIOLATION
    inside = [(200.0, 9.0), (200.0, 0.0), (200.0, 0.0)]
    assert go(*inside)[-1] == Verdict.VIOLATION  # too late
    again = [*stood, (400.0, 20.0), (250.0, 10.0)]
    assert go(*again)[-1] == Verdict.VIOLATION  # the next visit needs its own


# What can't be told.


def test_a_parked_sled_with_its_engine_off_is_not_operated() -> None:
    now = seen(fix=fix_of(0.0), nearby=map_of(LAND), engine=Engine(False))
    assert judge(now)[1].why == "parked with the engine off"
    for engine in (Engine(True), Missing(Why.NOT_FITTED)):
        assert judge(msgspec.structs.replace(now, engine=engine))[1].verdict is Verdict.VIOLATION
    assert judge(msgspec.structs.replace(now, fix=fix_of(5.0)))[1].verdict is Verdict.VIOLATION


def test_what_can_t_be_watched_is_unknown_not_compliant() -> None:
    for changes, why in (
        ({"fix": NO_FIX}, "place not known (no fix)"),
        ({"nearby": Missing(Why.NO_ANSWER)}, "nothing known of what is near (no answer)"),
        ({"nearby": map_of(COVER_FAR, is_covered=False)}, "no zone data here"),
        ({"nearby": map_of(radius_m=100.0)}, "what is near here is still being looked up"),
    ):
        finding = judge(seen(**changes))[1]
        assert (finding.verdict, finding.why, finding.topic) == (Verdict.UNKNOWN, why, "zone")
        assert finding.is_fitted
    # No pack ever spoke of private land: shown, and no alert.
    for chart in (
        map_of(is_covered=False),
        map_of(square("coverage", HOME, 900.0), is_covered=False),
    ):
        finding = judge(seen(nearby=chart))[1]
        assert (finding.why, finding.is_fitted) == ("no zone data here", False)
    for fix in (NO_FIX, fix_of(30.0)):
        finding = judge(seen(fix=fix, nearby=Missing(Why.NOT_FITTED)))[1]
        assert (finding.verdict, finding.is_fitted) == (Verdict.UNKNOWN, False)


def test_land_that_is_known_is_judged_even_outside_the_coverage() -> None:
    now = seen(fix=fix_of(20.0), nearby=map_of(LAND, is_covered=False))
    assert judge(now)[1].verdict is Verdict.VIOLATION
