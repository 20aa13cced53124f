"""Finds the baud rate of a receiver, asks it for a rate, and asks again when it forgets.

Pure: no thread, no port, no clock. It is told what came and when, and says what to send; what it
waits for never keeps a fix from being judged, for the same bytes go to the tracker first.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from firmware.gps.receivers import (
    BAUDS,
    DEAF,
    RATES_HZ,
    WHO_ARE_YOU,
    Maker,
    Replies,
    baud_request,
    least_baud,
    maker_of,
    requests,
    wish_for,
)

LISTEN_S = 1.0
RUBBISH_BYTES = 128
"""More than the longest rest of a sentence that was cut by opening the port in the middle of it."""

ANSWER_S = 1.2
ASKS = 3
SETTLE_S = 1.0
MEASURE_S = 2.5
WATCH_S = 3.0
ENOUGH = 0.8
FALLEN = 0.7
"""Of the rate that is wished, or that was had: one sentence lost in a window is no forgetting."""

_Story = Generator[None, None, None]


@dataclass(slots=True)
class Order:
    """What is to be done now: bytes to send, another baud rate, and what is worth telling."""

    octets: bytes = b""
    baud: int | None = None
    note: str = ""


class ReceiverSetup:
    """Brings one receiver on one open line to its rate, and keeps it there.

    `baud` is that of the line, `maker` who answered, `rate_hz` what was heard last.
    """

    def __init__(self, baud: int, rate_hz: float, began_at: int | None = None) -> None:
        """Looks for `baud` first, where the line does not begin at another one, and wishes for a
        rate of 10 Hz at most."""
        self.baud = baud if began_at is None else began_at
        self.maker: Maker | None = None
        self.rate_hz: float | None = None
        self._first_baud = baud
        self._wish_hz = min(rate_hz, RATES_HZ[0])
        self._replies = Replies()
        self._is_cutting = True
        self._found: list[bytes] = []
        self._came = 0
        self._epochs = 0
        self._kept_hz = 0.0
        self._now_s = 0.0
        self._order = Order()
        self._said: set[str] = set()
        self._fate = ""
        self._story = self._live()

    def turn(self, octets: bytes, epochs: int, now_s: float) -> Order:
        """Takes what came (maybe nothing), how many epochs have begun so far, and the instant."""
        # Once all is said, to count bytes is enough: the tracker cuts the same ones.
        self._found = self._replies.cut(octets) if self._is_cutting else []
        self._came = len(octets)
        self._epochs, self._now_s = epochs, now_s
        order = self._order = Order()
        next(self._story)
        return order

    @property
    def words(self) -> str:
        """What came of it so far, in words; empty while it is only listened for."""
        if self.maker is None:
            return self._fate
        return f"{self.maker} at {self.baud} baud" + (f": {self._fate}" if self._fate else "")

    def _live(self) -> _Story:
        while True:
            yield from self._find_baud()
            yield from self._ask()
            yield from self._watch()

    def _find_baud(self) -> _Story:
        """Listens at one baud rate after another until a checksum is right.

        While nothing comes at all nothing speaks against a rate, and it stays.
        """
        bauds = list(dict.fromkeys((self.baud, self._first_baud, *BAUDS)))
        while True:
            for baud in bauds:
                if baud != self.baud:
                    self._go_to(baud)
                if (yield from self._is_heard()):
                    if baud != self._first_baud:
                        self._tell(f"the receiver speaks at {baud} baud, not {self._first_baud}")
                    return

    def _is_heard(self, patience_s: float | None = None) -> Generator[None, None, bool]:
        """Whether a right checksum comes before a second of rubbish, or within a patience."""
        self._replies = Replies()
        began_s = self._now_s
        while True:
            yield
            age_s = self._now_s - began_s
            if self._replies.good:
                return True
            if age_s >= LISTEN_S and self._replies.rubbish > RUBBISH_BYTES:
                return False
            if patience_s is not None and age_s >= patience_s:
                return False

    def _ask(self) -> _Story:
        """Asks who it is and for the rate, the next one where that is not kept; measures."""
        self._kept_hz, self._fate = 0.0, ""
        yield from self._learn_maker()
        if self.maker is None:
            self._fate = "answers no request"
            self._tell("the receiver answers no request: it works at its own rate")
            return
        yield from self._raise_baud(self.maker)
        slower = [one for one in RATES_HZ if one < self._wish_hz]
        for rate_hz in (self._wish_hz, *slower):
            if least_baud(rate_hz) > self.baud:
                continue
            self._order.octets += requests(self.maker, wish_for(rate_hz, self.baud))
            yield from self._wait(SETTLE_S)
            heard_hz = 0.0
            for _ in range(2):  # one epoch lost or late is no refusal
                heard_hz = yield from self._measure(max(MEASURE_S, 4.0 / rate_hz))
                if heard_hz >= ENOUGH * rate_hz:
                    break
            if heard_hz >= ENOUGH * rate_hz:
                self._kept_hz = rate_hz
                self._fate = f"{rate_hz:g} Hz of {self._wish_hz:g} asked"
                if rate_hz < self._wish_hz:
                    self._tell(f"the receiver gives {rate_hz:g} Hz of {self._wish_hz:g}")
                return
            if not heard_hz:
                return  # it has gone, or speaks at another rate: that is another matter
        self._fate = DEAF.get(self.maker, "does not do the rate it is asked for")
        self._tell(f"the receiver {self._fate}: it works at its own")

    def _learn_maker(self) -> _Story:
        self.maker = None
        for _ in range(ASKS):
            self._order.octets += WHO_ARE_YOU
            began_s = self._now_s
            while self._now_s - began_s < ANSWER_S:
                yield
                for reply in self._found:
                    self.maker = self.maker or maker_of(reply)
                if self.maker is not None:
                    return

    def _raise_baud(self, maker: Maker) -> _Story:
        """Goes with the receiver to a line that carries the rate; back where it stays behind."""
        needed = least_baud(self._wish_hz)
        octets = baud_request(maker, needed)
        if self.baud >= needed or not octets:
            return
        before = self.baud
        self._order.octets += octets
        yield from self._wait(0.3)  # the request is on the line for 0.03 s at 9,600 baud
        self._go_to(needed)
        if (yield from self._is_heard(2.5)):
            return
        self._go_to(before)
        if not (yield from self._is_heard(2.5)):
            yield from self._find_baud()

    def _watch(self) -> _Story:
        """Returns when the rate falls, when a silence has ended, or when only rubbish comes."""
        self._is_cutting = False
        window_s = max(WATCH_S, 6.0 / (self._kept_hz or 1.0))
        low = 0
        while low < 2:
            came = 0
            began_s, epochs = self._now_s, self._epochs
            while self._now_s - began_s < window_s:
                yield
                came += self._came
            if not came:
                while not self._came:
                    yield
                break
            self.rate_hz = (self._epochs - epochs) / (self._now_s - began_s)
            if not self.rate_hz and came > RUBBISH_BYTES:
                break
            low = low + 1 if self.rate_hz < FALLEN * self._kept_hz else 0
        self._is_cutting = True

    def _wait(self, wait_s: float) -> _Story:
        began_s = self._now_s
        while self._now_s - began_s < wait_s:
            yield

    def _measure(self, over_s: float) -> Generator[None, None, float]:
        """Counts epochs, those without a fix too, over some seconds."""
        began_s, epochs = self._now_s, self._epochs
        yield from self._wait(over_s)
        self.rate_hz = (self._epochs - epochs) / (self._now_s - began_s)
        return self.rate_hz

    def _go_to(self, baud: int) -> None:
        self.baud = self._order.baud = baud

    def _tell(self, note: str) -> None:
        """Says something once for as long as the port is open."""
        if note not in self._said:
            self._said.add(note)
            self._order.note = note
