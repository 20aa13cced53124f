"""The lights on mock pins."""

from __future__ import annotations

import threading

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.findings import Cues, HapticCue, LightCue
from firmware.outputs.leds import FLASH, Leds

WATCHING, AMBER, RED = 5, 6, 13


class StoppedClock(ManualClock):
    """A clock on which a thread waits until it is told: time stands still."""

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        return event.wait(30.0)


@pytest.fixture
def pins() -> FakePins:
    return FakePins(StoppedClock())


def levels(pins: FakePins) -> tuple[bool, bool, bool]:
    return pins.level(WATCHING), pins.level(AMBER), pins.level(RED)


@pytest.mark.parametrize(
    ("cue", "amber", "red"),
    [
        (LightCue.OFF, False, False),
        (LightCue.AMBER, True, False),
        (LightCue.AMBER_FLASH, True, False),
        (LightCue.RED, False, True),
        (LightCue.RED_FLASH, False, True),
    ],
)
def test_the_pins_are_set_when_show_returns(
    pins: FakePins, cue: LightCue, amber: bool, red: bool
) -> None:
    leds = Leds(pins, WATCHING, AMBER, RED)
    leds.show(Cues(light=cue, is_watching=True))
    assert levels(pins) == (True, amber, red)
    leds.stop()
    assert levels(pins) == (False, False, False)
    leds.stop()
    pins.close()


def test_each_cue_follows_on_each_other(pins: FakePins) -> None:
    leds = Leds(pins, WATCHING, AMBER, RED)
    for before in LightCue:
        for after in LightCue:
            leds.show(Cues(light=before))
            leds.show(Cues(light=after))
            assert pins.level(AMBER) == after.value.startswith("amber")
            assert pins.level(RED) == after.value.startswith("red")
    leds.stop()
    pins.close()


def test_a_flash_is_lit_by_the_caller_and_not_by_another_thread(pins: FakePins) -> None:
    leds = Leds(pins, WATCHING, AMBER, RED)
    threads: list[str] = []
    pins.watch(RED, lambda _is_high, _mono_s: threads.append(threading.current_thread().name))
    leds.show(Cues(light=LightCue.RED_FLASH))
    assert threads == [threading.current_thread().name]
    leds.stop()
    pins.close()


def test_a_flash_is_four_a_second() -> None:
    assert 1.0 / (FLASH.on_s + FLASH.off_s) == 4.0


def test_a_change_of_another_cue_leaves_the_flash_in_its_rhythm(pins: FakePins) -> None:
    leds = Leds(pins, WATCHING, AMBER, RED)
    leds.show(Cues(light=LightCue.RED_FLASH))
    pins.clock.sleep(0.130)  # now in the dark half
    pins._player.turn(pins.clock.mono_s())
    assert not pins.level(RED)
    leds.show(Cues(light=LightCue.RED_FLASH, haptic=HapticCue.PULSES))
    assert not pins.level(RED)
    leds.stop()
    pins.close()


def test_a_light_that_is_not_fitted_is_left_out(pins: FakePins) -> None:
    leds = Leds(pins, None, None, RED)
    leds.show(Cues(light=LightCue.AMBER_FLASH, is_watching=True))
    leds.show(Cues(light=LightCue.RED))
    assert pins.level(RED)
    leds.stop()
    pins.close()


def test_a_broken_wire_never_raises_and_the_other_lights_go_on(pins: FakePins) -> None:
    leds = Leds(pins, WATCHING, AMBER, RED)
    pins.break_wire(RED)
    for cue in LightCue:
        leds.show(Cues(light=cue, is_watching=True))
    leds.show(Cues(light=LightCue.AMBER, is_watching=True))
    assert levels(pins) == (True, True, False)
    leds.stop()
    pins.close()
    leds.show(Cues(light=LightCue.RED))  # the pins are gone, the alert is late
