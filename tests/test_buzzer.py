"""The buzzer on a mock pin, its rhythms turned by hand."""

from __future__ import annotations

import threading

import pytest

from firmware.buses.pins_fake import FakePins
from firmware.clock import ManualClock
from firmware.findings import Cues, LightCue, ToneCue
from firmware.outputs.buzzer import Buzzer


class StoppedClock(ManualClock):
    """A clock on which a thread waits until it is told: the test turns the rhythms."""

    def wait(self, event: threading.Event, ride_s: float) -> bool:
        return event.wait(30.0)


class Bench:
    def __init__(self) -> None:
        self.pins = FakePins(StoppedClock())
        self.buzzer = Buzzer(self.pins, 12)

    def run(self, seconds: float, step_s: float = 0.005) -> float:
        """Lets time pass; for how much of it the buzzer sounded."""
        sounded_s = 0.0
        for _ in range(round(seconds / step_s)):
            self.pins._player.turn(self.pins.clock.mono_s())
            sounded_s += step_s * self.pins.level(12)
            self.pins.clock.sleep(step_s)
        return sounded_s

    def close(self) -> None:
        self.buzzer.stop()
        self.buzzer.stop()
        assert not self.pins.level(12)
        self.pins.close()


def test_an_alarm_sounds_at_once_and_until_it_is_told_otherwise() -> None:
    bench = Bench()
    bench.buzzer.show(Cues(tone=ToneCue.ALARM))
    assert bench.pins.level(12)
    assert bench.run(3.75) == pytest.approx(2.5, abs=0.05)
    bench.buzzer.show(Cues())
    assert bench.run(2.0) == 0.0
    bench.close()


def test_a_chirp_is_two_beeps_and_then_silence() -> None:
    bench = Bench()
    bench.buzzer.show(Cues(tone=ToneCue.CHIRP))
    assert bench.pins.level(12)
    assert bench.run(1.0) == pytest.approx(0.160, abs=0.02)
    bench.buzzer.show(Cues(tone=ToneCue.CHIRP, light=LightCue.RED))
    assert bench.run(1.0) == 0.0  # the same cue chirps once
    bench.buzzer.show(Cues(tone=ToneCue.OFF))
    bench.buzzer.show(Cues(tone=ToneCue.CHIRP))
    assert bench.run(1.0) == pytest.approx(0.160, abs=0.02)
    bench.close()


def test_a_broken_wire_never_raises() -> None:
    bench = Bench()
    bench.pins.break_wire(12)
    for tone in ToneCue:
        bench.buzzer.show(Cues(tone=tone))
    bench.close()
