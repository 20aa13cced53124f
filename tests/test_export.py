"""`sledwarden export`: every format is read back by somebody else's reader."""

from __future__ import annotations

import csv
import json
import os
import shutil
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import gpxpy
import pyogrio
import pytest
import rides
import shapely
from hostile_ride import HOSTILE, hostile_journal
from journal_samples import DAY, journal_in, put_all, written
from journal_samples import ride as ride_of
from pyarrow import parquet
from typer.testing import CliRunner, Result

from firmware.findings import Finding, Margin
from firmware.journal import reader
from host_tools.cli import app
from host_tools.journals.paths import find
from host_tools.journals.reading import read_ride
from host_tools.journals.ride import Ride

FORMATS = ("gpx", "geojson", "kml", "csv", "parquet")


def _run(*words: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, words)])


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rides.journal_of(rides.NIGHT, tmp_path_factory.mktemp("night") / "journal")


@pytest.fixture(scope="module")
def ride(night: Path) -> Ride:
    return read_ride(find([night]))


@pytest.fixture(scope="module")
def files(night: Path) -> dict[str, Path]:
    """The ride in every format."""
    found = {}
    for name in FORMATS:
        path = night.parent / f"ride.{name}"
        done = _run(night, "--to", name, "-o", path)
        assert done.exit_code == 0, done.output
        told = sum(isinstance(one, Finding) for _, one in reader.read(night))
        assert done.stdout == f"{path}: 109 fixes, {told} findings, 3 events\n"
        found[name] = path
    return found


def test_the_ride_is_what_the_script_says(ride: Ride) -> None:
    (leg,) = ride.legs
    assert leg.difference == ""
    assert (ride.unit, leg.length_s, ride.fixes) == ("desk", 119.0, 109)
    # 5 s at rest, to 45 mph in 8 s, 57 s to second 62, ... : about 1.13 mi by the receiver's steps
    assert ride.distance_m / 1609.344 == pytest.approx(1.13, abs=0.02)
    found = [(one.event.clause, str(one.event.verdict)) for one in ride.exceedances()]
    assert found == [
        ("350.10(1)(i)", "violation"),
        ("350.10(1)(gm)", "violation"),
        ("350.09(2)(b)", "unsure"),
    ]
    over = ride.exceedances()[1]
    assert (over.event.limit, over.event.is_sure, over.warned_s) == (55.0, True, 0.0)
    assert over.acknowledged_s == pytest.approx(7.0, abs=0.1)
    unplugged = [one for one in leg.not_watched() if "unplugged" in one.why]
    speeds = {"350.10(1)(gm)", "350.10(1)(g)", "350.10(1)(i)"}
    assert {one.clause for one in unplugged} >= speeds  # with whatever else goes by the place
    assert {one.seconds for one in unplugged if one.clause in speeds} == {8.5}
    assert [state for _, state in leg.strips["head lamp"]] == ["unknown", "lit", "out", "lit"]


def test_limits_are_known_at_every_fix_not_only_where_a_verdict_changed(ride: Ride) -> None:
    track = ride.legs[0].track
    limits = dict(zip(track.at_s, track.limit_mph, strict=True))
    assert limits[40.0] == 55.0
    assert limits[72.0] == 10.0  # 85 ft from the shanty
    assert limits[84.0] == 55.0
    ahead = [at_s for at_s, one in zip(track.at_s, track.margin, strict=True) if one == Margin.NEAR]
    assert ahead[0] < 71.0  # the shanty is ahead, and its limit is not yet in force
    assert limits[ahead[0]] == 55.0


def test_gpx_is_read_by_gpxpy_and_gdal(files: dict[str, Path], ride: Ride) -> None:
    gpx = gpxpy.parse(files["gpx"].read_text())
    assert (gpx.version, gpx.name) == ("1.1", "desk")
    (track,) = gpx.tracks
    assert [len(one.points) for one in track.segments] == [100, 9]  # ten seconds without a fix
    first = track.segments[0].points[60]
    leg = ride.legs[0]
    assert first.time == leg.utc(leg.track.at_s[60])
    speed = first.extensions[0][0]
    assert float(speed.text or "") == pytest.approx(leg.track.speed_mph[60] * 0.44704, abs=0.01)
    assert len(gpx.waypoints) == len(ride.stood()) + 3  # each finding and event has its place
    events = [one for one in gpx.waypoints if one.type == "event"]
    assert events[1].name == "350.10(1)(gm) violation"
    assert events[1].description == "after dark; 60.0 +-0.5 of 55 mph; for 14 s, sure"
    _, _, shapes, _ = pyogrio.raw.read(files["gpx"], layer="track_points")
    assert len(shapes) == 109


