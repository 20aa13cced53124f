"""How a computer is known to a unit: its Ed25519 key, the four words that stand for it, its proof.

Both ends of the service port speak of hosts from here. The four words are for a person to compare:
the computer shows them, the glass shows them, and a held button says that they are the same.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from firmware import files
from firmware.errors import SledwardenError
from firmware.port.words import WORDS

PROOF_DOMAIN = b"sledwarden host 1\n"
KEY_BYTES = 32
NONCE_BYTES = 32
SIGNATURE_BYTES = 64


class HostError(SledwardenError):
    """A host's key that can't be read or made: the file and the reason."""


def words_of(public_key: bytes) -> str:
    """Four words that stand for a host's public key: the first 32 bits of its SHA-256."""
    return " ".join(WORDS[octet] for octet in hashlib.sha256(public_key).digest()[:4])


def challenge(unit_key: str, nonce: bytes) -> bytes:
    """The bytes that a host signs: no other unit, and no other day, can use its proof again."""
    return PROOF_DOMAIN + bytes.fromhex(unit_key) + nonce


def is_proof(public_key: bytes, signature: bytes, unit_key: str, nonce: bytes) -> bool:
    """Whether the owner of this key signed this challenge."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # 33 ms to import
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # as above
        Ed25519PublicKey,
    )

    try:
        key = Ed25519PublicKey.from_public_bytes(public_key)
        key.verify(signature, challenge(unit_key, nonce))
    except (InvalidSignature, ValueError):
        return False
    return True


class HostKey:
    """This computer's own key: 64 hex digits in a file that only its owner can read."""

    def __init__(self, private: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # as above
            Ed25519PrivateKey,
        )

        self._private = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()

    @classmethod
    def load(cls, path: Path) -> HostKey | None:
        """The key in a file, None where there is none; raises HostError where it holds no key."""
        try:
            octets = files.whole(path, "this computer's key", files.KEY_BYTES, HostError)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise HostError(str(path), f"can't be read: {fault.strerror}.") from fault
        text = octets.decode("ascii", errors="replace").strip()
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise HostError(
                str(path),
                "is no key: must be 64 hex digits, the private half of an Ed25519 key.",
                "Move it away and enrol this computer again.",
            )
        return cls(bytes.fromhex(text))

    @classmethod
    def make(cls, path: Path) -> HostKey:
        """A new key, kept in a new file with mode 0600; raises HostError where it can't be."""
        private = os.urandom(KEY_BYTES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(private.hex().encode() + b"\n")
        except OSError as fault:
            raise HostError(str(path), f"can't be made: {fault.strerror}.") from fault
        return cls(private)

    def prove(self, unit_key: str, nonce: bytes) -> bytes:
        """The signature that answers a unit's challenge."""
        return self._private.sign(challenge(unit_key, nonce))
