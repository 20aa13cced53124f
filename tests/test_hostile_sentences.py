"""What receivers, cables and clocks do to a line, one case each, and what must come of it.

Each is driven through the parser and the gates, as the unit's own line is. The right answer is
derived by hand from the sentences.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from firmware.drives.ride import with_checksum
from firmware.gps.fixes import EpochReport, FixSettings, FixTracker
from firmware.readings import Channel, Fix, Missing, Receiver, Value, Why
from firmware.units import mps_of_knots

FLOOR = date(2026, 1, 1)
HERE = "4403.0000,N,08825.8000,W"  # 44.05, -88.43
KNOTS_10 = mps_of_knots(10.0)


def rmc(clock: str, *, knots: str = "10.0", place: str = HERE, **changes: str) -> bytes:
    said = {"talker": "GP", "status": "A", "course": "90.0", "day": "150126", "mode": "A"} | changes
    return with_checksum(
        f"{said['talker']}RMC,{clock},{said['status']},{place},{knots},{said['course']},"
        f"{said['day']},,,{said['mode']}"
    )


class Line:
    """A receiver's line, and what came of it."""

    def __init__(self) -> None:
        self.reports: list[EpochReport] = []
        self.tracker = FixTracker(FixSettings(floor=FLOOR), self.reports.append)
        self.values: list[Value] = []
        self.at_s = 100.0

    def say(self, *chunks: bytes, after_s: float = 1.0) -> list[Fix]:
        """Sends each chunk `after_s` after the last; the fixes that came of them."""
        told: list[Value] = []
        for octets in chunks:
            self.at_s += after_s
            readings = self.tracker.feed(octets, self.at_s)
            told += [one.value for one in readings if one.channel is Channel.FIX]
            self.values += [one.value for one in readings]
        return [one for one in told if isinstance(one, Fix)]

    @property
    def refused(self) -> int:
        return self.tracker.parser.refused.total()

    @property
    def missing(self) -> list[Missing]:
        return [one for one in self.values if isinstance(one, Missing)]


@pytest.mark.parametrize("talker", ["GP", "GL", "GA", "GB", "BD", "GI", "GQ", "QZ", "GN", "II"])
def test_any_constellation_may_speak(talker: str) -> None:
    (fix,) = Line().say(rmc("060000.00", talker=talker))
    assert fix.speed_mps == pytest.approx(KNOTS_10)


def test_one_constellation_without_a_fix_takes_nothing_from_the_other() -> None:
    line = Line()
    void = "GLRMC,06000{}.00,V,,,,,,,150126,,,N"
    both = [rmc(f"06000{turn}.00") + with_checksum(void.format(turn)) for turn in range(4)]
    fixes = line.say(*both)
    assert len(fixes) == 4
    assert line.missing == []
    told = [one for one in line.values if isinstance(one, Receiver)]
    assert told[-1].dropouts == 0


def test_a_sentence_cut_by_the_next_is_the_next() -> None:
    line = Line()
    (fix,) = line.say(rmc("060000.00", knots="99.0")[:30] + rmc("060000.00"))
    assert fix.speed_mps == pytest.approx(KNOTS_10)


def test_lines_joined_without_an_end_and_with_a_tag_block_are_each_heard() -> None:
    tagged = b"\\s:gps1,c:1768456800*55\\" + rmc("060001.00")
    assert len(Line().say(rmc("060000.00").rstrip() + tagged.rstrip() + rmc("060002.00"))) == 3


def test_a_checksum_in_small_letters_counts() -> None:
    sentence = rmc("060000.00", knots="12.3")
    assert sentence[-4:-2].lower() != sentence[-4:-2]  # it has letters: 12.3 was chosen so
    assert len(Line().say(sentence[:-4] + sentence[-4:].lower())) == 1


