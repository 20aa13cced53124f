"""Whose law holds: by outlines, past the position's error, and said where it is not known."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from judging import configured, east_of, fix_of, square

from firmware import monitor
from firmware.findings import Verdict
from firmware.law import packs as law
from firmware.law.packs import Law
from firmware.maps.zones import Nearby
from firmware.readings import (
    Channel,
    Feature,
    Fix,
    Missing,
    Reading,
    Request,
    Surroundings,
    Why,
)
from firmware.situation.territory import LAW, Territories
from firmware.units import mps
from firmware.view import state_of

AUTO = msgspec.structs.replace(configured("[clock]\nfloor = 2026-01-01\n").unit, law="auto")
CONFIG = msgspec.structs.replace(configured("[clock]\nfloor = 2026-01-01\n"), unit=AUTO)
NIGHT = datetime(2026, 1, 18, 1, tzinfo=UTC)
GPS = frozenset({Channel.FIX, Channel.SURROUNDINGS})


def outline(centre_ft: float, half_ft: float, code: str, name: str) -> Feature:
    shape = square("territory", east_of(centre_ft), half_ft, code)
    return dataclasses.replace(shape, name=name)


# Two squares of 400 ft side that meet at their edge, 200 ft east of the middle of the first.
WEST = outline(0.0, 200.0, "US-WI", "Wisconsin")
EAST = outline(400.0, 200.0, "US-MI", "Michigan")


def at(feet: float, error_m: float = 3.0, mph: float = 60.0) -> Fix:
    """A fix so far east of the middle of Wisconsin's square."""
    lat_deg, lon_deg = east_of(feet)
    return Fix(lat_deg, lon_deg, error_m, mps(mph), mps(0.5), 90.0, NIGHT)


def near(*features: Feature) -> Nearby:
    return Nearby(Surroundings(*east_of(0.0), 2000.0, features, ("made up",)))


def told(*places: Fix | Missing, features: tuple[Feature, ...] = (WEST, EAST)) -> list[str]:
    """What is said of the law at each place, one second after the other."""
    one = Territories({"US-WI": (), "US-MI": ()})
    words = []
    for second, place in enumerate(places):
        one.take(place, near(*features), float(second))
        finding = one.finding(float(second))
        words.append(f"{finding.verdict} {finding.why}")
    return words


IN_WISCONSIN = "compliant the law of Wisconsin holds"
IN_MICHIGAN = "approaching Michigan law: it holds from here on"


def test_before_the_first_fix_it_is_not_known_whose_law_holds() -> None:
    assert told(Missing(Why.NO_FIX)) == ["unknown no fix yet: not known whose law holds"]


def test_a_law_holds_surely_inside_its_outline() -> None:
    assert told(at(0.0)) == [IN_WISCONSIN]


def test_outside_every_outline_no_law_is_known() -> None:
    assert told(at(0.0), at(-300.0)) == [
        IN_WISCONSIN,
        "unknown outside every outline of a law",
    ]


def test_begun_at_a_border_no_law_is_known() -> None:
    assert told(at(198.0)) == ["unknown at the border of US-MI and US-WI"]


def test_begun_at_an_outer_edge_no_law_is_known_and_one_that_holds_goes_on() -> None:
    """The west edge is 200 ft west of the middle: 198 is inside by less than the 9.84 of error."""
    assert told(at(-198.0)) == ["unknown at the border of US-WI"]
    assert told(at(0.0), at(-198.0), at(-205.0), at(-209.0)) == [IN_WISCONSIN] * 4


def test_a_border_is_crossed_past_the_error_of_the_position_and_no_sooner() -> None:
    """3 m are 9.84 ft: 190.1 and 209.8 are the first places that are surely on one side."""
    assert told(at(0.0), at(195.0), at(205.0), at(209.0), at(210.0)) == [
        *[IN_WISCONSIN] * 4,
        IN_MICHIGAN,
    ]


def test_along_a_border_the_law_does_not_flap() -> None:
    places = [at(0.0), *(at(200.0 + 9.0 * (-1) ** second) for second in range(20))]
    assert set(told(*places)) == {IN_WISCONSIN}


