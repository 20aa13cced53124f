"""The hosts that may answer a challenge instead of a person's hold: a text file beside the journal.

64 hex digits of the public key, a space, the host's name        one a line
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from firmware.errors import SledwardenError
from firmware.files import put_whole

_LINE = re.compile(r"([0-9a-f]{64}) ([ -~]{1,64})")


class Enrolled:
    """The list of enrolled hosts; a person may shorten the file at any time.

    What a power cut left of a list that was being written is taken away at the start.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with contextlib.suppress(OSError):  # a list that can't be kept is told when one is
            path.with_name(f"{path.name}.new").unlink(missing_ok=True)

    def name_of(self, key: bytes) -> str | None:
        """The name under which a key was enrolled; None for a stranger's."""
        return self.all().get(key.hex())

    def all(self) -> dict[str, str]:
        """Names by their keys in hex; a line that is no host is passed over."""
        try:
            lines = self.path.read_text(encoding="ascii", errors="replace").splitlines()
        except FileNotFoundError:
            return {}
        except OSError as fault:
            raise SledwardenError(str(self.path), f"can't be read: {fault.strerror}.") from fault
        found = (_LINE.fullmatch(line) for line in lines)
        return {one[1]: one[2] for one in found if one is not None}

    def add(self, key: bytes, name: str) -> None:
        """Enrols a host, whole or not at all; raises SledwardenError where the disk refuses."""
        hosts = self.all() | {key.hex(): name}
        lines = [f"{digits} {called}\n" for digits, called in hosts.items()]
        try:
            put_whole(self.path, "".join(lines).encode("ascii"), 0o600)
        except OSError as fault:
            raise SledwardenError(str(self.path), f"can't be kept: {fault.strerror}.") from fault
