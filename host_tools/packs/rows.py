"""One feature on its way into a zone pack: its words, checked before they are packed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from firmware.maps.packs import KINDS, STRUCK, attributes_of

Box = tuple[float, float, float, float]
"""West, south, east, north in degrees."""

_MOST_EXACT = 2**53  # whole numbers above this may have been rounded on the way
_DATED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_EMPTY: Final = frozenset({"", "null", "NULL"})


@dataclass(frozen=True, slots=True)
class Origin:
    """What is said of the features of a file that don't say it themselves."""

    kind: str | None = None
    source: str | None = None
    licence: str | None = None
    dated: str | None = None
    confidence: str | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """The columns of a feature but its geometry; `has_own_id` is false where the id was made of
    the file's name and the feature's number in it."""

    kind: str
    id: str
    name: str | None
    source: str
    licence: str | None
    dated: str | None
    confidence: str | None
    attributes: str | None
    has_own_id: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One feature of a pack; `blob` is its GeoPackage geometry, absent only where it is struck.

    `file` and `number` (from 1) tell where it was read.
    """

    file: str
    number: int
    blob: bytes | None
    box: Box | None
    words: Words

    @property
    def where(self) -> str:
        return f"{self.file}: feature {self.number}"


def words_of(file: str, number: int, told: Mapping[str, Any], origin: Origin) -> Words:
    """The columns of a feature but its geometry, of its properties; its kind and id are there.

    Raises ValueError that says what is wrong with them.
    """
    words = {name: _word(name, value) for name, value in told.items() if name != "attributes"}
    kind = words.get("kind") or origin.kind
    if kind is None:
        raise ValueError("has no property `kind`: give it one, or say --kind")
    if kind not in KINDS:
        raise ValueError(f"kind = {kind}: must be one of {', '.join(KINDS)}")
    dated = words.get("dated") or origin.dated
    if dated is not None and not is_date(dated):
        raise ValueError(f"dated = {dated}: must be a date like 2026-01-31, 2026-01 or 2026")
    confidence = words.get("confidence") or origin.confidence
    if confidence == STRUCK and not words.get("id"):
        raise ValueError(
            "confidence = struck: must have the `id` of the feature that it takes away"
        )
    name = _name(file)
    return Words(
        kind=kind,
        id=words.get("id") or f"{name.split('.')[0]}-{number}",
        name=words.get("name"),
        source=words.get("source") or origin.source or name,
        licence=words.get("licence") or origin.licence,
        dated=dated,
        confidence=confidence,
        attributes=_attributes(told.get("attributes")),
        has_own_id=words.get("id") is not None,
    )


@lru_cache(maxsize=64)
def _name(file: str) -> str:
    return Path(file).name


@lru_cache(maxsize=1024)
def is_date(text: str) -> bool:
    """Whether a word is a date as far as it is known: a day, a month or a year."""
    if not _DATED.fullmatch(text):
        return False
    try:
        date.fromisoformat((text + "-01-01")[:10])
    except ValueError:
        return False
    return True


def _word(name: str, value: Any) -> str | None:
    """A property as text; None where there is none. Whole numbers have no point."""
    if isinstance(value, str):
        return value.strip() or None
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} = {value}: must be a word or a number") from error
    if math.isnan(number):  # how a table of numbers says that there is none
        return None
    if not number.is_integer():
        return str(number)
    if abs(number) >= _MOST_EXACT:
        raise ValueError(f"{name} = {number:.0f}: is too large a number; write it in quotes")
    return str(int(number))


def _attributes(told: object) -> str | None:
    """One JSON object, its names in order, of what a file holds as an object or as its text."""
    if told is None or (isinstance(told, str) and told in _EMPTY):
        return None
    if isinstance(told, Mapping):
        told = json.dumps(told)
    words = attributes_of(told)
    return json.dumps(words, ensure_ascii=False, sort_keys=True) if words else None
