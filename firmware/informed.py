"""On which local day the notices were last shown: a file beside the journal, for the next start.

It is no evidence (the journal has that): a file that is lost or spoilt shows them once more.
"""

from __future__ import annotations

import logging
import threading
from datetime import date
from pathlib import Path

from firmware.errors import SledwardenError
from firmware.files import put_whole, whole
from firmware.rider.notices import NEVER_SHOWN

log = logging.getLogger("sledwarden.informed")

_BYTES = 64


class Informed:
    """Reads the day at the start and writes it once; the card may stall, so a thread of its own
    writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._noted: date | None = None
        self._writer: threading.Thread | None = None

    def last_day(self) -> str:
        """The day as ISO 8601, or "never"."""
        try:
            text = whole(self._path, "a day", _BYTES).decode("ascii").strip()
            return date.fromisoformat(text).isoformat()
        except (OSError, ValueError, SledwardenError):
            return NEVER_SHOWN

    def note(self, day: date | None) -> None:
        """Keeps the day once it is told; waits for nothing."""
        if day is None or day == self._noted:
            return
        self._noted = day
        self._writer = threading.Thread(target=self._write, args=(day,), daemon=True)
        self._writer.start()

    def finish(self) -> None:
        """Waits a moment for what is being written."""
        if self._writer is not None:
            self._writer.join(timeout=1.0)

    def _write(self, day: date) -> None:
        try:
            put_whole(self._path, f"{day.isoformat()}\n".encode())
        except OSError as fault:
            log.warning("%s: can't be written (%s)", self._path, fault.strerror)
