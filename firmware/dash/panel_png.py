"""The glass as a picture file, four dots for each, for documents and tests."""

from __future__ import annotations

import logging
from pathlib import Path

from PIL import Image

from firmware.dash.base import Fitting, Panel
from firmware.files import refuse_to_replace
from firmware.state import State

SCALE = 4

_log = logging.getLogger(__name__)


class Png:
    """Writes each new picture over the last one, whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last = b""
        self._is_told = False

    @classmethod
    def fit(cls, fitting: Fitting) -> Panel:
        refuse_to_replace(fitting.png)
        return cls(fitting.png)

    def show(self, picture: Image.Image, state: State | None, trouble: str) -> None:
        """Writes the picture where it has changed; a folder that refuses it is logged once."""
        dots = picture.tobytes()
        if dots == self._last:
            return
        draft = self.path.with_name(f".{self.path.name}.part")
        try:
            large = picture.resize((picture.width * SCALE, picture.height * SCALE))
            large.save(draft, format="PNG")
            draft.replace(self.path)
        except OSError as fault:
            if not self._is_told:
                _log.error("%s: can't be written: %s", self.path, fault.strerror or fault)
            self._is_told = True
            return
        self._last, self._is_told = dots, False

    def stop(self) -> None:
        """Leaves the last picture: a file is no glass that a rider looks at."""
