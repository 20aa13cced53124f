"""Says once, while the sled stands after its start, that a zone pack is over a year old.

Houses are built and shanties move: an old pack is not wrong everywhere, and nobody sees where. It
is told on the glass, and judged by as before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Final

from firmware.maps.packs import OLD_DAYS, age_days
from firmware.readings import Missing, Surroundings

SHOWN_S: Final = 10.0


@dataclass(slots=True)
class PackAge:
    """Told what lies near, the day, and motion; asked for the words, "" where there are none.

    It waits for the first reading and for the date. A sled that rides off is not told.
    """

    words: str = ""
    _is_decided: bool = False
    _since_s: float = math.inf

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be shown, now or later."""
        return self._is_decided and not self.words

    def follow(
        self,
        at_s: float,
        around: Surroundings | Missing,
        today: date | None,
        is_moving: bool | None,
    ) -> None:
        """Decides whether it is to be told, and when that has been."""
        if self.words and (is_moving or at_s >= self.due_s()):
            self.words, self._since_s = "", math.inf
        if self._is_decided or today is None or isinstance(around, Missing):
            return
        self._is_decided = True
        ages = [age_days(dated, today) for dated in around.dated]
        oldest = max((age for age in ages if age is not None), default=0)
        if oldest > OLD_DAYS and not is_moving:
            # Two lines of 16 letters, as the glass has them.
            self.words, self._since_s = f"ZONE MAP IS OLD:\n{oldest} DAYS", at_s

    def due_s(self) -> float:
        """When the words go."""
        return self._since_s + SHOWN_S
