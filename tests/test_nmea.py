"""Sentences out of any bytes; real complaints about other parsers, tried on ours."""

from __future__ import annotations

import re
import tracemalloc
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.gps.epochs import Assembler, Epoch
from firmware.gps.nmea import MAX_SENTENCE_BYTES, Parser, Refusal, Sentence
from firmware.units import mph, mps_of_knots

RECORDINGS = Path(__file__).parent / "data" / "nmea"


def signed(body: str) -> bytes:
    """A whole sentence with its checksum and line end."""
    total = 0
    for octet in body.encode():
        total ^= octet
    return f"${body}*{total:02X}\r\n".encode()


def parsed(octets: bytes) -> list[Sentence]:
    return list(Parser().feed(octets))


def refused(octets: bytes) -> dict[Refusal, int]:
    parser = Parser()
    assert list(parser.feed(octets)) == []
    return dict(parser.refused)


def rmc(
    time: str = "101112.00",
    status: str = "A",
    place: str = "4500.0000,N,08700.0000,W",
    knots: str = "58.5",
    track: str = "90.0",
    day: str = "150124",
    tail: str = ",,A",
) -> bytes:
    return signed(f"GPRMC,{time},{status},{place},{knots},{track},{day},{tail}")


def test_rmc_gives_time_date_place_speed_and_track() -> None:
    (sentence,) = parsed(rmc())
    assert sentence == Sentence(
        "RMC", "GP", 1, True, 36672.0, date(2024, 1, 15), 45.0, -87.0, 4, mps_of_knots(58.5), 90.0
    )


def test_a_sentence_is_given_before_its_line_end() -> None:
    parser = Parser()
    whole = rmc().rstrip()
    assert list(parser.feed(whole[:-1])) == []
    assert len(list(parser.feed(whole[-1:]))) == 1


def test_six_digit_time_without_mode_letter_is_understood() -> None:
    line = b"$GPRMC,004646,A,4550.7509,N,08718.7148,W,30.0,90.0,150124,,*05\r\n"
    (sentence,) = parsed(line)
    assert sentence.time_s == 46 * 60 + 46
    assert sentence.lat_deg == pytest.approx(45.845848, abs=1e-6)
    assert sentence.lon_deg == pytest.approx(-87.311913, abs=1e-6)
    assert sentence.speed_mps == mps_of_knots(30.0)


@pytest.mark.parametrize(
    ("line", "knots"),
    [
        (b"$YDRMC,050700.00,A,4524.8683,N,08755.7938,W,30.2,181.3,230623,4.3,E,A,C*73", 30.2),
        (
            b"$GPRMC,120738.50,A,4518.253171,N,08700.861253,W,23.254,239.42,280321,2.00,E,F,S*6E",
            23.254,
        ),
    ],
)
def test_later_editions_with_more_fields_are_valid_by_status_alone(
    line: bytes, knots: float
) -> None:
    (sentence,) = parsed(line)
    assert sentence.is_valid
    assert sentence.speed_mps == pytest.approx(mps_of_knots(knots))


def test_a_speed_keeps_its_fraction() -> None:
    (sentence,) = parsed(rmc(knots="43.9"))
    assert sentence.speed_mps is not None
    assert mph(sentence.speed_mps) == pytest.approx(50.519, abs=1e-3)


def test_a_time_keeps_its_fraction_and_is_not_rounded() -> None:
    (sentence,) = parsed(b"$GPRMC,101112.60,A,4500.0000,N,08700.0000,W,58.5,90.0,150124,,,A*44\r\n")
    assert sentence.time_s == pytest.approx(36672.6)


def test_an_empty_void_rmc_is_no_fix_without_time() -> None:
    (sentence,) = parsed(b"$GPRMC,,V,,,,,,,,,,N*53\r\n")
    assert not sentence.is_valid
    assert sentence.time_s is None


