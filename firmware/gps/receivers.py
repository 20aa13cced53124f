"""What makers of GPS receivers understand: a name, a rate, a choice of sentences, a baud rate.

Pure tables: bytes to send, and what answers mean. All of it goes into the memory that a receiver
loses with its power, so that nothing is changed for good; what a maker does only after it was saved
for good is told and left to a person (`DEAF`). Sources: u-blox 8 / M8 receiver
description with protocol specification (UBX-13003221), UBX-MON-VER, UBX-CFG-MSG, -RATE, -PRT;
u-blox F9 and M10 interface descriptions, UBX-CFG-VALSET and the configuration items CFG-RATE,
CFG-MSGOUT, CFG-UART1; MediaTek PMTK command packets 220, 251, 314, 605; Quectel GNSS protocol
specifications of LC26G/LC29H (PAIR 020, 050, 062) and LG290P (PQTMVERNO, PQTMCFGMSGRATE,
PQTMCFGFIXRATE, PQTMSAVEPAR; V1.1, 2.3: save and restart for all to take effect).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import StrEnum

from firmware.gps.nmea import checksum

BAUDS = (4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800)
"""Rates at which a receiver is looked for."""

RATES_HZ = (10.0, 5.0, 1.0)
"""What is asked for, the first that works; nothing above, for the older chips stop at 10."""

LEAST_BAUD = {10.0: 38400, 5.0: 19200, 1.0: 4800}
"""The slowest line that carries a rate. An RMC and a GGA an epoch are 164 letters at most (82
each by the standard), and six GSA and GST twice a second 984 more: 2,624 at 10 Hz, of 3,840."""


def least_baud(rate_hz: float) -> int:
    """The slowest line that carries so many epochs a second, 10 at most."""
    return LEAST_BAUD[min(one for one in RATES_HZ if one >= min(rate_hz, RATES_HZ[0]))]


GSV_LETTERS = 1200
"""Of all the satellites in view, at the end of an epoch: four constellations of four sentences."""

EPOCH_LETTERS = 164
MAX_FRAME_BYTES = 1024


class Maker(StrEnum):
    """Who made a receiver, as far as its language differs from another's."""

    UBLOX = "u-blox"
    UBLOX_KEYS = "u-blox of generation 9 or 10"
    MEDIATEK = "MediaTek"
    QUECTEL_PAIR = "Quectel (PAIR)"
    QUECTEL_PQTM = "Quectel (PQTM)"


DEAF = {
    Maker.QUECTEL_PQTM: (
        "keeps its rate until that is saved ($PQTMSAVEPAR*5A) and it is restarted ($PQTMSRR*4B)"
    )
}
"""What is said of a maker's receiver that answers and keeps its own rate, where more than that is
known. To save is to change it for good, and a restart costs the fix: both are a person's to do."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a receiver is to send: epochs a second, and GSA, GST and GSV once in so many of them.

    0 is never.
    """

    rate_hz: float
    quality_every: int
    gsv_every: int


def wish_for(rate_hz: float, baud: int) -> Wish:
    """What is asked of a receiver at this rate on this line; GSV only where it delays no RMC."""
    letters = baud / 10 / rate_hz
    fits = letters >= GSV_LETTERS + EPOCH_LETTERS
    return Wish(rate_hz, 5 if rate_hz >= 5.0 else 1, 5 if fits else 0)


def ubx(group: int, kind: int, payload: bytes = b"") -> bytes:
    """A frame of u-blox's binary language, with its checksum."""
    body = struct.pack("<BBH", group, kind, len(payload)) + payload
    return b"\xb5b" + body + ubx_checksum(body)


def ubx_checksum(body: bytes) -> bytes:
    """Fletcher's, of the group, the kind, the length and the payload."""
    a = b = 0
    for octet in body:
        a = (a + octet) & 0xFF
        b = (b + a) & 0xFF
    return bytes((a, b))


