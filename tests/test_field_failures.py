"""How other such products failed in the field, each case driven through our own code.

"Over" is `unsure` or `violation`. The cases of the light, adc, i2c, gpio, rtc and clock kinds are
in test_field_failures_parts.py, those of zones in test_field_failures_zones.py; `ELSEWHERE` says
which part answers for the rest.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from daemons import Daemon
from field_failures import Case, all_cases, cases_of
from field_line import NIGHT_SPEED, Line, Sled, law_of, posted, signed

from firmware.findings import Verdict
from firmware.gps.nmea import Refusal
from firmware.readings import (
    Channel,
    Fix,
    Missing,
    Reading,
    RtcTime,
    Why,
)
from firmware.sun import hours_of_darkness, sun_altitude_deg
from firmware.units import mph, mps_of_knots
from firmware.view import state_of

DWELLINGS = "350.10(1)(g)"

OURS = ("nmea", "gps_state", "gps_date", "speed", "serial", "darkness")

THEIRS = ("light", "adc", "i2c", "gpio", "rtc", "clock")

ELSEWHERE = {
    "B035": ("a report without a speed", "test_field_failures_zones.py"),
    "B104": ("one over-confident fix", "test_field_failures_zones.py"),
    "B105": ("an older fix after a newer one", "test_field_failures_zones.py"),
    "B107": ("a zone is told at its edges", "test_field_failures_zones.py"),
    "B108": ("the journal is cut at random and lost nothing", "test_journal_kill.py"),
    "B110": ("a download of a segment that still grows", "test_download.py"),
    "B113": ("segments are bytes, checked by their digests", "test_download.py"),
    "B115": ("each answer says its offset; what is lost is asked for again", "test_download.py"),
    "B117": ("the watchdog is fed at half its interval", "test_daemon.py"),
    "B118": ("READY once, WATCHDOG then", "test_services.py"),
    "B120": ("the glass is another process", "test_dash.py"),
}
"""The part that answers for a case of another kind, and where it is tried."""

DRIVES: dict[str, Callable[[Case], None]] = {}


def drives(*ids: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Names the cases that a function drives."""

    def keep(drive: Callable[[Case], None]) -> Callable[[Case], None]:
        DRIVES.update(dict.fromkeys(ids, drive))
        return drive

    return keep


@pytest.mark.parametrize("case", cases_of(OURS), ids=str)
def test_what_failed_in_the_field_does_not_fail_here(case: Case) -> None:
    DRIVES[case.id](case)


def test_every_case_has_its_drive_or_its_part() -> None:
    assert {one.id for one in cases_of(OURS)} == set(DRIVES)
    rest = {one.id for one in all_cases() if one.kind not in (*OURS, *THEIRS)}
    assert rest == set(ELSEWHERE)
    here = Path(__file__).parent
    assert [file for _, file in ELSEWHERE.values() if not (here / file).exists()] == []


# Sentences -------------------------------------------------------------------------------------


@drives("B002")
def an_empty_rmc_is_no_fix_and_ends_nothing(case: Case) -> None:
    line = Line()
    assert line.say(case.octets) == []
    first = line.readings[0].value
    assert first == Missing(Why.NO_FIX, "the receiver says that it has no fix")
    good = signed("GPRMC,101112.00,A,4500.0000,N,08700.0000,W,30.0,90.0,150124,,,A")
    (fix,) = line.say(good)
    assert fix.speed_mps == mps_of_knots(30.0)
    assert len(line.finish()) == 1


SPEEDS = {
    "B007": (30.0, (45.845848, -87.311913), "2024-01-15T00:46:46"),
    "B010": (30.2, (45.414472, -87.929897), "2023-06-23T05:07:00"),
    "B011": (23.254, (45.304220, -87.014354), "2021-03-28T12:07:38.500"),
    "B016": (58.5, (45.0, -87.0), "2024-01-15T10:11:12"),
    "B017": (58.5, (45.0, -87.0), "2024-01-15T10:11:12"),
    "B020": (58.5, (45.0, -87.0), "2024-01-15T10:11:12.600"),
}


