"""`sledwarden inspect` as a person runs it: on a terminal, left and gone on with, proven."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from daemons import Daemon
from inspecting import GOOD
from typer.testing import CliRunner

from host_tools.cli import app

PATIENCE_S = 30.0
SLED, LSV, CAR = "snowmobile", "low_speed_vehicle", "motor_vehicle"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *words: str) -> Done:
    """The command without a terminal, in a folder."""
    with contextlib.chdir(folder):
        done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["inspect", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


class Person:
    """The command on a pseudo-terminal, and the one who sits at it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._pid, self._line = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.environ |= {"COLUMNS": "160", "TERM": "xterm"}
            os.execv(sys.executable, [sys.executable, "-m", "host_tools.cli", "inspect", *words])
        self.said = ""
        self._read = 0

    def hear(self, wanted: str) -> str:
        """What is said up to and with a pattern that is new; fails where it does not come."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            found = re.search(wanted, self.said[self._read :])
            if found:
                heard = self.said[self._read : self._read + found.end()]
                self._read += found.end()
                return heard
            if select.select([self._line], [], [], 0.2)[0]:
                try:
                    octets = os.read(self._line, 65536)
                except OSError:  # the program has ended
                    break
                self.said += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", octets.decode())
        raise AssertionError(f"{wanted!r} did not come; was said:\n{self.said[-3000:]}")

    def type(self, text: str) -> None:
        os.write(self._line, text.encode() + b"\n")

    def press(self, octets: bytes) -> None:
        os.write(self._line, octets)

    def end(self) -> int:
        """Its exit code, once it has ended."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            if select.select([self._line], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self._line, 65536).decode()
                except OSError:
                    break
        _, status = os.waitpid(self._pid, 0)
        os.close(self._line)
        return os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._line)


def asks_of(vehicle: str) -> dict[str, str]:
    """Each question as it stands on the glass of the terminal, and the good answer to it."""
    from host_tools.inspection import checks

    inspection = checks.load(vehicle)
    asks = {}
    for item, answer in GOOD[vehicle].items():
        question = inspection.question(item)
        assert question is not None
        asks[question.ask] = answer
    return asks


PROMPT = r"\n[^\n]*> $"


def lead(person: Person, vehicle: str, *, until: str = "Sign it\\?", **other: str) -> None:
    """Answers each question that is asked, by its words, to the end of the sheet."""
    asks = asks_of(vehicle) | other
    while True:
        heard = person.hear(rf"(?:{until})|{PROMPT}")
        if re.search(until, heard):
            return
        asked = [ask for ask in asks if ask in heard]
        assert asked, f"an unknown question:\n{heard}"
        person.type(asks[max(asked, key=len)])


@pytest.mark.parametrize("vehicle", [SLED, LSV])
def test_a_newcomer_is_led_through_a_whole_vehicle_to_a_signed_sheet(
    tmp_path: Path, vehicle: str
) -> None:
    person = Person(tmp_path, "--vehicle", vehicle, "-o", "one.html", "--key", "dealer.key")
    person.hear("Serial number: ")
    person.type("A-12345")
    person.hear("Inspected by: ")
    person.type("Somebody")
    lead(person, vehicle)
    person.type("y")
    assert person.end() == 0, person.said[-2000:]
    results = json.loads((tmp_path / "one.json").read_text())
    assert (results["verdict"], results["vehicle"], results["serial"]) == ("passed", vehicle,
                                                                          "A-12345")  # fmt: skip
    assert {row["state"] for row in results["rows"]} <= {"pass", "not applicable", "note"}
    proven = run(tmp_path, "--check", "one.html")
    assert proven.returncode == 0, proven.stderr
    assert "whole: not a letter was changed since it was signed." in proven.stdout
    assert "beside it, the same as then: one.json, one.csv" in proven.stdout
    assert not (tmp_path / "one.progress.json").exists()
    assert (tmp_path / "dealer.key").stat().st_mode & 0o777 == 0o600
    lines = (tmp_path / "one.csv").read_text().splitlines()
    assert lines[0].startswith("citation,title,row_state,item,ask,state,answer,unit,error,limit")
    assert len(lines) > len(results["rows"])


def test_enter_is_no_answer_and_a_slip_is_told_and_asked_again(tmp_path: Path) -> None:
    person = Person(tmp_path, "--serial", "A1", "--by", "Me", "--key", "k")
    person.hear("Is the head lamp's light white\\?")
    person.hear("y/n > ")
    person.type("")
    person.hear("nothing: yes or no was expected")
    person.hear("y/n > ")
    person.type("perhaps")
    person.hear("perhaps: yes or no was expected")
    person.type("y")
    person.hear("How far ahead does it show a person\\?   at least 200 ft")
    person.hear("ft > ")
    person.type("9999999")
    person.hear("must be from 0 to 5000 ft")
    person.type("150")
    person.hear("fail: 150 ft: must be at least 200 ft")
    person.press(b"\x03")
    person.hear("kept in inspection.progress.json")
    assert person.end() == 1