def test_two_sentences_on_one_line_are_both_read() -> None:
    line = (
        b"$GPRMC,101112.00,A,4500.0000,N,08700.0000,W,58.5,90.0,150124,,,A*42"
        b"$GPVTG,90.0,T,,M,58.5,N,108.3,K,A*06\r\n"
    )
    one, two = parsed(line)
    assert (one.kind, two.kind) == ("RMC", "VTG")
    assert one.speed_mps == two.speed_mps == mps_of_knots(58.5)


def test_binary_before_a_sentence_on_its_line_costs_nothing() -> None:
    line = bytes.fromhex(
        "b56201070400010203041665244750524d432c3130313131322e30302c412c343530302e303030302c4e2c"
        "30383730302e303030302c572c35382e352c39302e302c3135303132342c2c2c412a34320d0a"
    )
    (sentence,) = parsed(line)
    assert sentence.speed_mps == mps_of_knots(58.5)


def test_doubled_dollar_signs_and_a_cut_sentence_resynchronise() -> None:
    parser = Parser()
    found = list(parser.feed(b"$$" + rmc()[:30] + b"$" + rmc() + b"*42,A$$$"))
    assert [sentence.kind for sentence in found] == ["RMC"]
    assert parser.begun == 8
    assert parser.refused == {Refusal.NO_CHECKSUM: 1}


def test_a_damaged_star_does_not_turn_checking_off() -> None:
    line = b"$GPRMC,101112.00,A,4500.0000,N,08700.0000,W,78.5,90.0,150124,,,Aj40\r\n"
    assert refused(line + b"\r\n") == {Refusal.NO_CHECKSUM: 1}


def test_a_checksum_that_is_not_hexadecimal_is_none() -> None:
    assert refused(b"$GNVTG,,T,,M,0.145,N,0.269,K,A*3)\r\n") == {Refusal.NO_CHECKSUM: 1}


def test_a_wrong_checksum_is_refused() -> None:
    assert refused(rmc().replace(b"58.5", b"59.5")) == {Refusal.BAD_CHECKSUM: 1}


def test_a_sentence_longer_than_the_bound_is_refused_as_such() -> None:
    long = signed("GPRMC," + "0" * 400)
    assert refused(long) == {Refusal.TOO_LONG: 1}


def test_a_long_sentence_within_the_bound_is_read() -> None:
    place = "4500." + "0" * 60 + ",N,08700." + "0" * 60 + ",W"
    (sentence,) = parsed(rmc(place=place))
    assert sentence.lat_deg == 45.0


@pytest.mark.parametrize(
    "line",
    [
        rmc(place="9954.7000,N,08700.0000,W"),
        rmc(place="4500.0000,N,98915.0700,W"),
        rmc(place="4560.0000,N,08700.0000,W"),
        rmc(place="4500.0000,,08700.0000,W"),
        rmc(place="4500.0000,N,08700.0000,"),
        rmc(place="4500.0000,E,08700.0000,N"),
        rmc(place="45x0.0000,N,08700.0000,W"),
        rmc(place="-500.0000,N,08700.0000,W"),
        rmc(place=",,,"),
        rmc(time="251112.00"),
        rmc(time="106012.00"),
        rmc(time="101160.00"),
        rmc(time="101112.0x"),
        rmc(time="10111"),
        rmc(knots="2x.205"),
        rmc(knots="-5.0"),
        rmc(knots="1e3"),
        rmc(knots="1000.1"),
        rmc(knots="nan"),
        rmc(track="360.1"),
        rmc(day="15012x"),
        rmc(status="AA"),
        signed("GPGGA,101112,4500.0,N,08700.0,W,12,08,1.0,200,M,,M,,"),
        signed("GPGGA,101112,4500.0,N,08700.0,W,1,08,x,200,M,,M,,"),
        signed("GPGGA,101112"),
        signed("GPGLL,4500.0,N,08700.0,W,256112,A,A"),
        signed("GPVTG,90.0,T,,M,58.5,K,108.3,N,A"),
        signed("GPGSA,A,4,,,,,,,,,,,,,1.0,1.0,1.0"),
        signed("GPGST,101112,x,,,,1.0,y,1.0"),
        signed("GPRMC,"),
    ],
)
def test_a_field_that_can_not_be_is_refused_and_counted(line: bytes) -> None:
    assert refused(line) == {Refusal.BAD_FIELD: 1}


