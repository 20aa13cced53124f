"""How much room the journal has: below the quota, and below the end of the disk.

A disk that is filled to its last block harms everything on it, so a little of it is left alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from pathlib import Path

MB = 1_000_000

RESERVE_MB = 16
RESERVE_SHARE = 0.01
"""Of the disk, or RESERVE_MB where that is less, is never written by the journal."""

LOW_MB = 128
LOW_SHARE = 0.05
"""Of the disk, or LOW_MB where that is less: the rider is told that it is nearly full."""

QUOTA_LOW_SHARE = 0.05
"""Of the quota: less is left only where segments with events are all that is there."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left, in bytes; the least of the disk and the quota."""

    free_bytes: int = 0
    is_low: bool = False

    @property
    def free_mb(self) -> float:
        return round(self.free_bytes / MB, 1)


class Room:
    """Measures a folder's disk, and what a quota leaves of it."""

    def __init__(self, folder: Path, quota_bytes: int | None) -> None:
        self._folder = folder
        self._quota_bytes = quota_bytes

    def left(self, used_bytes: int) -> Left:
        """What is left while the journal takes so many bytes; nothing where the disk is gone."""
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return Left()
        all_bytes, free = disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
        free -= min(RESERVE_MB * MB, int(all_bytes * RESERVE_SHARE))
        is_low = free < min(LOW_MB * MB, all_bytes * LOW_SHARE)
        if self._quota_bytes is not None:
            rest = self._quota_bytes - used_bytes
            is_low = is_low or rest < self._quota_bytes * QUOTA_LOW_SHARE
            free = min(free, rest)
        return Left(max(0, free), is_low)

    def refuse_beyond(self, used_bytes: int, more_bytes: int) -> None:
        """Raises the OSError of a full disk or a used-up quota where so many more have no room."""
        if self._quota_bytes is not None and used_bytes + more_bytes > self._quota_bytes:
            raise OSError(EDQUOT, os.strerror(EDQUOT), str(self._folder))
        disk = os.statvfs(self._folder)
        reserve = min(RESERVE_MB * MB, int(disk.f_blocks * disk.f_frsize * RESERVE_SHARE))
        if disk.f_bavail * disk.f_frsize - more_bytes < reserve:
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(self._folder))
