"""A model of the SSD1309 panel, for the fake bus."""

from __future__ import annotations

from typing import ClassVar


class Ssd1309Model:
    """Solomon Systech SSD1309, 128 x 64: commands, three ways of addressing, and its picture.

    Commands: data sheet ch. 9-10. A write begins with its control byte: 0x00 commands, 0x40
    picture. Scrolling and the graphic commands are not modelled.
    """

    _ARGUMENTS: ClassVar[dict[int, int]] = {
        0x20: 1, 0x21: 2, 0x22: 2, 0x81: 1, 0x8D: 1, 0xA8: 1,
        0xD3: 1, 0xD5: 1, 0xD9: 1, 0xDA: 1, 0xDB: 1, 0xFD: 1,
    }  # fmt: skip  # a table reads better in rows

    def __init__(self) -> None:
        self.memory = bytearray(128 * 8)
        self.is_on = False
        self.contrast = 0x7F
        self.writes = 0
        self._is_inverse = False
        self._is_remapped = False
        self._scans_down = False
        self._mode = 2
        self._columns = (0, 127)
        self._pages = (0, 7)
        self._column = 0
        self._page = 0
        self._pending: list[int] = []

    def write(self, payload: bytes) -> None:
        control, values = payload[0], payload[1:]
        if control & 0x40:
            self.writes += 1
            for value in values:
                self._draw(value)
        else:
            self._pending.extend(values)
            self._obey()

    def read(self, count: int) -> bytes:
        return bytes([0x00 if self.is_on else 0x40]) * count  # the status: bit 6 is display off

    def rows(self) -> list[list[bool]]:
        """What the rider sees: 64 rows of 128 lit or dark points, all dark when switched off."""
        return [[self._is_lit(x, y) for x in range(128)] for y in range(64)]

    def pbm(self) -> bytes:
        """The same picture as a portable bitmap (1 is a lit point)."""
        body = bytearray()
        for row in self.rows():
            for x in range(0, 128, 8):
                body.append(sum(1 << 7 - bit for bit in range(8) if row[x + bit]))
        return b"P4\n128 64\n" + bytes(body)

    def _is_lit(self, x: int, y: int) -> bool:
        # Mounted as modules are: segment remap and downward scan show column 0, row 0 top left.
        column = x if self._is_remapped else 127 - x
        row = y if self._scans_down else 63 - y
        bit = bool(self.memory[row // 8 * 128 + column] >> row % 8 & 1)
        return self.is_on and bit != self._is_inverse

    def _obey(self) -> None:
        while self._pending:
            command = self._pending[0]
            count = self._ARGUMENTS.get(command, 0)
            if len(self._pending) <= count:
                return
            arguments = self._pending[1 : 1 + count]
            del self._pending[: 1 + count]
            self._command(command, arguments)

    def _command(self, command: int, arguments: list[int]) -> None:
        if command == 0x20:
            self._mode = arguments[0] & 0x03
        elif command == 0x21:
            self._columns = (arguments[0] & 0x7F, arguments[1] & 0x7F)
            self._column = self._columns[0]
        elif command == 0x22:
            self._pages = (arguments[0] & 0x07, arguments[1] & 0x07)
            self._page = self._pages[0]
        elif command == 0x81:
            self.contrast = arguments[0]
        elif command in (0xAE, 0xAF):
            self.is_on = command == 0xAF
        elif command in (0xA0, 0xA1):
            self._is_remapped = command == 0xA1
        elif command in (0xA6, 0xA7):
            self._is_inverse = command == 0xA7
        elif command in (0xC0, 0xC8):
            self._scans_down = command == 0xC8
        elif self._mode == 2:
            self._point(command)

    def _point(self, command: int) -> None:
        if command <= 0x0F:
            self._column = self._column & 0x70 | command
        elif command <= 0x1F:
            self._column = self._column & 0x0F | (command & 0x07) << 4
        elif 0xB0 <= command <= 0xB7:
            self._page = command & 0x07

    def _draw(self, value: int) -> None:
        self.memory[self._page * 128 + self._column] = value
        if self._mode == 2:
            self._column = (self._column + 1) % 128
        elif self._mode == 0:
            self._column, has_wrapped = _step(self._column, self._columns)
            if has_wrapped:
                self._page, _ = _step(self._page, self._pages)
        else:
            self._page, has_wrapped = _step(self._page, self._pages)
            if has_wrapped:
                self._column, _ = _step(self._column, self._columns)


def _step(value: int, window: tuple[int, int]) -> tuple[int, bool]:
    return (window[0], True) if value >= window[1] else (value + 1, False)