def test_a_day_that_no_calendar_has_leaves_the_place() -> None:
    for day in ("310224", "000000", "290223", "991399"):
        (sentence,) = parsed(rmc(day=day))
        assert sentence.is_valid
        assert sentence.date is None


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("290224", date(2024, 2, 29)),
        ("060180", date(1980, 1, 6)),
        ("311299", date(1999, 12, 31)),
        ("", None),
    ],
)
def test_dates_of_two_digit_years(day: str, expected: date | None) -> None:
    (sentence,) = parsed(rmc(day=day))
    assert sentence.date == expected


def test_a_leap_second_does_not_raise() -> None:
    line = b"$GPRMC,235960.00,A,4500.0000,N,08700.0000,W,30.0,90.0,311216,,,A*45\r\n"
    (sentence,) = parsed(line)
    assert sentence.time_s == 86400.0
    assert sentence.speed_mps == mps_of_knots(30.0)


@pytest.mark.parametrize("letter", "NSM")
def test_modes_of_no_fix_void_a_status_a(letter: str) -> None:
    assert not parsed(rmc(tail=f",,{letter}"))[0].is_valid
    (gll,) = parsed(signed(f"GPGLL,4500.0,N,08700.0,W,101112,A,{letter}"))
    assert not gll.is_valid


@pytest.mark.parametrize("letter", "ADEFRP")
def test_modes_of_a_fix_are_valid(letter: str) -> None:
    assert parsed(rmc(tail=f",,{letter}"))[0].is_valid


@pytest.mark.parametrize(
    ("quality", "is_valid"),
    [("", False), ("0", False), ("7", False), ("8", False)]
    + [(letter, True) for letter in "1234569"],
)
def test_quality_of_gga(quality: str, is_valid: bool) -> None:
    (sentence,) = parsed(
        signed(f"GPGGA,101112,4500.0000,N,08700.0000,W,{quality},08,1.1,200.0,M,-30.0,M,,")
    )
    assert sentence.is_valid is is_valid
    assert sentence.is_simulated is (quality == "8")


@pytest.mark.parametrize(
    ("modes", "is_valid"), [("NN", False), ("NDD", True), ("A", True), ("", False), ("SS", False)]
)
def test_modes_of_gns_are_one_for_each_constellation(modes: str, is_valid: bool) -> None:
    (sentence,) = parsed(
        signed(f"GNGNS,101112,4500.0000,N,08700.0000,W,{modes},11,1.3,168.9,39.5,,,V")
    )
    assert sentence.is_valid is is_valid


def test_empty_fields_of_a_live_stream_are_no_data() -> None:
    vtg, one = parsed(
        b"$GNVTG,,T,,M,0.09,N,0.17,K,D*37\r\n"
        b"$GNRMC,223937.80,A,4540.9268029,N,08753.7238711,W,0.03,,290420,,,D*4A\r\n"
    )
    assert vtg.track_deg is None
    assert one.track_deg is None
    assert one.speed_mps == mps_of_knots(0.03)
    assert one.time_s == pytest.approx(81577.8)


def test_vtg_in_kilometres_alone_is_a_speed() -> None:
    (sentence,) = parsed(signed("GPVTG,,T,,M,,N,36.0,K,A"))
    assert sentence.speed_mps == pytest.approx(10.0)


def test_a_makers_own_sentence_is_not_ours() -> None:
    parser = Parser()
    assert list(parser.feed(signed("PGRMC,A,218.8,100,6378137.000,298.257223563"))) == []
    assert parser.refused.total() == 0
    assert parser.begun == 1


def test_any_two_letters_are_a_talker() -> None:
    for talker in ("GN", "GL", "GA", "BD", "QZ", "IN", "II", "YD", "SD"):
        body = f"{talker}RMC,101112,A,4500.0,N,08700.0,W,1.0,,150124,,"
        assert parsed(signed(body))[0].talker == talker


