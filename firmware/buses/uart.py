"""A serial port, read as bytes come; the only file that imports pyserial.

pyserial opens, locks and configures the port. Reading is done on the descriptor itself: pyserial's
`readline` costs a `select` and a `read` for each byte.
"""

from __future__ import annotations

import errno
import os
import select
import termios

import serial

from firmware.errors import BusError

READ_BYTES = 4096  # what the kernel's line discipline holds (N_TTY_BUF_SIZE)

_WHAT = {
    errno.ENOENT: ("no receiver at this port.", "Plug it in, or set [gps] port."),
    errno.ENODEV: ("no receiver at this port.", "Plug it in, or set [gps] port."),
    errno.ENXIO: ("no receiver at this port.", "Plug it in, or set [gps] port."),
    errno.EISDIR: ("a folder, not a serial port.", "Set [gps] port."),
    errno.ENOTTY: ("not a serial port.", "Set [gps] port."),
    errno.EBUSY: ("held by another program.", "Stop it (often gpsd, or a login on this port)."),
    errno.EWOULDBLOCK: (
        "held by another program.",
        "Stop it (often gpsd, or a login on this port).",
    ),
    errno.EACCES: ("not ours to open.", "Add the unit's user to the group dialout."),
    errno.EPERM: ("not ours to open.", "Add the unit's user to the group dialout."),
    errno.EIO: ("the receiver was unplugged.", "Look at its plug and cable."),
    errno.EBADF: ("the port was closed.", ""),
}


def _bus_error(port: str, number: int | None, said: str) -> BusError:
    """The errno of a serial port as a sentence, with what to do."""
    what, advice = _WHAT.get(number or 0, (f"the port failed: {said}.", "Look at its cable."))
    return BusError(port, what, advice)


class Uart:
    """An open serial port, 8 data bits, no parity, locked against other programs.

    Raises `BusError` where it can't be opened, and from `read` where it is lost.
    """

    def __init__(self, port: str, baud: int) -> None:
        self.port = port
        try:
            self._serial = serial.Serial(port, baud, timeout=0, exclusive=True)
        except serial.SerialException as error:
            # Where configuring fails, only the exception beneath this one has the errno.
            beneath = error.__context__
            number = beneath.args[0] if isinstance(beneath, termios.error) else error.errno
            raise _bus_error(port, number, str(error)) from error
        except OSError as error:
            raise _bus_error(port, error.errno, os.strerror(error.errno or 0)) from error
        except ValueError as error:
            raise BusError(port, f"baud rate {baud}: {error}.", "Set [gps] baud.") from error
        self._descriptor: int = self._serial.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def read(self, timeout_s: float) -> bytes:
        """All bytes that have come, as soon as there are any; none after `timeout_s`."""
        try:
            if not self._poll.poll(max(1.0, timeout_s * 1000.0)):
                return b""
            octets = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise _bus_error(self.port, error.errno, os.strerror(error.errno or 0)) from error
        if not octets:
            # Ready, and nothing there: the other end has hung up.
            raise _bus_error(self.port, errno.EIO, "hung up")
        return octets

    def close(self) -> None:
        """Frees the port; safe to call twice."""
        self._serial.close()