@drives(*SPEEDS)
def a_sentence_that_others_refuse_is_read_to_the_last_digit(case: Case) -> None:
    knots, place, utc = SPEEDS[case.id]
    line = Line(trust_dates=True)
    (fix,) = line.say(case.octets)
    assert fix.speed_mps == pytest.approx(mps_of_knots(knots), abs=1e-9)
    assert (fix.lat_deg, fix.lon_deg) == pytest.approx(place, abs=5e-7)
    assert fix.utc == datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert not fix.derived
    (report,) = line.finish()
    assert report.speed_mps == fix.speed_mps
    assert line.tracker.parser.refused.total() == 0


@drives("B014")
def the_fraction_of_a_knot_decides(case: Case) -> None:
    assert case.given["limit_mph"] == 50
    sled = Sled(law_of(50.0))
    sled.say(case.octets)
    finding = sled.monitor.findings[NIGHT_SPEED]
    assert finding.value == pytest.approx(50.519, abs=0.001)
    assert finding.verdict.is_over
    assert sled.raised("over-speed") == ["raised"]


@drives("B018")
def a_damaged_star_does_not_turn_checking_off(case: Case) -> None:
    line = Line()
    fixes = line.say(case.octets)
    assert [fix.speed_mps for fix in fixes] == [mps_of_knots(20.0)]
    assert line.tracker.parser.refused == {Refusal.NO_CHECKSUM: 1}
    assert len(line.finish()) == 1


@drives("B019")
def a_leap_second_keeps_its_speed_and_the_time_goes_on(case: Case) -> None:
    line = Line(trust_dates=True)
    leap, after = (one + b"\r\n" for one in case.octets.split(b"\r\n")[:2])
    (first,) = line.say(leap)
    (second,) = line.say(after)
    assert first.speed_mps == second.speed_mps == mps_of_knots(30.0)
    assert first.utc is not None
    assert second.utc is not None
    new_year = datetime(2017, 1, 1, tzinfo=UTC)
    assert new_year - timedelta(seconds=1) <= first.utc <= second.utc == new_year


# The state of the receiver ---------------------------------------------------------------------


@drives("B021", "B022")
def a_fix_that_is_lost_ends_all_that_was_known_by_it(case: Case) -> None:
    first, later = case.given["sequence"]
    sled = Sled()
    sled.say(first["bytes"].encode() + b"\r\n")
    assert sled.verdict(NIGHT_SPEED) is Verdict.VIOLATION
    assert sled.verdict(DWELLINGS) is Verdict.VIOLATION
    octets = later["bytes"].encode() + b"\r\n" if later["bytes"] else b""
    began_s = sled.line.at_s
    lost_s = None
    for _ in range(240):
        sled.say(octets, 0.25)
        state = state_of(sled.monitor, sled.line.at_s)
        if lost_s is None and state.speed_mph is None:
            lost_s = sled.line.at_s - began_s
        assert (state.speed_mph is None) == (lost_s is not None)  # and it stays lost
    assert lost_s is not None
    assert lost_s <= 2.75  # 2.5 s of a receiver of 1 Hz, looked at four times a second
    assert sled.verdict(NIGHT_SPEED) is Verdict.UNKNOWN
    assert sled.verdict(DWELLINGS) is Verdict.UNKNOWN
    assert sled.raised("over-speed") == ["raised", "cleared"]
    assert sled.raised("zone-speed") == ["raised", "cleared"]
    # Not watched before the first fix, and again after the last.
    assert sled.raised("speed-not-watched") == ["raised", "cleared", "raised"]
    ended = [one for one in sled.events if one.end_s is not None]
    assert {one.clause for one in ended} == {NIGHT_SPEED, DWELLINGS}
    assert state.gps.startswith("no fix" if octets else "stale")
    assert any(NIGHT_SPEED in line for line in state.not_watched)


