"""A short run of what fuzz_nmea.py does by the million, and that it would see a fault."""

from __future__ import annotations

import random

import pytest
from fuzz_nmea import Line, good_count, mutated, run, signed
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.gps import nmea
from firmware.gps.fixes import FixTracker
from firmware.gps.receiver_setup import ReceiverSetup
from firmware.gps.receivers import Replies, sentence, ubx
from firmware.readings import Channel, Fix, Reading
from firmware.signals import Signals


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


PIECES = st.one_of(
    st.binary(max_size=60),
    st.text("$*,0123456789ABCGPRMS\r\n", max_size=60).map(str.encode),
    st.builds(sentence, st.text("GPSV,0123456789", min_size=1, max_size=40)),
    st.builds(ubx, st.integers(0, 255), st.integers(0, 255), st.binary(max_size=40)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12), st.data())
def test_any_bytes_cut_anywhere_break_no_reader_and_give_the_same(
    pieces: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(pieces)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6).map(sorted))
    whole, cut = Replies(), Replies()
    setup, signals, line = ReceiverSetup(9600, 10.0), Signals(), Line()
    found = whole.cut(stream + b"\r\n" * 600)
    parts: list[bytes] = []
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(stream)], strict=True)):
        parts += cut.cut(stream[begin:end])
        setup.turn(stream[begin:end], number, number * 0.7)
        signals.hear(stream[begin:end], number * 0.7)
    parts += cut.cut(b"\r\n" * 600)
    assert parts == found
    line.feed(stream + b"\r\n")