def test_any_chunks_give_the_same_sentences() -> None:
    octets = (RECORDINGS / "gp-320fw-2019-04-07-coldboot.log").read_bytes()
    whole = parsed(octets)
    for size in (1, 2, 3, 7, 64):
        parser = Parser()
        found = [
            sentence
            for begin in range(0, len(octets), size)
            for sentence in parser.feed(octets[begin : begin + size])
        ]
        assert found == whole
        assert parser.begun == octets.count(b"$")


def independently_good(octets: bytes) -> int:
    """How many sentences of the used types carry a good checksum, by other means."""
    count = 0
    pattern = rb"\$([A-OQ-Z][A-Z](?:RMC|GGA|GNS|GLL|VTG|GSA|GST|ZDA),[^$*]*)\*([0-9A-Fa-f]{2})"
    for match in re.finditer(pattern, octets):
        total = 0
        for octet in match[1]:
            total ^= octet
        count += total == int(match[2], 16)
    return count


SEED = b"".join(
    (RECORDINGS / name).read_bytes()[:1500]
    for name in ("isync.log", "neo-m8n.log", "telit-pls83-w.log", "hemi.log")
)
EDITS = st.lists(
    st.tuples(
        st.integers(0, len(SEED) - 1),
        st.integers(0, 12),
        st.one_of(st.binary(max_size=6), st.sampled_from([b"$", b"*", b",", b"$GPRMC,", b"\r\n"])),
    ),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(edits=EDITS, sizes=st.lists(st.integers(1, 300), min_size=1, max_size=8))
def test_mutated_bytes_raise_nothing_and_pass_no_wrong_checksum(
    edits: list[tuple[int, int, bytes]], sizes: list[int]
) -> None:
    octets = SEED
    for at, length, put in edits:
        octets = octets[:at] + put + octets[at + length :]
    parser = Parser()
    found: list[Sentence] = []
    begin = 0
    turn = 0
    while begin < len(octets):
        size = sizes[turn % len(sizes)]
        found += parser.feed(octets[begin : begin + size])
        begin, turn = begin + size, turn + 1
    assert found == parsed(octets)
    assert len(found) == parser.accepted <= independently_good(octets)
    assert parser.begun == octets.count(b"$")
    for sentence in found:
        assert sentence.lat_deg is None or -90.0 <= sentence.lat_deg <= 90.0
        assert sentence.lon_deg is None or -180.0 <= sentence.lon_deg <= 180.0
        assert sentence.speed_mps is None or 0.0 <= sentence.speed_mps <= mps_of_knots(1000.0)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["RMC", "GGA", "GNS", "GLL", "VTG", "GSA", "GST", "ZDA"]),
    st.lists(
        st.one_of(
            st.text(
                st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="$*,"),
                max_size=9,
            ),
            st.sampled_from(["", "A", "V", "N", "E", "W", "4500.0", "08700.0", "101112", "1e9"]),
        ),
        max_size=20,
    ),
)
def test_forged_checksums_get_no_further_than_the_fields(kind: str, fields: list[str]) -> None:
    for sentence in parsed(signed(",".join([f"GP{kind}", *fields]))):
        assert sentence.lat_deg is None or -90.0 <= sentence.lat_deg <= 90.0
        assert sentence.time_s is None or 0.0 <= sentence.time_s <= 86401.0
        assembler = Assembler()
        assembler.add(sentence)
        assembler.finish()


def test_memory_is_bounded_under_endless_rubbish() -> None:
    parser = Parser()
    tracemalloc.start()
    try:
        for chunk in (b"U" * 960, b"$GPRMC," + b"1" * 900, b"$" * 900, bytes(range(256)) * 4):
            for _ in range(500):
                list(parser.feed(chunk))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000
    assert len(parser._kept) <= MAX_SENTENCE_BYTES


def assembled(octets: bytes) -> list[Epoch]:
    assembler = Assembler()
    epochs: list[Epoch] = []
    for sentence in Parser().feed(octets):
        epochs += assembler.add(sentence)
    return epochs + assembler.finish()


