"""What is wrong with a configuration: every fault at once, with its key, its value and the limit.

msgspec tells one fault and stops; a dealer who mends one at a time loses an hour. So each key is
tried on its own, and what passed is then checked for agreement: pins, addresses, chips, names.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import zoneinfo
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import inspect, structs

from firmware import circles
from firmware.parts import PARTS

Accepted = dict[str, object]
"""The values that passed on their own, by their key as it is said: "[light.head] chip"."""

PIN_DUTIES = {
    0: "ID_SD, which the Pi reads at boot",
    1: "ID_SC, which the Pi reads at boot",
    2: "SDA of the sensor bus",
    3: "SCL of the sensor bus",
    14: "TXD of the GPS line",
    15: "RXD of the GPS line",
}
"""Pins of the header that are spoken for (BCM2835 ARM Peripherals, table 6-31; HAT guide)."""

NO_CHIP_PANELS = frozenset({"terminal", "png"})
"""Panels that take no address on the sensor bus."""

SENTENCE_CHARS = 82  # the longest sentence, "$" to line feed (NMEA 0183, 5.3)
GPS_EPOCH = date(1980, 1, 6)
LAWS = Path(__file__).parent.parent / "laws"


def check_keys(
    struct: type[msgspec.Struct], table: dict[str, object]
) -> tuple[list[str], Accepted]:
    """Every fault of one key alone in a document, and the values that have none."""
    faults: list[str] = []
    accepted: Accepted = {}
    _walk(struct, table, "", faults, accepted)
    return faults, accepted


def check_agreement(accepted: Accepted) -> list[str]:
    """Every fault between keys that are right on their own."""
    return [
        *_check_names(accepted),
        *_check_dates(accepted),
        *_check_levels(accepted),
        *_check_pins(accepted),
        *_check_senses(accepted),
        *_check_addresses(accepted),
        *_check_line(accepted),
        *_check_ports(accepted),
        *_check_circles(accepted),
    ]


def section_of(field_type: object) -> type[msgspec.Struct] | None:
    """The section that a field holds, where it holds one and not a value."""
    for one in (field_type, *get_args(field_type)):
        if isinstance(one, type) and issubclass(one, msgspec.Struct):
            return one
    return None


def limit_of(field_type: object) -> str:
    """What a value of this type must be, in words: "a number from 0 to 10"."""
    return _said(inspect.type_info(field_type))


def shown(value: object, limit: str = "") -> str:
    """A value as the file says it, cut to 60 letters; in hexadecimal where the limit is."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, int) and "0x" in limit:
        text = f"{value:#04x}"
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(shown(one) for one in value) + "]"
    elif isinstance(value, dict):
        text = "{...}"
    elif isinstance(value, date):
        text = value.isoformat()
    elif isinstance(value, float) and value.is_integer():
        text = f"{value:.0f}" if abs(value) < 1e15 else repr(value)
    else:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _walk(
    struct: type[msgspec.Struct],
    table: dict[str, object],
    path: str,
    faults: list[str],
    accepted: Accepted,
) -> None:
    fields = structs.fields(struct)
    for field in fields:
        section = section_of(field.type)
        value = table.get(field.name)
        if section is not None:
            name = f"{path}.{field.name}" if path else field.name
            if isinstance(value, dict):
                _walk(section, value, name, faults, accepted)
            elif field.name in table:
                faults.append(f"[{name}] = {shown(value)}: must be a section of its own.")
            elif field.required or field.default is not None:
                _walk(section, {}, name, faults, accepted)
            continue
        key = f"[{path}] {field.name}"
        if field.name not in table:
            if field.required:
                faults.append(f"{key}: is missing: must be {limit_of(field.type)}.")
            elif field.default is not None:
                accepted[key] = field.default
        elif fits(value, field.type):
            accepted[key] = msgspec.convert(value, field.type)
        else:
            limit = limit_of(field.type)
            faults.append(f"{key} = {shown(value, limit)}: must be {limit}.")
    known = [field.name for field in fields]
    faults += [_unknown(path, name, table[name], known) for name in table if name not in known]


