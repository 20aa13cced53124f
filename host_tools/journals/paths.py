"""What a person names on the command line, as journals: segments, boots, folders, an archive.

An archive is `DIR/UNIT/BOOT/SEGMENT.mcap` with `DIR/UNIT/unit.json`; a unit's part of it is laid
out as the unit's own journal folder is. Segments that were copied elsewhere are told apart by what
their first seals say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from firmware.errors import JournalError
from firmware.files import refuse_unless_regular
from firmware.journal import folder, seal, segment, stored
from firmware.journal.folder import Place
from firmware.journal.seal import Seal
from firmware.journal.segment import Scan
from firmware.journal.stored import Identity

_HEAD_BYTES = 256 * 1024
"""Holds the attachments and the first seal of any segment seen so far; else all is read."""

_WANTED = "must be a .mcap or .mcap.zst segment, a boot's folder, a journal's folder or an archive."


@dataclass(slots=True)
class Source:
    """The segments of one journal, in their order. `is_all` says that its whole folder was named,
    so that what is not there is missing."""

    where: Path
    places: list[Place] = field(default_factory=list)
    is_all: bool = False


def find(paths: Iterable[Path]) -> list[Source]:
    """The journals that the paths name; raises JournalError for a path that names none."""
    sources: dict[Path, Source] = {}
    loose: list[Path] = []
    for path in paths:
        if not path.exists():
            raise JournalError(str(path), f"is not there: {_WANTED}")
        try:
            refuse_unless_regular(path, "a journal", JournalError)
            loose += _file(path, sources) if path.is_file() else _folder(path, sources)
        except OSError as fault:
            raise JournalError(str(path), f"can't be read: {fault.strerror}.") from fault
    for source in sources.values():
        source.places = sorted(set(source.places))
    for one in [*loose, *(place.path for source in sources.values() for place in source.places)]:
        try:
            refuse_unless_regular(one, "a journal segment", JournalError)
        except OSError:
            continue  # a link to nowhere: who reads it says so, and goes on with the others
    return [*sources.values(), *_by_unit(dict.fromkeys(loose))]


def head_of(path: Path, identity: Identity | None = None) -> tuple[bytes, Scan]:
    """A segment's bytes up to its first seal at least, and what is whole in them.

    All of the segment where its head has no seal. Raises OSError, and JournalError where what was
    stored compressed or encrypted can't be opened.
    """
    content = stored.read_head(path, _HEAD_BYTES, identity)
    found = segment.scan(content)
    if not found.seals:
        content = stored.read(path, identity)
        found = segment.scan(content)
    return content, found


def first_seal(path: Path) -> Seal | None:
    """The first seal of a segment; None where there is none that is whole."""
    try:
        _, found = head_of(path)
    except (OSError, JournalError):
        return None
    return seal.parse(found.seals[0].message.text) if found.seals else None


def _file(path: Path, sources: dict[Path, Source]) -> list[Path]:
    (place,) = folder.segments(path)
    if not place.boot:
        return [path]
    _source(path.resolve().parent.parent, sources).places.append(place)
    return []


def _folder(path: Path, sources: dict[Path, Source]) -> list[Path]:
    if folder.boots(path):
        _take_all(path, sources)
        return []
    places = folder.segments(path)
    if places:  # one boot
        _source(path.resolve().parent, sources).places += places
        return []
    units = [one for one in sorted(path.iterdir()) if one.is_dir() and folder.boots(one)]
    for one in units:
        _take_all(one, sources)
    loose = sorted(one for one in path.iterdir() if one.name.endswith(stored.FORMS))
    if not units and not loose:
        raise JournalError(str(path), f"holds no journal segment: {_WANTED}")
    return [] if units else loose


def _take_all(path: Path, sources: dict[Path, Source]) -> None:
    source = _source(path.resolve(), sources)
    source.places += folder.segments(path)
    source.is_all = True


def _source(home: Path, sources: dict[Path, Source]) -> Source:
    return sources.setdefault(home, Source(home))


def _by_unit(paths: Iterable[Path]) -> list[Source]:
    """Files that lie in no journal's folder: in the order of the numbers in their first seals."""
    found: dict[tuple[str, str], Source] = {}
    for path in paths:
        first = first_seal(path)
        whose = (first.unit, first.public_key) if first is not None else ("", str(path))
        numbers = (first.boot, first.segment) if first is not None else (0, 0)
        found.setdefault(whose, Source(path)).places.append(Place(*numbers, path))
    for source in found.values():
        source.places.sort()
    return list(found.values())
