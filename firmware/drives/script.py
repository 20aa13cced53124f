"""A scripted ride: what the world does to the unit, and at which second.

`script_text.py` reads it from a `.drive`; `docs/drives.md` is the reference for people.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from firmware.drives import ride
from firmware.gps.fixes import paced
from firmware.readings import TetherState

SLOWER = "times as fast, not"
"""What the log says of a simulation that can't keep its pace; the demo looks for it."""


@dataclass(frozen=True, slots=True)
class Play:
    """A recorded log at the pace of its own epochs, from and to seconds of the recording."""

    path: Path
    from_s: float = 0.0
    to_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Send:
    """What the receiver puts on its line."""

    octets: bytes


@dataclass(frozen=True, slots=True)
class Ambient:
    """The light of the sky in lux; absent means that it follows the sun."""

    lux: float | None


@dataclass(frozen=True, slots=True)
class Lamp:
    """A lamp of the sled, as its sensor and its supply tap see it; absent means as before.

    `is_open` goes with a supply that is off: the lamp's wire is broken.
    """

    which: Literal["head", "tail"]
    is_supplied: bool | None = None
    lux: float | None = None
    is_red: bool | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class EngineRuns:
    """The engine starts or stops."""

    is_running: bool


@dataclass(frozen=True, slots=True)
class TetherTurns:
    """The tether cap or its wire changes."""

    state: TetherState


@dataclass(frozen=True, slots=True)
class Button:
    """The rider presses the button, or holds it for 2 s."""

    kind: Literal["press", "hold"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A chip misbehaves from now on, or is well again with `clear`."""

    bus: str
    address: int
    kind: str


@dataclass(frozen=True, slots=True)
class ClockStep:
    """The system's date jumps by so many seconds."""

    step_s: float


@dataclass(frozen=True, slots=True)
class RtcSet:
    """The battery clock's date from now on; absent means that its battery is dead."""

    utc: datetime | None


@dataclass(frozen=True, slots=True)
class Plug:
    """The receiver is unplugged from its port, or plugged in again."""

    is_in: bool


@dataclass(frozen=True, slots=True)
class PowerCut:
    """The unit loses its supply; nothing comes after it."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A person switches a mode on or off."""

    name: str
    is_on: bool

    @property
    def action(self) -> str:
        """What a person asks of the unit for it."""
        return "mode"

    @property
    def argument(self) -> str:
        """And with which words."""
        return f"{self.name} {'on' if self.is_on else 'off'}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A person asks the unit for something, as over its feed: a race's token, a note."""

    action: str
    argument: str


@dataclass(frozen=True, slots=True)
class End:
    """The drive lasts until here, and nothing more happens."""


Deed = (
    Play
    | ride.Change
    | Send
    | Ambient
    | Lamp
    | EngineRuns
    | TetherTurns
    | Button
    | Fault
    | ClockStep
    | RtcSet
    | Plug
    | PowerCut
    | Mode
    | Asked
    | End
)


@dataclass(frozen=True, slots=True)
class Action:
    """What the world does at a second of the drive, and the line that says so."""

    at_s: float
    deed: Deed
    line: int = 0


@dataclass(frozen=True, slots=True)
class Drive:
    """A parsed drive: its header, and its actions in order.

    `zones`, `config` and the played logs are paths that exist. `laws` is empty where the drive
    leaves the choice to the configuration. `proves` are citations, each with the sort of its case.
    """

    path: Path
    name: str = ""
    laws: tuple[str, ...] = ()
    vehicle: str = "snowmobile"
    modes: tuple[str, ...] = ()
    zones: tuple[Path, ...] = ()
    config: Path | None = None
    start: datetime | None = None
    floor: date | None = None
    shows: str = ""
    proves: tuple[str, ...] = ()
    source: str = ""
    licence: str = ""
    actions: tuple[Action, ...] = ()

    def timeline(self) -> Iterator[tuple[float, Action]]:
        """What happens, second by second, with every log and every ride as octets to send.

        In order of time; at one instant the world's own deeds come before the receiver's
        sentences. A new `play` or `ride` ends the one before: there is one receiver.
        """
        streams: list[Iterator[tuple[float, int, int, int, Action]]] = []
        speakers = [
            one for one in self.actions if isinstance(one.deed, Play | ride.Change | PowerCut | End)
        ]
        last_s = self.actions[-1].at_s if self.actions else 0.0
        index = 0
        while index < len(speakers):
            first, changes = speakers[index], [speakers[index]]
            index += 1
            if isinstance(first.deed, ride.Change):
                while index < len(speakers) and isinstance(speakers[index].deed, ride.Change):
                    changes.append(speakers[index])
                    index += 1
            next_s = speakers[index].at_s if index < len(speakers) else math.inf
            if isinstance(first.deed, Play):
                streams.append(_sent(first, _played(first.deed, first.at_s), next_s))
            elif isinstance(first.deed, ride.Change) and self.start is not None:
                lines = [
                    (one.at_s, one.deed) for one in changes if isinstance(one.deed, ride.Change)
                ]
                ends_s = next_s if next_s < math.inf else last_s
                streams.append(_sent(first, ride.sentences(lines, self.start, ends_s), next_s))
        for action in self.actions:
            if isinstance(action.deed, Send):
                streams.append(iter([(action.at_s, 1, action.line, 0, action)]))
        world = [
            (one.at_s, 0, one.line, 0, one)
            for one in self.actions
            if not isinstance(one.deed, Play | ride.Change | Send)
        ]
        for at_s, _, _, _, action in heapq.merge(world, *streams, key=lambda one: one[:4]):
            yield at_s, action


def _played(play: Play, begin_s: float) -> Iterator[tuple[float, bytes]]:
    for offset_s, octets in paced(play.path.read_bytes()):
        if play.from_s <= offset_s < play.to_s:
            yield begin_s + offset_s - play.from_s, octets


def _sent(
    action: Action, stream: Iterator[tuple[float, bytes]], end_s: float
) -> Iterator[tuple[float, int, int, int, Action]]:
    for number, (at_s, octets) in enumerate(stream):
        if at_s >= end_s:
            return
        yield at_s, 1, action.line, number, Action(at_s, Send(octets), action.line)
