"""What a person names is a regular file, or is refused in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import daemon
from firmware.config.reading import parse as parse_config
from firmware.dash.base import Fitting
from firmware.dash.panel_png import Png
from firmware.drives.script_text import load as load_drive
from firmware.errors import ConfigError, JournalError, LawError, SledwardenError, ZoneError
from firmware.files import refuse_to_replace, whole
from firmware.journal.reader import beside
from firmware.law.packs import load as load_law
from host_tools.packs import build as packs
from host_tools.saving import saved

ROOT = Path(__file__).parent.parent
RUN = [sys.executable, "-c", "from host_tools.cli import main; main()"]
MAP = (
    '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": '
    '{"kind": "dwelling"%s}, "geometry": {"type": "Point", "coordinates": [-88.4, 44.0]}}]}'
)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def fifo(folder: Path) -> Path:
    path = folder / "pipe"
    os.mkfifo(path)
    return path


def link(folder: Path) -> Path:
    target = folder / "target"
    target.write_text("kept")
    path = folder / "link"
    path.symlink_to(target)
    return path


@pytest.mark.parametrize("make", [fifo, link])
def test_what_is_no_regular_file_is_not_replaced(make: object, tmp_path: Path) -> None:
    path: Path = make(tmp_path)  # type: ignore[operator]  # one of the two above
    before = path.lstat()
    with pytest.raises(SledwardenError) as told, saved(path, is_forced=True):
        raise AssertionError("it was let in")
    assert str(told.value) == f"{path}: is no regular file: it is not replaced; name a new file."
    with pytest.raises(ZoneError, match="is no regular file: it is not replaced"):
        packs.write([], path)
    with pytest.raises(SledwardenError, match="is no regular file: it is not replaced"):
        Png.fit(Fitting(png=path))
    assert path.lstat().st_ino == before.st_ino
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(".")) == []


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(SledwardenError, match=r"^/dev/null: is no regular file"):
        refuse_to_replace(Path("/dev/null"))


def test_a_file_is_replaced_where_forced(tmp_path: Path) -> None:
    path = tmp_path / "ride.gpx"
    path.write_text("old")
    with saved(path, is_forced=True) as beside:
        beside.write_text("new")
    assert path.read_text() == "new"


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_bytes(b"x" * 10)
    assert whole(path, "a key", 10) == b"x" * 10
    with pytest.raises(SledwardenError) as told:
        whole(path, "a key", 9)
    assert str(told.value) == f"{path}: is too long: a key of at most 9 bytes was expected."


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_read(path: str) -> None:
    with pytest.raises(SledwardenError) as told:
        whole(Path(path), "a key", 10)
    assert str(told.value) == f"{path}: is no regular file: a key was expected."


def demo_pack(folder: Path) -> Path:
    (folder / "a.geojson").write_text(MAP % "")
    pack = folder / "a.gpkg"
    packs.write(packs.read(folder / "a.geojson"), pack)
    return pack


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["replay", "NODE"], "a recording"),
        (["replay", "LOG", "--config", "NODE"], "a configuration"),
        (["verify", "NODE"], "a journal"),
        (["verify", "tests", "--key", "NODE"], "a public key"),
        (["zones", "at", "PACK", "--points", "NODE"], "a table (CSV)"),
        (["zones", "build", "NODE", "-o", "OUT"], "GeoJSON or another vector map"),
        (["download", "--port", "/dev/none", "--key", "NODE"], "this computer's key"),
    ],
)
@pytest.mark.parametrize("kind", ["zero", "fifo"])
def test_a_command_reads_no_device_and_waits_for_no_fifo(
    kind: str, arguments: list[str], wanted: str, tmp_path: Path
) -> None:
    node = Path("/dev/zero") if kind == "zero" else fifo(tmp_path)
    names = {
        "NODE": node,
        "PACK": demo_pack(tmp_path),
        "OUT": tmp_path / "out.gpkg",
        "LOG": ROOT / "tests" / "data" / "nmea" / "rgm3800.log",
    }
    told = run(*(names.get(word, word) for word in arguments))
    assert told.returncode == 1
    assert told.stderr.strip() == f"{node}: is no regular file: {wanted} was expected."


@pytest.mark.parametrize(
    ("option", "wanted"), [("--simulate", "a drive"), ("--config", "a configuration")]
)
def test_the_daemon_reads_no_device_and_waits_for_no_fifo(
    option: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for node in (Path("/dev/zero"), fifo(tmp_path)):
        assert daemon.main([option, str(node), "--check"]) == 1
        said = f"sledwardend: {node}: is no regular file: {wanted} was expected.\n"
        assert capsys.readouterr().err == said


def test_a_law_pack_is_a_regular_file(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    os.mkfifo(path)
    with pytest.raises(LawError, match="is no regular file: a law pack was expected"):
        load_law(str(path))


def test_a_fifo_among_a_boot_s_segments_is_told(tmp_path: Path) -> None:
    boot = tmp_path / "000001-0123abcd"
    boot.mkdir()
    os.mkfifo(boot / "000001.mcap")
    for command in (["replay"], ["verify"], ["export", "--to", "csv", "-o", str(tmp_path / "o")]):
        told = run(*command, boot)
        assert told.returncode == 1
        assert told.stderr.strip() == (
            f"{boot / '000001.mcap'}: is no regular file: a journal segment was expected."
        )


def test_a_drive_with_a_byte_order_mark_is_a_drive(tmp_path: Path) -> None:
    path = tmp_path / "marked.drive"
    path.write_text("# Name: marked\n# Start: 2026-01-17T22:30:00Z\n0 end\n", "utf-8-sig")
    assert load_drive(path).name == "marked"


@pytest.mark.parametrize("dated", ["2026-02-30", "2026-13-01"])
def test_a_day_that_is_none_is_one_sentence(dated: str, tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(MAP % f', "dated": "{dated}"')
    told = run("zones", "build", path, "-o", tmp_path / "a.gpkg")
    assert told.returncode == 1
    assert told.stderr.startswith(f"{path}: ")
    assert "must be a date like 2026-01-31, 2026-01 or 2026" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_map_in_latin_1_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(MAP % ', "name": "H\u00fctte"', "latin-1")
    told = run("zones", "build", path, "-o", tmp_path / "a.gpkg")
    assert told.returncode == 1
    assert told.stderr == (
        f"{path}: is no UTF-8: a word has the byte 0xfc. Save it again in UTF-8.\n"
    )


def test_a_bad_segment_is_told_by_its_own_path(tmp_path: Path) -> None:
    (tmp_path / "garb.mcap").write_bytes(b"rubbish")
    told = subprocess.run(
        [*RUN, "export", "garb.mcap", "--to", "csv", "-o", "x.csv"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr.startswith("garb.mcap: holds no record that can be read: ")


def test_the_file_beside_a_journal_is_beside_it_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "journal"
    (home / "x").mkdir(parents=True)
    monkeypatch.chdir(home)
    assert beside(Path("."), "hosts") == tmp_path / "journal.hosts"
    assert beside(Path("x/.."), "hosts") == tmp_path / "journal.hosts"
    assert beside(home, "key") == tmp_path / "journal.key"
    with pytest.raises(JournalError, match="is the root: a folder for the journal was expected"):
        beside(Path("/"), "key")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('[unit]\nid = "UTC\\n"', "id"),
        ('[unit]\nid = "a"\nlaw = ["wi\\n"]', "law"),
        ('[unit]\nid = "a"\n[gps]\nport = "/dev/ttyS0\\n"', "port"),
        ('[unit]\nid = "a"\n[feed]\npath = "/run/feed\\n"', "path"),
        ('[unit]\nid = "a"\n[link]\nhost = "0.0.0.0\\n"', "host"),
        ('[unit]\nid = "a"\n[page]\nhost = "::1\\n"', "host"),
        ('[unit]\nid = "a"\n[dash]\npanel = "png\\n"', "panel"),
    ],
)
def test_no_word_of_a_configuration_ends_in_a_line_feed(line: str, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        parse_config(line, "unit.toml")


def test_a_name_that_the_terminal_can_t_show_is_told_with_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(MAP % ', "name": "\u0416uk"', "utf-8")
    assert run("zones", "build", path, "-o", tmp_path / "a.gpkg").returncode == 0
    told = subprocess.run(
        [*RUN, "zones", "at", str(tmp_path / "a.gpkg"), "44.0", "-88.4"],
        capture_output=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    unknown = b"no zone data here: no pack says that it knows the dwellings\n"
    assert (told.returncode, told.stderr) == (0, unknown)
    assert b"?uk" in told.stdout
