"""The choices that a law leaves open, each with the figure that stands where none is configured."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from firmware.config.parts import Section


class Rules(Section, frozen=True):
    """The choices that the law leaves open; each finding that rests on one says so."""

    approach_mph: Annotated[
        float, Meta(ge=0, le=20, description="Told this far below a limit of 40 mph or more.")
    ] = 3.0
    approach_low_mph: Annotated[
        float, Meta(ge=0, le=20, description="Told this far below a smaller limit.")
    ] = 1.0
    ambient_dwell_s: Annotated[
        float, Meta(ge=0, le=600, description="How long little or enough light must last.")
    ] = 30.0
    lamp_dwell_s: Annotated[
        float, Meta(ge=0, le=60, description="How long a lamp must be dim to be told as out.")
    ] = 2.0
    lamp_violation_s: Annotated[
        float, Meta(ge=0, le=3600, description="How long of riding so makes it a violation.")
    ] = 60.0
    lamp_on_share: Annotated[
        float, Meta(gt=0, le=1, description="A lamp is dim below this share of its `on_lux`.")
    ] = 0.5
    uncalibrated_lux: Annotated[
        float, Meta(gt=0, le=200_000, description="A lamp without `on_lux` is dim below this.")
    ] = 50.0
    red_share: Annotated[
        float,
        Meta(
            gt=0.34,  # white light is a third red
            lt=1,
            description="A tail lamp with a smaller share of red in its light is not red.",
        ),
    ] = 0.5
    brake_mps2: Annotated[
        float,
        Meta(
            gt=0,
            le=10,
            description="The braking that a warning before a zone counts on: 40 ft from 20 mph.",
        ),
    ] = 3.28
    reaction_s: Annotated[
        float, Meta(ge=0, le=10, description="The rider's time to react before braking.")
    ] = 1.5
    keep_moving_mph: Annotated[
        float,
        Meta(
            gt=0,
            le=50,
            description='What "the minimum speed to keep moving" is taken for, where a law says no '
            "more; over it is told as advice, never as a violation.",
        ),
    ] = 10.0
    curfew_ahead_min: Annotated[
        float, Meta(ge=0, le=120, description="How long before a curfew it is told.")
    ] = 10.0
    advice_shown_s: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="How long the glass says that the sled can't stop within its lamp's reach; "
            "0 never says it.",
        ),
    ] = 10.0
    advice_quiet_s: Annotated[
        float,
        Meta(ge=0, le=86_400, description="So long after that advice it is not given again."),
    ] = 300.0
    notice_s: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="How long the glass shows each notice of the day while the sled stands; a "
            "press moves on. 0 shows none.",
        ),
    ] = 6.0
    delay_s: Annotated[
        float,
        Meta(
            ge=0,
            le=2,
            description="How late a fix and its warning may come, from the instant that it is true "
            "for to the light: counted into the warning before a zone.",
        ),
    ] = 0.3
    stop_s: Annotated[
        float,
        Meta(
            ge=0, le=60, description="How long a sled must stand at a stop sign, or before a zone."
        ),
    ] = 1.0
