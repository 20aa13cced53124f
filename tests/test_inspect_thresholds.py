"""Every threshold of the inspection: at it, just within and just beyond.

The figures are those of the three texts, written here by hand. `T` is Trans 305.
"""

from __future__ import annotations

import pytest
from inspecting import row, sheet_of, states

from host_tools.inspection import checks
from host_tools.inspection.conditions import Bound
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.states import State

SLED, LSV, CAR = "snowmobile", "low_speed_vehicle", "motor_vehicle"
T = "Trans 305."
OLD_NOISE = {"made": "1974", "noise_edition": "JAN2004", "noise_rpm": "4000"}
BRAKE = {"track_locks": "n", "brake_conditions": "y"}
NEW = {"purpose": "new", "sscc_label_present": "n"}
SINGLE = {"head_lamp_beams": "single", "aim_wall_ft": "25", "aim_loaded": "y"}
TALL = {
    "height_modified": "y", "bumper_within_347455": "y", "nine_inch_vehicle": "y",
    "gross_weight_lb": "8000", "height_spec_source": "maker",
}  # fmt: skip
WIPERS = {"wiper_multi_speed": "y", "wiper_speeds": "2", "wiper_slow_cpm": "20",
          "wiper_fast_cpm": "35"}  # fmt: skip
SHACKLES = {"shackles_extended": "y", "shackle_support_ok": "y"}
FENDERS = {"needs_fenders": "y"}
RACE = {
    "tether_no_start_when_out": "y", "tether_limit_s": "2", "tether_stop_s": "1",
    "tether_stays_off": "y", "has_tether_sense": "y", "tether_edges_seen": "3",
    "tether_cord_sound": "y", "tether_clip_holds": "y", "tether_clipped_to_body": "y",
}  # fmt: skip