@drives("B024")
def the_date_of_1980_before_the_fix_is_nobodys(case: Case) -> None:
    sled = Sled(is_trusting=False)
    cold, fixed = (one.encode() + b"\r\n" for one in case.given["sequence"])
    sled.say(cold)
    assert sled.monitor.timekeeper.utc(sled.line.at_s) is None
    rtc = RtcTime(datetime(2024, 1, 15, 23, 14, 35, tzinfo=UTC), 2.0)
    sled.monitor.step(Reading(Channel.RTC, rtc, sled.line.at_s, "test"), sled.line.at_s)
    for second in range(36, 40):  # the second row, and what a receiver says after it
        body = fixed[1 : fixed.index(b"*")].decode().replace("231436", f"2314{second}")
        sled.say(signed(body))
        utc = sled.monitor.timekeeper.utc(sled.line.at_s)
        assert utc is not None
        assert utc.date() == date(2024, 1, 15)
    assert sled.monitor.timekeeper.source == "gps"
    reports = sled.line.finish()
    assert {one.utc.year for one in reports if one.utc is not None} == {2024}


@drives("B028")
def jitter_is_not_summed_to_a_speed(case: Case) -> None:
    line = Line()
    assert case.given["rmc_speed_kn"] == 0.0
    for second, east_m in enumerate(case.given["positions_1hz_m_east"]):
        minutes = 30.0 - east_m / (1852.0 * 0.70711)
        place = f"4500.00000,N,087{minutes:08.5f},W"
        for kind in (f"RMC,1011{second:02d}.00,A,{place},0.0,,150124,,,A",
                     f"GGA,1011{second:02d}.00,{place},1,08,1.0,200.0,M,,M,,"):  # fmt: skip
            for fix in line.say(signed(f"GP{kind}"), 0.5):
                assert fix.speed_mps == 0.0
    assert [one.speed_mps for one in line.finish()] == [0.0] * 10


@drives("B029")
def a_refused_sentence_is_not_a_stop(case: Case) -> None:
    sled = Sled()
    speeds_mph = []
    for second, word in enumerate(case.given["sequence"]):
        octets = signed(f"GPRMC,10111{second}.00,A,4500.0000,N,08700.0000,W,58.5,90.0,150124,,,A")
        if word == "bad checksum":
            octets = octets.replace(b",58.5,", b",00.5,")
        sled.say(octets)
        speeds_mph.append(state_of(sled.monitor, sled.line.at_s).speed_mph)
    assert speeds_mph == [pytest.approx(67.32, abs=0.01)] * 5
    assert sled.line.tracker.parser.refused == {Refusal.BAD_CHECKSUM: 2}
    assert [one for one in sled.events if one.end_s is not None] == []


# Dates -----------------------------------------------------------------------------------------


@drives("B031")
def a_date_1024_weeks_behind_is_known_as_such(case: Case) -> None:
    report = case.given["tpv"]
    said = datetime.fromisoformat(report["time"])
    meant = datetime.fromisoformat(case.given["system_clock"])
    assert meant - said == timedelta(weeks=1024)
    sled = Sled(is_trusting=False)
    dates = []
    for second in range(4):  # a date is believed after three that agree
        sled.say(
            signed(
                f"GPRMC,1011{12 + second}.00,A,4500.0000,N,08700.0000,W,"
                f"{report['speed'] / mps_of_knots(1.0):.2f},90.0,{said:%d%m%y},,,A"
            )
        )
        dates.append(sled.monitor.timekeeper.utc(sled.line.at_s))
    assert dates == [None, None, meant + timedelta(seconds=2), meant + timedelta(seconds=3)]
    assert sled.line.notes == [
        "the receiver's date 2004-05-31 is years behind: 2024-01-15 is taken"
    ]


@drives("B032")
def a_date_that_one_turn_does_not_bring_above_the_floor_is_none(case: Case) -> None:
    floors = {date.fromisoformat(case.given["build_date"]): None, date(2020, 1, 1): "2020-05-30"}
    for floor, meant in floors.items():
        line = Line(floor=floor)
        for second in range(4):
            octets = case.octets
            body = octets[1 : octets.index(b"*")].decode().replace("101112", f"10111{second + 2}")
            (fix,) = line.say(signed(body))
        assert fix.speed_mps == mps_of_knots(30.0)
        assert (None if fix.utc is None else str(fix.utc.date())) == meant


# Limits ----------------------------------------------------------------------------------------


