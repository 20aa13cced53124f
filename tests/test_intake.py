"""What is brought to a unit: staged, checked, put in use, and one step back."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from firmware.errors import SledwardenError
from firmware.files import CONFIG_BYTES
from firmware.link import intake as intaking
from firmware.link.intake import MAX_STAGED, STAGING, Intake, IntakeError

CONFIG = '[unit]\nid = "sled-7"\nlaw = ["wi"]\n\n[gps]\nport = "/dev/serial0"  # the UART\n'
NAME = f"{STAGING}sledwarden.toml"


@pytest.fixture
def intake(tmp_path: Path) -> Intake:
    path = tmp_path / "etc" / "sledwarden.toml"
    path.parent.mkdir()
    path.write_text(CONFIG)
    (tmp_path / "var").mkdir()
    return Intake(path, tmp_path / "var")


def send(intake: Intake, name: str, octets: bytes, step: int = 7) -> None:
    offset = 0
    while offset < len(octets) or not octets:
        length = len(octets) if offset == 0 else None
        wanted = intake.write(name, offset, octets[offset : offset + step], length)
        assert wanted == min(offset + step, len(octets))
        offset = wanted
        if not octets:
            break


def bring(intake: Intake, name: str, octets: bytes) -> tuple[Path, list[str]]:
    send(intake, name, octets, step=4096)
    return intake.install(name, hashlib.sha256(octets).digest())


def refused(intake: Intake, name: str, octets: bytes) -> str:
    with pytest.raises(SledwardenError) as fault:
        bring(intake, name, octets)
    return str(fault.value)


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*") if path.is_file()
    }  # fmt: skip


def test_a_new_configuration_takes_the_place_of_the_old_one_which_stays_as_the_step_back(
    intake: Intake,
) -> None:
    new = CONFIG.replace("sled-7", "sled-8").encode()
    place, notes = bring(intake, NAME, new)
    assert place == intake.config_path
    assert place.read_bytes() == new
    assert place.with_name("sledwarden.toml.before").read_text() == CONFIG
    assert notes == [
        "[link] names no way in: after the next start nobody reaches the unit by its port."
    ]
    assert intake.staged == []


def test_the_step_back_goes_back_and_forth(intake: Intake) -> None:
    new = CONFIG.replace("sled-7", "sled-8")
    bring(intake, NAME, new.encode())
    for expected in (CONFIG, new, CONFIG):
        assert intake.undo("sledwarden.toml") == intake.config_path
        assert intake.config_path.read_text() == expected
    assert sorted(path.name for path in intake.config_path.parent.iterdir()) == [
        "sledwarden.toml",
        "sledwarden.toml.before",
    ]


def test_nothing_before_is_said(intake: Intake) -> None:
    with pytest.raises(IntakeError, match="has nothing before it"):
        intake.undo("sledwarden.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gps]\nbaud = 12\n", "baud = 12: must be one of"),
        ("[gps]\nbuad = 9600\n", "buad"),
        ("[gps\n", "line 1"),
        (CONFIG.replace('"wi"', '"xx"'), "xx is not here"),
        (CONFIG + '[zones]\npacks = ["/no/such.gpkg"]\n', "such.gpkg"),
    ],
)
def test_a_configuration_that_the_daemon_would_refuse_changes_nothing(
    intake: Intake, text: str, words: str
) -> None:
    told = refused(intake, NAME, text.encode())
    assert words in told
    assert "staging" not in told
    assert files_in(intake.config_path.parent) == {"sledwarden.toml": CONFIG.encode()}


def test_what_is_not_what_was_sent_is_not_put_in_use(intake: Intake) -> None:
    send(intake, NAME, CONFIG.encode()[:-3])
    with pytest.raises(IntakeError, match="its SHA-256 is another"):
        intake.install(NAME, hashlib.sha256(CONFIG.encode()).digest())
    assert intake.config_path.read_text() == CONFIG


def test_a_stretch_that_does_not_go_on_is_let_fall_and_the_answer_says_where(
    intake: Intake,
) -> None:
    assert intake.write(NAME, 0, b"abcd", 10) == 4
    assert intake.write(NAME, 8, b"ij", None) == 4  # one between was lost
    assert intake.write(NAME, 2, b"cd", None) == 4  # said twice
    assert intake.write(NAME, 4, b"efghij", None) == 10
    assert intake.digest(NAME, "sha256", 0, 10) == hashlib.sha256(b"abcdefghij").digest()
    assert intake.write(NAME, 0, b"x", 1) == 1  # begins anew
    assert intake.size(NAME) == 1


@pytest.mark.parametrize(
    "name",
    [
        "", "/staging/", "/staging/..", "/staging/../sledwarden.toml", "/staging/a/b.toml",
        "/staging/.toml", "/staging/x", "/staging/x.sh", "/staging/a.toml\0", "/staging/a.toml\n",
        "/etc/passwd", "sledwarden.toml", "/staging/" + "a" * 70 + ".toml", "/journal/x.toml",
    ],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(intake: Intake, tmp_path: Path, name: str) -> None:
    before = files_in(tmp_path)
    with pytest.raises(IntakeError, match="is no name for what is brought"):
        intake.write(name, 0, b"x", 1)
    assert files_in(tmp_path) == before


def test_a_link_in_the_staging_folder_is_not_followed(intake: Intake, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "var" / "staging").mkdir()
    link = tmp_path / "var" / "staging" / "sledwarden.toml"
    link.symlink_to(target)
    intake.write(NAME, 0, b"x", 1)
    assert target.read_text() == "mine"
    link.unlink()
    link.symlink_to(target)
    with pytest.raises(IntakeError, match="is not there"):
        intake.write(NAME, 1, b"y", None)
    assert target.read_text() == "mine"


def test_a_file_that_is_too_long_is_refused_by_its_length_and_by_what_comes(
    intake: Intake,
) -> None:
    with pytest.raises(IntakeError, match="at most 1,048,576 are taken"):
        intake.write(NAME, 0, b"x", CONFIG_BYTES + 1)
    intake.write(NAME, 0, b"x" * CONFIG_BYTES, 10)
    with pytest.raises(IntakeError, match="is too long"):
        intake.write(NAME, CONFIG_BYTES, b"x", None)


def test_what_would_take_the_journals_room_is_refused(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intaking, "RESERVE_BYTES", 1 << 60)
    with pytest.raises(IntakeError, match=r"needs 1 bytes, and 0 are free beside"):
        intake.write(NAME, 0, b"x", 1)


def test_the_first_stretch_must_say_the_length(intake: Intake) -> None:
    with pytest.raises(IntakeError, match="has no len"):
        intake.write(NAME, 0, b"x", None)


def test_the_oldest_staged_file_makes_room(intake: Intake, tmp_path: Path) -> None:
    for number in range(MAX_STAGED + 1):
        intake.write(f"{STAGING}law{number}.toml", 0, b"x", 1)
        path = tmp_path / "var" / "staging" / f"law{number}.toml"
        os.utime(path, (number, number))
    assert [name for name, _ in intake.staged] == [
        f"law{number}.toml" for number in range(1, MAX_STAGED + 1)
    ]


LAW = Path(intaking.__file__).parent.parent / "laws" / "wi.toml"


def test_a_law_pack_is_checked_and_lies_in_its_folder(intake: Intake, tmp_path: Path) -> None:
    place, notes = bring(intake, f"{STAGING}wi2027.toml", LAW.read_bytes())
    assert place == tmp_path / "var" / "laws" / "wi2027.toml"
    assert notes == [f'[unit] law does not name it yet: add "{place}".']
    told = refused(intake, f"{STAGING}wi2027.toml", b'id = "wi"\n')
    assert told.startswith("wi2027.toml: ")
    assert place.read_bytes() == LAW.read_bytes()
    assert not place.with_name("wi2027.toml.before").exists()


def test_a_zone_pack_that_is_none_is_refused(intake: Intake) -> None:
    told = refused(intake, f"{STAGING}vilas.gpkg", b"SQLite format 3\0" + bytes(5000))
    assert told.startswith("vilas.gpkg: ")


def test_the_files_in_use_are_listed(intake: Intake) -> None:
    bring(intake, f"{STAGING}wi2027.toml", LAW.read_bytes())
    bring(intake, f"{STAGING}wi2027.toml", LAW.read_bytes() + b"\n")
    assert [
        (one.name, one.size_bytes, one.has_before, one.is_named) for one in intake.installed()
    ] == [
        ("sledwarden.toml", len(CONFIG), False, True),
        ("wi2027.toml", LAW.stat().st_size + 1, True, False),
    ]


def test_a_folder_that_can_not_be_written_is_said(
    intake: Intake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / "var")
    with pytest.raises(IntakeError, match="can't be kept: No such file or directory"):
        intake.write(NAME, 0, b"x", 1)
