"""The world of a simulated unit: fake chips, pins and receiver, moved by a drive in ride time.

The unit's own parts run on it unchanged: they open a real pseudo-terminal, talk to register models
on a fake bus, and see edges on gpiozero's mock pins.
"""

from __future__ import annotations

import heapq
import logging
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from firmware.buses.chips_fake import MODELS, Ds3231Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.buses.pins_fake import FakePins
from firmware.buses.uart_fake import FakeReceiver
from firmware.clock import Clock
from firmware.config.schema import Config
from firmware.drives.script import (
    SLOWER,
    Action,
    Asked,
    Button,
    ClockStep,
    Drive,
    Fault,
    Mode,
    Plug,
    PowerCut,
    RtcSet,
    Send,
)
from firmware.drives.world import World
from firmware.readings import Channel, Fix, Reading, Request, TetherState
from firmware.sources.adc_ads1115 import Loop, Wiring
from firmware.sources.base import Post
from firmware.sources.drive import SUPPLY_V, tracker, with_modes
from firmware.wiring import Wires

log = logging.getLogger("sledwarden.simulate")

HEARD_S = 0.3
"""The longest, in real seconds, that the world waits for the unit to have taken what it heard."""

LEAST_PACE = 0.95
"""Below this share of the pace that was asked for, it is said how fast the drive was played."""

LEAST_RIDE_S = 1.0
"""Of a shorter one, in real seconds, no pace is told."""

STOP_S = 5.0
"""The longest wait for the drive's end: a write to a line that nobody reads takes 2 s."""

PRESS_S = 0.3
HOLD_S = 2.2

PULSE_PERIOD_S = 0.05
"""Between two pulses of an engine: 1,200 a minute, an idle."""

SKY_PERIOD_S = 1.0
"""How often the light that follows the sun is set anew."""


