"""`sledwarden replay`: what it prints of logs, drives, tracks and journals, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from firmware.drives.ride import with_checksum
from firmware.journal import reader
from firmware.journal.record import Close, Start
from firmware.law import packs as law
from firmware.readings import Fix, Reading
from firmware.units import mps
from host_tools.cli import app

TESTS = Path(__file__).parent
NMEA = TESTS / "data" / "nmea"
DRIVES = TESTS / "drives"
DUSK = NMEA / "dotmorten_tahoe_dusk.log"
START = "# Start: 2026-01-17T23:30:00Z\n"


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["replay", *map(str, arguments)])


def objects(*arguments: str | Path) -> list[dict[str, Any]]:
    told = replay(*arguments, "--json")
    assert told.exit_code == 0, told.output
    return [json.loads(line) for line in told.stdout.splitlines()]


def written(tmp_path: Path, text: str, name: str = "one.drive") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def fault(*arguments: str | Path) -> str:
    told = replay(*arguments)
    assert told.exit_code == 1
    assert told.stdout == ""
    return told.stderr.strip()


# Epochs.


def test_fixes_are_one_object_a_valid_epoch_with_the_contract_s_keys() -> None:
    fixes = objects(DUSK, "--fixes")
    rows = (NMEA / "dotmorten_tahoe_dusk.oracle.jsonl").read_text().splitlines()
    oracle = [json.loads(row) for row in rows]
    assert len(fixes) == len(oracle) == 1993
    assert set(fixes[0]) == {
        *("t", "lat", "lon", "speed_mps", "track_deg", "mode"),
        *("error_m", "error_mps", "derived", "sentence"),
    }
    for fix, right in zip(fixes, oracle, strict=True):
        assert fix["t"] == right["time"]
        assert fix["lat"] == pytest.approx(right["lat"], abs=1e-8)
        assert fix["lon"] == pytest.approx(right["lon"], abs=1e-8)
        assert fix["speed_mps"] == pytest.approx(right["speed"], abs=0.001)
        assert fix["derived"] is False


def test_an_epoch_without_a_date_has_no_t(tmp_path: Path) -> None:
    line = "GPGGA,120000,4554.0,N,08930.0,W,1,08,1.0,300.0,M,-33.0,M,,"
    check = 0
    for letter in line.encode():
        check ^= letter
    log = written(tmp_path, f"${line}*{check:02X}\r\n", "one.log")
    (fix,) = objects(log, "--fixes")
    assert "t" not in fix
    assert (fix["lat"], fix["lon"]) == (45.9, -89.5)


def test_void_epochs_print_nothing_and_are_told_on_stderr() -> None:
    told = replay(NMEA / "GPSmap-76S.log", "--fixes", "--json")
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr.endswith("GPSmap-76S.log: the receiver never had a valid fix.\n")


def test_a_floor_takes_away_dates_that_can_not_be() -> None:
    log = NMEA / "bu353s4.log"
    assert all("t" in fix for fix in objects(log, "--fixes"))
    assert not any("t" in fix for fix in objects(log, "--fixes", "--floor", "2040-01-01"))


def test_fixes_for_a_person_are_lines() -> None:
    told = replay(NMEA / "rgm3800.log", "--fixes")
    assert told.exit_code == 0
    assert "mph" in told.stdout.splitlines()[0]


# Findings and alerts.


def test_findings_print_the_first_verdict_of_each_clause_and_each_change() -> None:
    findings = objects(DUSK, "--findings")
    stands: dict[str, str] = {}
    for one in findings:
        assert stands.get(one["clause"]) != one["verdict"]
        stands[one["clause"]] = one["verdict"]
    judged = (one for one in law.load("wi").clause if one.kind)
    assert set(stands) == {one.citation for one in judged}


def test_a_finding_has_its_figures_its_place_and_its_why() -> None:
    first = next(one for one in objects(DUSK, "--findings") if one["verdict"] == "violation")
    # Sunset at Reno on 25 September 2005 was at 18:51:40 PDT: dark from 02:21:40Z on.
    assert first["t"].startswith("2005-09-26T02:21:4")
    assert first["clause"] == "350.10(1)(gm)"
    assert (first["limit"], first["unit"], first["error"]) == (55.0, "mph", 0.5)
    assert first["value"] > 55.5
    assert first["why"] == "after dark"
    assert 39.0 < first["lat"] < 40.0
    assert None not in first.values()


def test_alerts_have_the_contract_s_keys() -> None:
    alerts = objects(DRIVES / "night_speed_broken.drive", "--alerts")
    over = [one for one in alerts if one["alert"] == "over-speed"]
    assert [one["state"] for one in over] == ["raised", "acknowledged", "cleared"]
    assert over[0] == {
        "t": "2026-01-17T23:30:18.000Z",
        "alert": "over-speed",
        "clause": "350.10(1)(gm)",
        "words": "SLOW DOWN\nLIMIT 55",
        "light": "red-flash",
        "haptic": "pulses",
        "tone": "alarm",
        "state": "raised",
    }


def test_a_person_reads_local_time_and_the_figures() -> None:
    told = replay(DRIVES / "night_speed_broken.drive", "--findings")
    assert (
        "2026-01-17 17:30:18  350.10(1)(gm)  violation   57.0 of 55 mph         after dark"
        in told.stdout
    )


def test_without_a_wish_it_prints_a_summary() -> None:
    told = replay(DRIVES / "night_speed_broken.drive")
    assert told.exit_code == 0
    assert told.stdout.startswith(
        "night_speed_broken.drive (drive): 1 min 00 s, 0.8 mi, 60 fixes, up to 61.0 mph\n"
    )
    assert "alerts: " in told.stdout
    (summary,) = objects(DRIVES / "night_speed_broken.drive")
    assert summary["fixes"] == 60
    assert summary["findings"]["350.10(1)(gm)"]["violation"] == 1
    # 41 mph for 10 s, 51 in the mean for 10 s, 61 for 20 s, 53 in the mean for 8 s, 45 for 11 s.
    assert summary["distance_m"] == pytest.approx(
        mps(41 * 10 + 51 * 10 + 61 * 20 + 53 * 8 + 45 * 11), rel=0.01
    )


def test_a_mode_is_on_from_the_start_of_a_log() -> None:
    findings = objects(DUSK, "--findings", "--mode", "race")
    stands = {one["clause"]: one["verdict"] for one in findings}
    assert stands["350.10(1)(gm)"] == "exempt"
    assert not any(one["verdict"] == "violation" for one in findings)


def test_a_clause_that_binds_another_vehicle_is_not_judged() -> None:
    assert objects(NMEA / "rgm3800.log", "--findings", "--vehicle", "motor_vehicle") == []


def test_zones_are_looked_up_along_the_way(tmp_path: Path) -> None:
    drive = written(tmp_path, f"{START}0 ride lat=45.8782 lon=-89.52 speed=20 rate=5\n40 end\n")
    without = {one["clause"]: one["verdict"] for one in objects(drive, "--findings")}
    assert without["350.10(1)(i)"] == "unknown"
    pack = DRIVES / "shore.gpkg"
    verdicts = [
        one["verdict"]
        for one in objects(drive, "--findings", "--zones", pack)
        if one["clause"] == "350.10(1)(i)"
    ]
    assert "violation" in verdicts
    assert verdicts[-1] == "compliant"


def test_a_configuration_changes_what_is_fitted(tmp_path: Path) -> None:
    config = written(tmp_path, '[unit]\nid = "bare"\n', "bare.toml")
    drive = DRIVES / "night_speed_kept.drive"
    stands = {
        one["clause"]: one["verdict"] for one in objects(drive, "--findings", "--config", config)
    }
    assert stands["350.09(2)(b)"] == "unknown"


# Tracks.

GPX = """<?xml version="1.0"?>
<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
<trk><trkseg>{}</trkseg></trk></gpx>"""


def point(second: int, lat_deg: float, more: str = "") -> str:
    return (
        f'<trkpt lat="{lat_deg:.7f}" lon="-89.5"><time>2026-01-18T00:00:{second:02d}Z</time>'
        f"{more}</trkpt>"
    )


def test_a_track_s_speed_is_derived_from_its_points(tmp_path: Path) -> None:
    # 30 m/s are 67 mph; a degree of latitude is 111.15 km here.
    points = "".join(point(second, 45.9 + second * 30 / 111_149.4) for second in range(20))
    track = written(tmp_path, GPX.format(points), "one.gpx")
    fixes = objects(track, "--fixes")
    assert len(fixes) == 20
    assert "speed_mps" not in fixes[0]
    assert "sentence" not in fixes[0]
    assert fixes[1]["speed_mps"] == pytest.approx(30.0, rel=0.01)
    assert fixes[1]["error_mps"] == pytest.approx(mps(2.0))
    assert fixes[1]["derived"] is True
    verdicts = [
        one["verdict"] for one in objects(track, "--findings") if one["clause"] == "350.10(1)(gm)"
    ]
    assert verdicts == ["unknown", "violation"]


def test_a_track_s_own_speed_wins(tmp_path: Path) -> None:
    speed = (
        '<extensions><e:TrackPointExtension xmlns:e="http://x"><e:speed>12.5</e:speed>'
        "</e:TrackPointExtension></extensions>"
    )
    points = "".join(point(second, 45.9, speed) for second in range(3))
    fixes = objects(written(tmp_path, GPX.format(points), "one.gpx"), "--fixes")
    assert [fix["speed_mps"] for fix in fixes] == [12.5, 12.5, 12.5]
    assert not any(fix["derived"] for fix in fixes)


def test_a_point_that_goes_back_in_time_is_left_out(tmp_path: Path) -> None:
    points = point(5, 45.9) + point(3, 45.91) + point(6, 45.9001)
    assert len(objects(written(tmp_path, GPX.format(points), "one.gpx"), "--fixes")) == 2


def test_a_track_without_times_is_one_sentence(tmp_path: Path) -> None:
    points = '<trkpt lat="45.9" lon="-89.5"/>'
    track = written(tmp_path, GPX.format(points), "one.gpx")
    assert fault(track).endswith(
        "one.gpx: has no track point with a time: speed can't be told. "
        "Export it again with its times."
    )


def test_a_track_too_thin_for_a_speed_is_told_as_that(tmp_path: Path) -> None:
    points = point(1, 45.9) + point(1, 45.91).replace("T00:00", "T00:01")
    track = written(tmp_path, GPX.format(points), "one.gpx")
    assert fault(track) == (
        f"{track}: its points are 60 s apart and more, over 30 s, and no speed of their own: none "
        "can be told. Record a point every second or so."
    )
    assert len(objects(track, "--fixes")) == 2


def test_a_track_that_runs_backward_is_told_as_that(tmp_path: Path) -> None:
    points = "".join(point(second, 45.9) for second in (5, 4, 3))
    track = written(tmp_path, GPX.format(points), "one.gpx")
    assert fault(track) == (
        f"{track}: its 3 times run backward or stand still: no point comes after the first, and "
        "speed can't be told. Export it again with its points in the order of the ride."
    )


def test_a_track_whose_dates_can_t_be_carried_has_no_time(tmp_path: Path) -> None:
    text = point(5, 45.9).replace("2026-01-18T00:00:05Z", "9999-12-31T23:59:59-05:00")
    track = written(tmp_path, GPX.format(text), "one.gpx")
    assert "has no track point with a time" in fault(track)


def test_a_date_far_off_is_no_date(tmp_path: Path) -> None:
    lines = b""
    for second in range(10):
        at = f"2359{50 + second:02d}.000"
        lines += with_checksum(f"GPRMC,{at},A,4554.0000,N,08930.0000,W,20.0,90.0,,,,A")
        lines += with_checksum(f"GPZDA,{at},31,12,9999,00,00")
    log = tmp_path / "far.log"
    log.write_bytes(lines)
    told = replay(log, "--journal", tmp_path / "journal")
    assert (told.exit_code, told.exception) == (0, None), told.output
    starts = [one for _, one in reader.read(tmp_path / "journal") if isinstance(one, Reading)]
    dates = {one.value.utc for one in starts if isinstance(one.value, Fix)}
    assert dates == {None}


def test_a_broken_track_is_one_sentence(tmp_path: Path) -> None:
    track = written(tmp_path, "<gpx><trk>", "one.gpx")
    assert "one.gpx: is no GPX that can be read: " in fault(track)


# Journals.


def test_a_journal_replays_record_for_record(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    drive = DRIVES / "night_speed_broken.drive"
    before = objects(drive, "--findings", "--journal", folder)
    told = replay(folder)
    assert told.exit_code == 0, told.output
    assert "replays record for record: " in told.stdout
    for word, was in (("--findings", before), ("--alerts", objects(drive, "--alerts"))):
        again = objects(folder, word)
        for one, other in zip(again, was, strict=True):
            if "t" not in other:  # before any date was known: the journal's anchor tells it later
                del one["t"]
        assert again == was


def test_the_journal_of_a_log_says_what_it_is_and_ends_in_order(tmp_path: Path) -> None:
    assert replay(NMEA / "rgm3800.log", "--journal", tmp_path / "j").exit_code == 0
    records = [record for _, record in reader.read(tmp_path / "j")]
    assert isinstance(records[0], Start)
    assert records[0].note == "replayed: rgm3800.log"
    assert isinstance(records[-1], Close)
    assert list(tmp_path.iterdir()) == [tmp_path / "j"]  # the key was thrown away


def test_zones_in_a_journal_replay_without_the_pack(tmp_path: Path) -> None:
    drive = tmp_path / "one.drive"
    (tmp_path / "shore.gpkg").write_bytes((DRIVES / "shore.gpkg").read_bytes())
    drive.write_text((DRIVES / "ice_broken.drive").read_text())
    folder = tmp_path / "j"
    assert replay(drive, "--journal", folder).exit_code == 0
    (tmp_path / "shore.gpkg").unlink()
    assert "replays record for record" in replay(folder).stdout


def test_a_journal_that_says_otherwise_is_told_with_the_first_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "j"
    assert replay(DRIVES / "night_speed_broken.drive", "--journal", folder).exit_code == 0
    from firmware.findings import Finding, Verdict
    from host_tools.journals import judged as journals

    honest = reader.read

    def lying(path: Path, *rest: Any) -> Any:
        for at_s, record in honest(path, *rest):
            if isinstance(record, Finding) and record.verdict is Verdict.VIOLATION:
                yield at_s, Finding(record.clause, Verdict.COMPLIANT, "nothing to see")
            else:
                yield at_s, record

    monkeypatch.setattr(journals.reader, "read", lying)
    told = replay(folder)
    assert told.exit_code == 1
    assert told.stderr.strip().endswith(
        "j: does not replay: the journal has 350.10(1)(gm) compliant (nothing to see) "
        "at 18.000 s; the replay has 350.10(1)(gm) violation (after dark) at 18.000 s."
    )


def test_a_journal_judged_otherwise_is_not_compared(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    assert replay(DRIVES / "night_speed_broken.drive", "--journal", folder).exit_code == 0
    told = replay(folder, "--mode", "race", "--findings", "--json")
    assert told.exit_code == 0
    assert "record for record" not in told.output
    assert "violation" not in told.stdout


def test_a_journal_s_fixes_are_those_that_were_judged(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    assert replay(DRIVES / "night_speed_broken.drive", "--journal", folder).exit_code == 0
    assert len(objects(folder, "--fixes")) == 60


# What is no recording.


def test_an_empty_file_is_one_sentence(tmp_path: Path) -> None:
    assert ": is empty: a recording was expected. replay reads" in fault(
        written(tmp_path, "", "empty.log")
    )


def test_a_file_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    assert ": has no NMEA sentence in it. replay reads" in fault(
        written(tmp_path, "hello\n" * 100, "letter.txt")
    )


def test_a_folder_without_a_journal_is_one_sentence(tmp_path: Path) -> None:
    assert ": is a folder without journal segments. replay reads" in fault(tmp_path)


def test_a_file_that_pretends_to_be_a_journal_is_one_sentence(tmp_path: Path) -> None:
    assert "one.mcap" in fault(written(tmp_path, "no journal", "one.mcap"))


def test_a_bad_drive_tells_all_its_faults(tmp_path: Path) -> None:
    told = fault(written(tmp_path, "0 jump\n1 engine maybe\n"))
    assert len(told.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--law", "zz"), "zz.toml: can't be read"),
        (("--zones", "no.gpkg"), "no.gpkg"),
        (("--config", "no.toml"), "no.toml: there is no such file"),
    ],
)
def test_a_wish_that_can_not_be_met_is_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    assert said in fault(DUSK, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fixes", "--findings"),
        ("--findings", "--alerts"),
        ("--fixes", "--journal", "x"),
        ("--mode", "party"),
        ("--vehicle", "boat"),
        ("--floor", "soon"),
    ],
)
def test_wrong_use_is_exit_2(arguments: tuple[str, ...]) -> None:
    told = replay(DUSK, *arguments)
    assert (told.exit_code, told.stdout) == (2, "")


def test_a_floor_that_is_no_day_is_told_with_one_that_is() -> None:
    told = replay(DUSK, "--floor", "2020-13-01")
    assert told.exit_code == 2
    assert "'2020-13-01' must be a day such as 2026-01-17." in " ".join(told.stderr.split())


def test_a_journal_that_can_not_be_written_says_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = replay(DRIVES / "live.drive", "--journal", tmp_path / "file" / "journal")
    assert told.exit_code == 1
    assert told.stderr.endswith(
        "the journal could not be written: Not a directory. "
        "Name a folder on a disk with room, that you may write to.\n"
    )


@pytest.mark.parametrize("path", sorted(NMEA.glob("*.log")), ids=lambda path: path.stem)
def test_every_recording_is_judged_to_its_end(path: Path) -> None:
    told = replay(path, "--findings", "--json")
    assert told.exit_code == 0, told.output
    assert len(told.stdout.splitlines()) >= 6


def test_of_several_boots_it_says_which_one_it_judges(tmp_path: Path) -> None:
    drive = written(tmp_path, f"{START}0 ride lat=45.9 lon=-89.5 speed=20\n3 end\n")
    for _ in range(2):
        assert replay(drive, "--journal", tmp_path / "kept").exit_code == 0
    first, second = reader.boots(tmp_path / "kept")
    told = replay(tmp_path / "kept")
    assert told.exit_code == 0
    assert told.stderr.startswith(
        f"{tmp_path / 'kept'}: holds 2 boots: {second.name}, the newest, is judged. "
        f"Name another, like {first}\n"
    )
    assert replay(second).stderr == ""


def test_what_a_journal_held_before_its_first_date_is_dated_by_its_anchor(tmp_path: Path) -> None:
    drive = written(
        tmp_path,
        "# Law: wi\n" + START + "0.0 rtc dead\n0.0 engine on\n"
        "30.0 ride lat=45.9 lon=-89.5 heading=90 speed=40\n60.0 end\n",
    )
    assert replay(drive, "--journal", tmp_path / "kept").exit_code == 0
    (boot,) = reader.boots(tmp_path / "kept")
    told = replay(boot, "--findings", "--json")
    assert told.exit_code == 0
    assert json.loads(told.stdout.splitlines()[0])["t"] == "2026-01-17T23:30:00.000Z"
    assert "lines are from before any date was known: dated by the anchor" in told.stderr
    assert "(gps)" in told.stderr
    assert "t" not in objects(drive, "--findings")[0]  # a drive has no anchors
