"""Real receivers' recordings, each beside what an independent program made of it.

An oracle's row is gpsd's report; where `oracle_caveat` in index.json says that it is wrong, the
sentences win. What the sentences say is read here by plain splitting, not by our parser.
"""

from __future__ import annotations

import bisect
import functools
import json
import queue
import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from firmware.buses.uart_fake import FakeReceiver
from firmware.clock import Clock
from firmware.gps.epochs import distance_m
from firmware.gps.fixes import EpochReport, FixSettings, FixTracker, paced
from firmware.readings import Channel, Fix, Missing, Reading
from firmware.sources.gps import Gps
from firmware.units import MPS_PER_KNOT

FOLDER = Path(__file__).parent / "data" / "nmea"
INDEX: dict[str, dict[str, Any]] = {
    entry["file"]: entry for entry in json.loads((FOLDER / "index.json").read_text())
}
NAMES = sorted(INDEX)
TRUSTING = FixSettings(floor=date(2000, 1, 1), trust_dates=True)

# Recordings in which the gates rightly hold valid RMC back, and how many. humminbird: its time
# steps back by 13 s, and five epochs (two of RMC) must follow before that is believed. tahoe: one
# epoch between 35 and 25 knots says 58 and a course 50 degrees off. aerorust: a receiver behind a
# window, whose course turns by 177, 58 and 44 degrees in a second and whose places wander.
HELD_BACK = {
    "aerorust_nmea1.log": 3,
    "dotmorten_tahoe_dusk.log": 1,
    "humminbird-M37.log": 2,
}

# How many rows of an oracle the sentences overrule. bundg: in one second GLL is missing, and RMC
# and GGA have different places. tr737A+, mtk-3301: gpsd gives the place of a GGA of quality 0.
TOLD_WRONG = {
    "bundg_zeus_9.log": 25,
    "mtk-3301.log": 4,
    "pynmeagps_nmea4.log": 1,
    "tr737A+.log": 4,
}

# A sampler of a maker's sentences: its RMC is in Canada and its GGA in England.
SAMPLERS = {"pynmeagps_nmea4.log"}


@dataclass(frozen=True)
class Said:
    """A valid RMC, as the bytes say it."""

    number: int
    time: str
    lat_deg: float
    lon_deg: float
    speed_mps: float | None


def has_good_checksum(sentence: bytes) -> bool:
    total = 0
    for octet in sentence[1:-3]:
        total ^= octet
    return total == int(sentence[-2:], 16)


def degrees(text: str, side: str) -> float:
    whole, minutes = text[: text.index(".") - 2], text[text.index(".") - 2 :]
    return (int(whole) + float(minutes) / 60) * (-1 if side in "SW" else 1)


def good_sentences(octets: bytes) -> list[tuple[int, list[str]]]:
    """Every sentence with a good checksum anywhere in the bytes, and its number."""
    found = []
    for number, match in enumerate(re.finditer(rb"\$([^$*\r\n]*\*[0-9A-Fa-f]{2})?", octets), 1):
        if match[1] and has_good_checksum(match[0]):
            found.append((number, match[0][1:-3].decode("latin1").split(",")))
    return found


def valid_rmc(octets: bytes) -> list[Said]:
    rows = []
    for number, fields in good_sentences(octets):
        if len(fields[0]) != 5 or not fields[0].endswith("RMC") or fields[2] != "A":
            continue
        if len(fields) > 12 and fields[12] in "NSM" and fields[12]:
            continue
        rows.append(
            Said(
                number,
                fields[1],
                degrees(fields[3], fields[4]),
                degrees(fields[5], fields[6]),
                float(fields[7]) * MPS_PER_KNOT if fields[7] else None,
            )
        )
    return rows


@functools.cache
def played(name: str) -> tuple[tuple[EpochReport, ...], tuple[Reading, ...], FixTracker]:
    """A recording through the tracker, at its own pace."""
    reports: list[EpochReport] = []
    readings: list[Reading] = []
    tracker = FixTracker(TRUSTING, on_epoch=reports.append)
    for at_s, octets in paced((FOLDER / name).read_bytes()):
        readings += tracker.feed(octets, 1000.0 + at_s)
    tracker.finish()
    return tuple(reports), tuple(readings), tracker


def oracle_rows(name: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (FOLDER / INDEX[name]["oracle"]).read_text().splitlines()]
    if name == "telit-pls83-w.log":
        # Its oracle was counted with the blank line that follows each sentence.
        for row in rows:
            row["after_sentence"] //= 2
    return rows


def nearest(reports: list[EpochReport], row: dict[str, Any]) -> EpochReport:
    """The epoch that a row speaks of: the last before its sentence, or the one that it is in."""
    place = bisect.bisect_right(reports, row["after_sentence"], key=lambda one: one.sentence)
    return min(
        reports[max(0, place - 1) : place + 1],
        key=lambda one: distance_m(one.lat_deg, one.lon_deg, row["lat"], row["lon"]),
    )


