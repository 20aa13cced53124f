"""What every handler of a request shares: what it is called with, and how it takes a body apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct
from smp.error import MGMT_ERR

from firmware.link.door import Client
from firmware.link.frames import Body, Refusal

LONGEST_REPLY_BYTES = 16384
"""The longest answer that any way in carries."""

ROOM_FOR_NAMES = 48
"""What the header and the CBOR around the bytes of an answer take at most."""

Offset = Annotated[int, Meta(ge=0, le=1 << 53)]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Way:
    """What a way in can carry: the longest message that an answer may be."""

    name: str
    reply_bytes: int


Handler = Callable[[Body, Client, Way], Body]


class Name(Struct):
    """A request that names a file or a setting."""

    name: str


def taken(body: Body, kind: type[_T]) -> _T:
    """What a request says, as it must be; raises a refusal that says what it must be."""
    try:
        return msgspec.convert(body, kind)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise Refusal(MGMT_ERR.EINVAL, f"{fault}") from fault
