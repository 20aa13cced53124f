"""What a person brings to the unit: its configuration, zone packs, law packs. Staged, checked, put.

    STATE/staging/NAME    what was sent, whole or not
    STATE/zones/NAME.gpkg STATE/laws/NAME.toml    where packs lie, and beside each
    ....before            the one that was there before: the one step back

Nothing in use is touched before the new file is whole, has the digest that its sender names, and
would be taken by the daemon. Then one rename puts it there. A unit takes what is new at its next
start.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from firmware.config import reading
from firmware.config.schema import Config
from firmware.errors import SledwardenError
from firmware.files import CONFIG_BYTES, sync_folder
from firmware.law import packs as law
from firmware.maps.packs import Pack

STAGING = "/staging/"
RESERVE_BYTES = 64_000_000
"""So much of the disk is the journal's, whatever a person brings."""
PACK_BYTES = 4_000_000_000
MAX_STAGED = 8
"""The oldest makes room: whoever sent it has it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.(toml|gpkg)")
_PIECE_BYTES = 1 << 20


class IntakeError(SledwardenError):
    """What was brought can't be taken: its name, the reason, and what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A file that was put: whether the configuration names it, and whether there is a step back."""

    name: str
    path: Path
    size_bytes: int
    has_before: bool
    is_named: bool


class Intake:
    """The unit's files that may be replaced, and the folder where new ones wait."""

    def __init__(self, config_path: Path, state: Path) -> None:
        self.config_path = config_path
        self._state = state
        self._staging = state / "staging"

    # What is sent.

    def write(self, name: str, offset: int, octets: bytes, length: int | None) -> int:
        """Takes a stretch of a file; the offset that is wanted next.

        Offset 0 begins anew, and needs the length. A stretch that does not go on where the last one
        ended is let fall: the answer says where to go on, also after a pulled cable.
        """
        path = self._staged(name)
        try:
            if offset == 0:
                self._make_room(path, name, length)
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
                with open(os.open(path, flags, 0o600), "wb") as file:
                    file.write(octets)
                return len(octets)
            there = self.size(name)
            if offset != there:
                return there
            if there + len(octets) > _most(path.name):
                raise IntakeError(name, f"is too long: at most {_most(path.name):,} bytes.")
            self._check_room(name, len(octets))
            with open(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "ab") as file:
                file.write(octets)
            return there + len(octets)
        except OSError as fault:
            raise IntakeError(name, f"can't be kept: {fault.strerror}.") from fault

    def size(self, name: str) -> int:
        """How much of a file has come; raises IntakeError where nothing has."""
        path = self._staged(name)
        if path.is_symlink() or not path.is_file():
            raise IntakeError(name, "is not there: it was never sent, or is in use already.")
        return path.stat().st_size

    def digest(self, name: str, kind: str, offset: int, count: int) -> int | bytes:
        """The CRC-32 or SHA-256 of a stretch of what has come of a file."""
        sha256, crc32 = hashlib.sha256(), 0
        with self._staged(name).open("rb") as file:
            file.seek(offset)
            while count > 0 and (piece := file.read(min(count, _PIECE_BYTES))):
                sha256.update(piece)
                crc32 = zlib.crc32(piece, crc32)
                count -= len(piece)
        return crc32 if kind == "crc32" else sha256.digest()

    @property
    def staged(self) -> list[tuple[str, int]]:
        """The files that have come, whole or not, each with its size; oldest first."""
        return [(path.name, path.stat().st_size) for path in self._waiting()]

    # What is put in use.

    def install(self, name: str, sha256: bytes) -> tuple[Path, list[str]]:
        """Puts a staged file in use; where it lies now, and what its sender should know.

        Raises IntakeError, and changes nothing, unless it is whole and would be taken.
        """
        path = self._staged(name)
        if self.digest(name, "sha256", 0, self.size(name)) != sha256:
            raise IntakeError(
                name, "is not what was sent: its SHA-256 is another.", "Send it again, from 0."
            )
        place, notes = self._checked(path)
        try:
            place.parent.mkdir(mode=0o755, exist_ok=True)
            _switch(path, place)
        except OSError as fault:
            raise IntakeError(str(place), f"can't be put: {fault.strerror}.") from fault
        return place, notes

    def install_config(self, text: str) -> Path:
        """Puts a configuration's text in use, as `install` does a file."""
        name = self.config_path.name
        octets = text.encode()
        self.write(STAGING + name, 0, octets, len(octets))
        place, _ = self.install(STAGING + name, hashlib.sha256(octets).digest())
        return place

    def undo(self, name: str) -> Path:
        """Puts back what was in use before, and keeps what it replaces as the step back."""
        place = self._place_of(name)
        before = _before(place)
        if not before.is_file():
            raise IntakeError(name, "has nothing before it: nothing was replaced.")
        self._would_start(place, before)
        again = place.with_name(f"{place.name}.new")
        try:
            again.unlink(missing_ok=True)
            os.link(before, again)
            _switch(again, place)
        except OSError as fault:
            raise IntakeError(str(place), f"can't be put back: {fault.strerror}.") from fault
        return place

    def installed(self) -> Iterator[Installed]:
        """The files that may be replaced: the configuration, and the packs that were put."""
        try:
            in_use = reading.load(self.config_path)
        except SledwardenError:
            in_use = None  # then no daemon starts, and no pack is in use
        for path in [
            self.config_path,
            *sorted(self._folder("zones")),
            *sorted(self._folder("laws")),
        ]:
            if path.is_file():
                is_named = path == self.config_path or (in_use is not None and _names(in_use, path))
                size = path.stat().st_size
                yield Installed(path.name, path, size, _before(path).is_file(), is_named)

    # Where a file belongs, and whether it may go there.

    def _staged(self, name: str) -> Path:
        bare = name.removeprefix(STAGING)
        if not name.startswith(STAGING) or _NAME.fullmatch(bare) is None:
            raise IntakeError(
                name[:80], f"is no name for what is brought: {STAGING}NAME.toml or NAME.gpkg."
            )
        return self._staging / bare

    def _place_of(self, name: str) -> Path:
        bare = name.removeprefix(STAGING)
        if _NAME.fullmatch(bare) is None:
            raise IntakeError(name[:80], "is no file of the unit: NAME.toml or NAME.gpkg.")
        if bare == self.config_path.name:
            return self.config_path
        return self._state / ("zones" if bare.endswith(".gpkg") else "laws") / bare

    def _folder(self, name: str) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for path in (self._state / name).iterdir():
                if _NAME.fullmatch(path.name):
                    yield path

    def _checked(self, path: Path) -> tuple[Path, list[str]]:
        """Where a staged file belongs, and notes; raises SledwardenError where it can't be used."""
        place = self._place_of(path.name)
        self._would_start(place, path)
        if place == self.config_path:
            return place, list(_notes(reading.load(path)))
        if _names(reading.load(self.config_path), place):
            return place, []
        key = "[zones] packs" if path.suffix == ".gpkg" else "[unit] law"
        return place, [f'{key} does not name it yet: add "{place}".']

    def _would_start(self, place: Path, path: Path) -> None:
        """Raises SledwardenError, naming the file as it is known, where the daemon would refuse."""
        try:
            if place == self.config_path:
                self._check_config(reading.load(path))
            elif path.name.removesuffix(".before").endswith(".gpkg"):
                Pack(path).close()
            else:
                law.parse(path.read_bytes(), place.name)
        except SledwardenError as fault:
            raise IntakeError(place.name, str(fault).replace(f"{path}: ", "")) from fault

    def _check_config(self, checked: Config) -> None:
        for word in checked.unit.law if isinstance(checked.unit.law, tuple) else ():
            law.load(word)
        for pack in checked.zones.packs:
            Pack(pack).close()

    def _make_room(self, path: Path, name: str, length: int | None) -> None:
        if length is None:
            raise IntakeError(name, "has no len: the first stretch of a file says its length.")
        if length > _most(path.name):
            raise IntakeError(
                name, f"has {length:,} bytes: at most {_most(path.name):,} are taken."
            )
        self._staging.mkdir(mode=0o700, exist_ok=True)
        path.unlink(missing_ok=True)
        for old in self._waiting()[: 1 - MAX_STAGED]:
            old.unlink(missing_ok=True)
        self._check_room(name, length)

    def _check_room(self, name: str, count: int) -> None:
        room = os.statvfs(self._staging)
        free = room.f_bavail * room.f_frsize
        if free < count + RESERVE_BYTES:
            raise IntakeError(
                name,
                f"needs {count:,} bytes, and {max(0, free - RESERVE_BYTES):,} are free beside what "
                "is the journal's.",
                "Download the journal, or take a pack away.",
            )

    def _waiting(self) -> list[Path]:
        with contextlib.suppress(FileNotFoundError):
            found = [one for one in self._staging.iterdir() if one.is_file()]
            return sorted(found, key=lambda one: one.stat().st_mtime_ns)
        return []