@functools.cache
def by_time(name: str) -> dict[str, list[EpochReport]]:
    """The dated reports of a recording by their second."""
    found: dict[str, list[EpochReport]] = {}
    for report in played(name)[0]:
        if report.utc is not None:
            found.setdefault(report.utc.strftime("%Y-%m-%dT%H:%M:%S"), []).append(report)
    return found


def of_time(name: str, time: str) -> list[EpochReport]:
    wanted = datetime.fromisoformat(time)
    return [
        report
        for report in by_time(name).get(time[:19], [])
        if report.utc is not None and abs((report.utc - wanted).total_seconds()) < 0.002
    ]


def time_text(report: EpochReport) -> str:
    assert report.utc is not None
    return report.utc.strftime("%H%M%S")


@pytest.mark.parametrize("name", NAMES)
def test_no_valid_rmc_with_a_good_checksum_is_lost(name: str) -> None:
    by_clock: dict[str, list[EpochReport]] = {}
    for reports in by_time(name).values():
        by_clock.setdefault(time_text(reports[0]), []).extend(reports)
    for said in valid_rmc((FOLDER / name).read_bytes()):
        near = [one for one in by_clock.get(said.time[:6], []) if said.number <= one.sentence]
        assert near, f"RMC of {said.time}, sentence {said.number}"
        report = min(near, key=lambda report: report.sentence - said.number)
        apart_m = distance_m(report.lat_deg, report.lon_deg, said.lat_deg, said.lon_deg)
        # B&G's RMC carries the place of the second before.
        room_m = 4.0 if name == "bundg_zeus_9.log" else 2.0
        assert apart_m < room_m or name in SAMPLERS
        if said.speed_mps is not None:
            assert report.speed_mps == pytest.approx(said.speed_mps, abs=0.1)
            assert not report.derived


@pytest.mark.parametrize("name", NAMES)
def test_every_fix_of_the_oracle_is_found_at_its_sentence(name: str) -> None:
    if "simulated" in INDEX[name].get("oracle_caveat", ""):
        assert played(name)[0] == ()  # the sentences win: all are void and simulated
        return
    reports, _, _ = played(name)
    octets = (FOLDER / name).read_bytes()
    speeds_mps = {
        round(float(fields[place]) * MPS_PER_KNOT, 2)
        for _, fields in good_sentences(octets)
        for kind, place in (("RMC", 7), ("VTG", 5))
        if fields[0][2:] == kind and len(fields) > place and fields[place]
    }
    rmc_mps: dict[str, list[float]] = {}
    for said in valid_rmc(octets):
        clock = f"{said.time[:2]}:{said.time[2:4]}:{said.time[4:6]}"
        rmc_mps.setdefault(clock, []).append(said.speed_mps or 0.0)
    rows = [row for row in oracle_rows(name) if "lat" in row]
    is_told_of = "oracle_caveat" in INDEX[name]
    told_wrong = 0
    for row in rows:
        candidates = of_time(name, row["time"]) if "time" in row else list(reports)
        assert candidates, row
        report = nearest(candidates, row)
        apart_m = distance_m(report.lat_deg, report.lon_deg, row["lat"], row["lon"])
        if is_told_wrong(name, row, apart_m):
            told_wrong += 1
            continue
        assert apart_m < 2.0, (row, report)
        # A speed that no sentence carries is gpsd's own, derived from places, without a track.
        is_carried = "track" in row or not is_told_of
        if "speed" in row and is_carried and round(row["speed"], 2) in speeds_mps:
            # Where RMC and VTG of a second disagree, gpsd has the last, and we have RMC's.
            allowed_mps = [row["speed"], *rmc_mps.get(row.get("time", "")[11:19], [])]
            assert report.derived or any(
                report.speed_mps == pytest.approx(speed_mps, abs=0.1) for speed_mps in allowed_mps
            ), row
    assert told_wrong <= TOLD_WRONG.get(name, 0)


def is_told_wrong(name: str, row: dict[str, Any], apart_m: float) -> bool:
    """Whether the sentences win over this row."""
    if name in SAMPLERS:
        return apart_m > 1000.0
    if name == "bundg_zeus_9.log":
        return 2.0 <= apart_m < 4.0
    return "time" not in row and name in TOLD_WRONG and apart_m < 50.0


def void_times(octets: bytes) -> set[str]:
    """Times of day that an RMC calls void, and none calls valid."""
    valid = {said.time for said in valid_rmc(octets)}
    return {
        fields[1]
        for _, fields in good_sentences(octets)
        if fields[0][2:] == "RMC" and fields[2] != "A" and fields[1]
    } - valid


