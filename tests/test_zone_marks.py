"""`sledwarden zones marks` and `zones report`: to a friend, from one, to the maker of a map."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from daemons import Daemon
from typer.testing import CliRunner

from host_tools.cli import app

PACK = Path(__file__).parent / "drives" / "land.gpkg"
RIDE = """# Start: 2026-01-17T20:00:00Z
0.0 engine on
0.0 ambient 5000
0.0 ride lat=45.875 lon=-89.52 heading=0 speed=0 rate=5 gst=1
1.0 button hold
600.0 end
"""


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["zones", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


# Marks.


def test_marks_are_listed_written_and_taken_by_another_unit(tmp_path: Path) -> None:
    drive, shared = tmp_path / "mark.drive", tmp_path / "ours.geojson"
    drive.write_text(RIDE)
    with Daemon(tmp_path, "--simulate", str(drive), "--speed", "5") as unit:
        unit.wait_for(lambda state: bool(state.marks) and state.utc is not None)
        code, told, _ = run("marks", "--feed", unit.feed_path, "--json")
        (row,) = json.loads(told)
        assert (code, row["kind"], row["lat"], row["lon"]) == (0, "person", 45.875, -89.52)
        assert row["by"] == "button"
        code, told, _ = run("marks", "--feed", unit.feed_path)
        assert (code, told.startswith(f"person  {row['id']} ")) == (0, True)
        assert run("marks", "--feed", unit.feed_path, "-o", shared)[:2] == (
            0,
            f"{shared}: 1 mark\n",
        )
        code, _, said = run("marks", "--feed", unit.feed_path, "-o", shared)
        assert (code, "is there already" in said) == (1, True)

    drive.write_text(RIDE.replace("1.0 button hold\n", ""))
    other = tmp_path / "other"
    other.mkdir()
    with Daemon(other, "--simulate", str(drive), "--speed", "5") as unit:
        unit.wait_for(lambda state: state.utc is not None)
        assert run("marks", "--feed", unit.feed_path)[:2] == (0, "no marks\n")
        code, told, said = run("marks", "--feed", unit.feed_path, "--import", shared, "--json")
        assert (code, said) == (0, "1 sent: 1 new on the map\n")
        assert [one["id"] for one in json.loads(told)] == [row["id"]]
        code, told, _ = run("marks", "--feed", unit.feed_path, "--remove", row["id"])
        assert (code, told) == (0, "no marks\n")
        code, _, said = run("marks", "--feed", unit.feed_path, "--remove", "x")
        assert (code, said) == (1, "x: there is no such mark. The marks are: none.\n")


def test_no_unit_is_one_sentence(tmp_path: Path) -> None:
    code, _, said = run("marks", "--feed", tmp_path / "none.sock")
    assert code == 1
    assert "no unit is heard" in said


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "marks as `zones marks -o` writes them were expected."),
        ("[]", "is no GeoJSON FeatureCollection: marks as"),
        ('{"features": []}', "holds no person and no shanty."),
    ],
)
def test_a_file_without_marks_is_one_sentence(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "in.geojson").write_text(text)
    code, _, said = run("marks", "--import", tmp_path / "in.geojson")
    assert code == 1
    assert fault in said
    code, _, said = run("marks", "--import", tmp_path / "gone.geojson")
    assert (code, said) == (1, f"{tmp_path / 'gone.geojson'}: can't be read: No such file or "
                               "directory.\n")  # fmt: skip


def test_one_thing_at_a_time(tmp_path: Path) -> None:
    code, _, said = run("marks", "--remove", "a", "-o", tmp_path / "b")
    assert (code, said) == (2, "zones marks: takes one of --out, --import and --remove.\n")


# Reports.


def test_reports_are_kept_one_after_the_other_with_their_shapes(tmp_path: Path) -> None:
    out = tmp_path / "reports.geojson"
    code, told, _ = run("report", PACK, "private-1", "--why", "sold to the county", "-o", out)
    assert (code, told) == (0, f"{out}: 1 report; it goes on to warn\n")
    code, told, _ = run(
        "report", PACK, "stop:stop-1", "--why", "turned round", "-o", out, "--by", "club"
    )
    assert (code, told) == (0, f"{out}: 2 reports; it goes on to warn\n")
    first, second = json.loads(out.read_text())["features"]
    assert first["geometry"]["type"] == "Polygon"
    assert first["properties"]["reason"] == "sold to the county"
    assert first["properties"]["packs"] == "land.gpkg"
    assert second["geometry"]["type"] == "MultiLineString"
    assert (second["properties"]["id"], second["properties"]["by"]) == ("stop-1", "club")


def test_a_report_of_nothing_and_without_a_reason_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "reports.geojson"
    code, _, said = run("report", PACK, "house", "--why", "a barn", "-o", out)
    assert (code, said) == (1, f"{PACK}: has nothing of the id house. `zones at` lists ids.\n")
    assert run("report", PACK, "private-1", "--why", " ", "-o", out)[0] == 2
    assert run("report", tmp_path / "no.gpkg", "x", "--why", "y", "-o", out)[0] == 1
    assert not out.exists()


@pytest.mark.parametrize("text", ["", "{}", '{"features": {}}', "[[["])
def test_a_file_of_something_else_is_not_written_over(tmp_path: Path, text: str) -> None:
    out = tmp_path / "mine.json"
    out.write_text(text)
    code, _, said = run("report", PACK, "private-1", "--why", "sold", "-o", out)
    assert code == 1
    assert "Name another file with -o." in said
    assert out.read_text() == text
