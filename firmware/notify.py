"""Tells systemd how the daemon does: sd_notify(3) over its datagram socket, and the watchdog.

Without a NOTIFY_SOCKET in the environment everything here is silent.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
from collections.abc import Mapping


class Notifier:
    """Speaks to the service manager; asked often, it speaks only when it is due."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        self._address = env.get("NOTIFY_SOCKET", "")
        self._socket: socket.socket | None = None
        if self._address:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.interval_s = math.inf
        # sd_watchdog_enabled(3): the pid, where it is set, must be ours; half the interval is due.
        usec, pid = env.get("WATCHDOG_USEC", ""), env.get("WATCHDOG_PID", "")
        if usec.isdigit() and int(usec) > 0 and pid in ("", str(os.getpid())):
            self.interval_s = int(usec) / 1e6 / 2
        self._last_s = -math.inf

    def ready(self, status: str) -> None:
        """Says once that the unit judges."""
        self._send(f"READY=1\nSTATUS={status}")

    def alive(self, real_s: float) -> None:
        """Feeds the watchdog when half its interval has passed; `real_s` is unscaled monotonic."""
        if real_s - self._last_s >= self.interval_s / 2:
            self._last_s = real_s
            self._send("WATCHDOG=1")

    def stopping(self, status: str) -> None:
        """Says that the daemon ends of its own will."""
        self._send(f"STOPPING=1\nSTATUS={status}")

    def close(self) -> None:
        """Closes the socket; safe to call twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, message: str) -> None:
        if self._socket is None:
            return
        # A leading @ is an abstract socket, whose name begins with a zero byte (unix(7)).
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError):  # the manager went away: nobody is left to tell
            self._socket.sendto(message.encode(), address)
