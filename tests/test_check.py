"""`sledwarden check`: every part with its mark, all reasons at once, with a unit and without."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from daemons import Daemon

from firmware.config.schema import Config, Unit, Zones
from firmware.feed.messages import Hello
from firmware.findings import Finding, Verdict
from firmware.readings import Disk, Receiver
from firmware.state import PartSeen, State
from host_tools.checking import Row, no_unit, pack_rows, unit_rows

ROOT = Path(__file__).parent.parent
DRIVES = Path(__file__).parent / "drives"
RUN = [sys.executable, "-c", "from host_tools.cli import main; main()", "check"]
KEYS = {"part", "ok", "value", "limit", "cause", "next"}

GOOD_RECEIVER = Receiver(10.0, 9, 0.9, 5000, 2, "", 41.0, 0, "u-blox at 38400 baud")
GOOD = State(
    at_s=100.0,
    is_watching=True,
    utc=datetime(2026, 1, 18, 4, 40, tzinfo=UTC),
    utc_source="gps",
    utc_error_s=0.5,
    head_lamp="lit",
    tail_lamp="lit",
    tether="in",
    engine="running",
    gps="fix",
    journal="4000 MB free",
    findings=(Finding("350.10(1)(gm)", Verdict.COMPLIANT, "daylight"),),
    receiver=GOOD_RECEIVER,
    disk=Disk(4000.0),
    packs=("lake.gpkg",),
    unit="sled-7",
    key="ab" * 32,
    key_print="32af-865b-0ab8-702c",
    parts=(
        PartSeen("light.head", "850 lux"),
        PartSeen("light.tail", "300 lux"),
        PartSeen("light.ambient", "0 lux"),
        PartSeen("tether", "in"),
        PartSeen("engine", "running"),
        PartSeen("rtc", "2026-01-18 04:40:00 UTC"),
        PartSeen("surroundings", "1 packs, 2 features near"),
    ),
)


def rows_of(last: State, first: State = GOOD) -> dict[str, Row]:
    return {row.part: row for row in unit_rows(first, last, Hello(1, "0.1.0", 77))}


def check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=ROOT,
        check=False,
    )  # fmt: skip


def test_a_unit_with_nothing_wrong_has_a_mark_for_every_part() -> None:
    rows = rows_of(replace(GOOD, at_s=105.0))
    assert all(row.ok for row in rows.values()), rows
    assert rows["unit"].value == "sledwarden 0.1.0, process 77"
    assert rows["unit: key"].value == "ab" * 32
    assert rows["unit: key's print"].value == "32af-865b-0ab8-702c"
    assert {part for part, row in rows.items() if row.cause or row.next} == set()
    assert list(rows) == [
        "unit", "unit: name", "unit: key", "unit: key's print",
        "receiver: fix", "receiver: satellites", "receiver: HDOP", "receiver: C/N0 dBHz",
        "receiver: rate Hz", "receiver: set-up", "receiver: drop-outs", "receiver: refused",
        "head lamp", "tail lamp", "ambient light", "head lamp's supply", "tail lamp's supply",
        "tether", "engine", "battery clock", "zones", "clock", "journal", "rules",
    ]  # fmt: skip


def with_part(channel: str, value: str = "", trouble: str = "") -> State:
    parts = [one for one in GOOD.parts if one.channel != channel]
    return replace(GOOD, parts=(*parts, PartSeen(channel, value, trouble)))


def with_receiver(**changes: Any) -> State:
    return replace(GOOD, at_s=105.0, receiver=replace(GOOD_RECEIVER, **changes))


@pytest.mark.parametrize(
    ("state", "part", "cause"),
    [
        (replace(GOOD, gps="no fix: the receiver says so"), "receiver: fix",
         "no fix: the receiver says so"),
        (with_receiver(satellites=4), "receiver: satellites", "too few are used"),
        (with_receiver(hdop=2.6), "receiver: HDOP", "the satellites stand badly"),
        (with_receiver(cn0_dbhz=29.9), "receiver: C/N0 dBHz", "the satellites are heard faintly"),
        (with_receiver(rate_hz=0.5, setup="answers no request"), "receiver: rate Hz",
         "answers no request"),
        (with_receiver(dropouts=1), "receiver: drop-outs", "the fix comes and goes"),
        (with_receiver(sentences=5100, refused=4), "receiver: refused",
         "sentences are damaged on the line"),
        (replace(GOOD, head_lamp="out"), "head lamp", "the lamp is out"),
        (with_part("light.tail", trouble="no answer: tcs34725"), "tail lamp",
         "no answer: tcs34725"),
        (with_part("light.ambient", trouble="saturated"), "ambient light", "saturated"),
        (with_part("tether", "open"), "tether", "its wire is broken"),
        (with_part("tether", "short"), "tether", "its wire is shorted"),
        (with_part("supply.tail", "open, 0.4 V"), "tail lamp's supply",
         "its wire, or the lamp behind it, is broken"),
        (with_part("engine", trouble="no answer: pin in use"), "engine", "no answer: pin in use"),
        (with_part("rtc", trouble="not trusted: it has stopped"), "battery clock",
         "not trusted: it has stopped"),
        (replace(GOOD, packs=()), "zones", "no zone pack is in use"),
        (replace(GOOD, utc=None, utc_error_s=None), "clock", "no date yet"),
        (replace(GOOD, utc_error_s=61.0), "clock", "the date is too unsure"),
        (replace(GOOD, disk=None, journal="not kept: the disk is full"), "journal",
         "not kept: the disk is full"),
        (replace(GOOD, disk=Disk(99.0)), "journal", "the card is full"),
        (replace(GOOD, disk=Disk(4000.0, 3)), "journal", "3 records were lost"),
        (replace(GOOD, key=""), "unit: key", "the journal has no key yet"),
        (replace(GOOD, findings=()), "rules", "no clause is judged"),
        (replace(GOOD, findings=(Finding("1.2", Verdict.UNKNOWN, "no fix"),)), "rule 1.2",
         "no fix"),
    ],
)  # fmt: skip
def test_each_part_that_is_not_well_says_why_and_what_next(
    state: State, part: str, cause: str
) -> None:
    rows = rows_of(state)
    assert [name for name, row in rows.items() if not row.ok] == [part]
    row = rows[part]
    assert row.cause == cause
    assert row.next is not None
    assert row.next.endswith(".")


def test_a_receiver_that_is_not_heard_has_no_figures() -> None:
    rows = rows_of(replace(GOOD, receiver=None, gps="no answer: unplugged"))
    bad = {part: row.cause for part, row in rows.items() if not row.ok}
    assert bad == dict.fromkeys(("receiver: fix", "receiver"), "no answer: unplugged")
    assert "receiver: HDOP" not in rows


def test_a_figure_at_its_limit_is_well() -> None:
    at_limits = {"satellites": 5, "hdop": 2.5, "cn0_dbhz": 30.0, "rate_hz": 1.0}
    rows = rows_of(with_receiver(sentences=5100, refused=3, **at_limits))
    assert all(row.ok for row in rows.values())


def test_what_was_lost_before_is_said_and_is_past() -> None:
    before = with_receiver(dropouts=7)
    row = rows_of(replace(before, at_s=110.0), before)["receiver: drop-outs"]
    assert (row.ok, row.value) == (True, "0 in 5 s, 7 since start")


def test_a_part_that_was_never_fitted_is_no_fault() -> None:
    rows = rows_of(replace(GOOD, parts=()))
    assert (rows["tether"].ok, rows["tether"].value) == (True, "not fitted")
    finding = Finding("1.2", Verdict.UNKNOWN, "no tether switch is fitted", is_fitted=False)
    assert "rule 1.2" not in rows_of(replace(GOOD, findings=(finding,)))


def test_all_that_is_wrong_is_told_at_once() -> None:
    wrong = replace(with_receiver(satellites=3, hdop=9.0), disk=None, tail_lamp="out")
    bad = {part for part, row in rows_of(wrong).items() if not row.ok}
    assert bad == {"receiver: satellites", "receiver: HDOP", "journal", "tail lamp"}


def test_a_packs_age_is_told(tmp_path: Path) -> None:
    pack, junk = tmp_path / "shore.gpkg", tmp_path / "junk.gpkg"
    shutil.copy(DRIVES / "shore.gpkg", pack)
    junk.write_bytes(b"no pack")
    config = Config(unit=Unit(id="x"), zones=Zones(packs=(str(pack), str(junk))))
    good, bad = pack_rows(config, date(2026, 11, 30))
    assert good.ok
    assert good.value == "can be read; its date is not known"
    assert (bad.part, bad.ok, bad.value) == ("zones: junk.gpkg", False, "can't be used")


def test_no_unit_is_one_row_with_what_to_do() -> None:
    row = no_unit(Path("/run/f.sock"), "")
    assert (row.ok, row.cause) == (False, "/run/f.sock: the unit says nothing")
    assert row.next is not None
    assert "systemctl start sledwardend" in row.next


def test_without_a_unit_it_says_that_it_hears_none(tmp_path: Path) -> None:
    told = check("--feed", tmp_path / "no.sock", "--json", "--config", "hardware/sledwarden.toml")
    assert told.returncode == 1
    unit, configuration = json.loads(told.stdout)
    assert unit["cause"] == f"{tmp_path}/no.sock: No such file or directory"
    assert configuration == {
        "part": "configuration", "ok": True, "value": "hardware/sledwarden.toml",
    }  # fmt: skip


def test_a_wrong_configuration_is_a_row_with_all_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[unit]\nid = "x"\n[gps]\nbaud = 12\n[i2c]\nbus = 99\n')
    told = check("--feed", tmp_path / "no.sock", "--config", path, "--json")
    assert told.returncode == 1
    row = json.loads(told.stdout)[-1]
    assert row["part"] == "configuration"
    assert "[gps] baud = 12" in row["cause"]
    assert "[i2c] bus = 99" in row["cause"]


def test_a_running_unit_is_asked(tmp_path: Path) -> None:
    shutil.copy(DRIVES / "shore.gpkg", tmp_path / "shore.gpkg")
    drive = tmp_path / "well.drive"
    drive.write_text(
        "# Name: well\n# Law: wi\n# Zones: shore.gpkg\n# Start: 2026-01-18T04:40:00Z\n"
        "0.0 engine on\n0.0 lamp head supply=on light=850\n"
        "0.0 lamp tail supply=on light=300 colour=red\n"
        "0.0 ride lat=45.918196 lon=-89.5 heading=0 speed=5 rate=5 gst=1\n600.0 end\n"
    )
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "4") as daemon:
        daemon.wait_for(lambda state: state.at_s > 8.0 and state.head_lamp == "lit")
        told = check("--feed", daemon.feed_path, "--listen", "0.5", "--json")
        rows = {row["part"]: row for row in json.loads(told.stdout)}
        assert [row for row in rows.values() if not row["ok"]] == []
        assert told.returncode == 0
        assert all(row.keys() <= KEYS for row in rows.values())
        assert (rows["receiver: rate Hz"]["value"], rows["receiver: rate Hz"]["limit"]) == (5, 1)
        words = check("--feed", daemon.feed_path, "--listen", "0")
        assert "are well." in words.stdout
