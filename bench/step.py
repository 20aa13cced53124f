"""What it costs to judge a fix, beside what it costs to parse one sentence: CPU time alone."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median

import pynmea2

from bench import sentences
from bench.report import Column, Figures, Table
from firmware import monitor
from firmware.config.schema import fix_settings
from firmware.gps.fixes import FixTracker
from firmware.gps.nmea import Parser
from firmware.law.packs import load as load_law
from firmware.maps.packs import Pack, surroundings
from firmware.monitor import Monitor
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Reading,
    RtcTime,
    Tether,
    TetherState,
    Value,
)
from firmware.sources.drive import every_sensor, with_surroundings
from firmware.units import mps
from firmware.view import state_of

PACK = Path(__file__).parent.parent / "host_tools" / "demo" / "lake.gpkg"
EPOCHS = 3000
ROUNDS = 9
NEAR_M = 2000.0
DAYLIGHT = Light(8000.0, 80.0)

NOTE = (
    "CPU time; medians of rounds in turn. A step judges one fix of 10 Hz by all clauses of the "
    "law with every part fitted, lamps and tether known and the demo's zone pack around, which is "
    "read anew each kilometre by another thread: what comes of it is judged here. The first ride "
    "goes to and fro between 30 and 60 mph by night, past shanties; the others keep to one speed. "
    "The peer of both kinds of parsing is pynmea2.parse of the same RMC, no field read."
)

COLUMNS = (
    Column("what", "what"),
    Column("us", "us each", ",.2f"),
    Column("ratio", "of pynmea2.parse(RMC)", ".2f"),
)


def measure(share: float, say: Callable[[str], None]) -> Table:
    """Measures each in turn, `ROUNDS` times."""
    table = Table("step", "A judged step", COLUMNS, note=NOTE)
    ride = list(sentences.riding(max(30.0, EPOCHS / 10.0 * share), 10.0))
    rmc = [epoch[0].decode("ascii").strip() for _, epoch in ride]
    fixes = _fixes(ride)
    jobs: dict[str, Callable[[], tuple[float, int]]] = {
        "pynmea2.parse of an RMC": lambda: _parse_peer(rmc),
        "firmware.gps.nmea.Parser, an RMC": lambda: _parse(rmc),
        "FixTracker.feed, an epoch of six sentences": lambda: _track(ride),
        "Monitor.step of a fix, all clauses": lambda: _judge(fixes),
        **{f"- {what}": lambda ride=ride: _judge(ride) for what, ride in _rides(fixes)},
        "state_of, what a screen is told": lambda: _tell(fixes),
    }
    took_us: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(ROUNDS):
        say(f"step: round {number + 1} of {ROUNDS}")
        for name, job in jobs.items():
            cpu_s, count = job()
            took_us[name].append(cpu_s / count * 1e6)
    peer_us = median(took_us["pynmea2.parse of an RMC"])
    for name, each_us in took_us.items():
        row: Figures = {"what": name, "us": median(each_us), "rounds_us": each_us}
        table.rows.append(row | {"ratio": row["us"] / peer_us})
    return table


def _rides(fixes: list[Reading]) -> Iterator[tuple[str, list[Reading]]]:
    """The same way, ridden otherwise."""
    day = timedelta(hours=14)
    yield "by day", [_changed(one, utc=one.value.utc + day) for one in fixes]
    yield "by night, under the limit", [_changed(one, speed_mps=mps(30.0)) for one in fixes]
    # Faster and slower by turns, so that nothing is the same as at the last fix.
    over = [_changed(one, speed_mps=mps(60.0 + n % 7)) for n, one in enumerate(fixes)]
    yield "while a violation stands", over
    yield "among zones, slowly", [_among(n, one) for n, one in enumerate(fixes)]


def _changed(reading: Reading, **changes: object) -> Reading:
    return replace(reading, value=replace(reading.value, **changes))


def _among(number: int, reading: Reading) -> Reading:
    """Round and round past one of the demo's shanties at 9 mph, within 100 ft of it and without."""
    turn = 2.0 * math.pi * number / 720.0
    place = (44.0502 + 0.0004 * math.sin(turn), -88.4155 + 0.0006 * math.cos(turn))
    track_deg = math.degrees(math.atan2(-math.sin(turn), math.cos(turn))) % 360.0
    return _changed(
        reading, lat_deg=place[0], lon_deg=place[1], speed_mps=mps(9.0), track_deg=track_deg
    )


def tracker() -> FixTracker:
    """The gates as a unit has them, believing the ride's dates."""
    return FixTracker(fix_settings(every_sensor(), source="bench", trust_dates=True))


def _fixes(ride: list[tuple[float, list[bytes]]]) -> list[Reading]:
    track = tracker()
    readings = [one for at_s, epoch in ride for one in track.feed(b"".join(epoch), at_s)]
    return [one for one in readings if isinstance(one.value, Fix)]


def prepared(fix: Reading) -> Monitor:
    """A monitor that knows everything but the next fix; by night it is dark, by day bright."""
    core = monitor.build(every_sensor(), [load_law("wi")], frozenset(Channel))
    assert isinstance(fix.value, Fix)
    assert fix.value.utc is not None
    pack = Pack(PACK)
    near = surroundings([pack], fix.value.lat_deg, fix.value.lon_deg, NEAR_M)
    pack.close()
    known: dict[Channel, Value] = {
        Channel.RTC: RtcTime(fix.value.utc, 1.0),
        Channel.SURROUNDINGS: near,
        Channel.TETHER: Tether(TetherState.IN),
        Channel.ENGINE: Engine(True),
        Channel.LIGHT_HEAD: Light(850.0, 10.0),
        Channel.LIGHT_TAIL: Light(300.0, 10.0, 0.9),
        Channel.LIGHT_AMBIENT: DAYLIGHT if 14 <= fix.value.utc.hour < 22 else Light(0.0, 1.0),
    }
    for channel, value in known.items():
        core.step(Reading(channel, value, fix.mono_s, "bench"), fix.mono_s)
    return core


def _parse_peer(lines: list[str]) -> tuple[float, int]:
    parse = pynmea2.parse
    begin_s = time.process_time()
    for line in lines:
        parse(line)
    return time.process_time() - begin_s, len(lines)


def _parse(lines: list[str]) -> tuple[float, int]:
    parser = Parser()
    octets = [f"{line}\r\n".encode("ascii") for line in lines]
    begin_s = time.process_time()
    given = sum(1 for one in octets for _ in parser.feed(one))
    return time.process_time() - begin_s, given


def _track(ride: list[tuple[float, list[bytes]]]) -> tuple[float, int]:
    track = tracker()
    whole = [(at_s, b"".join(epoch)) for at_s, epoch in ride]
    begin_s = time.process_time()
    for at_s, octets in whole:
        track.feed(octets, at_s)
    return time.process_time() - begin_s, len(whole)


def _judge(fixes: list[Reading]) -> tuple[float, int]:
    core = prepared(fixes[0])
    pack = Pack(PACK)
    stream = list(with_surroundings(((one.mono_s, one) for one in fixes), [pack]))
    pack.close()
    begin_s = time.process_time()
    for at_s, reading in stream:
        core.step(reading, at_s)
        core.cues(at_s)
    return time.process_time() - begin_s, len(fixes)


def _tell(fixes: list[Reading]) -> tuple[float, int]:
    core = prepared(fixes[0])
    core.step(fixes[0], fixes[0].mono_s)
    begin_s = time.process_time()
    for _ in fixes:
        state_of(core, fixes[0].mono_s)
    return time.process_time() - begin_s, len(fixes)
