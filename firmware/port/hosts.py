"""How a computer is known to a unit: its Ed25519 key, the four words that stand for it, its proof.

Both ends of the service port speak of hosts from here. The four words are for a person to compare:
the computer shows them, the glass shows them, and a held button says that they are the same.
"""

from __future__ import annotations

import hashlib

from firmware.errors import SledwardenError
from firmware.port.words import WORDS
from firmware.signing import SigningKey, is_signed

PROOF_DOMAIN = b"sledwarden host 1\n"
NONCE_BYTES = 32


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
    return is_signed(public_key, signature, challenge(unit_key, nonce))


class HostKey(SigningKey):
    """This computer's own key."""

    whose = "this computer's"
    fault = HostError
    advice = "Move it away and enrol this computer again."

    def prove(self, unit_key: str, nonce: bytes) -> bytes:
        """The signature that answers a unit's challenge."""
        return self.sign(challenge(unit_key, nonce))
