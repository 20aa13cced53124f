"""A new key for the unit: the old one vouches for it, and no cut leaves the unit with neither.

    FOLDER.key.next    the new key, safe on the disk
    ledger.jsonl       a `key` line, signed by the old one, that names the new one
    FOLDER.key         the new key is renamed over the old one

A start that finds a next key looks into the ledger: where the line stands, it renames; else the
next key never was.
"""

from __future__ import annotations

from pathlib import Path

from firmware.files import sync_folder
from firmware.journal import ledger
from firmware.journal.folder import LEDGER, Lock, Storage, beside
from firmware.journal.ledger import KeyLine
from firmware.journal.seal import Key


def replace_key(root: Path, unit: str, storage: Storage | None = None) -> tuple[Key, Key]:
    """Replaces the key of a journal's folder; the old one and the new one.

    Raises JournalError while a unit writes in the folder, or where its key is none; OSError.
    """
    storage = storage or Storage()
    lock = Lock(root)
    lock.take()
    try:
        path = beside(root, "key")
        settle(root, path)
        old = Key.load(path)
        new = Key.load(_next(path))
        writer = ledger.Writer(root / LEDGER, unit, storage)
        try:
            writer.open()
            writer.add(KeyLine(unit=unit, new_key=new.public, by="sledwardend --new-key"), old)
        finally:
            writer.close()
        settle(root, path)
        return old, new
    finally:
        lock.free()


def settle(root: Path, path: Path) -> None:
    """Ends a replacement that was cut: the next key takes its place if the ledger names it."""
    coming = _next(path)
    if not coming.exists():
        return
    told = ledger.read(root / LEDGER)
    if told.key == Key.load(coming).public:
        coming.rename(path)
    else:
        coming.unlink()
    sync_folder(path.parent)


def _next(path: Path) -> Path:
    return path.with_name(f"{path.name}.next")
