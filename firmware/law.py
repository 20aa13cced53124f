"""The law as data: clauses with their citation, figures, coverage and exemptions.

A pack is one TOML file in `laws/`. Python is needed for a *kind* of clause only; another state is
another file. A pack is refused whole when anything in it is wrong, with the path of the key.
"""

from __future__ import annotations

import hashlib
import tomllib
from datetime import date, time
from pathlib import Path
from typing import Literal

import msgspec

from firmware.errors import LawError
from firmware.zones import KINDS

FOLDER = Path(__file__).parent / "laws"

Coverage = Literal["MONITORED", "ZONE", "INSPECTED", "MODE", "INFORM", "OUT"]


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
    """The things whose neighbourhood a clause speaks of, and how far that reaches."""

    kinds: tuple[str, ...]
    within_ft: float


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One paragraph: what it asks, of whom, and how the unit covers it.

    `kind` names the rule that judges it live; paragraphs that are not judged live have none.
    `when` says at which hours it applies: `darkness` by the sun and the light, `clock` from
    `from_time` to `to_time` of local civil time (past midnight where `to_time` is the earlier).
    `lifted_by` are the modes that lift it; `demanded_by` are the modes that alone demand it.
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
    kind: str = ""
    when: Literal["always", "darkness", "clock"] = "always"
    from_time: time | None = None
    to_time: time | None = None
    limit: Limit | None = None
    near: tuple[Near, ...] = ()
    on: str = ""
    lamp: Literal["", "head", "tail"] = ""
    lifted_by: tuple[str, ...] = ()
    demanded_by: tuple[str, ...] = ()


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
        text = path.read_bytes()
    except OSError as error:
        known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.toml")))
        raise LawError(
            str(path), [f"can't be read ({error.strerror})."], f"Laws that are here: {known}."
        ) from error
    return parse(text, str(path))


def parse(text: bytes, where: str) -> Law:
    """Checks a pack's text; `where` names it in the faults."""
    try:
        law = msgspec.convert(tomllib.loads(text.decode()), Law)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise LawError(where, [f"{error}."], "The whole pack is refused.") from error
    faults = [f"[{clause.citation}] {fault}" for clause in law.clause for fault in _faults(clause)]
    seen: set[str] = set()
    for clause in law.clause:
        if clause.citation in seen:
            faults.append(f"[{clause.citation}] stands twice: each citation must stand once.")
        seen.add(clause.citation)
    if faults:
        raise LawError(where, faults, "The whole pack is refused.")
    return law


def digest(word: str) -> str:
    """SHA-256 of a pack's file, for the journal."""
    return hashlib.sha256(path_of(word).read_bytes()).hexdigest()


def _faults(clause: Clause) -> list[str]:
    """What a clause lacks for the rule that its `kind` names."""
    faults = []
    if clause.kind and clause.coverage not in ("MONITORED", "ZONE"):
        faults.append(f"kind = {clause.kind}: only MONITORED and ZONE clauses have a kind.")
    if clause.kind in ("speed_limit", "zone_speed") and clause.limit is None:
        faults.append("limit: must be there for a clause on speed.")
    if clause.limit is not None and not 0 < clause.limit.value <= 200:
        faults.append(f"limit = {clause.limit.value}: must be above 0 and at most 200.")
    if clause.when == "clock" and (clause.from_time is None or clause.to_time is None):
        faults.append("from_time and to_time: must be there where when = clock.")
    if clause.kind == "zone_speed" and not clause.near:
        faults.append("near: must name the kinds of a zone_speed clause.")
    if clause.kind == "lamp" and not clause.lamp:
        faults.append("lamp: must be head or tail for a lamp clause.")
    named = [kind for near in clause.near for kind in near.kinds] + [clause.on] * bool(clause.on)
    faults += [
        f"kind of zone {kind}: must be one of {', '.join(sorted(KINDS))}."
        for kind in named
        if kind not in KINDS
    ]
    return faults