def sentence(body: str) -> bytes:
    """A sentence with its checksum and line end."""
    octets = body.encode("ascii")
    return b"$%b*%02X\r\n" % (octets, checksum(octets))


WHO_ARE_YOU = (
    ubx(0x0A, 0x04)  # UBX-MON-VER, polled
    + sentence("PMTK605")
    + sentence("PAIR020")
    + sentence("PQTMVERNO")
)
"""Each maker's question for the version; the others pass over it."""


class Replies:
    """Cuts frames and sentences with a right checksum out of a receiver's bytes, of any type.

    `good` counts them, `rubbish` the bytes that came since the last one. Memory is bounded.
    """

    _BEGINNING = re.compile(rb"\xb5b|\$")
    _SENTENCE = re.compile(rb"\$([^$*\r\n\xb5]{1,250})\*([0-9A-Fa-f]{2})")

    def __init__(self) -> None:
        self._kept = b""
        self.good = 0
        self.rubbish = 0

    def cut(self, octets: bytes) -> list[bytes]:
        """The bodies of the sentences, and the frames from their group to their payload."""
        self.rubbish += len(octets)
        stream = self._kept + octets
        found: list[bytes] = []
        at = 0
        while True:
            match = self._BEGINNING.search(stream, at)
            if match is None:
                self._kept = stream[-1:] if stream.endswith(b"\xb5") else b""
                break
            at = match.start()
            body, end = (self._frame if match[0] == b"\xb5b" else self._line)(stream, at)
            if end < 0:
                self._kept = stream[at:]
                break
            if body:
                found.append(body)
                self.rubbish = 0
            at = end
        self.good += len(found)
        return found

    @staticmethod
    def _frame(stream: bytes, at: int) -> tuple[bytes, int]:
        """The frame at a place and where it ends; -1 while its rest has not come."""
        if len(stream) < at + 6:
            return b"", -1
        (length,) = struct.unpack_from("<H", stream, at + 4)
        if length > MAX_FRAME_BYTES:
            return b"", at + 2
        end = at + 8 + length
        if len(stream) < end:
            return b"", -1
        body = stream[at + 2 : end - 2]
        is_right = ubx_checksum(body) == stream[end - 2 : end]
        return (body, end) if is_right else (b"", at + 2)

    def _line(self, stream: bytes, at: int) -> tuple[bytes, int]:
        match = self._SENTENCE.match(stream, at)
        if match is not None:
            is_right = checksum(match[1]) == int(match[2], 16)
            return (match[1], match.end()) if is_right else (b"", at + 1)
        rest = stream[at + 1 : at + 256]
        is_cut = len(rest) < 255 and re.fullmatch(rb"[^$*\r\n\xb5]*(\*[0-9A-Fa-f]?)?", rest)
        return b"", -1 if is_cut else at + 1


def maker_of(reply: bytes) -> Maker | None:
    """Who answers so; none where it is no answer to `WHO_ARE_YOU`."""
    if reply.startswith(b"\x0a\x04") and len(reply) > 4:
        version = re.search(rb"PROTVER[= ](\d+)", reply)
        # From protocol 27 (generation 9) on there are keys, and generation 10 has nothing else.
        is_keyed = version is not None and int(version[1]) >= 27
        return Maker.UBLOX_KEYS if is_keyed else Maker.UBLOX
    if reply.startswith(b"PMTK705"):
        return Maker.MEDIATEK
    if reply.startswith(b"PAIR020,"):
        return Maker.QUECTEL_PAIR
    if reply.startswith(b"PQTMVERNO,") and not reply.startswith(b"PQTMVERNO,ERROR"):
        return Maker.QUECTEL_PQTM
    return None


