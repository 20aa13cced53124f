"""The language of `feed.sock`: newline-delimited JSON, each line an object with its `class`.

Both ends speak it from here: the unit's side (outputs/feed.py) and whoever listens
(feed_client.py). docs/feed.md is its description for others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from firmware.errors import SledwardenError
from firmware.findings import Alert
from firmware.port.messages import PLACE
from firmware.readings import Request
from firmware.state import State

VERSION = 1
"""The version of the language; a client refuses another one in words."""

DEFAULT_PATH = Path("/run/sledwarden/feed.sock")
"""Where the unit's systemd files put the socket."""

MAX_COMMAND_BYTES = 4096
"""The longest line that a client may send, without its end of line."""

ACTIONS = (
    "acknowledge",
    "mark",
    "unmark",
    "report",
    "mode",
    "race",
    "test",
    "prompt",
    "note",
    "restart",
    "date",
    "forget",
    "key",
)
"""All that can be asked of the unit."""

MAX_ARGUMENT_LETTERS = 500

_FORMS = {  # action -> what its argument must be, for those that have a form; "" takes none
    "acknowledge": "",
    "restart": "",
    "key": "",
    "mode": "NAME on or NAME off, and why",
    "race": "an organizer's token",
    "note": "the text of the note",
    "unmark": "the id of a mark",
    "report": "the id of a thing on the map, and what is wrong with it",
    "forget": "the number of a boot, like 17, or of a segment in it, like 17/2",
    "date": "a date in UTC, like 2026-01-17T22:00:05Z",
}

_PLACE = re.compile(PLACE)

_T = TypeVar("_T")


class CommandError(SledwardenError):
    """A client's line that can't be taken; its text is the answer."""


class Hello(msgspec.Struct, frozen=True):
    """The first line of a connection: the feed's version, the program's, and its process id."""

    feed: int
    version: str = ""
    pid: int = 0


class Taken(msgspec.Struct, frozen=True):
    """The unit has a command and will judge it; what came of it shows in the next states."""

    do: str


class Refused(msgspec.Struct, frozen=True):
    """The unit's answer, in words, to something that it can't take."""

    what: str


Message = Hello | State | Alert | Taken | Refused


class _Command(msgspec.Struct, forbid_unknown_fields=True):
    do: str
    argument: str = ""
    by: str = ""


class _Class(msgspec.Struct, frozen=True):
    kind: str = msgspec.field(name="class", default="")


@dataclass(frozen=True, slots=True)
class _Age:
    age_s: float = 0.0


class LineCutter:
    """Cuts bytes as they come into lines; what is longer than the limit is skipped whole."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._rest = bytearray()
        self._is_skipping = False

    def cut(self, chunk: bytes) -> list[bytes | None]:
        """The lines that ended in this chunk; None, once, for each that is too long."""
        lines: list[bytes | None] = []
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._take(part, lines)
            if not self._is_skipping:
                lines.append(bytes(self._rest))
            self._rest.clear()
            self._is_skipping = False
        self._take(rest, lines)
        return lines

    def _take(self, part: bytes, lines: list[bytes | None]) -> None:
        if self._is_skipping:
            return
        self._rest += part
        if len(self._rest) > self._limit_bytes:
            lines.append(None)
            self._rest.clear()
            self._is_skipping = True


def encode(message: Message, age_s: float | None = None) -> bytes:
    """A message as a line of the feed; `age_s` is for a state, at the instant of sending."""
    match message:
        case State():
            head = b'{"class":"state","age_s":%.3f,' % (age_s or 0.0)
        case Alert():
            head = b'{"class":"alert",'
        case Hello():
            head = b'{"class":"hello",'
        case Taken():
            head = b'{"class":"taken",'
        case Refused():
            head = b'{"class":"error",'
    return head + msgspec.json.encode(message)[1:] + b"\n"


def decode(line: bytes) -> tuple[Message | None, float]:
    """One line of the feed and its age in seconds; None for a class that a later feed may add.

    Raises `ValueError` where the line is no message.
    """
    match _decode(line, _Class).kind:
        case "state":
            return _decode(line, State), max(0.0, _decode(line, _Age).age_s)
        case "alert":
            return _decode(line, Alert), 0.0
        case "hello":
            return _decode(line, Hello), 0.0
        case "taken":
            return _decode(line, Taken), 0.0
        case "error":
            return _decode(line, Refused), 0.0
    return None, 0.0


def encode_command(do: str, argument: str = "", by: str = "") -> bytes:
    """A client's line that asks for one of `ACTIONS`."""
    fields = {"do": do, "argument": argument, "by": by}
    return msgspec.json.encode({key: text for key, text in fields.items() if text}) + b"\n"


def decode_command(line: bytes) -> Request:
    """The request in a client's line; raises `CommandError` with the answer in words."""
    try:
        command = _decode(line, _Command)
    except ValueError as fault:
        advice = 'Send one JSON object a line, like {"do":"acknowledge"}.'
        raise CommandError("not a command", f"{fault}.", advice) from fault
    do, argument = command.do, " ".join(command.argument.split())
    if do not in ACTIONS:
        raise CommandError(f'do = "{do[:40]}"', f"must be one of {', '.join(ACTIONS)}.")
    for key, text in (("argument", argument), ("by", command.by)):
        if len(text) > MAX_ARGUMENT_LETTERS or not text.isprintable():
            limit = f"must be one line of at most {MAX_ARGUMENT_LETTERS} letters."
            raise CommandError(f"{do}: {key}", limit)
    form = _FORMS.get(do)
    if form == "" and argument:
        raise CommandError(f"{do}: argument", "takes none.")
    if form and not argument:
        raise CommandError(f"{do}: argument", f"must be {form}.")
    if do == "forget" and not _PLACE.fullmatch(argument):
        raise CommandError("forget: argument", f"must be {_FORMS['forget']}.")
    if do == "date" and _date_of(argument) is None:
        raise CommandError(f'date: argument = "{argument[:40]}"', f"must be {form}.")
    if do == "mode" and (argument.split()[1:2] or [""])[0] not in ("on", "off"):
        raise CommandError(f'mode: argument = "{argument[:40]}"', f"must be {form}.")
    return Request(do, argument, command.by)


def _date_of(text: str) -> datetime | None:
    try:
        utc = datetime.fromisoformat(text)
    except ValueError:
        return None
    return utc if utc.tzinfo is not None else None


def _decode(line: bytes, kind: type[_T]) -> _T:
    """msgspec's decoder with one kind of fault: what is no JSON, no text, or nested too deep."""
    try:
        return msgspec.json.decode(line, type=kind)
    except RecursionError as fault:
        raise ValueError("nested too deep") from fault