def fits(value: object, field_type: object) -> bool:
    """Whether msgspec takes the value for this type; infinity and NaN are never taken."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    try:
        msgspec.convert(value, field_type)
    except msgspec.ValidationError:
        return False
    return True


def _unknown(path: str, name: str, value: object, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]}?" if near else f"must be one of {', '.join(known)}."
    name = name if re.fullmatch(r"[\w-]+", name) else shown(name)
    if isinstance(value, dict):
        return f"[{path}.{name}]: there is no such section: {guess}".replace("[.", "[")
    if not path:
        return f"{name} = {shown(value)}: stands before the first [section]: {guess}"
    return f"[{path}] {name} = {shown(value)}: there is no such key: {guess}"


def _said(of: inspect.Type) -> str:
    if isinstance(of, inspect.Metadata):
        title = (of.extra_json_schema or {}).get("title")
        return str(title) if title else _said(of.type)
    if isinstance(of, inspect.UnionType):
        kinds = [_said(one) for one in of.types if not isinstance(one, inspect.NoneType)]
        return " or ".join(kinds)
    if isinstance(of, inspect.LiteralType):
        return "one of " + ", ".join(shown(one) for one in of.values)
    if isinstance(of, inspect.IntType | inspect.FloatType):
        kind = "a whole number" if isinstance(of, inspect.IntType) else "a number"
        if of.gt is None and of.lt is None:
            return f"{kind} from {of.ge} to {of.le}"
        low = f"above {of.gt}" if of.gt is not None else f"at least {of.ge}"
        high = f"below {of.lt}" if of.lt is not None else f"at most {of.le}"
        return f"{kind} {low} and {high}"
    if isinstance(of, inspect.DateType):
        return "a date, like 2026-11-30"
    raise TypeError(f"{of}: give this type a title that says its limit")


def law_packs() -> list[str]:
    """The words of the law packs that come with the package."""
    return sorted(pack.stem for pack in LAWS.glob("*.toml"))


def _check_names(accepted: Accepted) -> Iterator[str]:
    packs = law_packs()
    laws = accepted.get("[unit] law", ())
    for law in laws if isinstance(laws, tuple) else ():
        if law not in packs and not (law.endswith(".toml") and Path(law).is_file()):
            known = f"one of {', '.join(packs)}, or the path of a law pack (.toml)"
            yield f"[unit] law = {shown(laws)}: {law} is not here: must be {known}."
    zone = accepted.get("[unit] time_zone")
    if isinstance(zone, str) and not _is_zone(zone):
        yield (
            f"[unit] time_zone = {shown(zone)}: there is no such time zone here: must be an IANA "
            'name, like "America/Chicago" (and the system needs its tzdata).'
        )
    for key, chip in accepted.items():
        kind = "light" if key.endswith("] chip") else "panel" if key == "[dash] panel" else ""
        kind = {"[rtc] chip": "rtc", "[adc] chip": "adc"}.get(key, kind)
        if kind and chip not in PARTS[kind]:
            yield f"{key} = {shown(chip)}: must be one of {', '.join(sorted(PARTS[kind]))}."


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # absent, "../x", a folder
        return False
    return True


def _check_dates(accepted: Accepted) -> Iterator[str]:
    floor = accepted.get("[clock] floor")
    if isinstance(floor, date) and floor < GPS_EPOCH:
        yield f"[clock] floor = {floor}: must not be before {GPS_EPOCH}, when GPS time began."


def _check_levels(accepted: Accepted) -> Iterator[str]:
    dark_lux = accepted.get("[light.ambient] dark_lux")
    light_lux = accepted.get("[light.ambient] light_lux")
    if isinstance(dark_lux, float) and isinstance(light_lux, float) and light_lux <= dark_lux:
        yield (
            f"[light.ambient] light_lux = {shown(light_lux)}: must be above "
            f"dark_lux = {shown(dark_lux)}, or dusk would flicker."
        )
    for lamp in ("head", "tail"):
        on_lux = accepted.get(f"[light.{lamp}] on_lux")
        high_lux = accepted.get(f"[light.{lamp}] high_lux")
        if isinstance(high_lux, float) and not (isinstance(on_lux, float) and on_lux < high_lux):
            yield (
                f"[light.{lamp}] high_lux = {shown(high_lux)}: must be above an on_lux that is "
                "measured too."
            )


def _check_pins(accepted: Accepted) -> Iterator[str]:
    taken: dict[object, str] = {}
    for key, pin in accepted.items():
        if not key.endswith("] pin") and not key.startswith("[leds] "):
            continue
        if isinstance(pin, int) and pin in PIN_DUTIES:
            yield f"{key} = {pin}: must be another pin: this one carries {PIN_DUTIES[pin]}."
        elif pin in taken:
            yield f"{key} = {pin}: must be another pin: {taken[pin]} has this one."
        taken.setdefault(pin, key)


def _check_senses(accepted: Accepted) -> Iterator[str]:
    """A sense that may hang on a pin or on the converter hangs on one of the two."""
    taken: dict[object, str] = {}
    for section in ("[supply.head]", "[supply.tail]", "[tether]"):
        if not any(key.startswith(f"{section} ") for key in accepted):
            continue
        pin, number = f"{section} pin", accepted.get(f"{section} input")
        if (pin in accepted) == (number is not None):
            yield f"{section}: must have pin, or input, and not both."
        if number is None:
            continue
        key = f"{section} input"
        if "[adc] chip" not in accepted:
            yield f"{key} = {number}: must have the converter that it belongs to: [adc] chip."
        if number in taken:
            yield f"{key} = {number}: must be another input: {taken[number]} has this one."
        taken.setdefault(number, key)
        on_v, open_v = accepted.get(f"{section} on_v"), accepted.get(f"{section} open_v")
        if isinstance(on_v, float) and isinstance(open_v, float) and open_v >= on_v:
            yield (
                f"{section} open_v = {shown(open_v)}: must be below on_v = {shown(on_v)}: a wire "
                "that hangs free is not supplied."
            )


def _check_addresses(accepted: Accepted) -> Iterator[str]:
    taken: dict[object, str] = {}
    for key, address in accepted.items():
        is_panel = key == "[dash] address"
        if is_panel and accepted.get("[dash] panel", "terminal") in NO_CHIP_PANELS:
            continue
        if not key.endswith("] address"):
            continue
        if address in taken:
            yield (
                f"{key} = {shown(address, '0x')}: must be another address: {taken[address]} has "
                f"this one, and {_together(accepted, taken[address], key)} answer over each other."
            )
        taken.setdefault(address, key)


def _together(accepted: Accepted, one: str, other: str) -> str:
    """Two chips at one address, by their words where these alone say that it can't be helped."""
    chips = {accepted.get(key.replace("] address", "] chip")) for key in (one, other)}
    if chips == {"tcs34725", "tsl2591"}:
        return "a tcs34725 and a tsl2591 have no other: they"
    return "two chips at one address"


