"""Mounts one disk's content after another, without a program's start for each.

A thousand crash states would start `mount` and `umount` two thousand times.
"""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

_LIBC = ctypes.CDLL(None, use_errno=True)
_DETACH = 2


class LoopDisk:
    """A loop device on a file, whose content is changed only while it is not mounted."""

    def __init__(self, folder: Path, size: int) -> None:
        self._image = folder / "card.img"
        self._mount_at = folder / "card"
        self._size = size
        self._device = ""

    def __enter__(self) -> Self:
        self._mount_at.mkdir(parents=True)
        self._attach()
        return self

    def __exit__(self, *_fault: object) -> None:
        subprocess.run(["losetup", "--detach", self._device], check=True)

    def _attach(self) -> None:
        self._image.unlink(missing_ok=True)
        with self._image.open("wb") as image:
            image.truncate(self._size)
        found = subprocess.run(
            ["losetup", "--find", "--show", str(self._image)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        self._device = found.stdout.strip()

    @contextmanager
    def mounted(self, content: bytes) -> Iterator[Path]:
        """Where the disk with that content is mounted as ext4; raises OSError.

        What still has a file open there, as a start that could not go on, keeps that disk; the
        next content comes on another one.
        """
        with self._image.open("r+b") as image:
            image.write(content)
        where = os.fsencode(self._mount_at)
        _call(_LIBC.mount(self._device.encode(), where, b"ext4", 0, None), self._device)
        try:
            yield self._mount_at
        finally:
            try:
                _call(_LIBC.umount2(where, 0), str(self._mount_at))
            except OSError as fault:
                if fault.errno != errno.EBUSY:
                    raise
                _call(_LIBC.umount2(where, _DETACH), str(self._mount_at))
                self.__exit__()
                self._attach()


def _call(answer: int, what: str) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
