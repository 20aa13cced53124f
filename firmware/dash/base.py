"""What a panel is: something that shows the glass's picture, and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from firmware.state import State


@dataclass(frozen=True, slots=True)
class Fitting:
    """How a panel is reached: all that any of them may need to be told."""

    bus: int = 1
    address: int = 0x3C
    png: Path = Path("glass.png")
    note: str = ""


class Panel(Protocol):
    """A panel, made by `fit`, shown each new picture, and left dark by `stop`."""

    @classmethod
    def fit(cls, fitting: Fitting) -> Panel:
        """The panel so reached; one that does not answer yet is no error."""

    def show(self, picture: Image.Image, state: State | None, trouble: str) -> None:
        """Shows the picture; never raises for a panel that is missing or broken.

        `state` is what was drawn, absent when the unit is not heard; `trouble` then says why.
        """

    def stop(self) -> None:
        """Leaves nothing that looks alive; safe to call twice."""
