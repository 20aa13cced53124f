"""The law as data: packs of clauses, each with its citation, figures, coverage and exemptions.

A pack is one TOML file in `laws/`. Python is needed for a *kind* of clause only; another state is
another file. A pack is refused whole when anything in it is wrong, with the line and the key.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import msgspec

from firmware import toml_text
from firmware.errors import LawError
from firmware.files import CONFIG_BYTES, whole
from firmware.law.clause import (
    COVERAGES,
    MODES,
    PLAIN_LETTERS,
    ROAD_PARTS,
    VEHICLES,
    Clause,
    Limit,
    Near,
    Number,
)
from firmware.law.faults import faults_of
from firmware.law.lines import Lines
from firmware.law.lines import Path as Key
from firmware.maps.packs import KINDS

__all__ = [
    "AUTO", "COVERAGES", "FOLDER", "KINDS", "MODES", "PLAIN_LETTERS", "ROAD_PARTS", "VEHICLES",
    "Clause", "Law", "Limit", "Near", "Number", "Unverified", "load", "load_all", "load_live",
    "parse", "path_of", "read_live", "words_of",
]  # fmt: skip

FOLDER = Path(__file__).parent.parent / "laws"

CHECKED = FOLDER / "checked.sha256"
"""The digests of the packs as they were checked whole when they were shipped; `make docs` writes it
as `sha256sum` does."""

AUTO = "auto"
"""The word for every pack, each judged inside its own outlines."""

REFUSED = "The whole pack is refused."

_CLAUSE = b"\n[[clause]]\n"
_LIVE = (b"\nkind = ", b"\nnotice = ")

_PLACE = re.compile(r" - at `\$(.*)`$")
_STEP = re.compile(r"\w+")


class Unverified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that is said of a law and was not read in it: told, and never judged by."""

    title: str
    said: str
    why: str


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A pack: whose law it is, when it was checked against its text, and its clauses.

    `unverified` lists what is said of that law elsewhere and what no rule here goes by. `text_at`
    is the address where the law's text can be read, for rows whose source is a file of a text.
    """

    id: str
    title: str
    jurisdiction: str
    checked_on: date
    text_at: Annotated[str, msgspec.Meta(pattern=r"^https?://\S+\Z")] = ""
    clause: tuple[Clause, ...]
    unverified: tuple[Unverified, ...] = ()

    @property
    def live(self) -> Law:
        """The pack with those of its clauses alone that are judged or shown on the glass."""
        live = (one for one in self.clause if one.kind or one.notice)
        return msgspec.structs.replace(self, clause=tuple(live))

    def find(self, citation: str) -> Clause | None:
        """The clause of that citation, written as in the law; None where the pack has none."""
        return next((one for one in self.clause if one.citation == citation), None)


def path_of(word: str) -> Path:
    """The file of a law named by its word (`wi`) or by a path that ends in .toml."""
    return Path(word) if word.endswith(".toml") else FOLDER / f"{word}.toml"


def words_of(words: str | Iterable[str]) -> tuple[str, ...]:
    """The packs that these words name, each once: a state's word brings those that go with it, as
    `wi` brings `wi_act311`; a path brings itself alone; `auto` is every pack that is here."""
    named: dict[str, None] = {}
    for word in (words,) if isinstance(words, str) else words:
        if word == AUTO:
            named.update((one.stem, None) for one in sorted(FOLDER.glob("*.toml")))
            continue
        named[word] = None
        if not word.endswith(".toml"):
            here = sorted(one.stem for one in FOLDER.glob("*.toml"))
            named.update((one, None) for one in here if one.startswith(f"{word}_"))
    return tuple(named)


def load(word: str) -> Law:
    """Reads a pack and checks it; raises LawError with every fault that was found."""
    return parse(_read(word), str(path_of(word)))


def load_all(words: str | Iterable[str]) -> tuple[Law, ...]:
    """Reads every pack that these words name; raises LawError."""
    return tuple(load(word) for word in words_of(words))


def load_live(words: str | Iterable[str]) -> tuple[Law, ...]:
    """Reads what a unit needs of every pack that these words name, as `Law.live` has it.

    A pack that was checked whole when it was shipped is parsed for these clauses alone, in a fifth
    of the time; any other is checked whole here. Raises LawError.
    """
    checked = set(CHECKED.read_text().split()) if CHECKED.exists() else set()
    laws = []
    for word in words_of(words):
        text = _read(word)
        if hashlib.sha256(text).hexdigest() in checked:
            laws.append(read_live(text))
        else:
            laws.append(parse(text, str(path_of(word))).live)
    return tuple(laws)


def read_live(text: bytes) -> Law:
    """The head and the live clauses of a pack that is known to be good, nothing else looked at."""
    head, *clauses = text.split(_CLAUSE)
    live = (one for one in clauses if any(key in one for key in _LIVE))
    table = tomllib.loads(_CLAUSE.join([head, *live]).decode())
    return msgspec.convert({"clause": (), **table}, Law).live


def _read(word: str) -> bytes:
    path = path_of(word)
    try:
        return whole(path, "a law pack", CONFIG_BYTES, _fault)
    except OSError as error:
        known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.toml")))
        raise LawError(
            str(path),
            [f"can't be read ({error.strerror})."],
            f"Laws that are here: {known}. A pack of your own is named by its path, x.toml.",
        ) from error


def _fault(where: str, what: str) -> LawError:
    return LawError(where, [what])


def parse(text: bytes, where: str) -> Law:
    """Checks a pack's text; `where` names it in the faults."""
    try:
        letters = text.decode()
        table = toml_text.read(letters)
    except ValueError as error:  # UnicodeDecodeError too
        raise LawError(where, [f"{error}."], REFUSED) from error
    try:
        law = msgspec.convert(table, Law)
        faults = list(_clause_faults(law.clause))
    except msgspec.ValidationError:
        faults = list(_faults_of_table(table))
    if faults:
        raise LawError(where, _with_lines(faults, letters), REFUSED)
    return law


