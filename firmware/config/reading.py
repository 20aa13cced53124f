"""Reads `sledwarden.toml`: a Config, or one error that tells every fault with its place."""

from __future__ import annotations

from pathlib import Path

from msgspec import convert

from firmware import toml_text
from firmware.config.faults import check_agreement, check_keys
from firmware.config.schema import Config
from firmware.errors import ConfigError
from firmware.files import CONFIG_BYTES, whole

ADVICE = "Put it right in the file and try again; docs/config.md lists every key."


def load(path: Path | str) -> Config:
    """The configuration in a file; a ConfigError that tells all its faults where there are any."""
    where = str(path)
    try:
        raw = whole(Path(path), "a configuration", CONFIG_BYTES, _fault)
    except FileNotFoundError:
        raise ConfigError(
            where,
            ["there is no such file: a configuration was expected."],
            "hardware/sledwarden.toml is one to start from.",
        ) from None
    except OSError as fault:
        raise ConfigError(where, [f"can't be read: {fault.strerror}."]) from fault
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        column = fault.start - raw.rfind(b"\n", 0, fault.start)
        raise ConfigError(
            where, [f"line {line}, column {column}: must be text in UTF-8."], ADVICE
        ) from None
    return parse(text, where)


def _fault(where: str, what: str) -> ConfigError:
    return ConfigError(where, [what])


def parse(text: str, where: str) -> Config:
    """The configuration in a text; `where` begins each line of the error."""
    try:
        document = toml_text.read(text)
    except ValueError as fault:
        raise ConfigError(where, [_toml_fault(str(fault), text)], ADVICE) from None
    faults, accepted = check_keys(Config, document)
    faults += check_agreement(accepted)
    if faults:
        raise ConfigError(where, faults, ADVICE)
    return convert(document, Config)


def _toml_fault(fault: str, text: str) -> str:
    what, _, place = fault.rstrip(")").partition(" (at ")
    if place == "end of document":
        lines = text.split("\n")
        place = f"line {len(lines)}, column {len(lines[-1]) + 1}"
    if not place:
        return f"can't be read: {what}: must be TOML."
    return f"{place}: {what[:1].lower()}{what[1:]}: must be TOML."
