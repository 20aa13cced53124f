"""Receivers that understand their makers' commands, on a pseudo-terminal: the chips' side.

A pseudo-terminal carries bytes at any baud rate. So the fake looks at the rate that its other end
has set, and where that differs from its own it sends rubbish and understands nothing, as on a wire.
"""

from __future__ import annotations

import os
import re
import struct
import termios
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.buses.uart_fake import FakeReceiver
from firmware.clock import Clock
from firmware.gps.receivers import Replies, sentence, ubx

DEFAULT_EVERY = {"RMC": 1, "VTG": 1, "GGA": 1, "GSA": 1, "GSV": 1, "GLL": 1, "GST": 0, "ZDA": 0}
_SPEEDS = {getattr(termios, f"B{baud}"): baud
           for baud in (4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800)}  # fmt: skip
_TURN_S = 0.005
_UNREAD_S = 0.5
"""The longest, in real seconds, that a receiver waits until what it said was read; then nobody
listens, and the next time is not waited for."""


@dataclass
class Chip:
    """What a receiver keeps while it has power, and what it sends when it has just got it.

    `fastest_hz` is the most that it does; a receiver with a plain chip has no ear at all.
    """

    baud: int = 9600
    fastest_hz: float = 10.0
    rate_hz: float = 1.0
    every: dict[str, int] = field(default_factory=lambda: dict(DEFAULT_EVERY))
    wants_baud: int | None = None

    def obey(self, request: bytes) -> bytes:
        """Does what a frame or a sentence asks, and answers."""
        return b""

    def _take_period(self, period_ms: int) -> bool:
        is_good = period_ms > 0 and 1000.0 / period_ms <= self.fastest_hz + 0.01
        if is_good:
            self.rate_hz = 1000.0 / period_ms
        return is_good