def test_a_lost_fix_leaves_the_law_as_it_was() -> None:
    assert told(at(0.0), Missing(Why.NO_FIX)) == [IN_WISCONSIN, IN_WISCONSIN]


def test_a_change_is_told_for_ten_seconds() -> None:
    places = [at(0.0), *[at(300.0)] * 12]
    words = told(*places)
    assert words[1:11] == [IN_MICHIGAN] * 10
    assert words[11:] == ["compliant the law of Michigan holds"] * 2


def test_the_first_law_of_a_ride_is_no_change() -> None:
    assert told(at(300.0)) == ["compliant the law of Michigan holds"]


def test_coming_back_into_the_same_law_is_no_change() -> None:
    assert told(at(0.0), at(-300.0), at(0.0))[-1] == IN_WISCONSIN


def test_coming_back_into_another_law_is_one() -> None:
    assert told(at(0.0), at(-300.0), at(300.0))[-1] == IN_MICHIGAN


def test_an_outline_without_a_law_pack_says_so() -> None:
    iowa = outline(0.0, 200.0, "US-IA", "Iowa")
    assert told(at(0.0), features=(iowa,)) == ["unknown no law pack for US-IA"]


def test_two_outlines_that_overlap_are_told() -> None:
    over = outline(0.0, 150.0, "US-MI", "Michigan")
    words = told(at(0.0), features=(WEST, over))
    assert words == ["unknown the outlines of US-MI and US-WI overlap"]


def test_an_outline_may_have_the_code_as_its_name() -> None:
    named = outline(0.0, 200.0, "relation/165466", "US-WI")
    assert told(at(0.0), features=(named,)) == ["compliant the law of US-WI holds"]


def test_without_a_zone_pack_no_law_is_known() -> None:
    one = Territories({"US-WI": ()})
    one.take(at(0.0), Missing(Why.NOT_FITTED), 0.0)
    assert one.finding(0.0).verdict is Verdict.UNKNOWN
    assert one.finding(0.0).why.startswith("no outlines of laws (")


def test_an_outline_whose_time_zone_is_not_here_is_told() -> None:
    odd = dataclasses.replace(WEST, attributes={"time_zone": "America/Nowhere"})
    assert told(at(0.0), features=(odd,)) == [
        "unknown the outline of US-WI names no time zone that is here: America/Nowhere"
    ]


# In the monitor.


class Sled:
    """A unit with law = "auto", told one fix a second."""

    def __init__(self, laws: tuple[Law, ...] | None = None) -> None:
        laws = laws if laws is not None else law.load_all(law.AUTO)
        self.core = monitor.build(CONFIG, laws, GPS)
        self.at_s = 100.0
        around = Surroundings(*east_of(0.0), 2000.0, (WEST, EAST), ("made up",))
        self.outcome = self.put(Channel.SURROUNDINGS, around)

    def put(self, channel: Channel, value: object) -> monitor.Outcome:
        self.at_s += 1.0
        fresh_s = 2.5 if channel is Channel.FIX else None
        reading = Reading(channel, value, self.at_s, "test", fresh_s)  # type: ignore[arg-type]
        return self.core.step(reading, self.at_s)

    def ride(self, feet: float) -> monitor.Outcome:
        return self.put(Channel.FIX, at(feet))

    def verdict(self, citation: str) -> Verdict:
        return self.core.findings[citation].verdict


def test_a_clause_is_judged_where_its_law_holds_and_asks_nothing_elsewhere() -> None:
    sled = Sled()
    sled.ride(0.0)
    assert sled.verdict("350.10(1)(gm)") is Verdict.VIOLATION
    assert sled.verdict("Minn. R. 6100.5200") is Verdict.COMPLIANT
    sled.ride(300.0)
    found = sled.core.findings["350.10(1)(gm)"]
    assert (found.verdict, found.why) == (Verdict.COMPLIANT, "the law of Michigan holds here")
    assert found.limit is None


