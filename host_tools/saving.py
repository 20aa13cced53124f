"""A file that is written whole or not at all, and never in the place of a device or a link."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firmware.errors import SledwardenError
from firmware.files import refuse_to_replace


@contextmanager
def saved(path: Path, *, is_forced: bool) -> Iterator[Path]:
    """A file beside `path` to write into, which takes its place once all is written.

    Raises SledwardenError where something stands there already, unless forced, and where the disk
    refuses; then nothing is left behind.
    """
    refuse_to_replace(path)
    if path.exists() and not is_forced:
        raise SledwardenError(
            str(path), "is there already: must be a new file.", "Say --force to replace it."
        )
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", dir=path.parent)
        os.close(descriptor)
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be written: {fault.strerror}.") from fault
    beside = Path(name)
    try:
        yield beside
        beside.chmod(0o666 & ~_umask())  # as any other new file; mkstemp's is for its owner alone
        beside.replace(path)
    except OSError as fault:
        raise SledwardenError(str(path), f"can't be written: {fault.strerror}.") from fault
    finally:
        beside.unlink(missing_ok=True)


def refuse_unwritable(*paths: Path) -> None:
    """Raises SledwardenError where a file can't be written at one of these paths; leaves nothing.

    For what costs a person time before it is written.
    """
    for path in paths:
        refuse_to_replace(path)
        try:
            descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", dir=path.parent)
            os.close(descriptor)
            Path(name).unlink()
        except OSError as fault:
            raise SledwardenError(str(path), f"can't be written: {fault.strerror}.") from fault


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
