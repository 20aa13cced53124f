"""An organizer's token: what it says, whom it binds, and every way in which it proves nothing."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from firmware.errors import SledwardenError
from firmware.race_token import DOMAIN, MOST_LETTERS, Token, TokenError, issue, read
from firmware.signing import SigningKey, is_signed

KEY = SigningKey(bytes(range(32)))
OTHER = SigningKey(bytes(32))
FROM = datetime(2026, 1, 17, 0, 0, tzinfo=UTC)
TO = datetime(2026, 1, 17, 6, 0, tzinfo=UTC)
DERBY = Token(
    event="Eagle River Derby",
    lat_deg=45.917,
    lon_deg=-89.244,
    radius_m=3000.0,
    from_utc=FROM,
    to_utc=TO,
    unit="",
    key=KEY.public.hex(),
)
CENTRE = (45.917, -89.244)


def fault_of(line: str) -> TokenError:
    with pytest.raises(TokenError) as told:
        read(line)
    return told.value


def forged(payload: object, signer: SigningKey = KEY, named: SigningKey = KEY) -> str:
    """A line whose payload is whatever is given, signed by `signer` in the name of `named`."""

    def letters(octets: bytes) -> str:
        return base64.urlsafe_b64encode(octets).decode().rstrip("=")

    octets = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    before = f"sw-race-1.{letters(octets)}.{letters(named.public)}"
    return f"{before}.{letters(signer.sign(DOMAIN + before.encode()))}"


GOOD = {"e": "Derby", "p": [45.0, -89.0], "r": 100.0, "f": 1768608000, "t": 1768629600, "u": ""}


def test_a_token_reads_back_to_what_was_signed() -> None:
    assert read(issue(DERBY, KEY)) == DERBY
    one = replace(DERBY, unit="sled-1", event="Żabia Wola é")
    assert read(issue(one, KEY)) == one
    assert read(forged(GOOD)).event == "Derby"


def test_the_longest_token_is_one_line_that_the_feed_carries() -> None:
    longest = replace(DERBY, event="é" * 30, unit="u" * 32, lat_deg=-45.123456, radius_m=12345.6)
    line = issue(longest, KEY)
    assert len(line) <= MOST_LETTERS
    assert line.isascii()
    assert line.isprintable()


def test_the_four_words_are_those_of_the_key() -> None:
    from firmware.port.hosts import words_of

    assert DERBY.words == words_of(KEY.public)


@pytest.mark.parametrize("cut", [1, 20, 44, 100, 200])
def test_a_cut_token_is_not_whole(cut: int) -> None:
    assert fault_of(issue(DERBY, KEY)[:-cut]).glass == "TOKEN NOT READ\nIS IT WHOLE?"


@pytest.mark.parametrize(
    "line",
    ["", "sw-race-1", "sw-race-2.a.b.c", "sw-race-1.?.?.?", "x" * 481, "sw-race-1.YQ.YQ.YQ",
     "sw-race-1....", "sw-race-1.é.é.é"],
)  # fmt: skip
def test_what_is_no_token_is_told(line: str) -> None:
    assert fault_of(line).glass == "TOKEN NOT READ\nIS IT WHOLE?"


def test_each_changed_letter_is_told() -> None:
    line = issue(DERBY, KEY)
    for at in range(len("sw-race-1."), len(line)):
        for new in "Az":
            if line[at] != new:
                assert fault_of(line[:at] + new + line[at + 1 :]).glass.startswith("TOKEN ")


def test_a_token_has_one_spelling() -> None:
    """64 bytes of signature are 85.3 letters: the last one has four bits that mean nothing."""
    line = issue(DERBY, KEY)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    at = letters.index(line[-1])
    for spare in range(1, 16):
        assert fault_of(line[:-1] + letters[at ^ spare]).glass == "TOKEN NOT READ\nIS IT WHOLE?"


def test_a_signature_by_another_key_is_false() -> None:
    fault = fault_of(forged(GOOD, signer=OTHER, named=KEY))
    assert fault.glass == "TOKEN IS FALSE\nNOT ITS KEY'S"
    assert "is not what its key signed" in str(fault)


def test_a_signature_for_another_purpose_is_false() -> None:
    """A host's proof or a sheet's signature is never a race's."""
    before = issue(DERBY, KEY).rpartition(".")[0]
    bare = base64.urlsafe_b64encode(KEY.sign(before.encode())).decode().rstrip("=")
    assert fault_of(f"{before}.{bare}").glass == "TOKEN IS FALSE\nNOT ITS KEY'S"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"e": ""}, "event"), ({"e": "a\nb"}, "event"), ({"e": "x" * 61}, "event"),
        ({"p": [91.0, 0.0]}, "place"), ({"p": [0.0, 181.0]}, "place"),
        ({"r": 0.0}, "radius"), ({"r": 50_001.0}, "radius"), ({"r": -5.0}, "radius"),
        ({"t": 1768608000}, "to"), ({"t": 1768608000 + 14 * 86400 + 1}, "14 days"),
        ({"u": "u" * 33}, "unit"),
    ],
)  # fmt: skip
def test_what_no_race_can_be_is_refused_though_it_is_signed(
    change: dict[str, object], what: str
) -> None:
    fault = fault_of(forged(GOOD | change))
    assert what in str(fault)
    assert fault.glass == "TOKEN NOT RIGHT\nASK FOR ANOTHER"


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"\xff", {"e": "x"}, GOOD | {"x": 1}, GOOD | {"f": "now"}, GOOD | {"f": 1e30},
     GOOD | {"t": 10**17}, GOOD | {"r": True}, b"[" * 300],
)  # fmt: skip
def test_a_signed_payload_that_is_none_is_told(payload: object) -> None:
    line = forged(payload)
    if len(line) <= MOST_LETTERS:
        assert fault_of(line).glass.startswith("TOKEN NOT R")