def gga(time: str, minutes: str = "00.0000", quality: str = "1", talker: str = "GP") -> bytes:
    return signed(f"{talker}GGA,{time},45{minutes},N,08700.0000,W,{quality},08,1.1,200.0,M,,M,,")


def gll(time: str, minutes: str = "00.0000") -> bytes:
    return signed(f"GPGLL,45{minutes},N,08700.0000,W,{time},A,A")


def test_two_talkers_of_one_epoch_are_one_epoch() -> None:
    octets = gga("101112") + gga("101112", talker="GL") + rmc("101112") + rmc("101113")
    assert [epoch.sentence for epoch in assembled(octets)] == [3, 4]


def test_an_epoch_split_over_time_is_still_one() -> None:
    octets = rmc("101112") + rmc("101113") + gga("101112") + gga("101113") + rmc("101114")
    epochs = assembled(octets)
    assert [epoch.time_s for epoch in epochs] == [36672.0, 36673.0, 36674.0]
    assert [epoch.hdop for epoch in epochs] == [1.1, 1.1, None]


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_gll_of_another_second_moves_no_epoch(shift: int) -> None:
    octets = b""
    for turn in range(6):
        minutes = f"{turn * 0.02:07.4f}"  # 37 m a second
        octets += rmc(f"1011{12 + turn}", place=f"45{minutes},N,08700.0000,W")
        octets += gga(f"1011{12 + turn}", minutes) + gll(f"1011{12 + turn + shift}", minutes)
    epochs = assembled(octets)
    assert sum(epoch.speed_mps is not None for epoch in epochs) == 6
    for epoch in epochs[1:6]:
        assert epoch.time_s is not None
        turn = round(epoch.time_s - 36672)
        assert epoch.lat_deg == pytest.approx(45.0 + turn * 0.02 / 60)
        assert epoch.speed_mps is not None


def test_a_zda_of_another_second_only_dates() -> None:
    octets = gga("101112") + signed("GPZDA,101114.00,15,01,2024,00,00") + gga("101113")
    epochs = assembled(octets)
    assert [epoch.time_s for epoch in epochs] == [36672.0, 36673.0]
    assert {epoch.date for epoch in epochs} == {date(2024, 1, 15)}


def test_a_date_follows_the_clock_over_midnight() -> None:
    octets = signed("GPZDA,235959.00,31,12,2024,00,00") + gga("235959") + gga("000000")
    assert [epoch.date for epoch in assembled(octets)] == [date(2024, 12, 31), date(2025, 1, 1)]


def test_void_rmc_beside_a_good_gga_is_no_epoch() -> None:
    assert assembled(rmc("101112", status="V") + gga("101112")) == []


def test_simulated_gga_voids_a_good_rmc() -> None:
    assert assembled(rmc("101112") + gga("101112", quality="8")) == []


def test_speed_comes_of_vtg_where_rmc_is_absent() -> None:
    vtg = signed("GPVTG,90.0,T,,M,10.0,N,18.5,K,A")
    for octets in (gga("101112") + vtg, vtg + gga("101112")):
        (epoch,) = assembled(octets)
        assert epoch.speed_mps == mps_of_knots(10.0)
        assert epoch.track_deg == 90.0


def test_speed_of_rmc_is_not_overruled_by_vtg() -> None:
    vtg = signed("GPVTG,90.0,T,,M,10.0,N,18.5,K,A")
    (epoch,) = assembled(rmc("101112") + vtg)
    assert epoch.speed_mps == mps_of_knots(58.5)


def test_gst_and_gsa_belong_to_their_epoch() -> None:
    gst = signed("GPGST,101112,8.0,,,,3.0,4.0,6.0")
    gsa = signed("GPGSA,A,2,01,02,,,,,,,,,,,2.0,1.5,1.3")
    (epoch,) = assembled(rmc("101112") + gsa + gst)
    assert (epoch.gst_m, epoch.mode, epoch.hdop, epoch.sentence) == (5.0, 2, 1.5, 3)


def test_receivers_without_the_time_give_an_epoch_for_each_of_their_sentences() -> None:
    assert len(assembled(rmc("") + rmc("") + rmc(""))) == 3
