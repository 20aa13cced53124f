"""What a clause is: one paragraph of a law, as data."""

from __future__ import annotations

from datetime import date, time
from typing import Final, Literal, get_args

import msgspec

from firmware.law.places import Entry, Season, Signs
from firmware.units import metres

Coverage = Literal["MONITORED", "ZONE", "INSPECTED", "MODE", "INFORM", "OUT"]
COVERAGES: tuple[str, ...] = get_args(Coverage)
Mode = Literal["race", "maker_test", "family_land"]

MODES: Final[tuple[str, ...]] = get_args(Mode)
"""What a rider may declare, where a law lifts or demands something for it."""

RoadPart = Literal[
    "jurisdiction", "connecting", "signals", "barred", "authorized", "prohibited", "allowed"
]
ROAD_PARTS: Final[tuple[str, ...]] = get_args(RoadPart)
"""What a road_network clause judges: the road's limit and who maintains it; a connecting highway;
crossing a state trunk or connecting highway; crossing one that may never be crossed; that nothing
else is allowed; an ordinance that prohibits; an ordinance that allows."""

PLAIN_LETTERS: Final = 96
"""The most of what a rider is told of a paragraph: one line."""

VEHICLES: Final = ("snowmobile", "low_speed_vehicle", "motor_vehicle")
"""What a clause that is judged may bind; one of them is the unit's own."""


SPEED_KINDS: Final = ("speed_limit", "zone_speed", "road_speed")


class Number(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure of a paragraph: `in_text` is false where it is derived or from an outside rule."""

    op: str
    value: float | str
    unit: str
    of: str
    in_text: bool = True


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A speed limit; passed only when *exceeded*, so the figure itself still keeps it."""

    value: float
    unit: Literal["mph", "km/h"] = "mph"


class Near(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The things whose neighbourhood a clause speaks of, and how far that reaches: in feet or, in
    a law that counts so, in metres."""

    kinds: tuple[str, ...]
    within_ft: float | None = None
    within_m: float | None = None

    @property
    def reach_m(self) -> float:
        """The distance in metres, whichever way the law writes it."""
        return self.within_m if self.within_m is not None else metres(self.within_ft or 0.0)


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One paragraph: what it asks, of whom, and how the unit covers it.

    `kind` names the rule that judges it live; paragraphs that are not judged live have none.
    `when` says at which hours it applies: `darkness` by the sun and the light, `clock` from
    `from_time` to `to_time` of local civil time (past midnight where `to_time` is the earlier).
    Darkness begins `sun_offset_min` after sunset and ends as long before sunrise. Where there is a
    `season`, it holds on those days alone.
    `lifted_by` are the modes that lift it; `demanded_by` are the modes that alone demand it.
    `in_force_from` and `in_force_to` are the days of its wording, where the text tells them; they
    are told, and no verdict hangs on them.

    `limit_from` says where the limit stands when the paragraph has no figure: `keep_moving` is the
    config's own figure for "the minimum speed to keep moving", `posted` the road's. `posted_over`
    and `posted_up_to` bind a clause to roads by their posted limit, in the unit of `limit`.
    `accuses = false` makes the clause advice: at most `unsure`, never a violation.
    `road` is which part of the rules for low-speed vehicles on highways it is (`ROAD_PARTS`).
    `exempt_aged` lets off sleds of model years so many years back and more, by `[unit] year`.
    `reach_ft` is how far the head lamp must show, for advice on stopping.
    `notice` is what the glass says of it once a day, in at most two lines of 16 letters;
    `shown_with` names the paragraph whose notice tells it too. `under_age` limits a notice to
    riders who are younger, or whose date of birth is not known.
    """

    citation: str
    title: str
    plain: str
    requirement: str
    applies_to: str
    coverage: Coverage
    how: str
    source: str
    numbers: tuple[Number, ...] = ()
    exemptions: tuple[str, ...] = ()
    in_force_from: date | None = None
    in_force_to: date | None = None
    kind: str = ""
    when: Literal["always", "darkness", "clock"] = "always"
    sun_offset_min: int = 30
    from_time: time | None = None
    to_time: time | None = None
    limit: Limit | None = None
    limit_from: Literal["", "keep_moving", "posted"] = ""
    posted_over: float | None = None
    posted_up_to: float | None = None
    accuses: bool = True
    near: tuple[Near, ...] = ()
    on: str = ""
    entry: Entry | None = None
    signs: Signs | None = None
    season: Season | None = None
    lamp: Literal["", "head", "tail"] = ""
    exempt_aged: int | None = None
    road: RoadPart | Literal[""] = ""
    reach_ft: float | None = None
    notice: str = ""
    shown_with: str = ""
    under_age: int | None = None
    lifted_by: tuple[Mode, ...] = ()
    demanded_by: tuple[Mode, ...] = ()

    @property
    def has_hours(self) -> bool:
        """Whether it may hold at some civil times and not at others: by hours, or by days."""
        by_days = self.season is not None or self.entry is not None or self.exempt_aged is not None
        return self.when == "clock" or by_days
