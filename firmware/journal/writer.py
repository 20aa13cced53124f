"""The journal's public face; its thread follows in the next commits (signatures are final)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from firmware.clock import Clock
from firmware.journal.record import Record, Start
from firmware.readings import Disk, Missing


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The last record that is safe on the disk: its number as `put` gave it, and its instant."""

    sequence: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Health:
    """How the journal is doing; `value` is what a reading of Channel.JOURNAL carries."""

    value: Disk | Missing
    acknowledged: Acknowledged
    waiting: int
    segment: Path | None
    notices: tuple[str, ...] = ()


class Journal:
    """Keeps every record in sealed MCAP segments, from a thread of its own."""

    def __init__(
        self,
        folder: Path,
        start: Start,
        clock: Clock,
        *,
        attachments: Sequence[tuple[str, bytes]] = (),
        key_path: Path | None = None,
        quota_mb: int | None = None,
        on_change: Callable[[Health], None] | None = None,
        is_patient: bool = False,
    ) -> None:
        """`on_change` is called from the journal's thread when `Health.value` changes kind, when
        records were lost, and every 10 s; it must not block. `key_path` is FOLDER.key unless
        given. `is_patient`: `put` waits for room instead of losing (a replay, never the unit)."""
        raise NotImplementedError

    def open(self) -> None:
        """Locks the folder and starts the thread; raises JournalError if another process has it.

        A folder that can't be written raises nothing: it is told by `health`, and tried again."""
        raise NotImplementedError

    def put(
        self, record: Record, at_s: float, utc: datetime | None = None, *, urgent: bool = False
    ) -> int:
        """Hands over a record and returns its number; never blocks, never raises.

        `utc` is the best date known now. An urgent record is on its way to the disk at once."""
        raise NotImplementedError

    @property
    def acknowledged(self) -> Acknowledged:
        """The last record that a power cut can't take."""
        raise NotImplementedError

    def health(self) -> Health:
        """How the journal is doing now; never blocks."""
        raise NotImplementedError

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Waits until all that was put is safe; false when the time (real seconds) is over."""
        raise NotImplementedError

    def close(self, at_s: float, why: str = "stopped", timeout_s: float = 0.9) -> bool:
        """Seals and ends the segment, ends the thread and frees the folder; true if all is safe."""
        raise NotImplementedError
