"""The haptic on a mock pin, its rhythms turned by hand."""

from __future__ import annotations

import threading

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.findings import Cues, HapticCue, LightCue
from firmware.outputs.haptic import Haptic


class StoppedClock(ManualClock):
    """A clock on which a thread waits until it is told: the test turns the rhythms."""

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        return event.wait(30.0)


class Bench:
    def __init__(self) -> None:
        self.pins = FakePins(StoppedClock())
        self.haptic = Haptic(self.pins, 12)

    def run(self, seconds: float, step_s: float = 0.005) -> float:
        """Lets time pass; for how much of it the motor ran."""
        shaken_s = 0.0
        for _ in range(round(seconds / step_s)):
            self.pins._player.turn(self.pins.clock.mono_s())
            shaken_s += step_s * self.pins.level(12)
            self.pins.clock.sleep(step_s)
        return shaken_s

    def close(self) -> None:
        self.haptic.stop()
        self.haptic.stop()
        assert not self.pins.level(12)
        self.pins.close()


def test_pulses_begin_at_once_and_go_on_until_they_are_told_otherwise() -> None:
    bench = Bench()
    bench.haptic.show(Cues(haptic=HapticCue.PULSES))
    assert bench.pins.level(12)
    assert bench.run(7.0) == pytest.approx(4.0, abs=0.1)
    bench.haptic.show(Cues())
    assert bench.run(2.0) == 0.0
    bench.close()


def test_a_tap_is_one_shake_at_each_new_cue() -> None:
    bench = Bench()
    bench.haptic.show(Cues(haptic=HapticCue.TAP))
    assert bench.run(2.0) == pytest.approx(0.300, abs=0.02)
    bench.haptic.show(Cues(haptic=HapticCue.TAP, light=LightCue.AMBER))
    assert bench.run(2.0) == 0.0
    bench.haptic.show(Cues(haptic=HapticCue.PULSES))
    assert bench.pins.level(12)
    bench.haptic.show(Cues(haptic=HapticCue.TAP))
    assert bench.run(2.0) == pytest.approx(0.300, abs=0.02)
    bench.close()


def test_a_broken_wire_never_raises() -> None:
    bench = Bench()
    bench.pins.break_wire(12)
    for cue in HapticCue:
        bench.haptic.show(Cues(haptic=cue))
    bench.close()
