"""`sledwarden inspect` as a person runs it: on a terminal, left and gone on with, proven."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_terminal import Person, run
from inspecting import GOOD

from host_tools.inspection.results import csv_text

SLED, LSV, CAR = "snowmobile", "low_speed_vehicle", "motor_vehicle"


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


def test_an_item_that_this_sheet_does_not_ask_for_is_told_with_what_may_be_meant(
    tmp_path: Path,
) -> None:
    answers_file(tmp_path, SLED, tether_stop_s="1", widht_in="47", colour="red")
    done = run(tmp_path, "--answers", "answers.json", "--key", "k")
    assert done.returncode == 1
    assert done.stderr == (
        "answers.json: tether_stop_s: is asked only with --mode race.\n"
        "answers.json: widht_in: there is no such item on this sheet: did you mean width_in?\n"
        "answers.json: colour: there is no such item on this sheet.\n"
        "Put it right in the file and try again.\n"
    )


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


def test_answers_for_another_vehicle_leave_the_sheet_that_is_under_way(tmp_path: Path) -> None:
    answers_file(tmp_path, SLED, width_in=None)
    words = ("--answers", "answers.json", "-o", "a.html", "--key", "k")
    assert run(tmp_path, *words, "--serial", "ONE").returncode == 1  # not complete: it goes on
    before = (tmp_path / "a.html").read_bytes()
    done = run(tmp_path, *words, "--serial", "TWO")
    assert done.returncode == 1
    assert done.stderr == (
        "a.html: is the sheet of another: serial = ONE in a.progress.json, and this is TWO. "
        "Name another with -o, or --force.\n"
    )
    assert (tmp_path / "a.html").read_bytes() == before
    assert run(tmp_path, *words, "--serial", "ONE").returncode == 1
    assert "ONE" in (tmp_path / "a.html").read_text()
    run(tmp_path, *words, "--serial", "TWO", "--force")
    assert "TWO" in (tmp_path / "a.html").read_text()


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


@pytest.mark.parametrize("signer", ["00", "", "not-hex" * 10, "00" * 33])
def test_a_signer_that_is_no_key_is_wrong_use_and_says_nothing_of_the_sheet(
    tmp_path: Path, signer: str
) -> None:
    signed(tmp_path)
    done = run(tmp_path, "--check", "a.html", "--signer", signer)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--signer: {signer[:80]}: must be a public key, 64 hex digits." in done.stderr


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("none/a.html", "none/a.html: can't be written: No such file or directory."),
        ("taken/a.html", "taken/a.json: is a folder: must be a file's name."),
    ],
)
def test_a_sheet_that_can_not_be_written_makes_no_key_and_leaves_nothing(
    tmp_path: Path, output: str, why: str
) -> None:
    answers_file(tmp_path, "snowmobile")
    (tmp_path / "taken" / "a.json").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    done = run(tmp_path, "--answers", "answers.json", "-o", output, "--key", "k")
    assert done.returncode == 1
    assert why in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_of_answers_is_not_replaced_by_the_sheet_s_own_table(tmp_path: Path) -> None:
    given = answers_file(tmp_path, "snowmobile")
    text = given.read_text()
    done = run(tmp_path, "--answers", "answers.json", "-o", "answers.html", "--key", "k")
    assert done.returncode == 2
    assert "--output: answers.html: its tables would replace answers.json." in done.stderr
    assert given.read_text() == text
    assert not (tmp_path / "k").exists()


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


@pytest.mark.parametrize("answer", ["=1+1", "-2+3+cmd|' /C calc'!A0", "+cmd|a!A0", "@SUM(1)"])
def test_an_answer_is_no_formula_in_the_table_and_a_number_stays_one(answer: str) -> None:
    rows = [{"citation": "a", "title": "b", "state": "pass", "checks": [{"answer": answer}]}]
    assert csv_text({"rows": rows}).splitlines()[1] == f"a,b,pass,,,,'{answer},,,,,,"
    rows[0]["checks"] = [{"answer": "-2.5"}]
    assert csv_text({"rows": rows}).splitlines()[1] == "a,b,pass,,,,-2.5,,,,,,"