def test_an_inspection_goes_on_where_it_was_left_back_and_skipped(tmp_path: Path) -> None:
    words = ("--year", "2019", "--key", "k", "-o", "s.html")
    first = Person(tmp_path, *words)
    first.hear("Serial number: ")
    first.type("S-7")
    first.hear("Inspected by: ")
    first.type("Me")
    first.hear("light white\\?")
    first.hear("> ")
    first.type("y")
    first.hear("How far ahead")
    first.hear("> ")
    first.type("b")  # back
    first.hear("light white\\?")
    first.hear("> ")
    first.type("y")
    first.hear("How far ahead")
    first.hear("> ")
    first.type("s")
    first.hear("why is it skipped\\? ")
    first.type("no")
    first.hear("a reason of at least 4 letters was expected")
    first.hear("> ")
    first.type("s")
    first.hear("why is it skipped\\? ")
    first.type("it is daylight")
    first.hear("Does a light sensor")
    first.hear("> ")
    first.type("?")
    first.hear("Head lamp must display a white light|head lamp must show a white light")
    first.type("q")
    first.hear("of 14 paragraphs are done, and kept in s.progress.json")
    assert first.end() == 1
    kept = json.loads((tmp_path / "s.progress.json").read_text())
    assert kept["answers"]["headlamp_reveal_ft"] == {"skipped": "it is daylight"}
    assert not (tmp_path / "s.html").exists()

    again = Person(tmp_path, *words)
    lead(again, SLED)
    again.type("y")
    assert again.end() == 1  # what was skipped is not kept
    results = json.loads((tmp_path / "s.json").read_text())
    assert (results["verdict"], results["serial"]) == ("not complete", "S-7")
    (row,) = [one for one in results["rows"] if one["state"] == "skipped"]
    assert (row["citation"], row["why"]) == ("350.09(2)(b)", "skipped: it is daylight")


def test_a_program_that_is_killed_has_lost_nothing_that_was_answered(tmp_path: Path) -> None:
    person = Person(tmp_path, "--serial", "A", "--by", "Me", "--key", "k")
    person.hear("light white\\?")
    person.hear("> ")
    person.type("y")
    person.hear("How far ahead")
    person.kill()
    kept = json.loads((tmp_path / "inspection.progress.json").read_text())
    assert kept["answers"] == {"headlamp_white": "yes"}


# From a file.


def answers_file(folder: Path, vehicle: str, **other: Any) -> Path:
    path = folder / "answers.json"
    answers = {key: value for key, value in (GOOD[vehicle] | other).items() if value is not None}
    path.write_text(json.dumps({"vehicle": vehicle, "serial": "A", "by": "Me", "answers": answers}))
    return path


@pytest.mark.parametrize("vehicle", [SLED, LSV, CAR])
def test_a_file_of_answers_gives_the_sheet_at_once(tmp_path: Path, vehicle: str) -> None:
    answers_file(tmp_path, vehicle)
    done = run(tmp_path, "--answers", "answers.json", "-o", "a.html", "--key", "k", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results == json.loads((tmp_path / "a.json").read_text())
    assert results["verdict"] == "passed"


def test_a_wrong_file_of_answers_is_refused_whole_with_every_fault(tmp_path: Path) -> None:
    answers_file(tmp_path, SLED, width_in="wide", brakes="two")
    done = run(tmp_path, "--answers", "answers.json", "--key", "k")
    assert done.returncode == 1
    assert done.stderr == (
        "answers.json: brakes = two: a figure was expected, like 38.5, 3/32 or 1 1/2.\n"
        "answers.json: width_in = wide: a figure was expected, like 38.5, 3/32 or 1 1/2.\n"
        "Put it right in the file and try again.\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.json"]


def test_what_is_left_open_is_said_and_never_passes(tmp_path: Path) -> None:
    answers_file(tmp_path, SLED, width_in=None)
    done = run(tmp_path, "--answers", "answers.json", "--key", "k", "-o", "a.html")
    assert done.returncode == 1
    results = json.loads((tmp_path / "a.json").read_text())
    assert results["verdict"] == "not complete"
    (row,) = [one for one in results["rows"] if one["state"] == "open"]
    assert (row["citation"], row["why"]) == ("350.09(8m)", "not answered yet")
    assert (tmp_path / "a.progress.json").exists()


def test_without_a_terminal_and_without_answers_it_is_wrong_use(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "sledwarden inspect: asks its questions in a terminal, and there is none. "
        "Give --answers FILE, or run it in a terminal.\n"
    )


def test_a_sheet_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    answers_file(tmp_path, SLED)
    words = ("--answers", "answers.json", "-o", "a.html", "--key", "k")
    assert run(tmp_path, *words).returncode == 0
    before = (tmp_path / "a.html").read_bytes()
    done = run(tmp_path, *words)
    assert done.returncode == 1
    assert "a.html: is there already: must be a new file." in done.stderr
    assert (tmp_path / "a.html").read_bytes() == before
    assert run(tmp_path, *words, "--force").returncode == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("-o", "a.pdf"), "must end in .html"),
        (("--mode", "party"), "mode = party: must be one of race, maker_test, family_land."),
        (("--year", "94"), "a date was expected, like 1994-05-07"),
        (("--law", "nowhere"), "can't be read"),
        (("--signer", "ab"), "goes with --check"),
    ],
)
def test_a_slip_on_the_command_line_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...], what: str
) -> None:
    answers_file(tmp_path, SLED)
    extra = () if "--signer" in words else ("--answers", "answers.json")
    done = run(tmp_path, *extra, "--key", "k", *words)
    assert done.returncode in (1, 2)
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_year_and_vehicle_come_from_the_unit_s_configuration(tmp_path: Path) -> None:
    (tmp_path / "unit.toml").write_text('[unit]\nid = "a"\nyear = 1993\n')
    answers_file(tmp_path, SLED, made=None, width_in=None)
    done = run(tmp_path, "--answers", "answers.json", "--config", "unit.toml", "--key", "k")
    assert done.returncode == 0, done.stdout
    results = json.loads((tmp_path / "inspection.json").read_text())
    (width,) = [one for one in results["rows"] if one["citation"] == "350.09(8m)"]
    assert width["why"] == "only where made after 1994-05-07; this was made 1993"


