"""An organizer's word that a race is sanctioned: signed, for a place, a window, a sled or all.
A token is one line that can be typed, mailed or read from a card:
`sw-race-1.PAYLOAD.KEY.SIGNATURE`, each part in URL-safe Base64. The signature covers what stands
before it. What it proves: that the holder of that key said so of this place and this window. Whose
key that is, is for the unit's configuration (`[race] organizers`) or for a person to say.
"""

from __future__ import annotations

import base64
import binascii
import math
from datetime import UTC, datetime, timedelta

import msgspec

from firmware.errors import SledwardenError
from firmware.maps.plane import Plane
from firmware.port.hosts import words_of
from firmware.signing import KEY_BYTES, SIGNATURE_BYTES, SigningKey, is_signed

PREFIX = "sw-race-1"
DOMAIN = b"sledwarden race token 1\n"

MOST_LETTERS = 480
"""The longest token: the feed carries 500 letters, and the journal keeps it whole."""

MOST_EVENT_BYTES = 60
MOST_RADIUS_M = 50_000.0
MOST_WINDOW = timedelta(days=14)
"""A race that lasts longer, or is larger, is no race but a permission."""


class TokenError(SledwardenError):
    """A token that proves nothing: `glass` says it on two lines of the glass."""

    def __init__(self, what: str, glass: str, advice: str = "") -> None:
        self.glass = glass
        super().__init__("race token", what, advice)


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What an organizer signed. `unit` is the one sled that it is for, empty for all.

    `key` is the public key in hex whose holder signed it.
    """

    event: str
    lat_deg: float
    lon_deg: float
    radius_m: float
    from_utc: datetime
    to_utc: datetime
    unit: str = ""
    key: str = ""

    @property
    def words(self) -> str:
        """The four words that stand for the key."""
        return words_of(bytes.fromhex(self.key))

    def off_m(self, lat_deg: float, lon_deg: float) -> float:
        """How far a place lies outside of the circle; negative inside."""
        plane = Plane((self.lat_deg + lat_deg) / 2.0, self.lon_deg)  # half way: true to 0.1 %
        east_m, north_m = plane.xy(lat_deg, lon_deg)
        return math.hypot(east_m, north_m - plane.y(self.lat_deg)) - self.radius_m

    def refuse_unless_for(self, unit: str) -> None:
        """Raises TokenError where it is for another sled."""
        if self.unit and self.unit != unit:
            raise TokenError(
                f"is for the sled {self.unit}, and this is {unit}.", "TOKEN IS FOR\nANOTHER SLED"
            )

    def refuse_unless_now(self, utc: datetime | None) -> None:
        """Raises TokenError outside of the window, and where the satellites gave no date."""
        if utc is None:
            raise TokenError(
                "the satellites have given no date yet: the window can't be told.",
                "DATE NOT KNOWN\nWAIT FOR GPS",
                "Wait under the open sky for a fix and try again.",
            )
        if utc < self.from_utc:
            raise TokenError(
                f"does not hold before {told(self.from_utc)}.", "RACE NOT YET\nTOO EARLY"
            )
        if utc >= self.to_utc:
            raise TokenError(f"has ended at {told(self.to_utc)}.", "RACE TOKEN\nHAS ENDED")

    def refuse_unless_here(self, place: tuple[float, float] | None) -> None:
        """Raises TokenError outside of the circle, and where there is no fix."""
        if place is None:
            raise TokenError(
                "there is no GPS fix: the place can't be told.",
                "NO GPS FIX\nTRY AGAIN",
                "Wait under the open sky for a fix and try again.",
            )
        off_m = self.off_m(*place)
        if off_m > 0.0:
            raise TokenError(
                f"is for a place {off_m:.0f} m from here.", "NOT AT THE RACE\nGO TO ITS PLACE"
            )


class _Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signed bytes, in few letters: times in whole seconds since 1970 in UTC."""

    e: str
    p: tuple[float, float]
    r: float
    f: int
    t: int
    u: str = ""


