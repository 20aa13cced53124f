"""Ed25519 keys that people keep: read, made, signed with, checked.

A private key is a file of 64 hex digits that only its owner can read. It is made once and never
written over: what it has signed could not be told from a stranger's afterwards.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import ClassVar, Self

from firmware import files
from firmware.errors import SledwardenError

KEY_BYTES = 32
SIGNATURE_BYTES = 64


class SigningKey:
    """A private key, by which its owner signs; `public` is what others check by.

    `whose` it is, what is raised for a file that holds none, and what to do then, are those of a
    kind of key; a subclass says its own.
    """

    whose: ClassVar[str] = "a signing"
    fault: ClassVar[type[SledwardenError]] = SledwardenError
    advice: ClassVar[str] = "It is left as it is: name another file, or move it away."

    def __init__(self, private: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # 33 ms to import
            Ed25519PrivateKey,
        )

        self._private = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The key in a file, None where there is none; raises `fault` for anything else."""
        try:
            octets = files.whole(path, f"{cls.whose} key", files.KEY_BYTES, cls.fault)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise cls.fault(str(path), f"can't be read: {fault.strerror}.") from fault
        text = octets.decode("ascii", errors="replace").strip()
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise cls.fault(
                str(path),
                "is no key: must be 64 hex digits, the private half of an Ed25519 key.",
                cls.advice,
            )
        return cls(bytes.fromhex(text))

    @classmethod
    def make(cls, path: Path) -> Self:
        """A new key in a new file with mode 0600; raises `fault` where it can't be."""
        private = os.urandom(KEY_BYTES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(private.hex().encode() + b"\n")
        except OSError as fault:
            raise cls.fault(str(path), f"can't be made: {fault.strerror}.") from fault
        return cls(private)

    def sign(self, octets: bytes) -> bytes:
        """The signature over these bytes; the caller begins them with what they are for."""
        return self._private.sign(octets)


def is_signed(public: bytes, signature: bytes, octets: bytes) -> bool:
    """Whether the owner of this public key signed these bytes; false too for what is no key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # 33 ms to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # as above
        Ed25519PublicKey,
    )

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, octets)
    except (InvalidSignature, ValueError):
        return False
    return True
