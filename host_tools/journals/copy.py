"""The journal that a unit would have written of a recording, sealed with a throw-away key."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from firmware.clock import Clock
from firmware.config.schema import Config
from firmware.errors import JournalError
from firmware.findings import Anchor, Finding, Standing
from firmware.journal.beginning import attachments_of, start_of
from firmware.journal.writer import Journal
from firmware.law.packs import AUTO
from firmware.monitor import Monitor
from firmware.readings import Missing, Reading
from host_tools.replay.replaying import Told

_CLOSE_S = 60.0


class JournalCopy:
    """Writes what is judged into a folder; a context that closes the journal at its end.

    The key is made for it and thrown away: its seals show that nothing was changed since, and
    nothing of who made it.
    """

    def __init__(self, folder: Path, config: Config, core: Monitor, note: str) -> None:
        self._folder = folder
        self._core = core
        self._last_s = 0.0
        self._keys = tempfile.TemporaryDirectory()
        laws = (AUTO,) if config.unit.law == AUTO else tuple(config.unit.law)
        self._journal = Journal(
            folder,
            start_of(config, laws, writer="replay", note=note),
            Clock(),
            attachments=attachments_of(config, laws),
            key_path=Path(self._keys.name) / "key",
            is_patient=True,
        )

    def __enter__(self) -> JournalCopy:
        self._journal.open()
        return self

    def keep(self, at_s: float, reading: Reading | None, told: Sequence[Told]) -> None:
        """Keeps a reading, then what came of it, as the unit does."""
        utc = self._core.timekeeper.utc(at_s)
        self._last_s = at_s
        if reading is not None:
            self._journal.put(reading, at_s, utc)
        for one in told:
            record = one.record
            if isinstance(record, Anchor):
                record = replace(record, boot_id=self._journal.boot_id)
            is_urgent = not isinstance(record, Finding | Standing)
            self._journal.put(record, one.at_s, utc, urgent=is_urgent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        why = "the recording ended" if fault is None else "the replay was broken off"
        is_safe = self._journal.close(self._last_s, why, _CLOSE_S)
        trouble = self._journal.health().value
        self._keys.cleanup()
        if not is_safe and fault is None:
            why = trouble.detail if isinstance(trouble, Missing) else "the disk is too slow"
            raise JournalError(
                str(self._folder),
                f"the journal could not be written: {why}.",
                "Name a folder on a disk with room, that you may write to.",
            )
