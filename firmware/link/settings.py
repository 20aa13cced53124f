"""Single settings of the configuration, by their names: `gps.baud`, `light.head.chip`.

What a client writes is held for it alone and checked as the whole file is; `save` puts it in use,
with the comments of the file kept. A value is TOML: 115200, "wi", ["wi"], true.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Any

import msgspec

from firmware import toml_text
from firmware.config import reading
from firmware.config.schema import Config
from firmware.files import CONFIG_BYTES, whole
from firmware.link.intake import Intake, IntakeError

if TYPE_CHECKING:
    import tomlkit

MAX_CLIENTS = 8


@dataclass(slots=True)
class _Draft:
    """A client's own copy of the configuration, and the digest of the one that it began from."""

    text: str
    began_from: str


class Settings:
    """The configuration in use, and a draft of it for each client that changes something."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._drafts: OrderedDict[str, _Draft] = OrderedDict()

    def read(self, who: str, name: str) -> str:
        """A setting as TOML, its default where the file does not say; all of them for no name.

        Raises IntakeError for a name that is none, and for one that has no value.
        """
        value: Any = self._parsed(who)  # what a name leads to is of any kind
        for part in name.split(".") if name else ():
            fields = value.__struct_fields__ if isinstance(value, msgspec.Struct) else ()
            if part not in fields:
                known = f"must be one of {', '.join(fields)}" if fields else "has no parts"
                raise IntakeError(name[:80], f"is no setting: {part[:40]} {known}.")
            value = getattr(value, part)
        if value is None:
            raise IntakeError(name, "is not set, and has no default.")
        return _toml(value)

    def write(self, who: str, name: str, value: str) -> None:
        """Changes a setting in this client's draft; raises SledwardenError where it may not be."""
        try:
            given = toml_text.read(f"value = {value}")
        except ValueError as fault:
            raise IntakeError(
                name, f"= {value[:80]}: must be a value of TOML.", 'Like 115200, "wi" or true.'
            ) from fault
        if set(given) != {"value"}:
            raise IntakeError(name, "must be one value.")
        self._change(who, name, given["value"])

    def delete(self, who: str, name: str) -> None:
        """Takes a setting out of this client's draft: its default holds again."""
        self._change(who, name, None)

    def save(self, who: str) -> bool:
        """Puts this client's draft in use, with one step back; whether there was one."""
        draft = self._drafts.get(who)
        if draft is None:
            return False
        if _digest(self._text()) != draft.began_from:
            self.forget(who)
            raise IntakeError(
                self._intake.config_path.name, "was changed meanwhile: nothing was saved.",
                "Read it again, and write again.",
            )  # fmt: skip
        self._intake.install_config(draft.text)
        self.forget(who)
        return True

    def forget(self, who: str) -> None:
        """Lets a client's draft go."""
        self._drafts.pop(who, None)

    def _text(self) -> str:
        path = self._intake.config_path
        try:
            return whole(path, "a configuration", CONFIG_BYTES, IntakeError).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as fault:
            raise IntakeError(str(path), f"can't be read: {fault}.") from fault

    def _parsed(self, who: str) -> Config:
        return reading.parse(self._draft(who).text, self._intake.config_path.name)

    def _draft(self, who: str) -> _Draft:
        """This client's draft; one that has changed nothing yet where it has none."""
        if who in self._drafts:
            return self._drafts[who]
        text = self._text()
        return _Draft(text, _digest(text))

    def _change(self, who: str, name: str, value: object) -> None:
        import tomlkit  # noqa: PLC0415  # 60 ms to import, and most sessions change nothing
        from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415  # as above

        draft = self._draft(who)
        *sections, key = name.split(".")
        is_short = len(sections) < toml_text.MOST_PARTS
        if not sections or not is_short or not all(map(str.isidentifier, (*sections, key))):
            raise IntakeError(name[:80], "is no setting: must be SECTION.KEY, like gps.baud.")
        try:
            document = tomlkit.parse(draft.text)
            _set(document, sections, key, value)
            changed = document.as_string()
        except (TOMLKitError, TypeError, KeyError) as fault:
            raise IntakeError(name, f"can't be changed: {fault}.") from fault
        reading.parse(changed, self._intake.config_path.name)  # all its faults at once, or none
        self._drafts[who] = _Draft(changed, draft.began_from)
        self._drafts.move_to_end(who)
        while len(self._drafts) > MAX_CLIENTS:
            self._drafts.popitem(last=False)


def _set(document: tomlkit.TOMLDocument, sections: list[str], key: str, value: object) -> None:
    import tomlkit  # noqa: PLC0415  # see _change

    table: Any = document  # tomlkit's tables and documents share no class of their own
    for section in sections:
        if section not in table:
            table[section] = tomlkit.table()
        table = table[section]
    if value is None:
        del table[key]
    else:
        table[key] = value


def _toml(value: object) -> str:
    """A value as TOML; a section as a table of its own, in one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return msgspec.json.encode(value).decode()
        case int() | float():
            return str(value)
        case date() | time():
            return value.isoformat()
        case tuple() | list():
            return f"[{', '.join(_toml(one) for one in value)}]"
        case msgspec.Struct():
            pairs = ((name, getattr(value, name)) for name in value.__struct_fields__)
            told = (f"{name} = {_toml(one)}" for name, one in pairs if one is not None)
            return f"{{ {', '.join(told)} }}"
    return msgspec.json.encode(str(value)).decode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
