"""Bytes of a receiver become NMEA 0183 sentences; the only file that imports pynmea2.

Any bytes may come: binary, joined and cut sentences, other baud rates. A dollar sign always
begins a sentence, and only a sentence that ends in its right checksum is believed. A field that
is used is read once, from the raw text, and converted strictly: pynmea2 itself returns a bad
number as text, a missing hemisphere as 0.0 and an unknown date as an exception.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from datetime import date
from enum import StrEnum
from functools import lru_cache
from string import hexdigits
from typing import NamedTuple

import pynmea2

from firmware.units import MPS_PER_KMH, MPS_PER_KNOT

MAX_SENTENCE_BYTES = 256
"""From the dollar sign to the checksum. The standard says 82, but RTK receivers with long
decimals and modems with many satellites were seen to send up to 130."""

MAX_SPEED_KNOTS = 1000.0
"""Civil receivers are built to stop at or near it (600 m/s, 1,166 knots, in the MTCR annex, item
11.A.3), so more is no speed."""


class Refusal(StrEnum):
    """Why a sentence of a used type was not believed."""

    NO_CHECKSUM = "no checksum"
    BAD_CHECKSUM = "bad checksum"
    BAD_FIELD = "bad field"
    TOO_LONG = "too long"


class Sentence(NamedTuple):
    """One sentence that is believed, with what it says; absent is what it does not say.

    `number` is how many sentences had begun when it came, itself included. `is_valid` is whether
    the receiver says that it has a fix (always true of VTG, GSA, GST and ZDA, which do not say).
    `time_s` is seconds of the UTC day, 86,400.0 in a leap second. `decimals` counts the decimals
    of the minutes of latitude. `mode` is 2 or 3 dimensions; `error_m` is horizontal, one sigma.
    A tuple, because it is made up to 150 times a second and a frozen dataclass takes five times
    as long to make.
    """

    kind: str
    talker: str
    number: int
    is_valid: bool
    time_s: float | None = None
    date: date | None = None
    lat_deg: float | None = None
    lon_deg: float | None = None
    decimals: int = 0
    speed_mps: float | None = None
    track_deg: float | None = None
    mode: int | None = None
    hdop: float | None = None
    satellites: int | None = None
    error_m: float | None = None
    is_simulated: bool = False


class _BadFieldError(ValueError):
    """A field of a sentence with a right checksum that can't be what it should be."""


# RMC, GGA and GLL of an epoch repeat the same time and place, and most epochs the same date, HDOP
# and satellites: what was converted a moment ago is not converted again (`lru_cache` below).
_TIME = re.compile(r"([01]\d|2[0-3])([0-5]\d)([0-5]\d(?:\.\d*)?)", re.ASCII)
_LEAP = re.compile(r"235960(?:\.\d*)?", re.ASCII)
_LAT = re.compile(r"(\d\d)([0-5]\d(?:\.(\d*))?)", re.ASCII)
_LON = re.compile(r"(\d\d\d)([0-5]\d(?:\.\d*)?)", re.ASCII)
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_SIX_DIGITS = re.compile(r"\d{6}", re.ASCII)


@lru_cache(maxsize=8)
def _time_s(text: str) -> float | None:
    if not text:
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        # A leap second (IERS bulletin C) is the day's last and has no place in datetime.
        if _LEAP.fullmatch(text):
            return 86_400.0
        raise _BadFieldError(text)
    hours, minutes, seconds = match.groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


@lru_cache(maxsize=128)
def _number(text: str, highest: float) -> float | None:
    if not text:
        return None
    if _NUMBER.fullmatch(text) is None:
        raise _BadFieldError(text)
    value = float(text)
    if value > highest:
        raise _BadFieldError(text)
    return value


@lru_cache(maxsize=8)
def _position(lat: str, lat_side: str, lon: str, lon_side: str) -> tuple[float, float, int]:
    """Latitude and longitude in degrees from four fields, and the decimals of the minutes."""
    lat_match = _LAT.fullmatch(lat)
    lon_match = _LON.fullmatch(lon)
    if lat_match is None or lon_match is None:
        raise _BadFieldError(f"{lat},{lon}")
    lat_deg = int(lat_match[1]) + float(lat_match[2]) / 60.0
    lon_deg = int(lon_match[1]) + float(lon_match[2]) / 60.0
    if lat_deg > 90.0 or lon_deg > 180.0:
        raise _BadFieldError(f"{lat},{lon}")
    if lat_side == "S":
        lat_deg = -lat_deg
    elif lat_side != "N":
        raise _BadFieldError(lat_side)
    if lon_side == "W":
        lon_deg = -lon_deg
    elif lon_side != "E":
        raise _BadFieldError(lon_side)
    return lat_deg, lon_deg, len(lat_match[3] or "")


