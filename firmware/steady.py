"""What a sensor says again is judged, and kept, once a second.

A lamp's sensor is read four times a second, and says nearly always what it said before. A reading
that differs from the last one judged by more than a part of its own error goes through at once, as
does one that is missing, and so does, ahead of it, when the old word was last seen: until when a
value holds goes by that. What says the same waits until the last one judged is a second old, and
never so long that that one lapses; then it is judged as that word, seen again, and with it all that
waits; each ten seconds as itself, so that what creeps is followed. What is not judged is not kept:
a replay of the journal judges the very same.

Nothing is held back that a rule could be quicker by: not a fix, not a press, not the first word of
a sensor, not a change of a contact, not a light that crosses one of the lines by which it is
judged, and no look at all for as long after a change of a lamp or a contact as one must last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from firmware.readings import (
    Channel,
    Engine,
    Light,
    Missing,
    Reading,
    Receiver,
    Supply,
    Tether,
)

AGAIN_S: Final = 0.75
"""So often what was held back is judged, all of it at one instant: even with the turn that it takes
soon enough for the ambient light to be seen to follow the lamp (`sky.WITHIN_S`)."""

SEEN_TENTHS: Final = 10.0
"""To a tenth of a second it is told when a word was seen again; never later than it was."""

ITSELF_S: Final = 10.0
"""At least so often the newest look is judged, and not the word that it bears out."""

SPARE_S: Final = 0.5
"""So long before a word would lapse it is judged that it was seen since: more than a turn takes."""

RECEIVER_AGAIN_S: Final = 5.0
"""How the receiver does is shown, and no clause goes by it."""

ERROR_SHARE: Final = 1.0 / 3.0
"""Of a light's error: a lamp's light that changes by some hundredths is the same."""

SAME_V: Final = 0.25
SAME_RED: Final = 0.02
SAME_HDOP: Final = 0.2
SAME_DBHZ: Final = 2.0

SENSORS: Final = frozenset(
    {
        Channel.LIGHT_HEAD,
        Channel.LIGHT_TAIL,
        Channel.LIGHT_AMBIENT,
        Channel.SUPPLY_HEAD,
        Channel.SUPPLY_TAIL,
        Channel.TETHER,
        Channel.ENGINE,
    }
)
"""The channels that nearly always say what they said before, and are kept as that."""

STEADY: Final = SENSORS | {Channel.RECEIVER}
"""The channels whose words are held back; all others go through."""

UNSETTLING: Final = SENSORS - {Channel.LIGHT_AMBIENT}
"""A change of these may be what an alert waits to see last."""


class Lines(NamedTuple):
    """Where a light is judged to be another: in lux, in lux with its error, in the share of red."""

    lux: tuple[float, ...] = ()
    sure_lux: tuple[float, ...] = ()
    red: tuple[float, ...] = ()


NO_LINES: Final = Lines()


@dataclass(slots=True)
class _Said:
    """The last reading of a channel that was judged, and the newest that was held back since;
    `looked_s` is when one was judged as it was read."""

    judged: Reading
    looked_s: float
    held_back: Reading | None = None

    def is_ripe(self, at_s: float) -> bool:
        """Whether it may be judged again; how the receiver does, not yet for a while."""
        is_receiver = self.judged.channel is Channel.RECEIVER
        is_new = is_receiver and at_s - self.judged.mono_s < RECEIVER_AGAIN_S
        return self.held_back is not None and not is_new

    def is_pressing(self, at_s: float) -> bool:
        """Whether the word that was judged will lapse soon, although it was seen since."""
        fresh_s = self.judged.fresh_s
        if self.held_back is None or fresh_s is None:
            return False
        return at_s >= self.judged.mono_s + fresh_s - SPARE_S


class Steady:
    """Holds back readings that say nothing new; asked at each instant for what is due."""

    def __init__(
        self,
        *,
        holds_back: bool = True,
        lines: Mapping[Channel, Lines] | None = None,
        settle_s: float = 0.0,
    ) -> None:
        """Without `holds_back` everything goes through: a simulation that runs faster has that much
        less time until a word lapses. `settle_s` seconds after a change every look goes through,
        so that one that must last is seen to have lasted as soon as it has."""
        self._lines = lines or {}
        self._settle_s = settle_s
        self._changed_s = -math.inf
        self._holds_back = holds_back
        self._said: dict[Channel, _Said] = {}
        self._given_s = 0.0

    def take(self, reading: Reading) -> tuple[Reading, ...]:
        """What is to be judged now that this reading has come, in this order."""
        if reading.channel not in STEADY or not self._holds_back:
            return (reading,)
        said = self._said.get(reading.channel)
        if said is None:
            self._said[reading.channel] = _Said(reading, reading.mono_s)
            return (reading,)
        if is_same(said.judged, reading, self._lines.get(reading.channel, NO_LINES)):
            is_settled = reading.mono_s > self._changed_s + self._settle_s
            if is_settled or reading.channel is Channel.RECEIVER:
                said.held_back = reading
                return ()
        elif reading.channel in UNSETTLING:
            self._changed_s = reading.mono_s
        before, last = said.judged, said.held_back
        said.judged, said.looked_s, said.held_back = reading, reading.mono_s, None
        return (reading,) if last is None else (_seen(before, last), reading)

    def due(self, at_s: float) -> tuple[Reading, ...]:
        """What was held back and is to be judged now."""
        if at_s - self._given_s < AGAIN_S and not any(
            said.is_pressing(at_s) for said in self._said.values()
        ):
            return ()
        self._given_s = at_s
        return tuple(self._ripe(at_s))

    def _ripe(self, at_s: float) -> Iterator[Reading]:
        for said in self._said.values():
            look = said.held_back
            if look is None or not said.is_ripe(at_s):
                continue
            if look.channel is Channel.RECEIVER or look.mono_s - said.looked_s >= ITSELF_S:
                said.judged, said.looked_s = look, look.mono_s
            else:
                said.judged = _seen(said.judged, look)
            said.held_back = None
            yield said.judged


def _seen(word: Reading, look: Reading) -> Reading:
    """A word that was judged, borne out by a look."""
    return replace(
        word, mono_s=max(word.mono_s, math.floor(look.mono_s * SEEN_TENTHS) / SEEN_TENTHS)
    )


def is_same(one: Reading, other: Reading, lines: Lines = NO_LINES) -> bool:
    """Whether the later of two readings of a channel says nothing that the earlier did not."""
    if one.source != other.source or one.fresh_s != other.fresh_s:
        return False
    match one.value, other.value:
        case Light() as was, Light() as now:
            apart_lux = abs(now.lux - was.lux)
            return (
                apart_lux <= ERROR_SHARE * min(was.error_lux, now.error_lux)
                and (was.lux == 0.0) is (now.lux == 0.0)
                and _is_near(was.red_share, now.red_share, SAME_RED)
                and not _is_any_between(was.lux, now.lux, lines.lux)
                and not _is_any_between(
                    was.lux + was.error_lux, now.lux + now.error_lux, lines.sure_lux
                )
                and not _is_any_between(was.red_share or 0.0, now.red_share or 0.0, lines.red)
            )
        case Supply() as was, Supply() as now:
            is_on_too = (was.is_on, was.is_open) == (now.is_on, now.is_open)
            return is_on_too and _is_near(was.volts, now.volts, SAME_V)
        case (Tether(), Tether()) | (Engine(), Engine()) | (Missing(), Missing()):
            return one.value == other.value
        case Receiver() as was, Receiver() as now:
            return (
                (was.satellites, was.refused, was.note, was.dropouts, was.setup)
                == (now.satellites, now.refused, now.note, now.dropouts, now.setup)
                and _is_near(was.rate_hz, now.rate_hz, 0.0)
                and _is_near(was.hdop, now.hdop, SAME_HDOP)
                and _is_near(was.cn0_dbhz, now.cn0_dbhz, SAME_DBHZ)
            )
        case _:
            return False


def _is_any_between(was: float, now: float, lines: Sequence[float]) -> bool:
    return any((was < line) is not (now < line) for line in lines)


def _is_near(was: float | None, now: float | None, most: float) -> bool:
    return was is now if was is None or now is None else abs(now - was) <= most
