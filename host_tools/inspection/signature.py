"""A sheet's signature: the last line of its HTML, over every byte before it.

It proves that whoever holds the key signed these bytes. Whose key that is, is told by its four
words, which the dealer gives, or by `--signer`, the dealer's public key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from firmware.port.hosts import words_of
from firmware.signing import SigningKey, is_signed

DOMAIN = b"sledwarden inspection sheet 1\n"

_LINE = re.compile(
    rb"<!-- sledwarden-signature key=([0-9a-f]{64}) signature=([0-9a-f]{128}) -->\n?"
)


@dataclass(frozen=True, slots=True)
class Proof:
    """What a sheet proves: `fault` says why nothing, and is empty where its signature is good."""

    key: str = ""
    fault: str = ""

    @property
    def words(self) -> str:
        """The four words of the key that signed."""
        return words_of(bytes.fromhex(self.key)) if self.key else ""


def signed(page: bytes, key: SigningKey) -> bytes:
    """The page with its signature as the last line."""
    page = page if page.endswith(b"\n") else page + b"\n"
    signature = key.sign(DOMAIN + page).hex()
    line = f"<!-- sledwarden-signature key={key.public.hex()} signature={signature} -->\n"
    return page + line.encode()


def proof_of(octets: bytes) -> Proof:
    """What the signature of a sheet proves."""
    body, sep, last = octets.rstrip(b"\n").rpartition(b"\n")
    found = _LINE.fullmatch(last)
    if not sep or found is None:
        if b"sledwarden-signature" in octets:
            return Proof(fault="something stands after its signature, or it was cut")
        return Proof(fault="it has no signature")
    if octets.count(b"<!-- sledwarden-signature ") != 1:
        return Proof(fault="it has more than one signature")
    key, signature = found[1].decode(), bytes.fromhex(found[2].decode())
    if not is_signed(bytes.fromhex(key), signature, DOMAIN + body + b"\n"):
        return Proof(key, "it is not what was signed: it was changed")
    return Proof(key)
