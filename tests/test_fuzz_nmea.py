"""A short run of what fuzz_nmea.py does by the million, and that it would see a fault."""

from __future__ import annotations

import random

import pytest
from fuzz_nmea import Line, good_count, mutated, run, signed

from firmware import nmea
from firmware.fixes import FixTracker
from firmware.readings import Channel, Fix, Reading


def test_twenty_thousand_mutated_sentences_break_nothing() -> None:
    line = run(20_000, seed=20)
    assert line.mutated >= 20_000
    assert line.accepted > 10_000  # and yet what is good is heard among them
    assert line.fixes > 500


def test_mutations_are_damaged_or_forged() -> None:
    luck = random.Random(4)
    body = b"GPRMC,101112.00,A,4500.0000,N,08700.0000,W,58.5,90.0,150124,,,A"
    said = [mutated(body, luck) for _ in range(2000)]
    forged = sum(good_count(one) == 1 and one != signed(body) for one in said)
    damaged = sum(good_count(one) == 0 for one in said)
    assert forged > 600
    assert damaged > 400


def test_a_wrong_checksum_that_is_accepted_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nmea, "checksum", lambda octets: 0x42)
    line = Line()
    with pytest.raises(AssertionError, match="accepted 1 with a wrong checksum"):
        line.feed(b"$GPRMC,101112.00,A,4500.0000,N,08700.0000,W,12.0,90.0,150124,,,A*42\r\n")


def test_a_fix_beyond_physics_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    value = Fix(45.0, -87.0, 3.0, 200.0, 0.2)
    reading = Reading(Channel.FIX, value, 0.0, "test")
    monkeypatch.setattr(FixTracker, "feed", lambda *_: [reading])
    with pytest.raises(AssertionError, match="beyond physics"):
        Line().feed(b"\r\n")
