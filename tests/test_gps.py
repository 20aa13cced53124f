"""The receiver's line: plugged, unplugged, held, silent, at the wrong baud."""

from __future__ import annotations

import os
import queue
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from firmware.buses.uart import Uart
from firmware.buses.uart_fake import FakeReceiver
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.gps.fixes import FixSettings
from firmware.readings import Channel, Fix, Missing, Reading, Receiver, Why
from firmware.sources.gps import Gps
from firmware.units import mps_of_knots

SETTINGS = FixSettings(floor=date(2024, 1, 1))
FAST = 10.0  # ride seconds a second: retries and silences of seconds pass in tenths


def rmc(second: int, knots: float = 20.0) -> bytes:
    body = f"GPRMC,10{second // 60:02d}{second % 60:02d}.00,A,4500.0000,N,08700.0000,W"
    body += f",{knots},90.0,150124,,,A"
    total = 0
    for octet in body.encode():
        total ^= octet
    return f"${body}*{total:02X}\r\n".encode()


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    with FakeReceiver() as one:
        yield one


class Listener:
    """A source that runs, and the readings that it posts."""

    def __init__(self, port: str) -> None:
        self.readings: queue.Queue[Reading] = queue.Queue()
        self.gps = Gps(port, 9600, SETTINGS, Clock(FAST, from_zero=True))
        self.gps.start(self.readings.put)

    def until(self, is_wanted: Callable[[Reading], bool]) -> Reading:
        """The next reading of that kind; fails after ten seconds of none, or 500 of others."""
        for _ in range(500):
            reading = self.readings.get(timeout=60.0)
            if is_wanted(reading):
                return reading
        raise AssertionError("no such reading came")

    def missing(self, words: str) -> Missing:
        def says(reading: Reading) -> bool:
            return isinstance(reading.value, Missing) and words in reading.value.detail

        value = self.until(says).value
        assert isinstance(value, Missing)
        return value

    def fix(self, receiver: FakeReceiver, second: int) -> Fix:
        """Says a sentence until it is heard: opening a port throws away what it held."""
        for _ in range(500):
            receiver.write(rmc(second))
            try:
                reading = self.readings.get(timeout=0.05)
            except queue.Empty:
                continue
            if isinstance(reading.value, Fix):
                return reading.value
        raise AssertionError("no fix came")


@pytest.fixture
def listener(receiver: FakeReceiver) -> Iterator[Listener]:
    one = Listener(receiver.port)
    yield one
    one.gps.stop()


def test_a_fix_comes_from_the_line_stamped_by_the_clock(
    receiver: FakeReceiver, listener: Listener
) -> None:
    assert listener.fix(receiver, 1).speed_mps == mps_of_knots(20.0)
    receiver.write(rmc(2))
    reading = listener.until(lambda one: isinstance(one.value, Fix))
    assert reading.source == "gps"
    assert 0.0 < reading.mono_s < 600.0


def test_unplug_is_told_and_replug_is_found_without_a_restart(
    receiver: FakeReceiver, listener: Listener
) -> None:
    for turn in range(3):
        assert listener.fix(receiver, 1 + turn * 10)
        receiver.unplug()
        assert listener.missing("unplugged").why is Why.NO_ANSWER
        told = listener.missing("no receiver at this port")
        assert told.detail == (
            f"{receiver.port}: no receiver at this port. Plug it in, or set [gps] port."
        )
        receiver.replug()
    assert listener.fix(receiver, 60)


def test_a_port_that_was_never_there_is_tried_for_ever(tmp_path: Path) -> None:
    listener = Listener(str(tmp_path / "ttyACM0"))
    try:
        stamps_s = [
            listener.until(lambda one: isinstance(one.value, Missing)).mono_s for _ in range(4)
        ]
    finally:
        listener.gps.stop()
    gaps_s = [after - before for before, after in pairwise(stamps_s)]
    assert min(gaps_s) >= 1.0


def test_silence_of_three_seconds_is_told(receiver: FakeReceiver, listener: Listener) -> None:
    listener.fix(receiver, 1)
    heard = listener.missing("sends nothing")
    assert heard == Missing(
        Why.NO_ANSWER,
        f"{receiver.port}: the receiver sends nothing. Look at its power and cable.",
    )
    listener.missing("sends nothing")
    assert listener.fix(receiver, 9)


