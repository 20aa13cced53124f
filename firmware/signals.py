"""How strong the satellites are heard: GSV, read beside the warning path and for no rule.

GSV comes after the sentences that a warning waits for, so it is read once these are judged.
"""

from __future__ import annotations

import re

from firmware.gps.nmea import checksum

KEPT_S = 12.0  # a receiver may be asked for GSV every fifth epoch, and send one in 2 s
BEST = 4  # as many as a fix needs at least

_GSV = re.compile(rb"\$([A-OQ-Z][A-Z]GSV,[0-9,A-F]{4,80})\*([0-9A-Fa-f]{2})")
_BEGINNING = re.compile(rb"\$[A-Z]{0,5}(?:,[0-9,A-F]{0,80})?(?:\*[0-9A-Fa-f]?)?")


class Signals:
    """Keeps the newest C/N0 of each satellite in view; memory is bounded by their number."""

    def __init__(self) -> None:
        self._kept = b""
        self._heard: dict[tuple[bytes, bytes, bytes], tuple[float, int]] = {}

    def hear(self, octets: bytes, at_s: float) -> None:
        """Takes bytes of the line; what is no GSV costs a search for one dollar sign."""
        stream = self._kept + octets
        last = stream.rfind(b"$")
        self._kept = stream[last:] if last >= 0 and _BEGINNING.fullmatch(stream, last) else b""
        if b"GSV," not in stream:
            return
        for match in _GSV.finditer(stream):
            if checksum(match[1]) == int(match[2], 16):
                self._take(match[1].split(b","), at_s)

    def _take(self, fields: list[bytes], at_s: float) -> None:
        """GSV: count, number, in view; then satellite, elevation, azimuth and C/N0, four times."""
        signal = fields[-1] if len(fields) % 4 == 1 else b""  # NMEA 0183 4.10: which frequency
        for place in range(4, len(fields) - 3, 4):
            satellite, strength = fields[place], fields[place + 3]
            if satellite and strength.isdigit() and 0 < int(strength) < 100:
                self._heard[fields[0][:2], satellite, signal] = (at_s, int(strength))
        if len(self._heard) > 200:
            self._forget(at_s)

    def _forget(self, at_s: float) -> None:
        self._heard = {name: one for name, one in self._heard.items() if at_s - one[0] <= KEPT_S}

    def cn0_dbhz(self, at_s: float) -> float | None:
        """The mean of the four strongest heard lately, in dB-Hz; None while fewer are."""
        if not self._heard:
            return None
        self._forget(at_s)
        best = sorted((strength for _, strength in self._heard.values()), reverse=True)[:BEST]
        return sum(best) / BEST if len(best) == BEST else None
