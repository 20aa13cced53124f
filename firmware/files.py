"""The door to files that a person names: read whole within a bound, or refused in one sentence.

A device has no end and a FIFO none that comes; opening one may do something to the machine, and a
file renamed over one takes it away from every program. So only regular files pass, both ways.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from firmware.errors import SledwardenError

CONFIG_BYTES = 1 << 20
"""The most of a configuration or a law pack; the longest seen has 50 kB."""

KEY_BYTES = 16 << 20
"""The most of a key's file, which may be a unit.json that knows some 50,000 segments."""

DRIVE_BYTES = 16 << 20
"""The most of a drive's own text; the logs that it plays are files beside it."""

POINTS_BYTES = 64 << 20
"""The most of a table of places: two million lines."""

Fault = Callable[[str, str], SledwardenError]


def refuse_unless_regular(path: Path, wanted: str, fault: Fault = SledwardenError) -> None:
    """Raises the fault for a device, a FIFO or a socket, and OSError where there is nothing.

    A folder passes: it is what some arguments may be, and to read it is an OSError of its own.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise fault(str(path), f"is no regular file: {wanted} was expected.")


def whole(path: Path, wanted: str, most_bytes: int, fault: Fault = SledwardenError) -> bytes:
    """The bytes of a regular file; raises the fault for any other and for a longer one, and OSError
    where the disk refuses."""
    refuse_unless_regular(path, wanted, fault)  # before it is opened: that alone moves some devices
    # Not to wait for a writer, if a FIFO has come in between.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        octets = file.read(most_bytes + 1)
    if len(octets) > most_bytes:
        raise fault(
            str(path), f"is too long: {wanted} of at most {most_bytes:,} bytes was expected."
        )
    return octets


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hex, piece by piece; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put_whole(path: Path, octets: bytes, mode: int = 0o644) -> None:
    """Puts a small file in the place of another; safe with its name when it returns.

    No cut leaves half of it; a disk that refuses leaves the old one, and its OSError passes.
    """
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(beside, flags, mode), "wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
            refuse_read_only(file.fileno())
        beside.rename(path)
    except OSError:  # a disk that is full keeps the name, and nothing in it
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder safe; raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        refuse_read_only(descriptor)
    finally:
        os.close(descriptor)


def refuse_read_only(descriptor: int) -> None:
    """Raises OSError (EROFS) where a disk is read-only; to be asked after each sync.

    On one that was remounted so under an open file, as SysRq-U does, ext4 takes writes into memory,
    and answers its fsync with 0 without writing anything (`ext4_sync_file`).
    """
    if os.fstatvfs(descriptor).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def refuse_to_replace(path: Path, fault: Fault = SledwardenError) -> None:
    """Raises the fault where something stands that is no regular file, a link among them.

    A link is not followed: to write through it would change a file that was not named, and to
    rename over it would take the link away.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as why:
        raise fault(str(path), f"can't be written: {why.strerror}.") from why
    if stat.S_ISDIR(mode):
        raise fault(str(path), "is a folder: must be a file's name.")
    if not stat.S_ISREG(mode):
        raise fault(str(path), "is no regular file: it is not replaced; name a new file.")
