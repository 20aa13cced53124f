"""Asks the unit for something through its socket, and brings back its answer."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from firmware.feed.messages import Refused, Taken, decode, encode_command

ANSWER_S = 2.0
_MAX_LINE_BYTES = 1 << 20


class UnheardError(Exception):
    """The unit is not there, or does not answer; its text says which."""


async def ask(path: Path, do: str, argument: str, by: str) -> Taken | Refused:
    """The unit's answer to one command; raises `UnheardError` where none comes."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await _ask(path, encode_command(do, argument, by))
    except TimeoutError:
        raise UnheardError(f"The unit did not answer within {ANSWER_S:.0f} s.") from None
    except (OSError, ValueError) as fault:
        raise UnheardError("The unit is not there.") from fault


async def _ask(path: Path, command: bytes) -> Taken | Refused:
    reader, writer = await asyncio.open_unix_connection(path, limit=_MAX_LINE_BYTES)
    try:
        writer.write(command)
        while line := await reader.readline():
            message, _ = decode(line.rstrip(b"\n"))
            if isinstance(message, Taken | Refused):
                return message
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    raise UnheardError("The unit hung up without an answer.")
