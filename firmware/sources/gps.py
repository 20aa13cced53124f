"""The GPS receiver on its serial line."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import closing

from firmware.buses.uart import Uart
from firmware.clock import Clock
from firmware.errors import BusError
from firmware.gps.fixes import FixSettings, FixTracker
from firmware.gps.receiver_setup import ReceiverSetup
from firmware.readings import Channel, Missing, Reading, Why
from firmware.sources.base import Post

log = logging.getLogger("sledwarden.gps")

RETRY_S = 1.0
SILENCE_S = 3.0  # the slowest receiver supported sends every 2 s
STOP_LATENCY_S = 0.2


class Gps:
    """Reads the receiver from `start` to `stop`, and posts a fix at the sentence that carries it.

    A receiver that is absent, held by another program, unplugged or silent is told as a `Missing`
    about once a second, with the reason, and tried again for ever.
    """

    name = "gps"

    def __init__(
        self,
        port: str,
        baud: int,
        settings: FixSettings,
        clock: Clock,
        *,
        rate_hz: float | None = None,
    ) -> None:
        """With `rate_hz` the receiver is looked for at all baud rates and asked for that rate;
        without it, it is only listened to."""
        self._port = port
        self._baud = self._line_baud = baud
        self._rate_hz = rate_hz
        self._settings = settings
        self._clock = clock
        self._ended = threading.Event()
        self._opened = threading.Event()
        self._thread: threading.Thread | None = None
        self.on_octets: Callable[[bytes, float], None] | None = None
        """Hears every byte of the line after it was judged, with its instant; must not block."""

    def start(self, post: Post) -> None:
        """Begins to read, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, args=(post,), name=self.name, daemon=True)
        self._thread.start()

    def wait_until_open(self, real_s: float) -> bool:
        """Waits until the port was opened once, at most so many of the world's seconds."""
        return self._opened.wait(real_s)

    def stop(self) -> None:
        """Ends the thread and frees the port; safe to call twice."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _run(self, post: Post) -> None:
        tracker = FixTracker(self._settings)
        while not self._ended.is_set():
            try:
                with closing(Uart(self._port, self._line_baud)) as uart:
                    self._opened.set()
                    self._listen(uart, tracker, post)
            except BusError as error:
                self._miss(post, str(error))
                self._clock.wait(self._ended, RETRY_S)

    def _listen(self, uart: Uart, tracker: FixTracker, post: Post) -> None:
        due_s = self._clock.mono_s() + SILENCE_S
        setup = None
        if self._rate_hz is not None:
            setup = ReceiverSetup(self._baud, self._rate_hz, self._line_baud)
        unsent = b""
        while not self._ended.is_set():
            # A scaled clock's silence passes in a fraction of the world's.
            octets = uart.read(min(STOP_LATENCY_S, self._clock.real_s(SILENCE_S / 4.0)))
            now_s = self._clock.mono_s()
            if octets:
                due_s = now_s + SILENCE_S
                for reading in tracker.feed(octets, now_s):
                    post(reading)
                tracker.signals.hear(octets, now_s)  # no fix waits for it
                if self.on_octets is not None:
                    self.on_octets(octets, now_s)
            elif now_s >= due_s:
                due_s = now_s + RETRY_S
                self._miss(
                    post, f"{self._port}: the receiver sends nothing. Look at its power and cable."
                )

            if setup is not None:
                unsent = self._speak(uart, setup, tracker, octets, now_s, unsent)

    def _speak(
        self,
        uart: Uart,
        setup: ReceiverSetup,
        tracker: FixTracker,
        octets: bytes,
        now_s: float,
        unsent: bytes,
    ) -> bytes:
        """Does what the set-up says, once what came is judged; what the line did not take yet."""
        order = setup.turn(octets, tracker.epochs, now_s)
        unsent += order.octets
        if unsent:
            unsent = unsent[uart.write(unsent) :]
        if order.baud is not None:
            try:
                uart.set_baud(order.baud)
            except BusError as error:  # a rate that this port can't do: the next one is tried
                log.info("%s", error)
            else:
                self._line_baud = order.baud
        if order.note:
            tracker.say(order.note)
        tracker.setup = setup.words
        return unsent

    def _miss(self, post: Post, detail: str) -> None:
        missing = Missing(Why.NO_ANSWER, detail)
        post(Reading(Channel.FIX, missing, self._clock.mono_s(), self._settings.source))