@pytest.mark.parametrize("name", ["geojson", "kml"])
def test_a_map_file_is_read_by_gdal(files: dict[str, Path], ride: Ride, name: str) -> None:
    shapes: list[shapely.Geometry] = []
    for layer, _ in pyogrio.list_layers(files[name]):
        _, _, found, _ = pyogrio.raw.read(files[name], layer=layer)
        shapes += [one for one in shapely.from_wkb(found) if one is not None]
    lines = [one for one in shapes if one.geom_type == "LineString"]
    points = [one for one in shapes if one.geom_type == "Point"]
    marks = len(ride.stood()) + 3
    assert len(points) == marks + 1  # and the last fix, which alone stood as it did
    track = ride.legs[0].track
    corners = {(round(x, 6), round(y, 6)) for one in lines + points for x, y, *_ in one.coords}
    fixes = zip(track.lon_deg, track.lat_deg, strict=True)
    assert {(round(round(x, 7), 6), round(round(y, 7), 6)) for x, y in fixes} == corners


def test_geojson_has_findings_and_standing(files: dict[str, Path]) -> None:
    meta, _, _, columns = pyogrio.raw.read(files["geojson"])
    table = dict(zip(meta["fields"], columns, strict=True))
    assert set(table["record"]) == {"track", "finding", "event"}
    assert {"over", "far below", "near", "not watched"} <= set(table["standing"])
    over = [
        clause for clause, verdict, record in
        zip(table["clause"], table["verdict"], table["record"], strict=True)
        if (verdict, record) == ("violation", "event")
    ]  # fmt: skip
    assert over == ["350.10(1)(i)", "350.10(1)(gm)"]


def test_kml_has_a_folder_each_for_track_events_and_findings(files: dict[str, Path]) -> None:
    layers = [str(name) for name, _ in pyogrio.list_layers(files["kml"])]
    assert layers == ["Boot 1", "Events", "Findings"]
    _, _, _, columns = pyogrio.raw.read(files["kml"], layer="Events", columns=["Name"])
    assert columns[0][1] == "350.10(1)(gm) violation"


def test_csv_has_a_row_for_each_fix_finding_and_event(files: dict[str, Path], night: Path) -> None:
    with files["csv"].open(newline="") as file:
        found = list(csv.DictReader(file))
    records = [one["record"] for one in found]
    told = sum(isinstance(one, Finding) for _, one in reader.read(night))
    assert [records.count(one) for one in ("fix", "finding", "event")] == [109, told, 3]
    assert told > 20
    over = next(
        one for one in found if (one["record"], one["clause"]) == ("event", "350.10(1)(gm)")
    )
    assert over["t"] == "2006-01-15T04:39:25.000Z"
    assert (over["value"], over["limit"], over["unit"], over["value_error"]) == (
        "60.0", "55.0", "mph", "0.5",
    )  # fmt: skip
    assert (over["duration_s"], over["is_sure"], over["why"]) == ("14.0", "true", "after dark")
    assert over["warned_after_s"] == "0.0"
    fix = next(one for one in found if (one["record"], one["ride_s"]) == ("fix", "72.0"))
    assert (fix["limit_mph"], fix["standing"], fix["clause"]) == ("10.0", "over", "350.10(1)(i)")


