"""How a closed segment is stored: as it was sealed, compressed, or encrypted to its owner too.

    000001.mcap            as it was sealed; the only form that grows
    000001.mcap.zst        one Zstandard frame (RFC 8878) of it
    000001.mcap.zst.age    that, encrypted in the age format (age-encryption.org/v1)

Whoever reads gets the sealed bytes from here, whichever form they have. The only door to
zstandard and pyrage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from firmware.errors import JournalError
from firmware.files import KEY_BYTES, whole

if TYPE_CHECKING:  # only who stores or opens a stored segment pays for them
    import pyrage

RAW = ".mcap"
PACKED = ".mcap.zst"
LOCKED = ".mcap.zst.age"
FORMS = (RAW, PACKED, LOCKED)
"""The endings of a segment's file; where there are several of one segment, the first counts."""

NAME = re.compile(r"(\d{6})(\.mcap|\.mcap\.zst|\.mcap\.zst\.age)")

SEARCH = {
    "window_log": 22,
    "chain_log": 20,
    "hash_log": 18,
    "search_log": 8,
    "min_match": 3,
    "target_length": 999,
}
"""How Zstandard's best search (`btultra2`, level 19 and above) looks about: in 11 MB of memory it
packs as small as level 19 in 90 MB, a tenth smaller than level 17 in 55 MB, in less than twice the
time of that. What is alike in a journal lies near."""

MOST_BYTES = 256 * 1024 * 1024
"""The most that a stored segment may unpack to: 16 times the length at which one is closed."""

_MOST_WINDOW_BYTES = 8 * 1024 * 1024
_RECIPIENT = re.compile(r"age1[02-9ac-hj-np-z]{58}")
_IDENTITY = re.compile(r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}")


class Owner:
    """Whom closed segments are encrypted to: one or more age public keys of a file."""

    def __init__(self, recipients: Sequence[pyrage.x25519.Recipient]) -> None:
        self._recipients = list(recipients)

    @classmethod
    def load(cls, path: Path) -> Owner:
        """The keys of a file, one `age1...` a line, `#` before a remark; raises JournalError."""
        age = _age(path)
        lines = _lines(path, "an owner's public key")
        wrong = next((line for line in lines if not _RECIPIENT.fullmatch(line)), None)
        if not lines or wrong is not None:
            what = f"the line {wrong[:16]!r} is no key" if wrong else "has no key"
            raise JournalError(
                str(path),
                f"{what}: must hold the owner's public age key, age1 and 58 letters more.",
                "Make a pair with age-keygen, and keep its secret half off the unit.",
            )
        try:
            return cls([age.x25519.Recipient.from_str(line) for line in lines])
        except age.RecipientError as fault:
            raise JournalError(str(path), f"is no age key: {fault}.") from fault

    def locked(self, octets: bytes) -> bytes:
        """The bytes, for the owner's eyes only."""
        import pyrage  # noqa: PLC0415  # it was there when the key was loaded

        return bytes(pyrage.encrypt(octets, self._recipients))


class Identity:
    """The secret half of an owner's key, which opens what was encrypted to them."""

    def __init__(self, identities: Sequence[pyrage.x25519.Identity], path: Path) -> None:
        self._identities = list(identities)
        self._path = path

    @classmethod
    def load(cls, path: Path) -> Identity:
        """The secret keys of a file as age-keygen writes it; raises JournalError."""
        age = _age(path)
        lines = _lines(path, "an owner's secret key")
        if not lines or not all(_IDENTITY.fullmatch(line) for line in lines):
            raise JournalError(
                str(path),
                "is no identity: must hold AGE-SECRET-KEY-1 and 58 letters more.",
                "It is the file that age-keygen made, not the public key on the unit.",
            )
        try:
            return cls([age.x25519.Identity.from_str(line) for line in lines], path)
        except age.IdentityError as fault:
            raise JournalError(str(path), f"is no identity: {fault}.") from fault

    def opened(self, octets: bytes, where: str) -> bytes:
        """What the owner's key opens; raises JournalError."""
        import pyrage  # noqa: PLC0415  # it was there when the key was loaded

        try:
            return bytes(pyrage.decrypt(octets, self._identities))
        except pyrage.DecryptError as fault:
            raise JournalError(
                where,
                f"can't be decrypted with {self._path}: {fault}.",
                "It was encrypted to another owner, or was changed.",
            ) from fault