def issue(token: Token, key: SigningKey) -> str:
    """The token's line, signed; raises TokenError with every fault of what is asked for."""
    faults = faults_of(token)
    if faults:
        raise TokenError("; ".join(faults) + ".", "TOKEN NOT RIGHT\nASK FOR ANOTHER")
    payload = _Payload(
        token.event,
        (round(token.lat_deg, 6), round(token.lon_deg, 6)),
        round(token.radius_m, 1),
        int(token.from_utc.timestamp()),
        int(token.to_utc.timestamp()),
        token.unit,
    )
    before = f"{PREFIX}.{_letters(msgspec.json.encode(payload))}.{_letters(key.public)}"
    return f"{before}.{_letters(key.sign(DOMAIN + before.encode()))}"


def read(line: str) -> Token:
    """The token in a line, whose signature is good; raises TokenError, and says what is wrong."""
    torn = TokenError(
        "is not whole: must be one line, sw-race-1 and three parts after it.",
        "TOKEN NOT READ\nIS IT WHOLE?",
        "Copy the whole line, or ask for it again.",
    )
    line = line.strip()
    parts = line.split(".")
    if len(line) > MOST_LETTERS or len(parts) != 4 or parts[0] != PREFIX:
        raise torn
    try:
        payload, key, signature = (_octets(part) for part in parts[1:])
    except (binascii.Error, ValueError):
        raise torn from None
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        raise torn
    signed = line.rpartition(".")[0].encode()
    if not is_signed(key, signature, DOMAIN + signed):
        raise TokenError(
            "is not what its key signed: it was changed, or signed by another.",
            "TOKEN IS FALSE\nNOT ITS KEY'S",
            "Ask the organizer for it again.",
        )
    try:
        said = msgspec.json.decode(payload, type=_Payload)
        token = Token(
            event=said.e,
            lat_deg=said.p[0],
            lon_deg=said.p[1],
            radius_m=said.r,
            from_utc=datetime.fromtimestamp(said.f, UTC),
            to_utc=datetime.fromtimestamp(said.t, UTC),
            unit=said.u,
            key=key.hex(),
        )
    except (msgspec.DecodeError, OverflowError, OSError, ValueError, RecursionError) as fault:
        raise TokenError(f"can't be read: {fault}.", "TOKEN NOT READ\nASK FOR ANOTHER") from fault
    faults = faults_of(token)
    if faults:
        raise TokenError("; ".join(faults) + ".", "TOKEN NOT RIGHT\nASK FOR ANOTHER")
    return token


def faults_of(token: Token) -> list[str]:
    """All that no race can be: a place off the earth, a circle or a window without measure."""
    faults = []
    if not token.event.strip() or not token.event.isprintable():
        faults.append(f"event = {token.event!r}: must be a name on one line")
    if len(token.event.encode()) > MOST_EVENT_BYTES:
        faults.append(f"event: must be at most {MOST_EVENT_BYTES} bytes")
    if not -90.0 <= token.lat_deg <= 90.0 or not -180.0 <= token.lon_deg <= 180.0:
        faults.append(f"place = {token.lat_deg}, {token.lon_deg}: must be degrees on the earth")
    if not 0.0 < token.radius_m <= MOST_RADIUS_M or not math.isfinite(token.radius_m):
        faults.append(f"radius = {token.radius_m:g} m: must be above 0 and at most 50 km")
    if token.to_utc <= token.from_utc:
        faults.append(f"to = {told(token.to_utc)}: must be after from = {told(token.from_utc)}")
    elif token.to_utc - token.from_utc > MOST_WINDOW:
        faults.append(f"to = {told(token.to_utc)}: must be at most 14 days after from")
    if len(token.unit) > 32 or not token.unit.isprintable():
        faults.append(f"unit = {token.unit[:40]!r}: must be a unit's id of at most 32 letters")
    return faults


def told(utc: datetime) -> str:
    """An instant as a person reads it."""
    return f"{utc:%Y-%m-%d %H:%M} UTC"


def _letters(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def _octets(letters: str) -> bytes:
    octets = base64.b64decode(letters + "=" * (-len(letters) % 4), altchars=b"-_", validate=True)
    if _letters(octets) != letters:  # one token, one spelling
        raise ValueError(letters)
    return octets
