"""How the journal is doing: what the judging thread may ask, and trouble in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from errno import EACCES, EDQUOT, EIO, ENODEV, ENOENT, ENOSPC, EPERM, EROFS, ESTALE
from pathlib import Path

from firmware.errors import JournalError
from firmware.readings import Disk, Missing

_WORDS = {
    ENOSPC: "disk full",
    EDQUOT: "quota used up",
    EROFS: "disk is read-only",
    EACCES: "folder not writable",
    EPERM: "folder not writable",
    ENOENT: "folder has vanished",
    ESTALE: "folder has vanished",
    ENODEV: "folder has vanished",
    EIO: "disk error",
}


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The last record that is safe on the disk: its number as `put` gave it, and its instant."""

    sequence: int = 0
    at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """How the journal is doing; `value` is what a reading of Channel.JOURNAL carries.

    `waiting` records are not yet safe. `notices` are sentences for the technician, such as which
    torn segments this start finished.
    """

    value: Disk | Missing
    acknowledged: Acknowledged
    waiting: int
    segment: Path | None
    notices: tuple[str, ...] = ()


def trouble_of(fault: OSError | JournalError | ImportError) -> str:
    """The trouble in a few words that fit the glass."""
    if isinstance(fault, OSError):
        return _WORDS.get(fault.errno or 0, fault.strerror or str(fault))
    if isinstance(fault, ImportError):
        return "cryptography is not installed: pip install 'sledwarden[unit]'"
    return str(fault)
