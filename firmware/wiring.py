"""Joins a configuration to its wires: which devices there are, on which bus, pin and line.

The same parts are built for a unit on a Pi and for one on a desk; only the wires differ.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from firmware.buses.i2c import I2cBus
from firmware.buses.pins import Pins
from firmware.clock import Clock
from firmware.config.parts import Supply
from firmware.config.schema import Config, fix_settings
from firmware.errors import SledwardenError
from firmware.outputs.base import Output
from firmware.outputs.buzzer import Buzzer
from firmware.outputs.haptic import Haptic
from firmware.outputs.leds import Leds
from firmware.parts import load
from firmware.readings import Channel, Missing, Reading, Why
from firmware.sources.adc_ads1115 import Loop, SupplySense, TetherLoop
from firmware.sources.base import Polled, Poller, Post, SettableClock, Source
from firmware.sources.buttons import RiderButton
from firmware.sources.engine import EnginePulses, EngineSense
from firmware.sources.gps import Gps
from firmware.sources.rtc_ds3231 import Ds3231
from firmware.sources.supply import SupplyTap
from firmware.sources.surroundings import SurroundingsSource
from firmware.sources.tether import TetherSwitch

log = logging.getLogger("sledwarden.wiring")


@dataclass(slots=True)
class Wires:
    """Where the parts are reached: real ones, or the fakes of a simulation."""

    clock: Clock
    i2c: I2cBus
    pins: Pins
    gps_port: str
    trust_dates: bool = False


RETRY_S = 1.0
"""How often a part that could not be had is tried again: whoever holds its pin may let it go."""


class Later:
    """Stands in for a part that could not be had: posts why, and tries again until it can be."""

    def __init__(
        self, channel: Channel, fault: SledwardenError, make: Callable[[], Source], clock: Clock
    ) -> None:
        self.name = fault.where
        self._channel = channel
        self._fault = fault
        self._make = make
        self._clock = clock
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._source: Source | None = None

    def start(self, post: Post) -> None:
        """Posts why the part is missing, and begins to try."""
        why = Missing(Why.NO_ANSWER, str(self._fault))
        post(Reading(self._channel, why, self._clock.mono_s(), self.name))
        self._thread = threading.Thread(
            target=self._run, args=(post,), name=f"later {self.name}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends the trying, or the part; safe to call twice."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
        if self._source is not None:
            self._source.stop()

    def _run(self, post: Post) -> None:
        while not self._clock.wait(self._ended, RETRY_S):
            try:
                self._source = self._make()
            except SledwardenError:
                continue
            log.info("%s: can be had now", self.name)
            self._source.start(post)
            return


@dataclass(slots=True)
class Fitted:
    """All the parts of a unit, ready to start."""

    sources: list[Source] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    scout: SurroundingsSource | None = None
    gps: Gps | None = None
    rtc: SettableClock | None = None


def fit(config: Config, wires: Wires) -> Fitted:
    """Builds every part that the configuration names.

    A part that can't be had costs its own duty and no other: it is logged and posted as missing.
    """
    fitted = Fitted()
    clock = wires.clock
    settings = fix_settings(config, source=f"gps@{wires.gps_port}", trust_dates=wires.trust_dates)
    rate_hz = config.gps.rate_hz if config.gps.configure else None
    fitted.gps = Gps(wires.gps_port, config.gps.baud, settings, clock, rate_hz=rate_hz)
    fitted.sources.append(fitted.gps)
    chips = _chips(config, wires)
    if chips:
        fitted.sources.append(Poller(wires.i2c.name, chips, clock))
    fitted.rtc = next((one for one in chips if isinstance(one, Ds3231)), None)
    for channel, make in _contacts(config, wires):
        try:
            fitted.sources.append(make())
        except SledwardenError as fault:
            log.error("%s", fault)
            fitted.sources.append(Later(channel, fault, make, clock))
    _outputs(config, wires, fitted)
    packs: Sequence[Path] = [Path(pack) for pack in config.zones.packs]
    fitted.scout = SurroundingsSource(packs, clock)
    fitted.sources.append(fitted.scout)
    return fitted


def _chips(config: Config, wires: Wires) -> list[Polled]:
    """The chips on the sensor bus, each for its channel, in the order of their first reads: what
    day it is comes first, for a lamp chip may hang the bus for a second."""
    parts = (
        ("rtc", Channel.RTC, config.rtc),
        ("light", Channel.LIGHT_HEAD, config.light.head),
        ("light", Channel.LIGHT_TAIL, config.light.tail),
        ("light", Channel.LIGHT_AMBIENT, config.light.ambient),
    )
    chips: list[Polled] = [
        load(section, part.chip)(wires.i2c, part.address, channel, wires.clock)
        for section, channel, part in parts
        if part is not None
    ]
    return chips + _converted(config, wires)


def _converted(config: Config, wires: Wires) -> list[Polled]:
    """What the converter measures, each input for its channel."""
    if config.adc is None:
        return []
    adc = load("adc", config.adc.chip)(wires.i2c, config.adc.address, wires.clock)
    inputs: list[Polled] = [
        SupplySense(adc, part.input, channel, part.divider, part.on_v, part.open_v)
        for channel, part in _supplies(config)
        if part.input is not None
    ]
    tether = config.tether
    if tether is not None and tether.input is not None:
        loop = Loop(tether.pull_up_ohm, tether.series_ohm, tether.across_ohm)
        inputs.append(TetherLoop(adc, tether.input, loop, tether.contact == "closed_when_in"))
    return inputs


def _supplies(config: Config) -> list[tuple[Channel, Supply]]:
    parts = (
        (Channel.SUPPLY_HEAD, config.supply.head),
        (Channel.SUPPLY_TAIL, config.supply.tail),
    )
    return [(channel, part) for channel, part in parts if part is not None]


def _contacts(config: Config, wires: Wires) -> Iterator[tuple[Channel, Callable[[], Source]]]:
    """How each part at a pin of its own is made, with the channel that it feeds."""
    pins, clock = wires.pins, wires.clock
    tether, engine, button = config.tether, config.engine, config.button
    if tether is not None and tether.pin is not None:
        yield Channel.TETHER, partial(TetherSwitch, pins, tether.pin, clock, tether.contact)
    if engine is not None:
        sense = EnginePulses if engine.sense == "pulses" else EngineSense
        yield Channel.ENGINE, partial(sense, pins, engine.pin, clock, engine.active)
    if button is not None:
        yield Channel.BUTTON, partial(RiderButton, pins, button.pin, clock)
    for channel, part in _supplies(config):
        if part.pin is not None:
            yield channel, partial(SupplyTap, pins, part.pin, clock, channel, part.active)


def _outputs(config: Config, wires: Wires, fitted: Fitted) -> None:
    leds, buzzer, haptic = config.leds, config.buzzer, config.haptic
    makers: list[Callable[[], Output]] = []
    if (leds.watching, leds.amber, leds.red) != (None, None, None):
        makers.append(lambda: Leds(wires.pins, leds.watching, leds.amber, leds.red))
    if buzzer is not None:
        makers.append(lambda: Buzzer(wires.pins, buzzer.pin))
    if haptic is not None:
        makers.append(lambda: Haptic(wires.pins, haptic.pin))
    for make in makers:
        try:
            fitted.outputs.append(make())
        except SledwardenError as fault:
            log.error("%s", fault)
