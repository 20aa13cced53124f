"""The peer: what anyone would write with pyserial and pynmea2, in one loop.

It asks pynmea2 for the fields that a monitor needs, each once: six of RMC, five of GGA. To read
more of them would only be slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pynmea2
import serial

from firmware.clock import Clock
from firmware.monitor import Monitor
from firmware.outputs.base import Output
from firmware.readings import Channel, Fix, Reading
from firmware.units import MPS_PER_KNOT, mps


def fields(message: Any) -> tuple[Any, ...]:  # pynmea2 has no types
    """The fields of RMC and GGA that a monitor needs; of other sentences none."""
    match message:
        case pynmea2.types.talker.RMC():
            return (
                message.status,
                message.datetime,
                message.latitude,
                message.longitude,
                message.spd_over_grnd,
                message.true_course,
            )
        case pynmea2.types.talker.GGA():
            return (
                message.gps_qual,
                message.latitude,
                message.longitude,
                message.num_sats,
                message.horizontal_dil,
            )
    return ()


def parse_all(lines: Iterable[bytes]) -> int:
    """Parses every sentence and reads its fields; returns how many pynmea2 took."""
    parsed = 0
    for line in lines:
        try:
            fields(pynmea2.parse(line.decode("ascii")))
        except (pynmea2.ParseError, ValueError, TypeError):
            continue
        parsed += 1
    return parsed


def loop(
    line: serial.Serial, monitor: Monitor, output: Output, has_ended: Callable[[], bool]
) -> None:
    """Reads a line, parses it, judges each RMC and shows the cues, until it is told to end."""
    clock = Clock()
    while not has_ended():
        octets = line.readline()
        try:
            message = pynmea2.parse(octets.decode("ascii"))
            known = fields(message)
        except (pynmea2.ParseError, ValueError, TypeError):
            continue
        if message.sentence_type != "RMC":
            continue
        status, utc, lat_deg, lon_deg, knots, course_deg = known
        if status != "A":
            continue
        now_s = clock.mono_s()
        fix = Fix(lat_deg, lon_deg, 10.0, knots * MPS_PER_KNOT, mps(0.5), course_deg, utc, 3)
        monitor.step(Reading(Channel.FIX, fix, now_s, "naive", 2.5), now_s)
        output.show(monitor.cues(now_s))