def test_parquet_has_the_same_rows_with_types(files: dict[str, Path]) -> None:
    table = parquet.read_table(files["parquet"])
    with files["csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows)
    assert str(table.schema.field("t").type) == "timestamp[us, tz=UTC]"
    for name in ("is_sure", "is_redated"):
        assert str(table.schema.field(name).type) == "bool"
    over = next(
        one for one in table.to_pylist()
        if (one["record"], one["clause"]) == ("event", "350.10(1)(gm)")
    )  # fmt: skip
    assert (over["value"], over["is_sure"]) == (60.0, True)
    assert over["t"].isoformat() == "2006-01-15T04:39:25+00:00"


def test_a_file_is_not_replaced_unasked(night: Path, tmp_path: Path) -> None:
    out = tmp_path / "ride.csv"
    out.write_text("mine")
    done = _run(night, "--to", "csv", "-o", out)
    assert done.exit_code == 1
    assert done.stderr == (
        f"{out}: is there already: must be a new file. Say --force to replace it.\n"
    )
    assert out.read_text() == "mine"
    assert _run(night, "--to", "csv", "-o", out, "--force").exit_code == 0
    assert out.read_text().startswith("record,t,")
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_is_not_there_is_told(night: Path, tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "ride.csv"
    done = _run(night, "--to", "csv", "-o", out)
    assert (done.exit_code, done.stderr) == (
        1,
        f"{out}: can't be written: No such file or directory.\n",
    )
    done = _run(night, "--to", "csv", "-o", tmp_path)
    assert done.stderr == f"{tmp_path}: is a folder: must be a file's name.\n"


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="the kernel has no /dev/full")
def test_a_full_disk_leaves_nothing(
    night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from host_tools.exports import csv_rows

    def onto_full(ride: Ride, path: Path) -> None:
        path.unlink()
        path.symlink_to("/dev/full")
        write(ride, path)

    write = csv_rows.write
    monkeypatch.setattr(csv_rows, "write", onto_full)
    out = tmp_path / "ride.csv"
    done = _run(night, "--to", "csv", "-o", out)
    assert done.stderr == f"{out}: can't be written: No space left on device.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_format_is_wrong_use(night: Path, tmp_path: Path) -> None:
    done = _run(night, "--to", "shp", "-o", tmp_path / "ride.shp")
    assert done.exit_code == 2
    assert "'shp' is not one of 'gpx', 'geojson', 'kml', 'csv', 'parquet'" in " ".join(
        done.stderr.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split()
    )


def test_a_ride_without_a_position_can_be_a_table_but_no_map(tmp_path: Path) -> None:
    journal = rides.journal_of(rides.NO_FIX, tmp_path / "journal")
    for name in ("gpx", "geojson", "kml"):
        done = _run(journal, "--to", name, "-o", tmp_path / "ride")
        assert done.exit_code == 1
        assert done.stderr == (
            f"{journal}: holds no position: {name} must have one. "
            "Findings and events without a place can be had with --to csv.\n"
        )
    assert _run(journal, "--to", "csv", "-o", tmp_path / "ride.csv").exit_code == 0
    assert "speed not known" in (tmp_path / "ride.csv").read_text()


def test_two_units_are_not_one_ride(night: Path, tmp_path: Path) -> None:
    written(tmp_path / "other", 20)
    done = _run(night, tmp_path / "other", "--to", "csv", "-o", tmp_path / "ride.csv")
    assert done.exit_code == 1
    assert done.stderr == (
        "journal: is of 2 units, desk, sled-7: must be one unit's. Name the boots of one of them.\n"
    )


def _three_segments(folder: Path) -> list[Path]:
    """A boot whose first date, and then a step back of it, each began a new segment."""
    journal = journal_in(folder)
    journal.open()
    earlier = DAY - timedelta(hours=1)
    put_all(journal, [*ride_of(15, utc=None), *ride_of(30, 102.0), *ride_of(30, 170.0, earlier)])
    assert journal.close(174.0, timeout_s=60.0)
    return sorted(folder.glob("*/*.mcap"))


def test_a_boot_is_read_over_all_its_segments(tmp_path: Path) -> None:
    assert len(_three_segments(tmp_path / "journal")) == 3
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    assert leg.holes == []
    assert (leg.from_s, leg.to_s) == (100.0, 174.0)
    dates = [leg.utc(at_s) for at_s in (100.0, 103.0, 171.0)]
    # what came before the first date is dated back from it
    assert dates == [DAY - timedelta(seconds=2), DAY + timedelta(seconds=1),
                     DAY - timedelta(seconds=3599)]  # fmt: skip


def test_a_boot_whose_beginning_is_missing_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    first, *_ = _three_segments(tmp_path / "journal")
    first.unlink()
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    assert leg.from_s == 102.0
    assert (
        "The boot's beginning is not here: it starts with segment 2. "
        "Limits are told as far as its readings give them."
    ) in leg.notes


def test_a_boot_ends_as_its_last_segment_does(tmp_path: Path) -> None:
    *_, last = _three_segments(tmp_path / "journal")
    content = last.read_bytes()
    last.write_bytes(content[: content.index(b'{"at_s":172.')])
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    assert leg.ended == "power cut: nothing says that it ended in order"


def test_a_missing_segment_is_a_hole_in_the_ride(tmp_path: Path) -> None:
    _, second, _ = _three_segments(tmp_path / "journal")
    second.unlink()
    (leg,) = read_ride(find([tmp_path / "journal"])).legs
    (hole,) = leg.holes
    assert (hole.from_s, hole.to_s) == (102.0, 170.0)  # the close of the segment before stands
    assert hole.what == "a segment is missing"


def test_a_cut_segment_is_read_up_to_the_cut(night: Path, tmp_path: Path, ride: Ride) -> None:
    journal = tmp_path / "journal"
    shutil.copytree(night, journal)
    last = max(journal.glob("*/*.mcap"))
    content = last.read_bytes()
    last.write_bytes(content[: len(content) * 3 // 4])
    cut = read_ride(find([journal]))
    assert 0 < cut.fixes < ride.fixes
    assert cut.legs[0].ended == "power cut: nothing says that it ended in order"
    assert cut.legs[0].difference == ""


def test_a_journal_of_a_newer_format_is_refused_with_the_reason(tmp_path: Path) -> None:
    written(tmp_path / "journal", 20)
    (path,) = (tmp_path / "journal").glob("*/*.mcap")
    content = path.read_bytes().replace(b'{"format":1,"kind"', b'{"format":2,"kind"')
    path.write_bytes(content)
    done = _run(tmp_path / "journal", "--to", "csv", "-o", tmp_path / "ride.csv")
    assert done.exit_code == 1
    assert done.stderr == (f"{path}: is of journal format 2: this sledwarden reads format 1.\n")


def test_an_empty_segment_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(b"")
    done = _run(path, "--to", "csv", "-o", tmp_path / "ride.csv")
    assert done.stderr.endswith(
        "/a.mcap: holds no record that can be read: does not begin as an MCAP file.\n"
    )


@pytest.mark.parametrize("name", [HOSTILE + "]]>&#0;\0\x0b\ufffe&lt;", "=cmd|' /C calc'!A0"])
def test_no_name_is_more_than_text_in_any_format(name: str, tmp_path: Path) -> None:
    folder = hostile_journal(tmp_path / "journal", name)
    shown = "".join("\ufffd" if one in "\0\x07\x0b\ufffe" else one for one in name)
    for kind in ("gpx", "kml", "geojson", "csv"):
        done = _run(folder, "--to", kind, "-o", tmp_path / f"ride.{kind}")
        assert done.exit_code == 0, done.output
    for kind in ("gpx", "kml"):
        tree = ElementTree.parse(tmp_path / f"ride.{kind}")
        assert not {one.tag.rpartition("}")[2] for one in tree.iter()} & {"script", "img"}
        assert any(shown in (one.text or "") for one in tree.iter())
    told = json.loads((tmp_path / "ride.geojson").read_text())
    texts = [text for one in told["features"] for text in one["properties"].values()]
    assert any(isinstance(text, str) and name in text for text in texts)  # JSON can hold all
    with (tmp_path / "ride.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row if cell]
    assert (f"'{shown}" if name.startswith("=") else shown) in cells
    assert not [cell for cell in cells if cell[0] in "=+@"]


def test_no_cell_begins_a_formula() -> None:
    from host_tools.exports.csv_rows import _cell

    for text in (
        "=HYPERLINK(1)",
        "+1+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(1)",
        "\t=1",
        "\n=1",
        "\uff1d1",
    ):
        assert _cell("why", text) == f"'{text}"
    for text in ("", "by day", "-", "-3.5", "+1", "a=b", "350.10(1)(gm)"):
        assert _cell("why", text) == (f"'{text}" if text == "-" else text)
    assert _cell("value", -3.5) == -3.5


def test_a_journal_that_was_changed_is_told_beside_its_copy(night: Path, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    shutil.copytree(night, folder)
    path = max(folder.glob("*/*.mcap"))
    content = bytearray(path.read_bytes())
    at = content.rindex(b"after dark")
    content[at : at + 10] = b"after dawn"
    path.write_bytes(content)
    done = _run(folder, "--to", "csv", "-o", tmp_path / "ride.csv")
    assert done.exit_code == 0
    assert "this is not what the unit sealed. Something was changed after it." in done.stderr
    assert (tmp_path / "ride.csv").exists()