def test_rubbish_from_a_wrong_baud_rate_is_told_as_such(
    receiver: FakeReceiver, listener: Listener
) -> None:
    stop = threading.Event()

    def chatter() -> None:
        while not stop.wait(0.01):
            receiver.write(b"U\xd5\x00" * 30)

    thread = threading.Thread(target=chatter)
    thread.start()
    try:
        missing = listener.missing("baud rate")
    finally:
        stop.set()
        thread.join()
    assert missing == Missing(Why.NO_ANSWER, "bytes come but no sentence: is the baud rate right?")
    reading = listener.until(lambda one: one.channel is Channel.RECEIVER)
    assert isinstance(reading.value, Receiver)


def test_stop_frees_the_port_and_may_be_called_twice(receiver: FakeReceiver) -> None:
    listener = Listener(receiver.port)
    listener.fix(receiver, 1)
    listener.gps.stop()
    listener.gps.stop()
    with closing(Uart(receiver.port, 9600)) as uart:
        receiver.write(b"$")
        assert uart.read(5.0) == b"$"


def test_a_second_opener_is_refused_with_the_reason(receiver: FakeReceiver) -> None:
    with closing(Uart(receiver.port, 9600)), pytest.raises(BusError) as refusal:
        Uart(receiver.port, 9600)
    assert str(refusal.value) == (
        f"{receiver.port}: held by another program. Stop it (often gpsd, or a login on this port)."
    )


def test_a_port_held_by_another_program_is_taken_once_it_is_free(receiver: FakeReceiver) -> None:
    other = Uart(receiver.port, 9600)
    listener = Listener(receiver.port)
    try:
        listener.missing("held by another program")
        other.close()
        assert listener.fix(receiver, 1)
    finally:
        listener.gps.stop()


def test_what_is_no_serial_port_is_said(tmp_path: Path) -> None:
    file = tmp_path / "gps"
    file.write_bytes(b"")
    for path, what in (
        (file, "not a serial port. Set [gps] port."),
        (tmp_path, "a folder, not a serial port. Set [gps] port."),
    ):
        with pytest.raises(BusError) as refusal:
            Uart(str(path), 9600)
        assert str(refusal.value) == f"{path}: {what}"


def test_a_read_ends_in_time_without_bytes(receiver: FakeReceiver) -> None:
    with closing(Uart(receiver.port, 9600)) as uart:
        assert uart.read(0.01) == b""


@pytest.mark.parametrize("baud", [4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800])
def test_every_supported_baud_rate_opens(receiver: FakeReceiver, baud: int) -> None:
    with closing(Uart(receiver.port, baud)) as uart:
        receiver.write(b"$GP")
        assert uart.read(5.0) == b"$GP"


def test_the_baud_rate_of_an_open_port_is_changed_and_what_came_is_kept(
    receiver: FakeReceiver,
) -> None:
    with closing(Uart(receiver.port, 9600)) as uart:
        receiver.write(b"$GP")
        uart.set_baud(38400)
        assert uart.read(5.0) == b"$GP"
        assert termios.tcgetattr(uart.fileno())[4:6] == [termios.B38400, termios.B38400]


def test_a_baud_rate_can_t_be_changed_on_a_port_that_is_gone(receiver: FakeReceiver) -> None:
    with closing(Uart(receiver.port, 9600)) as uart:
        receiver.unplug()
        with pytest.raises(BusError, match="the receiver was unplugged"):
            uart.set_baud(38400)


def test_bytes_pass_unchanged_in_both_directions_of_the_line_discipline(
    receiver: FakeReceiver,
) -> None:
    every = bytes(range(256))
    with closing(Uart(receiver.port, 9600)) as uart:
        receiver.write(every)
        got = b""
        while len(got) < len(every):
            got += uart.read(5.0)
    assert got == every


def test_the_fakes_port_is_a_terminal_that_stays_at_its_path(receiver: FakeReceiver) -> None:
    path = receiver.port
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    assert os.isatty(descriptor)
    os.close(descriptor)
    receiver.unplug()
    receiver.unplug()
    assert not os.path.lexists(path)
    assert receiver.write(b"x") == 0
    receiver.replug()
    receiver.replug()
    assert receiver.port == path
    assert receiver.is_plugged


def test_a_line_that_nobody_reads_takes_what_it_holds_and_no_more(receiver: FakeReceiver) -> None:
    assert 0 < receiver.write(b"x" * 1_000_000, timeout_s=0.05) < 1_000_000
