"""What an opened port may change, as each request is answered, and by the command at a desk."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from link_asking import ask, ours
from port_rig import Rig
from smp.error import MGMT_ERR
from smp.file_management import FileHashChecksumRequest, FileStatusRequest, FileUploadRequest
from smp.os_management import DateTimeWriteRequest, ResetWriteRequest
from smp.settings_management import (
    CommitSettingsRequest,
    DeleteSettingRequest,
    LoadSettingsRequest,
    ReadSettingRequest,
    SaveSettingsRequest,
    WriteSettingRequest,
)
from test_link_program import smpmgr
from typer.testing import CliRunner, Result

from firmware.config.reading import load
from firmware.link.handling import Way
from firmware.port.messages import Command
from firmware.state import PartSeen
from host_tools.cli import app

CONFIG = '[unit]\nid = "sled-7"\nlaw = ["wi"]\n\n[link]\nudp = 1337\n\n[gps]\nport = "/dev/x"\n'
NAME = "/staging/sledwarden.toml"
NEW = CONFIG.replace("/dev/x", "/dev/serial0").encode()
SHA256 = hashlib.sha256(NEW).digest()
RUNNER = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    config = tmp_path / "etc" / "sledwarden.toml"
    config.parent.mkdir()
    config.write_text(CONFIG)
    with Rig(tmp_path / "journal", config=config) as made:
        made.open()
        yield made


@pytest.fixture
def config(rig: Rig, tmp_path: Path) -> Path:
    return tmp_path / "etc" / "sledwarden.toml"


def upload(rig: Rig, octets: bytes = NEW, name: str = NAME) -> dict[str, Any]:
    return ask(rig, FileUploadRequest(off=0, name=name, data=octets, len=len(octets)).BYTES)


def install(rig: Rig, sha256: bytes = SHA256, name: str = NAME) -> dict[str, Any]:
    return ask(rig, ours(Command.INSTALL, {"name": name, "sha256": sha256}, op=2))


# As each request is answered.


def test_a_file_is_sent_looked_at_and_put_in_use(rig: Rig, config: Path) -> None:
    assert upload(rig) == {"off": len(NEW)}
    assert ask(rig, FileStatusRequest(name=NAME).BYTES) == {"len": len(NEW)}
    told = ask(rig, FileHashChecksumRequest(name=NAME).BYTES)
    assert told == {"type": "sha256", "len": len(NEW), "output": SHA256}
    assert config.read_text() == CONFIG
    assert install(rig) == {"path": str(config), "notes": []}
    assert config.read_bytes() == NEW
    rig.wait(lambda: any(SHA256.hex() in note for note in rig.rider.notes))
    assert ask(rig, ours(Command.INSTALL)) == {
        "staged": [],
        "installed": [
            {
                "name": "sledwarden.toml",
                "len": len(NEW),
                "before": True,
                "named": True,
                "path": str(config),
            }
        ],
    }
    assert ask(rig, ours(Command.UNDO, {"name": "sledwarden.toml"}, op=2)) == {"path": str(config)}
    assert config.read_text() == CONFIG


def test_what_the_daemon_would_refuse_is_refused_with_the_reason(rig: Rig, config: Path) -> None:
    bad = CONFIG.replace("1337", "99999").encode()
    upload(rig, bad)
    told = install(rig, hashlib.sha256(bad).digest())
    assert told["rc"] == MGMT_ERR.EINVAL
    assert "udp = 99999" in told["rsn"]
    assert config.read_text() == CONFIG


LOCKED = [
    FileUploadRequest(off=0, name=NAME, data=b"x", len=1).BYTES,
    FileStatusRequest(name=NAME).BYTES,
    ours(Command.INSTALL),
    ours(Command.INSTALL, {"name": NAME, "sha256": SHA256}, op=2),
    ours(Command.UNDO, {"name": "sledwarden.toml"}, op=2),
    ReadSettingRequest(name="unit.id").BYTES,
    WriteSettingRequest(name="unit.id", val=b'"x"').BYTES,
    DeleteSettingRequest(name="gps.port").BYTES,
    SaveSettingsRequest().BYTES,
    LoadSettingsRequest().BYTES,
    DateTimeWriteRequest(datetime="2026-01-17T22:00:00").BYTES,
    ResetWriteRequest().BYTES,
    ours(Command.SHOW_KEY, {}, op=2),
    ours(Command.FORGET, {"place": "17"}, op=2),
]


def test_nothing_is_changed_while_the_sled_moves(rig: Rig, config: Path) -> None:
    rig.rider.ride(12.0)
    rig.wait(lambda: rig.refusal() != "")
    told = [ask(rig, octets) for octets in LOCKED]
    assert [one["rc"] for one in told] == [MGMT_ERR.EACCESSDENIED] * len(LOCKED)
    assert config.read_text() == CONFIG
    assert "restart" not in [action for action, _ in rig.rider.asked]


def test_settings_go_by_the_protocols_own_group(rig: Rig, config: Path) -> None:
    def value() -> object:
        return ask(rig, ReadSettingRequest(name="gps.port").BYTES)["val"]

    assert value() == b'"/dev/x"'
    assert ask(rig, WriteSettingRequest(name="gps.port", val=b'"/dev/y"').BYTES) == {}
    assert value() == b'"/dev/y"'
    assert ask(rig, LoadSettingsRequest().BYTES) == {}
    assert value() == b'"/dev/x"'
    ask(rig, WriteSettingRequest(name="gps.port", val=b'"/dev/y"').BYTES)
    assert ask(rig, SaveSettingsRequest().BYTES) == {}
    assert load(config).gps.port == "/dev/y"
    rig.wait(lambda: any("settings were saved" in note for note in rig.rider.notes))
    assert ask(rig, DeleteSettingRequest(name="gps.port").BYTES) == {}
    told = ask(rig, CommitSettingsRequest().BYTES)
    assert told["rc"] == MGMT_ERR.ENOTSUP


def test_a_client_that_is_gone_leaves_no_draft(rig: Rig, config: Path) -> None:
    ask(rig, WriteSettingRequest(name="gps.port", val=b'"/dev/y"').BYTES)
    rig.server.forget("test")
    ask(rig, SaveSettingsRequest().BYTES)
    assert config.read_text() == CONFIG


@pytest.mark.parametrize("val", [b"\xff", b"", b"1 2", b"x" * 1500])
def test_a_value_that_is_no_toml_is_refused_in_words(rig: Rig, val: bytes) -> None:
    told = ask(rig, WriteSettingRequest(name="gps.port", val=val).BYTES)
    assert told["rc"] == MGMT_ERR.EINVAL
    assert told["rsn"]


def test_what_is_too_long_for_an_answer_is_said(rig: Rig) -> None:
    narrow = Way("serial", 128)
    told = ask(rig, ReadSettingRequest(name="rules").BYTES, way=narrow)
    assert told["rc"] == MGMT_ERR.ENOMEM


def test_a_restart_is_asked_of_the_daemon(rig: Rig) -> None:
    assert ask(rig, ResetWriteRequest().BYTES) == {}
    rig.wait(lambda: ("restart", "") in rig.rider.asked)


def test_the_date_is_set_only_where_a_battery_clock_wants_it(rig: Rig) -> None:
    def told() -> dict[str, Any]:
        return ask(rig, DateTimeWriteRequest(datetime="2026-01-17T22:00:00.250").BYTES)

    assert told()["rsn"] == "no battery clock is fitted that could be set."
    rig.rider.parts = (PartSeen("rtc"),)
    rig.rider.push()
    rig.wait(lambda: bool(rig.door.state and rig.door.state.parts))
    assert told() == {}
    rig.wait(lambda: ("date", "2026-01-17T22:00:00.250000Z") in rig.rider.asked)
    rig.rider.utc_source = "gps"
    rig.rider.push()
    rig.wait(lambda: bool(rig.door.state and rig.door.state.utc_source == "gps"))
    assert told()["rsn"] == "the date is the satellites': it is not to be set."


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "1999-12-31T23:59:59",
        "2026-13-01T00:00:00",
        "0001-01-01T00:00:00+23:59",  # before the first year of any calendar here
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_a_date_that_is_none_is_refused(rig: Rig, text: str) -> None:
    rig.rider.parts = (PartSeen("rtc"),)
    rig.rider.push()
    rig.wait(lambda: bool(rig.door.state and rig.door.state.parts))
    body = cbor2.dumps({"datetime": text})
    told = ask(rig, struct.pack("!BBHHBB", 10, 0, len(body), 0, 1, 4) + body)
    assert told["rc"] == MGMT_ERR.EINVAL


def test_the_key_and_a_deletion_are_asked_of_the_daemon(rig: Rig) -> None:
    assert ask(rig, ours(Command.SHOW_KEY, {}, op=2)) == {}
    rig.wait(lambda: ("key", "") in rig.rider.asked)
    assert ask(rig, ours(Command.FORGET, {"place": "17/2"}, op=2)) == {}
    rig.wait(lambda: ("forget", "17/2") in rig.rider.asked)
    rig.wait(lambda: any("a deletion of 17/2 was asked for" in one for one in rig.rider.notes))


@pytest.mark.parametrize("place", ["", "0", "17/", "17/0", "../17", "17/2/3", "all", "17\n"])
def test_a_deletion_of_what_is_no_place_is_refused(rig: Rig, place: str) -> None:
    told = ask(rig, ours(Command.FORGET, {"place": place}, op=2))
    assert told["rc"] == MGMT_ERR.EINVAL
    assert "forget" not in [action for action, _ in rig.rider.asked]


# By the command at a desk.


def run(rig: Rig, *words: str | Path) -> Result:
    return RUNNER.invoke(app, ["service", *map(str, words), "--port", rig.port.port])


def test_upload_brings_a_configuration_and_says_what_is_next(
    rig: Rig, config: Path, tmp_path: Path
) -> None:
    given = tmp_path / "sledwarden.toml"
    given.write_bytes(NEW)
    done = run(rig, "upload", given)
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        f"sledwarden.toml: put as {config} ({len(NEW)} bytes).\n"
        "The unit takes it at its next start: sledwarden service restart\n"
    )
    assert config.read_bytes() == NEW
    again = run(rig, "upload", given)
    assert again.exit_code == 0, again.output
    done = run(rig, "undo", "sledwarden.toml")
    assert done.exit_code == 0, done.output


def test_upload_of_a_long_file_goes_on_where_a_pulled_cable_left_it(
    rig: Rig, tmp_path: Path
) -> None:
    law = Path(__file__).parent.parent / "firmware" / "laws" / "wi.toml"
    octets = law.read_bytes()
    assert len(octets) > 5000
    ask(rig, FileUploadRequest(off=0, name="/staging/wi9.toml", data=octets[:1500], len=9).BYTES)
    given = tmp_path / "wi9.toml"
    shutil.copy(law, given)
    done = run(rig, "upload", given)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "laws" / "wi9.toml").read_bytes() == octets


def test_upload_says_the_units_own_reasons(rig: Rig, config: Path, tmp_path: Path) -> None:
    given = tmp_path / "mine.toml"
    given.write_bytes(CONFIG.replace("1337", "99999").encode())
    done = run(rig, "upload", given, "--as", "sledwarden.toml")
    assert done.exit_code == 1
    assert "udp = 99999" in done.output
    assert config.read_text() == CONFIG


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.toml", "can't be read"), ("ride.txt", "a .toml (configuration or law pack) or .gpkg")],
)
def test_upload_of_what_is_no_such_file_is_said(
    rig: Rig, tmp_path: Path, name: str, words: str
) -> None:
    done = run(rig, "upload", tmp_path / name)
    assert done.exit_code == 1
    assert words in done.output


def test_files_and_settings_are_listed_as_json_too(rig: Rig) -> None:
    done = run(rig, "files", "--json")
    assert json.loads(done.stdout) == [
        {"name": "sledwarden.toml", "bytes": len(CONFIG), "in_use": True, "before": False}
    ]
    assert "sledwarden.toml" in run(rig, "files").stdout
    done = run(rig, "setting", "gps.port", "--json")
    assert json.loads(done.stdout) == {"name": "gps.port", "value": '"/dev/x"', "changed": False}


def test_a_pack_that_the_configuration_does_not_name_is_not_listed_as_in_use(
    rig: Rig, config: Path, tmp_path: Path
) -> None:
    given = tmp_path / "wi9.toml"
    shutil.copy(Path(__file__).parent.parent / "firmware" / "laws" / "wi.toml", given)
    put = tmp_path / "laws" / "wi9.toml"
    todo = f'add "{put}"'
    assert f"wi9.toml: put as {put} " in run(rig, "upload", given).stdout
    rows = json.loads(run(rig, "files", "--json").stdout)
    assert [(one["name"], one["in_use"]) for one in rows] == [
        ("sledwarden.toml", True), ("wi9.toml", False),
    ]  # fmt: skip
    told = " ".join(run(rig, "files").stdout.split())
    assert f"wi9.toml: [unit] law does not name it: {todo} to it." in told
    config.write_text(CONFIG.replace('["wi"]', f'["wi", "{put.parent}/../laws/wi9.toml"]'))
    rows = json.loads(run(rig, "files", "--json").stdout)
    assert [one["in_use"] for one in rows] == [True, True]
    config.write_text("torn")
    rows = json.loads(run(rig, "files", "--json").stdout)
    assert [one["in_use"] for one in rows] == [True, False]


def test_a_setting_is_changed_and_taken_out(rig: Rig, config: Path) -> None:
    done = run(rig, "setting", "gps.baud", "115200")
    assert done.stdout.splitlines()[0] == "gps.baud = 115200"
    assert load(config).gps.baud == 115200
    done = run(rig, "setting", "gps.baud", "--unset")
    assert done.stdout.splitlines()[0] == "gps.baud: taken out."
    assert "baud" not in config.read_text()
    done = run(rig, "setting", "gps.baud", "12")
    assert done.exit_code == 1
    assert "baud = 12" in done.output


def test_restart_and_date_say_what_came_of_it(rig: Rig) -> None:
    assert run(rig, "date").stdout == "2026-01-17T22:00:05.250Z\n"
    done = run(rig, "date", "--set")
    assert "no battery clock is fitted" in done.output
    done = run(rig, "restart")
    assert done.exit_code == 0, done.output
    rig.wait(lambda: ("restart", "") in rig.rider.asked)


def test_the_stock_client_sends_a_file_byte_for_byte(rig: Rig, tmp_path: Path) -> None:
    law = Path(__file__).parent.parent / "firmware" / "laws" / "wi.toml"
    done = smpmgr("--port", rig.port.port, "file", "upload", law, "/staging/wi9.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "staging" / "wi9.toml").read_bytes() == law.read_bytes()
