"""What a desk and a unit say to each other: the requests of our own SMP group, and the answers.

An answer is checked before it is used: a unit may be a stranger's.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from smp.message import ReadRequest, WriteRequest

from firmware.port.messages import GROUP, Command

Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Held = Annotated[int, Meta(ge=0, le=1 << 28)]
"""Bytes of what is held in memory here; no reader of a journal takes a longer segment."""

MOST_INDEX_BYTES = 1 << 26
"""An index of half a million segments."""


class Identity(Struct, frozen=True):
    """Who a unit says that it is; `key` is the public key that seals its journal."""

    unit: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,31}\\Z")]
    key: bytes = b""
    fingerprint: str = ""
    software: str = ""
    journal: int = 0


class Session(Struct, frozen=True):
    """Whether the port is open to us, by what, and why not."""

    open: bool
    how: str = ""
    why: str = ""
    asking: bool = False
    left_s: int = 0
    enrolled: bool | None = None


class Segment(Struct, frozen=True):
    """A segment as the unit's index names it; `sha256` is there for most that are closed. Of one
    that was damaged, so many bytes that no power cut explains are `torn`, in a file beside it."""

    name: Annotated[str, Meta(pattern=r"^[0-9]{6}\.mcap(\.zst(\.age)?)?\Z")]
    bytes: Held
    closed: bool
    sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?\\Z")] = ""
    torn: Held = 0


class Boot(Struct, frozen=True):
    """A boot's folder and its segments, oldest first."""

    name: Annotated[str, Meta(pattern="^[0-9]{6,9}-[0-9a-f]{8}\\Z")]
    segments: tuple[Segment, ...]


class LedgerNow(Struct, frozen=True):
    """How long a unit's ledger is."""

    bytes: Held


class Index(Struct, frozen=True):
    """What a unit's journal holds."""

    format: int
    unit: str
    boots: tuple[Boot, ...]
    public_key: Annotated[str, Meta(pattern="^([0-9a-f]{64})?\\Z")] = ""
    ledger: LedgerNow | None = None


class Nonce(Struct):
    nonce: bytes


class Words(Struct):
    words: str


class Digest(Struct):
    output: bytes
    len: Count


class Packed(Struct):
    off: Count
    len: Count
    raw: Count
    data: bytes


class Offset(Struct):
    off: Count


class Length(Struct):
    len: Count


class Nothing(Struct):
    pass


class Date(Struct):
    datetime: str


class Value(Struct):
    val: bytes


class Staged(Struct, frozen=True):
    """A file that was sent and is not in use yet."""

    name: str
    len: Count


class InUse(Struct, frozen=True):
    """A file that was put; `before` where there is one step back.

    It is in use if the configuration names it; `path` is the name that it goes by there.
    """

    name: str
    len: Count
    before: bool
    named: bool = True
    path: str = ""


class Files(Struct, frozen=True):
    """What a unit has of the files that may be replaced."""

    staged: tuple[Staged, ...]
    installed: tuple[InUse, ...]


class Put(Struct, frozen=True):
    """Where a file lies now, and what its sender should know."""

    path: str
    notes: tuple[str, ...] = ()


class Error(Struct):
    rc: int | None = None
    rsn: str = ""
    err: dict[str, int] | None = None


class Ours:
    """What all requests of our own group have in common."""

    _GROUP_ID = GROUP


class IdentityRead(Ours, ReadRequest):
    _COMMAND_ID = Command.IDENTITY


class SessionRead(Ours, ReadRequest):
    _COMMAND_ID = Command.SESSION
    key: bytes | None = None


class SessionWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.SESSION


class ProofRead(Ours, ReadRequest):
    _COMMAND_ID = Command.PROOF


class ProofWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.PROOF
    key: bytes
    signature: bytes


class HostWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.HOST
    key: bytes
    signature: bytes
    name: str


class PackedRead(Ours, ReadRequest):
    _COMMAND_ID = Command.PACKED
    name: str
    off: int
    len: int


class FilesRead(Ours, ReadRequest):
    _COMMAND_ID = Command.INSTALL


class InstallWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.INSTALL
    name: str
    sha256: bytes


class ShowKeyWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.SHOW_KEY


class ForgetWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.FORGET
    place: str


class UndoWrite(Ours, WriteRequest):
    _COMMAND_ID = Command.UNDO
    name: str
