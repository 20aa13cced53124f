"""Whether a map is all there: GDAL takes what is left of some files that were cut for the whole.

A map that lacks its end would make a pack that lacks houses, under a coverage that promises them.
"""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from firmware.errors import ZoneError

_BLOCK: Final = 1 << 20
_LONGEST_HEAD: Final = 64 * 1024  # of a PBF's blob header, by its specification
_TAIL: Final = 1 << 16


def refuse_unless_whole(path: Path) -> None:
    """Raises ZoneError for a map that was cut short, where its form lets that be told."""
    try:
        reason = _why_not(path)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = str(error)
    if reason:
        raise ZoneError(str(path), f"is cut short: {reason.rstrip('.')}.", "Fetch it again.")


def _why_not(path: Path) -> str:
    with path.open("rb") as file:
        if path.suffix == ".gz":
            with gzip.open(file) as inside:
                while inside.read(_BLOCK):
                    pass
        elif path.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                bad = archive.testzip()
            return f"{bad} in it is spoilt" if bad else ""
        elif path.suffix == ".pbf":
            return _cut_blob(file, path.stat().st_size)
        elif path.suffix == ".osm":
            return "" if b"</osm>" in _tail(file) else "it does not end in </osm>"
        elif path.suffix == ".shp":
            file.seek(24)  # the length in words of 16 bits (ESRI's specification of 1998, p. 4)
            told = 2 * int.from_bytes(file.read(4), "big")
            size = path.stat().st_size
            return f"{size} of {told} bytes are there" if size < told else ""
        elif path.suffix in (".geojsonl", ".geojsons", ".ndjson", ".jsonl"):
            return _cut_line(file)
    return ""


def _cut_blob(file: BinaryIO, size: int) -> str:
    """A PBF is a row of blobs: the length of a header, the header, and so much as it says."""
    at = 0
    while at < size:
        file.seek(at)
        head_bytes = int.from_bytes(file.read(4), "big")
        head = file.read(min(head_bytes, _LONGEST_HEAD))
        blob_bytes = _blob_bytes(head)
        if len(head) < head_bytes or blob_bytes is None:
            return f"the block at byte {at} is not whole"
        at += 4 + head_bytes + blob_bytes
    return "" if at == size else f"{size} of {at} bytes are there"


def _blob_bytes(head: bytes) -> int | None:
    """Field 3, a number, of a message whose fields 1 and 2 are texts; None where there is none."""
    at = 0
    while at < len(head):
        key, at = _number(head, at)
        value, at = _number(head, at)
        if key == 3 << 3:
            return value
        if key & 7 == 2:
            at += value
    return None


def _number(message: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, least first, and where the next begins."""
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    return value, at


def _cut_line(file: BinaryIO) -> str:
    """The last line must be a whole object, where it is not longer than what is looked at."""
    tail = _tail(file)
    if tail.endswith(b"\n"):
        return ""
    line = tail.rstrip().rpartition(b"\n")[2].lstrip(b"\x1e")
    if len(line) == _TAIL:
        return ""
    try:
        json.loads(line)
    except ValueError:
        return "its last line is not whole"
    return ""


def _tail(file: BinaryIO) -> bytes:
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    return file.read()