# The signature.


def signed(folder: Path) -> Path:
    answers_file(folder, SLED)
    run(folder, "--answers", "answers.json", "-o", "a.html", "--key", "k")
    return folder / "a.html"


def test_every_changed_byte_of_a_sheet_is_told(tmp_path: Path) -> None:
    from host_tools.inspection.signature import proof_of

    octets = signed(tmp_path).read_bytes()
    assert proof_of(octets).fault == ""
    for at in range(0, len(octets) - 1, 7):
        changed = octets[:at] + bytes([octets[at] ^ 1]) + octets[at + 1 :]
        assert proof_of(changed).fault, at
    for cut in (1, 2, 50, 200, 400, 2000):
        assert proof_of(octets[: -cut - 1]).fault, cut
    for more in (b"x", b"<p>passed</p>", octets):
        assert proof_of(octets + more).fault
        assert proof_of(more + octets).fault


def test_a_sheet_signed_anew_by_another_shows_another_key(tmp_path: Path) -> None:
    path = signed(tmp_path)
    good = run(tmp_path, "--check", "a.html", "--json")
    key = json.loads(good.stdout)["key"]
    assert run(tmp_path, "--check", "a.html", "--signer", key).returncode == 0

    from firmware.signing import SigningKey
    from host_tools.inspection.signature import signed as sign

    body = path.read_bytes().rsplit(b"<!-- sledwarden", 1)[0].replace(b"350.09(4)", b"350.09(5)")
    path.write_bytes(sign(body, SigningKey(bytes(32))))
    done = run(tmp_path, "--check", "a.html", "--signer", key)
    assert done.returncode == 1
    assert "NOT proven: it was signed by another key, " in done.stdout


def test_a_sheet_that_was_signed_twice_proves_nothing(tmp_path: Path) -> None:
    from firmware.signing import SigningKey
    from host_tools.inspection.signature import proof_of
    from host_tools.inspection.signature import signed as sign

    twice = sign(signed(tmp_path).read_bytes(), SigningKey(bytes(32)))
    assert proof_of(twice).fault == "it has more than one signature"


def test_a_changed_table_beside_the_sheet_is_told(tmp_path: Path) -> None:
    signed(tmp_path)
    csv = tmp_path / "a.csv"
    csv.write_text(csv.read_text().replace("pass", "fail", 1))
    done = run(tmp_path, "--check", "a.html")
    assert done.returncode == 1
    assert done.stdout == "a.html: NOT proven: a.csv beside it is not what it was made with.\n"


@pytest.mark.parametrize(("text", "why"), [("hello", "it has no signature"), ("", "no signature")])
def test_what_is_no_sheet_is_told(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.html").write_text(text)
    done = run(tmp_path, "--check", "a.html")
    assert (done.returncode, why in done.stdout) == (1, True)
    away = run(tmp_path, "--check", "away.html")
    assert away.returncode == 1
    assert "away.html: can't be read: No such file or directory." in away.stderr


def test_a_name_is_text_on_the_page_and_no_formula_in_the_table(tmp_path: Path) -> None:
    answers_file(tmp_path, SLED, width_in={"skipped": "=HYPERLINK(1)"})
    words = ("--answers", "answers.json", "--serial", "<script>alert(1)</script>", "--key", "k")
    run(tmp_path, *words)
    page = (tmp_path / "inspection.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert ",=HYPERLINK" not in (tmp_path / "inspection.csv").read_text()


# What the unit measures.

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