@lru_cache(maxsize=4)
def _date(text: str) -> date | None:
    """A date of RMC, ddmmyy. Six digits that are no day of any calendar are no date: a receiver
    that has the week wrong may have the place right."""
    if not text:
        return None
    if _SIX_DIGITS.fullmatch(text) is None:
        raise _BadFieldError(text)
    year = int(text[4:])
    try:
        return date(year + (1900 if year >= 80 else 2000), int(text[2:4]), int(text[:2]))
    except ValueError:
        return None


def _letter(text: str) -> str:
    if len(text) > 1:
        raise _BadFieldError(text)
    return text


# What the mode letter says of a fix (NMEA 0183 4.11): A autonomous, D differential, P precise,
# R and F real-time kinematic, E estimated by dead reckoning; N none, S simulator, M typed in by
# hand. A receiver that reckons says status A and E, and its speed comes from the wheels.
_NO_FIX_MODES = frozenset("NSM")


_NO_FIELDS = [""] * 8


def _places(kind: str, *names: str) -> tuple[int, ...]:
    """At which places the fields of a sentence stand, by pynmea2's names for them.

    That is all that is asked of pynmea2, once: to have it make a message of each sentence would be
    a fourth of what a sentence costs.
    """
    known = pynmea2.TalkerSentence.sentence_types[kind].name_to_idx
    return tuple(known[name] for name in names)


def _position_in(kind: str) -> slice:
    """At which places the four fields of a position stand, which follow one another."""
    first, last = _places(kind, "lat", "lon_dir")
    return slice(first, last + 1)


def _at(fields: list[str], place: int) -> str:
    return fields[place] if place < len(fields) else ""


_RMC_TIME, _RMC_STATUS, _RMC_SPEED, _RMC_TRACK, _RMC_DATE, _RMC_MODE = _places(
    *("RMC", "timestamp", "status", "spd_over_grnd", "true_course", "datestamp", "mode_indicator")
)
_RMC_POSITION = _position_in("RMC")


def _rmc(talker: str, number: int, fields: list[str]) -> Sentence:
    status = _letter(fields[_RMC_STATUS])
    mode = _letter(_at(fields, _RMC_MODE))
    time_s = _time_s(fields[_RMC_TIME])
    if status != "A" or mode in _NO_FIX_MODES:
        return Sentence("RMC", talker, number, False, time_s, is_simulated=mode == "S")
    lat_deg, lon_deg, decimals = _position(*fields[_RMC_POSITION])
    speed_knots = _number(fields[_RMC_SPEED], MAX_SPEED_KNOTS)
    return Sentence(
        "RMC",
        talker,
        number,
        True,
        time_s,
        _date(_at(fields, _RMC_DATE)),
        lat_deg,
        lon_deg,
        decimals,
        None if speed_knots is None else speed_knots * MPS_PER_KNOT,
        _number(_at(fields, _RMC_TRACK), 360.0),
    )


_GGA_TIME, _GGA_QUALITY, _GGA_SATELLITES, _GGA_HDOP, _GGA_ALTITUDE = _places(
    *("GGA", "timestamp", "gps_qual", "num_sats", "horizontal_dil", "altitude")
)
_GGA_POSITION = _position_in("GGA")
_GNS_TIME, _GNS_MODES = _places("GNS", "timestamp", "mode_indicator")

# Quality of GGA: 0 none, 7 typed in by hand, 8 simulator (NMEA 0183 4.11).
_NO_FIX_QUALITIES = frozenset("078")


def _with_place(
    kind: str, talker: str, number: int, time_s: float | None, fields: list[str]
) -> Sentence:
    """A GGA or GNS that has a fix: both say the place and how good it is in the same fields."""
    lat_deg, lon_deg, decimals = _position(*fields[_GGA_POSITION])
    satellites = _number(_at(fields, _GGA_SATELLITES), 999.0)
    return Sentence(
        kind,
        talker,
        number,
        True,
        time_s,
        None,
        lat_deg,
        lon_deg,
        decimals,
        None,
        None,
        3 if _at(fields, _GGA_ALTITUDE) else 2,
        _dop(_at(fields, _GGA_HDOP)),
        None if satellites is None else int(satellites),
    )


def _gga(talker: str, number: int, fields: list[str]) -> Sentence:
    quality = fields[_GGA_QUALITY]
    if len(quality) > 1 or quality not in "0123456789":
        raise _BadFieldError(quality)
    time_s = _time_s(fields[_GGA_TIME])
    if not quality or quality in _NO_FIX_QUALITIES:
        return Sentence("GGA", talker, number, False, time_s, is_simulated=quality == "8")
    return _with_place("GGA", talker, number, time_s, fields)