def requests(maker: Maker, wish: Wish) -> bytes:
    """What asks a receiver for a rate, for RMC and GGA each epoch, GSA and GST now and then."""
    period_ms = round(1000.0 / wish.rate_hz)
    every = {
        "RMC": 1, "GGA": 1, "GSA": wish.quality_every, "GST": wish.quality_every,
        "GSV": wish.gsv_every, "GLL": 0, "VTG": 0, "ZDA": 0,
    }  # fmt: skip
    match maker:
        case Maker.UBLOX:
            # CFG-MSG of three bytes is for the port that it comes by (UBX-CFG-MSG).
            chosen = [ubx(0x06, 0x01, bytes((0xF0, _UBX[one], n))) for one, n in every.items()]
            # UTC as the time base, one solution for each measurement (UBX-CFG-RATE).
            return b"".join(chosen) + ubx(0x06, 0x08, struct.pack("<HHH", period_ms, 1, 0))
        case Maker.UBLOX_KEYS:
            rate = _valset([(0x30210001, 2, period_ms), (0x30210002, 2, 1)])
            # A chip without USB refuses the whole of a frame that names it: so one for each port.
            ports = [_valset([(_KEYS[one] + port, 1, n) for one, n in every.items()])
                     for port in (_UART1, _USB)]  # fmt: skip
            return b"".join(ports) + rate
        case Maker.MEDIATEK:
            places = [str(every.get(one, 0)) for one in _PMTK_314]
            return sentence("PMTK314," + ",".join(places)) + sentence(f"PMTK220,{period_ms}")
        case Maker.QUECTEL_PAIR:
            chosen = [sentence(f"PAIR062,{_PAIR[one]},{n}") for one, n in every.items()]
            return b"".join(chosen) + sentence(f"PAIR050,{period_ms}")
        case Maker.QUECTEL_PQTM:
            chosen = [sentence(f"PQTMCFGMSGRATE,W,{one},{n}") for one, n in every.items()]
            return b"".join(chosen) + sentence(f"PQTMCFGFIXRATE,W,{period_ms}")


def baud_request(maker: Maker, baud: int) -> bytes:
    """What asks a receiver to go on at another baud rate; nothing for those that do not do it
    without a restart."""
    match maker:
        case Maker.UBLOX:
            # UART1, 8N1, all languages in, UBX and NMEA out (UBX-CFG-PRT).
            return ubx(0x06, 0x00, struct.pack("<BBHIIHHHH", 1, 0, 0, 0x8D0, baud, 7, 3, 0, 0))
        case Maker.UBLOX_KEYS:
            return _valset([(0x40520001, 4, baud)])
        case Maker.MEDIATEK:
            return sentence(f"PMTK251,{baud}")
    return b""


_UBX = {"GGA": 0, "GLL": 1, "GSA": 2, "GSV": 3, "RMC": 4, "VTG": 5, "GST": 7, "ZDA": 8}
"""The kinds of group 0xF0, the standard sentences."""

_KEYS = {
    "GGA": 0x209100BA, "GLL": 0x209100C9, "GSA": 0x209100BF, "GSV": 0x209100C4,
    "RMC": 0x209100AB, "VTG": 0x209100B0, "GST": 0x209100D3, "ZDA": 0x209100D8,
}  # fmt: skip
"""CFG-MSGOUT-NMEA_ID_xxx_I2C; UART1 is the next key, USB the third after it."""
_UART1, _USB = 1, 3

_PMTK_314 = ("GLL", "RMC", "VTG", "GGA", "GSA", "GSV", "GRS", "GST", *[""] * 9, "ZDA", "")
"""Its nineteen places; each is once in so many epochs, 5 at most."""

_PAIR = {"GGA": 0, "GLL": 1, "GSA": 2, "GSV": 3, "RMC": 4, "VTG": 5, "ZDA": 6, "GST": 8}


def _valset(values: list[tuple[int, int, int]]) -> bytes:
    """UBX-CFG-VALSET into the working memory: keys, the bytes of each, and its value."""
    pairs = [key.to_bytes(4, "little") + value.to_bytes(size, "little")
             for key, size, value in values]  # fmt: skip
    return ubx(0x06, 0x8A, b"\0\x01\0\0" + b"".join(pairs))
