"""Seals: the unit's key, and its signature over all the bytes of a segment up to here.

A stretch is the bytes from the chunk of one seal up to the chunk of the next; the first begins at
byte 0. Each seal signs d = SHA-256(d of the seal before || SHA-256(stretch)). So an edit anywhere
breaks every seal after it. docs/journal.md says it so that a stranger can write a verifier.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from firmware.errors import JournalError
from firmware.files import put_whole
from firmware.journal import record
from firmware.journal.segment import SEAL_ID, Message

if TYPE_CHECKING:  # 33 ms to import, so only the thread that seals or checks pays for it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DOMAIN = b"sledwarden seal 1\n"

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""What every reader of JSON reads to the last digit."""

Kind = Literal["start", "event", "time", "close", "finish"]
LAST_KINDS = ("close", "finish")

_encode = msgspec.json.Encoder().encode


class Seal(msgspec.Struct, frozen=True):
    """What a seal says; the order of the fields is the order in the message.

    `end`, in JSON `bytes`, is where its stretch ends and its own chunk begins. `durable` is how
    much of the file was safe on the disk when it was made: damage before that is no power cut.
    The two times are those of the seal's own MCAP message, as text because JavaScript rounds
    such integers.
    """

    format: _Number
    kind: Kind
    unit: str
    boot: _Number
    boot_id: str
    segment: _Number
    count: _Number
    end: _Number = msgspec.field(name="bytes")
    durable: _Number
    digest: str
    previous: str
    log_time_ns: str
    publish_time_ns: str
    public_key: str
    signature: str = ""

    def signed(self) -> bytes:
        """The bytes that are signed: the message with an empty signature, after a fixed line."""
        return DOMAIN + _encode(msgspec.structs.replace(self, signature=""))

    def message(self) -> Message:
        """The message of this seal, all of whose fields follow from it."""
        times = int(self.log_time_ns), int(self.publish_time_ns)
        return Message(SEAL_ID, self.count, *times, _encode(self))


_DECODER = msgspec.json.Decoder(Seal)
_TIME = re.compile("0|[1-9][0-9]{0,19}")
_DIGEST = re.compile("[0-9a-f]{64}")


def fingerprint(public_key: str) -> str:
    """Sixteen hex digits that stand for a public key, in groups of four to be read aloud."""
    digits = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:16]
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


class Key:
    """The unit's Ed25519 key: 64 hex digits in a file that only its owner can read."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()
        self.fingerprint = fingerprint(self.public)

    @classmethod
    def make(cls) -> Key:
        """A new key that is kept nowhere."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
            Ed25519PrivateKey,
        )

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Key:
        """The key of a file, which is made with mode 0600 where there is none.

        Raises OSError where the disk refuses, JournalError where the file holds no key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
            Ed25519PrivateKey,
        )

        try:
            text = path.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return cls._made_at(path)
        if not re.fullmatch("[0-9a-f]{64}", text):
            raise JournalError(
                str(path),
                "is no key: must be 64 hex digits, the private half of an Ed25519 key.",
                "Restore it from a copy, or move it away to have a new one made.",
            )
        return cls(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text)))

    @classmethod
    def _made_at(cls, path: Path) -> Key:
        """Writes a new key beside its place and then into it, so that no cut leaves half a key."""
        key = cls.make()
        put_whole(path, key._private.private_bytes_raw().hex().encode() + b"\n", 0o600)
        return key

    def sign(self, seal: Seal) -> Seal:
        """The seal with its signature."""
        return msgspec.structs.replace(seal, signature=self.sign_bytes(seal.signed()))

    def sign_bytes(self, octets: bytes) -> str:
        """The signature of any bytes, in hex."""
        return self._private.sign(octets).hex()


@dataclass(slots=True)
class Chain:
    """The seals of one segment as it is written: where the last one was, and its digest."""

    unit: str
    boot: int
    boot_id: str
    segment: int
    previous: str
    count: int = 0
    digest: bytes = bytes(32)

    def next(
        self,
        key: Key,
        kind: Kind,
        stretch_digest: bytes,
        *,
        end: int,
        durable: int,
        log_time_ns: int,
        publish_time_ns: int,
    ) -> Seal:
        """The seal over a stretch that ends at `end`; changes nothing until it is `taken`."""
        digest = hashlib.sha256(self.digest + stretch_digest)
        return key.sign(
            Seal(
                format=record.FORMAT,
                kind=kind,
                unit=self.unit,
                boot=self.boot,
                boot_id=self.boot_id,
                segment=self.segment,
                count=self.count + 1,
                end=end,
                durable=durable,
                digest=digest.hexdigest(),
                previous=self.previous,
                log_time_ns=str(log_time_ns),
                publish_time_ns=str(publish_time_ns),
                public_key=key.public,
            )
        )

    def taken(self, seal: Seal) -> None:
        """Goes on from a seal that stands in the file."""
        self.count = seal.count
        self.digest = bytes.fromhex(seal.digest)


def parse(text: bytes) -> Seal | None:
    """A seal from its message; None unless the bytes are exactly what the seal writes."""
    try:
        seal = _DECODER.decode(text)
        is_same = _encode(seal) == text
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError, RecursionError):
        return None
    are_times = all(_TIME.fullmatch(one) for one in (seal.log_time_ns, seal.publish_time_ns))
    if seal.previous and not _DIGEST.fullmatch(seal.previous):
        return None
    hexes = (seal.digest, 64), (seal.public_key, 64), (seal.signature, 128)
    are_hex = all(re.fullmatch(f"[0-9a-f]{{{size}}}", digits) for digits, size in hexes)
    return seal if is_same and are_hex and are_times else None


def is_signed(seal: Seal, public_key: str) -> bool:
    """Whether the seal was signed with this key."""
    if seal.public_key != public_key:
        return False
    return is_signature(seal.signature, seal.signed(), public_key)


def is_signature(signature: str, octets: bytes, public_key: str) -> bool:
    """Whether the signature, in hex, is this key's under these bytes; never raises."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  # lazy, see above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # lazy
        Ed25519PublicKey,
    )

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), octets)
    except (InvalidSignature, ValueError):
        return False
    return True


def later_seals(rest: bytes, public_key: str) -> list[Seal]:
    """The good seals in bytes that can't be read as records; any key's where none is given."""
    texts = re.findall(rb'\{"format":\d+,"kind":"[^{}]*","signature":"[0-9a-f]{128}"\}', rest)
    found = [seal for seal in map(parse, texts) if seal is not None]
    return [seal for seal in found if is_signed(seal, public_key or seal.public_key)]
