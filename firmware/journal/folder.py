"""The journal's folder: names whose order needs no clock, one lock, and the door to the disk.

    FOLDER/lock                           held by the unit that writes; its process id
    FOLDER/boots                          the number of the last boot
    FOLDER/ledger.jsonl                   every boot, every stored segment, what was deleted; signed
    FOLDER/000017-5f0c2a91/000001.mcap    boot 17 by number and the first half of its id; segment 1
    FOLDER/000016-08d1bb3e/000001.mcap.zst    a closed segment, stored: see stored.py

A boot is one run of the unit, from its start to its stop or to the power cut. Other files in the
folder are left alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from pathlib import Path
from typing import NamedTuple

from firmware.errors import JournalError
from firmware.files import refuse_read_only, sync_folder
from firmware.journal import stored

LEDGER = "ledger.jsonl"

_BOOT = re.compile(r"(\d{6,9})-([0-9a-f]{8})")


class Place(NamedTuple):
    """A segment's file and its numbers; both are 0 for a file outside a journal's folder."""

    boot: int
    segment: int
    path: Path

    @property
    def name(self) -> str:
        """The segment's file as it is told: BOOT/FILE, also where the path has no folder."""
        whole = Path(os.path.abspath(self.path))  # resolve() would follow a link
        return f"{whole.parent.name}/{whole.name}"

    @property
    def sealed_name(self) -> str:
        """What the segment's file was called when it was sealed: the same in every form of it."""
        return segment_name(self.name)

    @property
    def boot_name(self) -> str:
        """The name of the boot's folder that it stands in; empty for a file elsewhere."""
        home = Path(os.path.abspath(self.path)).parent.name
        is_in_place = _BOOT.fullmatch(home) and stored.NAME.fullmatch(self.path.name)
        return home if is_in_place else ""

    def is_followed_by(self, other: Place) -> bool:
        """Whether the other's numbers come next after this one's."""
        if self.boot == other.boot:
            return other.segment == self.segment + 1
        return other.boot == self.boot + 1 and other.segment == 1


def boot_name(boot: int, boot_id: str) -> str:
    """The name of a boot's folder: its number, then the first eight digits of its id."""
    return f"{boot:06d}-{boot_id[:8]}"


def beside(folder: Path, ending: str) -> Path:
    """The file FOLDER.ending, also of a folder that was named as `.` or `..`; a link keeps its own.

    Raises JournalError for the root of all folders, which has nothing beside it.
    """
    whole = Path(os.path.abspath(folder))  # resolve() would follow a link
    if not whole.name:
        raise JournalError(str(folder), "is the root: a folder for the journal was expected.")
    return whole.with_name(f"{whole.name}.{ending}")


def segments(path: Path) -> list[Place]:
    """The segments of a journal's folder, of one boot's, or the one segment that `path` is."""
    if path.is_file():
        boot, name = _BOOT.fullmatch(path.resolve().parent.name), stored.NAME.fullmatch(path.name)
        in_place = boot is not None and name is not None
        numbers = (int(boot[1]), int(name[1])) if in_place and boot and name else (0, 0)
        return [Place(*numbers, path)]
    if _BOOT.fullmatch(path.resolve().name):
        return _of_boot(path)
    return [place for boot in boots(path) for place in _of_boot(boot)]


def segment_name(name: str) -> str:
    """The name of a segment's file without what its form adds: it ends in `.mcap`."""
    return str(stored.raw_path(Path(name)))


def boots(folder: Path) -> list[Path]:
    """The folders of the boots, oldest first."""
    try:
        found = [one for one in folder.iterdir() if _BOOT.fullmatch(one.name) and one.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda one: int(one.name.split("-")[0]))


def _of_boot(folder: Path) -> list[Place]:
    boot = int(folder.resolve().name.split("-")[0])
    found: dict[int, list[Path]] = {}
    for one in folder.iterdir():
        name = stored.NAME.fullmatch(one.name)
        if name is not None:
            found.setdefault(int(name[1]), []).append(one)
    # The shortest name is the sealed form, which counts where a segment has two.
    return [Place(boot, at, min(found[at], key=lambda one: len(one.name))) for at in sorted(found)]


class Storage:
    """The few ways in which the journal touches the disk; a test counts or fails them here."""

    def create(self, path: Path) -> int:
        """A new file, for reading and writing; raises FileExistsError where there is one."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)

    def reopen(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def write(self, descriptor: int, content: bytes, offset: int) -> None:
        """Writes all of the content at an offset."""
        rest = memoryview(content)
        while rest:
            written = os.pwrite(descriptor, rest, offset)
            offset += written
            rest = rest[written:]

    def sync(self, descriptor: int) -> None:
        """Makes what was written safe; raises OSError where it is not."""
        os.fdatasync(descriptor)
        refuse_read_only(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Makes the names in a folder safe."""
        sync_folder(folder)

    def replace(self, path: Path, content: bytes) -> None:
        """Puts a small file in place of another, so that no cut leaves half of it."""
        beside = path.with_name(f"{path.name}.new")
        beside.unlink(missing_ok=True)
        descriptor = self.create(beside)
        try:
            try:
                self.write(descriptor, content, 0)
                self.sync(descriptor)
            finally:
                os.close(descriptor)
            beside.rename(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        self.sync_folder(path.parent)


class Lock:
    """The right to write in a folder; it ends with the process that has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Takes the lock, or keeps it where it stands; makes the folder where its parent stands.

        Raises JournalError if another process has it, OSError where the disk refuses.
        """
        if self._descriptor is not None and self._is_in_place():
            return
        self.free()
        if not self._folder.exists():
            self._folder.mkdir()
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise JournalError(
                str(self._folder),
                f"is in use by process {owner}: one unit writes in a journal's folder.",
                "Stop that one, or give this one another [journal] folder.",
            ) from None
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as fault:
            if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise  # without room the lock holds all the same, it only has no name

    def _is_in_place(self) -> bool:
        assert self._descriptor is not None
        try:
            there, ours = os.stat(self._path), os.fstat(self._descriptor)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def free(self) -> None:
        """Frees the lock; safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def next_boot(folder: Path, storage: Storage) -> int:
    """Takes the number of a new boot: above every number that the folder has ever given."""
    counter = folder / "boots"
    try:
        last = int(counter.read_text(encoding="ascii", errors="replace"))
    except (FileNotFoundError, ValueError):
        last = 0
    number = max([last, *(int(one.name.split("-")[0]) for one in boots(folder))]) + 1
    storage.replace(counter, f"{number}\n".encode())
    return number
