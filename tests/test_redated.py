"""What was recorded before the date was known is dated by its boot's own anchors, and said so."""

from __future__ import annotations

import csv
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from journal_samples import journal_in
from typer.testing import CliRunner, Result

from firmware.findings import Anchor, Finding, Verdict
from firmware.readings import Channel, Fix, Light, Reading
from host_tools.cli import app

RTC_DAY = datetime(2026, 1, 17, 21, 55, 48, tzinfo=UTC)
"""What the battery clock says at second 100 of the boot: 252 s behind."""

GPS_DAY = datetime(2026, 1, 17, 22, 0, 20, tzinfo=UTC)
"""The satellites' date at second 120; so second 100 was 22:00:00."""


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def _journal(folder: Path, *, rtc: datetime | None) -> Path:
    """Twenty seconds of lamps and one finding, without a date or with the battery clock's; then
    ten of fixes with the satellites'."""
    journal = journal_in(folder)
    journal.open()
    boot = journal.boot_id
    first = Anchor("none", 100.0) if rtc is None else Anchor("rtc", 100.0, rtc, 60.0, 20.0)
    _put(journal, 100.0, rtc, Anchor(first.source, *_rest(first), boot_id=boot))
    for number in range(20):
        at_s = 100.0 + number
        utc = None if rtc is None else rtc + timedelta(seconds=number)
        _put(journal, at_s, utc, Reading(Channel.LIGHT_HEAD, Light(850.0, 2.0), at_s, "bh1750"))
        if number == 5:
            lamp = Finding("350.09(2)(b)", Verdict.UNSURE, "head lamp out", topic="head-lamp")
            _put(journal, at_s, utc, lamp)
    step_s = None if rtc is None else 252.0
    _put(journal, 120.0, GPS_DAY, Anchor("gps", 120.0, GPS_DAY, 0.5, 20.0, step_s, boot))
    for number in range(10):
        at_s, utc = 120.0 + number, GPS_DAY + timedelta(seconds=number)
        fix = Fix(45.0 + number / 1e4, -90.0, 3.0, 11.0, 0.2, 0.0, utc)
        _put(journal, at_s, utc, Reading(Channel.FIX, fix, at_s, "gps", 2.0))
    assert journal.close(130.0, timeout_s=60.0)
    return folder


def _rest(anchor: Anchor) -> tuple[object, ...]:
    return anchor.mono_s, anchor.utc, anchor.error_s, anchor.growth_ppm


def _put(journal: object, at_s: float, utc: datetime | None, record: object) -> None:
    journal.put(record, at_s, utc)  # type: ignore[attr-defined]
    assert journal.flush(60.0)  # type: ignore[attr-defined]


@pytest.fixture(params=["no date", "battery clock"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    rtc = None if request.param == "no date" else RTC_DAY
    return _journal(tmp_path / "journal", rtc=rtc)


def _hashes(folder: Path) -> dict[Path, str]:
    return {
        one: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in folder.rglob("*")
        if one.is_file()
    }


def test_verify_dates_the_first_segment_beside_what_was_sealed(kept: Path) -> None:
    before = _hashes(kept)
    done = _run("verify", kept, "--json")
    first = json.loads(done.stdout)["segments"][0]
    assert done.exit_code == 0
    assert first["redated"]["from"] == "2026-01-17T22:00:00.000Z"
    assert first["redated"]["source"] == "gps"
    assert first["redated"]["error_s"] == pytest.approx(0.5, abs=0.001)  # 20 s of 20 ppm more
    sealed = first.get("from")  # what the seal says stays what it says
    assert sealed in (None, "2026-01-17T21:55:48.000Z")
    assert _hashes(kept) == before


def test_verify_says_it_in_words(kept: Path) -> None:
    said = " ".join(_run("verify", kept).stdout.split())
    assert "~ 2026-01-17 22:00 22:00" in said
    assert "~ Dated afterwards: a segment began before the date was known" in said


def test_an_export_dates_and_marks_the_rows_from_before(kept: Path, tmp_path: Path) -> None:
    before = _hashes(kept)
    done = _run("export", kept, "--to", "csv", "-o", tmp_path / "ride.csv")
    assert done.exit_code == 0
    rows = list(csv.DictReader((tmp_path / "ride.csv").read_text().splitlines()))
    (lamp,) = [row for row in rows if row["record"] == "finding"]
    fixes = [row for row in rows if row["record"] == "fix"]
    assert (lamp["t"], lamp["is_redated"]) == ("2026-01-17T22:00:05.000Z", "true")
    assert (fixes[0]["t"], fixes[0]["is_redated"]) == ("2026-01-17T22:00:20.000Z", "false")
    assert "Boot 1: its first 20.0 s had" in done.stderr
    assert "dated here by the first date of the satellites, to 0.5 s" in done.stderr
    assert _hashes(kept) == before


@pytest.mark.parametrize(("to", "said"), [
    ("geojson", '"is_redated":true'), ("gpx", "dated here by the first date of the satellites"),
    ("kml", "dated here by the first date of the satellites"),
])  # fmt: skip
def test_a_map_file_says_what_was_dated_afterwards(
    kept: Path, tmp_path: Path, to: str, said: str
) -> None:
    out = tmp_path / f"ride.{to}"
    assert _run("export", kept, "--to", to, "-o", out).exit_code == 0
    assert said in out.read_text()


def test_a_report_marks_what_was_dated_afterwards(kept: Path, tmp_path: Path) -> None:
    before = _hashes(kept)
    done = _run("report", kept, "-o", tmp_path / "ride.html")
    page = (tmp_path / "ride.html").read_text()
    assert done.exit_code == 0
    assert "dated here by the first date of the satellites" in done.stderr
    assert "dated here by the first date of the satellites" in page
    assert '<small class="later">dated afterwards</small>' in page
    assert "16:00:05" in page  # the finding, in Chicago
    assert _hashes(kept) == before


def test_how_far_the_battery_clock_was_off_is_said(tmp_path: Path) -> None:
    kept = _journal(tmp_path / "journal", rtc=RTC_DAY)
    done = _run("export", kept, "--to", "csv", "-o", tmp_path / "ride.csv")
    assert "had the battery clock's date at best, 252 s behind." in done.stderr


def test_a_segment_that_does_not_hold_is_dated_by_nothing(tmp_path: Path) -> None:
    kept = _journal(tmp_path / "journal", rtc=None)
    for path in kept.rglob("*.mcap"):
        octets = bytearray(path.read_bytes())
        octets[octets.index(b'"utc":"2026') + 8 if b'"utc":"2026' in octets else 2000] ^= 1
        path.write_bytes(octets)
    segments = json.loads(_run("verify", kept, "--json").stdout)["segments"]
    assert [one["verdict"] for one in segments] == ["tampered"] * len(segments)
    assert [one for one in segments if "redated" in one] == []


def test_a_boot_that_was_dated_from_its_start_says_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal = journal_in(folder)
    journal.open()
    _put(journal, 100.0, GPS_DAY, Anchor("gps", 100.0, GPS_DAY, 0.5, 20.0, None, journal.boot_id))
    assert journal.close(101.0, timeout_s=60.0)
    (one,) = json.loads(_run("verify", folder, "--json").stdout)["segments"]
    assert "redated" not in one
