"""The rider's marks and reports outlive the unit, in files that other tools read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from daemons import Daemon
from judging import HOME, fix_of, map_of, square

from firmware.kept import Kept
from firmware.readings import Missing, Press, Request, Why
from firmware.rider.requests import KEPT, Requests

NOW = datetime(2026, 1, 17, 20, 0, tzinfo=UTC)
NO_MAP = Missing(Why.NOT_FITTED)
RIDE = """# Start: 2026-01-17T20:00:00Z
0.0 engine on
0.0 ambient 5000
0.0 ride lat=45.875 lon=-89.52 heading=0 speed=0 rate=5 gst=1
2.0 button hold
{more}40.0 end
"""


def kept_in(folder: Path) -> Kept:
    return Kept(folder / "journal.marks.geojson", folder / "journal.reports.geojson")


def hold(requests: Requests, at_s: float) -> None:
    requests.take(Press("hold"), at_s, fix_of(0.0), True, NOW)


def test_a_mark_is_written_as_geojson_and_asked_for_again(tmp_path: Path) -> None:
    kept, requests = kept_in(tmp_path), Requests()
    hold(requests, 100.0)
    kept.look(requests, NO_MAP, 100.0, NOW)
    kept.finish()
    document = json.loads((tmp_path / "journal.marks.geojson").read_text())
    (feature,) = document["features"]
    assert feature["geometry"] == {"type": "Point", "coordinates": [HOME[1], HOME[0]]}
    assert feature["properties"] == {
        "kind": "person",
        "id": "mark-100.0",
        "name": "marked by a rider",
        "until": "2026-01-17T20:10:00Z",
        "by": "button",
    }
    assert kept_in(tmp_path).marks() == [
        "person 44.05 -88.45 until=2026-01-17T20:10:00Z id=mark-100.0"
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["journal.marks.geojson"]


def test_what_was_taken_away_is_gone_from_the_file_too(tmp_path: Path) -> None:
    kept, requests = kept_in(tmp_path), Requests()
    hold(requests, 100.0)
    kept.look(requests, NO_MAP, 100.0, None)
    requests.take(Request("unmark", "mark-100.0"), 101.0, fix_of(0.0), True)
    kept.look(requests, NO_MAP, 101.0, None)
    kept.finish()
    assert kept_in(tmp_path).marks() == []


def test_a_mark_learns_its_date_and_the_file_too(tmp_path: Path) -> None:
    kept, requests = kept_in(tmp_path), Requests()
    requests.take(Press("hold"), 100.0, fix_of(0.0), True)
    kept.look(requests, NO_MAP, 100.0, None)
    requests.watch(fix_of(0.0), NOW, 160.0)
    kept.look(requests, NO_MAP, 160.0, NOW)
    kept.finish()
    assert kept_in(tmp_path).marks() == [
        "person 44.05 -88.45 until=2026-01-17T20:09:00Z id=mark-100.0"
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"features": 7}', "\x00", '{"features": [' * 100_000]
)
def test_a_file_that_holds_no_marks_is_put_aside_and_told(tmp_path: Path, text: str) -> None:
    place = tmp_path / "journal.marks.geojson"
    place.write_text(text)
    assert kept_in(tmp_path).marks() == []
    assert (tmp_path / "journal.marks.geojson.broken").read_text() == text


def test_what_is_no_mark_in_a_file_is_passed_over(tmp_path: Path) -> None:
    def feature(kind: object, place: object, **said: object) -> object:
        geometry = {"type": "Point", "coordinates": place}
        return {"type": "Feature", "properties": {"kind": kind, **said}, "geometry": geometry}

    features = [
        7,
        {"type": "Feature"},
        feature("dwelling", [-89.5, 45.9]),
        feature("shanty", [-89.5]),
        feature("shanty", [-289.5, 45.9]),
        feature("shanty", ["east", "north"]),
        feature("shanty", [-89.5, 45.9], id="a b"),
        feature("shanty", [-89.5, 45.9, 440.0], id="good"),
    ]
    (tmp_path / "journal.marks.geojson").write_text(json.dumps({"features": features}))
    assert kept_in(tmp_path).marks() == ["shanty 45.9 -89.5 id=good"]


def test_a_device_in_the_place_of_the_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "journal.marks.geojson").symlink_to("/dev/zero")
    assert kept_in(tmp_path).marks() == []


def test_reports_are_added_to_those_that_are_there_with_the_shape_they_speak_of(
    tmp_path: Path,
) -> None:
    barn = square("dwelling", HOME, 20.0, "house-7")
    for ident, why in (("house-7", "it is a barn"), ("dwelling:house-7", "still"), ("x", "what")):
        kept, requests = kept_in(tmp_path), Requests()
        requests.take(Request("report", f"{ident} {why}", "page"), 1.0, fix_of(0.0), True, NOW)
        kept.look(requests, map_of(barn).surroundings, 1.0, NOW)
        kept.look(requests, map_of(barn).surroundings, 2.0, NOW)
        kept.finish()
    document = json.loads((tmp_path / "journal.reports.geojson").read_text())
    first, second, third = document["features"]
    assert first["properties"] == {
        "kind": "dwelling",
        "id": "house-7",
        "name": "",
        "reason": "it is a barn",
        "reported": "2026-01-17T20:00:00Z",
        "by": "page",
    }
    assert first["geometry"]["type"] == "Polygon"
    assert second["geometry"] == first["geometry"]
    assert (third["geometry"], third["properties"]["id"]) == (None, "x")


def test_reports_that_can_t_be_read_are_put_aside_and_none_is_lost(tmp_path: Path) -> None:
    (tmp_path / "journal.reports.geojson").write_text("{torn")
    kept, requests = kept_in(tmp_path), Requests()
    requests.take(Request("report", "a barn"), 1.0, fix_of(0.0), True)
    kept.look(requests, NO_MAP, 1.0, None)
    kept.finish()
    assert (tmp_path / "journal.reports.geojson.broken").read_text() == "{torn"
    assert len(json.loads((tmp_path / "journal.reports.geojson").read_text())["features"]) == 1


def test_marks_outlive_a_restart_of_the_real_daemon_and_its_replay(tmp_path: Path) -> None:
    drive = tmp_path / "mark.drive"
    drive.write_text(RIDE.format(more=""))
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "10") as unit:
        state = unit.wait_for(lambda state: bool(state.marks))
        assert [one.kind for one in state.marks] == ["person"]
        assert unit.end() == 0
    assert KEPT not in unit.log
    drive.write_text(RIDE.format(more="").replace("2.0 button hold\n", ""))
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "10") as unit:
        again = unit.wait_for(lambda state: bool(state.marks) and state.utc is not None)
        (mark,) = again.marks
        assert (mark.kind, mark.id) == (state.marks[0].kind, state.marks[0].id)
        assert mark.left_s < 602.0
        assert unit.end() == 0
