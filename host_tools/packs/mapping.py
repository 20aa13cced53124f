"""Which features of a map become which kind: rules in a small TOML file, with presets.

docs/zones.md tells how one is written.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from firmware import toml_text
from firmware.errors import ZoneError
from firmware.files import CONFIG_BYTES, whole
from firmware.maps.packs import KINDS
from host_tools.packs.rows import Origin, is_date

PRESETS: Final = Path(__file__).parent / "mappings"
Form = Literal["point", "line", "polygon"]

_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*(mph|km/h|kmh|kph)?", re.IGNORECASE)


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attribute of a feature: a word of its own (`value`), or what a column says (`column`)."""

    name: str
    value: str = ""
    column: str = ""
    form: Literal["", "mph", "kmh"] = msgspec.field(name="as", default="")
    when: dict[str, list[str]] = {}


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes a kind: each column of `when` must have one of its words, none of `unless`."""

    kind: str
    when: dict[str, list[str]] = {}
    unless: dict[str, list[str]] = {}
    shapes: tuple[Form, ...] = ("point", "line", "polygon")
    confidence: str | None = None
    attribute: list[Attribute] = []


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"rules": "rule"}):
    """A whole file of rules; `id` and `name` are the columns that may hold them, best first."""

    source: str | None = None
    licence: str | None = None
    dated: str | None = None
    confidence: str | None = None
    id: tuple[str, ...] = ("id",)
    name: tuple[str, ...] = ("name",)
    rules: list[Rule] = []

    @property
    def columns(self) -> list[str]:
        """Every column that the rules look at."""
        names = {"confidence", "dated", "licence", "source", *self.id, *self.name}
        for rule in self.rules:
            names |= rule.when.keys() | rule.unless.keys()
            for one in rule.attribute:
                names |= one.when.keys() | ({one.column} if one.column else set())
        return sorted(names)

    @property
    def origin(self) -> Origin:
        return Origin(None, self.source, self.licence, self.dated, self.confidence)

    def features(self, told: Mapping[str, Any], form: Form) -> Iterator[dict[str, Any]]:
        """The features, each of another kind, that one of the map becomes; most become none."""
        kinds = set()
        for rule in self.rules:
            if rule.kind in kinds or form not in rule.shapes or not _fits(rule, told):
                continue
            kinds.add(rule.kind)
            yield {
                "kind": rule.kind,
                "id": _first(self.id, told),
                "name": _first(self.name, told),
                "source": told.get("source") or self.source,
                "licence": told.get("licence") or self.licence,
                "dated": told.get("dated") or self.dated,
                "confidence": rule.confidence or told.get("confidence") or self.confidence,
                "attributes": _attributes(rule, told),
            }


def load(word: str) -> Rules:
    """A preset by its name, or a mapping by its path; raises ZoneError that tells every fault."""
    preset = PRESETS / f"{word}.toml"
    path = preset if word in presets() else Path(word)
    try:
        content = whole(path, "a mapping", CONFIG_BYTES, ZoneError)
    except OSError as error:
        raise ZoneError(
            word,
            f"can't be read ({error.strerror}): expected a mapping (.toml), or one of the presets "
            f"{', '.join(presets())}.",
        ) from error
    try:
        found = msgspec.convert(toml_text.read(content.decode()), Rules)
    except msgspec.ValidationError as error:
        raise ZoneError(str(path), f"{error}.", "docs/zones.md has every key.") from error
    except ValueError as error:
        raise ZoneError(str(path), f"is no TOML ({error}).") from error
    faults = list(_faults(found))
    if faults:
        raise ZoneError(str(path), f"\n{path}: ".join(faults))
    return found


def presets() -> list[str]:
    """The names of the mappings that come along."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def _faults(found: Rules) -> Iterator[str]:
    if not found.rules:
        yield "has no [[rule]]: expected at least one."
    if found.dated is not None and not is_date(found.dated):
        yield f"dated = {found.dated}: must be a date like 2026-01-31, 2026-01 or 2026."
    for number, rule in enumerate(found.rules, 1):
        where = f"[[rule]] {number}"
        if rule.kind not in KINDS:
            yield f"{where}: kind = {rule.kind}: must be one of {', '.join(KINDS)}."
        for one in rule.attribute:
            if bool(one.value) is bool(one.column):
                yield f"{where}: attribute {one.name}: must have either value or column."


def _fits(rule: Rule, told: Mapping[str, Any]) -> bool:
    return _all_match(rule.when, told) and not any(
        _matches(words, told.get(column)) for column, words in rule.unless.items()
    )


def _all_match(when: Mapping[str, list[str]], told: Mapping[str, Any]) -> bool:
    return all(_matches(words, told.get(column)) for column, words in when.items())


def _matches(words: list[str], value: Any) -> bool:
    """Whether a column has one of the words; of several with `;` between them each is looked at."""
    if value is None or value == "":
        return False
    if "*" in words:
        return True
    return any(
        part == word or ("*" in word and fnmatch.fnmatchcase(part, word))
        for part in (one.strip() for one in str(value).split(";"))
        for word in words
    )


def _first(columns: tuple[str, ...], told: Mapping[str, Any]) -> Any:
    return next((told[one] for one in columns if told.get(one) not in (None, "")), None)


def _attributes(rule: Rule, told: Mapping[str, Any]) -> str | None:
    found: dict[str, str] = {}
    for one in rule.attribute:
        if one.name in found or not _all_match(one.when, told):
            continue
        value = one.value or _formed(told.get(one.column), one.form)
        if value:
            found[one.name] = value
    return json.dumps(found) if found else None


def _formed(value: Any, form: str) -> str:
    """What a column says, or a speed in the unit that is asked for; "" where it says none."""
    text = "" if value is None else str(value).strip()
    if not form or not text:
        return text
    speed = _SPEED.fullmatch(text)
    if speed is None:
        return ""
    number, is_mph = float(speed[1]), (speed[2] or "km/h").lower() == "mph"
    if is_mph is (form == "mph"):
        return f"{number:g}"
    return ""  # a limit is posted in one unit; the other would be a rounded number
