"""What a unit saw, for a measurement: its speeds, its lamp, and what a person noted meanwhile.

From a journal, a log, a drive or a track, or live from the unit's feed.
"""

from __future__ import annotations

import re
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from firmware.clock import Clock
from firmware.errors import SledwardenError
from firmware.feed.client import FeedClient
from firmware.readings import Channel, Fix, Light, Reading, Request
from firmware.state import State
from firmware.units import mps
from host_tools.journals.judged import open_journal
from host_tools.replay import replaying
from host_tools.replay.recordings import Kind, Wishes, open_recording, recognise

HEAR_S = 5.0
"""How long a unit may be silent before it counts as gone."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A speed over ground as the receiver measured it, with its error."""

    at_s: float
    speed_mps: float
    error_mps: float


@dataclass(frozen=True, slots=True)
class Note:
    """A figure that a person read off the vehicle: `indicated 55`, `odometer 1234.5`."""

    at_s: float
    word: str
    text: str

    @property
    def figure(self) -> float:
        return float(self.text)


@dataclass(slots=True)
class Trace:
    """What was seen, in order of time."""

    source: str
    samples: list[Sample] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    lamps: list[tuple[float, Light]] = field(default_factory=list)

    def take(self, reading: Reading) -> None:
        """Takes a reading of a journal or a recording."""
        match reading.value:
            case Fix() as fix:
                self.samples.append(Sample(reading.mono_s, fix.speed_mps, fix.error_mps))
            case Light() as light if reading.channel is Channel.LIGHT_HEAD:
                self.lamps.append((reading.mono_s, light))
            case Request(action="note", argument=text):
                self.note(reading.mono_s, text)

    def note(self, at_s: float, text: str) -> None:
        """Takes what a person noted, where it is a figure of the vehicle."""
        found = re.fullmatch(r"(indicated|odometer) (\d{1,7}(?:\.\d{1,3})?)", text.strip())
        if found:
            self.notes.append(Note(at_s, found[1], found[2]))

    def see(self, state: State) -> bool:
        """Takes a state of the feed; whether it brought a new speed."""
        _see_lamp(self, state)
        if state.fix_at_s is None or state.speed_mph is None or state.speed_error_mph is None:
            return False
        if self.samples and state.fix_at_s <= self.samples[-1].at_s:
            return False
        speed, error = mps(state.speed_mph), mps(state.speed_error_mph)
        self.samples.append(Sample(state.fix_at_s, speed, error))
        return True


def of_file(path: Path) -> Trace:
    """What a recording holds; raises SledwardenError where it is none."""
    trace = Trace(path.name)
    for reading in _readings(path):
        trace.take(reading)
    return trace


def _readings(path: Path) -> Iterator[Reading]:
    kind = recognise(path)
    if kind is Kind.JOURNAL:
        yield from (one for _, one in open_journal(path).readings() if one is not None)
        return
    recording = open_recording(path, kind, Wishes())
    recording.refuse_without_speed()
    yield from (one for _, one in replaying.stream(recording))


def live(feed: Path, is_done: Callable[[Trace], bool], *, word: str = "") -> Trace:
    """What a running unit sees until enough was seen; Ctrl-C ends it too.

    With a `word` each line that is typed meanwhile is noted as that figure, in the unit's journal
    too; an empty one ends it. Raises SledwardenError where no unit is heard.
    """
    trace = Trace(f"unit at {feed}")
    unit, clock = FeedClient(feed), Clock()
    heard_s = clock.mono_s()
    try:
        while not is_done(trace):
            for message in unit.poll(0.1):
                if isinstance(message, State):
                    heard_s = clock.mono_s()
                    trace.see(message)
            line = _typed() if word else None
            if line == "":
                break
            if line is not None and trace.samples:
                trace.note(trace.samples[-1].at_s, f"{word} {line}")
                unit.send("note", f"{word} {line}", "sledwarden inspect")
            if clock.mono_s() - heard_s > HEAR_S:
                raise SledwardenError(
                    str(feed),
                    f"no unit is heard ({unit.trouble or 'it says nothing'}).",
                    "Run it on the unit, or name --feed, or a recording.",
                )
    except KeyboardInterrupt:
        pass  # what was seen until then counts
    finally:
        unit.close()
    return trace


def _typed() -> str | None:
    """A line that was typed by now; None where none was, empty at the end of the input."""
    ready, _, _ = select.select([sys.stdin], [], [], 0.0)
    return sys.stdin.readline().strip() if ready else None


def _see_lamp(trace: Trace, state: State) -> None:
    for part in state.parts:
        found = (
            re.fullmatch(r"(\d+) lux", part.value) if part.channel == Channel.LIGHT_HEAD else None
        )
        if found:
            trace.lamps.append((state.at_s, Light(float(found[1]), 0.5)))
