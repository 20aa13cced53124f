"""`sledwarden units` and `sledwarden download` as they are typed; the archive that they share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from journal_samples import written
from port_rig import Rig
from typer.testing import CliRunner, Result

from firmware.journal import seal, succession
from firmware.port.hosts import HostKey
from host_tools.commands.download import app as download_app
from host_tools.commands.units import app as units_app
from host_tools.journals.archive import ArchiveError, Seen, UnitFile, read_unit
from host_tools.port.reaching import way_of
from host_tools.port.sled import Way

RUNNER = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    written(tmp_path / "journal")
    with Rig(tmp_path / "journal") as made:
        made.open()
        yield made


def download(rig: Rig, tmp_path: Path, *words: str) -> Result:
    asked = ["--port", rig.port.port, "--into", str(tmp_path / "rides"), "--wait", "0"]
    return RUNNER.invoke(download_app, [*asked, "--key", str(tmp_path / "host.key"), *words])


def test_a_download_says_what_came_and_units_lists_it(rig: Rig, tmp_path: Path) -> None:
    told = download(rig, tmp_path)
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.startswith("sled-7: 1 segment new (0.1 MB in 0 s, ")
    assert told.stdout.endswith(f" MB/s), in {tmp_path}/rides/sled-7.\n")
    told = download(rig, tmp_path)
    assert told.stdout == f"sled-7: nothing new; 1 segment in {tmp_path}/rides/sled-7.\n"
    shown = RUNNER.invoke(units_app, [str(tmp_path / "rides")])
    report = succession.check(tmp_path / "journal")
    assert shown.exit_code == 0
    assert "sled-7" in shown.stdout
    assert seal.fingerprint(report.public_key) in shown.stdout
    (one,) = json.loads(RUNNER.invoke(units_app, [str(tmp_path / "rides"), "--json"]).stdout)
    assert one["unit"] == "sled-7"
    assert one["folder"] == f"{tmp_path}/rides/sled-7"
    assert (one["boots"], one["segments"], one["open_segments"]) == (1, 1, 0)
    assert one["bytes"] == sum(path.stat().st_size for path in (tmp_path / "journal").glob("*/*"))


def test_enrolling_shows_the_words_that_the_glass_shows(rig: Rig, tmp_path: Path) -> None:
    import threading

    shown: list[str] = []

    def compare_and_hold() -> None:
        rig.wait(lambda: rig.rider.prompt != "")
        shown.append(" ".join(rig.rider.prompt.split()))
        rig.rider.hold()

    rider = threading.Thread(target=compare_and_hold)
    rider.start()
    told = download(rig, tmp_path, "--enroll")
    rider.join()
    assert told.exit_code == 0, told.output
    words = shown[0].rstrip("?").lower()
    assert f"The glass must show: {words}. If it does, hold the button" in told.stderr
    assert "sled-7 knows this computer now, as " in told.stderr
    key = HostKey.load(tmp_path / "host.key")
    assert key is not None
    assert rig.door.is_enrolled(key.public)
    told = download(rig, tmp_path, "--enroll")
    assert f"This computer ({words}) is enrolled already." in told.stderr


def test_a_unit_s_name_is_no_markup(tmp_path: Path) -> None:
    import msgspec

    folder = tmp_path / "rides" / "x"
    folder.mkdir(parents=True)
    (folder / "unit.json").write_bytes(msgspec.json.encode(UnitFile("[bold]x[/bold]")))
    assert "[bold]x[/bold]" in RUNNER.invoke(units_app, [str(tmp_path / "rides")]).stdout


def test_an_open_segment_is_told(tmp_path: Path) -> None:
    import msgspec

    folder = tmp_path / "rides" / "x"
    folder.mkdir(parents=True)
    known = UnitFile("x", segments={"000001-00000000/000001.mcap": Seen(2_500_000, "ab" * 32)})
    (folder / "unit.json").write_bytes(msgspec.json.encode(known))
    shown = RUNNER.invoke(units_app, [str(tmp_path / "rides")]).stdout
    assert "1 (1 open)" in shown
    assert "2.5" in shown


def test_an_archive_without_a_unit_says_so(tmp_path: Path) -> None:
    shown = RUNNER.invoke(units_app, [str(tmp_path)])
    assert shown.stdout == f"{tmp_path}: no unit was downloaded into it yet.\n"
    assert json.loads(RUNNER.invoke(units_app, [str(tmp_path), "--json"]).stdout) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = RUNNER.invoke(units_app, [str(tmp_path / "none")])
    assert isinstance(told.exception, ArchiveError)
    assert str(told.exception) == (
        f"{tmp_path}/none: is not there: the folder of an archive was expected. "
        "sledwarden download makes one."
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "can't be read: "), ('{"unit": 5}', "can't be read: "), ("[" * 100_000, "can't be read"),
     ('{"unit": "x", "format": 2}', "has format 2: this version reads 1. Update this computer's")],
)  # fmt: skip
def test_a_unit_json_that_is_none_is_told(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "unit.json").write_text(text)
    with pytest.raises(ArchiveError) as told:
        read_unit(tmp_path / "unit.json")
    assert str(told.value).startswith(f"{tmp_path}/unit.json: {what}")


@pytest.mark.parametrize(
    ("udp", "way"),
    [
        ("10.0.0.7", Way(host="10.0.0.7")),
        ("10.0.0.7:99", Way(host="10.0.0.7", udp=99)),
        ("sled.local:99", Way(host="sled.local", udp=99)),
        ("fe80::1", Way(host="fe80::1")),
        ("[fe80::1]", Way(host="fe80::1")),
        ("[fe80::1]:99", Way(host="fe80::1", udp=99)),
    ],
)
def test_an_address_is_read_with_its_port_or_without(udp: str, way: Way) -> None:
    assert way_of(None, udp, 115_200) == way


@pytest.mark.parametrize(
    "words", [("--udp", "x:0"), ("--udp", "x:port"), ("--udp", "x", "--port", "y")]
)
def test_wrong_use_is_told(words: tuple[str, ...]) -> None:
    assert RUNNER.invoke(download_app, list(words)).exit_code == 2
