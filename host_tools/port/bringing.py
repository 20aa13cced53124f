"""Files that are brought to a unit: sent from where the last try ended, checked, put in use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firmware.errors import SledwardenError
from host_tools.port.contact import Contact
from host_tools.port.messages import Put
from host_tools.port.sled import RefusedError, Sled

STAGING = "/staging/"
HASHED_BYTES = 1 << 20


class BringError(SledwardenError):
    """A file that can't be read or sent: its name, the reason, and what to do."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file on this desk that is to go to the unit, under this name."""

    path: Path
    name: str
    size_bytes: int
    sha256: bytes

    @classmethod
    def of(cls, path: Path, name: str = "") -> Brought:
        """Reads a file once for its digest; raises BringError where it can't be read."""
        called = name or path.name
        if not called.endswith((".toml", ".gpkg")):
            raise BringError(
                str(path),
                f"is named {called}: a .toml (configuration or law pack) or .gpkg (zone pack) was "
                "expected.",
                "Name it for the unit with --as NAME.",
            )
        sha256, size = hashlib.sha256(), 0
        try:
            with path.open("rb") as file:
                while piece := file.read(HASHED_BYTES):
                    sha256.update(piece)
                    size += len(piece)
        except OSError as fault:
            raise BringError(str(path), f"can't be read: {fault.strerror}.") from fault
        return cls(path, called, size, sha256.digest())

    def begins_with(self, count: int, sha256: str) -> bool:
        """Whether the first bytes of the file have this digest, in hex."""
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            while count > 0 and (piece := file.read(min(count, HASHED_BYTES))):
                digest.update(piece)
                count -= len(piece)
        return count == 0 and digest.hexdigest() == sha256


def bring(contact: Contact, file: Brought, came: Callable[[int], None]) -> Put:
    """Sends what the unit lacks of a file, and has it put in use.

    A pulled cable is waited for. Raises RefusedError with the unit's own reasons; what was in use
    stays then.
    """
    contact.patiently(lambda sled: _send(sled, file, came))
    return contact.patiently(lambda sled: sled.install(STAGING + file.name, file.sha256))


def _send(sled: Sled, file: Brought, came: Callable[[int], None]) -> None:
    name = STAGING + file.name
    offset = sled.sent(name)
    is_ours = 0 < offset <= file.size_bytes and file.begins_with(offset, sled.sha256(name, offset))
    offset = offset if is_ours else 0
    came(offset)
    with file.path.open("rb") as content:
        while offset < file.size_bytes or file.size_bytes == 0:
            content.seek(offset)
            octets = content.read(sled.sending_bytes)
            wanted = sled.send_file(name, offset, octets, file.size_bytes)
            if file.size_bytes == 0:
                break
            if not 0 <= wanted <= file.size_bytes or wanted == offset:
                raise RefusedError(str(sled.way), f"it takes no more of {file.name}.")
            offset = wanted
            came(offset)