def _check_line(accepted: Accepted) -> Iterator[str]:
    if accepted.get("[gps] configure") is not False:
        return  # the receiver is asked for a rate and a line that go together
    baud, rate_hz = accepted.get("[gps] baud"), accepted.get("[gps] rate_hz")
    if isinstance(baud, int) and isinstance(rate_hz, float):
        needed = math.ceil(rate_hz * 2 * SENTENCE_CHARS)
        if needed > baud // 10:  # a start bit, eight data bits and a stop bit a letter
            yield (
                f"[gps] rate_hz = {shown(rate_hz)}: must be at most "
                f"{baud / 20 / SENTENCE_CHARS:.1f} at {baud} baud: RMC and GGA take {needed} "
                f"letters a second, and the line carries {baud // 10}."
            )


def _check_ports(accepted: Accepted) -> Iterator[str]:
    serial = accepted.get("[link] serial")
    if serial is not None and serial == accepted.get("[gps] port"):
        yield f"[link] serial = {shown(serial)}: is the receiver's line, [gps] port: give another."


def _check_circles(accepted: Accepted) -> Iterator[str]:
    texts = accepted.get("[privacy] circles")
    for text in texts if isinstance(texts, list | tuple) else ():
        if circles.parse(text) is None:
            yield (
                f"[privacy] circles = {shown(text)}: must be degrees north from -90 to 90, degrees "
                f"east from -180 to 180, and {circles.LEAST_M:.0f} to {circles.MOST_M:.0f} metres, "
                'like "45.9231 -89.4874 300".'
            )