@pytest.mark.parametrize("name", NAMES)
def test_no_fix_comes_of_void_or_simulated_sentences(name: str) -> None:
    reports, readings, _ = played(name)
    void = {time[:6] for time in void_times((FOLDER / name).read_bytes())}
    assert not [report for report in reports if report.utc and time_text(report) in void]
    fixes = [reading for reading in readings if isinstance(reading.value, Fix)]
    if INDEX[name]["kind"] == "simulated" or not reports:
        assert not fixes
        assert any(isinstance(reading.value, Missing) for reading in readings)


@pytest.mark.parametrize("name", NAMES)
def test_a_speed_is_given_at_the_sentence_that_carries_it(name: str) -> None:
    octets = (FOLDER / name).read_bytes()
    begins = [match.start() for match in re.finditer(rb"\$", octets)]
    said = {one.number: one for one in valid_rmc(octets)}
    tracker = FixTracker(TRUSTING)
    held = 0
    fixed_at: dict[str, int] = {}
    for number, begin in enumerate(begins, 1):
        end = begins[number] if number < len(begins) else len(octets)
        found = [
            reading.value
            for reading in tracker.feed(octets[begin:end], number * 0.01)
            if isinstance(reading.value, Fix)
        ]
        row = said.get(number)
        if row is None or row.speed_mps is None:
            continue
        if not found:
            # A second talker's RMC of the same epoch says nothing new.
            held += number - fixed_at.get(row.time, -100) > 30
            continue
        fixed_at[row.time] = number
        assert not found[-1].derived
        assert found[-1].speed_mps in (0.0, pytest.approx(row.speed_mps, abs=1e-9))
    assert held == HELD_BACK.get(name, 0)


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_counted_from_their_dollar_signs(name: str) -> None:
    octets = (FOLDER / name).read_bytes()
    _, _, tracker = played(name)
    assert tracker.parser.begun == octets.count(b"$")


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_paced_without_losing_a_byte(name: str) -> None:
    octets = (FOLDER / name).read_bytes()
    chunks = paced(octets)
    assert b"".join(chunk for _, chunk in chunks) == octets
    times_s = [at_s for at_s, _ in chunks]
    assert times_s[0] == 0.0
    assert times_s == sorted(times_s)


def test_the_tahoe_drive_is_paced_at_its_two_seconds_and_fresh_for_four_and_a_half() -> None:
    chunks = paced((FOLDER / "dotmorten_tahoe_dusk.log").read_bytes())
    assert chunks[-1][0] == 3984.0  # 01:48:30 to 02:54:54
    assert chunks[1][0] == 2.0
    _, readings, _ = played("dotmorten_tahoe_dusk.log")
    fixes = [reading for reading in readings if reading.channel is Channel.FIX]
    assert {reading.fresh_s for reading in fixes[2:]} == {4.5}


def test_at_rest_the_static_receivers_stand_still() -> None:
    for name in ("skytraq-dgps.log", "ublox-8.log", "gpsdf.log", "hemi.log"):
        _, readings, _ = played(name)
        fixes = [reading.value for reading in readings if isinstance(reading.value, Fix)]
        assert {fix.speed_mps for fix in fixes[12:]} == {0.0}


@pytest.mark.parametrize("name", NAMES)
def test_the_source_reads_the_same_over_a_serial_line(name: str) -> None:
    octets = (FOLDER / name).read_bytes()
    wanted = [
        reading.value
        for reading in FixTracker(TRUSTING).feed(octets, 0.0)
        if isinstance(reading.value, Fix)
    ]
    readings: queue.Queue[Reading] = queue.Queue()
    with FakeReceiver() as receiver:
        gps = Gps(receiver.port, 115200, replace(TRUSTING, source="gps@test"), Clock())
        receiver.write(b"\r\n")
        gps.start(readings.put)
        try:
            await_open(receiver, readings)
            pieces = INDEX[name].get("chunks", [len(octets)])
            begin = 0
            for size in pieces:
                receiver.write(octets[begin : begin + size])
                begin += size
            found: list[Fix] = []
            while len(found) < len(wanted):
                reading = readings.get(timeout=60.0)
                if isinstance(reading.value, Fix):
                    assert reading.source == "gps@test"
                    found.append(reading.value)
        finally:
            gps.stop()
    assert found == wanted


def await_open(receiver: FakeReceiver, readings: queue.Queue[Reading]) -> None:
    """Sends bytes that mean nothing until the source answers: opening a port flushes it."""
    for _ in range(500):
        receiver.write(b"\r\n")
        try:
            readings.put(readings.get(timeout=0.05))
        except queue.Empty:
            continue
        return
    raise AssertionError("the source does not answer")