@pytest.mark.parametrize(
    "place",
    [
        "4460.0000,N,08825.8000,W",  # sixty minutes
        "9000.0001,N,08825.8000,W",
        "4403.0000,N,18000.0001,W",
        "4403.0000,n,08825.8000,w",
        "4403.0000,,08825.8000,W",
        "4403.0000,W,08825.8000,N",  # sides swapped
        "44030000,N,08825.8000,W",  # the point is lost
        "4403,0000,N,08825,8000,W",  # a comma for a point shifts all that follows
        "-4403.0000,N,08825.8000,W",
        "44°03.00,N,08825.8000,W",
    ],
)
def test_a_place_that_can_t_be_is_refused_and_is_no_fix(place: str) -> None:
    line = Line()
    body = f"GPRMC,060000.00,A,{place},10.0,90.0,150126,,,A".encode()
    checksum = 0
    for octet in body:
        checksum ^= octet
    assert line.say(b"$%b*%02X\r\n" % (body, checksum)) == []
    assert line.reports == []


@pytest.mark.parametrize("knots", ["-0.1", "nan", "inf", "1e3", "1000.1", "0x10", "1.2.3", "12,5"])
def test_a_speed_that_is_no_speed_is_refused_and_never_zero(knots: str) -> None:
    line = Line()
    assert line.say(rmc("060000.00", knots=knots)) == []
    assert line.refused == 1


@pytest.mark.parametrize("clock", ["240000.00", "126000.00", "0600", "06:00:00", "060060.00"])
def test_a_time_that_no_clock_shows_is_refused(clock: str) -> None:
    line = Line()
    assert line.say(rmc(clock)) == []
    assert line.refused == 1


def test_a_course_of_360_is_north_and_one_beyond_is_refused() -> None:
    (fix,) = Line().say(rmc("060000.00", course="360.0"))
    assert fix.track_deg == 360.0
    assert Line().say(rmc("060000.00", course="360.1")) == []


@pytest.mark.parametrize("day", ["310226", "000126", "151326", "060180", "", "290227"])
def test_a_day_of_no_calendar_or_long_ago_is_no_date_and_costs_no_fix(day: str) -> None:
    fixes = Line().say(*[rmc(f"06000{second}.00", day=day) for second in range(5)])
    assert len(fixes) == 5
    assert {fix.utc for fix in fixes} == {None}


def test_a_week_that_rolled_over_is_moved_to_the_first_above_the_floor() -> None:
    # 1,024 weeks are 7,168 days: 1 June 2006 and so many is 15 January 2026 (6,940 to 1 June 2025,
    # 214 to 1 January, 14 more).
    fixes = Line().say(*[rmc(f"06000{second}.00", day="010606") for second in range(5)])
    assert fixes[-1].utc == datetime(2026, 1, 15, 6, 0, 4, tzinfo=UTC)


def test_a_week_that_rolls_over_in_mid_ride_changes_nothing() -> None:
    line = Line()
    line.say(*[rmc(f"06000{second}.00") for second in range(5)])
    fixes = line.say(*[rmc(f"06000{second}.00", day="010606") for second in range(5, 10)])
    assert fixes[0].utc == datetime(2026, 1, 15, 6, 0, 5, tzinfo=UTC)
    assert all(fix.utc is not None and fix.utc.date() == date(2026, 1, 15) for fix in fixes)


def test_a_leap_second_at_the_year_s_end_keeps_every_fix_and_the_date_goes_on() -> None:
    line = Line()
    line.say(*[rmc(f"23595{second}.00", day="311226") for second in range(5, 10)])
    fixes = line.say(rmc("235960.00", day="311226"), rmc("000000.00", day="010127"))
    fixes += line.say(rmc("000001.00", day="010127"))
    assert len(fixes) == 3
    assert fixes[-1].utc == datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_without_rmc_the_speed_is_that_of_a_vtg_in_kilometres_alone() -> None:
    line = Line()
    gga = "GPGGA,06000{}.00," + HERE + ",1,08,1.2,200.0,M,-30.0,M,,"
    vtg = with_checksum("GPVTG,90.0,T,,M,,N,72.0,K,A")
    fixes = line.say(*[with_checksum(gga.format(second)) + vtg for second in range(6)])
    assert {fix.speed_mps for fix in fixes} == {20.0}
    assert not any(fix.derived for fix in fixes)