# vehicle, paragraph, item, what else is answered, kept (at, within), not kept (just beyond)
TABLE = [
    (SLED, "350.09(2)(b)", "headlamp_reveal_ft", {}, ("200", "200.1"), ("199.9",)),
    (SLED, "350.09(2)(b)", "headlamp_lux", {"has_unit": "y"}, ("50", "51"), ("49.9",)),
    (SLED, "350.09(2)(c)", "upper_beam_reveal_ft", {}, ("200", "201"), ("199.9",)),
    (SLED, "350.09(2)(c)", "lower_beam_reveal_ft", {}, ("100", "101"), ("99.9",)),
    (SLED, "350.09(2)(d)", "single_beam_top_above_centre_in", SINGLE, ("0", "-1/8"), ("1/8",)),
    (SLED, "350.09(3)", "taillamp_visible_ft", {}, ("500", "500.5"), ("499.5",)),
    (SLED, "350.09(4)", "brakes", {}, ("1", "2"), ("0",)),
    (SLED, "350.09(4)", "brake_stop_ft", BRAKE, ("40", "39.9"), ("40.1",)),
    (SLED, "350.09(8m)", "width_in", {}, ("48", "47 7/8"), ("48 1/16",)),
    (SLED, "350.095(1)(a)", "total_noise_dba", NEW, ("78", "77.9"), ("78.1",)),
    (SLED, "350.095(1)(b)", "noise_vs_original_db", {"exhaust_as_original": "n"}, ("0", "-0.1"),
     ("0.1",)),
    (SLED, "350.095(2)(c)", "stationary_noise_db", OLD_NOISE, ("90", "89.9"), ("90.1",)),
    (SLED, "350.095(2)(b)", "stationary_noise_db", OLD_NOISE, ("90", "89.9"), ("90.1",)),
    (SLED, "350.10(1)(d)", "stationary_noise_db", OLD_NOISE, ("90", "89.9"), ("90.1",)),
    (SLED, "350.095(2)(d)1.", "stationary_noise_db", {}, ("82", "81.9"), ("82.1",)),
    (SLED, "350.095(2)(b)", "stationary_noise_db", {}, ("82", "81.9"), ("82.1",)),
    (SLED, "350.10(1)(d)", "stationary_noise_db", {}, ("82", "81.9"), ("82.1",)),
    (LSV, "340.01(27h)", "wheels", {}, ("4",), ("3", "5")),
    (LSV, "340.01(27h)", "top_speed_mph", {}, ("25", "20.1"), ("25.1", "20")),
    (LSV, "340.01(27h)", "gvwr_lb", {}, ("2999",), ("3000", "3001")),
    (CAR, T + "28(1)", "speed_indicator_40_pct", {}, ("4", "-4", "3.9"), ("4.1", "-4.1")),
    (CAR, T + "28(1)", "speed_indicator_55_pct", {}, ("4", "-4", "3.9"), ("4.1", "-4.1")),
    (CAR, T + "28(1)", "speed_indicator_65_pct", {}, ("4", "-4", "3.9"), ("4.1", "-4.1")),
    (CAR, T + "28(3)", "odometer_error_pct", {}, ("4", "-4", "3.9"), ("4.1", "-4.1")),
    (CAR, T + "29(2)", "steering_lash_turn", {}, ("1/8", "0.124"), ("0.126",)),
    (CAR, T + "29(4)", "ps_leaks", {}, ("0",), ("1",)),
    (CAR, T + "29(5)(a)", "wheel_diameter_in", {"wheel_original_size": "n"}, ("13", "13.1"),
     ("12 15/16",)),
    (CAR, T + "29(7)(b)", "rock_cycles_lf", {}, ("2", "1.5"), ("2.5", "3")),
    (CAR, T + "29(7)(b)", "rock_cycles_rf", {}, ("2", "1.5"), ("2.5", "3")),
    (CAR, T + "29(7)(b)", "rock_cycles_lr", {}, ("2", "1.5"), ("2.5", "3")),
    (CAR, T + "29(7)(b)", "rock_cycles_rr", {}, ("2", "1.5"), ("2.5", "3")),
    (CAR, T + "29(8)", "shackle_extension_in", SHACKLES, ("2", "1 15/16"), ("2 1/16",)),
    (CAR, T + "30(2)", "tread_lf_in", {}, ("2/32 2/32", "3/32 2/32"), ("2/32 1/32", "1/32 3/32")),
    (CAR, T + "30(2)", "tread_rf_in", {}, ("2/32 2/32",), ("3/32 0.0624",)),
    (CAR, T + "30(2)", "tread_lr_in", {}, ("2/32 2/32",), ("3/32 0.0624",)),
    (CAR, T + "30(2)", "tread_rr_in", {}, ("2/32 2/32",), ("3/32 0.0624",)),
    (CAR, T + "30(3)", "tire_protrusion_in", FENDERS, ("2", "-1"), ("2.1",)),
    (CAR, T + "30(4)", "axle_weight_lb", {}, ("3000", "2999"), ("3001",)),
    (CAR, T + "30(6)", "cut_in", {}, ("1", "15/16"), ("1 1/16",)),
    (CAR, T + "30(9)", "loose_or_missing_lugs", {}, ("0",), ("1",)),
    (CAR, T + "31(1)", "height_increase_in", TALL, ("9", "8.9"), ("9.1",)),
    (CAR, T + "32(3)", "window_cloud_in", {}, ("2", "1.9"), ("2.1",)),
    (CAR, T + "34(3)(a)", "critical_area_cracks", {}, ("0",), ("1",)),
    (CAR, T + "34(3)(b)", "crack_from_frame_in", {}, ("8", "7.9"), ("8.1",)),
    (CAR, T + "34(3)(c)", "stone_critical_in", {}, ("1/2", "7/16"), ("9/16",)),
    (CAR, T + "34(3)(c)", "stone_other_in", {}, ("1 1/2", "1 7/16"), ("1 9/16",)),
    (CAR, T + "34(5)", "cloud_driver_in", {}, ("1", "0.9"), ("1.1",)),
    (CAR, T + "34(5)", "cloud_passenger_in", {}, ("2", "1.9"), ("2.1",)),
    (CAR, T + "35(3)", "wiper_speeds", WIPERS, ("2", "3"), ("1",)),
    (CAR, T + "35(3)", "wiper_slow_cpm", WIPERS | {"wiper_fast_cpm": "40"}, ("20", "21"), ("19",)),
    (CAR, T + "35(3)", "wiper_fast_cpm", WIPERS, ("35", "36"), ("34",)),
    (CAR, T + "35(3)", "wiper_fast_cpm", WIPERS | {"wiper_slow_cpm": "30"}, ("45",), ("44",)),
]  # fmt: skip

