"""What is at the other end of a serial line, on a pseudo-terminal: the fakes of `uart`, and a part
of the product."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import tempfile
import termios
import tty
import weakref
from array import array
from pathlib import Path
from types import TracebackType

from firmware.errors import BusError

PREFIX = "sledwarden-gps-"
LINK = "gps"


def _own_folder() -> tuple[Path, int]:
    """A new folder for a port, and the lock on it; takes away those whose programs were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or its program lives
            _leave(left, _locked(left))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with contextlib.suppress(OSError):
            lock = _locked(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)  # another program that began just now took it for left


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder, until it is closed or the program ends; an OSError where
    another program does."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _leave(folder: Path, lock: int) -> None:
    """Takes the folder away, then the lock."""
    with contextlib.suppress(OSError):
        (folder / LINK).unlink(missing_ok=True)
        folder.rmdir()
    os.close(lock)


class FakeReceiver:
    """A receiver that says what it is told to, at a port that any program can open.

    `port` stays the same through `unplug` and `replug`, like a name under /dev/serial/by-id. What
    is written while nobody reads is lost once the line's buffer is full, as on a wire.
    """

    def __init__(self) -> None:
        folder, lock = _own_folder()
        self._leave = weakref.finalize(self, _leave, folder, lock)
        self.port = str(folder / LINK)
        self._ends: tuple[int, int] | None = None
        self.replug()

    @property
    def is_plugged(self) -> bool:
        """Whether there is a device at the port."""
        return self._ends is not None

    @property
    def is_unread(self) -> bool:
        """Whether the line holds what no program has read yet."""
        if self._ends is None:
            return False
        waiting = array("i", [0])
        fcntl.ioctl(self._ends[1], termios.FIONREAD, waiting)
        return waiting[0] > 0

    def replug(self) -> None:
        """Puts a new device at the port; nothing when there is one."""
        if self._ends is not None:
            return
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        os.set_blocking(ours, False)
        os.symlink(os.ttyname(theirs), self.port)
        self._ends = (ours, theirs)

    def unplug(self) -> None:
        """Takes the device away, from under whoever reads it; nothing when there is none."""
        if self._ends is None:
            return
        os.unlink(self.port)
        for end in self._ends:
            os.close(end)
        self._ends = None

    def write(self, data: bytes, timeout_s: float = 2.0) -> int:
        """Sends bytes and returns how many the line took: it stops where the line stays full for
        `timeout_s`, and takes none while unplugged."""
        if self._ends is None:
            return 0
        ours = self._ends[0]
        poll = select.poll()
        poll.register(ours, select.POLLOUT)
        sent = 0
        while sent < len(data) and poll.poll(timeout_s * 1000.0):
            try:
                sent += os.write(ours, data[sent : sent + 1024])
            except BlockingIOError:
                continue
        return sent

    def close(self) -> None:
        """Unplugs it for good; safe to call twice."""
        self.unplug()
        self._leave()

    def __enter__(self) -> FakeReceiver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FakePort:
    """A unit's service port without a wire: reads and writes as `uart.Uart` does, and any program
    can open `path` as the serial port of the host's end.

    `plug` again after a pull puts a new device at the same path. `cut_after` bytes, in both
    directions together, the cable is pulled by itself, in the middle of whatever it carries.
    """

    def __init__(self, path: str) -> None:
        self.port = path
        self.carried = 0
        self.cut_after: int | None = None
        self._ends: tuple[int, int] | None = None
        self.plug()

    def plug(self) -> None:
        """Puts a new device at the path; nothing when there is one."""
        if self._ends is not None:
            return
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        os.set_blocking(ours, False)
        try:
            with contextlib.suppress(FileNotFoundError):
                if os.path.islink(self.port):
                    os.unlink(self.port)
            os.symlink(os.ttyname(theirs), self.port)
        except OSError as error:
            os.close(ours)
            os.close(theirs)
            raise BusError(
                self.port,
                f"can't be made: {error.strerror}.",
                "Give a path that is free, in a folder that is there.",
            ) from error
        self._ends = (ours, theirs)

    def pull(self) -> None:
        """Takes the device away, from under whoever uses it; nothing when there is none."""
        if self._ends is None:
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.port)
        for end in self._ends:
            os.close(end)
        self._ends = None

    def fileno(self) -> int:
        """The unit's end, for who waits for several lines at once; raises BusError when pulled."""
        return self._end()

    def read(self, timeout_s: float) -> bytes:
        """All bytes that have come, as soon as there are any; none after `timeout_s`."""
        poll = select.poll()
        poll.register(self._end(), select.POLLIN)
        if not poll.poll(max(0.0, timeout_s * 1000.0)):
            return b""
        octets = os.read(self._end(), 4096)
        room = self._room(len(octets))
        self._carry(room)
        return octets[:room]

    def write(self, octets: bytes) -> int:
        """How many of the bytes the line took at once; 0 where it is full."""
        room = self._room(len(octets))
        try:
            sent = os.write(self._end(), octets[:room])
        except BlockingIOError:
            return 0
        self._carry(sent)
        return sent

    def close(self) -> None:
        """Takes the device away for good; safe to call twice."""
        self.pull()

    def _end(self) -> int:
        if self._ends is None:
            raise BusError(self.port, "the host was unplugged.")
        return self._ends[0]

    def _room(self, wanted: int) -> int:
        if self.cut_after is None:
            return wanted
        return min(wanted, self.cut_after - self.carried)

    def _carry(self, count: int) -> None:
        self.carried += count
        if self.cut_after is not None and self.carried >= self.cut_after:
            self.cut_after = None
            self.pull()
