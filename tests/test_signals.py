"""How strong the satellites are heard."""

from __future__ import annotations

import queue
from datetime import date
from pathlib import Path

import pytest

from firmware.buses.receivers_fake import ListeningReceiver, UbloxChip
from firmware.clock import Clock
from firmware.gps.fixes import FixSettings, FixTracker, paced
from firmware.gps.receivers import sentence
from firmware.readings import Fix, Reading, Receiver
from firmware.signals import Signals
from firmware.sources.gps import Gps

NMEA = Path(__file__).parent / "data" / "nmea"
FOUR = sentence("GPGSV,2,1,05,02,45,120,41,05,30,200,38,07,12,310,29,12,80,010,47")
FIFTH = sentence("GPGSV,2,2,05,15,10,090,")


def test_the_four_strongest_are_what_is_told() -> None:
    signals = Signals()
    signals.hear(FOUR + FIFTH, 10.0)
    assert signals.cn0_dbhz(10.0) == (41 + 38 + 29 + 47) / 4
    signals.hear(sentence("GAGSV,1,1,01,02,45,120,50"), 10.5)  # another system's satellite 2
    assert signals.cn0_dbhz(10.5) == (50 + 47 + 41 + 38) / 4


def test_fewer_than_four_tell_nothing() -> None:
    signals = Signals()
    assert signals.cn0_dbhz(0.0) is None
    signals.hear(sentence("GPGSV,1,1,03,02,45,120,41,05,30,200,38,07,12,310,29"), 1.0)
    assert signals.cn0_dbhz(1.0) is None


def test_what_is_no_longer_heard_is_forgotten() -> None:
    signals = Signals()
    signals.hear(FOUR, 10.0)
    assert signals.cn0_dbhz(22.0) is not None
    assert signals.cn0_dbhz(22.1) is None


def test_the_frequency_of_a_satellite_is_no_satellite() -> None:
    signals = Signals()
    signals.hear(sentence("GPGSV,1,1,04,02,45,120,41,05,30,200,38,07,12,310,29,12,8,10,47,8"), 1.0)
    assert signals.cn0_dbhz(1.0) == (41 + 38 + 29 + 47) / 4


@pytest.mark.parametrize("size", [1, 3, 16])
def test_sentences_are_read_however_they_are_split(size: int) -> None:
    signals = Signals()
    stream = sentence("GPGGA,1") + FOUR + FIFTH
    for at in range(0, len(stream), size):
        signals.hear(stream[at : at + size], 1.0)
    assert signals.cn0_dbhz(1.0) == 38.75


def test_a_wrong_checksum_and_wrong_fields_tell_nothing() -> None:
    signals = Signals()
    signals.hear(FOUR.replace(b"47", b"99"), 1.0)
    signals.hear(sentence("GPGSV,1,1,04,02,45,120,999,05,,,A,07,,,00,,8,10,47"), 1.0)
    signals.hear(sentence("GPGSV,1"), 1.0)
    assert signals.cn0_dbhz(1.0) is None


def test_memory_is_bounded() -> None:
    signals = Signals()
    for number in range(5000):
        signals.hear(sentence(f"GPGSV,1,1,1,{number},1,1,40") + b"$" + b"9" * 400, number * 0.1)
    assert len(signals._heard) <= 200
    assert len(signals._kept) < 100


def test_recordings_say_what_their_receivers_heard() -> None:
    heard = {}
    for name in ("ublox-8.log", "neo-m8n.log", "dotmorten_tahoe_dusk.log"):
        signals = Signals()
        for at_s, octets in paced((NMEA / name).read_bytes()):
            signals.hear(octets, at_s)
        heard[name] = signals.cn0_dbhz(at_s)
    assert all(one is not None and 20.0 < one < 55.0 for one in heard.values()), heard


def test_a_receiver_s_drop_outs_are_counted() -> None:
    tracker = FixTracker(FixSettings(date(2024, 1, 1)))
    told = []

    def say(second: int, status: str) -> None:
        body = f"GPRMC,1011{second:02d},{status},4500.0000,N,08700.0000,W,0.1,90.0,150124,,,A"
        readings = tracker.feed(sentence(body), 100.0 + second)
        told.extend(one.value.dropouts for one in readings if isinstance(one.value, Receiver))

    for second in (*range(10), 14, 15):
        say(second, "A")  # four seconds are missing
    for second in range(16, 20):
        say(second, "V")  # and then the fix
    for second in range(20, 23):
        say(second, "A")
    assert told[9] == 0
    assert told[-1] == 3  # the gap, the loss, and the seconds until the fix was back


def test_the_strength_reaches_the_receiver_s_reading_after_the_fix() -> None:
    clock = Clock(6.0, from_zero=True)
    receiver = ListeningReceiver(lambda: UbloxChip(baud=38400), clock)
    receiver.chip.every["GSV"] = 1
    readings: queue.Queue[Reading] = queue.Queue()
    gps = Gps(receiver.port, 38400, FixSettings(date(2024, 1, 1)), clock)
    gps.start(readings.put)
    try:
        for _ in range(200):
            value = readings.get(timeout=60.0).value
            if isinstance(value, Receiver) and value.cn0_dbhz is not None:
                assert value.cn0_dbhz == (41 + 38 + 29 + 35) / 4
                return
            assert isinstance(value, (Fix, Receiver))
    finally:
        gps.stop()
        receiver.close()
    raise AssertionError("no strength came")
