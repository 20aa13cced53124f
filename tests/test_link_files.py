"""The files of the service port: the index, the segments, and a journal that grows."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import cbor2
import link_asking
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journal_samples import journal_in, put_all, ride, written
from link_asking import ask, download, index_of, ours, remote, segments
from port_rig import Rig
from smp.error import MGMT_ERR
from smp.file_management import (
    FS_MGMT_ERR,
    FileCloseRequest,
    FileDownloadRequest,
    FileHashChecksumRequest,
    FileStatusRequest,
    FileUploadRequest,
    SupportedFileHashChecksumTypesRequest,
)

from firmware.journal import stored
from firmware.link.handling import LONGEST_REPLY_BYTES, Way
from firmware.link.ways import DATAGRAM_BYTES
from firmware.port.messages import INDEX, Command

template, rig, opened = link_asking.template, link_asking.rig, link_asking.opened


def test_the_index_names_every_segment_and_whose_they_are(opened: Rig, tmp_path: Path) -> None:
    written(tmp_path / "journal")
    index = index_of(opened)
    assert (index["format"], index["unit"]) == (1, "sled-7")
    assert bytes.fromhex(index["public_key"]) == ask(opened, ours(Command.IDENTITY))["key"]
    told = {f"{boot['name']}/{one['name']}": one
            for boot in index["boots"] for one in boot["segments"]}  # fmt: skip
    paths = segments(tmp_path)
    assert [f"{path.parent.name}/{path.name}" for path in paths] == list(told)
    for path, one in zip(paths, told.values(), strict=True):
        assert one == {
            "name": path.name,
            "bytes": path.stat().st_size,
            "closed": True,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }


def test_a_segment_comes_byte_for_byte(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    for room in (256, DATAGRAM_BYTES, 4096, LONGEST_REPLY_BYTES):
        assert download(opened, remote(path), way=Way("way", room)) == path.read_bytes()
        assert download(opened, INDEX, way=Way("way", room)) == download(opened, INDEX)


@pytest.mark.parametrize("room", [256, DATAGRAM_BYTES, 16384])
def test_a_packed_stretch_is_the_file_s_wherever_it_begins(
    opened: Rig, tmp_path: Path, room: int
) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)
    for offset in (0, 1, 8192, len(content) - 1, len(content)):
        body = {"name": name, "off": offset, "len": 8192}
        told = ask(opened, ours(Command.PACKED, body), way=Way("way", room))
        octets = zlib.decompress(told["data"])
        assert octets == content[offset : offset + told["raw"]]
        assert (told["off"], told["len"]) == (offset, len(content))
        assert told["raw"] > 0 or offset == len(content)


def test_the_digests_are_those_of_the_stretch(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)

    def digest(**how: Any) -> dict[str, Any]:
        return ask(opened, FileHashChecksumRequest(name=name, **how).BYTES)

    whole = {"type": "sha256", "len": len(content), "output": hashlib.sha256(content).digest()}
    assert digest() == whole
    assert digest(type="sha256", off=0, len=len(content) + 1) == whole
    assert digest(type="crc32")["output"] == zlib.crc32(content)
    assert digest(off=10, len=5000) == {
        "type": "sha256",
        "off": 10,
        "len": 5000,
        "output": hashlib.sha256(content[10:5010]).digest(),
    }
    assert digest(type="crc32", len=9)["output"] == zlib.crc32(content[:9])
    index = download(opened, INDEX)
    told = ask(opened, FileHashChecksumRequest(name=INDEX).BYTES)
    assert told["output"] == hashlib.sha256(index).digest()
    assert ask(opened, FileStatusRequest(name=name).BYTES) == {"len": len(content)}
    assert ask(opened, FileStatusRequest(name=INDEX).BYTES) == {"len": len(index)}


def test_the_kinds_of_digest_are_told(opened: Rig) -> None:
    assert ask(opened, SupportedFileHashChecksumTypesRequest().BYTES) == {
        "types": {"crc32": {"format": 0, "size": 4}, "sha256": {"format": 1, "size": 32}}
    }
    assert ask(opened, FileCloseRequest().BYTES) == {}
    body = cbor2.dumps({"name": INDEX, "type": "md5"})
    told = ask(opened, struct.pack("!BBHHBB", 8, 0, len(body), 8, 1, 2) + body)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.CHECKSUM_HASH_NOT_FOUND}}


def test_a_port_without_a_configuration_takes_no_file(opened: Rig, tmp_path: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    told = ask(opened, FileUploadRequest(off=0, name="/journal/x", data=b"x", len=1).BYTES)
    words = "this port was started without --config: it takes nothing."
    assert told == {"rc": MGMT_ERR.ENOTSUP, "rsn": words}
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


FALSE_NAMES = [
    ("", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT/", FS_MGMT_ERR.FILE_IS_DIRECTORY),
    ("/journal/BOOT/000009.mcap", FS_MGMT_ERR.FILE_NOT_FOUND),
    ("/journal/999999-00000000/000001.mcap", FS_MGMT_ERR.FILE_NOT_FOUND),
    ("/journal/../journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/../../journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/../BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/boots", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/lock", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal.key", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/etc/passwd", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/dev/zero", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/000001.mcap\0", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT\0/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/000001.mcap\n", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("//journal/BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("journal/BOOT/000001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/BOOT/\N{ARABIC-INDIC DIGIT ONE}00001.mcap", FS_MGMT_ERR.FILE_INVALID_NAME),
    ("/journal/" + "x" * 1500, FS_MGMT_ERR.FILE_INVALID_NAME),
]


def test_no_other_name_has_a_file(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    for name, code in FALSE_NAMES:
        name = name.replace("BOOT", path.parent.name)  # noqa: PLW2901  # the name that is meant
        packed = ours(Command.PACKED, {"name": name, "off": 0, "len": 10})
        for octets in (FileDownloadRequest(off=0, name=name).BYTES,
                       FileStatusRequest(name=name).BYTES,
                       FileHashChecksumRequest(name=name).BYTES, packed):  # fmt: skip
            assert ask(opened, octets) == {"err": {"group": 8, "rc": code}}, name


def test_no_link_and_no_device_is_followed(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "000001.mcap").write_bytes(path.read_bytes())
    (path.parent / "000002.mcap").symlink_to(tmp_path / "journal.key")
    (path.parent / "000003.mcap").symlink_to(path)
    os.mkfifo(path.parent / "000004.mcap")
    (path.parent / "000005.mcap").mkdir()
    os.symlink("/dev/zero", path.parent / "000006.mcap")
    (tmp_path / "journal" / "000007-00000000").symlink_to(secret)
    names = [f"/journal/{path.parent.name}/00000{number}.mcap" for number in range(2, 7)]
    names.append("/journal/000007-00000000/000001.mcap")
    for name in names:
        told = ask(opened, FileDownloadRequest(off=0, name=name).BYTES)
        assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}, name
    (boot,) = index_of(opened)["boots"]
    assert [one["name"] for one in boot["segments"]] == ["000001.mcap"]


FALSE_FORMS: list[dict[str, Any]] = [
    {"off": -1, "name": INDEX}, {"off": "0", "name": INDEX}, {"off": 0}, {"name": INDEX},
    {"off": 0, "name": b"/journal"}, {"off": 0, "name": None}, {"off": 1 << 60, "name": INDEX},
    {"off": 0.0, "name": INDEX}, {"off": True, "name": 5},
]  # fmt: skip


def test_a_request_of_another_form_is_refused(opened: Rig) -> None:
    for body in FALSE_FORMS:
        octets = cbor2.dumps(body)
        told = ask(opened, struct.pack("!BBHHBB", 8, 0, len(octets), 8, 1, 0) + octets)
        assert told["rc"] == MGMT_ERR.EINVAL


def test_an_offset_past_the_end_is_refused(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    size = path.stat().st_size
    told = ask(opened, FileDownloadRequest(off=size, name=remote(path)).BYTES)
    assert told == {"off": size, "len": size, "data": b""}
    told = ask(opened, FileDownloadRequest(off=size + 1, name=remote(path)).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_OFFSET_LARGER_THAN_FILE}}


@given(group=st.sampled_from([0, 8, 64, 9]), command=st.integers(0, 10), op=st.sampled_from([0, 2]),
       version=st.sampled_from([0, 1]),
       body=st.dictionaries(
           st.sampled_from(["off", "name", "len", "type", "key", "d", "format", "data", "x"]),
           st.one_of(st.none(), st.integers(), st.text(max_size=40), st.binary(max_size=70),
                     st.sampled_from([INDEX, "/journal", 0, 1, "sha256", "crc32"]),
                     st.floats(), st.lists(st.integers(), max_size=3)), max_size=5))  # fmt: skip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300,
          deadline=None)  # fmt: skip
def test_no_request_breaks_the_port(
    opened: Rig, group: int, command: int, op: int, version: int, body: dict[str, Any]
) -> None:
    octets = cbor2.dumps(body)
    head = struct.pack("!BBHHBB", op | version << 3, 0, len(octets), group, 1, command)
    ask(opened, head + octets)
    assert opened.refusal() == ""


# A journal that grows.


def test_a_segment_that_grows_is_given_up_to_what_is_durable(tmp_path: Path) -> None:
    journal = journal_in(tmp_path / "journal")
    journal.open()
    with Rig(tmp_path / "journal") as rig:
        put_all(journal, ride(300))
        rig.open()
        (path,) = segments(tmp_path)
        (one,) = index_of(rig)["boots"][0]["segments"]
        content = path.read_bytes()
        assert one == {"name": "000001.mcap", "bytes": one["bytes"], "closed": False}
        assert 0 < one["bytes"] < len(content)
        taken = download(rig, remote(path))
        assert taken == content[: one["bytes"]]

        # In the middle of a download the file grows, and ends: the client gets what it was told.
        ask(rig, FileDownloadRequest(off=0, name=remote(path)).BYTES)
        put_all(journal, ride(300, 130.0))
        assert journal.close(160.0, timeout_s=60.0)
        assert path.read_bytes().startswith(taken)
        rest = ask(rig, FileDownloadRequest(off=len(taken) - 10, name=remote(path)).BYTES)
        assert rest == {"off": len(taken) - 10, "len": len(taken), "data": taken[-10:]}
        (one,) = index_of(rig)["boots"][0]["segments"]
        assert (one["closed"], one["bytes"]) == (True, path.stat().st_size)
        assert download(rig, remote(path)) == path.read_bytes()


@pytest.mark.parametrize("at", [1, 100, 3000])
def test_a_segment_that_is_compressed_in_the_middle_is_given_on(
    opened: Rig, tmp_path: Path, at: int
) -> None:
    (path,) = segments(tmp_path)
    content, name = path.read_bytes(), remote(path)
    first = ask(opened, FileDownloadRequest(off=0, name=name).BYTES)["data"]
    path.with_name(f"{path.name}.zst").write_bytes(stored.packed(content))
    path.unlink()
    rest = ask(opened, FileDownloadRequest(off=at, name=name).BYTES)
    assert first[:1] == content[:1]
    assert rest["data"] == content[at : at + len(rest["data"])]
    assert download(opened, name) == content  # and from its beginning, by a client that began anew
    told = ask(opened, FileHashChecksumRequest(name=name).BYTES)
    assert told["output"] == hashlib.sha256(content).digest()
    (one,) = index_of(opened)["boots"][0]["segments"]
    assert one["name"] == f"{path.name}.zst"
    packed = path.with_name(one["name"]).read_bytes()
    assert download(opened, f"{name}.zst") == packed


def test_what_was_cut_from_a_damaged_segment_is_in_the_index_and_given_out(
    opened: Rig, tmp_path: Path
) -> None:
    (path,) = segments(tmp_path)
    piece = path.with_suffix(".torn")
    piece.write_bytes(b"damaged" * 1000)
    (one,) = index_of(opened)["boots"][0]["segments"]
    assert (one["name"], one["torn"]) == (path.name, 7000)
    assert download(opened, remote(piece)) == piece.read_bytes()
    told = ask(opened, FileHashChecksumRequest(name=remote(piece)).BYTES)
    assert told["output"] == hashlib.sha256(piece.read_bytes()).digest()
    told = ask(opened, FileStatusRequest(name=remote(piece).replace("000001", "000009")).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}


def test_a_segment_that_goes_in_the_middle_is_refused(opened: Rig, tmp_path: Path) -> None:
    (path,) = segments(tmp_path)
    ask(opened, FileDownloadRequest(off=0, name=remote(path)).BYTES)
    path.unlink()
    told = ask(opened, FileDownloadRequest(off=100, name=remote(path)).BYTES)
    assert told == {"err": {"group": 8, "rc": FS_MGMT_ERR.FILE_NOT_FOUND}}


def test_an_empty_journal_has_an_index_without_a_key(tmp_path: Path) -> None:
    with Rig(tmp_path / "journal") as rig:
        rig.open()
        index = index_of(rig)
        assert (index["boots"], index["public_key"], index["fingerprint"]) == ([], "", "")
        assert ask(rig, ours(Command.IDENTITY))["key"] == b""