def _most(name: str) -> int:
    return PACK_BYTES if name.endswith(".gpkg") else CONFIG_BYTES


def _names(config: Config, place: Path) -> bool:
    """Whether a configuration names the pack that lies there."""
    law = config.unit.law if isinstance(config.unit.law, tuple) else ()
    named = config.zones.packs if place.suffix == ".gpkg" else law
    return any(Path(one).resolve() == place.resolve() for one in named)


def _notes(checked: Config) -> Iterator[str]:
    if checked.link.serial is None and checked.link.udp is None:
        yield "[link] names no way in: after the next start nobody reaches the unit by its port."


def _before(place: Path) -> Path:
    return place.with_name(f"{place.name}.before")


def _switch(fresh: Path, place: Path) -> None:
    """Puts a whole file in the place of another, which stays as the step back; no cut leaves half.

    An OSError passes through; what is in use is one of the two whole files at every moment.
    """
    new = place.with_name(f"{place.name}.put")
    new.unlink(missing_ok=True)
    try:
        os.link(fresh, new)  # the same disk
    except OSError:
        shutil.copyfile(fresh, new)
    with new.open("rb+") as file:
        os.fchmod(file.fileno(), 0o644)
        os.fsync(file.fileno())
    if place.exists():
        kept = place.with_name(f"{place.name}.kept")
        kept.unlink(missing_ok=True)
        try:
            os.link(place, kept)
        except OSError:
            shutil.copyfile(place, kept)
        kept.rename(_before(place))
    new.rename(place)
    fresh.unlink(missing_ok=True)
    sync_folder(place.parent)
