"""Race mode in the judging core: declared or proven, watched by place and window."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from judging import HOME, WI, configured, east_of, fix_of
from msgspec.structs import replace as changed
from test_race_token import KEY, OTHER, forged

from firmware.findings import Verdict
from firmware.law.packs import load
from firmware.monitor import build
from firmware.race_token import Token, issue
from firmware.readings import (
    Channel,
    Engine,
    Missing,
    Reading,
    Request,
    RtcTime,
    Tether,
    TetherState,
    Why,
)
from firmware.view import state_of

NIGHT_SPEED, TETHER = "350.10(1)(gm)", "350.09(9)"
NIGHT = datetime(2026, 1, 16, 5, tzinfo=UTC)  # 23:00 in Wisconsin
T0 = 1000.0
DERBY = Token(
    event="Derby",
    lat_deg=HOME[0],
    lon_deg=HOME[1],
    radius_m=1000.0,
    from_utc=NIGHT - timedelta(hours=1),
    to_utc=NIGHT + timedelta(minutes=10),
)
NAMED = f'[clock]\nfloor = 2026-01-01\n[race]\norganizers = ["{KEY.public.hex()}"]\n'
FEET = 1 / 0.3048


class Sled:
    """A standing sled at night at the middle of the race's circle, its tether in, its engine on."""

    def __init__(self, config: str = NAMED) -> None:
        self.monitor = build(configured(config), [WI], frozenset(Channel))
        self.at_s = T0
        self.put(Channel.TETHER, Tether(TetherState.IN))
        self.put(Channel.ENGINE, Engine(True))

    def put(self, channel: Channel, value: object, fresh_s: float | None = None) -> None:
        reading = Reading(channel, value, self.at_s, "test", fresh_s)  # type: ignore[arg-type]
        self.monitor.step(reading, self.at_s)

    def fix(
        self, mph: float = 0.0, east_m: float = 0.0, *, after_s: float = 1.0, dated: bool = True
    ) -> Sled:
        self.at_s += after_s
        utc = NIGHT + timedelta(seconds=self.at_s - T0) if dated else None
        self.put(
            Channel.FIX, replace(fix_of(mph, east_of(east_m * FEET)), utc=utc, error_m=5.0), 2.5
        )
        return self

    def ask(self, action: str, argument: str, by: str = "someone") -> Sled:
        self.put(Channel.REQUEST, Request(action, argument, by))
        return self

    def race(self, line: str) -> Sled:
        return self.ask("race", line, "sledwarden race")

    @property
    def prompt(self) -> str:
        return self.monitor.requests.prompt

    @property
    def modes(self) -> frozenset[str]:
        return self.monitor.requests.modes

    def verdict(self, clause: str = NIGHT_SPEED) -> Verdict:
        return self.monitor.findings[clause].verdict

    def why(self, clause: str = NIGHT_SPEED) -> str:
        return self.monitor.findings[clause].why


def test_a_race_by_the_riders_word_says_so_in_its_finding_and_on_the_glass() -> None:
    sled = Sled().fix().ask("mode", "race on heat 3 of the derby", "lane 3")
    assert (sled.verdict(), sled.why()) == (
        Verdict.EXEMPT,
        "race mode lifts it: self-declared by lane 3",
    )
    state = state_of(sled.monitor, sled.at_s)
    assert (state.modes, state.mode_words) == (("race",), ("self-declared by lane 3",))


def test_a_named_organizers_token_proves_the_race() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY))
    assert sled.prompt == "RACE PROVEN\nNIGHT LIMIT OFF"
    words = changed(DERBY, key=KEY.public.hex()).words
    assert (sled.verdict(), sled.why()) == (
        Verdict.EXEMPT,
        f"race mode lifts it: Derby, proven by the organizer ({words})",
    )
    sled.fix(70.0)
    assert sled.verdict() is Verdict.EXEMPT


def test_a_key_that_the_configuration_does_not_name_is_signed_and_not_proven() -> None:
    sled = Sled().fix().race(issue(DERBY, OTHER))
    assert sled.prompt == "RACE SIGNED\nKEY NOT NAMED"
    words = changed(DERBY, key=OTHER.public.hex()).words
    assert sled.why() == (
        f"race mode lifts it: Derby, signed by an organizer who is not named here ({words})"
    )


LATER = {"from_utc": NIGHT + timedelta(minutes=5), "to_utc": NIGHT + timedelta(minutes=20)}
BEFORE = {"from_utc": NIGHT - timedelta(hours=5), "to_utc": NIGHT - timedelta(hours=1)}


@pytest.mark.parametrize(
    ("line", "prompt"),
    [
        (issue(DERBY, KEY)[:-3], "TOKEN NOT READ\nIS IT WHOLE?"),
        ("hello", "TOKEN NOT READ\nIS IT WHOLE?"),
        (forged(b"{}", OTHER, KEY), "TOKEN IS FALSE\nNOT ITS KEY'S"),
        (issue(changed(DERBY, unit="sled-9"), KEY), "TOKEN IS FOR\nANOTHER SLED"),
        (issue(changed(DERBY, **BEFORE), KEY), "RACE TOKEN\nHAS ENDED"),
        (issue(changed(DERBY, **LATER), KEY), "RACE NOT YET\nTOO EARLY"),
        (issue(changed(DERBY, lat_deg=46.0), KEY), "NOT AT THE RACE\nGO TO ITS PLACE"),
    ],
)
def test_a_token_that_proves_nothing_lifts_nothing_and_says_why(line: str, prompt: str) -> None:
    sled = Sled().fix().race(line)
    assert (sled.prompt, sled.modes) == (prompt, frozenset())
    sled.fix(70.0)
    assert sled.verdict() is Verdict.VIOLATION
    assert all(len(row) <= 16 for row in prompt.split("\n"))


