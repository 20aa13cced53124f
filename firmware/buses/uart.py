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
    errno.ENOENT: ("no {end} at this port.", "Plug it in, or set {key}."),
    errno.ENODEV: ("no {end} at this port.", "Plug it in, or set {key}."),
    errno.ENXIO: ("no {end} at this port.", "Plug it in, or set {key}."),
    errno.EISDIR: ("a folder, not a serial port.", "Set {key}."),
    errno.ENOTTY: ("not a serial port.", "Set {key}."),
    errno.EBUSY: ("held by another program.", "Stop it (often gpsd, or a login on this port)."),
    errno.EWOULDBLOCK: (
        "held by another program.",
        "Stop it (often gpsd, or a login on this port).",
    ),
    errno.EACCES: ("not ours to open.", "Add the unit's user to the group dialout."),
    errno.EPERM: ("not ours to open.", "Add the unit's user to the group dialout."),
    errno.EIO: ("the {end} was unplugged.", "Look at its plug and cable."),
    errno.EBADF: ("the port was closed.", ""),
}


_FAILED = ("the port failed: {said}.", "Look at its cable.")


def _number_of(error: Exception) -> int | None:
    """The errno: where configuring fails, only the exception beneath pyserial's has it."""
    beneath = error.__context__
    if isinstance(beneath, termios.error):
        number: int = beneath.args[0]
        return number
    return error.errno if isinstance(error, OSError) else None


class Uart:
    """An open serial port, 8 data bits, no parity, locked against other programs.

    Raises `BusError` where it can't be opened, and from `read` and `write` where it is lost; `end`
    is what is at its other end, `section` where the configuration speaks of it, for its words.
    """

    def __init__(
        self, port: str, baud: int, *, end: str = "receiver", section: str = "[gps]"
    ) -> None:
        self.port = port
        self._end = end
        self._key = f"{section} {'port' if section == '[gps]' else 'serial'}"
        try:
            self._serial = serial.Serial(port, baud, timeout=0, exclusive=True)
        except serial.SerialException as error:
            raise self._bus_error(_number_of(error), str(error)) from error
        except OSError as error:
            raise self._lost(error) from error
        except ValueError as error:
            raise BusError(port, f"baud rate {baud}: {error}.", f"Set {section} baud.") from error
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
            raise self._lost(error) from error
        if not octets:
            # Ready, and nothing there: the other end has hung up.
            raise self._bus_error(errno.EIO, "hung up")
        return octets

    def set_baud(self, baud: int) -> None:
        """Goes on at another baud rate; raises `BusError` where the port can't."""
        try:
            self._serial.baudrate = baud
        except (serial.SerialException, ValueError) as error:
            raise self._bus_error(_number_of(error), str(error)) from error

    def fileno(self) -> int:
        """The descriptor, for who waits for several lines at once."""
        return self._descriptor

    def write(self, octets: bytes) -> int:
        """How many of the bytes the line took at once; 0 where it is full."""
        try:
            return os.write(self._descriptor, octets)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> BusError:
        return self._bus_error(error.errno, os.strerror(error.errno or 0))

    def _bus_error(self, number: int | None, said: str) -> BusError:
        """The errno of a serial port as a sentence, with what to do."""
        what, advice = _WHAT.get(number or 0, _FAILED)
        words = {"end": self._end, "key": self._key, "said": said}
        return BusError(self.port, what.format(**words), advice.format(**words))

    def close(self) -> None:
        """Frees the port; safe to call twice."""
        self._serial.close()