@drives("B095")
def the_limit_is_told_in_its_own_unit(case: Case) -> None:
    sled = Sled(law_of(case.given["limit_mph"]))
    sled.ride(mph(mps_of_knots(case.given["speed_kn"])))
    finding = sled.monitor.findings[NIGHT_SPEED]
    assert finding.verdict.is_over
    assert finding.value == pytest.approx(55.24, abs=0.01)
    assert (finding.limit, finding.unit) == (55.0, "mph")
    state = state_of(sled.monitor, sled.line.at_s)
    assert state.limit_mph == 55.0
    assert state.alert is not None
    assert state.alert.words == "SLOW DOWN\nLIMIT 55"
    assert [(one.limit, one.unit) for one in sled.events] == [(55.0, "mph")]


@drives("B096")
def the_light_the_tone_the_glass_and_the_journal_go_by_one_figure(case: Case) -> None:
    # No law that we carry has a tolerance: with one, the figure to pass is limit + tolerance.
    limit_mph = case.given["limit_mph"] + case.given["tolerance_mph"]
    config = "[rules]\napproach_mph = 0\napproach_low_mph = 0\n[gps]\nspeed_error_mph = 0\n"
    sled = Sled(law_of(limit_mph), config)
    assert case.expected.startswith("No warning, no warning, warning;")
    for speed_mph, is_warned in zip(case.given["speed_mph"], (False, False, True), strict=True):
        sled.ride(speed_mph)
        state = state_of(sled.monitor, sled.line.at_s)
        cues = sled.monitor.cues(sled.line.at_s + 6.5)  # the tone follows after 6 s
        assert sled.verdict(NIGHT_SPEED).is_over == is_warned
        assert (state.alert is not None) == is_warned
        assert ("red" in state.cues.light) == is_warned
        assert (state.cues.haptic == "pulses") == is_warned
        assert (cues.tone != "off") in ((is_warned, False) if is_warned else (False,))
        assert bool(sled.events) == is_warned


@drives("B098")
def a_speed_is_compared_before_it_is_rounded(case: Case) -> None:
    verdicts = []
    for knots in case.given["speed_kn"]:
        sled = Sled(law_of(case.given["limit_mph"]))
        sled.say(signed(f"GPRMC,101112.00,A,4500.0000,N,08700.0000,W,{knots},90.0,150124,,,A"))
        verdicts.append(sled.verdict(NIGHT_SPEED))
    assert [one.is_over for one in verdicts] == [False, True]


@drives("B100")
def five_epochs_over_the_limit_are_one_event(case: Case) -> None:
    sled = Sled(law_of(case.given["limit_mph"]))
    starts: list[float] = []
    ends: list[float] = []
    for speed_mph in case.given["speed_mph"]:
        before = len(sled.events)
        sled.ride(speed_mph)
        for event in sled.events[before:]:
            if event.end_s is not None:
                ends.append(speed_mph)
            elif not event.is_sure:
                starts.append(speed_mph)
    assert (starts, ends) == ([51], [49])
    sled.ride(case.given["speed_mph"][-1])  # the alert outlives its cause by 1.5 s
    assert sled.raised("over-speed") == ["raised", "cleared"]
    assert sled.events[-1].peak == pytest.approx(53.0, abs=0.001)


# The line --------------------------------------------------------------------------------------


@drives("B039")
def a_stream_without_a_line_end_stops_nothing(case: Case) -> None:
    assert case.given["bytes"] == "0x55 repeated for 120 s at 9600 baud, no newline"
    line = Line()
    line.say(b"U" * 960)
    tracemalloc.start()
    try:
        at_first = tracemalloc.get_traced_memory()[0]
        told_s = []
        for _ in range(120 * 4):
            before = len(line.readings)
            line.say(b"U" * 240, 0.25)
            told_s += [one.mono_s for one in line.readings[before:]]
            line.readings.clear()
        grown = tracemalloc.get_traced_memory()[0] - at_first
    finally:
        tracemalloc.stop()
    assert grown < 16_384  # the list of stamps above is most of it
    assert max(after - one for one, after in pairwise(told_s)) <= 1.25
    # The same over a line, to the source's own thread, and then a sentence.
    good = signed("GPRMC,101112.00,A,4500.0000,N,08700.0000,W,58.5,90.0,150124,,,A")
    (*_, last) = posted(b"U" * 3000 + good, lambda one: isinstance(one.value, Fix))
    assert isinstance(last.value, Fix)
    assert last.value.speed_mps == mps_of_knots(58.5)