def test_all_that_is_wrong_is_told_at_once_before_signing() -> None:
    with pytest.raises(TokenError) as told:
        issue(replace(DERBY, event=" ", radius_m=0.0, to_utc=FROM), KEY)
    text = str(told.value)
    assert "event" in text
    assert "radius" in text
    assert "must be after from" in text


def test_the_window_begins_with_its_first_second_and_ends_before_its_last() -> None:
    DERBY.refuse_unless_now(FROM)
    DERBY.refuse_unless_now(TO - timedelta(seconds=1))
    for utc, glass in (
        (FROM - timedelta(seconds=1), "RACE NOT YET\nTOO EARLY"),
        (TO, "RACE TOKEN\nHAS ENDED"),
        (TO + timedelta(days=1), "RACE TOKEN\nHAS ENDED"),  # replayed on another day
        (None, "DATE NOT KNOWN\nWAIT FOR GPS"),
    ):
        with pytest.raises(TokenError) as told:
            DERBY.refuse_unless_now(utc)
        assert told.value.glass == glass


def test_the_circle_is_that_of_its_radius() -> None:
    DERBY.refuse_unless_here(CENTRE)
    # A degree of latitude at 45.93 N has 111,150 m (WGS 84): 3,000 m are 0.026991 degrees.
    DERBY.refuse_unless_here((45.917 + 0.026986, -89.244))
    with pytest.raises(TokenError) as told:
        DERBY.refuse_unless_here((45.917 + 0.026996, -89.244))
    assert told.value.glass == "NOT AT THE RACE\nGO TO ITS PLACE"
    with pytest.raises(TokenError) as told:
        DERBY.refuse_unless_here(None)
    assert told.value.glass == "NO GPS FIX\nTRY AGAIN"


def test_a_token_for_one_sled_is_for_no_other() -> None:
    replace(DERBY, unit="sled-1").refuse_unless_for("sled-1")
    DERBY.refuse_unless_for("any")
    with pytest.raises(TokenError) as told:
        replace(DERBY, unit="sled-2").refuse_unless_for("sled-1")
    assert told.value.glass == "TOKEN IS FOR\nANOTHER SLED"


def test_a_key_is_kept_for_its_owner_alone_and_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "organizer.key"
    assert SigningKey.load(path) is None
    made = SigningKey.make(path)
    assert path.stat().st_mode & 0o777 == 0o600
    again = SigningKey.load(path)
    assert again is not None
    assert again.public == made.public
    before = path.read_bytes()
    with pytest.raises(SledwardenError, match="can't be made: File exists"):
        SigningKey.make(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_key_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "organizer.key"
    path.write_text("hello")
    with pytest.raises(SledwardenError, match="is no key: must be 64 hex digits"):
        SigningKey.load(path)
    assert path.read_text() == "hello"


def test_a_signature_is_good_for_its_key_and_bytes_alone() -> None:
    signature = KEY.sign(b"abc")
    assert is_signed(KEY.public, signature, b"abc")
    assert not is_signed(KEY.public, signature, b"abd")
    assert not is_signed(OTHER.public, signature, b"abc")
    assert not is_signed(KEY.public, signature[:-1], b"abc")
    assert not is_signed(b"short", signature, b"abc")
