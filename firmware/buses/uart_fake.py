"""A GPS receiver on a pseudo-terminal: the fake of `uart`, and a part of the product."""

from __future__ import annotations

import os
import select
import tempfile
import tty
from pathlib import Path
from types import TracebackType


class FakeReceiver:
    """A receiver that says what it is told to, at a port that any program can open.

    `port` stays the same through `unplug` and `replug`, like a name under /dev/serial/by-id. What
    is written while nobody reads is lost once the line's buffer is full, as on a wire.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sledwarden-gps-")
        self.port = str(Path(self._folder.name) / "gps")
        self._ends: tuple[int, int] | None = None
        self.replug()

    @property
    def is_plugged(self) -> bool:
        """Whether there is a device at the port."""
        return self._ends is not None

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
        self._folder.cleanup()

    def __enter__(self) -> FakeReceiver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
