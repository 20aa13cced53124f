"""Models of the chips, each from its own data sheet, for the fake bus and for `--simulate`.

A model keeps what the chip keeps: registers, a conversion that takes its time, a battery that may
have died. The world sets plain attributes (`lux`, `colour`, `utc`); the bus sets the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.buses.ads1115_fake import Ads1115Model
from firmware.buses.bh1750_fake import Bh1750Model
from firmware.buses.ds3231_fake import Ds3231Model
from firmware.buses.ssd1309_fake import Ssd1309Model
from firmware.buses.tcs34725_fake import Colour, Tcs34725Model
from firmware.buses.tsl2591_fake import Tsl2591Model
from firmware.buses.veml7700_fake import Veml7700Model
from firmware.clock import Clock

__all__ = [
    "MODELS",
    "Ads1115Model",
    "Bh1750Model",
    "Colour",
    "Ds3231Model",
    "Ssd1309Model",
    "Tcs34725Model",
    "Tsl2591Model",
    "Veml7700Model",
]

MODELS: dict[str, Callable[[Clock], Any]] = {  # each model has its own knobs
    "bh1750": Bh1750Model,
    "tcs34725": Tcs34725Model,
    "veml7700": Veml7700Model,
    "tsl2591": Tsl2591Model,
    "ads1115": Ads1115Model,
    "ds3231": Ds3231Model,
}
"""The register model of each chip on the sensor bus, by the word of the config."""
