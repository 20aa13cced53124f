"""A light sensor on a fake bus, read at its own period."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from firmware.buses.i2c import I2cBus
from firmware.buses.i2c_fake import ChipModel, FakeI2cBus
from firmware.clock import ManualClock
from firmware.readings import Channel, Light, Reading, Value


class Sensor(Protocol):
    """What every light chip is to the thread of its bus."""

    period_s: float

    def read(self, at_s: float) -> Reading: ...


Model = TypeVar("Model", bound=ChipModel)
Driver = TypeVar("Driver", bound=Sensor)


class LightBench(Generic[Model, Driver]):
    """A chip's model at its address, its driver, and the clock of both."""

    def __init__(
        self,
        make_model: Callable[[ManualClock], Model],
        make_sensor: Callable[[I2cBus, int, Channel, ManualClock], Driver],
        address: int,
        channel: Channel = Channel.LIGHT_HEAD,
        *,
        settling_reads: int = 5,
    ) -> None:
        """`settling_reads` is after how many reads a new light is surely seen."""
        self.clock = ManualClock(100.0)
        self.fake = FakeI2cBus(self.clock)
        self.model = make_model(self.clock)
        self.fake.attach(address, self.model)
        self.sensor = make_sensor(I2cBus(1, self.fake), address, channel, self.clock)
        self._settling_reads = settling_reads

    def next(self) -> Value:
        """What it says one period later."""
        self.clock.advance(self.sensor.period_s)
        return self.sensor.read(self.clock.mono_s()).value

    def run(self, count: int) -> list[Value]:
        return [self.next() for _ in range(count)]

    def light(self) -> Light:
        """The light that it sees, once it has settled."""
        value = self.run(self._settling_reads)[-1]
        assert isinstance(value, Light), value
        return value
