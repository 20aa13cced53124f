"""Parquet: the rows of the CSV with their types, for whoever asks questions of a season.

The only import of duckdb.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from host_tools.exports import csv_rows
from host_tools.exports.rows import COLUMNS
from host_tools.journals.ride import Ride

_TYPES = {
    **dict.fromkeys(COLUMNS, "DOUBLE"),
    **dict.fromkeys(("record", "standing", "clause", "verdict", "unit", "why"), "VARCHAR"),
    **dict.fromkeys(("t", "end_t"), "TIMESTAMPTZ"),
    "boot": "BIGINT",
    **dict.fromkeys(("is_sure", "is_redated"), "BOOLEAN"),
}


def write(ride: Ride, path: Path) -> None:
    """Writes the rows, compressed with zstd."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        rows = Path(folder) / "rows.csv"
        csv_rows.write(ride, rows)
        with duckdb.connect(config={"threads": 2}) as base:
            base.execute("SET TimeZone = 'UTC'")
            read = base.read_csv(
                str(rows), header=True, columns=_TYPES, auto_detect=False, delimiter=",",
                quotechar='"', escapechar='"',
            )  # fmt: skip
            read.write_parquet(str(path), compression="zstd", overwrite=True)
