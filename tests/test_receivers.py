"""Receivers that understand their makers' commands, over a serial line that has a baud rate."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date

import pytest

from firmware.buses.receivers_fake import (
    Chip,
    ListeningReceiver,
    MediatekChip,
    PairChip,
    PqtmChip,
    UbloxChip,
    UbloxKeyChip,
)
from firmware.clock import Clock
from firmware.gps.fixes import FixSettings
from firmware.gps.receiver_setup import ReceiverSetup
from firmware.gps.receivers import (
    BAUDS,
    LEAST_BAUD,
    Maker,
    Replies,
    baud_request,
    least_baud,
    maker_of,
    requests,
    sentence,
    ubx,
    wish_for,
)
from firmware.readings import Fix, Missing, Reading, Receiver
from firmware.sources.gps import Gps

SETTINGS = FixSettings(floor=date(2024, 1, 1))
FAST = 6.0  # ride seconds a second


class Bench:
    """A receiver and the source that reads it, both eight times as fast as life."""

    def __init__(self, make_chip: Callable[[], Chip], baud: int, rate_hz: float | None) -> None:
        self.clock = Clock(FAST, from_zero=True)
        self.receiver = ListeningReceiver(make_chip, self.clock)
        self.readings: queue.Queue[Reading] = queue.Queue()
        self.notes: list[str] = []
        self.fixes: list[Reading] = []
        self.gps = Gps(self.receiver.port, baud, SETTINGS, self.clock, rate_hz=rate_hz)
        self.gps.start(self.readings.put)

    def until(self, is_wanted: Callable[[Reading], bool], ride_s: float = 60.0) -> Reading:
        """The next reading of a kind, within so many seconds of the ride."""
        until_s = self.clock.mono_s() + ride_s
        while self.clock.mono_s() < until_s:
            try:
                reading = self.readings.get(timeout=60.0)
            except queue.Empty:
                break
            if isinstance(reading.value, Receiver) and reading.value.note:
                self.notes.append(reading.value.note)
            if isinstance(reading.value, Fix):
                self.fixes.append(reading)
            if is_wanted(reading):
                return reading
        raise AssertionError(f"not within {ride_s} s: {self.receiver.chip}, {self.notes}")

    def until_rate(self, rate_hz: float, ride_s: float = 60.0) -> None:
        """Waits until the chip is at a rate and the source has seen that it is."""

        def is_seen(reading: Reading) -> bool:
            seen = reading.value
            return (
                isinstance(seen, Receiver)
                and seen.rate_hz is not None
                and self.receiver.chip.rate_hz == rate_hz
                and 0.8 * rate_hz < seen.rate_hz < 1.25 * rate_hz
            )

        self.until(is_seen, ride_s)

    def pass_time(self, ride_s: float) -> None:
        """Hears the receiver for so long."""
        until_s = self.clock.mono_s() + ride_s
        self.until(lambda reading: reading.mono_s >= until_s, ride_s + 10.0)


@contextmanager
def bench(
    make_chip: Callable[[], Chip], baud: int = 38400, rate_hz: float | None = 10.0
) -> Iterator[Bench]:
    one = Bench(make_chip, baud, rate_hz)
    try:
        yield one
    finally:
        one.gps.stop()
        one.receiver.close()


SPEAKERS = {
    "u-blox 8": (UbloxChip, Maker.UBLOX),
    "u-blox 10": (UbloxKeyChip, Maker.UBLOX_KEYS),
    "MediaTek": (MediatekChip, Maker.MEDIATEK),
    "Quectel PAIR": (PairChip, Maker.QUECTEL_PAIR),
    "Quectel PQTM": (PqtmChip, Maker.QUECTEL_PQTM),
}


@pytest.mark.parametrize("name", SPEAKERS)
def test_a_receiver_is_brought_to_ten_hertz_and_few_sentences(name: str) -> None:
    chip, _ = SPEAKERS[name]
    with bench(lambda: chip(baud=38400)) as one:
        one.until_rate(10.0)
        every = one.receiver.chip.every
        assert (every["RMC"], every["GGA"], every["GSA"], every["GST"]) == (1, 1, 5, 5)
        assert (every["VTG"], every["GLL"], every["ZDA"]) == (0, 0, 0)
        one.pass_time(4.0)
        assert not any("rate" in note for note in one.notes)


@pytest.mark.parametrize("name", ["u-blox 8", "u-blox 10", "MediaTek"])
def test_a_slow_line_is_made_faster_together_with_the_receiver(name: str) -> None:
    chip, _ = SPEAKERS[name]
    with bench(lambda: chip(baud=9600), baud=9600) as one:
        one.until_rate(10.0)
        assert one.receiver.chip.baud == 38400
        assert least_baud(10.0) == 38400


@pytest.mark.parametrize("baud", BAUDS)
def test_the_baud_rate_is_found_wherever_it_is(baud: int) -> None:
    first = 9600 if baud != 9600 else 115200
    with bench(lambda: Chip(baud=baud), baud=first) as one:
        one.until(lambda reading: isinstance(reading.value, Fix), 15.0)
        one.until(lambda _: any("answers no request" in note for note in one.notes))
        assert f"the receiver speaks at {baud} baud, not {first}" in one.notes


def test_a_receiver_that_ignores_all_works_at_its_own_rate_and_is_told_of_once() -> None:
    with bench(Chip, baud=9600) as one:
        one.until(lambda _: bool(one.notes))
        one.pass_time(15.0)
        assert [note for note in one.notes if "request" in note] == [
            "the receiver answers no request: it works at its own rate"
        ]
        assert len(one.receiver.asked) == 3 * 4  # three times who it is, and then no more
        assert one.receiver.sent - len(one.fixes) <= 3  # nothing that was asked has cost a fix


def test_a_receiver_that_can_t_do_ten_gives_five() -> None:
    with bench(lambda: MediatekChip(baud=38400, fastest_hz=5.0)) as one:
        one.until_rate(5.0)
        one.pass_time(5.0)
        assert "the receiver gives 5 Hz of 10" in one.notes


def test_a_receiver_that_answers_and_does_nothing_is_told_of_once() -> None:
    class Stubborn(UbloxChip):
        def _take_period(self, period_ms: int) -> bool:
            return False

    with bench(lambda: Stubborn(baud=38400, rate_hz=0.5)) as one:
        one.until(lambda _: bool(one.notes))
        one.pass_time(12.0)
        assert one.notes == [
            "the receiver does not do the rate it is asked for: it works at its own"
        ]


def test_an_lg290p_that_keeps_its_rate_until_it_is_saved_is_told_of_with_what_to_do() -> None:
    class Saving(PqtmChip):
        def _take_period(self, period_ms: int) -> bool:
            return True  # OK is said, and done after a save and a restart alone

    with bench(lambda: Saving(baud=38400, rate_hz=0.5)) as one:
        one.until(lambda _: bool(one.notes))
        one.pass_time(12.0)
        assert one.notes == [
            "the receiver keeps its rate until that is saved ($PQTMSAVEPAR*5A) and it is restarted "
            "($PQTMSRR*4B): it works at its own"
        ]
        assert not any(b"SAVEPAR" in asked or b"SRR" in asked for asked in one.receiver.asked)
        assert sentence("PQTMSAVEPAR") == b"$PQTMSAVEPAR*5A\r\n"
        assert sentence("PQTMSRR") == b"$PQTMSRR*4B\r\n"


def test_a_receiver_that_can_t_do_five_gives_one() -> None:
    with bench(lambda: UbloxChip(baud=38400, fastest_hz=1.0)) as one:
        one.until(lambda _: "the receiver gives 1 Hz of 10" in one.notes)
        assert one.receiver.chip.rate_hz == 1.0


def test_a_line_that_can_t_be_made_faster_carries_what_it_can() -> None:
    with bench(lambda: PairChip(baud=9600), baud=9600) as one:
        one.until(lambda _: "the receiver gives 1 Hz of 10" in one.notes)
        assert one.receiver.chip.every["GLL"] == 0
        before = one.receiver.dropped
        one.pass_time(5.0)
        assert one.receiver.dropped == before


def test_a_receiver_that_does_not_follow_to_a_faster_line_is_met_again_on_the_old_one() -> None:
    class Steadfast(UbloxChip):
        def _configure(self, kind: int, payload: bytes) -> bool:
            return kind == 0x00 or super()._configure(kind, payload)  # CFG-PRT: said and not done

    with bench(lambda: Steadfast(baud=9600), baud=9600) as one:
        one.until(lambda _: "the receiver gives 1 Hz of 10" in one.notes)
        assert one.receiver.chip.baud == 9600
        assert one.receiver.chip.every["GSV"] == 0
        before = len(one.fixes)
        one.pass_time(4.0)
        assert len(one.fixes) > before


def test_a_receiver_that_forgets_its_rate_is_asked_again() -> None:
    with bench(lambda: UbloxChip(baud=38400)) as one:
        one.until_rate(10.0)
        for _ in range(2):
            one.pass_time(4.0)
            one.receiver.lose_power()
            one.until_rate(1.0)
            one.until_rate(10.0, 30.0)


def test_a_receiver_that_forgets_its_baud_rate_is_found_and_asked_again() -> None:
    with bench(lambda: MediatekChip(baud=9600), baud=9600) as one:
        one.until_rate(10.0)
        one.pass_time(4.0)
        one.receiver.lose_power()
        assert one.receiver.chip.baud == 9600
        one.until_rate(10.0, 60.0)
        assert one.receiver.chip.baud == 38400


def test_a_receiver_that_is_plugged_in_again_is_asked_again() -> None:
    with bench(lambda: UbloxKeyChip(baud=38400)) as one:
        one.until_rate(10.0)
        one.receiver.unplug()
        one.until(lambda reading: isinstance(reading.value, Missing))
        one.receiver.replug()
        one.until_rate(10.0)


def test_a_receiver_that_is_not_to_be_configured_is_only_listened_to() -> None:
    with bench(lambda: UbloxChip(baud=38400), rate_hz=None) as one:
        one.pass_time(10.0)
        assert one.receiver.asked == []
        assert one.receiver.chip.rate_hz == 1.0


def test_fixes_are_given_while_a_receiver_is_asked() -> None:
    with bench(lambda: UbloxChip(baud=38400)) as one:
        one.until_rate(10.0)
        assert one.receiver.sent - len(one.fixes) <= 3  # the first ones, before the port was open


# The languages -------------------------------------------------------------------------------


def test_frames_have_the_checksums_of_the_data_sheets() -> None:
    # UBX-CFG-RATE of 10 Hz, UBX-CFG-MSG that stops GLL, UBX-MON-VER: as u-blox's own tools send.
    assert ubx(0x06, 0x08, bytes.fromhex("640001000100")).hex(" ") == (
        "b5 62 06 08 06 00 64 00 01 00 01 00 7a 12"
    )
    assert ubx(0x06, 0x01, b"\xf0\x01\x00").hex(" ") == "b5 62 06 01 03 00 f0 01 00 fb 11"
    assert ubx(0x0A, 0x04).hex(" ") == "b5 62 0a 04 00 00 0e 34"
    assert sentence("PMTK220,100") == b"$PMTK220,100*2F\r\n"
    assert sentence("PMTK251,38400") == b"$PMTK251,38400*27\r\n"
    assert sentence("PMTK605") == b"$PMTK605*31\r\n"
    assert sentence("PAIR020") == b"$PAIR020*38\r\n"
    assert sentence("PQTMVERNO") == b"$PQTMVERNO*58\r\n"


@pytest.mark.parametrize("name", SPEAKERS)
def test_each_maker_is_known_by_its_answer(name: str) -> None:
    chip, maker = SPEAKERS[name]
    one = chip()
    question = {Maker.UBLOX: b"\x0a\x04\0\0", Maker.UBLOX_KEYS: b"\x0a\x04\0\0",
                Maker.MEDIATEK: b"PMTK605", Maker.QUECTEL_PAIR: b"PAIR020",
                Maker.QUECTEL_PQTM: b"PQTMVERNO"}[maker]  # fmt: skip
    (answer,) = Replies().cut(one.obey(question))
    assert maker_of(answer) is maker
    assert maker_of(b"GPRMC,,V") is None


@pytest.mark.parametrize("name", SPEAKERS)
@pytest.mark.parametrize("rate_hz", [1.0, 2.0, 5.0, 10.0])
def test_each_maker_s_chip_takes_each_request(name: str, rate_hz: float) -> None:
    chip, maker = SPEAKERS[name]
    one = chip()
    for request in Replies().cut(requests(maker, wish_for(rate_hz, 115200))):
        answer = one.obey(request)
        is_refused = answer.startswith(b"\xb5b\x05\x00") or b"ERROR" in answer
        # Generation 10 has no USB, and refuses the frame that is for it.
        assert not is_refused or b"\xae\x00\x91" in request.replace(b"\xaf", b"\xae")
    assert one.rate_hz == rate_hz
    assert one.every["RMC"] == 1
    assert one.every["GLL"] == 0


@pytest.mark.parametrize("name", ["u-blox 8", "u-blox 10", "MediaTek"])
def test_a_baud_rate_is_taken(name: str) -> None:
    chip, maker = SPEAKERS[name]
    one = chip()
    (request,) = Replies().cut(baud_request(maker, 38400))
    one.obey(request)
    assert one.wants_baud == 38400


def test_satellites_in_view_are_asked_for_where_they_delay_no_fix() -> None:
    assert wish_for(10.0, 38400).gsv_every == 0
    assert wish_for(1.0, 9600).gsv_every == 0
    assert wish_for(1.0, 38400).gsv_every == 5
    assert wish_for(5.0, 115200).gsv_every == 5


def test_a_line_carries_what_is_asked_of_it() -> None:
    for rate_hz, baud in LEAST_BAUD.items():
        wish = wish_for(rate_hz, baud)
        letters = rate_hz * 140 + rate_hz / wish.quality_every * (4 * 60 + 60)
        assert letters <= baud / 10


def test_replies_are_cut_however_they_are_split() -> None:
    stream = b"\xff$GPGGA,1*7" + ubx(5, 1, b"\x06\x08") + sentence("PMTK001,220,3") + b"$PM" * 90
    for size in (1, 2, 3, 7, 400):
        replies = Replies()
        found = []
        for at in range(0, len(stream), size):
            found += replies.cut(stream[at : at + size])
        assert found == [b"\x05\x01\x02\x00\x06\x08", b"PMTK001,220,3"]
        assert replies.good == 2


def test_rubbish_is_not_kept() -> None:
    replies = Replies()
    for _ in range(100):
        replies.cut(b"\xb5b\x01\x02\xff\x03" + b"$" * 300 + b"\xb5")
    assert len(replies._kept) < 1200
    assert replies.good == 0
    assert replies.rubbish == 100 * 307


def test_silence_speaks_against_no_baud_rate() -> None:
    setup = ReceiverSetup(9600, 10.0)
    orders = [setup.turn(b"", 0, at_s * 0.2) for at_s in range(300)]
    assert {order.baud for order in orders} == {None}
    assert {order.octets for order in orders} == {b""}


def test_half_a_sentence_at_the_start_is_no_rubbish() -> None:
    setup = ReceiverSetup(9600, 10.0)
    setup.turn(b"8700.0000,W,20.0,90.0,150124,,,A*4B\r\n", 0, 0.0)
    assert [setup.turn(b"", 0, at_s * 0.2).baud for at_s in range(1, 10)] == [None] * 9
    asked = setup.turn(sentence("GPRMC,101112,A,4500.0,N,08700.0,W,20.0,90.0,150124,,,A"), 1, 2.0)
    assert b"PMTK605" in asked.octets
