"""What the tests of the inspection share: a sheet answered but for what is tried."""

from __future__ import annotations

from functools import cache

from host_tools.inspection import checks
from host_tools.inspection.sheet import Sheet
from host_tools.inspection.states import CheckResult, RowResult, State

GOOD = {
    "snowmobile": {
        "made": "2019", "purpose": "used", "headlamp_white": "y", "headlamp_reveal_ft": "220",
        "has_unit": "n", "head_lamp_beams": "multiple", "upper_beam_reveal_ft": "220",
        "lower_beam_reveal_ft": "120", "taillamp_red": "y", "taillamp_visible_ft": "600",
        "brakes": "1", "track_locks": "y", "brake_adjust_ok": "y", "no_linked_control": "y",
        "side_reflectors_present": "y", "side_reflectors_marked": "y", "width_in": "47",
        "exhaust_as_original": "y", "muffler_present": "y", "muffler_good_order": "y",
        "muffler_constant_operation": "y", "muffler_blends": "y", "noise_edition": "2015",
        "noise_rpm": "2500", "stationary_noise_db": "80",
    },
    "low_speed_vehicle": {
        "fmvss500_label": "y", "wheels": "4", "top_speed_mph": "24", "gvwr_lb": "2500",
        "golf_cart": "n",
    },
    "motor_vehicle": {
        "made": "2015", "belts_no_fray": "y", "belts_mounted": "y", "seats_ok": "y",
        "seats_fastened": "y", "speed_indicator_40_pct": "0", "speed_indicator_55_pct": "0",
        "speed_indicator_65_pct": "0", "speed_indicator_lit": "y", "odometer_error_pct": "0",
        "speed_indicator_visible": "y", "steering_suspension_ok": "y", "steering_lash_turn": "0.1",
        "linkage_ok": "y", "power_steering": "y", "power_steering_belts": "y", "ps_belts_ok": "y",
        "ps_unit_ok": "y", "ps_fluid_ok": "y", "ps_leaks": "0", "homemade": "n",
        "wheel_original_size": "y", "wheel_locked": "y", "wheel_front_seat": "y", "springs_ok": "y",
        "made_with_shocks": "y", "shocks_present": "y", "rock_cycles_lf": "1",
        "rock_cycles_rf": "1", "rock_cycles_lr": "1", "rock_cycles_rr": "1", "shocks_leak": "n",
        "shocks_secure": "y", "shackles_extended": "n", "alignment_ok": "y", "tires_rims_ok": "y",
        "tread_lf_in": "6/32 6/32", "tread_rf_in": "6/32 6/32", "tread_lr_in": "6/32 6/32",
        "tread_rr_in": "6/32 6/32", "needs_fenders": "n", "tire_load_lb": "3000",
        "axle_weight_lb": "2000", "tires_matched": "y", "cut_in": "0", "bulges": "n",
        "repairs_ok": "y", "tire_not_for_highway": "n", "rims_ok": "y",
        "loose_or_missing_lugs": "0", "height_modified": "n", "part_below_rim": "n",
        "safety_glass_marked": "y", "glass_ok": "y", "windows_for_arm_signals": "n",
        "window_cloud_in": "0", "front_side_clear": "y", "front_tint": "none", "rear_clear": "y",
        "rear_tint": "none", "rear_side_tint": "none", "open_vehicle": "n",
        "defroster_present": "y", "defroster_works": "y", "windshield_marked": "y",
        "windshield_in_place": "y", "critical_area_cracks": "0", "crack_from_frame_in": "0",
        "stone_critical_in": "0", "stone_other_in": "0", "critical_area_clear": "y",
        "cloud_driver_in": "0", "cloud_passenger_in": "0", "windshield_clear": "y",
        "unit_mount_clear": "y", "windshield_film": "n", "wipers_clear": "y",
        "wiper_system_ok": "y", "wiper_wiring_ok": "y", "wiper_blades_ok": "y",
        "wiper_size_ok": "y", "wiper_drive": "electric", "wiper_multi_speed": "n",
        "washer_works": "y", "washer_fluid": "y",
    },
}  # fmt: skip
"""Every answer that leads a vehicle to a sheet on which all is kept."""

GOOD["low_speed_vehicle"] |= {
    item: text
    for item, text in GOOD["motor_vehicle"].items()
    if not item.startswith("speed_indicator_")
    or item in ("speed_indicator_lit", "speed_indicator_visible")
}


@cache
def _load(vehicle: str, modes: tuple[str, ...]) -> checks.Inspection:
    return checks.load(vehicle, (), modes)


def sheet_of(vehicle: str, modes: tuple[str, ...] = (), **answers: str) -> Sheet:
    """A sheet answered with all that is good but for these; "" leaves an item open."""
    sheet = Sheet(_load(vehicle, modes), modes)
    wanted = GOOD[vehicle] | answers
    while True:  # as a person would: what is asked next is answered next
        item = sheet.next_item()
        if not item or not wanted.get(item):
            return sheet
        sheet.take(item, wanted[item])


def row(sheet: Sheet, citation: str) -> RowResult:
    return next(one for one in sheet.rows() if one.clause.citation == citation)


def check(sheet: Sheet, citation: str, item: str) -> CheckResult:
    return next(one for one in row(sheet, citation).checks if one.check.item == item)


def states(sheet: Sheet) -> dict[str, State]:
    return {one.clause.citation: one.state for one in sheet.rows()}
