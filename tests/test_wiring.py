"""Which parts a configuration builds, and what becomes of one that can't be had."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise

import pytest
from judging import configured

from firmware.buses.chips_fake import Ads1115Model, Bh1750Model
from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.buses.pins_fake import FakePins
from firmware.clock import Clock
from firmware.readings import (
    Channel,
    Engine,
    Light,
    Missing,
    Reading,
    Supply,
    Tether,
    TetherState,
    Why,
)
from firmware.wiring import Fitted, Wires, fit

SPEED = 20.0


class Desk:
    """A unit's wires on fakes, twenty times as fast as the world; `wait` hears what is posted."""

    def __init__(self, text: str) -> None:
        self.clock = Clock(SPEED, from_zero=True)
        self.bus = FakeI2cBus(self.clock)
        self.pins = FakePins(self.clock)
        self.config = configured(text)
        self.heard: list[Reading] = []
        self._news = threading.Condition()
        self.fitted: Fitted | None = None

    def fit(self) -> Fitted:
        wires = Wires(self.clock, I2cBus(1, self.bus), self.pins, "/nowhere/gps")
        self.fitted = fit(self.config, wires)
        return self.fitted

    def start(self, *names: str) -> None:
        for source in self.fit().sources:
            if source.name in names:
                source.start(self.post)

    def post(self, reading: Reading) -> None:
        with self._news:
            self.heard.append(reading)
            self._news.notify_all()

    def wait(self, channel: Channel, value: object) -> bool:
        """Whether a channel says this within ten ride seconds."""

        def is_told() -> bool:
            last = [one.value for one in self.heard if one.channel is channel][-1:]
            return last == [value]

        return self.wait_for(is_told)

    def wait_for(self, is_so: Callable[[], bool]) -> bool:
        """Whether it is so, asked at each reading, within five of the world's seconds."""
        with self._news:
            return self._news.wait_for(is_so, 5.0)

    def stop(self) -> None:
        assert self.fitted is not None
        for source in self.fitted.sources:
            source.stop()
        self.pins.close()


def names_of(text: str) -> set[str]:
    desk = Desk(text)
    names = {source.name for source in desk.fit().sources}
    desk.stop()
    return names


def test_only_what_is_configured_is_built() -> None:
    assert names_of("") == {"gps", "zones"}
    assert names_of("[tether]\npin = 17\n[engine]\npin = 27\n[supply.head]\npin = 5\n") == {
        "gps", "zones", "tether", "engine", "supply.head",
    }  # fmt: skip
    adc = '[adc]\nchip = "ads1115"\naddress = 0x48\n[tether]\ninput = 2\n[supply.tail]\ninput = 1\n'
    assert names_of(adc) == {"gps", "zones", "i2c-1"}


def test_a_converter_feeds_supplies_and_tether() -> None:
    desk = Desk(
        '[adc]\nchip = "ads1115"\naddress = 0x48\n[tether]\ninput = 2\n'
        "[supply.head]\ninput = 0\n[supply.tail]\ninput = 1\n"
    )
    model = Ads1115Model(desk.clock)
    model.volts = [13.8 / 5.55, 0.0, 3.3, 0.0]
    desk.bus.attach(0x48, model)
    desk.start("i2c-1")
    assert desk.wait(Channel.TETHER, Tether(TetherState.OPEN))
    assert desk.wait(Channel.SUPPLY_TAIL, Supply(False, 0.0))
    supplies = [one.value for one in desk.heard if one.channel is Channel.SUPPLY_HEAD]
    assert isinstance(supplies[0], Supply)
    assert supplies[0].is_on
    model.volts[2] = 0.0
    assert desk.wait(Channel.TETHER, Tether(TetherState.SHORT))
    desk.stop()


def test_the_battery_clock_is_the_first_that_the_bus_is_asked_for() -> None:
    desk = Desk(
        '[light.head]\nchip = "bh1750"\naddress = 0x23\n[rtc]\nchip = "ds3231"\naddress = 0x68\n'
        '[light.ambient]\nchip = "bh1750"\naddress = 0x5C\n'
    )
    desk.start("i2c-1")
    assert desk.wait_for(lambda: len(desk.heard) >= 3)
    assert [one.channel for one in desk.heard[:3]] == [
        Channel.RTC,
        Channel.LIGHT_HEAD,
        Channel.LIGHT_AMBIENT,
    ]
    desk.stop()


@pytest.mark.parametrize(
    ("text", "name", "channel", "pin", "value"),
    [
        ("[tether]\npin = 17\n", "[tether]", Channel.TETHER, 17, Tether(TetherState.OUT)),
        ("[engine]\npin = 27\n", "[engine]", Channel.ENGINE, 27, Engine(False)),
        ('[engine]\npin = 27\nsense = "pulses"\n', "[engine]", Channel.ENGINE, 27, Engine(False)),
        ("[supply.head]\npin = 5\n", "[supply.head]", Channel.SUPPLY_HEAD, 5, Supply(False)),
    ],
)
def test_a_pin_in_use_costs_its_own_channel_and_comes_back_by_itself(
    text: str, name: str, channel: Channel, pin: int, value: object
) -> None:
    desk = Desk(text)
    desk.pins.occupy(pin)
    desk.start(name)
    why = Missing(
        Why.NO_ANSWER,
        f"{name}: pin {pin}: can't be had: [Errno 16] GPIO busy. Look for another program or a"
        " dtoverlay that holds it (`gpioinfo` names it).",
    )
    assert desk.wait(channel, why)
    assert {one.channel for one in desk.heard} == {channel}
    desk.pins.occupy(pin, is_taken=False)
    assert desk.wait(channel, value)
    desk.stop()
    desk.stop()


def test_a_chip_that_hangs_the_bus_takes_little_of_it_from_the_others() -> None:
    desk = Desk(
        '[light.head]\nchip = "bh1750"\naddress = 0x23\n'
        '[light.ambient]\nchip = "bh1750"\naddress = 0x5C\n'
    )
    desk.bus.attach(0x23, Bh1750Model(desk.clock, 850.0))
    desk.bus.attach(0x5C, Bh1750Model(desk.clock, 120.0))
    desk.bus.fault(0x23, "hang")
    desk.start("i2c-1")
    assert desk.wait_for(lambda: desk.clock.mono_s() > 30.0)
    count = sum(one.channel is Channel.LIGHT_AMBIENT for one in desk.heard)
    stamps = [one.mono_s for one in desk.heard if one.channel is Channel.LIGHT_AMBIENT]
    gaps = [after - before for before, after in pairwise(stamps)]
    assert count > 60  # of 120; without a pause after each hang it would be 24
    assert max(gaps) < 1.75  # or its last word would lapse
    desk.bus.fault(0x23, "clear")
    assert desk.wait_for(
        lambda: any(
            one.channel is Channel.LIGHT_HEAD and isinstance(one.value, Light) for one in desk.heard
        )
    )
    desk.stop()