def _gns(talker: str, number: int, fields: list[str]) -> Sentence:
    modes = fields[_GNS_MODES]
    if modes and not (modes.isascii() and modes.isalpha()):
        raise _BadFieldError(modes)
    time_s = _time_s(fields[_GNS_TIME])
    if not set(modes) - _NO_FIX_MODES:
        return Sentence("GNS", talker, number, False, time_s, is_simulated="S" in modes)
    return _with_place("GNS", talker, number, time_s, fields)


_GLL_TIME, _GLL_STATUS, _GLL_MODE = _places("GLL", "timestamp", "status", "faa_mode")
_GLL_POSITION = _position_in("GLL")


def _gll(talker: str, number: int, fields: list[str]) -> Sentence:
    status = _letter(fields[_GLL_STATUS])  # anything but A is void: one receiver writes N here
    mode = _letter(_at(fields, _GLL_MODE))
    time_s = _time_s(fields[_GLL_TIME])
    if status != "A" or mode in _NO_FIX_MODES:
        return Sentence("GLL", talker, number, False, time_s, is_simulated=mode == "S")
    lat_deg, lon_deg, decimals = _position(*fields[_GLL_POSITION])
    return Sentence("GLL", talker, number, True, time_s, None, lat_deg, lon_deg, decimals)


_VTG_TRACK, _VTG_KNOTS, _VTG_KMH_UNIT, _VTG_MODE = _places(
    *("VTG", "true_track", "spd_over_grnd_kts", "spd_over_grnd_kmph_sym", "faa_mode")
)
_VTG_SPEEDS = slice(_VTG_KNOTS, _VTG_KMH_UNIT + 1)


def _vtg(talker: str, number: int, fields: list[str]) -> Sentence:
    mode = _letter(_at(fields, _VTG_MODE))
    if mode in _NO_FIX_MODES:
        return Sentence("VTG", talker, number, True)
    knots, knots_unit, kmh, kmh_unit = (fields + _NO_FIELDS)[_VTG_SPEEDS]
    speed_knots = _number(knots, MAX_SPEED_KNOTS)
    speed_kmh = _number(kmh, MAX_SPEED_KNOTS * MPS_PER_KNOT / MPS_PER_KMH)
    speed_mps: float | None = None
    if speed_knots is not None:
        if knots_unit != "N":
            raise _BadFieldError(knots_unit)
        speed_mps = speed_knots * MPS_PER_KNOT
    elif speed_kmh is not None:
        if kmh_unit != "K":
            raise _BadFieldError(kmh_unit)
        speed_mps = speed_kmh * MPS_PER_KMH
    track_deg = _number(fields[_VTG_TRACK], 360.0)
    return Sentence("VTG", talker, number, True, speed_mps=speed_mps, track_deg=track_deg)


_GSA_MODE, _GSA_HDOP = _places("GSA", "mode_fix_type", "hdop")


def _gsa(talker: str, number: int, fields: list[str]) -> Sentence:
    kind = fields[_GSA_MODE]
    if kind not in ("", "1", "2", "3"):
        raise _BadFieldError(kind)
    mode = int(kind) if kind in ("2", "3") else None
    hdop = None if mode is None else _dop(_at(fields, _GSA_HDOP))
    return Sentence("GSA", talker, number, True, mode=mode, hdop=hdop)


def _dop(text: str) -> float | None:
    """A dilution of precision; 99.99 and 0.0 are how receivers write "none"."""
    dop = _number(text, 9999.0)
    return dop if dop is not None and 0.0 < dop < 50.0 else None


_GST_TIME, _GST_LAT, _GST_LON = _places(
    *("GST", "timestamp", "std_dev_latitude", "std_dev_longitude")
)


def _gst(talker: str, number: int, fields: list[str]) -> Sentence:
    time_s = _time_s(fields[_GST_TIME])
    lat_m = _number(_at(fields, _GST_LAT), 1e6)
    lon_m = _number(_at(fields, _GST_LON), 1e6)
    if lat_m is None or lon_m is None:
        return Sentence("GST", talker, number, True, time_s)
    error_m = math.hypot(lat_m, lon_m) or None  # no place is known to 0.0 m: it is no estimate
    return Sentence("GST", talker, number, True, time_s, error_m=error_m)


_ZDA_TIME, *_ZDA_DATE = _places("ZDA", "timestamp", "day", "month", "year")


def _zda(talker: str, number: int, fields: list[str]) -> Sentence:
    time_s = _time_s(fields[_ZDA_TIME])
    day, month, year = (_number(fields[place], 9999.0) for place in _ZDA_DATE)
    if time_s is None or day is None or month is None or year is None:
        return Sentence("ZDA", talker, number, True, time_s)
    try:
        return Sentence("ZDA", talker, number, True, time_s, date(int(year), int(month), int(day)))
    except ValueError:
        return Sentence("ZDA", talker, number, True, time_s)


