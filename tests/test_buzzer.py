"""The buzzer on a mock pin, its rhythms turned by hand."""

from __future__ import annotations

import pytest
from pin_bench import PIN, PinBench

from firmware.findings import Cues, LightCue, ToneCue
from firmware.outputs.buzzer import Buzzer


def test_an_alarm_sounds_at_once_and_until_it_is_told_otherwise() -> None:
    bench = PinBench(Buzzer)
    bench.output.show(Cues(tone=ToneCue.ALARM))
    assert bench.is_on
    assert bench.run(3.75) == pytest.approx(2.5, abs=0.05)
    bench.output.show(Cues())
    assert bench.run(2.0) == 0.0
    bench.close()


def test_a_chirp_is_two_beeps_and_then_silence() -> None:
    bench = PinBench(Buzzer)
    bench.output.show(Cues(tone=ToneCue.CHIRP))
    assert bench.is_on
    assert bench.run(1.0) == pytest.approx(0.160, abs=0.02)
    bench.output.show(Cues(tone=ToneCue.CHIRP, light=LightCue.RED))
    assert bench.run(1.0) == 0.0  # the same cue chirps once
    bench.output.show(Cues(tone=ToneCue.OFF))
    bench.output.show(Cues(tone=ToneCue.CHIRP))
    assert bench.run(1.0) == pytest.approx(0.160, abs=0.02)
    bench.close()


def test_a_broken_wire_never_raises() -> None:
    bench = PinBench(Buzzer)
    bench.pins.break_wire(PIN)
    for tone in ToneCue:
        bench.output.show(Cues(tone=tone))
    bench.close()
