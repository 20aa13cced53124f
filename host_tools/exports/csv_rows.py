"""CSV (RFC 4180): a line for each fix, finding and event; what is absent is empty."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

from host_tools.cells import as_cell
from host_tools.exports.rows import COLUMNS, clean, rows
from host_tools.journals.ride import Ride
from host_tools.replay.replaying import iso

_PLACES = {"lat": 7, "lon": 7}
_DECIMALS = 3


def write(ride: Ride, path: Path) -> None:
    """Writes the ride's rows; numbers to three decimals, degrees to seven."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows(ride):
            writer.writerow([_cell(name, getattr(row, name)) for name in COLUMNS])


def _cell(name: str, value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return round(value, _PLACES.get(name, _DECIMALS))
        case datetime():
            return iso(value)
        case str():
            return as_cell(clean(value))
    return value
