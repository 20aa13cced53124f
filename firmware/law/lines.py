"""On which line of a law pack a key stands, for its faults alone: a good pack is never scanned.

`tomllib` keeps no lines. This walks a text that it has read without a fault, so that nothing but
where a key, a value's end and a bracket stand has to be known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Path = tuple[str | int, ...]

_BLANK = " \t\r"


@dataclass(slots=True)
class Lines:
    """The line of each key and element of a text, from 1."""

    text: str
    at: int = 0
    line: int = 1
    found: dict[Path, int] = field(default_factory=dict)

    def of(self, *path: str | int) -> int:
        """The line of a key, of the nearest thing around it that has one, or else the first."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.found:
                return self.found[path[:length]]
        return 1

    def named(self, path: Path, key: str) -> Path:
        """The first key of that name within a table, and the table itself where it has none."""
        inside = (one for one in self.found if one[: len(path)] == path and one[-1] == key)
        return next(inside, path)

    def scan(self) -> Lines:
        """Walks the whole text once; returns itself."""
        table: Path = ()
        counts: dict[str, int] = {}
        while self._skip(_BLANK + "\n"):
            if self.text[self.at] != "[":
                self._pair(table)
                continue
            line = self.line
            is_array = self.text.startswith("[[", self.at)
            end = self.text.index("]", self.at)
            name = self.text[self.at : end].strip("[ \t")
            table = tuple(part.strip(" \t\"'") for part in name.split("."))
            if is_array:
                counts[name] = counts.get(name, -1) + 1
                table = (*table, counts[name])
            self.found[table] = line
            self._move(end + (2 if is_array else 1))
        return self

    def _pair(self, table: Path) -> None:
        """A key and its value."""
        line, begins = self.line, self.at
        end = self.text.index("=", begins)
        key = self.text[begins:end].strip(" \t\"'")
        path = (*table, key)
        self.found.setdefault(path, line)
        self._move(end + 1)
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip(_BLANK)
        match self.text[self.at]:
            case "[":
                self._array(path)
            case "{":
                self._inline(path)
            case '"' | "'" as mark:
                self._string(mark)
            case _:
                end = self.at
                while end < len(self.text) and self.text[end] not in ",]}#\n":
                    end += 1
                self._move(end)

    def _array(self, path: Path) -> None:
        self._move(self.at + 1)
        number = 0
        while self._skip(_BLANK + "\n,") and self.text[self.at] != "]":
            self.found[*path, number] = self.line
            self._value((*path, number))
            number += 1
        self._move(self.at + 1)

    def _inline(self, path: Path) -> None:
        self._move(self.at + 1)
        while self._skip(_BLANK + "\n,") and self.text[self.at] != "}":
            self._pair(path)
        self._move(self.at + 1)

    def _string(self, mark: str) -> None:
        closing = mark * 3 if self.text.startswith(mark * 3, self.at) else mark
        end = self.at + len(closing)
        while not self.text.startswith(closing, end):
            end += 2 if mark == '"' and self.text[end] == "\\" else 1
        end += len(closing)
        while len(closing) == 3 and self.text.startswith(mark, end):
            end += 1  # one or two more may stand before the closing three
        self._move(end)

    def _skip(self, letters: str) -> bool:
        """Goes on over these letters and over remarks; whether anything is left."""
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif letter in letters:
                self._move(self.at + 1)
            else:
                return True
        return False

    def _move(self, to: int) -> None:
        self.line += self.text.count("\n", self.at, to)
        self.at = to
