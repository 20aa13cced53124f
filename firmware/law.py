"""The law as data: clauses with their citation, figures, coverage and exemptions.

A pack is one TOML file in `laws/`. Python is needed for a *kind* of clause only; another state is
another file. A pack is refused whole when anything in it is wrong, with the path of the key.
"""

from __future__ import annotations

import hashlib
import tomllib
from datetime import date, time
from pathlib import Path
from typing import Any, Final, Literal, get_args

import msgspec

from firmware.errors import LawError
from firmware.files import CONFIG_BYTES, whole
from firmware.law_places import Entry, Season, Signs, faults_of
from firmware.maps.packs import KINDS
from firmware.parts import PARTS
from firmware.units import metres

FOLDER = Path(__file__).parent / "laws"

REFUSED = "The whole pack is refused."

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
    Where there is a `season`, it holds on those days alone.
    `lifted_by` are the modes that lift it; `demanded_by` are the modes that alone demand it.
    `in_force_from` and `in_force_to` are the days of its wording, where the text tells them; they
    are told, and no verdict hangs on them.
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
    road: RoadPart | Literal[""] = ""
    reach_ft: float | None = None
    notice: str = ""
    under_age: int | None = None
    lifted_by: tuple[Mode, ...] = ()
    demanded_by: tuple[Mode, ...] = ()


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A pack: whose law it is, when it was checked against its text, and its clauses."""

    id: str
    title: str
    jurisdiction: str
    checked_on: date
    clause: tuple[Clause, ...]

    def find(self, citation: str) -> Clause | None:
        """The clause of that citation, written as in the law; None where the pack has none."""
        return next((one for one in self.clause if one.citation == citation), None)


def path_of(word: str) -> Path:
    """The file of a law named by its word (`wi`) or by a path that ends in .toml."""
    return Path(word) if word.endswith(".toml") else FOLDER / f"{word}.toml"


def load(word: str) -> Law:
    """Reads a pack and checks it; raises LawError with every fault that was found."""
    path = path_of(word)
    try:
        text = whole(path, "a law pack", CONFIG_BYTES, _fault)
    except OSError as error:
        known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.toml")))
        raise LawError(
            str(path), [f"can't be read ({error.strerror})."], f"Laws that are here: {known}."
        ) from error
    return parse(text, str(path))


def _fault(where: str, what: str) -> LawError:
    return LawError(where, [what])


def parse(text: bytes, where: str) -> Law:
    """Checks a pack's text; `where` names it in the faults."""
    try:
        table = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LawError(where, [f"{error}."], REFUSED) from error
    clauses, faults = _clauses(table.get("clause"))
    try:
        law = msgspec.convert({**table, "clause": []} if clauses or faults else table, Law)
    except msgspec.ValidationError as error:
        raise LawError(where, [f"{error}.", *faults], REFUSED) from error
    if not clauses and not faults:
        faults = ["clause: there must be at least one."]
    if faults:
        raise LawError(where, faults, REFUSED)
    return msgspec.structs.replace(law, clause=tuple(clauses))


def digest(word: str) -> str:
    """SHA-256 of a pack's file, for the journal."""
    return hashlib.sha256(path_of(word).read_bytes()).hexdigest()


def _clauses(tables: Any) -> tuple[list[Clause], list[str]]:
    """The clauses of a pack one by one, and what is wrong with each; a pack that has no list of
    them gives nothing."""
    clauses: list[Clause] = []
    faults: list[str] = []
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        return clauses, faults
    seen: set[str] = set()
    for number, table in enumerate(tables, 1):
        name = f"[{table.get('citation', f'clause {number}')}]"
        try:
            clause = msgspec.convert(table, Clause)
        except msgspec.ValidationError as error:
            faults.append(f"{name} {error}.")
            continue
        clauses.append(clause)
        faults += [f"{name} {fault}" for fault in _faults(clause)]
        if clause.citation in seen:
            faults.append(f"{name} stands twice: each citation must stand once.")
        seen.add(clause.citation)
    return clauses, faults