def test_yesterdays_token_proves_nothing_today() -> None:
    yesterday = changed(
        DERBY,
        from_utc=DERBY.from_utc - timedelta(days=1),
        to_utc=DERBY.to_utc - timedelta(days=1),
    )
    assert Sled().fix().race(issue(yesterday, KEY)).prompt == "RACE TOKEN\nHAS ENDED"


def test_without_the_satellites_date_no_window_can_be_told() -> None:
    sled = Sled().fix(dated=False).race(issue(DERBY, KEY))
    assert (sled.prompt, sled.modes) == ("DATE NOT KNOWN\nWAIT FOR GPS", frozenset())
    sled.put(Channel.RTC, RtcTime(NIGHT, 1.0))
    sled.race(issue(DERBY, KEY))
    assert (sled.prompt, sled.modes) == ("DATE NOT KNOWN\nWAIT FOR GPS", frozenset())


def test_a_token_is_taken_only_while_the_sled_stands() -> None:
    sled = Sled().fix(20.0).race(issue(DERBY, KEY))
    assert (sled.prompt, sled.modes) == ("STOP FIRST\nTHEN SET MODE", frozenset())


def test_outside_of_its_place_the_race_lifts_nothing_and_inside_again_it_does() -> None:
    """The circle has 1,000 m, the position an error of 5 m."""
    sled = Sled().fix().race(issue(DERBY, KEY))
    sled.fix(70.0, 1004.0)
    assert sled.verdict() is Verdict.EXEMPT  # maybe outside takes nothing away
    sled.fix(70.0, 1006.0, after_s=0.5)
    assert sled.verdict() is Verdict.VIOLATION
    assert sled.prompt == "OUTSIDE THE RACE\nLIMITS HOLD"
    assert sled.modes == {"race"}
    assert state_of(sled.monitor, sled.at_s).mode_words[0].endswith("; outside its place")
    sled.fix(70.0, 1002.0, after_s=0.5)
    assert sled.verdict() is Verdict.VIOLATION  # nor does maybe inside give it back
    sled.fix(70.0, 990.0, after_s=0.5)
    assert sled.verdict() is Verdict.EXEMPT
    assert sled.prompt == "AT THE RACE\nNIGHT LIMIT OFF"


def test_the_tether_is_demanded_though_the_sled_is_outside_of_the_place() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY)).fix(30.0, 2000.0)
    sled.put(Channel.TETHER, Tether(TetherState.OUT))
    assert sled.verdict(TETHER) is Verdict.VIOLATION


def test_without_a_fix_nobody_knows_that_it_is_at_the_race() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY)).fix(70.0)
    sled.monitor.advance(sled.at_s + 2.6)
    assert sled.verdict() is Verdict.UNKNOWN
    assert state_of(sled.monitor, sled.at_s).mode_words[0].endswith("; its place is not known")
    sled.fix(70.0, after_s=5.0)
    assert sled.verdict() is Verdict.EXEMPT


def test_the_race_ends_with_its_window_though_no_reading_comes() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY))
    while sled.at_s < T0 + 598.0:
        sled.fix(70.0, after_s=1.0)
    assert sled.verdict() is Verdict.EXEMPT
    sled.monitor.advance(T0 + 599.99)
    assert sled.modes == {"race"}
    sled.monitor.advance(T0 + 600.0)
    assert sled.modes == frozenset()
    assert sled.prompt == "RACE IS OVER\nLIMITS HOLD"
    assert sled.verdict() is Verdict.VIOLATION
    assert sled.monitor.findings[TETHER].verdict is Verdict.COMPLIANT


def test_a_date_that_steps_past_the_window_ends_the_race_at_once() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY)).fix()
    sled.at_s += 1.0
    late = replace(fix_of(0.0), utc=DERBY.to_utc + timedelta(hours=1))
    sled.put(Channel.FIX, late, 2.5)
    sled.monitor.advance(sled.at_s + 0.1)
    assert sled.modes == frozenset()


def test_the_rider_may_end_a_proven_race() -> None:
    sled = Sled().fix().race(issue(DERBY, KEY)).ask("mode", "race off")
    assert (sled.modes, sled.monitor.requests.mode_words) == (frozenset(), ())
    assert sled.monitor.requests.due_s(T0 + 30.0) == float("inf")


def test_the_same_requests_at_the_same_instants_give_the_same() -> None:
    def ride() -> list[tuple[Verdict, str]]:
        sled = Sled().fix().race(issue(DERBY, KEY))
        return [
            (sled.fix(70.0, metres).verdict(), sled.why()) for metres in (0, 900, 1100, 900, 1003)
        ]

    assert ride() == ride()


def test_a_missing_fix_at_the_start_is_refused() -> None:
    sled = Sled()
    sled.put(Channel.ENGINE, Engine(False))
    sled.put(Channel.FIX, Missing(Why.NO_FIX))
    assert sled.race(issue(DERBY, KEY)).prompt == "DATE NOT KNOWN\nWAIT FOR GPS"


@pytest.mark.parametrize("mode", ["race", "maker_test", "family_land"])
def test_no_mode_lifts_more_than_the_law_lifts(mode: str) -> None:
    """350.10(3): (gm); 350.09(8): the noise rows; 350.10(2): signs. Never (g), (i), the tether."""
    noise = {one.citation for one in load("wi").clause if one.citation.startswith("350.095(")}
    may_lift = {
        "race": {NIGHT_SPEED, "350.10(1)(d)"} | noise,
        "maker_test": {"350.10(1)(d)"} | noise,
        "family_land": {"350.10(1)(c)"},
    }
    lifted = {one.citation for one in load("wi").clause if mode in one.lifted_by}
    assert lifted <= may_lift[mode]
