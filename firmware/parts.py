"""The parts list: what each word of a config or a law stands for, one line a part.

Adding a chip is a file in `sources/` and a line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from firmware.errors import SledwardenError

PARTS: dict[str, dict[str, str]] = {
    "light": {
        "bh1750": "firmware.sources.light_bh1750:Bh1750",
        "tcs34725": "firmware.sources.light_tcs34725:Tcs34725",
        "veml7700": "firmware.sources.light_veml7700:Veml7700",
        "tsl2591": "firmware.sources.light_tsl2591:Tsl2591",
    },
    "adc": {
        "ads1115": "firmware.sources.adc_ads1115:Ads1115",
    },
    "rtc": {
        "ds3231": "firmware.sources.rtc_ds3231:Ds3231",
    },
    "panel": {
        "ssd1309": "firmware.dash.panel_ssd1309:Ssd1309",
        "terminal": "firmware.dash.panel_terminal:Terminal",
        "png": "firmware.dash.panel_png:Png",
    },
    "rule": {
        "speed_limit": "firmware.rules.speed_limit:SpeedLimit",
        "zone_speed": "firmware.rules.zone_speed:ZoneSpeed",
        "zone_entry": "firmware.rules.zone_entry:ZoneEntry",
        "stop": "firmware.rules.stop:StopSign",
        "road_network": "firmware.rules.road_network:RoadNetwork",
        "road_speed": "firmware.rules.road_speed:RoadSpeed",
        "curfew": "firmware.rules.curfew:Curfew",
        "advisory": "firmware.rules.advisory:Stopping",
        "lamp": "firmware.rules.lamp:LampLit",
        "tether": "firmware.rules.tether:TetherAttached",
    },
}


def load(section: str, word: str) -> Any:  # a class whose shape its section's protocol gives
    """The class that a word names; only the part that is asked for is imported."""
    known = PARTS[section]
    if word not in known:
        raise SledwardenError(
            "parts.py", f"{section} = {word}: must be one of {', '.join(sorted(known))}."
        )
    module, _, name = known[word].partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "firmware":
            raise  # ours is missing: a broken installation, no matter of a library
        raise SledwardenError(
            "parts.py",
            f"{section} = {word}: needs the library {error.name}, which is not installed.",
            "Install sledwarden[unit].",
        ) from error