# With the 3 % of Trans 305.32(7): kept, unsure (3 % of the limit, or 3 points?), not kept.
TINTS = [
    (T + "32(4)(b)2.", "front_vlt_pct", {"front_tint": "film", "front_film_reflective": "n"},
     ("50", "48.5"), ("48.4", "47"), ("46.9",)),
    (T + "32(4)(b)3.", "front_vlt_pct",
     {"front_tint": "medical", "front_film_reflective": "n", "medical_statement_carried": "y"},
     ("35", "33.95"), ("33.9", "32"), ("31.9",)),
    (T + "32(5)(b)2.", "rear_vlt_pct",
     {"rear_tint": "film", "rear_film_reflective": "n", "mirror_left": "y", "mirror_right": "y"},
     ("35", "33.95"), ("33.9", "32"), ("31.9",)),
    (T + "32(6)(b)", "rear_side_vlt_pct",
     {"rear_side_tint": "film", "rear_side_film_reflective": "n"},
     ("35", "33.95"), ("33.9", "32"), ("31.9",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("vehicle", "citation", "item", "others", "kept", "beyond"),
    TABLE,
    ids=[f"{one[1]} {one[2]}" for one in TABLE],
)
def test_a_limit_is_kept_at_its_figure_and_not_beyond_it(
    vehicle: str,
    citation: str,
    item: str,
    others: dict[str, str],
    kept: tuple[str, ...],
    beyond: tuple[str, ...],
) -> None:
    for text in kept:
        sheet = sheet_of(vehicle, **others | {item: text})
        assert row(sheet, citation).state is State.PASS, (text, row(sheet, citation).why)
    for text in beyond:
        sheet = sheet_of(vehicle, **others | {item: text})
        assert row(sheet, citation).state is State.FAIL, text
        assert row(sheet, citation).why, "a failure says why"


@pytest.mark.parametrize(("citation", "item", "others", "kept", "open_", "beyond"), TINTS,
                         ids=[one[0] for one in TINTS])  # fmt: skip
def test_a_tint_is_allowed_three_per_cent_and_unsure_where_the_text_is(
    citation: str,
    item: str,
    others: dict[str, str],
    kept: tuple[str, ...],
    open_: tuple[str, ...],
    beyond: tuple[str, ...],
) -> None:
    for texts, state in ((kept, State.PASS), (open_, State.UNSURE), (beyond, State.FAIL)):
        for text in texts:
            assert row(sheet_of(CAR, **others | {item: text}), citation).state is state, text


def test_the_organizer_sets_the_time_in_which_a_tether_stops_the_engine() -> None:
    for text, state in (("2", State.PASS), ("1.9", State.PASS), ("2.1", State.FAIL)):
        sheet = sheet_of(SLED, ("race",), **RACE | {"tether_stop_s": text})
        assert row(sheet, "350.09(9)").state is state
    sheet = sheet_of(SLED, ("race",), **RACE | {"tether_limit_s": "3", "tether_stop_s": "2.9"})
    assert row(sheet, "350.09(9)").state is State.PASS
    sheet = sheet_of(SLED, ("race",), **RACE | {"tether_edges_seen": "2"})
    assert row(sheet, "350.09(9)").state is State.FAIL


def test_every_figure_of_the_checks_is_tried() -> None:
    tried = {(one[0], one[2]) for one in TABLE} | {(CAR, one[1]) for one in TINTS}
    tried |= {(SLED, "tether_stop_s"), (SLED, "tether_edges_seen")}
    for vehicle in (SLED, CAR):
        for clause, its in checks.load(vehicle, (), ("race",)).rows:
            for one in its:
                if isinstance(one.wants, Bound):
                    assert (vehicle, one.item) in tried, (clause.citation, one.item)


@pytest.mark.parametrize("vehicle", [SLED, LSV, CAR])
def test_every_yes_or_no_that_is_answered_the_wrong_way_fails_its_paragraph(vehicle: str) -> None:
    good = sheet_of(vehicle)
    assert good.next_item() == ""
    assert set(states(good).values()) <= {State.PASS, State.NOT_APPLICABLE, State.NOTE}
    for one in good.rows():
        for result in one.checks:
            check = result.check
            if check.type != "yes_no" or result.state is not State.PASS or check.either:
                continue
            wrong = "no" if check.passes == "yes" else "yes"
            sheet = Sheet(good.inspection, (), dict(good.answers))
            sheet.take(check.item, wrong)
            assert row(sheet, check.of).state is State.FAIL, (check.of, check.item)


def test_all_77_inspected_paragraphs_are_asked_for_and_the_five_that_inspect_proves() -> None:
    cited = {
        clause.citation
        for vehicle in (SLED, LSV, CAR)
        for clause, _ in checks.load(vehicle, (), ("race",)).rows
    }
    from firmware.law.packs import load

    packs = [load(word) for word in ("wi", "wi_act311", "wi_trans305")]
    inspected = {
        one.citation for pack in packs for one in pack.clause if one.coverage == "INSPECTED"
    }
    assert len(inspected) == 77
    assert inspected <= cited
    assert cited - inspected == {
        "350.09(2)(b)", "350.09(3)", "350.09(9)", "Trans 305.28(1)", "Trans 305.28(3)",
    }  # fmt: skip
