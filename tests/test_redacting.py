"""Privacy circles and coarse places: what a copy does not tell, and that it says so."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from journal_samples import START, put_all
from journal_samples import ride as ride_of
from typer.testing import CliRunner, Result

from firmware.clock import ManualClock
from firmware.journal.writer import Journal
from firmware.law.packs import load
from host_tools import redacting
from host_tools.cli import app
from host_tools.journals.paths import find
from host_tools.journals.reading import read_shown
from host_tools.journals.ride import Ride
from host_tools.report.words import headline

# The ride goes north from 45.0, by 1.11195 m a record; record 150 is the middle of the circle, and
# 50 m are 44.97 records: 106 to 194 lie inside. Of these 89 records 61 are fixes: three of ten are
# none, and each fiftieth is an event.
CIRCLE = '[unit]\nid = "sled-7"\nlaw = ["wi"]\n[privacy]\ncircles = ["45.0015 -90.1 50"]\n'
ALL_FIXES, INSIDE = 204, 61


def _journal(path: Path, config: str) -> Path:
    given = [("config.toml", config.encode())]
    journal = Journal(path, START, ManualClock(100.0), attachments=given)
    journal.open()
    put_all(journal, ride_of(300))
    assert journal.close(130.0, timeout_s=60.0)
    return path


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _journal(tmp_path_factory.mktemp("private") / "journal", CIRCLE)


def _read(journal: Path, **how: float | bool) -> Ride:
    return read_shown(find([journal]), **how)  # type: ignore[arg-type]


def _export(journal: Path, out: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["export", str(journal), "--to", "csv", "-o", str(out), *words])


def test_nothing_is_told_of_what_lies_inside_a_circle(journal: Path) -> None:
    ride = _read(journal)
    (leg,) = ride.legs
    assert ride.fixes == ALL_FIXES - INSIDE
    numbers = [round((lat_deg - 45.0) * 1e5) for lat_deg in leg.track.lat_deg]
    assert [n for n in numbers if 105 < n < 195] == []
    # From record 106 to record 196, the next fix outside (195 is a reading of a lamp).
    assert not any(110.55 < at_s < 119.55 for at_s, _ in leg.findings)
    # Six events that the samples never end: all but the last, which begins after it, touch it.
    assert [round(event.start_s, 1) for event in leg.events.values()] == [124.2]
    assert [(one.what, round(one.from_s, 1), round(one.to_s, 1)) for one in leg.holes] == [
        ("left out: inside a privacy circle", 110.6, 119.6)
    ]
    assert ride.unit == "sled-7 (redacted copy, no evidence)"
    assert leg.notes[-1] == (
        "61 fixes inside of privacy circles were left out: this copy is no evidence."
    )


def test_the_rider_may_have_everything(journal: Path, tmp_path: Path) -> None:
    assert _read(journal, shows_all=True).fixes == ALL_FIXES
    done = _export(journal, tmp_path / "all.csv", "--everything")
    assert "left out" not in done.stderr
    assert "evidence" not in (tmp_path / "all.csv").read_text()


def test_an_export_says_that_it_is_no_evidence(journal: Path, tmp_path: Path) -> None:
    done = _export(journal, tmp_path / "ride.csv")
    assert done.exit_code == 0
    assert "61 fixes inside of privacy circles were left out" in done.stderr
    assert f"{ALL_FIXES - INSIDE} fixes" in done.stdout
    with (tmp_path / "ride.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["record"], rows[0]["why"]) == ("note", "redacted copy, no evidence")
    assert [row["record"] for row in rows].count("fix") == ALL_FIXES - INSIDE


def test_a_ride_without_circles_says_nothing(tmp_path: Path) -> None:
    config = CIRCLE.partition("[privacy]")[0]
    ride = _read(_journal(tmp_path / "journal", config))
    assert (ride.fixes, ride.unit) == (ALL_FIXES, "sled-7")


def test_a_ride_that_begins_inside_begins_with_its_first_fix_outside(tmp_path: Path) -> None:
    config = CIRCLE.replace("45.0015", "45.0001")  # record 10: 0 to 54 lie inside
    (leg,) = _read(_journal(tmp_path / "journal", config)).legs
    assert round(leg.from_s, 1) == 105.6  # record 55 is a lamp's
    assert leg.from_s == leg.track.at_s[0]


def test_a_boot_that_lies_all_inside_is_left_out_with_its_time(tmp_path: Path) -> None:
    config = CIRCLE.replace("45.0015 -90.1 50", "45.002 -90.1 180")  # the whole ride but its begin
    path = _journal(tmp_path / "journal", config)
    assert len(_read(path).legs) == 1
    given = [("config.toml", config.encode())]
    journal = Journal(path, START, ManualClock(100.0), attachments=given)
    journal.open()
    put_all(journal, ride_of(300)[100:])  # within 180 m of the middle
    assert journal.close(130.0, timeout_s=60.0)
    ride = _read(path)
    assert [leg.start.boot for leg in ride.legs] == [1]
    assert len(_read(path, shows_all=True).legs) == 2


def test_a_journal_that_lies_all_inside_gives_no_copy(tmp_path: Path) -> None:
    config = CIRCLE.replace("45.0015 -90.1 50", "45.0015 -90.1 500")
    path = _journal(tmp_path / "journal", config)
    done = _export(path, tmp_path / "ride.csv")
    assert done.exit_code == 1
    assert "lies all inside of its privacy circles" in done.stderr
    assert not (tmp_path / "ride.csv").exists()


def test_what_was_not_watched_is_not_told_for_the_time_inside(journal: Path) -> None:
    whys = [
        (100.0, "starting", True), (101.0, "", True),
        (109.0, "lamp not seen", True), (112.0, "", True),  # goes on into the circle
        (113.0, "the rider's secret", True), (114.0, "", True),
        (118.0, "no answer", True), (122.5, "", True),  # from 119.6 on it is told
    ]  # fmt: skip
    ride = _read(journal, shows_all=True)
    (leg,) = ride.legs
    leg.unknowns = {"350.09(3)": whys}
    redacting.hide(ride)
    told = {one.why: (round(one.seconds, 1), one.times) for one in leg.not_watched()}
    assert told == {"starting": (1.0, 1), "lamp not seen": (1.6, 1), "no answer": (2.9, 1)}


def test_a_report_of_what_is_told_alone_calls_no_ride_clean(journal: Path) -> None:
    ride = _read(journal)
    ride.legs[0].clauses = {one.citation: one for one in load("wi").clause}
    assert headline(ride, []) == (
        "Nothing was found against the rider in what is told; something was left out."
    )


def test_coarse_places_lie_on_a_grid(journal: Path, tmp_path: Path) -> None:
    (leg,) = _read(journal, shows_all=True, grid_m=100.0).legs
    # The ride is 332 m long: four squares of 100 m, or three and a part of a fourth and a fifth.
    assert 4 <= len(set(leg.track.lat_deg)) <= 5
    assert len(set(leg.track.lon_deg)) <= 5
    exact = [45.0 + number / 1e5 for number in range(300)]
    near = max(min(abs(lat - one) for one in exact) for lat in set(leg.track.lat_deg))
    assert near * 111_195.0 <= 51.0
    assert min(leg.track.error_m) == 100.0
    done = _export(journal, tmp_path / "coarse.csv", "--coarsen", "500", "--everything")
    assert "Places were made coarse, to 500 m: this copy is no evidence." in done.stderr


def test_an_export_says_which_of_the_journal_it_could_not_read(tmp_path: Path) -> None:
    path = _journal(tmp_path / "journal", CIRCLE)
    given = [("config.toml", CIRCLE.encode())]
    later = Journal(path, START, ManualClock(100.0), attachments=given)
    later.open()
    put_all(later, ride_of(30))
    assert later.close(130.0, timeout_s=60.0)
    (first, *_) = sorted(path.glob("0*/*.mcap"))
    first.rename(first.with_name(f"{first.name}.zst.age"))
    first.with_name(f"{first.name}.zst.age").write_bytes(b"age-encryption.org/v1\n")
    done = _export(path, tmp_path / "ride.csv")
    assert f"{first.parent.name}/{first.name}.zst.age is encrypted to its owner." in done.stderr