class UbloxChip(Chip):
    """A u-blox before generation 9: CFG-MSG, CFG-RATE and CFG-PRT."""

    kinds = ("GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "GRS", "GST", "ZDA")
    protocol = "18.00"

    def obey(self, request: bytes) -> bytes:
        group, kind = request[0], request[1]
        payload = request[4:]
        if (group, kind) == (0x0A, 0x04) and not payload:
            return ubx(0x0A, 0x04, b"ROM CORE 3.01".ljust(30, b"\0") + b"00080000".ljust(10, b"\0")
                       + f"PROTVER={self.protocol}".encode().ljust(30, b"\0"))  # fmt: skip
        if group != 0x06:
            return b""
        return ubx(0x05, 1 if self._configure(kind, payload) else 0, bytes((group, kind)))

    def _configure(self, kind: int, payload: bytes) -> bool:
        if kind == 0x01 and len(payload) == 3 and payload[0] == 0xF0:
            if payload[1] < len(self.kinds):
                self.every[self.kinds[payload[1]]] = payload[2]
            return payload[1] < len(self.kinds)
        if kind == 0x08 and len(payload) == 6:
            period_ms, cycles, _ = struct.unpack("<HHH", payload)
            return cycles == 1 and self._take_period(period_ms)
        if kind == 0x00 and len(payload) == 20:
            port, _, _, mode, baud, _, out, _, _ = struct.unpack("<BBHIIHHHH", payload)
            if port == 1 and mode == 0x8D0 and out & 2:
                self.wants_baud = baud
                return True
        return False


class UbloxKeyChip(UbloxChip):
    """A u-blox of generation 10: VALSET alone, and a frame with a key that it lacks is refused
    whole. It has UART1 and no USB."""

    protocol = "34.10"
    keys = {  # noqa: RUF012  # a table of the chip, never changed
        0x209100BB: "GGA", 0x209100CA: "GLL", 0x209100C0: "GSA", 0x209100C5: "GSV",
        0x209100AC: "RMC", 0x209100B1: "VTG", 0x209100D4: "GST", 0x209100D9: "ZDA",
    }  # fmt: skip

    def _configure(self, kind: int, payload: bytes) -> bool:
        if kind != 0x8A or payload[:2] != b"\0\x01":
            return False
        values: dict[int, int] = {}
        rest = payload[4:]
        while rest:
            key = int.from_bytes(rest[:4], "little")
            size = {1: 1, 2: 1, 3: 2, 4: 4}.get(key >> 28, 0)
            values[key] = int.from_bytes(rest[4 : 4 + size], "little")
            rest = rest[4 + size :]
        if not values.keys() <= {*self.keys, 0x30210001, 0x30210002, 0x40520001}:
            return False
        if 0x30210001 in values and not self._take_period(values[0x30210001]):
            return False
        self.every.update({self.keys[key]: n for key, n in values.items() if key in self.keys})
        self.wants_baud = values.get(0x40520001, self.wants_baud)
        return True


class MediatekChip(Chip):
    """A MediaTek: PMTK 314, 220 and 251; flag 3 is done, 2 failed, 1 not known."""

    places = ("GLL", "RMC", "VTG", "GGA", "GSA", "GSV", "GRS", "GST")

    def obey(self, request: bytes) -> bytes:
        match re.fullmatch(rb"PMTK(\d{3})((?:,\d+)*)", request):
            case None:
                return b""
            case found:
                number, fields = found[1].decode(), found[2].decode().split(",")[1:]
        if number == "605":
            return sentence("PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0")
        if number == "251" and len(fields) == 1:
            self.wants_baud = int(fields[0])
            return b""
        if number == "314" and len(fields) == 19 and all(int(one) <= 5 for one in fields):
            self.every.update({name: int(n) for name, n in zip(self.places, fields, strict=False)})
            return sentence("PMTK001,314,3")
        if number == "220" and len(fields) == 1:
            return sentence(f"PMTK001,220,{3 if self._take_period(int(fields[0])) else 2}")
        return sentence(f"PMTK001,{number},1")


class PairChip(Chip):
    """A Quectel with an Airoha chip: PAIR 062 and 050; result 0 is done."""

    kinds = ("GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GRS", "GST")

    def obey(self, request: bytes) -> bytes:
        words = request.decode("latin1").split(",")
        if words[0] == "PAIR020":
            return sentence("PAIR020,AG3335A_V2.3.0.AG3335_20210408,S,N,5dd2f58")
        if words[0] == "PAIR062" and len(words) == 3 and int(words[1]) < len(self.kinds):
            self.every[self.kinds[int(words[1])]] = int(words[2])
            return sentence("PAIR001,062,0")
        if words[0] == "PAIR050" and len(words) == 2:
            return sentence(f"PAIR001,050,{0 if self._take_period(int(words[1])) else 4}")
        return b""


class PqtmChip(Chip):
    """A Quectel LG290P: PQTM sentences."""

    def obey(self, request: bytes) -> bytes:
        words = request.decode("latin1").split(",")
        if words == ["PQTMVERNO"]:
            return sentence("PQTMVERNO,LG290P03AANR01A03S,2024/04/30,14:22:58")
        if words[:2] == ["PQTMCFGMSGRATE", "W"] and len(words) == 4 and words[2] in self.every:
            self.every[words[2]] = int(words[3])
            return sentence("PQTMCFGMSGRATE,OK")
        if words[:2] == ["PQTMCFGFIXRATE", "W"] and len(words) == 3:
            is_done = self._take_period(int(words[2]))
            return sentence("PQTMCFGFIXRATE," + ("OK" if is_done else "ERROR,1"))
        return b""


class ListeningReceiver(FakeReceiver):
    """A receiver that rides east at 20 knots, says so at its chip's rate, and does as it is asked.

    `make_chip` gives a chip as it is when it gets power; `lose_power` forgets all it was asked.
    Time is a clock's, so a receiver may live faster than the world.
    """

    def __init__(self, make_chip: Callable[[], Chip], clock: Clock) -> None:
        super().__init__()
        self._make_chip = make_chip
        self._clock = clock
        self.chip = make_chip()
        self.sent = 0
        self.dropped = 0
        self.asked: list[bytes] = []
        self._replies = Replies()
        self._is_read = True
        self._epoch = 0
        self._due_s = clock.mono_s()
        self._free_s = 0.0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="receiver", daemon=True)
        self._thread.start()

    def lose_power(self) -> None:
        """Begins anew as it left its factory."""
        with self._lock:
            self.chip = self._make_chip()

    def unplug(self) -> None:
        with self._lock:
            super().unplug()

    def replug(self) -> None:
        """Comes back with power, and so with its factory's settings."""
        if not hasattr(self, "_lock"):
            super().replug()
            return
        with self._lock:
            super().replug()
            self.chip = self._make_chip()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(timeout=2.0)
        super().close()

    def _run(self) -> None:
        # By the clock, whose time stands while this thread does not get to run: a chip always does.
        turn_s = _TURN_S / self._clock.real_s(1.0)
        while not self._clock.wait(self._ended, turn_s):
            with self._lock:
                self._let_be_read()
                if self._ends is None:
                    continue
                is_same = self._other_baud() == self.chip.baud
                self._listen(is_same)
                self._speak(is_same)

    def _let_be_read(self) -> None:
        """Waits, and so does the clock, for a reader that does not get to run."""
        until_s = _UNREAD_S if self._is_read else 0.0
        while self.is_unread and until_s > 0.0 and not self._ended.wait(0.001):
            until_s -= 0.001
        self._is_read = not self.is_unread

    def _other_baud(self) -> int:
        assert self._ends is not None  # asked while plugged in only
        return _SPEEDS.get(termios.tcgetattr(self._ends[1])[5], 0)

    def _listen(self, is_same: bool) -> None:
        assert self._ends is not None  # asked while plugged in only
        try:
            octets = os.read(self._ends[0], 4096)
        except BlockingIOError:
            return
        if not is_same:
            return
        for request in self._replies.cut(octets):
            self.asked.append(request)
            self.write(self.chip.obey(request), 0.1)
        if self.chip.wants_baud is not None:
            self.chip.baud, self.chip.wants_baud = self.chip.wants_baud, None

    def _speak(self, is_same: bool) -> None:
        now_s = self._clock.mono_s()
        if now_s < self._due_s:
            return
        self._due_s = max(self._due_s + 1.0 / self.chip.rate_hz, now_s - 1.0)
        octets = self._sentences(now_s)
        if now_s + 1.0 / self.chip.rate_hz < self._free_s:
            self.dropped += 1  # the line is still busy, for longer than until the next epoch
            return
        self._free_s = max(now_s, self._free_s) + len(octets) * 10.0 / self.chip.baud
        self.sent += 1
        if not is_same:
            octets = bytes((one * 7 & 0xFF) | 0x80 for one in octets)
        self.write(octets, 0.1)

    def _sentences(self, now_s: float) -> bytes:
        self._epoch += 1
        centis = round(now_s * 100) % 8_640_000
        time = f"{centis // 360000:02d}{centis // 6000 % 60:02d}{centis // 100 % 60:02d}"
        time += f".{centis % 100:02d}"
        degrees = 87.0 - now_s * 10.2889 / (111_195.0 * 0.70711)
        place = f"4500.00000,N,{int(degrees):03d}{degrees % 1 * 60:08.5f},W"
        words = {
            "RMC": f"GNRMC,{time},A,{place},20.0,90.0,150126,,,A",
            "VTG": "GNVTG,90.0,T,,M,20.0,N,37.0,K,A",
            "GGA": f"GNGGA,{time},{place},1,09,0.9,200.0,M,-30.0,M,,",
            "GSA": "GNGSA,A,3,02,05,07,12,15,18,,,,,,,1.8,0.9,1.5",
            "GSV": "GPGSV,1,1,04,02,45,120,41,05,30,200,38,07,12,310,29,09,50,70,35",
            "GLL": f"GNGLL,{place},{time},A,A",
            "GST": f"GNGST,{time},3.0,,,,1.5,2.0,4.0",
            "ZDA": f"GNZDA,{time},15,01,2026,00,00",
        }
        return b"".join(
            sentence(body)
            for name, body in words.items()
            if (every := self.chip.every.get(name, 0)) and self._epoch % every == 0
        )
