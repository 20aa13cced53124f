"""The sheet: what is asked and what is not, and why; what is refused; what is never guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inspecting import GOOD, check, row, sheet_of, states

from firmware.errors import ConfigError, LawError
from firmware.law import packs as law
from host_tools.inspection import checks, progress
from host_tools.inspection.answers import AnswerError, skipped
from host_tools.inspection.checks import Inspection
from host_tools.inspection.progress import Kept
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.states import State

SLED, CAR = "snowmobile", "motor_vehicle"


def asked_of(vehicle: str, **answers: str) -> set[str]:
    """The items that such a vehicle was asked."""
    return set(sheet_of(vehicle, **answers).answers)


# Years: every boundary of the texts, with the day before, the day itself and the day after.


@pytest.mark.parametrize(
    ("made", "citation", "state"),
    [
        ("1972-07-01", "350.09(5)", State.NOT_APPLICABLE),  # made after July 1, 1972
        ("1972-07-02", "350.09(5)", State.PASS),
        ("1971", "350.09(5)", State.NOT_APPLICABLE),
        ("1973", "350.09(5)", State.PASS),
        ("1994-05-07", "350.09(8m)", State.NOT_APPLICABLE),  # after May 7, 1994
        ("1994-05-08", "350.09(8m)", State.PASS),
        ("1993", "350.09(8m)", State.NOT_APPLICABLE),
        ("1995", "350.09(8m)", State.PASS),
        ("1972-07-01", "350.095(2)(b)", State.NOT_APPLICABLE),
        ("1972-07-01", "350.095(2)(c)", State.NOT_APPLICABLE),  # after that day, before
        ("1975-07-02", "350.095(2)(c)", State.NOT_APPLICABLE),
        ("1975-07-01", "350.095(2)(d)1.", State.NOT_APPLICABLE),  # on or after July 2, 1975
        ("1975-07-02", "350.095(2)(d)1.", State.PASS),
        ("1975-07-02", "350.10(1)(d)", State.PASS),
        ("1972-07-01", "350.10(1)(d)", State.NOT_APPLICABLE),
    ],
)
def test_the_date_of_make_decides_which_paragraph_applies(
    made: str, citation: str, state: State
) -> None:
    is_old = "1972-07-02" <= made < "1975-07-02"
    old = {"noise_edition": "JAN2004", "noise_rpm": "4000"} if is_old else {}
    sheet = sheet_of(SLED, made=made[:4], made_on=made, **old)
    assert row(sheet, citation).state is state


@pytest.mark.parametrize("made", ["1972-07-02", "1975-07-01"])
def test_a_sled_of_1972_to_1975_is_measured_by_the_edition_of_2004(made: str) -> None:
    old = {"noise_edition": "JAN2004", "noise_rpm": "4000", "stationary_noise_db": "89"}
    sheet = sheet_of(SLED, made=made[:4], made_on=made, **old)
    for citation in ("350.095(2)(b)", "350.095(2)(c)", "350.10(1)(d)"):
        assert row(sheet, citation).state is State.PASS
    assert row(sheet, "350.095(2)(d)1.").state is State.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("made", "item", "citation"),
    [
        ("1955-01-01", "defroster_present", "Trans 305.33(1)"),
        ("1936-01-01", "windshield_marked", "Trans 305.34(1)"),
        ("1968-01-01", "washer_works", "Trans 305.35(4)"),
    ],
)
def test_a_car_made_on_the_last_day_without_a_duty_is_free_of_it(
    made: str, item: str, citation: str
) -> None:
    before = sheet_of(CAR, made=made[:4], made_on=made)
    assert row(before, citation).state is State.NOT_APPLICABLE
    assert item not in before.answers
    day_after = sheet_of(CAR, made=made[:4], made_on=f"{made[:-1]}2")
    assert row(day_after, citation).state is State.PASS
    assert row(sheet_of(CAR, made=str(int(made[:4]) - 1)), citation).state is State.NOT_APPLICABLE


def test_a_year_that_does_not_decide_is_asked_further_and_never_guessed() -> None:
    sheet = sheet_of(SLED, made="1994")
    assert sheet.next_item() == "made_on"
    assert row(sheet, "350.09(8m)").state is State.OPEN
    with pytest.raises(AnswerError, match="the day matters: after 1994-05-07"):
        sheet.take("made_on", "1994-05")
    with pytest.raises(AnswerError, match="must be within 1994, as was answered before"):
        sheet.take("made_on", "1995-05-08")
    sheet.take("made_on", "1994-06")
    assert sheet.next_item() == "width_in"


def test_a_date_that_nobody_knows_is_skipped_and_its_paragraph_is_not_kept() -> None:
    sheet = sheet_of(SLED, made="1994")
    sheet.put("made_on", skipped("the plate is gone"))
    while item := sheet.next_item():
        sheet.take(item, GOOD[SLED][item])
    width = row(sheet, "350.09(8m)")
    assert (width.state, width.why.endswith("skipped: the plate is gone")) == (State.SKIPPED, True)
    assert row(sheet, "350.09(5)").state is State.PASS  # 1994 is after 1972 whatever the day
    assert sheet.verdict is State.SKIPPED


def test_without_a_year_the_year_is_asked() -> None:
    sheet = sheet_of(SLED, made="")
    assert sheet.next_item() == "made"


def test_a_homemade_car_goes_by_its_registration() -> None:
    def wheel(registered: str, **more: str) -> State:
        sheet = sheet_of(CAR, homemade="y", registered=registered, **more)
        return row(sheet, "Trans 305.29(5)(a)").state

    assert wheel("1975-01-01") is State.PASS  # the original wheel is good
    small = {"wheel_diameter_in": "12"}
    assert wheel("1975-01-02", **small) is State.FAIL  # registered after January 1, 1975: 13 in
    assert wheel("1975-01-02", wheel_diameter_in="13") is State.PASS
    shocks = sheet_of(CAR, homemade="y", registered="1974-12-31", wheel_diameter_in="13")
    assert row(shocks, "Trans 305.29(7)(a)").state is State.NOT_APPLICABLE
    on_day = sheet_of(CAR, homemade="y", registered="1975-01-01", shocks_present="n")
    assert row(on_day, "Trans 305.29(7)(a)").state is State.FAIL  # on or after


# Noise: a reading without its edition and its speed is none.


def test_a_noise_reading_is_asked_for_its_edition_and_speed_first() -> None:
    sheet = sheet_of(SLED, noise_edition="")
    assert sheet.next_item() == "noise_edition"
    with pytest.raises(AnswerError, match="82 dB is by the 2015 edition, at 2,500 rpm"):
        sheet.take("noise_edition", "JAN2004")
    sheet.take("noise_edition", "2015")
    assert sheet.next_item() == "noise_rpm"
    for text in ("4000", "2249", "2751"):
        with pytest.raises(AnswerError, match="82 dB is by the 2015 edition"):
            sheet.take("noise_rpm", text)
    sheet.take("noise_rpm", "2250")
    assert sheet.next_item() == "stationary_noise_db"


def test_a_noise_reading_alone_never_passes() -> None:
    sheet = Sheet(checks.load(SLED))
    sheet.take("made", "2019")
    sheet.take("stationary_noise_db", "60")
    assert check(sheet, "350.095(2)(d)1.", "stationary_noise_db").state is State.OPEN


def test_an_edition_that_was_right_for_another_year_counts_no_more() -> None:
    sheet = sheet_of(SLED)
    sheet.take("made", "1974")
    noise = row(sheet, "350.095(2)(c)")
    assert noise.state is State.OPEN
    assert "90 dB is by the edition of January 2004, at 4,000 rpm" in noise.why
    assert sheet.next_item() == "noise_edition"


@pytest.mark.parametrize("mode", ["race", "maker_test"])
def test_a_race_and_a_maker_s_test_lift_the_noise_rows_and_no_other(mode: str) -> None:
    """350.09(8): section 350.095 is off; and with it the level that 350.10(1)(d) speaks of."""
    race = {
        "tether_no_start_when_out": "y", "tether_limit_s": "2", "tether_stop_s": "1",
        "tether_stays_off": "y", "has_tether_sense": "n", "tether_cord_sound": "y",
        "tether_clip_holds": "y", "tether_clipped_to_body": "y",
    }  # fmt: skip
    sheet = sheet_of(SLED, (mode,), **race)
    assert sheet.next_item() == ""
    exempt = {one for one, state in states(sheet).items() if state is State.EXEMPT}
    assert exempt == {
        "350.095(1)(a)", "350.095(1)(b)", "350.095(2)(a)", "350.095(2)(b)", "350.095(2)(c)",
        "350.095(2)(d)1.", "350.10(1)(d)",
    }  # fmt: skip
    assert ("350.09(9)" in states(sheet)) is (mode == "race")
    assert row(sheet, "350.095(2)(a)").why == f"{mode.replace('_', ' ')}, self-declared, lifts it"


# Conditions.


def test_the_beams_decide_which_lamp_paragraph_is_asked() -> None:
    single = sheet_of(SLED, head_lamp_beams="single", aim_wall_ft="25", aim_loaded="y",
                      single_beam_top_above_centre_in="-1")  # fmt: skip
    assert row(single, "350.09(2)(c)").why == "How many beams has the head lamp: one beam"
    assert row(single, "350.09(2)(d)").state is State.PASS
    assert row(sheet_of(SLED), "350.09(2)(d)").state is State.NOT_APPLICABLE


def test_an_aim_that_was_not_looked_at_as_the_text_says_is_no_aim() -> None:
    sheet = sheet_of(SLED, head_lamp_beams="single")
    with pytest.raises(AnswerError, match="asks for 25 ft: put the sled there and look again"):
        sheet.take("aim_wall_ft", "20")
    sheet.take("aim_wall_ft", "25")
    with pytest.raises(AnswerError, match="speaks of the loaded sled"):
        sheet.take("aim_loaded", "n")


def test_either_test_of_the_brake_suffices() -> None:
    assert "brake_stop_ft" not in asked_of(SLED, track_locks="y")
    by_distance = sheet_of(SLED, track_locks="n", brake_conditions="y", brake_stop_ft="39")
    assert row(by_distance, "350.09(4)").state is State.PASS
    neither = sheet_of(SLED, track_locks="n", brake_conditions="y", brake_stop_ft="50")
    assert row(neither, "350.09(4)").state is State.FAIL
    unsure = sheet_of(SLED, track_locks="n", brake_conditions="y", brake_stop_ft="38 +- 5")
    assert row(unsure, "350.09(4)").state is State.UNSURE
    with pytest.raises(AnswerError, match="asks for these conditions"):
        sheet_of(SLED, track_locks="n").take("brake_conditions", "n")


def test_one_test_that_failed_does_not_fail_while_the_other_is_open() -> None:
    sheet = sheet_of(SLED, track_locks="n", brake_conditions="y")
    assert sheet.next_item() == "brake_stop_ft"
    assert row(sheet, "350.09(4)").state is State.OPEN


def test_reflectors_are_a_duty_of_the_sale() -> None:
    assert row(sheet_of(SLED, purpose="ridden"), "350.09(5)").state is State.NOT_APPLICABLE
    for purpose in ("new", "used"):
        wrong = sheet_of(SLED, purpose=purpose, sscc_label_present="y", side_reflectors_present="n")
        assert row(wrong, "350.09(5)").state is State.FAIL
    assert row(sheet_of(SLED, purpose="used"), "350.095(1)(a)").state is State.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("light", "wanted"),
    [
        ("56.9", State.FAIL), ("57", State.UNSURE), ("58.1", State.UNSURE),
        ("58.2", State.NOT_APPLICABLE), ("60", State.NOT_APPLICABLE),
    ],
)  # fmt: skip
def test_both_mirrors_are_asked_for_below_60_per_cent_less_the_3_that_are_allowed(
    light: str, wanted: State
) -> None:
    """3 % of 60 are 1.8, which is sure; 3 points are not."""
    film = {"rear_tint": "film", "rear_film_reflective": "n", "rear_vlt_pct": light}
    sheet = sheet_of(CAR, **film, mirror_left="y", mirror_right="n")
    assert ("mirror_left" in sheet.answers) is (wanted is not State.NOT_APPLICABLE)
    mirrors = row(sheet, "Trans 305.32(5)(b)3.")
    assert mirrors.state is wanted
    assert ("may lift it from 57 % on" in mirrors.why) is (wanted is State.UNSURE)


def test_the_nine_inches_bind_up_to_8_000_lb() -> None:
    tall = {"height_modified": "y", "bumper_within_347455": "y", "nine_inch_vehicle": "y",
            "height_spec_source": "maker", "height_increase_in": "10"}  # fmt: skip
    assert row(sheet_of(CAR, **tall, gross_weight_lb="8000"), "Trans 305.31(1)").state is State.FAIL
    assert row(sheet_of(CAR, **tall, gross_weight_lb="8001"), "Trans 305.31(1)").state is State.PASS


def test_a_low_speed_vehicle_is_a_motor_vehicle_that_never_goes_40_mph() -> None:
    sheet = sheet_of("low_speed_vehicle")
    assert sheet.verdict is State.PASS
    indicator = row(sheet, "Trans 305.28(1)")
    assert (indicator.state, indicator.why) == (
        State.NOT_APPLICABLE, "a low-speed vehicle never goes 40 mph",
    )  # fmt: skip
    assert row(sheet, "Trans 305.28(3)").state is State.PASS


def test_a_skipped_fact_skips_what_hangs_on_it_and_nothing_passes() -> None:
    sheet = sheet_of(SLED, head_lamp_beams="")
    sheet.put("head_lamp_beams", skipped("lens is iced over"))
    assert row(sheet, "350.09(2)(c)").state is State.SKIPPED
    assert "lens is iced over" in row(sheet, "350.09(2)(c)").why


# Going back.


def test_an_answer_is_taken_back_and_asked_again() -> None:
    sheet = sheet_of(SLED, track_locks="")
    before = dict(sheet.answers)
    sheet.take("track_locks", "n")
    assert sheet.undo() == "track_locks"
    assert (sheet.answers, sheet.next_item()) == (before, "track_locks")
    empty = Sheet(checks.load(SLED))
    assert empty.undo() == ""


# The file beside.


def test_answers_come_back_from_their_file_as_they_were_given(tmp_path: Path) -> None:
    sheet = sheet_of(SLED, width_in="47 7/8")
    sheet.put("taillamp_visible_ft", skipped("no straight here"))
    kept = Kept("snowmobile", "2019", "A1", "Somebody", ())
    path = tmp_path / "one.progress.json"
    progress.save(path, kept, sheet)
    again = progress.read(path)
    filled = Sheet(checks.load(SLED))
    progress.fill(filled, again.answers, str(path))
    assert filled.answers == sheet.answers
    assert states(filled) == states(sheet)
    assert (again.vehicle, again.year, again.serial, again.by) == ("snowmobile", "2019", "A1",
                                                                  "Somebody")  # fmt: skip


def test_all_that_is_wrong_with_a_file_of_answers_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({
        "vehicle": "snowmobile", "year": 2019,
        "answers": {"width_in": "wide", "no_such_item": 1, "brakes": 1.5, "muffler_present": None,
                    "noise_edition": "JAN2004", "headlamp_white": {"skipped": ""}},
    }))  # fmt: skip
    kept = progress.read(path)
    sheet = Sheet(checks.load(SLED))
    with pytest.raises(ConfigError) as told:
        progress.fill(sheet, kept.answers | {"made": kept.year}, str(path))
    assert sorted(told.value.faults) == [
        "brakes = 1.5: a whole number was expected.",
        "headlamp_white = a reason of at least 4 letters was expected.",
        "muffler_present = None: yes or no was expected (y, n, 1, 0).",
        "no_such_item: there is no such item on this sheet.",
        "noise_edition = JAN2004: 82 dB is by the 2015 edition, at 2,500 rpm.",
        "width_in = wide: a figure was expected, like 38.5, 3/32 or 1 1/2.",
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", "1", '{"answer": {}}', '{"answers": []}',
                                  '{"year": true}', "[" * 5000])  # fmt: skip
def test_a_file_that_holds_no_answers_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ConfigError):
        progress.read(path)


def test_the_order_in_a_file_does_not_matter() -> None:
    backwards = dict(reversed(list(GOOD[SLED].items())))
    sheet = Sheet(checks.load(SLED))
    progress.fill(sheet, backwards, "x")
    assert sheet.verdict is State.PASS


# The checks beside the packs.


def faults_of(change: str) -> list[str]:
    import tomllib

    import msgspec

    text = (law.FOLDER / "checks" / "wi.toml").read_text() + change
    read = msgspec.convert(tomllib.loads(text), checks._File)
    return checks.faults_of(read, law.load("wi"))


def test_the_checks_that_are_shipped_have_no_fault() -> None:
    assert faults_of("") == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ('[[check]]\nof = "350.99"\nitem = "a"\nask = "A?"\ntype = "yes_no"\npass = "yes"\n',
         "[350.99] a: of: there is no such paragraph in the pack."),
        ('[[check]]\nof = "350.09(8m)"\nitem = "a"\nask = "A"\ntype = "number"\npass = "<= 49"\n',
         "[350.09(8m)] a: pass = <= 49: this figure is none of its paragraph's numbers."),
        ('[[check]]\nof = "350.09(8m)"\nitem = "a"\nask = "A"\ntype = "yes_no"\n',
         "[350.09(8m)] a: item and pass: must be there for all but a note."),
        ('[[check]]\nof = "350.09(8m)"\nitem = "a"\nask = "A"\ntype = "yes_no"\npass = "yes"\n'
         'only_if = ["b = yes"]\n', "[350.09(8m)] a: b: there is no such item."),
        ('[[fact]]\nitem = "a"\nask = "A"\ntype = "choice"\n',
         "[fact] a: choices: must be there for a choice."),
    ],
)  # fmt: skip
def test_a_wrong_check_is_found(change: str, fault: str) -> None:
    assert fault in faults_of(change)


def test_an_inspected_paragraph_without_a_check_is_found() -> None:
    read = checks._File()
    assert "[350.09(4)]: is INSPECTED and has no check." in checks.faults_of(read, law.load("wi"))


def test_a_pack_of_another_state_has_its_checks_beside_it(tmp_path: Path) -> None:
    pack = tmp_path / "xx.toml"
    pack.write_text((law.FOLDER / "wi.toml").read_text())
    assert checks.load(SLED, (str(pack),)).rows == ()
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "xx.toml").write_text("[[check]]\nof = 1\n")
    with pytest.raises(LawError, match="refused"):
        checks.load(SLED, (str(pack),))


def test_each_item_of_one_sheet_is_asked_in_one_way() -> None:
    """An item of several paragraphs has one type and one unit, or its answer would have two."""
    for vehicle in checks.PACKS_OF:
        inspection: Inspection = checks.load(vehicle, (), ("race",))
        seen: dict[str, tuple[str, str, int]] = {}
        for _, its in inspection.rows:
            for one in its:
                if one.type != "note":
                    shape = (one.type, one.unit, one.points)
                    assert seen.setdefault(one.item, shape) == shape, one.item
