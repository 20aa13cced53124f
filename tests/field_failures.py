"""The single cases of `data/field_failures.json`: how other such products failed in the field.

Each has the public thread that it is known from, an input and the right answer, derived by hand;
facts of public bug reports, in our own words, under this repository's licence.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "data" / "field_failures.json"


@dataclass(frozen=True)
class Case:
    """One failure: `given` is its input, `expected` the right answer in words or figures."""

    id: str
    kind: str
    title: str
    thread: str
    given: dict[str, Any]
    expected: Any

    def __str__(self) -> str:
        return f"{self.id} {self.title}"

    @property
    def octets(self) -> bytes:
        """The bytes of a receiver, where they are the input."""
        if "bytes_hex" in self.given:
            return bytes.fromhex(self.given["bytes_hex"])
        return str(self.given["bytes"]).encode("ascii")


def all_cases() -> list[Case]:
    """Every case, in the file's order."""
    return [
        Case(
            one["id"],
            one["kind"],
            one["title"],
            f"{one['repo']}{one['thread']}",
            one["input"],
            one["expected"],
        )
        for one in json.loads(PATH.read_text(encoding="utf-8"))
    ]


def cases_of(kinds: Collection[str]) -> list[Case]:
    """The cases of these kinds."""
    return [one for one in all_cases() if one.kind in kinds]