_READERS: dict[str, Callable[[str, int, list[str]], Sentence]] = {
    "RMC": _rmc,
    "GGA": _gga,
    "GNS": _gns,
    "GLL": _gll,
    "VTG": _vtg,
    "GSA": _gsa,
    "GST": _gst,
    "ZDA": _zda,
}

_BY_BYTES = {kind.encode(): reader for kind, reader in _READERS.items()}
_CHECKSUMS = {f"*{a}{b}".encode(): int(a + b, 16) for a in hexdigits for b in hexdigits}
"""What each ending of a sentence says, in capitals or not."""

_ROOM = MAX_SENTENCE_BYTES - len(b"$GPRMC,*00")
_BODY = rb"[\x20-\x23\x25-\x29\x2b-\x7e]{0," + str(_ROOM).encode() + rb"}"


def _address_of(kinds: Collection[str]) -> bytes:
    """Two letters of talker and three of type. P begins a maker's own sentence, like Garmin's
    PGRMC, which is no RMC."""
    return rb"\$([A-OQ-Z][A-Z])(" + "|".join(kinds).encode() + rb"),"


def _sentence_of(kinds: Collection[str]) -> re.Pattern[bytes]:
    return re.compile(_address_of(kinds) + rb"(" + _BODY + rb")(\*[0-9A-Fa-f]{2})?")


_ADDRESS = _address_of(_READERS)
_SENTENCE = _sentence_of(_READERS)
# What the end of a chunk may be: the beginning of a sentence whose rest has not come yet.
_BEGINNING = re.compile(
    rb"\$(?:[A-Z]{0,5}|" + _ADDRESS[2:] + _BODY + rb"(?:\*[0-9A-Fa-f]?)?)", re.DOTALL
)


class Parser:
    """Cuts sentences out of bytes as they come; a sentence is given as soon as its checksum is
    complete, before its line end.

    Memory is bounded: at most `MAX_SENTENCE_BYTES` are kept between two calls. `begun` counts
    dollar signs, `accepted` the sentences that were given, `refused` those of a used type that
    were not believed, by reason. Other types are counted as begun and no more.
    """

    def __init__(self, kinds: Collection[str] = tuple(_READERS)) -> None:
        """Only sentences of these types are given; the others cost nothing but their bytes."""
        self._sentence = _SENTENCE if kinds == tuple(_READERS) else _sentence_of(kinds)
        self._kept = b""
        self._begun = 0
        self.accepted = 0
        self.refused: Counter[Refusal] = Counter()

    @property
    def begun(self) -> int:
        """How many sentences have begun, the one whose end has not come yet included."""
        return self._begun + bool(self._kept)

    def feed(self, data: bytes) -> Iterator[Sentence]:
        """The sentences that end in these bytes, in their order."""
        stream = self._kept + data if self._kept else data
        last = stream.rfind(b"$")
        self._kept = b""
        if last >= 0 and _BEGINNING.fullmatch(stream, last):
            self._kept = stream[last:]
            stream = stream[:last]
        return self._cut(stream)

    def _cut(self, stream: bytes) -> Iterator[Sentence]:
        done = 0
        for match in self._sentence.finditer(stream):
            begin, end = match.span()
            self._begun += stream.count(b"$", done, begin + 1)
            done = begin + 1
            talker, kind, body, ending = match.groups()
            if ending is None:
                is_long = end - begin >= MAX_SENTENCE_BYTES - len(b"*00")
                self.refused[Refusal.TOO_LONG if is_long else Refusal.NO_CHECKSUM] += 1
                continue
            if checksum(stream[begin + 1 : end - 3]) != _CHECKSUMS[ending]:
                self.refused[Refusal.BAD_CHECKSUM] += 1
                continue
            fields = body.decode("ascii").split(",")
            try:
                sentence = _BY_BYTES[kind](talker.decode(), self._begun, fields)
            except (ValueError, IndexError, TypeError):
                # Too few fields end in an IndexError, or a TypeError where four make a position.
                self.refused[Refusal.BAD_FIELD] += 1
                continue
            self.accepted += 1
            yield sentence
        self._begun += stream.count(b"$", done)


def checksum(octets: bytes) -> int:
    """The checksum of NMEA 0183: all bytes exclusive-or'd, by folding them as one number."""
    folded = int.from_bytes(octets, "little")
    if len(octets) > 128:
        folded ^= folded >> 1024
    folded ^= folded >> 512
    folded ^= folded >> 256
    folded ^= folded >> 128
    folded ^= folded >> 64
    folded ^= folded >> 32
    folded ^= folded >> 16
    return (folded ^ folded >> 8) & 0xFF
