"""How the numbers and values of readings stand in the journal: short, and of one length.

Ten fixes come each second. Where each has as many bytes as the one before, and in the same places,
a compressor needs little for what is between the digits that changed. What is as usual has no key.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from datetime import UTC, datetime

import msgspec

from firmware.grain import INSTANT_DIGITS, PLACE_DIGITS, SPEED_DIGITS, TRACK_DIGITS
from firmware.readings import Disk, Fix, Receiver, Supply, Tether

_MOST_FIXED = 1e9
_encode = msgspec.json.Encoder().encode


def instant(at_s: float) -> bytes:
    """Seconds since boot, to the millisecond that is judged."""
    return _fixed(at_s, INSTANT_DIGITS)


def value_text(value: object) -> bytes:
    """A reading's value as JSON; what is as usual in it has no key."""
    if type(value) is Fix:
        return _fix(value)
    text = _encode(value)
    usual = _USUAL.get(type(value))
    return text if usual is None else usual.sub(b"", text)


def _fixed(number: float, digits: int) -> bytes:
    """The number with so many decimals, or in the shortest form where these are not all of it."""
    if -_MOST_FIXED < number < _MOST_FIXED:
        text = b"%.*f" % (digits, number)
        if float(text) == number:
            return text
    return _encode(number)


def _fix(fix: Fix) -> bytes:
    track = utc = b""
    if fix.track_deg is not None:
        track = b',"track_deg":%b' % _fixed(fix.track_deg, TRACK_DIGITS)
    if fix.utc is not None:
        utc = b',"utc":%b' % _date(fix.utc)
    return b'{"lat_deg":%b,"lon_deg":%b,"error_m":%b,"speed_mps":%b,"error_mps":%b%b%b%b%b}' % (
        _fixed(fix.lat_deg, PLACE_DIGITS),
        _fixed(fix.lon_deg, PLACE_DIGITS),
        _encode(fix.error_m),
        _fixed(fix.speed_mps, SPEED_DIGITS),
        _encode(fix.error_mps),
        track,
        utc,
        b"" if fix.mode == _USUAL_MODE else b',"mode":%d' % fix.mode,
        b',"derived":true' if fix.derived else b"",
    )


def _date(utc: datetime) -> bytes:
    """A date with three decimals of its second where these are all of it."""
    if utc.tzinfo is UTC and utc.microsecond % 1000 == 0:
        return b'"%bZ"' % utc.isoformat(timespec="milliseconds")[:-6].encode()
    return _encode(utc)


def _usual(kind: type) -> re.Pattern[bytes]:
    """What a value of this type says where it is as usual, as it stands in its JSON. Within a JSON
    string every quote has a backslash before it, so it can't stand inside one."""
    usual = [
        re.escape(b',"%b":%b' % (one.name.encode(), _encode(one.default)))
        for one in fields(kind)
        if one.default is not MISSING and one.default is not None
    ]
    return re.compile(b"(?:%b)(?=[,}])" % b"|".join(usual))


_USUAL_MODE = next(one.default for one in fields(Fix) if one.name == "mode")
_USUAL: dict[type, re.Pattern[bytes]] = {
    kind: _usual(kind) for kind in (Receiver, Supply, Tether, Disk)
}