class Stage:
    """Plays a drive to the fakes from a thread of its own, then says that it has ended."""

    def __init__(self, drive: Drive, config: Config, clock: Clock) -> None:
        self.drive = drive
        self._config = config
        self._clock = clock
        self._world = World(drive.start)
        self._bus = FakeI2cBus(clock)
        self._pins = FakePins(clock)
        self._receiver = FakeReceiver()
        self._tracker = tracker(config, drive.floor)
        self._chips = self._attach()
        # All at once and before the clock runs: to pace a long recording takes a while.
        self._timeline = list(drive.timeline())
        self._ended = threading.Event()
        self._is_idle: Callable[[], bool] = lambda: True
        self._fix_heard_s: Callable[[], float] = lambda: math.inf
        self._fix_sent_s = 0.0
        self._is_heard = True
        self._thread: threading.Thread | None = None
        for at_s, action in self._timeline:  # the world as it is when the unit is switched on
            if at_s > 0.0:
                break
            self._world.apply(action.deed, 0.0)
        self._show_contacts()
        self._show_lights(0.0)
        self._show_rtc(0.0)

    @property
    def wires(self) -> Wires:
        """The fakes, as the wires of a unit."""
        return Wires(
            self._clock,
            I2cBus(self._config.i2c.bus, transport=self._bus),
            self._pins,
            str(self._receiver.port),
            trust_dates=self.drive.floor is None,
        )

    def start(
        self,
        post: Post,
        on_end: Callable[[str], None],
        is_idle: Callable[[], bool] = lambda: True,
        fix_heard_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Begins the drive at the clock's 0.0; `on_end` is told when it is over.

        `is_idle` says whether the unit has judged all that it was given, `fix_heard_s` when the
        newest fix was measured that it has judged.
        """
        self._is_idle, self._fix_heard_s = is_idle, fix_heard_s
        for _, reading in with_modes(self.drive.modes, self._config.engine is not None):
            post(reading)
        self._thread = threading.Thread(
            target=self._run, args=(post, on_end), name="drive", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends the drive and takes the fakes down; safe to call twice."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=STOP_S)
        self._receiver.close()
        self._pins.close()

    def _attach(self) -> dict[int, Any]:
        """Puts a model of every configured chip on the bus."""
        lights, config = self._config.light, self._config
        parts = [lights.head, lights.tail, lights.ambient, config.adc, config.rtc]
        chips = {part.address: MODELS[part.chip](self._clock) for part in parts if part is not None}
        for address, model in chips.items():
            self._bus.attach(address, model)
        return chips

    def _run(self, post: Post, on_end: Callable[[str], None]) -> None:
        clock, real = self._clock, Clock()
        begin_s, at_s = real.mono_s(), 0.0
        for at_s, happen in self._happenings(post):
            while (left_s := at_s - clock.mono_s()) > 0.0:
                if clock.wait(self._ended, left_s):
                    return
            if self._ended.is_set():
                return
            happen(at_s)
            self._let_be_heard(real)
        self._tell_pace(at_s, real.mono_s() - begin_s)
        on_end("the drive ended")

    def _let_be_heard(self, real: Clock) -> None:
        """Waits until the unit has read its line and judged: on a sled that takes milliseconds,
        which at a high pace are seconds of the ride."""
        until_s = real.mono_s() + (HEARD_S if self._is_heard else 0.0)
        self._is_heard = True
        while self._receiver.is_unread or not self._is_idle() or self._fix_is_under_way():
            if real.mono_s() >= until_s:
                self._is_heard = False  # nobody reads the line: the next time is not waited for
                return
            real.sleep(0.001)

    def _fix_is_under_way(self) -> bool:
        """Whether the unit has not judged the fix that was sent; a pseudo-terminal says that it is
        empty also while the kernel carries what was written to it."""
        return self._world.is_plugged and self._fix_heard_s() < self._fix_sent_s

    def _tell_pace(self, ride_s: float, real_s: float) -> None:
        """Says how fast the drive was played where this machine could not keep its pace."""
        asked = self._clock.speed
        if real_s > LEAST_RIDE_S and ride_s < real_s * asked * LEAST_PACE:
            log.warning(
                "played %.1f %s %g: this machine can't keep that pace",
                ride_s / real_s,
                SLOWER,
                asked,
            )

    def _happenings(self, post: Post) -> Iterator[tuple[float, Callable[[float], None]]]:
        """The drive's actions, the button's releases and the turns of the sky, in order."""
        turn = count()
        later: list[tuple[float, int, Callable[[float], None]]] = [
            (0.0, next(turn), self._show_lights)
        ]
        periods_s: dict[Callable[[float], None], float] = {self._show_lights: SKY_PERIOD_S}
        if self._config.engine is not None and self._config.engine.sense == "pulses":
            periods_s[self._pulse] = PULSE_PERIOD_S
            later.append((0.0, next(turn), self._pulse))
        for at_s, action in self._timeline:
            while later and later[0][0] <= at_s:
                due_s, _, happen = heapq.heappop(later)
                if happen in periods_s:
                    heapq.heappush(later, (due_s + periods_s[happen], next(turn), happen))
                yield due_s, happen
            yield at_s, lambda now_s, action=action: self._act(action, now_s, post)  # type: ignore[misc]  # mypy can't infer a lambda with a default
            if isinstance(action.deed, Button):
                length_s = PRESS_S if action.deed.kind == "press" else HOLD_S
                heapq.heappush(later, (at_s + length_s, next(turn), self._release))

    def _act(self, action: Action, at_s: float, post: Post) -> None:
        deed = action.deed
        self._world.apply(deed, at_s)
        match deed:
            case Send(octets=octets):
                self._send(octets, at_s)
            case Plug(is_in=is_in):
                if is_in:
                    self._receiver.replug()
                else:
                    self._receiver.unplug()
            case Fault(bus=bus, address=address, kind=kind):
                if bus == f"i2c-{self._config.i2c.bus}":
                    self._bus.fault(address, kind)
            case Button():
                self._drive_button(is_down=True)
            case RtcSet():
                self._show_rtc(at_s)
            case Mode() | Asked() as asked:
                request = Request(asked.action, asked.argument, "drive")
                post(Reading(Channel.REQUEST, request, self._clock.mono_s(), "drive"))
            case ClockStep(step_s=step_s):
                self._clock.step_utc(step_s)  # which the unit must not notice
            case PowerCut():
                os.kill(os.getpid(), signal.SIGKILL)  # nothing of ours runs after a power cut
            case _:
                self._show_contacts()
                self._show_lights(at_s)

    def _send(self, octets: bytes, at_s: float) -> None:
        if self._world.is_plugged:
            self._receiver.write(octets)
        for reading in self._tracker.feed(octets, at_s):
            if isinstance(reading.value, Fix):
                fix = reading.value
                self._fix_sent_s = at_s
                self._world.move(fix.lat_deg, fix.lon_deg, fix.utc, at_s)

    def _show_contacts(self) -> None:
        """Puts the levels of tether and engine on their wires."""
        tether, engine = self._config.tether, self._config.engine
        if tether is not None:
            state = self._world.tether
            is_closed = (state is TetherState.IN) == (tether.contact == "closed_when_in")
            if state in (TetherState.OPEN, TetherState.SHORT):
                is_closed = state is TetherState.SHORT
            if tether.pin is not None:
                self._pins.drive(tether.pin, not is_closed)
            if tether.input is not None:
                loop = Loop(tether.pull_up_ohm, tether.series_ohm, tether.across_ohm)
                wiring: Wiring = "closed" if is_closed else "opened"
                if state in (TetherState.OPEN, TetherState.SHORT):
                    wiring = "open" if state is TetherState.OPEN else "short"
                self._show_volts(tether.input, loop.volts(wiring))
        if engine is not None and engine.sense == "level":
            self._pins.drive(engine.pin, self._world.is_running == (engine.active == "high"))
        self._show_supplies()

    def _show_supplies(self) -> None:
        """Puts the voltages of the lamps' wires where they are sensed."""
        supplies = self._config.supply
        for part, lamp in ((supplies.head, self._world.head), (supplies.tail, self._world.tail)):
            if part is not None and part.pin is not None:
                self._pins.drive(part.pin, lamp.has_supply == (part.active == "high"))
            if part is not None and part.input is not None:
                volts = SUPPLY_V if lamp.has_supply else 0.0
                if lamp.is_open and part.open_v is not None:
                    volts = (part.open_v + part.on_v) / 2
                self._show_volts(part.input, volts / part.divider)

    def _show_volts(self, number: int, volts: float) -> None:
        assert self._config.adc is not None  # config.py refuses an input without it
        self._chips[self._config.adc.address].volts[number] = volts

    def _pulse(self, _at_s: float) -> None:
        """One pulse of an engine that runs, where pulses are what its sense counts."""
        engine = self._config.engine
        if engine is not None and engine.sense == "pulses" and self._world.is_running:
            is_high = engine.active == "high"
            self._pins.drive(engine.pin, is_high)
            self._pins.drive(engine.pin, not is_high)

    def _show_lights(self, at_s: float) -> None:
        """Lets the light fall on the sensors."""
        lights = self._config.light
        for part, lamp in ((lights.head, self._world.head), (lights.tail, self._world.tail)):
            if part is not None:
                chip = self._chips[part.address]
                chip.lux = lamp.lux
                if hasattr(chip, "colour"):
                    chip.colour = "red" if lamp.is_red else "white"
        if lights.ambient is not None:
            self._chips[lights.ambient.address].lux = self._world.ambient_lux(at_s)

    def _show_rtc(self, at_s: float) -> None:
        rtc = self._config.rtc
        if rtc is None:
            return
        chip: Ds3231Model = self._chips[rtc.address]
        utc = self._world.rtc_utc(at_s)
        if utc is None:
            chip.battery_dies()
        else:
            chip.utc = utc

    def _drive_button(self, *, is_down: bool) -> None:
        if self._config.button is not None:
            self._pins.drive(self._config.button.pin, not is_down)

    def _release(self, _at_s: float) -> None:
        self._drive_button(is_down=False)
