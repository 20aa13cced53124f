"""What the unit measures for a sheet: from a recording and live, with its error."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from daemons import Daemon
from inspect_terminal import Person, run
from inspecting import GOOD

SLED, CAR = "snowmobile", "motor_vehicle"

BRAKING = """\
# Name: a brake test
# Law: wi
# Start: 2026-01-17T18:00:00Z
0.0   ride lat=44.05 lon=-88.45 heading=90 speed=0 rate=10
1.0   engine on
1.0   ride speed=30 over=3
5.0   ride speed=0 over={over}
{end}  end
"""


@pytest.mark.parametrize(
    ("over_s", "code", "state"),
    # 20 mph take two thirds of the time: 2.0 s are 29.3 ft, 2.7 s 39.1 ft, 4.0 s 58.7 ft; +- 6 ft
    [(3.0, 0, "pass"), (4.0, 1, "unsure"), (6.0, 1, "fail")],
)
def test_a_recorded_stop_is_measured_with_its_error_and_kept_on_the_sheet(
    tmp_path: Path, over_s: float, code: int, state: str
) -> None:
    (tmp_path / "b.drive").write_text(BRAKING.format(over=over_s, end=14.0))
    done = run(tmp_path, "--brake", "b.drive", "--year", "2019")
    assert done.returncode == code, done.stderr
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())
    answer = kept["answers"]["brake_stop_ft"]
    assert answer["by"].startswith("GPS, b.drive, best of 1 at ")
    assert f"brake_stop_ft = {answer['answer']} ft: {state}" in done.stdout
    told = json.loads(run(tmp_path, "--brake", "b.drive", "--json").stdout)
    (measured,) = told["measured"]
    assert f"{measured['value']} +- {measured['error']}" == answer["answer"]
    assert (measured["item"], measured["unit"], measured["state"]) == ("brake_stop_ft", "ft", state)


def test_a_stop_is_measured_live_from_the_unit(tmp_path: Path) -> None:
    (tmp_path / "b.drive").write_text(BRAKING.format(over=3.0, end=30.0))
    with Daemon(tmp_path, "--simulate", str(tmp_path / "b.drive"), "--speed", "1") as daemon:
        person = Person(tmp_path, "--brake", "live", "--feed", str(daemon.feed_path))
        person.hear(r"stop at [\d.]+ s: [\d.]+ \+- [\d.]+ ft")
        person.press(b"\x03")
        assert person.end() == 0, person.said
    assert "pass" in person.said
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())
    feet, error = map(float, kept["answers"]["brake_stop_ft"]["answer"].split(" +- "))
    assert abs(feet - 29.33) <= error < 8.0


def test_no_stop_and_no_unit_are_told(tmp_path: Path) -> None:
    (tmp_path / "b.drive").write_text(BRAKING.format(over=3.0, end=6.0))
    done = run(tmp_path, "--brake", "b.drive")
    assert done.returncode == 1
    assert "has no stop from 20 mph to rest without a gap." in done.stderr
    away = run(tmp_path, "--lamps", "live", "--feed", str(tmp_path / "feed.sock"))
    assert away.returncode == 1
    assert "no unit is heard" in away.stderr


def test_a_gauge_that_is_no_part_of_the_vehicle_s_inspection_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.drive").write_text(BRAKING.format(over=3.0, end=14.0))
    done = run(tmp_path, "--vehicle", CAR, "--brake", "b.drive")
    assert done.returncode == 1
    assert "--brake: is no part of the inspection of a motor_vehicle." in done.stderr


CRUISING = """\
# Name: a speed indicator and an odometer
# Law: wi
# Vehicle: motor_vehicle
# Start: 2026-01-17T18:00:00Z
0.0    ride lat=44.05 lon=-88.45 heading=90 speed=0 rate=5
5.0    ask note odometer 1000.0
6.0    ride speed=41 over=10
30.0   ask note indicated 41.5
31.0   ride speed=55 over=5
50.0   ask note indicated 58
52.0   ride speed=65 over=5
70.0   ask note indicated 66
600.0  ride speed=0 over=20
625.0  ask note odometer 1010.7
626.0  end
"""


def test_speed_indicator_and_odometer_are_compared_with_gps(tmp_path: Path) -> None:
    """41.5 at 41 is +1.2 %, 58 at 55 +5.5 %, 66 at 65 +1.5 %; each to 1 mph of the true speed.

    The way: 6 to 16 s at 20.5 mph on average, to 31 s at 41, to 36 s at 48, to 52 s at 55, to 57 s
    at 60, to 600 s at 65, to 620 s at 32.5, which is 10.59 miles; 10.7 were shown.
    """
    (tmp_path / "c.drive").write_text(CRUISING)
    words = ("--vehicle", CAR, "--year", "2015", "-o", "c.html")
    done = run(tmp_path, *words, "--speedometer", "c.drive")
    assert done.returncode == 1  # one of the three is off for sure or maybe
    kept = json.loads((tmp_path / "c.progress.json").read_text())["answers"]
    wanted = {"40": (1.22, 2.44), "55": (5.45, 1.82), "65": (1.54, 1.54)}
    for speed, (off, error) in wanted.items():
        told = kept[f"speed_indicator_{speed}_pct"]["answer"].split(" +- ")
        assert [float(one) for one in told] == pytest.approx([off, error], abs=0.1)
    assert "indicated 58 at 55.0 mph: +5.5 +- 1.8 %" in done.stdout
    run(tmp_path, *words, "--odometer", "c.drive")
    kept = json.loads((tmp_path / "c.progress.json").read_text())["answers"]
    off, error = map(float, kept["odometer_error_pct"]["answer"].split(" +- "))
    miles = (20.5 * 10 + 41 * 15 + 48 * 5 + 55 * 16 + 60 * 5 + 65 * 543 + 32.5 * 20) / 3600
    assert off == pytest.approx((10.7 / miles - 1) * 100, abs=0.15)
    assert 1.0 < error < 3.0
    assert len(kept) == 5  # the other three were not lost


LAMP = """\
# Name: a lamp that is lit
# Law: wi
# Start: 2026-01-17T23:30:00Z
0.0   engine on
0.0   ride lat=44.05 lon=-88.45 heading=90 speed=0
1.0   lamp head supply=on light={lux}
10.0  end
"""


@pytest.mark.parametrize(("lux", "code"), [(850, 0), (20, 1)])
def test_the_head_lamp_s_light_is_taken_from_the_unit_s_sensor(
    tmp_path: Path, lux: int, code: int
) -> None:
    (tmp_path / "l.drive").write_text(LAMP.format(lux=lux))
    done = run(tmp_path, "--lamps", "l.drive")
    assert done.returncode == code, done.stderr
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())["answers"]
    assert kept["headlamp_lux"]["answer"].startswith(f"{lux} +- ")


def test_an_indicator_is_read_off_live_and_noted_in_the_journal(tmp_path: Path) -> None:
    ride = CRUISING.replace("heading=90 speed=0 rate=5", "heading=90 speed=55 rate=5")
    kept_lines = [line for line in ride.splitlines() if line.startswith(("#", "0.0"))]
    (tmp_path / "c.drive").write_text("\n".join([*kept_lines, "60.0 end"]) + "\n")
    with Daemon(tmp_path, "--simulate", str(tmp_path / "c.drive"), "--speed", "1") as daemon:
        state = daemon.wait_for(lambda state: (state.speed_mph or 0.0) > 54.0)
        person = Person(
            tmp_path, "--vehicle", CAR, "--year", "2015", "--speedometer", "live",
            "--feed", str(daemon.feed_path),
        )  # fmt: skip
        person.hear("An empty line ends it.")
        daemon.wait_for(lambda now: now.at_s > state.at_s + 6.0)
        person.type("56")
        person.hear("56")
        daemon.wait_for(lambda now: now.at_s > state.at_s + 7.5)
        person.type("")
        person.hear(r"indicated 56 at 55\.\d mph: \+1\.\d \+- 1\.\d %")
        assert person.end() == 0, person.said
        daemon.end()
    from firmware.journal import reader
    from firmware.readings import Reading, Request

    noted = [
        record.value.argument
        for _, record in reader.read(daemon.journal)
        if isinstance(record, Reading)
        and isinstance(record.value, Request)
        and record.value.action == "note"
    ]
    assert "indicated 56" in noted


def lit(folder: Path) -> Daemon:
    (folder / "lit.drive").write_text(LAMP.format(lux=850).replace("10.0  end", "300.0 end"))
    return Daemon(folder, "--simulate", str(folder / "lit.drive"), "--speed", "4")


def test_the_head_lamp_s_light_is_measured_live(tmp_path: Path) -> None:
    with lit(tmp_path) as daemon:
        daemon.wait_for(lambda state: state.at_s > 2.0)
        done = run(tmp_path, "--lamps", "live", "--feed", str(daemon.feed_path))
        assert daemon.end() == 0, daemon.log
    assert done.returncode == 0, done.stderr
    assert "Head lamp on, engine running ..." in done.stdout
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())["answers"]
    lux, error = map(float, kept["headlamp_lux"]["answer"].split(" +- "))
    assert abs(lux - 850.0) <= max(error, 1.0)
    assert kept["headlamp_lux"]["by"] == f"light sensor, unit at {daemon.feed_path}"


def test_m_has_the_unit_measure_what_is_asked_and_the_inspection_goes_on(tmp_path: Path) -> None:
    answers = {**GOOD[SLED], "has_unit": "yes"}
    answers.pop("headlamp_lux", None)
    known = {"vehicle": SLED, "serial": "A", "by": "Me", "answers": answers}
    beside = tmp_path / "inspection.progress.json"
    beside.write_text(json.dumps(known))
    with lit(tmp_path) as daemon:
        daemon.wait_for(lambda state: state.at_s > 2.0)
        person = Person(tmp_path, "--feed", str(daemon.feed_path), "--key", "k")
        person.hear("Light at the unit's sensor, lamp on")
        person.hear("m  the unit can measure it")
        person.hear("lux > ")
        person.type("m")
        person.hear("Enter for the unit, or a recording's name: ")
        person.type("no-such.drive")
        person.hear("no-such.drive: ")  # told, and asked again
        person.hear("lux > ")
        person.type("m")
        person.hear("Enter for the unit, or a recording's name: ")
        person.type("")
        person.hear("Sign it\\?")
        kept = json.loads(beside.read_text())["answers"]["headlamp_lux"]
        person.type("y")
        assert person.end() == 0, person.said
        assert daemon.end() == 0, daemon.log
    assert kept["by"] == f"light sensor, unit at {daemon.feed_path}"
    assert kept["answer"].startswith("850")
    assert json.loads((tmp_path / "inspection.json").read_text())["verdict"] == "passed"


FAST = """\
# Name: a car on a long straight road
# Law: wi
# Vehicle: motor_vehicle
# Start: 2026-01-17T18:00:00Z
0.0    ride lat=44.05 lon=-88.45 heading=90 speed=120 rate=10
900.0  end
"""


def test_an_odometer_is_read_off_live_on_the_way(tmp_path: Path) -> None:
    """At 120 mph half a mile is 15 s; 4 times as fast they pass in 4 s of ours."""
    (tmp_path / "f.drive").write_text(FAST)
    words = ("--vehicle", CAR, "--year", "2015", "--odometer", "live")
    with Daemon(tmp_path, "--simulate", str(tmp_path / "f.drive"), "--speed", "4") as daemon:
        for _ in range(5):  # on a busy machine the way may have a gap, which is told
            person = Person(tmp_path, *words, "--feed", str(daemon.feed_path))
            person.hear("An empty line ends it.")
            begun_s = daemon.wait_for(lambda state: (state.speed_mph or 0.0) > 119.0).at_s
            begun_s = daemon.wait_for(lambda state, after=begun_s: state.at_s > after + 1.0).at_s
            person.type("1000.0")
            person.hear("1000.0")
            daemon.wait_for(lambda state, after=begun_s: state.at_s > after + 20.0)
            person.type("1000.7")
            person.hear("1000.7")
            daemon.wait_for(lambda state, after=begun_s: state.at_s > after + 22.0)
            person.type("")
            code = person.end()
            if "the GPS speed has gaps between the two readings" not in person.said:
                break
        assert daemon.end() == 0, daemon.log
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())["answers"]
    off, error = map(float, kept["odometer_error_pct"]["answer"].split(" +- "))
    found = re.search(r"([\d.]+) miles by GPS: ([-+][\d.]+) \+- ([\d.]+) %", person.said)
    assert found is not None, person.said
    miles = float(found[1])
    assert 0.6 < miles < 2.0  # at least 19 s at 120 mph
    assert off == pytest.approx((0.7 / miles - 1) * 100, abs=1.0)
    assert error > 100 * 0.1 / miles  # a tenth is as well as it was read off
    assert kept["odometer_error_pct"]["by"].startswith(f"GPS, unit at {daemon.feed_path}, ")
    assert code in (0, 1)  # whether it is kept is the sheet's matter: 4 % are asked
