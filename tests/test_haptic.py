"""The haptic on a mock pin, its rhythms turned by hand."""

from __future__ import annotations

import pytest
from pin_bench import PIN, PinBench

from firmware.findings import Cues, HapticCue, LightCue
from firmware.outputs.haptic import Haptic


def test_pulses_begin_at_once_and_go_on_until_they_are_told_otherwise() -> None:
    bench = PinBench(Haptic)
    bench.output.show(Cues(haptic=HapticCue.PULSES))
    assert bench.is_on
    assert bench.run(7.0) == pytest.approx(4.0, abs=0.1)
    bench.output.show(Cues())
    assert bench.run(2.0) == 0.0
    bench.close()


def test_a_tap_is_one_shake_at_each_new_cue() -> None:
    bench = PinBench(Haptic)
    bench.output.show(Cues(haptic=HapticCue.TAP))
    assert bench.run(2.0) == pytest.approx(0.300, abs=0.02)
    bench.output.show(Cues(haptic=HapticCue.TAP, light=LightCue.AMBER))
    assert bench.run(2.0) == 0.0
    bench.output.show(Cues(haptic=HapticCue.PULSES))
    assert bench.is_on
    bench.output.show(Cues(haptic=HapticCue.TAP))
    assert bench.run(2.0) == pytest.approx(0.300, abs=0.02)
    bench.close()


def test_a_broken_wire_never_raises() -> None:
    bench = PinBench(Haptic)
    bench.pins.break_wire(PIN)
    for cue in HapticCue:
        bench.output.show(Cues(haptic=cue))
    bench.close()
