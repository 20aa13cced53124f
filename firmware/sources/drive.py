"""A recorded or scripted ride as a source: its readings in virtual time, without bus or thread.

The sensors answer as the real ones do on the wire: lights four times a second, tether and engine
at each change and once a second, the receiver through the same parser and the same gates. So a
drive that is replayed is judged as one that is lived through with `--simulate`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count

from msgspec import structs

from firmware.config.parts import Tether as TetherPart
from firmware.config.reading import load, parse
from firmware.config.schema import Config, fix_settings, with_floor
from firmware.drives.script import (
    Action,
    Asked,
    Button,
    Drive,
    EngineRuns,
    Mode,
    Plug,
    RtcSet,
    Send,
    TetherTurns,
)
from firmware.drives.world import World
from firmware.gps.epochs import distance_m
from firmware.gps.fixes import EpochReport, FixTracker
from firmware.maps.packs import ENOUGH, Pack, again_m, surroundings
from firmware.readings import (
    Channel,
    Engine,
    Fix,
    Light,
    Missing,
    Press,
    Reading,
    Request,
    RtcTime,
    Supply,
    Surroundings,
    Tether,
    TetherState,
    Value,
    Why,
)

BY = "drive"
"""Who asks for the modes that a drive switches."""

PINS = "drive:pins"
GPS = "drive:gps"

LIGHT_PERIOD_S = 0.25
LIGHT_FRESH_S = 1.75
CONTACT_PERIOD_S = 1.0
CONTACT_FRESH_S = 2.5
RTC_PERIOD_S = 10.0
RTC_AGREED = 5  # dates of the satellites in a row, and the battery clock is set by them
RTC_OFF_S = 1.5
RTC_ERROR_S = 60.0  # what a DS3231 may be off by after a year on its battery (2 ppm)
HOLD_S = 2.0


_REFUSED = ("eio", "nack", "hang")
_COUNTS_PER_LUX = 1.2  # BH1750, at its default measurement time
_FULL_LUX = {"bh1750": 121_500.0, "tcs34725": 25_000.0, "tsl2591": 84_000.0}
_SUN_LUX = 120_000.0  # what the others still count
SUPPLY_V = 13.8  # of a sled whose engine runs


@dataclass(frozen=True, slots=True)
class _Eye:
    """A light sensor of the sled: where it is, and which chip it is."""

    channel: Channel
    chip: str
    address: int


_EVERY_SENSOR = """
[unit]
id = "desk"
[light.head]
chip = "bh1750"
address = 0x23
[light.tail]
chip = "tcs34725"
address = 0x29
[light.ambient]
chip = "bh1750"
address = 0x5C
[adc]
chip = "ads1115"
address = 0x48
[supply.head]
input = 0
open_v = 1
[supply.tail]
input = 1
open_v = 1
[rtc]
chip = "ds3231"
address = 0x68
[tether]
pin = 17
[engine]
pin = 27
[button]
pin = 22
[leds]
watching = 23
amber = 24
red = 25
[buzzer]
pin = 12
[haptic]
pin = 13
"""


def every_sensor() -> Config:
    """The configuration of a drive that names none: a sled with every part fitted."""
    return parse(_EVERY_SENSOR, "a sled with every part")


def config_of(drive: Drive, config: Config | None = None) -> Config:
    """The configuration that a drive is judged by: its own or the given one, with its header.

    Without a floor in the header it is the day of the drive's own start, so that its battery
    clock is believed. Raises ConfigError.
    """
    if config is None:
        config = every_sensor() if drive.config is None else load(drive.config)
    unit = structs.replace(config.unit, vehicle=drive.vehicle)
    if drive.laws:
        unit = structs.replace(unit, law="auto" if drive.laws == ("auto",) else drive.laws)
    zones = config.zones
    if drive.zones:
        zones = structs.replace(zones, packs=tuple(str(path) for path in drive.zones))
    floor = drive.floor
    if floor is None and drive.start is not None:
        floor = drive.start.date()
    return with_floor(structs.replace(config, unit=unit, zones=zones), floor)


def tracker(
    config: Config,
    floor: date | None,
    on_epoch: Callable[[EpochReport], None] | None = None,
    source: str = GPS,
) -> FixTracker:
    """The gates of a unit with this configuration; without a floor a recording's dates are
    believed as they stand."""
    settings = fix_settings(with_floor(config, floor), source=source, trust_dates=floor is None)
    return FixTracker(settings, on_epoch)


def readings(drive: Drive, config: Config) -> Iterator[tuple[float, Reading]]:
    """Everything that a unit with this configuration reads in the course of a drive, in order.

    At one instant the world changes first, then contacts, clock and lights are read, then the
    receiver speaks. The modes of the drive's header are asked for at second 0 with the engine
    off, before anything else happens.
    """
    bench = _Bench(drive, config)
    yield from bench.begin()
    holds = [one.at_s + HOLD_S for one in drive.actions if one.deed == Button("hold")]
    streams: list[Iterator[tuple[float, int, Action | None]]] = [
        _deeds(drive),
        iter([(at_s, _HOLD, None) for at_s in holds]),
        _beats(CONTACT_PERIOD_S, _CONTACTS),
        _beats(RTC_PERIOD_S, _RTC),
        _beats(LIGHT_PERIOD_S, _LIGHTS),
    ]
    for at_s, order, action in heapq.merge(*streams, key=lambda one: one[:2]):
        if order == _END:
            return
        if action is not None:
            yield from bench.act(at_s, action)
        else:
            yield from bench.look(at_s, order)


# The order of what happens at one instant.
_DEED, _HOLD, _CONTACTS, _RTC, _LIGHTS, _SEND, _END = range(7)


def _deeds(drive: Drive) -> Iterator[tuple[float, int, Action | None]]:
    last_s = 0.0
    for at_s, action in drive.timeline():
        yield at_s, _SEND if isinstance(action.deed, Send) else _DEED, action
        last_s = at_s
    yield last_s, _END, None


def _beats(period_s: float, order: int) -> Iterator[tuple[float, int, Action | None]]:
    for number in count():
        yield number * period_s, order, None


class _Bench:
    """The sled and its sensors, as far as a configuration fits them."""

    def __init__(self, drive: Drive, config: Config) -> None:
        self._drive = drive
        self._world = World(drive.start)
        self._bus = f"i2c-{config.i2c.bus}"
        self._config = config
        self._tracker = tracker(config, drive.floor)
        self._dated = 0
        lights = config.light
        self._eyes = [
            _Eye(channel, part.chip, part.address)
            for channel, part in (
                (Channel.LIGHT_HEAD, lights.head),
                (Channel.LIGHT_TAIL, lights.tail),
                (Channel.LIGHT_AMBIENT, lights.ambient),
            )
            if part is not None
        ]

    def begin(self) -> Iterator[tuple[float, Reading]]:
        """The header's modes, set while the sled surely stands."""
        yield from with_modes(self._drive.modes, self._config.engine is not None)

    def act(self, at_s: float, action: Action) -> Iterator[tuple[float, Reading]]:
        """A deed of the world, and the readings that come of it at once."""
        self._world.apply(action.deed, at_s)
        match action.deed:
            case Send(octets=octets):
                if self._world.is_plugged:
                    yield from self._hear(octets, at_s)
            case Plug(is_in=False):
                unplugged = Missing(Why.NO_ANSWER, "the receiver was unplugged")
                yield at_s, Reading(Channel.FIX, unplugged, at_s, GPS)
            case EngineRuns():
                yield from self._engine(at_s)
            case TetherTurns():
                yield from self._tether(at_s)
            case Button(kind="press"):
                if self._config.button is not None:
                    yield at_s, Reading(Channel.BUTTON, Press("press"), at_s, PINS)
            case Mode() | Asked() as asked:
                request = Request(asked.action, asked.argument, BY)
                yield at_s, Reading(Channel.REQUEST, request, at_s, BY)
            case _:
                pass

    def look(self, at_s: float, order: int) -> Iterator[tuple[float, Reading]]:
        """The readings of one kind of sensor at its own beat."""
        if order == _CONTACTS:
            yield from self._engine(at_s)
            yield from self._tether(at_s)
        elif order == _RTC:
            yield from self._rtc(at_s)
        elif order == _LIGHTS:
            yield from self._supplies(at_s)
            for eye in self._eyes:
                source = f"{eye.chip}@{self._bus}:0x{eye.address:02x}"
                value = self._light(eye, at_s)
                yield at_s, Reading(eye.channel, value, at_s, source, LIGHT_FRESH_S)
        elif order == _HOLD and self._config.button is not None:
            yield at_s, Reading(Channel.BUTTON, Press("hold"), at_s, PINS)

    def _engine(self, at_s: float) -> Iterator[tuple[float, Reading]]:
        if self._config.engine is not None:
            engine = Engine(self._world.is_running)
            yield at_s, Reading(Channel.ENGINE, engine, at_s, PINS, CONTACT_FRESH_S)

    def _tether(self, at_s: float) -> Iterator[tuple[float, Reading]]:
        if self._config.tether is not None:
            value: Value = Tether(self._seen_tether(self._config.tether))
            source = PINS
            if self._config.tether.input is not None and self._config.adc is not None:
                source = f"{self._adc_source()}:{self._config.tether.input}"
                fault = self._adc_fault()
                value = value if fault is None else fault
            yield at_s, Reading(Channel.TETHER, value, at_s, source, CONTACT_FRESH_S)

    def _seen_tether(self, tether: TetherPart) -> TetherState:
        """What the switch shows: a plain one takes a broken wire for an open contact, and a shorted
        one for a closed contact; a supervised loop tells them all apart."""
        state = self._world.tether
        if state in (TetherState.IN, TetherState.OUT) or tether.input is not None:
            return state
        is_closed_when_in = tether.contact == "closed_when_in"
        is_in = (state is TetherState.SHORT) == is_closed_when_in
        return TetherState.IN if is_in else TetherState.OUT

    def _supplies(self, at_s: float) -> Iterator[tuple[float, Reading]]:
        """Whether the lamps' wires have their voltage, as pins or the converter see it."""
        supplies = self._config.supply
        for channel, part, lamp in (
            (Channel.SUPPLY_HEAD, supplies.head, self._world.head),
            (Channel.SUPPLY_TAIL, supplies.tail, self._world.tail),
        ):
            if part is None:
                continue
            value: Value = Supply(lamp.has_supply)
            source = PINS
            if part.input is not None and self._config.adc is not None:
                source = f"{self._adc_source()}:{part.input}"
                volts = part.open_v or 0.0 if lamp.is_open else SUPPLY_V * lamp.has_supply
                is_open = lamp.is_open and part.open_v is not None
                fault = self._adc_fault()
                value = Supply(lamp.has_supply, volts, is_open) if fault is None else fault
            yield at_s, Reading(channel, value, at_s, source, LIGHT_FRESH_S)

    def _adc_source(self) -> str:
        adc = self._config.adc
        assert adc is not None  # asked for a fitted one only
        return f"{adc.chip}@{self._bus}:0x{adc.address:02x}"

    def _adc_fault(self) -> Missing | None:
        """Why the converter says nothing, where it fails."""
        adc = self._config.adc
        fault = self._world.faults.get((self._bus, adc.address)) if adc is not None else None
        if fault is None or adc is None:
            return None
        why = Why.NO_ANSWER if fault in _REFUSED else Why.NOT_TRUSTED
        return Missing(why, f"{self._bus}: 0x{adc.address:02x} fails ({fault})")

    def _rtc(self, at_s: float) -> Iterator[tuple[float, Reading]]:
        rtc = self._config.rtc
        if rtc is None:
            return
        utc = self._world.rtc_utc(at_s)
        true = self._world.utc(at_s)
        is_off = true is None or utc is None or abs((utc - true).total_seconds()) > RTC_OFF_S
        if self._dated >= RTC_AGREED and true is not None and is_off:
            self._world.apply(RtcSet(true), at_s)
            utc = true
        value: Value
        if self._world.faults.get((self._bus, rtc.address)) is not None:
            value = Missing(Why.NO_ANSWER, f"{self._bus}: 0x{rtc.address:02x} fails")
        elif utc is None:
            value = Missing(Why.NOT_TRUSTED, "the battery clock has stopped")
        else:
            value = RtcTime(utc, RTC_ERROR_S)
        source = f"{rtc.chip}@{self._bus}:0x{rtc.address:02x}"
        yield at_s, Reading(Channel.RTC, value, at_s, source)

    def _light(self, eye: _Eye, at_s: float) -> Light | Missing:
        """What a light sensor says: its lamp or the sky, or why it says nothing."""
        fault = self._world.faults.get((self._bus, eye.address))
        if fault in _REFUSED:
            return Missing(Why.NO_ANSWER, f"{self._bus}: 0x{eye.address:02x} fails ({fault})")
        if fault in ("ones", "zeros") and eye.chip != "bh1750":
            return Missing(Why.NOT_TRUSTED, f"all {fault} are another chip's answer")
        if fault in ("saturate", "ones"):
            return Missing(Why.SATURATED, "a full count: too much light, or the wire reads ones")
        red_share = None
        if eye.channel is Channel.LIGHT_AMBIENT:
            lux = self._world.ambient_lux(at_s)
        else:
            lamp = self._world.head if eye.channel is Channel.LIGHT_HEAD else self._world.tail
            lux = lamp.lux
            if eye.chip == "tcs34725":
                red_share = 0.9 if lamp.is_red else 0.33
        if lux >= _FULL_LUX.get(eye.chip, _SUN_LUX):
            return Missing(Why.SATURATED, "a full count: too much light")
        if fault == "zeros":
            lux = 0.0
        if eye.chip == "bh1750":
            lux = round(lux * _COUNTS_PER_LUX) / _COUNTS_PER_LUX
        return Light(lux, 0.2 * lux + 2.5, red_share)

    def _hear(self, octets: bytes, at_s: float) -> Iterator[tuple[float, Reading]]:
        for reading in self._tracker.feed(octets, at_s):
            if isinstance(reading.value, Fix):
                fix = reading.value
                self._world.move(fix.lat_deg, fix.lon_deg, fix.utc, at_s)
                self._dated += fix.utc is not None
            yield at_s, reading