# What is wrong with a pack: each fault with the key that it is of.


def _clause_faults(clauses: Iterable[Clause]) -> Iterator[tuple[Key, str]]:
    """What is wrong with clauses that have the keys they must have."""
    seen: set[str] = set()
    number = -1
    for number, clause in enumerate(clauses):
        name = f"[{clause.citation}]"
        for fault in faults_of(clause):
            yield ("clause", number, *_key_of(fault)), f"{name} {fault}"
        if clause.citation in seen:
            yield ("clause", number), f"{name} stands twice: each citation must stand once."
        seen.add(clause.citation)
    if number < 0:
        yield (), "clause: there must be at least one."


def _faults_of_table(table: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    """Every key that is missing, unknown or no such thing, and the faults of the good clauses."""
    head = {name: value for name, value in table.items() if name != "clause"}
    yield from _key_faults(Law, {**head, "clause": ()})
    tables = table.get("clause", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        yield ("clause",), "clause: must be [[clause]] tables."
        return
    good: dict[int, Clause] = {}
    for number, one in enumerate(tables):
        name = f"[{one.get('citation', f'clause {number + 1}')}]"
        found = [
            (("clause", number, *path), f"{name} {fault}")
            for path, fault in _key_faults(Clause, one)
        ]
        if found:
            yield from found
        else:
            good[number] = msgspec.convert(one, Clause)
    places = list(good)
    for path, fault in _clause_faults(good.values()) if good or not tables else ():
        yield (("clause", places[int(path[1])], *path[2:]) if path else ()), fault


def _key_faults(struct: type[msgspec.Struct], table: dict[str, Any]) -> Iterator[tuple[Key, str]]:
    """What is wrong with each key on its own: msgspec alone would tell the first."""
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    for name, field in fields.items():
        if name not in table:
            if field.required:
                yield (), f"{name}: is missing."
            continue
        try:
            msgspec.convert(table[name], field.type)
        except msgspec.ValidationError as error:
            what = str(error)
            place = _PLACE.search(what)
            inner = place[1].lstrip(".") if place else ""
            key = name + ("" if inner[:1] in ("", "[") else ".") + inner
            what = what[: place.start()] if place else what
            yield _key_of(key), f"{key}: {what[:1].lower()}{what[1:]}."
    for name in table:
        if name not in fields:
            near = difflib.get_close_matches(name, fields, n=1)
            guess = f": did you mean {near[0]}?" if near else "."
            yield (name,), f"{name}: there is no such key{guess}"


def _key_of(fault: str) -> Key:
    """The key that a fault begins with: `near[0].within_ft = ...` is near, 0, within_ft."""
    words = re.match(r"[\w.\[\]]*", fault)
    steps = _STEP.findall(words[0]) if words else []
    return tuple(int(step) if step.isdigit() else step for step in steps)


def _with_lines(faults: list[tuple[Key, str]], text: str) -> list[str]:
    """The faults with the lines that they stand on, in the order of the lines."""
    lines = Lines(text.replace("\r\n", "\n")).scan()
    told = []
    for key, fault in faults:
        path = key
        if len(key) == 3 and key not in lines.found:
            path = lines.named(key[:2], str(key[2]))
        told.append((lines.of(*path), fault))
    return [f"line {line}: {fault}" for line, fault in sorted(told, key=lambda one: one[0])]
