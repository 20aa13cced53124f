"""The grammar of a `.drive`: what each line means, and what each bad line is answered."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.drives import ride, script, script_text
from firmware.drives.script_text import load, parse
from firmware.errors import DriveError
from firmware.readings import TetherState
from firmware.units import mps


def deed_of(line: str, folder: Path = Path("/nowhere")) -> script.Deed:
    text = f"# Start: 2026-01-17T22:30:00Z\n{line}\n9 end\n"
    return parse(text, folder / "one.drive").actions[0].deed


def fault_of(text: str, folder: Path = Path("/nowhere")) -> str:
    with pytest.raises(DriveError) as caught:
        parse(text, folder / "one.drive")
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "deed"),
    [
        ("1 ambient 320", script.Ambient(320.0)),
        ("1 ambient follow-sun", script.Ambient(None)),
        ("1 lamp head supply=on light=850", script.Lamp("head", True, 850.0)),
        ("1 lamp tail colour=red", script.Lamp("tail", is_red=True)),
        ("1 lamp tail colour=white supply=off", script.Lamp("tail", False, is_red=False)),
        ("1 engine on", script.EngineRuns(True)),
        ("1 engine off", script.EngineRuns(False)),
        ("1 gps $GPRMC,1,V*00", script.Send(b"$GPRMC,1,V*00\r\n")),
        ("1 gps-hex b5 62 01 07", script.Send(b"\xb5\x62\x01\x07")),
        ("1 tether out", script.TetherTurns(TetherState.OUT)),
        ("1 tether short", script.TetherTurns(TetherState.SHORT)),
        ("1 button hold", script.Button("hold")),
        ("1 fault i2c-1 0x23 eio", script.Fault("i2c-1", 0x23, "eio")),
        ("1 fault i2c-1 0x5C zeros", script.Fault("i2c-1", 0x5C, "zeros")),
        ("1 clock step +3600", script.ClockStep(3600.0)),
        ("1 clock step -0.5", script.ClockStep(-0.5)),
        ("1 rtc 2026-01-17T22:30:00Z", script.RtcSet(datetime(2026, 1, 17, 22, 30, tzinfo=UTC))),
        ("1 rtc dead", script.RtcSet(None)),
        ("1 unplug gps", script.Plug(False)),
        ("1 replug gps", script.Plug(True)),
        ("1 mode race on", script.Mode("race", True)),
        ("1 mode family_land off", script.Mode("family_land", False)),
        ("1 ride lat=45.9 lon=-89.5", ride.Change(45.9, -89.5)),
    ],
)
def test_each_word_is_read(line: str, deed: script.Deed) -> None:
    assert deed_of(line) == deed


def test_a_ride_line_is_read_in_miles_an_hour() -> None:
    text = (
        "# Start: 2026-01-17T16:30:00-06:00\n"
        "0 ride lat=45.9 lon=-89.5 heading=90 speed=40 rate=5 hdop=1.2 gst=3\n"
        "5 ride speed=60 over=10\n6 ride void\n7 ride fix\n8 ride stop\n"
    )
    drive = parse(text, Path("one.drive"))
    assert drive.start == datetime(2026, 1, 17, 22, 30, tzinfo=UTC)
    assert [action.deed for action in drive.actions] == [
        ride.Change(45.9, -89.5, 90.0, mps(40.0), rate_hz=5.0, hdop=1.2, gst_m=3.0),
        ride.Change(speed_mps=mps(60.0), over_s=10.0),
        ride.Change(state="void"),
        ride.Change(),
        ride.Change(state="stop"),
    ]
    assert [action.line for action in drive.actions] == [2, 3, 4, 5, 6]


def test_the_header_is_read(tmp_path: Path) -> None:
    for name in ("a.gpkg", "b.gpkg", "unit.toml", "tahoe.log"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "one.drive").write_text(
        "# Name: At the lake\n# Law: wi\n# Vehicle: motor_vehicle\n# Mode: race maker_test\n"
        "# Zones: a.gpkg, b.gpkg\n# Config: unit.toml\n# Start: 2026-01-17T22:30:00Z\n"
        "# Floor: 2005-01-01\n# Shows: this and that\n# Source: us\n# Licence: CC0\n"
        "# a remark: with a colon, but not after its first word\n#\n\n"
        "0 play tahoe.log from=5 to=9.5\n# Later: a remark too\n"
    )
    drive = load(tmp_path / "one.drive")
    folder = tmp_path.resolve()
    assert drive == script.Drive(
        tmp_path / "one.drive",
        name="At the lake",
        laws=("wi",),
        vehicle="motor_vehicle",
        modes=("race", "maker_test"),
        zones=(folder / "a.gpkg", folder / "b.gpkg"),
        config=folder / "unit.toml",
        start=datetime(2026, 1, 17, 22, 30, tzinfo=UTC),
        floor=date(2005, 1, 1),
        shows="this and that",
        source="us",
        licence="CC0",
        actions=(script.Action(0.0, script.Play(folder / "tahoe.log", 5.0, 9.5), 15),),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x ambient 4", "ambient: x: must be a number from 0 to 1e+07. A line is SECONDS WORD"),
        ("-1 ambient 4", "ambient: -1: must be a number from 0 to 1e+07."),
        ("nan ambient 4", "ambient: nan: must be a number from 0 to 1e+07."),
        ("3", "1: not a word: must be one of play, ambient, lamp,"),
        ("3 jump", "jump: not a word: must be one of play, ambient, lamp,"),
        ("3 ambient dark", "ambient: dark: must be a number from 0 to 200000."),
        ("3 lamp side light=3", "lamp: side: must be head or tail."),
        ("3 lamp head", "lamp: must say supply=, light= or colour=."),
        ("3 lamp head color=red", "lamp: color=red: must be supply=, light= or colour=."),
        ("3 lamp head light=1 light=2", "lamp: light= stands twice: once is enough."),
        ("3 lamp tail colour=blue", "lamp: blue: must be red or white."),
        ("3 engine", "engine: nothing: must be on or off."),
        ("3 gps", "gps: must have a sentence, which is sent raw as it stands."),
        ("3 gps-hex b5 6", "gps-hex: must have pairs of hexadecimal digits, like b5 62 01 07."),
        ("3 tether up", "tether: up: must be in, out, open or short."),
        ("3 button tap", "button: tap: must be press or hold."),
        ("3 fault spi 0x23 eio", "fault: spi: must be a bus, like i2c-1."),
        ("3 fault i2c-1 0x99 eio", "fault: 0x99: must be an address, like 0x23."),
        (
            "3 fault i2c-1 0x23 rust",
            "fault: rust: must be eio, nack, hang, saturate, ones, zeros or clear.",
        ),
        ("3 clock +5", "clock: +5: must be step and signed seconds: step +3600."),
        ("3 rtc soon", "rtc: soon: must be ISO 8601 in UTC, like 2026-01-17T22:30:00Z. Or dead,"),
        ("3 rtc 2026-01-17T22:30:00", "rtc: 2026-01-17T22:30:00: must be ISO 8601 in UTC,"),
        ("3 unplug lamp", "unplug: lamp: must be gps."),
        ("3 power on", "power: on: must be cut."),
        ("3 mode party on", "mode: party: must be race, maker_test or family_land."),
        ("3 end now", "end: now: must stand alone."),
        ("3 ride", "ride: must be stop, void, fix, or say lat=, lon=, heading=, speed= ..."),
        ("3 ride speed=900", "ride: speed=900: must be a number from 0 to 400."),
        ("3 ride lat=45", "ride: must have both lat= and lon=, or neither."),
        ("3 ride over=4", "ride: over= must have a speed= to reach."),
        ("3 play ../x.log", "play: ../x.log: must be a path in the drive's own folder."),
        ("3 play /etc/passwd", "play: /etc/passwd: must be a path in the drive's own folder."),
        ("3 play x.log", "play: x.log: no such file in /nowhere."),
        ("3 play", "play: no file: must be a path in the drive's own folder."),
        ("3 play x.log speed=2", "play: speed=2: must be from= or to=."),
        ("# Foo: x", "Foo: not a header: must be one of Name, Law, Vehicle, Mode, Zones,"),
        (
            "# Vehicle: boat",
            "Vehicle: boat: must be snowmobile, low_speed_vehicle or motor_vehicle.",
        ),
        ("# Start: today", "Start: today: must be ISO 8601 in UTC, like 2026-01-17T22:30:00Z."),
        (
            "# Start: 9999-12-31T23:00:00Z",
            "Start: 9999-12-31T23:00:00Z: must be from 1980-01-06 to 2100-12-31.",
        ),
        ("# Start: 0001-01-01T00:00:00+05:00", "must be from 1980-01-06 to 2100-12-31."),
        ("3 rtc 9999-12-31T23:59:00-05:00", "must be from 1980-01-06 to 2100-12-31."),
        ("# Floor: soon", "Floor: soon: must be a date, like 2026-01-17."),
        ("# Zones: ../a.gpkg", "Zones: ../a.gpkg: must be a path in the drive's own folder."),
        ("# Name: a\n# Name: b", "Name: stands twice: once is enough."),
    ],
)
def test_a_bad_line_is_answered_with_file_line_word_and_what_was_expected(
    line: str, said: str
) -> None:
    answer = fault_of(f"{line}\n")
    assert answer.startswith("/nowhere/one.drive:")
    assert said in answer


def test_all_faults_are_told_at_once() -> None:
    answer = fault_of("# Foo: x\n1 jump\n\n2 engine maybe\n1 engine on\n")
    assert [line.split(": ")[0] for line in answer.splitlines()] == [
        "/nowhere/one.drive:1",
        "/nowhere/one.drive:2",
        "/nowhere/one.drive:4",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one.drive:1: nothing happens: must have at least one line with seconds."),
        ("# Name: x\n", "one.drive:1: nothing happens: must have at least one line with seconds."),
        (
            "5 engine on\n4 engine off\n",
            "one.drive:2: engine: 4 s is before the line above (5 s): must not go back.",
        ),
        ("5 end\n6 engine on\n", "one.drive:2: engine: nothing may come after `power cut` or"),
        ("5 power cut\n5 end\n", "one.drive:2: end: nothing may come after `power cut` or `end`."),
        ("0 ride lat=45 lon=-89\n5 end\n", "one.drive:1: ride: must have a header `# Start:"),
        (
            "# Start: 2026-01-17T22:30:00Z\n0 ride speed=5\n5 end\n",
            "one.drive:2: ride: the first of a row must have lat= and lon=.",
        ),
        (
            "# Start: 2026-01-17T22:30:00Z\n0 ride lat=45 lon=-89\n",
            "one.drive:2: ride: must end with `ride stop`, `end` or `power cut`.",
        ),
    ],
)
def test_a_drive_that_makes_no_whole_is_refused(text: str, said: str) -> None:
    assert said in fault_of(text)


def test_a_ride_after_a_played_log_needs_a_place_again(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"")
    answer = fault_of(
        "# Start: 2026-01-17T22:30:00Z\n0 ride lat=45 lon=-89\n5 play a.log\n"
        "9 ride speed=4\n9 end\n",
        tmp_path,
    )
    assert answer.endswith("one.drive:4: ride: the first of a row must have lat= and lon=.")


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "in" / "link.log").symlink_to(tmp_path / "secret")
    answer = fault_of("0 play link.log\n", tmp_path / "in")
    assert "play: link.log: must be a path in the drive's own folder." in answer


def test_a_file_that_is_no_text_or_not_there_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.drive").write_bytes(b"0 engine on\n\xff\xfe\n")
    with pytest.raises(DriveError, match=r"bad\.drive: byte 12 is not UTF-8: must be text\."):
        load(tmp_path / "bad.drive")
    with pytest.raises(DriveError, match=r"no\.drive: can't be read: No such file or directory\."):
        load(tmp_path / "no.drive")
    with pytest.raises(DriveError, match=r"can't be read: Is a directory\."):
        load(tmp_path)


@given(st.text(max_size=200))
def test_any_text_is_a_drive_or_a_drive_error(text: str) -> None:
    try:
        parse(text, Path("/nowhere/any.drive"))
    except DriveError as fault:
        assert str(fault).startswith("/nowhere/any.drive:")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["0", "1", "x"]),
            st.sampled_from(
                [
                    "play",
                    "lamp",
                    "ride",
                    "fault",
                    "rtc",
                    "gps-hex",
                    "mode",
                    "clock",
                    "ambient",
                    "end",
                ]
            ),
            st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20),
        ),
        max_size=4,
    )
)
def test_any_argument_of_a_word_is_read_or_refused(lines: list[tuple[str, str, str]]) -> None:
    text = "\n".join(" ".join(line) for line in lines)
    try:
        parse(text, Path("/nowhere/any.drive"))
    except DriveError as fault:
        assert "/nowhere/any.drive:" in str(fault)


DOCS = (Path(__file__).parent.parent / "docs" / "drives.md").read_text()


def test_the_reference_names_every_word_header_mode_and_fault() -> None:
    parser = script_text._Parser(Path("/nowhere/any.drive"))
    for word in parser._words:
        assert re.search(rf"`{word}[ `]", DOCS), word
    for header in parser._headers:
        assert f"`{header}`" in DOCS, header
    for name in (*script_text.VEHICLES, *script_text.MODES, *script_text.FAULTS):
        assert f"`{name}`" in DOCS or f" {name}`" in DOCS, name


def test_the_reference_s_example_is_a_drive() -> None:
    example = DOCS.split("```\n")[1]
    assert parse(example, Path("/nowhere/any.drive")).name == "Over the night limit"
