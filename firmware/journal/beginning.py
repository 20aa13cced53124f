"""How a journal begins, whoever writes it: its start record, and what each segment carries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from firmware import __version__
from firmware.config.schema import Config
from firmware.files import sha256_of
from firmware.journal.record import CONFIG_JSON, CONFIG_TOML, LAW_FOLDER, Start
from firmware.law.packs import path_of, words_of


def start_of(
    config: Config,
    laws: Sequence[str],
    *,
    writer: str = "",
    clock_speed: float = 1.0,
    note: str = "",
) -> Start:
    """The start record of a unit with this configuration under these laws, by their words.

    `writer` names what writes, where that is not the unit. A zone pack that can't be read has an
    empty digest: its source tells why.
    """
    return Start(
        unit=config.unit.id,
        software=" ".join(["sledwarden", __version__, *([writer] if writer else [])]),
        vehicle=config.unit.vehicle,
        laws=tuple(laws),
        packs={Path(pack).name: _digest(Path(pack)) for pack in config.zones.packs},
        clock_speed=clock_speed,
        note=note,
        consents=tuple(dict.fromkeys(config.zones.consents)),
    )


def attachments_of(
    config: Config, laws: Sequence[str], given: bytes = b""
) -> list[tuple[str, bytes]]:
    """The laws; the configuration's text as it was given, where there was one; and the whole of it
    as it is in force, with its defaults and with what a drive's header changed."""
    packs = [path_of(word) for word in words_of(laws)]
    return [
        *((f"{LAW_FOLDER}{path.name}", path.read_bytes()) for path in packs),
        *([(CONFIG_TOML, given)] if given else []),
        (CONFIG_JSON, msgspec.json.encode(config)),
    ]


def _digest(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError:
        return ""