def with_modes(modes: Sequence[str], is_engine_fitted: bool) -> Iterator[tuple[float, Reading]]:
    """The readings that set modes at second 0: asked for while the engine is off."""
    if not modes:
        return
    yield 0.0, Reading(Channel.ENGINE, Engine(False), 0.0, BY)
    for name in modes:
        yield 0.0, Reading(Channel.REQUEST, Request("mode", f"{name} on", BY), 0.0, BY)
    if not is_engine_fitted:
        gone = Missing(Why.NOT_FITTED)
        yield 0.0, Reading(Channel.ENGINE, gone, 0.0, BY)


def with_surroundings(
    stream: Iterator[tuple[float, Reading]], packs: Sequence[Pack]
) -> Iterator[tuple[float, Reading]]:
    """The same readings, with what the packs say about the place after each kilometre.

    The unit's own thread posts them a moment after the fix; here they come at its instant.
    """
    near: Surroundings | None = None
    source = f"packs:{','.join(pack.name for pack in packs)}"
    for at_s, reading in stream:
        yield at_s, reading
        fix = reading.value
        if packs and isinstance(fix, Fix):
            here = (fix.lat_deg, fix.lon_deg)
            if near is None or distance_m(near.lat_deg, near.lon_deg, *here) >= again_m(near):
                near = surroundings(packs, *here, at_most=ENOUGH)
                yield at_s, Reading(Channel.SURROUNDINGS, near, at_s, source)