@drives("B040")
def an_empty_course_is_no_course(case: Case) -> None:
    second = signed("GNRMC,223938.00,A,4540.9268029,N,08753.7238711,W,0.03,,290420,,,D")
    fixes = [
        one.value
        for one in posted(
            case.octets + second,
            lambda one: (
                isinstance(one.value, Fix)
                and one.value.utc == datetime(2020, 4, 29, 22, 39, 38, tzinfo=UTC)
            ),
        )
        if isinstance(one.value, Fix)
    ]
    assert [fix.utc for fix in fixes] == [
        datetime(2020, 4, 29, 22, 39, 37, 800_000, tzinfo=UTC),
        datetime(2020, 4, 29, 22, 39, 38, tzinfo=UTC),
    ]
    assert [fix.track_deg for fix in fixes] == [None, None]
    assert fixes[0].speed_mps == pytest.approx(mps_of_knots(0.03), abs=1e-9)


def test_while_the_receiver_sends_rubbish_lamp_tether_and_watchdog_go_on(tmp_path: Path) -> None:
    seconds = [f"{second}.0 gps-hex {'55' * 960}" for second in range(1, 120)]
    seconds.insert(60, "60.5 tether out")
    rubbish = "\n".join(seconds)
    drive = tmp_path / "rubbish.drive"
    drive.write_text(
        "# Name: rubbish\n# Law: wi\n# Start: 2026-01-18T04:40:00Z\n"
        "0.0 lamp head supply=on light=850\n0.0 tether in\n0.0 engine on\n"
        f"{rubbish}\n119.5 end\n"
    )
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "30") as daemon:
        before = daemon.wait_for(lambda state: state.at_s > 20.0 and state.tether == "in")
        assert before.speed_mph is None
        after = daemon.wait_for(lambda state: state.tether == "out")
        assert 60.0 < after.at_s < 70.0
        later = daemon.wait_for(lambda state: state.at_s > 100.0)
        assert "sentence" in later.gps


# Darkness --------------------------------------------------------------------------------------


@drives("B082", "B086", "B088", "B092", "B093", "B094")
def the_sun_is_asked_for_its_altitude_and_not_for_a_date(case: Case) -> None:
    place = (case.given["lat"], case.given["lon"])
    for asked, answer in zip(case.given["utc"], case.expected, strict=True):
        assert answer["utc"] == asked
        at = datetime.fromisoformat(asked)
        assert sun_altitude_deg(*place, at) == pytest.approx(answer["sun_altitude_deg"], abs=0.02)
        is_up = answer["sun_up"]
        sun = hours_of_darkness(*place, at, 0.0, 0.0)
        assert sun.is_dark is not is_up
        names = ("previous_sunrise", "previous_sunset", "next_sunrise", "next_sunset")
        crossings = {name: answer[name] for name in names}
        if crossings["next_sunrise"].startswith("none"):
            for hours in range(-24, 25):
                then = hours_of_darkness(*place, at + timedelta(hours=hours), 0.0, 0.0)
                assert then.is_dark is not is_up
            # By the statute's half hours it is night all day where the sun never rises.
            assert hours_of_darkness(*place, at).is_dark is not is_up
            continue
        times = {name: datetime.fromisoformat(text) for name, text in crossings.items()}
        for name, then in times.items():
            before = hours_of_darkness(*place, then - timedelta(seconds=30), 0.0, 0.0)
            assert before.is_dark is name.endswith("sunrise"), name
            assert abs((before.until_utc - then).total_seconds()) < 10.0, name
        next_change = min(then for name, then in times.items() if name.startswith("next"))
        assert abs((sun.until_utc - next_change).total_seconds()) < 10.0
        last_change = max(then for name, then in times.items() if name.startswith("previous"))
        since = hours_of_darkness(*place, last_change + timedelta(seconds=30), 0.0, 0.0)
        assert abs((since.until_utc - next_change).total_seconds()) < 10.0
