"""The sections of the configuration that say which parts are fitted, and where: sensors, switches,
lights, buzzer, haptic.

`config.py` is the whole file; a section that is left out is a part that is not fitted.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; the first line of its docstring heads it in docs/config.md."""


Pin = Annotated[int, Meta(ge=0, le=27, title="a BCM pin number from 0 to 27")]
Address = Annotated[int, Meta(ge=0x08, le=0x77, title="an I2C address from 0x08 to 0x77")]
AdcInput = Annotated[int, Meta(ge=0, le=3, title="an input of the converter, 0 to 3")]
Chip = Annotated[str, Meta(pattern="^[a-z0-9_]+\\Z", title="a chip's word, in small letters")]


class I2c(Section, frozen=True):
    """The sensor bus."""

    bus: Annotated[int, Meta(ge=0, le=31, description="The N of /dev/i2c-N.")] = 1


class Lamp(Section, frozen=True):
    """A light sensor that looks at a lamp of the sled."""

    chip: Annotated[Chip, Meta(description="The sensor: bh1750, tcs34725, veml7700 or tsl2591.")]
    address: Annotated[Address, Meta(description="Where it answers on the bus.")]
    on_lux: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=200_000,
                description="What the sensor reads of the lit lamp in the dark. Without it "
                "`[rules] uncalibrated_lux` decides.",
            ),
        ]
        | None
    ) = None
    high_lux: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=200_000,
                description="What it reads of the lamp at its brightest: the high beam, or the "
                "brake light. With it the two are told apart; above `on_lux`.",
            ),
        ]
        | None
    ) = None


class Ambient(Section, frozen=True):
    """The light sensor that looks at the sky."""

    chip: Annotated[Chip, Meta(description="The sensor: bh1750, tcs34725, veml7700 or tsl2591.")]
    address: Annotated[Address, Meta(description="Where it answers on the bus.")]
    dark_lux: Annotated[
        float, Meta(gt=0, le=10_000, description="Below this there is too little natural light.")
    ] = 5.0
    light_lux: Annotated[
        float,
        Meta(gt=0, le=10_000, description="Above this there is enough again; above `dark_lux`."),
    ] = 10.0


class Lights(Section, frozen=True):
    """The light sensors."""

    head: Lamp | None = None
    tail: Lamp | None = None
    ambient: Ambient | None = None


class Adc(Section, frozen=True):
    """The converter that measures the voltages of supplies and of a supervised tether."""

    chip: Annotated[Chip, Meta(description="The converter: ads1115.")]
    address: Annotated[Address, Meta(description="Where it answers on the bus.")]


class Supply(Section, frozen=True):
    """Whether a lamp's wire has its voltage, by an opto-isolator at a pin or by the converter."""

    pin: (
        Annotated[Pin, Meta(description="The input of an opto-isolator. This, or `input`.")] | None
    ) = None
    active: Annotated[
        Literal["low", "high"], Meta(description="The level of that pin while it is supplied.")
    ] = "low"
    input: (
        Annotated[
            AdcInput,
            Meta(description="The converter's input, behind a divider; needs `[adc]`."),
        ]
        | None
    ) = None
    divider: Annotated[
        float, Meta(ge=1, le=100, description="Volts of the wire for one at that input.")
    ] = 5.55
    on_v: Annotated[
        float, Meta(gt=0, le=60, description="From so many volts on the lamp is supplied.")
    ] = 8.0
    open_v: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=60,
                description="From so many volts on, below `on_v`, the wire hangs free on its "
                "pull-up: it or the lamp is broken. Without it that reads as no supply.",
            ),
        ]
        | None
    ) = None


class Supplies(Section, frozen=True):
    """The supplies of the lamps, where they are sensed."""

    head: Supply | None = None
    tail: Supply | None = None


class Rtc(Section, frozen=True):
    """The battery clock, read by the unit itself: never with `dtoverlay=i2c-rtc`."""

    chip: Annotated[Chip, Meta(description="The clock: ds3231.")]
    address: Annotated[Address, Meta(description="Where it answers on the bus.")]


class Tether(Section, frozen=True):
    """The tether switch: a contact at a pin, or a supervised loop at the converter."""

    pin: (
        Annotated[
            Pin,
            Meta(
                description="The input that senses the switch; closed reads low. This, or `input`."
            ),
        ]
        | None
    ) = None
    input: (
        Annotated[
            AdcInput,
            Meta(
                description="The converter's input of a loop with resistors at its far end, which "
                "tells a broken and a shorted wire from a pulled cap; needs `[adc]`."
            ),
        ]
        | None
    ) = None
    contact: Annotated[
        Literal["closed_when_in", "open_when_in"],
        Meta(description="What the contact does while the cap is on."),
    ] = "closed_when_in"
    pull_up_ohm: Annotated[
        float, Meta(ge=100, le=100_000, description="From 3.3 V to the loop, in the box.")
    ] = 2200.0
    series_ohm: Annotated[
        float, Meta(ge=100, le=100_000, description="In series with the contact, at the switch.")
    ] = 1000.0
    across_ohm: Annotated[
        float, Meta(ge=100, le=100_000, description="Across the contact, at the switch.")
    ] = 3300.0


class Engine(Section, frozen=True):
    """Whether the engine runs, sensed through an opto-isolator; never driven."""

    pin: Annotated[Pin, Meta(description="The input that senses the running engine.")]
    active: Annotated[
        Literal["low", "high"], Meta(description="The level of the input while the engine runs.")
    ] = "low"
    sense: Annotated[
        Literal["level", "pulses"],
        Meta(
            description="A level that lasts while it runs, or pulses (ignition, tachometer): three "
            "in half a second are an engine that runs."
        ),
    ] = "level"


class Button(Section, frozen=True):
    """The rider's button."""

    pin: Annotated[Pin, Meta(description="The input of the button, which closes to ground.")]


class Leds(Section, frozen=True):
    """The warning lights; each may be left out."""

    watching: Annotated[Pin, Meta(description="Steady while the unit watches.")] | None = None
    amber: Annotated[Pin, Meta(description="Says look: unsure, or near a limit.")] | None = None
    red: Annotated[Pin, Meta(description="Says now: over a limit.")] | None = None


class Buzzer(Section, frozen=True):
    """The buzzer."""

    pin: Annotated[Pin, Meta(description="The output that sounds it.")]


class Haptic(Section, frozen=True):
    """The motor in the handlebar."""

    pin: Annotated[Pin, Meta(description="The output that shakes it.")]