def test_a_vtg_of_the_first_standard_without_units_is_no_speed() -> None:
    line = Line()
    gga = with_checksum("GPGGA,060000.00," + HERE + ",1,08,1.2,200.0,M,-30.0,M,,")
    assert line.say(gga + with_checksum("GPVTG,054.7,034.4,005.5,010.2")) == []


def test_gns_alone_is_a_fix_where_one_system_has_it() -> None:
    line = Line()
    vtg = with_checksum("GNVTG,90.0,T,,M,10.0,N,18.5,K,A")
    none = with_checksum("GNGNS,060000.00,,,,,NN,00,99.9,,,,")
    one = with_checksum(f"GNGNS,060001.00,{HERE},NA,05,1.9,200.0,-30.0,,")
    assert line.say(none + vtg) == []
    assert line.missing[-1].why is Why.NO_FIX
    (fix,) = line.say(one + vtg)
    assert fix.speed_mps == pytest.approx(KNOTS_10)


def test_the_same_line_said_twice_is_one_instant() -> None:
    line = Line()
    line.say(rmc("060000.00"), rmc("060001.00"))
    fixes = line.say(rmc("060002.00") * 3)
    assert {fix.lat_deg for fix in fixes} == {44.05}
    assert {round(fix.speed_mps, 3) for fix in fixes} == {5.144}
    assert line.tracker.fresh_s == 2.5  # and no rate of three a second


def test_a_fix_reckoned_by_wheels_counts_and_a_simulated_or_typed_one_does_not() -> None:
    assert len(Line().say(rmc("060000.00", mode="E"))) == 1
    assert Line().say(rmc("060000.00", mode="S")) == []
    assert Line().say(rmc("060000.00", mode="M")) == []


def test_makers_own_sentences_and_ships_are_passed_over() -> None:
    line = Line()
    others = (
        with_checksum("PGRME,15.0,M,45.0,M,25.0,M")
        + with_checksum("PGRMC,A,218.8,100,6378137.000,298.257223563,0.0,0.0,0.0,A,3,1,1,4,30")
        + b"!AIVDM,1,1,,A,13aI8e?P00PGpU:NR6s00?vT2000,0*1C\r\n"
        + with_checksum("GPTXT,01,01,02,ANTSTATUS=OPEN")
    )
    assert len(line.say(others + rmc("060000.00") + others)) == 1
    assert line.refused == 0


def test_noise_of_another_baud_rate_between_good_lines_costs_no_line() -> None:
    line = Line()
    noise = bytes(range(0x80, 0x100)) + b"\x00\xff$\x00$GP\xfeRMC,1\r$"
    fixes = line.say(*[noise + rmc(f"06000{second}.00") + noise for second in range(5)])
    assert len(fixes) == 5


def test_a_receiver_that_counts_days_wrong_at_midnight_gives_no_step_back() -> None:
    """Its date changes a second late: 00:00:00 still has yesterday's."""
    line = Line()
    line.say(*[rmc(f"23595{second}.00", day="150126") for second in range(5, 10)])
    fixes = line.say(rmc("000000.00", day="150126"), rmc("000001.00", day="160126"))
    assert [fix.utc for fix in fixes] == [
        datetime(2026, 1, 16, 0, 0, 0, tzinfo=UTC),
        datetime(2026, 1, 16, 0, 0, 1, tzinfo=UTC),
    ]


def test_a_speed_in_a_void_sentence_is_none() -> None:
    line = Line()
    assert line.say(rmc("060000.00", knots="88.0", status="V")) == []
    assert line.missing[-1].why is Why.NO_FIX


def test_what_was_refused_is_counted_and_told() -> None:
    line = Line()
    line.say(rmc("060000.00", knots="nan"), rmc("060001.00"))
    told = [one for one in line.values if isinstance(one, Receiver)]
    assert (told[-1].sentences, told[-1].refused) == (2, 1)
