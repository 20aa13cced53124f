"""A service port that is asked message by message: what its tests share."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from journal_samples import written
from port_rig import Rig
from smp.error import MGMT_ERR
from smp.file_management import (
    FileCloseRequest,
    FileDownloadRequest,
    FileHashChecksumRequest,
    FileStatusRequest,
    FileUploadRequest,
    SupportedFileHashChecksumTypesRequest,
)

from firmware.link.handling import Way
from firmware.port.messages import GROUP, INDEX, Command

WIDE = Way("serial", 4096)
SHUT = "the port is shut: hold the rider's button when the glass asks, then try again."
MOVES = "the sled moves, or can't tell that it stands: nothing is given out."


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    written(folder / "journal")
    return folder


@pytest.fixture
def rig(template: Path, tmp_path: Path) -> Iterator[Rig]:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Rig(tmp_path / "journal") as made:
        yield made


@pytest.fixture
def opened(rig: Rig) -> Rig:
    rig.open()
    return rig


def ask(rig: Rig, octets: bytes, who: str = "test", way: Way = WIDE) -> dict[str, Any]:
    """The body of the answer to a message."""
    reply = rig.server.answer(octets, who, way)
    assert reply is not None
    op, _, length, *_ = struct.unpack("!BBHHBB", reply[:8])
    assert op & 1
    assert length == len(reply) - 8 <= way.reply_bytes - 8
    body: dict[str, Any] = cbor2.loads(reply[8:])
    return body


def ours(command: int, body: dict[str, Any] | None = None, *, op: int = 0) -> bytes:
    octets = cbor2.dumps(body or {})
    return struct.pack("!BBHHBB", op | 8, 0, len(octets), GROUP, 1, command) + octets


def download(rig: Rig, name: str, who: str = "test", way: Way = WIDE) -> bytes:
    """A whole file, as a stock client takes it."""
    content, length = b"", 1
    while len(content) < length:
        told = ask(rig, FileDownloadRequest(off=len(content), name=name).BYTES, who, way)
        length = told["len"] if not content else length
        content += told["data"]
        assert told["data"]
    assert len(content) == length
    return content


def index_of(rig: Rig, who: str = "test") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(download(rig, INDEX, who))
    return found


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "journal").glob("*/*.mcap"))


def remote(path: Path) -> str:
    return f"/journal/{path.parent.name}/{path.name}"


LOCKED = [
    FileDownloadRequest(off=0, name=INDEX).BYTES,
    FileStatusRequest(name=INDEX).BYTES,
    FileHashChecksumRequest(name=INDEX).BYTES,
    FileUploadRequest(off=0, name="/journal/x", data=b"x", len=1).BYTES,
    SupportedFileHashChecksumTypesRequest().BYTES,
    FileCloseRequest().BYTES,
    ours(Command.PACKED, {"name": INDEX, "off": 0, "len": 10}),
    ours(Command.HOST, {"key": b"k" * 32, "signature": b"s" * 64, "name": "desk"}, op=2),
]


def all_refused(rig: Rig) -> list[object]:
    """The one reason for which all that needs an opened port is refused."""
    told = [ask(rig, octets) for octets in LOCKED]
    assert [one["rc"] for one in told] == [MGMT_ERR.EACCESSDENIED] * len(LOCKED)
    return list(dict.fromkeys(one["rsn"] for one in told))