def _faults(clause: Clause) -> list[str]:
    """What a clause lacks for the rule that its `kind` names."""
    kind, when = clause.kind, clause.when
    faults = []
    if kind and kind not in PARTS["rule"]:
        faults.append(f"kind = {kind}: must be one of {', '.join(sorted(PARTS['rule']))}.")
    if kind == "advisory" and clause.coverage != "INFORM":
        faults.append("kind = advisory: only INFORM clauses are advice.")
    elif kind and kind != "advisory" and clause.coverage not in ("MONITORED", "ZONE"):
        faults.append(f"kind = {kind}: only MONITORED and ZONE clauses have a kind.")
    if kind and clause.applies_to not in VEHICLES:
        faults.append(
            f"applies_to = {clause.applies_to}: must be one of {', '.join(VEHICLES)} "
            "for a clause that is judged."
        )
    if kind == "lamp" and not clause.lamp:
        faults.append("lamp: must be head or tail for a lamp clause.")
    elif kind == "lamp" and when == "clock":
        faults.append("when = clock: a lamp clause is judged in darkness or always.")
    if kind == "curfew" and when != "clock":
        faults.append(f"when = {when}: a curfew is judged by the clock.")
    if kind == "road_network" and not clause.road:
        faults.append(f"road: must be one of {', '.join(ROAD_PARTS)} for a road_network clause.")
    if kind == "advisory" and not 0 < (clause.reach_ft or 0.0) <= 5000:
        faults.append("reach_ft: must be above 0 and at most 5000 for advice on stopping.")
    if kind == "zone_speed" and when == "darkness":
        faults.append(f"when = {when}: a zone_speed clause is judged always or by the clock.")
    if kind == "tether" and when != "always":
        faults.append(f"when = {when}: a tether clause is judged always.")
    faults += faults_of(kind, clause.entry, clause.signs, clause.season)
    return (
        faults
        + _limit_faults(clause)
        + _window_faults(clause)
        + _near_faults(clause)
        + _notice_faults(clause)
    )


def _limit_faults(clause: Clause) -> list[str]:
    """What is wrong with the speed limit of a clause, or with the roads that it holds on."""
    kind, limit = clause.kind, clause.limit
    faults = []
    if kind in SPEED_KINDS and limit is None and not clause.limit_from:
        faults.append("limit: must be there for a clause on speed.")
    if limit is not None and clause.limit_from:
        faults.append("limit: must not be there beside limit_from.")
    if clause.limit_from == "posted" and kind != "road_speed":
        faults.append("limit_from = posted: only a road_speed clause goes by the road's limit.")
    if limit is not None and not 0 < limit.value <= 200:
        faults.append(f"limit = {limit.value}: must be above 0 and at most 200.")
    for name in ("posted_over", "posted_up_to"):
        posted = getattr(clause, name)
        if posted is None:
            continue
        if kind != "road_speed" or limit is None:
            faults.append(f"{name}: must stand in a road_speed clause with a limit.")
        elif not 0 < posted <= 200:
            faults.append(f"{name} = {posted}: must be above 0 and at most 200.")
    return faults


def _notice_faults(clause: Clause) -> list[str]:
    """What is wrong with what the glass says of a clause."""
    lines = clause.notice.split("\n")
    faults = []
    if clause.notice and clause.coverage != "INFORM":
        faults.append("notice: only an INFORM clause has one.")
    if clause.notice and (len(lines) > 2 or not all(0 < len(one) <= 16 for one in lines)):
        faults.append("notice: must be one or two lines of 1 to 16 letters.")
    if not clause.notice.isascii():
        faults.append("notice: must have no letters but those of ASCII, which the glass draws.")
    if clause.under_age is not None and not (clause.notice and 0 < clause.under_age <= 99):
        faults.append("under_age: must be 1 to 99, and stand beside a notice.")
    return faults


def _window_faults(clause: Clause) -> list[str]:
    """What is wrong with the hours of a clause."""
    if not 0 <= clause.sun_offset_min <= 60:
        return [f"sun_offset_min = {clause.sun_offset_min}: must be 0 to 60."]
    if clause.when != "clock":
        return []
    if clause.from_time is None or clause.to_time is None:
        return ["from_time and to_time: must be there where when = clock."]
    if clause.from_time.tzinfo is not None or clause.to_time.tzinfo is not None:
        return ["from_time and to_time: must be local times, without a zone."]
    if clause.from_time == clause.to_time:
        return ["from_time and to_time: must differ."]
    return []


def _near_faults(clause: Clause) -> list[str]:
    """What is wrong with the things on the map that a clause speaks of."""
    faults = []
    if clause.kind == "zone_speed" and not any(near.kinds for near in clause.near):
        faults.append("near: must name the kinds of a zone_speed clause.")
    for near in clause.near:
        if (near.within_ft is None) is (near.within_m is None):
            faults.append("near: must have within_ft or within_m, and not both.")
        elif near.within_ft is not None and not 0 < near.within_ft <= 5000:
            faults.append(f"within_ft = {near.within_ft}: must be above 0 and at most 5000.")
        elif near.within_m is not None and not 0 < near.within_m <= 1500:
            faults.append(f"within_m = {near.within_m}: must be above 0 and at most 1500.")
    named = [kind for near in clause.near for kind in near.kinds] + [clause.on] * bool(clause.on)
    return faults + [
        f"kind of zone {kind}: must be one of {', '.join(sorted(KINDS))}."
        for kind in named
        if kind not in KINDS
    ]
