"""What goes wrong, said as *where: what: what was expected.* and then what to do."""

from __future__ import annotations

import re

# C0 but for the tab and the line feed, DEL and C1, and what turns the direction of a text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """A text without what a terminal would take as an order, such as one that a stranger named."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class SledwardenError(Exception):
    """A fault that a person can act on; its text is the whole message, never a traceback."""

    def __init__(self, where: str, what: str, advice: str = "") -> None:
        self.where = where
        self.what = what
        self.advice = advice
        super().__init__(where, what, advice)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        return printable(f"{text} {self.advice}" if self.advice else text)


class UsageError(SledwardenError):
    """A command line that says too little or contradicts itself: exit code 2."""


class ConfigError(SledwardenError):
    """Every fault of a configuration or a law pack at once, one line each."""

    def __init__(self, where: str, faults: list[str], advice: str = "") -> None:
        self.faults = faults
        super().__init__(where, "\n".join(faults), advice)

    def __str__(self) -> str:
        lines = [f"{self.where}: {fault}" for fault in self.faults]
        return printable("\n".join([*lines, self.advice] if self.advice else lines))


class BusError(SledwardenError):
    """A wire that did not answer: the part, what the kernel said, and the likely cause."""


class DriveError(SledwardenError):
    """A ride script that can't be played: the file, its line, the word and what was expected."""


class JournalError(SledwardenError):
    """A journal that can't be written or read: the file, the offset and the reason."""


class ZoneError(SledwardenError):
    """A zone pack that can't be used: the file and the reason."""


class LawError(ConfigError):
    """A law pack that is refused whole: path, key and what was expected."""
