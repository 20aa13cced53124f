"""Ends a program together with the one that started it, however that one ended."""

from __future__ import annotations

import os
import signal
import threading

FLAG = "--until-stdin-closes"

HELP = "end in order once standard input closes: for a program that starts this one on a pipe"


def hold(descriptor: int = 0) -> None:
    """Sends this program SIGTERM once the other end of its standard input is closed.

    Who starts it keeps the pipe's other end; the kernel closes that one even after a SIGKILL.
    """
    threading.Thread(target=_wait, args=(descriptor,), name="leash", daemon=True).start()


def _wait(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass  # what is said on it means nothing
    except OSError:
        pass  # it was closed from the first
    os.kill(os.getpid(), signal.SIGTERM)
