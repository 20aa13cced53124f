"""`sledwarden race`: a token from the organizer's desk to a unit that stands at the race."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from daemons import Daemon
from typer.testing import CliRunner, Result

from firmware.clock import Clock
from firmware.journal import reader
from firmware.race_token import read
from firmware.readings import Reading, Request
from host_tools.cli import app

RIDE = """\
# Name: at the start line
# Law: wi
# Start: 2026-01-17T23:30:00Z
0.0   engine off
0.0   ride lat=45.9 lon=-89.5 heading=90 speed=0 rate=5
60.0  end
"""
WINDOW = ("--from", "2026-01-17T17:00", "--to", "2026-01-17T23:00")
PLACE = ("--place", "45.9,-89.5", "--radius", "500")


def race(folder: Path, *words: str) -> Result:
    with contextlib.chdir(folder):
        return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["race", *words])


def made(folder: Path, *words: str) -> dict[str, Any]:
    done = race(
        folder, "token", "Winter derby", *PLACE, *WINDOW, "--key", "o.key", "--json", *words
    )
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_token_is_made_with_a_key_that_is_kept_and_never_written_over(tmp_path: Path) -> None:
    first = made(tmp_path)
    key = (tmp_path / "o.key").read_bytes()
    assert (tmp_path / "o.key").stat().st_mode & 0o777 == 0o600
    again = made(tmp_path, "--unit", "sled-7")
    assert (tmp_path / "o.key").read_bytes() == key
    assert first["key"] == again["key"]
    token = read(first["token"])
    # Local civil time of Wisconsin in January is six hours behind UTC.
    assert (token.from_utc, token.to_utc) == (
        datetime(2026, 1, 17, 23, tzinfo=UTC), datetime(2026, 1, 18, 5, tzinfo=UTC),
    )  # fmt: skip
    assert (token.event, token.lat_deg, token.lon_deg, token.radius_m, token.unit) == (
        "Winter derby", 45.9, -89.5, 500.0, "",
    )  # fmt: skip
    assert read(again["token"]).unit == "sled-7"


def test_the_key_is_printed_as_the_unit_s_configuration_takes_it(tmp_path: Path) -> None:
    done = race(tmp_path, "token", "Derby", *PLACE, *WINDOW, "--key", "o.key", "-o", "derby.token")
    assert done.exit_code == 0, done.output
    token = read((tmp_path / "derby.token").read_text())
    assert f'[race]\norganizers = ["{token.key}"]\n' in done.stdout
    assert f"signed by  {token.words}, {token.key}" in done.stdout
    assert "Sat 2026-01-17 17:00 CST, 2026-01-17 23:00 UTC" in done.stdout
    twice = race(tmp_path, "token", "Derby", *PLACE, *WINDOW, "--key", "o.key", "-o", "derby.token")
    assert twice.exit_code == 1
    assert "derby.token: is there already: must be a new file." in twice.stderr


def test_what_no_race_can_be_is_refused_before_a_key_is_made(tmp_path: Path) -> None:
    for words, what, code in (
        (("--radius", "60000"), "radius = 60000 m: must be above 0 and at most 50 km", 1),
        (("--to", "2026-01-17T17:00"), "must be after from", 1),
        (("--to", "2026-02-17T17:00"), "must be at most 14 days after from", 1),
        (("--place", "95,0"), "must be degrees on the earth", 1),
        (("--place", "here"), "must be latitude, comma, longitude", 2),
        (("--from", "tomorrow"), "must be like 2026-01-17T18:00", 2),
        (("--time-zone", "Mars/Base"), "must be an IANA name", 2),
    ):
        done = race(tmp_path, "token", "Derby", *PLACE, *WINDOW, "--key", "o.key", *words)
        assert (done.exit_code, what in done.stderr) == (code, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_read_and_its_window_looked_at(tmp_path: Path) -> None:
    now = Clock().system_utc()
    for name, off_h, code, said in (("now", -1, 0, "now: it holds, inside of its place"),
                                    ("over", -5, 1, "now: it has ended at "),
                                    ("early", 5, 1, "now: it does not hold before ")):  # fmt: skip
        first = (now + timedelta(hours=off_h)).isoformat()
        last = (now + timedelta(hours=off_h + 3)).isoformat()
        race(tmp_path, "token", "Derby", *PLACE, "--from", first, "--to", last, "--key", "o.key",
             "-o", f"{name}.token")  # fmt: skip
        done = race(tmp_path, "show", f"{name}.token")
        assert (done.exit_code, said in done.stdout) == (code, True), done.output
    other = race(tmp_path, "show", "now.token", "--unit", "sled-1")
    assert other.exit_code == 0
    cut = (tmp_path / "now.token").read_text().strip()[:-5]
    torn = race(tmp_path, "show", cut)
    assert torn.exit_code == 1
    assert torn.stderr == (
        "race token: is not whole: must be one line, sw-race-1 and three parts after it. "
        "Copy the whole line, or ask for it again.\n"
    )
    away = race(tmp_path, "show", "away.token")
    assert (away.exit_code, "can't be read: No such file" in away.stderr) == (1, True)
    nothing = race(tmp_path, "show", "")
    assert nothing.exit_code == 1
    assert nothing.stderr == "token: is empty: a token's line, or its file, was expected.\n"


def test_without_a_unit_it_is_said_why_none_is_heard(tmp_path: Path) -> None:
    done = race(tmp_path, "prove", made(tmp_path)["token"], "--feed", "no.sock")
    assert (done.exit_code, done.stderr) == (
        1,
        "no.sock: no unit is heard (no.sock: No such file or directory). "
        "Run it on the unit, or name --feed.\n",
    )


def test_a_unit_takes_a_token_and_says_what_is_proven_and_its_journal_holds_it(
    tmp_path: Path,
) -> None:
    named = made(tmp_path)
    config = '[unit]\nid = "sled-7"\n[engine]\npin = 27\n'
    config += f'[race]\norganizers = ["{named["key"]}"]\n'
    (tmp_path / "unit.toml").write_text(config)
    (tmp_path / "r.drive").write_text(RIDE.replace("# Law", "# Config: unit.toml\n# Law"))
    with Daemon(tmp_path, "--simulate", str(tmp_path / "r.drive"), "--speed", "1") as daemon:
        feed = ("--feed", str(daemon.feed_path))
        daemon.wait_for(lambda state: state.speed_mph == 0.0 and state.utc_source == "gps")
        other = made(tmp_path, "--unit", "sled-8")
        refused = race(tmp_path, "prove", other["token"], *feed)
        assert refused.exit_code == 1
        assert refused.stderr.startswith("race: refused: TOKEN IS FOR ANOTHER SLED. ")
        done = race(tmp_path, "prove", named["token"], "--by", "Start marshal", *feed)
        assert done.exit_code == 0, done.output
        assert done.stdout == (
            f"race mode is on: Winter derby, proven by the organizer ({named['words']})\n"
        )
        daemon.end()
    asked = [
        record.value
        for _, record in reader.read(daemon.journal)
        if isinstance(record, Reading) and isinstance(record.value, Request)
        and record.value.action == "race"
    ]  # fmt: skip
    assert [one.argument for one in asked] == [other["token"], named["token"]]
    assert asked[1].by.startswith("Start marshal")
    again = CliRunner().invoke(app, ["replay", str(daemon.journal)])
    assert again.exit_code == 0, again.output
