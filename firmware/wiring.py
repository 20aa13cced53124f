"""Joins a configuration to its wires: which devices there are, on which bus, pin and line.

The same parts are built for a unit on a Pi and for one on a desk; only the wires differ.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from firmware.buses.i2c import I2cBus
from firmware.buses.pins import Pins
from firmware.clock import Clock
from firmware.config import Config, fix_settings
from firmware.errors import SledwardenError
from firmware.outputs.base import Output
from firmware.outputs.buzzer import Buzzer
from firmware.outputs.haptic import Haptic
from firmware.outputs.leds import Leds
from firmware.parts import load
from firmware.readings import Channel, Missing, Reading, Why
from firmware.sources.base import Polled, Poller, Post, Source
from firmware.sources.buttons import RiderButton
from firmware.sources.engine import EngineSense
from firmware.sources.gps import Gps
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


class Absent:
    """Stands in for a part that could not be had: posts why, so that nothing is silent."""

    def __init__(self, name: str, channel: Channel, why: str, clock: Clock) -> None:
        self.name = name
        self._reading = Reading(channel, Missing(Why.NO_ANSWER, why), clock.mono_s(), name)

    def start(self, post: Post) -> None:
        post(self._reading)

    def stop(self) -> None:
        """Nothing runs."""


@dataclass(slots=True)
class Fitted:
    """All the parts of a unit, ready to start."""

    sources: list[Source] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    scout: SurroundingsSource | None = None
    gps: Gps | None = None


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
    for section, channel, make in (
        (config.tether, Channel.TETHER, _tether),
        (config.engine, Channel.ENGINE, _engine),
        (config.button, Channel.BUTTON, _button),
    ):
        if section is not None:
            try:
                fitted.sources.append(make(config, wires))
            except SledwardenError as fault:
                fitted.sources.append(_absent(channel, fault, clock))
    _outputs(config, wires, fitted)
    packs: Sequence[Path] = [Path(pack) for pack in config.zones.packs]
    fitted.scout = SurroundingsSource(packs, clock)
    fitted.sources.append(fitted.scout)
    return fitted


def _chips(config: Config, wires: Wires) -> list[Polled]:
    """The chips on the sensor bus, each for its channel."""
    parts = (
        ("light", Channel.LIGHT_HEAD, config.light.head),
        ("light", Channel.LIGHT_TAIL, config.light.tail),
        ("light", Channel.LIGHT_AMBIENT, config.light.ambient),
        ("rtc", Channel.RTC, config.rtc),
    )
    return [
        load(section, part.chip)(wires.i2c, part.address, channel, wires.clock)
        for section, channel, part in parts
        if part is not None
    ]


def _tether(config: Config, wires: Wires) -> Source:
    assert config.tether is not None  # asked for a fitted one only
    return TetherSwitch(wires.pins, config.tether.pin, wires.clock, config.tether.contact)


def _engine(config: Config, wires: Wires) -> Source:
    assert config.engine is not None  # asked for a fitted one only
    return EngineSense(wires.pins, config.engine.pin, wires.clock, config.engine.active)


def _button(config: Config, wires: Wires) -> Source:
    assert config.button is not None  # asked for a fitted one only
    return RiderButton(wires.pins, config.button.pin, wires.clock)


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


def _absent(channel: Channel, fault: SledwardenError, clock: Clock) -> Absent:
    log.error("%s", fault)
    return Absent(fault.where, channel, str(fault), clock)