def form_of(path: Path) -> str:
    """The form of a segment's file by its name; RAW for one with a name of its own."""
    return next((form for form in (LOCKED, PACKED) if path.name.endswith(form)), RAW)


def raw_path(path: Path) -> Path:
    """Where the segment stood when it was sealed."""
    form = form_of(path)
    return path.with_name(path.name[: -len(form)] + RAW) if form != RAW else path


def packed(raw: bytes) -> bytes:
    """The segment as one Zstandard frame, with its length and a checksum."""
    import zstandard  # noqa: PLC0415  # 12 ms, only where it is used

    search = zstandard.ZstdCompressionParameters(
        **SEARCH, strategy=zstandard.STRATEGY_BTULTRA2, write_content_size=1, write_checksum=1
    )
    return zstandard.ZstdCompressor(compression_params=search).compress(raw)


def unpacked(octets: bytes, where: str) -> bytes:
    """What one Zstandard frame holds, and no more than MOST_BYTES of it; raises JournalError."""
    import zstandard  # noqa: PLC0415  # 12 ms, only where it is used

    try:
        head = zstandard.get_frame_parameters(octets)
        if not 0 < head.content_size <= MOST_BYTES or head.window_size > _MOST_WINDOW_BYTES:
            raise JournalError(where, "is no stored segment: its length is missing or too large.")
        opener = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW_BYTES)
        return opener.decompress(octets, max_output_size=MOST_BYTES, allow_extra_data=False)
    except zstandard.ZstdError as fault:
        raise JournalError(
            where,
            f"can't be unpacked: {fault}.",
            "It is cut or was changed: sledwarden verify says what still stands.",
        ) from fault


def sealed_bytes(octets: bytes, path: Path, identity: Identity | None = None) -> bytes:
    """The bytes that were sealed, from those of a file of this name; raises JournalError."""
    form = form_of(path)
    if form == LOCKED:
        if identity is None:
            raise JournalError(
                str(path),
                "is encrypted to its owner.",
                "Give the owner's secret key: --identity FILE",
            )
        octets = identity.opened(octets, str(path))
    return octets if form == RAW else unpacked(octets, str(path))


def file_bytes(path: Path) -> bytes:
    """The bytes of a segment's file as they are; raises OSError, and JournalError for too many."""
    if path.stat().st_size > MOST_BYTES:
        raise JournalError(str(path), f"is too long: at most {MOST_BYTES:,} bytes were expected.")
    return path.read_bytes()


def read(path: Path, identity: Identity | None = None) -> bytes:
    """The sealed bytes of a segment's file in any form; raises OSError and JournalError."""
    return sealed_bytes(file_bytes(path), path, identity)


def read_head(path: Path, count: int, identity: Identity | None = None) -> bytes:
    """The first sealed bytes of a segment's file, without opening all of it where it can be."""
    form = form_of(path)
    if form == LOCKED:
        return read(path, identity)[:count]
    with path.open("rb") as file:
        if form == RAW:
            return file.read(count)
        import zstandard  # noqa: PLC0415  # 12 ms, only where it is used

        try:
            opener = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW_BYTES)
            with opener.stream_reader(file, read_across_frames=False) as stream:
                return bytes(stream.read(count))
        except zstandard.ZstdError as fault:
            raise JournalError(str(path), f"can't be unpacked: {fault}.") from fault


def _lines(path: Path, wanted: str) -> list[str]:
    try:
        text = whole(path, wanted, KEY_BYTES, JournalError).decode("ascii", "replace")
    except OSError as fault:
        raise JournalError(
            str(path), f"can't be read: {fault.strerror}: {wanted} was expected."
        ) from fault
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _age(path: Path) -> ModuleType:
    """pyrage, an option of the unit and of the desk; raises JournalError where it is not there."""
    try:
        import pyrage  # noqa: PLC0415  # only who has an owner's key needs it
    except ImportError as fault:
        raise JournalError(
            str(path), "needs pyrage, which is not installed.", "Install it: pip install pyrage"
        ) from fault
    age: ModuleType = pyrage
    return age