def test_outside_every_outline_each_clause_is_unknown_and_one_alert_says_so() -> None:
    sled = Sled()
    sled.ride(0.0)
    sled.ride(-300.0)
    verdicts = {one.verdict for one in sled.core.findings.values()}
    assert verdicts == {Verdict.UNKNOWN}
    raised = [alert for _, alert in sled.core.advance(sled.at_s + 2.0).alerts]
    assert [(one.name, one.state, one.words) for one in raised if one.state == "raised"] == [
        ("law-not-watched", "raised", "NO LAW KNOWN\nHERE")
    ]
    assert not sled.core.is_watching


def test_the_glass_tells_it_in_one_line_and_not_once_for_each_clause() -> None:
    sled = Sled()
    sled.ride(-300.0)
    assert state_of(sled.core, sled.at_s).not_watched == ("law: outside every outline of a law",)


def test_a_change_of_law_is_told_on_the_glass_and_stands_in_the_journal() -> None:
    sled = Sled()
    sled.ride(0.0)
    outcome = sled.ride(300.0)
    assert [(one.name, one.words) for _, one in outcome.alerts if one.name == "law-changed"] == [
        ("law-changed", "MICHIGAN LAW")
    ]
    assert [one.why for _, one in outcome.findings if one.clause == LAW] == [
        "Michigan law: it holds from here on"
    ]
    later = sled.core.advance(sled.at_s + 10.0)
    assert [one.verdict for _, one in later.findings if one.clause == LAW] == [Verdict.COMPLIANT]


def test_hours_in_a_law_are_told_by_the_civil_time_of_its_outline() -> None:
    """04:00 UTC is 22:00 in Wisconsin, before (g)'s 22:30, and 23:00 in Detroit, for which this
    unit was set up."""
    unit = msgspec.structs.replace(AUTO, time_zone="America/Detroit")
    config = msgspec.structs.replace(CONFIG, unit=unit)
    told_zone = dataclasses.replace(WEST, attributes={"time_zone": "America/Chicago"})
    applies = []
    for outline_here in (WEST, told_zone):
        core = monitor.build(config, law.load_all(law.AUTO), GPS)
        around = Surroundings(*east_of(0.0), 300.0, (outline_here,), ("made up",))
        core.step(Reading(Channel.SURROUNDINGS, around, 1.0, "test"), 1.0)
        late = dataclasses.replace(at(0.0), utc=datetime(2026, 1, 18, 4, tzinfo=UTC))
        core.step(Reading(Channel.FIX, late, 2.0, "test", 2.5), 2.0)
        applies.append(core.findings["350.10(1)(g)"].why != "outside its hours")
    assert applies == [True, False]


def test_a_change_of_law_judges_every_clause_anew_at_once() -> None:
    sled = Sled()
    sled.ride(0.0)
    changed = {one.clause for _, one in sled.ride(300.0).findings}
    assert "350.10(1)(gm)" in changed


def test_what_is_shown_at_start_is_that_of_the_law_that_holds() -> None:
    sled = Sled()
    sled.put(Channel.REQUEST, Request("informed", "never"))
    sled.put(Channel.FIX, at(0.0, mph=0.0))
    theirs = sled.core.notices.clauses
    assert theirs
    assert all(one.citation.startswith("350.") for one in theirs)


def test_a_ride_over_a_border_replays_from_its_journal(tmp_path: Path) -> None:
    drive = Path(__file__).parent / "drives" / "border_crossed.drive"
    for arguments in ([str(drive), "--journal", str(tmp_path / "j")], [str(tmp_path / "j")]):
        done = subprocess.run(
            [sys.executable, "-m", "host_tools.cli", "replay", *arguments],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert "replays record for record" in done.stdout


def test_a_named_law_holds_everywhere_as_before() -> None:
    core = monitor.build(configured("[clock]\nfloor = 2026-01-01\n"), law.load_all(["wi"]), GPS)
    fix = fix_of(60.0)
    core.step(Reading(Channel.FIX, fix, 1.0, "test", 2.5), 1.0)
    assert LAW not in core.findings
    assert core.territories is None


@pytest.mark.parametrize("words", ["auto", ("auto",)])
def test_auto_is_every_pack_that_is_here(words: str | tuple[str, ...]) -> None:
    assert law.words_of(words) == tuple(sorted(one.stem for one in law.FOLDER.glob("*.toml")))
