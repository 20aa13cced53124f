"""An owner's deletion over the port: what is named, what of it the archive has, and that it went.

Nothing is asked of a person here, and nothing is shown: that is the command's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from firmware.errors import SledwardenError, UsageError
from firmware.journal.folder import segment_name
from host_tools.journals.archive import UNIT_JSON, Seen, read_unit
from host_tools.port.contact import POLL_S, Contact
from host_tools.port.messages import Index, Segment
from host_tools.port.sled import RefusedError

GONE_S = 60.0
"""A deletion is waited for so long: a segment that is not yet stored is stored first."""

_PLACE = re.compile(r"0*([1-9][0-9]{0,8})(?:-[0-9a-f]{8})?(?:/0*([1-9][0-9]{0,5})(?:\.mcap.*)?)?")


class ForgetError(SledwardenError):
    """A deletion that would lose what nobody has, or that did not happen."""


@dataclass(frozen=True, slots=True)
class Named:
    """A boot by its number, or one segment of it, as a person names it."""

    boot: int
    segment: int | None

    @classmethod
    def of(cls, text: str) -> Named:
        """`17`, `17/2`, or the names of the folder and the file; raises UsageError."""
        match = _PLACE.fullmatch(text)
        if match is None:
            raise UsageError(
                text,
                "is no place in a journal: a boot like 17, or a segment like 17/2, was expected.",
            )
        return cls(int(match[1]), None if match[2] is None else int(match[2]))

    def __str__(self) -> str:
        return f"{self.boot}" if self.segment is None else f"{self.boot}/{self.segment}"

    def among(self, index: Index) -> dict[str, Segment]:
        """What a unit has of it, by name."""
        return {
            f"{boot.name}/{one.name}": one
            for boot in index.boots
            for one in boot.segments
            if int(boot.name.partition("-")[0]) == self.boot
            and self.segment in (None, int(one.name[:6]))
        }


def not_kept(into: Path, unit: str, wanted: dict[str, Segment]) -> list[str]:
    """Those that the archive has not whole: deleting them would lose them."""
    folder = into / unit
    path = folder / UNIT_JSON
    known = read_unit(path).segments if path.exists() else {}
    had = {segment_name(name): (name, seen) for name, seen in known.items()}
    return [
        name
        for name, one in wanted.items()
        if not _is_kept(folder, name, one, had.get(segment_name(name)))
    ]


def _is_kept(folder: Path, name: str, one: Segment, had: tuple[str, Seen] | None) -> bool:
    if had is None or not had[1].closed:
        return False
    file = folder / had[0]
    if had[0] == name and one.bytes != had[1].bytes:
        return False
    return file.is_file() and file.stat().st_size == had[1].bytes


def forget(contact: Contact, named: Named, wanted: dict[str, Segment]) -> None:
    """Has the unit delete it, and waits until its index names none of it any more.

    Raises RefusedError where the unit refuses, ForgetError where it did not happen in a minute.
    """
    contact.patiently(lambda sled: sled.forget(str(named)))
    until_s = contact.clock.mono_s() + GONE_S
    while True:
        left = _left(contact, named, wanted)
        if not left:
            return
        if contact.clock.mono_s() >= until_s:
            raise ForgetError(
                str(contact.way),
                f"{', '.join(left)} is still there after {GONE_S:.0f} s.",
                "Does the sled stand, and can its card be written? Its daemon's log says why.",
            )
        contact.clock.sleep(POLL_S)


def named_of(contact: Contact, named: Named) -> tuple[dict[str, Segment], list[str]]:
    """What a unit can delete of it, and what it still writes; RefusedError where there is none."""
    found = named.among(contact.patiently(lambda sled: sled.index()))
    if not found:
        raise RefusedError(
            str(contact.way),
            f"its journal has no {named}.",
            "sledwarden download shows what it has.",
        )
    closed = {name: one for name, one in found.items() if one.closed}
    return closed, [name for name in found if name not in closed]


def _left(contact: Contact, named: Named, wanted: dict[str, Segment]) -> list[str]:
    there = named.among(contact.patiently(lambda sled: sled.index()))
    asked = {segment_name(name) for name in wanted}
    return [name for name in there if segment_name(name) in asked]
